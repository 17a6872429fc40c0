// Macros by their text: how often an argument is planned, through macros in macros.
import { expect, test } from "bun:test";
import { MACROS } from "../functions/macros.ts";
import { VALUE_MACROS } from "../functions/value-macros.ts";
import { MACRO_WEIGHTS, weigh } from "./macro-weights.ts";

const CASES: [definitions: string[], name: string, mentions: number[]][] = [
  [["CREATE MACRO a(x) AS x + x"], "a", [2]],
  [["CREATE MACRO a(x, y) AS CASE WHEN x > 'x' THEN f(y, (x + y)) ELSE x END"], "a", [3, 2]],
  [["CREATE MACRO a(x) AS x + x", "CREATE MACRO b(x, y) AS a(x + a(y)) - y"], "b", [2, 5]],
  [["CREATE MACRO b(x) AS a(a(x))", "CREATE MACRO a(x) AS x * x * x"], "b", [9]],
  [["CREATE MACRO a(pair) AS list_transform(pair, lambda e: e.pair)"], "a", [1]],
  [["CREATE MACRO a(x) AS (x)[1] || \"/\"((x), 'x(')"], "a", [2]],
];
test.each(CASES)("mentions of arguments in %j: %s", (definitions, name, mentions) => {
  expect(weigh(definitions).get(name)!.mentions).toEqual(mentions);
});

test("every macro of ours is read", () => {
  for (const text of [...MACROS, ...VALUE_MACROS]) expect(MACRO_WEIGHTS.has(/MACRO (\w+)/.exec(text)![1]!)).toBe(true);
  for (const [name, { own, mentions }] of MACRO_WEIGHTS) {
    expect([name, own > 0, mentions.every((count) => count > 0)]).toEqual([name, true, true]);
  }
});
