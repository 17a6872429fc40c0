// The result side of a scan: rows of one table in chunks of shared memory, projected to the requested columns.
import type { ColumnDef } from "../rows/column.ts";
import type { DictionaryView } from "../rows/run.ts";
import type { AggregateRequest } from "./aggregate.ts";
import type { ScanRequest, TimeRange } from "./scan.ts";
import type { ScanRecord } from "./scan-record.ts";

/** VALUE_BYTES[type] × rowCount bytes at dataPtr (tags and strings as views); validityPtr is an LSB-first bitmap, 0 = all present.
 *  Borrowed until the next call of `next`. dataPtr 0 = every row is NULL. */
export interface ScanColumn {
  readonly dataPtr: number;
  readonly validityPtr: number;
}

/** The series of rows: u32 ids in `dictionary`, one per row, at idsPtr. Borrowed like columns. */
export interface ScanSeries {
  readonly idsPtr: number;
  readonly dictionary: DictionaryView;
}

export interface ScanChunk {
  /** 1 .. LIMITS.vectorRows */
  readonly rowCount: number;
  readonly columns: readonly ScanColumn[];
  /** Present if the request has `withSeries`. */
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
  /** Upper bound of the rows, before predicates. */
  readonly rowCountMax: number;
  /** Contains the times of all rows. Absent: unknown. */
  readonly times?: TimeRange;
  /** True: every returned row satisfies `tags` and `fields` of its request (`newestOnly` remains a hint). Absent: false. */
  readonly selectsExactly?: boolean;
  open(request: ScanRequest): ScanCursor;
  /** The groups of a complete aggregation; null if the scan cannot compute them (too many groups, an overflowing sum): the caller then
   *  aggregates rows itself. Chunks have the columns of `aggregateColumns(request)`. Absent: never. */
  aggregate?(request: AggregateRequest): ScanCursor | null;
  /** The same in steps of about a millisecond, between which other statements can run. A caller that abandons it calls `return`. */
  aggregateInSteps?(request: AggregateRequest): Generator<void, ScanCursor | null, void>;
  /** Statistics of its scans so far. */
  records?(): readonly ScanRecord[];
}
