// The bytes of a file on their way to an object, gathered to pieces: a merge makes more of them than memory should hold.

const PIECE_BYTES = 1 << 20;

export class FileOutput {
  /** Bytes appended: the offset of the next ones. */
  bytes = 0;
  private full: Uint8Array<ArrayBuffer>[] = [];
  private piece = new Uint8Array(PIECE_BYTES);
  private used = 0;

  /** `write` takes a piece that is its own from then on; pieces come one after the other. */
  constructor(private readonly write: (piece: Uint8Array<ArrayBuffer>) => Promise<void>) {}

  /** Copies bytes; borrowed for the call. */
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

  /** Hands on what is gathered, but for the last piece. @throws what `write` throws */
  async drain(): Promise<void> {
    for (const piece of this.full.splice(0)) await this.write(piece);
  }

  /** Hands on the rest. */
  async end(): Promise<void> {
    await this.drain();
    if (this.used > 0) await this.write(this.piece.slice(0, this.used));
    this.used = 0;
  }
}
