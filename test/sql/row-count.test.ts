// LIMIT and OFFSET take whole numbers, as the vendor's engine does: its words are those of DataFusion's type coercion. What only DuckDB
// reads there is refused, wherever the clause stands.
import type { QueryParams } from "../../src/model/query/query.ts";
import { type SqlCase, sqlSuite } from "../support/sql/sql-suite.ts";

const NUMBERS = "(VALUES (1), (2), (3), (4)) AS t(n)";
const not = (clause: "LIMIT" | "OFFSET", type: string) =>
  new Error(`Error during planning: Expected ${clause} to be an integer or null, but got ${type}`);
const PERCENTAGE = new Error("Error during planning: Expected LIMIT to be a number of rows, but got a percentage of them");

const TAKEN: readonly (readonly [value: string, rows: number, params?: QueryParams])[] = [
  ["2", 2],
  ["0", 0],
  ["(3)", 3],
  ["1+1", 2],
  ["7/2", 3],
  ["10 % 4", 2],
  ["-(-2)", 2],
  ["abs(-2)", 2],
  ["CAST('2' AS BIGINT)", 2],
  ["'2'::int", 2],
  ["CAST(1.0 AS INTEGER)", 1],
  ["length('abc')", 3],
  ["coalesce(NULL, 3)", 3],
  ["CASE WHEN 1 < 2 THEN 1 ELSE 2 END", 1],
  ["greatest(1, 3)", 3],
  ["(SELECT 2)", 2],
  ["(SELECT count(*) FROM home WHERE co = 26)", 1],
  ["$n", 3, { n: 3n }],
  ["$n + 1", 3, { n: 2n }],
  ["CAST($n AS BIGINT)", 2, { n: "2" }],
];

const REFUSED: readonly (readonly [value: string, type: string, params?: QueryParams])[] = [
  ["1.5", "Float64"],
  ["2.0", "Float64"],
  ["1e0", "Float64"],
  ["99999999999999999999999", "Float64"],
  ["1 + 0.5", "Float64"],
  ["round(1.2)", "Float64"],
  ["random()", "Float64"],
  ["CAST(2 AS DOUBLE)", "Float64"],
  ["CAST(NULL AS DOUBLE)", "Float64"],
  ["'2'", "Utf8"],
  ["'two'", "Utf8"],
  ["concat('1', '2')", "Utf8"],
  ["coalesce(NULL, '2')", "Utf8"],
  ["CASE WHEN 1 < 2 THEN '1' ELSE '2' END", "Utf8"],
  ["(SELECT '2')", "Utf8"],
  ["(SELECT temp FROM home LIMIT 1)", "Float64"],
  ["true", "Boolean"],
  ["1 < 2", "Boolean"],
  ["now()", "Timestamp(ns)"],
  ["INTERVAL '1 day'", "Interval(MonthDayNano)"],
  ["[1]", "List"],
  ["$n", "Float64", { n: 1.5 }],
  ["$n", "Utf8", { n: "2" }],
  ["$n", "Boolean", { n: true }],
];

/** Rows of one column in the order of n, which a LIMIT of `rows` or an OFFSET of as many leaves. */
const first = (rows: number) => [[1n], [2n], [3n], [4n]].slice(0, rows);
const behind = (rows: number) => [[1n], [2n], [3n], [4n]].slice(rows);

sqlSuite("LIMIT takes", [
  ...TAKEN.map(([value, rows, params]): SqlCase => [`SELECT n FROM ${NUMBERS} ORDER BY n LIMIT ${value}`, first(rows), params ?? {}]),
  ...["NULL", "ALL"].map((value): SqlCase => [`SELECT n FROM ${NUMBERS} ORDER BY n LIMIT ${value}`, first(4)]),
  [`SELECT n FROM ${NUMBERS} ORDER BY n LIMIT $n`, first(4), { n: null }],
]);

sqlSuite("OFFSET takes", [
  ...TAKEN.map(([value, rows, params]): SqlCase => [`SELECT n FROM ${NUMBERS} ORDER BY n OFFSET ${value}`, behind(rows), params ?? {}]),
  [`SELECT n FROM ${NUMBERS} ORDER BY n OFFSET NULL`, first(4)],
  [`SELECT n FROM ${NUMBERS} ORDER BY n LIMIT 1 OFFSET 1+1`, [[3n]]],
]);

sqlSuite("what is no whole number", [
  ...REFUSED.map(([value, type, params]): SqlCase => [`SELECT n FROM ${NUMBERS} LIMIT ${value}`, not("LIMIT", type), params ?? {}]),
  ...REFUSED.map(
    ([value, type, params]): SqlCase => [`SELECT n FROM ${NUMBERS} LIMIT 1 OFFSET ${value}`, not("OFFSET", type), params ?? {}],
  ),
  ...["LIMIT -1", "LIMIT 1 OFFSET -1", "LIMIT 1 - 2"].map(
    (clause): SqlCase => [`SELECT n FROM ${NUMBERS} ${clause}`, new Error("LIMIT/OFFSET cannot be negative")],
  ),
  [`SELECT n FROM ${NUMBERS} LIMIT 9223372036854775808`, new Error("Can't cast value 9223372036854775808 to type Int64")],
]);

/** Places for a LIMIT clause. */
const PLACES: readonly ((clause: string) => string)[] = [
  (clause) => `SELECT room FROM home ${clause}`,
  (clause) => `SELECT room FROM home ORDER BY time ${clause}`,
  (clause) => `SELECT room, count(*) FROM home GROUP BY room ${clause}`,
  (clause) => `SELECT * FROM (SELECT room FROM home ${clause})`,
  (clause) => `WITH c AS (SELECT room FROM home ${clause}) SELECT * FROM c`,
  (clause) => `WITH c AS (WITH d AS (SELECT room FROM home ${clause}) SELECT * FROM d) SELECT 1 FROM c`,
  (clause) => `SELECT room FROM home UNION ALL SELECT room FROM home ${clause}`,
  (clause) => `(SELECT room FROM home ${clause}) UNION SELECT room FROM home`,
  (clause) => `SELECT 1 FROM home WHERE room IN (SELECT room FROM home ${clause})`,
  (clause) => `SELECT (SELECT room FROM home ${clause})`,
  (clause) => `SELECT 1 FROM home WHERE EXISTS (SELECT room FROM home ${clause})`,
  (clause) => `SELECT 1 FROM home JOIN (SELECT room FROM home ${clause}) AS h ON true`,
  (clause) => `EXPLAIN SELECT room FROM home ${clause}`,
];

sqlSuite("wherever it stands", [
  ...PLACES.map((at): SqlCase => [at("LIMIT '1'"), not("LIMIT", "Utf8")]),
  ...PLACES.map((at): SqlCase => [at("LIMIT 1.5"), not("LIMIT", "Float64")]),
  ...PLACES.map((at): SqlCase => [at("LIMIT 1 OFFSET '1'"), not("OFFSET", "Utf8")]),
  ...PLACES.map((at): SqlCase => [at("LIMIT 50%"), PERCENTAGE]),
  ...PLACES.map((at): SqlCase => [at("LIMIT 50 PERCENT"), PERCENTAGE]),
  ...PLACES.map((at): SqlCase => [at("LIMIT (40 + 10)%"), PERCENTAGE]),
]);

sqlSuite("samples, which only DuckDB takes", [
  ["SELECT room FROM home TABLESAMPLE 10%", new Error("This feature is not implemented: TABLESAMPLE")],
  ["SELECT room FROM home TABLESAMPLE reservoir(10 ROWS) REPEATABLE (1)", new Error("This feature is not implemented: TABLESAMPLE")],
  ["SELECT 1 FROM (SELECT room FROM home) AS h TABLESAMPLE 10%", new Error("This feature is not implemented: TABLESAMPLE")],
  ["SELECT room FROM home USING SAMPLE 10", new Error("This feature is not implemented: USING SAMPLE")],
  ["WITH c AS (SELECT room FROM home USING SAMPLE 10%) SELECT * FROM c", new Error("This feature is not implemented: USING SAMPLE")],
]);
