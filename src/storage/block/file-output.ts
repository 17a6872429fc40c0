// Buffers the bytes of a file being written and passes them on in pieces: a merged file is larger than memory should hold.

const PIECE_BYTES = 1 << 20;

/** Collects appended bytes into pieces for `write`. */
export class FileOutput {
  /** Bytes appended so far: the offset of the next ones. */
  bytes = 0;
  private full: Uint8Array<ArrayBuffer>[] = [];
  private piece = new Uint8Array(PIECE_BYTES);
  private used = 0;

  /** @param write receives ownership of each piece; called sequentially */
  constructor(private readonly write: (piece: Uint8Array<ArrayBuffer>) => Promise<void>) {}

  /** Copies `bytes`, borrowed for the call. */
  append(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    for (let at = 0; at < bytes.length; ) {
      const taken = bytes.subarray(at, at + PIECE_BYTES - this.used);
      this.piece.set(taken, this.used);
      this.used += taken.length;
      at += taken.length;
      if (this.used < PIECE_BYTES) continue;
      this.full.push(this.piece);
      this.piece = new Uint8Array(PIECE_BYTES);
      this.used = 0;
    }
  }

  /** Passes on all complete pieces. @throws what `write` throws */
  async drain(): Promise<void> {
    for (const piece of this.full.splice(0)) await this.write(piece);
  }

  /** Passes on the rest. */
  async end(): Promise<void> {
    await this.drain();
    if (this.used > 0) await this.write(this.piece.slice(0, this.used));
    this.used = 0;
  }
}
