// Hostile texts are refused at once, long chains are no depth, and positions count what a person would count.
import { describe, expect, test } from "bun:test";
import type { Expression } from "./ast.ts";
import { TSDBQL_LIMITS } from "./limits.ts";
import { parseQuery } from "./parser.ts";
import { printExpression } from "./print.ts";

function errorOf(text: string): string {
  try {
    parseQuery(text);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

const heightOf = (expression: Expression): number =>
  expression.kind === "binary" ? 1 + Math.max(heightOf(expression.left), heightOf(expression.right)) : 0;

function whereOf(text: string): Expression {
  const [placed] = parseQuery(text);
  if (placed?.statement.kind !== "select" || placed.statement.where === null) throw new Error("no condition");
  return placed.statement.where;
}

describe("hostile texts", () => {
  test.each([
    ["open parentheses", `select a from b where ${"(".repeat(1 << 16)}`, "nested deeper than 200 levels at line 1, char 223"],
    ["signs", `select ${"-(".repeat(1 << 15)}`, "nested deeper than 200 levels"],
    ["calls", `select ${"f(".repeat(1 << 15)}`, "nested deeper than 200 levels"],
    ["subqueries", `select a from ${"(select a from ".repeat(5000)}`, "nested deeper than 200 levels"],
    ["a sum", `select a${"+a".repeat(1 << 15)} from b`, "an expression of more than 1000 levels"],
    ["sums in parentheses", `select ${"(".repeat(100)}a${`${"+a".repeat(100)})`.repeat(100)} from b`, "more than 1000 levels"],
    ["a string that does not end", `select a from b where c = '${"x".repeat(1 << 16)}`, "found xxxx"],
    ["a name that does not end", `select "${"x".repeat(1 << 16)}`, "found xxxx"],
    ["a regular expression that does not end", `select /${"x".repeat(1 << 16)}`, "bad regex:  at line 1, char 7"],
    ["a comment that does not end", `select a from b where c = /*${"*".repeat(1 << 16)}`, "expected identifier, string, number, bool"],
    ["backslashes", `select a from b where c = '${"\\".repeat((1 << 16) + 1)}`, "found \\"],
    ["an integer", `select a from b where c = ${"9".repeat(1 << 16)}`, "unable to parse integer"],
    ["a duration", `select a from b where time > ${"9w".repeat(1 << 15)}`, "overflowed duration 9w"],
    ["a long text", " ".repeat(TSDBQL_LIMITS.charsMax + 1), "longer than 131072 characters"],
    ["statements", "show users;".repeat(1001), "more than 1000 statements"],
    ["fields", `select ${"a,".repeat(4096)}a from b`, "more than 4096 fields in SELECT"],
    ["sources", `select a from ${"b,".repeat(1000)}b`, "more than 1000 names in a list"],
    ["dimensions", `select a from b group by ${"c,".repeat(1000)}c`, "more than 1000 dimensions in GROUP BY"],
    ["a pattern", `select a from b where c =~ /${"x".repeat(32_769)}/`, "a regular expression of more than 32768 characters"],
  ])("%s", (_what, text, message) => {
    expect(errorOf(text)).toContain(message);
  });

  test.each(["OR", "AND"])("10,000 comparisons joined by %s are a shallow tree that prints as it was written", (operator) => {
    const condition = Array.from({ length: 10_000 }, (_, i) => `h = ${i}`).join(` ${operator} `);
    const where = whereOf(`select a from b where ${condition}`);
    expect(heightOf(where)).toBeLessThan(20);
    expect(printExpression(where)).toBe(condition);
  });
});

describe("precedence", () => {
  test.each([
    ["a + b * c", ["+", "a", ["*", "b", "c"]]],
    ["a * b + c", ["+", ["*", "a", "b"], "c"]],
    ["a - b - c", ["-", ["-", "a", "b"], "c"]],
    ["a | b & c ^ d", ["^", ["|", "a", ["&", "b", "c"]], "d"]],
    ["a % -b / c", ["/", ["%", "a", ["*", "-1", "b"]], "c"]],
    ["a = b AND c OR d AND e", ["OR", ["AND", ["=", "a", "b"], "c"], ["AND", "d", "e"]]],
    ["a = b + 1 AND c > d", ["AND", ["=", "a", ["+", "b", "1"]], [">", "c", "d"]]],
    ["a = b = c", ["=", ["=", "a", "b"], "c"]],
  ] as const)("%s", (text, tree) => {
    type Tree = string | readonly [string, Tree, Tree];
    const shape = (one: Expression): Tree =>
      one.kind === "binary" ? [one.operator, shape(one.left), shape(one.right)] : printExpression(one);
    expect(shape(whereOf(`select x from y where ${text}`))).toEqual(tree as unknown as Tree);
  });
});

test("each statement comes with its own text", () => {
  const texts = parseQuery(" select a from b ;; -- one\n show databases;drop database x /* two */").map(({ text }) => text);
  expect(texts).toEqual(["select a from b", "show databases", "drop database x /* two */"]);
});
