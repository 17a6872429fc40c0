// Last-value and distinct-value caches as users make and delete them, by name.
import type { CacheDef, CacheKind } from "./caches.ts";
import type { TableDef } from "./rows/column.ts";

interface NewCacheOfTable {
  readonly database: string;
  readonly table: string;
  /** Null: one is made of the table's and the columns' names. */
  readonly name: string | null;
  /** Servers that keep it; null: all. */
  readonly nodes: readonly string[] | null;
}

export interface NewLastCache extends NewCacheOfTable {
  readonly kind: "last";
  /** Null: all tags that the table has. Empty: all rows have one key. */
  readonly keyColumns: readonly string[] | null;
  /** Null: all columns that are no keys, also those that come later. Time is always there, whether it is named or not. */
  readonly valueColumns: readonly string[] | null;
  /** Here and below, absent: as CACHE_DEFAULTS says. */
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
  /** Version of the catalog that has it. */
  readonly sequence: number;
}

export interface CacheName {
  readonly database: string;
  readonly table: string;
  readonly name: string;
}

/** Each takes effect in the step of its call and resolves when it is durable; the cache fills by and by, and is filled before it is read.
 *  @throws TsdbError bad_request, unknown_database, unknown_table, not_found, limit_exceeded, unavailable: nothing has changed then */
export interface CacheService {
  /** @throws TsdbError already_exists: a distinct-value cache that is the same has the name. Any other that has it is `bad_request` */
  create(cache: NewCache): Promise<CreatedCache>;
  delete(kind: CacheKind, cache: CacheName): Promise<void>;
}
