// Where rows come from: what a run asks its server for.
import type { ColumnCells } from "../tables/column.ts";
import type { FluxColumnType } from "../values/column-type.ts";

export interface BucketInfo {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  readonly retentionPeriodNs: bigint;
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
}

export interface ReadRequest {
  readonly bucketId: string;
  readonly startNs: bigint;
  /** Exclusive. */
  readonly stopNs: bigint;
}

export interface FluxSource {
  /** Buckets that the caller may read. */
  buckets(): readonly BucketInfo[];
  /** Series with rows in the range, ordered by measurement, tags and field; null is a pause. */
  read(request: ReadRequest): Iterable<SourceSeries | null>;
}
