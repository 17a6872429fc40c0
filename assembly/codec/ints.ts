// Integers of 64 bits, signed or unsigned: all arithmetic wraps, so both are one case but for the choice of the smallest value.
// A section names its encoding, so sections nest in others (ALP's digits, codes of strings, lengths):
//   | encoding u8 | hasDivisor u8 | 0 u16 | ... |
//   plain      | u64 x n |
//   constant   | value u64 |
//   frame      | base u64 | [divisor u64] | blocks of s - base, or of s when there is a divisor |
//   delta      | base u64 | [divisor u64] | see delta.ts
//   delta2     | base u64 | [divisor u64] | see delta.ts
// where s[i] = (v[i] - base) / divisor, or v[i] itself without a divisor (base is then used by frame alone, but always there).
import { INTS_CONSTANT, INTS_DELTA, INTS_DELTA2, INTS_FRAME, INTS_PLAIN } from "../abi";
import { chooseEncoding, deltaReference } from "./choose";
import { decodeDelta, decodeDelta2, encodeDelta, encodeDelta2 } from "./delta";
import { divideByCommon, multiplyAll } from "./divisor";
import { decodeFrame, encodeFrame } from "./frame";

/** Bytes a section of `count` values takes at most, with what packing touches behind it. */
// @ts-ignore: decorator
@inline
export function intsBytesMax(count: u32): u32 {
  // heads and bridges between exceptions: 11 bytes per 384 values
  return (count << 3) + (count >> 5) + 64;
}

/** Encodes i64[count] (u64 when `unsigned`), count >= 1. `scaled` is scratch of the same size. Returns the end of the section. */
export function encodeInts(values: u32, count: u32, unsigned: bool, scaled: u32, target: u32): u32 {
  const flip: i64 = unsigned ? i64.MIN_VALUE : 0;
  findMinMax(values, count, flip);
  const base = <u64>(foundMin ^ flip);
  const range = <u64>foundMax - <u64>foundMin;
  if (range == 0) {
    store<u32>(target, INTS_CONSTANT);
    store<u64>(target, base, 4);
    return target + 12;
  }
  let out = target + 12;
  store<u64>(target, base, 4);
  let source = values;
  let sourceBase = base;
  let sourceRange = range;
  const divisor = divideByCommon(values, count, base, range, scaled);
  if (divisor > 1) {
    store<u64>(out, divisor);
    out += 8;
    source = scaled;
    sourceBase = 0;
    sourceRange = range / divisor;
  }
  const encoding = chooseEncoding(source, count, sourceBase, sourceRange);
  if (encoding != INTS_PLAIN) {
    store<u32>(target, encoding | (source == scaled ? 256 : 0));
    if (encoding == INTS_FRAME) out = encodeFrame(source, count, sourceBase, out);
    else if (encoding == INTS_DELTA) out = encodeDelta(source, count, deltaReference, out);
    else out = encodeDelta2(source, count, out);
    if (out - target < 4 + (count << 3)) return out;
  }
  store<u32>(target, INTS_PLAIN);
  memory.copy(target + 4, values, count << 3);
  return target + 4 + (count << 3);
}

/** Decodes a section of `count` >= 1 values into u64[count]. Returns its end, or 0 when the bytes are no such section. */
export function decodeInts(source: u32, end: u32, count: u32, values: u32): u32 {
  if (end - source < 12) return 0;
  const encoding = <u32>load<u8>(source);
  const hasDivisor = <u32>load<u8>(source, 1);
  if (encoding == INTS_PLAIN) {
    source += 4;
    if ((end - source) >> 3 < count) return 0;
    memory.copy(values, source, count << 3);
    return source + (count << 3);
  }
  const base = load<u64>(source, 4);
  source += 12;
  if (encoding == INTS_CONSTANT) {
    const pair = i64x2.splat(base);
    const last = values + (count << 3);
    for (; values + 16 <= last; values += 16) v128.store(values, pair);
    if (values < last) store<u64>(values, base);
    return source;
  }
  let divisor: u64 = 0;
  if (hasDivisor != 0) {
    if (end - source < 8) return 0;
    divisor = load<u64>(source);
    source += 8;
  }
  if (encoding == INTS_FRAME) source = decodeFrame(source, end, count, divisor == 0 ? base : 0, values);
  else if (encoding == INTS_DELTA) source = decodeDelta(source, end, count, values);
  else if (encoding == INTS_DELTA2) source = decodeDelta2(source, end, count, values);
  else return 0;
  if (source != 0 && divisor != 0) multiplyAll(values, count, base, divisor);
  return source;
}

let foundMin: i64 = 0;
let foundMax: i64 = 0;

/** Smallest and largest of values ^ flip. */
function findMinMax(values: u32, count: u32, flip: i64): void {
  const first = load<i64>(values) ^ flip;
  const flips = i64x2.splat(flip);
  let least = i64x2.splat(first);
  let most = least;
  const end = values + (count << 3);
  for (; values + 16 <= end; values += 16) {
    const pair = v128.xor(v128.load(values), flips);
    least = v128.bitselect(pair, least, i64x2.lt_s(pair, least));
    most = v128.bitselect(pair, most, i64x2.gt_s(pair, most));
  }
  const last = values < end ? load<i64>(values) ^ flip : first;
  foundMin = min(last, min(i64x2.extract_lane(least, 0), i64x2.extract_lane(least, 1)));
  foundMax = max(last, max(i64x2.extract_lane(most, 0), i64x2.extract_lane(most, 1)));
}
