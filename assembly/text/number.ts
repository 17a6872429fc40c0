// Floats as text in the layout of the v1 API, which is that of Go's encoding/json and of JavaScript: no fraction that is zero, plain from
// 10^-6 to before 10^21, else an exponent with its sign. CSV has no exponents at all.
import { writeUnsigned } from "./digits";
import { writePlain, writeScaled, writeScientific } from "./float-layout";
import { findScaled, findShortest, foundDigits, foundExponent, scaleOf } from "./shortest";

const DASH: u8 = 0x2d;
const PLAIN_MIN: f64 = 1e-6;
/** Exponents of the first digit that are written without an exponent. */
const PLAIN_FIRST_MIN: i32 = -6;
const PLAIN_FIRST_END: i32 = 21;

/** Writes a finite value at `at`, at most 25 bytes, or 345 if it `isPlain`, and gives the end. `column` is what shortest.ts keeps of it. */
export function writeNumber(at: u32, value: f64, isPlain: bool, column: u32, powersPtr: usize): u32 {
  const bits = reinterpret<u64>(value);
  if (bits >> 63 != 0) store<u8>(at++, DASH);
  if (findScaled(abs(value), PLAIN_MIN, column)) return writeScaled(at, foundDigits, load<u32>(column), <u64>scaleOf(column), false);
  findShortest(bits & 0x7fffffffffffffff, column, powersPtr);
  // one byte further on, so that a point fits in
  const start = at + 1;
  const end = writeUnsigned(start, foundDigits);
  const count = <i32>(end - start);
  const first = foundDigits == 0 ? 0 : foundExponent + count - 1;
  if (isPlain || (first >= PLAIN_FIRST_MIN && first < PLAIN_FIRST_END)) return writePlain(at, start, count, first, false);
  // no exponent here has a single digit but those from -9 to -7, which Go's encoding/json writes as one
  return writeScientific(at, start, count, first, false, true);
}
