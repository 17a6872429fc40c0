// Appends encoded columns to a file and returns the extent and checksum of each.
import { crc32 } from "../../disk/crc32.ts";
import type { CodecColumn, ColumnCodec } from "../../kernel/codec/codec.ts";
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { PtExtent } from "./stored-column.ts";

/** Target of the bytes; `bytes` is their number so far, hence the offset of the next. */
export interface ByteSink {
  readonly bytes: number;
  /** Copies `bytes`, borrowed for the call. */
  append(bytes: Uint8Array): void;
}

const TARGET_BYTES_MIN = 256 * 1024;

/** Encodes columns for one file. Owns kernel memory: call `release`. */
export class ColumnEmitter {
  private readonly blocks: Blocks;
  private targetPtr = 0;
  private targetBytes = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly codec: ColumnCodec,
    readonly output: ByteSink,
  ) {
    this.blocks = new Blocks(kernel);
  }

  /** Appends a column; its checksum continues from `crc`. @throws TsdbError overloaded */
  column(column: CodecColumn, crc = 0): PtExtent {
    const target = this.reserve(this.codec.bytesMax(column));
    return this.emit(target, this.codec.encode(column, target), crc);
  }

  /** Appends u32[rowCount]. @throws TsdbError overloaded */
  u32(dataPtr: number, rowCount: number, crc = 0): PtExtent {
    const target = this.reserve(this.codec.u32BytesMax(rowCount));
    return this.emit(target, this.codec.encodeU32(dataPtr, rowCount, target), crc);
  }

  release(): void {
    this.blocks.release();
    this.targetBytes = 0;
  }

  private emit(ptr: number, bytes: number, crc: number): PtExtent {
    const offset = this.output.bytes;
    const encoded = this.kernel.u8.subarray(ptr, ptr + bytes);
    this.output.append(encoded);
    return { offset, bytes, crc: crc32(encoded, crc) };
  }

  private reserve(bytes: number): number {
    if (bytes <= this.targetBytes) return this.targetPtr;
    const wanted = Math.max(bytes, this.targetBytes * 2, TARGET_BYTES_MIN);
    this.release();
    this.targetPtr = this.blocks.alloc(wanted);
    this.targetBytes = wanted;
    return this.targetPtr;
  }
}
