// Takes the snapshots that statements run on: the rows and files of tables at this moment, pinned until released. Main thread.

import { AUDIT_SYSTEM_TABLE, findAuditTable, findLogTable, LOG_SYSTEM_TABLE } from "../ingest/definitions/server-tables.ts";
import type { CacheClock } from "../model/cache-table.ts";
import type { CacheReference } from "../model/caches.ts";
import { INTERNAL_DATABASE } from "../model/names.ts";
import { ALL_TIME } from "../model/query/scan.ts";
import type { TableDef } from "../model/rows/column.ts";
import type { Run } from "../model/rows/run.ts";
import { canHide, hidesWhole, type Tombstone } from "../model/rows/tombstone.ts";
import type { SystemRow } from "../model/system-table.ts";
import type { LiveTables } from "../storage/buffer/live-tables.ts";
import type { Pins } from "../storage/buffer/pins.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { DatabaseDef } from "../storage/catalog/state.ts";
import type { FileIndexList } from "../storage/file-index/list.ts";
import type { Manifest } from "../storage/manifest/manifest.ts";
import { BlockLists } from "./block-lists.ts";
import type { CacheSnapshot, DatabaseSnapshot, ObjectSource, SnapshotNeed, TableSnapshot, TableState } from "./snapshot.ts";
import { VisibleBlocksOfTables } from "./visible-blocks.ts";

export interface SnapshotParts {
  readonly catalog: Catalog;
  readonly tables: LiveTables;
  readonly manifest: Manifest;
  /** Absent: no file has an index. */
  readonly indexes?: Pick<FileIndexList, "refsOf">;
  readonly pins: Pins;
  /** Deletions that may still hide rows of a table, ascending ids. */
  readonly tombstonesOf: (tableId: number) => readonly Tombstone[];
  /** Id of a table's last deletion, 0 = none so far. */
  readonly lastDeletionOf: (tableId: number) => number;
  /** The clock for retention periods. */
  readonly nowMs: () => number;
  /** Rows of tables in schema `system`; `database` null: the server's own database. */
  readonly systemRows: (names: readonly string[], database: DatabaseDef | null) => Readonly<Record<string, readonly SystemRow[]>>;
  /** Where a worker reads the object of this key. */
  readonly objectSource: (key: string) => ObjectSource;
}

/** Takes snapshots of tables and caches. */
export class Snapshots {
  private readonly blocks: BlockLists;
  private readonly visible = new VisibleBlocksOfTables();

  constructor(private readonly parts: SnapshotParts) {
    this.blocks = new BlockLists(parts.manifest, parts.objectSource);
  }

  /** @param database a name in the default namespace, or an id. @throws TsdbError unknown_database */
  checkDatabase(database: string | number): void {
    this.database(database);
  }

  /** Pins those of the named tables that exist, in their current state. @param nameOrId of the database, as above.
   *  @throws TsdbError unknown_database */
  take(nameOrId: string | number, need: SnapshotNeed): { snapshot: DatabaseSnapshot; release(): void } {
    const { catalog, pins } = this.parts;
    const database = this.database(nameOrId);
    const tables = new Map<number, TableSnapshot>();
    const find = (name: string): TableDef | undefined => {
      const table = database === null ? undefined : catalog.findTable(database.id, name);
      if (table !== undefined && !tables.has(table.id)) tables.set(table.id, this.table(table));
      return table;
    };
    for (const name of need.tables) find(name);
    const logTable = database !== null && need.systemTables.includes(LOG_SYSTEM_TABLE) ? findLogTable(catalog) : undefined;
    if (logTable !== undefined) tables.set(logTable.id, this.table(logTable));
    const auditTable = database === null && need.systemTables.includes(AUDIT_SYSTEM_TABLE) ? findAuditTable(catalog) : undefined;
    if (auditTable !== undefined) tables.set(auditTable.id, this.table(auditTable));
    const caches = need.caches?.map((reference) => this.cache(reference, find(reference.table)));
    const all = need.wholeCatalog && database !== null ? catalog.tables(database.id) : [];
    const snapshot = {
      tables: [...tables.values()],
      catalog: all,
      isInternal: database === null,
      systemRows: this.parts.systemRows(need.systemTables, database),
      ...(logTable === undefined ? {} : { triggerLog: { tableId: logTable.id, databaseId: database!.id } }),
      ...(auditTable === undefined ? {} : { auditTableId: auditTable.id }),
      ...(caches === undefined ? {} : { caches }),
    };
    const pin = pins.take();
    return { snapshot, release: () => pin.release() };
  }

  /** The state of a table's rows; null if the table does not exist, or rows leave it as time passes.
   *  @param databaseName in the default namespace */
  stateOf(databaseName: string, tableName: string): TableState | null {
    const { catalog, tables, nowMs, lastDeletionOf } = this.parts;
    const database = catalog.findDatabase(databaseName);
    const table = database === undefined ? undefined : catalog.findTable(database.id, tableName);
    if (table === undefined || catalog.retentionMinNs(table.id, nowMs()) !== ALL_TIME.minNs) return null;
    return { table, sequence: this.sequence(tables.runs(table.id)), lastDeletion: lastDeletionOf(table.id) };
  }

  private sequence(runs: readonly Run[]): number {
    return runs.reduce((max, { seqMax }) => Math.max(max, seqMax), this.parts.manifest.flushedSequence);
  }

  /** Pins an existing table for its caches. Rows that arrive later are applied to them separately. */
  takeForCaches(table: TableDef): { table: TableSnapshot; clock: CacheClock; release(): void } {
    const clock = this.clock(table.id);
    const live = this.parts.tables.find(table.id);
    if (live !== undefined) live.unfedSinceMs = null;
    const taken = this.table(table);
    const pin = this.parts.pins.take();
    return { table: taken, clock, release: () => pin.release() };
  }

  private cache(reference: CacheReference, table: TableDef | undefined): CacheSnapshot {
    if (table === undefined) return { reference, missing: "table" };
    const ofKind = this.parts.catalog.caches(table.id).filter(({ kind }) => kind === reference.kind);
    const found = reference.name === null ? ofKind : ofKind.filter(({ name }) => name === reference.name);
    if (found.length !== 1) return { reference, missing: "cache" };
    return { reference, cache: found[0]!, clock: this.clock(table.id) };
  }

  private clock(tableId: number): CacheClock {
    return { nowMs: this.parts.nowMs(), sinceMs: this.parts.tables.find(tableId)?.unfedSinceMs ?? null };
  }

  /** Returns null for the server's own database. */
  private database(nameOrId: string | number): DatabaseDef | null {
    return nameOrId === INTERNAL_DATABASE ? null : this.parts.catalog.liveDatabase(nameOrId);
  }

  private table(table: TableDef): TableSnapshot {
    const { tables, catalog, nowMs } = this.parts;
    const known = this.parts.tombstonesOf(table.id);
    const retentionMinNs = catalog.retentionMinNs(table.id, nowMs());
    const isThere = (run: Run) => run.maxTimeNs >= retentionMinNs && !known.some((tombstone) => hidesWhole(tombstone, run));
    const all = tables.runs(table.id);
    const runs = all.filter(isThere);
    const sequence = this.sequence(all);
    const { blocks, tombstones } = this.visible.of(this.blocks.of(table.id), known, retentionMinNs);
    const hidesSome = (tombstone: Tombstone) => tombstones.has(tombstone) || runs.some((run) => canHide(tombstone, run));
    const lastDeletion = this.parts.lastDeletionOf(table.id);
    const indexes = this.parts.indexes?.refsOf(table.id) ?? [];
    return { table, retentionMinNs, sequence, lastDeletion, tombstones: known.filter(hidesSome), runs, blocks, indexes };
  }
}
