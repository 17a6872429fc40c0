// The defined last-value and distinct-value caches. Part of the catalog's state: no clock, no I/O.
import type { CacheDef, CacheKind } from "../../model/caches.ts";
import { ColumnType, type TableDef } from "../../model/rows/column.ts";
import { badValue, readArray, readCount, readObject, readText } from "../../object-store/operation-values.ts";
import { violated } from "./contradiction.ts";

/** Cache definitions by table and id. */
export class CacheSet {
  /** Ids are never reused, even after their owner is gone. */
  nextId = 0;
  /** Changes with every change of the set of caches, or of which of their tables are live. */
  changes = 0;
  private readonly byId = new Map<number, CacheDef>();
  /** Ascending ids; a table's list is replaced, never modified. Tables without caches have no entry. */
  private readonly byTable = new Map<number, readonly CacheDef[]>();

  get count(): number {
    return this.byId.size;
  }

  ofTable(tableId: number): readonly CacheDef[] {
    return this.byTable.get(tableId) ?? [];
  }

  has(tableId: number): boolean {
    return this.byTable.has(tableId);
  }

  withId(id: number): CacheDef | undefined {
    return this.byId.get(id);
  }

  find(kind: CacheKind, tableId: number, name: string): CacheDef | undefined {
    return this.ofTable(tableId).find((cache) => cache.kind === kind && cache.name === name);
  }

  /** In order of creation. */
  all(): CacheDef[] {
    return [...this.byId.values()];
  }

  /** @throws TsdbError corrupt_file if it does not fit its table; nothing has changed then */
  add(cache: CacheDef, table: TableDef | undefined): void {
    const { id, kind, tableId, name } = cache;
    if (table === undefined) violated(`cache ${id} of table ${tableId}, which does not exist`);
    if (id < this.nextId) violated(`cache id ${id} of ${JSON.stringify(name)} was used before`);
    if (this.find(kind, tableId, name) !== undefined) violated(`a second ${kind} cache ${JSON.stringify(name)} of table ${tableId}`);
    checkColumns(cache, table);
    this.byId.set(cache.id, cache);
    this.byTable.set(cache.tableId, [...this.ofTable(cache.tableId), cache]);
    this.nextId = cache.id + 1;
    this.changes += 1;
  }

  /** @throws TsdbError corrupt_file */
  remove(id: number): void {
    const cache = this.byId.get(id) ?? violated(`cache ${id} does not exist`);
    this.byId.delete(id);
    const kept = this.ofTable(cache.tableId).filter((other) => other.id !== id);
    if (kept.length === 0) this.byTable.delete(cache.tableId);
    else this.byTable.set(cache.tableId, kept);
    this.changes += 1;
  }

  /** Removes the caches of a dropped table. */
  removeTable(tableId: number): void {
    for (const { id } of this.ofTable(tableId)) this.remove(id);
  }
}

function checkColumns(cache: CacheDef, { id: tableId, columns }: TableDef): void {
  const { id } = cache;
  const named = cache.kind === "last" ? [...cache.keyColumnIds, ...(cache.valueColumnIds ?? [])] : cache.columnIds;
  const typeOf = new Map(columns.map((column) => [column.id, column.type]));
  for (const columnId of named) {
    const type = typeOf.get(columnId);
    if (type === undefined || type === ColumnType.time) violated(`cache ${id} asks for column ${columnId} of table ${tableId}`);
    if (!fits(cache, columnId, type)) violated(`cache ${id} cannot tell rows by column ${columnId} of table ${tableId}`);
  }
  if (new Set(named).size < named.length) violated(`cache ${id} names a column twice`);
  if (cache.kind === "distinct" && named.length === 0) violated(`cache ${id} has no columns`);
}

function fits(cache: CacheDef, columnId: number, type: ColumnType): boolean {
  if (cache.kind === "distinct") return type === ColumnType.tag || type === ColumnType.string;
  return !cache.keyColumnIds.includes(columnId) || type !== ColumnType.float;
}

/** @throws TsdbError corrupt_file */
export function readCache(value: unknown): CacheDef {
  const cache = readObject("cache", value);
  const count = (name: string) => readCount(name, cache[name]);
  const positive = (name: string) => count(name) || badValue(name, cache[name], "at least 1");
  const columnIds = (name: string) => readArray(name, cache[name]).map((id) => readCount(name, id));
  const common = {
    ...{ id: count("id"), tableId: count("tableId"), name: readText("name", cache["name"]) },
    ...{ nodes: readText("nodes", cache["nodes"]), createdMs: count("createdMs") },
  };
  const { kind } = cache;
  if (kind === "last") {
    const valueColumnIds = cache["valueColumnIds"] === null ? null : columnIds("valueColumnIds");
    const keyColumnIds = columnIds("keyColumnIds");
    const namesTime = cache["namesTime"] === true ? { namesTime: true } : {};
    return { kind, ...common, keyColumnIds, valueColumnIds, ...namesTime, count: positive("count"), ttlSeconds: positive("ttlSeconds") };
  }
  if (kind !== "distinct") badValue("kind", kind, "last or distinct");
  const bounds = { maxCardinality: positive("maxCardinality"), maxAgeSeconds: positive("maxAgeSeconds") };
  return { kind, ...common, columnIds: columnIds("columnIds"), ...bounds };
}
