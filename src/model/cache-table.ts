// What caches look like from outside: their columns, and what the cache worker of their state is asked for.
import type { CacheDef } from "./caches.ts";
import type { ScanTable } from "./query/scan-table.ts";
import { type ColumnDef, ColumnType, type TableDef, TIME_COLUMN } from "./rows/column.ts";

/** When rows arrived. Milliseconds since 1970. */
export interface CacheClock {
  readonly nowMs: number;
  /** Arrival of the first body that has not been fed yet; null: no live rows are known to be new. */
  readonly sinceMs: number | null;
}

/** The rows of a cache that can be seen: sorted by key (NULL first), newest first within a key. Valid until `close`, which is
 *  idempotent. */
export type CacheTable = ScanTable & { close(): void };

export interface CacheStats {
  readonly cacheId: number;
  readonly bytes: number;
  readonly keys: number;
  readonly rows: number;
}

/** The columns of a cache's answer, in their order: keys, values and time of a last-value cache, the columns of a distinct-value one.
 *  Those that the table does not have are left out. */
export function cacheColumns(cache: CacheDef, table: TableDef): ColumnDef[] {
  const find = (ids: readonly number[]) => ids.flatMap((id) => table.columns.find((column) => column.id === id) ?? []);
  if (cache.kind === "distinct") return find(cache.columnIds);
  const isValue = ({ id, type }: ColumnDef) => type !== ColumnType.time && !cache.keyColumnIds.includes(id);
  const values = cache.valueColumnIds === null ? table.columns.filter(isValue) : find(cache.valueColumnIds).filter(isValue);
  return [...find(cache.keyColumnIds), ...values, table.columns.find(({ type }) => type === ColumnType.time) ?? TIME_COLUMN];
}
