// What a statement sees: rows and files of one moment, pinned on the main thread, described by plain values that can be posted to a worker.

import type { CacheClock } from "../model/cache-table.ts";
import type { CacheDef, CacheReference } from "../model/caches.ts";
import type { TimeRange } from "../model/query/scan.ts";
import type { TableDef } from "../model/rows/column.ts";
import type { Run } from "../model/rows/run.ts";
import type { Tombstone } from "../model/rows/tombstone.ts";
import type { SystemRow } from "../model/system-table.ts";
import type { ObjectSource } from "../storage/block/byte-source.ts";
import type { FileIndexRef } from "../storage/file-index/list.ts";

export type { ObjectSource } from "../storage/block/byte-source.ts";

/** A block of a data file with rows of the table. */
export interface BlockSnapshot {
  readonly fileId: number;
  /** 0 = flushed, higher = compacted. */
  readonly generation: number;
  readonly source: ObjectSource;
  readonly blockIndex: number;
  readonly rowCount: number;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  readonly seqMin: number;
  readonly seqMax: number;
  readonly unique: boolean;
  readonly overlaps?: readonly TimeRange[];
  /** Tombstones up to this id were applied when it was written ... */
  readonly appliedTombstone?: number;
  /** ... except these. */
  readonly unappliedTombstones?: readonly number[];
}

export interface TableSnapshot {
  readonly table: TableDef;
  /** Older rows are past their retention and treated as non-existent. */
  readonly retentionMinNs: bigint;
  /** Every row of the table up to this log sequence is included, hidden or past its retention; absent: up to the highest sequence of the
   *  parts. */
  readonly sequence?: number | undefined;
  /** Grows with each deletion, and with rows that come in files from elsewhere; 0 or absent: none since the server started. */
  readonly lastDeletion?: number | undefined;
  /** Deletions that hide some of the rows, ascending ids. Parts that are completely hidden or past their retention are not listed below. */
  readonly tombstones: readonly Tombstone[];
  /** Buffer segments, oldest first. */
  readonly runs: readonly Run[];
  readonly blocks: readonly BlockSnapshot[];
  /** Indexes of the files of these blocks, where they exist. */
  readonly indexes?: readonly FileIndexRef[];
}

/** What the rows of a table without a retention period follow from: as long as all of it is the same, a statement sees the same rows. */
export type TableState = Pick<TableSnapshot, "table" | "sequence" | "lastDeletion">;

/** The data that a statement reads from its database. */
export interface SnapshotNeed {
  /** A database other than the request's. */
  readonly database?: string;
  readonly tables: readonly string[];
  /** Definitions of all tables are needed. */
  readonly wholeCatalog: boolean;
  /** Tables in schema `system`. */
  readonly systemTables: readonly string[];
  /** Caches of its tables. */
  readonly caches?: readonly CacheReference[];
}

/** A cache that a statement reads, or which of its names is unknown. The table is in the snapshot. */
export type CacheSnapshot =
  | { readonly reference: CacheReference; readonly cache: CacheDef; readonly clock: CacheClock }
  | { readonly reference: CacheReference; readonly missing: "table" | "cache" };

export interface DatabaseSnapshot {
  readonly tables: readonly TableSnapshot[];
  /** All tables of the database, for SHOW and information_schema; empty unless requested. */
  readonly catalog: readonly TableDef[];
  /** True for the server's own database. */
  readonly isInternal: boolean;
  /** Rows of the requested tables in schema `system`. */
  readonly systemRows: Readonly<Record<string, readonly SystemRow[]>>;
  /** The table of `tables` that has the rows of system.processing_engine_logs, of all databases, and the database that is asked for;
   *  absent: not requested, or nothing is logged yet. */
  readonly triggerLog?: { readonly tableId: number; readonly databaseId: number };
  /** The table of `tables` that has the rows of system.audit_log; absent likewise. */
  readonly auditTableId?: number;
  /** The requested caches; absent if none were requested. */
  readonly caches?: readonly CacheSnapshot[];
}
