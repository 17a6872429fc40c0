// Operations on time ranges and lists of them.
import type { TimeRange } from "../query/scan.ts";

/** The common part of two ranges; null if there is none. */
export function intersection(a: TimeRange, b: TimeRange): TimeRange | null {
  const shared = { minNs: a.minNs > b.minNs ? a.minNs : b.minNs, maxNs: a.maxNs < b.maxNs ? a.maxNs : b.maxNs };
  return shared.minNs <= shared.maxNs ? shared : null;
}

/** True if the ranges have a time in common. */
export function overlaps(a: TimeRange, b: TimeRange): boolean {
  return a.minNs <= b.maxNs && a.maxNs >= b.minNs;
}

/** The union as ascending ranges that neither overlap nor touch. */
export function union(ranges: readonly TimeRange[]): TimeRange[] {
  const ascending = ranges.toSorted((a, b) => (a.minNs < b.minNs ? -1 : a.minNs > b.minNs ? 1 : 0));
  const apart: TimeRange[] = [];
  for (const range of ascending) {
    const last = apart.at(-1);
    if (last === undefined || range.minNs > last.maxNs + 1n) apart.push(range);
    else if (range.maxNs > last.maxNs) apart[apart.length - 1] = { minNs: last.minNs, maxNs: range.maxNs };
  }
  return apart;
}

/** One range less: the two with the shortest gap are joined, of several the last. */
function joinTwo(ranges: readonly TimeRange[]): TimeRange[] {
  let [index, least] = [1, ranges[1]!.minNs - ranges[0]!.maxNs];
  for (let i = 2; i < ranges.length; i++) {
    const gap = ranges[i]!.minNs - ranges[i - 1]!.maxNs;
    if (gap <= least) [index, least] = [i, gap];
  }
  const joined = { minNs: ranges[index - 1]!.minNs, maxNs: ranges[index]!.maxNs };
  return [...ranges.slice(0, index - 1), joined, ...ranges.slice(index + 1)];
}

/** At most `countMax` ranges that cover `ranges` (ascending, disjoint), keeping the largest gaps. */
export function joinNearest(ranges: readonly TimeRange[], countMax: number): TimeRange[] {
  if (ranges.length <= countMax) return [...ranges];
  if (ranges.length === countMax + 1 && countMax > 1) return joinTwo(ranges);
  const gapBefore = (i: number) => ranges[i]!.minNs - ranges[i - 1]!.maxNs;
  const gaps = ranges.map((_, i) => i).slice(1);
  gaps.sort((a, b) => (gapBefore(a) > gapBefore(b) ? -1 : gapBefore(a) < gapBefore(b) ? 1 : a - b));
  const begins = [0, ...gaps.slice(0, countMax - 1).toSorted((a, b) => a - b)];
  return begins.map((first, i) => ({ minNs: ranges[first]!.minNs, maxNs: ranges[(begins[i + 1] ?? ranges.length) - 1]!.maxNs }));
}
