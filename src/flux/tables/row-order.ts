// Rows in the order of some columns: comparisons on cells, without values in between.

import { compareTexts } from "../../model/rows/text-order.ts";
import { sortInSteps } from "../../model/steps.ts";
import { type FluxColumn, halvesOf } from "./column.ts";

/** Negative, 0 or positive, for row `i` of one column and row `j` of another; NaN when they do not compare. */
export type CellOrder = (i: number, j: number) => number;

/** The order of cells that are no nulls; null for columns of types that do not compare. */
export function cellOrder(left: FluxColumn, right: FluxColumn): CellOrder | null {
  const [ma, mb] = [left.mask, right.mask];
  if (left.type !== right.type) return numericOrder(left, right);
  switch (left.type) {
    case "string": {
      const [a, b] = [left.cells as string[], right.cells as string[]];
      return (i, j) => compareTexts(a[i & ma]!, b[j & mb]!);
    }
    case "int":
    case "time":
      return wideOrder(left, right, (halves) => halves);
    case "uint":
      // the upper half has no sign
      return wideOrder(left, right, ({ buffer, byteOffset, length }) => new Uint32Array(buffer, byteOffset, length));
    default: {
      const [a, b] = [left.cells as Float64Array, right.cells as Float64Array];
      return (i, j) => compareNumbers(a[i & ma]!, b[j & mb]!);
    }
  }
}

function compareNumbers(a: number | bigint, b: number | bigint): number {
  return a < b ? -1 : a > b ? 1 : a >= b ? 0 : Number.NaN;
}

/** 64 bits half by half: reading a bigint would make one. */
function wideOrder(left: FluxColumn, right: FluxColumn, upper: (halves: Int32Array) => Int32Array | Uint32Array): CellOrder {
  const [a, b] = [halvesOf(left), halvesOf(right)];
  const [ua, ub] = [upper(a), upper(b)];
  const [ma, mb] = [left.mask, right.mask];
  return (i, j) => {
    const x = (i & ma) * 2;
    const y = (j & mb) * 2;
    const high = ua[x + 1]! - ub[y + 1]!;
    return high !== 0 ? high : (a[x]! >>> 0) - (b[y]! >>> 0);
  };
}

const NUMERIC: ReadonlySet<string> = new Set(["float", "int", "uint"]);

/** Numbers of different types compare by what they are. */
function numericOrder(left: FluxColumn, right: FluxColumn): CellOrder | null {
  if (!NUMERIC.has(left.type) || !NUMERIC.has(right.type)) return null;
  const [a, b] = [left.cells as Float64Array, right.cells as Float64Array];
  const [ma, mb] = [left.mask, right.mask];
  return (i, j) => compareNumbers(a[i & ma]!, b[j & mb]!);
}

/** The rows in the order of the columns, or null when they are in it already. Nulls come first in both directions, and rows that compare as
 *  equal keep their order within
 *  their piece. */
export function* rowOrder(
  columns: readonly FluxColumn[],
  rowCount: number,
  isDescending: boolean,
  pieceEnds: readonly number[] = [],
): Generator<null, Uint32Array | null, void> {
  const compareCells = orderOf(columns, isDescending);
  const compare = (i: number, j: number): number => compareCells(i, j) || i - j;
  // pieces that touch in no equal rows stay behind each other
  const areApart = pieceEnds.every((end) => end >= rowCount || compareCells(end - 1, end) < 0);
  if (areApart && isInOrder(compare, rowCount)) return null;
  const rows = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row++) rows[row] = row;
  if (pieceEnds.length > 1) {
    for (const [i, end] of pieceEnds.entries()) {
      const from = pieceEnds[i - 1] ?? 0;
      if (end - from > 1) for (const _ of sortInSteps(rows.subarray(from, end), compare)) yield null;
    }
    return mergedPieces(rows, pieceEnds, compareCells);
  }
  for (const _ of sortInSteps(rows, compare)) yield null;
  return rows;
}

/** Ascending: a null is less than any value. */
export function rowComparison(columns: readonly FluxColumn[]): CellOrder {
  return orderOf(columns, false);
}

/** The first `count` rows, in order, where the reference merges the first rows of each piece with those of the pieces before: which of rows
 *  that compare as equal comes first depends on the others. */
export function* firstOfPieces(
  columns: readonly FluxColumn[],
  isDescending: boolean,
  pieceEnds: readonly number[],
  count: number,
): Generator<null, Uint32Array, void> {
  const compareCells = orderOf(columns, isDescending);
  const compare = (i: number, j: number): number => compareCells(i, j) || i - j;
  let first = new Uint32Array(0);
  for (const [i, end] of pieceEnds.entries()) {
    const from = pieceEnds[i - 1] ?? 0;
    const rows = new Uint32Array(first.length + end - from);
    rows.set(first);
    for (let row = from; row < end; row++) rows[first.length + row - from] = row;
    for (const _ of sortInSteps(rows.subarray(first.length), compare)) yield null;
    const ends = first.length === 0 ? [rows.length] : [first.length, rows.length];
    first = mergedPieces(rows, ends, compareCells).slice(0, count);
    yield null;
  }
  return first;
}

/** Of all columns, one after the other. */
function orderOf(columns: readonly FluxColumn[], isDescending: boolean): CellOrder {
  const sign = isDescending ? -1 : 1;
  const orders = columns.filter(({ mask }) => mask !== 0).map((column) => withNulls(column, cellOrder(column, column)!, sign));
  const [only] = orders;
  if (orders.length === 1) return only!;
  return (i, j) => {
    for (const order of orders) {
      const found = order(i, j);
      if (found !== 0) return found;
    }
    return 0;
  };
}

/** Rows between two pauses. */
const PAUSE_ROWS = 8192;
/** If more than one row in so many is wanted, sorting all of them takes no longer. */
const SHARE = 4;
/** So many are kept in order without a pause. */
const FIRST_MAX = 16_384;

/** Numbers of the first `count` rows in the order of the columns, ascending: of equal rows those that come first. Null: all rows may be
 *  among them. */
export function* firstRows(
  columns: readonly FluxColumn[],
  rowCount: number,
  isDescending: boolean,
  count: number,
  keepsEqual = false,
): Generator<null, Uint32Array | null, void> {
  if (count > FIRST_MAX || count * SHARE > rowCount) return null;
  // the place of NaN depends on the rows beside it
  if (columns.some(({ cells }) => cells instanceof Float64Array && cells.includes(Number.NaN))) return null;
  const compare = orderOf(columns, isDescending);
  const isBehind = (i: number, j: number) => (compare(i, j) || i - j) > 0;
  // a heap of the first rows so far, with the last of them on top
  const heap = Uint32Array.from({ length: count }, (_, row) => row);
  const down = (start: number) => {
    for (let i = start, child = 2 * i + 1; child < count; child = 2 * i + 1) {
      if (child + 1 < count && isBehind(heap[child + 1]!, heap[child]!)) child++;
      const row = heap[i]!;
      if (!isBehind(heap[child]!, row)) return;
      heap[i] = heap[child]!;
      heap[child] = row;
      i = child;
    }
  };
  for (let i = (count >> 1) - 1; i >= 0; i--) down(i);
  for (let row = count; row < rowCount; row++) {
    if (row % PAUSE_ROWS === 0) yield null;
    // of equal rows an earlier one stays
    if (compare(row, heap[0]!) >= 0) continue;
    heap[0] = row;
    down(0);
  }
  if (!keepsEqual) return heap.sort();
  const last = heap[0]!;
  return Uint32Array.from({ length: rowCount }, (_, row) => row).filter((row) => compare(row, last) <= 0);
}

/** Rows of sorted pieces in one order: a heap has the first row of each, which decides the order of rows that compare as equal. */
function mergedPieces(rows: Uint32Array, pieceEnds: readonly number[], compare: CellOrder): Uint32Array {
  const heap = pieceEnds.map((end, i) => ({ next: pieceEnds[i - 1] ?? 0, end }));
  const isLess = (a: number, b: number) => compare(rows[heap[a]!.next]!, rows[heap[b]!.next]!) < 0;
  const down = (start: number) => {
    for (let i = start, child = 2 * i + 1; child < heap.length; child = 2 * i + 1) {
      if (child + 1 < heap.length && isLess(child + 1, child)) child++;
      if (!isLess(child, i)) return;
      const piece = heap[i]!;
      heap[i] = heap[child]!;
      heap[child] = piece;
      i = child;
    }
  };
  for (let i = (heap.length >> 1) - 1; i >= 0; i--) down(i);
  const merged = new Uint32Array(rows.length);
  for (let row = 0; row < merged.length; row++) {
    const top = heap[0]!;
    merged[row] = rows[top.next++]!;
    if (top.next === top.end) {
      const last = heap.pop()!;
      if (heap.length > 0) heap[0] = last;
    }
    down(0);
  }
  return merged;
}

function isInOrder(compare: CellOrder, rowCount: number): boolean {
  for (let row = 1; row < rowCount; row++) if (compare(row - 1, row) > 0) return false;
  return true;
}

function withNulls({ valid }: FluxColumn, order: CellOrder, sign: number): CellOrder {
  const ordered: CellOrder = (i, j) => {
    const found = order(i, j);
    return Number.isNaN(found) ? 0 : sign * found;
  };
  if (valid === null) return ordered;
  return (i, j) => {
    if (valid[i] === 1 && valid[j] === 1) return ordered(i, j);
    return valid[i]! - valid[j]!;
  };
}
