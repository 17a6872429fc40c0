// Sums of integers per cell, i64 or u64 as T says. Each call tells whether an addition left the 64 bits: the cells are worthless then. It
// may do so although the whole sum would fit, because SIMD lanes add up apart from each other.
import { SPAN_BYTES } from "./cells";
import { pairMask, presentMask, rowOf } from "./reduce-sum";

// The highest bit is set when an addition since the call began has overflowed.
let overflow: u64 = 0;

/** sums[cell] += the present values of the spans. Not 0: overflow. */
export function spansSumInteger(spans: u32, count: u32, data: u32, validity: u32, sums: u32): u32 {
  return sumSpans<i64>(spans, count, data, validity, sums);
}

/** The sum of the unsigned integers of each span, into its cell. */
export function spansSumUnsigned(spans: u32, count: u32, data: u32, validity: u32, sums: u32): u32 {
  return sumSpans<u64>(spans, count, data, validity, sums);
}

/** spansSumInteger, or spansSumUnsigned, of values that are all present and narrowed (codec/narrow.ts): below 2^17 of them to a span, and
 *  `base` within 2^47 of 0, so that the sum of a span does not leave 63 bits. */
export function spansSumNarrow(spans: u32, count: u32, data: u32, width: u32, base: i64, unsigned: bool, sums: u32): u32 {
  overflow = 0;
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const from = load<u32>(spans, 4);
    const rows = load<u32>(spans, 8) - from;
    const sum = base * <i64>rows + sumNarrow(data + from * width, rows, width);
    const at = sums + (load<u32>(spans) << 3);
    const known = load<u64>(at);
    store<u64>(at, unsigned ? add<u64>(known, sum) : add<i64>(known, sum));
  }
  return <u32>(overflow >> 63);
}

function sumNarrow(at: u32, count: u32, width: u32): u64 {
  const end = at + count * width;
  const wide = at + ((count * width) & ~15);
  let lanes = i64x2.splat(0);
  if (width == 4) {
    for (; at < wide; at += 16) {
      const values = v128.load(at);
      lanes = i64x2.add(lanes, i64x2.add(i64x2.extend_low_i32x4_u(values), i64x2.extend_high_i32x4_u(values)));
    }
  } else {
    // 2^17 values are 2^14 times eight: a lane of 32 bits gets twice 65,535 each time
    let sums = i32x4.splat(0);
    for (; at < wide; at += 16) {
      const values = v128.load(at);
      const words = width == 1 ? i16x8.extadd_pairwise_i8x16_u(values) : values;
      sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_u(words));
    }
    lanes = i64x2.add(i64x2.extend_low_i32x4_u(sums), i64x2.extend_high_i32x4_u(sums));
  }
  let sum = <u64>i64x2.extract_lane(lanes, 0) + <u64>i64x2.extract_lane(lanes, 1);
  for (; at < end; at += width) sum += width == 1 ? <u64>load<u8>(at) : width == 2 ? <u64>load<u16>(at) : <u64>load<u32>(at);
  return sum;
}

/** sums[cell of a row] += its value if it is present. Not 0: overflow. */
export function rowsSumInteger(cells: u32, rows: u32, first: u32, count: u32, data: u32, validity: u32, sums: u32): u32 {
  return sumRows<i64>(cells, rows, first, count, data, validity, sums);
}

/** The sum of the unsigned integers of each cell, from rows whose cells are listed. */
export function rowsSumUnsigned(cells: u32, rows: u32, first: u32, count: u32, data: u32, validity: u32, sums: u32): u32 {
  return sumRows<u64>(cells, rows, first, count, data, validity, sums);
}

/** Highest bit: a + b = sum left the range. Signed: both have the sign that the sum has not; unsigned: the carry out. */
// @ts-ignore: decorator
@inline
function carry<T>(a: u64, b: u64, sum: u64): u64 {
  return isSigned<T>() ? (a ^ sum) & (b ^ sum) : (a & b) | ((a | b) & ~sum);
}

// @ts-ignore: decorator
@inline
function carryPair<T>(a: v128, b: v128, sum: v128): v128 {
  if (isSigned<T>()) return v128.and(v128.xor(a, sum), v128.xor(b, sum));
  return v128.or(v128.and(a, b), v128.andnot(v128.or(a, b), sum));
}

// @ts-ignore: decorator
@inline
function add<T>(a: u64, b: u64): u64 {
  const sum = a + b;
  overflow |= carry<T>(a, b, sum);
  return sum;
}

function sumSpans<T>(spans: u32, count: u32, data: u32, validity: u32, sums: u32): u32 {
  overflow = 0;
  for (const end = spans + count * SPAN_BYTES; spans < end; spans += SPAN_BYTES) {
    const from = load<u32>(spans, 4);
    const to = load<u32>(spans, 8);
    const sum = validity == 0 ? sumAll<T>(data + (from << 3), to - from) : sumPresent<T>(data, validity, from, to);
    const at = sums + (load<u32>(spans) << 3);
    store<u64>(at, add<T>(load<u64>(at), sum));
  }
  return <u32>(overflow >> 63);
}

function sumAll<T>(at: u32, count: u32): u64 {
  let a = i64x2.splat(0);
  let b = i64x2.splat(0);
  let over = i64x2.splat(0);
  for (const wide = at + ((count & ~3) << 3); at < wide; at += 32) {
    const left = v128.load(at);
    const right = v128.load(at, 16);
    const nextA = i64x2.add(a, left);
    const nextB = i64x2.add(b, right);
    over = v128.or(over, v128.or(carryPair<T>(a, left, nextA), carryPair<T>(b, right, nextB)));
    a = nextA;
    b = nextB;
  }
  let sum = sumLanes<T>(a, b, over);
  for (const end = at + ((count & 3) << 3); at < end; at += 8) sum = add<T>(sum, load<u64>(at));
  return sum;
}

function sumPresent<T>(data: u32, validity: u32, from: u32, to: u32): u64 {
  let head: u64 = 0;
  let row = from;
  for (; row < to && (row & 7) != 0; row++) head = add<T>(head, presentValue(data, validity, row));
  let a = i64x2.splat(0);
  let b = i64x2.splat(0);
  let over = i64x2.splat(0);
  for (; row + 8 <= to; row += 8) {
    let bits = <u32>load<u8>(validity + (row >> 3));
    for (let at = data + (row << 3), end = at + 64; at < end; at += 32, bits >>= 4) {
      const left = v128.and(v128.load(at), pairMask(bits));
      const right = v128.and(v128.load(at, 16), pairMask(bits >> 2));
      const nextA = i64x2.add(a, left);
      const nextB = i64x2.add(b, right);
      over = v128.or(over, v128.or(carryPair<T>(a, left, nextA), carryPair<T>(b, right, nextB)));
      a = nextA;
      b = nextB;
    }
  }
  let sum = add<T>(head, sumLanes<T>(a, b, over));
  for (; row < to; row++) sum = add<T>(sum, presentValue(data, validity, row));
  return sum;
}

// @ts-ignore: decorator
@inline
function sumLanes<T>(a: v128, b: v128, over: v128): u64 {
  overflow |= i64x2.extract_lane(over, 0) | i64x2.extract_lane(over, 1);
  const left = add<T>(i64x2.extract_lane(a, 0), i64x2.extract_lane(a, 1));
  return add<T>(left, add<T>(i64x2.extract_lane(b, 0), i64x2.extract_lane(b, 1)));
}

// @ts-ignore: decorator
@inline
function presentValue(data: u32, validity: u32, row: u32): u64 {
  return load<u64>(data + (row << 3)) & presentMask(validity, row);
}

function sumRows<T>(cells: u32, rows: u32, first: u32, count: u32, data: u32, validity: u32, sums: u32): u32 {
  let over: u64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const at = sums + (load<u32>(cells + (i << 2)) << 3);
    const value = presentValue(data, validity, rowOf(rows, first, i));
    const before = load<u64>(at);
    const sum = before + value;
    over |= carry<T>(before, value, sum);
    store<u64>(at, sum);
  }
  return <u32>(over >> 63);
}
