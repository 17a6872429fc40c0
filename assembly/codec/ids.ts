// Columns of u32 (series ids, codes, row offsets) are coded as integers of 64 bits.

/** Ids of 32 bits to 64. */
export function widenIds(ids: u32, count: u32, values: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u64>(values + (i << 3), <u64>load<u32>(ids + (i << 2)));
}

/** False when a value needs more than 32 bits. */
export function narrowIds(values: u32, count: u32, ids: u32): bool {
  let all: u64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const value = load<u64>(values + (i << 3));
    all |= value;
    store<u32>(ids + (i << 2), <u32>value);
  }
  return all >> 32 == 0;
}
