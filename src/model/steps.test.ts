// Sorting in steps against the runtime's own sort: short and long lists, equal values, what is no number; and that there are pauses.
import { expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { finish, inRange, STEP_ROWS, sortInSteps, sortTexts, sortValues } from "./steps.ts";

const below = prng(1);
const COUNTS = [0, 1, 2, 1023, 1024, 1025, 5000, 3 * STEP_ROWS + 1];

test.each(COUNTS)("%i values", (count) => {
  const floats = Float64Array.from({ length: count }, () => (below(50) === 0 ? Number.NaN : below(1000) - 500));
  const integers = BigInt64Array.from({ length: count }, () => BigInt(below(1000)) - 500n);
  for (const values of [floats, integers]) {
    const wanted = values.toSorted();
    finish(sortValues(values));
    expect(Array.from<number | bigint>(values)).toEqual(Array.from<number | bigint>(wanted));
  }
});

// the last two stand in the other order by code units; in the third kind only some of the sorted parts have them
test.each([
  ["digits", ""],
  ["characters of all planes", "é日\uffee\u{1f600}"],
  ["one of each", "\0"],
])("texts of %s are in the order of their bytes", (_, more) => {
  const characters = [..."012", ...more];
  for (const count of COUNTS) {
    const texts = Array.from({ length: count }, () => Array.from({ length: 4 }, () => characters[below(characters.length)]).join(""));
    if (more === "\0") texts.splice(0, 2, ...["\u{1f600}", "\uffee"].slice(0, count));
    const wanted = texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    finish(sortTexts(texts));
    expect(texts).toEqual(wanted);
  }
});

test.each(COUNTS)("%i rows; equal ones stay as they lie", (count) => {
  const keys = Array.from({ length: count }, () => below(100));
  const rows = Uint32Array.from({ length: count }, (_, row) => row);
  finish(sortInSteps(rows, (a, b) => keys[a]! - keys[b]!));
  expect(Array.from(rows)).toEqual(Array.from(keys.keys()).sort((a, b) => keys[a]! - keys[b]! || a - b));
});

test("a range is covered once, with a pause between steps", () => {
  const seen: [number, number][] = [];
  const steps = inRange(5, 5 + 2 * STEP_ROWS + 7, (from, to) => seen.push([from, to]));
  const pauses = Array.from(steps).length;
  const first = 5 + STEP_ROWS;
  expect(seen).toEqual([
    [5, first],
    [first, first + STEP_ROWS],
    [first + STEP_ROWS, first + STEP_ROWS + 7],
  ]);
  expect(pauses).toBe(2);
  expect(Array.from(inRange(3, 3, () => seen.push([0, 0])))).toEqual([]);
});
