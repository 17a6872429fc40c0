// Rows put in order: by group, within a group by time, and those of one time by series. Rows mostly come in stretches that are sorted
// already, one a series, so stretches are merged.
import { compareText } from "../tsdbql/plan-fields.ts";
import type { TagCells } from "./tsdbql-columns.ts";
import type { SeriesOrder } from "./tsdbql-series-order.ts";

export interface Groups {
  /** Values of the tags that are grouped by, in order of the tags' names; groups are in order of these values. */
  readonly tags: readonly (readonly string[])[];
  /** Of each row. */
  readonly groupOf: Uint32Array;
}

/** Groups by equal values in all of `columns`. */
export function groupRows(columns: readonly TagCells[], rowCount: number): Groups {
  if (columns.length === 0 || rowCount === 0) return { tags: rowCount === 0 ? [] : [[]], groupOf: new Uint32Array(rowCount) };
  let ids = columns[0]!.codes;
  let tags = columns[0]!.dictionary.map((value) => [value]);
  for (const column of columns.slice(1)) {
    const paired = new Map<number, number>();
    const pairs: string[][] = [];
    const combined = new Uint32Array(rowCount);
    const width = column.dictionary.length;
    for (let row = 0; row < rowCount; row++) {
      const key = ids[row]! * width + column.codes[row]!;
      let id = paired.get(key);
      if (id === undefined) {
        id = pairs.push([...tags[ids[row]!]!, column.dictionary[column.codes[row]!]!]) - 1;
        paired.set(key, id);
      }
      combined[row] = id;
    }
    ids = combined;
    tags = pairs;
  }
  return rank(tags, ids, rowCount);
}

/** Ids become places in the order of groups; values that no row has fall away. */
function rank(tags: readonly (readonly string[])[], ids: Uint32Array, rowCount: number): Groups {
  const used = new Uint8Array(tags.length);
  for (let row = 0; row < rowCount; row++) used[ids[row]!] = 1;
  const order = tags.map((_, id) => id).filter((id) => used[id] === 1);
  order.sort((a, b) => compareTags(tags[a]!, tags[b]!));
  const places = new Uint32Array(tags.length);
  order.forEach((id, place) => {
    places[id] = place;
  });
  const groupOf = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row++) groupOf[row] = places[ids[row]!]!;
  return { tags: order.map((id) => tags[id]!), groupOf };
}

export function compareTags(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < a.length; i++) {
    const order = compareText(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return 0;
}

export interface RowOrder {
  /** Numbers of rows; null: they are in order already. */
  readonly rows: Uint32Array | null;
  /** Where each group begins, and behind the last where it ends. */
  readonly starts: Uint32Array;
}

/** @param series of rows of one time and group; null: they stay in the order in which they came */
export function orderRows({ tags, groupOf }: Groups, times: BigInt64Array, descending: boolean, series: SeriesOrder | null): RowOrder {
  const rowCount = times.length;
  const starts = new Uint32Array(tags.length + 1);
  for (let row = 0; row < rowCount; row++) starts[groupOf[row]! + 1]!++;
  for (let group = 0; group < tags.length; group++) starts[group + 1]! += starts[group]!;
  const distances = distancesOf(times, descending);
  let isOrdered = true;
  for (let row = 1; row < rowCount && isOrdered; row++) {
    const step = groupOf[row]! - groupOf[row - 1]!;
    const later = distances[row]! - distances[row - 1]!;
    isOrdered = step > 0 || (step === 0 && (later > 0 || (later === 0 && (series === null || series.compare(row - 1, row) <= 0))));
  }
  // distances beyond 2^53 are not exact
  if (isOrdered && isExact(distances)) return { rows: null, starts };
  const places = starts.slice();
  const rows = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row++) rows[places[groupOf[row]!]!++] = row;
  const keys = isExact(distances) ? distances : ranksOf(times, descending);
  const scratch = new Uint32Array(rowCount);
  for (let group = 0; group < tags.length; group++) {
    const [from, end] = [starts[group]!, starts[group + 1]!];
    mergeRuns(rows, scratch, from, end, keys);
    if (series !== null) orderTies(rows.subarray(from, end), keys, series);
  }
  return { rows, starts };
}

/** Sorts rows with equal keys, which lie side by side, by series. From files most of them are. */
function orderTies(rows: Uint32Array, keys: Float64Array, series: SeriesOrder): void {
  const compare = (a: number, b: number) => series.compare(a, b) || a - b;
  for (let from = 0, end = 0; from < rows.length; from = end) {
    const key = keys[rows[from]!]!;
    let isOrdered = true;
    for (end = from + 1; end < rows.length && keys[rows[end]!] === key; end++) {
      if (isOrdered) isOrdered = series.compare(rows[end - 1]!, rows[end]!) <= 0;
    }
    if (!isOrdered) rows.subarray(from, end).sort(compare);
  }
}

function isExact(distances: Float64Array): boolean {
  return distances.length === 0 || Math.abs(distances[distances.length - 1]!) < Number.MAX_SAFE_INTEGER;
}

/** Times as distances from the first row's, so that no bigints are made; falling times rise. One more than there are times: the greatest
 *  size of a distance. */
function distancesOf(times: BigInt64Array, descending: boolean): Float64Array {
  const count = times.length;
  const words = new Int32Array(times.buffer, times.byteOffset, count * 2);
  const distances = new Float64Array(count + 1);
  if (count === 0) return distances;
  const baseHigh = words[1]!;
  const baseLow = words[0]! >>> 0;
  const sign = descending ? -1 : 1;
  let most = 0;
  for (let row = 0; row < count; row++) {
    const distance = (words[row * 2 + 1]! - baseHigh) * 4294967296 + ((words[row * 2]! >>> 0) - baseLow);
    distances[row] = sign * distance;
    const size = distance < 0 ? -distance : distance;
    if (size > most) most = size;
  }
  distances[count] = most;
  return distances;
}

/** Places of times among all of them, for times too far apart to be told by distances. */
function ranksOf(times: BigInt64Array, descending: boolean): Float64Array {
  const sorted = [...new Set(times)].sort((a, b) => (a < b ? -1 : 1));
  if (descending) sorted.reverse();
  const ranks = new Map(sorted.map((time, rank) => [time, rank]));
  return Float64Array.from(times, (time) => ranks.get(time)!);
}

/** Sorts rows[from .. end) by their keys, which are made of ascending stretches; rows with equal keys stay as they are. */
function mergeRuns(rows: Uint32Array, scratch: Uint32Array, from: number, end: number, keys: Float64Array): void {
  let bounds = [from];
  for (let i = from + 1; i < end; i++) if (keys[rows[i]!]! < keys[rows[i - 1]!]!) bounds.push(i);
  bounds.push(end);
  let source = rows;
  let target = scratch;
  while (bounds.length > 2) {
    const merged = [from];
    for (let run = 0; run < bounds.length - 1; run += 2) {
      const [start, middle] = [bounds[run]!, bounds[run + 1]!];
      const stop = bounds[run + 2] ?? middle;
      mergeTwo(source, target, { start, middle, stop }, keys);
      merged.push(stop);
    }
    bounds = merged;
    [source, target] = [target, source];
  }
  if (source !== rows) rows.set(source.subarray(from, end), from);
}

interface TwoRuns {
  readonly start: number;
  readonly middle: number;
  readonly stop: number;
}

function mergeTwo(source: Uint32Array, target: Uint32Array, { start, middle, stop }: TwoRuns, keys: Float64Array): void {
  let [left, right, at] = [start, middle, start];
  while (left < middle && right < stop) {
    const [a, b] = [source[left]!, source[right]!];
    if (keys[b]! < keys[a]!) {
      target[at++] = b;
      right++;
    } else {
      target[at++] = a;
      left++;
    }
  }
  while (left < middle) target[at++] = source[left++]!;
  while (right < stop) target[at++] = source[right++]!;
}
