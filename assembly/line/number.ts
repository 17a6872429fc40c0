// Integers, timestamps, floats and booleans, eight digits a step. Every function takes the address of the first byte, writes the value to
// `target` and returns the address behind it, or 0 when there is no value of this type that fits.
import { DOT, MINUS, ZERO } from "./bytes";
import { decimalToFloat } from "./float";

/** The host's own conversion, for numbers of more than 19 digits: slow and right. */
// @ts-ignore: decorator
@external("env", "hostParseFloat")
declare function hostParseFloat(textPtr: usize, textBytes: u32): f64;

/** The number that a text of a known form stands for. */
export function hostNumber(p: usize, bytes: u32): f64 {
  return hostParseFloat(p, bytes);
}

/** Eight bytes minus "0": digits become 0..9. */
// @ts-ignore: decorator
@inline
function digits(p: usize): u64 {
  return load<u64>(p) ^ 0x3030303030303030;
}

/** How many of eight bytes, from the lowest, are digits. A carry can only spoil bytes above the first non-digit. */
// @ts-ignore: decorator
@inline
function leadingDigits(eight: u64): u32 {
  return <u32>(ctz(((eight + 0x7676767676767676) | eight) & 0x8080808080808080) >> 3);
}

/** The number whose digits are the eight bytes, the first digit lowest. */
// @ts-ignore: decorator
@inline
function valueOf8(eight: u64): u64 {
  const pairs = (eight * 2561) >> 8;
  const fours = ((pairs & 0x00ff00ff00ff00ff) * 6553601) >> 16;
  return ((fours & 0x0000ffff0000ffff) * 42949672960001) >> 32;
}

// @ts-ignore: decorator
@inline
function isDigit(c: u32): bool {
  return c - ZERO <= 9;
}

/** Set by readDigits: the value. */
let digitsValue: u64 = 0;

/** Reads one or more digits whose value is at most `limit` (at least 10^16). */
function readDigits(p: usize, limit: u64): usize {
  let eight = digits(p);
  let count = leadingDigits(eight);
  if (count == 0) return 0;
  if (count < 8) {
    digitsValue = valueOf8(eight << (64 - (count << 3)));
    return p + count;
  }
  const start = p;
  let value = valueOf8(eight);
  p += 8;
  eight = digits(p);
  count = leadingDigits(eight);
  if (count == 8) {
    value = value * 100000000 + valueOf8(eight);
    p += 8;
    eight = digits(p);
    count = leadingDigits(eight);
  }
  if (<u32>(p - start) + count <= 19) {
    // 19 digits never overflow a u64
    if (count != 0) value = value * powerOf10(count) + valueOf8(eight << (64 - (count << 3)));
    digitsValue = value;
    return value <= limit ? p + count : 0;
  }
  while (true) {
    const digit: u64 = <u64>load<u8>(p) - ZERO;
    if (digit > 9) break;
    // value * 10 + digit <= limit, without overflow
    if (value > limit / 10 || value * 10 > limit - digit) return 0;
    value = value * 10 + digit;
    p++;
  }
  digitsValue = value;
  return p;
}

/** A timestamp of 19 digits, as nanoseconds since 2001 have; anything else as parseSigned does. */
// @ts-ignore: decorator
@inline
export function parseTimestamp(p: usize, target: usize): usize {
  const first = digits(p);
  const second = digits(p + 8);
  const rest = load<u32>(p + 16) ^ 0x30303030;
  // no carry leaves a byte as long as all below it are digits, so 0 means that all are
  const others = (((first + 0x7676767676767676) | first | (second + 0x7676767676767676) | second) & 0x8080808080808080) |
    <u64>(((rest + 0x767676) | rest) & 0x808080);
  if (others == 0 && rest >> 24 > 9) {
    const low = (rest & 0xff) * 100 + ((rest >> 8) & 0xff) * 10 + ((rest >> 16) & 0xff);
    const value = (valueOf8(first) * 100000000 + valueOf8(second)) * 1000 + <u64>low;
    if (<i64>value < 0) return 0;
    store<u64>(target, value);
    return p + 19;
  }
  return parseSigned(p, target);
}

/** -?digits, an i64. */
export function parseSigned(p: usize, target: usize): usize {
  if (<u32>load<u8>(p) == MINUS) {
    p = readDigits(p + 1, <u64>1 << 63);
    store<u64>(target, 0 - digitsValue);
  } else {
    p = readDigits(p, ((<u64>1) << 63) - 1);
    store<u64>(target, digitsValue);
  }
  return p;
}

/** -?digits and the suffix "i". */
// @ts-ignore: decorator
@inline
export function parseInteger(p: usize, target: usize): usize {
  const eight = digits(p);
  const count = leadingDigits(eight);
  // up to seven digits, their end among the same eight bytes: most of what is ever written
  if (count - 1 < 7) {
    if (<u32>load<u8>(p + count) != 0x69) return 0;
    store<u64>(target, valueOf8(eight << (64 - (count << 3))));
    return p + count + 1;
  }
  return parseLongInteger(p, target);
}

function parseLongInteger(p: usize, target: usize): usize {
  p = parseSigned(p, target);
  if (p == 0 || <u32>load<u8>(p) != 0x69) return 0;
  return p + 1;
}

/** digits and the suffix "u". */
export function parseUnsigned(p: usize, target: usize): usize {
  p = readDigits(p, ~(<u64>0));
  if (p == 0 || <u32>load<u8>(p) != 0x75) return 0;
  store<u64>(target, digitsValue);
  return p + 1;
}

/** digits.digits of at most seven bytes that `separator` follows. Returns the address behind the separator, or 0 for every other number. */
// @ts-ignore: decorator
@inline
export function parseShortFloat(p: usize, target: usize, separator: u32): usize {
  const eight = digits(p);
  // bytes that are no digit; after a "." the next one is found as surely as the first, because "." carries nothing
  const others = ((eight + 0x7676767676767676) | eight) & 0x8080808080808080;
  const dotBits = ctz(others) & ~7;
  const endBits = ctz(others & (others - 1)) & ~7;
  // `digits` has turned "." into 0x1e and the separator into separator ^ 0x30
  if (endBits > 56 || dotBits == 0 || endBits == dotBits + 8) return 0;
  if (((eight >> dotBits) & 0xff) != 0x1e || ((eight >> endBits) & 0xff) != <u64>(separator ^ 0x30)) return 0;
  const whole = eight & ((<u64>1 << dotBits) - 1);
  // the fraction moves one byte down over the dot, then the last digit up to the highest byte
  const both = whole | ((eight >> 8) & ~((<u64>1 << dotBits) - 1));
  const value = valueOf8(both << (72 - endBits));
  store<f64>(target, <f64>value / powerOf10AsFloat(<u32>(endBits - dotBits) >> 3));
  return p + <usize>(endBits >> 3) + 1;
}

/** 10^(n - 1) for n of 1..7: a fraction's bytes with its dot. */
// @ts-ignore: decorator
@inline
function powerOf10AsFloat(n: u32): f64 {
  return load<f64>(FRACTION_POWERS + (n << 3));
}

const FRACTION_POWERS = memory.data<f64>([1, 1, 10, 100, 1000, 10000, 100000, 1000000]);

/** -?digits[.digits][(e|E)[+|-]digits], correctly rounded. The text ends before a "." or an exponent that lacks its digits. */
export function parseFloat64(p: usize, target: usize, powersPtr: usize): usize {
  const start = p;
  const negative = <u32>load<u8>(p) == MINUS;
  if (negative) p++;
  const firstDigit = p;
  let eight = digits(p);
  let count = leadingDigits(eight);
  if (count == 0) return 0;
  let mantissa: u64 = 0;
  // the sum may wrap: it is used only when there were at most 19 digits
  while (count == 8) {
    mantissa = mantissa * 100000000 + valueOf8(eight);
    p += 8;
    eight = digits(p);
    count = leadingDigits(eight);
  }
  if (count != 0) {
    mantissa = mantissa * powerOf10(count) + valueOf8(eight << (64 - (count << 3)));
    p += count;
  }
  let digitCount = <u32>(p - firstDigit);
  let exponent: i32 = 0;
  if (<u32>load<u8>(p) == DOT && isDigit(load<u8>(p + 1))) {
    const fraction = ++p;
    eight = digits(p);
    count = leadingDigits(eight);
    while (count == 8) {
      mantissa = mantissa * 100000000 + valueOf8(eight);
      p += 8;
      eight = digits(p);
      count = leadingDigits(eight);
    }
    if (count != 0) {
      mantissa = mantissa * powerOf10(count) + valueOf8(eight << (64 - (count << 3)));
      p += count;
    }
    exponent = -(<i32>(p - fraction));
    digitCount += <u32>(p - fraction);
  }
  if ((<u32>load<u8>(p) | 0x20) == 0x65) {
    p = readExponent(p);
    exponent += exponentValue;
  }
  let value = digitCount <= 19 ? decimalToFloat(mantissa, exponent, powersPtr) : abs(hostParseFloat(start, <u32>(p - start)));
  if (value == Infinity) return 0;
  store<f64>(target, negative ? -value : value);
  return p;
}

/** Set by readExponent: 0 when there is none. */
let exponentValue: i32 = 0;

/** `p` is at the "e". Returns `p` itself when no digits follow. */
function readExponent(p: usize): usize {
  const start = p++;
  exponentValue = 0;
  const sign: u32 = load<u8>(p);
  if (sign == MINUS || sign == 0x2b) p++;
  if (!isDigit(load<u8>(p))) return start;
  let value: i32 = 0;
  while (true) {
    const digit = <u32>load<u8>(p) - ZERO;
    if (digit > 9) break;
    // beyond 10^5 every non-zero number of 19 digits is 0 or infinite already
    if (value < 100000) value = value * 10 + digit;
    p++;
  }
  exponentValue = sign == MINUS ? -value : value;
  return p;
}

/** 10^n for n of 1..7. */
// @ts-ignore: decorator
@inline
function powerOf10(n: u32): u64 {
  return load<u64>(POWERS_OF_10 + (n << 3));
}

const POWERS_OF_10 = memory.data<u64>([1, 10, 100, 1000, 10000, 100000, 1000000, 10000000]);

/** t T true True TRUE f F false False FALSE, the longest that fits. */
export function parseBoolean(p: usize, target: usize): usize {
  const c: u32 = load<u8>(p);
  const truth = (c | 0x20) == 0x74;
  if (!truth && (c | 0x20) != 0x66) return 0;
  store<u8>(target, truth ? 1 : 0);
  const word = load<u32>(p + 1);
  if (truth) {
    const rest = word & 0xffffff;
    if (rest == 0x657572 || (c == 0x54 && rest == 0x455552)) return p + 4;
  } else if (word == 0x65736c61 || (c == 0x46 && word == 0x45534c41)) {
    return p + 5;
  }
  return p + 1;
}
