// The arithmetic of the benches: medians, the order of rounds, goals, the table.
import { describe, expect, test } from "bun:test";
import { type Answer, alternate, formatTable, median, meetsGoal, short } from "./bench.ts";

test.each([
  [[3], 3],
  [[3, 1, 2], 2],
  [[4, 1, 3, 2], 2.5],
  [[10, 9, 100], 10],
])("median of %p is %p", (values, expected) => expect(median(values)).toBe(expected));

test("median leaves its argument as it is, and refuses none", () => {
  const values = [3, 1, 2];
  median(values);
  expect(values).toEqual([3, 1, 2]);
  expect(() => median([])).toThrow();
});

test("rounds run in alternating order and give the median of each contestant", async () => {
  const order: string[] = [];
  const results: Record<string, number[]> = { a: [5, 1, 3], b: [10, 30, 20] };
  const contestants = ["a", "b"].map((name) => async () => {
    order.push(name);
    return results[name]!.shift()!;
  });
  expect(await alternate(3, contestants)).toEqual([3, 20]);
  expect(order.join("")).toBe("abbaab");
});

test("a contestant without patience left has its first round and no other", async () => {
  let calls = 0;
  expect(await alternate(3, [async () => ++calls], 0)).toEqual([1]);
  expect(calls).toBe(1);
});

test.each([
  [1_234_567, "1.23 M"],
  [177_000, "177 k"],
  [9_999, "9999"],
  [119.6, "120"],
  [0.6123, "0.612"],
])("short(%p) is %p", (value, text) => expect(short(value)).toBe(text));

describe("goals", () => {
  const answer: Answer = { what: "a question", value: 2, unit: "×", detail: "4 ÷ 2" };

  test.each([
    [undefined, undefined],
    [{ atLeast: 2 }, true],
    [{ atLeast: 2.1 }, false],
    [{ atMost: 2 }, true],
    [{ atMost: 1.9 }, false],
  ])("%p", (goal, met) => expect(meetsGoal(goal === undefined ? answer : { ...answer, goal })).toBe(met!));

  test("the table aligns and says what is met", () => {
    expect(formatTable([answer, { ...answer, what: "another", value: 1e6, unit: "rows/s", goal: { atLeast: 2e6 } }])).toBe(
      [
        "| question   | result        | goal     | met | measured |",
        "|------------|---------------|----------|-----|----------|",
        "| a question | 2.00 ×        |          |     | 4 ÷ 2    |",
        "| another    | 1.00 M rows/s | ≥ 2.00 M | NO  | 4 ÷ 2    |",
      ].join("\n"),
    );
  });
});
