// The merge plan: hand-made overlaps, and a comparison with components that are joined pair by pair.
import { describe, expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { planMerges, type RunSummary } from "./scan-plan.ts";

/** [begin, end, "u"nique or "m"arked, and "s" when sorted] */
type Short = [begin: number, end: number, flags: "u" | "m" | "us" | "ms"];

const summary = ([begin, end, flags]: Short): RunSummary => ({
  minTimeNs: BigInt(begin),
  maxTimeNs: BigInt(end),
  unique: flags.startsWith("u"),
  sorted: flags.endsWith("s"),
});

const PLANS: [what: string, runs: Short[], alone: number[], groups: number[][]][] = [
  ["nothing", [], [], []],
  [
    "unique runs are read alone, however they overlap",
    [
      [0, 10, "u"],
      [5, 15, "us"],
      [0, 10, "u"],
    ],
    [0, 1, 2],
    [],
  ],
  ["a marked run alone is merged with itself", [[0, 10, "m"]], [], [[0]]],
  ["unless it is sorted", [[0, 10, "ms"]], [0], []],
  [
    "a marked run takes what it overlaps, earlier or later",
    [
      [0, 10, "u"],
      [10, 20, "m"],
      [20, 30, "u"],
      [31, 40, "u"],
    ],
    [3],
    [[0, 1, 2]],
  ],
  [
    "touching ends overlap, the next nanosecond does not",
    [
      [0, 9, "us"],
      [10, 20, "ms"],
      [21, 30, "us"],
    ],
    [0, 1, 2],
    [],
  ],
  [
    "a unique run links two marked ones",
    [
      [0, 10, "m"],
      [5, 50, "u"],
      [45, 60, "m"],
      [100, 110, "m"],
    ],
    [],
    [[0, 1, 2], [3]],
  ],
  [
    "a short unique run inside does not hide a long one",
    [
      [0, 100, "u"],
      [1, 2, "m"],
      [3, 4, "u"],
      [90, 95, "m"],
    ],
    [2],
    [[0, 1, 3]],
  ],
];

describe("planMerges", () => {
  test.each(PLANS)("%s", (_, runs, alone, groups) => {
    const plan = planMerges(runs.map(summary));
    expect([plan.alone.toSorted(), plan.groups.toSorted((a, b) => a[0]! - b[0]!)]).toEqual([alone, groups]);
  });

  test.each([1, 2, 3, 4, 5])("agrees with components found pair by pair, seed %i", (seed) => {
    const below = prng(seed);
    for (let round = 0; round < 200; round++) {
      const runs = Array.from({ length: below(14) }, () => {
        const begin = below(60) - 30;
        return summary([begin, begin + below(12), (["u", "u", "m", "us", "ms"] as const)[below(5)]!]);
      });
      const plan = planMerges(runs);
      expect([...plan.alone, ...plan.groups.flat()].toSorted((a, b) => a - b)).toEqual(runs.map((_, i) => i));
      const partOf = (i: number) => plan.groups.findIndex((group) => group.includes(i));
      const expected = components(runs);
      runs.forEach((run, i) => {
        if (expected[i]!.size === 1 && (run.unique || run.sorted)) expect(plan.alone).toContain(i);
        else expect(new Set(plan.groups[partOf(i)])).toEqual(expected[i]!);
      });
    }
  });
});

/** The component of each run, by repeated joining. */
function components(runs: readonly RunSummary[]): Set<number>[] {
  const parts = runs.map((_, i) => new Set([i]));
  for (let changed = true; changed; ) {
    changed = false;
    for (let a = 0; a < runs.length; a++) {
      for (let b = 0; b < runs.length; b++) {
        const [x, y] = [runs[a]!, runs[b]!];
        const overlap = x.minTimeNs <= y.maxTimeNs && y.minTimeNs <= x.maxTimeNs;
        if (!overlap || (x.unique && y.unique) || parts[a] === parts[b]) continue;
        const joined = new Set([...parts[a]!, ...parts[b]!]);
        for (const i of joined) parts[i] = joined;
        changed = true;
      }
    }
  }
  return parts;
}
