// Short byte strings: comparison, copy. Nothing here reads past the end of its input: the memory may end there.

/** The 1 to 7 bytes at `ptr` as an integer. */
// @ts-ignore: decorator
@inline
function loadTail(ptr: u32, bytes: u32): u64 {
  if (bytes >= 4) return (<u64>load<u32>(ptr)) | ((<u64>load<u32>(ptr + bytes - 4)) << 32);
  // 1: aaa, 2: abb, 3: abc
  return (<u64>load<u8>(ptr)) | ((<u64>load<u8>(ptr + (bytes >> 1))) << 8) | ((<u64>load<u8>(ptr + bytes - 1)) << 16);
}

/** True if both blocks hold the same bytes. */
export function equalBytes(a: u32, b: u32, bytes: u32): bool {
  while (bytes >= 8) {
    if (load<u64>(a) != load<u64>(b)) return false;
    a += 8;
    b += 8;
    bytes -= 8;
  }
  return bytes == 0 || loadTail(a, bytes) == loadTail(b, bytes);
}

/** memory.copy for text: an inlined loop beats the bulk instruction's call below some 64 bytes. */
export function copyShort(target: u32, source: u32, bytes: u32): void {
  if (bytes > 64) {
    memory.copy(target, source, bytes);
    return;
  }
  while (bytes >= 8) {
    store<u64>(target, load<u64>(source));
    target += 8;
    source += 8;
    bytes -= 8;
  }
  if (bytes >= 4) {
    // two words that overlap
    const last = load<u32>(source + bytes - 4);
    store<u32>(target, load<u32>(source));
    store<u32>(target + bytes - 4, last);
  } else if (bytes != 0) {
    const middle = bytes >> 1;
    const last = load<u8>(source + bytes - 1);
    store<u8>(target, load<u8>(source));
    store<u8>(target + middle, load<u8>(source + middle));
    store<u8>(target + bytes - 1, last);
  }
}

/** Copies whole columns: the same as memory.copy, for the host. */
export function copyBytes(target: u32, source: u32, bytes: u32): void {
  memory.copy(target, source, bytes);
}

/** Fills a block with one byte. */
export function fillBytes(target: u32, value: u32, bytes: u32): void {
  memory.fill(target, <u8>value, bytes);
}
