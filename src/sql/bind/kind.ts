// What the rewriter knows about a value before DuckDB does: enough to choose between the meanings of an operator.
import type { AggregateRequest } from "../../model/query/aggregate.ts";
import type { TimeUnit } from "../../model/query/result-batch.ts";
import type { FieldPredicate, TimeRange } from "../../model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import type { Interval } from "../parse/interval.ts";
import type { SqlType } from "../parse/sql-value.ts";
import type { Expression } from "../parse/tree.ts";

/** "time" is nanoseconds as TIMESTAMP_NS, "coarse" a timestamp of another unit; "duration" is nanoseconds as BIGINT, what one time minus
 *  another gives. */
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

/** What a timestamp's type says beside that it is one. */
export interface Clock {
  /** Of a "time": the zone that its type carries, by name. Its value is UTC all the same. */
  readonly zone?: string;
  /** Of a "coarse" one. */
  readonly unit?: Exclude<TimeUnit, "ns">;
}

/** The clock of the first timestamp among `values`. */
export function clockOf(values: readonly (Clock & { readonly kind: Kind })[]): Clock {
  const first = values.find(({ kind }) => kind === "time" || kind === "coarse");
  return { ...(first?.zone === undefined ? {} : { zone: first.zone }), ...(first?.unit === undefined ? {} : { unit: first.unit }) };
}

/** `value`, which is one of `values` or made of them; as a timestamp it has their clock. */
export function withClock(value: Typed, values: readonly (Clock & { readonly kind: Kind })[]): Typed {
  return value.kind === "time" || value.kind === "coarse" ? { ...value, ...clockOf(values) } : value;
}

/** A column of a scanned table, as an expression names it. */
export interface ColumnSource {
  readonly scan: ScanUse;
  /** Index in `scan.defs`. */
  readonly index: number;
}

/** What a WHERE clause says about one column: true for every row that passes. */
export type Hint =
  | { readonly kind: "time"; readonly scan: ScanUse; readonly range: TimeRange }
  | { readonly kind: "tag"; readonly scan: ScanUse; readonly columnId: number; readonly values: readonly (string | null)[] }
  | { readonly kind: "field"; readonly scan: ScanUse; readonly predicate: FieldPredicate }
  /** Only newest rows of their series pass. */
  | { readonly kind: "newest"; readonly scan: ScanUse };

/** Columns as DuckDB sees them: their names are encoded (parse/names.ts). */
export type EncodedColumns = readonly { readonly name: string; readonly type: ColumnType }[];

/** One reference to a table in the statement. Hints narrow what it reads. */
export interface ScanUse {
  readonly handle: number;
  /** By name, not encoded. */
  readonly defs: readonly ColumnDef[];
  readonly columns: EncodedColumns;
  /** No row of the table has another time. Absent: unknown. */
  readonly times?: TimeRange;
  /** What narrows it need not be looked at again. */
  readonly selectsExactly: boolean;
  /** Nothing shows of other rows than the newest of each series, if that has values in the columns of `present`. */
  newestOnly: boolean;
  present: readonly ColumnDef[];
  /** What to give up when it has not: null: only `newestOnly`; else the place of a choice (TableCatalog.choose). */
  stake: number | null;
  range: TimeRange;
  tags: { columnId: number; values: readonly (string | null)[] }[];
  fields: FieldPredicate[];
}

/** Groups of a table's rows, made by the storage. */
export interface GroupSource {
  readonly request: AggregateRequest;
  /** Of the groups' columns, encoded, in the order of `aggregateColumns`. */
  readonly columnNames: readonly string[];
  /** Times of rows that the request leaves out although they pass, because their bins have no start: none may be there. */
  readonly unbinned: TimeRange;
}

/** The start of the bin that a table's time column lies in. */
export interface TimeBin {
  readonly scan: ScanUse;
  readonly widthNs: bigint;
  readonly originNs: bigint;
  /** Below it a bin's start is NULL, because it would lie before the first time there is. */
  readonly firstNs: bigint;
}

/** What is known of a value's type beside its kind. */
export interface TypeNote extends Clock {
  /** The vendor's name of the type, where DuckDB's type does not say it: a 64-bit integer that is an Int32 there. */
  readonly arrow?: string;
  /** How many lists lie in each other; of a list whose depth is not known, absent. */
  readonly depth?: number;
  /** The type of the column whose mark (`iox::column::type`) an answer puts on the value; null: none, though it is a plain column. Absent:
   *  that of `source`. */
  readonly mark?: ColumnType | null;
}

export function typeNote(value: TypeNote & { readonly kind: Kind }): TypeNote {
  const { arrow, depth, mark } = value;
  return {
    ...clockOf([value]),
    ...(arrow === undefined ? {} : { arrow }),
    ...(depth === undefined ? {} : { depth }),
    ...(mark === undefined ? {} : { mark }),
  };
}

/** A rewritten expression and what is known about its value. */
export interface Typed extends TypeNote {
  node: Expression;
  kind: Kind;
  /** A plain column of a table. */
  source?: ColumnSource;
  /** Of such a column: see OutputColumn. */
  isOptional?: boolean;
  /** Of a map that is made of two lists: what is known of them. */
  entries?: readonly TypeNote[];
  /** Constants. A time may lie outside of i64: then it has no value, but there is an order of it. */
  timeNs?: bigint;
  text?: string;
  number?: number | bigint;
  boolean?: boolean;
  interval?: Interval;
  bin?: TimeBin;
  /** Of a time less an open parameter, which is taken for an interval: what it is if that is a time. */
  difference?: Typed;
  /** The times that it may have, where it is no column of a scan; worked out when somebody asks. */
  times?: () => TimeRange;
  /** A number of rows that is 1 only in newest rows of their series (rewrite/newest.ts). */
  numbers?: ScanUse;
  /** Conditions: what holds when this one is true. */
  hints?: readonly Hint[];
  /** Conditions: true exactly where all hints hold. */
  isExact?: boolean;
}
