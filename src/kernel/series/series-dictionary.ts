// The series of one table: canonical key → dense id, a dictionary of values per tag column, and the newest time per series. Lives on the
// thread that writes; others read through a `view`. Arrays that move are freed through the reclaimer, after their last reader.
import { assert } from "../../model/assert.ts";
import { ALL_TIME, type TimeRange } from "../../model/query/scan.ts";
import type { Reclaimer } from "../../model/reclaimer.ts";
import type { DictionaryView, RowFacts, TagColumnView } from "../../model/rows/run.ts";
import type { SeriesAllowance } from "../../model/rows/series-allowance.ts";
import { nextDictionaryId } from "../memory/dictionary-id.ts";
import type { Kernel } from "../memory/kernel.ts";

// seriesTags: | columnId u32 | codes u32 | views u32 | valueCount u32 |
const TAG_BYTES = 16;
// seriesSetGaps: | from i64 | to i64 |, both excluded
const GAP_BYTES = 16;
const GAPS_MAX = 4;
// seriesNoteTimes
const UNIQUE = 1;
const ASCENDING = 2;
const ALL_NEWER: RowFacts = { unique: true, ascending: true };

export interface SeriesDictionaryOptions {
  /** Rows newer than this cannot be duplicates: the table's newest durable time, or the minimum of i64 if it has no rows. */
  readonly lastTimeFloorNs: bigint;
  /** Ranges that contain the times of all existing rows: ascending, disjoint, up to the floor. If absent, rows may exist at any time. */
  readonly takenTimes?: readonly TimeRange[];
  /** Frees arrays that readers of a view may still use. */
  readonly reclaimer: Reclaimer;
  /** Is notified of every change of `memoryBytes`. */
  readonly memory?: SeriesAllowance;
}

/** Key records | seriesId u32 | keyBytes u32 | key |, without padding. Owned: call `release`. */
export interface KeyRecords {
  readonly ptr: number;
  readonly bytes: number;
  readonly count: number;
  release(): void;
}

const NO_KEYS: KeyRecords = { ptr: 0, bytes: 0, count: 0, release: () => {} };

/** The series dictionary of one table. Owned: call `release`. */
export class SeriesDictionary {
  /** Unique in the process. */
  readonly id: number;
  private readonly ptr: number;
  private readonly reclaimer: Reclaimer;
  private readonly memory: SeriesAllowance | undefined;
  /** The size last reported to `memory`. */
  private notedBytes = 0;
  private cached: DictionaryView | undefined;
  private released = false;

  constructor(
    private readonly kernel: Kernel,
    options: SeriesDictionaryOptions,
  ) {
    this.id = nextDictionaryId(kernel);
    this.reclaimer = options.reclaimer;
    this.memory = options.memory;
    this.ptr = kernel.call.seriesCreate(options.lastTimeFloorNs) >>> 0;
    this.setGaps(gapsBetween(options.takenTimes ?? []));
    this.noteMemory();
  }

  get seriesCount(): number {
    return this.kernel.call.seriesCount(this.ptr) >>> 0;
  }

  /** Kernel memory in use, without retired arrays that wait for their readers. */
  get memoryBytes(): number {
    return this.kernel.call.seriesBytes(this.ptr) >>> 0;
  }

  /** Total probe distance of series and tag values in the hash tables: fewer than two steps each on average. */
  get probeSteps(): number {
    return this.kernel.call.seriesProbeSteps(this.ptr);
  }

  /** Adds a tag column before a series has a value for it; new series add theirs implicitly. Idempotent. */
  addTagColumn(columnId: number): void {
    this.change(() => this.kernel.call.seriesAddTag(this.ptr, columnId));
  }

  /** Checks that there is memory for `count` new series with tags in these columns (u32 ids), not counting new tag values. @throws
   *  TsdbError overloaded, too_large */
  checkRoom(count: number, columnIdsPtr: number, columnCount: number): void {
    const { memory } = this;
    if (memory === undefined) return;
    const bytesOf = (ptr: number) => this.kernel.call.seriesGrowthMax(ptr, count, columnIdsPtr, columnCount);
    const bytes = bytesOf(this.ptr);
    if (bytes > memory.roomBytes) throw memory.refuse({ bytes, fromEmptyBytes: bytesOf(0) });
  }

  /** Resolves the line parser's new-series records to series ids (u32[count] at outPtr); columnIdsPtr: u32 catalog column id per parser
   *  tag column. @throws TsdbError overloaded, too_large: series before the failing one have been added, which is harmless */
  resolveRecords(recordsPtr: number, count: number, columnIdsPtr: number, outPtr: number): void {
    const { memory } = this;
    const bytesMax = memory === undefined ? Number.POSITIVE_INFINITY : this.memoryBytes + memory.roomBytes;
    const done = this.change(() => this.kernel.call.seriesResolve(this.ptr, recordsPtr, count, columnIdsPtr, outPtr, bytesMax));
    if (done === count || memory === undefined) return;
    // estimated from the average size of the existing series
    const bytes = (this.memoryBytes / Math.max(1, this.seriesCount)) * count;
    throw memory.refuse({ bytes, fromEmptyBytes: bytes });
  }

  /** The id of a canonical key; adds the series if it is new. */
  insertKey(keyPtr: number, keyBytes: number): number {
    return this.change(() => this.kernel.call.seriesInsert(this.ptr, keyPtr, keyBytes)) >>> 0;
  }

  /** Adds key records as `unseenKeys` returns them and writes | recordId u32 | id u32 | per record to outPtr (8 bytes for each 8 or more
   *  bytes of records, so `recordsBytes` bytes always suffice). Returns the number of records. */
  insertRecords(recordsPtr: number, recordsBytes: number, outPtr: number): number {
    return this.change(() => this.kernel.call.seriesInsertRecords(this.ptr, recordsPtr, recordsBytes, outPtr));
  }

  /** out[i] = map[ids[i]]: batch-local ids to ids of this dictionary. May run in place. */
  mapSeries(mapPtr: number, idsPtr: number, rowCount: number, outPtr: number): void {
    this.kernel.call.gather4(mapPtr, idsPtr, rowCount, outPtr);
  }

  /** Returns key records of those series of the rows that no earlier call with this `stamp` (≥ 1, for instance the number of the log
   *  segment) has returned. If the records do not reach the log, pass them to `forget`. @throws TsdbError overloaded, with nothing
   *  changed */
  unseenKeys(seriesPtr: number, rowCount: number, stamp: number): KeyRecords {
    assert(stamp > 0 && stamp <= 0xffffffff, `stamp ${stamp} is not a u32 above 0`);
    const { heap, call } = this.kernel;
    const idsBytes = Math.min(rowCount, this.seriesCount) * 4;
    const ids = heap.alloc(idsBytes);
    try {
      const count = call.seriesMarkUnseen(this.ptr, seriesPtr, rowCount, stamp, ids);
      if (count === 0) return NO_KEYS;
      const bytes = call.seriesKeyBytes(this.ptr, ids, count) >>> 0;
      let ptr: number;
      try {
        ptr = heap.alloc(bytes);
      } catch (error) {
        call.seriesUnmark(this.ptr, ids, count);
        throw error;
      }
      call.seriesWriteKeys(this.ptr, ids, count, ptr);
      return { ptr, bytes, count, release: () => heap.free(ptr, bytes) };
    } finally {
      heap.free(ids, idsBytes);
    }
  }

  /** Undoes `unseenKeys` for the series of `records`. Call it before the next call with another stamp; the caller keeps owning
   *  `records`. */
  forget(records: KeyRecords): void {
    const id = this.kernel.heap.alloc(4);
    const view = new DataView(this.kernel.memory.buffer);
    for (let at = records.ptr; at < records.ptr + records.bytes; at += 8 + view.getUint32(at + 4, true)) {
      this.kernel.u32[id / 4] = view.getUint32(at, true);
      this.kernel.call.seriesUnmark(this.ptr, id, 1);
    }
    this.kernel.heap.free(id, 4);
  }

  /** Records the times of a batch's rows and reports where they may duplicate earlier rows. @throws TsdbError overloaded, with nothing
   *  changed */
  noteTimes(seriesPtr: number, timePtr: number, rowCount: number): RowFacts {
    const { call } = this.kernel;
    const noted = this.change(() => call.seriesNoteTimes(this.ptr, seriesPtr, timePtr, rowCount));
    if (noted === (UNIQUE | ASCENDING)) return ALL_NEWER;
    if ((noted & UNIQUE) !== 0) return { unique: true, ascending: false };
    const overlaps = [{ minNs: call.notedOverlapMin(), maxNs: call.notedOverlapMax() }];
    return { unique: false, ascending: false, overlaps };
  }

  /** Adds those series 0 .. seriesCount-1 of `other` whose byte at usedPtr is not 0; writes their ids in this dictionary to outPtr (u32
   *  per series). */
  importSeries(other: DictionaryView, usedPtr: number, outPtr: number): void {
    const tags = other.tags.toSorted((a, b) => a.columnId - b.columnId);
    const bytes = tags.length * TAG_BYTES;
    const list = this.kernel.heap.alloc(bytes);
    try {
      const u32 = this.kernel.u32;
      tags.forEach((tag, i) => {
        u32.set([tag.columnId, tag.codesPtr, tag.valuesPtr, tag.valueCount], (list + i * TAG_BYTES) / 4);
      });
      this.change(() => this.kernel.call.seriesImport(this.ptr, list, tags.length, other.seriesCount, usedPtr, outPtr));
    } finally {
      this.kernel.heap.free(list, bytes);
    }
  }

  /** The current series; pointers stay valid for pins taken before the next call. Returns the same object while nothing has changed. */
  view(): DictionaryView {
    const { call, heap } = this.kernel;
    const seriesCount = this.seriesCount;
    const tagCount = call.seriesTagCount(this.ptr);
    if (this.cached?.seriesCount === seriesCount && this.cached.tags.length === tagCount) return this.cached;
    const list = heap.alloc(tagCount * TAG_BYTES);
    call.seriesTags(this.ptr, list);
    const u32 = this.kernel.u32;
    const tags: TagColumnView[] = [];
    for (let at = list / 4; at < (list + tagCount * TAG_BYTES) / 4; at += TAG_BYTES / 4) {
      tags.push({ columnId: u32[at]!, codesPtr: u32[at + 1]!, valuesPtr: u32[at + 2]!, valueCount: u32[at + 3]! });
    }
    heap.free(list, tagCount * TAG_BYTES);
    this.cached = { id: this.id, seriesCount, tags };
    return this.cached;
  }

  /** Frees everything after the last reader; the object must not be used afterwards. */
  release(): void {
    assert(!this.released, "series dictionary released twice");
    this.released = true;
    this.memory?.note(-this.notedBytes);
    this.reclaimer.defer(() => this.kernel.call.seriesFree(this.ptr));
  }

  private setGaps(gaps: readonly TimeRange[]): void {
    if (gaps.length === 0) return;
    const { kernel } = this;
    const bytes = gaps.length * GAP_BYTES;
    const ptr = kernel.heap.alloc(bytes);
    gaps.forEach(({ minNs, maxNs }, i) => {
      kernel.i64.set([minNs, maxNs], (ptr + i * GAP_BYTES) / 8);
    });
    kernel.call.seriesSetGaps(this.ptr, ptr, gaps.length);
    kernel.heap.free(ptr, bytes);
  }

  /** Runs a call that may add series and passes retired arrays to the reclaimer, even if the call failed halfway. */
  private change<T>(call: () => T): T {
    try {
      return call();
    } finally {
      this.retireMoved();
      this.noteMemory();
    }
  }

  private noteMemory(): void {
    if (this.memory === undefined) return;
    const bytes = this.memoryBytes;
    if (bytes !== this.notedBytes) this.memory.note(bytes - this.notedBytes);
    this.notedBytes = bytes;
  }

  private retireMoved(): void {
    const count = this.kernel.call.seriesRetiredCount(this.ptr);
    if (count === 0) return;
    this.cached = undefined;
    const list = (this.kernel.call.seriesTakeRetired(this.ptr) >>> 0) / 4;
    const blocks = this.kernel.u32.slice(list, list + count * 2);
    this.reclaimer.defer(() => {
      for (let i = 0; i < blocks.length; i += 2) this.kernel.heap.free(blocks[i]!, blocks[i + 1]!);
    });
  }
}

/** The maximal gaps before and between ranges; both ends are exclusive. */
function gapsBetween(ranges: readonly TimeRange[]): TimeRange[] {
  const gaps = ranges.map(({ minNs }, i) => ({ minNs: ranges[i - 1]?.maxNs ?? ALL_TIME.minNs, maxNs: minNs }));
  const length = ({ minNs, maxNs }: TimeRange) => maxNs - minNs;
  return gaps.sort((a, b) => (length(a) > length(b) ? -1 : 1)).slice(0, GAPS_MAX);
}
