// A divisor that all values less their smallest share: times of whole seconds, byte counts of whole pages, readings of fixed steps.
// Exact division is a multiplication by the inverse modulo 2^64 of the divisor's odd part, and a rotation that brings the bits of a
// remainder to the top, where they make the quotient too large.  Source: Warren, "Hacker's Delight", 10-17.

// Four neighbours at each of four places: evenly spaced single values may share more than all do.
const PLACES: u32 = 4;
const NEIGHBOURS: u32 = 4;
export const RETRIES: u32 = 4;

/** Divides all differences to `base`, the largest of which is `range`, by a divisor that they share:
 *  target[i] = (values[i] - base) / divisor. Returns it, or 1 when there is none worth the 8 bytes that it takes; `target` holds nothing of
 *  use then. */
export function divideByCommon(values: u32, count: u32, base: u64, range: u64, target: u32): u64 {
  if (!worth(range, count)) return 1;
  let divisor = sampledDivisor(values, count, base, range);
  // a row that refutes the sample's divisor leaves a smaller one
  for (let i: u32 = 0; i <= RETRIES && divisor != 1 && worth(divisor, count); i++) {
    const row = divideAll(values, count, base, divisor, target);
    if (row == count) return divisor;
    divisor = gcd(divisor, load<u64>(values + (row << 3)) - base);
  }
  return 1;
}

/** A multiple of the divisor that all differences to `base` share, the largest of which is `range`; 1: they share none. */
export function sampledDivisor(values: u32, count: u32, base: u64, range: u64): u64 {
  // range is one of the differences, so it may begin; and it is not 0 when every sampled value is the smallest
  let divisor: u64 = range;
  const step = count / PLACES;
  for (let i: u32 = 0, samples = min(count, PLACES * NEIGHBOURS); i < samples && divisor != 1; i++) {
    const row = count <= PLACES * NEIGHBOURS ? i : (i / NEIGHBOURS) * step + (i % NEIGHBOURS);
    divisor = gcd(divisor, load<u64>(values + (row << 3)) - base);
  }
  return divisor;
}

/** Binary, but for the usual case that a divisor divides the next difference too. */
export function gcd(a: u64, b: u64): u64 {
  if (a == 0) return b;
  b %= a;
  if (b == 0) return a;
  const shared = ctz(a | b);
  a >>= ctz(a);
  while (b != 0) {
    b >>= ctz(b);
    const less = min(a, b);
    b = max(a, b) - less;
    a = less;
  }
  return a << shared;
}

// @ts-ignore: decorator
@inline
function worth(divisor: u64, count: u32): bool {
  return <u64>count * (64 - clz(divisor | 1)) > 128;
}

/** target[i] = (values[i] - base) / divisor, to the first value that is not divisible; returns its row, or `count`. */
function divideAll(values: u32, count: u32, base: u64, divisor: u64, target: u32): u32 {
  const zeros = ctz(divisor);
  const inverse = inverseOf(divisor >> zeros);
  const most = u64.MAX_VALUE / divisor;
  for (let row: u32 = 0; row < count; row++) {
    const quotient = rotr((load<u64>(values + (row << 3)) - base) * inverse, zeros);
    if (quotient > most) return row;
    store<u64>(target + (row << 3), quotient);
  }
  return count;
}

/** Inverse of an odd number modulo 2^64: each Newton step doubles the right bits, of which the start has 3. */
export function inverseOf(odd: u64): u64 {
  let inverse = odd;
  for (let i = 0; i < 5; i++) inverse *= 2 - odd * inverse;
  return inverse;
}

/** values[i] = values[i] * divisor + base, in place. */
export function multiplyAll(values: u32, count: u32, base: u64, divisor: u64): void {
  const factors = i64x2.splat(divisor);
  const bases = i64x2.splat(base);
  const end = values + (count << 3);
  for (; values + 16 <= end; values += 16) v128.store(values, i64x2.add(i64x2.mul(v128.load(values), factors), bases));
  if (values < end) store<u64>(values, load<u64>(values) * divisor + base);
}
