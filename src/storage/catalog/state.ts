// The catalog as a state machine: it changes only by `apply`, and the same operations produce the same state on every server. No clock, no
// I/O; catalog.ts adds these.
import { LIMITS } from "../../model/limits.ts";
import type { ColumnDef, TableDef } from "../../model/rows/column.ts";
import { readArray, readCount, readObject, readText } from "../../object-store/operation-values.ts";
import { AccountSet, isAccountOperation } from "./accounts.ts";
import { CacheSet, readCache } from "./caches.ts";
import { violated } from "./contradiction.ts";
import { isRowDeleteOperation, RowDeleteSet } from "./deletions/row-deletes.ts";
import { TombstoneSet } from "./deletions/tombstones.ts";
import {
  byId,
  columnDef,
  type DatabaseDef,
  type DatabaseEntry,
  type DeletedObject,
  databaseFromJson,
  databaseToJson,
  type MutableTable,
  move,
  newDatabase,
  newTable,
  type SoftDeletion,
  type TableSchema,
  tableFromJson,
  tableToJson,
  toNs,
} from "./entries.ts";
import { FileIndexSet } from "./file-indexes.ts";
import { type StoppedNode, StoppedNodes } from "./nodes.ts";
import {
  type CatalogOperation,
  type Drop,
  deleteRowsOperation,
  type Restore,
  readTombstone,
  type ScheduleDrop,
  SERVER_NAMESPACE,
  type SoftDelete,
  snapshotOperations,
  type TableOperation,
} from "./operations.ts";
import { freshPolicies, type PolicySettings, readPolicies } from "./policies.ts";
import { isRecordOperation, RecordSet, readRecords } from "./records.ts";
import { isTokenOperation, readToken, TokenSet } from "./tokens.ts";
import { isTriggerOperation, TriggerSet } from "./triggers.ts";

export type { DatabaseDef, DeletedObject, SoftDeletion, TableSchema } from "./entries.ts";
/** The state of the catalog: databases, tables, columns, tokens, caches, deletions, indexes, policies, nodes. */
export class CatalogState {
  clusterUuid = "";
  nextDatabaseId = 1;
  nextTableId = 1;
  private databaseCount_ = 0;
  private tableCount_ = 0;
  /** Columns of all tables, including deleted ones; without time. */
  private columnCount = 0;
  private readonly databasesById = new Map<number, DatabaseEntry>();
  /** By namespace, then name; includes deleted ones. */
  private readonly databasesByName = new Map<number, Map<string, DatabaseEntry>>();
  private readonly tablesById = new Map<number, MutableTable>();
  private readonly tombstones_ = new TombstoneSet();
  private readonly tokens_ = new TokenSet();
  private readonly fileIndexes_ = new FileIndexSet();
  private readonly caches_ = new CacheSet();
  private records_ = new RecordSet();
  private readonly stoppedNodes = new StoppedNodes();
  private readonly triggers_ = new TriggerSet();
  private readonly accounts_ = new AccountSet();
  private readonly rowDeletes_ = new RowDeleteSet();

  /** Without deleted ones. */
  get databaseCount(): number {
    return this.databaseCount_;
  }

  /** Without deleted tables and tables of deleted databases. */
  get tableCount(): number {
    return this.tableCount_;
  }

  /** Estimated memory of all table and column definitions; deleted ones count until they are dropped. */
  get definitionBytes(): number {
    return this.tablesById.size * LIMITS.tableDefinitionBytes + this.columnCount * LIMITS.columnDefinitionBytes;
  }

  findDatabase(name: string, namespace: number): DatabaseDef | undefined {
    const entry = this.databasesByName.get(namespace)?.get(name);
    return entry?.deletion === null ? entry.def : undefined;
  }

  /** A soft-deleted database, by its current name. */
  findDeletedDatabase(name: string, namespace: number): DeletedObject | undefined {
    const entry = this.databasesByName.get(namespace)?.get(name);
    return entry === undefined || entry.deletion === null ? undefined : { of: "database", def: entry.def, ...entry.deletion };
  }

  /** A soft-deleted table, whether or not its database is deleted. */
  findDeletedTable(databaseId: number, name: string): DeletedObject | undefined {
    const table = this.databasesById.get(databaseId)?.tablesByName.get(name);
    return table === undefined || table.deletion === null ? undefined : { of: "table", def: table.def, ...table.deletion };
  }

  /** All soft-deleted objects in order of creation. Tables of a deleted database only if they were deleted individually. */
  deleted(): DeletedObject[] {
    const found: DeletedObject[] = [];
    for (const { def, deletion } of this.databasesById.values()) if (deletion !== null) found.push({ of: "database", def, ...deletion });
    for (const { def, deletion } of this.tablesById.values()) if (deletion !== null) found.push({ of: "table", def, ...deletion });
    return found;
  }

  /** Includes deleted ones. */
  databaseById(id: number): DatabaseDef | undefined {
    return this.databasesById.get(id)?.def;
  }

  findTable(databaseId: number, name: string): TableSchema | undefined {
    const table = this.databasesById.get(databaseId)?.tablesByName.get(name);
    return table?.deletion === null ? table : undefined;
  }

  /** Includes deleted ones. */
  tableById(id: number): TableSchema | undefined {
    return this.tablesById.get(id);
  }

  /** In order of creation. */
  databases(): DatabaseDef[] {
    return [...this.databasesById.values()].filter(({ deletion }) => deletion === null).map(({ def }) => def);
  }

  /** In order of creation. */
  tables(databaseId: number): TableDef[] {
    const tables = [...(this.databasesById.get(databaseId)?.tablesByName.values() ?? [])];
    return byId(tables.filter(({ deletion }) => deletion === null).map(({ def }) => def));
  }

  /** The same including deleted ones. */
  allTables(databaseId: number): TableDef[] {
    return byId([...(this.databasesById.get(databaseId)?.tablesByName.values() ?? [])].map(({ def }) => def));
  }

  get tombstones(): Pick<TombstoneSet, "nextId" | "partialCount" | "ofTable" | "tableIds" | "has" | "all"> {
    return this.tombstones_;
  }

  /** Undefined if it is not marked as stopped. */
  stoppedNode(nodeId: string): StoppedNode | undefined {
    return this.stoppedNodes.find(nodeId);
  }

  get fileIndexes(): Pick<FileIndexSet, "changes" | "isEmpty" | "own" | "columnsOf"> {
    return this.fileIndexes_;
  }

  get tokens(): Pick<TokenSet, "nextId" | "find" | "withHash" | "all"> {
    return this.tokens_;
  }

  /** Includes those of deleted tables. */
  get caches(): Pick<CacheSet, "nextId" | "changes" | "count" | "ofTable" | "has" | "withId" | "find" | "all"> {
    return this.caches_;
  }

  get accounts(): Omit<AccountSet, "apply" | "toJson"> {
    return this.accounts_;
  }

  /** Requests to delete rows, with their outcome. */
  get rowDeletes(): Pick<RowDeleteSet, "nextSequence" | "pendingCount" | "count" | "find" | "all"> {
    return this.rowDeletes_;
  }

  get records(): Pick<RecordSet, "lastId" | "kinds" | "ofKind"> {
    return this.records_;
  }

  /** Those of deleted databases too. */
  get triggers(): Pick<TriggerSet, "nextId" | "changes" | "count" | "find" | "withId" | "ofDatabase" | "all"> {
    return this.triggers_;
  }

  /** True if neither the table nor its database is deleted. */
  isTableLive(tableId: number): boolean {
    const table = this.tablesById.get(tableId);
    return table?.deletion === null && this.databasesById.get(table.def.databaseId)?.deletion === null;
  }

  /** Retention period of the table; null = forever. */
  retentionNs(tableId: number): bigint | null {
    const table = this.tablesById.get(tableId);
    if (table === undefined) return null;
    const retentionNs = table.retentionNs ?? this.databasesById.get(table.def.databaseId)?.retentionNs ?? null;
    return retentionNs === 0n ? null : retentionNs;
  }

  /** The period set for the database or the table itself. */
  ownRetentionNs(of: "database" | "table", id: number): bigint | null {
    return (of === "database" ? this.databasesById : this.tablesById).get(id)?.retentionNs ?? null;
  }

  /** Also for deleted databases. */
  policies(databaseId: number): PolicySettings {
    return this.databasesById.get(databaseId)?.policies ?? freshPolicies(databaseId);
  }

  /** Applies an operation completely, or not at all if it does not fit the state. @throws TsdbError corrupt_file */
  apply(operation: CatalogOperation): void {
    if (isAccountOperation(operation)) this.accounts_.apply(operation);
    else if (isRowDeleteOperation(operation)) this.rowDeletes_.apply(operation, this.tombstones_);
    else if (isTriggerOperation(operation)) this.triggers_.apply(operation, (id) => this.databasesById.has(id));
    else if (isRecordOperation(operation)) this.records_.apply(operation);
    else if (isTokenOperation(operation)) this.tokens_.apply(operation);
    else this.applyToTables(operation);
  }

  private applyToTables(operation: TableOperation): void {
    switch (operation.kind) {
      case "create_cluster":
        if (this.clusterUuid !== "") violated("a second create_cluster");
        this.clusterUuid = operation.uuid;
        return;
      case "create_database":
        return void this.createDatabase(operation);
      case "create_table":
        return void this.createTable(operation);
      case "add_columns":
        this.addColumns(operation.tableId, operation.columns.map(columnDef));
        return;
      case "delete_rows":
        this.tombstones_.add(readTombstone(operation), this.tablesById.get(operation.tableId)?.def);
        return;
      case "retire_tombstones":
        this.tombstones_.retire(operation.ids);
        return;
      case "set_retention":
        this.owner(operation.of, operation.id).retentionNs = toNs(operation.retentionNs);
        return;
      case "set_policies":
        (this.owner("database", operation.databaseId) as DatabaseEntry).policies = readPolicies(operation);
        return;
      case "soft_delete":
        this.softDelete(operation);
        return;
      case "schedule_drop":
        this.scheduleDrop(operation);
        return;
      case "restore":
        this.restore(operation);
        return;
      case "drop":
        this.drop(operation);
        return;
      case "rename_database":
        this.owner("database", operation.id);
        this.rename("database", operation.id, operation.name);
        return;
      case "set_file_index":
        this.owner(operation.of, operation.id);
        this.fileIndexes_.set(operation);
        return;
      case "stop_node":
      case "start_node":
        this.stoppedNodes.apply(operation);
        return;
      case "create_cache":
        this.caches_.add(readCache(operation.cache), this.tablesById.get(operation.cache.tableId)?.def);
        return;
      case "delete_cache":
        this.caches_.remove(operation.id);
        return;
    }
  }

  private createDatabase({ id, namespace, name, isReused }: DatabaseDef & { isReused?: boolean }): DatabaseEntry {
    const isUsed = isReused ? this.databasesById.has(id) : id < this.nextDatabaseId;
    if (isUsed) violated(`database id ${id} of ${JSON.stringify(name)} was used before`);
    const byName = this.databasesByName.get(namespace) ?? new Map<string, DatabaseEntry>();
    if (byName.has(name)) violated(`a second database ${JSON.stringify(name)}`);
    const entry = newDatabase({ id, namespace, name });
    this.databasesByName.set(namespace, byName.set(name, entry));
    this.databasesById.set(id, entry);
    if (namespace !== SERVER_NAMESPACE) this.databaseCount_ += 1;
    this.nextDatabaseId = Math.max(this.nextDatabaseId, id + 1);
    return entry;
  }

  private createTable({ isReused, ...table }: { id: number; databaseId: number; name: string; isReused?: boolean }): MutableTable {
    const { id, databaseId, name } = table;
    const database = this.databasesById.get(databaseId);
    if (database === undefined) violated(`table ${JSON.stringify(name)} in database ${databaseId}, which does not exist`);
    if (isReused ? this.tablesById.has(id) : id < this.nextTableId) violated(`table id ${id} of ${JSON.stringify(name)} was used before`);
    if (database.tablesByName.has(name)) violated(`a second table ${JSON.stringify(name)} in database ${databaseId}`);
    const entry = newTable(table);
    database.tablesByName.set(name, entry);
    this.tablesById.set(id, entry);
    if (database.deletion === null && database.def.namespace !== SERVER_NAMESPACE) this.tableCount_ += 1;
    this.nextTableId = Math.max(this.nextTableId, id + 1);
    return entry;
  }

  private addColumns(tableId: number, columns: readonly ColumnDef[]): void {
    const table = this.tablesById.get(tableId);
    if (table === undefined) violated(`columns for table ${tableId}, which does not exist`);
    let nextColumnId = table.nextColumnId;
    const names = new Set<string>();
    for (const { id, name } of columns) {
      if (id < nextColumnId) violated(`column id ${id} of ${JSON.stringify(name)} in table ${tableId} was used before`);
      if (table.columnsByName.has(name) || names.has(name)) violated(`a second column ${JSON.stringify(name)} in table ${tableId}`);
      names.add(name);
      nextColumnId = id + 1;
    }
    table.def = { ...table.def, columns: [...table.def.columns, ...columns] };
    for (const column of columns) table.columnsByName.set(column.name, column);
    table.nextColumnId = nextColumnId;
    this.columnCount += columns.length;
  }

  private softDelete({ of, id, name, deletedMs, hardDeleteMs }: SoftDelete): void {
    const owner = this.owner(of, id);
    if (owner.deletion !== null) violated(`${of} ${id} is deleted twice`);
    const formerName = owner.def.name;
    this.rename(of, id, name);
    this.setDeletion(of, id, { formerName, deletedMs, hardDeleteMs });
  }

  /** Moves an object between the live and the deleted ones. */
  private setDeletion(of: "database" | "table", id: number, deletion: SoftDeletion | null): void {
    this.caches_.changes += 1;
    const change = deletion === null ? 1 : -1;
    if (of === "database") {
      this.databasesById.get(id)!.deletion = deletion;
      this.triggers_.changes += 1;
      this.databaseCount_ += change;
      this.tableCount_ += change * this.tables(id).length;
    } else {
      const table = this.tablesById.get(id)!;
      table.deletion = deletion;
      if (this.databasesById.get(table.def.databaseId)!.deletion === null) this.tableCount_ += change;
    }
  }

  private scheduleDrop({ of, id, hardDeleteMs }: ScheduleDrop): void {
    const owner = this.owner(of, id);
    if (owner.deletion === null) violated(`${of} ${id} is to be dropped and was not deleted`);
    owner.deletion = { ...owner.deletion, hardDeleteMs };
  }

  private restore({ of, id, name }: Restore): void {
    if (this.owner(of, id).deletion === null) violated(`${of} ${id} is restored and was not deleted`);
    this.rename(of, id, name);
    this.setDeletion(of, id, null);
  }

  private drop({ of, id }: Drop): void {
    if (this.owner(of, id).deletion === null) violated(`${of} ${id} is dropped and was not deleted`);
    if (of === "table") {
      this.forgetTable(id);
      return;
    }
    const database = this.databasesById.get(id)!;
    for (const { def } of [...database.tablesByName.values()]) this.forgetTable(def.id);
    this.databasesByName.get(database.def.namespace)!.delete(database.def.name);
    this.databasesById.delete(id);
    this.fileIndexes_.drop("database", id);
    this.triggers_.removeDatabase(id);
  }

  private forgetTable(id: number): void {
    const { def } = this.tablesById.get(id)!;
    this.tombstones_.removeTable(id);
    this.fileIndexes_.drop("table", id);
    this.caches_.removeTable(id);
    this.databasesById.get(def.databaseId)!.tablesByName.delete(def.name);
    this.tablesById.delete(id);
    this.columnCount -= def.columns.length - 1;
  }

  private owner(of: "database" | "table", id: number): DatabaseEntry | MutableTable {
    return (of === "database" ? this.databasesById : this.tablesById).get(id) ?? violated(`${of} ${id} does not exist`);
  }

  private rename(of: "database" | "table", id: number, name: string): void {
    if (of === "database") {
      const database = this.databasesById.get(id)!;
      const byName = this.databasesByName.get(database.def.namespace)!;
      move(byName, database, name, `a second database ${JSON.stringify(name)}`);
    } else {
      const table = this.tablesById.get(id)!;
      const byName = this.databasesById.get(table.def.databaseId)!.tablesByName;
      move(byName, table, name, `a second table ${JSON.stringify(name)} in database ${table.def.databaseId}`);
    }
  }

  /** The snapshot form of the state. Counters are part of it: ids are not reused after their owner is gone. */
  toSnapshot(): unknown {
    return {
      ...{ clusterUuid: this.clusterUuid, nextDatabaseId: this.nextDatabaseId, nextTableId: this.nextTableId },
      databases: [...this.databasesById.values()].sort((a, b) => a.def.id - b.def.id).map(databaseToJson),
      tables: [...this.tablesById.values()].sort((a, b) => a.def.id - b.def.id).map(tableToJson),
      ...{ nextTombstoneId: this.tombstones_.nextId, tombstones: this.tombstones_.all().map(deleteRowsOperation) },
      ...{ nextTokenId: this.tokens_.nextId, tokens: this.tokens_.all() },
      stoppedNodes: this.stoppedNodes.toJson(),
      fileIndexes: this.fileIndexes_.toJson(),
      ...{ nextCacheId: this.caches_.nextId, caches: this.caches_.all() },
      ...{ nextTriggerId: this.triggers_.nextId, triggers: this.triggers_.all() },
      records: this.records_.toJson(),
      accounts: this.accounts_.toJson(),
      rowDeletes: this.rowDeletes_.toJson(),
    };
  }

  /** Restores the state from a snapshot. @throws TsdbError corrupt_file */
  static fromSnapshot(value: unknown): CatalogState {
    const snapshot = readObject("state", value);
    const state = new CatalogState();
    state.clusterUuid = readText("clusterUuid", snapshot["clusterUuid"]);
    for (const item of readArray("databases", snapshot["databases"])) {
      const { def, retentionNs, policies, deletion } = databaseFromJson(item);
      Object.assign(state.createDatabase(def), { retentionNs, policies });
      if (deletion !== null) state.setDeletion("database", def.id, deletion);
    }
    for (const item of readArray("tables", snapshot["tables"])) {
      const { columns, nextColumnId, retentionNs, deletion, ...table } = tableFromJson(item);
      const entry = state.createTable(table);
      state.addColumns(table.id, columns);
      Object.assign(entry, { retentionNs, nextColumnId: Math.max(entry.nextColumnId, nextColumnId) });
      if (deletion !== null) state.setDeletion("table", table.id, deletion);
    }
    for (const operation of snapshotOperations(snapshot)) state.apply(operation);
    for (const item of readArray("tokens", snapshot["tokens"] ?? [])) state.tokens_.add(readToken(item));
    // counters that older servers did not have
    const next = (name: string, least: number) => Math.max(least, readCount(name, snapshot[name] ?? 0));
    state.tombstones_.nextId = next("nextTombstoneId", state.tombstones_.nextId);
    state.caches_.nextId = next("nextCacheId", state.caches_.nextId);
    state.triggers_.nextId = next("nextTriggerId", state.triggers_.nextId);
    state.tokens_.nextId = next("nextTokenId", state.tokens_.nextId);
    state.accounts_.restore(snapshot["accounts"]);
    state.rowDeletes_.restore(snapshot["rowDeletes"]);
    state.records_ = readRecords(snapshot["records"]);
    state.nextDatabaseId = Math.max(state.nextDatabaseId, readCount("nextDatabaseId", snapshot["nextDatabaseId"]));
    state.nextTableId = Math.max(state.nextTableId, readCount("nextTableId", snapshot["nextTableId"]));
    return state;
  }
}
