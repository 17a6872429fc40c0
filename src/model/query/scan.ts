// What is asked of a scan, the physical operator under every language: a range of time, predicates, the columns of the answer.

import type { ColumnDef } from "../rows/column.ts";

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
