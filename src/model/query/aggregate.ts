// Aggregation inside the scan: groups by time bin and tags, one row per non-empty group.
import { type ColumnDef, ColumnType } from "../rows/column.ts";
import { type ComputedColumn, columnIdsIn, isComputed } from "./field-expression.ts";
import type { MergedGroups } from "./merged-groups.ts";
import type { FieldPredicate, SeriesTest, TagPredicate, TimeRange } from "./scan.ts";

/** count: rows, or present values of a column. sum: of floats, or of integers within 64 bits. mean: sum / count as a float.
 *  squares: the sum of squared deviations from the mean, of numbers as floats. min, max: by
 *  value; minTime, maxTime: the least time of a row with that value, of numbers. first, last: the present value of the least or greatest
 *  time (any one if several rows have that time); firstTime, lastTime: its time. */
export type AggregateFunction =
  | "count"
  | "sum"
  | "mean"
  | "squares"
  | "min"
  | "max"
  | "minTime"
  | "maxTime"
  | "first"
  | "last"
  | "firstTime"
  | "lastTime";

/** True if the rows' times matter. */
export function isOfTime({ fn, column }: Aggregate): boolean {
  return OF_TIME.includes(fn) || (column?.type === ColumnType.time && fn !== "count");
}

const OF_TIME: readonly Aggregate["fn"][] = ["first", "last", "firstTime", "lastTime", "minTime", "maxTime"];

export interface ValueAggregate {
  readonly fn: AggregateFunction;
  /** A field column, stored or computed; `time` for min, max and count; null only for count of all rows. */
  readonly column: ColumnDef | null;
}

/** An estimate of the value below which a share of the values lies, from a t-digest. */
export interface QuantileAggregate {
  readonly fn: "quantile";
  readonly column: ColumnDef;
  /** 0 to 1. */
  readonly share: number;
  /** Centroids of the digest: 1 to QUANTILE_SIZE_MAX. */
  readonly size: number;
  /** How much each value counts; rows count whose weight is positive. Null: all values count the same. */
  readonly weight: ColumnDef | null;
}

export const QUANTILE_SIZE_MAX = 1000;

export type Aggregate = ValueAggregate | QuantileAggregate;

/** Bins [origin + i * width, origin + (i + 1) * width) for all integers i; a bin is identified by its start. */
export interface TimeBins {
  readonly originNs: bigint;
  /** Positive. */
  readonly widthNs: bigint;
}

/** All predicates are exact here: a row counts if and only if it satisfies all of them. */
export interface AggregateRequest {
  readonly range: TimeRange;
  readonly tags: readonly TagPredicate[];
  readonly tests?: readonly SeriesTest[];
  readonly fields: readonly FieldPredicate[];
  /** Null: one bin. */
  readonly bins: TimeBins | null;
  /** Tag columns; one group per distinct combination, absent being a value of its own. */
  readonly groupBy: readonly ColumnDef[];
  /** Fields, stored or computed: within each of these groups one per distinct combination of their values, NULL being a value of its
   *  own, NaN another, and both zeros one. Not with `counted` and `numbersGroups`. */
  readonly values?: readonly ColumnDef[];
  /** Some of these combinations are one group, which shows the values of one of them. */
  readonly merged?: MergedGroups;
  readonly aggregates: readonly Aggregate[];
  /** Set: the answer is one row with the number of groups, which needs tags alone: without bins, aggregates and fields. "present": of those
   *  without an absent tag. */
  readonly counted?: "all" | "present";
  /** True: chunks have the numbers of the rows' groups in place of their tags, which the cursor tells group by group. Only with tags. */
  readonly numbersGroups?: boolean;
  /** Set: so many groups of the latest bins that have rows are enough, with all others of these bins; earlier ones may be missing. Only
   *  with bins; at most NEWEST_GROUPS_MAX. */
  readonly newestGroups?: number;
  /** Above this number of groups reading the rows is cheaper: none are made. Set: nor are some ten thousand groups by values with few rows
   *  each. */
  readonly groupsMax?: number;
}

export const NEWEST_GROUPS_MAX = 1000;

/** Result type of an aggregate; null if the function does not apply to the column. */
export function aggregateType(aggregate: Aggregate): ColumnType | null {
  const { fn, column } = aggregate;
  if (fn === "count") return column === null || column.type !== ColumnType.tag ? ColumnType.integer : null;
  if (column === null) return null;
  const { type } = column;
  if (fn === "quantile") return columnsOf(aggregate).every((each) => isNumeric(each.type)) ? type : null;
  if (type === ColumnType.time) return fn === "min" || fn === "max" ? ColumnType.time : null;
  if (type === ColumnType.tag) return null;
  const isNumber = isNumeric(type);
  switch (fn) {
    case "sum":
      return isNumber ? type : null;
    case "mean":
    case "squares":
      return isNumber ? ColumnType.float : null;
    case "min":
    case "max":
      return isNumber || type === ColumnType.boolean ? type : null;
    case "minTime":
    case "maxTime":
      return isNumber ? ColumnType.time : null;
    case "first":
    case "last":
      return type;
    case "firstTime":
    case "lastTime":
      return ColumnType.time;
  }
}

function isNumeric(type: ColumnType): boolean {
  return type === ColumnType.float || type === ColumnType.integer || type === ColumnType.unsigned;
}

/** Columns whose values an aggregate reads. */
function columnsOf(aggregate: Aggregate): readonly ColumnDef[] {
  const { column } = aggregate;
  if (column === null) return [];
  return aggregate.fn === "quantile" && aggregate.weight !== null ? [column, aggregate.weight] : [column];
}

/** The stored columns that groups and aggregates are made of, by number. */
export function storedColumnIds({ aggregates, values = [] }: AggregateRequest): readonly number[] {
  return [...values, ...aggregates.flatMap(columnsOf)].flatMap((column) =>
    isComputed(column) ? columnIdsIn(column.expression) : [column.id],
  );
}

/** True if rows are told apart by their series or times, or their order matters. */
export function readsSeriesAndTimes({ bins, groupBy, aggregates }: AggregateRequest): boolean {
  return bins !== null || groupBy.length > 0 || aggregates.some(isOfTime);
}

/** The columns of a request that are computed, each once. */
export function computedColumns({ aggregates, values = [] }: AggregateRequest): readonly ComputedColumn[] {
  return [...new Map([...values, ...aggregates.flatMap(columnsOf)].map((column) => [column.id, column])).values()].filter(isComputed);
}

/** Types of the result columns in order: the bin's start if there are bins, the grouping tags unless groups are numbered, the
 *  grouping values, the aggregates; or the number of groups. NULL stands for an absent tag, and for an aggregate other than count
 *  without values. @throws if an aggregate has no type */
export function aggregateColumns(request: AggregateRequest): ColumnType[] {
  const { bins, groupBy, values = [], aggregates, counted, numbersGroups = false } = request;
  if (counted !== undefined) return [ColumnType.integer];
  const types = aggregates.map((aggregate) => {
    const type = aggregateType(aggregate);
    if (type === null) throw new Error(`BUG: ${aggregate.fn} of column ${aggregate.column?.name}`);
    return type;
  });
  const tags = numbersGroups ? [] : groupBy.map(() => ColumnType.tag);
  return [...(bins === null ? [] : [ColumnType.time]), ...tags, ...values.map(({ type }) => type), ...types];
}
