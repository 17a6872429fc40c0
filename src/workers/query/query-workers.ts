// The query workers: which of them runs what, and what becomes of one that sticks. Such a worker gets nothing any more, and another one
// takes its place at once; its own thread ends by itself as soon as it is back at its event loop (query.ts), and until then all that it may
// read stays pinned: DuckDB's threads call into it, and to end it before that would take the process along.
import { join } from "node:path";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import type { CacheManagerOptions, QueryWorkerOptions } from "../wire/messages.ts";
import { LOOK_MS } from "./pulse.ts";
import { type Culprit, QuerySlot } from "./query-slot.ts";
import type { SpawnedWorker } from "./spawn.ts";
import type { RunOwner, StatementLabel } from "./worker-run.ts";
import { StatementSignals } from "./worker-signals.ts";

/** Memory that goes back as a whole when its worker has ended. */
export interface WorkerMemory {
  takeOwner(): number;
  releaseOwner(owner: number): number;
}

/** A worker that was replaced, and what it had begun. */
export interface LostWorker {
  readonly error: Error;
  readonly statements: readonly StatementLabel[];
}

export interface QueryWorkersOptions {
  readonly workerCount: number;
  /** One that was spawned early. */
  readonly firstWorker: SpawnedWorker | undefined;
  readonly spawn: () => SpawnedWorker;
  readonly workerOptions: Omit<QueryWorkerOptions, "owner" | "words">;
  /** What the first worker does beside running statements. */
  readonly cacheWorker: CacheManagerOptions;
  readonly memory: WorkerMemory;
  readonly concurrentMax: number;
  /** How long after a statement's end its worker may stay away from its event loop. */
  readonly stuckGraceMs: number;
  readonly nowMs: () => number;
  /** Calls regularly until what it returns is called. */
  readonly every: (milliseconds: number, call: () => void) => () => void;
  readonly removeFolder: (path: string) => void;
  readonly onLost: (lost: LostWorker) => void;
  /** The cache worker is another worker, which knows nothing of caches. */
  readonly onCacheWorkerReplaced: () => void;
  /** The statement is to be run by another worker. */
  readonly onAgain: (statement: RunOwner) => void;
}

/** Place of the worker that keeps the state of caches. */
export const CACHE_WORKER = 0;
/** However long a statement may take: no work keeps a thread from its event loop for so long but a fault. */
const SILENT_MS_MAX = 30_000;

/** The pool of query workers: choice of a worker, detection and replacement of stuck ones. */
export class QueryWorkers {
  /** By place; null: a stuck worker must end first. */
  private readonly slots: (QuerySlot | null)[] = [];
  /** Replaced, and not at their end. */
  private readonly stuck = new Set<QuerySlot>();
  private startFailed: TsdbError | undefined;
  private isClosed = false;
  private spawned: SpawnedWorker | undefined;
  private spawnCount = 0;
  private replacedCount_ = 0;
  private stopLooking: (() => void) | null = null;

  constructor(private readonly options: QueryWorkersOptions) {
    this.spawned = options.firstWorker;
    for (let place = 0; place < options.workerCount; place++) this.slots.push(this.start(place));
  }

  /** Those that take statements. */
  get live(): readonly QuerySlot[] {
    return this.slots.filter((slot) => slot !== null);
  }

  /** Workers that others have taken the place of, since the start. */
  get replacedCount(): number {
    return this.replacedCount_;
  }

  /** Of these, how many have not ended. */
  get stuckCount(): number {
    return this.stuck.size;
  }

  /** The one that keeps caches. @throws TsdbError unavailable */
  get cacheWorker(): QuerySlot {
    const slot = this.slots[CACHE_WORKER];
    if (slot === null || slot === undefined) throw noWorker();
    return slot;
  }

  /** The one for a statement: one that answers, with the fewest statements that take long, then with the fewest.
   *  @throws TsdbError unavailable */
  choose(): QuerySlot {
    const best = this.live.reduce<QuerySlot | null>((found, slot) => (found === null || goesBefore(slot, found) ? slot : found), null);
    if (best === null) throw noWorker();
    return best;
  }

  /** Whether the slot takes statements, now that it is ready. */
  isLive(slot: QuerySlot): boolean {
    return this.slots[slot.place] === slot;
  }

  /** Something was sent to a worker. */
  watch(): void {
    this.stopLooking ??= this.options.every(LOOK_MS, () => this.look());
  }

  /** Starts no worker any more, and ends the idle ones. */
  close(): void {
    this.isClosed = true;
    this.stopLooking?.();
    // not one that still opens its engine, or is not done with it
    for (const slot of this.live) if (!slot.isBusy && slot.isThere && slot.words.nativeCalls === 0) slot.terminate();
  }

  private look(): void {
    for (const slot of this.live) slot.look();
    for (const slot of this.live) if (this.isStuck(slot)) this.replace(slot, silentError(slot.pulse.silentMs));
    for (const slot of this.live) if (slot.pulse.isSilent) this.takeFrom(slot);
    if (this.live.some((slot) => slot.isBusy)) return;
    this.stopLooking?.();
    this.stopLooking = null;
  }

  /** It has not been back for so long since a statement was over there. */
  private isStuck({ pulse, runs, nowMs }: QuerySlot): boolean {
    const { stuckGraceMs } = this.options;
    if (pulse.silentMs >= SILENT_MS_MAX) return true;
    if (pulse.silentMs < stuckGraceMs) return false;
    const beforeMs = nowMs() - stuckGraceMs;
    return [...runs.values()].some(({ stoppedMs }) => stoppedMs !== null && stoppedMs <= beforeMs);
  }

  /** What a silent worker has not begun goes to one that answers. */
  private takeFrom(slot: QuerySlot): void {
    if (!this.live.some((other) => other !== slot && other.isThere)) return;
    for (const { owner } of slot.runs.values()) if (owner?.withdraw() === true) this.options.onAgain(owner);
  }

  private start(place: number): QuerySlot {
    const { workerOptions, cacheWorker, memory, concurrentMax, nowMs } = this.options;
    const words = new StatementSignals(concurrentMax);
    const spawned = this.spawned ?? this.options.spawn();
    this.spawned = undefined;
    const held = [...this.stuck].reduce((sum, slot) => sum + slot.words.nativeCalls, 0);
    const options: QueryWorkerOptions = {
      ...workerOptions,
      owner: memory.takeOwner(),
      words: words.buffer,
      tempDir: join(workerOptions.tempDir, `engine-${this.spawnCount++}`),
      nativeCallsMax: Math.max(LIMITS.nativeCallsMin, workerOptions.nativeCallsMax - held),
      ...(place === CACHE_WORKER ? { keeps: cacheWorker } : {}),
    };
    return new QuerySlot(place, spawned, options, words, nowMs, {
      onStartFailure: (_, error) => {
        // it would fail again at once
        this.startFailed = error;
      },
      onBroken: (slot, error, culprit) => this.replace(slot, error, culprit),
      onEnded: (slot) => this.ended(slot),
    });
  }

  /** `culprit`: where it is known. */
  private replace(slot: QuerySlot, error: Error, culprit?: Culprit): void {
    if (this.isClosed || !this.isLive(slot)) return;
    this.stuck.add(slot);
    this.slots[slot.place] = null;
    this.replacedCount_ += 1;
    const begun = [...slot.runs.values()].filter(({ mayHaveBegun }) => mayHaveBegun);
    this.options.onLost({ error, statements: begun.flatMap(({ owner }) => owner?.label ?? []) });
    slot.post({ type: "end worker" });
    for (const { reject } of slot.feeds.values()) reject(error);
    const lost = new TsdbError("unavailable", "the worker that ran the statement had to be replaced; try again");
    culprit?.run.owner?.fail(culprit.error);
    const again = [...slot.runs.values()].flatMap(({ owner }) => (owner?.lose(lost) === true ? owner : []));
    this.fill();
    for (const statement of again) this.options.onAgain(statement);
  }

  /** Workers in the places of those that are stuck, as long as these are few. */
  private fill(): void {
    for (const [place, slot] of this.slots.entries()) {
      if (slot !== null || this.isClosed || this.startFailed !== undefined || this.stuck.size > LIMITS.stuckWorkersMax) continue;
      this.slots[place] = this.start(place);
      if (place === CACHE_WORKER) this.options.onCacheWorkerReplaced();
    }
  }

  private ended(slot: QuerySlot): void {
    const { memory, removeFolder } = this.options;
    if (this.startFailed === undefined) this.replace(slot, new Error("the thread of a query worker has ended"));
    memory.releaseOwner(slot.options.owner);
    removeFolder(slot.options.tempDir);
    this.stuck.delete(slot);
    slot.terminate();
    this.fill();
  }
}

function goesBefore(a: QuerySlot, b: QuerySlot): boolean {
  if (a.isThere !== b.isThere) return a.isThere;
  const longer = a.longCount - b.longCount;
  return longer === 0 ? a.runs.size < b.runs.size : longer < 0;
}

function silentError(silentMs: number): Error {
  return new Error(`query worker has not come back to its event loop for ${Math.round(silentMs)} ms`);
}

function noWorker(): TsdbError {
  return new TsdbError("unavailable", "no query worker is free: those that were replaced have not ended yet; try again");
}
