// Creating and deleting last-value and distinct-value caches by name, as users do.
import type { CacheDef, CacheKind } from "./caches.ts";
import type { TableDef } from "./rows/column.ts";

interface NewCacheOfTable {
  readonly database: string;
  readonly table: string;
  /** Null: the name is derived from the table and the columns. */
  readonly name: string | null;
  /** Servers that maintain the cache; null: all. */
  readonly nodes: readonly string[] | null;
}

export interface NewLastCache extends NewCacheOfTable {
  readonly kind: "last";
  /** Null: all tags of the table. Empty: all rows share one key. */
  readonly keyColumns: readonly string[] | null;
  /** Null: all other columns, including future ones. Time is always included, named or not. */
  readonly valueColumns: readonly string[] | null;
  /** Absent here and below: the default of CACHE_DEFAULTS. */
  readonly count?: number | undefined;
  readonly ttlSeconds?: number | undefined;
}

export interface NewDistinctCache extends NewCacheOfTable {
  readonly kind: "distinct";
  readonly columns: readonly string[];
  readonly maxCardinality?: number | undefined;
  readonly maxAgeSeconds?: number | undefined;
}

export type NewCache = NewLastCache | NewDistinctCache;

export interface CreatedCache {
  readonly cache: CacheDef;
  readonly database: { readonly id: number; readonly name: string };
  readonly table: TableDef;
  /** Catalog version that contains the cache. */
  readonly sequence: number;
}

export interface CacheName {
  readonly database: string;
  readonly table: string;
  readonly name: string;
}

/** Each call takes effect synchronously and resolves once durable. The cache is filled in the background, and completely before its
 *  first read. @throws TsdbError bad_request, unknown_database, unknown_table, not_found, limit_exceeded, unavailable: nothing has
 *  changed then */
export interface CacheService {
  /** @throws TsdbError already_exists if an identical distinct-value cache has the name; `bad_request` if a different cache has it */
  create(cache: NewCache): Promise<CreatedCache>;
  delete(kind: CacheKind, cache: CacheName): Promise<void>;
}
