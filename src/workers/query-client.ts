// The main thread's side of the query workers: implements QueryService by handing each statement to the worker that has the fewest
// (active-query.ts), and replaces workers that fail.
import type { CacheDef, CacheKind } from "../model/caches.ts";
import { TsdbError } from "../model/errors.ts";
import type { QueryAnswer, QueryControl, QueryRequest, QueryService, RunningQuery } from "../model/query.ts";
import type { LoggedQuery, QueryLog } from "../query/query-log.ts";
import { ActiveQuery, type ActiveQueryOptions } from "./active-query.ts";
import type { Keeper, TableFeed } from "./cache-feeds.ts";
import type { CacheState, FromQueryWorker, KeeperOptions, QueryWorkerOptions, ToQueryWorker } from "./messages.ts";
import { type Permit, Permits } from "./permits.ts";
import { SnapshotSender } from "./snapshot-wire.ts";
import { type SpawnedWorker, spawnQueryWorker } from "./spawn.ts";
import { TableGuess } from "./table-guess.ts";
import { TimeLimit } from "./time-limit.ts";

export interface QueryClientOptions extends Omit<ActiveQueryOptions, "guess"> {
  readonly workerCount: number;
  /** What the first worker does beside running statements. */
  readonly keeper: KeeperOptions;
  /** That worker is another one, which knows nothing of caches. */
  readonly onKeeperReplaced: () => void;
  /** One that was spawned early. */
  readonly firstWorker: SpawnedWorker | undefined;
  readonly workerOptions: QueryWorkerOptions;
  /** Statements that run at a time; the others wait. */
  readonly concurrentMax: number;
  /** How long a statement may wait and run, without waiting for its reader; 0 = as long as it takes. */
  readonly timeoutMs: number;
  readonly log: QueryLog;
  /** A worker died: the queries it ran have failed already. */
  readonly onWorkerFailure: (error: Error) => void;
}

const CLOSE_POLL_MS = 5;

/** Place of the worker that keeps the state of caches. */
const KEEPER = 0;

interface WorkerSlot {
  readonly worker: Worker;
  /** Rejects when the worker fails before it can take statements. */
  readonly ready: Promise<void>;
  readonly queries: Map<number, ActiveQuery>;
  readonly feeds: Map<number, PendingFeed>;
  /** What was sent to the worker. */
  readonly snapshots: SnapshotSender;
  /** As of the last statement that it ended. */
  cache: CacheState;
}

interface PendingFeed {
  readonly resolve: (fed: Fed) => void;
  readonly reject: (error: Error) => void;
}

type Fed = Extract<FromQueryWorker, { type: "fed" }>;

const NO_CACHE: CacheState = { bytes: 0, gen0Hits: 0, gen0Misses: 0, compactedHits: 0, compactedMisses: 0, bytesRead: 0 };

/** Names of functions are words or quoted names of a statement, as they stand there: a statement without these reads no cache. */
const NAMES_CACHE = /(?:last|distinct)_cache/i;

export class QueryClient implements QueryService, QueryControl, Keeper {
  private readonly slots: WorkerSlot[] = [];
  private readonly guess = new TableGuess();
  private readonly permits: Permits;
  private nextId = 1;
  private closed = false;
  /** Why no further worker is started. */
  private startFailed: Error | undefined;

  /** Spawned before there was a client; the first slot takes it. */
  private waitingWorker: SpawnedWorker | undefined;

  constructor(private readonly options: QueryClientOptions) {
    this.permits = new Permits(options.concurrentMax);
    this.waitingWorker = options.firstWorker;
    for (let i = 0; i < options.workerCount; i++) this.slots.push(this.startWorker(i));
  }

  /** Resolves when every worker can take statements. */
  async ready(): Promise<void> {
    await Promise.all(this.slots.map((slot) => slot.ready));
  }

  get activeCount(): number {
    return this.slots.reduce((sum, slot) => sum + slot.queries.size, 0);
  }

  /** Of all workers' caches of decoded data. What a worker counted before it was replaced is lost. */
  get cache(): CacheState {
    const sum = { ...NO_CACHE };
    for (const { cache } of this.slots) for (const key of Object.keys(sum) as (keyof CacheState)[]) sum[key] += cache[key];
    return sum;
  }

  async query(request: QueryRequest): Promise<QueryAnswer> {
    // statements of the v1-style language name their databases themselves, and some none
    if (request.tsdbql === undefined) this.options.snapshots.checkDatabase(request.database);
    if (this.closed) throw new TsdbError("unavailable", "the server is stopping");
    if (request.signal.aborted) throw new TsdbError("cancelled", "the client went away");
    const { database, statement, queryType = "sql", describe: unlisted = false } = request;
    const log = this.options.log.begin({ database, queryType, queryText: statement }, { unlisted });
    const limit = new TimeLimit(this.options.timeoutMs);
    try {
      const permit = this.permits.take();
      if (permit.ready !== undefined) await this.waitForTurn(permit, request.signal, limit);
      log.permitted();
      return await this.run(request, log, limit);
    } catch (error) {
      limit.pause();
      log.ended(error);
      throw error;
    }
  }

  running(): readonly RunningQuery[] {
    return this.slots.flatMap(({ queries }) => [...queries].flatMap(([id, query]) => query.about(BigInt(id)) ?? []));
  }

  kill(id: bigint): void {
    const query = this.slots.map(({ queries }) => queries.get(Number(id))).find((found) => found !== undefined);
    const status = query?.about(id)?.status;
    if (status === "running") query!.kill();
    else throw new TsdbError("bad_query", status === "killed" ? "already killed" : `no such query id: ${id}`);
  }

  feed(feeds: readonly TableFeed[]): Promise<Fed> {
    const tables = feeds.map(({ table }) => table);
    return this.askKeeper((slot, id) => {
      const snapshot = slot.snapshots.encode({ tables, catalog: [], isInternal: false, systemRows: {} });
      return { type: "feed", id, snapshot, feeds: feeds.map(({ caches, clock }) => ({ caches, clock })) };
    });
  }

  keep(caches: readonly CacheDef[], expiring: readonly CacheKind[], nowMs: number): Promise<Fed> {
    return this.askKeeper((_, id) => ({ type: "keep", id, caches, expiring, nowMs }));
  }

  /** Sends what `message` makes when the worker is there, and waits for its answer. */
  private async askKeeper(message: (slot: WorkerSlot, id: number) => ToQueryWorker): Promise<Fed> {
    const slot = this.slots[KEEPER]!;
    await slot.ready;
    if (this.closed) throw new TsdbError("unavailable", "the server is stopping");
    const id = this.nextId++;
    const fed = Promise.withResolvers<Fed>();
    slot.feeds.set(id, fed);
    this.post(slot, message(slot, id));
    return fed.promise;
  }

  private post({ worker }: WorkerSlot, message: ToQueryWorker): void {
    worker.postMessage(message);
  }

  private async waitForTurn({ ready, giveUp }: Permit, signal: AbortSignal, limit: TimeLimit): Promise<void> {
    const onAbort = () => giveUp(new TsdbError("cancelled", "the client went away"));
    signal.addEventListener("abort", onAbort, { once: true });
    const message = `the statement waited ${limit.text} for its turn; --max-concurrent-queries and --query-timeout set the limits`;
    limit.whenOver(() => giveUp(new TsdbError("overloaded", message)));
    try {
      await ready;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Hands a statement that has its permit to a worker. */
  private async run(request: QueryRequest, log: LoggedQuery, limit: TimeLimit): Promise<QueryAnswer> {
    let query: ActiveQuery;
    try {
      const slot = this.slotFor(request);
      await slot.ready;
      // an abort that has happened already is not heard of again
      if (request.signal.aborted) throw new TsdbError("cancelled", "the client went away");
      const id = this.nextId++;
      query = new ActiveQuery(id, request, log, limit, slot, { ...this.options, guess: this.guess }, () => {
        slot.queries.delete(id);
        this.permits.release();
      });
      slot.queries.set(id, query);
    } catch (error) {
      this.permits.release();
      throw error;
    }
    return query.start();
  }

  /** What reads caches goes to the worker that keeps them, all else to the one with the fewest statements. */
  private slotFor({ statement, tsdbql }: QueryRequest): WorkerSlot {
    if (tsdbql === undefined && NAMES_CACHE.test(statement)) return this.slots[KEEPER]!;
    return this.slots.reduce((least, other) => (other.queries.size < least.queries.size ? other : least));
  }

  /** Takes no more statements and cancels those that run. Resolves when the workers are done with them, or after `graceMs`.
   *  A worker is ended only when it is idle: DuckDB's threads call into it, and would take the process with them. */
  async close(graceMs: number): Promise<void> {
    this.closed = true;
    const stopping = new TsdbError("unavailable", "the server is stopping");
    this.permits.refuseAll(stopping);
    for (const slot of this.slots) for (const query of [...slot.queries.values()]) query.abandon(stopping);
    for (const slot of this.slots) if (slot.feeds.size > 0) this.post(slot, { type: "stop feeding" });
    const deadlineMs = performance.now() + graceMs;
    const isBusy = (slot: WorkerSlot) => slot.queries.size + slot.feeds.size > 0;
    while (this.slots.some(isBusy) && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
    for (const slot of this.slots) if (!isBusy(slot)) slot.worker.terminate();
  }

  private startWorker(place: number): WorkerSlot {
    const { worker, failure } = this.waitingWorker ?? spawnQueryWorker();
    this.waitingWorker = undefined;
    const queries = new Map<number, ActiveQuery>();
    const ready = Promise.withResolvers<void>();
    ready.promise.catch(() => {}); // whoever waits for the worker is told
    const feeds = new Map<number, PendingFeed>();
    const slot: WorkerSlot = { worker, queries, feeds, ready: ready.promise, snapshots: new SnapshotSender(), cache: NO_CACHE };
    let isReady = false;
    worker.onmessage = (event: MessageEvent<FromQueryWorker>) => {
      if (event.data.type === "end") slot.cache = event.data.cache;
      if (event.data.type === "fed") {
        feeds.get(event.data.id)?.resolve(event.data);
        return void feeds.delete(event.data.id);
      }
      if (event.data.type !== "ready") return queries.get(event.data.id)?.receive(event.data);
      isReady = true;
      ready.resolve();
    };
    const fail = (message: string) => {
      const error = isReady
        ? new Error(`query worker failed: ${message}`)
        : new TsdbError("io", `the query engine cannot start: ${causeLine(message)}`, { message });
      ready.reject(error);
      // one that cannot even start would fail again at once
      if (!isReady) this.startFailed = error;
      this.replaceWorker(slot, error);
    };
    worker.onerror = (event) => fail(event.message);
    const earlier = failure();
    if (earlier !== undefined) queueMicrotask(() => fail(earlier));
    const { workerOptions, keeper } = this.options;
    this.post(slot, { type: "init", options: place === KEEPER ? { ...workerOptions, keeps: keeper } : workerOptions });
    return slot;
  }

  private replaceWorker(slot: WorkerSlot, error: Error): void {
    if (this.closed) return;
    slot.worker.terminate();
    for (const query of [...slot.queries.values()]) query.workerGone(error);
    for (const { reject } of slot.feeds.values()) reject(error);
    slot.feeds.clear();
    if (this.startFailed !== undefined) return;
    this.options.onWorkerFailure(error);
    const place = this.slots.indexOf(slot);
    this.slots[place] = this.startWorker(place);
    if (place === KEEPER) this.options.onKeeperReplaced();
  }
}

/** What went wrong, out of the lines of code and stack that a worker's failure comes with. */
function causeLine(message: string): string {
  const lines = message.split("\n");
  const found = lines.find((line) => /^\s*\w*error: /i.test(line)) ?? lines[0]!;
  return found.replace(/^\s*\w*error: /i, "").trim();
}
