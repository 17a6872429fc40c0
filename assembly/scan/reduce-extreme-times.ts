// The least and the greatest value per cell with the time of the first row that has it. Values as in reduce-extremes.ts; times begin with
// the greatest i64. Spans ascend in time, rows need not.
import { bitAt } from "../memory/bits";
import { SPAN_BYTES } from "./cells";
import { extremeInteger, leastFloat, lessFloat, mostFloat } from "./reduce-extremes";
import { rowOf } from "./reduce-sum";

const NO_ROW: u32 = 0xffffffff;

/** Into their cells: the least (`most` 0) or the greatest float of each span, and its time. */
export function spansExtremeFloat(
  spans: u32,
  count: u32,
  data: u32,
  validity: u32,
  most: u32,
  rowTimes: u32,
  times: u32,
  values: u32,
): void {
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const from = load<u32>(spans, 4);
    const to = load<u32>(spans, 8);
    const cell = load<u32>(spans) << 3;
    const value = most != 0 ? mostFloat(data, validity, from, to) : leastFloat(data, validity, from, to);
    const known = load<f64>(values + cell);
    // no row of the span can take the cell
    if (most != 0 ? lessFloat(value, known) : lessFloat(known, value)) continue;
    let row = firstFloat(data, validity, from, to, value);
    // without numbers the least is not a number, if there is any value
    if (row == NO_ROW && most == 0) row = firstFloat(data, validity, from, to, NaN);
    // zeros of both signs are equal: the cell gets that of the row
    if (row != NO_ROW) keepFloat(cell, load<f64>(data + (row << 3)), load<i64>(rowTimes + (row << 3)), most, times, values);
  }
}

/** The first row with the value; NaN equals itself. */
function firstFloat(data: u32, validity: u32, from: u32, to: u32, value: f64): u32 {
  const isNumber = value == value;
  for (let row = from; row < to; row++) {
    const found = load<f64>(data + (row << 3));
    if (isNumber ? found != value : found == found) continue;
    if (validity == 0 || bitAt(validity, row)) return row;
  }
  return NO_ROW;
}

/** The same for integers, which lie in their cells with `flip` exclusive-ored. */
export function spansExtremeInteger(
  spans: u32,
  count: u32,
  data: u32,
  validity: u32,
  flip: u64,
  most: u32,
  rowTimes: u32,
  times: u32,
  values: u32,
): void {
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const from = load<u32>(spans, 4);
    const to = load<u32>(spans, 8);
    const cell = load<u32>(spans) << 3;
    const value =
      most != 0 ? extremeInteger(data, validity, from, to, flip, true) : extremeInteger(data, validity, from, to, flip, false);
    const known = load<i64>(values + cell);
    if (most != 0 ? value < known : known < value) continue;
    const row = firstInteger(data, validity, from, to, <u64>value ^ flip);
    if (row != NO_ROW) keepInteger(cell, value, load<i64>(rowTimes + (row << 3)), most, times, values);
  }
}

function firstInteger(data: u32, validity: u32, from: u32, to: u32, value: u64): u32 {
  for (let row = from; row < to; row++) {
    if (load<u64>(data + (row << 3)) == value && (validity == 0 || bitAt(validity, row))) return row;
  }
  return NO_ROW;
}

/** The least or the greatest float of each cell with its time, from rows whose cells are listed. */
export function rowsExtremeFloat(
  cells: u32,
  rows: u32,
  first: u32,
  count: u32,
  data: u32,
  validity: u32,
  most: u32,
  rowTimes: u32,
  times: u32,
  values: u32,
): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = rowOf(rows, first, i);
    if (validity != 0 && !bitAt(validity, row)) continue;
    keepFloat(
      load<u32>(cells + (i << 2)) << 3,
      load<f64>(data + (row << 3)),
      load<i64>(rowTimes + (row << 3)),
      most,
      times,
      values,
    );
  }
}

/** The same for integers. */
export function rowsExtremeInteger(
  cells: u32,
  rows: u32,
  first: u32,
  count: u32,
  data: u32,
  validity: u32,
  flip: u64,
  most: u32,
  rowTimes: u32,
  times: u32,
  values: u32,
): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = rowOf(rows, first, i);
    if (validity != 0 && !bitAt(validity, row)) continue;
    keepInteger(
      load<u32>(cells + (i << 2)) << 3,
      <i64>(load<u64>(data + (row << 3)) ^ flip),
      load<i64>(rowTimes + (row << 3)),
      most,
      times,
      values,
    );
  }
}

// @ts-ignore: decorator
@inline
function keepFloat(cell: u32, value: f64, time: i64, most: u32, times: u32, values: u32): void {
  const known = load<f64>(values + cell);
  const isWorse = most != 0 ? lessFloat(value, known) : lessFloat(known, value);
  const isBetter = most != 0 ? lessFloat(known, value) : lessFloat(value, known);
  if (isWorse || (!isBetter && time > load<i64>(times + cell))) return;
  store<f64>(values + cell, value);
  store<i64>(times + cell, time);
}

// @ts-ignore: decorator
@inline
function keepInteger(cell: u32, value: i64, time: i64, most: u32, times: u32, values: u32): void {
  const known = load<i64>(values + cell);
  const isWorse = most != 0 ? value < known : known < value;
  if (isWorse || (value == known && time > load<i64>(times + cell))) return;
  store<i64>(values + cell, value);
  store<i64>(times + cell, time);
}
