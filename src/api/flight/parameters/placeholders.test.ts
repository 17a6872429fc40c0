// Placeholders of prepared statements: what is one, how they are numbered, which column is for which.
import { describe, expect, test } from "bun:test";
import { numberPlaceholders, Placeholders } from "./placeholders.ts";

test.each([
  ["SELECT 1", "SELECT 1"],
  ["SELECT ?", "SELECT $1"],
  ["SELECT ? + ?, ?", "SELECT $1 + $2, $3"],
  ["SELECT v FROM t WHERE v>?AND w<?", "SELECT v FROM t WHERE v>$1 AND w<$2"],
  // no placeholders, and none that become another
  ["SELECT '?', \"?\", $$?$$ -- ?\n, ? /* ? */", "SELECT '?', \"?\", $$?$$ -- ?\n, $1 /* ? */"],
  ["SELECT ?1", "SELECT $1 1"],
  ["SELECT $1, $name", "SELECT $1, $name"],
])("%j is numbered %j", (statement, numbered) => expect(numberPlaceholders(statement)).toBe(numbered));

test.each([
  ["SELECT ?, $1", /either \? or names, got both \? and \$1/],
  ["SELECT $a WHERE ?", /got both \? and \$a/],
  ["SELECT 'open", /open|unterminated/i],
])("%j is refused", (statement, message) => expect(() => numberPlaceholders(statement)).toThrow(message));

describe("columns", () => {
  const CASES: [statement: string, columns: string[], names: string[]][] = [
    ["SELECT $a, $b", ["a", "b"], ["a", "b"]],
    ["SELECT $a, $b", ["$b", "$a"], ["b", "a"]],
    ["SELECT $b, $a", ["0", "1"], ["b", "a"]],
    ["SELECT $b, $a, $b", ["", ""], ["b", "a"]],
    ["SELECT $2, $10, $1", ["x", "y", "z"], ["1", "2", "10"]],
    ["SELECT $1, $2", ["2", "1"], ["2", "1"]],
    ["SELECT 1", [], []],
    // of some, by name
    ["SELECT $a, $b", ["b"], ["b"]],
  ];
  test.each(CASES)("%j with %j", (statement, columns, names) => expect(new Placeholders(statement).namesFor(columns)).toEqual(names));

  test.each([
    ["SELECT $a", ["x", "y"]],
    ["SELECT $a, $b", ["x"]],
    ["SELECT 1", ["x"]],
    ["SELECT $a", ["a", "a"]],
  ])("%j with %j is refused", (statement, columns) => {
    expect(() => new Placeholders(statement).namesFor(columns)).toThrow(/got \d parameters .*, want \d/);
  });
});

test("forms are written where their placeholders stand", () => {
  const forms = new Map(Object.entries({ 1: "CAST(? AS DATE)", b: "decode(?, 'hex')" }));
  expect(new Placeholders("SELECT $1, $10, '$1', $b, \"$b\" FROM t WHERE x=$1AND y").inForms(forms)).toBe(
    "SELECT CAST($1 AS DATE), $10, '$1', decode($b, 'hex'), \"$b\" FROM t WHERE x=$1AND y",
  );
  expect(new Placeholders("SELECT $1, $1").inForms(new Map([["1", "f(?)"]]))).toBe("SELECT f($1), f($1)");
});

test("as many names as a statement and its parameters may have are found at once", () => {
  const names = Array.from({ length: 65_536 }, (_, i) => `p${i}`);
  const statement = `SELECT ${names.map((name) => `$${name}`).join(",")}`;
  const started = process.cpuUsage();
  expect(new Placeholders(statement).namesFor(names.toReversed())).toEqual(names.toReversed());
  const { user, system } = process.cpuUsage(started);
  expect(user + system).toBeLessThan(2_000_000);
});
