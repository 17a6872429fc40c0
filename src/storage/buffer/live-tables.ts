// All tables with rows in memory: series dictionary, open buffer and, during a flush, sealed rows.

import type { Kernel } from "../../kernel/memory/kernel.ts";
import { SeriesDictionary } from "../../kernel/series/series-dictionary.ts";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import { ALL_TIME, type TimeRange } from "../../model/query/scan.ts";
import type { TableDef } from "../../model/rows/column.ts";
import type { Run } from "../../model/rows/run.ts";
import { union } from "../../model/rows/time-ranges.ts";
import type { Pins } from "./pins.ts";
import { SeriesMemory } from "./series-memory.ts";
import { type BufferBatch, type SealedBuffer, TableBuffer } from "./table-buffer.ts";

/** A table with rows in memory. */
export class LiveTable {
  /** Incremented when the table is renamed or dropped: references found by name must be looked up again. */
  nameChanges = 0;
  /** Arrival of the first body whose rows have not been applied to the table's caches; null: there is none, or the table has no caches. */
  unfedSinceMs: number | null = null;

  constructor(
    readonly tableId: number,
    readonly databaseId: number,
    readonly buffer: TableBuffer,
    /** True if new rows are applied to caches. */
    public isFed: boolean,
  ) {}

  /** Replaced by each eviction: series ids are valid only together with the dictionary they came from. */
  get dictionary(): SeriesDictionary {
    return this.buffer.dictionary;
  }
}

/** The rows of all tables up to log sequence `sequence`, set aside for a flush. */
export interface SealedRows {
  /** Every row logged up to this sequence is in `tables` or in a file. */
  readonly sequence: number;
  readonly tables: ReadonlyMap<number, SealedTable>;
}

export interface SealedTable {
  readonly databaseId: number;
  readonly buffer: SealedBuffer;
}

/** The tables of the server, on the main thread. */
export class LiveTables {
  /** Sum of the `nameChanges` of all tables. */
  nameChanges = 0;
  private readonly tables = new Map<number, LiveTable>();
  private sealed_: SealedRows | undefined;
  /** Dictionaries of dropped tables that still have sealed rows. */
  private readonly dropped: SeriesDictionary[] = [];
  private oldestRowMs_: number | undefined;
  private newestRowMs_: number | undefined;
  private openBytes_ = 0;
  private openRows_ = 0;
  private sealedBytes_ = 0;
  /** By table: times at which files from elsewhere are about to have rows. */
  private readonly expected = new Map<number, TimeRange[]>();
  private readonly arrivals = new Map<number, number>();
  /** Tables whose dictionaries do not know of them. */
  private readonly unnoted = new Set<number>();
  /** Ids of tables with caches. */
  private fed: ReadonlySet<number> = new Set();
  private onUnfed: (table: LiveTable) => void = () => {};

  constructor(
    private readonly kernel: Kernel,
    private readonly pins: Pins,
    /** A few ascending, disjoint ranges that cover all times of the table in files: before its series are known, only rows outside them
     *  are certainly no duplicates. */
    private readonly durableTimes: (tableId: number) => readonly TimeRange[],
    readonly seriesMemory: SeriesMemory = new SeriesMemory(LIMITS.seriesBytesDefault),
  ) {}

  /** Number of unsealed rows. */
  get openRows(): number {
    return this.openRows_;
  }

  /** Bytes of all rows, sealed or not. */
  get bytes(): number {
    return this.openBytes_ + this.sealedBytes_;
  }

  /** Bytes of unsealed rows. */
  get openBytes(): number {
    return this.openBytes_;
  }

  /** Makes rows visible to later statements. `nowMs`: their arrival; kept for the oldest unsealed row. */
  append(table: LiveTable, batch: BufferBatch, position: { sequence: number; nowMs: number }): void {
    const { buffer } = table;
    if (!buffer.appendAlike(batch, position.sequence)) {
      const before = buffer.bytes;
      buffer.append(batch, position.sequence);
      this.openBytes_ += buffer.bytes - before;
    }
    this.openRows_ += batch.rowCount;
    this.oldestRowMs_ ??= position.nowMs;
    this.newestRowMs_ = position.nowMs;
    if (table.isFed && table.unfedSinceMs === null) {
      table.unfedSinceMs = position.nowMs;
      this.onUnfed(table);
    }
  }

  /** Calls `onUnfed` when one of these tables gets rows that its caches have not seen: for the first body, and again after its
   *  `unfedSinceMs` was set to null. */
  feedCaches(tableIds: ReadonlySet<number>, onUnfed: (table: LiveTable) => void): void {
    this.fed = tableIds;
    this.onUnfed = onUnfed;
    for (const table of this.tables.values()) {
      table.isFed = tableIds.has(table.tableId);
      if (!table.isFed) table.unfedSinceMs = null;
    }
  }

  get sealed(): SealedRows | undefined {
    return this.sealed_;
  }

  /** Arrival of the oldest unsealed row, in milliseconds of the clock passed to `append`. */
  get oldestRowMs(): number | undefined {
    return this.oldestRowMs_;
  }

  /** Arrival of the newest row, in the same clock; undefined if all rows are sealed. */
  get newestRowMs(): number | undefined {
    return this.oldestRowMs_ === undefined ? undefined : this.newestRowMs_;
  }

  get seriesCount(): number {
    let count = 0;
    for (const table of this.tables.values()) count += table.dictionary.seriesCount;
    return count;
  }

  find(tableId: number): LiveTable | undefined {
    return this.tables.get(tableId);
  }

  /** The table with the most rows that no flush has begun to write; undefined: there are none. */
  get largest(): LiveTable | undefined {
    let found: LiveTable | undefined;
    for (const table of this.tables.values()) {
      if (table.buffer.rowCount > (found?.buffer.rowCount ?? 0)) found = table;
    }
    return found;
  }

  ensure(table: TableDef): LiveTable {
    let live = this.tables.get(table.id);
    if (live === undefined) {
      const buffer = new TableBuffer(this.kernel, this.newDictionary(table.id), this.pins);
      live = new LiveTable(table.id, table.databaseId, buffer, this.fed.has(table.id));
      this.tables.set(table.id, live);
    }
    return live;
  }

  /** Call after the table, or its database, was renamed. */
  renamed(tableId: number): void {
    const live = this.tables.get(tableId);
    if (live === undefined) return;
    live.nameChanges += 1;
    this.nameChanges += 1;
  }

  /** Removes a dropped table; its rows are freed after the last reader. Sealed rows are removed by their flush. */
  drop(tableId: number): void {
    const live = this.tables.get(tableId);
    if (live === undefined) return;
    this.renamed(tableId);
    this.tables.delete(tableId);
    this.openBytes_ -= live.buffer.bytes;
    this.openRows_ -= live.buffer.rowCount;
    if (this.openRows_ === 0) this.oldestRowMs_ = undefined;
    const { dictionary } = live;
    live.buffer.dropAll();
    if (this.sealed_?.tables.has(tableId)) this.dropped.push(dictionary);
    else dictionary.release();
  }

  /** Runs of a table in log order. */
  runs(tableId: number): Run[] {
    const sealed = this.sealed_?.tables.get(tableId)?.buffer.runs() ?? [];
    return [...sealed, ...(this.tables.get(tableId)?.buffer.runs() ?? [])];
  }

  /** Files from elsewhere are about to have rows of these tables in `range`: from the next `seal` on, later rows there count as possible
   *  duplicates. Call the result when the manifest has the files, or will not have them. */
  expectRows(tableIds: readonly number[], range: TimeRange): () => void {
    for (const tableId of tableIds) {
      this.expected.set(tableId, [...(this.expected.get(tableId) ?? []), range]);
      if (this.tables.has(tableId)) this.unnoted.add(tableId);
    }
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      for (const tableId of tableIds) {
        this.arrivals.set(tableId, this.arrivalsOf(tableId) + 1);
        const left = (this.expected.get(tableId) ?? []).filter((other) => other !== range);
        if (left.length === 0) this.expected.delete(tableId);
        else this.expected.set(tableId, left);
      }
    };
  }

  /** Number of times at which rows from elsewhere came, or did not: their sequences may be lower than those of rows that came before. */
  arrivalsOf(tableId: number): number {
    return this.arrivals.get(tableId) ?? 0;
  }

  /** Seals all rows up to log sequence `sequence` for a flush. Dictionaries beyond the memory limit are evicted: later rows have other
   *  series ids, so they must be logged to a new segment. */
  seal(sequence: number): SealedRows {
    const tables = new Map<number, SealedTable>();
    const fresh = this.replaceDictionaries();
    for (const { tableId, databaseId, buffer } of this.tables.values()) {
      if (buffer.rowCount > 0) tables.set(tableId, { databaseId, buffer: buffer.seal(fresh.get(tableId)) });
      else if (fresh.has(tableId)) buffer.seal(fresh.get(tableId)).release();
    }
    this.sealed_ = { sequence, tables };
    this.sealedBytes_ = this.openBytes_;
    this.openBytes_ = 0;
    this.openRows_ = 0;
    this.oldestRowMs_ = undefined;
    return this.sealed_;
  }

  /** Creates empty dictionaries for the tables whose own are evicted. */
  private replaceDictionaries(): Map<number, SeriesDictionary> {
    const { seriesMemory } = this;
    const fresh = new Map<number, SeriesDictionary>();
    for (const tableId of this.unnoted) if (this.tables.has(tableId)) fresh.set(tableId, this.freshDictionary(tableId));
    this.unnoted.clear();
    if (!seriesMemory.isDue) return fresh;
    const candidates = Array.from(this.tables.values(), ({ tableId, dictionary, buffer }) => {
      return { tableId, bytes: dictionary.memoryBytes, isIdle: buffer.rowCount === 0, lastSequence: buffer.lastSequence };
    });
    try {
      for (const tableId of seriesMemory.choose(candidates)) {
        if (fresh.has(tableId)) continue;
        fresh.set(tableId, this.freshDictionary(tableId));
        seriesMemory.evictions++;
      }
    } catch (error) {
      // no memory even for empty ones: flushing the rows frees some, and the next flush evicts the others
      if (!(error instanceof TsdbError && error.kind === "overloaded")) throw error;
    }
    return fresh;
  }

  /** For a table whose rows stay in memory until they are flushed. */
  private freshDictionary(tableId: number): SeriesDictionary {
    const { minTimeNs, maxTimeNs } = this.tables.get(tableId)!.buffer.span;
    return this.newDictionary(tableId, minTimeNs > maxTimeNs ? [] : [{ minNs: minTimeNs, maxNs: maxTimeNs }]);
  }

  /** @param buffered time ranges of the table's rows that are in no file */
  private newDictionary(tableId: number, buffered: readonly TimeRange[] = []): SeriesDictionary {
    const takenTimes = union([...this.durableTimes(tableId), ...buffered, ...(this.expected.get(tableId) ?? [])]);
    const lastTimeFloorNs = takenTimes.at(-1)?.maxNs ?? ALL_TIME.minNs;
    return new SeriesDictionary(this.kernel, { lastTimeFloorNs, takenTimes, reclaimer: this.pins, memory: this.seriesMemory });
  }

  /** Frees everything; no row may be read or written afterwards. */
  release(): void {
    this.dropSealed();
    for (const { buffer, dictionary } of this.tables.values()) {
      buffer.dropAll();
      dictionary.release();
    }
    this.tables.clear();
    this.openBytes_ = 0;
    this.openRows_ = 0;
    this.oldestRowMs_ = undefined;
  }

  /** Frees the sealed rows after their last reader. */
  dropSealed(): void {
    if (this.sealed_ === undefined) return;
    for (const table of this.sealed_.tables.values()) table.buffer.release();
    for (const dictionary of this.dropped.splice(0)) dictionary.release();
    this.sealed_ = undefined;
    this.sealedBytes_ = 0;
  }
}
