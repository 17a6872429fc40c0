// Last-value and distinct-value caches as the catalog knows them, and the rules for making one.
import { TIME_COLUMN } from "./rows/column.ts";

export const CACHE_DEFAULTS = {
  /** Rows of each key that a last-value cache keeps. */
  count: 1,
  ttlSeconds: 4 * 3600,
  maxCardinality: 100_000,
  maxAgeSeconds: 24 * 3600,
} as const;

interface CacheOfTable {
  /** Unique over all caches that there ever were. */
  readonly id: number;
  readonly tableId: number;
  /** Unique among the caches of its kind of the table. */
  readonly name: string;
  /** Which servers keep it: `all`, or `nodes:a,b`. */
  readonly nodes: string;
  readonly createdMs: number;
}

/** The newest `count` rows of each combination of the key columns. */
export interface LastCacheDef extends CacheOfTable {
  readonly kind: "last";
  /** Tags, or fields that are no floats. Empty: all rows have one key. */
  readonly keyColumnIds: readonly number[];
  /** Null: every column that is no key, also those that come later. Without time, which is always there. */
  readonly valueColumnIds: readonly number[] | null;
  /** Time, which is always kept, was named among the values: lists show it. */
  readonly namesTime?: boolean;
  readonly count: number;
  readonly ttlSeconds: number;
}

/** The combinations of the values of some columns. */
export interface DistinctCacheDef extends CacheOfTable {
  readonly kind: "distinct";
  /** Tags or string fields, at least one. */
  readonly columnIds: readonly number[];
  readonly maxCardinality: number;
  readonly maxAgeSeconds: number;
}

/** A cache as a statement names it; `name` null: the only one of its kind that the table has. */
export interface CacheReference {
  readonly kind: CacheKind;
  readonly table: string;
  readonly name: string | null;
}

export type CacheDef = LastCacheDef | DistinctCacheDef;
export type CacheKind = CacheDef["kind"];

/** How this server keeps its caches. */
export interface CacheOptions {
  /** State of all of them together. */
  readonly bytesMax: number;
  /** How often memory of what has expired is freed. */
  readonly evictionMs: Readonly<Record<CacheKind, number>>;
  /** False: they begin empty, and know only rows that came since. */
  readonly fillsFromHistory: Readonly<Record<CacheKind, boolean>>;
}

/** What a cache is called whose maker gave it no name. */
export function defaultCacheName(kind: CacheKind, table: string, columns: readonly string[]): string {
  return [table, ...columns, kind, "cache"].join("_");
}

/** Values as lists show them. */
export function shownValueIds(ids: readonly number[], { namesTime = false }: Pick<LastCacheDef, "namesTime">): readonly number[] {
  return namesTime ? [...ids, TIME_COLUMN.id] : ids;
}
