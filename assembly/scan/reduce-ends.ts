// The value at the least and at the greatest time per cell, with its time: of present values, any one of several at that time. Cells begin
// with the greatest i64 (first) or the least (last) as their time. Values have 1, 8 or 16 bytes; 0: only times are kept. Spans ascend in
// time.
import { bitAt } from "../memory/bits";
import { SPAN_BYTES } from "./cells";
import { rowOf } from "./reduce-sum";

/** times[cell], values[cell] = those of the first present row of the span, if it is not later. */
export function spansFirst(spans: u32, count: u32, data: u32, validity: u32, width: u32, rowTimes: u32, times: u32, values: u32): void {
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const to = load<u32>(spans, 8);
    let row = load<u32>(spans, 4);
    if (validity != 0) while (row < to && !bitAt(validity, row)) row++;
    if (row < to) keepFirst(load<u32>(spans), row, data, width, rowTimes, times, values);
  }
}

/** The same as spansFirst for the last values. */
export function spansLast(spans: u32, count: u32, data: u32, validity: u32, width: u32, rowTimes: u32, times: u32, values: u32): void {
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const from = load<u32>(spans, 4);
    let row = load<u32>(spans, 8);
    if (validity != 0) while (row > from && !bitAt(validity, row - 1)) row--;
    if (row > from) keepLast(load<u32>(spans), row - 1, data, width, rowTimes, times, values);
  }
}

/** The first value of each cell, from rows whose cells are listed. */
export function rowsFirst(
  cells: u32,
  rows: u32,
  first: u32,
  count: u32,
  data: u32,
  validity: u32,
  width: u32,
  rowTimes: u32,
  times: u32,
  values: u32,
): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = rowOf(rows, first, i);
    if (validity != 0 && !bitAt(validity, row)) continue;
    keepFirst(load<u32>(cells + (i << 2)), row, data, width, rowTimes, times, values);
  }
}

/** The last value of each cell, from rows whose cells are listed. */
export function rowsLast(
  cells: u32,
  rows: u32,
  first: u32,
  count: u32,
  data: u32,
  validity: u32,
  width: u32,
  rowTimes: u32,
  times: u32,
  values: u32,
): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = rowOf(rows, first, i);
    if (validity != 0 && !bitAt(validity, row)) continue;
    keepLast(load<u32>(cells + (i << 2)), row, data, width, rowTimes, times, values);
  }
}

// @ts-ignore: decorator
@inline
function keepFirst(cell: u32, row: u32, data: u32, width: u32, rowTimes: u32, times: u32, values: u32): void {
  const time = load<i64>(rowTimes + (row << 3));
  // "or equal": a value at the greatest time of all is first too, where nothing was before
  if (time > load<i64>(times + (cell << 3))) return;
  store<i64>(times + (cell << 3), time);
  copyValue(values, cell, data, row, width);
}

// @ts-ignore: decorator
@inline
function keepLast(cell: u32, row: u32, data: u32, width: u32, rowTimes: u32, times: u32, values: u32): void {
  const time = load<i64>(rowTimes + (row << 3));
  if (time < load<i64>(times + (cell << 3))) return;
  store<i64>(times + (cell << 3), time);
  copyValue(values, cell, data, row, width);
}

// @ts-ignore: decorator
@inline
function copyValue(values: u32, cell: u32, data: u32, row: u32, width: u32): void {
  if (width == 8) store<u64>(values + (cell << 3), load<u64>(data + (row << 3)));
  else if (width == 16) v128.store(values + (cell << 4), v128.load(data + (row << 4)));
  else if (width == 1) store<u8>(values + cell, load<u8>(data + row));
}
