// Garbage collection comes late: until then every buffer that is no longer used would occupy pages of its own.

/** Frees the memory of a buffer that nobody else uses; all its views are empty from now on. Shared memory stays. */
export function freeBuffer(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
