// What a statement may be made of: as much as a limit says is answered, one more is refused with the limit, what was got and the maximum.
// Statements that are nested or left open without end are refused too, whichever stage would run out of stack first.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FakeTable } from "../../test/support/rows/fake-table.ts";
import { askRows, type SqlValue } from "../../test/support/sql/sql-rows.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import { STATEMENT_LIMITS as MAX } from "../model/query/statement-limits.ts";
import { ColumnType } from "../model/rows/column.ts";
import { SqlEngine } from "./execute/engine.ts";

/** One in three of each list; ALL_STATES=1: all, as test/rounds.full.test.ts asks. */
const isAsked = (_: unknown, i: number) => process.env["ALL_STATES"] === "1" || i % 3 === 0;

let engine: SqlEngine;
let table: FakeTable;

beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 1 << 30, threads: 2, tempDir: null });
  const { time, tag, integer, float } = ColumnType;
  const rows = Array.from({ length: 40 }, (_, i) => ({ time: BigInt(i), host: `h${i}`, v: BigInt(i), f: i + 0.5 }));
  table = new FakeTable(kernel, "t", { time, host: tag, v: integer, f: float }, rows);
});
afterAll(() => engine.close());

async function ask(sql: string): Promise<SqlValue[][]> {
  const plan = await engine.plan(sql);
  return askRows(engine, sql, { tables: plan.tables.includes("t") ? [table] : [], databaseTables: [table], params: {} });
}

const list = (n: number, make: (i: number) => string, separator = ", ") => Array.from({ length: n }, (_, i) => make(i)).join(separator);
const nested = (n: number, open: string, inner: string, close: string) => open.repeat(n) + inner + close.repeat(n);

interface Limited {
  /** What the message calls it. */
  readonly what: string;
  readonly max: number;
  readonly sql: (n: number) => string;
  /** What one value or the number of rows is at the limit; absent: it is planned, not run. */
  readonly first?: (n: number) => SqlValue;
}

const one = () => 1n;

const LIMITED: readonly Limited[] = [
  { what: "characters", max: MAX.charsMax, sql: (n) => `SELECT 1${" ".repeat(n - 8)}`, first: one },
  { what: "characters in one name", max: MAX.nameCharsMax, sql: (n) => `SELECT 1 AS ${"a".repeat(n)}`, first: one },
  { what: "characters in one name", max: MAX.nameCharsMax, sql: (n) => `SELECT 1 AS "${"ä".repeat(n)}"`, first: one },
  { what: "brackets inside of each other", max: MAX.bracketsMax, sql: (n) => `SELECT ${nested(n, "(", "1", ")")}`, first: one },
  {
    what: "values in one list",
    max: MAX.listValuesMax,
    sql: (n) => `SELECT count(*) FROM t WHERE v IN (${list(n, String)})`,
    first: () => 40n,
  },
  { what: "words, names, literals and marks", max: MAX.tokensMax, sql: (n) => `SELECT 1${";".repeat(n - 2)}`, first: one },
  {
    what: "expressions",
    max: MAX.nodesMax,
    // the query, its FROM and the list are three
    sql: (n) => `SELECT [${list(n - 3, () => "1")}]`,
  },
  {
    what: "WITH entries",
    max: MAX.ctesMax,
    sql: (n) => `WITH ${list(n, (i) => `c${i} AS (SELECT 1)`)} SELECT * FROM c${n - 1}`,
    first: one,
  },
  {
    what: "queries of UNION, EXCEPT and INTERSECT",
    max: MAX.unitedQueriesMax,
    sql: (n) => `SELECT count(*) FROM (${list(n, (i) => `SELECT ${i}`, " UNION ALL ")})`,
    first: BigInt,
  },
  {
    what: "tables in one FROM",
    max: MAX.joinedTablesMax,
    sql: (n) => `SELECT count(*) FROM t t0 ${list(n - 1, (i) => `JOIN t t${i + 1} ON t0.v = t${i + 1}.v`, " ")}`,
    first: () => 40n,
  },
  {
    what: "tables in one FROM",
    max: MAX.joinedTablesMax,
    sql: (n) => `SELECT count(*) FROM ${list(n, (i) => `(SELECT 1) AS t${i}`)}`,
    first: one,
  },
  {
    what: "conditions between columns in a SELECT with joins",
    max: MAX.joinConditionsMax,
    sql: (n) => `SELECT count(*) FROM t a JOIN t b ON ${list(n, (i) => `a.v = b.v + ${i}`, " AND ")}`,
    first: () => 0n,
  },
  {
    what: "conditions between columns in a SELECT with joins",
    max: MAX.joinConditionsMax,
    sql: (n) => `SELECT count(*) FROM t a, t b WHERE ${list(n, (i) => `a.v < b.v + ${i + 100}`, " AND ")} AND a.v <> 1 AND b.v <> 2`,
    first: () => 1521n,
  },
  {
    what: "subqueries in the expressions of one SELECT",
    max: MAX.subqueriesMax,
    sql: (n) => `SELECT ${list(n, () => "(SELECT max(v) FROM t)")} FROM t`,
    first: () => 39n,
  },
  {
    what: "subqueries in the expressions of one SELECT",
    max: MAX.subqueriesMax,
    sql: (n) => `SELECT count(*) FROM t WHERE ${list(n, () => "EXISTS (SELECT 1)", " AND ")}`,
    first: () => 40n,
  },
  { what: "columns in one SELECT", max: MAX.columnsMax, sql: (n) => `SELECT ${list(n, (i) => `v + ${i}`)} FROM t`, first: () => 0n },
  {
    what: "columns in one SELECT",
    max: MAX.columnsMax,
    // four columns a star
    sql: (n) => `SELECT count(*) FROM (SELECT ${list(n >> 2, () => "*")}${", v".repeat(n & 3)} FROM t)`,
    first: () => 40n,
  },
  { what: "columns in VALUES", max: MAX.columnsMax, sql: (n) => `SELECT count(*) FROM (VALUES (${list(n, String)}))`, first: one },
  {
    what: "expressions in GROUP BY",
    max: MAX.keysMax,
    sql: (n) => `SELECT count(*) FROM t WHERE v = 1 GROUP BY ${list(n, (i) => `v + ${i}`)}`,
    first: one,
  },
  {
    what: "expressions in ORDER BY",
    max: MAX.keysMax,
    sql: (n) => `SELECT v FROM t ORDER BY ${list(n, (i) => `v + ${i}`)}`,
    first: () => 0n,
  },
  {
    what: "expressions in PARTITION BY",
    max: MAX.keysMax,
    sql: (n) => `SELECT count(*) OVER (PARTITION BY ${list(n, (i) => `v + ${i}`)}) FROM t`,
    first: one,
  },
  {
    what: "expressions in DISTINCT ON",
    max: MAX.keysMax,
    sql: (n) => `SELECT DISTINCT ON (${list(n, (i) => `v + ${i}`)}) 1 FROM t`,
    first: one,
  },
  {
    what: "commas in GROUP BY",
    max: MAX.groupingCommasMax,
    sql: (n) => `SELECT count(*) FROM t WHERE v = 1 GROUP BY greatest(${list(n + 1, () => "v")})`,
    first: one,
  },
  {
    what: "sets in GROUP BY",
    max: MAX.groupingSetsMax,
    sql: (n) => `SELECT count(*) FROM t WHERE v = 1 GROUP BY GROUPING SETS (${list(n, () => "(v)")})`,
    first: one,
  },
  {
    what: "calls with OVER in one SELECT",
    max: MAX.windowsMax,
    sql: (n) => `SELECT ${list(n, (i) => `sum(v + ${i}) OVER (ORDER BY time)`)} FROM t`,
    first: () => 0n,
  },
  { what: "arguments in one call", max: MAX.argumentsMax, sql: (n) => `SELECT coalesce(${list(n, () => "v")}) FROM t`, first: () => 0n },
  { what: "arguments in one call", max: MAX.argumentsMax, sql: (n) => `SELECT concat(${list(n, () => "'a'")}) < 'b'`, first: () => true },
];

describe("limits of statements", () => {
  test.each(LIMITED.map((limited, i) => [`${i}: ${limited.what}`, limited] as const).filter(isAsked))(
    "%s",
    async (_, { what, max, sql, first }) => {
      if (first === undefined) await engine.plan(sql(max));
      else expect((await ask(sql(max)))[0]![0]).toEqual(first(max));
      const message = `the statement has ${max + 1} ${what}, more than the ${max} there may be`;
      const error = await ask(sql(max + 1)).catch((reason) => reason);
      expect(error).toBeInstanceOf(TsdbError);
      expect(error).toMatchObject({ kind: "bad_query", details: { got: max + 1, max } });
      expect(error.message).toEndWith(message);
    },
  );

  // one row with the sum of n levels: each name stands for all that lie below it
  test("names of a select list in each other", async () => {
    const chain = (n: number) => `SELECT v AS a0, ${list(n, (i) => `a${i} + 1 AS a${i + 1}`)} FROM t WHERE v = 1`;
    expect((await ask(chain(40)))[0]!.at(-1)).toBe(41n);
    expect(ask(chain(200))).rejects.toThrow(/expressions behind names of select lists, more than the 100000/);
    const doubled = (n: number) => `SELECT v AS a0, ${list(n, (i) => `a${i} + a${i} AS a${i + 1}`)} FROM t WHERE v = 1`;
    expect((await ask(doubled(10)))[0]!.at(-1)).toBe(1024n);
    expect(ask(doubled(40))).rejects.toThrow(/expressions behind names of select lists/);
  });

  test("a chain of equalities is a list, a longer one than an OR may be", async () => {
    const equal = (n: number) => list(n, (i) => `host = 'h${i}'`, " OR ");
    expect(await ask(`SELECT count(*) FROM t WHERE ${equal(20_000)}`)).toEqual([[40n]]);
    expect(await ask(`SELECT count(*) FROM t WHERE ${list(20_000, (i) => `host <> 'h${i + 10}'`, " AND ")}`)).toEqual([[10n]]);
  });

  test("the smallest limits leave the widest table in an answer, and one of the default in DISTINCT", () => {
    expect(MAX.columnsMax).toBe(LIMITS.answerColumnsMax);
    expect(MAX.columnsMax).toBeGreaterThan(LIMITS.columnsPerTableMax);
    expect(MAX.keysMax).toBeGreaterThan(LIMITS.columnsPerTableDefault);
  });
});

const DEEP = 100_000;

/** Each is refused, or is no more than what it says. */
const HOSTILE: readonly (readonly [what: string, sql: string])[] = [
  ["parentheses", `SELECT ${nested(DEEP, "(", "1", ")")}`],
  ["open parentheses", `SELECT ${"(".repeat(DEEP)}`],
  ["closed parentheses", `SELECT 1${")".repeat(DEEP)}`],
  ["queries in parentheses", nested(DEEP, "(", "SELECT 1", ")")],
  ["arrays", `SELECT ${nested(DEEP, "[", "1", "]")}`],
  ["open arrays", `SELECT ${"[".repeat(DEEP)}`],
  ["structures", `SELECT ${nested(DEEP, "{'a':", "1", "}")}`],
  ["struct()", `SELECT ${nested(DEEP, "struct(", "1", " AS a)")}`],
  ["CASE", `SELECT ${nested(30_000, "CASE WHEN 1=1 THEN 1 ELSE ", "2", " END")}`],
  ["open CASE", `SELECT ${"CASE WHEN ".repeat(DEEP)}`],
  ["functions", `SELECT ${nested(DEEP, "abs(", "1", ")")}`],
  ["functions IGNORE NULLS", `SELECT ${nested(900, "last_value(", "v", ") IGNORE NULLS")} FROM t`],
  ["functions WITHIN GROUP", `SELECT ${nested(900, "approx_percentile_cont(", "v", ") WITHIN GROUP (ORDER BY v)")} FROM t`],
  ["subqueries in FROM", nested(30_000, "SELECT * FROM (", "SELECT 1", ")")],
  ["scalar subqueries", nested(DEEP, "SELECT (", "SELECT 1", ")")],
  ["WITH", nested(20_000, "WITH c AS (", "SELECT 1", ") SELECT * FROM c")],
  ["NOT", `SELECT ${"NOT ".repeat(DEEP)}true`],
  ["minus", `SELECT ${"- ".repeat(DEEP)}1`],
  ["terms", `SELECT ${list(DEEP, () => "1", "+")}`],
  ["casts", `SELECT 1${"::int".repeat(DEEP)}`],
  ["subscripts", `SELECT a${"[1]".repeat(DEEP)} FROM t`],
  ["members", `SELECT a${".b".repeat(DEEP)} FROM t`],
  ["IS NULL", `SELECT 1 ${"IS NULL ".repeat(DEEP)}`],
  ["AT TIME ZONE", `SELECT time${" AT TIME ZONE 'UTC'".repeat(30_000)} FROM t`],
  ["joins", `SELECT 1 FROM t ${list(20_000, (i) => `JOIN t t${i} ON true`, " ")}`],
  ["EXCEPT", list(50_000, () => "SELECT 1", " EXCEPT ")],
  ["open comments", `SELECT ${"/*".repeat(DEEP)}`],
  ["an open string", `SELECT '${"a".repeat(1_000_000)}`],
  ["an open name", `SELECT "${"a".repeat(1_000_000)}`],
  ["an open escaped string", `SELECT E'${"\\'".repeat(500_000)}`],
  ["open dollar quotes", `SELECT $a$${"$b$ ".repeat(200_000)}`],
  ["an open string of 10 MB", `SELECT '${"a".repeat(10_000_000)}`],
  ["operators", `SELECT ${"@".repeat(DEEP)} 1`],
  ["commas", `SELECT ${",".repeat(DEEP)}`],
  ["semicolons", `SELECT 1${";".repeat(DEEP)}SELECT 2`],
  ["a regular expression", `SELECT host ~ '${nested(DEEP, "(", "a", ")")}' FROM t`],
];

describe("hostile nesting", () => {
  test.each(HOSTILE.filter(isAsked))("%s are refused", async (_, sql) => {
    const error = await ask(sql).catch((reason) => reason);
    expect(error).toBeInstanceOf(TsdbError);
    expect(error.kind).toBe("bad_query");
    expect(error.message.length).toBeLessThan(300);
    // no advice to set what nobody may set
    expect(error.message).not.toContain("SET ");
  });

  test("comments in each other are white space, however deep", async () => {
    expect(await ask(`SELECT ${nested(DEEP, "/*", "", "*/")} 1`)).toEqual([[1n]]);
  });

  test("an expression may be as deep as the limit says", async () => {
    // the query and the number are levels too
    const deep = (n: number) => `SELECT ${nested(n, "abs(", "1", ")")}`;
    expect(await ask(deep(MAX.nestingMax - 2))).toEqual([[1n]]);
    expect(ask(deep(MAX.nestingMax - 1))).rejects.toThrow(/nested too deeply \(more than 150 levels\)/);
  });
});
