// A scan's runs cut by time: when duplicates are possible the runs that hold them are merged, at all other times each is read as it lies. A
// late minute of rows costs a merge of that minute, not of the day that it falls into.
import type { Run } from "../model/run.ts";
import type { TimeRange } from "../model/scan.ts";

/** What the plan depends on. A sorted run has no duplicates within itself. */
export type RunSummary = Pick<Run, "minTimeNs" | "maxTimeNs" | "unique" | "sorted">;

/** A run read as it lies, but for some times within. */
export interface AlonePart {
  /** In the list that was planned. */
  readonly index: number;
  readonly range: TimeRange;
  /** Ascending, within `range` and apart from each other: times that are merged. */
  readonly except: readonly TimeRange[];
}

export interface MergeSlice {
  readonly range: TimeRange;
  /** Indices of all runs that overlap the range, ascending. One alone holds duplicates within itself. */
  readonly members: readonly number[];
}

/** Of every run each row within the planned range is in exactly one part or slice. */
export interface SlicePlan {
  readonly alone: readonly AlonePart[];
  /** Ascending and apart from each other. */
  readonly merges: readonly MergeSlice[];
}

/** A merge has a price of its own, and reads the pages of a block that spans all slices once for each. */
const MERGES_MAX = 64;

/** Runs collide at a time at which two overlap of which one is marked (not unique), or at which a marked one is that is not sorted and so
 *  may have duplicates within itself. Equal series and times are thus in one merge slice, whatever runs they come from. Where more than
 *  `mergesMax` slices would result, those with the shortest gaps between them are joined. */
export function planSlices(runs: readonly RunSummary[], range: TimeRange, mergesMax = MERGES_MAX): SlicePlan {
  const clipped = runs.map((run) => clip(run, range));
  const slices = joinNearest(collisions(runs, clipped), mergesMax);
  const alone = clipped.flatMap((part, index) => (part === null ? [] : (without(part, slices, index) ?? [])));
  const merges = slices.map((slice) => ({
    range: slice,
    members: clipped.flatMap((part, index) => (part !== null && overlaps(part, slice) ? [index] : [])),
  }));
  return { alone, merges };
}

/** Null: nothing of the run lies within. */
function clip({ minTimeNs, maxTimeNs }: RunSummary, { minNs, maxNs }: TimeRange): TimeRange | null {
  const clipped = { minNs: minTimeNs > minNs ? minTimeNs : minNs, maxNs: maxTimeNs < maxNs ? maxTimeNs : maxNs };
  return clipped.minNs <= clipped.maxNs ? clipped : null;
}

function overlaps(a: TimeRange, b: TimeRange): boolean {
  return a.minNs <= b.maxNs && a.maxNs >= b.minNs;
}

/** A run that begins (+1), or has ended the nanosecond before (-1). */
interface Event {
  readonly atNs: bigint;
  readonly step: 1 | -1;
  readonly run: RunSummary;
}

/** The longest ranges of times at which runs collide, ascending. */
function collisions(runs: readonly RunSummary[], clipped: readonly (TimeRange | null)[]): TimeRange[] {
  if (runs.every(({ unique }) => unique)) return [];
  const events = clipped.flatMap((part, i): Event[] => {
    if (part === null) return [];
    const run = runs[i]!;
    return [
      { atNs: part.minNs, step: 1, run },
      { atNs: part.maxNs + 1n, step: -1, run },
    ];
  });
  events.sort((a, b) => (a.atNs < b.atNs ? -1 : a.atNs > b.atNs ? 1 : 0));
  const found: TimeRange[] = [];
  const active = { all: 0, marked: 0, unsorted: 0 };
  let beginNs: bigint | null = null;
  for (const [i, { atNs, step, run }] of events.entries()) {
    active.all += step;
    if (!run.unique) active.marked += step;
    if (!run.unique && !run.sorted) active.unsorted += step;
    // what begins and ends at one time is judged together
    if (events[i + 1]?.atNs === atNs) continue;
    const collide = active.unsorted > 0 || (active.marked > 0 && active.all > 1);
    if (collide) beginNs ??= atNs;
    else if (beginNs !== null) {
      found.push({ minNs: beginNs, maxNs: atNs - 1n });
      beginNs = null;
    }
  }
  return found;
}

/** At most `countMax` ranges: the largest gaps stay. */
function joinNearest(ranges: readonly TimeRange[], countMax: number): TimeRange[] {
  if (ranges.length <= countMax) return [...ranges];
  const gapBefore = (i: number) => ranges[i]!.minNs - ranges[i - 1]!.maxNs;
  const gaps = ranges.map((_, i) => i).slice(1);
  gaps.sort((a, b) => (gapBefore(a) > gapBefore(b) ? -1 : gapBefore(a) < gapBefore(b) ? 1 : a - b));
  const begins = [0, ...gaps.slice(0, countMax - 1).toSorted((a, b) => a - b)];
  return begins.map((first, i) => ({ minNs: ranges[first]!.minNs, maxNs: ranges[(begins[i + 1] ?? ranges.length) - 1]!.maxNs }));
}

/** What slices leave of a run; null when they take all of it. */
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
