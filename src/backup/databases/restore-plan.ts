// What a restore does to the catalog. Ids of tables, databases and deletions are set aside first, then files come under them, which nobody
// sees; one entry of the catalog's log then brings all databases at once.

import { renamedAt } from "../../ingest/definitions/deleted-name.ts";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import type { TriggerDef } from "../../model/triggers.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import { type CatalogOperation, deleteRowsOperation } from "../../storage/catalog/operations.ts";
import type { PolicySettings } from "../../storage/catalog/policies.ts";
import { checkDatabaseLimit, checkSchemaMemory, checkTableLimit } from "../../storage/catalog/schema-limits.ts";
import { CatalogState, type DatabaseDef } from "../../storage/catalog/state.ts";
import type { DatabaseContent, TableContent } from "./content.ts";
import type { TableOrder } from "./table-order.ts";

/** Ids by those of the backup. */
export interface RestoredIds {
  readonly databases: ReadonlyMap<number, number>;
  readonly tables: ReadonlyMap<number, number>;
  /** Above those of all databases that are restored. */
  readonly lastDatabase: number;
}

/** What the entry of the catalog depends on beside the catalog. */
export interface RestoreMoment {
  /** Tables that are replaced can be restored for so long. */
  readonly hardDeleteDefaultMs: number;
  readonly nowMs: number;
  /** Of the log: triggers see rows behind it. */
  readonly durableSequence: number;
}

export interface RestorePlan {
  readonly operations: readonly CatalogOperation[];
  /** Ids of the tables that go. */
  readonly replaced: readonly number[];
}

/** A database that is there keeps its id, with which buckets and permissions name it. Resolves when nobody else gets the ids. @throws
 *  TsdbError read_only, no_space */
export async function reserveIds(catalog: Catalog, databases: readonly DatabaseContent[], nowMs: number): Promise<RestoredIds> {
  let { databaseId, tableId } = catalog.nextIds;
  const ofDatabases = new Map<number, number>();
  const ofTables = new Map<number, number>();
  for (const { id, name, tables } of databases) {
    ofDatabases.set(id, catalog.findDatabase(name)?.id ?? databaseId++);
    for (const table of tables) ofTables.set(table.id, tableId++);
  }
  // of a database that nobody sees: it comes and goes within one step
  const id = databaseId;
  const name = crypto.randomUUID();
  await catalog.apply([
    { kind: "create_database", id, namespace: 0, name },
    { kind: "create_table", id: tableId, databaseId: id, name },
    { kind: "soft_delete", of: "database", id, name: crypto.randomUUID(), deletedMs: nowMs, hardDeleteMs: nowMs },
    { kind: "drop", of: "database", id },
  ]).durable;
  return { databases: ofDatabases, tables: ofTables, lastDatabase: id };
}

/** The entry. @throws TsdbError already_exists if a database was made or deleted meanwhile; limit_exceeded, overloaded: nothing has
 *  changed then */
export function planRestore(
  catalog: Catalog,
  databases: readonly DatabaseContent[],
  ids: RestoredIds,
  orders: ReadonlyMap<number, TableOrder>,
  moment: RestoreMoment,
): RestorePlan {
  const plan = new Planner(catalog, ids, orders, moment);
  for (const database of databases) plan.addAll(database);
  const { operations, replaced, added } = plan;
  const { limits, databaseCount, tableCount } = catalog;
  if (added.databases > 0) checkDatabaseLimit({ databaseCount: databaseCount + added.databases - 1 }, limits);
  checkTableLimit({ tableCount: tableCount - replaced.length }, added.tables, limits);
  checkSchemaMemory(catalog, added, limits);
  if (added.caches > 0) requireRoom("caches", catalog.cacheCount + added.caches, LIMITS.cachesMax);
  if (added.triggers > 0) requireRoom("triggers", catalog.triggers.count + added.triggers, LIMITS.triggersMax);
  return { operations, replaced };
}

/** Makes the databases in an empty catalog, which a backup that contradicts itself does not allow; some at a time. @throws TsdbError
 *  corrupt_file */
export async function checkContent(databases: readonly DatabaseContent[], orders: ReadonlyMap<number, TableOrder>): Promise<void> {
  const own = new Map(databases.map(({ id }) => [id, id]));
  const tables = new Map(databases.flatMap((database) => database.tables.map(({ id }) => [id, id] as const)));
  const state = new CatalogState();
  const plan = new Planner(EMPTY, { databases: own, tables, lastDatabase: 0 }, orders, {
    nowMs: 0,
    durableSequence: 0,
    hardDeleteDefaultMs: 0,
  });
  for (const database of databases) plan.addAll(database);
  for (const [i, operation] of plan.operations.entries()) {
    if (i % OPERATIONS_PER_TURN === OPERATIONS_PER_TURN - 1) await new Promise((resolve) => setImmediate(resolve));
    try {
      state.apply(operation);
    } catch (cause) {
      throw new TsdbError("corrupt_file", `the backup contradicts itself: ${(cause as Error).message}`, {}, { cause });
    }
  }
}

/** A few milliseconds. */
const OPERATIONS_PER_TURN = 2000;

/** What a plan asks of a catalog. */
type PlannedCatalog = Pick<
  Catalog,
  "findDatabase" | "findDeletedDatabase" | "findDeletedTable" | "databaseById" | "tables" | "allTables" | "nextIds"
> & { readonly triggers: Pick<Catalog["triggers"], "ofDatabase"> };

const EMPTY: PlannedCatalog = {
  ...{ findDatabase: () => undefined, findDeletedDatabase: () => undefined, findDeletedTable: () => undefined },
  ...{ databaseById: () => undefined, tables: () => [], allTables: () => [], triggers: { ofDatabase: () => [] } },
  nextIds: { databaseId: 1, tableId: 1, tombstoneId: 1, tokenId: 0, cacheId: 0, triggerId: 1 },
};

function requireRoom(what: string, count: number, max: number): void {
  if (count > max) throw new TsdbError("limit_exceeded", `with the backup there would be ${count} ${what}, at most ${max} are possible`);
}

class Planner {
  readonly operations: CatalogOperation[] = [];
  readonly replaced: number[] = [];
  readonly added = { databases: 0, tables: 0, columns: 0, caches: 0, triggers: 0 };
  private nextCacheId: number;
  private nextTriggerId: number;

  constructor(
    private readonly catalog: PlannedCatalog,
    private readonly ids: RestoredIds,
    private readonly orders: ReadonlyMap<number, TableOrder>,
    private readonly moment: RestoreMoment,
  ) {
    this.nextCacheId = catalog.nextIds.cacheId;
    this.nextTriggerId = catalog.nextIds.triggerId;
  }

  addAll(database: DatabaseContent): void {
    this.addDatabase(database);
    this.addTriggers(database);
  }

  private addDatabase({ id: formerId, name, retentionNs, policies, fileIndex, tables }: DatabaseContent): void {
    const { catalog, operations } = this;
    const id = this.ids.databases.get(formerId)!;
    const present = catalog.findDatabase(name);
    if ((present?.id ?? id) !== id || (present === undefined && catalog.databaseById(id) !== undefined)) throw changed(name);
    if (present === undefined) {
      if (catalog.findDeletedDatabase(name) !== undefined) throw taken(name);
      operations.push({ kind: "create_database", id, namespace: 0, name, isReused: true });
      this.added.databases += 1;
    } else this.removeTables(present);
    operations.push(
      { kind: "set_retention", of: "database", id, retentionNs },
      { kind: "set_policies", databaseId: id, ...this.policies(policies) },
      { kind: "set_file_index", of: "database", id, columns: fileIndex },
    );
    for (const table of tables) this.addTable(table, id, name);
  }

  /** They can be restored, as after any deletion. */
  private removeTables({ id: databaseId }: DatabaseDef): void {
    const { catalog, operations } = this;
    const { nowMs: deletedMs, hardDeleteDefaultMs } = this.moment;
    const names = new Set(catalog.allTables(databaseId).map(({ name }) => name));
    for (const { id, name: formerName } of catalog.tables(databaseId)) {
      const name = renamedAt(formerName, deletedMs, id, (candidate) => names.has(candidate));
      names.add(name);
      const hardDeleteMs = deletedMs + hardDeleteDefaultMs;
      operations.push({ kind: "soft_delete", of: "table", id, name, deletedMs, hardDeleteMs });
      this.replaced.push(id);
    }
  }

  private addTable(table: TableContent, databaseId: number, database: string): void {
    const { operations } = this;
    const { name, columns, retentionNs, fileIndex, caches, tombstones } = table;
    if (this.catalog.findDeletedTable(databaseId, name) !== undefined) throw taken(`${database}.${name}`);
    const id = this.ids.tables.get(table.id)!;
    const order = this.orders.get(table.id)!;
    operations.push({ kind: "create_table", id, databaseId, name, isReused: true });
    this.added.tables += 1;
    this.added.columns += columns.length;
    if (columns.length > 0) operations.push({ kind: "add_columns", tableId: id, columns });
    if (retentionNs !== null) operations.push({ kind: "set_retention", of: "table", id, retentionNs });
    if (fileIndex !== null) operations.push({ kind: "set_file_index", of: "table", id, columns: fileIndex });
    // requests to delete rows are in no backup: what they hid stays away
    for (const { isHeld: _, ...tombstone } of tombstones) {
      const own = { id: order.tombstone(tombstone.id), sequence: order.sequence(tombstone.sequence) };
      operations.push(deleteRowsOperation({ ...tombstone, tableId: id, ...own }));
    }
    for (const cache of caches) {
      operations.push({ kind: "create_cache", cache: { ...cache, id: this.nextCacheId++, tableId: id } });
      this.added.caches += 1;
    }
  }

  /** Those that are there and are the same stay, with their place in the log. */
  private addTriggers({ id: formerId, triggers }: DatabaseContent): void {
    const databaseId = this.ids.databases.get(formerId)!;
    const present = this.catalog.triggers.ofDatabase(databaseId);
    const kept = new Set<string>();
    for (const trigger of present) {
      const same = triggers.find(({ name }) => name === trigger.name);
      if (same !== undefined && shown(same) === shown(trigger)) kept.add(trigger.name);
      else {
        this.operations.push({ kind: "delete_trigger", id: trigger.id });
        this.added.triggers -= 1;
      }
    }
    for (const trigger of triggers) {
      if (kept.has(trigger.name)) continue;
      const own = { id: this.nextTriggerId++, databaseId, sequence: this.moment.durableSequence };
      this.operations.push({ kind: "create_trigger", trigger: { ...trigger, ...own } });
      this.added.triggers += 1;
    }
  }

  /** A place among policies is the id of a database. */
  private policies({ place, ...policies }: PolicySettings): PolicySettings {
    if (place === null) return { ...policies, place };
    const later = [...this.ids.databases].filter(([formerId]) => formerId >= place).sort(([a], [b]) => a - b);
    return { ...policies, place: later[0]?.[1] ?? this.ids.lastDatabase };
  }
}

/** What a trigger is, without what it is on this server. */
function shown({ id: _, databaseId: __, sequence: ___, createdMs: ____, ...trigger }: TriggerDef): string {
  return JSON.stringify(trigger);
}

function changed(name: string): TsdbError {
  const message = `database ${JSON.stringify(name)} was made or deleted during the restore; nothing was restored, try again`;
  return new TsdbError("already_exists", message, { database: name });
}

function taken(name: string): TsdbError {
  const message = `something deleted has the name ${JSON.stringify(name)} of the backup; nothing was restored, try again when it is dropped`;
  return new TsdbError("already_exists", message, { name });
}
