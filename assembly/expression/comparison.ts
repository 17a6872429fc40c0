// Comparisons of registers, and choices between them.
import {
  EXPRESSION_NULLS,
  EXPRESSION_REGISTER_BYTES,
  STEP_EQUAL_FLOAT,
  STEP_EQUAL_INTEGER,
  STEP_LESS_FLOAT,
  STEP_LESS_INTEGER,
  TRUTH_TRUE,
} from "../abi";
import { hasNulls, isNullOf, markNulls, putValues, valuesOf } from "./registers";
import { compareNarrow } from "./narrow-comparison";

/** Truth values in place of the operands, of which each is read before it is overwritten. NaN equals itself and is greater than all other
 *  numbers, as in DuckDB. */
export function compare(step: u32, at: u32, count: u32): void {
  switch (step) {
    case STEP_LESS_FLOAT:
      compareAll(STEP_LESS_FLOAT, at, count);
      break;
    case STEP_EQUAL_FLOAT:
      compareAll(STEP_EQUAL_FLOAT, at, count);
      break;
    case STEP_LESS_INTEGER:
      if (!compareNarrow(STEP_LESS_INTEGER, at, count)) compareAll(STEP_LESS_INTEGER, at, count);
      break;
    default:
      if (!compareNarrow(STEP_EQUAL_INTEGER, at, count)) compareAll(STEP_EQUAL_INTEGER, at, count);
  }
}

// 16 at a time, of which each is read before 16 bytes are written; beyond `count` within the register. `step` is a constant.
// @ts-ignore: decorator
@inline
function compareAll(step: u32, at: u32, count: u32): void {
  const left = valuesOf(at, count);
  const right = valuesOf(at + EXPRESSION_REGISTER_BYTES, count);
  for (let i: u32 = 0; i < count; i += 16) {
    const a = left + (i << 3);
    const b = right + (i << 3);
    const low = i16x8.narrow_i32x4_s(fourAt(step, a, b), fourAt(step, a + 32, b + 32));
    const high = i16x8.narrow_i32x4_s(fourAt(step, a + 64, b + 64), fourAt(step, a + 96, b + 96));
    v128.store(at + i, v128.and(i8x16.narrow_i16x8_s(low, high), i8x16.splat(<i8>TRUTH_TRUE)));
  }
}

/** Four lanes of 32 bits, all of them set where the comparison is true. */
// @ts-ignore: decorator
@inline
function fourAt(step: u32, left: u32, right: u32): v128 {
  return v128.shuffle<i32>(pairAt(step, left, right), pairAt(step, left + 16, right + 16), 0, 2, 4, 6);
}

// @ts-ignore: decorator
@inline
function pairAt(step: u32, left: u32, right: u32): v128 {
  const a = v128.load(left);
  const b = v128.load(right);
  if (step == STEP_LESS_INTEGER) return i64x2.lt_s(a, b);
  if (step == STEP_EQUAL_INTEGER) return i64x2.eq(a, b);
  if (step == STEP_LESS_FLOAT) return v128.or(f64x2.lt(a, b), v128.and(f64x2.ne(b, b), f64x2.eq(a, a)));
  return v128.or(f64x2.eq(a, b), v128.and(f64x2.ne(b, b), f64x2.ne(a, a)));
}

/** The second operand where the first is true, otherwise the third. From the last row on: values overwrite truth values of later rows. */
export function choose(at: u32, count: u32): void {
  const left = at + EXPRESSION_REGISTER_BYTES;
  const right = left + EXPRESSION_REGISTER_BYTES;
  const leftValues = valuesOf(left, count);
  const rightValues = valuesOf(right, count);
  const mayBeNull = hasNulls(left) || hasNulls(right);
  for (let i = count; i-- > 0; ) {
    const isLeft = load<u8>(at + i) == TRUTH_TRUE;
    if (mayBeNull) store<u8>(at + i, <u8>isNullOf(isLeft ? left : right, i), EXPRESSION_NULLS);
    store<u64>(at + (i << 3), load<u64>((isLeft ? leftValues : rightValues) + (i << 3)));
  }
  putValues(at, at);
  markNulls(at, mayBeNull);
}
