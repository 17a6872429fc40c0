// Cells of columns as other numbers.
import { expect, test } from "bun:test";
import { FluxColumn, floatsOfIntegers } from "./column.ts";

const TOP = 1n << 63n;
/** Around the ends of 32, 53 and 64 bits, and halves between two floats. */
const EDGES = [0n, 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 53n + 3n, 2n ** 62n + 257n, TOP - 1n];

test("integers become the floats that Number makes of them", () => {
  const signed = BigInt64Array.from([...EDGES, ...EDGES.map((value) => -value), -TOP]);
  const column = new FluxColumn("x", "int", signed, null, signed.length);
  expect([...floatsOfIntegers(column)]).toEqual([...signed].map(Number));
});

test("unsigned ones too", () => {
  const unsigned = BigUint64Array.from([...EDGES, TOP, TOP + 1n, TOP + 1025n, 2n ** 64n - 1n]);
  const column = new FluxColumn("x", "uint", unsigned, null, unsigned.length);
  expect([...floatsOfIntegers(column)]).toEqual([...unsigned].map(Number));
});

test("of cells beyond the column's length none", () => {
  const column = new FluxColumn("x", "int", BigInt64Array.of(7n, 8n, 9n), null, 2);
  expect([...floatsOfIntegers(column)]).toEqual([7, 8]);
});
