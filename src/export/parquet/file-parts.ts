// A file in parts of one size, each in a buffer of its own, which a worker sends away with the message.

/** As many bytes as a worker sends in one message, without another copy. */
const PART_BYTES = 128 << 10;

/** What was added, until a part is full. */
export class FileParts {
  private part = new Uint8Array(PART_BYTES);
  private filled = 0;

  /** Copies the bytes. Yields the parts that they fill. */
  *add(bytes: Uint8Array): Generator<Uint8Array> {
    for (let from = 0; from < bytes.length; ) {
      const count = Math.min(bytes.length - from, PART_BYTES - this.filled);
      this.part.set(bytes.subarray(from, from + count), this.filled);
      this.filled += count;
      from += count;
      if (this.filled < PART_BYTES) return;
      const full = this.part;
      this.part = new Uint8Array(PART_BYTES);
      this.filled = 0;
      yield full;
    }
  }

  /** The last part. */
  *end(): Generator<Uint8Array> {
    if (this.filled > 0) yield this.part.slice(0, this.filled);
    this.filled = 0;
  }
}
