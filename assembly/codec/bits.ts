// Bitmaps: which rows are present, and booleans.
//   plain     | 32 u8 | 0 u8 | 0 u16 | ceil(n / 8) bytes, lowest bit first, unused bits 0 |
//   constant  | 33 u8 | bit u8 | 0 u16 |
//   runs      | 34 u8 | first bit u8 | 0 u16 | bytes u32 | lengths of alternating runs, LEB128 |
import { BITS_CONSTANT, BITS_PLAIN, BITS_RUNS } from "../abi";
import { setBits } from "../memory/bits";

/** Bytes a section of `count` bits takes at most. */
// @ts-ignore: decorator
@inline
export function bitsBytesMax(count: u32): u32 {
  // runs are tried below count / 24 of them, at most 5 bytes each
  return (count >> 2) + 64;
}

/** Word `index` of a bitmap, bits past `count` 0. */
// @ts-ignore: decorator
@inline
export function wordAt(bitmap: u32, index: u32, count: u32): u64 {
  const word = load<u64>(bitmap + (index << 3));
  const left = count - (index << 6);
  return left >= 64 ? word : word & (((<u64>1) << left) - 1);
}

/** The number of set bits among the first `count`. */
export function countOnes(bitmap: u32, count: u32): u32 {
  let ones: u64 = 0;
  for (let i: u32 = 0, words = (count + 63) >> 6; i < words; i++) ones += popcnt(wordAt(bitmap, i, count));
  return <u32>ones;
}

/** Encodes `count` >= 1 bits of a bitmap padded to 8 bytes. Returns the end of the section. */
export function encodeBits(bitmap: u32, count: u32, target: u32): u32 {
  const first = <u32>load<u8>(bitmap) & 1;
  const runs = countRuns(bitmap, count, first);
  if (runs == 1) {
    store<u32>(target, BITS_CONSTANT | (first << 8));
    return target + 4;
  }
  if (runs * 24 < count) {
    store<u32>(target, BITS_RUNS | (first << 8));
    const end = encodeRuns(bitmap, count, first, target + 8);
    store<u32>(target, end - target - 8, 4);
    return end;
  }
  store<u32>(target, BITS_PLAIN);
  const bytes = (count + 7) >> 3;
  memory.copy(target + 4, bitmap, bytes);
  if ((count & 7) != 0) {
    const last = target + 3 + bytes;
    store<u8>(last, load<u8>(last) & <u8>((<u32>1 << (count & 7)) - 1));
  }
  return target + 4 + bytes;
}

function countRuns(bitmap: u32, count: u32, first: u32): u32 {
  let changes: u64 = 0;
  let before: u64 = first;
  for (let i: u32 = 0, words = (count + 63) >> 6; i < words; i++) {
    const word = load<u64>(bitmap + (i << 3));
    const changed = word ^ ((word << 1) | before);
    const left = count - (i << 6);
    changes += popcnt(left >= 64 ? changed : changed & (((<u64>1) << left) - 1));
    before = word >> 63;
  }
  return <u32>changes + 1;
}

function encodeRuns(bitmap: u32, count: u32, first: u32, target: u32): u32 {
  let start: u32 = 0;
  let before: u64 = first;
  for (let i: u32 = 0, words = (count + 63) >> 6; i < words; i++) {
    const word = load<u64>(bitmap + (i << 3));
    const left = count - (i << 6);
    let changed = word ^ ((word << 1) | before);
    if (left < 64) changed &= ((<u64>1) << left) - 1;
    for (; changed != 0; changed &= changed - 1) {
      const at = (i << 6) + <u32>ctz(changed);
      target = storeVarint(at - start, target);
      start = at;
    }
    before = word >> 63;
  }
  return storeVarint(count - start, target);
}

function storeVarint(value: u32, target: u32): u32 {
  for (; value > 127; value >>= 7) store<u8>(target++, <u8>(value | 128));
  store<u8>(target, <u8>value);
  return target + 1;
}

/** Decodes a section of `count` >= 1 bits into a bitmap padded with 0 to 8 bytes. Returns its end, or 0 when the bytes are no such
 *  section. */
export function decodeBits(source: u32, end: u32, count: u32, bitmap: u32): u32 {
  const paddedBytes = ((count + 63) >> 6) << 3;
  memory.fill(bitmap, 0, paddedBytes);
  if (end - source < 4) return 0;
  const encoding = <u32>load<u8>(source);
  const bit = <u32>load<u8>(source, 1);
  source += 4;
  if (encoding == BITS_CONSTANT) {
    if (bit != 0) setBits(bitmap, 0, count);
    return source;
  }
  if (encoding == BITS_RUNS) {
    if (end - source < 4) return 0;
    const bytes = load<u32>(source);
    source += 4;
    if (end - source < bytes) return 0;
    return decodeRuns(source, source + bytes, count, bit, bitmap);
  }
  const bytes = (count + 7) >> 3;
  if (encoding != BITS_PLAIN || end - source < bytes) return 0;
  memory.copy(bitmap, source, bytes);
  if ((count & 7) != 0) {
    const last = bitmap + bytes - 1;
    store<u8>(last, load<u8>(last) & <u8>((<u32>1 << (count & 7)) - 1));
  }
  return source + bytes;
}

function decodeRuns(source: u32, end: u32, count: u32, first: u32, bitmap: u32): u32 {
  let bit = first != 0;
  let at: u32 = 0;
  while (source < end) {
    let length: u32 = 0;
    let byte: u32 = 128;
    for (let shift: u32 = 0; byte > 127; shift += 7) {
      if (source == end || shift > 28) return 0;
      byte = <u32>load<u8>(source++);
      length |= (byte & 127) << shift;
    }
    if (length == 0 || length > count - at) return 0;
    if (bit) setBits(bitmap, at, length);
    bit = !bit;
    at += length;
  }
  return at == count ? end : 0;
}

/** Bytes of 0 or 1 to a bitmap padded with 0 to 8 bytes. Any byte but 0 counts as 1. */
export function packBooleans(values: u32, count: u32, bitmap: u32): void {
  memory.fill(bitmap, 0, ((count + 63) >> 6) << 3);
  let row: u32 = 0;
  const zeros = i8x16.splat(0);
  for (; row + 16 <= count; row += 16) {
    store<u16>(bitmap + (row >> 3), <u16>i8x16.bitmask(i8x16.ne(v128.load(values + row), zeros)));
  }
  for (; row < count; row++) {
    if (load<u8>(values + row) == 0) continue;
    const at = bitmap + (row >> 3);
    store<u8>(at, load<u8>(at) | <u8>(<u32>1 << (row & 7)));
  }
}

/** Bits to bytes of 0 and 1. */
export function unpackBooleans(bitmap: u32, count: u32, values: u32): void {
  for (let row: u32 = 0; row < count; row++) store<u8>(values + row, (load<u8>(bitmap + (row >> 3)) >> <u8>(row & 7)) & 1);
}
