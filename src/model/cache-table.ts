// The public view of caches: their columns, and the interface of the worker that holds their state.
import type { CacheDef } from "./caches.ts";
import type { ScanTable } from "./query/scan-table.ts";
import { type ColumnDef, ColumnType, type TableDef, TIME_COLUMN } from "./rows/column.ts";

/** Clock for row arrivals. Milliseconds since 1970. */
export interface CacheClock {
  readonly nowMs: number;
  /** Arrival of the first body not yet applied to the caches; null: all buffered rows have been applied. */
  readonly sinceMs: number | null;
}

/** The visible rows of a cache: sorted by key (NULL first), newest first within a key. Valid until `close`, which is idempotent. */
export type CacheTable = ScanTable & { close(): void };

export interface CacheStats {
  readonly cacheId: number;
  readonly bytes: number;
  readonly keys: number;
  readonly rows: number;
}

/** The columns of a cache's answer, in order: keys, values and time of a last-value cache, or the columns of a distinct-value cache.
 *  Columns that the table lacks are omitted. */
export function cacheColumns(cache: CacheDef, table: TableDef): ColumnDef[] {
  const find = (ids: readonly number[]) => ids.flatMap((id) => table.columns.find((column) => column.id === id) ?? []);
  if (cache.kind === "distinct") return find(cache.columnIds);
  const isValue = ({ id, type }: ColumnDef) => type !== ColumnType.time && !cache.keyColumnIds.includes(id);
  const values = cache.valueColumnIds === null ? table.columns.filter(isValue) : find(cache.valueColumnIds).filter(isValue);
  return [...find(cache.keyColumnIds), ...values, table.columns.find(({ type }) => type === ColumnType.time) ?? TIME_COLUMN];
}
