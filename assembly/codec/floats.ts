// Floats of 64 bits, kept bit for bit. A section names its encoding:
//   plain     | 16 u8 | 0 u8 | 0 u16 | u64 x n |
//   constant  | 17 u8 | 0 u8 | 0 u16 | bits u64 |
//   alp       | 18 u8 | see alp.ts
//   xor       | 19 u8 | see xor.ts
import { FLOATS_ALP, FLOATS_CONSTANT, FLOATS_PLAIN, FLOATS_XOR } from "../abi";
import { decodeAlp, encodeAlp } from "./alp";
import { decodeXor, encodeXor } from "./xor";

/** Bytes a section of `count` values takes at most, with what packing touches behind it. */
// @ts-ignore: decorator
@inline
export function floatsBytesMax(count: u32): u32 {
  // ALP's exceptions: a quarter of the values at 12 bytes, beside digits for all; xor: a shift and a head per 384 values
  return (count << 3) + (count << 2) + (count >> 4) + 128;
}

/** Encodes f64[count], count >= 1. `work` is scratch of 20 bytes per value. Returns the end of the section. */
export function encodeFloats(values: u32, count: u32, work: u32, target: u32): u32 {
  const plainBytes: u32 = 4 + (count << 3);
  if (allEqual(values, count)) {
    store<u32>(target, FLOATS_CONSTANT);
    store<u64>(target, load<u64>(values), 4);
    return target + 12;
  }
  let end = encodeAlp(values, count, work, target);
  if (end == 0 || end - target >= plainBytes) end = encodeXor(values, count, target);
  if (end - target < plainBytes) return end;
  store<u32>(target, FLOATS_PLAIN);
  memory.copy(target + 4, values, count << 3);
  return target + plainBytes;
}

/** Decodes a section of `count` >= 1 values into f64[count]. Returns its end, or 0 when the bytes are no such section. */
export function decodeFloats(source: u32, end: u32, count: u32, values: u32): u32 {
  if (end - source < 12) return 0;
  const encoding = <u32>load<u8>(source);
  if (encoding == FLOATS_ALP) return decodeAlp(source, end, count, values);
  if (encoding == FLOATS_XOR) return decodeXor(source, end, count, values);
  source += 4;
  if (encoding == FLOATS_PLAIN) {
    if ((end - source) >> 3 < count) return 0;
    memory.copy(values, source, count << 3);
    return source + (count << 3);
  }
  if (encoding != FLOATS_CONSTANT) return 0;
  const bits = load<u64>(source);
  for (const last = values + (count << 3); values < last; values += 8) store<u64>(values, bits);
  return source + 8;
}

function allEqual(values: u32, count: u32): bool {
  const first = load<u64>(values);
  for (const end = values + (count << 3); values < end; values += 8) {
    if (load<u64>(values) != first) return false;
  }
  return true;
}
