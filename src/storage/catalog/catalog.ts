// The catalog: which databases, tables and columns exist. A shell around state.ts: operations change the state at once and become
// durable through the operation log; an acknowledgement that depends on them waits for `durable`.
import type { TokenDef } from "../../model/access.ts";
import { assert } from "../../model/assert.ts";
import type { CacheDef, CacheKind } from "../../model/caches.ts";
import { TsdbError } from "../../model/errors.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import type { TableDef } from "../../model/rows/column.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import type { TriggerDef } from "../../model/triggers.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import { type OperationLog, openOperationLog } from "../../object-store/operation-log.ts";
import { inFile } from "../../object-store/operation-values.ts";
import type { StoppedNode } from "./nodes.ts";
import { type CatalogOperation, readOperation } from "./operations.ts";
import type { PolicySettings } from "./policies.ts";
import { DEFAULT_SCHEMA_LIMITS, type SchemaLimits } from "./schema-limits.ts";
import { CatalogState, type DatabaseDef, type DeletedObject, type TableSchema } from "./state.ts";

/** They lead to space on the disk being freed, and wait for the little that they take. */
const FREEING: ReadonlySet<CatalogOperation["kind"]> = new Set([
  ...(["delete_rows", "retire_tombstones", "set_retention", "soft_delete", "schedule_drop", "drop"] as const),
  ...(["delete_token", "delete_cache", "delete_trigger", "disable_trigger"] as const),
]);

/** Where the default organization's databases live: what port 8181 sees. */
export const DEFAULT_NAMESPACE = 0;

export interface CatalogOptions {
  /** Key prefix of the log in the store. */
  readonly prefix: string;
  /** Called once when the log has failed: the server must stop. */
  readonly onFailure?: (error: TsdbError) => void;
  readonly snapshotEntries?: number;
  /** Nothing may be applied: `apply` throws read_only. */
  readonly readOnly?: boolean;
  /** For callers that make something: the catalog itself takes all operations, as it has to at the next start with lower ones. */
  readonly limits?: SchemaLimits;
  /** Made at the first start and kept from then on; given in for tests. */
  readonly newClusterUuid?: () => string;
}

export interface Applied {
  /** Version of the catalog with these operations. */
  readonly version: number;
  /** Resolves when they are durable. @throws TsdbError unavailable */
  readonly durable: Promise<void>;
}

export class Catalog {
  private cachesChanged: () => void = () => {};
  private triggersChanged: () => void = () => {};

  private constructor(
    private readonly log: OperationLog<CatalogOperation>,
    private readonly state: CatalogState,
    /** Damage that was found at start and cost nothing, as sentences for the server's log. */
    readonly warnings: readonly string[],
    readonly limits: SchemaLimits,
  ) {}

  /** Reads the log; at the very first start also writes it, so that the cluster's id is durable.
   *  @throws TsdbError corrupt_file naming the file, io, unavailable */
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

  /** Grows with every operation; equal versions mean equal catalogs. */
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

  /** What `limits.schemaBytesMax` bounds. */
  get definitionBytes(): number {
    return this.state.definitionBytes;
  }

  findDatabase(name: string, namespace = DEFAULT_NAMESPACE): DatabaseDef | undefined {
    return this.state.findDatabase(name, namespace);
  }

  /** A soft-deleted one, by the name it has now. */
  findDeletedDatabase(name: string, namespace = DEFAULT_NAMESPACE): DeletedObject | undefined {
    return this.state.findDeletedDatabase(name, namespace);
  }

  /** @see findDeletedDatabase */
  findDeletedTable(databaseId: number, name: string): DeletedObject | undefined {
    return this.state.findDeletedTable(databaseId, name);
  }

  /** Everything that is soft-deleted; tables of a deleted database only if they were deleted on their own. */
  deleted(): DeletedObject[] {
    return this.state.deleted();
  }

  /** Deleted ones too. */
  databaseById(id: number): DatabaseDef | undefined {
    return this.state.databaseById(id);
  }

  /** In order of creation. */
  databases(): DatabaseDef[] {
    return this.state.databases();
  }

  findTable(databaseId: number, name: string): TableDef | undefined {
    return this.state.findTable(databaseId, name)?.def;
  }

  /** Deleted ones too. */
  tableById(id: number): TableDef | undefined {
    return this.state.tableById(id)?.def;
  }

  /** In order of creation. */
  tables(databaseId: number): TableDef[] {
    return this.state.tables(databaseId);
  }

  /** The same with deleted ones. */
  allTables(databaseId: number): TableDef[] {
    return this.state.allTables(databaseId);
  }

  /** A table with its name index. Borrowed: read it within the same synchronous step. */
  findSchema(databaseId: number, name: string): TableSchema | undefined {
    return this.state.findTable(databaseId, name);
  }

  /** @see findSchema */
  schemaById(tableId: number): TableSchema | undefined {
    return this.state.tableById(tableId);
  }

  /** Ids that the next operations must carry, for planners; valid within the same synchronous step. */
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

  /** Undefined: the server is not marked as stopped. */
  stoppedNode(nodeId: string): StoppedNode | undefined {
    return this.state.stoppedNode(nodeId);
  }

  /** What has a file index. Borrowed: read it within the same synchronous step. */
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

  /** Of a table, in order of creation. The list stays as it is. */
  caches(tableId: number): readonly CacheDef[] {
    return this.state.caches.ofTable(tableId);
  }

  /** The same as asking for its caches, in the time of one look-up: every body asks. */
  hasCaches(tableId: number): boolean {
    return this.state.caches.has(tableId);
  }

  findCache(kind: CacheKind, tableId: number, name: string): CacheDef | undefined {
    return this.state.caches.find(kind, tableId, name);
  }

  /** Of all tables that can be asked, in order of creation: those of deleted tables and databases come back with them. */
  liveCaches(): CacheDef[] {
    return this.state.caches.all().filter(({ tableId }) => this.state.isTableLive(tableId));
  }

  /** Of all tables, deleted ones too: what LIMITS.cachesMax bounds. */
  get cacheCount(): number {
    return this.state.caches.count;
  }

  /** Another number when `liveCaches` may have changed. */
  get cacheChanges(): number {
    return this.state.caches.changes;
  }

  /** Called after each step of `apply` in which `cacheChanges` changed. One at a time. */
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

  /** Deletions that have not been applied to all files, ascending ids. The list stays as it is. */
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

  /** How many deletions there are that leave some rows of their table: what LIMITS.tombstonesMax bounds. */
  get partialTombstoneCount(): number {
    return this.state.tombstones.partialCount;
  }

  /** Rows of the table before this time are past their retention: they do not exist any more. */
  retentionMinNs(tableId: number, nowMs: number): bigint {
    const retentionNs = this.state.retentionNs(tableId);
    if (retentionNs === null) return ALL_TIME.minNs;
    const minNs = BigInt(Math.floor(nowMs)) * 1_000_000n - retentionNs;
    return minNs < ALL_TIME.minNs ? ALL_TIME.minNs : minNs;
  }

  /** The period that was set for the database or table itself; null = none, 0 = for ever. */
  retentionNs(of: "database" | "table", id: number): bigint | null {
    return this.state.ownRetentionNs(of, id);
  }

  /** Of a database as v1 clients see it. */
  policies(databaseId: number): PolicySettings {
    return this.state.policies(databaseId);
  }

  /** Why nothing can be changed any more, or ever; null otherwise. */
  get refusal(): TsdbError | null {
    return this.log.failed;
  }

  /** Changes the state at once. The operations were planned against this very state, so one that does not fit is our bug.
   *  @throws TsdbError unavailable when the log has failed, no_space when operations before wait for space: nothing is changed */
  apply(operations: readonly CatalogOperation[]): Applied {
    const { failed, stalled } = this.log;
    if (failed !== null) throw failed;
    if (stalled !== null && !operations.every(({ kind }) => FREEING.has(kind))) throw stalled;
    let durable: Promise<void> = this.durable(this.version);
    const { cacheChanges } = this;
    const triggerChanges = this.state.triggers.changes;
    for (const operation of operations) {
      try {
        this.state.apply(operation);
      } catch (cause) {
        assert(false, `operation ${JSON.stringify(operation)} does not fit: ${cause instanceof Error ? cause.message : String(cause)}`);
      }
      durable = this.log.append(operation).durable;
    }
    if (this.cacheChanges !== cacheChanges) this.cachesChanged();
    if (this.state.triggers.changes !== triggerChanges) this.triggersChanged();
    return { version: this.version, durable };
  }

  /** Resolves when everything up to `version` is durable. @throws TsdbError unavailable */
  durable(version: number): Promise<void> {
    return this.log.durable(version);
  }

  /** Waits for what is under way; nothing may be applied afterwards. */
  close(): Promise<void> {
    return this.log.close();
  }
}
