// The pool of query workers: assigns statements and replaces workers that stick. A stuck worker gets no more statements, and a replacement
// starts immediately; the old thread ends by itself once it is back at its event loop (query.ts). Until then everything that it may read
// stays pinned: DuckDB's threads call into it, and terminating it earlier would crash the process.
import { join } from "node:path";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import type { CacheManagerOptions, QueryWorkerOptions } from "../wire/messages.ts";
import { LOOK_MS } from "./pulse.ts";
import { type Culprit, QuerySlot } from "./query-slot.ts";
import type { SpawnedWorker } from "./spawn.ts";
import type { RunOwner, StatementLabel } from "./worker-run.ts";
import { StatementSignals } from "./worker-signals.ts";

/** Kernel memory that is freed as a whole after its worker has ended. */
export interface WorkerMemory {
  takeOwner(): number;
  releaseOwner(owner: number): number;
}

/** A replaced worker, and the statements that it had started. */
export interface LostWorker {
  readonly error: Error;
  readonly statements: readonly StatementLabel[];
}

export interface QueryWorkersOptions {
  readonly workerCount: number;
  /** A worker spawned early, during the load of main's modules. */
  readonly firstWorker: SpawnedWorker | undefined;
  readonly spawn: () => SpawnedWorker;
  readonly workerOptions: Omit<QueryWorkerOptions, "owner" | "words">;
  /** Settings of the first worker, which also holds the caches. */
  readonly cacheWorker: CacheManagerOptions;
  readonly memory: WorkerMemory;
  readonly concurrentMax: number;
  /** How long after a statement's end its worker may stay away from its event loop. */
  readonly stuckGraceMs: number;
  readonly nowMs: () => number;
  /** Calls `call` periodically until the returned function is called. */
  readonly every: (milliseconds: number, call: () => void) => () => void;
  readonly removeFolder: (path: string) => void;
  readonly onLost: (lost: LostWorker) => void;
  /** Something failed that is tried again, or does not matter to statements. */
  readonly warn: (message: string, error: Error) => void;
  /** The cache worker was replaced by one without state. */
  readonly onCacheWorkerReplaced: () => void;
  /** The statement must run in another worker. */
  readonly onAgain: (statement: RunOwner) => void;
}

/** Index of the worker that holds the state of caches. */
const CACHE_WORKER = 0;
/** Absolute limit, whatever a statement's time limit: only a fault keeps a thread from its event loop this long. */
const SILENT_MS_MAX = 30_000;
/** After a replacement that could not start. */
const RETRY_MS = 1000;

/** The pool of query workers: assignment of statements, detection and replacement of stuck workers. */
export class QueryWorkers {
  /** By index; null: a stuck worker must end first, or its replacement could not start and is tried again. */
  private readonly slots: (QuerySlot | null)[] = [];
  /** Replaced workers that have not ended. */
  private readonly stuck = new Set<QuerySlot>();
  /** Why none has ever started; a retry would fail immediately. */
  private startFailed: TsdbError | undefined;
  private hasStarted = false;
  private isClosed = false;
  private spawned: SpawnedWorker | undefined;
  private spawnCount = 0;
  private replacedCount_ = 0;
  private stopLooking: (() => void) | null = null;
  private stopRetry: (() => void) | null = null;

  constructor(private readonly options: QueryWorkersOptions) {
    this.spawned = options.firstWorker;
    for (let place = 0; place < options.workerCount; place++) this.slots.push(this.start(place));
  }

  /** Workers that accept statements. */
  get live(): readonly QuerySlot[] {
    return this.slots.filter((slot) => slot !== null);
  }

  /** Number of workers replaced since the server started. */
  get replacedCount(): number {
    return this.replacedCount_;
  }

  /** Number of these that have not ended. */
  get stuckCount(): number {
    return this.stuck.size;
  }

  /** The worker that holds the caches. @throws TsdbError unavailable */
  get cacheWorker(): QuerySlot {
    const slot = this.slots[CACHE_WORKER];
    if (slot === null || slot === undefined) throw noWorker();
    return slot;
  }

  /** Chooses a responsive worker with the fewest long-running statements, then the fewest statements. @throws TsdbError unavailable */
  choose(): QuerySlot {
    const best = this.live.reduce<QuerySlot | null>((found, slot) => (found === null || goesBefore(slot, found) ? slot : found), null);
    if (best === null) throw noWorker();
    return best;
  }

  /** True if the slot accepts statements, now that it is ready. */
  isLive(slot: QuerySlot): boolean {
    return this.slots[slot.place] === slot;
  }

  /** Starts watching, after something was sent to a worker. */
  watch(): void {
    this.stopLooking ??= this.options.every(LOOK_MS, () => this.look());
  }

  /** Starts no more workers, and terminates the idle ones. */
  close(): void {
    this.isClosed = true;
    this.stopLooking?.();
    this.stopRetry?.();
    // not those that are still opening DuckDB or have calls in flight
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

  /** True if it has not returned to its event loop for too long after a statement's end. */
  private isStuck({ pulse, runs, nowMs }: QuerySlot): boolean {
    const { stuckGraceMs } = this.options;
    if (pulse.silentMs >= SILENT_MS_MAX) return true;
    if (pulse.silentMs < stuckGraceMs) return false;
    const beforeMs = nowMs() - stuckGraceMs;
    return [...runs.values()].some(({ stoppedMs }) => stoppedMs !== null && stoppedMs <= beforeMs);
  }

  /** Moves statements that a silent worker has not started to a responsive one. */
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
      onReady: () => {
        this.hasStarted = true;
      },
      onStartFailure: (slot, error) => this.startFailure(slot, error),
      onBroken: (slot, error, culprit) => this.replace(slot, error, culprit),
      onEnded: (slot) => this.ended(slot),
    });
  }

  /** A replacement may fail for want of something that is there again later: threads, descriptors, space. */
  private startFailure(slot: QuerySlot, error: TsdbError): void {
    if (!this.hasStarted) this.startFailed = error;
    if (!this.hasStarted || this.isClosed || !this.isLive(slot)) return;
    this.slots[slot.place] = null;
    this.options.warn("a query worker could not start, will try again", error);
    this.stopRetry ??= this.options.every(RETRY_MS, () => {
      this.stopRetry?.();
      this.stopRetry = null;
      this.fill();
    });
  }

  /** @param culprit the statement at fault, if known */
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

  /** Starts replacements for stuck workers, as long as these are few and none has just failed to start. */
  private fill(): void {
    if (this.isClosed || this.startFailed !== undefined) return;
    for (const [place, slot] of this.slots.entries()) {
      if (slot !== null || this.stopRetry !== null || this.stuck.size > LIMITS.stuckWorkersMax) continue;
      this.slots[place] = this.start(place);
      if (place === CACHE_WORKER) this.options.onCacheWorkerReplaced();
    }
  }

  private ended(slot: QuerySlot): void {
    const { memory, removeFolder, warn } = this.options;
    if (this.startFailed === undefined) this.replace(slot, new Error("the thread of a query worker has ended"));
    memory.releaseOwner(slot.options.owner);
    try {
      removeFolder(slot.options.tempDir);
    } catch (error) {
      warn("the spill folder of a query worker could not be removed", error as Error);
    }
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
  return new TsdbError("unavailable", "no query worker is free: replacements have not started yet; try again");
}
