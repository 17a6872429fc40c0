// What a statement of the v1-style language is run with: the request's database and clock, the snapshots and scans it may ask for.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import type { ScanTable } from "../../model/query/scan-table.ts";
import type { PolicyRules } from "../../model/retention-policies.ts";
import type { DatabaseSnapshot, SnapshotNeed, TableSnapshot } from "../../scan/snapshot.ts";
import type { SeriesSet } from "../../scan/visible-series.ts";

/** A table of a snapshot, opened for reading. */
export interface OpenTable extends ScanTable {
  /** The series that have rows within a range. */
  visibleSeries(range: TimeRange): Generator<SeriesSet, void, void>;
  /** Whether a row is seen within the range. */
  hasRows(range: TimeRange): boolean;
  /** Frees everything its scans hold. */
  close(): void;
}

export interface TsdbqlContext {
  readonly kernel: Kernel;
  /** Of the request; null: it names none, and a statement must. */
  readonly database: string | null;
  /** Of the request; null and "": the default one. */
  readonly retentionPolicy: string | null;
  /** Of databases, as far as there are any. */
  readonly policyRules?: Readonly<Record<string, PolicyRules>> | undefined;
  /** Databases `db/rp` that lists of all of `db` take along; absent: all. */
  readonly policies?: readonly string[] | undefined;
  /** The answer is one table, as v3 has it. */
  readonly isTable?: boolean;
  /** now() of all statements of a request. */
  readonly nowNs: bigint;
  /** Rows and files of the moment, pinned until the answer is closed. Called again only when the last call has resolved. `need.database`
   *  is always there. @throws TsdbError unknown_database */
  snapshot(need: SnapshotNeed & { readonly database: string }): Promise<DatabaseSnapshot>;
  scanOf(table: TableSnapshot): OpenTable;
  readonly signal: AbortSignal;
  /** What a statement may hold of rows and results. */
  readonly memoryBytesMax: number;
}
