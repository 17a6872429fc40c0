// Reads a .pt file as a DataFile: the directory, read and checked on opening, and its blocks.
import { crc32 } from "../../disk/crc32.ts";
import { ColumnCodec } from "../../kernel/codec/codec.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { Scratch } from "../../kernel/memory/scratch.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ByteSource } from "../block/byte-source.ts";
import type { DataFile } from "../block/data-block.ts";
import { type OpenFile, PtBlockReader } from "./block-reader.ts";
import {
  checkHeader,
  corrupt,
  hex,
  PT_HEADER_BYTES,
  PT_TRAILER_BYTES,
  PtDirectoryReader,
  parseTrailer,
  type StoredBlock,
} from "./format.ts";
import type { PtExtent } from "./stored-column.ts";

/** Reads one file. */
export class PtReader implements DataFile {
  bytesRead = 0;
  private readonly directory: PtDirectoryReader;
  private readonly codec: ColumnCodec;
  private readonly scratch: Scratch;

  /** Reads the directory. @throws TsdbError corrupt_file, io; the source is closed then */
  constructor(
    private readonly kernel: Kernel,
    protected readonly source: ByteSource,
  ) {
    this.codec = new ColumnCodec(kernel);
    this.scratch = new Scratch(kernel);
    try {
      this.directory = this.openDirectory();
    } catch (error) {
      source.close();
      throw error;
    }
  }

  get blockCount(): number {
    return this.directory.blockCount;
  }

  get memoryBytes(): number {
    return this.directory.byteLength;
  }

  /** The directory entry of a block. @throws TsdbError corrupt_file */
  stored(index: number): StoredBlock {
    try {
      return this.directory.block(index);
    } catch (error) {
      throw corrupt(this.source.name, this.source.size, error);
    }
  }

  block(index: number): PtBlockReader {
    return new PtBlockReader(this.openFile, this.stored(index));
  }

  close(): void {
    this.source.close();
    this.codec.release();
    this.scratch.release();
  }

  protected get openFile(): OpenFile {
    const { kernel, codec, scratch, source } = this;
    return { kernel, codec, scratch, name: source.name, read: (extent) => this.read(extent) };
  }

  /** @throws TsdbError corrupt_file, io, Error with the cause alone */
  protected readDirectory(): PtDirectoryReader {
    const { size } = this.source;
    if (size < PT_HEADER_BYTES + PT_TRAILER_BYTES) throw new Error(`${size} bytes are no .pt file`);
    checkHeader(this.readWhole(0, PT_HEADER_BYTES));
    return this.directoryBefore(size, PT_HEADER_BYTES);
  }

  /** The directory whose trailer ends at offset `end`; data starts at `dataStart`. */
  protected directoryBefore(end: number, dataStart: number): PtDirectoryReader {
    const trailer = parseTrailer(this.readWhole(end - PT_TRAILER_BYTES, PT_TRAILER_BYTES), end);
    // the reader keeps it, so it must be a copy
    return new PtDirectoryReader(this.readWhole(trailer.offset, trailer.bytes).slice(), trailer, dataStart);
  }

  /** The bytes of an extent after checking its checksum; borrowed until the next read. */
  protected read({ offset, bytes, crc }: PtExtent): Uint8Array {
    const piece = this.readWhole(offset, bytes);
    const got = crc32(piece);
    if (got !== crc) throw corrupt(this.source.name, offset, `checksum ${hex(got)}, expected ${hex(crc)}`);
    return piece;
  }

  private openDirectory(): PtDirectoryReader {
    try {
      return this.readDirectory();
    } catch (error) {
      if (error instanceof TsdbError) throw error;
      throw corrupt(this.source.name, this.source.size, error);
    }
  }

  protected readWhole(offset: number, bytes: number): Uint8Array {
    const read = this.source.read(offset, bytes);
    this.bytesRead += read.length;
    if (read.length !== bytes) throw corrupt(this.source.name, offset, `cut off: ${read.length} of ${bytes} bytes are there`);
    return read;
  }
}
