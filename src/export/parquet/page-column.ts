// One column of the rows of a page: rows are gathered in memory of the kernel until the page is full, and then encoded.
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { bitmapBytes } from "../../kernel/scan/rows.ts";
import type { FinishedChunk } from "./chunk.ts";
import { ChunkMemory } from "./chunk-memory.ts";
import { levelBytes } from "./hybrid.ts";

/** As many as a page of our own files has, or fewer where there are many columns: a multiple of 64. */
const PAGE_ROWS_MAX = 16_384;
const PAGE_ROWS_MIN = 1024;
const PAGE_VALUES_MAX = 1 << 20;
/** What DELTA_BINARY_PACKED takes at most, and works on (assembly/codec/parquet.ts). */
const DELTA_BLOCK_BYTES = 1048;
const DELTA_HEAD_BYTES = 64;
const DELTA_WORK_BYTES = 128 * 8;

/** Memory of the pages of all columns. Owned: call `release`. */
export class PageMemory {
  readonly pageRows: number;
  readonly blocks: Blocks;
  readonly chunks = new ChunkMemory();
  /** For one column at a time: its values without gaps, or encoded. */
  readonly scratchPtr: number;
  readonly workPtr: number;

  /** @throws TsdbError overloaded */
  constructor(
    readonly kernel: Kernel,
    columnCount: number,
  ) {
    const fitting = Math.floor(PAGE_VALUES_MAX / Math.max(1, columnCount) / 64) * 64;
    this.pageRows = Math.min(PAGE_ROWS_MAX, Math.max(PAGE_ROWS_MIN, fitting));
    this.blocks = new Blocks(kernel);
    this.scratchPtr = this.blocks.alloc(DELTA_HEAD_BYTES + Math.ceil(this.pageRows / 128) * DELTA_BLOCK_BYTES);
    this.workPtr = this.blocks.alloc(DELTA_WORK_BYTES);
  }

  release(): void {
    this.blocks.release();
    this.chunks.release();
  }
}

/** Rows of a run that go to the page: `count` from row `from` on, to row `at` of the page. */
export interface PagePlace {
  readonly from: number;
  readonly count: number;
  readonly at: number;
}

/** A column that gathers pages and row groups. */
export interface PageColumn<Source> {
  /** Encoded bytes of the group so far. */
  readonly bytes: number;
  /** Adds rows to the page. Null: the rows have no values. @throws TsdbError overloaded */
  add(source: Source | null, place: PagePlace): void;
  /** Encodes the page of `rowCount` rows and begins the next one. */
  endPage(rowCount: number): void;
  /** Ends the group and begins the next one. */
  endGroup(): FinishedChunk;
}

/** Which rows of a page have a value: a bitmap in memory of the kernel. */
export class PageValidity {
  readonly ptr: number;
  private readonly kernel: Kernel;
  private readonly byteCount: number;
  private readonly chunks: ChunkMemory;

  constructor({ kernel, blocks, pageRows, chunks }: PageMemory) {
    this.kernel = kernel;
    this.chunks = chunks;
    this.byteCount = bitmapBytes(pageRows);
    this.ptr = blocks.allocZeroed(this.byteCount);
  }

  /** @param validityPtr of the run; 0: all rows have a value, null: none has */
  add(validityPtr: number | null, { from, count, at }: PagePlace): void {
    const { call } = this.kernel;
    if (validityPtr === null) return;
    if (validityPtr === 0) call.setBits(this.ptr, at, count);
    else call.copyBits(validityPtr, from, this.ptr, at, count);
  }

  count(rowCount: number): number {
    return this.kernel.call.countBits(this.ptr, 0, rowCount);
  }

  /** Definition levels of the page, borrowed. */
  levels(rowCount: number, presentCount: number): Uint8Array {
    const bits = presentCount === rowCount ? null : this.kernel.u8.subarray(this.ptr, this.ptr + Math.ceil(rowCount / 8));
    return levelBytes(this.chunks.levels, bits, rowCount);
  }

  clear(): void {
    this.kernel.call.fillBytes(this.ptr, 0, this.byteCount);
  }
}
