// Compaction: plans, has files merged, and commits each job with one manifest entry. A crash at any point leaves either the inputs or the
// outputs valid, never both; the planner then plans again. One job at a time, concurrent with queries and flushes.
import type { Reclaimer } from "../../model/reclaimer.ts";
import { applicable } from "../../model/rows/tombstone.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import type { ObjectSource } from "../block/byte-source.ts";
import type { BlockOfTable, BlocksOfFile, FileMeta, Manifest } from "../manifest/manifest.ts";
import { type CompactionJob, type FilePlan, nextJob } from "./compaction-job.ts";
import type { FileRequest, MergedFile, MergeTask } from "./merge-file.ts";
import { type CompactionLimits, planTable, type SeenTombstone, type TablePlan, type TableState } from "./plan-compaction.ts";

/** The result of a job, for log and metrics. */
export interface CompactionReport {
  readonly inputBlocks: number;
  readonly outputFiles: number;
  readonly rowCount: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly droppedBlocks: number;
  readonly milliseconds: number;
}

export interface CompactorParts {
  readonly manifest: Manifest;
  readonly store: ObjectStore;
  readonly pins: Reclaimer;
  readonly ptKey: (fileId: number) => string;
  /** Where the worker reads the object of this key. */
  readonly objectSource: (key: string) => ObjectSource;
  /** The table's definition, retention, and the deletions that may still hide rows of it. */
  readonly tableState: (tableId: number, nowMs: number) => Omit<TableState, "tableId" | "blocks" | "tombstones"> & Tombstones;
  /** Changes whenever a result of `tableState` may have changed, other than by the passage of time. */
  readonly stateVersion: () => unknown;
  /** Resolves when the deletions returned by `tableState` are durable. */
  readonly deletionsDurable: () => Promise<void>;
  /** Forgets deletions that are applied to all files. */
  readonly retireDeletions: () => void;
  /** Merges in the maintenance worker, which passes the file to `write` in pieces. */
  readonly merge: (request: FileRequest, write: (piece: Uint8Array) => Promise<void>) => Promise<MergedFile>;
  /** Cancels a running merge, which then rejects. */
  readonly cancelMerge: () => void;
  readonly limits: CompactionLimits;
  /** Replaced files are deleted after this delay: for readers that listed them before, including those on other nodes. */
  readonly graceMs: number;
  /** While the disk is full nothing is merged, and replaced files are deleted immediately. */
  readonly isDiskFull?: () => boolean;
  readonly nowMs: () => number;
  readonly later: (milliseconds: number, run: () => void) => void;
  readonly onCompacted: (report: CompactionReport) => void;
  /** Reports a job that failed without effect; its tables are retried after a delay. */
  readonly onError: (error: unknown) => void;
}

interface Tombstones {
  readonly tombstones: readonly SeenTombstone["tombstone"][];
}

interface CachedPlan {
  readonly plan: TablePlan;
  readonly madeMs: number;
  readonly changes: number;
  readonly version: unknown;
}

interface Failure {
  readonly count: number;
  readonly untilMs: number;
}

/** Blocks planned without a pause: some milliseconds of the main thread. */
const BLOCKS_PER_STEP = 500;
const RETRY_MS_MIN = 10_000;
const RETRY_MS_MAX = 3_600_000;

/** The compaction of one server. Create it at start, call `check` regularly, and `stop` at the end. */
export class Compactor {
  private running: Promise<void> | undefined;
  private isStopped = false;
  private readonly plans = new Map<number, CachedPlan>();
  private readonly failures = new Map<number, Failure>();
  /** Replaced files without readers on this server. */
  private readonly unused = new Set<string>();
  /** Readers that need replaced files, and the files that wait for them. */
  private holders = 0;
  private pauses = 0;
  private readonly kept = new Set<string>();
  /** Time at which each deletion was first seen. */
  private readonly seenMs = new Map<number, number>();

  constructor(private readonly parts: CompactorParts) {}

  /** Starts a job if one is due and none is running. */
  check(): void {
    if (this.running !== undefined || this.isStopped || this.pauses > 0) return;
    this.running = this.work(this.parts.limits).then(
      () => {
        this.running = undefined;
      },
      (error) => {
        this.running = undefined;
        this.parts.onError(error);
      },
    );
  }

  /** Runs all jobs that are due under `limits`; for tests. @throws what a job throws */
  async compactAll(limits: CompactionLimits = this.parts.limits): Promise<void> {
    await this.running;
    this.plans.clear();
    this.failures.clear();
    const [error] = await this.work(limits);
    this.plans.clear();
    if (error !== undefined) throw error;
  }

  /** Cancels the running job; what is not committed by then has no effect. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.parts.cancelMerge();
    await this.running;
  }

  /** Runs jobs until none is due. Returns the errors of failed jobs. */
  private async work(limits: CompactionLimits): Promise<unknown[]> {
    const errors: unknown[] = [];
    this.parts.retireDeletions();
    while (!this.isStopped && this.pauses === 0) {
      const job = nextJob(await this.plan(limits), limits);
      if (job === null || (job.files.length > 0 && this.parts.isDiskFull?.())) break;
      // a flush may have changed the blocks during planning
      if (!this.isCurrent(job)) continue;
      try {
        await this.run(job);
        for (const tableId of tablesOf(job)) this.failures.delete(tableId);
      } catch (error) {
        if (this.isStopped) break;
        this.noteFailure(job);
        errors.push(error);
        this.parts.onError(error);
      }
      this.parts.retireDeletions();
    }
    return errors;
  }

  /** Plans of all tables except those that failed recently; of these, one at a time, so that a repeated failure does not affect other
   *  tables. */
  private async plan(limits: CompactionLimits): Promise<TablePlan[]> {
    const { manifest, nowMs, stateVersion } = this.parts;
    const now = nowMs();
    const version = stateVersion();
    const plans: TablePlan[] = [];
    const retried: TablePlan[] = [];
    let planned = 0;
    for (const tableId of [...manifest.tableIds()]) {
      const failure = this.failures.get(tableId);
      // limit the wait, in case the clock was set back
      if (failure !== undefined && failure.untilMs > now && failure.untilMs <= now + RETRY_MS_MAX) continue;
      const changes = manifest.changesOf(tableId);
      let cached = this.plans.get(tableId);
      if (cached?.changes !== changes || cached.version !== version || cached.plan.dueMs <= now || cached.madeMs > now) {
        cached = { plan: this.planTable(tableId, now, limits), madeMs: now, changes, version };
        this.plans.set(tableId, cached);
        planned += manifest.blockCountOf(tableId);
        if (planned >= BLOCKS_PER_STEP) {
          planned = 0;
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
      if (failure === undefined) plans.push(cached.plan);
      else retried.push({ ...cached.plan, tasks: cached.plan.tasks.slice(0, 1) });
    }
    for (const tableId of this.plans.keys()) if (manifest.blockCountOf(tableId) === 0) this.plans.delete(tableId);
    const firstRetried = retried.find(({ tasks, dropped }) => tasks.length + dropped.length > 0);
    return firstRetried === undefined ? plans : [firstRetried];
  }

  /** True if the job's blocks have not changed since planning. */
  private isCurrent(job: CompactionJob): boolean {
    const { manifest } = this.parts;
    return [...tablesOf(job)].every((tableId) => this.plans.get(tableId)?.changes === manifest.changesOf(tableId));
  }

  private planTable(tableId: number, nowMs: number, limits: CompactionLimits): TablePlan {
    const { manifest, tableState } = this.parts;
    const { tombstones, ...state } = tableState(tableId, nowMs);
    const seen = tombstones.map((tombstone): SeenTombstone => {
      const seenMs = Math.min(this.seenMs.get(tombstone.id) ?? nowMs, nowMs);
      this.seenMs.set(tombstone.id, seenMs);
      return { tombstone, seenMs };
    });
    return planTable({ ...state, tableId, blocks: manifest.blocksOf(tableId), tombstones: seen }, nowMs, limits);
  }

  private async run(job: CompactionJob): Promise<void> {
    const { manifest, deletionsDurable, nowMs, onCompacted } = this.parts;
    const startMs = nowMs();
    const removed = [...job.dropped, ...job.files.flatMap(({ tasks }) => tasks.flatMap(({ inputs }) => inputs))];
    const added: FileMeta[] = [];
    let isDone = false;
    try {
      for (const file of job.files) {
        const made = await this.makeFile(file);
        if (made !== null) added.push(made);
      }
      // the new files lack rows that a deletion hides: the deletion must survive a crash
      await deletionsDurable();
      // a restored backup may have replaced the blocks meanwhile: then there is another plan
      isDone = await manifest.commitIfCurrent({ added, removedBlocks: byFile(removed) });
    } finally {
      if (!isDone) for (const { key } of added) await this.parts.store.delete(key).catch(() => {}); // else removed at the next start
    }
    if (!isDone) return;
    this.discard(removed.map(({ file }) => file));
    const share = ({ file, block }: BlockOfTable) =>
      (file.bytes * block.rowCount) / file.blocks.reduce((sum, { rowCount }) => sum + rowCount, 0);
    onCompacted({
      inputBlocks: removed.length - job.dropped.length,
      outputFiles: added.length,
      rowCount: added.reduce((sum, { blocks }) => sum + blocks.reduce((rows, { rowCount }) => rows + rowCount, 0), 0),
      inputBytes: Math.round(removed.reduce((sum, each) => sum + share(each), 0)),
      outputBytes: added.reduce((sum, { bytes }) => sum + bytes, 0),
      droppedBlocks: job.dropped.length,
      milliseconds: nowMs() - startMs,
    });
  }

  /** Deletes those of the files that are no longer part of the data, after their last reader. */
  discard(files: readonly FileMeta[]): void {
    const { manifest } = this.parts;
    const byId = new Map(files.map((file) => [file.id, file]));
    for (const file of byId.values()) if (manifest.fileById(file.id) === undefined) this.deleteLater(file);
  }

  /** No job begins until the result is called: files that are added meanwhile stay as they are. */
  pause(): () => void {
    this.pauses += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.pauses -= 1;
      this.check();
    };
  }

  /** No file is deleted until the result is called: for a reader that takes minutes, for which a pin would keep too much memory. */
  keepFiles(): () => void {
    this.holders += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.holders -= 1;
      if (this.holders > 0) return;
      for (const key of this.kept) this.deleteObject(key);
      this.kept.clear();
    };
  }

  /** Returns null if no row remains. */
  private async makeFile({ tasks }: FilePlan): Promise<FileMeta | null> {
    const { manifest, store, ptKey, merge } = this.parts;
    const id = manifest.allocateFileId();
    const key = ptKey(id);
    const request = { tasks: tasks.map((task) => this.mergeTask(task)) };
    const writer = await store.begin(key);
    try {
      const { bytes, blocks } = await merge(request, (piece) => writer.append(piece));
      if (blocks.length === 0) {
        await writer.abort();
        return null;
      }
      await writer.finish();
      const generation = 1 + Math.max(...tasks.flatMap(({ inputs }) => inputs.map(({ file }) => file.generation)));
      return { id, key, bytes, generation, blocks };
    } catch (error) {
      await writer.abort();
      throw error;
    }
  }

  private mergeTask({ tableId, inputs, isFirst, isClosed }: FilePlan["tasks"][number]): MergeTask {
    const { tableState, objectSource, nowMs } = this.parts;
    const { table, tombstones } = tableState(tableId, nowMs());
    const { databaseId } = inputs[0]!.block;
    const blocks = inputs.map(({ file, block }) => ({
      fileId: file.id,
      source: objectSource(file.key),
      block,
    }));
    // a table deleted since planning: its rows are removed by a later job
    const { name: tableName } = table ?? { name: "" };
    const { applied, heldIds } = applicable(tombstones);
    return { databaseId, tableId, tableName, tombstones: applied, heldIds, isFirst, isClosed, inputs: blocks };
  }

  /** The disk has become full or has space again: run what was waiting. */
  spaceChanged(): void {
    if (this.parts.isDiskFull?.()) for (const key of this.unused) this.deleteNow(key);
    else this.failures.clear();
    this.check();
  }

  /** Deletes the file after its last reader and the grace period. After a crash the next start deletes it. */
  private deleteLater({ key }: FileMeta): void {
    const { pins, later, graceMs, isDiskFull } = this.parts;
    pins.defer(() => {
      this.unused.add(key);
      if (isDiskFull?.()) this.deleteNow(key);
      else later(graceMs, () => this.deleteNow(key));
    });
  }

  private deleteNow(key: string): void {
    if (!this.unused.delete(key)) return;
    if (this.holders > 0) this.kept.add(key);
    else this.deleteObject(key);
  }

  private deleteObject(key: string): void {
    void this.parts.store.delete(key).catch(this.parts.onError);
  }

  /** If a job of several tables failed, the faulty one is unknown: each is retried separately and immediately. */
  private noteFailure(job: CompactionJob): void {
    const now = this.parts.nowMs();
    const tables = tablesOf(job);
    for (const tableId of tables) {
      const before = this.failures.get(tableId)?.count ?? 0;
      const count = tables.size > 1 ? before : before + 1;
      this.failures.set(tableId, { count, untilMs: count === 0 ? now : now + Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** (count - 1)) });
    }
  }
}

function tablesOf({ files, dropped }: CompactionJob): Set<number> {
  const tasks = files.flatMap((file) => file.tasks);
  return new Set([...tasks.map(({ tableId }) => tableId), ...dropped.map(({ block }) => block.tableId)]);
}

/** Blocks as a manifest entry removes them. */
export function byFile(blocks: readonly BlockOfTable[]): BlocksOfFile[] {
  const files = Map.groupBy(blocks, ({ file }) => file.id);
  return [...files].map(([fileId, ofFile]) => ({ fileId, blocks: ofFile.map(({ block }) => block.index) }));
}
