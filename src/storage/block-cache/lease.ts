// What a scan uses of the block cache: leases pin it, and the reader counts it and says how much of it may stay.
import type { ColumnRun } from "../../model/rows/run.ts";
import type { ObjectSource } from "../block/byte-source.ts";
import type { LruEntry, SegmentedLru } from "./segmented-lru.ts";

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

/** Share of the budget that one scan's new entries may use under normal LRU rules; what it loads beyond is evicted first. A scan larger
 *  than the cache therefore finds part of its data the next time and does not evict the data of others. */
const READER_SHARE = 0.25;

/** The accounting of one scan. */
export class CacheReader {
  private readonly loadedBytes = new Map<SegmentedLru, number>();

  constructor(
    private readonly lru: SegmentedLru,
    private readonly counts: readonly CacheCounts[],
  ) {}

  /** A lease that pins what the scan requests until it is released. */
  lease(): Lease {
    return new Lease(this);
  }

  /** The same for data that is read once: what the lease loads leaves the cache when it is released. */
  passingLease(): Lease {
    return new Lease(this, false);
  }

  /** True if more new entries may stay in the cache. */
  get hasRoom(): boolean {
    return this.loaded(this.lru) < this.lru.bytesMax * READER_SHARE;
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
  takesTooMuch(lru: SegmentedLru, bytes: number): boolean {
    const loaded = this.loaded(lru) + bytes;
    this.loadedBytes.set(lru, loaded);
    return loaded > lru.bytesMax * READER_SHARE;
  }

  private loaded(lru: SegmentedLru): number {
    return this.loadedBytes.get(lru) ?? 0;
  }
}

/** The entries that a scan uses at a time: pinned until `release`. */
export class Lease {
  private entries: LruEntry[] = [];
  /** Columns that nobody has read as wide ones yet. */
  private narrow: ColumnRun[] = [];

  constructor(
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
    entry.lru!.pin(entry);
    this.entries.push(entry);
  }

  /** The column takes memory when it is read, and holds it by this lease. */
  widens(column: ColumnRun): void {
    this.narrow.push(column);
  }

  /** Transfers all pins to another lease. @throws TsdbError overloaded */
  handOver(to: Lease): void {
    // later reads would hold their memory here
    for (const column of this.narrow) void column.dataPtr;
    this.narrow = [];
    to.entries.push(...this.entries);
    this.entries = [];
  }

  /** Idempotent; the lease may be used again. */
  release(): void {
    const { entries } = this;
    this.entries = [];
    this.narrow = [];
    for (const entry of entries) entry.lru!.unpin(entry);
  }
}
