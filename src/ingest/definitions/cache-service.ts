// Creates and deletes caches on behalf of users, in the catalog. Their contents belong to the cache worker (caches/).

import type { CacheName, CacheService, CreatedCache, NewCache, NewDistinctCache, NewLastCache } from "../../model/cache-service.ts";
import { CACHE_DEFAULTS, type CacheDef, type CacheKind, defaultCacheName } from "../../model/caches.ts";
import { near, TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import { type ColumnDef, ColumnType, type TableDef, TIME_COLUMN } from "../../model/rows/column.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import type { DatabaseDef } from "../../storage/catalog/state.ts";

export interface CacheServiceParts {
  readonly catalog: Catalog;
  readonly nowMs: () => number;
  /** True if the cluster has a server of this name. */
  readonly isNode: (nodeId: string) => boolean;
}

type Common = Pick<CacheDef, "id" | "tableId" | "nodes" | "createdMs">;

/** Last-value and distinct-value caches by the names of database, table and cache. Both methods resolve when the catalog is durable.
 *  @throws TsdbError unknown_database, unknown_table, not_found, already_exists, bad_request */
export class NamedCaches implements CacheService {
  constructor(private readonly parts: CacheServiceParts) {}

  async create(request: NewCache): Promise<CreatedCache> {
    const { catalog } = this.parts;
    const { database, table } = this.find(request.database, request.table);
    const common: Common = {
      id: catalog.nextIds.cacheId,
      tableId: table.id,
      nodes: this.nodes(request.nodes),
      createdMs: this.parts.nowMs(),
    };
    const cache = request.kind === "last" ? lastCache(common, request, table) : distinctCache(common, request, table);
    this.checkFree(cache, database, table);
    this.checkRoom(table);
    const { version, durable } = catalog.apply([{ kind: "create_cache", cache }]);
    await durable;
    return { cache, database, table, sequence: version };
  }

  async delete(kind: CacheKind, { database: databaseName, table: tableName, name }: CacheName): Promise<void> {
    const { catalog } = this.parts;
    const { table } = this.find(databaseName, tableName);
    const cache = catalog.findCache(kind, table.id, name);
    if (cache === undefined) {
      throw new TsdbError("not_found", `${kind} cache not found: '${near(name, 200)}' of ${databaseName}.${tableName}`, {});
    }
    await catalog.apply([{ kind: "delete_cache", id: cache.id }]).durable;
  }

  private find(databaseName: string, tableName: string): { database: DatabaseDef; table: TableDef } {
    const { catalog } = this.parts;
    const database = catalog.findDatabase(databaseName);
    if (database === undefined) throw new TsdbError("unknown_database", `database not found: ${databaseName}`, { database: databaseName });
    const table = catalog.findTable(database.id, tableName);
    if (table !== undefined) return { database, table };
    throw new TsdbError("unknown_table", `table not found: ${databaseName}.${tableName}`, { database: databaseName, table: tableName });
  }

  private nodes(nodes: readonly string[] | null): string {
    if (nodes === null) return "all";
    const unknown = nodes.find((nodeId) => !this.parts.isNode(nodeId));
    if (unknown !== undefined) throw new TsdbError("not_found", `node not found: ${near(unknown)}`, {});
    return `nodes:${[...new Set(nodes)].join(",")}`;
  }

  private checkFree(cache: CacheDef, database: DatabaseDef, table: TableDef): void {
    const existing = this.parts.catalog.findCache(cache.kind, table.id, cache.name);
    if (existing === undefined) return;
    const isSame = configurationOf(existing) === configurationOf(cache);
    const what = `a ${cache.kind} cache '${near(cache.name, 200)}' of ${database.name}.${table.name} already exists`;
    if (isSame && cache.kind === "distinct") throw new TsdbError("already_exists", `${what} with the same configuration`, {});
    throw new TsdbError("bad_request", `${what} with ${isSame ? "the same" : "a different"} configuration`, {});
  }

  private checkRoom({ id }: TableDef): void {
    const { catalog } = this.parts;
    const { cachesMax, cachesPerTableMax } = LIMITS;
    if (catalog.caches(id).length >= cachesPerTableMax) throw tooMany(`${cachesPerTableMax} caches per table`, cachesPerTableMax);
    if (catalog.cacheCount >= cachesMax) throw tooMany(`${cachesMax} caches`, cachesMax);
  }
}

function lastCache(common: Common, request: NewLastCache, table: TableDef): CacheDef {
  const tags = table.columns.filter(({ type }) => type === ColumnType.tag);
  const keys = request.keyColumns === null ? tags : columnsOf(table, "key", request.keyColumns);
  const float = keys.find(({ type }) => type === ColumnType.float || type === ColumnType.time);
  if (float !== undefined) {
    refuse(`column '${near(float.name)}' cannot be a key of a last cache: keys are tags, strings, integers or booleans`);
  }
  const named = request.valueColumns?.filter((name) => name !== TIME_COLUMN.name);
  const values = named === undefined ? null : columnsOf(table, "value", named);
  const both = values?.find((column) => keys.includes(column));
  if (both !== undefined) refuse(`column '${near(both.name)}' cannot be both key and value of a last cache`);
  return {
    kind: "last",
    ...common,
    name: nameOf(request, table, keys),
    keyColumnIds: keys.map(({ id }) => id),
    valueColumnIds: values?.map(({ id }) => id) ?? null,
    ...(request.valueColumns?.includes(TIME_COLUMN.name) ? { namesTime: true } : {}),
    count: within("count", request.count ?? CACHE_DEFAULTS.count, LIMITS.cacheRowsMax),
    ttlSeconds: within("ttl", request.ttlSeconds ?? CACHE_DEFAULTS.ttlSeconds, LIMITS.cacheAgeSecondsMax),
  };
}

function distinctCache(common: Common, request: NewDistinctCache, table: TableDef): CacheDef {
  if (request.columns.length === 0) refuse("a distinct cache needs a column: `columns` is empty");
  const columns = columnsOf(table, "distinct", request.columns);
  const other = columns.find(({ type }) => type !== ColumnType.tag && type !== ColumnType.string);
  if (other !== undefined) refuse(`column '${near(other.name)}' cannot be in a distinct cache: it is neither a tag nor a string field`);
  return {
    kind: "distinct",
    ...common,
    name: nameOf(request, table, columns),
    columnIds: columns.map(({ id }) => id),
    maxCardinality: within("max_cardinality", request.maxCardinality ?? CACHE_DEFAULTS.maxCardinality, LIMITS.cacheRowsMax),
    maxAgeSeconds: within("max_age", request.maxAgeSeconds ?? CACHE_DEFAULTS.maxAgeSeconds, LIMITS.cacheAgeSecondsMax),
  };
}

function columnsOf(table: TableDef, role: "key" | "value" | "distinct", names: readonly string[]): ColumnDef[] {
  const byName = new Map(table.columns.map((column) => [column.name, column]));
  const seen = new Set<string>();
  return names.map((name) => {
    const column = byName.get(name) ?? refuse(`table '${near(table.name)}' has no column '${near(name)}'`);
    if (seen.has(name)) refuse(`duplicate ${role} column '${near(name)}'`);
    seen.add(name);
    return column;
  });
}

function nameOf({ kind, name }: NewCache, table: TableDef, columns: readonly ColumnDef[]): string {
  const names = columns.map((column) => column.name);
  const chosen = name ?? defaultCacheName(kind, table.name, names);
  if (chosen === "") refuse("a cache's name cannot be empty");
  if (chosen.includes("\0")) refuse("a cache's name contains a NUL character");
  const bytes = Buffer.byteLength(chosen);
  if (bytes <= LIMITS.cacheNameBytesMax) return chosen;
  return refuse(`the cache's name is too long: ${bytes} bytes, max ${LIMITS.cacheNameBytesMax}${name === null ? "; give it one" : ""}`);
}

function within(member: string, value: number, max: number): number {
  return value >= 1 && value <= max ? value : refuse(`\`${member}\` must be from 1 to ${max}, got ${value}`);
}

/** All properties that a user chooses. */
function configurationOf(cache: CacheDef): string {
  const { id: _, createdMs: __, ...chosen } = cache;
  return JSON.stringify(Object.entries(chosen).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function refuse(message: string): never {
  throw new TsdbError("bad_request", message, {});
}

function tooMany(what: string, limit: number): TsdbError {
  return new TsdbError("limit_exceeded", `Adding a new cache would exceed limit of ${what}`, { limit });
}
