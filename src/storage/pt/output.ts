// A byte buffer for a file of unknown size. Grows by doubling, so that a byte is copied at most twice on average.

const FIRST_BYTES = 256 * 1024;

/** The bytes of a file under construction. */
export class PtOutput {
  /** Bytes appended so far: the offset of the next piece. */
  bytes = 0;
  private buffer = new Uint8Array(FIRST_BYTES);

  /** Copies a piece, borrowed for the call. */
  append(piece: Uint8Array): void {
    const end = this.bytes + piece.length;
    if (end > this.buffer.length) {
      const grown = new Uint8Array(Math.max(end, this.buffer.length * 2));
      grown.set(this.buffer.subarray(0, this.bytes));
      this.buffer = grown;
    }
    this.buffer.set(piece, this.bytes);
    this.bytes = end;
  }

  /** All bytes, owned by the caller: a buffer of exactly this size, transferable to another thread. */
  take(): Uint8Array<ArrayBuffer> {
    return this.buffer.slice(0, this.bytes);
  }
}
