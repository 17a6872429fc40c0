// Cuts the runs of a scan by time: where duplicates are possible, the runs involved are merged; at all other times, each run is read in
// place. A late minute of rows costs a merge of that minute, not of the day it belongs to.

import type { TimeRange } from "../../model/query/scan.ts";
import type { Run } from "../../model/rows/run.ts";
import { intersection, joinNearest, overlaps } from "../../model/rows/time-ranges.ts";

/** The properties that the plan depends on. A sorted run has no duplicates within itself. */
export type RunSummary = Pick<Run, "minTimeNs" | "maxTimeNs" | "unique" | "overlaps" | "sorted">;

/** A run read in place, except for some time ranges. */
export interface AlonePart {
  /** Index in the list of runs. */
  readonly index: number;
  readonly range: TimeRange;
  /** Time ranges that are merged instead: ascending, disjoint, within `range`. */
  readonly except: readonly TimeRange[];
}

export interface MergeSlice {
  readonly range: TimeRange;
  /** Indices of all runs that overlap the range, ascending. A single member has duplicates within itself. */
  readonly members: readonly number[];
}

/** Each row of a run within the planned range is in exactly one part or slice. */
export interface SlicePlan {
  readonly alone: readonly AlonePart[];
  /** Ascending and disjoint. */
  readonly merges: readonly MergeSlice[];
}

/** Every merge has a fixed cost, and reads a page once for each slice that overlaps it. */
const MERGES_MAX = 64;

/** Plans the scan. A run that is not unique has overlap ranges; without a list, its whole range is one. Runs collide at a time that two
 *  of them cover if one has an overlap range there, or in an overlap range of an unsorted run, which may have duplicates within itself.
 *  Rows with equal series and time are therefore in one merge slice, whichever runs they are in. If more than `mergesMax` slices would
 *  result, those with the shortest gaps between them are joined. */
export function planSlices(runs: readonly RunSummary[], range: TimeRange, mergesMax = MERGES_MAX): SlicePlan {
  const clipped = runs.map(({ minTimeNs, maxTimeNs }) => intersection({ minNs: minTimeNs, maxNs: maxTimeNs }, range));
  const slices = joinNearest(collisions(runs, clipped), mergesMax);
  const alone = clipped.flatMap((part, index) => (part === null ? [] : (without(part, slices, index) ?? [])));
  const merges = slices.map((slice) => ({
    range: slice,
    members: clipped.flatMap((part, index) => (part !== null && overlaps(part, slice) ? [index] : [])),
  }));
  return { alone, merges };
}

/** The kind of range that starts or ends at an event. */
type Kind = "run" | "overlap" | "unsorted overlap";

/** A range starts (+1), or has ended one nanosecond earlier (-1). */
interface Event {
  readonly atNs: bigint;
  readonly step: 1 | -1;
  readonly kind: Kind;
}

function eventsOf(run: RunSummary, clipped: TimeRange): Event[] {
  const between = ({ minNs, maxNs }: TimeRange, kind: Kind): Event[] => [
    { atNs: minNs, step: 1, kind },
    { atNs: maxNs + 1n, step: -1, kind },
  ];
  const events = between(clipped, "run");
  if (run.unique) return events;
  const kind = run.sorted ? "overlap" : "unsorted overlap";
  for (const overlap of run.overlaps ?? [clipped]) {
    const range = intersection(overlap, clipped);
    if (range !== null) events.push(...between(range, kind));
  }
  return events;
}

/** The maximal time ranges in which runs collide, ascending. */
function collisions(runs: readonly RunSummary[], clipped: readonly (TimeRange | null)[]): TimeRange[] {
  if (runs.every(({ unique }) => unique)) return [];
  const events = clipped.flatMap((part, i) => (part === null ? [] : eventsOf(runs[i]!, part)));
  events.sort((a, b) => (a.atNs < b.atNs ? -1 : a.atNs > b.atNs ? 1 : 0));
  const found: TimeRange[] = [];
  const active = { run: 0, overlap: 0, "unsorted overlap": 0 };
  let beginNs: bigint | null = null;
  for (const [i, { atNs, step, kind }] of events.entries()) {
    active[kind] += step;
    // evaluate only after all events of one time
    if (events[i + 1]?.atNs === atNs) continue;
    const collide = active["unsorted overlap"] > 0 || (active.overlap > 0 && active.run > 1);
    if (collide) beginNs ??= atNs;
    else if (beginNs !== null) {
      found.push({ minNs: beginNs, maxNs: atNs - 1n });
      beginNs = null;
    }
  }
  return found;
}

/** The part of a run outside the slices; null if they cover all of it. */
function without(part: TimeRange, slices: readonly TimeRange[], index: number): AlonePart | null {
  const except: TimeRange[] = [];
  let { minNs, maxNs } = part;
  for (const slice of slices) {
    if (!overlaps(slice, { minNs, maxNs })) continue;
    if (slice.minNs <= minNs) minNs = slice.maxNs + 1n;
    else if (slice.maxNs >= maxNs) maxNs = slice.minNs - 1n;
    else except.push(slice);
    if (minNs > maxNs) return null;
  }
  return { index, range: { minNs, maxNs }, except };
}
