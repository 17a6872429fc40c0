// Windows at an end of a range, counted by hand.
import { expect, test } from "bun:test";
import { END_WINDOWS, endWindows } from "./end-windows.ts";

/** Rows by window, the others have none. */
function rowsIn(counts: Readonly<Record<number, number>>): Float64Array {
  const rows = new Float64Array(END_WINDOWS);
  for (const [window, count] of Object.entries(counts)) rows[Number(window)] = count;
  return rows;
}

const both = (counts: Readonly<Record<number, number>>) => ({ most: rowsIn(counts), least: rowsIn(counts) });

test.each([
  ["no groups", [], 5, 1, 1],
  ["no rows", [both({})], 5, 1, 1],
  ["enough in the outermost window", [both({ 0: 9, 63: 9 })], 5, 1, 1],
  ["enough in several", [both({ 0: 2, 3: 2, 4: 2, 60: 4, 63: 4 })], 5, 5, 4],
  ["fewer than are wanted", [both({ 10: 1, 20: 1 })], 5, 21, 54],
  ["groups at other places", [both({ 1: 5, 62: 5 }), both({ 30: 5 })], 5, 31, 34],
  ["rows that may not count", [{ most: rowsIn({ 0: 9, 5: 9, 63: 9 }), least: rowsIn({ 5: 9 }) }], 5, 6, 59],
] as const)("%s", (_, groups, count, first, latest) => {
  expect([false, true].map((isLatest) => endWindows(groups, { count, isLatest }))).toEqual([first, latest]);
});
