// A column chunk of a Parquet file: its pages as they are made, and what the footer says of it. Source: apache/parquet-format,
// parquet.thrift.
import { type ThriftField, type ThriftStruct, ThriftType, writeThrift } from "../../encode/parquet/thrift.ts";
import { freeBuffer } from "../../model/memory/free-buffer.ts";

/** Numbers of parquet.thrift. */
export const PHYSICAL = { boolean: 0, int64: 2, double: 5, bytes: 6 } as const;
export const ENCODING = { plain: 0, rle: 3, delta: 5, dictionary: 8 } as const;
export const CODEC = { none: 0, zstd: 6 } as const;
const PAGE = { data: 0, dictionary: 2 } as const;
/** Quick, and half of the size of floats. */
const ZSTD_LEVEL = 1;

/** Smallest and largest value as pages store them, without the length of texts. Absent: not known. */
export interface Bounds {
  readonly min: Uint8Array;
  readonly max: Uint8Array;
  /** False: a bound of long texts, cut off. */
  readonly isExact: boolean;
}

/** A chunk as the file has it. */
export interface FinishedChunk {
  /** In the order of the file. */
  readonly pages: readonly Uint8Array[];
  readonly bytes: number;
  readonly uncompressedBytes: number;
  readonly rowCount: number;
  /** Offset of the first data page behind the chunk's start; 0: there is no dictionary. */
  readonly dictionaryBytes: number;
  readonly encodings: readonly number[];
  readonly codec: number;
  readonly nullCount: number;
  readonly bounds: Bounds | null;
}

/** Whose buffers nobody else uses. */
export interface DataPage {
  readonly rowCount: number;
  readonly nullCount: number;
  /** Definition levels; null: the column has no nulls by its schema. */
  readonly levels: Uint8Array | null;
  readonly values: Uint8Array;
  readonly encoding: number;
}

/** Gathers the pages of one column and row group. */
export class ChunkPages {
  bytes = 0;
  private uncompressedBytes = 0;
  private rowCount = 0;
  private nullCount = 0;
  private readonly encodings = new Set<number>();
  private readonly pages: Uint8Array[] = [];

  constructor(private readonly codec: number) {}

  /** The page is consumed. */
  add({ rowCount, nullCount, levels, values, encoding }: DataPage): void {
    const body = new Uint8Array((levels?.length ?? 0) + values.length);
    if (levels !== null) body.set(levels);
    body.set(values, levels?.length ?? 0);
    freeBuffer(values.buffer);
    if (levels !== null) freeBuffer(levels.buffer);
    const about: ThriftStruct = new Map([i32(1, rowCount), i32(2, encoding), i32(3, ENCODING.rle), i32(4, ENCODING.rle)]);
    this.push(PAGE.data, body, [5, about]);
    this.rowCount += rowCount;
    this.nullCount += nullCount;
    this.encodings.add(encoding);
    if (levels !== null) this.encodings.add(ENCODING.rle);
  }

  /** @param dictionary of `count` values, which comes first */
  finish(bounds: Bounds | null, dictionary: { readonly values: Uint8Array; readonly count: number } | null): FinishedChunk {
    let dictionaryBytes = 0;
    if (dictionary !== null) {
      const before = this.bytes;
      this.push(PAGE.dictionary, dictionary.values, [7, new Map([i32(1, dictionary.count), i32(2, ENCODING.plain)])]);
      this.pages.unshift(...this.pages.splice(-2));
      dictionaryBytes = this.bytes - before;
      this.encodings.add(ENCODING.plain);
    }
    const { pages, bytes, uncompressedBytes, rowCount, nullCount, codec } = this;
    const encodings = [...this.encodings];
    return { pages, bytes, uncompressedBytes, rowCount, dictionaryBytes, encodings, codec, nullCount, bounds };
  }

  /** The body is consumed. */
  private push(type: number, body: Uint8Array, [id, about]: readonly [id: number, about: ThriftStruct]): void {
    const stored = this.codec === CODEC.none ? body : Bun.zstdCompressSync(body, { level: ZSTD_LEVEL });
    const header = writeThrift(
      new Map([i32(1, type), i32(2, body.length), i32(3, stored.length), [id, { type: ThriftType.struct, value: about }]]),
    );
    this.pages.push(header, stored);
    this.bytes += header.length + stored.length;
    this.uncompressedBytes += header.length + body.length;
    if (stored !== body) freeBuffer(body.buffer);
  }
}

function i32(id: number, value: number): readonly [number, ThriftField] {
  return [id, { type: ThriftType.i32, value: BigInt(value) }];
}
