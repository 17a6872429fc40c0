// Copies in blocks of 16 bytes, for texts with 15 bytes to spare behind source and target.

/** Copies in blocks of 16 bytes; up to 15 bytes more than `bytes` are read and written. */
// @ts-ignore: decorator
@inline
export function copyBlocks(source: u32, bytes: u32, target: u32): void {
  v128.store(target, v128.load(source));
  for (let at: u32 = 16; at < bytes; at += 16) v128.store(target + at, v128.load(source + at));
}
