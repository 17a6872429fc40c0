// Time ranges that may contain duplicate rows, joined over several batches, segments or blocks.

import { ALL_TIME, type TimeRange } from "../query/scan.ts";
import type { RowFacts } from "./run.ts";
import { intersection, joinNearest, union } from "./time-ranges.ts";

export type Overlaps = Pick<RowFacts, "unique" | "overlaps">;

/** Maximum number of separate ranges: more make scan planning slow. */
const RANGES_MAX = 8;

/** The overlaps of all `parts`, restricted to a range. */
export function joinOverlaps(parts: readonly Overlaps[], within: TimeRange): { unique: boolean; overlaps?: readonly TimeRange[] } {
  const ranges = parts.flatMap(({ unique, overlaps = [within] }) =>
    unique ? [] : overlaps.flatMap((overlap) => intersection(overlap, within) ?? []),
  );
  return ranges.length === 0 ? { unique: true } : { unique: false, overlaps: joinNearest(union(ranges), RANGES_MAX) };
}

/** The overlaps of `known`, and those of rows that may overlap at any of the times `added`: as joinOverlaps, for each small body. */
export function withOverlap(known: Overlaps, added: TimeRange): Overlaps {
  const { unique, overlaps = [ALL_TIME] } = known;
  if (unique) return { unique: false, overlaps: [added] };
  const joined: TimeRange[] = [];
  let { minNs, maxNs } = added;
  let at = 0;
  for (const range of overlaps) {
    if (range.minNs <= added.minNs && range.maxNs >= added.maxNs) return known;
    if (range.maxNs + 1n < minNs) at = joined.push(range);
    else if (range.minNs > maxNs + 1n) joined.push(range);
    else {
      minNs = range.minNs < minNs ? range.minNs : minNs;
      maxNs = range.maxNs > maxNs ? range.maxNs : maxNs;
    }
  }
  joined.splice(at, 0, { minNs, maxNs });
  return { unique: false, overlaps: joinNearest(joined, RANGES_MAX) };
}
