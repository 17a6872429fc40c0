// The physical operator under every language: rows of one table as chunks in shared memory, columns as the caller projected them.
import type { ColumnDef } from "./column.ts";

/** Half-open is hard to get right at the ends of i64, so both bounds are inclusive. */
export interface TimeRange {
  readonly minNs: bigint;
  readonly maxNs: bigint;
}

export const ALL_TIME: TimeRange = { minNs: -(2n ** 63n), maxNs: 2n ** 63n - 1n };

/** `column` is one of `values` (null = absent). A hint: the scan may return more rows, the engine filters again. */
export interface TagPredicate {
  readonly columnId: number;
  readonly values: readonly (string | null)[];
}

export interface ScanRequest {
  /** Columns of the table, in the order of ScanChunk.columns. */
  readonly columns: readonly ColumnDef[];
  readonly range: TimeRange;
  readonly tags: readonly TagPredicate[];
}

/** VALUE_BYTES[type] × rowCount at dataPtr (tags and strings as views); validityPtr is an LSB-first bitmap, 0 = all present.
 *  Borrowed until the next call of `next`. dataPtr 0 = every row is NULL. */
export interface ScanColumn {
  readonly dataPtr: number;
  readonly validityPtr: number;
}

export interface ScanChunk {
  /** 1 .. LIMITS.vectorRows */
  readonly rowCount: number;
  readonly columns: readonly ScanColumn[];
}

export interface ScanCursor {
  next(): ScanChunk | null;
  close(): void;
}

/** A table of a pinned snapshot. */
export interface ScanTable {
  readonly name: string;
  readonly columns: readonly ColumnDef[];
  /** Rows at most, before any predicate. */
  readonly rowCountMax: number;
  open(request: ScanRequest): ScanCursor;
}
