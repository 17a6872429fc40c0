// Reads blocks of a .pt file into runs: the dictionary first, then only the pages that can hold wanted rows, of them only wanted columns.
import { crc32 } from "../disk/crc32.ts";
import { ColumnCodec } from "../kernel/codec.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { TsdbError } from "../model/errors.ts";
import type { Run } from "../model/run.ts";
import { ALL_TIME, type TagPredicate, type TimeRange } from "../model/scan.ts";
import { decodePages, selectPages } from "./pt-block-reader.ts";
import {
  checkHeader,
  corrupt,
  hex,
  PT_HEADER_BYTES,
  PT_TRAILER_BYTES,
  type PtBlock,
  PtDirectoryReader,
  type PtExtent,
  parseTrailer,
} from "./pt-format.ts";

/** A file's bytes, wherever they are. `read` returns what was asked for, or less where the file is shorter than its size said; borrowed
 *  until the next call. @throws TsdbError io */
export interface ByteSource {
  /** For messages. */
  readonly name: string;
  readonly size: number;
  read(offset: number, bytes: number): Uint8Array;
}

export interface BlockRequest {
  /** Columns of the table; those that the block does not have are left out, tags are always in the dictionary. */
  readonly columnIds: readonly number[];
  /** Pages without such rows are skipped; other rows may be there too. */
  readonly range: TimeRange;
  readonly tags: readonly TagPredicate[];
}

/** A run that owns its memory, text and dictionary included. */
export type DecodedRun = Run & {
  /** Kernel memory that it takes. */
  readonly memoryBytes: number;
  /** Frees the memory; idempotent. */
  release(): void;
};

/** Reads one file. Holds no kernel memory between calls. */
export class PtReader {
  private readonly directory_: PtDirectoryReader;

  /** Reads the directory. @throws TsdbError corrupt_file, io */
  constructor(
    private readonly kernel: Kernel,
    private readonly source: ByteSource,
  ) {
    this.directory_ = openDirectory(source);
  }

  get blockCount(): number {
    return this.directory_.blockCount;
  }

  /** What the directory says of a block. @throws TsdbError corrupt_file */
  block(index: number): PtBlock {
    try {
      return this.directory_.block(index);
    } catch (error) {
      throw corrupt(this.source.name, this.source.size, error);
    }
  }

  /** Decodes what a request can need of a block: null when no page can hold a wanted row. Sorted by series and time.
   *  @throws TsdbError corrupt_file naming file and offset, overloaded, io */
  decodeBlock(blockIndex: number, { columnIds, range, tags }: BlockRequest): DecodedRun | null {
    const block = this.block(blockIndex);
    if (block.minTimeNs > range.maxNs || block.maxTimeNs < range.minNs) return null;
    const codec = new ColumnCodec(this.kernel);
    const file = { kernel: this.kernel, codec, name: this.source.name, read: (extents: readonly PtExtent[]) => this.read(extents) };
    try {
      const selected = selectPages(file, block, { range, tags });
      return selected === null ? null : decodePages(file, block, selected, columnIds);
    } finally {
      codec.release();
    }
  }

  /** All rows of a block, for a cache. @throws as decodeBlock */
  decodeWholeBlock(blockIndex: number, columnIds: readonly number[]): DecodedRun {
    return this.decodeBlock(blockIndex, { columnIds, range: ALL_TIME, tags: [] })!;
  }

  /** Bytes of extents that lie side by side, checked one by one; borrowed until the next read. */
  private read(extents: readonly PtExtent[]): Uint8Array {
    const first = extents[0]!;
    const total = extents.reduce((sum, { bytes }) => sum + bytes, 0);
    const bytes = readWhole(this.source, first.offset, total);
    for (const extent of extents) {
      const from = extent.offset - first.offset;
      const got = crc32(bytes.subarray(from, from + extent.bytes));
      if (got !== extent.crc) throw corrupt(this.source.name, extent.offset, `checksum ${hex(got)}, expected ${hex(extent.crc)}`);
    }
    return bytes;
  }
}

function openDirectory(source: ByteSource): PtDirectoryReader {
  const { name, size } = source;
  let offset = 0;
  try {
    if (size < PT_HEADER_BYTES + PT_TRAILER_BYTES) throw new Error(`${size} bytes are no .pt file`);
    checkHeader(readWhole(source, 0, PT_HEADER_BYTES));
    offset = size - PT_TRAILER_BYTES;
    const trailer = parseTrailer(readWhole(source, offset, PT_TRAILER_BYTES), size);
    offset = trailer.offset;
    // kept by the reader, so it must be its own
    return new PtDirectoryReader(readWhole(source, offset, trailer.bytes).slice(), trailer);
  } catch (error) {
    if (error instanceof TsdbError) throw error;
    throw corrupt(name, offset, error);
  }
}

function readWhole(source: ByteSource, offset: number, bytes: number): Uint8Array {
  const read = source.read(offset, bytes);
  if (read.length !== bytes) throw corrupt(source.name, offset, `cut off: ${read.length} of ${bytes} bytes are there`);
  return read;
}
