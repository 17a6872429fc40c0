// The contents of the block cache: files, their blocks, and the cached entries.
import type { NarrowColumn } from "../../kernel/codec/narrow-column.ts";
import { Heap } from "../../kernel/memory/heap.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import type { BlockSeries, DataBlock, DataFile, DecodeMemory } from "../block/data-block.ts";
import { LruEntry } from "./segmented-lru.ts";

/** Estimated JavaScript memory of an entry, so that many small ones count too. */
const ENTRY_BYTES = 300;

/** Owner of entries: a file, or the cache itself. */
export interface CacheOwner {
  /** Number of its entries. */
  entryCount: number;
  /** Called after one of its entries was dropped. */
  tidy(): void;
}

/** The cached state of a file. Stays in the cache's table as long as it has entries. */
export class FileSlot implements CacheOwner {
  directory: Directory | null = null;
  entryCount = 0;
  /** Number of open blocks. */
  userCount = 0;
  private readonly blocks = new Map<number, BlockSlot>();

  constructor(private readonly leave: () => void) {}

  block(index: number): BlockSlot {
    let slot = this.blocks.get(index);
    if (slot === undefined) {
      slot = new BlockSlot();
      this.blocks.set(index, slot);
    }
    return slot;
  }

  entriesOf(blockIndex: number): LruEntry[] {
    return this.blocks.get(blockIndex)?.entries() ?? [];
  }

  entries(): LruEntry[] {
    const decoded = [...this.blocks.values()].flatMap((block) => block.entries());
    return this.directory === null ? decoded : [this.directory, ...decoded];
  }

  /** Closes the file descriptor if no block is open. */
  closeUnused(): void {
    if (this.userCount === 0) this.directory?.opened.close();
  }

  tidy(): void {
    if (this.entryCount === 0) this.leave();
  }
}

/** A column of a page, as scans read it and as it waits for them. */
export class PageColumn {
  whole: Decoded<ColumnRun> | null = null;
  /** Of integers and times that fit it. */
  narrow: Decoded<NarrowColumn> | null = null;

  entries(): LruEntry[] {
    return [this.whole, this.narrow].filter((entry) => entry !== null);
  }
}

/** The decoded data of a block. */
export class BlockSlot {
  series: Decoded<BlockSeries> | null = null;
  /** The values in the last row of every series, by column. */
  readonly last = new Map<number, Decoded<ColumnRun>>();
  /** u32 per series: its own id. */
  lastIds: Decoded<number> | null = null;
  /** By page. */
  readonly ids = new Map<number, Decoded<number>>();
  private readonly columns = new Map<number, Map<number, PageColumn>>();
  private readonly reads = new Map<number, Uint8Array>();

  /** By page: what there is of a column. */
  pagesOf(columnId: number): Map<number, PageColumn> {
    let pages = this.columns.get(columnId);
    if (pages === undefined) {
      pages = new Map();
      this.columns.set(columnId, pages);
    }
    return pages;
  }

  /** A column as scans read it is in the cache from now on. */
  setWhole(page: number, columnId: number, entry: Decoded<ColumnRun>): void {
    this.put(page, columnId, entry, (column, present) => {
      column.whole = present;
    });
  }

  /** The same of one as it waits. */
  setNarrow(page: number, columnId: number, entry: Decoded<NarrowColumn>): void {
    this.put(page, columnId, entry, (column, present) => {
      column.narrow = present;
    });
  }

  /** By page: how often a few rows of the column were read. */
  partReads(columnId: number, pageCount: number): Uint8Array {
    let reads = this.reads.get(columnId);
    if (reads === undefined) {
      reads = new Uint8Array(pageCount);
      this.reads.set(columnId, reads);
    }
    return reads;
  }

  entries(): LruEntry[] {
    const pages = [...this.columns.values()].flatMap((column) => [...column.values()].flatMap((page) => page.entries()));
    const single = [this.series, this.lastIds].filter((entry) => entry !== null);
    return [...single, ...this.last.values(), ...this.ids.values(), ...pages];
  }

  /** `assign` is called with the entry now, and with null when it is dropped. */
  private put<E extends Decoded<unknown>>(
    page: number,
    columnId: number,
    entry: E,
    assign: (column: PageColumn, present: E | null) => void,
  ): void {
    const column = this.added(page, columnId);
    assign(column, entry);
    entry.onDrop = () => {
      assign(column, null);
      if (column.entries().length === 0) this.pagesOf(columnId).delete(page);
    };
  }

  private added(page: number, columnId: number): PageColumn {
    const pages = this.pagesOf(columnId);
    let column = pages.get(page);
    if (column === undefined) {
      column = new PageColumn();
      pages.set(page, column);
    }
    return column;
  }
}

/** An open file and those of its blocks that were requested. */
export class Directory extends LruEntry {
  readonly blocks = new Map<number, DataBlock>();

  constructor(
    private readonly file: FileSlot,
    readonly opened: DataFile,
  ) {
    super();
    this.bytes = opened.memoryBytes + ENTRY_BYTES;
  }

  override drop(): void {
    this.opened.close();
    this.file.directory = null;
    this.file.entryCount--;
    this.file.tidy();
  }
}

/** A decoded object and its memory. */
export class Decoded<T> extends LruEntry {
  onDrop: () => void = () => {};

  constructor(
    private readonly owner: CacheOwner,
    private readonly memory: EntryMemory,
    readonly value: T,
  ) {
    super();
    this.bytes = memory.bytes + ENTRY_BYTES;
  }

  override drop(): void {
    this.memory.release();
    this.onDrop();
    this.owner.entryCount--;
    this.owner.tidy();
  }
}

/** The kernel memory of one entry, counted at its allocated size. */
export class EntryMemory implements DecodeMemory {
  bytes = 0;
  private readonly blocks: { readonly ptr: number; readonly bytes: number }[] = [];

  constructor(private readonly heap: Heap) {}

  alloc(bytes: number): number {
    const ptr = this.heap.alloc(bytes);
    this.blocks.push({ ptr, bytes });
    this.bytes += Heap.footprint(bytes);
    return ptr;
  }

  release(): void {
    for (const { ptr, bytes } of this.blocks) this.heap.free(ptr, bytes);
    this.blocks.length = 0;
  }
}
