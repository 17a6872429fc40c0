// Answers without DuckDB: the same rows in the same order as with it, and DuckDB really not asked, or asked where it must be.
import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { FakeTable } from "../../../test/support/rows/fake-table.ts";
import { readRows, type SqlValue } from "../../../test/support/sql/sql-rows.ts";
import { TWIN_COLUMNS, Twins, twinRows } from "../../../test/support/sql/sql-twins.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import { ColumnType } from "../../model/rows/column.ts";
import type { Steps } from "../../model/steps.ts";
import { DirectAnswer } from "./direct-answer.ts";
import { SqlEngine } from "./engine.ts";

let kernel: Kernel;
let engine: SqlEngine;
let cpu: Twins;
let rows: FakeTable;
let many: FakeTable;
const I64_MAX = 2n ** 63n - 1n;
const MANY_ROWS = 150_000;

beforeAll(async () => {
  kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  cpu = new Twins(kernel, engine, "cpu", twinRows(prng(11), 3000));
  const edges = [
    { time: -I64_MAX - 1n, f: Number.NEGATIVE_INFINITY, i: -I64_MAX - 1n, u: 2n ** 64n - 1n, s: "" },
    { time: I64_MAX, f: 5e-324, i: I64_MAX, u: 0n, s: "a\0b" },
    { time: 0n, f: 0, s: "\u{1F600} beyond \uFFEE", host: "ￕ" },
    { time: 1n, f: Number.NaN, s: "ￕ".repeat(9), host: "\u{10000}" },
  ];
  rows = new FakeTable(kernel, "cpu", TWIN_COLUMNS, [...twinRows(prng(12), 5000), ...edges, ...twinRows(prng(13), 7)]);
  const ids = Array.from({ length: MANY_ROWS }, (_, i) => ({ time: BigInt((i * 7919) % MANY_ROWS), n: BigInt(i), s: "x" }));
  many = new FakeTable(kernel, "many", { time: ColumnType.time, n: ColumnType.integer, s: ColumnType.string }, ids);
});
afterEach(() => expect([rows.openCursors, many.openCursors]).toEqual([0, 0]));
afterAll(() => engine.close());

async function read(statement: string): Promise<{ rows: SqlValue[][]; leases: number; schema: unknown }> {
  const lease = spyOn(engine, "lease");
  try {
    const answer = await engine.run(await engine.plan(statement), { tables: [rows, many], params: {} });
    try {
      return { rows: await readRows(answer), leases: lease.mock.calls.length, schema: answer.schema.fields };
    } finally {
      await answer.close();
    }
  } finally {
    lease.mockRestore();
  }
}

/** Every row is different, so an order by all columns is one order; `i` alone has ties, which may come either way. */
const DIRECT = [
  'SELECT time, host, "Region", f, i, u, s, b FROM cpu',
  "SELECT * FROM cpu",
  "SELECT c.*, time, * FROM cpu AS c",
  "SELECT host, host, host AS h2, cpu.host FROM cpu",
  'SELECT s AS "Text" FROM cpu AS c',
  "SELECT f FROM cpu LIMIT 10",
  "SELECT f, s FROM cpu LIMIT 10 OFFSET 4090",
  "SELECT f, s FROM cpu LIMIT 3000 OFFSET 2500",
  "SELECT f FROM cpu OFFSET 5000",
  "SELECT f FROM cpu LIMIT 0",
  "SELECT f FROM cpu LIMIT 5 OFFSET 100000",
  'SELECT * FROM cpu ORDER BY time, s, f, i, u, b, host, "Region"',
  'SELECT * FROM cpu ORDER BY host DESC, time DESC, s, f, i, u, b, "Region"',
  'SELECT * FROM cpu ORDER BY f, i DESC, time, u, s, b, host, "Region"',
  'SELECT * FROM cpu ORDER BY f DESC NULLS LAST, i, time, u, s, b, host, "Region" LIMIT 2500 OFFSET 700',
  'SELECT * FROM cpu ORDER BY s NULLS FIRST, b DESC, time, f, i, u, host, "Region" LIMIT 4',
  "SELECT i AS u, u AS i FROM cpu ORDER BY u, 2, time",
  "SELECT u FROM cpu ORDER BY u DESC",
  "SELECT i FROM cpu ORDER BY i LIMIT 100",
  "SELECT host AS time FROM cpu ORDER BY time LIMIT 100",
  "SELECT b FROM cpu ORDER BY 1 DESC NULLS FIRST",
  "SELECT n FROM many LIMIT 100001",
  "SELECT 1, f, 2 AS two FROM cpu LIMIT 2",
  "SELECT * EXCLUDE (f, host) FROM cpu LIMIT 100",
  "SELECT 7 AS seven FROM cpu",
  'SELECT DISTINCT ON (host) * FROM cpu ORDER BY host, time, s, f, i, u, b, "Region"',
  'SELECT DISTINCT ON (host, "Region", b) s, 1 AS n FROM cpu ORDER BY host, b DESC, "Region", f DESC, time, s, i, u LIMIT 7 OFFSET 2',
  'SELECT DISTINCT ON (f) f, i AS x FROM cpu ORDER BY f, x, time, s, u, b, host, "Region"',
  'SELECT DISTINCT ON (2) f, i FROM cpu ORDER BY i DESC, f, time, s, u, b, host, "Region"',
];

/** DuckDB has something to do. */
const WITH_DUCKDB = [
  "SELECT f + 1 FROM cpu",
  "SELECT f FROM cpu ORDER BY f + 1, time LIMIT 3",
  "SELECT f FROM cpu WHERE host = 'a'",
  "SELECT DISTINCT f FROM cpu ORDER BY f",
  "SELECT max(f) FROM cpu",
  "SELECT f FROM cpu UNION ALL SELECT f FROM cpu",
  "SELECT a.f FROM cpu AS a, cpu AS b WHERE a.time = b.time AND a.time = 1::timestamp",
  "WITH c AS (SELECT f FROM cpu) SELECT f FROM c",
  "SELECT f FROM cpu LIMIT 1 + 1",
  "SELECT row_number() OVER (ORDER BY time, s, f) FROM cpu",
  "SELECT x FROM cpu AS c(x)",
  "SELECT * REPLACE (1 AS f) FROM cpu",
  "SELECT COLUMNS('f') FROM cpu",
  "SELECT n FROM many ORDER BY time",
  "SELECT DISTINCT ON (host) f FROM cpu",
  "SELECT DISTINCT ON (upper(host)) f FROM cpu ORDER BY upper(host), time",
];

// biome-ignore lint/correctness/useYield: it has nothing to pause for
function* refuses(): Steps<boolean> {
  return false;
}

describe("direct scans: no DuckDB", () => {
  test.each(DIRECT)("%s", async (statement) => {
    const found = await read(statement);
    const start = spyOn(DirectAnswer.prototype, "start").mockImplementation(refuses);
    const expected = await read(statement);
    start.mockRestore();
    expect([found.leases, expected.leases]).toEqual([0, 1]);
    expect(found.schema).toEqual(expected.schema);
    expect(found.rows).toEqual(expected.rows);
  });

  const GROUPS = [
    "SELECT date_bin(INTERVAL '1 minute', time) AS m, max(i), count(*) FROM cpu WHERE host = 'a' GROUP BY m ORDER BY m",
    "SELECT date_bin(INTERVAL '1 second', time) AS m, host, avg(u) AS a FROM cpu GROUP BY 1, 2 ORDER BY a DESC, host, m LIMIT 1000 OFFSET 7",
    'SELECT host, "Region", min(f), max(b), min(time) FROM cpu GROUP BY host, "Region" ORDER BY 2, host NULLS FIRST',
    'SELECT "Region" AS host, host AS x FROM cpu GROUP BY 1, 2 ORDER BY host, x DESC',
    "SELECT count(*) FROM cpu WHERE host = 'nobody'",
    "SELECT host FROM cpu GROUP BY host ORDER BY max(u), count(*), host",
    "SELECT DISTINCT host FROM cpu ORDER BY 1 LIMIT 2",
  ];
  test.each(GROUPS)("%s", async (statement) => {
    const lease = spyOn(engine, "lease");
    const { scans } = await cpu.ask(statement);
    // the twin that only has rows needs it
    expect([scans, lease.mock.calls.length]).toEqual([0, 1]);
    lease.mockRestore();
  });
});

describe("statements that need DuckDB", () => {
  test.each(WITH_DUCKDB)("%s", async (statement) => {
    expect((await read(statement)).leases).toBe(1);
  });

  test("rows beyond what is sorted here are DuckDB's to sort", async () => {
    const { rows: found } = await read("SELECT time, n FROM many ORDER BY time");
    expect(found.map(([time]) => time)).toEqual(Array.from({ length: MANY_ROWS }, (_, i) => BigInt(i)));
  });
});

describe("cancelled, failed, unread and wide direct scans", () => {
  test("a cancel is heard between chunks, however fast the reader is", async () => {
    const controller = new AbortController();
    const answer = await engine.run(await engine.plan("SELECT * FROM many"), { tables: [many], params: {}, signal: controller.signal });
    many.onChunk = () => Bun.sleepSync(1);
    setTimeout(() => controller.abort(), 0);
    const error = await readRows(answer).catch((thrown: unknown) => thrown);
    await answer.close();
    many.onChunk = () => {};
    expect(error).toBeInstanceOf(TsdbError);
    expect((error as TsdbError).kind).toBe("cancelled");
  });

  test("an error of the storage is the statement's, before and after the first rows", async () => {
    for (const statement of ["SELECT n FROM many", "SELECT n FROM many ORDER BY n"]) {
      many.onChunk = (chunk) => {
        if (chunk === 2) throw new TsdbError("corrupt_file", "a bad page");
      };
      await expect(read(statement)).rejects.toThrow("a bad page");
    }
    many.onChunk = () => {};
  });

  test("an answer that nobody reads is closed", async () => {
    const answer = await engine.run(await engine.plan("SELECT * FROM many"), { tables: [many], params: {} });
    await answer.close();
  });

  test("an answer may be as wide as any other, not wider", async () => {
    const list = (count: number) => Array.from({ length: count }, () => "i").join(", ");
    expect((await read(`SELECT ${list(4096)} FROM cpu LIMIT 1`)).rows[0]!.length).toBe(4096);
    await expect(read(`SELECT ${list(4097)} FROM cpu LIMIT 1`)).rejects.toThrow("4097 columns");
  });
});
