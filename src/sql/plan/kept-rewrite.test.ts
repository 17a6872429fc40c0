// Kept rewrites: of the statements that differ in what was not looked at, each gets its own text and its own hints. Every suite
// under test/sql goes through the same comparison with its statements (test/support/sql-suite.ts).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { GroupingTable } from "../../../test/support/grouping-table.ts";
import { checkKept, otherLiterals, otherTable } from "../../../test/support/kept-rewrites.ts";
import { prng } from "../../../test/support/prng.ts";
import { randomStatement } from "../../../test/support/random-sql.ts";
import { TWIN_COLUMNS } from "../../../test/support/sql-twins.ts";
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

/** Whether `other` was answered by the rewrite of `first`. */
async function isKept(first: string, other: string, params: [QueryParams, QueryParams] = [{}, {}]): Promise<boolean> {
  const tables = [table];
  expect(await checkKept(engine, { sql: first, params: params[0], nowNs: 10n ** 18n, tables })).toBe(false);
  return checkKept(engine, { sql: other, params: params[1], nowNs: 10n ** 18n + 7n, tables });
}

const WINDOW = "time >= '2020-01-01T00:00:00Z' AND time < '2020-01-02'";
const OTHER_WINDOW = "time >= '2021-07-01T11:30:00.000000001Z' AND time < '2031-01-02'";

describe("one rewrite for both", () => {
  test.each([
    [`SELECT * FROM cpu WHERE host = 'a' AND ${WINDOW}`, `SELECT * FROM cpu WHERE host = 'it''s' AND ${OTHER_WINDOW}`],
    ["SELECT f FROM cpu WHERE f > 90.0 LIMIT 7", "SELECT f FROM cpu WHERE f > 0.25 LIMIT 900"],
    [
      "SELECT f FROM cpu WHERE i > 5 AND u < 7 ORDER BY f LIMIT 5 OFFSET 1",
      "SELECT f FROM cpu WHERE i > 0 AND u < 1 ORDER BY f LIMIT 1 OFFSET 9",
    ],
    [
      `SELECT date_bin(INTERVAL '1 minute', time) AS m, max(f) AS x FROM cpu WHERE host IN ('a', 'b') AND ${WINDOW} GROUP BY m ORDER BY m`,
      `SELECT date_bin(INTERVAL '1 minute', time) AS m, max(f) AS x FROM cpu WHERE host IN ('', '%') AND ${OTHER_WINDOW} GROUP BY m ORDER BY m`,
    ],
    [
      `SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS m, locf(max(f)) AS x FROM cpu WHERE ${WINDOW} GROUP BY m`,
      "SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS m, locf(max(f)) AS x FROM cpu WHERE time >= '1969-12-31T00:00:00Z' AND time < '1970-01-02' GROUP BY m",
    ],
    ["SELECT f + 1 AS x, s || 'a' AS y FROM cpu WHERE upper(s) = 'A'", "SELECT f + 2 AS x, s || '''' AS y FROM cpu WHERE upper(s) = 'é'"],
    [
      "SELECT a.f FROM cpu a JOIN cpu b ON a.time = b.time AND b.host = 'x'",
      "SELECT a.f FROM cpu a JOIN cpu b ON a.time = b.time AND b.host = 'y'",
    ],
    ["SELECT f FROM cpu WHERE time > now() - INTERVAL '1 hour'", "SELECT f FROM cpu WHERE time > now() - INTERVAL '2 days'"],
    [
      "SELECT f, avg(f) OVER (ORDER BY time) AS a FROM cpu WHERE host = 'a'",
      "SELECT f, avg(f) OVER (ORDER BY time) AS a FROM cpu WHERE host = 'b'",
    ],
    [
      "WITH c AS (SELECT * FROM cpu WHERE host = 'a') SELECT max(f) FROM c",
      "WITH c AS (SELECT * FROM cpu WHERE host = 'b') SELECT max(f) FROM c",
    ],
  ])("%s", async (first, other) => expect(await isKept(first, other)).toBe(true));

  test("parameters of the same types", async () => {
    const sql = "SELECT f FROM cpu WHERE host = $h AND time > $t AND f > $f";
    const params: [QueryParams, QueryParams] = [
      { h: "a", t: "2020-01-01", f: 1.5 },
      { h: "b", t: "2021-01-01", f: -2 },
    ];
    expect(await isKept(sql, sql, params)).toBe(true);
  });
});

describe("a rewrite each", () => {
  test("parameters with a minus and without", async () => {
    const [one, other] = ["SELECT f FROM cpu WHERE f > $n + 1", "SELECT host FROM cpu WHERE f > $n + 1"];
    expect(await isKept(one, one, [{ n: 1n }, { n: 2n }])).toBe(true);
    expect(await isKept(other, other, [{ n: 1n }, { n: -2n }])).toBe(false);
  });

  test.each([
    ["what a function's rule looks at", "SELECT date_part('year', time) AS x FROM cpu", "SELECT date_part('month', time) AS x FROM cpu"],
    ["a column's name", "SELECT f > 5 FROM cpu", "SELECT f > 6 FROM cpu"],
    [
      "the width of bins",
      "SELECT date_bin(INTERVAL '1 minute', time) AS m, max(f) AS x FROM cpu GROUP BY m",
      "SELECT date_bin(INTERVAL '2 minutes', time) AS m, max(f) AS x FROM cpu GROUP BY m",
    ],
    [
      "a place in ORDER BY that says which row is last",
      "SELECT DISTINCT ON (host) * FROM cpu ORDER BY 1, time DESC LIMIT 1",
      "SELECT DISTINCT ON (host) * FROM cpu ORDER BY 2, time DESC LIMIT 1",
    ],
    ["a comparison that says nothing of a type's values", "SELECT f FROM cpu WHERE u = 5.0", "SELECT f FROM cpu WHERE u = 5.5"],
    ["a text longer than what was reckoned with", "SELECT s || 'a' AS y FROM cpu", `SELECT s || '${"a".repeat(17)}' AS y FROM cpu`],
    [
      "a long statement, which it would keep in memory",
      `SELECT f AS long FROM cpu WHERE host = 'a' -- ${"x".repeat(16 << 10)}`,
      "SELECT f AS long FROM cpu WHERE host = 'b'",
    ],
    ["a pattern", "SELECT s LIKE '%a%a%a%' AS x FROM cpu", "SELECT s LIKE '%b%a%a%' AS x FROM cpu"],
    ["an invalid time", `SELECT f FROM cpu WHERE time > '2021-01-01'`, "SELECT f FROM cpu WHERE time > 'yesterday'"],
    ["the clock in a result", "SELECT now() AS n", "SELECT now() AS n"],
    [
      "bins taken apart in more steps",
      `SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS m, max(f) AS x FROM cpu WHERE ${WINDOW} GROUP BY m`,
      `SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS m, max(f) AS x FROM cpu WHERE ${OTHER_WINDOW} GROUP BY m`,
    ],
  ])("%s", async (_, first, other) => expect(await isKept(first, other)).toBe(false));

  test.each([
    ["a text, a number", { x: "1" }, { x: 1 }],
    ["i64, u64", { x: 1n }, { x: 2n ** 63n }],
    ["a boolean, NULL", { x: true }, { x: null }],
    ["NULL, a text", { x: null }, { x: "a" }],
  ] as [string, QueryParams, QueryParams][])("parameters of other types: %s", async (name, first, other) => {
    const sql = `SELECT f AS "${name}" FROM cpu WHERE s = $x`;
    expect(await isKept(sql, sql, [first, other])).toBe(false);
  });

  test("a rewrite is not kept for a table with other columns", async () => {
    const sql = "SELECT * FROM cpu WHERE host = 'other table'";
    expect(await isKept(sql, sql)).toBe(true);
    const { columns } = table;
    for (const changed of [columns.slice(1), columns.map((column) => ({ ...column, id: column.id + 1 }))]) {
      const tables = [{ ...otherTable(table, () => 0), columns: changed }];
      expect(await checkKept(engine, { sql, params: {}, nowNs: 0n, tables })).toBe(false);
    }
    expect(await checkKept(engine, { sql, params: {}, nowNs: 0n, tables: [] })).toBe(false);
  });
});

const SEED = Number(process.env["SEED"] ?? 5);
const ROUNDS = Number(process.env["ROUNDS"] ?? 150);

test(`random statements, ${ROUNDS} with six others each, seed ${SEED}`, async () => {
  const below = prng(SEED);
  let [keptCount, count] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const statement = randomStatement(below, below(2) === 0);
    const like = otherTable(table, below);
    for (let i = 0; i < 7; i++, count++) {
      const sql = i === 0 ? statement : otherLiterals(statement, below);
      const tables = [below(5) === 0 ? otherTable(table, below) : like];
      if (await checkKept(engine, { sql, params: {}, nowNs: 10n ** 18n + BigInt(below(1000)), tables })) keptCount++;
    }
  }
  expect(keptCount).toBeGreaterThan(count / 5);
});
