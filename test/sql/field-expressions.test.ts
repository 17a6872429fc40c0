// Conditions and values over several fields that the scan computes. Each statement answers as DuckDB does on all rows, in several states of
// the rows.
import { describe, expect, test } from "bun:test";
import { prng } from "../support/prng.ts";
import { FIELD_STATES, FieldRows, randomFieldSql } from "../support/sql/field-rows.ts";

const of = new FieldRows();
const check = (statement: string) => of.check(statement);

const CONDITIONS: readonly (readonly [condition: string, shown: string])[] = [
  ["f > g", "(g < f)"],
  ["f >= g", "not (f < g)"],
  ["f = g OR i = j", "((f = g) or (i = j))"],
  ["f <> g", "not (f = g)"],
  ["i > f", "(f < float(i))"],
  ["i + j > 10", "(10 < (i + j))"],
  ["f * g - 2 < i", "(((f * g) - 2) < float(i))"],
  ["f > 3 OR g < 0", "((3 < f) or (g < 0))"],
  ["NOT (f > 3 OR g < 0)", "not ((3 < f) or (g < 0))"],
  ["i IN (1, 3, 5)", "(((i = 1) or (i = 3)) or (i = 5))"],
  ["i NOT IN (1, 3)", "not ((i = 1) or (i = 3))"],
  ["f IN (0.5, i, NULL)", "(((f = 0.5) or (f = float(i))) or (f = NULL))"],
  ["f BETWEEN g AND i", "(not (f < g) and not (float(i) < f))"],
  ["f NOT BETWEEN 1 AND 3", "not (not (f < 1) and not (3 < f))"],
  ["f IS NULL", "f is null"],
  ["f IS NULL AND g IS NOT NULL", "g"],
  ["f IS NULL OR g > 2", "(f is null or (2 < g))"],
  ["b OR c", "(b or c)"],
  ["b AND NOT c", "c"],
  ["NOT (b AND c)", "not (b and c)"],
  ["b IS NULL", "b is null"],
  ["coalesce(f, g, 0) > 1", "(1 < (not f is null ? f : (not g is null ? g : 0)))"],
  ["CASE WHEN f > 1 THEN g WHEN i > 1 THEN j ELSE 0 END > 2", "(2 < ((1 < f) ? g : ((1 < i) ? float(j) : 0)))"],
  ["CASE WHEN b THEN c ELSE f > 1 END", "(b ? c : (1 < f))"],
  ["-f > g", "(g < (f * -1))"],
  ["-i = j", "((0 - i) = j)"],
  ["abs(f) > 2", "(2 < abs(f))"],
  ["f / 2 > g", "(g < (f / 2))"],
  ["f / g > 1", "((float(0 - 1)"],
  ["i::DOUBLE * 1.5 > 4", "(4 < (float(i) * 1.5))"],
  ["i > 1.5 OR j > 1.5", "((1.5 < float(i)) or (1.5 < float(j)))"],
];

/** Of a text, a tag, a time, an unsigned number, or with what a scan does not compute. */
const LEFT: readonly string[] = [
  "f > g OR host = 'h1'",
  "f > 1 OR s = 'x'",
  "f > 1 OR time > '1970-01-01T00:03:00Z'",
  "u > i",
  "i % 3 = 1 OR f > 2",
  "i / 2 > 1 OR f > 2",
  "sqrt(abs(f)) > g",
  "f > 1 OR random() < 0",
  "f IS DISTINCT FROM g",
  "(f > 1) = (g > 1)",
  // which of them is computed decides whether it fails
  "f > 1 OR i * j > 4",
  "f > (SELECT max(i % 5) FROM cpu) OR g > 4",
];

const FORMS: readonly ((condition: string) => string)[] = [
  (condition) => `SELECT host, f, g, i, j, b, c, time FROM cpu WHERE ${condition}`,
  (condition) => `SELECT count(*), sum(i), min(f), max(time) FROM cpu WHERE ${condition}`,
  (condition) => `SELECT host, count(*) AS n, avg(g) AS a FROM cpu WHERE (${condition}) AND host != 'h2' GROUP BY host ORDER BY host`,
  (condition) =>
    `SELECT * FROM (SELECT host AS h, f, g, i, j, b, c, s, u, time FROM cpu) AS cpu WHERE ${condition.replaceAll("host", "h")}`,
  (
    condition,
  ) => `SELECT count(x.f) AS n, count(y.k) AS m FROM cpu AS x LEFT JOIN (SELECT time, host, i AS k FROM cpu WHERE ${condition}) AS y
    ON x.time = y.time AND x.host = y.host`,
  (condition) => `SELECT count(*), sum(i) FROM (SELECT cpu.* FROM (SELECT time AS t, host AS h FROM cpu) AS x
    LEFT JOIN cpu ON x.t = cpu.time AND x.h = cpu.host AND cpu.i > 3) AS cpu WHERE ${condition}`,
  (condition) => `SELECT host, time FROM cpu WHERE ${condition} ORDER BY time DESC, host LIMIT 3`,
  (condition) => `SELECT count(*) FILTER (WHERE ${condition}) AS n, sum(j) FILTER (WHERE ${condition}) AS s FROM cpu`,
];

describe("WHERE", () => {
  test.each(CONDITIONS)("%s", async (condition, shown) => {
    for (const form of FORMS) await check(form(condition));
    if (!condition.includes("f / g")) expect(await of.plan(FORMS[0]!(condition))).toContain(shown);
    // nothing of it is left to DuckDB
    expect(await of.plan(FORMS[1]!(condition))).toContain("groups of cpu");
  });

  test.each(LEFT)("%s is left to DuckDB", async (condition) => {
    for (const form of FORMS.slice(0, 3)) await check(form(condition));
    expect(await of.plan(FORMS[1]!(condition))).not.toContain("groups of cpu");
  });
});

const VALUES: readonly string[] = [
  "sum(f * g)",
  "sum(i * j)",
  "sum(i + 1)",
  "avg(f - g)",
  "avg(i * 2)",
  "min(f + i)",
  "max(-f)",
  "max(i - j)",
  "count(f + g)",
  "count(f > g)",
  "sum(f / 2)",
  "sum(f / g)",
  "count(f / g)",
  "max(f / g)",
  "min(f / g)",
  "stddev(f - g)",
  "var_pop(i + j)",
  "sum(CASE WHEN f > 1 THEN 1 ELSE 0 END)",
  "sum(CASE WHEN f > 1 THEN i END)",
  "count(CASE WHEN b THEN 1 END)",
  "sum(coalesce(f, 0) + coalesce(g, 0))",
  "sum(abs(f))",
  "sum(i::DOUBLE)",
  "count(*) FILTER (WHERE f > g)",
  "sum(f) FILTER (WHERE b)",
  "avg(f * 2) FILTER (WHERE i IN (1, 2, 3))",
  "max(CASE WHEN b THEN f ELSE g END)",
];

describe("values", () => {
  test.each(VALUES)("%s", async (value) => {
    await check(`SELECT ${value} AS v FROM cpu`);
    await check(`SELECT ${value} FROM one`);
    await check(`SELECT host, ${value} AS v, count(*) AS n FROM cpu WHERE f > -1 GROUP BY host ORDER BY host`);
    await check(`SELECT only, ${value} AS v FROM cpu WHERE only = 'one' GROUP BY only`);
    await check(
      `SELECT date_bin(INTERVAL '1 minute', time) AS t, ${value} AS v, ${value} + 1 AS w FROM cpu WHERE i > j OR f > g GROUP BY t HAVING count(i) > 2 ORDER BY t`,
    );
    // the order of a NaN with a sign is not the scan's
    const isLeft = /^m..\(f \/ g/.test(value);
    expect((await of.plan(`SELECT ${value} AS v FROM cpu`)).includes("groups of cpu")).toBe(!isLeft);
  });

  test.each(["sum(f + u)", "sum(length(s))", "sum(DISTINCT i + 1)", "count(f > 1 OR host = 'h1')", "sum(i % 3)", "median(f + g)"])(
    "%s is left to DuckDB",
    async (value) => {
      await check(`SELECT host, ${value} AS v FROM cpu GROUP BY host ORDER BY host`);
      expect(await of.plan(`SELECT ${value} AS v FROM cpu`)).not.toContain("groups of cpu");
    },
  );

  test("in numbers", async () => {
    const { rows } = await of.sql(0, "SELECT sum(f * i) AS a, sum(i * i - 1) AS b, count(*) FILTER (WHERE f > i) AS c FROM one");
    expect(rows).toEqual([[4.5, 8n, 0n]]);
  });
});

describe("an integer that does not fit", () => {
  const FAILING = [
    "SELECT sum(n + m) AS s FROM wide",
    "SELECT t, max(n * 2) AS s FROM wide GROUP BY t ORDER BY t",
    "SELECT count(*) FROM wide WHERE n + m > 5",
    "SELECT t FROM wide WHERE n * m > 5",
  ];
  test.each(FAILING)("%s fails", async (statement) => {
    for (const [at] of FIELD_STATES.entries()) {
      for (const isPlain of [false, true]) {
        expect([isPlain, (await of.ask(at, statement, { isPlain })).fields], statement).toEqual([isPlain, "error"]);
        await expect(of.sql(at, statement, { isPlain })).rejects.toMatchObject({ kind: "bad_query" });
      }
    }
  });

  test.each([
    "SELECT sum(n + m) AS s FROM wide WHERE t = 'b'",
    "SELECT t FROM wide WHERE t IN ('b', 'd') AND n + m > 5 ORDER BY t",
    "SELECT sum(n + m) AS s FROM wide WHERE n < 100 AND n > -100",
    "SELECT t, sum(n - m) AS s FROM wide WHERE t <> 'c' GROUP BY t ORDER BY t",
  ])("%s does not meet it", check);
});

test("expressions of many parts are left to DuckDB, without a delay", async () => {
  const nested = (depth: number): string => (depth === 0 ? "f" : `coalesce(${nested(depth - 1)}, g)`);
  const longest = (depth: number): string => (depth === 0 ? "i" : `CASE WHEN b THEN j ELSE ${longest(depth - 1)} END`);
  const list = (count: number) => Array.from({ length: count }, (_, k) => k - 5).join(", ");
  for (const [condition, isComputed] of [
    [`${nested(4)} > 1`, true],
    [`${nested(40)} > 1`, false],
    [`${longest(20)} > 1`, false],
    [`i IN (${list(30)})`, true],
    [`i IN (${list(300)})`, false],
    [`coalesce(i, j) IN (${list(100)})`, false],
    [Array.from({ length: 30 }, (_, k) => `f > ${k}`).join(" OR "), true],
    [Array.from({ length: 100 }, (_, k) => `f > ${k}`).join(" OR "), false],
  ] as const) {
    const statement = `SELECT count(*), sum(i) FROM cpu WHERE ${condition}`;
    await check(statement);
    expect([condition, (await of.plan(statement)).includes("groups of cpu")]).toEqual([condition, isComputed]);
  }
});

test.each(Array.from({ length: 25 * Number(process.env["ROUNDS"] ?? 1) }, (_, i) => i + 1))("random expressions, seed %i", async (seed) => {
  const below = prng(seed);
  const condition = randomFieldSql(below, "truth", 1 + below(4));
  const value = randomFieldSql(below, "number", 1 + below(3));
  await check(`SELECT host, f, g, i, j, b, c, time FROM cpu WHERE ${condition}`);
  await check(`SELECT host, count(${value}) AS n, max(${value}) AS m FROM cpu WHERE ${condition} GROUP BY host ORDER BY host`);
  await check(`SELECT count(*) FILTER (WHERE ${condition}) AS n, min(${value}) AS m FROM cpu`);
});
