// Times at which rows may be there twice, of several batches, segments or blocks together.

import type { TimeRange } from "../query/scan.ts";
import type { RowFacts } from "./run.ts";
import { intersection, joinNearest, union } from "./time-ranges.ts";

export type Doubts = Pick<RowFacts, "unique" | "doubts">;

/** Ranges of times that are told apart: more make plans of scans long. */
const DOUBTS_MAX = 8;

/** What holds of those rows of all `parts` that lie within a range. */
export function joinDoubts(parts: readonly Doubts[], within: TimeRange): { unique: boolean; doubts?: readonly TimeRange[] } {
  const ranges = parts.flatMap(({ unique, doubts = [within] }) =>
    unique ? [] : doubts.flatMap((doubt) => intersection(doubt, within) ?? []),
  );
  return ranges.length === 0 ? { unique: true } : { unique: false, doubts: joinNearest(union(ranges), DOUBTS_MAX) };
}
