// Backups of the databases of port 8181, and restores, as jobs that run in the background.

export type BackupType = "full" | "incremental";

/** `failed`: by an error, by a cancellation, or because the server ended. */
export type JobStatus = "in_progress" | "completed" | "failed";

interface Job {
  readonly status: JobStatus;
  readonly createdMs: number;
  /** When it was whole; null: it is not. */
  readonly completedMs: number | null;
  readonly totalFiles: number;
  readonly totalBytes: number;
  /** Of these, what is done. */
  readonly doneFiles: number;
  readonly doneBytes: number;
  /** Why it failed. */
  readonly error: string | null;
}

export interface BackupInfo extends Job {
  readonly name: string;
  readonly type: BackupType;
  /** The backup whose files an incremental one needs; null for a full one. */
  readonly parent: string | null;
}

export interface RestoreInfo extends Job {
  readonly id: string;
  readonly backup: string;
}

export interface NewBackup {
  readonly type: BackupType;
  /** Null: one is made. */
  readonly name: string | null;
  /** Of an incremental one; null: the newest. */
  readonly parent: string | null;
  /** Takes the place of a backup of the name. */
  readonly force: boolean;
}

/** @throws TsdbError bad_request for what is no name; not_found, already_exists */
export interface BackupJobs {
  /** Resolves to the name when the job is known; it ends in the background. @throws TsdbError already_exists, overloaded, read_only */
  start(backup: NewBackup): Promise<string>;
  /** The newest first. */
  list(): Promise<BackupInfo[]>;
  find(name: string): Promise<BackupInfo>;
  /** Ends a backup that runs. */
  cancel(name: string): Promise<void>;
  /** Deletes a backup with the incremental backups that need it. @throws TsdbError already_exists while one of them is made or restored */
  delete(name: string): Promise<BackupType>;
  /** Resolves to an id when the job is known. @throws TsdbError already_exists while another one runs, read_only */
  startRestore(backup: string): Promise<string>;
  /** The newest first. */
  restores(): Promise<RestoreInfo[]>;
  findRestore(id: string): Promise<RestoreInfo>;
  /** Ends a restore that runs: nothing is restored then. @throws TsdbError not_found when none runs */
  cancelRestore(id: string): Promise<void>;
}
