// Sorts row numbers by a key of each row, mostly its time. Rows mostly arrive in ascending stretches, one per series: few are merged, many
// are distributed to buckets of about equal ranges of keys, which takes a tenth of the time for thousands of series.
import { inRange, inSteps, STEP_ROWS, StepCounter, type Steps } from "../steps.ts";

/** What is sorted, with room for as many rows. */
export interface SortedRows {
  readonly rows: Uint32Array;
  readonly scratch: Uint32Array;
  /** By row number; no NaN. */
  readonly keys: Float64Array;
}

/** More ascending stretches are not merged. */
const STRETCHES_MAX = 8;
/** Rows of a bucket, if keys are evenly distributed. */
const BUCKET_ROWS = 4;
const BUCKETS_MAX = 1 << 22;
/** A bucket of so many rows is sorted by insertion. */
const SMALL_BUCKET = 32;
/** Keys that are so unevenly distributed that buckets of buckets have many rows are merged. */
const DEPTH_MAX = 3;

/** Sorts rows[from .. end) by key; stable. Few rows are sorted without a pause. */
export function* sortByKey(sorted: SortedRows, from: number, end: number, depth = 0): Steps<void> {
  const bounds = yield* stretchesOf(sorted, from, end, depth === DEPTH_MAX ? end - from : STRETCHES_MAX);
  if (bounds === null) yield* sortByBuckets(sorted, from, end, depth);
  else if (bounds.length > 2) yield* mergeStretches(sorted, bounds);
}

/** Where ascending stretches begin, and the end; null if there are more than `most`. */
function* stretchesOf({ rows, keys }: SortedRows, from: number, end: number, most: number): Steps<number[] | null> {
  const bounds = [from];
  for (let i = from + 1; i < end; ) {
    const stop = Math.min(end, i + STEP_ROWS);
    for (; i < stop; i++) if (keys[rows[i]!]! < keys[rows[i - 1]!]!) bounds.push(i);
    if (bounds.length > most) return null;
    if (i < end) yield;
  }
  bounds.push(end);
  return bounds;
}

function* sortByBuckets(sorted: SortedRows, from: number, end: number, depth: number): Steps<void> {
  const { rows, scratch, keys } = sorted;
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  yield* inRange(from, end, (start, stop) => {
    for (let i = start; i < stop; i++) {
      const key = keys[rows[i]!]!;
      if (key < least) least = key;
      if (key > greatest) greatest = key;
    }
  });
  const count = Math.min(BUCKETS_MAX, Math.ceil((end - from) / BUCKET_ROWS));
  const last = count - 1;
  const scale = count / (greatest - least);
  // by bucket: the number of its rows, then its start, then its end
  const places = new Uint32Array(count);
  yield* inRange(from, end, (start, stop) => {
    for (let i = start; i < stop; i++) places[Math.min(last, Math.floor((keys[rows[i]!]! - least) * scale))]!++;
  });
  let start = from;
  yield* inSteps(count, (first, stop) => {
    for (let bucket = first; bucket < stop; bucket++) {
      const own = places[bucket]!;
      places[bucket] = start;
      start += own;
    }
  });
  yield* inRange(from, end, (first, stop) => {
    for (let i = first; i < stop; i++) {
      const row = rows[i]!;
      scratch[places[Math.min(last, Math.floor((keys[row]! - least) * scale))]!++] = row;
    }
  });
  yield* copyRows(scratch, rows, from, end);
  // rows, not buckets: keys that crowd in one place leave most buckets empty
  const sortedRows = new StepCounter();
  for (let bucket = 0, first = from; bucket < count; bucket++) {
    const stop = places[bucket]!;
    if (sortedRows.isDue(1 + stop - first)) yield;
    if (stop - first > SMALL_BUCKET) yield* sortByKey(sorted, first, stop, depth + 1);
    else insertByKey(rows, keys, first, stop);
    first = stop;
  }
}

function copyRows(source: Uint32Array, target: Uint32Array, from: number, end: number): Steps<void> {
  return inRange(from, end, (start, stop) => target.set(source.subarray(start, stop), start));
}

function insertByKey(rows: Uint32Array, keys: Float64Array, from: number, end: number): void {
  for (let i = from + 1; i < end; i++) {
    const row = rows[i]!;
    const key = keys[row]!;
    let at = i;
    for (; at > from && keys[rows[at - 1]!]! > key; at--) rows[at] = rows[at - 1]!;
    rows[at] = row;
  }
}

/** Merges ascending stretches: `bounds` are their starts, and the end. */
function* mergeStretches({ rows, scratch, keys }: SortedRows, ascending: readonly number[]): Steps<void> {
  const from = ascending[0]!;
  const end = ascending.at(-1)!;
  let bounds = ascending;
  let source = rows;
  let target = scratch;
  while (bounds.length > 2) {
    const merged = [from];
    let done = from;
    for (let run = 0; run < bounds.length - 1; run += 2) {
      const start = bounds[run]!;
      const middle = bounds[run + 1]!;
      const stop = bounds[run + 2] ?? middle;
      yield* mergeTwo(source, target, { start, middle, stop }, keys);
      merged.push(stop);
      if (stop - done < STEP_ROWS) continue;
      done = stop;
      yield;
    }
    bounds = merged;
    [source, target] = [target, source];
  }
  if (source !== rows) yield* copyRows(source, rows, from, end);
}

interface TwoRuns {
  readonly start: number;
  readonly middle: number;
  readonly stop: number;
}

/** Yields only during long merges. */
function* mergeTwo(source: Uint32Array, target: Uint32Array, { start, middle, stop }: TwoRuns, keys: Float64Array): Steps<void> {
  let [left, right, at] = [start, middle, start];
  while (left < middle && right < stop) {
    const pause = at + STEP_ROWS;
    while (left < middle && right < stop && at < pause) {
      const a = source[left]!;
      const b = source[right]!;
      if (keys[b]! < keys[a]!) {
        target[at++] = b;
        right++;
      } else {
        target[at++] = a;
        left++;
      }
    }
    if (at === pause) yield;
  }
  target.set(source.subarray(left, middle), at);
  target.set(source.subarray(right, stop), at + middle - left);
}
