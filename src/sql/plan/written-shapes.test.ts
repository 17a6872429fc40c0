// Statements recognized by their written shape: literals, names and length must be those that tokens and rules give.
import { describe, expect, test } from "bun:test";
import { liftLiterals } from "../parse/literals.ts";
import { parseStatement } from "../parse/statement.ts";
import { writtenShape } from "./written-shape.ts";
import { WrittenShapes, WrittenText } from "./written-shapes.ts";

function byTokens(sql: string) {
  const statement = parseStatement(sql);
  const lifted = liftLiterals(statement.text, true)!;
  const { shape, chars, literals, text } = lifted;
  const values = literals.map(({ kind, text: written, list }) => ({ kind, text: written, list }));
  return { statement, lifted, shown: { shape, chars, values, nodes: statement.names.nodes, sql: text.sql } };
}

/** What is recognized of `sql` after `kept` was seen; null: nothing. */
function recognized(kept: readonly string[], sql: string) {
  const shapes = new WrittenShapes(1 << 20);
  for (const each of kept) {
    const { statement, lifted } = byTokens(each);
    const written = writtenShape(each);
    if (written !== null) shapes.keep(written, statement, lifted);
  }
  const written = writtenShape(sql);
  const found = written === null ? null : shapes.find(written);
  if (found === null) return null;
  const values = found.literals.map(({ kind, text, list }) => ({ kind, text, list }));
  const [statement, text] = WrittenText.of(sql, found);
  return { shape: found.shape, chars: found.chars, values, nodes: statement.names.nodes, sql: text.text.sql };
}

const SAME: readonly [name: string, first: string, other: string][] = [
  ["times and hosts", "SELECT max(u) FROM t WHERE h = 'a' AND time > '2024-01-01'", "SELECT max(u) FROM t WHERE h = 'it''s' AND time > ''"],
  [
    "numbers",
    "SELECT a FROM t WHERE b > 1 AND c < 2.5 AND d = 5000000000 LIMIT 3",
    "SELECT a FROM t WHERE b > 0 AND c < 90.25 AND d = 4000000000 LIMIT 0",
  ],
  ["capital letters and spaces", "SELECT  A.b\n FROM T a WHERE \"X'1\" = 'x'", "SELECT  A.b\n FROM T a WHERE \"X'1\" = 'y'"],
  [
    "lists of other lengths",
    "SELECT a FROM t WHERE b IN ('x', 'y') AND c NOT IN (1,2)",
    "SELECT a FROM t WHERE b IN ('z','(',  '') AND c NOT IN (3,4,5 )",
  ],
  ["LIMIT with two numbers, which a rule moves", "SELECT a FROM t LIMIT 1, 2", "SELECT a FROM t LIMIT 30, 4"],
  ["IGNORE NULLS, which a rule writes twice", "SELECT last(a + 1) IGNORE NULLS AS x FROM t", "SELECT last(a + 7) IGNORE NULLS AS x FROM t"],
  ["operators that a rule groups", "SELECT a | 1 & 2 ^ 3 AS x FROM t", "SELECT a | 4 & 5 ^ 6 AS x FROM t"],
  ["an unnamed item without literals", "SELECT max(u), b FROM t WHERE c = 1", "SELECT max(u), b FROM t WHERE c = 2"],
  ["the literals of names are the same", "SELECT max(u + 1), b FROM t WHERE c = 1", "SELECT max(u + 1), b FROM t WHERE c = 2"],
  [
    "numbers of another notation are the same",
    "SELECT a FROM t WHERE b > 1e5 AND c = 0x1F AND d = 1",
    "SELECT a FROM t WHERE b > 1e5 AND c = 0x1F AND d = 2",
  ],
  ["a short chain of equal signs", "SELECT a FROM t WHERE b = 1 OR b = 2", "SELECT a FROM t WHERE b = 3 OR b = 4"],
  ["subscripts", "SELECT f(a)['value'] AS x, b[1] AS y FROM t", "SELECT f(a)['time'] AS x, b[2] AS y FROM t"],
];

const OTHER: readonly [name: string, first: string, other: string][] = [
  ["literals of names", "SELECT max(u + 1) FROM t WHERE c = 1", "SELECT max(u + 2) FROM t WHERE c = 1"],
  [
    "a name that depends on a window behind",
    "SELECT sum(a) OVER w FROM t WINDOW w AS (ORDER BY b + 1)",
    "SELECT sum(a) OVER w FROM t WINDOW w AS (ORDER BY b + 2)",
  ],
  ["kinds of literals", "SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = '1'"],
  ["widths of numbers", "SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = 5000000000"],
  ["zeros, which a rule changes", "SELECT a FROM t WHERE b > -0.5", "SELECT a FROM t WHERE b > -0.0"],
  ["a point at the end of a number", "SELECT a FROM t WHERE b > 2.5", "SELECT a FROM t WHERE b > 90."],
  ["a list of one", "SELECT a FROM t WHERE b IN (1, 2)", "SELECT a FROM t WHERE b IN (1)"],
  ["a list of two kinds", "SELECT a FROM t WHERE b IN (1, 2)", "SELECT a FROM t WHERE b IN (1, '2')"],
  ["spaces", "SELECT a FROM t WHERE b = 1", "SELECT a FROM t  WHERE b = 1"],
  ["adjacent texts", "SELECT 'a'\n'b' AS x", "SELECT 'a'\n'c' AS x"],
  ["numbers with exponents", "SELECT a FROM t WHERE b > 1e+5", "SELECT a FROM t WHERE b > 1e+6"],
  ["quoted names", 'SELECT a FROM t WHERE "b 1" = 1', 'SELECT a FROM t WHERE "b 2" = 1'],
  ["EXPLAIN", "EXPLAIN SELECT a FROM t WHERE b = 1", "EXPLAIN SELECT a FROM t WHERE b = 2"],
  ["comments", "SELECT a /* 1 */ FROM t WHERE b = 1", "SELECT a /* 1 */ FROM t WHERE b = 2"],
  ["line comments", "SELECT a -- 1\n FROM t WHERE b = 1", "SELECT a -- 1\n FROM t WHERE b = 2"],
  ["parameters", "SELECT a FROM t WHERE b = $1 AND c = 1", "SELECT a FROM t WHERE b = $1 AND c = 2"],
  ["dollar quotes", "SELECT a FROM t WHERE b = $$x'1$$ AND c = 1", "SELECT a FROM t WHERE b = $$x'1$$ AND c = 2"],
  ["escapes", "SELECT a FROM t WHERE b = E'\\'1' AND c = 1", "SELECT a FROM t WHERE b = E'\\'1' AND c = 2"],
  [
    "long chains, which a rule makes a list",
    `SELECT a FROM t WHERE ${Array.from({ length: 20 }, (_, i) => `b = ${i}`).join(" OR ")}`,
    `SELECT a FROM t WHERE ${Array.from({ length: 20 }, (_, i) => `b = ${i || 99}`).join(" OR ")}`,
  ],
];

describe("statements with other literals are recognized", () => {
  for (const [name, first, other] of SAME) {
    test(name, () => {
      const { shape, ...shown } = byTokens(other).shown;
      const { shape: foundShape, ...found } = recognized([first], other)!;
      expect(found).toEqual(shown);
      expect(foundShape).toBe(byTokens(first).shown.shape);
      // without the spaces in lists
      expect(foundShape.replace(/\s/g, "")).toBe(shape.replace(/\s/g, ""));
    });
  }
});

describe("statements that differ otherwise are not", () => {
  for (const [name, first, other] of OTHER) test(name, () => expect(recognized([first], other)).toBeNull());

  test("each with its own names", () => {
    const both = ["SELECT max(u + 1) FROM t WHERE c = 1", "SELECT max(u + 2) FROM t WHERE c = 1"];
    for (const sql of both) expect(recognized(both, sql)).toEqual(byTokens(sql).shown);
  });

  test("a text with NUL, half a character or more than 128 KiB", () => {
    for (const sql of ["SELECT 'a\0'", "SELECT '\ud800'", `SELECT '${"x".repeat(128 << 10)}'`]) expect(writtenShape(sql)).toBeNull();
  });

  test("quotes that do not end", () => {
    for (const sql of ["SELECT 'a", 'SELECT "a', "SELECT a IN ('a", "SELECT a IN ('a', '"]) expect(writtenShape(sql)).toBeNull();
  });
});

test("shapes stay within their bytes; the least recently used go", () => {
  const bytesMax = 16 << 10;
  const shapes = new WrittenShapes(bytesMax);
  const add = (sql: string) => {
    const { statement, lifted } = byTokens(sql);
    shapes.keep(writtenShape(sql)!, statement, lifted);
  };
  const find = (sql: string) => shapes.find(writtenShape(sql)!);
  add("SELECT kept FROM t WHERE a = 1");
  for (let i = 0; i < 200; i++) {
    add(`SELECT c${i} FROM t WHERE a = 1`);
    expect(shapes.bytes).toBeLessThanOrEqual(bytesMax);
    expect(find("SELECT kept FROM t WHERE a = 2")).not.toBeNull();
  }
  expect(find("SELECT c0 FROM t WHERE a = 2")).toBeNull();
  expect(find("SELECT c199 FROM t WHERE a = 2")).not.toBeNull();
  add(`SELECT ${"long".repeat(1000)} FROM t WHERE a = 1`);
  expect(shapes.bytes).toBeLessThanOrEqual(bytesMax);
});
