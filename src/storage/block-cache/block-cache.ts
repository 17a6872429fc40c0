// Caches decoded file data for later scans within a memory budget: series of blocks, columns of pages, directories of open files. One per
// thread; what a scan uses is pinned by its leases and not evicted.
import { NarrowColumn, type Narrowness, narrownessOf } from "../../kernel/codec/narrow-column.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { PageParts } from "../../kernel/scan/page-parts.ts";
import { TsdbError } from "../../model/errors.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import { TIME_COLUMN } from "../../model/rows/column.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import { openByteSource } from "../block/byte-source.ts";
import type { BlockPage, BlockSeries, DataBlock, DecodeMemory } from "../block/data-block.ts";
import { readLastRows } from "../block/last-rows.ts";
import { FileIndexCache } from "../file-index/cache.ts";
import { PtReader } from "../pt/reader.ts";
import { type BlockSlot, type CacheOwner, Decoded, Directory, EntryMemory, FileSlot, type PageColumn } from "./block-cache-entries.ts";
import { type BlockRef, type CacheCounts, CacheReader, type Lease } from "./lease.ts";
import { type LruEntry, SegmentedLru } from "./segmented-lru.ts";

/** Estimated JavaScript memory per page and column of an open block. */
const PAGE_BYTES = 200;
const COLUMN_BYTES = 100;
/** When a few rows of a page are decoded alone. */
export interface PartLimits {
  /** A column of which a few rows were read so often is decoded as a whole the next time, and kept; a read counts once more for each
   *  eighth of the rows. 0: always. */
  readonly readsMax: number;
  /** Of shorter pages all rows are decoded: finding a few of them costs as much. */
  readonly pageRowsMin: number;
}

// some rows of a page cost a fifth to a tenth of the whole page: so many reads cost about as much as reading it once
const PART_LIMITS: PartLimits = { readsMax: 8, pageRowsMin: 2048 };
const READ_SHARE = 8;
/** Share of the budget for what is made in some microseconds from other entries: integers and times as scans read them, which also wait
 *  narrowed, in an eighth to a half of the memory, and the series of a page's rows. Other entries lose no room before there is so much. */
const WIDE_SHARE = 1 / 16;
/** Calls of `beginPeriod` during which an entry must be in use to stay. */
const PERIODS_KEPT = 6;
/** Minimum evicted when the kernel's memory is full: one large eviction is faster than many small ones. */
const ROOM_BYTES_MIN = 16 << 20;

interface PageColumnRef {
  readonly page: number;
  readonly columnId: number;
}

/** The block cache of one thread. */
export class BlockCache {
  /** Totals over all leases. */
  readonly counts: CacheCounts = { gen0Hits: 0, gen0Misses: 0, compactedHits: 0, compactedMisses: 0, bytesRead: 0 };
  readonly indexes = new FileIndexCache();
  private readonly lru: SegmentedLru;
  /** Integers and times that wait narrowed in `lru` too, and series of rows. */
  private readonly wide: SegmentedLru;
  private readonly files = new Map<number, FileSlot>();

  constructor(
    private readonly kernel: Kernel,
    private readonly bytesMax: number,
    readonly partLimits = PART_LIMITS,
  ) {
    this.lru = new SegmentedLru(bytesMax);
    this.wide = new SegmentedLru(bytesMax * WIDE_SHARE);
  }

  /** Bytes in use, pinned entries included. */
  get bytes(): number {
    return this.lru.bytes + this.wide.bytes;
  }

  /** Files that have something in it. */
  get fileCount(): number {
    return this.files.size;
  }

  /** Starts the accounting of one scan; its hits and misses are added to `counts`. */
  reader(counts: CacheCounts): CacheReader {
    return new CacheReader(this.lru, [counts, this.counts]);
  }

  /** Opens a block, to be closed by `close`; reads the file's directory if it is not cached. @throws TsdbError corrupt_file, io */
  open(ref: BlockRef, lease: Lease): OpenBlock {
    let file = this.files.get(ref.fileId);
    if (file === undefined) {
      file = new FileSlot(() => this.files.delete(ref.fileId));
      this.files.set(ref.fileId, file);
    }
    try {
      return new OpenBlock(this, this.kernel, file, { ref, block: this.openBlock(file, ref, lease) });
    } catch (error) {
      file.closeUnused();
      file.tidy();
      throw error;
    }
  }

  /** Drops a file that is no longer part of the data. */
  dropFile(fileId: number): void {
    this.indexes.drop(fileId);
    this.drop(this.files.get(fileId)?.entries() ?? []);
  }

  /** Drops a block that is no longer part of the data. */
  dropBlock({ fileId, blockIndex }: Pick<BlockRef, "fileId" | "blockIndex">): void {
    this.indexes.drop(fileId);
    this.drop(this.files.get(fileId)?.entriesOf(blockIndex) ?? []);
  }

  /** Drops entries that will not be requested again. */
  drop(entries: readonly LruEntry[]): void {
    for (const entry of entries) entry.lru!.forget(entry);
  }

  /** Runs `make`; while the kernel's memory is full, evicts entries and runs it again. @throws what `make` throws */
  withRoom<T>(make: () => T): T {
    for (;;) {
      try {
        return make();
      } catch (error) {
        const isFull = error instanceof TsdbError && error.kind === "overloaded";
        if (!isFull || !this.makeRoom()) throw error;
      }
    }
  }

  /** Evicts entries; false if there are none that are not in use. */
  makeRoom(): boolean {
    const wanted = Math.max(ROOM_BYTES_MIN, this.bytes / 8);
    const evicted = this.wide.evict(wanted);
    return evicted + (evicted < wanted ? this.lru.evict(wanted - evicted) : 0) > 0;
  }

  /** Begins a period, and evicts what was not in use during the last six. Returns the bytes evicted. */
  beginPeriod(): number {
    const evicted = this.wide.beginPeriod(PERIODS_KEPT) + this.lru.beginPeriod(PERIODS_KEPT);
    this.share();
    return evicted;
  }

  /** Creates an entry: `read` decodes into its memory. The lease holds it.
   *  @param isWide true if the value is made from others in the cache */
  load<T>(file: CacheOwner, lease: Lease, read: (memory: DecodeMemory) => T, isWide = (_: T) => false): Decoded<T> {
    const entry = this.withRoom(() => {
      const memory = new EntryMemory(this.kernel.heap);
      try {
        return new Decoded(file, memory, read(memory));
      } catch (error) {
        memory.release();
        throw error;
      }
    });
    file.entryCount++;
    const lru = isWide(entry.value) ? this.wide : this.lru;
    entry.isPassing = lease.reader.takesTooMuch(lru, entry.bytes);
    lru.add(entry);
    if (lru === this.wide) this.share();
    if (!lease.keeps) lru.forget(entry);
    lease.hold(entry);
    return entry;
  }

  /** Gives what `wide` does not use to all others. */
  private share(): void {
    this.lru.bytesMax = Math.max(0, this.bytesMax - this.wide.bytes);
  }

  /** The open file and its block, both held by the lease. */
  private openBlock(file: FileSlot, ref: BlockRef, lease: Lease): DataBlock {
    let { directory } = file;
    if (directory === null) {
      const opened = new PtReader(this.kernel, openByteSource(ref.source));
      lease.reader.read(opened.bytesRead);
      directory = new Directory(file, opened);
      file.directory = directory;
      file.entryCount++;
      this.lru.add(directory);
    } else this.lru.pin(directory);
    lease.hold(directory);
    let block = directory.blocks.get(ref.blockIndex);
    if (block === undefined) {
      block = directory.opened.block(ref.blockIndex);
      directory.blocks.set(ref.blockIndex, block);
      this.lru.grow(directory, block.pages.length * PAGE_BYTES + block.columns.length * COLUMN_BYTES);
    }
    return block;
  }
}

/** An open block. What its methods return is valid while the lease passed to them is held. */
export class OpenBlock {
  private readonly decoded: BlockSlot;
  private readonly ref: BlockRef;
  private readonly block: DataBlock;
  private isClosed = false;

  constructor(
    private readonly cache: BlockCache,
    private readonly kernel: Kernel,
    private readonly file: FileSlot,
    { ref, block }: { ref: BlockRef; block: DataBlock },
  ) {
    this.ref = ref;
    this.block = block;
    this.decoded = file.block(ref.blockIndex);
    file.userCount++;
  }

  get pages(): readonly BlockPage[] {
    return this.block.pages;
  }

  get seriesCount(): number {
    return this.block.seriesCount;
  }

  get columns(): DataBlock["columns"] {
    return this.block.columns;
  }

  /** @throws TsdbError corrupt_file naming file and offset, io, overloaded */
  series(lease: Lease): BlockSeries {
    const known = this.decoded.series;
    lease.reader.asked(this.ref, known !== null);
    if (known !== null) {
      lease.found(known);
      return known.value;
    }
    const entry = this.load(lease, (memory) => this.block.readSeries(memory));
    this.decoded.series = entry;
    entry.onDrop = () => {
      this.decoded.series = null;
    };
    return entry.value;
  }

  /** u32 per row of the page: ids in the block's dictionary. Computed from the offsets, so it is neither hit nor miss. @throws as series */
  seriesIds(page: number, { offsetsPtr, dictionary }: BlockSeries, lease: Lease): number {
    const { ids } = this.decoded;
    const known = ids.get(page);
    if (known !== undefined) {
      lease.found(known);
      return known.value;
    }
    const read = (memory: DecodeMemory) => {
      const { firstRow, rowCount } = this.block.pages[page]!;
      const target = memory.alloc(rowCount * 4);
      const firstSeries = this.kernel.call.seriesOfRow(offsetsPtr, dictionary.seriesCount, firstRow);
      this.kernel.call.fillSeries(offsetsPtr, firstSeries, firstRow, rowCount, target);
      return target;
    };
    const entry = this.load(lease, read, () => true);
    ids.set(page, entry);
    entry.onDrop = () => ids.delete(page);
    return entry.value;
  }

  /** The same of listed rows of the page (u32 each, ascending), without those of all. */
  gatherSeries(
    page: number,
    { offsetsPtr, dictionary }: BlockSeries,
    { rowsPtr, count, targetPtr }: { rowsPtr: number; count: number; targetPtr: number },
  ): void {
    const { firstRow } = this.block.pages[page]!;
    this.kernel.call.listedSeries(offsetsPtr, dictionary.seriesCount, firstRow, rowsPtr, count, targetPtr);
  }

  /** Returns null if the block lacks the column. @throws as series */
  column(page: number, columnId: number, lease: Lease): ColumnRun | null {
    const known = this.decoded.pagesOf(columnId).get(page);
    if (known !== undefined) {
      lease.reader.asked(this.ref, true);
      return this.found(known, { page, columnId }, lease);
    }
    if (!this.block.columns.some((column) => column.columnId === columnId)) return null;
    lease.reader.asked(this.ref, false);
    let narrowness: Narrowness | null = null;
    const { rowCount } = this.block.pages[page]!;
    const isWide = (column: ColumnRun) => {
      if (lease.keeps) narrowness = narrownessOf(this.kernel, column, rowCount);
      return narrowness !== null;
    };
    const entry = this.load(lease, (memory) => this.block.readColumn(page, columnId, memory)!, isWide);
    this.decoded.setWhole(page, columnId, entry);
    if (narrowness !== null) {
      const { value } = entry;
      const narrow = this.load(lease, (memory) => new NarrowColumn(this.kernel, value, rowCount, narrowness!, memory));
      this.decoded.setNarrow(page, columnId, narrow);
    }
    return entry.value;
  }

  private found({ whole, narrow }: PageColumn, { page, columnId }: PageColumnRef, lease: Lease): ColumnRun {
    // a column that is in use stays narrowed too
    if (narrow !== null) lease.found(narrow);
    if (whole !== null) {
      lease.found(whole);
      return narrow === null || narrow.value.hasTimes ? whole.value : narrow.value.run(() => whole.value);
    }
    const column = narrow!.value.run(() => this.widened({ page, columnId }, narrow!.value, lease));
    lease.widens(column);
    return column;
  }

  private widened({ page, columnId }: PageColumnRef, narrow: NarrowColumn, lease: Lease): ColumnRun {
    const known = this.decoded.pagesOf(columnId).get(page)?.whole;
    if (known) {
      lease.found(known);
      return known.value;
    }
    const read = (memory: DecodeMemory) => narrow.widen(memory);
    const entry = this.load(lease, read, () => true);
    this.decoded.setWhole(page, columnId, entry);
    return entry.value;
  }

  /** True if a few rows of the page are better decoded alone: a column is not in the cache, and has not been asked for often enough to be
   *  kept as a whole, or it is narrowed. */
  isRare(page: number, columnIds: readonly number[]): boolean {
    const { decoded, pages } = this;
    const { readsMax, pageRowsMin } = this.cache.partLimits;
    if (pages[page]!.rowCount < pageRowsMin) return false;
    return this.columns.some(({ columnId: id }) => {
      if (!columnIds.includes(id)) return false;
      const known = decoded.pagesOf(id).get(page);
      return known === undefined ? decoded.partReads(id, pages.length)[page]! < readsMax : known.whole === null;
    });
  }

  /** The values of some rows of a page, in `memory`; not kept. Returns null if the block lacks the column. @throws as series */
  rows(page: number, columnId: number, parts: PageParts, memory: DecodeMemory, lease: Lease): ColumnRun | null {
    const known = this.decoded.pagesOf(columnId).get(page);
    if (known?.whole) {
      lease.reader.asked(this.ref, true);
      lease.found(known.whole);
      return parts.take(known.whole.value, memory);
    }
    if (!this.block.columns.some((column) => column.columnId === columnId)) return null;
    if (known?.narrow) {
      lease.reader.asked(this.ref, true);
      lease.found(known.narrow);
      return known.narrow.value.rows(parts, memory);
    }
    const reads = this.decoded.partReads(columnId, this.pages.length);
    // another column of the scan may be narrowed, and this one asked for often enough
    if (reads[page]! >= this.cache.partLimits.readsMax) return parts.take(this.column(page, columnId, lease)!, memory);
    lease.reader.asked(this.ref, false);
    reads[page]! += 1 + Math.floor((parts.rowCount * READ_SHARE) / this.pages[page]!.rowCount);
    return this.counted(lease, () => this.block.readRows(page, columnId, { parts: parts.rows, rowCount: parts.rowCount }, memory));
  }

  /** Leaves the rows of `parts` within the range. Returns false, without an effect, unless the page's times wait narrowed. */
  cutNarrow(page: number, parts: PageParts, range: TimeRange, lease: Lease): boolean {
    const { whole = null, narrow = null } = this.decoded.pagesOf(TIME_COLUMN.id).get(page) ?? {};
    if (whole !== null || narrow === null || !narrow.value.hasTimes) return false;
    lease.reader.asked(this.ref, true);
    lease.found(narrow);
    narrow.value.cut(parts, range);
    return true;
  }

  /** The values of a column in the last row of every series, in series order; null if the block lacks the column. Decodes only the pages
   *  that contain such rows, and none if the result is cached. @throws as series */
  lastRows(columnId: number, series: BlockSeries, lease: Lease): ColumnRun | null {
    const { last } = this.decoded;
    const known = last.get(columnId);
    if (known !== undefined) {
      lease.reader.asked(this.ref, true);
      lease.found(known);
      return known.value;
    }
    const column = this.block.columns.find((each) => each.columnId === columnId);
    if (column === undefined) return null;
    const { pages } = this.block;
    const pageLease = lease.reader.lease();
    const withColumn = (page: number, use: (values: ColumnRun) => void) => {
      try {
        use(this.column(page, columnId, pageLease)!);
      } finally {
        pageLease.release();
      }
    };
    // hits, misses and bytes are counted by the pages
    const entry = this.cache.load(this.file, lease, (memory) =>
      readLastRows(this.kernel, { pages, series, ...column, withColumn }, memory),
    );
    last.set(columnId, entry);
    entry.onDrop = () => last.delete(columnId);
    return entry.value;
  }

  /** u32 per series: its own id. @throws TsdbError overloaded */
  lastIds({ dictionary }: BlockSeries, lease: Lease): number {
    const known = this.decoded.lastIds;
    if (known !== null) {
      lease.found(known);
      return known.value;
    }
    const entry = this.cache.load(this.file, lease, (memory) => {
      const ptr = memory.alloc(dictionary.seriesCount * 4);
      const ids = this.kernel.u32.subarray(ptr / 4, ptr / 4 + dictionary.seriesCount);
      for (let id = 0; id < ids.length; id++) ids[id] = id;
      return ptr;
    });
    this.decoded.lastIds = entry;
    entry.onDrop = () => {
      this.decoded.lastIds = null;
    };
    return entry.value;
  }

  /** Closes the file descriptor unless another reader uses it. Idempotent. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.file.userCount--;
    this.file.closeUnused();
  }

  private load<T>(lease: Lease, read: (memory: DecodeMemory) => T, isWide?: (value: T) => boolean): Decoded<T> {
    return this.counted(lease, () => this.cache.load(this.file, lease, read, isWide));
  }

  /** Runs `read`, whose bytes are the lease's. */
  private counted<T>(lease: Lease, read: () => T): T {
    const opened = this.file.directory?.opened;
    const before = opened?.bytesRead ?? 0;
    try {
      return read();
    } finally {
      lease.reader.read((opened?.bytesRead ?? 0) - before);
    }
  }
}
