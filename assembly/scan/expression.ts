// Values computed from the columns of a run, such as a * b, or a > b OR c IS NULL: a program (drawn in abi.ts) whose steps work on a stack
// of registers, each of EXPRESSION_ROWS rows at a time, so that they stay in the processor's cache.
//
// A register has 8-byte values and a byte per row, 1 = NULL, which is read only if its mark is set; or truth values, one byte each, in an
// order in which AND is the lesser of two and OR the greater.
import {
  EXPRESSION_HEADER_BYTES,
  EXPRESSION_MARK,
  EXPRESSION_NULLS,
  EXPRESSION_REGISTER_BYTES,
  EXPRESSION_ROWS,
  EXPRESSION_STEP_BYTES,
  STEP_ABSOLUTE_FLOAT,
  STEP_ADD_FLOAT,
  STEP_ADD_INTEGER,
  STEP_AND,
  STEP_CHOOSE,
  STEP_CHOOSE_TRUTH,
  STEP_CONSTANT,
  STEP_CONSTANT_TRUTH,
  STEP_DIVIDE_FLOAT,
  STEP_EQUAL_FLOAT,
  STEP_EQUAL_INTEGER,
  STEP_IS_NULL,
  STEP_IS_NULL_TRUTH,
  STEP_LESS_FLOAT,
  STEP_LESS_INTEGER,
  STEP_LOAD,
  STEP_LOAD_TRUTH,
  STEP_MULTIPLY_FLOAT,
  STEP_MULTIPLY_INTEGER,
  STEP_NOT,
  STEP_NULL,
  STEP_OR,
  STEP_SUBTRACT_FLOAT,
  STEP_SUBTRACT_INTEGER,
  STEP_TO_FLOAT,
  TRUTH_FALSE,
  TRUTH_NULL,
  TRUTH_TRUE,
} from "../abi";
import { bitAt, putBit } from "../memory/bits";
import { areAdjacent, keepFour } from "./kept-rows";

/** Drawn in abi.ts. */
@unmanaged
class Program {
  failed: u32;
  stepCount: u32;
  registers: u32;
  isTruth: u32;
}

if (offsetof<Program>() != EXPRESSION_HEADER_BYTES) ERROR("abi.ts: EXPRESSION_HEADER_BYTES drifted");

/** Keeps those of `count` rows for which the program is true. Returns how many. An integer that does not fit marks it as failed. */
export function keepTrue(program: u32, rows: u32, count: u32): u32 {
  const truths = changetype<Program>(program).registers;
  let out = rows;
  for (let from: u32 = 0; from < count; from += EXPRESSION_ROWS) {
    const rest = min<u32>(count - from, EXPRESSION_ROWS);
    const part = rows + (from << 2);
    if (areAdjacent(part, rest)) run(program, 0, load<u32>(part), rest);
    else run(program, part, 0, rest);
    let i: u32 = 0;
    for (const four = rest & ~3; i < four; i += 4) {
      // four bytes, of which those that are true have their second bit set
      const truth = (load<u32>(truths + i) >> 1) & 0x01010101;
      out = keepFour(v128.load(part + (i << 2)), (truth | (truth >> 7) | (truth >> 14) | (truth >> 21)) & 15, out);
    }
    for (; i < rest; i++) {
      store<u32>(out, load<u32>(part + (i << 2)));
      out += <u32>(load<u8>(truths + i) == TRUTH_TRUE) << 2;
    }
  }
  return (out - rows) >> 2;
}

/** Writes the values of all rows, 8 bytes each or one for truth values, and bits of those that are present to a bitmap of zeros. Returns
 *  the number of NULLs; all ones: an integer does not fit. */
export function expressionColumn(program: u32, rowCount: u32, target: u32, validity: u32): u32 {
  const result = changetype<Program>(program).registers;
  const isTruth = changetype<Program>(program).isTruth != 0;
  let absent: u32 = 0;
  for (let from: u32 = 0; from < rowCount; from += EXPRESSION_ROWS) {
    const count = min<u32>(rowCount - from, EXPRESSION_ROWS);
    run(program, 0, from, count);
    if (changetype<Program>(program).failed != 0) return u32.MAX_VALUE;
    absent += isTruth ? writeTruths(result, from, count, target, validity) : writeValues(result, from, count, target, validity);
  }
  return absent;
}

function writeTruths(result: u32, from: u32, count: u32, target: u32, validity: u32): u32 {
  let absent: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const truth = load<u8>(result + i);
    store<u8>(target + from + i, <u8>(truth == TRUTH_TRUE));
    if (truth == TRUTH_NULL) absent++;
    else putBit(validity, from + i);
  }
  return absent;
}

function writeValues(result: u32, from: u32, count: u32, target: u32, validity: u32): u32 {
  memory.copy(target + (from << 3), result, count << 3);
  if (!hasNulls(result)) {
    // a register begins at a whole byte of the bitmap
    memory.fill(validity + (from >> 3), 0xff, (count + 7) >> 3);
    return 0;
  }
  let absent: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    if (isNull(result, i)) {
      store<u64>(target + ((from + i) << 3), 0);
      absent++;
    } else putBit(validity, from + i);
  }
  return absent;
}

/** Leaves the result in the first register. `rows` 0: those from `first` on. */
function run(program: u32, rows: u32, first: u32, count: u32): void {
  const registers = changetype<Program>(program).registers;
  const end = program + EXPRESSION_HEADER_BYTES + changetype<Program>(program).stepCount * EXPRESSION_STEP_BYTES;
  for (let step = program + EXPRESSION_HEADER_BYTES; step < end; step += EXPRESSION_STEP_BYTES) {
    const at = registers + load<u32>(step, 4) * EXPRESSION_REGISTER_BYTES;
    if (!runStep(load<u32>(step), at, load<u64>(step, 8), rows, first, count)) changetype<Program>(program).failed = 1;
  }
}

/** The step's operands are in the registers from `at` on, and its result will be there. Returns false if an integer does not fit. */
function runStep(step: u32, at: u32, low: u64, rows: u32, first: u32, count: u32): bool {
  switch (step) {
    case STEP_LOAD:
      loadValues(at, <u32>low, <u32>(low >> 32), rows, first, count);
      return true;
    case STEP_LOAD_TRUTH:
      loadTruths(at, <u32>low, <u32>(low >> 32), rows, first, count);
      return true;
    case STEP_CONSTANT:
      for (let i: u32 = 0; i < count; i++) store<u64>(at + (i << 3), low);
      markNulls(at, false);
      return true;
    case STEP_CONSTANT_TRUTH:
      memory.fill(at, <u8>low, count);
      return true;
    case STEP_NULL:
      memory.fill(at, 0, count << 3);
      memory.fill(at + EXPRESSION_NULLS, 1, count);
      markNulls(at, true);
      return true;
    case STEP_TO_FLOAT:
      for (let i: u32 = 0; i < count; i++) store<f64>(at + (i << 3), <f64>load<i64>(at + (i << 3)));
      return true;
    case STEP_ABSOLUTE_FLOAT:
      for (let i: u32 = 0; i < count; i++) store<f64>(at + (i << 3), abs(load<f64>(at + (i << 3))));
      return true;
    case STEP_ADD_FLOAT:
    case STEP_SUBTRACT_FLOAT:
    case STEP_MULTIPLY_FLOAT:
    case STEP_DIVIDE_FLOAT:
      joinNulls(at, count);
      floats(step, at, count);
      return true;
    case STEP_ADD_INTEGER:
      joinNulls(at, count);
      return addIntegers(at, count);
    case STEP_SUBTRACT_INTEGER:
      joinNulls(at, count);
      return subtractIntegers(at, count);
    case STEP_MULTIPLY_INTEGER:
      joinNulls(at, count);
      return multiplyIntegers(at, count);
    case STEP_LESS_FLOAT:
    case STEP_EQUAL_FLOAT:
    case STEP_LESS_INTEGER:
    case STEP_EQUAL_INTEGER:
      joinNulls(at, count);
      compare(step, at, count);
      if (hasNulls(at)) for (let i: u32 = 0; i < count; i++) if (isNull(at, i)) store<u8>(at + i, TRUTH_NULL);
      return true;
    case STEP_AND:
      for (let i: u32 = 0; i < count; i += 16) {
        v128.store(at + i, i8x16.min_u(v128.load(at + i), v128.load(at + i, EXPRESSION_REGISTER_BYTES)));
      }
      return true;
    case STEP_OR:
      for (let i: u32 = 0; i < count; i += 16) {
        v128.store(at + i, i8x16.max_u(v128.load(at + i), v128.load(at + i, EXPRESSION_REGISTER_BYTES)));
      }
      return true;
    case STEP_NOT:
      for (let i: u32 = 0; i < count; i += 16) v128.store(at + i, i8x16.sub(i8x16.splat(<i8>TRUTH_TRUE), v128.load(at + i)));
      return true;
    case STEP_IS_NULL:
      if (!hasNulls(at)) memory.fill(at, <u8>TRUTH_FALSE, count);
      else for (let i: u32 = 0; i < count; i++) store<u8>(at + i, <u8>(isNull(at, i) ? TRUTH_TRUE : TRUTH_FALSE));
      return true;
    case STEP_IS_NULL_TRUTH:
      for (let i: u32 = 0; i < count; i++) store<u8>(at + i, load<u8>(at + i) == TRUTH_NULL ? TRUTH_TRUE : TRUTH_FALSE);
      return true;
    case STEP_CHOOSE:
      choose(at, count);
      return true;
    case STEP_CHOOSE_TRUTH:
      for (let i: u32 = 0; i < count; i++) {
        const chosen = at + (load<u8>(at + i) == TRUTH_TRUE ? 1 : 2) * EXPRESSION_REGISTER_BYTES;
        store<u8>(at + i, load<u8>(chosen + i));
      }
      return true;
  }
  unreachable();
  return true;
}

// @ts-ignore: decorator
@inline
function hasNulls(register: u32): bool {
  return load<u32>(register, EXPRESSION_MARK) != 0;
}

// @ts-ignore: decorator
@inline
function isNull(register: u32, row: u32): bool {
  return load<u8>(register + row, EXPRESSION_NULLS) != 0;
}

// @ts-ignore: decorator
@inline
function markNulls(register: u32, has: bool): void {
  store<u32>(register, <u32>has, EXPRESSION_MARK);
}

function loadValues(at: u32, data: u32, validity: u32, rows: u32, first: u32, count: u32): void {
  if (rows == 0) memory.copy(at, data + (first << 3), count << 3);
  else for (let i: u32 = 0; i < count; i++) store<u64>(at + (i << 3), load<u64>(data + (load<u32>(rows + (i << 2)) << 3)));
  markNulls(at, validity != 0);
  if (validity == 0) return;
  for (let i: u32 = 0; i < count; i++) {
    const row = rows == 0 ? first + i : load<u32>(rows + (i << 2));
    store<u8>(at + i, <u8>!bitAt(validity, row), EXPRESSION_NULLS);
  }
}

function loadTruths(at: u32, data: u32, validity: u32, rows: u32, first: u32, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = rows == 0 ? first + i : load<u32>(rows + (i << 2));
    const isPresent = validity == 0 || bitAt(validity, row);
    store<u8>(at + i, !isPresent ? TRUTH_NULL : load<u8>(data + row) != 0 ? TRUTH_TRUE : TRUTH_FALSE);
  }
}

/** What is computed from a NULL is NULL. */
function joinNulls(at: u32, count: u32): void {
  const other = at + EXPRESSION_REGISTER_BYTES;
  if (!hasNulls(other)) return;
  if (!hasNulls(at)) {
    memory.copy(at + EXPRESSION_NULLS, other + EXPRESSION_NULLS, count);
    markNulls(at, true);
    return;
  }
  for (let i: u32 = 0; i < count; i += 16) {
    v128.store(at + i, v128.or(v128.load(at + i, EXPRESSION_NULLS), v128.load(other + i, EXPRESSION_NULLS)), EXPRESSION_NULLS);
  }
}

function floats(step: u32, at: u32, count: u32): void {
  // up to one more value than asked for, within the register
  const end = at + (count << 3);
  switch (step) {
    case STEP_ADD_FLOAT:
      for (let to = at; to < end; to += 16) v128.store(to, f64x2.add(v128.load(to), v128.load(to, EXPRESSION_REGISTER_BYTES)));
      break;
    case STEP_SUBTRACT_FLOAT:
      for (let to = at; to < end; to += 16) v128.store(to, f64x2.sub(v128.load(to), v128.load(to, EXPRESSION_REGISTER_BYTES)));
      break;
    case STEP_MULTIPLY_FLOAT:
      for (let to = at; to < end; to += 16) v128.store(to, f64x2.mul(v128.load(to), v128.load(to, EXPRESSION_REGISTER_BYTES)));
      break;
    default: // STEP_DIVIDE_FLOAT
      for (let to = at; to < end; to += 16) v128.store(to, f64x2.div(v128.load(to), v128.load(to, EXPRESSION_REGISTER_BYTES)));
  }
}

// The sign of `overflow` tells whether a result left the 64 bits; only then it is asked whether its row has a value.

function addIntegers(at: u32, count: u32): bool {
  let fits = true;
  for (let i: u32 = 0; i < count; i++) {
    const to = at + (i << 3);
    const a = load<i64>(to);
    const b = load<i64>(to, EXPRESSION_REGISTER_BYTES);
    const sum = a + b;
    if (((a ^ sum) & (b ^ sum)) < 0) fits = fits && isNullOf(at, i);
    store<i64>(to, sum);
  }
  return fits;
}

function subtractIntegers(at: u32, count: u32): bool {
  let fits = true;
  for (let i: u32 = 0; i < count; i++) {
    const to = at + (i << 3);
    const a = load<i64>(to);
    const b = load<i64>(to, EXPRESSION_REGISTER_BYTES);
    const difference = a - b;
    if (((a ^ b) & (a ^ difference)) < 0) fits = fits && isNullOf(at, i);
    store<i64>(to, difference);
  }
  return fits;
}

function multiplyIntegers(at: u32, count: u32): bool {
  let fits = true;
  for (let i: u32 = 0; i < count; i++) {
    const to = at + (i << 3);
    const a = load<i64>(to);
    const b = load<i64>(to, EXPRESSION_REGISTER_BYTES);
    // both of 32 bits: their product has 63
    const isSmall = <u64>(a + 0x80000000) >> 32 == 0 && <u64>(b + 0x80000000) >> 32 == 0;
    if (!isSmall && leaves64(a, b)) fits = fits && isNullOf(at, i);
    store<i64>(to, a * b);
  }
  return fits;
}

function leaves64(a: i64, b: i64): bool {
  if (a == 0 || b == 0) return false;
  // -2^63 divided by -1 is no i64
  if (a == -1) return b == i64.MIN_VALUE;
  if (b == -1) return a == i64.MIN_VALUE;
  return (a * b) / b != a;
}

function isNullOf(register: u32, row: u32): bool {
  return hasNulls(register) && isNull(register, row);
}

/** Truth values in place of the operands, of which each is read before it is overwritten. NaN equals itself and is greater than all other
 *  numbers, as in DuckDB. */
function compare(step: u32, at: u32, count: u32): void {
  switch (step) {
    case STEP_LESS_FLOAT:
      compareAll(STEP_LESS_FLOAT, at, count);
      break;
    case STEP_EQUAL_FLOAT:
      compareAll(STEP_EQUAL_FLOAT, at, count);
      break;
    case STEP_LESS_INTEGER:
      compareAll(STEP_LESS_INTEGER, at, count);
      break;
    default:
      compareAll(STEP_EQUAL_INTEGER, at, count);
  }
}

// 16 at a time, of which each is read before 16 bytes are written; beyond `count` within the register. `step` is a constant.
// @ts-ignore: decorator
@inline
function compareAll(step: u32, at: u32, count: u32): void {
  for (let i: u32 = 0; i < count; i += 16) {
    const from = at + (i << 3);
    const low = i16x8.narrow_i32x4_s(fourAt(step, from), fourAt(step, from + 32));
    const high = i16x8.narrow_i32x4_s(fourAt(step, from + 64), fourAt(step, from + 96));
    v128.store(at + i, v128.and(i8x16.narrow_i16x8_s(low, high), i8x16.splat(<i8>TRUTH_TRUE)));
  }
}

/** Four lanes of 32 bits, all of them set where the comparison is true. */
// @ts-ignore: decorator
@inline
function fourAt(step: u32, from: u32): v128 {
  return v128.shuffle<i32>(pairAt(step, from), pairAt(step, from + 16), 0, 2, 4, 6);
}

// @ts-ignore: decorator
@inline
function pairAt(step: u32, from: u32): v128 {
  const a = v128.load(from);
  const b = v128.load(from, EXPRESSION_REGISTER_BYTES);
  if (step == STEP_LESS_INTEGER) return i64x2.lt_s(a, b);
  if (step == STEP_EQUAL_INTEGER) return i64x2.eq(a, b);
  if (step == STEP_LESS_FLOAT) return v128.or(f64x2.lt(a, b), v128.and(f64x2.ne(b, b), f64x2.eq(a, a)));
  return v128.or(f64x2.eq(a, b), v128.and(f64x2.ne(b, b), f64x2.ne(a, a)));
}

/** The second operand where the first is true, otherwise the third. From the last row on: values overwrite truth values of later rows. */
function choose(at: u32, count: u32): void {
  const left = at + EXPRESSION_REGISTER_BYTES;
  const right = left + EXPRESSION_REGISTER_BYTES;
  const mayBeNull = hasNulls(left) || hasNulls(right);
  for (let i = count; i-- > 0; ) {
    const chosen = load<u8>(at + i) == TRUTH_TRUE ? left : right;
    if (mayBeNull) store<u8>(at + i, <u8>isNullOf(chosen, i), EXPRESSION_NULLS);
    store<u64>(at + (i << 3), load<u64>(chosen + (i << 3)));
  }
  markNulls(at, mayBeNull);
}
