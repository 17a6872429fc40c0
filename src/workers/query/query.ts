// Entry point of the query worker: DuckDB, statement rewriting and the answer's encoding live here, so that the main thread only ingests.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { nativeCalls } from "../../duckdb/native-calls.ts";
import { liveResultCount } from "../../duckdb/result-stream.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { describeError, TsdbError } from "../../model/errors.ts";
import { loopWatch, watchTimers } from "../../model/loop-watch.ts";
import { QueryRunner } from "../../query/query.ts";
import type { StatementTimes } from "../../query/statement-clock.ts";
import type { DatabaseSnapshot, SnapshotNeed } from "../../scan/snapshot.ts";
import { SqlEngine } from "../../sql/execute/engine.ts";
import { BlockCache } from "../../storage/block-cache/block-cache.ts";
import { CacheFeeder } from "../caches/cache-feeder.ts";
import { MemoryWatch } from "../memory-watch.ts";
import { sharedSignal } from "../shared-signal.ts";
import {
  ANSWER_MESSAGE_BYTES,
  ANSWER_WINDOW_BYTES,
  type FromQueryWorker,
  type QueryWorkerOptions,
  type ToQueryWorker,
} from "../wire/messages.ts";
import { SnapshotReceiver } from "../wire/snapshot-wire.ts";
import { Faults } from "./faults.ts";
import { covers } from "./table-guess.ts";
import { WorkerSignals } from "./worker-signals.ts";

declare const self: Worker;

type StatementMessage = Extract<ToQueryWorker, { type: "query" }>;

/** A running statement: what main may still say about it, and its answer on the way there. */
class RunningQuery {
  readonly cancelled = new AbortController();
  /** Says that it is aborted as soon as main wants it to end, also in the midst of this thread's work. */
  readonly signal: AbortSignal;
  /** Why it was stopped, unless somebody cancelled it. */
  private reason: TsdbError | undefined;
  /** How long it took to begin; null: it has not, or main knows. */
  planMs: number | null = null;
  private usesEarly = false;
  /** A part of the answer has left. */
  streams = false;
  private snapshotReady: ((snapshot: DatabaseSnapshot) => void) | undefined;
  private creditBytes = ANSWER_WINDOW_BYTES;
  private creditReady: (() => void) | undefined;
  private pending: Uint8Array[] = [];
  private pendingBytes = 0;

  constructor(
    readonly id: number,
    private early: { readonly need: SnapshotNeed; readonly snapshot: DatabaseSnapshot } | undefined,
    isStopped: () => boolean,
  ) {
    this.signal = sharedSignal(this.cancelled.signal, isStopped);
  }

  /** A pinned snapshot: the one that came with the statement if it will do, else main is asked for one. */
  async snapshot(need: SnapshotNeed): Promise<DatabaseSnapshot> {
    const { early } = this;
    if (early !== undefined && covers(early.need, need)) {
      this.usesEarly = true;
      return early.snapshot;
    }
    // an abort that has happened already is not heard of again, and main does not answer who is cancelled
    if (this.signal.aborted) throw cancelledError();
    return new Promise((resolve, reject) => {
      this.snapshotReady = resolve;
      this.signal.addEventListener("abort", () => reject(cancelledError()), { once: true });
      post({ type: "pin", id: this.id, need, keepsEarly: this.usesEarly });
      // what is not used is given back
      if (!this.usesEarly) this.early = undefined;
    });
  }

  stop(reason: TsdbError): void {
    this.reason ??= reason;
    this.cancelled.abort();
  }

  /** What ended a statement that has been stopped. */
  get stopError(): TsdbError {
    return this.reason ?? cancelledError();
  }

  deliver(snapshot: DatabaseSnapshot): void {
    this.snapshotReady?.(snapshot);
  }

  addCredit(bytes: number): void {
    this.creditBytes += bytes;
    if (this.creditBytes > 0) this.creditReady?.();
  }

  /** Queues bytes for the reader; resolves at once until the window is full, then when the reader has taken some. */
  async send(bytes: Uint8Array, contentType: string): Promise<void> {
    this.pending.push(bytes);
    this.pendingBytes += bytes.byteLength;
    if (this.pendingBytes < ANSWER_MESSAGE_BYTES) return;
    if (!this.streams) post({ type: "head", id: this.id, contentType });
    this.streams = true;
    this.flush();
    while (this.creditBytes <= 0) {
      if (this.signal.aborted) throw cancelledError();
      await new Promise<void>((resolve) => {
        this.creditReady = resolve;
        this.signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }

  /** Sends what is left; the whole answer, when nothing was sent before. */
  finish(contentType: string, rowCount: number, times: StatementTimes): void {
    if (this.streams) {
      this.flush();
      return;
    }
    const bytes = this.take();
    self.postMessage({ type: "answer", id: this.id, contentType, bytes, rowCount, times } satisfies FromQueryWorker, [bytes.buffer]);
  }

  private flush(): void {
    if (this.pendingBytes === 0) return;
    const bytes = this.take();
    this.creditBytes -= bytes.byteLength;
    self.postMessage({ type: "bytes", id: this.id, bytes } satisfies FromQueryWorker, [bytes.buffer]);
  }

  private take(): Uint8Array<ArrayBuffer> {
    const [only] = this.pending;
    if (only !== undefined && this.pending.length === 1 && isWhole(only)) {
      this.pending = [];
      this.pendingBytes = 0;
      return only;
    }
    const bytes = new Uint8Array(this.pendingBytes);
    let at = 0;
    for (const part of this.pending) {
      bytes.set(part, at);
      at += part.byteLength;
    }
    this.pending = [];
    this.pendingBytes = 0;
    return bytes;
  }
}

/** True for bytes that are all of their buffer, which then may leave with them. */
function isWhole(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
}

const TICK_MS = 100;
let memory: MemoryWatch | undefined;

const running = new Map<number, RunningQuery>();
let kernel: Kernel | undefined;
let engine: SqlEngine | undefined;
let words: WorkerSignals | undefined;
let faults: Faults | undefined;
let runner: QueryRunner | undefined;
let feeder: CacheFeeder | undefined;
let cache: BlockCache | undefined;
const snapshots = new SnapshotReceiver({
  blockGone: (block) => cache?.dropBlock(block),
  segmentCame: (segment) => runner?.segments.begin(segment),
  segmentGone: (segment) => runner?.segments.end(segment),
});

function post(message: FromQueryWorker): void {
  self.postMessage(message);
}

function cancelledError(): TsdbError {
  return new TsdbError("cancelled", "the query was cancelled");
}

async function runQuery(message: StatementMessage): Promise<void> {
  const { early, place } = message;
  // at once and also if nobody will use it: what comes next is told in terms of it
  const known = early && { need: early.need, snapshot: snapshots.decode(early.snapshot) };
  if (place !== undefined && !words!.begin(place)) {
    post({ type: "withdrawn", id: message.id });
    return;
  }
  const query = new RunningQuery(message.id, known, () => place !== undefined && words!.isStopped(place));
  running.set(message.id, query);
  try {
    faults?.atStart(message.statement, query.signal);
    if (runner === undefined) throw new TsdbError("unavailable", "the query engine is still starting");
    const answer = await runner.run({
      database: message.database,
      statement: message.statement,
      format: message.format,
      params: message.params,
      describe: message.describe === true,
      ...(message.tsdbql === undefined ? {} : { tsdbql: message.tsdbql }),
      signal: query.signal,
      snapshot: (need) => query.snapshot(need),
      onPlanned: (planMs) => {
        query.planMs = planMs;
      },
    });
    try {
      const { contentType } = answer;
      let partCount = 0;
      for await (const bytes of answer.parts) {
        faults?.whileEncoding(message.statement, partCount++);
        await query.send(bytes, contentType);
        if (query.streams) faults?.whileSending(message.statement);
      }
      query.finish(contentType, answer.rowCount(), answer.times());
    } finally {
      await answer.close();
    }
    const state = { ...cache!.counts, bytes: cache!.bytes };
    post({ type: "end", id: message.id, rowCount: answer.rowCount(), scans: answer.records(), times: answer.times(), cache: state });
  } catch (error) {
    post({ type: "error", id: message.id, error: describeError(query.signal.aborted ? query.stopError : error) });
  } finally {
    running.delete(message.id);
  }
}

/** Ends the statements that take more memory than there is for them. */
function stopForMemory(): void {
  if (running.size === 0 || memory?.isOver() !== true) return;
  const error = new TsdbError("query_limit", "Resources exhausted: the statements that run take more memory than there is for queries");
  for (const query of running.values()) query.stop(error);
}

/** Most statements have ended before anybody could want to know that they have begun. */
function tellPlanned(): void {
  for (const query of running.values()) {
    if (query.planMs !== null) post({ type: "planned", id: query.id, planMs: query.planMs });
    query.planMs = null;
  }
}

const END_POLL_MS = 5;
/** Statements end by themselves within it, unless they were cut short. */
const END_PATIENCE_MS = 1000;
let isEnding = false;

/** What this thread knows may be half true: nothing that others see is changed by it any more. Main replaces the worker. */
function broken(isCut: boolean, statement: number | null, message: string): void {
  kernel?.extents.seal();
  post({ type: "broken", isCut, statement, message });
}

/** Collects garbage, whose finalizers have their turns, until it has had its effect or patience is over. */
async function collectUntil(isDone: () => boolean): Promise<void> {
  const startMs = performance.now();
  do {
    Bun.gc(true);
    await new Promise((resolve) => setTimeout(resolve, END_POLL_MS));
  } while (!isDone() && performance.now() - startMs < END_PATIENCE_MS);
}

/** Comes to an end, whatever state statements are in: none of them reads on, DuckDB's threads have left, and its memory is free. */
async function endWorker(): Promise<void> {
  isEnding = true;
  // on a busy machine it takes long, and what is cut short of it would be missing for ever
  loopWatch.stop();
  kernel?.extents.seal();
  feeder?.stop();
  // a statement that went on would have DuckDB's threads ask this one for rows while it waits for them
  nativeCalls.close();
  const ending = new TsdbError("unavailable", "the worker is being replaced");
  const startMs = performance.now();
  for (;;) {
    for (const query of running.values()) query.stop(ending);
    engine?.stop();
    const isPatient = running.size > 0 && performance.now() - startMs < END_PATIENCE_MS;
    if (nativeCalls.inFlight === 0 && !isPatient) break;
    await new Promise((resolve) => setTimeout(resolve, END_POLL_MS));
  }
  await engine?.settle();
  faults?.atEnd();
  runner = undefined;
  running.clear();
  // results of statements that were cut short hold on to the engine
  await collectUntil(() => liveResultCount() === 0);
  engine?.close();
  engine = undefined;
  // what it is freed by runs in a turn of its own
  await collectUntil(() => true);
  post({ type: "ended" });
}

/** Processor time of this thread. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

async function start(options: QueryWorkerOptions): Promise<void> {
  const { shared, owner, memoryBytes, threads, tempDir, cacheBytes, nativeCallsMax, processBytesMax, loopMsMax } = options;
  const own = new WorkerSignals(options.words);
  words = own;
  nativeCalls.limit(nativeCallsMax, (inFlight) => own.setNativeCalls(inFlight));
  mkdirSync(tempDir, { recursive: true });
  const attached = Kernel.attach(shared, owner);
  kernel = attached;
  engine = await SqlEngine.open(attached, { memoryBytes, threads, tempDir });
  cache = new BlockCache(attached, cacheBytes);
  runner = new QueryRunner(attached, engine, cache, memoryBytes, options.keeps);
  if (runner.cacheWorker !== null) feeder = new CacheFeeder(runner.cacheWorker);
  if (options.hasFaults === true) faults = new Faults(attached, dirname(tempDir), loopMsMax);
  memory = new MemoryWatch({
    bytesMax: processBytesMax,
    residentBytes: () => process.memoryUsage.rss(),
    kernelBytes: () => attached.memory.buffer.byteLength,
    nowMs: () => performance.now(),
  });
  let busyMs = threadMs();
  loopWatch.start({
    limitMs: loopMsMax,
    onCut: (statement) => {
      // a process that was stopped, or had no processor, has lost its time to nobody
      const isAtFault = threadMs() - busyMs >= loopMsMax / 50;
      broken(true, isAtFault ? statement : null, `query worker was kept from its event loop for ${loopMsMax / 1000} s and was cut short`);
    },
  });
  watchTimers(loopWatch);
  // a thread that dies of an error takes the process with it, when DuckDB is at work for others
  process.on("uncaughtException", (error) => broken(false, loopWatch.label, `query worker failed: ${error.message}`));
  process.on("unhandledRejection", (error) => broken(false, null, `query worker failed: ${describeError(error).message}`));
  setInterval(() => {
    tellPlanned();
    stopForMemory();
    busyMs = threadMs();
  }, TICK_MS);
  post({ type: "ready" });
}

async function receive(message: Exclude<ToQueryWorker, { type: "end worker" }>): Promise<void> {
  switch (message.type) {
    case "init":
      return start(message.options);
    case "query":
      return runQuery(message);
    case "ahead":
      snapshots.add(message.tables);
      return;
    case "snapshot": {
      const snapshot = snapshots.decode(message.snapshot);
      running.get(message.id)?.deliver(snapshot);
      return;
    }
    case "credit":
      running.get(message.id)?.addCredit(message.bytes);
      return;
    case "cancel":
      running.get(message.id)?.cancelled.abort();
      return;
    case "feed":
      faults?.atFeed(message);
      post(await feeder!.feed(message.id, snapshots.decode(message.snapshot).tables, message.feeds));
      return;
    case "keep":
      post(feeder!.keep(message));
      return;
    case "stop feeding":
      feeder!.stop();
      return;
    case "look":
      words!.answer(message.look);
      return;
  }
}

self.onmessage = ({ data }: MessageEvent<ToQueryWorker>) => {
  if (isEnding) return;
  if (data.type === "end worker") void endWorker();
  else loopWatch.run("message", () => void receive(data), data.type === "query" || data.type === "snapshot" ? data.id : null);
};
