// SQL for the benchmark of growing statements: every production of the grammar, up to the limits and beyond.
import { type Grammar, list, nested, type Production, writeLines } from "../support/growth-grammar.ts";

const ROWS = { real: 100_000, smoke: 1000 };
const TABLES = { real: 10_000, smoke: 50 };

/** `real`: n such that the production at 8n approaches its limit or the length limit of a statement. */
function production(name: string, real: number, text: (n: number) => string): Production {
  return { name, n: { real, smoke: Math.min(10, real) }, text };
}

const conditions: readonly Production[] = [
  production("OR of n equalities of a tag", 5000, (n) => `SELECT i FROM rows WHERE ${list(n, " OR ", (i) => `host = 'h${i}'`)}`),
  production("OR of n equalities of a field", 5000, (n) => `SELECT i FROM rows WHERE ${list(n, " OR ", (i) => `i = ${i}`)}`),
  production("OR of n equalities of floats", 1500, (n) => `SELECT i FROM rows WHERE ${list(n, " OR ", (i) => `f = ${i}.5`)}`),
  production("AND of n inequalities", 5000, (n) => `SELECT i FROM rows WHERE ${list(n, " AND ", (i) => `host <> 'h${i}'`)}`),
  production(
    "OR of n pairs of equalities",
    425,
    (n) => `SELECT i FROM rows WHERE ${list(n, " OR ", (i) => `(host = 'h${i}' AND i = ${i})`)}`,
  ),
  production("OR of n ranges", 990, (n) => `SELECT i FROM rows WHERE ${list(n, " OR ", (i) => `i > ${i}`)}`),
  production("AND of n ranges", 990, (n) => `SELECT i FROM rows WHERE ${list(n, " AND ", (i) => `i > ${i}`)}`),
  production(
    "OR of n ranges of time",
    435,
    (n) =>
      `SELECT i FROM rows WHERE ${list(n, " OR ", (i) => `(time >= '1970-01-01T00:00:0${i % 10}Z' AND time < '1970-01-02T00:00:00Z')`)}`,
  ),
  production("OR of n LIKE", 990, (n) => `SELECT i FROM rows WHERE ${list(n, " OR ", (i) => `host LIKE '%${i}'`)}`),
  production("OR of n regular expressions", 700, (n) => `SELECT i FROM rows WHERE ${list(n, " OR ", (i) => `host ~ 'x${i}'`)}`),
  production("OR of n BETWEEN", 750, (n) => `SELECT i FROM rows WHERE ${list(n, " OR ", (i) => `i BETWEEN ${i} AND ${i + 1}`)}`),
  production("n AND of OR", 435, (n) => `SELECT i FROM rows WHERE ${list(n, " AND ", (i) => `(host <> 'x${i}' OR i = ${i})`)}`),
  production("OR and AND n deep", 10, (n) => `SELECT i FROM rows WHERE ${nested(n, "(i = 1 AND (i = 2 OR ", "i = 3", "))")}`),
  production("IN of n texts", 10_000, (n) => `SELECT i FROM rows WHERE host IN (${list(n, ", ", (i) => `'h${i}'`)})`),
  production("IN of n integers", 12_000, (n) => `SELECT i FROM rows WHERE i IN (${list(n, ", ", String)})`),
  production("IN of n expressions", 1000, (n) => `SELECT i FROM rows WHERE i IN (${list(n, ", ", (i) => `i + ${i + 1}`)})`),
  production("IN of n tuples", 1000, (n) => `SELECT i FROM rows WHERE (host, i) IN (${list(n, ", ", (i) => `('h${i}', ${i})`)})`),
  production("CASE of n WHEN", 770, (n) => `SELECT max(CASE ${list(n, " ", (i) => `WHEN i = ${i} THEN ${i}`)} END) FROM rows`),
  production("CASE of n values", 770, (n) => `SELECT max(CASE host ${list(n, " ", (i) => `WHEN 'h${i}' THEN 'x${i}'`)} END) FROM rows`),
];

const expressions: readonly Production[] = [
  production("1+1+…, n terms", 50_000, (n) => `SELECT ${list(n, "+", () => "1")}`),
  production("n minuses", 12_000, (n) => `SELECT ${"- ".repeat(n)}1`),
  production("n NOT", 12_000, (n) => `SELECT ${"NOT ".repeat(n)}true`),
  production("n casts", 12_000, (n) => `SELECT i${"::text::int".repeat(n)} FROM rows`),
  production("n parentheses", 12_000, (n) => `SELECT ${nested(n, "(", "1", ")")}`),
  production("n nested calls", 18, (n) => `SELECT ${nested(n, "abs(", "i", ")")} FROM rows LIMIT 1`),
  production("n nested CASE", 10, (n) => `SELECT ${nested(n, "CASE WHEN i = 1 THEN 1 ELSE ", "2", " END")} FROM rows LIMIT 1`),
  production("n nested arrays", 10, (n) => `SELECT ${nested(n, "[", "1", "]")}`),
  production("n nested struct()", 10, (n) => `SELECT ${nested(n, "struct(", "1", " AS a)")}`),
  production("n nested IGNORE NULLS", 5, (n) => `SELECT ${nested(n, "last_value(", "i", ") IGNORE NULLS")} FROM rows`),
  production("n names of names", 7, (n) => `SELECT i AS a0, ${list(n, ", ", (i) => `a${i} + 1 AS a${i + 1}`)} FROM rows LIMIT 1`),
  production("an array of n", 3000, (n) => `SELECT [${list(n, ", ", String)}]`),
  production("a structure of n", 250, (n) => `SELECT {${list(n, ", ", (i) => `'a${i}': ${i}`)}}`),
  production("a map of n", 250, (n) => `SELECT MAP {${list(n, ", ", (i) => `${i}: ${i}`)}}`),
  production("concat of n", 500, (n) => `SELECT concat(${list(n, ", ", () => "'a'")})`),
  production("coalesce of n", 500, (n) => `SELECT coalesce(${list(n, ", ", () => "i")}) FROM rows LIMIT 1`),
  production("greatest of n", 400, (n) => `SELECT max(greatest(${list(n, ", ", (i) => `i + ${i}`)})) FROM rows`),
  production("n intervals", 16, (n) => `SELECT i FROM rows WHERE time > now()${" - INTERVAL '1 day'".repeat(n)} LIMIT 1`),
  production("n lambdas", 200, (n) => `SELECT ${list(n, ", ", (i) => `array_transform([1], x -> x + ${i})`)}`),
  production("n scalar subqueries", 8, (n) => `SELECT ${list(n, ", ", () => "(SELECT max(i) FROM rows)")}`),
  production(
    "n correlated subqueries",
    8,
    (n) => `SELECT ${list(n, ", ", () => "(SELECT max(b.i) FROM rows b WHERE b.i = a.i)")} FROM rows a LIMIT 1`,
  ),
  production("OR of n IN of subqueries", 8, (n) => `SELECT i FROM rows WHERE ${list(n, " OR ", (i) => `i IN (SELECT ${i})`)}`),
];

const columns: readonly Production[] = [
  production("n columns", 500, (n) => `SELECT ${list(n, ", ", (i) => `i AS c${i}`)} FROM rows LIMIT 3000`),
  production("n expressions", 500, (n) => `SELECT ${list(n, ", ", (i) => `i + ${i}`)} FROM rows LIMIT 3000`),
  production("n texts", 500, (n) => `SELECT ${list(n, ", ", (i) => `host || '${i}'`)} FROM rows LIMIT 3000`),
  production("n stars", 120, (n) => `SELECT count(*) FROM (SELECT ${list(n, ", ", () => "*")} FROM rows)`),
  production("n aggregates", 400, (n) => `SELECT ${list(n, ", ", (i) => `sum(i + ${i})`)} FROM rows`),
  production("n aggregates with FILTER", 30, (n) => `SELECT ${list(n, ", ", (i) => `sum(i) FILTER (WHERE host = 'h${i}')`)} FROM rows`),
  production("n windows", 16, (n) => `SELECT ${list(n, ", ", (i) => `sum(i) OVER (ORDER BY i + ${i})`)} FROM rows LIMIT 1`),
  production("n calls over one window", 60, (n) => `SELECT ${list(n, ", ", (i) => `sum(i + ${i}) OVER (ORDER BY time)`)} FROM rows`),
  production("n date_bin", 100, (n) => `SELECT ${list(n, ", ", () => "date_bin(INTERVAL '1 minute', time)")} FROM rows LIMIT 1`),
  production("n to_char", 40, (n) => `SELECT ${list(n, ", ", () => "to_char(time, '%Y-%m')")} FROM rows LIMIT 1`),
  production("GROUP BY n", 120, (n) => `SELECT count(*) FROM rows WHERE i < 10 GROUP BY ${list(n, ", ", (i) => `i + ${i}`)}`),
  production("GROUP BY one column n times", 500, (n) => `SELECT count(*) FROM rows GROUP BY ${list(n, ", ", () => "host")}`),
  production("ORDER BY n", 120, (n) => `SELECT i FROM rows WHERE i < 10 ORDER BY ${list(n, ", ", (i) => `i + ${i}`)}`),
  production("n grouping sets", 16, (n) => `SELECT count(*) FROM rows GROUP BY GROUPING SETS (${list(n, ", ", () => "(host)")})`),
  production(
    "gap filling of n columns",
    60,
    (n) => `SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS t, ${list(n, ", ", (i) => `locf(avg(i + ${i})) AS c${i}`)}
      FROM rows WHERE time >= '1970-01-01T00:00:00Z' AND time < '1970-01-02T00:00:00Z' GROUP BY t`,
  ),
];

const queries: readonly Production[] = [
  production("n CTEs", 60, (n) => `WITH ${list(n, ", ", (i) => `c${i} AS (SELECT 1)`)} SELECT * FROM c0`),
  production("n CTEs beyond the limit", 2500, (n) => `WITH ${list(n, ", ", (i) => `c${i} AS (SELECT 1)`)} SELECT * FROM c0`),
  production(
    "n CTEs, each of the one before",
    60,
    (n) => `WITH c0 AS (SELECT 1 AS a), ${list(n, ", ", (i) => `c${i + 1} AS (SELECT a FROM c${i})`)} SELECT * FROM c${n}`,
  ),
  production(
    "n CTEs, each twice of the one before",
    3,
    (n) => `WITH c0 AS (SELECT 1 AS a), ${list(n, ", ", (i) => `c${i + 1} AS (SELECT x.a FROM c${i} x, c${i} y)`)} SELECT * FROM c${n}`,
  ),
  production("n nested WITH", 10, (n) => nested(n, "WITH c AS (", "SELECT 1", ") SELECT * FROM c")),
  production("UNION of n", 250, (n) => list(n, " UNION ", (i) => `SELECT ${i} AS a`)),
  production("UNION ALL of n", 250, (n) => list(n, " UNION ALL ", (i) => `SELECT ${i} AS a`)),
  production("EXCEPT of n", 15, (n) => list(n, " EXCEPT ", (i) => `SELECT ${i} AS a`)),
  production("UNION ALL of n scans", 100, (n) => list(n, " UNION ALL ", (i) => `SELECT i FROM rows WHERE host = 'h${i}' AND i = ${i}`)),
  production("UNION ALL of n groupings", 60, (n) =>
    list(n, " UNION ALL ", (i) => `SELECT host, max(i) FROM rows WHERE host = 'h${i}' GROUP BY host`),
  ),
  production("n nested subqueries", 10, (n) => nested(n, "SELECT * FROM (", "SELECT 1 AS a", ")")),
  production("n nested scalar subqueries", 2, (n) => nested(n, "SELECT (", "SELECT 1", ")")),
  production(
    "n joins in a row",
    4,
    (n) => `SELECT count(*) FROM rows t0 ${list(n - 1, " ", (i) => `JOIN rows t${i + 1} ON t${i}.i = t${i + 1}.i AND t${i + 1}.i = 1`)}`,
  ),
  production(
    "n left joins",
    4,
    (n) => `SELECT count(*) FROM rows t0 ${list(n - 1, " ", (i) => `LEFT JOIN (SELECT 1 AS i) t${i + 1} ON t0.i = t${i + 1}.i`)}`,
  ),
  production("n tables", 4, (n) => `SELECT count(*) FROM ${list(n, ", ", (i) => `(SELECT 1 AS a) t${i}`)}`),
  production(
    "a join by n conditions",
    8,
    (n) => `SELECT count(*) FROM rows a JOIN rows b ON ${list(n, " AND ", (i) => `a.i = b.i + ${i}`)}`,
  ),
  production("VALUES of n rows", 1500, (n) => `SELECT count(*) FROM (VALUES ${list(n, ", ", (i) => `(${i}, 'x')`)}) AS t(a, b)`),
  production("VALUES of n columns", 500, (n) => `SELECT count(*) FROM (VALUES (${list(n, ", ", String)}))`),
];

const texts: readonly Production[] = [
  production("a text of 2n", 60_000, (n) => `SELECT '${"ab".repeat(n)}'`),
  production("a name of n", 8000, (n) => `SELECT 1 AS ${"a".repeat(n)}`),
  production("a number of n digits", 100_000, (n) => `SELECT ${"1".repeat(n)}`),
  production("n comments in each other", 30_000, (n) => `SELECT ${nested(n, "/*", "", "*/")} 1`),
  production("n operators", 100_000, (n) => `SELECT ${"@".repeat(n)} 1`),
  production("n commas", 100_000, (n) => `SELECT ${",".repeat(n)} 1`),
  production("n words", 60_000, (n) => `SELECT ${"a ".repeat(n)}`),
  production("LIKE of 2n", 50_000, (n) => `SELECT i FROM rows WHERE host LIKE '${"%a".repeat(n)}'`),
  production("a regular expression of 2n", 2000, (n) => `SELECT i FROM rows WHERE host ~ '${"ab".repeat(n)}'`),
  production("n classes in a regular expression", 100, (n) => `SELECT i FROM rows WHERE host ~ '${"\\pL".repeat(n)}'`),
  production("a regular expression of rows", 30, (n) => `SELECT i FROM rows WHERE regexp_like(host, host || '${"a?".repeat(n)}')`),
  production("edit distance of n", 60, (n) => `SELECT max(levenshtein(host || '${"a".repeat(n)}', '${"b".repeat(n)}')) FROM rows`),
];

/** Productions over the list of all tables, which the statement reads regardless of n. */
const lists: readonly Production[] = [
  production("n columns of all tables", 5000, (n) => `SELECT * FROM information_schema.columns LIMIT ${n}`),
  production("n columns of all tables, sorted", 5000, (n) => `SELECT * FROM information_schema.columns ORDER BY column_name LIMIT ${n}`),
  production(
    "n of all tables by name",
    1000,
    (n) => `SELECT table_name FROM information_schema.tables WHERE table_name IN (${list(n, ", ", (i) => `'table${i}'`)})`,
  ),
];

export const GROWING_SQL: Grammar = {
  name: "sql",
  productions: [...conditions, ...expressions, ...columns, ...queries, ...texts, ...lists],
  async prepare(server, database, size) {
    await writeLines(server, database, ROWS[size], (i) => `rows,host=h${i % 100} i=${i}i,f=${i % 1000} ${BigInt(i) * 1_000_000_000n}`);
    await writeLines(server, database, TABLES[size], (i) => `table${i},host=a a=1,b=2,c=3 1`);
  },
  request(server, database, text) {
    return new Request(`${server.url}/api/v3/query_sql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ db: database, q: text, format: "json" }),
    });
  },
};
