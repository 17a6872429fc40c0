// Floats that are no decimals: neighbours often share sign, exponent and leading digits, so each value is XORed with the one before, and
// the zeros that a block of results has in common at the low end are cut off. Gorilla's idea, cut into blocks that unpack four at a time.
//   | 19 u8 | 0 u8 | 0 u16 | first u64 | (shift u8, block of (bits[i] ^ bits[i-1]) >> shift) for 384 values each, i >= 1 |
// Source: Pelkonen et al., "Gorilla", VLDB 2015, section 4.1.2.
import { FLOATS_XOR } from "../abi";
import { packBlock, unpackBlock } from "./blocks";
import { BLOCK_VALUES, blockWork } from "./work";

/** Encodes each float as its XOR with the one before. Returns the end of what it wrote. */
export function encodeXor(values: u32, count: u32, target: u32): u32 {
  store<u32>(target, FLOATS_XOR);
  store<u64>(target, load<u64>(values), 4);
  target += 12;
  const block = blockWork();
  for (let from: u32 = 1; from < count; from += BLOCK_VALUES) {
    const size = min(count - from, BLOCK_VALUES);
    let at = values + (from << 3);
    let all: u64 = 0;
    for (let i: u32 = 0; i < size; i++, at += 8) {
      const changed = load<u64>(at) ^ load<u64>(at - 8);
      all |= changed;
      store<u64>(block + (i << 3), changed);
    }
    // ctz(0) is 64, which is no shift
    const shift = all == 0 ? 0 : ctz(all);
    if (shift != 0) {
      for (let i: u32 = 0; i < size; i++) store<u64>(block + (i << 3), load<u64>(block + (i << 3)) >> shift);
    }
    store<u8>(target, <u8>shift);
    target = packBlock(block, size, target + 1);
  }
  return target;
}

/** Returns the end, or 0. */
export function decodeXor(source: u32, end: u32, count: u32, values: u32): u32 {
  let bits = load<u64>(source, 4);
  source += 12;
  store<u64>(values, bits);
  for (let from: u32 = 1; from < count; from += BLOCK_VALUES) {
    const size = min(count - from, BLOCK_VALUES);
    let at = values + (from << 3);
    if (source >= end) return 0;
    const shift = <u64>load<u8>(source);
    if (shift > 63) return 0;
    source = unpackBlock(source + 1, end, size, at);
    if (source == 0) return 0;
    for (const last = at + (size << 3); at < last; at += 8) {
      bits ^= load<u64>(at) << shift;
      store<u64>(at, bits);
    }
  }
  return source;
}
