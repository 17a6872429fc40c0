// Aggregation inside the scan: groups by time bin and tags, a row per group that has rows.
import { type ColumnDef, ColumnType } from "../rows/column.ts";
import type { FieldPredicate, TagPredicate, TimeRange } from "./scan.ts";

/** count: rows, or present values of a column. sum: of floats, or of integers within 64 bits. mean: sum / count as a float. min, max: by
 *  value. first, last: the present value of the least, the greatest time (any one of several at that time); firstTime, lastTime: its
 *  time. */
export type AggregateFunction = "count" | "sum" | "mean" | "min" | "max" | "first" | "last" | "firstTime" | "lastTime";

export interface Aggregate {
  readonly fn: AggregateFunction;
  /** A field column; `time` for min, max and count; null only for count: all rows. */
  readonly column: ColumnDef | null;
}

/** Bins [origin + i * width, origin + (i + 1) * width), i any integer; a bin is shown by its start. */
export interface TimeBins {
  readonly originNs: bigint;
  /** Greater than 0. */
  readonly widthNs: bigint;
}

/** All predicates are exact here: a row counts if and only if it satisfies every one of them. */
export interface AggregateRequest {
  readonly range: TimeRange;
  readonly tags: readonly TagPredicate[];
  readonly fields: readonly FieldPredicate[];
  /** Null: one bin. */
  readonly bins: TimeBins | null;
  /** Tag columns; a group per distinct combination, absent being a value of its own. */
  readonly groupBy: readonly ColumnDef[];
  readonly aggregates: readonly Aggregate[];
}

/** The type of an aggregate's column; null where it cannot be made of that column. */
export function aggregateType({ fn, column }: Aggregate): ColumnType | null {
  if (fn === "count") return column === null || column.type !== ColumnType.tag ? ColumnType.integer : null;
  if (column === null) return null;
  const { type } = column;
  if (type === ColumnType.time) return fn === "min" || fn === "max" ? ColumnType.time : null;
  if (type === ColumnType.tag) return null;
  const isNumber = type === ColumnType.float || type === ColumnType.integer || type === ColumnType.unsigned;
  switch (fn) {
    case "sum":
      return isNumber ? type : null;
    case "mean":
      return isNumber ? ColumnType.float : null;
    case "min":
    case "max":
      return isNumber || type === ColumnType.boolean ? type : null;
    case "first":
    case "last":
      return type;
    case "firstTime":
    case "lastTime":
      return ColumnType.time;
  }
}

/** The types of the answer's columns in order: the bin's start if there are bins, the tags grouped by, the aggregates. NULL: a tag that is
 *  absent, an aggregate (but count) of no value. @throws when an aggregate has no type */
export function aggregateColumns({ bins, groupBy, aggregates }: AggregateRequest): ColumnType[] {
  const types = aggregates.map((aggregate) => {
    const type = aggregateType(aggregate);
    if (type === null) throw new Error(`BUG: ${aggregate.fn} of column ${aggregate.column?.name}`);
    return type;
  });
  return [...(bins === null ? [] : [ColumnType.time]), ...groupBy.map(() => ColumnType.tag), ...types];
}
