// Encodes snapshots for a worker. Most of a snapshot equals what the worker was sent before: each list is sent as indexes into the previous
// list plus the new elements. Both sides remember the last snapshot of each table, in step because messages are ordered.

import type { TimeRange } from "../../model/query/scan.ts";
import type { TableDef } from "../../model/rows/column.ts";
import type { ColumnRun, DictionaryView, Run } from "../../model/rows/run.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import type { BlockSnapshot, DatabaseSnapshot, TableSnapshot } from "../../scan/snapshot.ts";
import type { FileIndexRef } from "../../storage/file-index/list.ts";
import { type CatalogPart, CatalogReceiver, CatalogSender, type WireCatalog } from "./catalog-wire.ts";

/** Null: the list is unchanged. A negative index refers to `added[-1 - index]`, others to the previous list. */
export type WireList<T> = { readonly places: Int32Array; readonly added: readonly T[] } | null;

export interface WireTable {
  readonly tableId: number;
  readonly table: WireList<TableDef>;
  readonly retentionMinNs: bigint;
  readonly sequence: number | undefined;
  readonly lastDeletion: number | undefined;
  readonly tombstones: readonly Tombstone[];
  /** Null: unchanged. */
  readonly runs: WireRuns | null;
  readonly blocks: WireList<BlockSnapshot>;
  readonly indexes: WireList<FileIndexRef>;
}

export interface WireRuns {
  readonly dictionaries: WireList<DictionaryView>;
  /** Columns of each run. */
  readonly columns: WireList<readonly ColumnRun[]>;
  /** RUN_NUMBERS values per run. */
  readonly numbers: Float64Array;
  /** Minimum and maximum time of each run. */
  readonly times: BigInt64Array;
  /** By run index, where present. */
  readonly overlaps: ReadonlyMap<number, readonly TimeRange[]>;
}

/** Some tables of a snapshot. */
export interface WireTables {
  readonly tables: readonly WireTable[];
  /** Tables that the sender forgets: their next list is sent completely. */
  readonly forgotten: readonly number[];
}

export interface WireSnapshot extends WireTables {
  /** Null: the snapshot's list of all tables is empty. */
  readonly catalog: WireCatalog | null;
  /** Parts that are sent completely each time. */
  readonly rest: Omit<DatabaseSnapshot, "tables" | "catalog">;
}

// | rowCount | seriesPtr | timePtr | seqMin | seqMax | flags: 1 sorted, 2 unique, 4 ascending | place in dictionaries | segment, 0 = open |
const RUN_NUMBERS = 8;
const SORTED = 1;
const UNIQUE = 2;
const ASCENDING = 4;

/** Tables remembered: the most recently used. */
const TABLES_MAX = 1000;

/** One per worker, on the main thread. */
export class SnapshotSender {
  private readonly tables = new Map<number, TableSender>();
  private readonly catalog = new CatalogSender();

  constructor(private readonly tablesMax = TABLES_MAX) {}

  /** The part of the snapshot's table list to be sent before the snapshot (CatalogSender.ahead). */
  ahead({ catalog }: DatabaseSnapshot, from: number): CatalogPart | null {
    return this.catalog.ahead(catalog, from);
  }

  /** Every result must be sent, in order. */
  encode({ tables, catalog, ...rest }: DatabaseSnapshot): WireSnapshot {
    return { ...this.encodeTables(tables), catalog: catalog.length === 0 ? null : this.catalog.encode(catalog), rest };
  }

  /** Some tables of a snapshot whose others are sent in other messages, between which those of other snapshots may be. Every result must be
   *  sent, in order. */
  encodeTables(tables: readonly TableSnapshot[]): WireTables {
    const encoded = tables.map((table) => this.sender(table.table.id).encode(table));
    const forgotten: number[] = [];
    for (const tableId of this.tables.keys()) {
      if (this.tables.size <= this.tablesMax) break;
      this.tables.delete(tableId);
      forgotten.push(tableId);
    }
    return { tables: encoded, forgotten };
  }

  private sender(tableId: number): TableSender {
    const sender = this.tables.get(tableId) ?? new TableSender();
    // move to the end: most recently used
    this.tables.delete(tableId);
    this.tables.set(tableId, sender);
    return sender;
  }
}

/** Is notified when the parts of the worker's tables change. */
export interface PartWatcher {
  /** A block was removed from its table. */
  blockGone(block: BlockSnapshot): void;
  /** A closed segment (`Run.segment`) appears in a table for the first time. */
  segmentCame(segment: number): void;
  /** The segment was removed from its table. */
  segmentGone(segment: number): void;
}

/** The worker's side. */
export class SnapshotReceiver {
  private readonly tables = new Map<number, TableReceiver>();
  private readonly catalog = new CatalogReceiver();

  constructor(private readonly watcher: PartWatcher) {}

  /** Stores definitions sent ahead of a snapshot. */
  add(tables: readonly TableDef[]): void {
    this.catalog.add(tables);
  }

  decode({ catalog, rest, ...tables }: WireSnapshot): DatabaseSnapshot {
    return { tables: this.decodeTables(tables), catalog: catalog === null ? [] : this.catalog.decode(catalog), ...rest };
  }

  decodeTables({ tables, forgotten }: WireTables): readonly TableSnapshot[] {
    const decoded = tables.map((wire) => {
      let receiver = this.tables.get(wire.tableId);
      if (receiver === undefined) {
        receiver = new TableReceiver(this.watcher);
        this.tables.set(wire.tableId, receiver);
      }
      return receiver.decode(wire);
    });
    for (const tableId of forgotten) {
      this.tables.get(tableId)?.forget();
      this.tables.delete(tableId);
    }
    return decoded;
  }
}

class TableSender {
  private readonly table = new ListSender<TableDef>();
  private readonly dictionaries = new ListSender<DictionaryView>();
  private readonly columns = new ListSender<readonly ColumnRun[]>();
  /** Of the last snapshot. */
  private runs: readonly Run[] = [];
  private readonly blocks = new ListSender<BlockSnapshot>();
  private readonly indexes = new ListSender<FileIndexRef>();

  encode({ table, retentionMinNs, sequence, lastDeletion, tombstones, runs, blocks, indexes = [] }: TableSnapshot): WireTable {
    return {
      tableId: table.id,
      table: this.table.encode([table]),
      ...{ retentionMinNs, sequence, lastDeletion, tombstones },
      runs: this.encodeRuns(runs),
      blocks: this.blocks.encode(blocks),
      indexes: this.indexes.encode(indexes),
    };
  }

  private encodeRuns(runs: readonly Run[]): WireRuns | null {
    if (isSameList(runs, this.runs)) return null;
    this.runs = runs;
    const dictionaries = [...new Set(runs.map(({ dictionary }) => dictionary))];
    const numbers = new Float64Array(runs.length * RUN_NUMBERS);
    const times = new BigInt64Array(runs.length * 2);
    const overlaps = new Map<number, readonly TimeRange[]>();
    runs.forEach((run, i) => {
      const { rowCount, seriesPtr, timePtr, seqMin, seqMax, dictionary, minTimeNs, maxTimeNs } = run;
      const flags = (run.sorted ? SORTED : 0) | (run.unique ? UNIQUE : 0) | (run.ascending ? ASCENDING : 0);
      numbers.set(
        [rowCount, seriesPtr, timePtr, seqMin, seqMax, flags, dictionaries.indexOf(dictionary), run.segment ?? 0],
        i * RUN_NUMBERS,
      );
      times[i * 2] = minTimeNs;
      times[i * 2 + 1] = maxTimeNs;
      if (run.overlaps !== undefined) overlaps.set(i, run.overlaps);
    });
    return {
      dictionaries: this.dictionaries.encode(dictionaries),
      columns: this.columns.encode(runs.map(({ columns }) => columns)),
      ...{ numbers, times, overlaps },
    };
  }
}

class TableReceiver {
  private table: readonly TableDef[] = [];
  private dictionaries: readonly DictionaryView[] = [];
  private columns: readonly (readonly ColumnRun[])[] = [];
  private blocks: readonly BlockSnapshot[] = [];
  private indexes: readonly FileIndexRef[] = [];
  private runs: readonly Run[] = [];
  private segments: ReadonlySet<number> = new Set();

  constructor(private readonly watcher: PartWatcher) {}

  decode(wire: WireTable): TableSnapshot {
    const { table, retentionMinNs, sequence, lastDeletion, tombstones, blocks, indexes } = wire;
    this.table = decodeList(this.table, table);
    if (blocks !== null) {
      const kept = new Set(blocks.places);
      this.blocks.forEach((block, place) => {
        if (!kept.has(place)) this.watcher.blockGone(block);
      });
    }
    this.blocks = decodeList(this.blocks, blocks);
    this.indexes = decodeList(this.indexes, indexes);
    if (wire.runs !== null) this.decodeRuns(wire.runs);
    return {
      table: this.table[0]!,
      retentionMinNs,
      sequence,
      lastDeletion,
      tombstones,
      runs: this.runs,
      blocks: this.blocks,
      indexes: this.indexes,
    };
  }

  private decodeRuns({ dictionaries, columns, numbers, times, overlaps }: WireRuns): void {
    this.dictionaries = decodeList(this.dictionaries, dictionaries);
    this.columns = decodeList(this.columns, columns);
    this.runs = this.columns.map((runColumns, i): Run => {
      const at = i * RUN_NUMBERS;
      const flags = numbers[at + 5]!;
      return {
        rowCount: numbers[at]!,
        seriesPtr: numbers[at + 1]!,
        timePtr: numbers[at + 2]!,
        columns: runColumns,
        dictionary: this.dictionaries[numbers[at + 6]!]!,
        sorted: (flags & SORTED) !== 0,
        unique: (flags & UNIQUE) !== 0,
        overlaps: overlaps.get(i),
        ascending: (flags & ASCENDING) !== 0,
        segment: numbers[at + 7]! || undefined,
        minTimeNs: times[i * 2]!,
        maxTimeNs: times[i * 2 + 1]!,
        seqMin: numbers[at + 3]!,
        seqMax: numbers[at + 4]!,
      };
    });
    this.setSegments(new Set(this.runs.flatMap(({ segment }) => segment ?? [])));
  }

  /** The sender has forgotten the table. */
  forget(): void {
    this.setSegments(new Set());
  }

  private setSegments(segments: ReadonlySet<number>): void {
    for (const segment of segments) if (!this.segments.has(segment)) this.watcher.segmentCame(segment);
    for (const segment of this.segments) if (!segments.has(segment)) this.watcher.segmentGone(segment);
    this.segments = segments;
  }
}

/** Elements are compared by object identity. */
class ListSender<T extends object> {
  private sent: readonly T[] = [];
  private places = new Map<T, number>();

  encode(list: readonly T[]): WireList<T> {
    if (isSameList(list, this.sent)) return null;
    const added: T[] = [];
    const places = Int32Array.from(list, (item) => this.places.get(item) ?? -added.push(item));
    this.sent = list;
    this.places = new Map(list.map((item, place) => [item, place]));
    return { places, added };
  }
}

function isSameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

function decodeList<T>(before: readonly T[], wire: WireList<T>): readonly T[] {
  if (wire === null) return before;
  return Array.from(wire.places, (place) => (place < 0 ? wire.added[-1 - place]! : before[place]!));
}
