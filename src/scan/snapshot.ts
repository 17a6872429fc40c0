// What a statement may see: rows and files of one moment, pinned on the main thread, described by plain values so that it crosses to a
// worker.

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

/** A block of a data file that holds rows of the table. */
export interface BlockSnapshot {
  readonly fileId: number;
  /** 0 = flushed, above = compacted. */
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
  /** Tombstones up to this id need not be applied to it. */
  readonly appliedTombstone?: number;
}

export interface TableSnapshot {
  readonly table: TableDef;
  /** Rows before it are past their retention: they do not exist any more. */
  readonly retentionMinNs: bigint;
  /** Every row of the table up to this log sequence is here, or is hidden or past its retention; absent: up to the parts' highest. */
  readonly sequence?: number | undefined;
  /** The id of the last tombstone that there was of the table, 0 or absent: none since the server started. */
  readonly lastDeletion?: number | undefined;
  /** Deletions that hide some of the rows, ascending ids. What is hidden as a whole, or past its retention, is not listed below. */
  readonly tombstones: readonly Tombstone[];
  /** Buffer segments, oldest first. */
  readonly runs: readonly Run[];
  readonly blocks: readonly BlockSnapshot[];
  /** Of the files of these blocks, as far as they have one. */
  readonly indexes?: readonly FileIndexRef[];
}

/** What a statement reads of its database. */
export interface SnapshotNeed {
  /** Another database than the request's. */
  readonly database?: string;
  readonly tables: readonly string[];
  /** Names and columns of all tables. */
  readonly wholeCatalog: boolean;
  /** Tables in schema `system`. */
  readonly systemTables: readonly string[];
  /** Of its tables. */
  readonly caches?: readonly CacheReference[];
}

/** A cache that a statement reads, or what of its names there is not. The table is one of the snapshot's. */
export type CacheSnapshot =
  | { readonly reference: CacheReference; readonly cache: CacheDef; readonly clock: CacheClock }
  | { readonly reference: CacheReference; readonly missing: "table" | "cache" };

export interface DatabaseSnapshot {
  readonly tables: readonly TableSnapshot[];
  /** Every table of the database, for SHOW and information_schema; empty unless asked for. */
  readonly catalog: readonly TableDef[];
  /** The server's own database. */
  readonly isInternal: boolean;
  /** Of those tables of schema `system` that were asked for. */
  readonly systemRows: Readonly<Record<string, readonly SystemRow[]>>;
  /** Of those that were asked for; absent: none was. */
  readonly caches?: readonly CacheSnapshot[];
}
