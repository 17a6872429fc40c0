// Numbers of Parquet's encodings: unsigned LEB128, and zigzag for signed ones.

export function putVarint(at: u32, value: u64): u32 {
  for (; value > 127; value >>= 7) store<u8>(at++, (value & 127) | 128);
  store<u8>(at++, value);
  return at;
}

// @ts-ignore: decorator
@inline
export function zigzag(value: i64): u64 {
  return ((<u64>value) << 1) ^ (<u64>(value >> 63));
}

// @ts-ignore: decorator
@inline
export function unzigzag(value: u64): i64 {
  return <i64>(value >> 1) ^ -(<i64>(value & 1));
}

let found: u64 = 0;

/** Reads a number of at most 10 bytes, none at or behind `end`; returns where it ends, 0 when it is cut off. */
export function readVarint(at: u32, end: u32): u32 {
  let value: u64 = 0;
  for (let shift: u32 = 0; shift < 70 && at < end; shift += 7) {
    const byte = load<u8>(at++);
    value |= (<u64>(byte & 127)) << shift;
    if (byte < 128) {
      found = value;
      return at;
    }
  }
  return 0;
}

/** What readVarint has found. */
// @ts-ignore: decorator
@inline
export function readValue(): u64 {
  return found;
}
