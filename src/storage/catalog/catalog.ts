// The catalog: databases, tables, columns, tokens, deletions. Wraps the state machine of state.ts: operations change the state immediately
// and become durable through the operation log; acknowledgements that depend on them wait for `durable`.
import type { TokenDef } from "../../model/access.ts";
import { assert } from "../../model/assert.ts";
import type { CacheDef, CacheKind } from "../../model/caches.ts";
import { TsdbError } from "../../model/errors.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import { splitPolicy } from "../../model/retention-policies.ts";
import type { TableDef } from "../../model/rows/column.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import type { TriggerDef } from "../../model/triggers.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import { type OperationLog, openOperationLog } from "../../object-store/operation-log.ts";
import { inFile } from "../../object-store/operation-values.ts";
import type { StoppedNode } from "./nodes.ts";
import { type CatalogOperation, readOperation } from "./operations.ts";
import type { PolicySettings } from "./policies.ts";
import type { RecordSet } from "./records.ts";
import { DEFAULT_SCHEMA_LIMITS, type SchemaLimits } from "./schema-limits.ts";
import { CatalogState, type DatabaseDef, type DeletedObject, type TableSchema } from "./state.ts";

/** Operations that lead to freed disk space; on a full disk they wait for the few bytes that they need. */
const FREEING: ReadonlySet<CatalogOperation["kind"]> = new Set([
  ...(["request_row_delete", "release_row_delete", "complete_row_delete", "abort_row_delete", "forget_row_delete"] as const),
  ...(["delete_rows", "retire_tombstones", "set_retention", "soft_delete", "schedule_drop", "drop"] as const),
  ...(["delete_token", "delete_cache", "delete_trigger", "disable_trigger", "delete_record", "end_session"] as const),
]);

/** Namespace of the default organization's databases: those visible on port 8181. */
export const DEFAULT_NAMESPACE = 0;

export interface CatalogOptions {
  /** Key prefix of the log in the store. */
  readonly prefix: string;
  /** Called once when the log has failed: the server must stop. */
  readonly onFailure?: (error: TsdbError) => void;
  readonly snapshotEntries?: number;
  /** `apply` throws read_only. */
  readonly readOnly?: boolean;
  /** Checked by callers before they create something. The catalog itself accepts all operations, since a restart may lower the limits. */
  readonly limits?: SchemaLimits;
  /** Generated at the first start and kept; injected by tests. */
  readonly newClusterUuid?: () => string;
}

export interface Applied {
  /** Catalog version that contains these operations. */
  readonly version: number;
  /** Resolves once they are durable. @throws TsdbError unavailable */
  readonly durable: Promise<void>;
}

/** The catalog of one node, on the main thread. */
export class Catalog {
  private cachesChanged: () => void = () => {};
  private triggersChanged: () => void = () => {};
  private databasesChanged: (databaseIds: ReadonlySet<number>) => void = () => {};

  private constructor(
    private readonly log: OperationLog<CatalogOperation>,
    private readonly state: CatalogState,
    /** Harmless damage found at start, as sentences for the server's log. */
    readonly warnings: readonly string[],
    readonly limits: SchemaLimits,
  ) {}

  /** Reads the log; the very first start also writes it, so that the cluster's id is durable. @throws TsdbError corrupt_file naming the
   *  file, io, unavailable */
  static async open(store: ObjectStore, options: CatalogOptions): Promise<Catalog> {
    const opened = await openOperationLog<CatalogOperation>(store, { ...options, kind: "catalog" });
    const state =
      opened.snapshot === null ? new CatalogState() : inFile(opened.snapshot.file, () => CatalogState.fromSnapshot(opened.snapshot!.state));
    for (const { value, file } of opened.operations) inFile(file, () => state.apply(readOperation(value)));
    const catalog = new Catalog(opened.log, state, opened.warnings, options.limits ?? DEFAULT_SCHEMA_LIMITS);
    opened.log.snapshotWith(() => state.toSnapshot());
    if (state.clusterUuid === "" && options.readOnly) {
      throw new TsdbError("config", `--read-only: there is no data under ${options.prefix} in the data folder`, { prefix: options.prefix });
    }
    if (state.clusterUuid === "") {
      const uuid = options.newClusterUuid?.() ?? crypto.randomUUID();
      await catalog.apply([{ kind: "create_cluster", uuid }]).durable;
    }
    return catalog;
  }

  /** Increases with every operation; equal versions mean equal catalogs. */
  get version(): number {
    return this.log.last;
  }

  get clusterUuid(): string {
    return this.state.clusterUuid;
  }

  get databaseCount(): number {
    return this.state.databaseCount;
  }

  get tableCount(): number {
    return this.state.tableCount;
  }

  /** The size limited by `limits.schemaBytesMax`. */
  get definitionBytes(): number {
    return this.state.definitionBytes;
  }

  findDatabase(name: string, namespace = DEFAULT_NAMESPACE): DatabaseDef | undefined {
    return this.state.findDatabase(name, namespace);
  }

  /** A soft-deleted database, by its current name. */
  findDeletedDatabase(name: string, namespace = DEFAULT_NAMESPACE): DeletedObject | undefined {
    return this.state.findDeletedDatabase(name, namespace);
  }

  /** @see findDeletedDatabase */
  findDeletedTable(databaseId: number, name: string): DeletedObject | undefined {
    return this.state.findDeletedTable(databaseId, name);
  }

  /** All soft-deleted objects; tables of a deleted database only if they were deleted individually. */
  deleted(): DeletedObject[] {
    return this.state.deleted();
  }

  /** Includes deleted ones. */
  databaseById(id: number): DatabaseDef | undefined {
    return this.state.databaseById(id);
  }

  /** By name in the default namespace, or by id; not deleted. @throws TsdbError unknown_database; of a policy `ofUnknown` is the
   *  database that it would belong to, if that does not exist either */
  liveDatabase(nameOrId: string | number): DatabaseDef {
    const def = typeof nameOrId === "number" ? this.databaseById(nameOrId) : this.findDatabase(nameOrId);
    if (def !== undefined && this.findDatabase(def.name, def.namespace) === def) return def;
    const database = String(nameOrId);
    const { base, policy } = splitPolicy(database);
    const ofUnknown = policy !== null && this.findDatabase(base) === undefined ? { ofUnknown: base } : {};
    throw new TsdbError("unknown_database", `database not found: ${nameOrId}`, { database, ...ofUnknown });
  }

  /** In order of creation. */
  databases(namespace = DEFAULT_NAMESPACE): DatabaseDef[] {
    return this.state.databases().filter((def) => def.namespace === namespace);
  }

  /** Those of all namespaces. */
  allDatabases(): DatabaseDef[] {
    return this.state.databases();
  }

  findTable(databaseId: number, name: string): TableDef | undefined {
    return this.state.findTable(databaseId, name)?.def;
  }

  /** Includes deleted ones. */
  tableById(id: number): TableDef | undefined {
    return this.state.tableById(id)?.def;
  }

  /** In order of creation. */
  tables(databaseId: number): TableDef[] {
    return this.state.tables(databaseId);
  }

  /** The same including deleted ones. */
  allTables(databaseId: number): TableDef[] {
    return this.state.allTables(databaseId);
  }

  /** A table with its name index. Borrowed: use it within the same synchronous step. */
  findSchema(databaseId: number, name: string): TableSchema | undefined {
    return this.state.findTable(databaseId, name);
  }

  /** @see findSchema */
  schemaById(tableId: number): TableSchema | undefined {
    return this.state.tableById(tableId);
  }

  /** The ids that the next operations must carry, for planners; valid within the same synchronous step. */
  get nextIds(): {
    readonly databaseId: number;
    readonly tableId: number;
    readonly tombstoneId: number;
    readonly tokenId: number;
    readonly cacheId: number;
    readonly triggerId: number;
  } {
    const { nextDatabaseId, nextTableId, tombstones, tokens, caches, triggers } = this.state;
    return {
      ...{ databaseId: nextDatabaseId, tableId: nextTableId },
      ...{ tombstoneId: tombstones.nextId, tokenId: tokens.nextId, cacheId: caches.nextId, triggerId: triggers.nextId },
    };
  }

  /** Undefined if the server is not marked as stopped. */
  stoppedNode(nodeId: string): StoppedNode | undefined {
    return this.state.stoppedNode(nodeId);
  }

  /** The tables and databases with file indexes. Borrowed: use it within the same synchronous step. */
  get fileIndexes(): CatalogState["fileIndexes"] {
    return this.state.fileIndexes;
  }

  findToken(name: string): TokenDef | undefined {
    return this.state.tokens.find(name);
  }

  /** By the hash of its text. */
  tokenByHash(hash: string): TokenDef | undefined {
    return this.state.tokens.withHash(hash);
  }

  /** In order of creation. */
  tokens(): TokenDef[] {
    return this.state.tokens.all();
  }

  /** Caches of a table, in order of creation. The list is immutable. */
  caches(tableId: number): readonly CacheDef[] {
    return this.state.caches.ofTable(tableId);
  }

  /** True if the table has caches; a single lookup, because every body asks. */
  hasCaches(tableId: number): boolean {
    return this.state.caches.has(tableId);
  }

  findCache(kind: CacheKind, tableId: number, name: string): CacheDef | undefined {
    return this.state.caches.find(kind, tableId, name);
  }

  /** Caches of all live tables, in order of creation: those of deleted tables and databases reappear when these are restored. */
  liveCaches(): CacheDef[] {
    return this.state.caches.all().filter(({ tableId }) => this.state.isTableLive(tableId));
  }

  /** Caches of all tables, including deleted ones: limited by LIMITS.cachesMax. */
  get cacheCount(): number {
    return this.state.caches.count;
  }

  /** Changes when `liveCaches` may have changed. */
  get cacheChanges(): number {
    return this.state.caches.changes;
  }

  /** Sets the listener that is called after each `apply` that changed `cacheChanges`. */
  onCacheChanges(listener: () => void): void {
    this.cachesChanged = listener;
  }

  /** Triggers by name, of deleted databases too. Borrowed: read it within the same synchronous step. */
  get triggers(): CatalogState["triggers"] {
    return this.state.triggers;
  }

  /** Those whose database is not deleted, in order of creation. */
  liveTriggers(): TriggerDef[] {
    const live = new Set(this.state.databases().map(({ id }) => id));
    return this.state.triggers.all().filter(({ databaseId }) => live.has(databaseId));
  }

  /** Called after each step of `apply` in which `triggers.changes` changed. One at a time. */
  onTriggerChanges(listener: () => void): void {
    this.triggersChanged = listener;
  }

  /** Deletions not yet applied to all files, ascending ids. The list is immutable. */
  tombstonesOf(tableId: number): readonly Tombstone[] {
    return this.state.tombstones.ofTable(tableId);
  }

  /** Of all tables, ascending ids. */
  tombstones(): Tombstone[] {
    return this.state.tombstones.all();
  }

  tablesWithTombstones(): Iterable<number> {
    return this.state.tombstones.tableIds();
  }

  /** Deletions that leave some rows of their table: limited by LIMITS.tombstonesMax. */
  get partialTombstoneCount(): number {
    return this.state.tombstones.partialCount;
  }

  /** Requests to delete rows, with their outcome. Borrowed: read it within the same synchronous step. */
  get rowDeletes(): CatalogState["rowDeletes"] {
    return this.state.rowDeletes;
  }

  /** Rows of the table before this time are past their retention and treated as non-existent. */
  retentionMinNs(tableId: number, nowMs: number): bigint {
    const retentionNs = this.state.retentionNs(tableId);
    if (retentionNs === null) return ALL_TIME.minNs;
    const minNs = BigInt(Math.floor(nowMs)) * 1_000_000n - retentionNs;
    return minNs < ALL_TIME.minNs ? ALL_TIME.minNs : minNs;
  }

  /** The period set for the database or table itself; null = none, 0 = forever. */
  retentionNs(of: "database" | "table", id: number): bigint | null {
    return this.state.ownRetentionNs(of, id);
  }

  /** Retention policies of a database as v1 clients see them. */
  policies(databaseId: number): PolicySettings {
    return this.state.policies(databaseId);
  }

  /** Users of port 8181. Borrowed: read it within the same synchronous step. */
  get accounts(): CatalogState["accounts"] {
    return this.state.accounts;
  }

  /** Of the v2 line. Borrowed: read it within the same synchronous step. */
  get records(): Pick<RecordSet, "lastId" | "kinds" | "ofKind"> {
    return this.state.records;
  }

  /** Called within each step of `apply` that made, changed, deleted, restored or dropped databases, with their ids. One at a time. */
  onDatabaseChanges(listener: (databaseIds: ReadonlySet<number>) => void): void {
    this.databasesChanged = listener;
  }

  /** Why the catalog can no longer be changed; null if it can. */
  get refusal(): TsdbError | null {
    return this.log.failed;
  }

  /** The catalog's size after these operations, which are tried on a copy. @throws TsdbError corrupt_file if one does not fit */
  rehearse(operations: readonly CatalogOperation[]): Pick<CatalogState, "databaseCount" | "tableCount" | "definitionBytes"> {
    const copy = CatalogState.fromSnapshot(JSON.parse(JSON.stringify(this.state.toSnapshot())));
    for (const operation of operations) copy.apply(readOperation(operation));
    return copy;
  }

  /** Changes the state immediately. The operations were planned against this very state, so an operation that does not fit is a bug.
   *  @throws TsdbError unavailable if the log has failed, no_space if earlier operations wait for disk space: nothing has changed then */
  apply(operations: readonly CatalogOperation[]): Applied {
    const { failed, stalled } = this.log;
    if (failed !== null) throw failed;
    if (stalled !== null && !operations.every(({ kind }) => FREEING.has(kind))) throw stalled;
    let durable: Promise<void> = this.durable(this.version);
    const { cacheChanges } = this;
    const triggerChanges = this.state.triggers.changes;
    for (const operation of operations) {
      try {
        // what a start would refuse is not logged
        readOperation(operation);
        this.state.apply(operation);
      } catch (cause) {
        assert(false, `operation ${JSON.stringify(operation)} does not fit: ${cause instanceof Error ? cause.message : String(cause)}`);
      }
      durable = this.log.append(operation).durable;
    }
    if (this.cacheChanges !== cacheChanges) this.cachesChanged();
    if (this.state.triggers.changes !== triggerChanges) this.triggersChanged();
    const databaseIds = changedDatabases(operations);
    if (databaseIds.size > 0) this.databasesChanged(databaseIds);
    return { version: this.version, durable };
  }

  /** Resolves once everything up to `version` is durable. @throws TsdbError unavailable */
  durable(version: number): Promise<void> {
    return this.log.durable(version);
  }

  /** Waits for pending writes; nothing may be applied afterwards. */
  close(): Promise<void> {
    return this.log.close();
  }
}

function changedDatabases(operations: readonly CatalogOperation[]): Set<number> {
  const ids = new Set<number>();
  for (const operation of operations) {
    if (operation.kind === "create_database" || operation.kind === "rename_database") ids.add(operation.id);
    else if (operation.kind === "set_policies") ids.add(operation.databaseId);
    else if ("of" in operation && operation.of === "database" && typeof operation.id === "number") ids.add(operation.id);
  }
  return ids;
}
