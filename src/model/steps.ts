// Splits long work into steps, so that its driver can run other statements in between, and cancel it. All loops over rows, windows, series
// and the like whose length a statement determines use these helpers; test/tsdbql/steps.long.test.ts counts the work between two pauses.
import { compareTexts, needComparison } from "./rows/text-order.ts";

/** Work that pauses at each `yield`, typically every few tenths of a millisecond. */
export type Steps<T> = Generator<void, T, void>;

/** Rows, or items of similar cost, per step. */
export const STEP_ROWS = 8192;
/** Rows sorted without a pause. */
const SORT_ROWS = 1024;

/** Runs all steps without pausing. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Calls `body` with consecutive ranges [from, to) up to `count`; short work does not pause. */
export function inSteps(count: number, body: (from: number, to: number) => void): Steps<void> {
  return inRange(0, count, body);
}

/** The same for [start, end). */
export function* inRange(start: number, end: number, body: (from: number, to: number) => void): Steps<void> {
  for (let from = start; from < end; from += STEP_ROWS) {
    if (from > start) yield;
    body(from, Math.min(end, from + STEP_ROWS));
  }
}

/** True if a row-by-row loop should pause after row `i`. */
export function isPause(i: number): boolean {
  return i % STEP_ROWS === STEP_ROWS - 1;
}

/** Counts work that consists of many small parts; the caller yields when `isDue` returns true. */
export class StepCounter {
  private done = 0;

  /** Adds work, in rows. Returns true when a pause is due. */
  isDue(rowCount: number): boolean {
    this.done += rowCount;
    if (this.done < STEP_ROWS) return false;
    this.done = 0;
    return true;
  }
}

/** Sorts row numbers in place; stable. */
export function* sortInSteps(rows: Uint32Array, compare: (a: number, b: number) => number): Steps<void> {
  for (let from = 0; from < rows.length; from += SORT_ROWS) {
    if (from > 0) yield;
    rows.subarray(from, from + SORT_ROWS).sort(compare);
  }
  yield* mergeSorted(rows, new Uint32Array(rows.length > SORT_ROWS ? rows.length : 0), (a, b) => compare(a, b) <= 0);
}

type Sortable = Float64Array | BigInt64Array | BigUint64Array;

/** Sorts values in place, NaN last. */
export function* sortValues(values: Sortable): Steps<void> {
  for (let from = 0; from < values.length; from += SORT_ROWS) {
    if (from > 0 && from % STEP_ROWS === 0) yield;
    values.subarray(from, from + SORT_ROWS).sort();
  }
  if (values.length <= SORT_ROWS) return;
  const target = values.slice();
  if (values instanceof Float64Array) {
    const isNumber = (value: number) => !Number.isNaN(value);
    yield* mergeSorted(values, target as Float64Array, (a, b) => !(b < a) && (isNumber(a) || !isNumber(b)));
  } else yield* mergeSorted(values as BigInt64Array, target as BigInt64Array, (a, b) => a <= b);
}

/** Sorts texts by `compareTexts`. */
export function* sortTexts(texts: string[]): Steps<void> {
  const parts: string[][] = [];
  let isByUnits = true;
  for (let from = 0; from < texts.length; from += SORT_ROWS) {
    if (from > 0) yield;
    const part = texts.slice(from, from + SORT_ROWS);
    // without a function the runtime compares code units, and takes a tenth of the time
    const needs = needComparison(part);
    if (needs) isByUnits = false;
    parts.push(needs ? part.sort(compareTexts) : part.sort());
  }
  if (parts.length <= 1) {
    for (let i = 0; i < texts.length; i++) texts[i] = parts[0]![i]!;
    return;
  }
  yield* inSteps(texts.length, (from, to) => {
    for (let i = from; i < to; i++) texts[i] = parts[Math.floor(i / SORT_ROWS)]![i % SORT_ROWS]!;
  });
  yield* mergeSorted(texts, texts.slice(), isByUnits ? (a, b) => a <= b : (a, b) => compareTexts(a, b) <= 0);
}

interface MutableList<T> {
  readonly length: number;
  [index: number]: T;
}

/** Merges sorted stretches of SORT_ROWS values. @param scratch of the same length, if there is more than one stretch */
function* mergeSorted<T>(values: MutableList<T>, scratch: MutableList<T>, isInOrder: (a: T, b: T) => boolean): Steps<void> {
  const count = values.length;
  let [source, target] = [values, scratch];
  for (let width = SORT_ROWS; width < count; width *= 2) {
    for (let from = 0; from < count; from += 2 * width) {
      const middle = Math.min(count, from + width);
      const end = Math.min(count, from + 2 * width);
      let left = from;
      let right = middle;
      for (let at = from; at < end; ) {
        yield;
        const stop = Math.min(end, at + STEP_ROWS);
        for (; at < stop; at++) {
          const isLeft = right >= end || (left < middle && isInOrder(source[left]!, source[right]!));
          target[at] = isLeft ? source[left++]! : source[right++]!;
        }
      }
    }
    [source, target] = [target, source];
  }
  if (source === values) return;
  const sorted = source;
  yield* inSteps(count, (from, to) => {
    for (let i = from; i < to; i++) values[i] = sorted[i]!;
  });
}
