// Lists of row numbers that are narrowed in place, four at a time: without a branch, so that the cost does not depend on the data.

/** By four bits, which rows to keep: the bytes of their numbers, moved to the front. */
const FRONT = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
  0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
  4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
  0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0, //
  8, 9, 10, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
  0, 1, 2, 3, 8, 9, 10, 11, 0, 0, 0, 0, 0, 0, 0, 0, //
  4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 0, 0, 0, 0, 0, 0, //
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 0, 0, //
  12, 13, 14, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
  0, 1, 2, 3, 12, 13, 14, 15, 0, 0, 0, 0, 0, 0, 0, 0, //
  4, 5, 6, 7, 12, 13, 14, 15, 0, 0, 0, 0, 0, 0, 0, 0, //
  0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 0, 0, 0, 0, //
  8, 9, 10, 11, 12, 13, 14, 15, 0, 0, 0, 0, 0, 0, 0, 0, //
  0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 0, 0, 0, 0, //
  4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 0, 0, 0, //
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, //
]);

/** Writes those of four row numbers whose bit is set to `out`, and anything to the rest of its 16 bytes. Returns the end of those kept. */
// @ts-ignore: decorator
@inline
export function keepFour(rows: v128, bits: u32, out: u32): u32 {
  v128.store(out, i8x16.swizzle(rows, v128.load(<u32>FRONT + (bits << 4))));
  return out + (popcnt(bits) << 2);
}

/** True if ascending row numbers follow each other without a gap. */
// @ts-ignore: decorator
@inline
export function areAdjacent(rows: u32, count: u32): bool {
  return count > 0 && load<u32>(rows + ((count - 1) << 2)) - load<u32>(rows) == count - 1;
}
