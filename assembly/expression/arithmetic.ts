// Arithmetic on registers: the result takes the place of the left operand.
import {
  EXPRESSION_REGISTER_BYTES,
  STEP_ADD_FLOAT,
  STEP_ADD_INTEGER,
  STEP_MULTIPLY_FLOAT,
  STEP_MULTIPLY_INTEGER,
  STEP_SUBTRACT_FLOAT,
  STEP_SUBTRACT_INTEGER,
} from "../abi";
import { computeNarrow } from "./narrow-arithmetic";
import { isNullOf, putValues, valuesOf } from "./registers";

/** The integers of a register as floats. */
export function toFloats(at: u32, count: u32): void {
  const values = valuesOf(at, count);
  putValues(at, at);
  for (let i: u32 = 0; i < count; i++) store<f64>(at + (i << 3), <f64>load<i64>(values + (i << 3)));
}

/** The floats of a register without their signs. */
export function absolutes(at: u32, count: u32): void {
  const values = valuesOf(at, count);
  putValues(at, at);
  for (let i: u32 = 0; i < count; i++) store<f64>(at + (i << 3), abs(load<f64>(values + (i << 3))));
}

/** + - * / of two registers. */
export function floats(step: u32, at: u32, count: u32): void {
  const left = valuesOf(at, count);
  const right = valuesOf(at + EXPRESSION_REGISTER_BYTES, count);
  putValues(at, at);
  // up to one more value than asked for, within the register
  const bytes = count << 3;
  switch (step) {
    case STEP_ADD_FLOAT:
      for (let i: u32 = 0; i < bytes; i += 16) v128.store(at + i, f64x2.add(v128.load(left + i), v128.load(right + i)));
      break;
    case STEP_SUBTRACT_FLOAT:
      for (let i: u32 = 0; i < bytes; i += 16) v128.store(at + i, f64x2.sub(v128.load(left + i), v128.load(right + i)));
      break;
    case STEP_MULTIPLY_FLOAT:
      for (let i: u32 = 0; i < bytes; i += 16) v128.store(at + i, f64x2.mul(v128.load(left + i), v128.load(right + i)));
      break;
    default: // STEP_DIVIDE_FLOAT
      for (let i: u32 = 0; i < bytes; i += 16) v128.store(at + i, f64x2.div(v128.load(left + i), v128.load(right + i)));
  }
}

// Pairs are computed beyond `count`, within the register. Whether a result left the 64 bits is in the sign of a word; only then it is asked
// which row it is of, and whether that has a value.

/** The sum of two registers. Returns false if one of them leaves 64 bits in a row with a value. */
export function addIntegers(at: u32, count: u32): bool {
  if (computeNarrow(STEP_ADD_INTEGER, at, count)) return true;
  const left = valuesOf(at, count);
  const right = valuesOf(at + EXPRESSION_REGISTER_BYTES, count);
  let beyond = i64x2.splat(0);
  for (let i: u32 = 0; i < count << 3; i += 16) {
    const a = v128.load(left + i);
    const b = v128.load(right + i);
    const sum = i64x2.add(a, b);
    beyond = v128.or(beyond, v128.and(v128.xor(a, sum), v128.xor(b, sum)));
    v128.store(at + i, sum);
  }
  putValues(at, at);
  if (i64x2.bitmask(beyond) == 0) return true;
  for (let i: u32 = 0; i < count; i++) {
    const b = load<i64>(right + (i << 3));
    const sum = load<i64>(at + (i << 3));
    if ((((sum - b) ^ sum) & (b ^ sum)) < 0 && !isNullOf(at, i)) return false;
  }
  return true;
}

/** The difference of two registers; returns as addIntegers. */
export function subtractIntegers(at: u32, count: u32): bool {
  if (computeNarrow(STEP_SUBTRACT_INTEGER, at, count)) return true;
  const left = valuesOf(at, count);
  const right = valuesOf(at + EXPRESSION_REGISTER_BYTES, count);
  let beyond = i64x2.splat(0);
  for (let i: u32 = 0; i < count << 3; i += 16) {
    const a = v128.load(left + i);
    const b = v128.load(right + i);
    const difference = i64x2.sub(a, b);
    beyond = v128.or(beyond, v128.and(v128.xor(a, b), v128.xor(a, difference)));
    v128.store(at + i, difference);
  }
  putValues(at, at);
  if (i64x2.bitmask(beyond) == 0) return true;
  for (let i: u32 = 0; i < count; i++) {
    const b = load<i64>(right + (i << 3));
    const difference = load<i64>(at + (i << 3));
    const a = difference + b;
    if (((a ^ b) & (a ^ difference)) < 0 && !isNullOf(at, i)) return false;
  }
  return true;
}

/** The product of two registers; returns as addIntegers. */
export function multiplyIntegers(at: u32, count: u32): bool {
  if (computeNarrow(STEP_MULTIPLY_INTEGER, at, count)) return true;
  const left = valuesOf(at, count);
  const right = valuesOf(at + EXPRESSION_REGISTER_BYTES, count);
  const half = i64x2.splat(0x80000000);
  let fits = true;
  for (let i: u32 = 0; i < count; i += 2) {
    const a = v128.load(left + (i << 3));
    const b = v128.load(right + (i << 3));
    // of 32 bits: their product has 63
    const high = v128.or(i64x2.shr_u(i64x2.add(a, half), 32), i64x2.shr_u(i64x2.add(b, half), 32));
    if (v128.any_true(high)) {
      for (let row = i; row < min(i + 2, count); row++) {
        const isTooLarge = leaves64(load<i64>(left + (row << 3)), load<i64>(right + (row << 3)));
        if (isTooLarge) fits = fits && isNullOf(at, row);
      }
    }
    v128.store(at + (i << 3), i64x2.mul(a, b));
  }
  putValues(at, at);
  return fits;
}

function leaves64(a: i64, b: i64): bool {
  if (a == 0 || b == 0) return false;
  // -2^63 divided by -1 is no i64
  if (a == -1) return b == i64.MIN_VALUE;
  if (b == -1) return a == i64.MIN_VALUE;
  return (a * b) / b != a;
}

