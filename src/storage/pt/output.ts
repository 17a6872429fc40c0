// The bytes of a file being made, whose size is known when it is done. Grows by doubling, so a byte is copied twice at most on average.

const FIRST_BYTES = 256 * 1024;

export class PtOutput {
  /** Bytes appended: the offset of the next piece. */
  bytes = 0;
  private buffer = new Uint8Array(FIRST_BYTES);

  /** Copies a piece; borrowed for the call. */
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

  /** The whole, owned by the caller: a buffer of exactly this size, which can be transferred to another thread. */
  take(): Uint8Array<ArrayBuffer> {
    return this.buffer.slice(0, this.bytes);
  }
}
