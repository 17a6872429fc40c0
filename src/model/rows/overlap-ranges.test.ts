// Facts of rows of several parts: unique, or the times at which a part may have two rows of one series and time.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { ALL_TIME } from "../query/scan.ts";
import { joinOverlaps, type Overlaps, withOverlap } from "./overlap-ranges.ts";

const range = (min: number, max: number) => ({ minNs: BigInt(min), maxNs: BigInt(max) });
const all: Overlaps = { unique: false };
const of = (...ranges: [number, number][]): Overlaps => ({ unique: false, overlaps: ranges.map(([min, max]) => range(min, max)) });
const none: Overlaps = { unique: true };
const many = Array.from({ length: 10 }, (_, i): [number, number] => [i * i, i * i]);

const CASES: [what: string, parts: Overlaps[], within: [number, number], joined: Overlaps][] = [
  ["no part", [], [0, 9], none],
  ["unique parts alone", [none, none], [0, 9], none],
  ["a part that may overlap at any time", [none, all], [0, 9], of([0, 9])],
  ["a part that overlaps outside the range", [of([10, 20])], [0, 9], none],
  ["overlaps cut to the range", [of([5, 20]), none, of([1, 2])], [0, 9], of([1, 2], [5, 9])],
  ["overlapping and touching", [of([5, 6]), of([6, 7], [9, 9]), of([3, 4])], [0, 9], of([3, 7], [9, 9])],
  ["more than are told apart: those with the shortest gaps are joined", [of(...many)], [0, 99], of([0, 4], ...many.slice(3))],
];
test.each(CASES)("joinOverlaps: %s", (_, parts, [min, max], joined) => {
  expect(joinOverlaps(parts, range(min, max))).toEqual(joined as ReturnType<typeof joinOverlaps>);
});

/** The same from every single time: as long as there are too many ranges, the shortest gap goes, of several the last. */
function cover(times: ReadonlySet<number>): [number, number][] {
  const ranges: [number, number][] = [];
  for (const time of [...times].toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.[1] === time - 1) last[1] = time;
    else ranges.push([time, time]);
  }
  while (ranges.length > 8) {
    const gaps = ranges.slice(1).map(([min], i) => min - ranges[i]![1]);
    const shortest = gaps.lastIndexOf(Math.min(...gaps));
    ranges.splice(shortest, 2, [ranges[shortest]![0], ranges[shortest + 1]![1]]);
  }
  return ranges;
}

test("one range after the other: all times are in at most eight ranges, those far apart in ranges of their own", () => {
  const below = prng(7);
  for (let round = 0; round < 300; round++) {
    let known: Overlaps = below(8) === 0 ? all : none;
    const times = new Set<number>();
    for (let step = 0; step < 30; step++) {
      const first = below(200);
      const added = range(first, first + below(below(4) === 0 ? 40 : 3));
      const joined = joinOverlaps([known, { unique: false, overlaps: [added] }], ALL_TIME);
      const before = known;
      known = withOverlap(known, added);
      expect(known.unique ? [] : (known.overlaps ?? [ALL_TIME])).toEqual(joined.overlaps as never);
      if (before === all) break;
      for (let time = Number(added.minNs); time <= Number(added.maxNs); time++) times.add(time);
      const expected = cover(times);
      expect(known).toEqual(of(...expected));
      for (const [min, max] of expected) for (let time = min; time <= max; time++) times.add(time);
    }
  }
});
