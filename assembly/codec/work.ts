// Scratch of the codec: one block that the host passes with every call, cut here. Fixed tables come first, whole columns follow.
// Nothing in it outlives a call.
//   | block u64[384] | groups u64[128] | samples u64[32] | 4608: exceptions u64[128], u8[128] | 6144: columns |

/** Values of one block: three packs of 128, or 128 groups of three. */
export const BLOCK_VALUES: u32 = 384;
/** Values of one pack: 32 rows of four 32-bit lanes. */
export const PACK_VALUES: u32 = 128;
/** Fixed tables of the scratch. */
export const WORK_BYTES: u32 = 6144;
/** Scratch per row beside the fixed tables: what strings take, see strings.ts. */
export const WORK_BYTES_PER_ROW: u32 = 64;

let work: u32 = 0;

/** Sets the memory that encoders and decoders work in. */
export function useWork(ptr: u32): void {
  work = ptr;
}

/** u64[BLOCK_VALUES] */
// @ts-ignore: decorator
@inline
export function blockWork(): u32 {
  return work;
}

/** u64[PACK_VALUES] */
// @ts-ignore: decorator
@inline
export function groupWork(): u32 {
  return work + 3072;
}

/** u64[32] */
// @ts-ignore: decorator
@inline
export function sampleWork(): u32 {
  return work + 4096;
}

/** High parts u64[128], then gaps u8[128], of the exceptions of the block being packed. */
// @ts-ignore: decorator
@inline
export function exceptionWork(): u32 {
  return work + 4608;
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
