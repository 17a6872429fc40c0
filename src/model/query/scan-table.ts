// What answers a scan: rows of one table as chunks in shared memory, columns as the caller projected them.
import type { ColumnDef } from "../rows/column.ts";
import type { DictionaryView } from "../rows/run.ts";
import type { AggregateRequest } from "./aggregate.ts";
import type { ScanRequest, TimeRange } from "./scan.ts";
import type { ScanRecord } from "./scan-record.ts";

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
  /** The same in steps of less than a millisecond or so each, between which others may have their turn. A caller that leaves it half
   *  way calls `return`. */
  aggregateInSteps?(request: AggregateRequest): Generator<void, ScanCursor | null, void>;
  /** What its scans have done so far. */
  records?(): readonly ScanRecord[];
}
