// Statements over small tables whose rows are written out here, so every expected answer is arithmetic.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { FakeTable } from "../../../test/support/rows/fake-table.ts";
import { readRows, type SqlValue } from "../../../test/support/sql/sql-rows.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import type { QueryParams } from "../../model/query/query.ts";
import { ColumnType } from "../../model/rows/column.ts";
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
  ["SELECT 7 / 2, 7.0 / 2, -7 / 2, 1.5, 1.1 + 2.2", [[3n, 3.5, -3n, 1.5, 1.1 + 2.2]]],
  [
    "SELECT count / 2, usage / 2, total / 2, 2147483647 + 1 FROM cpu WHERE host = 'a' AND count = 1",
    [[0n, 0.25, "9223372036854775807.5000", 2147483648n]],
  ],
  ["SELECT total FROM cpu WHERE total > 9223372036854775807", [[U64_MAX]]],
  ["SELECT total FROM cpu WHERE total = 18446744073709551615", [[U64_MAX]]],
  ["SELECT sum(total) FROM cpu WHERE count IN (1, 2) AND total < 5", [[1n]]],
  ["SELECT CASE WHEN idle THEN 1 ELSE 0 END FROM cpu WHERE count = 1", [[1n]]],
  ["SELECT * FROM (VALUES (1), (3000000000)) AS v ORDER BY 1", [[1n], [3000000000n]]],
  // missing values come last going up and first going down
  ["SELECT usage FROM cpu ORDER BY usage", [[0.5], [1.5], [2.5], [null]]],
  ["SELECT usage FROM cpu ORDER BY usage DESC", [[null], [2.5], [1.5], [0.5]]],
  // the dialect's functions
  ["SELECT approx_distinct(host), median(usage), approx_median(usage), mean(usage) FROM cpu", [[2n, 1.5, 1.5, 1.5]]],
  ["SELECT approx_percentile_cont(usage, 0.5), approx_percentile_cont(usage, 1.0, 100) FROM cpu", [[1.5, 2.5]]],
  ["SELECT approx_percentile_cont(0.5) WITHIN GROUP (ORDER BY usage) FROM cpu", [[1.5]]],
  ["SELECT stddev(usage), var_pop(usage), var_population(usage), stddev_pop(usage) FROM cpu", [[1, 2 / 3, 2 / 3, Math.sqrt(2 / 3)]]],
  [
    "SELECT nvl(note, 'none'), nvl2(note, 1, 2), btrim('  x '), iszero(0.0), signum(-2.5) FROM cpu WHERE count = 2",
    // a text among the arguments makes texts of all
    [["none", "2", "x", true, -1]],
  ],
  ["SELECT host FROM cpu WHERE host ~ '^a$' OR note ~ 'an.a' ORDER BY time", [["a"], ["a"]]],
  ["SELECT count FROM cpu WHERE host !~ 'long' AND host ~* 'A'", [[1n], [null]]],
  ["SELECT 'abc' ~ 'b', 'abc' !~ 'B', 'abc' ~* 'B', 'abc' !~* 'x', 'abc' SIMILAR TO 'b'", [[true, true, true, true, true]]],
  ["SELECT DISTINCT host FROM cpu WHERE host IN ('a', 'b') OR host IS NULL ORDER BY 1", [["a"], [null]]],
  ["SELECT c.host, e.v FROM cpu AS c LEFT JOIN empty AS e USING (time) WHERE c.count = 1", [["a", null]]],
  ["SELECT (SELECT max(usage) FROM cpu AS i WHERE i.host = o.host) FROM cpu AS o WHERE count = 1", [[2.5]]],
  ["WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT count(*) FROM cpu, r", [[12n]]],
];
test.each(STATEMENTS)("rows of %s", async (sql, rows) => expect((await ask(sql)).rows).toEqual(rows));

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
  await expect(ask("SELECT usage FROM cpu WHERE host = $h")).rejects.toThrow("No value found for placeholder with name $h");
});
