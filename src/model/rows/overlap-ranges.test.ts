// Facts of rows of several parts: unique, or the times at which a part may have two rows of one series and time.
import { expect, test } from "bun:test";
import { joinOverlaps, type Overlaps } from "./overlap-ranges.ts";

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
