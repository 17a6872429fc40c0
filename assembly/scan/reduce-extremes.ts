// The least and the greatest value per cell. Floats: NaN is greater than every number; a cell begins as NaN for the least, -inf for the
// greatest. Integers lie in their cells with `flip` exclusive-ored (the highest bit for u64, 0 for i64) and compare as i64; a cell begins
// as the greatest, the least i64. Cells without present values keep what they began with. Spans and rows as in reduce-sum.ts.
import { SPAN_BYTES } from "./cells";
import { pairMask, presentMask, rowOf } from "./reduce-sum";

const ALL_PRESENT: u32 = 0xff;

/** NaN is greater than every number. */
// @ts-ignore: decorator
@inline
export function lessFloat(a: f64, b: f64): bool {
  // a number is less than NaN, NaN than nothing
  return a < b || (a == a && b != b);
}

// @ts-ignore: decorator
@inline
function foldFloat(cell: u32, value: f64, most: bool): void {
  const known = load<f64>(cell);
  if (most ? lessFloat(known, value) : lessFloat(value, known)) store<f64>(cell, value);
}

// @ts-ignore: decorator
@inline
function foldInteger(cell: u32, value: i64, most: bool): void {
  const known = load<i64>(cell);
  store<i64>(cell, most ? max(known, value) : min(known, value));
}

/** The least float of each span, into its cell. */
export function spansLeastFloat(spans: u32, count: u32, data: u32, validity: u32, cells: u32): void {
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const from = load<u32>(spans, 4);
    const to = load<u32>(spans, 8);
    const least = leastFloat(data, validity, from, to);
    // infinite: no number is less, but whether there is any number is not known
    if (least < Infinity || hasNumber(data, validity, from, to)) foldFloat(cells + (load<u32>(spans) << 3), least, false);
  }
}

/** The least number; +inf when there is none. */
export function leastFloat(data: u32, validity: u32, from: u32, to: u32): f64 {
  const none = f64x2.splat(Infinity);
  let row = from;
  let least = Infinity;
  for (; row < to && (row & 7) != 0; row++) {
    const value = load<f64>(data + (row << 3));
    if (presentMask(validity, row) != 0 && value < least) least = value;
  }
  let a = none;
  let b = none;
  for (; row + 8 <= to; row += 8) {
    const at = data + (row << 3);
    const bits = validity == 0 ? ALL_PRESENT : <u32>load<u8>(validity + (row >> 3));
    if (bits == ALL_PRESENT) {
      // pmin(a, b) is b < a ? b : a, so a NaN in b is passed over
      a = f64x2.pmin(a, v128.load(at));
      b = f64x2.pmin(b, v128.load(at, 16));
      a = f64x2.pmin(a, v128.load(at, 32));
      b = f64x2.pmin(b, v128.load(at, 48));
    } else {
      a = f64x2.pmin(a, v128.bitselect(v128.load(at), none, pairMask(bits)));
      b = f64x2.pmin(b, v128.bitselect(v128.load(at, 16), none, pairMask(bits >> 2)));
      a = f64x2.pmin(a, v128.bitselect(v128.load(at, 32), none, pairMask(bits >> 4)));
      b = f64x2.pmin(b, v128.bitselect(v128.load(at, 48), none, pairMask(bits >> 6)));
    }
  }
  a = f64x2.pmin(a, b);
  least = min(least, min(f64x2.extract_lane(a, 0), f64x2.extract_lane(a, 1)));
  for (; row < to; row++) {
    const value = load<f64>(data + (row << 3));
    if (presentMask(validity, row) != 0 && value < least) least = value;
  }
  return least;
}

function hasNumber(data: u32, validity: u32, from: u32, to: u32): bool {
  for (let row = from; row < to; row++) {
    const value = load<f64>(data + (row << 3));
    if (presentMask(validity, row) != 0 && value == value) return true;
  }
  return false;
}

/** The greatest float of each span, into its cell. */
export function spansMostFloat(spans: u32, count: u32, data: u32, validity: u32, cells: u32): void {
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const most = mostFloat(data, validity, load<u32>(spans, 4), load<u32>(spans, 8));
    foldFloat(cells + (load<u32>(spans) << 3), most, true);
  }
}

/** The greatest value; -inf when there is none. */
export function mostFloat(data: u32, validity: u32, from: u32, to: u32): f64 {
  const none = f64x2.splat(-Infinity);
  let row = from;
  let most = -Infinity;
  for (; row < to && (row & 7) != 0; row++) {
    const value = load<f64>(data + (row << 3));
    if (presentMask(validity, row) != 0 && lessFloat(most, value)) most = value;
  }
  let a = none;
  let b = none;
  // all bits of a lane that has met a NaN
  let notNumber = i64x2.splat(0);
  for (; row + 4 <= to; row += 4) {
    const at = data + (row << 3);
    let left = v128.load(at);
    let right = v128.load(at, 16);
    if (validity != 0) {
      // row is a multiple of 4: the four bits lie in one byte
      const bits = <u32>load<u8>(validity + (row >> 3)) >> (row & 7);
      left = v128.bitselect(left, none, pairMask(bits));
      right = v128.bitselect(right, none, pairMask(bits >> 2));
    }
    a = f64x2.pmax(a, left);
    b = f64x2.pmax(b, right);
    notNumber = v128.or(notNumber, v128.or(f64x2.ne(left, left), f64x2.ne(right, right)));
  }
  if (v128.any_true(notNumber)) return NaN;
  a = f64x2.pmax(a, b);
  if (most == most) most = max(most, max(f64x2.extract_lane(a, 0), f64x2.extract_lane(a, 1)));
  for (; row < to; row++) {
    const value = load<f64>(data + (row << 3));
    if (presentMask(validity, row) != 0 && lessFloat(most, value)) most = value;
  }
  return most;
}

/** The least integer of each span, into its cell. `flip`: the sign bit for unsigned ones, else 0. */
export function spansLeastInteger(spans: u32, count: u32, data: u32, validity: u32, cells: u32, flip: u64): void {
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const least = extremeInteger(data, validity, load<u32>(spans, 4), load<u32>(spans, 8), flip, false);
    foldInteger(cells + (load<u32>(spans) << 3), least, false);
  }
}

/** The greatest integer of each span, into its cell. `flip`: the sign bit for unsigned ones, else 0. */
export function spansMostInteger(spans: u32, count: u32, data: u32, validity: u32, cells: u32, flip: u64): void {
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const most = extremeInteger(data, validity, load<u32>(spans, 4), load<u32>(spans, 8), flip, true);
    foldInteger(cells + (load<u32>(spans) << 3), most, true);
  }
}

/** The least or the greatest integer, exclusive-ored with `flip`; what a cell begins as when there is none. */
// @ts-ignore: decorator
@inline
export function extremeInteger(data: u32, validity: u32, from: u32, to: u32, flip: u64, most: bool): i64 {
  const nothing = most ? i64.MIN_VALUE : i64.MAX_VALUE;
  let row = from;
  let found = nothing;
  for (; row < to && (row & 3) != 0; row++) {
    const value = <i64>(load<u64>(data + (row << 3)) ^ flip);
    if (presentMask(validity, row) != 0) found = most ? max(found, value) : min(found, value);
  }
  const none = i64x2.splat(nothing);
  const flips = i64x2.splat(flip);
  let a = none;
  let b = none;
  for (; row + 4 <= to; row += 4) {
    const at = data + (row << 3);
    let left = v128.xor(v128.load(at), flips);
    let right = v128.xor(v128.load(at, 16), flips);
    if (validity != 0) {
      const bits = <u32>load<u8>(validity + (row >> 3)) >> (row & 7);
      left = v128.bitselect(left, none, pairMask(bits));
      right = v128.bitselect(right, none, pairMask(bits >> 2));
    }
    a = most ? v128.bitselect(left, a, v128.gt<i64>(left, a)) : v128.bitselect(left, a, v128.lt<i64>(left, a));
    b = most ? v128.bitselect(right, b, v128.gt<i64>(right, b)) : v128.bitselect(right, b, v128.lt<i64>(right, b));
  }
  for (let lane = 0; lane < 4; lane++) {
    const pair = (lane & 2) == 0 ? a : b;
    const value = <i64>((lane & 1) == 0 ? i64x2.extract_lane(pair, 0) : i64x2.extract_lane(pair, 1));
    found = most ? max(found, value) : min(found, value);
  }
  for (; row < to; row++) {
    const value = <i64>(load<u64>(data + (row << 3)) ^ flip);
    if (presentMask(validity, row) != 0) found = most ? max(found, value) : min(found, value);
  }
  return found;
}

/** The least float of each cell, from rows whose cells are listed. */
export function rowsLeastFloat(cells: u32, rows: u32, first: u32, count: u32, data: u32, validity: u32, target: u32): void {
  foldRowsFloat(cells, rows, first, count, data, validity, target, false);
}

/** The greatest float of each cell, from rows whose cells are listed. */
export function rowsMostFloat(cells: u32, rows: u32, first: u32, count: u32, data: u32, validity: u32, target: u32): void {
  foldRowsFloat(cells, rows, first, count, data, validity, target, true);
}

// @ts-ignore: decorator
@inline
function foldRowsFloat(cells: u32, rows: u32, first: u32, count: u32, data: u32, validity: u32, target: u32, most: bool): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = rowOf(rows, first, i);
    if (presentMask(validity, row) == 0) continue;
    foldFloat(target + (load<u32>(cells + (i << 2)) << 3), load<f64>(data + (row << 3)), most);
  }
}

/** The least integer of each cell, from rows whose cells are listed. */
export function rowsLeastInteger(
  cells: u32,
  rows: u32,
  first: u32,
  count: u32,
  data: u32,
  validity: u32,
  target: u32,
  flip: u64,
): void {
  foldRowsInteger(cells, rows, first, count, data, validity, target, flip, false);
}

/** The greatest integer of each cell, from rows whose cells are listed. */
export function rowsMostInteger(
  cells: u32,
  rows: u32,
  first: u32,
  count: u32,
  data: u32,
  validity: u32,
  target: u32,
  flip: u64,
): void {
  foldRowsInteger(cells, rows, first, count, data, validity, target, flip, true);
}

// @ts-ignore: decorator
@inline
function foldRowsInteger(
  cells: u32,
  rows: u32,
  first: u32,
  count: u32,
  data: u32,
  validity: u32,
  target: u32,
  flip: u64,
  most: bool,
): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = rowOf(rows, first, i);
    if (presentMask(validity, row) == 0) continue;
    foldInteger(target + (load<u32>(cells + (i << 2)) << 3), <i64>(load<u64>(data + (row << 3)) ^ flip), most);
  }
}
