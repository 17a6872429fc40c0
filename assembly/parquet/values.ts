// Values as Parquet stores them: absent ones take no place, booleans are bits, the bytes of floats may be split, the least and greatest
// value of a chunk are told.
import { spread, squeeze } from "../codec/nulls";

/** Copies the present values of `size` bytes (1, 8 or 16) to `target`. */
export function parquetSqueeze(values: u32, bitmap: u32, count: u32, size: u32, target: u32): void {
  squeeze(values, bitmap, count, size, target);
}

/** Spreads `present` values at the front of `values` over the rows that are present; absent rows become 0. */
export function parquetSpread(values: u32, bitmap: u32, count: u32, size: u32, present: u32): void {
  spread(values, bitmap, count, size, present);
}

/** Bytes of 0 or 1 to bits, lowest first; the last byte's other bits are 0. */
export function parquetPackBits(values: u32, count: u32, target: u32): void {
  for (let i: u32 = 0; i < count; i += 8) {
    const end = min(count - i, 8);
    let byte: u32 = 0;
    for (let k: u32 = 0; k < end; k++) byte |= (<u32>load<u8>(values + i + k)) << k;
    store<u8>(target + (i >> 3), byte);
  }
}

export function parquetUnpackBits(bits: u32, count: u32, target: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u8>(target + i, (<u32>load<u8>(bits + (i >> 3)) >> (i & 7)) & 1);
}

/** First bytes of all values of 8 bytes, then their second bytes, and so on. */
export function parquetSplit8(values: u32, count: u32, target: u32): void {
  for (let byte: u32 = 0; byte < 8; byte++, target += count) {
    const from = values + byte;
    for (let i: u32 = 0; i < count; i++) store<u8>(target + i, load<u8>(from + (i << 3)));
  }
}

export function parquetJoin8(source: u32, count: u32, target: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    let value: u64 = 0;
    for (let byte: u32 = 0; byte < 8; byte++) value |= (<u64>load<u8>(source + byte * count + i)) << (byte << 3);
    store<u64>(target + (i << 3), value);
  }
}

/** Least and greatest of u64[count], count > 0, to target u64[2]. */
export function parquetRangeUnsigned(values: u32, count: u32, target: u32): void {
  let least: u64 = u64.MAX_VALUE;
  let most: u64 = 0;
  for (const end = values + (count << 3); values < end; values += 8) {
    const value = load<u64>(values);
    least = min(least, value);
    most = max(most, value);
  }
  store<u64>(target, least);
  store<u64>(target, most, 8);
}

/** Least and greatest of f64[count] that are numbers, to target f64[2]. Zeros become -0 at the low end and +0 at the high one, as the
 *  format  wants. Returns 0 when there is no number. */
export function parquetRangeFloat(values: u32, count: u32, target: u32): bool {
  let least = Infinity;
  let most = -Infinity;
  let found = false;
  for (const end = values + (count << 3); values < end; values += 8) {
    const value = load<f64>(values);
    if (value != value) continue;
    found = true;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  store<f64>(target, least == 0 ? -0.0 : least);
  store<f64>(target, most == 0 ? 0.0 : most, 8);
  return found;
}
