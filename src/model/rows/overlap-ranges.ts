// Time ranges that may contain duplicate rows, joined over several batches, segments or blocks.

import type { TimeRange } from "../query/scan.ts";
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
