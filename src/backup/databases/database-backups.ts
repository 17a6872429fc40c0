// Backups of the databases of port 8181 as jobs: at most one is made at a time, others wait, and at most one is restored. Each call that
// changes which jobs and backups there are has its turn.

import { TsdbError } from "../../model/errors.ts";
import type { BackupInfo, BackupJobs, BackupType, NewBackup } from "../../model/rows/backup-jobs.ts";
import { runBackup } from "./backup-run.ts";
import { throwIfCancelled } from "./copy.ts";
import type { DatabaseBackupParts } from "./parts.ts";
import { JobProgress } from "./progress.ts";
import type { RestoreLog } from "./restore-log.ts";
import { Restores, reasonOf } from "./restores.ts";
import { type Attempt, type BackupRecord, checkBackupName, DELETION, type Shelf, type Shelved } from "./shelf.ts";

/** A backup that is being made, or waits for its turn. */
interface RunningBackup {
  readonly attempt: Attempt;
  readonly progress: JobProgress;
  readonly controller: AbortController;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

/** Backups that wait for others to be made. */
const WAITING_MAX = 100;

/** Backups and restores of one server. */
export class DatabaseBackups implements BackupJobs {
  private opened: Promise<void> | null = null;
  private turn: Promise<unknown> = Promise.resolve();
  /** Ends when no backup is being made. */
  private making: Promise<unknown> = Promise.resolve();
  private readonly running = new Map<string, RunningBackup>();
  /** Backups that jobs read, by their number. */
  private readonly locked = new Map<string, number>();
  private readonly restoreJobs: Restores;
  /** Why jobs end that begin now. */
  private stopped: TsdbError | null = null;

  constructor(
    private readonly parts: DatabaseBackupParts,
    private readonly shelf: Shelf,
    log: RestoreLog,
  ) {
    this.restoreJobs = new Restores(parts, shelf, log);
  }

  start(wanted: NewBackup): Promise<string> {
    return this.inTurn(async () => {
      const { parts, shelf } = this;
      this.requireWritable();
      const name = wanted.name ?? freshName(parts.nowMs());
      checkBackupName(name);
      const parent = await this.parentOf(name, wanted);
      if (this.running.size >= WAITING_MAX) {
        throw new TsdbError("overloaded", `${WAITING_MAX} backups wait to be made; try again when one has ended`);
      }
      await this.requireFree(name, wanted.force);
      const { source, nowMs } = parts;
      const attempt: Attempt = {
        ...{ name, type: wanted.type, parent: parent?.name ?? null, source, createdMs: nowMs() },
        ...{ run: crypto.randomUUID(), error: null },
      };
      await shelf.begin(attempt);
      this.begin(attempt, parent);
      return name;
    });
  }

  async list(): Promise<BackupInfo[]> {
    await this.open();
    const shelved = await this.shelf.list();
    const found = shelved.map((each) => this.infoOf(each));
    const names = new Set(found.map(({ name }) => name));
    // begun since
    for (const [name, job] of this.running) if (!names.has(name)) found.push(runningInfo(job));
    return found.sort((a, b) => b.createdMs - a.createdMs || (a.name < b.name ? -1 : 1));
  }

  async find(name: string): Promise<BackupInfo> {
    await this.open();
    const job = this.running.get(name);
    if (job !== undefined) return runningInfo(job);
    return this.infoOf(await this.shelved(name));
  }

  async cancel(name: string): Promise<void> {
    await this.open();
    const job = this.running.get(name);
    if (job === undefined) throw new TsdbError("not_found", `no backup "${name.slice(0, 200)}" is being made`);
    job.controller.abort();
  }

  delete(name: string): Promise<BackupType> {
    return this.inTurn(async () => {
      this.requireWritable();
      this.requireNotRunning(name);
      const found = await this.shelved(name);
      const all = await this.shelf.list();
      const family = [found, ...descendantsOf(name, all)];
      for (const each of family) {
        this.requireOwnAttempt(each);
        this.requireUnlocked(originOf(each).name, name);
      }
      // whatever needs another one goes before it
      for (const each of family.reverse()) await this.shelf.remove(originOf(each));
      return originOf(found).type;
    });
  }

  startRestore(name: string): Promise<string> {
    return this.inTurn(async () => {
      this.requireWritable();
      if (name === "") throw new TsdbError("bad_request", "backup_name must not be empty");
      checkBackupName(name);
      this.restoreJobs.requireIdle();
      // its files go when its replacement is whole
      this.requireNotRunning(name);
      const { record, attempt } = await this.shelf.find(name);
      if (record === null) throw attempt === null ? unknown(name) : unusable(attempt);
      const release = await this.lock(record);
      try {
        return await this.restoreJobs.start(record, release);
      } catch (error) {
        release();
        throw error;
      }
    });
  }

  async restores(): Promise<ReturnType<Restores["list"]>> {
    await this.open();
    return this.restoreJobs.list();
  }

  async findRestore(id: string): Promise<ReturnType<Restores["find"]>> {
    await this.open();
    return this.restoreJobs.find(id);
  }

  async cancelRestore(id: string): Promise<void> {
    await this.open();
    this.restoreJobs.cancel(id);
  }

  /** Reads what there is, and settles what an earlier process left: begin it at the start of the server. Repeated by the next call when it
   *  fails. */
  open(): Promise<void> {
    this.opened ??= this.recover().catch((error) => {
      this.opened = null;
      throw error;
    });
    return this.opened;
  }

  /** Ends all jobs; none can be started afterwards. */
  async stop(): Promise<void> {
    const reason = new TsdbError("cancelled", "the server was stopped");
    this.stopped = reason;
    for (const { controller } of this.running.values()) controller.abort(reason);
    this.restoreJobs.end(reason);
    await this.opened?.catch(() => {}); // reported before
    // a call that has its turn may still begin a job
    await this.turn;
    await Promise.all([this.restoreJobs.ended(), ...[...this.running.values()].map(({ ended }) => ended)]);
  }

  private async recover(): Promise<void> {
    const { parts, shelf } = this;
    await this.restoreJobs.open();
    if (parts.catalog.refusal !== null) return;
    await parts.recoverStore();
    for (const { record, attempt } of await shelf.list()) {
      if (attempt === null || attempt.source !== parts.source) continue;
      if (attempt.error === DELETION) await shelf.remove(attempt);
      else if (attempt.run === record?.run) await shelf.tidy(attempt.name);
      else if (attempt.error === null) await shelf.fail(attempt, "the server ended before the backup was whole");
    }
  }

  private begin(attempt: Attempt, parent: BackupRecord | null): void {
    const { name } = attempt;
    const progress = new JobProgress();
    const controller = new AbortController();
    if (this.stopped !== null) controller.abort(this.stopped);
    const { signal } = controller;
    const run = this.making.then(async () => {
      // those that are made meanwhile may be parents of parents
      const release = parent === null ? () => {} : await this.lock(parent);
      try {
        throwIfCancelled(signal);
        const { totalFiles, totalBytes } = await runBackup(this.parts, this.shelf, { attempt, parent, progress, signal });
        this.parts.ended("backup", { name, files: totalFiles, bytes: totalBytes }, null);
      } finally {
        release();
      }
    });
    const unlock = this.lockName(parent?.name ?? name);
    const ended = run
      .catch((error) => this.failed(attempt, error))
      .finally(() => {
        unlock();
        this.running.delete(name);
      });
    this.making = ended;
    this.running.set(name, { attempt, progress, controller, ended });
  }

  private async failed(attempt: Attempt, error: unknown): Promise<void> {
    this.parts.ended("backup", { name: attempt.name }, error);
    // else the next start does it
    await this.shelf.fail(attempt, reasonOf(error)).catch((cause) => this.parts.ended("backup", { name: attempt.name }, cause));
  }

  private infoOf(found: Shelved): BackupInfo {
    const { name, type, parent, createdMs } = originOf(found);
    const job = this.running.get(name);
    if (job !== undefined) return runningInfo(job);
    const origin = { name, type, parent, createdMs };
    const { record, attempt } = found;
    if (record === null) {
      const none = { totalFiles: 0, totalBytes: 0, doneFiles: 0, doneBytes: 0, completedMs: null };
      if (attempt!.error === null && attempt!.source !== this.parts.source)
        return { ...origin, ...none, status: "in_progress", error: null };
      return { ...origin, ...none, status: "failed", error: attempt!.error ?? "its end could not be recorded" };
    }
    const { totalFiles, totalBytes, completedMs } = record;
    const all = { totalFiles, totalBytes, doneFiles: totalFiles, doneBytes: totalBytes };
    return { ...origin, ...all, completedMs, status: "completed", error: null };
  }

  /** @throws TsdbError not_found */
  private async shelved(name: string): Promise<Shelved> {
    let found: Shelved = { record: null, attempt: null };
    if (isName(name)) found = await this.shelf.find(name);
    if (found.record === null && found.attempt === null) throw unknown(name);
    return found;
  }

  private async parentOf(name: string, { type, parent }: NewBackup): Promise<BackupRecord | null> {
    if (type === "full") {
      if (parent !== null) throw new TsdbError("bad_request", "a full backup has no parent");
      return null;
    }
    if (parent === name) throw new TsdbError("bad_request", "a backup cannot be its own parent");
    if (parent !== null) {
      // its files go when its replacement is whole
      this.requireNotRunning(parent);
      const { record } = await this.shelved(parent);
      if (record === null) throw new TsdbError("not_found", `no backup "${parent}" is whole`);
      if (record.source !== this.parts.source) throw new TsdbError("bad_request", `"${parent}" is a backup of another server`);
      return record;
    }
    const all = (await this.shelf.list()).flatMap(({ record }) => (record?.source === this.parts.source ? [record] : []));
    const own = all
      .filter((record) => record.name !== name && !this.running.has(record.name))
      .sort((a, b) => b.completedMs - a.completedMs);
    if (own[0] === undefined)
      throw new TsdbError("not_found", "an incremental backup needs an earlier one, and there is none: make a full one");
    return own[0];
  }

  private async requireFree(name: string, force: boolean): Promise<void> {
    this.requireNotRunning(name);
    const found = await this.shelf.find(name);
    const { record, attempt } = found;
    this.requireOwnAttempt(found);
    if (record !== null) {
      if (!force) throw new TsdbError("already_exists", `backup "${name}" exists; force replaces it`);
      this.requireUnlocked(name, name);
      const [child] = descendantsOf(name, await this.shelf.list());
      if (child !== undefined) {
        throw new TsdbError("already_exists", `backup "${name}" cannot be replaced: the incremental "${originOf(child).name}" needs it`);
      }
    }
    if (attempt === null) return;
    await this.shelf.tidy(name);
    await this.shelf.forget(attempt);
  }

  private requireNotRunning(name: string): void {
    if (this.running.has(name)) throw new TsdbError("already_exists", `backup "${name}" is in progress`);
  }

  private requireUnlocked(name: string, asked: string): void {
    if (!this.locked.has(name) && !this.running.has(name)) return;
    const whose = name === asked ? "" : `"${name}", which needs it, `;
    throw new TsdbError("already_exists", `backup "${asked}" is in use: ${whose}is being made, read by a backup, or restored`);
  }

  /** Another server of the folder is making it, or has ended while it was. */
  private requireOwnAttempt({ attempt }: Shelved): void {
    if (attempt === null || attempt.error !== null || attempt.source === this.parts.source) return;
    throw new TsdbError("already_exists", `backup "${attempt.name}" is in progress on another server`);
  }

  private requireWritable(): void {
    const { refusal } = this.parts.catalog;
    if (refusal !== null) throw refusal;
    if (this.stopped !== null) throw new TsdbError("unavailable", "the server is stopping");
  }

  /** Keeps a backup and those that it needs from being deleted until the result is called. */
  private async lock(record: BackupRecord): Promise<() => void> {
    const releases = [this.lockName(record.name)];
    let { parent } = record;
    while (parent !== null && releases.length <= CHAIN_MAX) {
      releases.push(this.lockName(parent));
      parent = (await this.shelf.find(parent)).record?.parent ?? null;
    }
    return once(() => {
      for (const release of releases) release();
    });
  }

  private lockName(name: string): () => void {
    this.locked.set(name, (this.locked.get(name) ?? 0) + 1);
    return once(() => {
      const left = this.locked.get(name)! - 1;
      if (left === 0) this.locked.delete(name);
      else this.locked.set(name, left);
    });
  }

  private async inTurn<T>(run: () => Promise<T>): Promise<T> {
    await this.open();
    const done = this.turn.then(run);
    this.turn = done.catch(() => {}); // the caller has the error
    return done;
  }
}

/** Backups of backups of backups: a damaged description cannot make it endless. */
const CHAIN_MAX = 10_000;

function isName(name: string): boolean {
  try {
    checkBackupName(name);
    return true;
  } catch {
    return false;
  }
}

function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) run();
    isDone = true;
  };
}

function originOf({ record, attempt }: Shelved): BackupRecord | Attempt {
  return (record ?? attempt)!;
}

function runningInfo({ attempt, progress }: RunningBackup): BackupInfo {
  const { name, type, parent, createdMs } = attempt;
  return { name, type, parent, createdMs, ...progress.counts(), status: "in_progress", completedMs: null, error: null };
}

/** Those that need the backup, parents before their children. */
function descendantsOf(name: string, all: readonly Shelved[]): Shelved[] {
  const found: Shelved[] = [];
  const names = new Set([name]);
  for (let before = 0; before < names.size; ) {
    before = names.size;
    for (const each of all) {
      const { name: own, parent } = originOf(each);
      if (parent === null || names.has(own) || !names.has(parent)) continue;
      names.add(own);
      found.push(each);
    }
  }
  return found;
}

function unknown(name: string): TsdbError {
  return new TsdbError("not_found", `backup not found: ${name.slice(0, 200)}`);
}

function unusable({ name, error }: Attempt): TsdbError {
  const why = error === null ? "it is in progress" : error;
  return new TsdbError("bad_request", `backup "${name}" cannot be restored, because it is not whole: ${why}`);
}

function freshName(nowMs: number): string {
  const time = new Date(nowMs).toISOString().slice(0, "YYYY-MM-DDTHH:MM:SS".length).replace(/[-:]/g, "");
  return `backup-${time}-${crypto.randomUUID().slice(0, 8)}`;
}
