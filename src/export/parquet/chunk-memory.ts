// Memory of the chunks of a file, used again from page to page and from group to group. A buffer for each page, of the page's own length,
// would leave tens of MiB to the allocator and to garbage collection: there is a page for each 16,384 values.
import { freeBuffer } from "../../model/memory/free-buffer.ts";
import { HybridBytes } from "./hybrid.ts";
import { PageHeader } from "./page-header.ts";

const PIECE_BYTES = 32 << 10;

/** What the columns of one file share. Owned: call `release`. */
export class ChunkMemory {
  readonly header = new PageHeader();
  /** Definition levels of a page. */
  readonly levels = new HybridBytes();
  /** Indexes of a page. */
  readonly indexes = new HybridBytes();
  private readonly unused: Uint8Array[] = [];
  private pieceCount = 0;
  private body = new Uint8Array(0);

  /** Bytes of all pieces, in use or not. */
  get pieceBytes(): number {
    return this.pieceCount * PIECE_BYTES;
  }

  /** A piece of PIECE_BYTES, with any contents, until `give`. */
  take(): Uint8Array {
    const piece = this.unused.pop();
    if (piece !== undefined) return piece;
    this.pieceCount += 1;
    return new Uint8Array(PIECE_BYTES);
  }

  give(pieces: readonly Uint8Array[]): void {
    this.unused.push(...pieces);
  }

  /** Room for a page that is compressed, with any contents: until the next call. */
  bodyRoom(bytes: number): Uint8Array {
    if (this.body.length < bytes) {
      freeBuffer(this.body.buffer);
      this.body = new Uint8Array(Math.max(bytes, 2 * this.body.length));
    }
    return this.body.subarray(0, bytes);
  }

  release(): void {
    for (const piece of this.unused.splice(0)) freeBuffer(piece.buffer);
    freeBuffer(this.body.buffer);
    this.body = new Uint8Array(0);
  }
}

/** Bytes of one chunk, one after the other. Owned: call `release`. */
export class ChunkBytes {
  length = 0;
  private readonly pieces: Uint8Array[] = [];

  constructor(private readonly memory: ChunkMemory) {}

  append(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; ) {
      const at = this.length % PIECE_BYTES;
      if (at === 0) this.pieces.push(this.memory.take());
      const count = Math.min(bytes.length - from, PIECE_BYTES - at);
      this.pieces.at(-1)!.set(bytes.subarray(from, from + count), at);
      this.length += count;
      from += count;
    }
  }

  /** In order, borrowed. */
  *views(): Generator<Uint8Array> {
    for (const [i, piece] of this.pieces.entries()) yield piece.subarray(0, Math.min(PIECE_BYTES, this.length - i * PIECE_BYTES));
  }

  release(): void {
    this.memory.give(this.pieces.splice(0));
    this.length = 0;
  }
}
