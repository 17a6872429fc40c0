// Ranges of times beside the sets of times that they are.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { ALL_TIME, type TimeRange } from "../query/scan.ts";
import { intersection, joinNearest, overlaps, union } from "./time-ranges.ts";

const range = ([min, max]: readonly [number, number]): TimeRange => ({ minNs: BigInt(min), maxNs: BigInt(max) });
const timesOf = (ranges: readonly TimeRange[]) => {
  const times = new Set<bigint>();
  for (const { minNs, maxNs } of ranges) for (let time = minNs; time <= maxNs; time++) times.add(time);
  return times;
};
const areApart = (ranges: readonly TimeRange[]) => ranges.every(({ minNs }, i) => i === 0 || minNs > ranges[i - 1]!.maxNs + 1n);

test.each([1, 2, 3, 4])("like sets, seed %i", (seed) => {
  const below = prng(seed);
  for (let round = 0; round < 200; round++) {
    const ranges = Array.from({ length: below(8) }, () => {
      const min = below(60) - 30;
      return range([min, min + below(6)]);
    });
    const all = union(ranges);
    expect(areApart(all)).toBe(true);
    expect([...timesOf(all)].sort()).toEqual([...timesOf(ranges)].sort());
    const few = joinNearest(all, 1 + below(4));
    expect(areApart(few)).toBe(true);
    expect([...timesOf(all)].every((time) => timesOf(few).has(time))).toBe(true);
    const [a, b] = [ranges[0], ranges[1]];
    if (a === undefined || b === undefined) continue;
    const shared = [...timesOf([a])].filter((time) => timesOf([b]).has(time));
    const found = intersection(a, b);
    expect([...timesOf(found === null ? [] : [found])]).toEqual(shared);
    expect(overlaps(a, b)).toBe(shared.length > 0);
  }
});

describe("joinNearest", () => {
  const CASES: [ranges: [number, number][], countMax: number, joined: [number, number][]][] = [
    [[], 1, []],
    [
      [
        [0, 1],
        [5, 6],
      ],
      2,
      [
        [0, 1],
        [5, 6],
      ],
    ],
    [
      [
        [0, 1],
        [5, 6],
        [8, 9],
      ],
      2,
      [
        [0, 1],
        [5, 9],
      ],
    ],
    [
      [
        [0, 1],
        [5, 6],
        [8, 9],
      ],
      1,
      [[0, 9]],
    ],
    // of equal gaps the first stays
    [
      [
        [0, 0],
        [2, 2],
        [4, 4],
      ],
      2,
      [
        [0, 0],
        [2, 4],
      ],
    ],
  ];
  test.each(CASES)("%p to %i", (ranges, countMax, joined) => {
    expect(joinNearest(ranges.map(range), countMax)).toEqual(joined.map(range));
  });
});

test("union and intersection with all of time", () => {
  expect(union([ALL_TIME, range([1, 2])])).toEqual([ALL_TIME]);
  expect(intersection(ALL_TIME, range([1, 2]))).toEqual(range([1, 2]));
});
