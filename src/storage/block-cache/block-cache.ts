// Decoded data of files, kept for the next scan within a budget of bytes: series of blocks, columns of pages, directories of open files.
// One per thread; what a scan uses is pinned by its leases and stays.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import { type ObjectSource, openByteSource } from "../block/byte-source.ts";
import type { BlockPage, BlockSeries, DataBlock, DecodeMemory } from "../block/data-block.ts";
import { readLastRows } from "../block/last-rows.ts";
import { FileIndexCache } from "../file-index/cache.ts";
import { PtReader } from "../pt/reader.ts";
import { type BlockSlot, type CacheOwner, Decoded, Directory, EntryMemory, FileSlot } from "./block-cache-entries.ts";
import { type LruEntry, SegmentedLru } from "./segmented-lru.ts";

/** Which block of which file. */
export interface BlockRef {
  readonly fileId: number;
  /** 0 = flushed, above = compacted. */
  readonly generation: number;
  readonly source: ObjectSource;
  readonly blockIndex: number;
}

/** Pages' columns and blocks' series found decoded (hits) and not, and what was read from files for those that were not. */
export interface CacheCounts {
  gen0Hits: number;
  gen0Misses: number;
  compactedHits: number;
  compactedMisses: number;
  bytesRead: number;
}

/** JavaScript's memory for a page and a column of an open block, roughly. */
const PAGE_BYTES = 200;
const COLUMN_BYTES = 100;
/** Of what a scan has read and the cache has not had before, so much stays as other things do; the rest goes first. So a scan of more than
 *  fits finds a part of it the next time, and does not drive out what others use. */
const READER_SHARE = 0.25;
/** What is given back at least when the kernel's memory is full: one large piece is found sooner than many small ones. */
const ROOM_BYTES_MIN = 16 << 20;

export class BlockCache {
  /** Over all leases. */
  readonly counts: CacheCounts = { gen0Hits: 0, gen0Misses: 0, compactedHits: 0, compactedMisses: 0, bytesRead: 0 };
  readonly indexes = new FileIndexCache();
  private readonly lru: SegmentedLru;
  private readonly files = new Map<number, FileSlot>();

  constructor(
    private readonly kernel: Kernel,
    private readonly bytesMax: number,
  ) {
    this.lru = new SegmentedLru(bytesMax);
  }

  /** What it takes, what is in use included. */
  get bytes(): number {
    return this.lru.bytes;
  }

  /** For one scan. `counts` is told of hits and misses. */
  reader(counts: CacheCounts): CacheReader {
    return new CacheReader(this.lru, [counts, this.counts], this.bytesMax * READER_SHARE);
  }

  /** Opens a block, which is closed by `close`; its file's directory is read if it is not there. @throws TsdbError corrupt_file, io */
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

  /** A file that is no longer part of the data. */
  dropFile(fileId: number): void {
    this.indexes.drop(fileId);
    this.drop(this.files.get(fileId)?.entries() ?? []);
  }

  /** A block that is no longer part of the data. */
  dropBlock({ fileId, blockIndex }: Pick<BlockRef, "fileId" | "blockIndex">): void {
    this.indexes.drop(fileId);
    this.drop(this.files.get(fileId)?.entriesOf(blockIndex) ?? []);
  }

  /** Nobody will ask for them again. */
  drop(entries: readonly LruEntry[]): void {
    for (const entry of entries) this.lru.forget(entry);
  }

  /** `make`, again with less in the cache as long as the kernel's memory is full. @throws what `make` throws */
  withRoom<T>(make: () => T): T {
    for (;;) {
      try {
        return make();
      } catch (error) {
        const isFull = error instanceof TsdbError && error.kind === "overloaded";
        if (!isFull || this.lru.evict(Math.max(ROOM_BYTES_MIN, this.lru.bytes / 8)) === 0) throw error;
      }
    }
  }

  /** Decodes (or makes otherwise) into memory of a new entry, which the lease holds. */
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

/** One scan's account. */
export class CacheReader {
  private loadedBytes = 0;

  constructor(
    private readonly lru: SegmentedLru,
    private readonly counts: readonly CacheCounts[],
    private readonly loadedBytesMax: number,
  ) {}

  /** Holds what is asked for on its behalf until it is released. */
  lease(): Lease {
    return new Lease(this.lru, this);
  }

  /** Whether more may stay that is not there yet. */
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

  /** Something of `bytes` bytes is new in the cache. */
  takesTooMuch(bytes: number): boolean {
    this.loadedBytes += bytes;
    return this.loadedBytes > this.loadedBytesMax;
  }
}

/** What a scan uses at a time: pinned until `release`. */
export class Lease {
  private entries: LruEntry[] = [];

  constructor(
    private readonly lru: SegmentedLru,
    readonly reader: CacheReader,
  ) {}

  /** Of what it holds; what was asked for twice counts twice. */
  get bytes(): number {
    return this.entries.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Takes over a pin. */
  hold(entry: LruEntry): void {
    this.entries.push(entry);
  }

  /** Pins an entry that was found. */
  found(entry: LruEntry): void {
    this.lru.pin(entry);
    this.entries.push(entry);
  }

  /** Another lease holds it all from now on. */
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

/** A block in use. What it gives is valid as long as the lease is held that it was asked with. */
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

  /** u32 per row of the page: ids in the block's dictionary. Made of the offsets, so nothing is counted. @throws as series */
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

  /** Null when the block does not have the column. @throws as series */
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

  /** The values of a column in the last row of every series, in order of series; null when the block does not have the column. Only the
   *  pages that hold such rows are decoded, and when this is there, none. @throws as series */
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
    // what is read for it is counted by the pages
    const entry = this.cache.load(this.file, lease, (memory) =>
      readLastRows(this.kernel, { pages, series, ...column, withColumn }, memory),
    );
    last.set(columnId, entry);
    entry.onDrop = () => last.delete(columnId);
    return entry.value;
  }

  /** u32 per series: its own number. @throws TsdbError overloaded */
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

  /** Lets go of the file's descriptor when nobody else uses it. Idempotent. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.file.userCount--;
    this.file.closeUnused();
  }

  private load<T>(lease: Lease, read: (memory: DecodeMemory) => T): Decoded<T> {
    const opened = this.file.directory?.opened;
    const before = opened?.bytesRead ?? 0;
    try {
      return this.cache.load(this.file, lease, read);
    } finally {
      lease.reader.read((opened?.bytesRead ?? 0) - before);
    }
  }
}
