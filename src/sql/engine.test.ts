// Statements over small tables whose rows are written out here, so every expected answer is arithmetic.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { FakeTable } from "../../test/support/fake-table.ts";
import { readRows, type SqlValue } from "../../test/support/sql-rows.ts";
import { Kernel } from "../kernel/kernel.ts";
import { ColumnType } from "../model/column.ts";
import type { QueryParams } from "../model/query.ts";
import { SqlEngine } from "./engine.ts";

const MINUTE = 60_000_000_000n;
/** 2024-01-01T00:00:00.000000001Z */
const START = 1_704_067_200_000_000_001n;
const U64_MAX = 2n ** 64n - 1n;
const LONG = "a name that is longer than twelve bytes";

let engine: SqlEngine;
let tables: FakeTable[];

beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  const { time, tag, float, integer, unsigned, string, boolean } = ColumnType;
  const cpu = { time, host: tag, usage: float, count: integer, total: unsigned, note: string, idle: boolean };
  tables = [
    new FakeTable(kernel, "cpu", cpu, [
      { time: START, host: "a", usage: 0.5, count: 1n, total: U64_MAX, note: "x", idle: true },
      { time: START + MINUTE, host: LONG, usage: 1.5, count: 2n, total: 1n, note: null, idle: false },
      { time: START + 2n * MINUTE, host: null, usage: null, count: -3n, total: 2n, note: LONG, idle: null },
      { time: START + 3n * MINUTE, host: "a", usage: 2.5, count: null, total: null, note: "", idle: true },
    ]),
    new FakeTable(kernel, "CPU", { time, Host: tag, host: tag, select: float }, [{ time: 1n, Host: "upper", host: "lower", select: 1 }]),
    new FakeTable(kernel, "empty", { time, v: float }, []),
  ];
});
afterAll(() => engine.close());

async function ask(sql: string, params: QueryParams = {}): Promise<{ names: string[]; rows: SqlValue[][] }> {
  const plan = await engine.plan(sql);
  const used = tables.filter(({ name }) => plan.tables.includes(name));
  const answer = await engine.run(plan, { tables: used, databaseTables: tables, params });
  const rows = await readRows(answer);
  await answer.close();
  return { names: answer.schema.fields.map(({ name }) => name), rows };
}

const STATEMENTS: [sql: string, rows: SqlValue[][]][] = [
  ["SELECT 1", [[1n]]],
  ["SELECT count(*) FROM cpu", [[4n]]],
  ["SELECT count(usage), sum(count), max(total) FROM cpu", [[3n, 0n, U64_MAX]]],
  [
    "SELECT host, avg(usage) FROM cpu GROUP BY host ORDER BY host NULLS FIRST",
    [
      [null, null],
      ["a", 1.5],
      [LONG, 1.5],
    ],
  ],
  ["SELECT note FROM cpu ORDER BY time", [["x"], [null], [LONG], [""]]],
  ['SELECT "Host", host, "select" FROM "CPU"', [["upper", "lower", 1]]],
  ["SELECT v FROM empty", []],
  ["SELECT count(*), sum(v) FROM empty", [[0n, null]]],
  ["SELECT 7 / 2, 7.0 / 2, -7 / 2, 1.5", [[3n, 3.5, -3n, 1.5]]],
];
test.each(STATEMENTS)("%s", async (sql, rows) => expect((await ask(sql)).rows).toEqual(rows));

test("* is sorted by name, and the answer knows its table and column kinds", async () => {
  const plan = await engine.plan("SELECT * FROM cpu");
  expect(plan.tables).toEqual(["cpu"]);
  const answer = await engine.run(plan, { tables, params: {} });
  expect(answer.schema.tableName).toBe("cpu");
  expect(answer.schema.fields.map(({ name, columnKind }) => [name, columnKind])).toEqual([
    ["count", "iox::column_type::field::integer"],
    ["host", "iox::column_type::tag"],
    ["idle", "iox::column_type::field::boolean"],
    ["note", "iox::column_type::field::string"],
    ["time", "iox::column_type::timestamp"],
    ["total", "iox::column_type::field::uinteger"],
    ["usage", "iox::column_type::field::float"],
  ]);
  await answer.close();
});

test("only the columns that are needed are scanned", async () => {
  const [cpu] = tables;
  cpu!.requests.length = 0;
  await ask("SELECT usage FROM cpu WHERE host = 'a'");
  expect(cpu!.requests.map(({ columns }) => columns.map(({ name }) => name).sort())).toEqual([["host", "usage"]]);
});

test("a parameter without a value is named", async () => {
  expect((await ask("SELECT usage FROM cpu WHERE host = $h AND usage > $u", { h: "a", u: 0.9 })).rows).toEqual([[2.5]]);
  expect(ask("SELECT usage FROM cpu WHERE host = $h")).rejects.toThrow("No value found for placeholder with name $h");
});
