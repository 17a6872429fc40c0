// A block: up to 384 unsigned values, most of them small. Packed at the width that makes the block smallest, full blocks at a fraction of a
// bit where that is less; the few greater values are exceptions whose high parts are added afterwards, so that a jump between two series
// does not widen its neighbours.
//   | head u16 | [radix u16] | packed values | exception gaps u8 x n | exception high parts, u8, u16, u32 or u64 x n |
//   head: bits 0-6 code, bits 7-8 log2 of the bytes per high part, bits 9-15 exception count
//   code 0..64: a width in bits, an exception is packed + (high << width)
//   code 65..96: a full block in groups of code - 64 bits, see radix.ts; an exception is packed + high x radix
//   gaps: values between an exception and the one before; where 255 do not do, an exception with a high part of 0 stands between
// Source: Zukowski et al., "Super-Scalar RAM-CPU Cache Compression", ICDE 2006 (patched frame of reference).
import { packValues, packedBytes, unpackValues } from "./bitpack";
import { RADIX_MAX, greatestWithin, groupBitsOf, packGroups, unpackGroups } from "./radix";
import { BLOCK_VALUES, bitsOf, exceptionWork } from "./work";

// 7 bits of the head
const EXCEPTIONS_MAX: u32 = 127;
// Gaps of 256 need a bridge: at most one in 384 values
const BRIDGES_MAX: u32 = 1;
const GROUP_CODE: u32 = 64;
// Radixes are of values of up to 11 bits.
const RADIX_WIDTH_MAX: u32 = 11;

/** Packs u64[count], 1 <= count <= 384, which it spoils, in room for 384. Returns the end, at most 2 + 8 x count bytes on; 7 more may be
 *  touched. */
export function packBlock(values: u32, count: u32, target: u32): u32 {
  // an odd value gets a neighbour, so that values are looked at in pairs
  if ((count & 1) != 0) store<u64>(values + (count << 3), 0);
  const widest = bitsOf(orAll(values, count));
  const width = widest > 1 ? cheapestWidth(values, count, widest) : widest;
  if (count == BLOCK_VALUES && width > 1 && width <= RADIX_WIDTH_MAX) {
    const radix = greatestWithin(values, count, width) + 1;
    if (radix <= RADIX_MAX && groupBitsOf(radix) < 3 * width) return packRadix(values, radix, width < widest, target);
  }
  const exceptions = width < widest ? takeExceptions(values, count, (<u64>1) << width) : 0;
  packValues(values, count, width, target + 2);
  return storeExceptions(exceptions, width, target, target + 2 + packedBytes(count, width));
}

function packRadix(values: u32, radix: u32, hasExceptions: bool, target: u32): u32 {
  const exceptions = hasExceptions ? takeExceptions(values, BLOCK_VALUES, radix) : 0;
  const groupBits = groupBitsOf(radix);
  packGroups(values, radix, groupBits, target + 4);
  store<u16>(target, <u16>radix, 2);
  return storeExceptions(exceptions, GROUP_CODE + groupBits, target, target + 4 + (groupBits << 4));
}

/** Unpacks a block of `count` values. Returns its end, or 0 when the bytes are no such block. */
export function unpackBlock(source: u32, end: u32, count: u32, values: u32): u32 {
  if (end - source < 4) return end - source >= 2 && count != 0 ? unpackShort(source, end, count, values) : 0;
  const head = <u32>load<u16>(source);
  const code = head & 127;
  if (code <= GROUP_CODE) return unpackShort(source, end, count, values);
  const groupBits = code - GROUP_CODE;
  const radix = <u32>load<u16>(source, 2);
  source += 4;
  if (groupBits > 32 || count != BLOCK_VALUES || radix < 2 || end - source < groupBits << 4) return 0;
  unpackGroups(source, radix, groupBits, values);
  return patchExceptions(source + (groupBits << 4), end, head, radix, count, values);
}

/** The end of a block of `count` values, or 0 when the bytes cannot be one. */
export function skipBlock(source: u32, end: u32, count: u32): u32 {
  if (end - source < 2) return 0;
  const head = <u32>load<u16>(source);
  const code = head & 127;
  const isGrouped = code > GROUP_CODE;
  const headBytes: u32 = isGrouped ? 4 : 2;
  if (isGrouped && (code - GROUP_CODE > 32 || count != BLOCK_VALUES)) return 0;
  const exceptions = head >> 9;
  const packed = isGrouped ? (code - GROUP_CODE) << 4 : packedBytes(count, code);
  const bytes = headBytes + packed + exceptions + (exceptions << ((head >> 7) & 3));
  return end - source < bytes ? 0 : source + bytes;
}

function unpackShort(source: u32, end: u32, count: u32, values: u32): u32 {
  const head = <u32>load<u16>(source);
  const width = head & 127;
  const bytes = packedBytes(count, width);
  source += 2;
  if (width > 64 || end - source < bytes) return 0;
  unpackValues(source, end, count, width, values);
  // without exceptions the factor is of no use, and 2^64 would have none
  return patchExceptions(source + bytes, end, head, width == 64 ? 0 : (<u64>1) << width, count, values);
}

/** The width at which the block is smallest, `widest` being what all values fit. Goes down from there over the widths that occur: each pass
 *  counts the values that a width leaves out and finds the widest of the others. */
function cheapestWidth(values: u32, count: u32, widest: u32): u32 {
  let best = widest;
  let bestBits = widest * count;
  let width = widest - 1;
  while (true) {
    const exceptions = countWider(values, count, width);
    // an exception takes 16 bits at least
    if (exceptions > EXCEPTIONS_MAX - BRIDGES_MAX || exceptions << 4 >= bestBits) return best;
    // what is not an exception may be narrower still
    width = bitsOf(fittingBits);
    const bits = width * count + exceptions * (8 + (8 << sizeLog2Of(widest - width)));
    if (bits < bestBits) {
      best = width;
      bestBits = bits;
    }
    if (width == 0) return best;
    width--;
  }
}

let fittingBits: u64 = 0;

/** How many values have more than `width` bits; fittingBits is left as all bits of the others. */
function countWider(values: u32, count: u32, width: u32): u32 {
  const zero = i64x2.splat(0);
  let fitting = zero;
  let narrow = zero;
  const pairs = (count + 1) >> 1;
  for (const end = values + (pairs << 4); values < end; values += 16) {
    const pair = v128.load(values);
    const fits = i64x2.eq(i64x2.shr_u(pair, width), zero);
    fitting = v128.or(fitting, v128.and(pair, fits));
    narrow = i64x2.add(narrow, fits);
  }
  fittingBits = <u64>i64x2.extract_lane(fitting, 0) | <u64>i64x2.extract_lane(fitting, 1);
  // a fitting value has added -1
  return (pairs << 1) + <u32>(i64x2.extract_lane(narrow, 0) + i64x2.extract_lane(narrow, 1));
}

/** Log2 of the bytes that hold `bits` bits. */
// @ts-ignore: decorator
@inline
function sizeLog2Of(bits: u32): u32 {
  return <u32>(bits > 8) + <u32>(bits > 16) + <u32>(bits > 32);
}

/** Bits of the high parts that takeExceptions moved. */
let highBits: u64 = 0;

/** Leaves each value modulo `limit`, and moves the quotients that are not 0 out of the block. Returns the exceptions, bridges included. */
function takeExceptions(values: u32, count: u32, limit: u64): u32 {
  const highs = exceptionWork();
  const gaps = highs + (EXCEPTIONS_MAX + 1) * 8;
  let exceptions: u32 = 0;
  let next: u32 = 0;
  highBits = 0;
  for (let i: u32 = 0; i < count; i++) {
    const at = values + (i << 3);
    const value = load<u64>(at);
    if (value < limit) continue;
    const high = value / limit;
    for (; i - next > 255; next += 256) {
      store<u64>(highs + (exceptions << 3), 0);
      store<u8>(gaps + exceptions++, 255);
    }
    store<u64>(highs + (exceptions << 3), high);
    store<u8>(gaps + exceptions++, <u8>(i - next));
    store<u64>(at, value - high * limit);
    highBits |= high;
    next = i + 1;
  }
  return exceptions;
}

/** Writes the head of a block and the exceptions behind its packed values. Returns the end. */
function storeExceptions(exceptions: u32, code: u32, head: u32, target: u32): u32 {
  if (exceptions == 0) {
    store<u16>(head, <u16>code);
    return target;
  }
  const sizeLog2 = sizeLog2Of(bitsOf(highBits));
  store<u16>(head, <u16>(code | (sizeLog2 << 7) | (exceptions << 9)));
  const highs = exceptionWork();
  memory.copy(target, highs + (EXCEPTIONS_MAX + 1) * 8, exceptions);
  target += exceptions;
  for (let i: u32 = 0; i < exceptions; i++) {
    const high = load<u64>(highs + (i << 3));
    if (sizeLog2 == 0) store<u8>(target, <u8>high);
    else if (sizeLog2 == 1) store<u16>(target, <u16>high);
    else if (sizeLog2 == 2) store<u32>(target, <u32>high);
    else store<u64>(target, high);
    target += 1 << sizeLog2;
  }
  return target;
}

/** Adds the high parts of the exceptions, if any. Returns the end of them, or 0 when they do not fit the block. */
function patchExceptions(source: u32, end: u32, head: u32, factor: u64, count: u32, values: u32): u32 {
  const exceptions = head >> 9;
  if (exceptions == 0) return source;
  const sizeLog2 = (head >> 7) & 3;
  if (end - source < exceptions + (exceptions << sizeLog2)) return 0;
  let high = source + exceptions;
  let position: u32 = 0;
  for (const last = high; source < last; source++, position++) {
    position += <u32>load<u8>(source);
    if (position >= count) return 0;
    const at = values + (position << 3);
    store<u64>(at, load<u64>(at) + loadSized(high, sizeLog2) * factor);
    high += 1 << sizeLog2;
  }
  return high;
}

// @ts-ignore: decorator
@inline
function loadSized(at: u32, sizeLog2: u32): u64 {
  if (sizeLog2 == 0) return <u64>load<u8>(at);
  if (sizeLog2 == 1) return <u64>load<u16>(at);
  if (sizeLog2 == 2) return <u64>load<u32>(at);
  return load<u64>(at);
}

function orAll(values: u32, count: u32): u64 {
  let bits = i64x2.splat(0);
  for (const end = values + (count << 3); values < end; values += 16) bits = v128.or(bits, v128.load(values));
  return <u64>i64x2.extract_lane(bits, 0) | <u64>i64x2.extract_lane(bits, 1);
}
