// Columns as Parquet's pages have them, for exports. Integers of 64 bits are DELTA_BINARY_PACKED. Deltas wrap around, so that any integers
// fit.
//   | block values, miniblocks, values: varints | first: zigzag varint | block ... |
//   block | least delta: zigzag varint | width u8 of each miniblock | miniblocks: deltas - least, packed from the lowest bit |
// Source: apache/parquet-format, Encodings.md, "Delta Encoding" and "Plain".
import { VIEW_BYTES } from "../abi";
import { bitAt } from "../memory/bits";
import { copyShort } from "../memory/bytes";
import { viewBytes, viewText } from "../memory/views";
import { zigzag } from "./delta";

const BLOCK_VALUES: u32 = 128;
const MINI_BLOCKS: u32 = 4;
const MINI_VALUES: u32 = 32;

function writeVarint(value: u64, target: u32): u32 {
  while (value > 127) {
    store<u8>(target++, <u8>(value | 128));
    value >>= 7;
  }
  store<u8>(target++, <u8>value);
  return target;
}

/** Packs `MINI_VALUES` values of `width` bits. Writes up to 7 bytes beyond the end, which it returns. */
function packMini(deltas: u32, least: i64, width: u32, target: u32): u32 {
  let pending: u64 = 0;
  let bits: u32 = 0;
  for (const end = deltas + (MINI_VALUES << 3); deltas < end; deltas += 8) {
    const value = <u64>(load<i64>(deltas) - least);
    pending |= value << bits;
    bits += width;
    if (bits < 64) continue;
    store<u64>(target, pending);
    target += 8;
    bits -= 64;
    // the part of the value that did not fit
    pending = bits == 0 ? 0 : value >> (width - bits);
  }
  if (bits > 0) {
    store<u64>(target, pending);
    target += bits >> 3;
  }
  return target;
}

/** Encodes i64[count] to `target`; `work` has room for BLOCK_VALUES integers. Returns the end. At most
 *  48 + ceil(count / 128) * 1048 bytes are written, and 8 more are touched. */
export function parquetDelta(values: u32, count: u32, work: u32, target: u32): u32 {
  target = writeVarint(BLOCK_VALUES, target);
  target = writeVarint(MINI_BLOCKS, target);
  target = writeVarint(count, target);
  target = writeVarint(count == 0 ? 0 : zigzag(load<i64>(values)), target);
  for (let from: u32 = 1; from < count; from += BLOCK_VALUES) {
    const size = min(count - from, BLOCK_VALUES);
    let at = values + (from << 3);
    let least = i64.MAX_VALUE;
    for (let i: u32 = 0; i < size; i++, at += 8) {
      const delta = load<i64>(at) - load<i64>(at - 8);
      store<i64>(work + (i << 3), delta);
      if (delta < least) least = delta;
    }
    // what lacks at the end of the last miniblock costs no bits
    for (let i = size; i < BLOCK_VALUES; i++) store<i64>(work + (i << 3), least);
    target = writeVarint(zigzag(least), target);
    const widths = target;
    target += MINI_BLOCKS;
    for (let mini: u32 = 0; mini < MINI_BLOCKS; mini++) {
      const deltas = work + ((mini * MINI_VALUES) << 3);
      let all: u64 = 0;
      for (let i: u32 = 0; i < MINI_VALUES; i++) all |= <u64>(load<i64>(deltas + (i << 3)) - least);
      const width = mini * MINI_VALUES < size ? 64 - <u32>clz(all) : 0;
      store<u8>(widths + mini, <u8>width);
      if (width > 0) target = packMini(deltas, least, width, target);
    }
  }
  return target;
}

/** Texts of the present rows [from, from + count), each behind its length. Returns the end. */
export function parquetTexts(views: u32, validity: u32, from: u32, count: u32, target: u32): u32 {
  for (let row = from; row < from + count; row++) {
    if (validity != 0 && !bitAt(validity, row)) continue;
    const view = views + row * VIEW_BYTES;
    const bytes = viewBytes(view);
    store<u32>(target, bytes);
    copyShort(target + 4, viewText(view), bytes);
    target += 4 + bytes;
  }
  return target;
}
