// The key of secrets and tokens, from a file, from the environment, and changed.
import { expect, test } from "bun:test";
import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const SCRIPT = 'import "influxdata/influxdb/secrets" import "array" array.from(rows: [{k: secrets.get(key: "K")}])';

async function send(server: TestServer, method: string, path: string, body: unknown, type = "application/json"): Promise<string> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { authorization: "Token tok", "content-type": type };
  return (await fetch(server.bucketsUrl + path, { method, headers, body: text })).text();
}
const read = (server: TestServer) => send(server, "POST", "/api/v2/query?org=o", SCRIPT, "application/vnd.flux");

test("it is changed by one start, and what another key has encrypted is told", async () => {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TSDB_"))) as Record<
    string,
    string
  >;
  await using server = await TestServer.start({ withBuckets: true, env: environment });
  const { org } = JSON.parse(await send(server, "POST", "/api/v2/setup", SETUP));
  await send(server, "PATCH", `/api/v2/orgs/${org.id}/secrets`, { K: "the value" });
  expect(await read(server)).toContain("the value");
  await server.stop();

  const key = join(server.dataDir, "node0", "secrets.key");
  const old = join(server.dataDir, "..", "old.key");
  renameSync(key, old);
  await server.restart(["--v2-previous-secret-key-file", old]);
  expect(await read(server)).toContain("the value");
  expect(readFileSync(key, "utf8")).not.toBe(readFileSync(old, "utf8"));

  // the previous one is not needed any more
  await server.restart([]);
  expect(await read(server)).toContain("the value");

  environment["TSDB_V2_SECRET_KEY"] = "a1".repeat(32);
  await server.restart(["--v2-previous-secret-key-file", key]);
  expect(await read(server)).toContain("the value");
  await server.restart([]);
  expect(await read(server)).toContain("the value");

  // without it the server starts, and the rest of it works
  delete environment["TSDB_V2_SECRET_KEY"];
  await server.restart([]);
  expect(await read(server)).toContain('the secret \\"K\\" was encrypted with another key');
  expect(await send(server, "POST", "/api/v2/query?org=o", "buckets()", "application/vnd.flux")).toContain("_monitoring");
});
