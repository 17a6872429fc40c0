// --max-row-limit: answers of InfluxDB 1.6.7 (Debian) with the same limit and the same rows, byte for byte in all forms.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";

interface Golden {
  readonly limit: number;
  readonly lines: readonly string[];
  /** Bodies of MessagePack in hexadecimal. */
  readonly answers: readonly { readonly statements: string; readonly parameters: string; readonly accept: string; readonly body: string }[];
}

const GOLDEN: Golden = JSON.parse(readFileSync(join(import.meta.dir, "../golden/tsdbql/row-limit.json"), "utf8"));

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ flags: ["--max-row-limit", String(GOLDEN.limit)] });
  const written = await fetch(`${server.url}/write?db=d`, { method: "POST", body: GOLDEN.lines.join("\n") });
  expect(written.status).toBe(204);
});
afterAll(() => server.dispose());

const ask = (statements: string, more = "", accept = "application/json") =>
  fetch(`${server.url}/query?db=d&q=${encodeURIComponent(statements)}${more}`, { headers: { accept } });

test.each(GOLDEN.answers)("$statements $parameters $accept", async ({ statements, parameters, accept, body }) => {
  const answer = Buffer.from(await (await ask(statements, parameters, accept)).arrayBuffer());
  expect(answer.toString(accept.includes("msgpack") ? "hex" : "utf8")).toBe(body);
});

// 1.x begins with the statement behind the limit, sometimes, and tells nobody
test("what is behind the limit does not happen", async () => {
  await (await ask("SELECT v FROM m; DROP MEASUREMENT n; CREATE DATABASE x")).text();
  const { results } = await (await ask("SELECT count(v) FROM n; SHOW DATABASES")).json();
  expect(results[0].series[0].values).toEqual([["1970-01-01T00:00:00Z", 3]]);
  expect(results[1].series[0].values).toEqual([["_internal"], ["d"]]);
});
