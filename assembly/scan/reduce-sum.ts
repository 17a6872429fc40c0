// Counts and sums of floats per cell. Spans are rows side by side of one cell, reduced by SIMD; rows are a cell index per row, added one
// by one. validity 0: all are present.
import { bitAt, countBits } from "../memory/bits";
import { SPAN_BYTES } from "./cells";

/** Masks for two rows by their two validity bits. */
export const PAIR_MASKS = <u32>memory.data<u64>([0, 0, u64.MAX_VALUE, 0, 0, u64.MAX_VALUE, u64.MAX_VALUE, u64.MAX_VALUE], 16);

/** Two lanes, all bits set where the bit of the pair is. */
// @ts-ignore: decorator
@inline
export function pairMask(bits: u32): v128 {
  return v128.load(PAIR_MASKS + ((bits & 3) << 4));
}

/** The i-th row: of the list, or `first + i` without one. */
// @ts-ignore: decorator
@inline
export function rowOf(rows: u32, first: u32, i: u32): u32 {
  return rows != 0 ? load<u32>(rows + (i << 2)) : first + i;
}

/** All bits when the row is present, else none. */
// @ts-ignore: decorator
@inline
export function presentMask(validity: u32, row: u32): u64 {
  return validity == 0 ? u64.MAX_VALUE : 0 - <u64>bitAt(validity, row);
}

/** counts[cell] (u64) += present rows. */
export function spansCount(spans: u32, count: u32, validity: u32, counts: u32): void {
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const from = load<u32>(spans, 4);
    const rows = load<u32>(spans, 8) - from;
    const at = counts + (load<u32>(spans) << 3);
    store<u64>(at, load<u64>(at) + (validity == 0 ? rows : countBits(validity, from, rows)));
  }
}

/** The number of values of each cell, from rows whose cells are listed. */
export function rowsCount(cells: u32, rows: u32, first: u32, count: u32, validity: u32, counts: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const at = counts + (load<u32>(cells + (i << 2)) << 3);
    store<u64>(at, load<u64>(at) + (presentMask(validity, rowOf(rows, first, i)) & 1));
  }
}

/** counts[cell] (u64) += present rows that are true. */
export function spansCountTrue(spans: u32, count: u32, data: u32, validity: u32, counts: u32): void {
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const to = load<u32>(spans, 8);
    let total: u64 = 0;
    for (let row = load<u32>(spans, 4); row < to; row++) total += presentMask(validity, row) & load<u8>(data + row);
    const at = counts + (load<u32>(spans) << 3);
    store<u64>(at, load<u64>(at) + total);
  }
}

/** The number of true values of each cell, from rows whose cells are listed. */
export function rowsCountTrue(cells: u32, rows: u32, first: u32, count: u32, data: u32, validity: u32, counts: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = rowOf(rows, first, i);
    const at = counts + (load<u32>(cells + (i << 2)) << 3);
    store<u64>(at, load<u64>(at) + (presentMask(validity, row) & load<u8>(data + row)));
  }
}

/** sums[cell] (f64) += the present values. */
export function spansSumFloat(spans: u32, count: u32, data: u32, validity: u32, sums: u32): void {
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const from = load<u32>(spans, 4);
    const to = load<u32>(spans, 8);
    const sum = validity == 0 ? sumFloats(data + (from << 3), to - from) : sumPresentFloats(data, validity, from, to);
    const at = sums + (load<u32>(spans) << 3);
    store<f64>(at, load<f64>(at) + sum);
  }
}

function sumFloats(at: u32, count: u32): f64 {
  let a = f64x2.splat(0);
  const wide = at + ((count & ~7) << 3);
  if (at < wide) {
    let b = f64x2.splat(0);
    let c = f64x2.splat(0);
    let d = f64x2.splat(0);
    for (; at < wide; at += 64) {
      a = f64x2.add(a, v128.load(at));
      b = f64x2.add(b, v128.load(at, 16));
      c = f64x2.add(c, v128.load(at, 32));
      d = f64x2.add(d, v128.load(at, 48));
    }
    a = f64x2.add(f64x2.add(a, b), f64x2.add(c, d));
  }
  for (const pairs = at + ((count & 6) << 3); at < pairs; at += 16) a = f64x2.add(a, v128.load(at));
  const sum = f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1);
  return (count & 1) != 0 ? sum + load<f64>(at) : sum;
}

function sumPresentFloats(data: u32, validity: u32, from: u32, to: u32): f64 {
  let sum: f64 = 0;
  let row = from;
  for (; row < to && (row & 7) != 0; row++) sum += presentFloat(data, validity, row);
  let a = f64x2.splat(0);
  let b = f64x2.splat(0);
  for (; row + 8 <= to; row += 8) {
    const bits = <u32>load<u8>(validity + (row >> 3));
    const at = data + (row << 3);
    a = f64x2.add(a, v128.and(v128.load(at), pairMask(bits)));
    b = f64x2.add(b, v128.and(v128.load(at, 16), pairMask(bits >> 2)));
    a = f64x2.add(a, v128.and(v128.load(at, 32), pairMask(bits >> 4)));
    b = f64x2.add(b, v128.and(v128.load(at, 48), pairMask(bits >> 6)));
  }
  a = f64x2.add(a, b);
  sum += f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1);
  for (; row < to; row++) sum += presentFloat(data, validity, row);
  return sum;
}

// @ts-ignore: decorator
@inline
function presentFloat(data: u32, validity: u32, row: u32): f64 {
  return reinterpret<f64>(load<u64>(data + (row << 3)) & presentMask(validity, row));
}

/** The sum of the floats of each cell, from rows whose cells are listed. */
export function rowsSumFloat(cells: u32, rows: u32, first: u32, count: u32, data: u32, validity: u32, sums: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const at = sums + (load<u32>(cells + (i << 2)) << 3);
    store<f64>(at, load<f64>(at) + presentFloat(data, validity, rowOf(rows, first, i)));
  }
}

