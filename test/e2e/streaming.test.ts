// Long answers and long statements: an end for those whose reader has gone, and room for everyone else. Slow readers and silent statements:
// streaming.long.test.ts.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { post, query, scalar, store, untilMetric, write } from "./client.ts";

setDefaultTimeout(120_000);

/** 4,000 x 4,000 rows of some 14 bytes: more than 200 MB of CSV. */
const LARGE = "SELECT a.v AS a, b.v AS b FROM t a CROSS JOIN t b";
const LARGE_ROWS = 16_000_000;
/** Computes for hours. */
const ENDLESS = "SELECT count(*) FROM t a, t b, t c, t d WHERE a.v + b.v + c.v + d.v < 0";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  await store(server, "db", Array.from({ length: 4000 }, (_, i) => `t,h=h${i % 50} v=${i},s="text of row ${i}" ${i}`).join("\n"));
});
afterAll(() => server.dispose());

const others = async () => {
  expect(await scalar(server, "db", "SELECT count(*) FROM t")).toBe(4000);
  await store(server, "db", "other v=1 1");
};

describe("a reader", () => {
  test("gets every row of a long answer", async () => {
    const response = await post(server, "db", `SELECT sum(1) OVER () AS n, b.v FROM t a CROSS JOIN (SELECT * FROM t LIMIT 200) b`, {
      format: "csv",
    });
    let lines = 0;
    for await (const chunk of response.body!) for (const byte of chunk) if (byte === 10) lines++;
    expect(lines).toBe(1 + 4000 * 200);
  });

  test("that goes away half way stops its query", async () => {
    for (let i = 0; i < 5; i++) {
      const controller = new AbortController();
      const response = await post(server, "db", LARGE, { format: "jsonl", signal: controller.signal });
      await response.body!.getReader().read();
      controller.abort();
    }
    await untilMetric(server, "tsdb_queries_running", (running) => running === 0);
    await others();
  });

  test("that goes away before the first byte stops its query", async () => {
    const controllers = Array.from({ length: 4 }, () => new AbortController());
    const asked = controllers.map((controller) => query(server, "db", ENDLESS, { signal: controller.signal }).catch((error) => error.name));
    await untilMetric(server, "tsdb_queries_running", (running) => running === 4);
    await others();
    for (const controller of controllers) controller.abort();
    expect(await Promise.all(asked)).toEqual(controllers.map(() => "AbortError"));
    await untilMetric(server, "tsdb_queries_running", (running) => running === 0);
    await others();
  });

  test("of a broken answer learns of it: an error half way is no end", async () => {
    // the division by zero of an integer column comes late in the answer
    const statement = `SELECT CAST(CASE WHEN a.v = 3999 AND b.v = 300 THEN 'x' ELSE '1' END AS BIGINT) AS n FROM (SELECT * FROM t ORDER BY v) a CROSS JOIN (SELECT * FROM t LIMIT 500) b`;
    const response = await post(server, "db", statement, { format: "csv" });
    const outcome = await response.text().then(
      (text) => `whole answer of ${text.length}`,
      () => "broken",
    );
    expect([response.status, outcome]).toEqual([200, "broken"]);
    await others();
  });
});

describe("many at once", () => {
  test("64 connections write small bodies while others query: every acknowledged row is there", async () => {
    let acknowledged = 0;
    const writers = Array.from({ length: 64 }, async (_, writer) => {
      for (let i = 0; i < 25; i++) {
        const { status } = await write(server, "many", `m,w=w${writer} v=${i} ${writer * 1000 + i}`, { params: { precision: "ns" } });
        expect(status).toBe(204);
        acknowledged++;
      }
    });
    const readers = Array.from({ length: 4 }, async () => {
      let last = 0;
      while (acknowledged < 64 * 25) {
        const least = acknowledged;
        const { status, text } = await query(server, "many", "SELECT count(*) FROM m", { format: "csv" });
        if (status === 404 || status === 400) continue; // before the first body
        const count = Number(text.split("\n")[1]);
        expect(count).toBeGreaterThanOrEqual(Math.max(least, last));
        last = count;
      }
    });
    await Promise.all([...writers, ...readers]);
    expect(await scalar(server, "many", "SELECT count(*) FROM m")).toBe(1600);
  });

  test("200 queries at once are all answered", async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => scalar(server, "db", `SELECT sum(v) FROM t WHERE v <= ${i}`)));
    expect(answers).toEqual(Array.from({ length: 200 }, (_, i) => (i * (i + 1)) / 2));
  });
});

describe("statements that look alike", () => {
  test("read their system tables when they run", async () => {
    await store(server, "alike", "t1 v=1 1\nt2 v=2 1\n1 v=10 1\n2 v=20 1");
    await store(server, "other", "t1 v=3 1");
    for (let round = 0; round < 3; round++) {
      expect(await scalar(server, "alike", "SELECT sum(v) FROM t1 WHERE v < 100")).toBe(1);
      expect(await scalar(server, "alike", "SELECT sum(v) FROM t2 WHERE v < 100")).toBe(2);
      // a guess takes these two for one
      expect(await scalar(server, "alike", 'SELECT sum(v) FROM "1" WHERE v < 100')).toBe(10);
      expect(await scalar(server, "alike", 'SELECT sum(v) FROM "2" WHERE v < 100')).toBe(20);
      expect(await scalar(server, "other", "SELECT sum(v) FROM t1 WHERE v < 100")).toBe(3 + round);
      await store(server, "other", `t1 v=1 ${round + 2}`);
      expect((await query(server, "alike", `SELECT v FROM missing_${round}`)).status).toBe(400);
      expect((await query(server, "none", "SELECT sum(v) FROM t1 WHERE v < 100")).status).toBe(404);
    }
    await store(server, "alike", "t9 v=9 1");
    const tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'iox' AND table_name LIKE 't%'";
    expect(await scalar(server, "alike", tables)).toBe(3);
    await store(server, "alike", "t8 v=9 1");
    expect(await scalar(server, "alike", tables)).toBe(4);
  });

  test("have a length when they are short and none when they are long", async () => {
    const short = await post(server, "db", "SELECT v FROM t ORDER BY v LIMIT 2", { format: "csv" });
    expect([short.headers.get("content-length"), await short.text()]).toEqual(["10", "v\n0.0\n1.0\n"]);
    // 2 + 5 × 3,071 bytes are the last below 15 KiB, where the runtime would send a head in many packets
    for (const [rows, length] of [
      [3071, "15357"],
      [3072, null],
    ] as const) {
      const middle = await post(server, "db", `SELECT 1234 AS v FROM t LIMIT ${rows}`, { format: "csv" });
      expect(middle.headers.get("content-length")).toBe(length);
      expect(await middle.text()).toBe(`v\n${"1234\n".repeat(rows)}`);
    }
    const long = await post(server, "db", "SELECT a.v FROM t a CROSS JOIN (SELECT * FROM t LIMIT 25) b", { format: "csv" });
    expect(long.headers.get("content-length")).toBeNull();
    expect((await long.text()).split("\n")).toHaveLength(100_002);
  });
});

test("the default output of a large answer is whole JSON", async () => {
  const { text } = await query(server, "db", `SELECT a.v, b.s FROM t a CROSS JOIN (SELECT * FROM t LIMIT 25) b`);
  const { results } = JSON.parse(text) as { results: { series: { values: unknown[][] }[] }[] };
  expect(results[0]!.series[0]!.values).toHaveLength(100_000);
  expect(LARGE_ROWS).toBe(4000 * 4000);
});
