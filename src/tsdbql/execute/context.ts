// The environment of an InfluxQL statement: the request's database and clock, snapshots and scans.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { MappedDatabase } from "../../model/query/query.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import type { ScanTable } from "../../model/query/scan-table.ts";
import type { PolicyRules } from "../../model/retention-policies.ts";
import type { DatabaseSnapshot, SnapshotNeed, TableSnapshot } from "../../scan/snapshot.ts";
import type { SeriesSet } from "../../scan/visible-series.ts";

/** A table of a snapshot, opened for reading. */
export interface OpenTable extends ScanTable {
  /** The series with rows in a range. */
  visibleSeries(range: TimeRange): Generator<SeriesSet, void, void>;
  /** True if a visible row is within the range. */
  hasRows(range: TimeRange): boolean;
  /** Frees everything that its scans hold. */
  close(): void;
}

export interface TsdbqlContext {
  readonly kernel: Kernel;
  /** The request's database; null: none, so statements must name one. */
  readonly database: string | null;
  /** The request's policy; null and "": the default. */
  readonly retentionPolicy: string | null;
  /** By database, where set. */
  readonly policyRules?: Readonly<Record<string, PolicyRules>> | undefined;
  /** What names of databases denote, instead of databases themselves. */
  readonly mappings?: ReadonlyMap<string, MappedDatabase> | undefined;
  /** Databases `db/rp` that listings of `db` include; absent: all. */
  readonly policies?: readonly string[] | undefined;
  /** The answer is one table, as in v3. */
  readonly isTable?: boolean;
  /** Value of now() for all statements of a request. */
  readonly nowNs: bigint;
  /** Requests the current rows and files, pinned until the answer is closed. Call it again only after the last call has resolved.
   *  `need.database` is required. @throws TsdbError unknown_database */
  snapshot(need: SnapshotNeed & { readonly database: string }): Promise<DatabaseSnapshot>;
  scanOf(table: TableSnapshot): OpenTable;
  readonly signal: AbortSignal;
  /** Memory limit for rows and results of a statement. */
  readonly memoryBytesMax: number;
}
