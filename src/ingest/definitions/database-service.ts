// Creates, deletes and restores databases and tables on behalf of users. Deleting renames the object: its rows stay, its name becomes
// available, and it can be restored until it is dropped (hard-deletes.ts).

import type {
  DatabaseInfo,
  DatabaseService,
  DeleteDatabase,
  DeleteTable,
  FieldTypeName,
  HardDeleteAt,
  NewTable,
  RestoreDatabase,
  RestoreTable,
} from "../../model/databases.ts";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import { hasControl, INTERNAL_DATABASE, NO_CONTROL, RESERVED_COLUMNS, validateDatabaseName, validateTableName } from "../../model/names.ts";
import { ColumnType, type TableDef } from "../../model/rows/column.ts";
import type { LiveTables } from "../../storage/buffer/live-tables.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import { type CatalogOperation, columnTypeName } from "../../storage/catalog/operations.ts";
import { checkDatabaseLimit, checkSchemaMemory, checkTableLimit, tooManyColumns } from "../../storage/catalog/schema-limits.ts";
import type { DatabaseDef, DeletedObject } from "../../storage/catalog/state.ts";
import { renamedAt } from "./deleted-name.ts";
import type { Deletions } from "./deletions.ts";

export interface DatabaseServiceParts {
  readonly catalog: Catalog;
  readonly tables: Pick<LiveTables, "renamed">;
  readonly deletions: Pick<Deletions, "deleteData">;
  readonly nowMs: () => number;
  /** What `hard_delete_at=default` adds to it. */
  readonly hardDeleteDefaultMs: number;
  /** Called when an object gets a new time to be dropped. */
  readonly onScheduled: () => void;
}

const FIELD_TYPES: Readonly<Record<FieldTypeName, ColumnType>> = {
  utf8: ColumnType.string,
  int64: ColumnType.integer,
  uint64: ColumnType.unsigned,
  float64: ColumnType.float,
  bool: ColumnType.boolean,
};

/** Databases and tables by name. Methods resolve once the catalog is durable. @throws TsdbError unknown_database, unknown_table,
 *  already_exists, limit_exceeded, bad_request */
export class NamedDatabases implements DatabaseService {
  constructor(private readonly parts: DatabaseServiceParts) {}

  list({ showDeleted }: { readonly showDeleted: boolean }): DatabaseInfo[] {
    const { catalog } = this.parts;
    const own: DatabaseInfo = { name: INTERNAL_DATABASE, retentionNs: null, deletion: null };
    const live = catalog.databases().map(({ id, name }) => ({ name, retentionNs: catalog.retentionNs("database", id), deletion: null }));
    const deleted = showDeleted ? catalog.deleted().filter(({ of, def }) => of === "database" && isOfDefaultNamespace(def)) : [];
    const gone = deleted.map(({ def, formerName, deletedMs, hardDeleteMs }) => {
      return { name: def.name, retentionNs: catalog.retentionNs("database", def.id), deletion: { formerName, deletedMs, hardDeleteMs } };
    });
    return [...[own, ...live].sort(byName), ...gone.sort(byName)];
  }

  async createDatabase({ name, retentionNs }: { readonly name: string; readonly retentionNs: bigint | null }): Promise<void> {
    const { catalog } = this.parts;
    validateDatabaseName(name);
    checkFreeDatabase(catalog, name);
    checkDatabaseLimit(catalog, catalog.limits);
    const { databaseId: id } = catalog.nextIds;
    const operations: CatalogOperation[] = [{ kind: "create_database", id, namespace: 0, name }];
    if (retentionNs !== null) operations.push({ kind: "set_retention", of: "database", id, retentionNs: String(retentionNs) });
    await catalog.apply(operations).durable;
  }

  async deleteDatabase({ database: name, dataOnly, removeTables, hardDeleteAt }: DeleteDatabase): Promise<void> {
    const { catalog, deletions } = this.parts;
    if (name === INTERNAL_DATABASE) throw new TsdbError("bad_request", `cannot delete internal database '${name}'`, { database: name });
    if (removeTables && !dataOnly) throw new TsdbError("bad_request", "remove_tables=true is possible only with data_only=true", {});
    const deleted = catalog.findDeletedDatabase(name);
    if (deleted !== undefined) return this.reschedule(deleted, hardDeleteAt);
    const database = this.database(name);
    if (!dataOnly) return this.softDelete("database", database, hardDeleteAt, catalog.tables(database.id));
    const tableIds = catalog.tables(database.id).map(({ id }) => id);
    const caches = removeTables ? tableIds.flatMap((id) => catalog.caches(id)) : [];
    const operations = caches.map(({ id }): CatalogOperation => ({ kind: "delete_cache", id }));
    const cachesGone = operations.length === 0 ? undefined : catalog.apply(operations).durable;
    await Promise.all([cachesGone, deletions.deleteData(tableIds)]);
  }

  async restoreDatabase({ database: name, newName }: RestoreDatabase): Promise<void> {
    const { catalog } = this.parts;
    const candidates = catalog.deleted().filter(({ of, def }) => of === "database" && isOfDefaultNamespace(def));
    const deleted = chooseDeleted(candidates, name);
    if (deleted === undefined) {
      if (catalog.findDatabase(name) !== undefined) throw new TsdbError("already_exists", `database '${name}' is not deleted`, { name });
      throw new TsdbError("unknown_database", `database not found: ${name}`, { database: name });
    }
    if (newName !== null) validateDatabaseName(newName);
    const target = newName ?? deleted.formerName;
    checkFreeDatabase(catalog, target);
    checkDatabaseLimit(catalog, catalog.limits);
    const tables = catalog.allTables(deleted.def.id);
    checkTableLimit(catalog, catalog.tables(deleted.def.id).length, catalog.limits);
    await this.restore(deleted, target, tables);
  }

  async createTable({ database: databaseName, table: name, tags, fields, retentionNs }: NewTable): Promise<void> {
    const { catalog } = this.parts;
    // a bucket may have a name that no new database may have
    if (catalog.findDatabase(databaseName) === undefined) validateDatabaseName(databaseName);
    const database = this.database(databaseName);
    validateTableName(name);
    this.checkTableFree(database, name);
    checkColumns(name, [...tags, ...fields.map((field) => field.name)], catalog.limits.columnsPerTableMax);
    checkTableLimit(catalog, 1, catalog.limits);
    checkSchemaMemory(catalog, { tables: 1, columns: tags.length + fields.length }, catalog.limits);
    const { tableId: id } = catalog.nextIds;
    const types = [...tags.map(() => ColumnType.tag), ...fields.map(({ type }) => FIELD_TYPES[type])];
    const columns = [...tags, ...fields.map((field) => field.name)].map((column, i) => {
      return { id: i + 1, name: column, type: columnTypeName(types[i]!) };
    });
    const operations: CatalogOperation[] = [{ kind: "create_table", id, databaseId: database.id, name }];
    if (columns.length > 0) operations.push({ kind: "add_columns", tableId: id, columns });
    if (retentionNs !== null) operations.push({ kind: "set_retention", of: "table", id, retentionNs: String(retentionNs) });
    await catalog.apply(operations).durable;
  }

  async deleteTable({ database: databaseName, table: name, dataOnly, hardDeleteAt }: DeleteTable): Promise<void> {
    const { catalog, deletions } = this.parts;
    const database = catalog.liveDatabase(databaseName);
    const deleted = catalog.findDeletedTable(database.id, name);
    if (deleted !== undefined) return this.reschedule(deleted, hardDeleteAt);
    const table = catalog.findTable(database.id, name);
    if (table === undefined) throw unknownTable(database.name, name);
    if (dataOnly) return deletions.deleteData([table.id]);
    return this.softDelete("table", table, hardDeleteAt, [table]);
  }

  async restoreTable({ database: databaseName, table: name, newName }: RestoreTable): Promise<void> {
    const { catalog } = this.parts;
    const database = this.database(databaseName);
    const candidates = catalog.deleted().filter(({ of, def }) => of === "table" && (def as TableDef).databaseId === database.id);
    const deleted = chooseDeleted(candidates, name);
    if (deleted === undefined) {
      if (catalog.findTable(database.id, name) !== undefined) {
        throw new TsdbError("already_exists", `table '${databaseName}.${name}' is not deleted`, { database: databaseName, table: name });
      }
      throw unknownTable(databaseName, name);
    }
    if (newName !== null) validateTableName(newName);
    const target = newName ?? deleted.formerName;
    this.checkTableFree(database, target);
    checkTableLimit(catalog, 1, catalog.limits);
    await this.restore(deleted, target, [deleted.def as TableDef]);
  }

  private async softDelete(
    of: "database" | "table",
    def: DatabaseDef | TableDef,
    hardDeleteAt: HardDeleteAt,
    tables: readonly TableDef[],
  ): Promise<void> {
    const { catalog, nowMs, onScheduled } = this.parts;
    const deletedMs = nowMs();
    const name = renamedAt(def.name, deletedMs, def.id, (candidate) => this.isTaken(of, def, candidate));
    const hardDeleteMs = this.hardDeleteTime(hardDeleteAt, deletedMs);
    const { durable } = catalog.apply([{ kind: "soft_delete", of, id: def.id, name, deletedMs, hardDeleteMs }]);
    this.renamed(tables);
    await durable;
    if (hardDeleteMs !== null) onScheduled();
  }

  /** Milliseconds since 1970; null = never. */
  private hardDeleteTime(at: HardDeleteAt, nowMs: number): number | null {
    if (at === "never") return null;
    if (at === "now") return nowMs;
    if (at === "default") return nowMs + this.parts.hardDeleteDefaultMs;
    return Math.max(0, Math.floor(at.ms));
  }

  private isTaken(of: "database" | "table", def: DatabaseDef | TableDef, name: string): boolean {
    const { catalog } = this.parts;
    if (of === "database") return catalog.findDatabase(name) !== undefined || catalog.findDeletedDatabase(name) !== undefined;
    const { databaseId } = def as TableDef;
    return catalog.findTable(databaseId, name) !== undefined || catalog.findDeletedTable(databaseId, name) !== undefined;
  }

  private async reschedule({ of, def, hardDeleteMs: before }: DeletedObject, hardDeleteAt: HardDeleteAt): Promise<void> {
    const { catalog, nowMs, onScheduled } = this.parts;
    const hardDeleteMs = this.hardDeleteTime(hardDeleteAt, nowMs());
    if (hardDeleteMs === before) {
      throw new TsdbError("already_exists", `attempted to modify resource that was already deleted: ${def.name}`, { name: def.name });
    }
    await catalog.apply([{ kind: "schedule_drop", of, id: def.id, hardDeleteMs }]).durable;
    if (hardDeleteMs !== null) onScheduled();
  }

  private async restore({ of, def }: DeletedObject, name: string, tables: readonly TableDef[]): Promise<void> {
    const { durable } = this.parts.catalog.apply([{ kind: "restore", of, id: def.id, name }]);
    this.renamed(tables);
    await durable;
  }

  private renamed(tables: readonly TableDef[]): void {
    for (const { id } of tables) this.parts.tables.renamed(id);
  }

  private checkTableFree({ id, name: database }: DatabaseDef, name: string): void {
    const { catalog } = this.parts;
    if (catalog.findTable(id, name) === undefined && catalog.findDeletedTable(id, name) === undefined) return;
    throw alreadyExists({ database, table: name });
  }

  private database(name: string): DatabaseDef {
    return this.parts.catalog.liveDatabase(name);
  }
}

/** @throws TsdbError already_exists, also for a deleted database */
export function checkFreeDatabase(catalog: Catalog, name: string): void {
  if (name !== INTERNAL_DATABASE && catalog.findDatabase(name) === undefined && catalog.findDeletedDatabase(name) === undefined) return;
  throw alreadyExists({ database: name });
}

function isOfDefaultNamespace(def: DatabaseDef | TableDef): boolean {
  return (def as DatabaseDef).namespace === 0;
}

function byName(a: DatabaseInfo, b: DatabaseInfo): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** By the object's current name, otherwise by its former one. @throws TsdbError bad_request if several had it */
function chooseDeleted(candidates: readonly DeletedObject[], name: string): DeletedObject | undefined {
  const exact = candidates.find(({ def }) => def.name === name);
  if (exact !== undefined) return exact;
  const former = candidates.filter(({ formerName }) => formerName === name);
  if (former.length <= 1) return former[0];
  const names = former.map(({ def }) => def.name).join(", ");
  throw new TsdbError("bad_request", `several deleted objects were called '${name}': restore one of ${names}`, { name });
}

function checkColumns(table: string, names: readonly string[], limit: number): void {
  if (names.length > limit) throw new TsdbError("limit_exceeded", tooManyColumns(limit), { limit });
  const seen = new Set<string>();
  for (const name of names) {
    if (name === "") throw new TsdbError("bad_request", `a column of table '${table}' has an empty name`, { table });
    if (RESERVED_COLUMNS.has(name)) throw new TsdbError("bad_request", `'${name}' is a reserved column`, { table, column: name });
    if (hasControl(name)) throw new TsdbError("bad_request", `a name of a column of table '${table}' ${NO_CONTROL}`, { table });
    if (Buffer.byteLength(name) > LIMITS.tableNameBytesMax) {
      throw new TsdbError("bad_request", `a column of table '${table}' has a name of more than ${LIMITS.tableNameBytesMax} bytes`, {
        table,
      });
    }
    if (seen.has(name)) throw new TsdbError("bad_request", `duplicate column '${name}' in table '${table}'`, { table, column: name });
    seen.add(name);
  }
}

function alreadyExists(details: Readonly<Record<string, string>>): TsdbError {
  return new TsdbError("already_exists", "attempted to create a resource that already exists", details);
}

function unknownTable(database: string, table: string): TsdbError {
  return new TsdbError("unknown_table", `table not found: ${database}.${table}`, { database, table });
}
