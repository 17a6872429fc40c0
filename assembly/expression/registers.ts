// Registers of a program, and what loads columns into them. A register has 8-byte values, which may be those of a column, and a byte per
// row, 1 = NULL, which is read only if its mark is set; or truth values, one byte each, in an order in which AND is the lesser of two and
// OR the greater.
import {
  EXPRESSION_BASE,
  EXPRESSION_MARK,
  EXPRESSION_NULLS,
  EXPRESSION_REGISTER_BYTES,
  EXPRESSION_VALUES,
  EXPRESSION_WIDTH,
  TRUTH_FALSE,
  TRUTH_NULL,
  TRUTH_TRUE,
} from "../abi";
import { widenValues } from "../codec/narrow";
import { bitAt } from "../memory/bits";

/** False if no row of the register is NULL. */
// @ts-ignore: decorator
@inline
export function hasNulls(register: u32): bool {
  return load<u32>(register, EXPRESSION_MARK) != 0;
}

/** Of a register that may have NULLs. */
// @ts-ignore: decorator
@inline
export function isNull(register: u32, row: u32): bool {
  return load<u8>(register + row, EXPRESSION_NULLS) != 0;
}

/** Notes whether the register may have NULLs. */
// @ts-ignore: decorator
@inline
export function markNulls(register: u32, has: bool): void {
  store<u32>(register, <u32>has, EXPRESSION_MARK);
}

/** Where the register's values are, 8 bytes each: in it, or in a column. */
// @ts-ignore: decorator
@inline
export function valuesOf(register: u32, count: u32): u32 {
  if ((widthOf(register) & 7) != 0) widen(register, count);
  return load<u32>(register, EXPRESSION_VALUES);
}

function widen(register: u32, count: u32): void {
  widenValues(narrowValuesOf(register), count, baseOf(register), widthOf(register), register);
  putValues(register, register);
}

/** Bytes of a value: 8, or fewer of integers, to which `baseOf` is added; 0: all are the same. */
// @ts-ignore: decorator
@inline
export function widthOf(register: u32): u32 {
  return load<u32>(register, EXPRESSION_WIDTH);
}

/** What is added to integers of fewer bytes than 8. */
// @ts-ignore: decorator
@inline
export function baseOf(register: u32): i64 {
  return load<i64>(register, EXPRESSION_BASE);
}

/** Where these are, in a column. */
// @ts-ignore: decorator
@inline
export function narrowValuesOf(register: u32): u32 {
  return load<u32>(register, EXPRESSION_VALUES);
}

/** Sets where the register's values are, 8 bytes each. */
// @ts-ignore: decorator
@inline
export function putValues(register: u32, values: u32): void {
  store<u32>(register, values, EXPRESSION_VALUES);
  store<u32>(register, 8, EXPRESSION_WIDTH);
}

/** The same of EXPRESSION_ROWS times one value. */
export function putConstant(register: u32, values: u32): void {
  store<u32>(register, values, EXPRESSION_VALUES);
  store<u32>(register, 0, EXPRESSION_WIDTH);
  store<i64>(register, load<i64>(values), EXPRESSION_BASE);
  markNulls(register, false);
}

/** Of any register. */
// @ts-ignore: decorator
@inline
export function isNullOf(register: u32, row: u32): bool {
  return hasNulls(register) && isNull(register, row);
}

/** What is computed from a NULL is NULL. */
export function joinNulls(at: u32, count: u32): void {
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

/** Loads 8-byte values of a column, in place if possible. `rows` 0: those from `first` on. */
export function loadValues(at: u32, data: u32, validity: u32, rows: u32, first: u32, count: u32): void {
  // operators read 16 values at a time, which a column may not have at its end
  const isInPlace = rows == 0 && (count & 15) == 0;
  putValues(at, isInPlace ? data + (first << 3) : at);
  if (rows != 0) for (let i: u32 = 0; i < count; i++) store<u64>(at + (i << 3), load<u64>(data + (load<u32>(rows + (i << 2)) << 3)));
  else if (!isInPlace) memory.copy(at, data + (first << 3), count << 3);
  loadNulls(at, validity, rows, first, count);
}

/** The same of integers in fewer bytes: `least` is added to each. In place they stay as narrow. */
export function loadNarrow<T>(at: u32, data: u32, validity: u32, least: i64, rows: u32, first: u32, count: u32): void {
  if (rows == 0 && (count & 15) == 0) {
    store<u32>(at, data + first * sizeof<T>(), EXPRESSION_VALUES);
    store<u32>(at, sizeof<T>(), EXPRESSION_WIDTH);
    store<i64>(at, least, EXPRESSION_BASE);
  } else {
    if (rows == 0) widenValues(data + first * sizeof<T>(), count, least, sizeof<T>(), at);
    else {
      for (let i: u32 = 0; i < count; i++) {
        store<i64>(at + (i << 3), <i64>load<T>(data + load<u32>(rows + (i << 2)) * sizeof<T>()) + least);
      }
    }
    putValues(at, at);
  }
  loadNulls(at, validity, rows, first, count);
}

function loadNulls(at: u32, validity: u32, rows: u32, first: u32, count: u32): void {
  markNulls(at, validity != 0);
  if (validity == 0) return;
  for (let i: u32 = 0; i < count; i++) {
    const row = rows == 0 ? first + i : load<u32>(rows + (i << 2));
    store<u8>(at + i, <u8>!bitAt(validity, row), EXPRESSION_NULLS);
  }
}

/** The same of booleans. */
export function loadTruths(at: u32, data: u32, validity: u32, rows: u32, first: u32, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = rows == 0 ? first + i : load<u32>(rows + (i << 2));
    const isPresent = validity == 0 || bitAt(validity, row);
    store<u8>(at + i, !isPresent ? TRUTH_NULL : load<u8>(data + row) != 0 ? TRUTH_TRUE : TRUTH_FALSE);
  }
}

