// Sorts rows by group, then time, then series.

import { sortByKey } from "../../../model/rows/key-order.ts";
import { compareTexts } from "../../../model/rows/text-order.ts";
import { inSteps, STEP_ROWS, StepCounter, type Steps, sortInSteps } from "../../../model/steps.ts";
import type { TagCells } from "./columns.ts";

export interface Groups {
  /** Values of the grouping tags, ordered by tag name; groups are sorted by these values. */
  readonly tags: readonly (readonly string[])[];
  /** Group of each row. */
  readonly groupOf: Uint32Array;
}

/** Groups rows by equal values in all of `columns`. */
export function* groupRows(columns: readonly TagCells[], rowCount: number): Steps<Groups> {
  if (columns.length === 0 || rowCount === 0) return { tags: rowCount === 0 ? [] : [[]], groupOf: new Uint32Array(rowCount) };
  const [first, ...others] = columns;
  if (others.length === 0) {
    const { dictionary, codes } = first!;
    const tags: string[][] = [];
    yield* inSteps(dictionary.length, (from, to) => {
      for (let code = from; code < to; code++) tags.push([dictionary[code]!]);
    });
    return yield* rank(tags, codes, rowCount);
  }
  const numbers = new TupleNumbers(columns);
  const ids = new Uint32Array(rowCount);
  yield* inSteps(rowCount, (from, to) => {
    for (let row = from; row < to; row++) ids[row] = numbers.numberOf(row, ids);
  });
  return yield* rank(yield* numbers.tags(), ids, rowCount);
}

/** Numbers the combinations of codes that rows have. */
class TupleNumbers {
  private readonly codes: readonly Uint32Array[];
  /** By column behind the first: numbers of the codes so far with one more. */
  private readonly paired: readonly Map<number, number>[];
  /** By number: a row that has the combination. */
  private readonly rows: number[] = [];
  /** By number: a row whose combination came behind it. Groups come in the same order window by window. */
  private readonly nextRows: number[] = [];

  constructor(private readonly columns: readonly TagCells[]) {
    this.codes = columns.map(({ codes }) => codes);
    this.paired = columns.slice(1).map(() => new Map<number, number>());
  }

  /** @param ids numbers of the rows before */
  numberOf(row: number, ids: Uint32Array): number {
    if (row === 0) return this.find(row);
    const previous = ids[row - 1]!;
    if (this.areEqual(row, row - 1)) return previous;
    const next = this.nextRows[previous];
    if (next !== undefined && this.areEqual(row, next)) return ids[next]!;
    this.nextRows[previous] = row;
    return this.find(row);
  }

  /** The values of each combination. */
  *tags(): Steps<string[][]> {
    const { rows, columns } = this;
    const tags: string[][] = [];
    yield* inSteps(rows.length, (from, to) => {
      for (let i = from; i < to; i++) tags.push(columns.map(({ codes, dictionary }) => dictionary[codes[rows[i]!]!]!));
    });
    return tags;
  }

  private areEqual(row: number, other: number): boolean {
    const { codes } = this;
    for (let i = 0; i < codes.length; i++) if (codes[i]![row] !== codes[i]![other]) return false;
    return true;
  }

  private find(row: number): number {
    const { codes, columns, paired } = this;
    let id = codes[0]![row]!;
    for (let i = 1; i < codes.length; i++) {
      const known = paired[i - 1]!;
      const key = id * columns[i]!.dictionary.length + codes[i]![row]!;
      let number = known.get(key);
      if (number === undefined) {
        number = known.size;
        known.set(key, number);
        if (i === codes.length - 1) this.rows.push(row);
      }
      id = number;
    }
    return id;
  }
}

/** Converts ids to positions in group order; drops values without rows. */
function* rank(tags: readonly (readonly string[])[], ids: Uint32Array, rowCount: number): Steps<Groups> {
  const used = new Uint8Array(tags.length);
  yield* inSteps(rowCount, (from, to) => {
    for (let row = from; row < to; row++) used[ids[row]!] = 1;
  });
  const order = yield* placesOf(used);
  yield* sortInSteps(order, (a, b) => compareTags(tags[a]!, tags[b]!));
  const places = new Uint32Array(tags.length);
  yield* inSteps(order.length, (from, to) => {
    for (let place = from; place < to; place++) places[order[place]!] = place;
  });
  const groupOf = new Uint32Array(rowCount);
  yield* inSteps(rowCount, (from, to) => {
    for (let row = from; row < to; row++) groupOf[row] = places[ids[row]!]!;
  });
  return { tags: Array.from(order, (id) => tags[id]!), groupOf };
}

/** Where there is a 1, ascending. */
function* placesOf(marks: Uint8Array): Steps<Uint32Array> {
  const places = new Uint32Array(marks.length);
  let count = 0;
  yield* inSteps(marks.length, (from, to) => {
    for (let i = from; i < to; i++) if (marks[i] === 1) places[count++] = i;
  });
  return places.subarray(0, count);
}

/** Compares the tag values of two groups. Returns < 0, 0 or > 0. */
export function compareTags(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < a.length; i++) {
    const order = compareTexts(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return 0;
}

export interface RowOrder {
  /** Row numbers in order; null: rows are in order already. */
  readonly rows: Uint32Array | null;
  /** Start of each group, followed by the number of rows. */
  readonly starts: Uint32Array;
}

/** @param series positions of rows' series, which order rows of equal time and group; null: such rows keep their order */
export function* orderRows(
  { tags, groupOf }: Groups,
  times: BigInt64Array,
  descending: boolean,
  series: Uint32Array | null,
): Steps<RowOrder> {
  const rowCount = times.length;
  const starts = yield* groupStarts(tags.length, groupOf);
  const distances = yield* distancesOf(times, descending);
  // differences beyond 2^53 are not exact
  const isExact = rowCount === 0 || Math.abs(distances[rowCount]!) < Number.MAX_SAFE_INTEGER;
  if (isExact && (yield* areOrdered(groupOf, distances, series, descending))) return { rows: null, starts };
  const places = starts.slice();
  const rows = new Uint32Array(rowCount);
  yield* inSteps(rowCount, (from, to) => {
    for (let row = from; row < to; row++) rows[places[groupOf[row]!]!++] = row;
  });
  const keys = isExact ? distances : yield* ranksOf(times, descending);
  const scratch = new Uint32Array(rowCount);
  const sortedRows = new StepCounter();
  for (let group = 0; group < tags.length; group++) {
    const from = starts[group]!;
    const end = starts[group + 1]!;
    if (sortedRows.isDue(1 + end - from)) yield;
    yield* sortByKey({ rows, scratch, keys }, from, end);
    if (series !== null) yield* orderTies(rows.subarray(from, end), keys, series, descending);
  }
  return { rows, starts };
}

function* groupStarts(groupCount: number, groupOf: Uint32Array): Steps<Uint32Array> {
  const starts = new Uint32Array(groupCount + 1);
  yield* inSteps(groupOf.length, (from, to) => {
    for (let row = from; row < to; row++) starts[groupOf[row]! + 1]!++;
  });
  yield* inSteps(groupCount, (from, to) => {
    for (let group = from; group < to; group++) starts[group + 1]! += starts[group]!;
  });
  return starts;
}

function* areOrdered(groupOf: Uint32Array, keys: Float64Array, series: Uint32Array | null, descending: boolean): Steps<boolean> {
  let isOrdered = true;
  for (let from = 1; from < groupOf.length && isOrdered; from += STEP_ROWS) {
    const to = Math.min(groupOf.length, from + STEP_ROWS);
    for (let row = from; row < to && isOrdered; row++) {
      const step = groupOf[row]! - groupOf[row - 1]!;
      if (step !== 0) isOrdered = step > 0;
      else if (keys[row]! !== keys[row - 1]!) isOrdered = keys[row]! > keys[row - 1]!;
      else if (series !== null) isOrdered = series[row] === series[row - 1] || series[row]! < series[row - 1]! === descending;
    }
    yield;
  }
  return isOrdered;
}

/** Sorts adjacent rows with equal keys by series, descending if times descend. Rows from files are mostly sorted already. */
function* orderTies(rows: Uint32Array, keys: Float64Array, series: Uint32Array, descending: boolean): Steps<void> {
  const sign = descending ? -1 : 1;
  const compare = (a: number, b: number) => sign * (series[a]! - series[b]!);
  let done = 0;
  for (let from = 0, end = 0; from < rows.length; from = end) {
    const key = keys[rows[from]!]!;
    let isOrdered = true;
    for (end = from + 1; end < rows.length && keys[rows[end]!] === key; end++) {
      if (isOrdered) isOrdered = compare(rows[end - 1]!, rows[end]!) <= 0;
    }
    const tied = rows.subarray(from, end);
    if (!isOrdered && tied.length <= SMALL_TIE) sortSmall(tied, series, sign);
    else if (!isOrdered) yield* sortInSteps(tied, compare);
    if (end - done < STEP_ROWS) continue;
    done = end;
    yield;
  }
}

const SMALL_TIE = 4096;
const TIED = new Float64Array(SMALL_TIE);

/** Sorts numbers that combine series position and row position: many times faster than sorting with a comparison function. */
function sortSmall(rows: Uint32Array, series: Uint32Array, sign: 1 | -1): void {
  const keys = TIED.subarray(0, rows.length);
  const before = rows.slice();
  for (let i = 0; i < keys.length; i++) keys[i] = sign * series[rows[i]!]! * SMALL_TIE + i;
  keys.sort();
  for (let i = 0; i < keys.length; i++) {
    const place = keys[i]! % SMALL_TIE;
    rows[i] = before[place < 0 ? place + SMALL_TIE : place]!;
  }
}

/** Times as differences from the first row's time, without creating bigints; negated for descending times. The additional last element
 *  is the greatest absolute difference. */
function* distancesOf(times: BigInt64Array, descending: boolean): Steps<Float64Array> {
  const count = times.length;
  const words = new Int32Array(times.buffer, times.byteOffset, count * 2);
  const distances = new Float64Array(count + 1);
  if (count === 0) return distances;
  const baseHigh = words[1]!;
  const baseLow = words[0]! >>> 0;
  const sign = descending ? -1 : 1;
  let most = 0;
  yield* inSteps(count, (from, to) => {
    let mostHere = most;
    for (let row = from; row < to; row++) {
      const distance = (words[row * 2 + 1]! - baseHigh) * 4294967296 + ((words[row * 2]! >>> 0) - baseLow);
      distances[row] = sign * distance;
      const size = distance < 0 ? -distance : distance;
      if (size > mostHere) mostHere = size;
    }
    most = mostHere;
  });
  distances[count] = most;
  return distances;
}

/** Ranks of times, for times too far apart for exact differences. */
function* ranksOf(times: BigInt64Array, descending: boolean): Steps<Float64Array> {
  const order = new Uint32Array(times.length);
  yield* inSteps(order.length, (from, to) => {
    for (let row = from; row < to; row++) order[row] = row;
  });
  const words = new Int32Array(times.buffer, times.byteOffset, times.length * 2);
  const compare = (a: number, b: number) => words[2 * a + 1]! - words[2 * b + 1]! || (words[2 * a]! >>> 0) - (words[2 * b]! >>> 0);
  yield* sortInSteps(order, descending ? (a, b) => compare(b, a) : compare);
  const ranks = new Float64Array(order.length);
  yield* inSteps(order.length - 1, (from, to) => {
    for (let i = from; i < to; i++) {
      const own = order[i]!;
      const next = order[i + 1]!;
      ranks[next] = ranks[own]! + (compare(own, next) === 0 ? 0 : 1);
    }
  });
  return ranks;
}
