// The printer: statements that mean the same to us and to DuckDB give the same rows when they went through our tree and back to text.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readRows } from "../../test/support/sql/sql-rows.ts";
import type { Connection } from "../duckdb/connection.ts";
import { Database } from "../duckdb/database.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import type { ResultBatch } from "../model/query/result-batch.ts";
import { SqlEngine } from "./execute/engine.ts";

const T = "(VALUES (1, 'a', 1.5e0), (2, 'b', 2.5e0), (3, 'a', NULL), (4, NULL, 4e0)) AS t(i, s, f)";
const U = "(VALUES (1, 'x'), (3, 'y'), (5, 'z')) AS u(i, w)";

const STATEMENTS: string[] = [
  // select list
  `SELECT i, s AS name, f FROM ${T}`,
  `SELECT DISTINCT s FROM ${T} ORDER BY s NULLS FIRST`,
  `SELECT DISTINCT ON (s) s, i FROM ${T} ORDER BY s NULLS FIRST, i DESC`,
  `SELECT * EXCLUDE (f) FROM ${T} ORDER BY i`,
  `SELECT t.* REPLACE (i + 1 AS i) FROM ${T} ORDER BY 1`,
  `SELECT * RENAME (i AS j) FROM ${T} ORDER BY j`,
  `SELECT COLUMNS('i|f') FROM ${T} ORDER BY ALL`,
  `SELECT max(COLUMNS(*)) FROM ${T}`,
  `SELECT i + 1 AS j, j * 2 AS k FROM ${T} ORDER BY k`,
  // expressions
  "SELECT -5, +5, 5 - -3, 2 ** 3, 7 % 4, 7 // 2, 5 & 3, 5 | 3, 1 << 4, 16 >> 2, ~5",
  "SELECT 'it''s', E'a\\tb', $$dollar$$, 'a' || 'b', 'ä€😀'",
  "SELECT 1e5, 1.5e-3, -2e0, 9223372036854775807, -9223372036854775807, 18446744073709551615",
  "SELECT true, false, NULL, NOT true, true AND NULL, true OR NULL",
  "SELECT 1 < 2, 1 <= 1, 2 > 3, 2 >= 2, 1 = 1, 1 <> 1, 1 IS DISTINCT FROM NULL, 1 IS NOT DISTINCT FROM 1",
  "SELECT 3 BETWEEN 1 AND 5, 3 NOT BETWEEN 1 AND 2, 1 IN (1, 2), 3 NOT IN (1, 2), NULL IS NULL, 1 IS NOT NULL",
  "SELECT 'abc' LIKE 'a%', 'abc' NOT LIKE 'b%', 'ABC' ILIKE 'a%', 'a%c' LIKE 'a!%c' ESCAPE '!', 'abc' SIMILAR TO 'a.c'",
  `SELECT CASE i WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'many' END, CASE WHEN f IS NULL THEN 0 END FROM ${T} ORDER BY i`,
  "SELECT coalesce(NULL, 1), ifnull(NULL, 2), nullif(1, 1), greatest(1, 3, 2), least(3, 1)",
  "SELECT CAST('12' AS INTEGER), '1.5'::DOUBLE, TRY_CAST('x' AS INTEGER), '2024-02-29'::DATE, CAST(1 AS VARCHAR), 1.25::DECIMAL(5, 2)",
  "SELECT [1, 2, 3][2], [1, 2, 3][2:], [1, 2, 3][:2], [1, 2, 3, 4][1:-:2], list_transform([1, 2], lambda x: x + 1)",
  "SELECT [x * 2 FOR x IN [1, 2, 3] IF x > 1]",
  "SELECT {'a': 1, 'b': 'x'}, {'a': 1}.a, {'a': {'b': 2}}['a']['b'], struct_pack(k := 1)",
  "SELECT MAP {'k': 1, 'l': 2}, MAP {'k': 1}['k'], map_keys(MAP {'z': 1})",
  "SELECT CAST([1, 2] AS BIGINT[]), CAST({'a': 1} AS STRUCT(a VARCHAR)), array_value(1, 2)::INTEGER[2]",
  "SELECT substring('hello' FROM 2 FOR 3), position('l' IN 'hello'), trim(BOTH 'x' FROM 'xax'), extract(year FROM DATE '2024-05-06')",
  "SELECT 'b' COLLATE NOCASE = 'B', 'abc'[2], length('äöü'), octet_length('a'::BLOB)",
  "SELECT INTERVAL '1 day 2 hours', INTERVAL 3 MONTH, INTERVAL '2' HOUR, unhex('AB')",
  // FROM
  `SELECT t.i, w FROM ${T} JOIN ${U} ON t.i = u.i ORDER BY 1`,
  `SELECT i, w FROM ${T} LEFT JOIN ${U} USING (i) ORDER BY i`,
  `SELECT i, s, w FROM ${T} FULL JOIN ${U} USING (i) ORDER BY i`,
  `SELECT i, w FROM ${T} NATURAL RIGHT JOIN ${U} ORDER BY i`,
  `SELECT count(*) FROM ${T}, ${U}`,
  `SELECT count(*) FROM ${T} CROSS JOIN ${U}`,
  `SELECT i FROM ${T} SEMI JOIN ${U} USING (i) ORDER BY i`,
  `SELECT i FROM ${T} ANTI JOIN ${U} USING (i) ORDER BY i`,
  `SELECT t.i, u.i FROM ${T} ASOF LEFT JOIN ${U} ON t.i >= u.i ORDER BY 1`,
  `SELECT t.i, u.i FROM ${T} POSITIONAL JOIN ${U} ORDER BY 1`,
  `SELECT i, d FROM ${T}, LATERAL (SELECT t.i * 2 AS d) AS l ORDER BY i`,
  "SELECT * FROM range(3) AS r(n)",
  "SELECT * FROM generate_series(1, 10, 4)",
  "SELECT * FROM unnest([3, 4]) WITH ORDINALITY AS u(x, o)",
  "SELECT unnest([1, 2]), unnest(['a', 'b'])",
  `FROM ${U} SELECT w ORDER BY w`,
  "VALUES (1, 'a'), (2, 'b')",
  `SELECT * FROM (SELECT i FROM ${T}) AS q(renamed) WHERE renamed > 2 ORDER BY 1`,
  // aggregates
  `SELECT s, count(*), sum(i), avg(f), min(i), max(s) FROM ${T} GROUP BY s ORDER BY s NULLS FIRST`,
  `SELECT count(DISTINCT s), count(*) FILTER (WHERE i > 2), string_agg(s, ',' ORDER BY i DESC) FROM ${T}`,
  `SELECT s, sum(i) FROM ${T} GROUP BY ALL HAVING sum(i) > 2 ORDER BY ALL`,
  `SELECT s, i, sum(f) FROM ${T} GROUP BY ROLLUP (s, i) ORDER BY s NULLS FIRST, i NULLS FIRST, 3`,
  `SELECT s, i, grouping(s), count(*) FROM ${T} GROUP BY GROUPING SETS ((s), (i), ()) ORDER BY 1 NULLS FIRST, 2 NULLS FIRST, 4`,
  `SELECT s, i, count(*) FROM ${T} GROUP BY CUBE (s, i) ORDER BY 1 NULLS FIRST, 2 NULLS FIRST, 3`,
  `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY i), quantile_disc(i, 0.25), median(f), mode(s) FROM ${T}`,
  `SELECT arg_max(s, i), first(s ORDER BY i), list(i ORDER BY i DESC), histogram(s) FROM ${T}`,
  `SELECT stddev(i), var_pop(i), corr(i, f), regr_slope(f, i) FROM ${T}`,
  // windows
  `SELECT i, row_number() OVER (ORDER BY i), rank() OVER (PARTITION BY s ORDER BY i), sum(i) OVER () FROM ${T} ORDER BY i`,
  `SELECT lag(i, 2, 0) OVER (ORDER BY i), lead(i) OVER (ORDER BY i DESC), first_value(f IGNORE NULLS) OVER (ORDER BY i) FROM ${T} ORDER BY i`,
  `SELECT sum(i) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM ${T} ORDER BY i`,
  `SELECT sum(i) OVER (ORDER BY i RANGE BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) FROM ${T} ORDER BY i`,
  `SELECT sum(i) OVER (ORDER BY s GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING EXCLUDE TIES) FROM ${T} ORDER BY i`,
  `SELECT sum(i) OVER w, count(*) FILTER (WHERE i > 1) OVER w FROM ${T} WINDOW w AS (PARTITION BY s ORDER BY i) ORDER BY i`,
  `SELECT i FROM ${T} QUALIFY row_number() OVER (PARTITION BY s ORDER BY i DESC) = 1 ORDER BY i`,
  `SELECT ntile(2) OVER (ORDER BY i), cume_dist() OVER (ORDER BY i), nth_value(i, 2) OVER (ORDER BY i) FROM ${T} ORDER BY i`,
  // several queries in one
  "SELECT 1 UNION SELECT 1 UNION ALL SELECT 2 ORDER BY 1",
  "(SELECT 1 AS a LIMIT 1) UNION ALL (SELECT 2 ORDER BY 1 DESC) ORDER BY a DESC LIMIT 1 OFFSET 1",
  "SELECT 1 INTERSECT SELECT 1 EXCEPT SELECT 2",
  "SELECT 1 AS a, 2 AS b UNION BY NAME SELECT 3 AS b",
  "WITH c AS (SELECT 1 AS a), d(z) AS (SELECT a + 1 FROM c) SELECT * FROM c, d",
  "WITH c AS MATERIALIZED (SELECT 1 AS a) SELECT * FROM c AS x JOIN c AS y USING (a)",
  "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT sum(n) FROM r",
  "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n % 3 + 1 FROM r) SELECT n FROM r ORDER BY n",
  `SELECT (SELECT max(i) FROM ${T}), EXISTS (SELECT 1 WHERE false), 2 IN (SELECT i FROM ${T}), 9 NOT IN (SELECT i FROM ${T})`,
  `SELECT i FROM ${T} WHERE i = ANY (SELECT i FROM ${U}) AND i < ALL (SELECT 100) ORDER BY i`,
  `SELECT i, (SELECT w FROM ${U} WHERE u.i = t.i) FROM ${T} ORDER BY i`,
  "SELECT array(SELECT unnest([3, 1, 2]) ORDER BY 1)",
  `SELECT i FROM ${T} ORDER BY i DESC NULLS LAST LIMIT 5`,
  `SELECT i FROM ${T} ORDER BY s NULLS FIRST, i DESC LIMIT 2 OFFSET 1`,
  "SELECT /* a comment /* nested */ */ 1 -- and the rest\n, 2;",
];

let engine: SqlEngine;
let plain: Connection;
let database: Database;
beforeAll(async () => {
  const options = { memoryBytes: 256 << 20, threads: 1, tempDir: null };
  engine = await SqlEngine.open(Kernel.create(), options);
  database = await Database.open(options);
  plain = await database.connect();
});
afterAll(() => {
  engine.close();
  plain.close();
  database.close();
});

/** Numbers of any width compare by value: the dialect's literals are wider than DuckDB's. */
function comparable(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "string" && /^-?\d+\.\d+$/.test(value)) return Number(value);
  if (Array.isArray(value)) return value.map(comparable);
  if (value !== null && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, comparable(v)]));
  return value;
}

async function direct(sql: string): Promise<unknown> {
  const stream = await (await plain.prepare(sql)).execute();
  const batches = async function* (): AsyncGenerator<ResultBatch> {
    for (let batch = await stream.next(); batch !== null; batch = await stream.next()) yield batch;
  };
  return comparable(await readRows({ schema: { fields: stream.fields, tableName: "" }, batches: batches() }));
}

test.each(STATEMENTS)("parsed, printed and run as DuckDB runs it: %s", async (sql) => {
  const answer = await engine.run(await engine.plan(sql), { tables: [], params: {} });
  const rows = comparable(await readRows(answer));
  await answer.close();
  expect(rows).toEqual(await direct(sql));
});
