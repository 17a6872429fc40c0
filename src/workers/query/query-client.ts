// The main thread's side of statements: implements QueryService by assigning each statement to a worker (query-workers.ts).
import type { CacheDef, CacheKind } from "../../model/caches.ts";
import { TsdbError } from "../../model/errors.ts";
import type { QueryAnswer, QueryControl, QueryRequest, QueryService, RunningQuery } from "../../model/query/query.ts";
import type { QueryConcurrency } from "../../model/query/query-concurrency.ts";
import { telemetryOf } from "../../model/telemetry/query-telemetry.ts";
import type { LoggedQuery, QueryLog } from "../../query/query-log.ts";
import type { CacheWorker, TableFeed } from "../caches/cache-feeds.ts";
import type { CacheState, ToQueryWorker } from "../wire/messages.ts";
import { ActiveQuery, type ActiveQueryOptions } from "./active-query.ts";
import { AnswerTurns } from "./answer-turns.ts";
import { type CountAnswer, KeptCounts } from "./kept-counts.ts";
import { type Permit, type PermitCounts, Permits } from "./permits.ts";
import type { Fed, QuerySlot } from "./query-slot.ts";
import { QueryWorkers, type QueryWorkersOptions } from "./query-workers.ts";
import { spawnQueryWorker } from "./spawn.ts";
import { TableGuess } from "./table-guess.ts";
import { TimeLimit } from "./time-limit.ts";
import { WorkerRun } from "./worker-run.ts";

export interface QueryClientOptions
  extends Omit<ActiveQueryOptions, "guess" | "counts" | "turns">,
    Omit<QueryWorkersOptions, "onAgain" | "nowMs" | "every" | "spawn">,
    Partial<Pick<QueryWorkersOptions, "nowMs" | "every" | "spawn">> {
  /** Maximum concurrent statements; others wait. */
  readonly concurrentMax: number;
  /** Time limit for waiting and running, not counting waits for the reader; 0 = none. */
  readonly timeoutMs: number;
  readonly log: QueryLog;
}

const CLOSE_POLL_MS = 5;

/** Function names appear in a statement as words or quoted names: a statement without them reads no cache. */
const NAMES_CACHE = /(?:last|distinct)_cache/i;

/** Statements of all clients over all query workers. `query` resolves with the first bytes of the answer. @throws TsdbError overloaded,
 *  unavailable, cancelled, and the statement's own errors */
export class QueryClient implements QueryService, QueryControl, QueryConcurrency, CacheWorker {
  readonly workers: QueryWorkers;
  /** Statements that are assigned to a worker, or will be. */
  private readonly queries = new Map<number, ActiveQuery>();
  private readonly guess = new TableGuess();
  private readonly counts: KeptCounts;
  private readonly turns = new AnswerTurns(() => performance.now(), setImmediate);
  private readonly permits: Permits;
  private nextId = 1;
  private closed = false;

  constructor(private readonly options: QueryClientOptions) {
    this.permits = new Permits(options.concurrentMax);
    this.counts = new KeptCounts((database, table) => options.snapshots.stateOf(database, table));
    this.workers = new QueryWorkers({
      spawn: spawnQueryWorker,
      nowMs: () => performance.now(),
      every: (milliseconds, call) => {
        const timer = setInterval(call, milliseconds);
        return () => clearInterval(timer);
      },
      ...options,
      onAgain: ({ id }) => void this.place(this.queries.get(id)!),
    });
  }

  get concurrentMax(): number {
    return this.permits.limit;
  }

  get permitCounts(): PermitCounts {
    return this.permits.counts;
  }

  limitConcurrent(countMax: number | null): void {
    this.permits.resize(countMax ?? this.options.concurrentMax);
  }

  /** Resolves when every worker can run statements. */
  async ready(): Promise<void> {
    await Promise.all(this.workers.live.map((slot) => slot.ready));
  }

  get activeCount(): number {
    return this.queries.size;
  }

  /** Sum of all workers' block caches. Counts of replaced workers are lost. */
  get cache(): CacheState {
    const sum = { bytes: 0, files: 0, gen0Hits: 0, gen0Misses: 0, compactedHits: 0, compactedMisses: 0, bytesRead: 0 };
    for (const { cache } of this.workers.live) for (const key of Object.keys(sum) as (keyof CacheState)[]) sum[key] += cache[key];
    return sum;
  }

  async query(request: QueryRequest): Promise<QueryAnswer> {
    // statements of InfluxQL and Flux name their databases themselves, and some name none
    const isSql = request.tsdbql === undefined && request.flux === undefined;
    if (isSql) this.options.snapshots.checkDatabase(request.scope?.databaseId(request.database) ?? request.database);
    if (this.closed) throw new TsdbError("unavailable", "the server is stopping");
    if (request.signal.aborted) throw new TsdbError("cancelled", "the client went away");
    const { statement, queryType = "sql", describe = false, isUnlisted: unlisted = describe } = request;
    // names of a scope are not those of databases that port 8181 shows
    const database = request.scope === undefined ? request.database : "";
    const log = this.options.log.begin({ database, queryType, queryText: statement }, { unlisted });
    const limit = new TimeLimit(this.options.timeoutMs);
    try {
      const permit = this.permits.take();
      if (permit.ready !== undefined) await this.waitForTurn(permit, request.signal, limit);
      log.permitted();
      const count = this.counts.find(request);
      if (count === undefined) return await this.run(request, log, limit);
      this.permits.release();
      limit.pause();
      return this.answerCount(count, request, log);
    } catch (error) {
      limit.pause();
      log.ended(error);
      throw error;
    }
  }

  running(): readonly RunningQuery[] {
    return [...this.queries].flatMap(([id, query]) => query.about(BigInt(id)) ?? []);
  }

  kill(id: bigint): void {
    const query = this.queries.get(Number(id));
    const status = query?.about(id)?.status;
    if (status === "running") query!.kill();
    else throw new TsdbError("bad_query", status === "killed" ? "already killed" : `no such query id: ${id}`);
  }

  feed(feeds: readonly TableFeed[]): Promise<Fed> {
    const tables = feeds.map(({ table }) => table);
    return this.askCacheWorker(feeds, (slot, id) => {
      const snapshot = slot.snapshots.encode({ tables, catalog: [], isInternal: false, systemRows: {} });
      return { type: "feed", id, snapshot, feeds: feeds.map(({ caches, clock }) => ({ caches, clock })) };
    });
  }

  keep(caches: readonly CacheDef[], expiring: readonly CacheKind[], nowMs: number): Promise<Fed> {
    return this.askCacheWorker([], (_, id) => ({ type: "keep", id, caches, expiring, nowMs }));
  }

  /** Sends a message to the cache worker when it is ready, and awaits its reply. */
  private async askCacheWorker(tables: readonly TableFeed[], message: (slot: QuerySlot, id: number) => ToQueryWorker): Promise<Fed> {
    let isSent = false;
    try {
      const slot = this.workers.cacheWorker;
      await slot.ready;
      if (this.closed) throw new TsdbError("unavailable", "the server is stopping");
      if (!this.workers.isLive(slot)) throw new TsdbError("unavailable", "the worker was replaced");
      const id = this.nextId++;
      const { promise, resolve, reject } = Promise.withResolvers<Fed>();
      slot.post(message(slot, id));
      slot.feeds.set(id, { tables, resolve, reject });
      isSent = true;
      this.workers.watch();
      return await promise;
    } finally {
      if (!isSent) for (const table of tables) table.release();
    }
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

  /** Answers a statement without a worker. */
  private answerCount({ contentType, bytes, rowCount }: CountAnswer, request: QueryRequest, log: LoggedQuery): QueryAnswer {
    log.timed({ planMs: 0, computeMs: 0 });
    log.ended();
    const microseconds = Number(log.end2endNs) / 1000;
    this.options.onQueryEnd({ milliseconds: microseconds / 1000, ok: true, rowCount, caches: [] });
    const telemetry = telemetryOf(log.id, Math.round(microseconds), []);
    this.options.onTelemetry(telemetry);
    request.onTelemetry?.(telemetry);
    return { contentType, body: new Uint8Array(bytes), rowCount: () => rowCount };
  }

  /** Runs a statement that has a permit. */
  private run(request: QueryRequest, log: LoggedQuery, limit: TimeLimit): Promise<QueryAnswer> {
    const id = this.nextId++;
    const { guess, counts, turns } = this;
    let isLent = false;
    const query = new ActiveQuery(
      id,
      request,
      log,
      limit,
      { ...this.options, guess, counts, turns },
      {
        onWaits: (waits) => {
          if (waits) isLent = this.permits.lend();
          else if (isLent) this.permits.takeBack();
        },
        onDone: () => {
          this.queries.delete(id);
          this.permits.release();
        },
      },
    );
    this.queries.set(id, query);
    void this.place(query);
    return query.answer;
  }

  /** Assigns the statement to a worker. */
  private async place(query: ActiveQuery): Promise<void> {
    try {
      for (;;) {
        const slot = this.slotFor(query.request);
        await slot.ready.catch((error) => {
          if (this.workers.isLive(slot)) throw error;
        });
        if (query.isOver) return;
        if (!this.workers.isLive(slot)) continue;
        const id = query.wasPlaced ? this.nextId++ : query.id;
        const run = new WorkerRun(id, query, slot, () => slot.runs.delete(id));
        slot.runs.set(id, run);
        this.workers.watch();
        query.runIn(run);
        return;
      }
    } catch (error) {
      query.fail(error as Error);
    }
  }

  /** Statements that read caches must run in the cache worker. @throws TsdbError unavailable */
  private slotFor({ statement, tsdbql, flux }: QueryRequest): QuerySlot {
    return tsdbql === undefined && flux === undefined && NAMES_CACHE.test(statement) ? this.workers.cacheWorker : this.workers.choose();
  }

  /** Accepts no more statements and cancels running ones. Resolves when the workers have finished, or after `graceMs`. Only idle workers
   *  are terminated: DuckDB's threads call into a busy one, and would crash the process. */
  async close(graceMs: number): Promise<void> {
    this.closed = true;
    const stopping = new TsdbError("unavailable", "the server is stopping");
    this.permits.refuseAll(stopping);
    for (const query of [...this.queries.values()]) query.abandon(stopping);
    for (const slot of this.workers.live) if (slot.feeds.size > 0) slot.post({ type: "stop feeding" });
    const deadlineMs = performance.now() + graceMs;
    const isBusy = () => this.workers.live.some((slot) => slot.isBusy);
    while (isBusy() && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
    this.workers.close();
  }
}
