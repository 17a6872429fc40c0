// Last-value and distinct-value caches as defined in the catalog, and the rules for creating one.
import { TIME_COLUMN } from "./rows/column.ts";

export const CACHE_DEFAULTS = {
  /** Rows per key of a last-value cache. */
  count: 1,
  ttlSeconds: 4 * 3600,
  maxCardinality: 100_000,
  maxAgeSeconds: 24 * 3600,
} as const;

interface CacheOfTable {
  /** Unique among all caches ever created. */
  readonly id: number;
  readonly tableId: number;
  /** Unique among the table's caches of the same kind. */
  readonly name: string;
  /** Servers that maintain it: `all`, or `nodes:a,b`. */
  readonly nodes: string;
  readonly createdMs: number;
}

/** The newest `count` rows of each combination of the key columns. */
export interface LastCacheDef extends CacheOfTable {
  readonly kind: "last";
  /** Tags, or fields other than floats. Empty: all rows share one key. */
  readonly keyColumnIds: readonly number[];
  /** Null: every non-key column, including future ones. Without time, which is always included. */
  readonly valueColumnIds: readonly number[] | null;
  /** True if time, which is always kept, was named among the values: listings then show it. */
  readonly namesTime?: boolean;
  readonly count: number;
  readonly ttlSeconds: number;
}

/** The distinct combinations of values in some columns. */
export interface DistinctCacheDef extends CacheOfTable {
  readonly kind: "distinct";
  /** At least one tag or string field. */
  readonly columnIds: readonly number[];
  readonly maxCardinality: number;
  readonly maxAgeSeconds: number;
}

/** A cache as named in a statement; `name` null: the table's only cache of this kind. */
export interface CacheReference {
  readonly kind: CacheKind;
  readonly table: string;
  readonly name: string | null;
}

export type CacheDef = LastCacheDef | DistinctCacheDef;
export type CacheKind = CacheDef["kind"];

/** Cache settings of this server. */
export interface CacheOptions {
  /** Memory limit of all caches together. */
  readonly bytesMax: number;
  /** Interval at which memory of expired rows is freed. */
  readonly evictionMs: Readonly<Record<CacheKind, number>>;
  /** False: caches start empty and contain only rows written since. */
  readonly fillsFromHistory: Readonly<Record<CacheKind, boolean>>;
}

/** Default name of a cache created without one. */
export function defaultCacheName(kind: CacheKind, table: string, columns: readonly string[]): string {
  return [table, columns.join("_"), kind, "cache"].join("_");
}

/** Value columns as shown in listings. */
export function shownValueIds(ids: readonly number[], { namesTime = false }: Pick<LastCacheDef, "namesTime">): readonly number[] {
  return namesTime ? [...ids, TIME_COLUMN.id] : ids;
}
