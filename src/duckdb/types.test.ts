// Every DuckDB type as result columns, over chunks with NULLs, nested and scattered values; and a database that is closed to the outside.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prng } from "../../test/support/prng.ts";
import { readRows } from "../../test/support/sql/sql-rows.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import type { ResultBatch } from "../model/query/result-batch.ts";
import type { Connection } from "./connection.ts";
import { Database } from "./database.ts";
import { parseEngineMessage } from "./errors.ts";
import { castForReading } from "./type-text.ts";

const folder = mkdtempSync(join(tmpdir(), "tsdb-duckdb-"));
let database: Database;
let connection: Connection;
beforeAll(async () => {
  writeFileSync(join(folder, "outside.csv"), "a\n1\n");
  database = await Database.open({ memoryBytes: 128 << 20, threads: 2, tempDir: join(folder, "spill") });
  connection = await database.connect();
});
afterAll(() => {
  connection.close();
  database.close();
  rmSync(folder, { recursive: true });
});

async function query(sql: string): Promise<{ kinds: unknown[]; rows: unknown[][] }> {
  const statement = await connection.prepare(sql);
  const stream = await statement.execute();
  statement.close();
  const batches = async function* (): AsyncGenerator<ResultBatch> {
    for (let batch = await stream.next(); batch !== null; batch = await stream.next()) yield batch;
  };
  const rows = await readRows({ schema: { fields: stream.fields, tableName: "" }, batches: batches() });
  return { kinds: stream.fields.map(({ type }) => type), rows };
}

const int = (bits: number, signed: boolean) => ({ kind: "int", bits, signed });
const item = (type: unknown) => ({ kind: "list", child: { name: "item", type } });

const VALUES: [expression: string, type: unknown, value: unknown][] = [
  ["true", { kind: "bool" }, true],
  ["CAST(-128 AS TINYINT)", int(8, true), -128],
  ["CAST(-32768 AS SMALLINT)", int(16, true), -32768],
  ["CAST(-2147483648 AS INTEGER)", int(32, true), -2147483648],
  ["CAST(-9223372036854775808 AS BIGINT)", int(64, true), -(2n ** 63n)],
  ["CAST(255 AS UTINYINT)", int(8, false), 255],
  ["CAST(65535 AS USMALLINT)", int(16, false), 65535],
  ["CAST(4294967295 AS UINTEGER)", int(32, false), 4294967295],
  ["CAST(18446744073709551615 AS UBIGINT)", int(64, false), 2n ** 64n - 1n],
  ["CAST('-170141183460469231731687303715884105728' AS HUGEINT)", { kind: "hugeint", signed: true }, -(2n ** 127n)],
  ["CAST('-1' AS HUGEINT)", { kind: "hugeint", signed: true }, -1n],
  ["CAST(1.5 AS FLOAT)", { kind: "float", bits: 32 }, 1.5],
  ["CAST('-inf' AS DOUBLE)", { kind: "float", bits: 64 }, Number.NEGATIVE_INFINITY],
  ["CAST('nan' AS DOUBLE)", { kind: "float", bits: 64 }, Number.NaN],
  ["CAST(-1.25 AS DECIMAL(4, 2))", { kind: "decimal", precision: 4, scale: 2 }, "-1.25"],
  ["CAST(-12345.678 AS DECIMAL(9, 3))", { kind: "decimal", precision: 9, scale: 3 }, "-12345.678"],
  ["CAST('-123456789012.345' AS DECIMAL(18, 3))", { kind: "decimal", precision: 18, scale: 3 }, "-123456789012.345"],
  [
    "CAST('-9999999999999999999999999999999999.5' AS DECIMAL(38, 1))",
    { kind: "decimal", precision: 38, scale: 1 },
    "-9999999999999999999999999999999999.5",
  ],
  ["'short'", { kind: "utf8" }, "short"],
  ["'exactly 12 b'", { kind: "utf8" }, "exactly 12 b"],
  ["'longer than twelve bytes, äöü €'", { kind: "utf8" }, "longer than twelve bytes, äöü €"],
  ["''", { kind: "utf8" }, ""],
  ["CAST('\\xDE\\xAD' AS BLOB)", { kind: "binary" }, "dead"],
  ["CAST('b' AS ENUM('a', 'b'))", { kind: "dictionary" }, "b"],
  ["TIMESTAMP '1969-12-31 23:59:59.999999'", { kind: "timestamp", unit: "us", zone: null }, -1n],
  ["TIMESTAMP_S '1969-12-31 23:59:59'", { kind: "timestamp", unit: "s", zone: null }, -1n],
  ["TIMESTAMP_MS '1969-12-31 23:59:59.999'", { kind: "timestamp", unit: "ms", zone: null }, -1n],
  ["TIMESTAMP_NS '1969-12-31 23:59:59.999999999'", { kind: "timestamp", unit: "ns", zone: null }, -1n],
  ["TIMESTAMPTZ '1970-01-01 01:00:00+01:00'", { kind: "timestamp", unit: "us", zone: "UTC" }, 0n],
  ["DATE '1969-12-31'", { kind: "date" }, -1],
  ["TIME '00:00:01.000001'", { kind: "time", unit: "us" }, 1_000_001n],
  ["INTERVAL '14 months -3 days 5 microseconds'", { kind: "interval" }, [14, -3, 5n]],
  ["[1, NULL, 3]", item(int(32, true)), [1, null, 3]],
  ["['short', 'longer than twelve bytes', NULL]", item({ kind: "utf8" }), ["short", "longer than twelve bytes", null]],
  ["[[1], [], NULL, [2, 3]]", item(item(int(32, true))), [[1], [], null, [2, 3]]],
  ["CAST([] AS INTEGER[])", item(int(32, true)), []],
  ["CAST([1.5, 2.5] AS DOUBLE[2])", item({ kind: "float", bits: 64 }), [1.5, 2.5]],
  [
    "{'a': 1, 'B c': 'x'}",
    {
      kind: "struct",
      children: [
        { name: "a", type: int(32, true) },
        { name: "B c", type: { kind: "utf8" } },
      ],
    },
    { a: 1, "B c": "x" },
  ],
  [
    "MAP {'k': [1], 'l': NULL}",
    { kind: "map", key: { name: "key", type: { kind: "utf8" } }, value: { name: "value", type: item(int(32, true)) } },
    [
      ["k", [1]],
      ["l", null],
    ],
  ],
  [
    "[{'a': [INTERVAL '1 month']}]",
    item({ kind: "struct", children: [{ name: "a", type: item({ kind: "interval" }) }] }),
    [{ a: [[1, 0, 0n]] }],
  ],
];

describe("types", () => {
  test.each(VALUES)("%s", async (expression, type, value) => {
    expect(await query(`SELECT ${expression} AS v`)).toEqual({ kinds: [type], rows: [[value]] } as never);
  });

  // The same value in every third row of several chunks, NULL and absent between
  // (DuckDB has no CASE over arrays)
  test.each(VALUES.filter(([expression]) => !expression.includes("DOUBLE[2]")))("%s among NULLs", async (expression, _type, value) => {
    const { rows } = await query(`SELECT CASE WHEN i % 3 = 0 THEN ${expression} END AS v FROM range(5000) AS r(i)`);
    expect(rows.length).toBe(5000);
    expect(rows.every(([got], i) => Bun.deepEquals(got, i % 3 === 0 ? value : null))).toBe(true);
  });

  test("arrays that are NULL", async () => {
    const { rows } = await query("SELECT v FROM (VALUES (CAST([1, 2] AS INTEGER[2])), (NULL), (CAST([3, NULL] AS INTEGER[2]))) AS t(v)");
    expect(rows).toEqual([[[1, 2]], [null], [[3, null]]]);
  });

  test("a column that is NULL throughout", async () => {
    expect((await query("SELECT CAST(NULL AS VARCHAR), CAST(NULL AS INTEGER[]) FROM range(3)")).rows).toEqual(Array(3).fill([null, null]));
  });

  const TEXTS: [expression: string, cast: string | null][] = [
    ["uuid()", "VARCHAR"],
    ["CAST('101' AS BIT)", "VARCHAR"],
    ["TIMETZ '01:02:03+01'", "VARCHAR"],
    ["union_value(num := 1)", "VARCHAR"],
    ["[uuid()]", "VARCHAR[]"],
    ["array_value(uuid(), uuid())", "VARCHAR[2]"],
    ["{'a': uuid()}", "VARCHAR"],
    ["MAP {1: uuid()}", "VARCHAR"],
    ["[[1]]", null],
    ["{'a': 1}", null],
  ];
  test.each(TEXTS)("%s is read as %s", async (expression, cast) => {
    const statement = await connection.prepare(`SELECT ${expression}`);
    expect(castForReading((await statement.columns())[0]!.type)).toBe(cast);
    statement.close();
  });
});

describe("strings and lists of random lengths", () => {
  const below = prng(7);
  const seed = below(1000);
  const TEXT = `repeat(chr(CAST(97 + (i + ${seed}) % 26 AS INTEGER)), CAST(hash(i + ${seed}) % 40 AS BIGINT))`;
  const expected = (order: string): string =>
    `SELECT i, ${TEXT} AS s, list_transform(range(CAST(hash(i) % 5 AS BIGINT)), lambda x: x * i) AS l FROM range(10000) AS r(i) ${order}`;

  // Through an operator that leaves them in another order in DuckDB's memory, and lists scattered over their child vector
  const ORDERS = ["", "ORDER BY i DESC", "ORDER BY hash(i)", "WHERE i % 3 <> 1", "LIMIT 5000 OFFSET 123"];
  test.each(ORDERS)("rows %s agree with their own description", async (order) => {
    const sql = `SELECT i, s, l, length(s), s = ${TEXT}, len(l) FROM (${expected(order)})`;
    for (const [i, s, l, length, same, count] of (await query(sql)).rows as [bigint, string, bigint[], bigint, boolean, bigint][]) {
      const isRight = same && s.length === Number(length) && l.length === Number(count) && l.every((x, k) => x === BigInt(k) * i);
      if (!isRight) throw new Error(`row ${i}: ${s} ${l}`);
    }
  });
});

describe("long texts", () => {
  // 3,000 rows of 10 kB and of 1 MB, with NULLs, empty ones and a list between: a chunk of them would be tens of megabytes and gigabytes
  test.each([10_000, 1_000_000])("of %d bytes come in batches of bounded size", async (bytes) => {
    const count = bytes > 100_000 ? 40 : 3000;
    const sql = `SELECT i, CASE WHEN i % 7 = 0 THEN NULL WHEN i % 7 = 1 THEN '' ELSE repeat(chr(CAST(97 + i % 26 AS INTEGER)), ${bytes} + CAST(i AS BIGINT)) END AS s,
      [i, NULL] AS l, i % 2 = 0 AS b FROM range(${count}) AS r(i)`;
    const statement = await connection.prepare(sql);
    const stream = await statement.execute();
    statement.close();
    let row = 0;
    for (let batch = await stream.next(); batch !== null; batch = await stream.next()) {
      const [, text] = batch.columns;
      expect(text!.data!.length).toBeLessThanOrEqual(Math.max(LIMITS.batchTextBytesMax, bytes + count));
      const kinds = stream.fields;
      for (const got of await readRows({
        schema: { fields: kinds, tableName: "" },
        batches: (async function* () {
          yield batch!;
        })(),
      })) {
        const [i, s, l, b] = got as [bigint, string | null, unknown[], boolean];
        const letter = String.fromCharCode(97 + (row % 26));
        const isRight =
          row % 7 === 0 ? s === null : row % 7 === 1 ? s === "" : s!.length === bytes + row && s![0] === letter && s!.at(-1) === letter;
        if (Number(i) !== row || !isRight || b !== (row % 2 === 0) || Number(l[0]) !== row || l[1] !== null) throw new Error(`row ${row}`);
        row++;
      }
    }
    expect(row).toBe(count);
  });
});

describe("closed to the outside", () => {
  const REFUSED: string[] = [
    `SELECT * FROM read_csv('${join(folder, "outside.csv")}')`,
    `COPY (SELECT 1) TO '${join(folder, "out.csv")}'`,
    `ATTACH '${join(folder, "x.db")}'`,
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET threads = 8",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET GLOBAL memory_limit = '100GB'",
    "RESET memory_limit",
  ];
  test.each(REFUSED)("%s", async (sql) => {
    await expect(connection.run(sql)).rejects.toBeInstanceOf(TsdbError);
  });

  test("a folder that was allowed stays readable", async () => {
    const allowed = mkdtempSync(join(tmpdir(), "tsdb-allowed-"));
    writeFileSync(join(allowed, "in.csv"), "a\n41\n");
    const other = await Database.open({ memoryBytes: 64 << 20, threads: 1, tempDir: null, readableDirs: [allowed] });
    const reader = await other.connect();
    await reader.run(`SELECT * FROM read_csv('${join(allowed, "in.csv")}')`);
    await expect(reader.run(`SELECT * FROM read_csv('${join(folder, "outside.csv")}')`)).rejects.toThrow("disabled by configuration");
    reader.close();
    other.close();
    rmSync(allowed, { recursive: true });
  });

  test("settings that answers depend on", async () => {
    const { rows } = await query(
      "SELECT current_setting('TimeZone'), current_setting('integer_division'), 7 // 2, current_setting('threads')",
    );
    expect(rows).toEqual([["UTC", true, 3, 2n]]);
  });
});

describe("errors", () => {
  const MESSAGES: [text: string, kind: string, message: string, position: number | null][] = [
    ['{"exception_type":"Binder","exception_message":"no column","position":"7"}', "Binder", "no column", 7],
    ['Parser Error: {"exception_type":"Parser","exception_message":"syntax","position":"0"}', "Parser", "syntax", 0],
    ["Out of Memory Error: failed to allocate", "Out of Memory", "failed to allocate", null],
    ["INTERRUPT Error: Interrupted!", "INTERRUPT", "Interrupted!", null],
    ["Conversion Error: could not read {x}", "Conversion", "could not read {x}", null],
    ["something else", "", "something else", null],
  ];
  test.each(MESSAGES)("%s", (text, kind, message, position) => {
    expect(parseEngineMessage(text)).toEqual({ kind, message, position });
  });
});

describe("the columns of a wide answer", () => {
  const WIDE = `SELECT ${Array.from({ length: 4_000 }, (_, i) => `${i}.5::DECIMAL(30, 2) AS c${i}`).join(", ")}`;

  test("others run while they are read", async () => {
    const statement = await connection.prepare(WIDE);
    let hasRun = false;
    setImmediate(() => {
      hasRun = true;
    });
    const columns = await statement.columns();
    expect([columns.length, columns[3_999]!.name, hasRun]).toEqual([4_000, "c3999", true]);
    statement.close();
  });

  test("a statement that is closed meanwhile is cancelled", async () => {
    const statement = await connection.prepare(WIDE);
    const columns = statement.columns();
    statement.close();
    statement.close();
    await expect(columns).rejects.toMatchObject({ kind: "cancelled" });
  });
});
