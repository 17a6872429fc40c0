// The state of a last-value cache: the newest rows of each key, with their series and values.

import { KeptColumns } from "../kernel/cache/kept-columns.ts";
import { KeyOrder } from "../kernel/cache/key-order.ts";
import { CacheKeys } from "../kernel/cache/keys.ts";
import { type NewestRowsOfRun, NewestSlots } from "../kernel/cache/newest-slots.ts";
import { Blocks } from "../kernel/memory/blocks.ts";
import { timeRange } from "../kernel/scan/rows.ts";
import { SeriesMaps } from "../kernel/series/series-maps.ts";
import { cacheColumns } from "../model/cache-table.ts";
import type { LastCacheDef } from "../model/caches.ts";
import { type ColumnDef, ColumnType, type TableDef } from "../model/rows/column.ts";
import { I64_MAX } from "../model/rows/int64.ts";
import type { DictionaryView } from "../model/rows/run.ts";
import type { TableSnapshot } from "../scan/snapshot.ts";
import type { CacheAnswer, CacheState, StateParts, Visible } from "./cache-state.ts";
import { NEVER_NS } from "./cache-state.ts";

/** Fewer unused keys or series are not removed. */
const UNUSED_MIN = 1024;
const NONE_NS = I64_MAX;

/** The rows of one last-value cache. Owned: call `release`. */
export class LastState implements CacheState {
  fields: readonly ColumnDef[] = [];
  private readonly keyColumns: readonly ColumnDef[];
  private keys: CacheKeys;
  private series: SeriesMaps;
  private readonly slots: NewestSlots;
  private readonly columns: KeptColumns;
  private readonly order: KeyOrder;
  /** Lower bound of the arrival times. */
  private leastNs = NONE_NS;

  /** @throws NoRoomError, TsdbError overloaded */
  constructor(
    private readonly parts: StateParts,
    private readonly cache: LastCacheDef,
    table: TableDef,
  ) {
    this.keyColumns = cacheColumns(cache, table).filter(({ id }) => cache.keyColumnIds.includes(id));
    this.keys = new CacheKeys({ ...parts, columns: this.keyColumns, skipsNulls: true });
    this.order = new KeyOrder(parts.kernel, parts.memory, this.keyColumns);
    const owned: { release(): void }[] = [this.keys];
    try {
      this.series = this.newSeries();
      owned.push(this.series);
      this.slots = new NewestSlots(parts.kernel, parts.memory, cache.count);
    } catch (error) {
      for (const each of owned) each.release();
      throw error;
    }
    this.columns = new KeptColumns(parts);
    this.fields = this.fieldsOf(table);
  }

  get wantsNewestOnly(): boolean {
    return this.cache.count === 1 && this.hasTagKeys;
  }

  get hasTagKeys(): boolean {
    return this.keyColumns.every(({ type }) => type === ColumnType.tag);
  }

  setSnapshot({ table }: TableSnapshot): void {
    this.fields = this.fieldsOf(table);
  }

  add(rows: NewestRowsOfRun): void {
    const { keys, series, columns } = this;
    const wanted = rows.run.columns.filter(({ columnId }) => this.fields.some(({ id }) => id === columnId));
    this.slots.add({ ...rows, run: { ...rows.run, columns: wanted } }, { keys, series, columns });
    if (rows.leastNs < this.leastNs) this.leastNs = rows.leastNs;
  }

  /** False if no row of these series with a time up to `maxNs` would be kept. For keys of tags only. */
  canHold(dictionary: DictionaryView, maxNs: bigint): boolean {
    return this.slots.canHold(dictionary, maxNs, { keys: this.keys, columns: this.columns });
  }

  keepMaps(dictionaryIds: ReadonlySet<number>): void {
    this.keys.tags.keepMaps(dictionaryIds);
    this.series.keepMaps(dictionaryIds);
  }

  expire(minEnteredNs: bigint): void {
    if (this.leastNs >= minEnteredNs && this.series.count < this.keys.count * this.cache.count * 2 + UNUSED_MIN) return;
    const left = this.slots.expire(this.keys.count, minEnteredNs);
    this.leastNs = left.leastNs;
    if (this.keys.count > left.keyCount * 2 + UNUSED_MIN) this.dropKeys();
    if (this.series.count > left.rowCount * 2 + UNUSED_MIN) this.dropSeries();
  }

  answer({ minEnteredNs, minTimeNs }: Visible): CacheAnswer {
    const { kernel, memory } = this.parts;
    const blocks = new Blocks(kernel);
    try {
      const keyCount = this.keys.count;
      const keysPtr = this.order.of(this.keys);
      const listPtr = blocks.alloc(keyCount * this.cache.count * 4);
      const list = this.slots.list({ keysPtr, keyCount, minEnteredNs, minTimeNs }, listPtr);
      const { count } = list;
      const timePtr = blocks.alloc(count * 8);
      const seriesPtr = blocks.alloc(count * 4);
      kernel.call.gather8(this.slots.timesPtr, listPtr, count, timePtr);
      kernel.call.gather4(this.slots.seriesPtr, listPtr, count, seriesPtr);
      const columns = this.columns.gather(this.fields, { listPtr, count }, blocks);
      const { minNs, maxNs } = count === 0 ? { minNs: 0n, maxNs: 0n } : timeRange(kernel, timePtr, count);
      const rows = { rowCount: count, seriesPtr, timePtr, columns, dictionary: this.series.view() };
      const { bytes } = blocks;
      memory.take(bytes);
      return {
        run: { ...rows, sorted: false, unique: true, minTimeNs: minNs, maxTimeNs: maxNs, seqMin: 1, seqMax: 1 },
        bytes,
        leastEnteredNs: list.leastNs,
        leastTimeNs: list.minTimeNs,
        release: () => {
          blocks.release();
          memory.note(-bytes);
        },
      };
    } catch (error) {
      blocks.release();
      throw error;
    }
  }

  count(): { keys: number; rows: number } {
    const { rowCount, keyCount } = this.slots.expire(this.keys.count, NEVER_NS);
    return { keys: keyCount, rows: rowCount };
  }

  release(): void {
    this.order.forget();
    this.columns.release();
    this.slots.release();
    this.series.release();
    this.keys.release();
  }

  private fieldsOf(table: TableDef): ColumnDef[] {
    return cacheColumns(this.cache, table).filter(({ type }) => type !== ColumnType.tag && type !== ColumnType.time);
  }

  private newSeries(): SeriesMaps {
    return new SeriesMaps({ ...this.parts, tagIds: null, skipsWithout: false });
  }

  /** Renumbers the keys that have rows and removes the others. */
  private dropKeys(): void {
    const { kernel } = this.parts;
    const scratch = new Blocks(kernel);
    try {
      const before = this.keys.count;
      const marksPtr = scratch.alloc(before);
      this.slots.markKeys(before, marksPtr);
      const marks = kernel.u8.slice(marksPtr, marksPtr + before);
      const kept: number[] = [];
      marks.forEach((mark, key) => {
        if (mark === 1) kept.push(key);
      });
      const perKey = this.cache.count;
      const keysPtr = scratch.alloc(kept.length * 4);
      const slotsPtr = scratch.alloc(kept.length * perKey * 4);
      kernel.u32.set(kept, keysPtr / 4);
      kept.forEach((key, i) => {
        for (let k = 0; k < perKey; k++) kernel.u32[slotsPtr / 4 + i * perKey + k] = key * perKey + k;
      });
      const keys = this.keys.only(keysPtr, kept.length);
      this.keys.release();
      this.keys = keys;
      this.slots.only(keysPtr, kept.length, slotsPtr);
      this.columns.only(slotsPtr, kept.length * perKey);
      this.order.forget();
    } finally {
      scratch.release();
    }
  }

  /** Renumbers the series that have rows and removes the others. */
  private dropSeries(): void {
    const { kernel } = this.parts;
    const keyCount = this.keys.count;
    const scratch = new Blocks(kernel);
    try {
      const keysPtr = this.order.of(this.keys);
      const listPtr = scratch.alloc(keyCount * this.cache.count * 4);
      const { count } = this.slots.list({ keysPtr, keyCount, minEnteredNs: NEVER_NS, minTimeNs: NEVER_NS }, listPtr);
      const seriesPtr = scratch.alloc(count * 4);
      kernel.call.gather4(this.slots.seriesPtr, listPtr, count, seriesPtr);
      const series = this.newSeries();
      try {
        const mapPtr = series.adopt(this.series.view(), { seriesPtr, count }, scratch);
        this.slots.renumber(mapPtr, keyCount * this.cache.count);
      } catch (error) {
        series.release();
        throw error;
      }
      this.series.release();
      this.series = series;
    } finally {
      scratch.release();
    }
  }
}
