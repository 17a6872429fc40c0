// Scratch of the codec: one block that the host passes with every call, cut here. Fixed tables come first, whole columns follow.
// Nothing in it outlives a call.
//   | block u64[128] | samples u64[32] | 2048: exceptions u64[128], u8[128] | 4096: columns |

/** Values of one bit-packed block: 32 rows of four 32-bit lanes. */
export const BLOCK_VALUES: u32 = 128;
/** Fixed tables of the scratch. */
export const WORK_BYTES: u32 = 4096;
/** Scratch per row beside the fixed tables: what strings take, see strings.ts. */
export const WORK_BYTES_PER_ROW: u32 = 64;

let work: u32 = 0;

export function useWork(ptr: u32): void {
  work = ptr;
}

/** u64[BLOCK_VALUES] */
// @ts-ignore: decorator
@inline
export function blockWork(): u32 {
  return work;
}

/** u64[32] */
// @ts-ignore: decorator
@inline
export function sampleWork(): u32 {
  return work + 1024;
}

/** High bits u64[BLOCK_VALUES], then positions u8[BLOCK_VALUES], of the exceptions of the block being packed. */
// @ts-ignore: decorator
@inline
export function exceptionWork(): u32 {
  return work + 2048;
}

/** Start of the part that is as long as the column: WORK_BYTES_PER_ROW x rows. */
// @ts-ignore: decorator
@inline
export function columnWork(): u32 {
  return work + WORK_BYTES;
}

/** Significant bits of a value: 0 for 0. */
// @ts-ignore: decorator
@inline
export function bitsOf(value: u64): u32 {
  return 64 - <u32>clz(value);
}
