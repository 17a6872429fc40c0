// Floats that were decimals: 23.5 is 235 / 10. An exponent e is found at which most values are d / 10^e for an integer d; division by a
// power of ten up to 10^22 of an integer below 2^53 is correctly rounded, so it gives back the very float that the decimal was read as.
// The digits d are integers and are coded as such. A value that does not come back bit for bit (-0, NaN, infinities, more digits) is an
// exception, kept whole; its digits repeat a neighbour's.
//   | 18 u8 | e u8 | 0 u16 | exceptionCount u32 | digits: ints section | positions u32 x n | bits u64 x n |
// Source: Afroozeh et al., "ALP: Adaptive Lossless Floating-Point Compression", SIGMOD 2023; simplified to one exponent a column.
import { FLOATS_ALP } from "../abi";
import { decodeInts, encodeInts } from "./ints";

// 10^0 .. 10^15: digits stay below 2^51, so higher exponents suit values below 2 alone
export const ALP_EXPONENT_MAX: u32 = 15;
// @ts-ignore: constant data
const POWERS: usize = memory.data<f64>([1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15]);
// 2^52 + 2^51: added to |x| < 2^51 it leaves round(x) in the low bits
const ROUNDER: f64 = 6755399441055744;
const DIGITS_LIMIT: f64 = 2251799813685248;
const SAMPLES: u32 = 32;
const SAMPLE_MISSES_MAX: u32 = 8;

/** 10^exponent. */
// @ts-ignore: decorator
@inline
export function powerOf(exponent: u32): f64 {
  return load<f64>(<u32>POWERS + (exponent << 3));
}

/** Returns the end of the section, or 0 when too few values are decimals. `work`: 20 bytes per value. */
export function encodeAlp(values: u32, count: u32, work: u32, target: u32): u32 {
  const exponent = findExponent(values, count);
  if (exponent > ALP_EXPONENT_MAX) return 0;
  const digits = work;
  const scaled = digits + (count << 3);
  const positions = scaled + (count << 3);
  const exceptions = toDigits(values, count, powerOf(exponent), digits, positions);
  if (exceptions > count >> 2) return 0;
  store<u32>(target, FLOATS_ALP | (exponent << 8));
  store<u32>(target, exceptions, 4);
  target = encodeInts(digits, count, false, scaled, target + 8);
  memory.copy(target, positions, exceptions << 2);
  target += exceptions << 2;
  for (let i: u32 = 0; i < exceptions; i++, target += 8) {
    store<u64>(target, load<u64>(values + (load<u32>(positions + (i << 2)) << 3)));
  }
  return target;
}

/** Decodes `count` floats to `values`. Returns the end of the section, or 0 if it is damaged. */
export function decodeAlp(source: u32, end: u32, count: u32, values: u32): u32 {
  const exponent = <u32>load<u8>(source, 1);
  const exceptions = load<u32>(source, 4);
  if (exponent > ALP_EXPONENT_MAX || exceptions > count) return 0;
  source = decodeInts(source + 8, end, count, values);
  if (source == 0 || <u64>(end - source) < <u64>exceptions * 12) return 0;
  fromDigits(values, count, powerOf(exponent));
  let bits = source + (exceptions << 2);
  for (const last = bits; source < last; source += 4, bits += 8) {
    const position = load<u32>(source);
    if (position >= count) return 0;
    store<u64>(values + (position << 3), load<u64>(bits));
  }
  return bits;
}

// @ts-ignore: decorator
@inline
function isExact(value: f64, power: f64): bool {
  const scaled = value * power;
  const rounded = scaled + ROUNDER - ROUNDER;
  return abs(scaled) < DIGITS_LIMIT && reinterpret<u64>(rounded / power) == reinterpret<u64>(value);
}

/** The least exponent that suits a sample, or more than ALP_EXPONENT_MAX when a quarter of it is no decimal. */
function findExponent(values: u32, count: u32): u32 {
  const samples = min(count, SAMPLES);
  const step = count / samples;
  let exponent: u32 = 0;
  let misses: u32 = 0;
  for (let i: u32 = 0; i < samples; i++) {
    const value = load<f64>(values + ((i * step) << 3));
    let fitting = exponent;
    while (fitting <= ALP_EXPONENT_MAX && !isExact(value, powerOf(fitting))) fitting++;
    if (fitting <= ALP_EXPONENT_MAX) exponent = fitting;
    else if (++misses >= SAMPLE_MISSES_MAX) return ALP_EXPONENT_MAX + 1;
  }
  return misses << 2 > samples ? ALP_EXPONENT_MAX + 1 : exponent;
}

/** Writes the digits i64[count] and the positions of exceptions u32[]; returns how many there are. */
function toDigits(values: u32, count: u32, power: f64, digits: u32, positions: u32): u32 {
  const powers = f64x2.splat(power);
  const rounders = f64x2.splat(ROUNDER);
  const rounderBits = i64x2.splat(reinterpret<i64>(ROUNDER));
  const limits = f64x2.splat(DIGITS_LIMIT);
  let exceptions: u32 = 0;
  let row: u32 = 0;
  for (; row + 2 <= count; row += 2) {
    const pair = v128.load(values + (row << 3));
    const scaled = f64x2.mul(pair, powers);
    const shifted = f64x2.add(scaled, rounders);
    const back = f64x2.div(f64x2.sub(shifted, rounders), powers);
    const exact = v128.and(i64x2.eq(back, pair), f64x2.lt(f64x2.abs(scaled), limits));
    v128.store(digits + (row << 3), i64x2.sub(shifted, rounderBits));
    if (!i64x2.all_true(exact)) {
      if (i64x2.extract_lane(exact, 0) == 0) store<u32>(positions + (exceptions++ << 2), row);
      if (i64x2.extract_lane(exact, 1) == 0) store<u32>(positions + (exceptions++ << 2), row + 1);
    }
  }
  if (row < count) {
    const value = load<f64>(values + (row << 3));
    store<i64>(digits + (row << 3), reinterpret<i64>(value * power + ROUNDER) - reinterpret<i64>(ROUNDER));
    if (!isExact(value, power)) store<u32>(positions + (exceptions++ << 2), row);
  }
  fillExceptions(digits, count, positions, exceptions);
  return exceptions;
}

/** Gives each exception the digits before it, the leading ones those after them. */
function fillExceptions(digits: u32, count: u32, positions: u32, exceptions: u32): void {
  let leading: u32 = 0;
  while (leading < exceptions && load<u32>(positions + (leading << 2)) == leading) leading++;
  if (leading == count) return;
  const first = load<i64>(digits + (leading << 3));
  for (let i: u32 = 0; i < leading; i++) store<i64>(digits + (i << 3), first);
  for (let i = leading; i < exceptions; i++) {
    const at = digits + (load<u32>(positions + (i << 2)) << 3);
    store<i64>(at, load<i64>(at - 8));
  }
}

/** i64 to f64 / power, in place. */
export function fromDigits(values: u32, count: u32, power: f64): void {
  const powers = f64x2.splat(power);
  const rounders = f64x2.splat(ROUNDER);
  const rounderBits = i64x2.splat(reinterpret<i64>(ROUNDER));
  const end = values + (count << 3);
  for (; values + 16 <= end; values += 16) {
    const whole = f64x2.sub(i64x2.add(v128.load(values), rounderBits), rounders);
    v128.store(values, f64x2.div(whole, powers));
  }
  if (values < end) store<f64>(values, (reinterpret<f64>(load<i64>(values) + reinterpret<i64>(ROUNDER)) - ROUNDER) / power);
}
