// Floats as text in the layout of the v1 API, which is that of Go's encoding/json and of JavaScript: no fraction that is zero, plain from
// 10^-6 to before 10^21, else an exponent with its sign. CSV has no exponents at all.
import { writePadded, writeUnsigned } from "./digits";
import { findScaled, findShortest, foundDigits, foundExponent, scaleOf } from "./shortest";

const DASH: u8 = 0x2d;
const PLUS: u8 = 0x2b;
const POINT: u8 = 0x2e;
const ZERO: u8 = 0x30;
const LETTER_E: u8 = 0x65;
const PLAIN_MIN: f64 = 1e-6;
/** Exponents of the first digit that are written without an exponent. */
const PLAIN_FIRST_MIN: i32 = -6;
const PLAIN_FIRST_END: i32 = 21;

/** Writes a finite value at `at`, at most 25 bytes, or 345 if it `isPlain`, and gives the end. `column` is what shortest.ts keeps of it. */
export function writeNumber(at: u32, value: f64, isPlain: bool, column: u32, powersPtr: usize): u32 {
  const bits = reinterpret<u64>(value);
  if (bits >> 63 != 0) store<u8>(at++, DASH);
  if (findScaled(abs(value), PLAIN_MIN, column)) return writeScaled(at, foundDigits, load<u32>(column), <u64>scaleOf(column));
  findShortest(bits & 0x7fffffffffffffff, column, powersPtr);
  // one byte further on, so that a point fits in
  const start = at + 1;
  const end = writeUnsigned(start, foundDigits);
  const count = <i32>(end - start);
  const first = foundDigits == 0 ? 0 : foundExponent + count - 1;
  if (isPlain || (first >= PLAIN_FIRST_MIN && first < PLAIN_FIRST_END)) return writePlain(at, start, count, first);
  return writeScientific(at, start, count, first);
}

/** `scaled` / 10^decimals without zeros at the end of the fraction. */
function writeScaled(at: u32, scaled: u64, decimals: u32, scale: u64): u32 {
  const whole = scaled / scale;
  let fraction = <u32>(scaled - whole * scale);
  at = writeUnsigned(at, whole);
  if (fraction == 0) return at;
  store<u8>(at++, POINT);
  for (let tenth = fraction / 10; tenth * 10 == fraction; tenth = fraction / 10) {
    fraction = tenth;
    decimals--;
  }
  return writePadded(at, fraction, decimals);
}

/** Digits that lie at `start` = `at` + 1; the first one stands for 10^first. */
function writePlain(at: u32, start: u32, count: i32, first: i32): u32 {
  if (first < 0) {
    // 0.000ddd
    const lead = <u32>(1 - first);
    memory.copy(at + lead, start, count);
    memory.fill(at, ZERO, lead);
    store<u8>(at + 1, POINT);
    return at + lead + count;
  }
  const wholes = first + 1;
  if (count <= wholes) {
    // ddd000
    memory.copy(at, start, count);
    memory.fill(at + count, ZERO, wholes - count);
    return at + wholes;
  }
  memory.copy(at, start, wholes);
  store<u8>(at + wholes, POINT);
  return start + count;
}

/** No exponent here has a single digit but those from -9 to -7, which Go's encoding/json writes as one. */
function writeScientific(at: u32, start: u32, count: i32, first: i32): u32 {
  store<u8>(at, load<u8>(start));
  let end = at + 1;
  if (count > 1) {
    store<u8>(end, POINT);
    end = start + count;
  }
  store<u8>(end++, LETTER_E);
  store<u8>(end++, first < 0 ? DASH : PLUS);
  return writeUnsigned(end, <u64>abs(first));
}
