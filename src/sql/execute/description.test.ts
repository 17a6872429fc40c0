// What a statement would answer: the same columns as its answer has, and the parameters that it was given no value for.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { FakeTable } from "../../../test/support/rows/fake-table.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import type { QueryParams } from "../../model/query/query.ts";
import type { ResultType } from "../../model/query/result-batch.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { type SqlDescription, SqlEngine, type SqlInput, type SqlPlan } from "./engine.ts";

let engine: SqlEngine;
let tables: FakeTable[];

beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  const { time, tag, float, integer, unsigned, string, boolean } = ColumnType;
  const cpu = { time, host: tag, usage: float, count: integer, total: unsigned, note: string, idle: boolean };
  tables = [new FakeTable(kernel, "cpu", cpu, [{ time: 1n, host: "a", usage: 0.5, count: 1n, total: 2n, note: "x", idle: true }])];
});
afterAll(() => engine.close());

async function planned(sql: string, params: QueryParams = {}): Promise<[SqlPlan, SqlInput]> {
  const plan = await engine.plan(sql);
  return [plan, { tables: tables.filter(({ name }) => plan.tables.includes(name)), databaseTables: tables, params }];
}

async function describeIt(sql: string, params: QueryParams = {}): Promise<SqlDescription> {
  return engine.describe(...(await planned(sql, params)));
}

// the answer's columns are the other implementation
test.each([
  "SELECT * FROM cpu",
  "SELECT 1, 1.5, 'a' AS a, NULL AS n, true",
  "SELECT host, avg(usage), count(*) FROM cpu GROUP BY host",
  "SELECT date_bin(INTERVAL '1 hour', time) AS t, host, max(count) FROM cpu GROUP BY t, host",
  "SELECT DISTINCT ON (host) * FROM cpu ORDER BY host, time DESC",
  "SELECT selector_last(usage, time)['value'] AS last FROM cpu",
  "SELECT sum(total), [1, 2] AS l, INTERVAL '1 day' AS i FROM cpu",
  "SELECT host AS a, host AS a FROM cpu",
  "SHOW TABLES",
  "SHOW COLUMNS FROM cpu",
  "EXPLAIN SELECT * FROM cpu",
  "SELECT table_name FROM information_schema.tables",
])("%s: as it answers", async (sql) => {
  const [plan, input] = await planned(sql);
  const answer = await engine.run(plan, input);
  const { schema } = answer;
  await answer.close();
  expect(await describeIt(sql)).toEqual({ schema, parameters: [] });
});

const INT: ResultType = { kind: "int", bits: 64, signed: true };
const FLOAT: ResultType = { kind: "float", bits: 64 };
const TEXT: ResultType = { kind: "utf8" };
const TIME: ResultType = { kind: "timestamp", unit: "ns", zone: null };
const INT32: ResultType = { kind: "int", bits: 32, signed: true };
const UNKNOWN: ResultType = { kind: "null" };

const PARAMETERS: [sql: string, params: QueryParams, parameters: [name: string, type: ResultType][], columns: string[]][] = [
  ["SELECT usage FROM cpu WHERE usage > $least", {}, [["least", FLOAT]], ["usage"]],
  [
    "SELECT usage FROM cpu WHERE time >= $from AND time < $to",
    {},
    [
      ["from", TIME],
      ["to", TIME],
    ],
    ["usage"],
  ],
  [
    "SELECT usage FROM cpu WHERE count = $1 AND note = $2",
    {},
    [
      ["1", INT],
      ["2", TEXT],
    ],
    ["usage"],
  ],
  [
    "SELECT usage FROM cpu WHERE idle = $b LIMIT $n",
    {},
    [
      ["b", { kind: "bool" }],
      ["n", INT],
    ],
    ["usage"],
  ],
  // a value that is there is no parameter any more
  ["SELECT usage FROM cpu WHERE count = $a AND note = $b", { a: 1 }, [["b", TEXT]], ["usage"]],
  // nothing tells what it is
  ["SELECT $what AS x, usage FROM cpu", {}, [["what", UNKNOWN]], ["x", "usage"]],
  [
    "SELECT usage FROM cpu WHERE usage = $a AND $b",
    {},
    [
      ["a", FLOAT],
      ["b", { kind: "bool" }],
    ],
    ["usage"],
  ],
  ["SELECT host FROM cpu WHERE host LIKE $like", {}, [["like", TEXT]], ["host"]],
];

// where a rule wants a constant, or chooses by what its argument is
const INTERVAL: ResultType = { kind: "interval" };
const BINS = "SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, avg(usage) AS m FROM cpu WHERE";
const DURATION: ResultType = { kind: "duration", unit: "ns" };
const OPEN: [sql: string, parameters: ResultType[], columns: ResultType[]][] = [
  ["SELECT date_bin($1, time) AS t FROM cpu", [TEXT], [TIME]],
  ["SELECT date_bin(INTERVAL '1 hour', time, $1) AS t FROM cpu", [TIME], [TIME]],
  ["SELECT date_bin($2, time, $1) AS t, count(*) AS n FROM cpu WHERE usage > $3 GROUP BY 1", [TIME, TEXT, FLOAT], [TIME, INT]],
  ["SELECT date_bin_wallclock($1, tz(time, $2)) AS t FROM cpu", [TEXT, TEXT], [{ ...TIME, zone: "UTC" }]],
  ["SELECT date_trunc('hour', $1) AS t", [TIME], [TIME]],
  ["SELECT date_trunc($1, time) AS t FROM cpu", [TEXT], [TIME]],
  ["SELECT date_part($1, time) AS n FROM cpu", [TEXT], [INT32]],
  ["SELECT extract(year FROM $1) AS n", [TIME], [INT32]],
  [`${BINS} time >= $1 AND time < $2 GROUP BY 1`, [TIME, TIME], [TIME, FLOAT]],
  [`${BINS} time BETWEEN $1 AND $2 AND host = $3 GROUP BY 1`, [TIME, TIME, TEXT], [TIME, FLOAT]],
  [`${BINS} time >= $1 AND time < now() GROUP BY 1`, [TIME], [TIME, FLOAT]],
  [`${BINS} time > $1 - INTERVAL '1 day' AND time < date_trunc('day', $1) GROUP BY 1`, [TIME], [TIME, FLOAT]],
  ["SELECT date_bin_gapfill($1, time, $2) AS t, avg(usage) AS m FROM cpu WHERE time > '2000-01-01' AND time < now() GROUP BY 1", [TEXT, TIME], [TIME, FLOAT]],
  ["SELECT percentile_cont(usage, $1) AS p FROM cpu", [FLOAT], [FLOAT]],
  ["SELECT percentile_cont($1) WITHIN GROUP (ORDER BY usage) AS p FROM cpu", [FLOAT], [FLOAT]],
  ["SELECT approx_percentile_cont(usage, $1) AS p FROM cpu", [FLOAT], [FLOAT]],
  ["SELECT approx_percentile_cont($1) WITHIN GROUP (ORDER BY count) AS p FROM cpu", [FLOAT], [INT]],
  ["SELECT approx_percentile_cont_with_weight(usage, count, $1) AS p FROM cpu", [FLOAT], [FLOAT]],
  ["SELECT time + $1 AS t, time - $1 AS u, $2 + time AS v FROM cpu", [INTERVAL, INTERVAL], [TIME, TIME, TIME]],
  ["SELECT usage FROM cpu WHERE time > now() - $1", [INTERVAL], [FLOAT]],
  ["SELECT usage FROM cpu WHERE time - $1 > INTERVAL '1 day' AND $2 - time < INTERVAL '1 day'", [TIME, TIME], [FLOAT]],
  ["SELECT $1 - time AS d FROM cpu", [TIME], [DURATION]],
  ["SELECT time AT TIME ZONE $1 AS t FROM cpu", [TEXT], [{ ...TIME, zone: "UTC" }]],
]; // biome-ignore format: a statement a line

test.each(OPEN)("types of parameters without a value: %s", async (sql, parameters, columns) => {
  const found = await describeIt(sql);
  expect(found.parameters).toEqual(parameters.map((type, i) => ({ name: String(i + 1), type })));
  expect(found.schema.fields.map(({ type }) => type)).toEqual(columns);
});

test.each(PARAMETERS)("%s with %j", async (sql, params, parameters, columns) => {
  const found = await describeIt(sql, params);
  expect(found.parameters.map(({ name, type }) => [name, type])).toEqual(parameters);
  expect(found.schema.fields.map(({ name }) => name)).toEqual(columns);
});

test.each([
  ["SELECT nothing FROM cpu", /nothing/],
  ["SELECT * FROM nowhere", /table 'public.iox.nowhere' not found/],
  ["SHOW COLUMNS FROM nowhere", /table 'public.iox.nowhere' not found/],
  ["SELECT abs('a', $b)", /abs/],
  [`${BINS} time >= $1 GROUP BY 1`, /missing upper time bound/],
  ["SELECT date_bin($1, $2, usage) FROM cpu", /origin to be a constant/],
])("%s is an error as it would be", async (sql, message) => {
  const error = await describeIt(sql).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(TsdbError);
  expect((error as TsdbError).kind).toBe("bad_query");
  expect((error as TsdbError).message).toMatch(message);
});

test("a value that is missing when the statement runs is still an error", async () => {
  const [plan, input] = await planned("SELECT usage FROM cpu WHERE usage > $least");
  await expect(engine.run(plan, input)).rejects.toThrow("No value found for placeholder with name $least");
  // not even when all objects have something of that name
  const [inherited, none] = await planned("SELECT $constructor");
  await expect(engine.run(inherited, none)).rejects.toThrow("No value found for placeholder with name $constructor");
});
