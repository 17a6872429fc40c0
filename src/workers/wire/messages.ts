// The messages between the main thread and its workers. Everything is structured-cloneable; bytes are transferred, not copied.
import type { SharedMemory } from "../../kernel/memory/extents.ts";
import type { CacheClock } from "../../model/cache-table.ts";
import type { CacheDef, CacheKind } from "../../model/caches.ts";
import type { ErrorDescription } from "../../model/errors.ts";
import type { QueryFormat, QueryParams, TsdbqlOptions } from "../../model/query/query.ts";
import type { ScanRecord } from "../../model/query/scan-record.ts";
import type { TableDef } from "../../model/rows/column.ts";
import type { StatementTimes } from "../../query/statement-clock.ts";
import type { SnapshotNeed } from "../../scan/snapshot.ts";
import type { CacheCounts } from "../../storage/block-cache/block-cache.ts";
import type { IndexRequest } from "../../storage/compaction/build-index.ts";
import type { FileRequest, MergedFile } from "../../storage/compaction/merge-file.ts";
import type { PtDirectory, PtTableInput } from "../../storage/pt/file.ts";
import type { WireSnapshot } from "./snapshot-wire.ts";

// Query worker ------------------------------------------------------------------------------------------------------------------

export interface QueryWorkerOptions {
  readonly shared: SharedMemory;
  /** Of what the worker allocates there. */
  readonly owner: number;
  /** worker-signals.ts */
  readonly words: SharedArrayBuffer;
  readonly memoryBytes: number;
  readonly threads: number;
  /** Its own: engines name the files that they spill to alike. Made by the worker, removed by main. */
  readonly tempDir: string;
  /** For decoded data of files. */
  readonly cacheBytes: number;
  /** Resident memory of the process beside the kernel's, beyond which statements are stopped. */
  readonly processBytesMax: number;
  /** Calls of DuckDB that this worker may have running at a time. */
  readonly nativeCallsMax: number;
  /** For how long the worker may be kept from its event loop, in milliseconds. */
  readonly loopMsMax: number;
  /** For tests: statements and tables may make the worker stick (faults.ts). */
  readonly hasFaults?: boolean;
  /** It keeps the state of all last-value and distinct-value caches; absent: another one does. */
  readonly keeps?: CacheManagerOptions;
}

export interface CacheManagerOptions {
  /** Of the state of all caches together. */
  readonly bytesMax: number;
  /** Whether caches that are new begin with what their table has. */
  readonly fillsFromHistory: { readonly last: boolean; readonly distinct: boolean };
}

/** Some tables whose caches are to be brought up to date, in the order of the snapshot's tables. */
export interface FeedMessage {
  readonly type: "feed";
  readonly id: number;
  /** Pinned until `fed`. */
  readonly snapshot: WireSnapshot;
  readonly feeds: readonly { readonly caches: readonly CacheDef[]; readonly clock: CacheClock }[];
}

/** Which caches there are; what has expired in those of the kinds `expiring` is freed. */
export interface KeepMessage {
  readonly type: "keep";
  readonly id: number;
  readonly caches: readonly CacheDef[];
  readonly expiring: readonly CacheKind[];
  readonly nowMs: number;
}

/** Of all caches of a kind. */
export interface CacheTotals {
  readonly bytes: number;
  readonly keys: number;
  readonly rows: number;
}

export type ToQueryWorker =
  | { readonly type: "init"; readonly options: QueryWorkerOptions }
  | {
      readonly type: "query";
      readonly id: number;
      /** Of its word; absent: it has none. */
      readonly place?: number;
      readonly database: string;
      readonly statement: string;
      readonly format: QueryFormat;
      readonly params: QueryParams;
      readonly tsdbql?: TsdbqlOptions;
      readonly describe?: boolean;
      /** A pinned snapshot of the tables that the statement probably reads. */
      readonly early?: { readonly need: SnapshotNeed; readonly snapshot: WireSnapshot };
    }
  /** Definitions for the snapshot of a statement that is to come. */
  | { readonly type: "ahead"; readonly tables: readonly TableDef[] }
  | { readonly type: "snapshot"; readonly id: number; readonly snapshot: WireSnapshot }
  /** The reader took `bytes` bytes: as many more may be sent. */
  | { readonly type: "credit"; readonly id: number; readonly bytes: number }
  | { readonly type: "cancel"; readonly id: number }
  | FeedMessage
  /** Caches that are not in the list are gone, and so is what has expired. Answered as a feed of no table is. */
  | KeepMessage
  /** The server stops: what is being fed need not go on. */
  | { readonly type: "stop feeding" }
  /** Answered through shared memory. */
  | { readonly type: "look"; readonly look: number }
  /** Everything ends as soon as it can; then comes `ended`. */
  | { readonly type: "end worker" };

export type FromQueryWorker =
  | { readonly type: "ready" }
  /** The worker can do nothing more but end. `isCut`: something kept it from its event loop; else it met a bug. `statement`: the one
   *  that it  was working for; null: none, or not known. */
  | { readonly type: "broken"; readonly isCut: boolean; readonly statement: number | null; readonly message: string }
  /** The last word: nothing is read of main's memory any more, the engine is closed, and the thread may be ended. */
  | { readonly type: "ended" }
  /** The statement was main's again before it had begun. */
  | { readonly type: "withdrawn"; readonly id: number }
  /** Nothing is read of a feed's snapshot any more. `failed`: places in its list of tables. */
  | {
      readonly type: "fed";
      readonly id: number;
      readonly failed: readonly { readonly place: number; readonly error: ErrorDescription }[];
      readonly totals: Readonly<Record<CacheKind, CacheTotals>>;
    }
  /** Which tables the statement reads; main answers with a pinned snapshot, in place of the early one or, `keepsEarly`, beside it and those
   *  of earlier requests. */
  | { readonly type: "pin"; readonly id: number; readonly need: SnapshotNeed; readonly keepsEarly: boolean }
  /** A whole answer that fits into one message; `end` follows when the worker has let go of the snapshot. */
  | {
      readonly type: "answer";
      readonly id: number;
      readonly contentType: string;
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly rowCount: number;
      readonly times: StatementTimes;
    }
  /** A statement that takes long was begun, after so long. */
  | { readonly type: "planned"; readonly id: number; readonly planMs: number }
  | { readonly type: "head"; readonly id: number; readonly contentType: string }
  | { readonly type: "bytes"; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | {
      readonly type: "end";
      readonly id: number;
      readonly rowCount: number;
      readonly scans: readonly ScanRecord[];
      readonly times: StatementTimes;
      readonly cache: CacheState;
    }
  | { readonly type: "error"; readonly id: number; readonly error: ErrorDescription };

/** Of one worker's cache of decoded data: bytes now, and counts since its start. */
export interface CacheState extends CacheCounts {
  readonly bytes: number;
}

/** Bytes of an answer that may be on their way to a reader that does not read. */
export const ANSWER_WINDOW_BYTES = 1 << 20;
/** Batches are joined to messages of about this size. */
export const ANSWER_MESSAGE_BYTES = 128 << 10;

// Maintenance worker ------------------------------------------------------------------------------------------------------------

export type ToMaintenanceWorker =
  | { readonly type: "init"; readonly shared: SharedMemory }
  /** Of the next flush, the first or further ones. */
  | { readonly type: "flush tables"; readonly tables: readonly PtTableInput[]; readonly isFirst: boolean }
  | { readonly type: "flush"; readonly id: number }
  /** At most one at a time. A flush goes before its next step. */
  | { readonly type: "merge"; readonly id: number; readonly request: FileRequest }
  /** Makes the index of a file; merges and these come one after the other. */
  | { readonly type: "index"; readonly id: number; readonly request: IndexRequest }
  /** A piece of the file that is made was stored: another one may be sent. */
  | { readonly type: "taken"; readonly id: number }
  | { readonly type: "cancel"; readonly id: number };

export type FromMaintenanceWorker =
  | { readonly type: "ready" }
  | { readonly type: "flushed"; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer>; readonly directory: PtDirectory }
  | { readonly type: "piece"; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: "merged"; readonly id: number; readonly file: MergedFile }
  | { readonly type: "indexed"; readonly id: number; readonly bytes: number }
  | { readonly type: "error"; readonly id: number; readonly error: ErrorDescription };

/** Pieces of a merge's file that may be on their way to the disk. */
export const MERGE_PIECES_MAX = 8;
