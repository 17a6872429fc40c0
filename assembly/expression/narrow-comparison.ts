// Comparisons of integers in one or two bytes, of columns that wait narrowed: with each other or with a constant, without widening them.
import { EXPRESSION_REGISTER_BYTES, STEP_LESS_INTEGER, TRUTH_TRUE } from "../abi";
import { eightAt } from "./narrow-arithmetic";
import { baseOf, narrowValuesOf, widthOf } from "./registers";

/** In place of a constant, to which only its base is added. */
const ZEROS = memory.data(16, 16);

/** Truth values in place of the operands; false: they are not both so narrow, and nothing was done. `step` is a constant. */
// @ts-ignore: decorator
@inline
export function compareNarrow(step: u32, at: u32, count: u32): bool {
  const other = at + EXPRESSION_REGISTER_BYTES;
  const width = widthOf(at);
  const otherWidth = widthOf(other);
  if (max(width, otherWidth) > 2 || (width | otherWidth) == 0 || mayWrap(at) || mayWrap(other)) return false;
  if (max(width, otherWidth) == 1) compareBytes(step, at, count, distance(baseOf(at), baseOf(other), 1 << 8));
  else comparePairs(step, at, count, distance(baseOf(at), baseOf(other), 1 << 16));
  return true;
}

/** True if integers may go on at the other end of 64 bits. */
// @ts-ignore: decorator
@inline
function mayWrap(register: u32): bool {
  return widthOf(register) != 0 && baseOf(register) > i64.MAX_VALUE - 0xffff;
}

/** to - from, within [-most, most]: beyond these all comparisons of what is added to them have one result. */
// @ts-ignore: decorator
@inline
function distance(from: i64, to: i64, most: u64): i32 {
  return to >= from ? <i32>min<u64>(<u64>to - <u64>from, most) : -<i32>min<u64>(<u64>from - <u64>to, most);
}

// @ts-ignore: decorator
@inline
function startOf(register: u32): u32 {
  return widthOf(register) == 0 ? <u32>ZEROS : narrowValuesOf(register);
}

// Numbers of columns follow each other, those of a constant stay.

// @ts-ignore: decorator
@inline
function compareBytes(step: u32, at: u32, count: u32, offset: i32): void {
  const other = at + EXPRESSION_REGISTER_BYTES;
  const stride = widthOf(at) << 4;
  const otherStride = widthOf(other) << 4;
  const offsets = i16x8.splat(<i16>offset);
  let left = startOf(at);
  let right = startOf(other);
  for (let i: u32 = 0; i < count; i += 16, left += stride, right += otherStride) {
    const a = v128.load(left);
    const b = v128.load(right);
    const c = i16x8.add(i16x8.extend_low_i8x16_u(b), offsets);
    const d = i16x8.add(i16x8.extend_high_i8x16_u(b), offsets);
    let low = i16x8.extend_low_i8x16_u(a);
    let high = i16x8.extend_high_i8x16_u(a);
    low = step == STEP_LESS_INTEGER ? i16x8.lt_s(low, c) : i16x8.eq(low, c);
    high = step == STEP_LESS_INTEGER ? i16x8.lt_s(high, d) : i16x8.eq(high, d);
    v128.store(at + i, v128.and(i8x16.narrow_i16x8_s(low, high), i8x16.splat(<i8>TRUTH_TRUE)));
  }
}

// @ts-ignore: decorator
@inline
function comparePairs(step: u32, at: u32, count: u32, offset: i32): void {
  const other = at + EXPRESSION_REGISTER_BYTES;
  const width = widthOf(at);
  const otherWidth = widthOf(other);
  const offsets = i32x4.splat(offset);
  let left = startOf(at);
  let right = startOf(other);
  for (let i: u32 = 0; i < count; i += 8, left += width << 3, right += otherWidth << 3) {
    const a = eightAt(left, width);
    const b = eightAt(right, otherWidth);
    const c = i32x4.add(i32x4.extend_low_i16x8_u(b), offsets);
    const d = i32x4.add(i32x4.extend_high_i16x8_u(b), offsets);
    let low = i32x4.extend_low_i16x8_u(a);
    let high = i32x4.extend_high_i16x8_u(a);
    low = step == STEP_LESS_INTEGER ? i32x4.lt_s(low, c) : i32x4.eq(low, c);
    high = step == STEP_LESS_INTEGER ? i32x4.lt_s(high, d) : i32x4.eq(high, d);
    const truths = i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(low, high), i16x8.splat(0));
    v128.store64_lane(at + i, v128.and(truths, i8x16.splat(<i8>TRUTH_TRUE)), 0);
  }
}
