// Templates: statements that differ in their literals share a tree, and each gets the plan that it would get alone. Every suite under
// test/sql goes through the same comparison with its statements (test/support/sql/sql-suite.ts).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { GroupingTable } from "../../../test/support/rows/grouping-table.ts";
import { randomStatement } from "../../../test/support/sql/random-sql.ts";
import { TWIN_COLUMNS } from "../../../test/support/sql/sql-twins.ts";
import { otherLiterals, otherTable, TemplatePlans } from "../../../test/support/sql/template-plans.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import type { QueryParams } from "../../model/query/query.ts";
import { SqlEngine } from "../execute/engine.ts";

let engine: SqlEngine;
let table: GroupingTable;
beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 1, tempDir: null });
  table = new GroupingTable(kernel, "cpu", TWIN_COLUMNS, []);
});
afterAll(() => engine.close());

/** Whether `other` was planned by the template of `first`. */
async function isKept(first: string, other: string, params: [QueryParams, QueryParams] = [{}, {}]): Promise<boolean> {
  const plans = new TemplatePlans(engine);
  const tables = [table];
  expect(await plans.check({ sql: first, params: params[0], nowNs: 10n ** 18n, tables })).toBe(false);
  return plans.check({ sql: other, params: params[1], nowNs: 10n ** 18n + 7n, tables });
}

const WINDOW = "time >= '2020-01-01T00:00:00Z' AND time < '2020-01-02'";
const OTHER_WINDOW = "time >= '2021-07-01T11:30:00.000000001Z' AND time < '2031-01-02'";

/** Of statements that differ in literals: what a plan makes of the difference. */
const PAIRS: [what: string, first: string, other: string][] = [
  ["a tag and the time", `SELECT * FROM cpu WHERE host = 'a' AND ${WINDOW}`, `SELECT * FROM cpu WHERE host = 'it''s' AND ${OTHER_WINDOW}`],
  [
    "a literal beside subqueries without any",
    "SELECT f, (SELECT max(a.f) FROM cpu a JOIN cpu b USING (host)) AS m FROM cpu WHERE f = 1.5 OR host IN (SELECT host FROM cpu WHERE b)",
    "SELECT f, (SELECT max(a.f) FROM cpu a JOIN cpu b USING (host)) AS m FROM cpu WHERE f = 2.5 OR host IN (SELECT host FROM cpu WHERE b)",
  ],
  ["a decimal and LIMIT", "SELECT f FROM cpu WHERE f > 90.0 LIMIT 7", "SELECT f FROM cpu WHERE f > 0.25 LIMIT 900"],
  [
    "integers and OFFSET",
    "SELECT f FROM cpu WHERE i > 5 AND u < 7 ORDER BY f LIMIT 5 OFFSET 1",
    "SELECT f FROM cpu WHERE i > 0 AND u < 1 ORDER BY f LIMIT 1 OFFSET 9",
  ],
  [
    "lists of several lengths",
    "SELECT max(f) AS x FROM cpu WHERE host IN ('a', 'b') AND i IN (1, 2, 3) AND s NOT IN ('x', 'y')",
    "SELECT max(f) AS x FROM cpu WHERE host IN ('', '%', 'it''s') AND i IN (0, 2147483647) AND s NOT IN ('ä', '')",
  ],
  [
    "a list of times",
    "SELECT f FROM cpu WHERE time IN ('2020-01-01', '2021-01-01')",
    "SELECT f FROM cpu WHERE time IN ('2020-01-01', '2022-02-02', '1969-12-31')",
  ],
  [
    "BETWEEN",
    "SELECT f FROM cpu WHERE time BETWEEN '2020-01-01' AND '2021-01-01' AND f BETWEEN 1 AND 2",
    "SELECT f FROM cpu WHERE time BETWEEN '2030-01-01' AND '2021-01-01' AND f BETWEEN 2 AND 1",
  ],
  ["negative numbers", "SELECT f FROM cpu WHERE i > -5 AND f < -1.5", "SELECT f FROM cpu WHERE i > -2147483647 AND f < -0.25"],
  ["integers of 64 bits", "SELECT f FROM cpu WHERE i > 2147483648", "SELECT f FROM cpu WHERE i > 999999999999999999"],
  [
    "casts of times",
    "SELECT f FROM cpu WHERE time > TIMESTAMP '2020-01-01' + INTERVAL '1 day'",
    "SELECT f FROM cpu WHERE time > TIMESTAMP '2021-07-01T00:00:01' + INTERVAL '90 seconds'",
  ],
  [
    "bins and lists",
    `SELECT date_bin(INTERVAL '1 minute', time) AS m, max(f) AS x FROM cpu WHERE host IN ('a', 'b') AND ${WINDOW} GROUP BY m ORDER BY m`,
    `SELECT date_bin(INTERVAL '1 minute', time) AS m, max(f) AS x FROM cpu WHERE host IN ('', '%') AND ${OTHER_WINDOW} GROUP BY m ORDER BY m`,
  ],
  [
    "bounds of gap filling",
    `SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS m, locf(max(f)) AS x FROM cpu WHERE ${WINDOW} GROUP BY m`,
    "SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS m, locf(max(f)) AS x FROM cpu WHERE time >= '1969-12-31T00:00:00Z' AND time < '1970-01-02' GROUP BY m",
  ],
  [
    "expressions",
    "SELECT f + 1 AS x, s || 'a' AS y FROM cpu WHERE upper(s) = 'A'",
    "SELECT f + 2 AS x, s || '''' AS y FROM cpu WHERE upper(s) = 'é'",
  ],
  [
    "a condition of a join",
    "SELECT a.f FROM cpu a JOIN cpu b ON a.time = b.time AND b.host = 'x'",
    "SELECT a.f FROM cpu a JOIN cpu b ON a.time = b.time AND b.host = 'y'",
  ],
  [
    "times before now",
    "SELECT f FROM cpu WHERE time > now() - INTERVAL '1 hour'",
    "SELECT f FROM cpu WHERE time > now() - INTERVAL '2 days'",
  ],
  [
    "a window",
    "SELECT f, avg(f) OVER (ORDER BY time) AS a FROM cpu WHERE host = 'a'",
    "SELECT f, avg(f) OVER (ORDER BY time) AS a FROM cpu WHERE host = 'b'",
  ],
  [
    "WITH",
    "WITH c AS (SELECT * FROM cpu WHERE host = 'a') SELECT max(f) FROM c",
    "WITH c AS (SELECT * FROM cpu WHERE host = 'b') SELECT max(f) FROM c",
  ],
  ["what a function's rule looks at", "SELECT date_part('year', time) AS x FROM cpu", "SELECT date_part('month', time) AS x FROM cpu"],
  ["a column's name", "SELECT f > 5 FROM cpu", "SELECT f > 6 FROM cpu"],
  [
    "the width of bins",
    "SELECT date_bin(INTERVAL '1 minute', time) AS m, max(f) AS x FROM cpu GROUP BY m",
    "SELECT date_bin(INTERVAL '2 minutes', time) AS m, max(f) AS x FROM cpu GROUP BY m",
  ],
  ["a comparison that says nothing of a type's values", "SELECT f FROM cpu WHERE u = 5.0", "SELECT f FROM cpu WHERE u = 5.5"],
  ["a longer text", "SELECT s || 'a' AS y FROM cpu", `SELECT s || '${"a".repeat(17)}' AS y FROM cpu`],
  [
    "a long statement",
    `SELECT f AS long FROM cpu WHERE host = 'a' -- ${"x".repeat(16 << 10)}`,
    "SELECT f AS long FROM cpu WHERE host = 'b'",
  ],
  ["a pattern", "SELECT s LIKE '%a%a%a%' AS x FROM cpu", "SELECT s LIKE '%b%a%a%' AS x FROM cpu"],
  ["an invalid time", `SELECT f FROM cpu WHERE time > '2021-01-01'`, "SELECT f FROM cpu WHERE time > 'yesterday'"],
  [
    "bins taken apart in more steps",
    `SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS m, max(f) AS x FROM cpu WHERE ${WINDOW} GROUP BY m`,
    `SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS m, max(f) AS x FROM cpu WHERE ${OTHER_WINDOW} GROUP BY m`,
  ],
];

describe("a template's plan is that of the whole statement", () => {
  test.each(PAIRS)("%s", async (_, first, other) => expect(await isKept(first, other)).toBe(true));

  test.each([
    [
      "a place in ORDER BY that says which row is last",
      "SELECT DISTINCT ON (host) * FROM cpu ORDER BY 1, time DESC LIMIT 1",
      "SELECT DISTINCT ON (host) * FROM cpu ORDER BY 2, time DESC LIMIT 1",
    ],
    ["NULL", "SELECT f FROM cpu WHERE i = 5 OR s = 'a'", "SELECT f FROM cpu WHERE i = NULL OR s = NULL"],
    ["a sign", "SELECT f FROM cpu WHERE i = 5", "SELECT f FROM cpu WHERE i = -5"],
    ["another type", "SELECT f FROM cpu WHERE i = 5", "SELECT f FROM cpu WHERE i = 5.5"],
    ["a wider type", "SELECT f FROM cpu WHERE i = 5", "SELECT f FROM cpu WHERE i = 9223372036854775808"],
    ["a list of two types", "SELECT f FROM cpu WHERE i IN (5, 6)", "SELECT f FROM cpu WHERE i IN (5, 6.5)"],
    ["a list with NULL", "SELECT f FROM cpu WHERE host IN ('a', 'b')", "SELECT f FROM cpu WHERE host IN ('a', NULL)"],
    ["a number's text", "SELECT f FROM cpu WHERE host = 'a'", "SELECT f FROM cpu WHERE host = 1"],
  ])("a shape of its own: %s", async (_, first, other) => expect(await isKept(first, other)).toBe(false));

  test("the clock in a result", async () => expect(await isKept("SELECT now() AS n", "SELECT now() AS n")).toBe(true));

  test.each([
    ["the same types", { h: "a", t: "2020-01-01", f: 1.5 }, { h: "b", t: "2021-01-01", f: -2 }],
    ["signs", { h: "a", t: "2020-01-01", f: 1n }, { h: "a", t: "2020-01-01", f: -2n }],
    ["a text, a number", { h: "1", t: "2020-01-01", f: 0 }, { h: 1, t: "2020-01-01", f: "0" }],
    ["i64, u64", { h: "a", t: 1n, f: 1n }, { h: "a", t: 2n ** 62n, f: 2n ** 63n }],
    ["a boolean, NULL", { h: true, t: "2020-01-01", f: 1 }, { h: null, t: null, f: null }],
    ["without one", { h: "a", t: "2020-01-01", f: 1 }, { h: "a" }],
  ] as [string, QueryParams, QueryParams][])("parameters: %s", async (_, first, other) => {
    const sql = "SELECT f, $f + 1 AS n FROM cpu WHERE host = $h AND time > $t AND f > $f";
    expect(await isKept(sql, sql, [first, other])).toBe(true);
  });

  test("tables with other columns", async () => {
    const plans = new TemplatePlans(engine);
    const sql = "SELECT * FROM cpu WHERE host = 'a'";
    const { columns } = table;
    for (const changed of [columns, columns.slice(1), columns.map((column) => ({ ...column, id: column.id + 1 })), columns]) {
      await plans.check({ sql, params: {}, nowNs: 0n, tables: [{ ...otherTable(table, () => 0), columns: changed }] });
    }
    await plans.check({ sql, params: {}, nowNs: 0n, tables: [] });
  });
});

const SEED = Number(process.env["SEED"] ?? 5);
const ROUNDS = Number(process.env["ROUNDS"] ?? 150);

test(`random statements, ${ROUNDS} with six others each, seed ${SEED}`, async () => {
  const below = prng(SEED);
  const plans = new TemplatePlans(engine);
  let [keptCount, count] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const statement = randomStatement(below, below(2) === 0);
    const like = otherTable(table, below);
    for (let i = 0; i < 7; i++, count++) {
      const sql = i === 0 ? statement : otherLiterals(statement, below);
      const tables = [below(5) === 0 ? otherTable(table, below) : like];
      if (await plans.check({ sql, params: {}, nowNs: 10n ** 18n + BigInt(below(1000)), tables })) keptCount++;
    }
  }
  expect(keptCount).toBeGreaterThan(count / 5);
});
