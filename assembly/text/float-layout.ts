// The layouts of a float's text, from digits that shortest.ts has found. `hasFraction`: a whole number ends with `.0`.
import { writePadded, writeUnsigned } from "./digits";

const DASH: u8 = 0x2d;
const PLUS: u8 = 0x2b;
const POINT: u8 = 0x2e;
const ZERO: u8 = 0x30;
const LETTER_E: u8 = 0x65;

/** `scaled` / 10^decimals without zeros at the end of the fraction. */
// @ts-ignore: decorator
@inline
export function writeScaled(at: u32, scaled: u64, decimals: u32, scale: u64, hasFraction: bool): u32 {
  const whole = scaled / scale;
  let fraction = <u32>(scaled - whole * scale);
  at = writeUnsigned(at, whole);
  if (fraction == 0) return hasFraction ? writeNoFraction(at) : at;
  store<u8>(at++, POINT);
  for (let tenth = fraction / 10; tenth * 10 == fraction; tenth = fraction / 10) {
    fraction = tenth;
    decimals--;
  }
  return writePadded(at, fraction, decimals);
}

/** Digits that lie at `start` = `at` + 1, so that a point fits in; the first one stands for 10^first. */
// @ts-ignore: decorator
@inline
export function writePlain(at: u32, start: u32, count: i32, first: i32, hasFraction: bool): u32 {
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
    return hasFraction ? writeNoFraction(at + wholes) : at + wholes;
  }
  memory.copy(at, start, wholes);
  store<u8>(at + wholes, POINT);
  return start + count;
}

/** The same digits as d.ddde7. `hasFraction`: a single digit ends with `.0`; `hasPlus`: an exponent that is not negative has a sign, too.
 *  */
// @ts-ignore: decorator
@inline
export function writeScientific(at: u32, start: u32, count: i32, first: i32, hasFraction: bool, hasPlus: bool): u32 {
  store<u8>(at, load<u8>(start));
  let end = at + 1;
  if (count > 1) {
    store<u8>(end, POINT);
    end = start + count;
  } else if (hasFraction) end = writeNoFraction(end);
  store<u8>(end++, LETTER_E);
  if (first < 0) store<u8>(end++, DASH);
  else if (hasPlus) store<u8>(end++, PLUS);
  return writeUnsigned(end, <u64>abs(first));
}

// @ts-ignore: decorator
@inline
function writeNoFraction(at: u32): u32 {
  store<u8>(at, POINT);
  store<u8>(at + 1, ZERO);
  return at + 2;
}
