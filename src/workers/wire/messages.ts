// The messages between the main thread and its workers. Everything is structured-cloneable; bytes are transferred, not copied.
import type { SharedMemory } from "../../kernel/memory/extents.ts";
import type { CacheClock } from "../../model/cache-table.ts";
import type { CacheDef, CacheKind } from "../../model/caches.ts";
import type { ErrorDescription } from "../../model/errors.ts";
import type { FluxOptions } from "../../model/query/flux.ts";
import type { QueryFormat, QueryParams, TableRows, TsdbqlOptions } from "../../model/query/query.ts";
import type { ScanRecord } from "../../model/query/scan-record.ts";
import type { TableDef } from "../../model/rows/column.ts";
import type { StatementTimes } from "../../query/statement-clock.ts";
import type { SnapshotNeed } from "../../scan/snapshot.ts";
import type { CacheCounts } from "../../storage/block-cache/lease.ts";
import type { IndexRequest } from "../../storage/compaction/build-index.ts";
import type { FileRequest, MergedFile } from "../../storage/compaction/merge-file.ts";
import type { PtDirectory, PtTableInput } from "../../storage/pt/file.ts";
import type { WireSnapshot, WireTables } from "./snapshot-wire.ts";

// Query worker ------------------------------------------------------------------------------------------------------------------

export interface QueryWorkerOptions {
  readonly shared: SharedMemory;
  /** Owner number for the worker's kernel allocations. */
  readonly owner: number;
  /** See worker-signals.ts. */
  readonly words: SharedArrayBuffer;
  readonly memoryBytes: number;
  readonly threads: number;
  /** A folder of its own: DuckDB instances use the same spill file names. Created by the worker, removed by main. */
  readonly tempDir: string;
  /** Budget of the block cache. */
  readonly cacheBytes: number;
  /** Limit for the process's resident memory without the kernel's, beyond which statements are stopped. */
  readonly processBytesMax: number;
  /** The same with the kernel's. */
  readonly residentBytesMax: number;
  /** Maximum concurrent DuckDB calls of this worker. */
  readonly nativeCallsMax: number;
  /** Maximum time between returns to the event loop, in milliseconds. */
  readonly loopMsMax: number;
  /** Scripts may come: their language is loaded once the worker is ready. */
  readonly loadsFlux?: boolean;
  /** For tests: statements and tables may inject faults (faults.ts). */
  readonly hasFaults?: boolean;
  /** Set for the worker that holds the state of all last-value and distinct-value caches. */
  readonly keeps?: CacheManagerOptions;
}

export interface CacheManagerOptions {
  /** Memory limit of all caches together. */
  readonly bytesMax: number;
  /** True: new caches are filled with existing rows of their table. */
  readonly fillsFromHistory: { readonly last: boolean; readonly distinct: boolean };
}

/** Tables whose caches are to be updated, in the order of the snapshot's tables. */
export interface FeedMessage {
  readonly type: "feed";
  readonly id: number;
  /** Pinned until `fed`. */
  readonly snapshot: WireSnapshot;
  readonly feeds: readonly { readonly caches: readonly CacheDef[]; readonly clock: CacheClock }[];
}

/** The existing caches; expired rows in those of the kinds `expiring` are freed. */
export interface KeepMessage {
  readonly type: "keep";
  readonly id: number;
  readonly caches: readonly CacheDef[];
  readonly expiring: readonly CacheKind[];
  readonly nowMs: number;
}

/** Totals of all caches of a kind. */
export interface CacheTotals {
  readonly bytes: number;
  readonly keys: number;
  readonly rows: number;
}

/** The outcome of a statement's write. */
export interface WrittenMessage {
  readonly type: "written";
  readonly id: number;
  readonly number: number;
  readonly outcome: { readonly refused: string | null } | { readonly error: ErrorDescription };
}

export type ToQueryWorker =
  | { readonly type: "init"; readonly options: QueryWorkerOptions }
  | {
      readonly type: "query";
      readonly id: number;
      /** Index of its word in the signals; absent: none. */
      readonly place?: number;
      readonly database: string;
      readonly statement: string;
      readonly format: QueryFormat;
      readonly params: QueryParams;
      readonly tsdbql?: TsdbqlOptions;
      readonly flux?: FluxOptions;
      readonly rows?: TableRows;
      readonly memoryBytesMax?: number;
      readonly describe?: boolean;
      /** A pinned snapshot of the tables that the statement probably reads. */
      readonly early?: { readonly need: SnapshotNeed; readonly snapshot: WireSnapshot };
    }
  /** Definitions for the snapshot of a later message. */
  | { readonly type: "ahead"; readonly tables: readonly TableDef[] }
  /** The first tables of the statement's next snapshot; the last are in the snapshot's own message. */
  | { readonly type: "tables"; readonly id: number; readonly tables: WireTables }
  | { readonly type: "snapshot"; readonly id: number; readonly snapshot: WireSnapshot }
  /** The reader consumed `bytes` bytes: as many more may be sent. */
  | { readonly type: "credit"; readonly id: number; readonly bytes: number }
  | { readonly type: "cancel"; readonly id: number }
  | WrittenMessage
  | FeedMessage
  /** Removes caches that are not in the list, and expired rows. Answered like a feed without tables. */
  | KeepMessage
  /** The server stops: abort running cache updates. */
  | { readonly type: "stop feeding" }
  /** Answered through shared memory. */
  | { readonly type: "look"; readonly look: number }
  /** End as soon as possible; `ended` follows. */
  | { readonly type: "end worker" };

export type FromQueryWorker =
  | { readonly type: "ready" }
  /** The worker cannot continue. `isCut`: an entry was terminated; otherwise it hit a bug. `statement`: the one being worked on; null:
   *  none, or unknown. */
  | { readonly type: "broken"; readonly isCut: boolean; readonly statement: number | null; readonly message: string }
  /** The last message: the worker no longer reads shared memory, DuckDB is closed, and the thread may be terminated. */
  | { readonly type: "ended" }
  /** Main had withdrawn the statement before it started. */
  | { readonly type: "withdrawn"; readonly id: number }
  /** A feed's snapshot is no longer read. `failed`: indexes in its table list. */
  | {
      readonly type: "fed";
      readonly id: number;
      readonly failed: readonly { readonly place: number; readonly error: ErrorDescription }[];
      readonly totals: Readonly<Record<CacheKind, CacheTotals>>;
    }
  /** The tables that the statement reads; main answers with a pinned snapshot that replaces the early one or, with `keepsEarly`, is
   *  added to it and to those of earlier requests. */
  | { readonly type: "pin"; readonly id: number; readonly need: SnapshotNeed; readonly keepsEarly: boolean }
  /** Lines that the statement writes; `written` answers. `number` counts the writes of the statement. */
  | { readonly type: "write"; readonly id: number; readonly number: number; readonly database: string; readonly lines: string }
  /** A complete answer in one message. The worker no longer reads the snapshot. */
  | {
      readonly type: "answer";
      readonly id: number;
      readonly contentType: string;
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly end: StatementEnd;
    }
  /** The statement begins or ends to wait for other servers. */
  | { readonly type: "waits"; readonly id: number; readonly waits: boolean }
  /** A long-running statement has been planned; `planMs` is the time it took. */
  | { readonly type: "planned"; readonly id: number; readonly planMs: number }
  | { readonly type: "head"; readonly id: number; readonly contentType: string }
  | { readonly type: "bytes"; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | ({ readonly type: "end"; readonly id: number } & StatementEnd)
  | { readonly type: "error"; readonly id: number; readonly error: ErrorDescription };

/** What a statement did, once it reads nothing any more. */
export interface StatementEnd {
  readonly rowCount: number;
  readonly scans: readonly ScanRecord[];
  readonly times: StatementTimes;
  readonly cache: CacheState;
  /** True if it only counted all rows of one table, or the combinations of tags that they have. Absent: false. */
  readonly countsTable?: boolean;
}

/** State of one worker's block cache: current bytes, and counts since its start. */
export interface CacheState extends CacheCounts {
  readonly bytes: number;
  /** That have something in it. */
  readonly files: number;
}

/** Maximum bytes of an answer in transit to a reader that does not read. */
export const ANSWER_WINDOW_BYTES = 1 << 20;
/** Batches are combined into messages of about this size. */
export const ANSWER_MESSAGE_BYTES = 128 << 10;

// Maintenance worker ------------------------------------------------------------------------------------------------------------

export type ToMaintenanceWorker =
  | { readonly type: "init"; readonly shared: SharedMemory }
  /** Tables of the next flush, the first or further ones. */
  | { readonly type: "flush tables"; readonly tables: readonly PtTableInput[]; readonly isFirst: boolean }
  | { readonly type: "flush"; readonly id: number }
  /** At most one at a time. A flush takes precedence over its next step. */
  | { readonly type: "merge"; readonly id: number; readonly request: FileRequest }
  /** Builds the index of a file; these and merges run one after another. */
  | { readonly type: "index"; readonly id: number; readonly request: IndexRequest }
  /** A piece of the output file was stored: another one may be sent. */
  | { readonly type: "taken"; readonly id: number }
  | { readonly type: "cancel"; readonly id: number };

export type FromMaintenanceWorker =
  | { readonly type: "ready" }
  | { readonly type: "flushed"; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer>; readonly directory: PtDirectory }
  | { readonly type: "piece"; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: "merged"; readonly id: number; readonly file: MergedFile }
  | { readonly type: "indexed"; readonly id: number; readonly bytes: number }
  | { readonly type: "error"; readonly id: number; readonly error: ErrorDescription };

/** Pieces of a merged file in transit to the disk. */
export const MERGE_PIECES_MAX = 8;
