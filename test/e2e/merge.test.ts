// Rows that meet: the same series and time from several bodies and runs of the server; what a reader may see and when. Many tables, many
// series and races of connections: merge.long.test.ts.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { query, scalar, store } from "./client.ts";

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.dispose());

describe("same table, tags and time are one row", () => {
  const ALL = "SELECT * FROM t ORDER BY h, time";
  const merged = [
    { h: "a", time: "1970-01-01T00:00:00.000000001", v: 3, w: 1, x: 9 },
    { h: "a", time: "1970-01-01T00:00:00.000000002", v: 7 },
    { h: "b", time: "1970-01-01T00:00:00.000000001", v: 5 },
  ];

  test("over bodies, over a kill, over a stop and over a stop again", async () => {
    await store(server, "merge", "t,h=a v=1,w=1 1\nt,h=b v=5 1\nt,h=a v=2 1");
    await store(server, "merge", "t,h=a v=7 2");
    await store(server, "merge", "t,h=a v=3 1");
    await server.kill();
    await server.restart();
    await store(server, "merge", "t,h=a x=8 1");
    await store(server, "merge", "t,h=a x=9 1");
    expect(await server.sql("merge", ALL)).toEqual(merged);
    for (let round = 0; round < 2; round++) {
      expect(await server.stop()).toBe(0);
      await server.restart();
      expect(await server.sql("merge", ALL)).toEqual(merged);
    }
    await store(server, "merge", "t,h=a w=2 1\nt,h=c v=1 1");
    expect(await server.sql("merge", ALL)).toEqual([
      { ...merged[0]!, w: 2 },
      merged[1]!,
      merged[2]!,
      { h: "c", time: merged[0]!.time, v: 1 },
    ]);
    expect(await scalar(server, "merge", "SELECT count(*) FROM t")).toBe(4);
  });

  test("a time range, a tag and an aggregate see the merged rows only", async () => {
    for (let round = 0; round < 3; round++) {
      await store(server, "agg", Array.from({ length: 5000 }, (_, i) => `t,h=h${i % 10} v=${round} ${i}`).join("\n"));
    }
    expect(await server.sql("agg", "SELECT count(*) AS n, sum(v) AS s FROM t")).toEqual([{ n: 5000, s: 10_000 }]);
    expect(
      await server.sql("agg", "SELECT count(*) AS n, sum(v) AS s FROM t WHERE h = 'h3' AND time >= '1970-01-01T00:00:00.000001Z'"),
    ).toEqual([{ n: 400, s: 800 }]);
  });
});

describe("what a reader sees", () => {
  test("a row is there as soon as its write is acknowledged", async () => {
    for (let i = 1; i <= 100; i++) {
      await store(server, "seen", `t v=${i} ${i}`);
      expect(await scalar(server, "seen", "SELECT max(v) FROM t")).toBe(i);
    }
  });

  test("bodies whole or not at all, over several tables, while they are written", async () => {
    await store(server, "whole", "a v=0 0\nb v=0 0");
    let writing = true;
    const writer = (async () => {
      for (let i = 1; i <= 60; i++) {
        const rows = (table: string) => Array.from({ length: 500 }, (_, j) => `${table} v=${i} ${i * 500 + j}`).join("\n");
        await store(server, "whole", `${rows("a")}\n${rows("b")}`);
      }
      writing = false;
    })();
    const seen = new Set<number>();
    while (writing) {
      const [row] = await server.sql<{ a: number; b: number }>(
        "whole",
        "SELECT (SELECT count(*) FROM a) AS a, (SELECT count(*) FROM b) AS b",
      );
      expect(row!.a % 500).toBe(1);
      expect(row!.b).toBe(row!.a);
      seen.add(row!.a);
    }
    await writer;
    expect(seen.size).toBeGreaterThan(1);
    expect(await scalar(server, "whole", "SELECT count(*) FROM a")).toBe(30_001);
  });

  test("two databases with the same tables see nothing of each other", async () => {
    await store(server, "one", "t,h=x v=1 1\nonly_one v=1 1");
    await store(server, "two", "t,h=y v=2 2");
    expect(await server.sql("one", "SELECT h, v FROM t")).toEqual([{ h: "x", v: 1 }]);
    expect(await server.sql("two", "SELECT h, v FROM t")).toEqual([{ h: "y", v: 2 }]);
    expect(await server.sql("two", "SELECT table_name FROM information_schema.tables WHERE table_schema = 'iox'")).toEqual([
      { table_name: "t" },
    ]);
    const TRICKS = [
      "SELECT * FROM only_one",
      "SELECT * FROM one.t",
      'SELECT * FROM "one"."t"',
      'SELECT * FROM "one.t"',
      "SELECT * FROM one.iox.t",
      "SELECT * FROM one.main.t",
      "SELECT * FROM main.only_one",
      "SELECT * FROM temp.only_one",
      "SELECT * FROM memory.main.only_one",
      "SELECT * FROM public.iox.only_one",
      "SELECT * FROM query('SELECT * FROM only_one')",
      "SELECT * FROM query_table('only_one')",
      "SELECT * FROM duckdb_tables()",
      "SELECT * FROM sqlite_master",
      "SELECT * FROM pg_catalog.pg_tables",
      "SELECT * FROM scan_0()",
      "FROM only_one",
      "SUMMARIZE only_one",
      "DESCRIBE only_one",
      "SHOW COLUMNS FROM only_one",
      "EXPLAIN SELECT * FROM only_one",
      "WITH only_one AS (SELECT * FROM only_one) SELECT * FROM only_one",
      "USE one",
      "ATTACH ':memory:' AS one",
    ];
    for (const statement of TRICKS) {
      const { status, text } = await query(server, "two", statement, { format: "json" });
      expect([statement, status]).toEqual([statement, 400]);
      expect(text).not.toContain("[{");
    }
  });
});

describe("shapes that are stored and found", () => {
  test("columns that few rows have", async () => {
    const lines = Array.from(
      { length: 20_000 },
      (_, i) => `t,h=h${i % 7} base=${i}${i % 97 === 0 ? `,rare${i % 10}=${i}i,note="n${i}"` : ""} ${i}`,
    );
    await store(server, "sparse", lines.join("\n"));
    const wanted = Array.from({ length: 20_000 }, (_, i) => i).filter((i) => i % 97 === 0);
    expect(
      await server.sql("sparse", "SELECT count(*) AS n, count(note) AS notes, count(rare3) AS threes, sum(rare3) AS sum FROM t"),
    ).toEqual([
      {
        n: 20_000,
        notes: wanted.length,
        threes: wanted.filter((i) => i % 10 === 3).length,
        sum: wanted.filter((i) => i % 10 === 3).reduce((sum, i) => sum + i, 0),
      },
    ]);
    expect(await server.sql("sparse", "SELECT note, rare4 FROM t WHERE time = CAST(194 AS TIMESTAMP) OR base = 194")).toEqual([
      { note: "n194", rare4: 194 },
    ]);
  });
});
