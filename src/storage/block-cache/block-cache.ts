// Caches decoded file data for later scans within a memory budget: series of blocks, columns of pages, directories of open files. One per
// thread; what a scan uses is pinned by its leases and not evicted.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { PageParts } from "../../kernel/scan/page-parts.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import { type ObjectSource, openByteSource } from "../block/byte-source.ts";
import type { BlockPage, BlockSeries, DataBlock, DecodeMemory } from "../block/data-block.ts";
import { readLastRows } from "../block/last-rows.ts";
import { FileIndexCache } from "../file-index/cache.ts";
import { PtReader } from "../pt/reader.ts";
import { type BlockSlot, type CacheOwner, Decoded, Directory, EntryMemory, FileSlot } from "./block-cache-entries.ts";
import { type LruEntry, SegmentedLru } from "./segmented-lru.ts";

/** Identifies a block of a file. */
export interface BlockRef {
  readonly fileId: number;
  /** 0 = flushed, higher = compacted. */
  readonly generation: number;
  readonly source: ObjectSource;
  readonly blockIndex: number;
}

/** Columns of pages and series of blocks found in the cache (hits) and not (misses), and the bytes read for misses. */
export interface CacheCounts {
  gen0Hits: number;
  gen0Misses: number;
  compactedHits: number;
  compactedMisses: number;
  bytesRead: number;
}

/** Estimated JavaScript memory per page and column of an open block. */
const PAGE_BYTES = 200;
const COLUMN_BYTES = 100;
/** When a few rows of a page are decoded alone. */
export interface PartLimits {
  /** A column of which a few rows were read so often is decoded as a whole the next time, and kept. 0: always. */
  readonly readsMax: number;
  /** Of shorter pages all rows are decoded: finding a few of them costs as much. */
  readonly pageRowsMin: number;
}

const PART_LIMITS: PartLimits = { readsMax: 2, pageRowsMin: 2048 };
/** Share of the budget that one scan's new entries may use under normal LRU rules; what it loads beyond is evicted first. A scan larger
 *  than the cache therefore finds part of its data the next time and does not evict the data of others. */
const READER_SHARE = 0.25;
/** Calls of `beginPeriod` during which an entry must be in use to stay. */
const PERIODS_KEPT = 6;
/** Minimum evicted when the kernel's memory is full: one large eviction is faster than many small ones. */
const ROOM_BYTES_MIN = 16 << 20;

/** The block cache of one thread. */
export class BlockCache {
  /** Totals over all leases. */
  readonly counts: CacheCounts = { gen0Hits: 0, gen0Misses: 0, compactedHits: 0, compactedMisses: 0, bytesRead: 0 };
  readonly indexes = new FileIndexCache();
  private readonly lru: SegmentedLru;
  private readonly files = new Map<number, FileSlot>();

  constructor(
    private readonly kernel: Kernel,
    private readonly bytesMax: number,
    readonly partLimits = PART_LIMITS,
  ) {
    this.lru = new SegmentedLru(bytesMax);
  }

  /** Bytes in use, pinned entries included. */
  get bytes(): number {
    return this.lru.bytes;
  }

  /** Files that have something in it. */
  get fileCount(): number {
    return this.files.size;
  }

  /** Starts the accounting of one scan; its hits and misses are added to `counts`. */
  reader(counts: CacheCounts): CacheReader {
    return new CacheReader(this.lru, [counts, this.counts], this.bytesMax * READER_SHARE);
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
    for (const entry of entries) this.lru.forget(entry);
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
    return this.lru.evict(Math.max(ROOM_BYTES_MIN, this.lru.bytes / 8)) > 0;
  }

  /** Begins a period, and evicts what was not in use during the last six. Returns the bytes evicted. */
  beginPeriod(): number {
    return this.lru.beginPeriod(PERIODS_KEPT);
  }

  /** Creates an entry: `read` decodes into its memory. The lease holds it. */
  load<T>(file: CacheOwner, lease: Lease, read: (memory: DecodeMemory) => T): Decoded<T> {
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
    entry.isPassing = lease.reader.takesTooMuch(entry.bytes);
    this.lru.add(entry);
    if (!lease.keeps) this.lru.forget(entry);
    lease.hold(entry);
    return entry;
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

/** The accounting of one scan. */
export class CacheReader {
  private loadedBytes = 0;

  constructor(
    private readonly lru: SegmentedLru,
    private readonly counts: readonly CacheCounts[],
    private readonly loadedBytesMax: number,
  ) {}

  /** A lease that pins what the scan requests until it is released. */
  lease(): Lease {
    return new Lease(this.lru, this);
  }

  /** The same for data that is read once: what the lease loads leaves the cache when it is released. */
  passingLease(): Lease {
    return new Lease(this.lru, this, false);
  }

  /** True if more new entries may stay in the cache. */
  get hasRoom(): boolean {
    return this.loadedBytes < this.loadedBytesMax;
  }

  asked({ generation }: BlockRef, isHit: boolean): void {
    for (const counts of this.counts) {
      if (generation === 0) counts[isHit ? "gen0Hits" : "gen0Misses"]++;
      else counts[isHit ? "compactedHits" : "compactedMisses"]++;
    }
  }

  read(bytes: number): void {
    for (const counts of this.counts) counts.bytesRead += bytes;
  }

  /** Counts a new entry; returns true if the scan has exceeded its share. */
  takesTooMuch(bytes: number): boolean {
    this.loadedBytes += bytes;
    return this.loadedBytes > this.loadedBytesMax;
  }
}

/** The entries that a scan uses at a time: pinned until `release`. */
export class Lease {
  private entries: LruEntry[] = [];

  constructor(
    private readonly lru: SegmentedLru,
    readonly reader: CacheReader,
    /** False: what it loads is dropped as soon as nobody uses it. */
    readonly keeps = true,
  ) {}

  /** Bytes of its entries; an entry requested twice counts twice. */
  get bytes(): number {
    return this.entries.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Takes over an existing pin. */
  hold(entry: LruEntry): void {
    this.entries.push(entry);
  }

  /** Pins an entry found in the cache. */
  found(entry: LruEntry): void {
    this.lru.pin(entry);
    this.entries.push(entry);
  }

  /** Transfers all pins to another lease. */
  handOver(to: Lease): void {
    to.entries.push(...this.entries);
    this.entries = [];
  }

  /** Idempotent; the lease may be used again. */
  release(): void {
    const { entries } = this;
    this.entries = [];
    for (const entry of entries) this.lru.unpin(entry);
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
    const entry = this.load(lease, (memory) => {
      const { firstRow, rowCount } = this.block.pages[page]!;
      const target = memory.alloc(rowCount * 4);
      const firstSeries = this.kernel.call.seriesOfRow(offsetsPtr, dictionary.seriesCount, firstRow);
      this.kernel.call.fillSeries(offsetsPtr, firstSeries, firstRow, rowCount, target);
      return target;
    });
    ids.set(page, entry);
    entry.onDrop = () => ids.delete(page);
    return entry.value;
  }

  /** Returns null if the block lacks the column. @throws as series */
  column(page: number, columnId: number, lease: Lease): ColumnRun | null {
    const pages = this.decoded.pagesOf(columnId);
    const known = pages.get(page);
    if (known !== undefined) {
      lease.reader.asked(this.ref, true);
      lease.found(known);
      return known.value;
    }
    if (!this.block.columns.some((column) => column.columnId === columnId)) return null;
    lease.reader.asked(this.ref, false);
    const entry = this.load(lease, (memory) => this.block.readColumn(page, columnId, memory)!);
    pages.set(page, entry);
    entry.onDrop = () => pages.delete(page);
    return entry.value;
  }

  /** True if a column of the page is not in the cache and has not been asked for often enough to be kept as a whole. */
  isRare(page: number, columnIds: readonly number[]): boolean {
    const { decoded, pages } = this;
    const { readsMax, pageRowsMin } = this.cache.partLimits;
    if (pages[page]!.rowCount < pageRowsMin) return false;
    return this.columns.some(({ columnId: id }) => {
      if (!columnIds.includes(id) || decoded.pagesOf(id).has(page)) return false;
      return decoded.partReads(id, pages.length)[page]! < readsMax;
    });
  }

  /** The values of some rows of a page, in `memory`; not kept. Returns null if the block lacks the column. @throws as series */
  rows(page: number, columnId: number, parts: PageParts, memory: DecodeMemory, lease: Lease): ColumnRun | null {
    const known = this.decoded.pagesOf(columnId).get(page);
    if (known !== undefined) {
      lease.reader.asked(this.ref, true);
      lease.found(known);
      return parts.take(known.value, memory);
    }
    if (!this.block.columns.some((column) => column.columnId === columnId)) return null;
    lease.reader.asked(this.ref, false);
    const reads = this.decoded.partReads(columnId, this.pages.length);
    if (reads[page]! < this.cache.partLimits.readsMax) reads[page]!++;
    return this.counted(lease, () => this.block.readRows(page, columnId, { parts: parts.rows, rowCount: parts.rowCount }, memory));
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

  private load<T>(lease: Lease, read: (memory: DecodeMemory) => T): Decoded<T> {
    return this.counted(lease, () => this.cache.load(this.file, lease, read));
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
