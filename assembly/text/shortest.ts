// The shortest decimal digits that read back to the same float, the closest to the value among those.
import { multiplyHigh } from "../line/float";

/** First exponent of the table of powers of five (line/float.ts): per exponent | high u64 | low u64 |. */
const POWER_MIN: i32 = -342;

// What was found: value = digits × 10^exponent.
export let foundDigits: u64 = 0;
export let foundExponent: i32 = 0;

/** 10^0 .. 10^9 */
const POWERS = memory.data<f64>([1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]);
const DECIMALS_MAX: u32 = 9;
/** Below this, two different decimals are two different floats: 15 digits always survive the way to a float and back. */
const UNIQUE_MAX: f64 = 1e15;
/** After so many values in a row that were not short decimals, only every RETRY_EVERYth value is tried. */
const MISSES_MAX: u32 = 16;
const RETRY_EVERY: u32 = 16;

// A column keeps | decimals u32 | misses u32 |: how many decimals its values had, because most data have few, and for them a division
// replaces the search for the shortest digits.

/** `size` as digits with so many decimals as the column's values had, zeros at their end among them; false: it has more, or is beyond
 *  `sizeMin` and 10^15. */
// @ts-ignore: decorator
@inline
export function findScaled(size: f64, sizeMin: f64, column: u32): bool {
  const misses = load<u32>(column, 4);
  if (size >= UNIQUE_MAX || (size < sizeMin && size != 0) || (misses >= MISSES_MAX && misses % RETRY_EVERY != 0)) return false;
  const scale = scaleOf(column);
  const scaled = floor(size * scale + 0.5);
  // a quotient is rounded as a reader rounds the decimal; equal means that it reads back as the value
  if (scaled >= UNIQUE_MAX || scaled / scale != size) return false;
  store<u32>(column, 0, 4);
  foundDigits = <u64>scaled;
  return true;
}

/** 10 to the number of decimals that the column's values had. */
// @ts-ignore: decorator
@inline
export function scaleOf(column: u32): f64 {
  return load<f64>(POWERS + (<usize>load<u32>(column) << 3));
}

/** The digits of a finite value >= 0 by its bits, without zeros at their end, and notes for the column how many decimals it has. */
export function findShortest(bits: u64, column: u32, powersPtr: usize): void {
  shortest(bits, powersPtr);
  for (let tenth = foundDigits / 10; foundDigits != 0 && tenth * 10 == foundDigits; tenth = foundDigits / 10) {
    foundDigits = tenth;
    foundExponent++;
  }
  noteDecimals(foundDigits, foundExponent, column);
}

/** Remembers the decimals of a value with few digits; the next ones may have as many. */
function noteDecimals(digits: u64, exponent: i32, column: u32): void {
  const decimals = max<i32>(1, -exponent);
  if (digits < 1_000_000_000_000_000 && exponent <= 0 && decimals <= <i32>DECIMALS_MAX) {
    store<u32>(column, max<u32>(load<u32>(column), decimals));
    store<u32>(column, 0, 4);
  } else store<u32>(column, load<u32>(column, 4) + 1, 4);
}

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
