// JSON of requests: numbers as they were written, and no more values than parameters have.
import { describe, expect, test } from "bun:test";
import { parseJson, requireFewValues } from "./query-params.ts";

test("integers keep their digits, all other numbers are floats", () => {
  const text = "[0, -1, 18446744073709551615, -9223372036854775808, -0, 1.0, 1e2, 100000000000000000000000]";
  expect(parseJson(text)).toEqual([0n, -1n, 2n ** 64n - 1n, -(2n ** 63n), -0, 1, 100, 1e23]);
});

test("an integer of millions of digits is no number", () => {
  expect(() => parseJson(`{"a":${"7".repeat(1_000_000)}}`)).toThrow("serde json error: number out of range");
  expect(() => parseJson("[1e999]")).toThrow("serde json error: number out of range");
});

describe("values", () => {
  const list = (count: number) => `[${Array(count).fill("1").join(",")}]`;
  test("of lists, objects and texts", () => {
    // the bracket, and a comma for each but the first
    expect(parseJson(list(200_000))).toBeArrayOfSize(200_000);
    expect(() => parseJson(list(200_001))).toThrow("serde json error: more than 200000 values");
    expect(() => requireFewValues("[".repeat(200_001), "it has ")).toThrow("it has more than 200000 values");
    expect(() => requireFewValues('{"a":'.repeat(200_001), "it has ")).toThrow("it has more than 200000 values");
    requireFewValues(`{"q":"${",[{".repeat(100_000)}\\",${",".repeat(200_000)}"}`, "");
  });
});
