// Sums of squared deviations from the mean per cell, with the number and the mean of the values that they are of. A span's mean is found
// before its deviations, as a distance from its first value, so that equal values have none; spans are joined by their means (Chan, Golub,
// LeVeque, Stanford STAN-CS-79-773). Rows are added one by one (Welford, Technometrics 4, 1962).
import { bitAt } from "../memory/bits";
import { SPAN_BYTES } from "./cells";
import { presentMask, rowOf } from "./reduce-sum";

/** Of spans of floats. moments: | count f64 | mean f64 | of a cell; squares: f64. */
export function spansSquaresFloat(spans: u32, count: u32, data: u32, validity: u32, moments: u32, squares: u32): void {
  addSpans<f64>(spans, count, data, validity, moments, squares);
}

/** Of spans of integers. */
export function spansSquaresInteger(spans: u32, count: u32, data: u32, validity: u32, moments: u32, squares: u32): void {
  addSpans<i64>(spans, count, data, validity, moments, squares);
}

/** Of spans of unsigned integers. */
export function spansSquaresUnsigned(spans: u32, count: u32, data: u32, validity: u32, moments: u32, squares: u32): void {
  addSpans<u64>(spans, count, data, validity, moments, squares);
}

/** Of floats whose cells are listed. */
export function rowsSquaresFloat(
  cells: u32,
  rows: u32,
  first: u32,
  count: u32,
  data: u32,
  validity: u32,
  moments: u32,
  squares: u32,
): void {
  addRows<f64>(cells, rows, first, count, data, validity, moments, squares);
}

/** Of integers whose cells are listed. */
export function rowsSquaresInteger(
  cells: u32,
  rows: u32,
  first: u32,
  count: u32,
  data: u32,
  validity: u32,
  moments: u32,
  squares: u32,
): void {
  addRows<i64>(cells, rows, first, count, data, validity, moments, squares);
}

/** Of unsigned integers whose cells are listed. */
export function rowsSquaresUnsigned(
  cells: u32,
  rows: u32,
  first: u32,
  count: u32,
  data: u32,
  validity: u32,
  moments: u32,
  squares: u32,
): void {
  addRows<u64>(cells, rows, first, count, data, validity, moments, squares);
}

function addSpans<T>(spans: u32, count: u32, data: u32, validity: u32, moments: u32, squares: u32): void {
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const from = load<u32>(spans, 4);
    const to = load<u32>(spans, 8);
    const cell = load<u32>(spans);
    if (validity != 0) addPresent<T>(data, validity, from, to, cell, moments, squares);
    else if (isFloat<T>()) addFloats(data + (from << 3), to - from, cell, moments, squares);
    else addAll<T>(data + (from << 3), to - from, cell, moments, squares);
  }
}

function addFloats(at: u32, count: u32, cell: u32, moments: u32, squares: u32): void {
  if (count == 0) return;
  const begin = load<f64>(at);
  const wide = at + ((count & ~7) << 3);
  const end = at + (count << 3);
  const from = f64x2.splat(begin);
  let a = f64x2.splat(0);
  let b = f64x2.splat(0);
  let c = f64x2.splat(0);
  let d = f64x2.splat(0);
  let row = at;
  for (; row < wide; row += 64) {
    a = f64x2.add(a, f64x2.sub(v128.load(row), from));
    b = f64x2.add(b, f64x2.sub(v128.load(row, 16), from));
    c = f64x2.add(c, f64x2.sub(v128.load(row, 32), from));
    d = f64x2.add(d, f64x2.sub(v128.load(row, 48), from));
  }
  let sum = sumOfLanes(a, b, c, d);
  for (; row < end; row += 8) sum += load<f64>(row) - begin;
  const mean = begin + sum / <f64>count;
  const middle = f64x2.splat(mean);
  a = b = c = d = f64x2.splat(0);
  for (row = at; row < wide; row += 64) {
    a = f64x2.add(a, squared(f64x2.sub(v128.load(row), middle)));
    b = f64x2.add(b, squared(f64x2.sub(v128.load(row, 16), middle)));
    c = f64x2.add(c, squared(f64x2.sub(v128.load(row, 32), middle)));
    d = f64x2.add(d, squared(f64x2.sub(v128.load(row, 48), middle)));
  }
  let total = sumOfLanes(a, b, c, d);
  for (; row < end; row += 8) {
    const distance = load<f64>(row) - mean;
    total += distance * distance;
  }
  join(cell, <f64>count, mean, total, moments, squares);
}

// @ts-ignore: decorator
@inline
function squared(lanes: v128): v128 {
  return f64x2.mul(lanes, lanes);
}

function sumOfLanes(a: v128, b: v128, c: v128, d: v128): f64 {
  const lanes = f64x2.add(f64x2.add(a, b), f64x2.add(c, d));
  return f64x2.extract_lane(lanes, 0) + f64x2.extract_lane(lanes, 1);
}

/** Of integers, whose conversion has no SIMD. */
function addAll<T>(at: u32, count: u32, cell: u32, moments: u32, squares: u32): void {
  if (count == 0) return;
  const begin = valueAt<T>(at);
  const wide = at + ((count & ~3) << 3);
  const end = at + (count << 3);
  let a: f64 = 0;
  let b: f64 = 0;
  let c: f64 = 0;
  let d: f64 = 0;
  let row = at;
  for (; row < wide; row += 32) {
    a += valueAt<T>(row) - begin;
    b += valueAt<T>(row + 8) - begin;
    c += valueAt<T>(row + 16) - begin;
    d += valueAt<T>(row + 24) - begin;
  }
  for (; row < end; row += 8) a += valueAt<T>(row) - begin;
  const mean = begin + (a + b + (c + d)) / <f64>count;
  a = b = c = d = 0;
  for (row = at; row < wide; row += 32) {
    const first = valueAt<T>(row) - mean;
    const second = valueAt<T>(row + 8) - mean;
    const third = valueAt<T>(row + 16) - mean;
    const fourth = valueAt<T>(row + 24) - mean;
    a += first * first;
    b += second * second;
    c += third * third;
    d += fourth * fourth;
  }
  for (; row < end; row += 8) {
    const distance = valueAt<T>(row) - mean;
    a += distance * distance;
  }
  join(cell, <f64>count, mean, a + b + (c + d), moments, squares);
}

function addPresent<T>(data: u32, validity: u32, from: u32, to: u32, cell: u32, moments: u32, squares: u32): void {
  let count: f64 = 0;
  let begin: f64 = 0;
  let sum: f64 = 0;
  for (let row = from; row < to; row++) {
    if (bitAt(validity, row) == 0) continue;
    const value = valueAt<T>(data + (row << 3));
    if (count == 0) begin = value;
    count += 1;
    sum += value - begin;
  }
  if (count == 0) return;
  const mean = begin + sum / count;
  let total: f64 = 0;
  for (let row = from; row < to; row++) {
    if (bitAt(validity, row) == 0) continue;
    const distance = valueAt<T>(data + (row << 3)) - mean;
    total += distance * distance;
  }
  join(cell, count, mean, total, moments, squares);
}

function addRows<T>(
  cells: u32,
  rows: u32,
  first: u32,
  count: u32,
  data: u32,
  validity: u32,
  moments: u32,
  squares: u32,
): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = rowOf(rows, first, i);
    if (presentMask(validity, row) == 0) continue;
    const cell = load<u32>(cells + (i << 2));
    const value = valueAt<T>(data + (row << 3));
    const moment = moments + (cell << 4);
    const at = squares + (cell << 3);
    const known = load<f64>(moment);
    // a mean of 0 would lose what the first value is
    const mean = known == 0 ? value : load<f64>(moment, 8);
    const distance = value - mean;
    const next = mean + distance / (known + 1);
    store<f64>(moment, known + 1);
    store<f64>(moment, next, 8);
    store<f64>(at, load<f64>(at) + distance * (value - next));
  }
}

/** Adds the values of a span to those of its cell. */
function join(cell: u32, count: f64, mean: f64, total: f64, moments: u32, squares: u32): void {
  const moment = moments + (cell << 4);
  const at = squares + (cell << 3);
  const known = load<f64>(moment);
  if (known == 0) {
    store<f64>(moment, count);
    store<f64>(moment, mean, 8);
    store<f64>(at, total);
    return;
  }
  const before = load<f64>(moment, 8);
  const distance = mean - before;
  const share = count / (known + count);
  store<f64>(moment, known + count);
  store<f64>(moment, before + distance * share, 8);
  store<f64>(at, load<f64>(at) + total + distance * distance * known * share);
}

// @ts-ignore: decorator
@inline
function valueAt<T>(at: u32): f64 {
  return isFloat<T>() ? load<f64>(at) : isSigned<T>() ? <f64>load<i64>(at) : <f64>load<u64>(at);
}
