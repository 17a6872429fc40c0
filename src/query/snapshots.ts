// Takes the snapshots that statements run on: which rows and files of a table exist at this moment, pinned until released. Main thread.
import type { LiveTables } from "../buffer/live-tables.ts";
import type { Pins } from "../buffer/pins.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { DatabaseDef } from "../catalog/state.ts";
import type { TableDef } from "../model/column.ts";
import { TsdbError } from "../model/errors.ts";
import { INTERNAL_DATABASE } from "../model/names.ts";
import type { Run } from "../model/run.ts";
import type { SystemRow } from "../model/system-table.ts";
import { canHide, hidesWhole, type Tombstone } from "../model/tombstone.ts";
import type { Manifest } from "../store/manifest.ts";
import { BlockLists } from "./block-lists.ts";
import type { DatabaseSnapshot, ObjectSource, SnapshotNeed, TableSnapshot } from "./snapshot.ts";
import { VisibleBlocksOfTables } from "./visible-blocks.ts";

export interface SnapshotParts {
  readonly catalog: Catalog;
  readonly tables: LiveTables;
  readonly manifest: Manifest;
  readonly pins: Pins;
  /** Deletions that may still hide rows of a table, ascending ids. */
  readonly tombstonesOf: (tableId: number) => readonly Tombstone[];
  /** The id of a table's last deletion, 0 = none so far. */
  readonly lastDeletionOf: (tableId: number) => number;
  /** What retention periods are counted back from. */
  readonly nowMs: () => number;
  /** Rows of tables in schema `system`; `database` null: the server's own. */
  readonly systemRows: (names: readonly string[], database: DatabaseDef | null) => Readonly<Record<string, readonly SystemRow[]>>;
  /** Where a worker reads the object of this key. */
  readonly objectSource: (key: string) => ObjectSource;
}

export class Snapshots {
  private readonly blocks: BlockLists;
  private readonly visible = new VisibleBlocksOfTables();

  constructor(private readonly parts: SnapshotParts) {
    this.blocks = new BlockLists(parts.manifest, parts.objectSource);
  }

  /** @throws TsdbError unknown_database */
  checkDatabase(database: string): void {
    this.database(database);
  }

  /** Pins the named tables (those that exist) as they are now. @throws TsdbError unknown_database */
  take(databaseName: string, need: SnapshotNeed): { snapshot: DatabaseSnapshot; release(): void } {
    const { catalog, pins } = this.parts;
    const database = this.database(databaseName);
    const tables: TableSnapshot[] = [];
    for (const name of database === null ? [] : new Set(need.tables)) {
      const table = catalog.findTable(database!.id, name);
      if (table !== undefined) tables.push(this.table(table));
    }
    const all = need.wholeCatalog && database !== null ? catalog.tables(database.id).map(({ name, columns }) => ({ name, columns })) : [];
    const snapshot = {
      tables,
      catalog: all,
      isInternal: database === null,
      systemRows: this.parts.systemRows(need.systemTables, database),
    };
    const pin = pins.take();
    return { snapshot, release: () => pin.release() };
  }

  /** Null: the server's own. */
  private database(name: string): DatabaseDef | null {
    if (name === INTERNAL_DATABASE) return null;
    const database = this.parts.catalog.findDatabase(name);
    if (database === undefined) throw new TsdbError("unknown_database", `database not found: ${name}`, { database: name });
    return database;
  }

  private table(table: TableDef): TableSnapshot {
    const { tables, catalog, nowMs } = this.parts;
    const known = this.parts.tombstonesOf(table.id);
    const retentionMinNs = catalog.retentionMinNs(table.id, nowMs());
    const isThere = (run: Run) => run.maxTimeNs >= retentionMinNs && !known.some((tombstone) => hidesWhole(tombstone, run));
    const runs = tables.runs(table.id).filter(isThere);
    const { blocks, tombstones } = this.visible.of(this.blocks.of(table.id), known, retentionMinNs);
    const hidesSome = (tombstone: Tombstone) => tombstones.has(tombstone) || runs.some((run) => canHide(tombstone, run));
    const lastDeletion = this.parts.lastDeletionOf(table.id);
    return { table, retentionMinNs, lastDeletion, tombstones: known.filter(hidesSome), runs, blocks };
  }
}
