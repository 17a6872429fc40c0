// The first JSON value of a text, and what stands behind it.
import { describe, expect, test } from "bun:test";
import { firstValue } from "./first-value.ts";

describe("firstValue", () => {
  test.each<[string, unknown, string]>([
    ["{}", {}, ""],
    [' {"a":[1,{"b":"}"}]} \n', { a: [1, { b: "}" }] }, ""],
    ["{}x", {}, "x"],
    ["{} {}", {}, "{}"],
    ['{"a":"\\"}"}}', { a: '"}' }, "}"],
    ["[1][2]", [1], "[2]"],
    ["{}\u0000", {}, "\u0000"],
    ["nullx", null, "x"],
    ["-1.5e3,", -1500, ","],
    ['"a\\\\"b"', "a\\", 'b"'],
    ["true false", true, "false"],
  ])("%j", (text, value, rest) => {
    expect(firstValue(text)).toEqual({ value, rest });
  });

  test.each([
    "",
    " ",
    "{",
    '{"a":',
    "[1,]x",
    "{]",
    '"a',
    "x{}",
    "nul",
    "1.2.3x",
    "\u00a0{}",
    "]",
    "[".repeat(1 << 14),
    `"${"\\\\".repeat(1 << 19)}`,
  ])("%# is refused", (text) => {
    expect(() => firstValue(text)).toThrow();
  });

  test("a long text is skipped", () => {
    const long = `"${"a\\\\".repeat(1 << 18)}"`;
    expect(firstValue(`${long}x`).rest).toBe("x");
  });
});
