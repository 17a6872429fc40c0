// Bit packing. 128 values are a pack: packed vertically, lane k holding values k, k + 4, k + 8 ..., so that four values move per
// instruction: widths to 32 bits are `width` vectors of four u32; wider values are all low halves, then the high halves packed the same
// way. Fewer are packed as one stream of bits, lowest bit first, so that small batches pay for no padding.
import { PACK_VALUES } from "./work";

/** Bytes that `count` values of `width` bits take. */
// @ts-ignore: decorator
@inline
export function packedBytes(count: u32, width: u32): u32 {
  return (count * width + 7) >> 3;
}

/** Packs `count` u64, each below 2^width, into packedBytes(count, width) bytes; may write 7 bytes more. */
export function packValues(values: u32, count: u32, width: u32, target: u32): void {
  for (; count >= PACK_VALUES; count -= PACK_VALUES) {
    packFull(values, width, target);
    values += PACK_VALUES << 3;
    target += width << 4;
  }
  packTail(values, count, width, target);
}

/** Reads nothing at or past `end`, the end of all encoded bytes; the caller has checked that the packed bytes lie before it. */
export function unpackValues(source: u32, end: u32, count: u32, width: u32, values: u32): void {
  for (; count >= PACK_VALUES; count -= PACK_VALUES) {
    unpackFull(source, width, values);
    values += PACK_VALUES << 3;
    source += width << 4;
  }
  unpackTail(source, end, count, width, values);
}

/** Packs u64[128], each below 2^width, into 16 x width bytes. */
export function packFull(values: u32, width: u32, target: u32): void {
  if (width <= 32) {
    packLow(values, width, target);
  } else {
    packLow(values, 32, target);
    packHigh(values, width - 32, target + 512);
  }
}

/** Unpacks a whole pack. */
export function unpackFull(source: u32, width: u32, values: u32): void {
  if (width <= 32) {
    unpackLow(source, width, values);
  } else {
    unpackLow(source, 32, values);
    unpackHigh(source + 512, width - 32, values);
  }
}

// @ts-ignore: decorator
@inline
function mergeLanes(packed: v128, lanes: v128, used: u32): v128 {
  return v128.or(packed, i32x4.shl(lanes, used));
}

function packLow(values: u32, width: u32, target: u32): void {
  let packed = i32x4.splat(0);
  let used: u32 = 0;
  for (const end = values + 1024; values < end; values += 32) {
    const lanes = v128.shuffle<u32>(v128.load(values), v128.load(values, 16), 0, 2, 4, 6);
    packed = mergeLanes(packed, lanes, used);
    used += width;
    if (used >= 32) {
      v128.store(target, packed);
      target += 16;
      used -= 32;
      packed = used == 0 ? i32x4.splat(0) : i32x4.shr_u(lanes, width - used);
    }
  }
}

function packHigh(values: u32, width: u32, target: u32): void {
  let packed = i32x4.splat(0);
  let used: u32 = 0;
  for (const end = values + 1024; values < end; values += 32) {
    const lanes = v128.shuffle<u32>(v128.load(values), v128.load(values, 16), 1, 3, 5, 7);
    packed = mergeLanes(packed, lanes, used);
    used += width;
    if (used >= 32) {
      v128.store(target, packed);
      target += 16;
      used -= 32;
      packed = used == 0 ? i32x4.splat(0) : i32x4.shr_u(lanes, width - used);
    }
  }
}

function unpackLow(source: u32, width: u32, values: u32): void {
  if (width == 0) {
    memory.fill(values, 0, 1024);
    return;
  }
  const mask = i32x4.splat(width == 32 ? -1 : (1 << width) - 1);
  let word = v128.load(source);
  let used: u32 = 0;
  const end = values + 1024;
  while (true) {
    let lanes = i32x4.shr_u(word, used);
    used += width;
    if (used > 32) {
      source += 16;
      word = v128.load(source);
      used -= 32;
      lanes = v128.or(lanes, i32x4.shl(word, width - used));
    }
    lanes = v128.and(lanes, mask);
    v128.store(values, i64x2.extend_low_i32x4_u(lanes));
    v128.store(values, i64x2.extend_high_i32x4_u(lanes), 16);
    values += 32;
    if (values == end) return;
    if (used == 32) {
      source += 16;
      word = v128.load(source);
      used = 0;
    }
  }
}

function unpackHigh(source: u32, width: u32, values: u32): void {
  const mask = i32x4.splat(width == 32 ? -1 : (1 << width) - 1);
  let word = v128.load(source);
  let used: u32 = 0;
  const end = values + 1024;
  while (true) {
    let lanes = i32x4.shr_u(word, used);
    used += width;
    if (used > 32) {
      source += 16;
      word = v128.load(source);
      used -= 32;
      lanes = v128.or(lanes, i32x4.shl(word, width - used));
    }
    lanes = v128.and(lanes, mask);
    v128.store(values, v128.or(v128.load(values), i64x2.shl(i64x2.extend_low_i32x4_u(lanes), 32)));
    v128.store(values, v128.or(v128.load(values, 16), i64x2.shl(i64x2.extend_high_i32x4_u(lanes), 32)), 16);
    values += 32;
    if (values == end) return;
    if (used == 32) {
      source += 16;
      word = v128.load(source);
      used = 0;
    }
  }
}

/** Packs the last values of a section, fewer than a pack. */
export function packTail(values: u32, count: u32, width: u32, target: u32): void {
  let packed: u64 = 0;
  let used: u32 = 0;
  for (const end = values + (count << 3); values < end; values += 8) {
    const value = load<u64>(values);
    packed |= value << used;
    used += width;
    if (used >= 64) {
      store<u64>(target, packed);
      target += 8;
      used -= 64;
      packed = used == 0 ? 0 : value >> (width - used);
    }
  }
  if (used != 0) store<u64>(target, packed);
}

/** Unpacks the last values of a section; bytes from `end` on are not read. */
export function unpackTail(source: u32, end: u32, count: u32, width: u32, values: u32): void {
  const mask: u64 = width == 64 ? ~0 : ((<u64>1) << width) - 1;
  for (let bit: u32 = 0, last = count * width; bit < last; bit += width, values += 8) {
    const at = source + (bit >> 3);
    const shift = bit & 7;
    let value = (at + 8 <= end ? load<u64>(at) : loadBefore(at, end)) >> shift;
    if (shift + width > 64) value |= (<u64>load<u8>(at, 8)) << (64 - shift);
    store<u64>(values, value & mask);
  }
  if (width == 0) memory.fill(values, 0, count << 3);
}

/** The up to 7 bytes before `end`. */
function loadBefore(at: u32, end: u32): u64 {
  let value: u64 = 0;
  for (let shift: u32 = 0; at < end; at++, shift += 8) value |= (<u64>load<u8>(at)) << shift;
  return value;
}
