// Parquet's hybrid of runs and bit packing, for numbers of dictionary entries: | count << 1 varint, value in whole bytes | or
// | groups << 1 | 1 varint, 8 values of each group packed lowest bit first |, one behind the other. The last group may be filled with
// zeros. Source: apache/parquet-format, Encodings.md.
import { putVarint, readValue, readVarint } from "./varint";

/** Shorter runs are packed. */
const RUN_MIN: u32 = 8;

/** Bytes that `count` values take at most, what packing writes behind its end included. */
export function parquetNumbersBytesMax(count: u32, width: u32): u32 {
  // worst are runs of 8 between packed groups of 8
  return 32 + ((count + 7) >> 3) * (width + 12);
}

/** Encodes u32[count], each below 2^width, width up to 32. Returns the bytes written. */
export function parquetNumbersEncode(numbers: u32, count: u32, width: u32, target: u32): u32 {
  let at = target;
  let packed: u32 = 0;
  for (let i: u32 = 0; i < count; ) {
    const value = load<u32>(numbers + (i << 2));
    let end = i + 1;
    while (end < count && load<u32>(numbers + (end << 2)) == value) end++;
    // what is packed before a run is whole groups: the run's first values fill the last one
    const filled = i + ((packed - i) & 7);
    if (end >= filled + RUN_MIN) {
      if (filled > packed) at = putPacked(numbers + (packed << 2), filled - packed, width, at);
      at = putVarint(at, (<u64>(end - filled)) << 1);
      for (let shift: u32 = 0; shift < width; shift += 8) store<u8>(at++, value >> shift);
      packed = end;
    }
    i = end;
  }
  if (packed < count) at = putPacked(numbers + (packed << 2), count - packed, width, at);
  return at - target;
}

function putPacked(numbers: u32, count: u32, width: u32, at: u32): u32 {
  const groups = (count + 7) >> 3;
  at = putVarint(at, ((<u64>groups) << 1) | 1);
  const end = at + groups * width;
  let bits: u64 = 0;
  let used: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    bits |= (<u64>load<u32>(numbers + (i << 2))) << used;
    used += width;
    if (used >= 32) {
      store<u32>(at, <u32>bits);
      at += 4;
      bits >>= 32;
      used -= 32;
    }
  }
  for (; at < end; at++, bits >>= 8) store<u8>(at, <u8>bits);
  return end;
}

/** Decodes exactly `count` values from [source, end) to u32 `target`. Returns where they end, 0 for damage. */
export function parquetNumbersDecode(source: u32, end: u32, width: u32, count: u32, target: u32): u32 {
  if (width > 32) return 0;
  const mask: u64 = ((<u64>1) << width) - 1;
  let at = source;
  for (let row: u32 = 0; row < count; ) {
    at = readVarint(at, end);
    if (at == 0) return 0;
    const head = readValue();
    if ((head & 1) == 0) {
      const rows = head >> 1;
      const bytes = (width + 7) >> 3;
      if (rows == 0 || rows > count - row || end - at < bytes) return 0;
      let value: u32 = 0;
      for (let i: u32 = 0; i < bytes; i++) value |= (<u32>load<u8>(at++)) << (i << 3);
      for (const last = row + <u32>rows; row < last; row++) store<u32>(target + (row << 2), value);
      continue;
    }
    const groups = head >> 1;
    if (groups == 0 || groups > (count - row + 7) >> 3 || <u64>(end - at) < groups * width) return 0;
    const rows = min((<u32>groups) << 3, count - row);
    const stop = at + <u32>groups * width;
    let bits: u64 = 0;
    let left: u32 = 0;
    for (let i: u32 = 0; i < rows; i++, row++) {
      while (left < width) {
        bits |= (<u64>load<u8>(at++)) << left;
        left += 8;
      }
      store<u32>(target + (row << 2), <u32>(bits & mask));
      bits >>= width;
      left -= width;
    }
    at = stop;
  }
  return at;
}
