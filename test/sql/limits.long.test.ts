// --query-timeout and --max-concurrent-queries on a real server: statements end, wait for their turn, and give back what they held.
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { post, query, scalar, store, untilMetric } from "../e2e/client.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const ENDLESS = "SELECT count(*) FROM range(100000000000) AS r(i) WHERE i < 0";
const LIMIT_MS = 500;
/** Enough for 30 MB of text, or a worker that starts again, where other programs compute too. */
const LONG_LIMIT_MS = 2000;

let server: TestServer;
afterEach(() => server.dispose());

const idle = () => untilMetric(server, "tsdb_queries_running", (running) => running === 0);

const LONG: [what: string, statement: string][] = [
  ["a series", ENDLESS],
  ["a recursion", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"],
  ["a cross join of data", "SELECT count(*) FROM t a, t b, t c, t d WHERE a.v + b.v + c.v + d.v < 0"],
  ["a sort of one", "SELECT a.v FROM t a, t b, t c, t d ORDER BY a.v * b.v + c.v * d.v LIMIT 1"],
  ["EXPLAIN ANALYZE", `EXPLAIN ANALYZE ${ENDLESS}`],
];

test("a statement that runs too long ends with a reason, and leaves nothing behind", async () => {
  server = await TestServer.start({ flags: ["--query-timeout", `${LIMIT_MS}ms`] });
  await store(server, "db", Array.from({ length: 3000 }, (_, i) => `t v=${i} ${i}`).join("\n"));
  for (const [what, statement] of LONG) {
    const { status, text } = await query(server, "db", statement);
    expect([what, status, text]).toEqual([
      what,
      422,
      `{"error":"the statement ran longer than ${LIMIT_MS} ms, the limit that --query-timeout sets"}`,
    ]);
    await idle();
  }
  expect(await scalar(server, "db", "SELECT count(*) FROM t")).toBe(3000);
  const failed = `SELECT count(*) AS n FROM system.queries WHERE phase = 'fail' AND end2end_duration >= INTERVAL '${LIMIT_MS} milliseconds'`;
  expect(await scalar(server, "db", failed)).toBe(LONG.length);
});

test("the time that an answer waits for its reader does not count", async () => {
  server = await TestServer.start({ flags: ["--query-timeout", `${LONG_LIMIT_MS}ms`] });
  const rowCount = 30_000;
  const rows = `SELECT i, repeat('x', 1000) AS text FROM range(${rowCount}) AS r(i)`;
  const response = await post(server, "db", rows, { format: "jsonl" }).then(async (refused) => {
    expect(refused.status).toBe(404);
    await store(server, "db", "t v=1 1");
    return post(server, "db", rows, { format: "jsonl" });
  });
  const reader = response.body!.getReader();
  let bytes = 0;
  let isFirst = true;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.length;
    if (isFirst) await Bun.sleep(2 * LONG_LIMIT_MS);
    isFirst = false;
  }
  // {"i":…,"text":"x…"} and a line feed: 1020 bytes and the digits of i
  const digits = Array.from({ length: rowCount }, (_, i) => String(i).length).reduce((sum, count) => sum + count);
  expect(bytes).toBe(rowCount * '{"i":,"text":""}\n'.length + rowCount * 1000 + digits);
});

test("statements beyond the number wait for their turn, in order, and may leave", async () => {
  server = await TestServer.start({ flags: ["--max-concurrent-queries", "2", "--query-timeout", "0"] });
  await store(server, "db", "t v=1 1");
  const endless = Array.from({ length: 2 }, () => new AbortController());
  const asked = endless.map(({ signal }) => query(server, "db", ENDLESS, { signal }).catch((error: Error) => error.name));
  await untilMetric(server, "tsdb_queries_running", (running) => running === 2);
  const order: string[] = [];
  const later = (name: string, signal?: AbortSignal) =>
    query(server, "db", "SELECT 1", signal === undefined ? {} : { signal }).then(
      ({ status }) => order.push(`${name} ${status}`),
      () => order.push(`${name} left`),
    );
  const leaver = new AbortController();
  const waiting = [later("first")];
  await untilMetric(server, "tsdb_queries_running", (running) => running === 3);
  waiting.push(later("leaver", leaver.signal));
  await untilMetric(server, "tsdb_queries_running", (running) => running === 4);
  waiting.push(later("last"));
  await untilMetric(server, "tsdb_queries_running", (running) => running === 5);
  leaver.abort();
  await untilMetric(server, "tsdb_queries_running", (running) => running === 4);
  expect(order).toEqual(["leaver left"]);
  // writes wait for nobody
  await store(server, "db", "t v=1 2");
  endless[0]!.abort();
  await Promise.all(waiting);
  expect(order).toEqual(["leaver left", "first 200", "last 200"]);
  endless[1]!.abort();
  expect(await Promise.all(asked)).toEqual(["AbortError", "AbortError"]);
  await idle();
});

test("a statement that waits too long for its permit is refused with the reason", async () => {
  server = await TestServer.start({ flags: ["--max-concurrent-queries", "1", "--query-timeout", `${LONG_LIMIT_MS}ms`] });
  await store(server, "db", "t v=1 1");
  const first = query(server, "db", ENDLESS);
  await untilMetric(server, "tsdb_queries_running", (running) => running === 1);
  // the first ends a moment before the second would: then that one runs, and has no time left
  const second = await query(server, "db", ENDLESS);
  expect([422, 503]).toContain(second.status);
  expect(second.text).toMatch(/^\{"error":"the statement (ran longer than|waited) 2 s[^"]*--query-timeout[^"]*"\}$/);
  expect((await first).status).toBe(422);
  await idle();
  expect(await scalar(server, "db", "SELECT count(*) FROM t")).toBe(1);
});

test("a stop does not wait for those that wait", async () => {
  server = await TestServer.start({ flags: ["--max-concurrent-queries", "1", "--shutdown-timeout", "0"] });
  await store(server, "db", "t v=1 1");
  const asked = [ENDLESS, "SELECT 1"].map((statement) => query(server, "db", statement).catch(() => undefined));
  await untilMetric(server, "tsdb_queries_running", (running) => running === 2);
  expect(await server.stop()).toBe(0);
  await Promise.all(asked);
});
