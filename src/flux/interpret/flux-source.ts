// Where rows come from: what a run asks its server for.
import type { ColumnCells } from "../tables/column.ts";
import type { FluxColumnType } from "../values/column-type.ts";

export interface BucketInfo {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  readonly retentionPeriodNs: bigint;
  /** True if the sender may not write it. */
  readonly isReadOnly?: boolean;
}

/** A name of v1 clients for a bucket. */
export interface DatabaseInfo {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly isDefault: boolean;
  readonly bucket: BucketInfo;
}

/** One field of one series, in order of time. */
export interface SourceSeries {
  readonly measurement: string;
  readonly field: string;
  /** Sorted by name, absent tags left out. */
  readonly tags: readonly (readonly [string, string])[];
  readonly type: FluxColumnType;
  readonly timesNs: BigInt64Array;
  readonly values: ColumnCells;
  /** Of partial means: how many values each sum has. */
  readonly counts?: BigInt64Array;
}

/** All wanted fields of one series: a row for each time at which one of them has a value. */
export interface SourceRows {
  readonly measurement: string;
  /** Sorted by name, absent tags left out. */
  readonly tags: readonly (readonly [string, string])[];
  /** Rows by their first field with a value, in the order of the fields, and then by time. */
  readonly timesNs: BigInt64Array;
  /** Fields with values, sorted by name. */
  readonly fields: readonly {
    readonly name: string;
    readonly type: FluxColumnType;
    readonly values: ColumnCells;
    /** 1 for a value; null: all rows have one. */
    readonly valid: Uint8Array | null;
  }[];
}

/** Series that a script wants. It may get others too, and filters them itself. */
export interface WantedSeries {
  /** Equal for equal wishes. */
  readonly key: string;
  /** The only measurements; null: unknown. */
  readonly measurements: readonly string[] | null;
  /** False: no such series is wanted. */
  mayBe(measurement: string, field: string): boolean;
  /** By tag: the values that wanted series have. */
  readonly tags: ReadonlyMap<string, readonly string[]>;
}

export interface ReadRequest {
  readonly bucketId: string;
  readonly startNs: bigint;
  /** Exclusive. */
  readonly stopNs: bigint;
  /** Absent: all. */
  readonly wanted?: WantedSeries;
}

/** squares: of the distances from the mean, always with counts. */
export type ReduceFunction = "count" | "sum" | "mean" | "squares" | "min" | "max" | "first" | "last";

/** Windows of one width, one behind the other. */
export interface WindowRun {
  /** Of the first window; those behind it count on. */
  readonly firstNumber: number;
  readonly startNs: bigint;
  readonly widthNs: bigint;
  readonly count: number;
}

/** Tags that tell rows apart; rows of series that differ in others are reduced together. */
export interface ApartTags {
  readonly names: readonly string[];
  /** True: all tags but these. */
  readonly isExcept: boolean;
  /** True: all tags tell rows apart where a measurement has several of the wanted fields. */
  readonly needsOneField: boolean;
}

/** One row in place of all rows of a series in a window. */
export interface Reduction {
  readonly fn: ReduceFunction;
  /** In order of time, without overlaps; null: one window, number 0. */
  readonly runs: readonly WindowRun[] | null;
  /** True: rows of `first` and `last` have their own time; otherwise the number of their window stands in place of their time. */
  readonly ownTimes: boolean;
  /** True: a mean comes as sums and counts. */
  readonly isPartial: boolean;
  /** What must have one type, though the reduction has one for all: counts of several types are not grouped. */
  readonly oneTypeOf: "all fields" | "each field" | null;
  /** Of all series together, only this many latest windows with rows are wanted; others may be left out. Null: all. */
  readonly latest: number | null;
  /** Null: all tags tell rows apart. */
  readonly apart: ApartTags | null;
}

/** A comparison that rows have to pass, before they are reduced. */
export interface ValueTest {
  readonly operator: "==" | "!=" | "<" | "<=" | ">" | ">=";
  readonly value: number | bigint | string | boolean;
}

export interface ReduceRequest extends ReadRequest {
  readonly reduction: Reduction;
  readonly values: readonly ValueTest[];
}

/** Of the wanted series: the values of a tag, the columns of their keys, or how many there are, whose fields do not count. */
export type SeriesQuestion =
  /** `withAbsent`: an empty text stands for series without the tag; false: they say nothing. */
  { readonly kind: "values"; readonly tag: string; readonly withAbsent: boolean } | { readonly kind: "labels" | "count" };

export interface SeriesAnswer {
  /** In any order. */
  readonly texts: ReadonlySet<string>;
  readonly count: number;
}

export interface OrganizationInfo {
  readonly id: string;
  readonly name: string;
}

export interface FluxSource {
  /** The organization of the script. */
  organization(): OrganizationInfo;
  /** Whether the caller may see another organization with this name. Absent: it sees none. */
  seesOrganization?(name: string): boolean;
  /** Buckets that the caller may read. */
  buckets(): readonly BucketInfo[];
  /** Names of v1 clients for those; absent: nobody keeps such names. */
  databases?(): readonly DatabaseInfo[];
  /** One of them. */
  bucket(find: { readonly name: string } | { readonly id: string }): BucketInfo | undefined;
  /** Series with rows in the range, ordered by measurement, tags and field; null is a pause. */
  read(request: ReadRequest): Iterable<SourceSeries | null>;
  /** Exactly the wanted series, their fields side by side; null is a pause. Absent: never. */
  readRows?(request: ReadRequest): Iterable<SourceRows | null>;
  /** Exactly the wanted series, reduced; windows without rows are left out. Null: it cannot. Absent: never. */
  reduced?(request: ReduceRequest): Generator<null, readonly SourceSeries[] | null, void>;
  /** Answers about exactly the wanted series. Null: it cannot. Absent: never. */
  described?(request: ReadRequest, question: SeriesQuestion): Generator<null, SeriesAnswer | null, void>;
}
