// Which segments are groups: only those that follow each other in a snapshot, as long as all of them are there.
import { expect, test } from "bun:test";
import type { DictionaryView } from "../../model/rows/dictionary.ts";
import type { Run } from "../../model/rows/run.ts";
import { SegmentGroups } from "./segment-groups.ts";

const DICTIONARY: DictionaryView = { id: 1, seriesCount: 3, tags: [] };
const run = (segment: number | undefined, other: Partial<Run> = {}): Run => ({
  ...{ rowCount: 10, seriesPtr: 0, timePtr: 0, columns: [], dictionary: DICTIONARY, sorted: false, unique: true, segment },
  ...{ minTimeNs: BigInt(segment ?? 0), maxTimeNs: BigInt(segment ?? 0) + 5n, seqMin: segment ?? 0, seqMax: segment ?? 0 },
  ...other,
});
const isFit = ({ segment, unique }: Run) => segment !== undefined && unique;

/** Numbers of segments, those of a group in brackets; "open" for one without a number. */
function shown(groups: SegmentGroups<object>, runs: readonly Run[]): string {
  const name = ({ segment }: Run) => String(segment ?? "open");
  return groups
    .of(runs, isFit)
    .map((each) => ("members" in each ? `[${each.members.map(name).join(" ")}]` : name(each)))
    .join(" ");
}

const list = (...segments: (number | undefined)[]) => segments.map((segment) => run(segment));

test("three in a row are a group, and stay one", () => {
  const groups = new SegmentGroups(3, () => ({}));
  expect(shown(groups, list(1, 2, undefined))).toBe("1 2 open");
  expect(shown(groups, list(1, 2, 3, 4, undefined))).toBe("[1 2 3] 4 open");
  expect(shown(groups, list(1, 2, 3, 4, 5, 6, 7))).toBe("[1 2 3] [4 5 6] 7");
  // some are hidden for this snapshot, and not for the next
  expect(shown(groups, list(2, 3, 4, 5, 6, 7))).toBe("2 3 [4 5 6] 7");
  expect(shown(groups, list(1, 3, 4, 5, 6, 7, 8, 9))).toBe("1 3 [4 5 6] [7 8 9]");
  expect(shown(groups, list(1, 2, 3, 7, 8, 9))).toBe("[1 2 3] [7 8 9]");
  // gone for good
  expect(groups.end(2)).not.toBeNull();
  expect(groups.end(2)).toBeNull();
  expect(groups.end(1)).toBeNull();
  expect(shown(groups, list(3, 4, 5, 6, 7, 8, 9))).toBe("3 [4 5 6] [7 8 9]");
});

test("the same groups for different snapshots", () => {
  const groups = new SegmentGroups(2, () => ({}));
  const of = (runs: readonly Run[]) => groups.of(runs, isFit).map((each) => ("members" in each ? each.of : null));
  const [first] = of(list(1, 2));
  expect(of(list(1, 2, 3, 4))[0]).toBe(first!);
  expect(of(list(1, 2, 3, 4))[1]).not.toBe(first!);
});

test("neither over what does not fit, nor over two dictionaries", () => {
  const groups = new SegmentGroups(2, () => ({}));
  const other = { ...DICTIONARY, id: 2 };
  expect(shown(groups, [run(1), run(2, { unique: false }), run(3), run(4, { dictionary: other }), run(5, { dictionary: other })])).toBe(
    "1 2 3 [4 5]",
  );
  // an eviction in between: segments of a group always share the dictionary
  expect(shown(groups, [run(4), run(5, { dictionary: other })])).toBe("4 5");
});

test("a group has the rows and times of all", () => {
  const groups = new SegmentGroups(3, () => ({}));
  const [group] = groups.of([run(1, { minTimeNs: 3n }), run(2, { maxTimeNs: 90n }), run(3, { minTimeNs: -4n, rowCount: 1 })], isFit);
  expect(group).toMatchObject({ rowCount: 21, minTimeNs: -4n, maxTimeNs: 90n, unique: true, dictionary: DICTIONARY });
});
