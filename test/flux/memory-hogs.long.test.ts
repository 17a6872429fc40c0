// Scripts that take more memory than the process may have: they are stopped, and the garbage they leave stops no script after them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const HEADERS = { authorization: "Token tok", "content-type": "application/vnd.flux" };
const SPAN = "start: 2020-01-01T00:00:00Z, stop: 2021-01-01T00:00:00Z";
/** 100,000 texts of 400,000 characters. */
const HOG = `import "generate"
import "strings"
generate.from(count: 100000, fn: (n) => n, ${SPAN})
  |> map(fn: (r) => ({r with s: strings.repeat(v: "x" + string(v: r._value), i: 80000)}))
  |> sort(columns: ["s"]) |> count(column: "s")`;
/** Runs for longer than the watch takes to look. */
const MODEST = `import "generate"
generate.from(count: 400000, fn: (n) => n + 1, ${SPAN}) |> map(fn: (r) => ({r with _value: r._value * 2})) |> sum()
  |> keep(columns: ["_value"])`;
const MODEST_ANSWER = ",result,table,_value\r\n,_result,0,160000400000\r\n\r\n";
const SMALL = 'import "array"\narray.from(rows: [{a: 1}])';
/** The watch stops nothing for two seconds after it has stopped the hog. */
const LOOKED_MS = 5000;

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true, flags: ["--query-workers", "1", "--exec-mem-pool-bytes", "512MiB"] });
  await fetch(`${server.bucketsUrl}/api/v2/setup`, { method: "POST", body: JSON.stringify(SETUP) });
});
afterAll(() => server.dispose());

async function run(body: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${server.bucketsUrl}/api/v2/query?org=o`, { method: "POST", headers: HEADERS, body });
  return { status: response.status, text: await response.text() };
}

test("scripts after another was stopped for its memory", async () => {
  let isOver = false;
  // a heap that nobody uses collects its garbage by itself
  const traffic = (async () => {
    while (!isOver) expect((await run(SMALL)).status).toBe(200);
  })();
  const { status, text } = await run(HOG);
  expect([status, text]).toEqual([422, expect.stringContaining("Resources exhausted: the statements that run take more memory")]);
  const untilMs = performance.now() + LOOKED_MS;
  while (performance.now() < untilMs) expect(await run(MODEST)).toEqual({ status: 200, text: MODEST_ANSWER });
  isOver = true;
  await traffic;
});
