// Floats as text, laid out as in src/encode/cells/float-text.ts: plain for exponents -5 <= e < 16, always with a fraction, else an exponent
// without plus or padding. JSON is plain for e < 10 only, and its single digits have a fraction before an exponent, too.
import { writeUnsigned } from "./digits";
import { writePlain, writeScaled, writeScientific } from "./float-layout";
import { findScaled, findShortest, foundDigits, foundExponent, scaleOf } from "./shortest";

const DASH: u8 = 0x2d;
const PLAIN_MIN: f64 = 1e-5;
/** Exponents of the first digit that are written without an exponent. */
const PLAIN_FIRST_MIN: i32 = -5;
const PLAIN_FIRST_END: i32 = 16;
const JSON_FIRST_END: i32 = 10;
const JSON_PLAIN_END: f64 = 1e10;

/** Writes a finite value at `at`, at most 25 bytes, and gives the end. `column` is what shortest.ts keeps of it. */
export function writeDouble(at: u32, value: f64, isJson: bool, column: u32, powersPtr: usize): u32 {
  const bits = reinterpret<u64>(value);
  if (bits >> 63 != 0) store<u8>(at++, DASH);
  if ((!isJson || abs(value) < JSON_PLAIN_END) && findScaled(abs(value), PLAIN_MIN, column))
    return writeScaled(at, foundDigits, load<u32>(column), <u64>scaleOf(column), true);
  return writeShortest(at, bits & 0x7fffffffffffffff, isJson, column, powersPtr);
}

function writeShortest(at: u32, bits: u64, isJson: bool, column: u32, powersPtr: usize): u32 {
  findShortest(bits, column, powersPtr);
  const digits = foundDigits;
  // one byte further on, so that a point fits in
  const start = at + 1;
  const end = writeUnsigned(start, digits);
  const count = <i32>(end - start);
  const first = digits == 0 ? 0 : foundExponent + count - 1;
  if (first < PLAIN_FIRST_MIN || first >= (isJson ? JSON_FIRST_END : PLAIN_FIRST_END))
    return writeScientific(at, start, count, first, isJson, false);
  return writePlain(at, start, count, first, true);
}
