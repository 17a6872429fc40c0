// The request side of a scan, the physical operator of both languages: time range, predicates, columns.

import type { ColumnDef } from "../rows/column.ts";
import type { DictionaryView } from "../rows/dictionary.ts";
import { I64_MAX, I64_MIN } from "../rows/int64.ts";
import { columnIdsIn, type FieldExpression } from "./field-expression.ts";

/** Both bounds are inclusive: a half-open range cannot reach the end of i64. */
export interface TimeRange {
  readonly minNs: bigint;
  readonly maxNs: bigint;
}

export const ALL_TIME: TimeRange = { minNs: I64_MIN, maxNs: I64_MAX };

/** True for rows whose `column` is one of `values` (null = absent). A hint: the scan may return more rows, the engine filters again. */
export interface TagPredicate {
  readonly columnId: number;
  readonly values: readonly (string | null)[];
}

/** True for rows of series that passed a test before the scan (tag-combinations.ts). Exact. */
export interface SeriesTest {
  /** Addresses of the combination (u32) of each series, 0xffffffff = none, and of a byte per combination, 1 = passes. Borrowed until the
   *  next call. @throws TsdbError overloaded */
  of(dictionary: DictionaryView): { readonly combinationsPtr: number; readonly passesPtr: number };
}

export type SeriesPredicate = TagPredicate | SeriesTest;

/** True for a test of series. */
export function isSeriesTest(predicate: SeriesPredicate): predicate is SeriesTest {
  return "of" in predicate;
}

export type ComparisonOperator = "=" | "!=" | "<" | "<=" | ">" | ">=";

/** Compares a field column with a constant of its own type: number for floats, bigint for integers and unsigned, boolean. NULL satisfies
 *  no comparison. NaN equals itself and is greater than all other numbers, as in DuckDB. */
export interface FieldComparison {
  readonly columnId: number;
  readonly operator: ComparisonOperator;
  readonly value: number | bigint | boolean;
}

/** True for rows whose string column is one of `values`; never for NULL. */
export interface FieldTexts {
  readonly columnId: number;
  readonly operator: "in";
  readonly values: readonly string[];
}

/** True for rows for which a boolean expression is true. */
export interface FieldCondition {
  readonly operator: "true";
  readonly expression: FieldExpression;
}

export type FieldPredicate = FieldComparison | FieldTexts | FieldCondition;

/** The columns that a predicate reads. */
export function predicateColumns(predicate: FieldPredicate): readonly number[] {
  return predicate.operator === "true" ? columnIdsIn(predicate.expression) : [predicate.columnId];
}

/** A tag to order by. */
export interface TagOrder {
  readonly columnId: number;
  readonly isDescending: boolean;
  readonly nullsFirst: boolean;
}

/** Of the rows within the range that satisfy the predicates, those of equal values in all tags of `keys` once: a row with the greatest
 *  time. In the order of `keys`. */
export interface NewestRequest extends Pick<ScanRequest, "columns" | "range" | "tags" | "tests"> {
  readonly keys: readonly TagOrder[];
}

/** What a scan reads. `range` is exact; `tags` and `fields` are hints: all wanted rows satisfy them, but other rows may be returned too,
 *  and the engine filters again. */
export interface ScanRequest {
  /** In the order of ScanChunk.columns. */
  readonly columns: readonly ColumnDef[];
  readonly range: TimeRange;
  readonly tags: readonly TagPredicate[];
  /** Exact. */
  readonly tests?: readonly SeriesTest[];
  /** Evaluated on rows after all their writes are merged. */
  readonly fields?: readonly FieldPredicate[];
  /** True: only the newest row of each series within the range is wanted (also a hint: older ones may be returned, and are if fields are
   *  tested). */
  readonly newestOnly?: boolean;
  /** True: chunks contain the series of their rows. */
  readonly withSeries?: boolean;
}
