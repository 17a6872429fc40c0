// A column chunk of a Parquet file: its pages as they are made, and what the footer says of it. Source: apache/parquet-format,
// parquet.thrift.
import { freeBuffer } from "../../model/memory/free-buffer.ts";
import { ChunkBytes, type ChunkMemory } from "./chunk-memory.ts";

/** Numbers of parquet.thrift. */
export const PHYSICAL = { boolean: 0, int64: 2, double: 5, bytes: 6 } as const;
export const ENCODING = { plain: 0, rle: 3, delta: 5, dictionary: 8 } as const;
export const CODEC = { none: 0, zstd: 6 } as const;
/** And which field of a page's header has the rest of it. */
const PAGE = { data: { kind: 0, detailId: 5 }, dictionary: { kind: 2, detailId: 7 } } as const;
type PageType = (typeof PAGE)[keyof typeof PAGE];
/** Quick, and half of the size of floats. */
const ZSTD_LEVEL = 1;

/** Smallest and largest value as pages store them, without the length of texts. Absent: not known. */
export interface Bounds {
  readonly min: Uint8Array;
  readonly max: Uint8Array;
  /** False: a bound of long texts, cut off. */
  readonly isExact: boolean;
}

/** A chunk as the file has it. Owned: call `release`. */
export interface FinishedChunk {
  readonly bytes: number;
  readonly uncompressedBytes: number;
  readonly rowCount: number;
  /** Offset of the first data page behind the chunk's start; 0: there is no dictionary. */
  readonly dictionaryBytes: number;
  readonly encodings: readonly number[];
  readonly codec: number;
  readonly nullCount: number;
  readonly bounds: Bounds | null;
  /** Its bytes, in the order of the file. Borrowed. */
  views(): Iterable<Uint8Array>;
  release(): void;
}

/** Borrowed. */
export interface DataPage {
  readonly rowCount: number;
  readonly nullCount: number;
  /** Definition levels; null: the column has no nulls by its schema. */
  readonly levels: Uint8Array | null;
  readonly values: Uint8Array;
  readonly encoding: number;
}

/** What a column keeps of the values of a group, once. */
export interface DictionaryPage {
  readonly values: Uint8Array;
  readonly count: number;
}

const NO_LEVELS = new Uint8Array(0);

/** Gathers the pages of one column and row group. */
export class ChunkPages {
  private uncompressedBytes = 0;
  private rowCount = 0;
  private nullCount = 0;
  private readonly encodings = new Set<number>();
  private readonly pages: ChunkBytes;

  constructor(
    private readonly codec: number,
    private readonly memory: ChunkMemory,
  ) {
    this.pages = new ChunkBytes(memory);
  }

  /** Encoded bytes so far. */
  get bytes(): number {
    return this.pages.length;
  }

  /** Copies the page. */
  add({ rowCount, nullCount, levels, values, encoding }: DataPage): void {
    this.write(this.pages, levels ?? NO_LEVELS, values, { type: PAGE.data, detail: [rowCount, encoding, ENCODING.rle, ENCODING.rle] });
    this.rowCount += rowCount;
    this.nullCount += nullCount;
    this.encodings.add(encoding);
    if (levels !== null) this.encodings.add(ENCODING.rle);
  }

  /** Once. @param dictionary comes first in the file */
  finish(bounds: Bounds | null, dictionary: DictionaryPage | null): FinishedChunk {
    const { pages, memory, rowCount, nullCount, codec } = this;
    const first = new ChunkBytes(memory);
    if (dictionary !== null) {
      this.write(first, NO_LEVELS, dictionary.values, { type: PAGE.dictionary, detail: [dictionary.count, ENCODING.plain] });
      this.encodings.add(ENCODING.plain);
    }
    return {
      ...{ bytes: first.length + pages.length, uncompressedBytes: this.uncompressedBytes, rowCount, nullCount },
      ...{ dictionaryBytes: first.length, encodings: [...this.encodings], codec, bounds },
      views: function* () {
        yield* first.views();
        yield* pages.views();
      },
      release: () => {
        first.release();
        pages.release();
      },
    };
  }

  private write(to: ChunkBytes, levels: Uint8Array, values: Uint8Array, { type, detail }: { type: PageType; detail: number[] }): void {
    const bodyBytes = levels.length + values.length;
    const compressed = this.codec === CODEC.none ? null : this.compressed(levels, values);
    const header = this.memory.header.write([type.kind, bodyBytes, compressed?.length ?? bodyBytes], type.detailId, detail);
    this.uncompressedBytes += header.length + bodyBytes;
    to.append(header);
    if (compressed === null) {
      to.append(levels);
      to.append(values);
    } else {
      to.append(compressed);
      freeBuffer(compressed.buffer);
    }
  }

  private compressed(levels: Uint8Array, values: Uint8Array): Uint8Array {
    const body = this.memory.bodyRoom(levels.length + values.length);
    body.set(levels);
    body.set(values, levels.length);
    return Bun.zstdCompressSync(body, { level: ZSTD_LEVEL });
  }
}
