// What a tombstone hides, and when another makes it needless: every answer compared with rows that are looked at one by one.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { ALL_TIME, type TagPredicate } from "../query/scan.ts";
import { canHide, coverOf, hidesAll, type Tombstone } from "./tombstone.ts";

const TIMES = [0n, 1n, 2n, 3n];
const VALUES = [null, "a", "b"];
/** Every row there can be: two tags, a time, a sequence. */
const ROWS = [1, 2, 3].flatMap((sequence) =>
  TIMES.flatMap((timeNs) => VALUES.flatMap((first) => VALUES.map((second) => ({ sequence, timeNs, tags: [first, second] })))),
);

type Row = (typeof ROWS)[number];

function hides({ sequence, range, tags }: Tombstone, row: Row): boolean {
  if (row.sequence > sequence || row.timeNs < range.minNs || row.timeNs > range.maxNs) return false;
  for (const { columnId, values } of tags) if (!values.includes(row.tags[columnId - 1]!)) return false;
  return true;
}

function randomTombstone(below: (n: number) => number, id: number): Tombstone {
  const minNs = BigInt(below(4));
  const tags: TagPredicate[] = [1, 2].flatMap((columnId) => {
    return below(2) === 0 ? [] : [{ columnId, values: VALUES.filter(() => below(3) > 0) }];
  });
  return { id, tableId: 1, sequence: 1 + below(3), range: { minNs, maxNs: minNs + BigInt(below(4)) }, tags };
}

describe("tombstones", () => {
  test("a tombstone that covers another hides all that the other hides, seed 1", () => {
    const below = prng(1);
    let covered = 0;
    for (let i = 0; i < 3000; i++) {
      const [later, earlier] = [randomTombstone(below, 2), randomTombstone(below, 1)];
      if (!coverOf(later)(earlier)) continue;
      covered++;
      for (const row of ROWS) if (hides(earlier, row)) expect(hides(later, row)).toBe(true);
    }
    expect(covered).toBeGreaterThan(100);
  });

  const AT = { id: 7, tableId: 1, sequence: 10, range: { minNs: 5n, maxNs: 9n }, tags: [] };
  const EARLIER: [why: string, earlier: Partial<Tombstone>, later: Partial<Tombstone>, covered: boolean][] = [
    ["the same again", {}, {}, true],
    ["a longer range", {}, { range: { minNs: 4n, maxNs: 9n } }, true],
    ["a shorter range", {}, { range: { minNs: 5n, maxNs: 8n } }, false],
    ["an earlier sequence", {}, { sequence: 9 }, false],
    ["fewer predicates", { tags: [{ columnId: 1, values: ["a"] }] }, {}, true],
    ["more predicates", {}, { tags: [{ columnId: 1, values: ["a"] }] }, false],
    ["more values", { tags: [{ columnId: 1, values: ["a"] }] }, { tags: [{ columnId: 1, values: [null, "a"] }] }, true],
    ["absent is a value", { tags: [{ columnId: 1, values: [null] }] }, { tags: [{ columnId: 1, values: ["a"] }] }, false],
    ["another column", { tags: [{ columnId: 1, values: ["a"] }] }, { tags: [{ columnId: 2, values: ["a"] }] }, false],
  ];
  test.each(EARLIER)("covers: %s", (_, earlier, later, covered) => {
    expect(coverOf({ ...AT, id: 8, ...later })({ ...AT, ...earlier })).toBe(covered);
  });

  const PARTS: [why: string, part: Partial<Parameters<typeof canHide>[1]>, can: boolean][] = [
    ["rows wholly before the deletion", {}, true],
    ["a row after the deletion", { seqMax: 11 }, false],
    ["ends as the range begins", { minTimeNs: 0n, maxTimeNs: 5n }, true],
    ["ends before the range", { minTimeNs: 0n, maxTimeNs: 4n }, false],
    ["begins as the range ends", { minTimeNs: 9n, maxTimeNs: 20n }, true],
    ["begins after the range", { minTimeNs: 10n, maxTimeNs: 20n }, false],
    ["earlier tombstones applied", { appliedTombstone: 6 }, true],
    ["this one applied", { appliedTombstone: 7 }, false],
  ];
  test.each(PARTS)("canHide: %s", (_, part, can) => {
    expect(canHide(AT, { minTimeNs: 0n, maxTimeNs: 20n, seqMax: 10, ...part })).toBe(can);
  });

  test("hidesAll: all of time and every series", () => {
    const all = { ...AT, range: ALL_TIME };
    expect(hidesAll(all)).toBe(true);
    expect(hidesAll({ ...all, tags: [{ columnId: 1, values: ["a"] }] })).toBe(false);
    expect(hidesAll({ ...all, range: { ...ALL_TIME, maxNs: ALL_TIME.maxNs - 1n } })).toBe(false);
    expect(hidesAll({ ...all, range: { ...ALL_TIME, minNs: ALL_TIME.minNs + 1n } })).toBe(false);
  });
});
