// Times at which rows may be there twice, of several batches, segments or blocks together.

import type { TimeRange } from "../query/scan.ts";
import type { RowFacts } from "./run.ts";
import { intersection, joinNearest, union } from "./time-ranges.ts";

export type Overlaps = Pick<RowFacts, "unique" | "overlaps">;

/** Ranges of times that are told apart: more make plans of scans long. */
const RANGES_MAX = 8;

/** What holds of those rows of all `parts` that lie within a range. */
export function joinOverlaps(parts: readonly Overlaps[], within: TimeRange): { unique: boolean; overlaps?: readonly TimeRange[] } {
  const ranges = parts.flatMap(({ unique, overlaps = [within] }) =>
    unique ? [] : overlaps.flatMap((overlap) => intersection(overlap, within) ?? []),
  );
  return ranges.length === 0 ? { unique: true } : { unique: false, overlaps: joinNearest(union(ranges), RANGES_MAX) };
}
