// The result side of a scan: rows of one table in chunks of shared memory, projected to the requested columns.
import type { ColumnDef } from "../rows/column.ts";
import type { AggregateRequest } from "./aggregate.ts";
import type { NewestRequest, ScanRequest, TimeRange } from "./scan.ts";
import type { ScanCursor } from "./scan-chunk.ts";
import type { ScanRecord } from "./scan-record.ts";
import type { CombinationRequest, TagCombinations } from "./tag-combinations.ts";

export type { GroupTag, KeptChunk, ScanChunk, ScanColumn, ScanCursor, ScanSeries } from "./scan-chunk.ts";

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
  /** The newest row of every combination of tags, in order of these, in steps; null: there is no memory for it. A caller that abandons it
   *  calls `return`. Absent: never. */
  newestInOrder?(request: NewestRequest): Generator<void, ScanCursor | null, void>;
  /** The combinations of tags among series that may have rows, or more; null: they take too much memory. A caller that abandons it calls
   *  `return`. Absent: never. */
  combinations?(request: CombinationRequest): Generator<void, TagCombinations | null, void>;
  /** Statistics of its scans so far. */
  records?(): readonly ScanRecord[];
}
