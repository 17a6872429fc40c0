// Joins several columns of points to rows: one per time at which any column has a point, null in the others.

import { inRange, isPause, StepCounter, type Steps } from "../../model/steps.ts";
import { cellsOf, newValues, takeValues } from "./columns.ts";
import { wordsOf } from "./int64.ts";
import type { Cells } from "./operator.ts";
import type { Points, PointValues, WindowPoints } from "./points.ts";
import { isValid, type Validity, ValidityBuilder } from "./validity.ts";

export interface Rows {
  readonly times: BigInt64Array;
  readonly columns: readonly Cells[];
}

/** Joins columns of sorted points in the same order. Several points of a column at one time become several rows: the n-th of one column
 *  is next to the n-th of another. */
export function* joinByTime(columns: readonly WindowPoints[], descending: boolean): Steps<Rows> {
  const [first, ...others] = columns;
  if (first === undefined) return { times: new BigInt64Array(0), columns: [] };
  let areEqual = true;
  for (const { points } of others) areEqual = areEqual && (yield* haveEqualTimes(points.times, first.points.times));
  if (areEqual) {
    return { times: first.points.times, columns: columns.map(({ points, validity }) => asCells(points, validity)) };
  }
  const { times, rows } = yield* merge(columns, descending);
  const gathered: Cells[] = [];
  for (const [i, column] of columns.entries()) gathered.push(yield* gather(column, rows[i]!));
  return { times, columns: gathered };
}

/** Rows from `offset` on, at most `limit`; 0 means no limit. */
export function* sliceRows({ times, columns }: Rows, offset: number, limit: number): Steps<Rows> {
  const end = limit === 0 ? times.length : Math.min(times.length, offset + limit);
  const from = Math.min(offset, end);
  if (from === 0 && end === times.length) return { times, columns };
  const sliced: Cells[] = [];
  for (const column of columns) sliced.push(yield* sliceCells(column, from, end));
  return { times: times.slice(from, end), columns: sliced };
}

function* sliceCells(cells: Cells, from: number, end: number): Steps<Cells> {
  const values = cells.values.slice(from, end) as PointValues[typeof cells.type];
  const validity = new ValidityBuilder(end - from);
  const present = cells.validity;
  if (present !== null) {
    yield* inRange(from, end, (first, stop) => {
      for (let row = first; row < stop; row++) if (!isValid(present, row)) validity.setNull(row - from);
    });
  }
  return cellsOf(cells.type, values, validity.finish());
}

function asCells(points: Points, validity: Validity): Cells {
  return cellsOf(points.type, points.values as PointValues[typeof points.type], validity);
}

/** True if both arrays have the same times. */
export function* haveEqualTimes(a: BigInt64Array, b: BigInt64Array): Steps<boolean> {
  if (a.length !== b.length) return false;
  if (a === b) return true;
  const [x, y] = [wordsOf(a), wordsOf(b)];
  for (let i = 0; i < x.length; i++) {
    if (isPause(i)) yield;
    if (x[i] !== y[i]) return false;
  }
  return true;
}

/** For each column and result row: the source row, or -1. */
function* merge(columns: readonly WindowPoints[], descending: boolean): Steps<{ times: BigInt64Array; rows: Int32Array[] }> {
  const counter = new StepCounter();
  const most = columns.reduce((sum, { points }) => sum + points.times.length, 0);
  const words = columns.map(({ points }) => wordsOf(points.times));
  const rows = columns.map(() => new Int32Array(most));
  const next = new Int32Array(columns.length);
  const times = new Int32Array(most * 2);
  let count = 0;
  for (; ; count++) {
    if (counter.isDue(2 * columns.length)) yield;
    let high = 0;
    let low = 0;
    let found = false;
    for (let column = 0; column < words.length; column++) {
      const at = next[column]! * 2;
      const own = words[column]!;
      if (at >= own.length) continue;
      const ownHigh = own[at + 1]!;
      const ownLow = own[at]! >>> 0;
      const isBefore = ownHigh < high || (ownHigh === high && ownLow < low);
      if (found && (ownHigh === high && ownLow === low ? true : descending ? isBefore : !isBefore)) continue;
      high = ownHigh;
      low = ownLow;
      found = true;
    }
    if (!found) break;
    for (let column = 0; column < words.length; column++) {
      const at = next[column]! * 2;
      const own = words[column]!;
      const isAt = at < own.length && own[at + 1] === high && own[at]! >>> 0 === low;
      rows[column]![count] = isAt ? next[column]!++ : -1;
    }
    times[2 * count] = low | 0;
    times[2 * count + 1] = high;
  }
  return { times: new BigInt64Array(times.buffer, 0, count).slice(), rows: rows.map((of) => of.subarray(0, count)) };
}

function* gather({ points, validity }: WindowPoints, rows: Int32Array): Steps<Cells> {
  const present = new ValidityBuilder(rows.length);
  const taken = new Int32Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    if (isPause(i)) yield;
    const row = rows[i]!;
    if (row < 0 || !isValid(validity, row)) present.setNull(i);
    taken[i] = Math.max(0, row);
  }
  // a column without points has no value to put into null rows
  if (points.times.length === 0) return cellsOf(points.type, emptyValues(points, rows.length), present.finish());
  const values = yield* takeValues(points.values, taken);
  return cellsOf(points.type, values as PointValues[typeof points.type], present.finish());
}

function emptyValues({ type }: Points, count: number): PointValues[typeof type] {
  return newValues(type, count) as PointValues[typeof type];
}
