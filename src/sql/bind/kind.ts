// What the rewriter knows about a value before DuckDB does: enough to select the meaning of an operator.
import type { AggregateRequest } from "../../model/query/aggregate.ts";
import type { TimeUnit } from "../../model/query/result-batch.ts";
import type { FieldPredicate, TimeRange } from "../../model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import type { Interval } from "../parse/interval.ts";
import type { SqlType } from "../parse/sql-value.ts";
import type { Expression } from "../parse/tree.ts";

/** "time": nanoseconds as TIMESTAMP_NS; "coarse": a timestamp of another unit; "duration": nanoseconds as BIGINT, the difference of two
 *  times. */
export type Kind =
  | "time"
  | "coarse"
  | "duration"
  | "interval"
  | "date"
  | "string"
  | "binary"
  | "integer"
  | "float"
  | "boolean"
  | "list"
  | "map"
  | "struct"
  | "other"
  | "unknown";

/** The kind of a table's column. */
export function kindOfColumn(type: ColumnType): Kind {
  switch (type) {
    case ColumnType.time:
      return "time";
    case ColumnType.tag:
    case ColumnType.string:
      return "string";
    case ColumnType.float:
      return "float";
    case ColumnType.integer:
    case ColumnType.unsigned:
      return "integer";
    case ColumnType.boolean:
      return "boolean";
  }
}

/** The kind of a DuckDB type. */
export function kindOfType(type: SqlType): Kind {
  switch (type.id) {
    case "TIMESTAMP":
    case "TIMESTAMP_NS":
    case "TIMESTAMP_MS":
    case "TIMESTAMP_S":
    case "TIMESTAMP WITH TIME ZONE":
      return "time";
    case "INTERVAL":
      return "interval";
    case "DATE":
      return "date";
    case "VARCHAR":
      return "string";
    case "FLOAT":
    case "DOUBLE":
    case "DECIMAL":
      return "float";
    case "BOOLEAN":
      return "boolean";
    case "TINYINT":
    case "SMALLINT":
    case "INTEGER":
    case "BIGINT":
    case "UTINYINT":
    case "USMALLINT":
    case "UINTEGER":
    case "UBIGINT":
    case "HUGEINT":
    case "UHUGEINT":
      return "integer";
    case "BLOB":
      return "binary";
    case "LIST":
    case "ARRAY":
      return "list";
    case "MAP":
      return "map";
    case "STRUCT":
      return "struct";
    default:
      return type.id === "UNBOUND" ? "unknown" : "other";
  }
}

/** For objects that are not shared yet. */
export type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Properties of a timestamp type. */
export interface Clock {
  /** For "time": the zone of its type, by name. The value is UTC nevertheless. */
  readonly zone?: string;
  /** For "coarse". */
  readonly unit?: Exclude<TimeUnit, "ns">;
}

/** The clock of the first timestamp among `values`. */
export function clockOf(values: readonly (Clock & { readonly kind: Kind })[]): Clock {
  const first = values.find(({ kind }) => kind === "time" || kind === "coarse");
  const clock: Writable<Clock> = {};
  if (first?.zone !== undefined) clock.zone = first.zone;
  if (first?.unit !== undefined) clock.unit = first.unit;
  return clock;
}

/** `value`, which is or was derived from one of `values`; a timestamp gets their clock. */
export function withClock(value: Typed, values: readonly (Clock & { readonly kind: Kind })[]): Typed {
  return value.kind === "time" || value.kind === "coarse" ? { ...value, ...clockOf(values) } : value;
}

/** A column of a scanned table used in an expression. */
export interface ColumnSource {
  readonly scan: ScanUse;
  /** Index in `scan.defs`. */
  readonly index: number;
}

/** A condition on one column, implied by a WHERE clause for every row that passes. */
export type Hint =
  | { readonly kind: "time"; readonly scan: ScanUse; readonly range: TimeRange }
  | { readonly kind: "tag"; readonly scan: ScanUse; readonly columnId: number; readonly values: readonly (string | null)[] }
  | { readonly kind: "field"; readonly scan: ScanUse; readonly predicate: FieldPredicate }
  | { readonly kind: "series"; readonly scan: ScanUse; readonly condition: SeriesCondition }
  /** Only the newest rows of their series pass. */
  | { readonly kind: "newest"; readonly scan: ScanUse };

/** A condition that depends on tags alone: decided once for each combination of their values, before the scan. */
export interface SeriesCondition {
  readonly tags: readonly ColumnDef[];
  /** Rewritten, over columns of the combinations (plan/series-query.ts). */
  readonly node: Expression;
}

/** Columns in DuckDB's form, with encoded names (parse/names.ts). */
export type EncodedColumns = readonly { readonly name: string; readonly type: ColumnType }[];

/** One reference to a table in the statement. Hints narrow what it reads. */
export interface ScanUse {
  readonly handle: number;
  /** By name, not encoded. */
  readonly defs: readonly ColumnDef[];
  readonly columns: EncodedColumns;
  /** Contains the times of all rows. Absent: unknown. */
  readonly times?: TimeRange;
  /** True if the scan applies its conditions exactly, so that they need no second evaluation. */
  readonly selectsExactly: boolean;
  /** True if the answer depends only on the newest row of each series, provided that these have values in the columns of `present`. */
  newestOnly: boolean;
  present: readonly ColumnDef[];
  /** What to abandon if they have not: null: only `newestOnly`; otherwise the number of a choice (TableCatalog.choose). */
  stake: number | null;
  range: TimeRange;
  tags: { columnId: number; values: readonly (string | null)[] }[];
  fields: FieldPredicate[];
  /** True if the scan decides conditions on tags before it reads rows. */
  readonly takesConditions: boolean;
  conditions: SeriesCondition[];
}

/** Groups of a table's rows, computed by the scan. */
export interface GroupSource {
  readonly request: AggregateRequest;
  /** Encoded names of the groups' columns, in the order of `aggregateColumns`. */
  readonly columnNames: readonly string[];
  /** Times of matching rows that the request omits because their bins have no start: there must be none. */
  readonly unbinned: TimeRange;
  readonly conditions: readonly SeriesCondition[];
  /** Expressions over combinations of the grouping tags: combinations with equal values are one group, which shows the tags of one of
   *  them. Null: each combination is a group. */
  readonly keys: readonly Expression[] | null;
  /** Set if the scan inserts the missing bins of each combination of grouping tags. */
  readonly gaps?: GapFill;
}

/** Bins `firstNs + i * widthNs` for i from 0 to `count` - 1. */
export interface GapFill {
  readonly firstNs: bigint;
  readonly widthNs: bigint;
  readonly count: number;
  /** All columns of the scan. */
  readonly columns: readonly GapColumn[];
}

/** "bin": its start. "key": a grouping tag. Others show an aggregate; in bins without rows: "null", "zero"; in bins without a value:
 *  "locf": the previous value, "interpolate": the line from the previous to the next one. */
export type GapContent = "bin" | "key" | "null" | "zero" | "locf" | "interpolate";

export interface GapColumn {
  /** Encoded. */
  readonly name: string;
  /** Index of the groups' column. */
  readonly index: number;
  readonly content: GapContent;
}

/** The start of the bin that contains a table's time column. */
export interface TimeBin {
  readonly scan: ScanUse;
  readonly widthNs: bigint;
  readonly originNs: bigint;
  /** Below this, a bin's start is NULL, because it would be before the least i64. */
  readonly firstNs: bigint;
}

/** Type information of a value in addition to its kind. */
export interface TypeNote extends Clock {
  /** The vendor's type name, where DuckDB's type differs: a 64-bit integer that is an Int32 there. */
  readonly arrow?: string;
  /** Nesting depth of lists; absent if unknown. */
  readonly depth?: number;
  /** The column type whose mark (`iox::column::type`) an answer puts on the value; null: none, although it is a plain column. Absent:
   *  that of `source`. */
  readonly mark?: ColumnType | null;
  /** Set for a float whose NaN has a sign there, and is less than all numbers: of a root, a logarithm, a quotient. */
  readonly hasLeastNan?: true;
}

/** Copies the type information of a value. */
const NO_NOTE: TypeNote = {};

/** The properties of a value's type that its kind does not state. */
export function typeNote(value: TypeNote & { readonly kind: Kind }): TypeNote {
  const { kind, arrow, depth, mark, hasLeastNan } = value;
  if (kind !== "time" && kind !== "coarse" && arrow === undefined && depth === undefined && mark === undefined && hasLeastNan === undefined)
    return NO_NOTE;
  const note: Writable<TypeNote> = clockOf([value]);
  if (arrow !== undefined) note.arrow = arrow;
  if (depth !== undefined) note.depth = depth;
  if (mark !== undefined) note.mark = mark;
  if (hasLeastNan !== undefined) note.hasLeastNan = hasLeastNan;
  return note;
}

/** A rewritten expression and what is known about its value. */
export interface Typed extends TypeNote {
  node: Expression;
  kind: Kind;
  /** Set for a plain column of a table. */
  source?: ColumnSource;
  /** For such a column: see OutputColumn. */
  isOptional?: boolean;
  /** For a map created from two lists: their type information. */
  entries?: readonly TypeNote[];
  /** For constants. A time outside of i64 has no value, but can be compared. */
  timeNs?: bigint;
  text?: string;
  number?: number | bigint;
  boolean?: boolean;
  interval?: Interval;
  bin?: TimeBin;
  /** For a cast between signed and unsigned integers: what is cast, and the greatest number of both types. */
  crossing?: { readonly value: Typed; readonly most: bigint };
  /** For a time minus an open parameter, assumed to be an interval: the result if the parameter is a time. */
  difference?: Typed;
  /** The possible times, if it is not a column of a scan; computed on demand. */
  times?: () => TimeRange;
  /** A row number that is 1 only in newest rows of their series (rewrite/newest.ts). */
  numbers?: ScanUse;
  /** For conditions: what is implied if it is true. */
  hints?: readonly Hint[];
  /** For conditions: true if the hints are equivalent to it. */
  isExact?: boolean;
}
