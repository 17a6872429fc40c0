// Orders of equal items, from `sort.Slice` of Go 1.26.
import { expect, test } from "bun:test";
import { sortSeries } from "./series-sort.ts";

interface Item {
  readonly key: number;
  readonly index: number;
}

function sorted(count: number, keyOf: (i: number) => number): Item[] {
  const items = Array.from({ length: count }, (_, index) => ({ key: keyOf(index), index }));
  sortSeries(items, (a, b) => a.key < b.key);
  return items;
}

/** The order of the items as a number. */
function orderOf(items: readonly number[]): number {
  return items.reduce((sum, index, position) => (sum * 31 + index + position) % 1_000_003, 0);
}

test("keeps the order of up to twelve", () => {
  expect(sorted(12, (i) => i % 2).map(({ index }) => index)).toEqual([0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11]);
});

test("keeps the order of items with one key", () => {
  expect(sorted(40, () => 1).map(({ index }) => index)).toEqual(Array.from({ length: 40 }, (_, i) => i));
});

test("twenty items of three keys", () => {
  const order = [9, 18, 15, 3, 12, 0, 6, 10, 7, 4, 13, 16, 1, 19, 8, 5, 11, 14, 2, 17];
  expect(sorted(20, (i) => (i * 7) % 3).map(({ index }) => index)).toEqual(order);
});

test.each([
  ["few keys", 60, (i: number) => (i * 31) % 4, 932_531],
  ["backwards", 60, (i: number) => 60 - i, 889_920],
  ["up and down", 200, (i: number) => (i % 2 === 0 ? i : 200 - i) % 6, 224_877],
  ["many of few keys", 1000, (i: number) => (i * 7919) % 17, 668_444],
  ["many of many keys", 3000, (i: number) => (i * 104_729) % 1000, 155_625],
])("%s", (_, count, keyOf, order) => {
  const items = sorted(count, keyOf);
  expect(orderOf(items.map(({ index }) => index))).toBe(order);
  expect(items.every(({ key }, i) => i === 0 || items[i - 1]!.key <= key)).toBe(true);
});

// McIlroy, "A Killer Adversary for Quicksort" (1999): keys are chosen while they are compared, so that each partition is as bad as can be.
test("an adversary leads to heapsort", () => {
  const count = 500;
  const keys = new Array<number>(count).fill(count);
  const ids = keys.map((_, i) => i);
  let solid = 0;
  let candidate = 0;
  sortSeries(ids, (x, y) => {
    if (keys[x] === count && keys[y] === count) keys[x === candidate ? x : y] = solid++;
    if (keys[x] === count) candidate = x;
    else if (keys[y] === count) candidate = y;
    return keys[x]! < keys[y]!;
  });
  expect(orderOf(ids)).toBe(959265);
  expect(orderOf(sorted(count, (i) => keys[i]! >> 1).map(({ index }) => index))).toBe(644502);
});
