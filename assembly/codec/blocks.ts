// A block: up to 128 unsigned values, most of them small. Packed at the width that makes the block smallest; the few wider values are
// exceptions that add their high bits afterwards, so that a jump between two series does not widen its neighbours.
//   | head u16 | packed values | exception positions u8 x n | exception high bits, u8, u16, u32 or u64 x n |
//   head: bits 0-6 width 0..64, bits 7-8 log2 of the bytes per exception, bits 9-15 exception count
// Source: Zukowski et al., "Super-Scalar RAM-CPU Cache Compression", ICDE 2006 (patched frame of reference).
import { packFull, packTail, packedBytes, unpackFull, unpackTail } from "./bitpack";
import { BLOCK_VALUES, bitsOf, exceptionWork } from "./work";

// 7 bits of the head
const EXCEPTIONS_MAX: u32 = 127;

/** Packs u64[count], 1 <= count <= 128, which it spoils, in room for 128. Returns the end, at most 2 + 8 x count bytes on; 7 more may be
 *  touched. */
export function packBlock(values: u32, count: u32, target: u32): u32 {
  // an odd value gets a neighbour, so that values are looked at in pairs
  if ((count & 1) != 0) store<u64>(values + (count << 3), 0);
  const widest = bitsOf(orAll(values, count));
  const width = widest > 1 ? cheapestWidth(values, count, widest) : widest;
  const exceptions = width < widest ? takeExceptions(values, count, width) : 0;
  if (count == BLOCK_VALUES) packFull(values, width, target + 2);
  else packTail(values, count, width, target + 2);
  const packedEnd = target + 2 + packedBytes(count, width);
  if (exceptions == 0) {
    store<u16>(target, <u16>width);
    return packedEnd;
  }
  const sizeLog2 = sizeLog2Of(widest - width);
  store<u16>(target, <u16>(width | (sizeLog2 << 7) | (exceptions << 9)));
  return storeExceptions(exceptions, sizeLog2, packedEnd);
}

/** Unpacks a block of `count` values. Returns its end, or 0 when the bytes are no such block. */
export function unpackBlock(source: u32, end: u32, count: u32, values: u32): u32 {
  if (end - source < 2) return 0;
  const head = <u32>load<u16>(source);
  const width = head & 127;
  const sizeLog2 = (head >> 7) & 3;
  const exceptions = head >> 9;
  if (width > 64) return 0;
  const bytes = packedBytes(count, width);
  source += 2;
  if (end - source < bytes + exceptions + (exceptions << sizeLog2)) return 0;
  if (count == BLOCK_VALUES) unpackFull(source, width, values);
  else unpackTail(source, end, count, width, values);
  source += bytes;
  return exceptions == 0 ? source : patchExceptions(source, exceptions, sizeLog2, width, count, values);
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
    if (exceptions > EXCEPTIONS_MAX || exceptions << 4 >= bestBits) return best;
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
  const end = values + (((count + 1) & ~1) << 3);
  for (; values < end; values += 16) {
    const pair = v128.load(values);
    const fits = i64x2.eq(i64x2.shr_u(pair, width), zero);
    fitting = v128.or(fitting, v128.and(pair, fits));
    narrow = i64x2.add(narrow, fits);
  }
  fittingBits = <u64>i64x2.extract_lane(fitting, 0) | <u64>i64x2.extract_lane(fitting, 1);
  // a fitting value has added -1
  return ((count + 1) & ~1) + <u32>(i64x2.extract_lane(narrow, 0) + i64x2.extract_lane(narrow, 1));
}

/** Log2 of the bytes that hold `bits` bits. */
// @ts-ignore: decorator
@inline
function sizeLog2Of(bits: u32): u32 {
  return <u32>(bits > 8) + <u32>(bits > 16) + <u32>(bits > 32);
}

/** Moves the high bits of values of more than `width` bits out of the block. Returns how many there were. */
function takeExceptions(values: u32, count: u32, width: u32): u32 {
  const mask: u64 = ((<u64>1) << width) - 1;
  const highs = exceptionWork();
  const positions = highs + (BLOCK_VALUES << 3);
  let exceptions: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const at = values + (i << 3);
    const value = load<u64>(at);
    if (value <= mask) continue;
    store<u64>(highs + (exceptions << 3), value >> width);
    store<u8>(positions + exceptions, <u8>i);
    store<u64>(at, value & mask);
    exceptions++;
  }
  return exceptions;
}

function storeExceptions(exceptions: u32, sizeLog2: u32, target: u32): u32 {
  const highs = exceptionWork();
  memory.copy(target, highs + (BLOCK_VALUES << 3), exceptions);
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

/** Adds the high bits of the exceptions. Returns the end of them, or 0 when they do not fit the block. */
function patchExceptions(source: u32, exceptions: u32, sizeLog2: u32, width: u32, count: u32, values: u32): u32 {
  if (width == 64) return 0;
  let high = source + exceptions;
  for (const end = high; source < end; source++) {
    const position = <u32>load<u8>(source);
    if (position >= count) return 0;
    const at = values + (position << 3);
    store<u64>(at, load<u64>(at) | (loadSized(high, sizeLog2) << width));
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
