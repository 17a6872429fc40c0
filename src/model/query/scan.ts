// The physical operator under every language: rows of one table as chunks in shared memory, columns as the caller projected them.

import type { ColumnDef } from "../rows/column.ts";
import type { DictionaryView } from "../rows/run.ts";
import type { AggregateRequest } from "./aggregate.ts";
import type { ScanRecord } from "./scan-record.ts";

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

export type ComparisonOperator = "=" | "!=" | "<" | "<=" | ">" | ">=";

/** A field column compared with a constant of its own type: number for floats, bigint for integers and unsigned, boolean. NULL satisfies
 *  none. NaN is equal to itself and greater than all other numbers, as DuckDB orders floats. */
export interface FieldComparison {
  readonly columnId: number;
  readonly operator: ComparisonOperator;
  readonly value: number | bigint | boolean;
}

/** A string column whose value is one of `values`. NULL is none of them. */
export interface FieldTexts {
  readonly columnId: number;
  readonly operator: "in";
  readonly values: readonly string[];
}

export type FieldPredicate = FieldComparison | FieldTexts;

/** What a scan reads. `range` is exact; `tags` and `fields` are hints, all of which a wanted row satisfies: other rows may come too, the
 *  engine filters again. */
export interface ScanRequest {
  /** Columns of the table, in the order of ScanChunk.columns. */
  readonly columns: readonly ColumnDef[];
  readonly range: TimeRange;
  readonly tags: readonly TagPredicate[];
  /** Judged by the row as it is after all its writes are merged. */
  readonly fields?: readonly FieldPredicate[];
  /** True: of every series only its newest row within the range is wanted (a hint too: older ones may come, and do when fields are
   *  tested). */
  readonly newestOnly?: boolean;
  /** True: chunks say which series their rows are of. */
  readonly withSeries?: boolean;
}

/** VALUE_BYTES[type] × rowCount at dataPtr (tags and strings as views); validityPtr is an LSB-first bitmap, 0 = all present.
 *  Borrowed until the next call of `next`. dataPtr 0 = every row is NULL. */
export interface ScanColumn {
  readonly dataPtr: number;
  readonly validityPtr: number;
}

/** The series of rows: u32 ids in `dictionary`, one a row, at idsPtr. Borrowed as columns are. */
export interface ScanSeries {
  readonly idsPtr: number;
  readonly dictionary: DictionaryView;
}

export interface ScanChunk {
  /** 1 .. LIMITS.vectorRows */
  readonly rowCount: number;
  readonly columns: readonly ScanColumn[];
  /** Of a request with `withSeries`; else absent. */
  readonly series?: ScanSeries;
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
  /** No row has another time. Absent: unknown. */
  readonly times?: TimeRange;
  /** True: no row comes that does not satisfy `tags` and `fields` of its request (`newestOnly` stays a hint). Absent: false. */
  readonly selectsExactly?: boolean;
  open(request: ScanRequest): ScanCursor;
  /** The groups of a whole aggregation, or null where the scan cannot make them (too many groups, a sum that does not fit): the engine
   *  aggregates the rows itself then. Chunks hold the columns of `aggregateColumns(request)`. Absent: never. */
  aggregate?(request: AggregateRequest): ScanCursor | null;
  /** The same in steps of less than a millisecond or so each, between which others may have their turn. Whoever leaves it half way calls
   *  `return`. */
  aggregateInSteps?(request: AggregateRequest): Generator<void, ScanCursor | null, void>;
  /** What its scans have done so far. */
  records?(): readonly ScanRecord[];
}
