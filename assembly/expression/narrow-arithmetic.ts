// Sums, differences and products of integers in one or two bytes, of columns that wait narrowed: of each other or of a constant, without
// widening them.
import { EXPRESSION_REGISTER_BYTES, STEP_ADD_INTEGER, STEP_SUBTRACT_INTEGER } from "../abi";
import { baseOf, narrowValuesOf, putValues, widthOf } from "./registers";

/** What is added to values of two bytes or less, so that sums fit 32 bits and products 64. */
const BASE_MAX: i64 = 1 << 29;

/** The result of a step on two registers; false: they are not both so narrow, and nothing was done. `step` is a constant. */
// @ts-ignore: decorator
@inline
export function computeNarrow(step: u32, at: u32, count: u32): bool {
  const other = at + EXPRESSION_REGISTER_BYTES;
  if (!isNarrow(at) || !isNarrow(other) || (widthOf(at) | widthOf(other)) == 0) return false;
  const width = widthOf(at);
  const otherWidth = widthOf(other);
  const base = i32x4.splat(<i32>baseOf(at));
  const otherBase = i32x4.splat(<i32>baseOf(other));
  let left = narrowValuesOf(at);
  let right = narrowValuesOf(other);
  // what is narrow is in a column, not in the register that is written
  for (let to = at, end = at + (count << 3); to < end; to += 64, left += width << 3, right += otherWidth << 3) {
    const a = eightAt(left, width);
    const b = eightAt(right, otherWidth);
    storeFour(step, to, i32x4.add(i32x4.extend_low_i16x8_u(a), base), i32x4.add(i32x4.extend_low_i16x8_u(b), otherBase));
    storeFour(step, to + 32, i32x4.add(i32x4.extend_high_i16x8_u(a), base), i32x4.add(i32x4.extend_high_i16x8_u(b), otherBase));
  }
  putValues(at, at);
  return true;
}

// @ts-ignore: decorator
@inline
function isNarrow(register: u32): bool {
  const base = baseOf(register);
  return widthOf(register) <= 2 && base < BASE_MAX && base >= -BASE_MAX;
}

// @ts-ignore: decorator
@inline
function storeFour(step: u32, to: u32, a: v128, b: v128): void {
  if (step == STEP_ADD_INTEGER || step == STEP_SUBTRACT_INTEGER) {
    const four = step == STEP_ADD_INTEGER ? i32x4.add(a, b) : i32x4.sub(a, b);
    v128.store(to, i64x2.extend_low_i32x4_s(four));
    v128.store(to, i64x2.extend_high_i32x4_s(four), 16);
    return;
  }
  v128.store(to, i64x2.extmul_low_i32x4_s(a, b));
  v128.store(to, i64x2.extmul_high_i32x4_s(a, b), 16);
}

/** Eight values in lanes of 16 bits; of a constant only its base counts. */
// @ts-ignore: decorator
@inline
export function eightAt(values: u32, width: u32): v128 {
  if (width == 1) return v128.load8x8_u(values);
  return width == 2 ? v128.load(values) : i64x2.splat(0);
}
