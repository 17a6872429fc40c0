// Rows side by side of one group in order of time: files have their rows in that order, and what lies together is copied at once.
import { inSteps, isPause, STEP_ROWS, type Steps } from "../../../model/steps.ts";
import { wordsOf } from "../../functions/int64.ts";

export interface Stretches {
  /** The rows bounds[2 i] .. bounds[2 i + 1] - 1, stretch by stretch. */
  readonly bounds: Uint32Array;
  readonly rowCount: number;
  /** Position of each group among these rows, followed by their number. */
  readonly starts: Uint32Array;
}

/** Shorter ones are cheaper row by row. */
const ROWS_MIN = 16;

/** The rows by group and time; null: they lie in too many stretches, or those of a group overlap in time. */
export function* stretchesOf(groupOf: Uint32Array, groupCount: number, times: BigInt64Array): Steps<Stretches | null> {
  const rowCount = groupOf.length;
  const ends: number[] = [];
  const words = wordsOf(times);
  for (let from = 1; from < rowCount; from += STEP_ROWS) {
    const to = Math.min(rowCount, from + STEP_ROWS);
    for (let row = from; row < to; row++) if (groupOf[row] !== groupOf[row - 1] || !isLater(words, row, row - 1)) ends.push(row);
    if (ends.length * ROWS_MIN > to) return null;
    yield;
  }
  ends.push(rowCount);
  const starts = new Uint32Array(groupCount + 1);
  const byGroup: number[][] = Array.from({ length: groupCount }, () => []);
  for (let i = 0, from = 0; i < ends.length && rowCount > 0; from = ends[i++]!) {
    byGroup[groupOf[from]!]!.push(i);
    starts[groupOf[from]! + 1]! += ends[i]! - from;
  }
  const bounds = new Uint32Array(2 * ends.length);
  let at = 0;
  let isInOrder = true;
  const place = (group: number) => {
    const own = byGroup[group]!;
    const first = (stretch: number) => (stretch === 0 ? 0 : ends[stretch - 1]!);
    own.sort((a, b) => (isLater(words, first(a), first(b)) ? 1 : isLater(words, first(b), first(a)) ? -1 : a - b));
    for (const [i, stretch] of own.entries()) {
      if (i > 0 && !isLater(words, first(stretch), ends[own[i - 1]!]! - 1)) isInOrder = false;
      bounds[at++] = first(stretch);
      bounds[at++] = ends[stretch]!;
    }
    starts[group + 1]! += starts[group]!;
  };
  yield* inSteps(groupCount, (from, to) => {
    for (let group = from; group < to; group++) place(group);
  });
  return isInOrder ? { bounds, rowCount, starts } : null;
}

/** The rows of stretches, in order. */
export function* rowsOf({ bounds, rowCount }: Stretches): Steps<Uint32Array> {
  const rows = new Uint32Array(rowCount);
  let at = 0;
  for (let i = 0; i < bounds.length; i += 2) {
    for (let row = bounds[i]!; row < bounds[i + 1]!; row++) {
      rows[at++] = row;
      if (isPause(at)) yield;
    }
  }
  return rows;
}

function isLater(words: Int32Array, row: number, other: number): boolean {
  const high = words[2 * row + 1]!;
  const otherHigh = words[2 * other + 1]!;
  return high !== otherHigh ? high > otherHigh : words[2 * row]! >>> 0 > words[2 * other]! >>> 0;
}
