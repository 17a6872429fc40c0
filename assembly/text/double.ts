// Floats as text: the shortest digits that read back to the same bits, the closest to the value among those. The layout is that of
// src/arrow/float-text.ts: plain for exponents -5 <= e < 16, always with a fraction, else an exponent without plus or padding.
import { multiplyHigh } from "../line/float";
import { writePadded, writeUnsigned } from "./digits";

const DASH: u8 = 0x2d;
const POINT: u8 = 0x2e;
const ZERO: u8 = 0x30;
const LETTER_E: u8 = 0x65;

/** First exponent of the table of powers of five (line/float.ts): per exponent | high u64 | low u64 |. */
const POWER_MIN: i32 = -342;

/** 10^0 .. 10^9 */
const POWERS = memory.data<f64>([1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]);
const DECIMALS_MAX: u32 = 9;
/** Below this, two different decimals are two different floats: 15 digits always survive the way to a float and back. */
const UNIQUE_MAX: f64 = 1e15;
const PLAIN_MIN: f64 = 1e-5;
/** After so many values in a row that were not short decimals, only every RETRY_EVERYth value is tried. */
const MISSES_MAX: u32 = 16;
const RETRY_EVERY: u32 = 16;

/** Writes a finite value at `at`, at most 25 bytes, and gives the end. `column` is | decimals u32 | misses u32 |: how many decimals the
 *  column's values had, because most data have few, and for them a division replaces the search for the shortest digits. */
export function writeDouble(at: u32, value: f64, column: u32, powersPtr: usize): u32 {
  const bits = reinterpret<u64>(value);
  if (bits >> 63 != 0) store<u8>(at++, DASH);
  const size = abs(value);
  const misses = load<u32>(column, 4);
  if (size < UNIQUE_MAX && (size >= PLAIN_MIN || size == 0) && (misses < MISSES_MAX || misses % RETRY_EVERY == 0)) {
    const decimals = load<u32>(column);
    const scale = load<f64>(POWERS + (<usize>decimals << 3));
    const scaled = floor(size * scale + 0.5);
    // a quotient is rounded as a reader rounds the decimal; equal means that it reads back as the value
    if (scaled < UNIQUE_MAX && scaled / scale == size) {
      store<u32>(column, 0, 4);
      return writeScaled(at, <u64>scaled, decimals, <u64>scale);
    }
  }
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
  shortest(bits, powersPtr);
  let digits = foundDigits;
  let exponent = foundExponent;
  for (let tenth = digits / 10; digits != 0 && tenth * 10 == digits; tenth = digits / 10) {
    digits = tenth;
    exponent++;
  }
  noteDecimals(digits, exponent, column);
  // one byte further on, so that a point fits in
  const start = at + 1;
  const end = writeUnsigned(start, digits);
  const count = <i32>(end - start);
  const first = exponent + count - 1;
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

/** Remembers the decimals of a value with few digits; the next ones may have as many. */
function noteDecimals(digits: u64, exponent: i32, column: u32): void {
  const decimals = max<i32>(1, -exponent);
  if (digits < 1_000_000_000_000_000 && exponent <= 0 && decimals <= <i32>DECIMALS_MAX) {
    store<u32>(column, max<u32>(load<u32>(column), decimals));
    store<u32>(column, 0, 4);
  } else store<u32>(column, load<u32>(column, 4) + 1, 4);
}

// What `shortest` found: value = digits × 10^exponent.
let foundDigits: u64 = 0;
let foundExponent: i32 = 0;

const HIDDEN_BIT: u64 = 1 << 52;
const EXPONENT_BIAS: i32 = 1075;

/** Source: Giulietti, "The Schubfach way to render doubles" (2021). Names of c, q, k and h are the paper's. */
function shortest(bits: u64, powersPtr: usize): void {
  const fraction = bits & (HIDDEN_BIT - 1);
  const biased = <i32>(bits >> 52);
  let c = fraction;
  let q = 1 - EXPONENT_BIAS;
  if (biased != 0) {
    c |= HIDDEN_BIT;
    q = biased - EXPONENT_BIAS;
    // a whole number
    if (q <= 0 && q > -53 && <i32>ctz(c) >= -q) {
      foundDigits = c >> <u64>-q;
      foundExponent = 0;
      return;
    }
  } else if (c == 0) {
    foundDigits = 0;
    foundExponent = 0;
    return;
  }
  const isOdd = c & 1;
  const lowerIsCloser: u64 = fraction == 0 && biased > 1 ? 1 : 0;
  // floor(log10(2^q)), of three quarters of it where the lower neighbour is closer
  const k = (q * 1262611 - (lowerIsCloser != 0 ? 524031 : 0)) >> 22;
  // floor(log2(10^-k))
  const h = <u64>(q + ((-k * 1741647) >> 19) + 1);
  loadPower(-k, powersPtr);
  const lower = roundToOdd((4 * c - 2 + lowerIsCloser) << h) + isOdd;
  const middle = roundToOdd((4 * c) << h);
  const upper = roundToOdd((4 * c + 2) << h) - isOdd;

  const s = middle >> 2;
  if (s >= 10) {
    const tenth = s / 10;
    const isDownInside = lower <= 40 * tenth;
    const isUpInside = 40 * tenth + 40 <= upper;
    if (isDownInside != isUpInside) {
      foundDigits = tenth + <u64>isUpInside;
      foundExponent = k + 1;
      return;
    }
  }
  foundExponent = k;
  const isDownInside = lower <= 4 * s;
  const isUpInside = 4 * s + 4 <= upper;
  const half = 4 * s + 2;
  const isUp = isDownInside != isUpInside ? isUpInside : middle > half || (middle == half && (s & 1) != 0);
  foundDigits = s + <u64>isUp;
}

// 10^exponent as a number of 128 bits whose first one is 1, rounded up.
let powerHigh: u64 = 0;
let powerLow: u64 = 0;

function loadPower(exponent: i32, powersPtr: usize): void {
  const power = powersPtr + (<usize>(exponent - POWER_MIN) << 4);
  powerHigh = load<u64>(power);
  powerLow = load<u64>(power, 8);
  // the table is exact from 5^0 to 5^55 and rounded up already down to 5^-27; all others are cut off
  if (exponent < -27 || exponent > 55) {
    powerLow++;
    if (powerLow == 0) powerHigh++;
  }
}

/** The top bits of `value` × power; the lowest one is set when bits below were. */
function roundToOdd(value: u64): u64 {
  const lowHigh = multiplyHigh(powerLow, value);
  const middle = powerHigh * value + lowHigh;
  const high = multiplyHigh(powerHigh, value) + <u64>(middle < lowHigh);
  return high | <u64>(middle > 1);
}
