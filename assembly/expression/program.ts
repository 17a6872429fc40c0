// Values computed from the columns of a run, such as a * b, or a > b OR c IS NULL: a program (drawn in abi.ts) whose steps work on a stack
// of registers, each of EXPRESSION_ROWS rows at a time, so that they stay in the processor's cache.
import {
  EXPRESSION_HEADER_BYTES,
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
  STEP_LOAD_NARROW_1,
  STEP_LOAD_NARROW_2,
  STEP_LOAD_NARROW_4,
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
import { putBit } from "../memory/bits";
import { areAdjacent, keepFour } from "../scan/kept-rows";
import { absolutes, addIntegers, floats, multiplyIntegers, subtractIntegers, toFloats } from "./arithmetic";
import { choose, compare } from "./comparison";
import { hasNulls, isNull, joinNulls, loadNarrow, loadTruths, loadValues, markNulls, putConstant, putValues, valuesOf } from "./registers";

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

/** True if an integer left 64 bits. */
// @ts-ignore: decorator
@inline
export function hasFailed(program: u32): bool {
  return changetype<Program>(program).failed != 0;
}

/** Unmarks a program: the rows in which it failed are not wanted. */
export function forgetFailure(program: u32): void {
  changetype<Program>(program).failed = 0;
}

/** Where the truth values of `count` rows from `first` on are, a byte each, until the program runs again; at most EXPRESSION_ROWS. */
export function truthsOf(program: u32, first: u32, count: u32): u32 {
  run(program, 0, first, count);
  return changetype<Program>(program).registers;
}

/** Writes the values of rows [first, end), 8 bytes each or one for truth values, and bits of those that are present to a bitmap of zeros;
 *  `first` is a multiple of EXPRESSION_ROWS. Returns the number of NULLs; all ones: an integer does not fit. */
export function expressionColumn(program: u32, first: u32, end: u32, target: u32, validity: u32): u32 {
  const result = changetype<Program>(program).registers;
  const isTruth = changetype<Program>(program).isTruth != 0;
  let absent: u32 = 0;
  for (let from = first; from < end; from += EXPRESSION_ROWS) {
    const count = min<u32>(end - from, EXPRESSION_ROWS);
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
  memory.copy(target + (from << 3), valuesOf(result, count), count << 3);
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
    if (!runStep(load<u32>(step), at, load<u64>(step, 8), load<i64>(step, 16), rows, first, count)) changetype<Program>(program).failed = 1;
  }
}

/** The step's operands are in the registers from `at` on, and its result will be there. Returns false if an integer does not fit. */
function runStep(step: u32, at: u32, low: u64, high: i64, rows: u32, first: u32, count: u32): bool {
  switch (step) {
    case STEP_LOAD:
      loadValues(at, <u32>low, <u32>(low >> 32), rows, first, count);
      return true;
    case STEP_LOAD_NARROW_1:
      loadNarrow<u8>(at, <u32>low, <u32>(low >> 32), high, rows, first, count);
      return true;
    case STEP_LOAD_NARROW_2:
      loadNarrow<u16>(at, <u32>low, <u32>(low >> 32), high, rows, first, count);
      return true;
    case STEP_LOAD_NARROW_4:
      loadNarrow<u32>(at, <u32>low, <u32>(low >> 32), high, rows, first, count);
      return true;
    case STEP_LOAD_TRUTH:
      loadTruths(at, <u32>low, <u32>(low >> 32), rows, first, count);
      return true;
    case STEP_CONSTANT:
      putConstant(at, <u32>low);
      return true;
    case STEP_CONSTANT_TRUTH:
      memory.fill(at, <u8>low, count);
      return true;
    case STEP_NULL:
      memory.fill(at, 0, count << 3);
      putValues(at, at);
      memory.fill(at + EXPRESSION_NULLS, 1, count);
      markNulls(at, true);
      return true;
    case STEP_TO_FLOAT:
      toFloats(at, count);
      return true;
    case STEP_ABSOLUTE_FLOAT:
      absolutes(at, count);
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
