// Every table that has rows in memory: its series dictionary, its open buffer and, while a flush runs, its sealed rows.

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

export class LiveTable {
  /** Grows when the table gets another name or goes: who found it by name has to look again. */
  nameChanges = 0;
  /** Arrival of the first body whose rows the table's caches have not been fed; null: there is none, or the table has no caches. */
  unfedSinceMs: number | null = null;

  constructor(
    readonly tableId: number,
    readonly databaseId: number,
    readonly buffer: TableBuffer,
    /** Whether caches are to be fed what comes. */
    public isFed: boolean,
  ) {}

  /** Another one after each eviction: who keeps series ids keeps the dictionary with them, and compares. */
  get dictionary(): SeriesDictionary {
    return this.buffer.dictionary;
  }
}

/** The rows of all tables at log sequence `sequence`, out of the way of new ones. */
export interface SealedRows {
  /** Every row logged up to here is in `tables` or in a file. */
  readonly sequence: number;
  readonly tables: ReadonlyMap<number, SealedTable>;
}

export interface SealedTable {
  readonly databaseId: number;
  readonly buffer: SealedBuffer;
}

export class LiveTables {
  /** Grows with the `nameChanges` of any table. */
  nameChanges = 0;
  private readonly tables = new Map<number, LiveTable>();
  private sealed_: SealedRows | undefined;
  /** Of tables that are gone but for sealed rows. */
  private readonly dropped: SeriesDictionary[] = [];
  private oldestRowMs_: number | undefined;
  private openBytes_ = 0;
  private openRows_ = 0;
  private sealedBytes_ = 0;
  /** Ids of tables with caches. */
  private fed: ReadonlySet<number> = new Set();
  private onUnfed: (table: LiveTable) => void = () => {};

  constructor(
    private readonly kernel: Kernel,
    private readonly pins: Pins,
    /** Few ranges that hold all times of the table in files, ascending and apart: without knowledge of its series, only rows outside are
     *  certainly not duplicates. */
    private readonly durableTimes: (tableId: number) => readonly TimeRange[],
    readonly seriesMemory: SeriesMemory = new SeriesMemory(LIMITS.seriesBytesDefault),
  ) {}

  /** Rows not sealed. */
  get openRows(): number {
    return this.openRows_;
  }

  /** Bytes of rows, sealed or not. */
  get bytes(): number {
    return this.openBytes_ + this.sealedBytes_;
  }

  /** Bytes of rows that are not sealed. */
  get openBytes(): number {
    return this.openBytes_;
  }

  /** Rows become visible to the statements that follow. `nowMs` dates the oldest unsealed row. */
  append(table: LiveTable, batch: BufferBatch, position: { sequence: number; nowMs: number }): void {
    const { buffer } = table;
    if (!buffer.appendAlike(batch, position.sequence)) {
      const before = buffer.bytes;
      buffer.append(batch, position.sequence);
      this.openBytes_ += buffer.bytes - before;
    }
    this.openRows_ += batch.rowCount;
    this.oldestRowMs_ ??= position.nowMs;
    if (table.isFed && table.unfedSinceMs === null) {
      table.unfedSinceMs = position.nowMs;
      this.onUnfed(table);
    }
  }

  /** From now on `onUnfed` is told when one of these tables has rows that its caches have not: with the first body, and then with the first
   *  after its `unfedSinceMs` was set to null. */
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

  /** When the oldest unsealed row came in, in milliseconds of the clock that `append` was told. */
  get oldestRowMs(): number | undefined {
    return this.oldestRowMs_;
  }

  get seriesCount(): number {
    let count = 0;
    for (const table of this.tables.values()) count += table.dictionary.seriesCount;
    return count;
  }

  find(tableId: number): LiveTable | undefined {
    return this.tables.get(tableId);
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

  /** The table, or its database, is called otherwise from now on. */
  renamed(tableId: number): void {
    const live = this.tables.get(tableId);
    if (live === undefined) return;
    live.nameChanges += 1;
    this.nameChanges += 1;
  }

  /** Forgets a table that is gone from the catalog; its rows are freed once no statement reads them. What is sealed goes with its flush. */
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

  /** Sets all rows up to log sequence `sequence` aside for a flush. Dictionaries for which there is no more room are evicted: rows that
   *  follow have other series ids, so they must go to another segment of the log. */
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

  /** Empty dictionaries for the tables whose own are evicted. */
  private replaceDictionaries(): Map<number, SeriesDictionary> {
    const { seriesMemory } = this;
    const fresh = new Map<number, SeriesDictionary>();
    if (!seriesMemory.isDue) return fresh;
    const candidates = Array.from(this.tables.values(), ({ tableId, dictionary, buffer }) => {
      return { tableId, bytes: dictionary.memoryBytes, isIdle: buffer.rowCount === 0, lastSequence: buffer.lastSequence };
    });
    try {
      for (const tableId of seriesMemory.choose(candidates)) {
        const { minTimeNs, maxTimeNs } = this.tables.get(tableId)!.buffer.span;
        fresh.set(tableId, this.newDictionary(tableId, minTimeNs > maxTimeNs ? [] : [{ minNs: minTimeNs, maxNs: maxTimeNs }]));
        seriesMemory.evictions++;
      }
    } catch (error) {
      // not even room for empty ones: the rows that are flushed now make some, and the next flush evicts the others
      if (!(error instanceof TsdbError && error.kind === "overloaded")) throw error;
    }
    return fresh;
  }

  /** `buffered`: times of the table's rows that are in no file. */
  private newDictionary(tableId: number, buffered: readonly TimeRange[] = []): SeriesDictionary {
    const takenTimes = union([...this.durableTimes(tableId), ...buffered]);
    const lastTimeFloorNs = takenTimes.at(-1)?.maxNs ?? ALL_TIME.minNs;
    return new SeriesDictionary(this.kernel, { lastTimeFloorNs, takenTimes, reclaimer: this.pins, memory: this.seriesMemory });
  }

  /** Frees everything: no row is read or written any more. */
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

  /** Frees the sealed rows once no statement reads them. */
  dropSealed(): void {
    if (this.sealed_ === undefined) return;
    for (const table of this.sealed_.tables.values()) table.buffer.release();
    for (const dictionary of this.dropped.splice(0)) dictionary.release();
    this.sealed_ = undefined;
    this.sealedBytes_ = 0;
  }
}
