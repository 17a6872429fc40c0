// Imports of Parquet files into tables, as jobs that run in the background.

/** What a column of a file becomes, in the words of the API. */
export const IMPORT_TYPES = ["i64", "u64", "f64", "bool", "string", "time", "tag"] as const;
export type ImportType = (typeof IMPORT_TYPES)[number];

/** `imported`: its rows are there. `compacted`: its files have been merged with others. `failed`: it is tried again. */
export type ImportStatus = "queued" | "dispatched" | "imported" | "compacted" | "failed" | "terminal_failed";

export interface ImportInfo {
  readonly id: string;
  readonly databaseId: number;
  readonly tableId: number;
  /** As the client calls the file. */
  readonly fileName: string;
  readonly status: ImportStatus;
  /** Why it failed; null: it did not. */
  readonly message: string | null;
  readonly createdMs: number;
  readonly startedMs: number | null;
  readonly completedMs: number | null;
  readonly updatedMs: number;
  /** As the client asked for; null: it did not. */
  readonly columns: ReadonlyMap<string, ImportType> | null;
  /** The file says itself what its columns are: an exported file does. */
  readonly isOwn: boolean;
  readonly byteCount: number;
  readonly rowCount: number;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
}

/** By name. */
export interface ImportTable {
  readonly database: string;
  readonly table: string;
}

/** A file that has been received. */
export interface ImportUpload extends ImportTable {
  readonly fileName: string;
  /** Of the file; it belongs to the service once `start` has resolved. */
  readonly id: string;
  readonly byteCount: number;
  readonly columns: ReadonlyMap<string, ImportType> | null;
}

/** A file on its way to the server. Owned: call `discard` unless it was given to `start`. */
export interface ReceivingFile {
  readonly id: string;
  readonly byteCount: number;
  /** The piece is borrowed. @throws TsdbError no_space, io */
  append(piece: Uint8Array): Promise<void>;
  /** What was appended outlives the process. @throws TsdbError no_space, io */
  finish(): Promise<void>;
  discard(): Promise<void>;
}

export interface ImportJobs {
  /** A place for a file. @param table if it is known already: it is looked up before anything is read. @throws TsdbError unknown_database,
   *  unknown_table, read_only, overloaded with too many that wait, no_space, io */
  receive(table: ImportTable | null): Promise<ReceivingFile>;
  /** Resolves when the job is known; it ends in the background. @throws TsdbError unknown_database, unknown_table; bad_request for a file
   *  that cannot be imported into the table; limit_exceeded */
  start(upload: ImportUpload): Promise<ImportInfo>;
  /** The newest first. */
  list(): Promise<readonly ImportInfo[]>;
}
