// What becomes of rows that a script writes.
import { expect, test } from "bun:test";
import { type ScriptServices, Scripts, WITHOUT_ROWS } from "../../src/api/v2/scripts.ts";
import { SecretBox } from "../../src/metadata/access/secret-box.ts";
import { V2Line } from "../../src/metadata/line.ts";
import type { QueryRequest } from "../../src/model/query/query.ts";
import { MemoryObjectStore } from "../../src/object-store/memory-object-store.ts";
import { Catalog } from "../../src/storage/catalog/catalog.ts";

test("rows of a run are stored, those of a rehearsal are not", async () => {
  const line = new V2Line(await Catalog.open(new MemoryObjectStore(), { prefix: "node0/catalog" }), {
    ...{ nowMs: () => 0, sessions: { lengthMs: 1000, renewMs: 1000 }, box: SecretBox.random(), keepsHashesOnly: false },
    ...{ hashCost: { memoryCost: 8, timeCost: 1 }, onDropped: () => {} },
  });
  const { user, org, bucket } = await line.setUp(
    { username: "u", password: "password12", org: "o", bucket: "b", token: "t", everySeconds: 0 },
    { strong: false },
  );
  const sent: QueryRequest[] = [];
  const services = {
    line: () => line,
    query: {
      query: async (request: QueryRequest) => {
        sent.push(request);
        return { contentType: "text/csv", body: new Uint8Array() };
      },
    },
    write: {
      receive: () => {
        throw new Error("rows came to be stored");
      },
    },
    options: { fluxAllowsPrivateNetwork: true, fluxSqliteFolder: null },
  };
  const scripts = new Scripts(services as unknown as ScriptServices);
  const sender = { principal: line.authentication.ofUser(user.id), orgID: org.id, signal: new AbortController().signal };
  const script = { text: "", nowNs: 0n, dialect: WITHOUT_ROWS.dialect, extern: null, ast: null };
  for (const task of ["run", "rehearsal"] as const) await scripts.run(sender, { ...script, task });
  const [run, rehearsal] = sent;
  expect(run!.write!(bucket.id, "m v=1 1")).rejects.toThrow("rows came to be stored");
  expect(await rehearsal!.write!(bucket.id, "m v=1 1")).toBeNull();
  expect([run!.isUnlisted, rehearsal!.isUnlisted]).toEqual([undefined, true]);
});
