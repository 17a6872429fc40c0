// Times as quotients: differences to the earliest of them, divided by what they have in common, in two or four bytes. The divisor is
// odd << zeros, with an odd part of 32 bits: every unit from microseconds to days, and every step of them that fits. A quotient of 32 bits
// is then the low half of a difference >> zeros, times the inverse modulo 2^32 of the odd part; it is right if it gives the difference.
import { gcd, inverseOf, RETRIES, sampledDivisor } from "./divisor";

let base: i64 = 0;
let odd: u32 = 1;
let zeros: u32 = 0;

/** Bytes per quotient, 2 or 4, of times i64[count], count >= 1; dividedBase, dividedOdd and dividedZeros are left as what they are made
 *  of. 0: they have nothing in common that makes them so small. */
export function dividedWidth(values: u32, count: u32): u32 {
  base = load<i64>(values);
  let latest = base;
  for (let at = values + 8, end = values + (count << 3); at < end; at += 8) {
    const value = load<i64>(at);
    base = min(base, value);
    latest = max(latest, value);
  }
  const range = <u64>(latest - base);
  let divisor: u64 = range == 0 ? 1 : sampledDivisor(values, count, base, range);
  // a row that refutes the sample's divisor leaves a smaller one
  for (let i: u32 = 0; i <= RETRIES; i++) {
    zeros = <u32>ctz(divisor);
    const oddPart = divisor >> zeros;
    const most = range / divisor;
    if (oddPart > u32.MAX_VALUE || most > u32.MAX_VALUE) return 0;
    odd = <u32>oddPart;
    const row = firstIndivisible(values, count);
    if (row == count) return most <= 0xffff ? 2 : 4;
    divisor = gcd(divisor, load<u64>(values + (row << 3)) - <u64>base);
  }
  return 0;
}

/** The earliest of the times that dividedWidth was called with. */
export function dividedBase(): i64 {
  return base;
}

/** The divisor is dividedOdd << dividedZeros. */
export function dividedOdd(): u32 {
  return odd;
}

/** See dividedOdd. */
export function dividedZeros(): u32 {
  return zeros;
}

/** The first row whose difference is no quotient of 32 bits times the divisor; `count` if there is none. */
function firstIndivisible(values: u32, count: u32): u32 {
  const inverse = i32x4.splat(<i32>inverseOf(odd));
  const bases = i64x2.splat(base);
  const odds = i32x4.splat(<i32>odd);
  const remainders = i64x2.splat((<i64>1 << zeros) - 1);
  let row: u32 = 0;
  for (; row + 4 <= count; row += 4) {
    const at = values + (row << 3);
    const left = i64x2.sub(v128.load(at), bases);
    const right = i64x2.sub(v128.load(at, 16), bases);
    const quotients = fourQuotients(left, right, inverse, zeros);
    // products of 64 bits: if they wrapped around, wrong quotients would pass
    const wrong = v128.or(
      v128.xor(i64x2.extmul_low_i32x4_u(quotients, odds), i64x2.shr_u(left, zeros)),
      v128.xor(i64x2.extmul_high_i32x4_u(quotients, odds), i64x2.shr_u(right, zeros)),
    );
    if (v128.any_true(v128.or(wrong, v128.and(v128.or(left, right), remainders)))) break;
  }
  const divisor = <u64>odd << zeros;
  while (row < count && (load<u64>(values + (row << 3)) - <u64>base) % divisor == 0) row++;
  return row;
}

/** Low halves of four differences >> zeros, times the inverse. */
// @ts-ignore: decorator
@inline
function fourQuotients(left: v128, right: v128, inverse: v128, zeros: u32): v128 {
  return i32x4.mul(v128.shuffle<u32>(i64x2.shr_u(left, zeros), i64x2.shr_u(right, zeros), 0, 2, 4, 6), inverse);
}

/** Writes (values - base) / (odd << zeros), each in `width` bytes. */
export function divideValues(values: u32, count: u32, base: i64, odd: u32, zeros: u32, width: u32, target: u32): void {
  const inverse32 = <u32>inverseOf(odd);
  const inverse = i32x4.splat(<i32>inverse32);
  const bases = i64x2.splat(base);
  const end = values + (count << 3);
  for (; values + 64 <= end; values += 64, target += width << 3) {
    const low = fourQuotients(i64x2.sub(v128.load(values), bases), i64x2.sub(v128.load(values, 16), bases), inverse, zeros);
    const high = fourQuotients(i64x2.sub(v128.load(values, 32), bases), i64x2.sub(v128.load(values, 48), bases), inverse, zeros);
    if (width == 2) v128.store(target, i16x8.narrow_i32x4_u(low, high));
    else {
      v128.store(target, low);
      v128.store(target, high, 16);
    }
  }
  for (; values < end; values += 8, target += width) {
    const quotient = <u32>((load<u64>(values) - <u64>base) >> zeros) * inverse32;
    if (width == 2) store<u16>(target, <u16>quotient);
    else store<u32>(target, quotient);
  }
}

/** Writes i64[count]: the times that divideValues wrote quotients of. */
export function multiplyValues(source: u32, count: u32, base: i64, odd: u32, zeros: u32, width: u32, target: u32): void {
  const end = target + (count << 3);
  const bases = i64x2.splat(base);
  const odds = i32x4.splat(<i32>odd);
  if (width == 2) {
    for (; target + 64 <= end; target += 64, source += 16) {
      const words = v128.load(source);
      storeFour(target, i32x4.extend_low_i16x8_u(words), odds, zeros, bases);
      storeFour(target + 32, i32x4.extend_high_i16x8_u(words), odds, zeros, bases);
    }
    for (; target < end; target += 8, source += 2) store<i64>(target, <i64>((<u64>load<u16>(source) * odd) << zeros) + base);
  } else {
    for (; target + 32 <= end; target += 32, source += 16) storeFour(target, v128.load(source), odds, zeros, bases);
    for (; target < end; target += 8, source += 4) store<i64>(target, <i64>((<u64>load<u32>(source) * odd) << zeros) + base);
  }
}

// @ts-ignore: decorator
@inline
function storeFour(target: u32, quotients: v128, odds: v128, zeros: u32, bases: v128): void {
  v128.store(target, i64x2.add(i64x2.shl(i64x2.extmul_low_i32x4_u(quotients, odds), zeros), bases));
  v128.store(target, i64x2.add(i64x2.shl(i64x2.extmul_high_i32x4_u(quotients, odds), zeros), bases), 16);
}

/** The same of the rows of `count` joined parts (scan/page-parts.ts), one behind the other. */
export function multiplyParts(source: u32, joined: u32, count: u32, base: i64, odd: u32, zeros: u32, width: u32, target: u32): void {
  for (const end = joined + (count << 3); joined < end; joined += 8) {
    const first = load<u32>(joined);
    const rows = load<u32>(joined, 4) - first;
    multiplyValues(source + first * width, rows, base, odd, zeros, width, target);
    target += rows << 3;
  }
}

/** The same of listed rows. */
export function gatherDivided(source: u32, rows: u32, count: u32, base: i64, odd: u32, zeros: u32, width: u32, target: u32): void {
  for (const end = target + (count << 3); target < end; target += 8, rows += 4) {
    const row = load<u32>(rows);
    const quotient: u64 = width == 2 ? load<u16>(source + (row << 1)) : load<u32>(source + (row << 2));
    store<i64>(target, <i64>((quotient * odd) << zeros) + base);
  }
}
