// Floats as text, laid out as in src/arrow/float-text.ts: plain for exponents -5 <= e < 16, always with a fraction, else an exponent
// without plus or padding.
import { writePadded, writeUnsigned } from "./digits";
import { findScaled, findShortest, foundDigits, foundExponent, scaleOf } from "./shortest";

const DASH: u8 = 0x2d;
const POINT: u8 = 0x2e;
const ZERO: u8 = 0x30;
const LETTER_E: u8 = 0x65;
const PLAIN_MIN: f64 = 1e-5;

/** Writes a finite value at `at`, at most 25 bytes, and gives the end. `column` is what shortest.ts keeps of it. */
export function writeDouble(at: u32, value: f64, column: u32, powersPtr: usize): u32 {
  const bits = reinterpret<u64>(value);
  if (bits >> 63 != 0) store<u8>(at++, DASH);
  if (findScaled(abs(value), PLAIN_MIN, column)) return writeScaled(at, foundDigits, load<u32>(column), <u64>scaleOf(column));
  return writeShortest(at, bits & 0x7fffffffffffffff, column, powersPtr);
}

/** `scaled` / 10^decimals, zeros at the end dropped but for the first decimal. */
function writeScaled(at: u32, scaled: u64, decimals: u32, scale: u64): u32 {
  const whole = scaled / scale;
  let fraction = <u32>(scaled - whole * scale);
  at = writeUnsigned(at, whole);
  store<u8>(at++, POINT);
  if (decimals == 0) {
    store<u8>(at, ZERO);
    return at + 1;
  }
  while (decimals > 1) {
    const tenth = fraction / 10;
    if (tenth * 10 != fraction) break;
    fraction = tenth;
    decimals--;
  }
  return writePadded(at, fraction, decimals);
}

function writeShortest(at: u32, bits: u64, column: u32, powersPtr: usize): u32 {
  findShortest(bits, column, powersPtr);
  const digits = foundDigits;
  // one byte further on, so that a point fits in
  const start = at + 1;
  const end = writeUnsigned(start, digits);
  const count = <i32>(end - start);
  const first = foundExponent + count - 1;
  if (digits == 0) return writePlain(at, start, 1, 0);
  return first < -5 || first >= 16 ? writeScientific(at, start, count, first) : writePlain(at, start, count, first);
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
    // ddd000.0
    memory.copy(at, start, count);
    memory.fill(at + count, ZERO, wholes - count + 2);
    store<u8>(at + wholes, POINT);
    return at + wholes + 2;
  }
  memory.copy(at, start, wholes);
  store<u8>(at + wholes, POINT);
  return start + count;
}

function writeScientific(at: u32, start: u32, count: i32, first: i32): u32 {
  store<u8>(at, load<u8>(start));
  let end = at + 1;
  if (count > 1) {
    store<u8>(end, POINT);
    end = start + count;
  }
  store<u8>(end++, LETTER_E);
  if (first < 0) store<u8>(end++, DASH);
  return writeUnsigned(end, <u64>abs(first));
}
