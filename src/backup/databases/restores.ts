// The restores of a server: at most one runs.

import { TsdbError } from "../../model/errors.ts";
import type { RestoreInfo } from "../../model/rows/backup-jobs.ts";
import type { DatabaseBackupParts } from "./parts.ts";
import { JobProgress } from "./progress.ts";
import type { RestoreLog, RestoreRecord } from "./restore-log.ts";
import { runRestore } from "./restore-run.ts";
import type { BackupRecord, Shelf } from "./shelf.ts";

interface RunningRestore {
  readonly id: string;
  readonly progress: JobProgress;
  readonly controller: AbortController;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

/** Runs restores, and remembers those that there were. */
export class Restores {
  private running: RunningRestore | null = null;
  private stopped: TsdbError | null = null;

  constructor(
    private readonly parts: DatabaseBackupParts,
    private readonly shelf: Shelf,
    private readonly log: RestoreLog,
  ) {}

  async open(): Promise<void> {
    const { catalog, nowMs } = this.parts;
    const cameAbout = ({ tables, databases }: RestoreRecord) => {
      if (tables.length > 0) return tables.some((id) => catalog.tableById(id) !== undefined);
      // databases that were there have lost their tables
      const isAsRestored = (id: number) => catalog.databaseById(id) !== undefined && catalog.tables(id).length === 0;
      return databases.length > 0 && databases.every(isAsRestored);
    };
    await this.log.open(catalog.refusal === null ? cameAbout : null, nowMs());
  }

  /** @throws TsdbError already_exists */
  requireIdle(): void {
    if (this.running === null) return;
    throw new TsdbError("already_exists", `restore ${this.running.id} is running, and only one can run at a time`);
  }

  /** Resolves to its id. `release` is called when it has ended. */
  async start(backup: BackupRecord, release: () => void): Promise<string> {
    const { parts, log } = this;
    const id = Bun.randomUUIDv7();
    let record: RestoreRecord = {
      ...{ id, backup: backup.name, status: "in_progress", createdMs: parts.nowMs(), completedMs: null, error: null },
      ...{ totalFiles: 0, totalBytes: 0, tables: [], databases: [] },
    };
    await log.put(record);
    const progress = new JobProgress();
    const controller = new AbortController();
    if (this.stopped !== null) controller.abort(this.stopped);
    const onReserved = (ids: { readonly tables: readonly number[]; readonly databases: readonly number[] }) => {
      const { totalFiles, totalBytes } = progress;
      record = { ...record, ...ids, totalFiles, totalBytes };
      return log.put(record);
    };
    const run = async () => {
      const content = await this.shelf.content(backup);
      await runRestore(parts, this.shelf, { content, progress, signal: controller.signal, onReserved });
    };
    const ended = run()
      .then(
        () => this.completed({ ...record, status: "completed", completedMs: parts.nowMs() }),
        (error) => this.failed({ ...record, status: "failed", error: reasonOf(error) }, error),
      )
      // else the next start finds out
      .catch((cause) => parts.ended("restore", { id }, cause))
      .finally(() => {
        this.running = null;
        release();
      });
    this.running = { id, progress, controller, ended };
    return id;
  }

  list(): RestoreInfo[] {
    return this.log.all().map((record) => this.infoOf(record));
  }

  /** @throws TsdbError not_found */
  find(id: string): RestoreInfo {
    const record = this.log.find(id);
    if (record === undefined) throw new TsdbError("not_found", `restore not found: ${id.slice(0, 200)}`);
    return this.infoOf(record);
  }

  /** @throws TsdbError not_found */
  cancel(id: string): void {
    if (this.running?.id !== id) throw new TsdbError("not_found", `no restore ${id.slice(0, 200)} is running`);
    this.running.controller.abort();
  }

  /** Ends the running one, and those that begin later. */
  end(reason: TsdbError): void {
    this.stopped = reason;
    this.running?.controller.abort(reason);
  }

  /** Resolves when none runs. */
  async ended(): Promise<void> {
    await this.running?.ended;
  }

  private completed(record: RestoreRecord): Promise<void> {
    const { id, backup, totalFiles: files, totalBytes: bytes } = record;
    this.parts.ended("restore", { id, backup, files, bytes }, null);
    return this.log.note(record);
  }

  private async failed(record: RestoreRecord, error: unknown): Promise<void> {
    const { id, backup } = record;
    this.parts.ended("restore", { id, backup }, error);
    // of a catalog that cannot be written only the next start knows what it has: then the record stays as it is
    if (this.parts.catalog.refusal === null) await this.log.note(record);
    else this.log.keep(record);
  }

  private infoOf({ id, backup, status, createdMs, completedMs, totalFiles, totalBytes, error }: RestoreRecord): RestoreInfo {
    // also while its end is recorded: the next one can start when it has ended
    if (this.running?.id === id) {
      return { id, backup, status: "in_progress", createdMs, completedMs: null, error: null, ...this.running.progress.counts() };
    }
    const own = { id, backup, status, createdMs, completedMs, error };
    const isWhole = status === "completed";
    return { ...own, totalFiles, totalBytes, doneFiles: isWhole ? totalFiles : 0, doneBytes: isWhole ? totalBytes : 0 };
  }
}

/** What clients are told of an error. */
export function reasonOf(error: unknown): string {
  return error instanceof TsdbError ? error.message : "internal error; the server's log has it";
}
