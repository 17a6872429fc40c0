// Decimal to binary floating point, correctly rounded (nearest, ties to even).
// Source: Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience 51 (2021); that the 128-bit product always
// decides is shown in Mushtak and Lemire, "Fast number parsing without fallback", same journal 53 (2023).

/** First exponent of the table of powers of five, and the last. The table is made by the host: per exponent | high u64 | low u64 |. */
const POWER_MIN: i32 = -342;
const POWER_MAX: i32 = 308;

/** 10^0 .. 10^22, each exact in an f64. */
const EXACT_POWERS = memory.data<f64>([
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]);

/** mantissa × 10^exponent; Infinity when that is beyond the largest f64. */
export function decimalToFloat(mantissa: u64, exponent: i32, powersPtr: usize): f64 {
  // both operands exact in an f64, so that the one operation rounds once: 2^53 and 10^22 are the last such
  if (mantissa <= 9007199254740992) {
    if (exponent == 0) return <f64>mantissa;
    if (exponent < 0 && exponent >= -22) return <f64>mantissa / load<f64>(EXACT_POWERS + (-exponent << 3));
    if (exponent > 0 && exponent <= 22) return <f64>mantissa * load<f64>(EXACT_POWERS + (exponent << 3));
  }
  if (mantissa == 0 || exponent < POWER_MIN) return 0;
  if (exponent > POWER_MAX) return Infinity;
  return eiselLemire(mantissa, exponent, powersPtr);
}

/** High half of the 128-bit product. */
export function multiplyHigh(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff;
  const aHigh = a >> 32;
  const bLow = b & 0xffffffff;
  const bHigh = b >> 32;
  const middle = aHigh * bLow + ((aLow * bLow) >> 32);
  const middleLow = (middle & 0xffffffff) + aLow * bHigh;
  return aHigh * bHigh + (middle >> 32) + (middleLow >> 32);
}

function eiselLemire(mantissa: u64, exponent: i32, powersPtr: usize): f64 {
  const shift = clz(mantissa);
  const normal = mantissa << shift;
  const power = powersPtr + ((exponent - POWER_MIN) << 4);
  // 55 bits decide: 52 stored, 1 implied, 1 to round, 1 for the leading zero that a product may have
  let low = normal * load<u64>(power);
  let high = multiplyHigh(normal, load<u64>(power));
  if ((high & 0x1ff) == 0x1ff) {
    const second = multiplyHigh(normal, load<u64>(power, 8));
    low += second;
    if (second > low) high++;
  }
  const upperBit = high >> 63;
  let bits = high >> (upperBit + 9);
  // floor(log2(10^exponent)) + 63, then the exponent's bias
  let binaryExponent: i32 = (((152170 + 65536) * exponent) >> 16) + 63 + <i32>upperBit - <i32>shift + 1023;
  if (binaryExponent <= 0) {
    if (1 - binaryExponent >= 64) return 0;
    bits >>= 1 - binaryExponent;
    bits = (bits + (bits & 1)) >> 1;
    // rounding up may have made the smallest normal number: its bit is the exponent's lowest
    return reinterpret<f64>(bits);
  }
  // exactly half way between two floats: only possible for these exponents, and then the even one is wanted
  if (low <= 1 && exponent >= -4 && exponent <= 23 && (bits & 3) == 1 && bits << (upperBit + 9) == high) bits &= ~(<u64>1);
  bits = (bits + (bits & 1)) >> 1;
  if (bits >= <u64>2 << 52) {
    bits = <u64>1 << 52;
    binaryExponent++;
  }
  if (binaryExponent >= 0x7ff) return Infinity;
  return reinterpret<f64>((bits & ~(<u64>1 << 52)) | (<u64>binaryExponent << 52));
}
