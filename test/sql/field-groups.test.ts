// Groups by values of fields that the scan tells apart. Each statement answers as DuckDB does on all rows, in several states of the rows.
import { describe, expect, test } from "bun:test";
import { pick, prng } from "../support/prng.ts";
import { FieldRows, randomFieldSql } from "../support/sql/field-rows.ts";

const of = new FieldRows();

async function check(statement: string): Promise<void> {
  expect((await of.check(statement)).fields, statement).not.toBe("error");
}

/** Keys, and what the plan names them. */
const KEYS: readonly (readonly [key: string, shown: string])[] = [
  ["f", "f"],
  ["i", "i"],
  ["u", "u"],
  ["s", "s"],
  ["b", "b"],
  ["f > 1", "(1 < f)"],
  ["f > g", "(g < f)"],
  ["b AND c", "(b and c)"],
  ["f IS NULL", "f is null"],
  ["f * 2", "(f * 2)"],
  ["abs(f)", "abs(f)"],
  ["coalesce(b, c)", "(not b is null ? b : c)"],
  ["CASE WHEN f > 1 THEN 'high' WHEN f > 0 THEN 'middle' ELSE 'low' END", "((1 < f) ? 0 : ((0 < f) ? 1 : 2))"],
  ["CASE WHEN f > 1 THEN 'high' WHEN i > 3 THEN 'high' END", "((1 < f) ? 0 : ((3 < i) ? 0 : 1))"],
  ["CASE i WHEN 1 THEN 'one' WHEN 2 THEN '' ELSE NULL END", "((i = 1) ? 0 : ((i = 2) ? 1 : 2))"],
  ["CASE WHEN b THEN 'same' ELSE 'same' END", "(b ? 0 : 0)"],
  ["CASE WHEN f > 1 THEN i::DOUBLE ELSE 0 END", "((1 < f) ? float(i) : 0)"],
];

const LEFT: readonly string[] = [
  "i % 3",
  "length(s)",
  "s || 'x'",
  "f + u",
  "CASE WHEN s = 'x' THEN 'a' ELSE 'b' END",
  "CASE WHEN b THEN s END",
];

const FORMS: readonly ((key: string) => string)[] = [
  (key) => `SELECT ${key} AS k, count(*) AS n FROM cpu GROUP BY k ORDER BY k, n`,
  (key) => `SELECT ${key}, count(*) FROM cpu GROUP BY 1 ORDER BY 1`,
  (key) => `SELECT host, ${key} AS k, count(f), sum(i), max(g), min(time) FROM cpu GROUP BY host, k ORDER BY host, k`,
  (key) => `SELECT DISTINCT ${key} AS k FROM cpu ORDER BY k`,
  (key) => `SELECT DISTINCT host, ${key} AS k FROM cpu WHERE host <> 'h1' ORDER BY host, k`,
  (key) => `SELECT host, date_bin(INTERVAL '1 minute', time) AS t, ${key} AS k, count(*) AS n, last_value(i ORDER BY time) AS l
    FROM cpu GROUP BY host, t, k ORDER BY host, t, k`,
  (key) => `SELECT ${key} AS k, avg(f * i) AS a FROM cpu WHERE g > -1 AND i <> 3 GROUP BY ${key} HAVING count(*) > 2 ORDER BY k`,
  (key) => `SELECT count(*) AS n FROM cpu GROUP BY ${key} ORDER BY n DESC`,
  (key) => `SELECT upper(host) AS h, ${key} AS k, count(DISTINCT only) AS o, count(*) AS n FROM cpu GROUP BY h, k ORDER BY h, k`,
  (key) => `SELECT ${key} AS k, j, b, count(*) AS n FROM cpu GROUP BY k, j, b ORDER BY k, j, b`,
  (key) => `SELECT max(n) FROM (SELECT ${key} AS k, host, count(*) AS n FROM cpu WHERE only = 'one' GROUP BY k, host) AS x`,
  (key) => `SELECT k, sum(n) OVER (ORDER BY n, k) AS total FROM (SELECT ${key} AS k, count(*) AS n FROM cpu GROUP BY k) AS x ORDER BY k`,
];

describe("GROUP BY", () => {
  test.each(KEYS)("%s", async (key, shown) => {
    for (const form of FORMS) await check(form(key));
    for (const form of FORMS) expect([form(key), await of.plan(form(key))]).toEqual([form(key), expect.stringContaining("groups of cpu")]);
    expect(await of.plan(FORMS[0]!(key))).toContain(`by ${shown}; count(*)`);
  });

  test.each(LEFT)("%s is left to DuckDB", async (key) => {
    for (const form of FORMS) await check(form(key));
    expect(await of.plan(FORMS[0]!(key))).not.toContain("groups of cpu");
  });

  test("of a field without values, of no rows, and of one", async () => {
    await check("SELECT f, count(*) AS n FROM cpu WHERE f IS NULL GROUP BY f");
    await check("SELECT f, i, count(*) AS n FROM one GROUP BY f, i");
    await check("SELECT n, count(*) AS c FROM wide GROUP BY n ORDER BY n");
    await check("SELECT s, count(*) AS n FROM cpu WHERE time > '2030-01-01T00:00:00Z' GROUP BY s");
  });

  test("a condition on a key is one on groups", async () => {
    const statement = "SELECT s, count(*) AS n FROM cpu WHERE s LIKE '_' AND upper(s) <> 'X' GROUP BY s ORDER BY s";
    await check(statement);
    expect(await of.plan(statement)).toContain("groups of cpu");
  });

  test("in numbers", async () => {
    const { rows } = await of.sql(
      0,
      "SELECT m, CASE WHEN n > 5 THEN 'more' ELSE 'less' END AS k, count(*) FROM wide GROUP BY m, k ORDER BY m",
    );
    expect(rows).toEqual([
      [-1n, "less", 1n],
      [1n, "more", 1n],
      [2n, "less", 1n],
      [7n, "less", 1n],
    ]);
  });

  test("a sum that does not fit fails, and so does a key", async () => {
    for (const statement of ["SELECT n + m AS k, count(*) FROM wide GROUP BY k", "SELECT max(m) FROM wide GROUP BY n * 2"]) {
      for (const isPlain of [false, true]) expect((await of.ask(0, statement, { isPlain })).fields).toBe("error");
    }
  });
});

test.each(Array.from({ length: 25 * Number(process.env["ROUNDS"] ?? 1) }, (_, i) => i + 1))("random keys, seed %i", async (seed) => {
  const below = prng(seed);
  const number = () => `${randomFieldSql(below, "number", below(3))}`;
  const truth = () => randomFieldSql(below, "truth", below(3));
  const key = () =>
    pick(below, [
      () => `(${number()} + 0.5)`,
      () => `(${truth()})`,
      () => `CASE WHEN ${truth()} THEN 'a' WHEN ${truth()} THEN ${pick(below, ["'b'", "'a'", "NULL"])} ELSE 'c' END`,
      () => pick(below, ["f", "i", "u", "s", "b", "host"]),
    ])();
  const [one, other] = [key(), key()];
  const where = below(2) === 0 ? "" : `WHERE ${truth()}`;
  await check(`SELECT ${one} AS x, ${other} AS y, count(*) AS n, count(${number()}) AS m FROM cpu ${where} GROUP BY x, y ORDER BY x, y`);
  await check(`SELECT count(*) AS n FROM (SELECT DISTINCT ${one} AS x, host FROM cpu ${where}) AS d`);
});
