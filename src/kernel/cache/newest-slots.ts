// The newest rows of each key of a last-value cache: owns the memory that assembly/cache/newest.ts works on.

import { I64_MIN } from "../../model/rows/int64.ts";
import type { DictionaryView } from "../../model/rows/run.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import type { SeriesMaps } from "../series/series-maps.ts";
import type { KeptColumns } from "./kept-columns.ts";
import type { CacheKeys, RowsOfRun } from "./keys.ts";
import { type CacheMemory, GrowingBlock } from "./memory.ts";

// Slots of assembly/cache/newest.ts: | minEntered i64 | maxEntered i64 | order u64 | perKey u32 | times | orders | series | entered
//   | claims | floors | rows | places | count | u32 each
const STRUCT_BYTES = 64;
const PER_KEY_WORD = 6;
const ARRAYS_WORD = 7;
const ROWS_WORD = 13;
const COUNT_WORD = 15;
const EMPTY = I64_MIN;

export interface NewestRowsOfRun extends RowsOfRun {
  /** True if no other row, new or cached, has the series and time of one of these rows. */
  readonly isNew: boolean;
  /** A row's arrival time is its own time, clamped to these limits. Nanoseconds since 1970. */
  readonly leastNs: bigint;
  readonly mostNs: bigint;
}

export interface SlotChoice {
  /** In the order of the answer. */
  readonly keysPtr: number;
  readonly keyCount: number;
  readonly minEnteredNs: bigint;
  readonly minTimeNs: bigint;
}

/** The slots of one last-value cache. Owned: call `release`. */
export class NewestSlots {
  private readonly ptr: number;
  private readonly arrays: readonly GrowingBlock[];
  private readonly times: GrowingBlock;
  private readonly series: GrowingBlock;
  private readonly floors: GrowingBlock;
  private runs = 0n;

  constructor(
    private readonly kernel: Kernel,
    private readonly memory: CacheMemory,
    private readonly perKey: number,
  ) {
    const block = (bytes: number, empty = 0n) => new GrowingBlock(kernel, memory, bytes, empty);
    this.ptr = memory.allocZeroed(STRUCT_BYTES);
    this.times = block(8);
    this.series = block(4);
    this.floors = block(8, EMPTY);
    const orders = block(8);
    const entered = block(8, EMPTY);
    const claims = block(4);
    this.arrays = [this.times, orders, this.series, entered, claims];
    kernel.u32[this.ptr / 4 + PER_KEY_WORD] = perKey;
  }

  get timesPtr(): number {
    return this.times.ptr;
  }

  /** u32 per slot: a number of the `series` given to `add`. */
  get seriesPtr(): number {
    return this.series.ptr;
  }

  /** Stores the rows that are among the newest of their key. @throws NoRoomError, TsdbError overloaded; the object must be released then */
  add(rows: NewestRowsOfRun, { keys, series, columns }: { keys: CacheKeys; series: SeriesMaps; columns: KeptColumns }): void {
    const { kernel, ptr } = this;
    const { run, first, end } = rows;
    const scratch = new Blocks(kernel);
    try {
      const ofRows = keys.of(rows, scratch);
      this.reserve(keys.count, columns);
      kernel.i64.set([rows.leastNs, rows.mostNs, ++this.runs << 32n], ptr / 8);
      const rowsPtr = scratch.alloc((end - first) * 4);
      const placesPtr = scratch.alloc((end - first) * 4);
      kernel.u32.set([rowsPtr, placesPtr, 0], ptr / 4 + ROWS_WORD);
      const learn = (from: number, to: number) => {
        keys.learn({ run, first: from, end: to });
        this.reserve(keys.count, columns);
      };
      if (rows.isNew) {
        for (let from = end; from > first; ) {
          from = kernel.call.slotsClaim(ptr, ofRows.idsPtr, run.timePtr, ofRows.mapPtr, first, from);
          if (from > first) learn(first, from);
        }
        kernel.call.slotsClaimed(ptr);
        const count = this.count;
        this.setSeries(rows, rowsPtr, series);
        columns.clear(placesPtr, count);
      } else {
        series.learn(run.dictionary, { seriesPtr: run.seriesPtr, rowsPtr: 0, first, end });
        const seriesMap = series.mapOf(run.dictionary);
        for (let from = first; from < end; ) {
          from = kernel.call.slotsMerge(ptr, ofRows.idsPtr, run.seriesPtr, run.timePtr, ofRows.mapPtr, seriesMap, from, end);
          if (from < end) learn(from, end);
        }
        const claimedPtr = scratch.alloc(Math.max(1, this.count) * 4);
        columns.clear(claimedPtr, kernel.call.slotsMerged(ptr, claimedPtr));
      }
      if (this.count > 0) columns.put(run.columns, run.rowCount, { rowsPtr, placesPtr, count: this.count }, keys.count * this.perKey);
    } finally {
      scratch.release();
    }
  }

  /** True if a row of one of the series with a time up to `maxNs` could be among the newest of its key. @throws NoRoomError, TsdbError
   *  overloaded */
  canHold(dictionary: DictionaryView, maxNs: bigint, { keys, columns }: { keys: CacheKeys; columns: KeptColumns }): boolean {
    keys.tags.learnAll(dictionary);
    this.reserve(keys.count, columns);
    return this.kernel.call.slotsCanClaim(this.ptr, keys.tags.mapOf(dictionary), dictionary.seriesCount, maxNs) !== 0;
  }

  /** Removes rows that arrived before `minEnteredNs`. Returns how many rows and keys remain and the earliest arrival time among them. */
  expire(keyCount: number, minEnteredNs: bigint): { rowCount: number; keyCount: number; leastNs: bigint } {
    const { call } = this.kernel;
    const rowCount = call.slotsExpire(this.ptr, keyCount, minEnteredNs);
    return { rowCount, keyCount: call.slotsLiveKeys(), leastNs: call.slotsLeastEntered() };
  }

  /** Writes the slots (u32 each) of the chosen keys to `targetPtr`, newest first within a key. Returns how many, and the least arrival
   *  time and row time among them. */
  list(
    { keysPtr, keyCount, minEnteredNs, minTimeNs }: SlotChoice,
    targetPtr: number,
  ): { count: number; leastNs: bigint; minTimeNs: bigint } {
    const { call } = this.kernel;
    const count = call.slotsOrdered(this.ptr, keysPtr, keyCount, minEnteredNs, minTimeNs, targetPtr);
    return { count, leastNs: call.slotsOrderedEntered(), minTimeNs: call.slotsOrderedTime() };
  }

  /** Writes a byte per key: 1 if it has rows, else 0. */
  markKeys(keyCount: number, targetPtr: number): void {
    this.kernel.call.slotsUsed(this.ptr, keyCount, targetPtr);
  }

  /** Keeps the slots of the listed keys (ascending) alone; `slotsPtr` lists these slots. */
  only(keysPtr: number, keyCount: number, slotsPtr: number): void {
    const { call } = this.kernel;
    const slotCount = keyCount * this.perKey;
    const [times, orders, series, entered] = this.arrays;
    for (const block of [times!, orders!, entered!]) call.gather8(block.ptr, slotsPtr, slotCount, block.ptr);
    call.gather4(series!.ptr, slotsPtr, slotCount, series!.ptr);
    call.gather8(this.floors.ptr, keysPtr, keyCount, this.floors.ptr);
    entered!.cut(slotCount);
    this.floors.cut(keyCount);
  }

  /** Replaces each slot's series by map[series]. */
  renumber(mapPtr: number, slotCount: number): void {
    this.kernel.call.gather4(mapPtr, this.series.ptr, slotCount, this.series.ptr);
  }

  /** Frees everything; the object must not be used afterwards. */
  release(): void {
    for (const block of [...this.arrays, this.floors]) block.release();
    this.memory.free(this.ptr, STRUCT_BYTES);
  }

  private get count(): number {
    return this.kernel.u32[this.ptr / 4 + COUNT_WORD]!;
  }

  private reserve(keyCount: number, columns: KeptColumns): void {
    const { kernel, ptr } = this;
    const slotCount = keyCount * this.perKey;
    for (const block of this.arrays) block.reserve(slotCount);
    this.floors.reserve(keyCount);
    columns.reserve(slotCount);
    kernel.u32.set(
      [...this.arrays, this.floors].map((block) => block.ptr),
      ptr / 4 + ARRAYS_WORD,
    );
  }

  private setSeries({ run }: RowsOfRun, rowsPtr: number, series: SeriesMaps): void {
    const { kernel, ptr, count } = this;
    for (let from = 0; from < count; ) {
      from = kernel.call.slotsSetSeries(ptr, run.seriesPtr, series.mapOf(run.dictionary), from);
      if (from < count) series.learn(run.dictionary, { seriesPtr: run.seriesPtr, rowsPtr, first: from, end: count });
    }
  }
}
