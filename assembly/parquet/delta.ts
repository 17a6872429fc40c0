// Parquet's DELTA_BINARY_PACKED for 64-bit integers, arithmetic modulo 2^64:
//   | values per block varint, 128 | miniblocks per block varint, 4 | count varint | first zigzag | blocks |
// a block: | least delta zigzag | bits of each miniblock u8 x 4 | 32 values of each, as delta - least, packed lowest bit first |
// Miniblocks behind the last value are not there; the one with it is filled with zeros.
// Source: apache/parquet-format, Encodings.md.
import { packTail, unpackTail } from "../codec/bitpack";
import { putVarint, readValue, readVarint, unzigzag, zigzag } from "./varint";

const BLOCK: u32 = 128;
const MINIBLOCKS: u32 = 4;
const MINIBLOCK: u32 = 32;

/** Bytes that `count` values take at most, what packing writes behind its end included. */
export function parquetDeltaBytesMax(count: u32): u32 {
  return 64 + (count / BLOCK + 1) * (16 + (BLOCK << 3));
}

/** Encodes u64[count]; `work` is u64[128]. Widths are multiples of `unit` bits: 1 for the fewest bytes, 8 where compression follows, which
 *  finds what repeats in whole bytes only. Returns the bytes written. */
export function parquetDeltaEncode(values: u32, count: u32, work: u32, unit: u32, target: u32): u32 {
  let at = putVarint(target, BLOCK);
  at = putVarint(at, MINIBLOCKS);
  at = putVarint(at, count);
  at = putVarint(at, zigzag(count == 0 ? 0 : load<i64>(values)));
  for (let row: u32 = 1; row < count; row += BLOCK) at = encodeBlock(values + (row << 3), min(BLOCK, count - row), work, unit, at);
  return at - target;
}

/** `values` has another value before it. */
function encodeBlock(values: u32, count: u32, work: u32, unit: u32, at: u32): u32 {
  let least = i64.MAX_VALUE;
  let before = load<i64>(values - 8);
  for (let i: u32 = 0; i < count; i++) {
    const value = load<i64>(values + (i << 3));
    const delta = value - before;
    before = value;
    store<i64>(work + (i << 3), delta);
    least = min(least, delta);
  }
  memory.fill(work + (count << 3), 0, (BLOCK - count) << 3);
  at = putVarint(at, zigzag(least));
  let widths = at;
  at += MINIBLOCKS;
  for (let first: u32 = 0; first < BLOCK; first += MINIBLOCK, widths++) {
    const end = min(first + MINIBLOCK, count);
    let all: u64 = 0;
    for (let i = first; i < end; i++) {
      const rest = <u64>(load<i64>(work + (i << 3)) - least);
      store<u64>(work + (i << 3), rest);
      all |= rest;
    }
    const bits = 64 - <u32>clz(all);
    const width = ((bits + unit - 1) / unit) * unit;
    store<u8>(widths, width);
    if (first >= count) continue;
    packTail(work + (first << 3), MINIBLOCK, width, at);
    at += width << 2;
  }
  return at;
}

/** Decodes exactly `count` values from [source, end) to `target`. Returns where they end, 0 for damage. */
export function parquetDeltaDecode(source: u32, end: u32, count: u32, target: u32): u32 {
  let at = readVarint(source, end);
  if (at == 0 || readValue() != BLOCK) return 0;
  at = readVarint(at, end);
  if (at == 0 || readValue() != MINIBLOCKS) return 0;
  at = readVarint(at, end);
  if (at == 0 || readValue() != count) return 0;
  at = readVarint(at, end);
  if (at == 0) return 0;
  let value = unzigzag(readValue());
  if (count == 0) return at;
  store<i64>(target, value);
  for (let row: u32 = 1; row < count; ) {
    at = readVarint(at, end);
    if (at == 0 || end - at < MINIBLOCKS) return 0;
    const least = unzigzag(readValue());
    const widths = at;
    at += MINIBLOCKS;
    for (let i: u32 = 0; i < MINIBLOCKS && row < count; i++) {
      const width = <u32>load<u8>(widths + i);
      if (width > 64 || end - at < width << 2) return 0;
      const rows = min(MINIBLOCK, count - row);
      const out = target + (row << 3);
      if (width != 0) unpackTail(at, end, rows, width, out);
      at += width << 2;
      if (width == 0) {
        for (let k: u32 = 0; k < rows; k++) {
          value += least;
          store<i64>(out + (k << 3), value);
        }
      } else {
        for (let k: u32 = 0; k < rows; k++) {
          value += least + load<i64>(out + (k << 3));
          store<i64>(out + (k << 3), value);
        }
      }
      row += rows;
    }
  }
  return at;
}
