// Entry point of the query worker: DuckDB, statement rewriting and encoding run here, so that the main thread only ingests.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { isFull } from "../../disk/space.ts";
import { nativeCalls } from "../../duckdb/native-calls.ts";
import { liveResultCount } from "../../duckdb/result-stream.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { describeError, errorOf, TsdbError } from "../../model/errors.ts";
import { loopWatch, watchTimers } from "../../model/loop-watch.ts";
import { loadFlux, QueryRunner } from "../../query/query.ts";
import type { DatabaseSnapshot, SnapshotNeed, TableSnapshot } from "../../scan/snapshot.ts";
import { SqlEngine } from "../../sql/execute/engine.ts";
import { BlockCache } from "../../storage/block-cache/block-cache.ts";
import { AnswerCredit } from "../answer-credit.ts";
import { CacheFeeder } from "../caches/cache-feeder.ts";
import { MemoryWatch } from "../memory-watch.ts";
import { residentBytes } from "../resident-memory.ts";
import { sharedSignal } from "../shared-signal.ts";
import {
  ANSWER_MESSAGE_BYTES,
  ANSWER_WINDOW_BYTES,
  type FromQueryWorker,
  type QueryWorkerOptions,
  type StatementEnd,
  type ToQueryWorker,
  type WrittenMessage,
} from "../wire/messages.ts";
import { type PackedToQueryWorker, packAnswer, StatementUnpacker } from "../wire/packed-messages.ts";
import { SnapshotReceiver } from "../wire/snapshot-wire.ts";
import { Faults } from "./faults.ts";
import { covers } from "./table-guess.ts";
import { WorkerSignals } from "./worker-signals.ts";

declare const self: Worker;

type StatementMessage = Extract<ToQueryWorker, { type: "query" }>;

/** A running statement: messages of main for it, and its answer under way. */
class RunningQuery {
  readonly cancelled = new AbortController();
  /** Aborted as soon as main stops the statement, even in the midst of this thread's work. */
  readonly signal: AbortSignal;
  /** Why it was stopped, unless a client cancelled it. */
  private reason: TsdbError | undefined;
  /** Planning time; null: not planned yet, or already reported. */
  planMs: number | null = null;
  private usesEarly = false;
  /** True if a part of the answer was sent. */
  streams = false;
  private snapshotReady: ((snapshot: DatabaseSnapshot) => void) | undefined;
  private readonly firstTables: TableSnapshot[] = [];
  /** By number: those that main has not answered. */
  private readonly writes = new Map<number, PromiseWithResolvers<string | null>>();
  private writeCount = 0;
  readonly credit: AnswerCredit;
  private pending: Uint8Array[] = [];
  private pendingBytes = 0;

  constructor(
    readonly id: number,
    private early: { readonly need: SnapshotNeed; readonly snapshot: DatabaseSnapshot } | undefined,
    isStopped: () => boolean,
  ) {
    this.signal = sharedSignal(this.cancelled.signal, isStopped);
    this.credit = new AnswerCredit(ANSWER_WINDOW_BYTES, this.signal);
  }

  /** A pinned snapshot: the one sent with the statement if it suffices, otherwise one requested from main. */
  async snapshot(need: SnapshotNeed): Promise<DatabaseSnapshot> {
    const { early } = this;
    if (early !== undefined && covers(early.need, need)) {
      this.usesEarly = true;
      return early.snapshot;
    }
    // an earlier abort raises no event, and main does not answer requests of cancelled statements
    if (this.signal.aborted) throw cancelledError();
    return new Promise((resolve, reject) => {
      this.snapshotReady = resolve;
      this.signal.addEventListener("abort", () => reject(cancelledError()), { once: true });
      post({ type: "pin", id: this.id, need, keepsEarly: this.usesEarly });
      // return the snapshot if it is not used
      if (!this.usesEarly) this.early = undefined;
    });
  }

  stop(reason: TsdbError): void {
    this.reason ??= reason;
    this.cancelled.abort();
  }

  /** The error of a stopped statement. */
  get stopError(): TsdbError {
    return this.reason ?? cancelledError();
  }

  /** The first tables of the snapshot to come. */
  addTables(tables: readonly TableSnapshot[]): void {
    for (const table of tables) this.firstTables.push(table);
  }

  deliver(snapshot: DatabaseSnapshot): void {
    const first = this.firstTables.splice(0);
    this.snapshotReady?.(first.length === 0 ? snapshot : { ...snapshot, tables: [...first, ...snapshot.tables] });
  }

  /** Rows of the statement itself. Resolves with what was refused, null: nothing. @throws TsdbError also when the statement is stopped */
  async write(database: string, lines: string): Promise<string | null> {
    if (this.signal.aborted) throw cancelledError();
    const number = this.writeCount++;
    const outcome = Promise.withResolvers<string | null>();
    this.writes.set(number, outcome);
    const stop = (): void => outcome.reject(cancelledError());
    this.signal.addEventListener("abort", stop, { once: true });
    try {
      post({ type: "write", id: this.id, number, database, lines });
      return await outcome.promise;
    } finally {
      this.signal.removeEventListener("abort", stop);
      this.writes.delete(number);
    }
  }

  written({ number, outcome }: WrittenMessage): void {
    if ("error" in outcome) this.writes.get(number)?.reject(errorOf(outcome.error));
    else this.writes.get(number)?.resolve(outcome.refused);
  }

  /** Queues bytes for the reader; resolves immediately while the window has room, then when the reader has consumed some. */
  async send(bytes: Uint8Array, contentType: string): Promise<void> {
    this.pending.push(bytes);
    this.pendingBytes += bytes.byteLength;
    if (this.pendingBytes < ANSWER_MESSAGE_BYTES) return;
    if (!this.streams) post({ type: "head", id: this.id, contentType });
    this.streams = true;
    this.flush();
    if (!(await this.credit.wait())) throw cancelledError();
  }

  /** Sends the last message: the whole answer if nothing was sent before. */
  end(contentType: string, end: StatementEnd): void {
    if (this.streams) {
      post({ type: "end", id: this.id, ...end });
      return;
    }
    const bytes = this.take();
    const answer = { type: "answer", id: this.id, contentType, bytes, end } as const;
    const packed = packAnswer(answer);
    if (packed === null) self.postMessage(answer satisfies FromQueryWorker, [bytes.buffer]);
    else self.postMessage(packed);
  }

  /** Sends what is queued of an answer that was sent in part. */
  flush(): void {
    if (this.pendingBytes === 0) return;
    const bytes = this.take();
    this.credit.spend(bytes.byteLength);
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

/** True if the bytes fill their buffer, which can then be transferred. */
function isWhole(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
}

/** First statements of a client that waited for the server go first. */
const FLUX_DELAY_MS = 50;
const TICK_MS = 50;
/** The block cache keeps what was in use during the last six. */
const CACHE_PERIOD_MS = 10_000;
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
  // decode immediately, even if unused: later snapshots are encoded relative to it
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
      ...{ database: message.database, statement: message.statement, format: message.format, params: message.params },
      describe: message.describe === true,
      ...(message.tsdbql === undefined ? {} : { tsdbql: message.tsdbql }),
      ...(message.flux === undefined ? {} : { flux: message.flux }),
      ...(message.rows === undefined ? {} : { rows: message.rows }),
      ...(message.memoryBytesMax === undefined ? {} : { memoryBytesMax: message.memoryBytesMax }),
      signal: query.signal,
      snapshot: (need) => query.snapshot(need),
      write: (database, lines) => query.write(database, lines),
      onWaits: (waits) => post({ type: "waits", id: message.id, waits }),
      onPlanned: (planMs) => {
        query.planMs = planMs;
      },
    });
    const { contentType } = answer;
    try {
      let partCount = 0;
      for await (const bytes of answer.parts) {
        faults?.whileEncoding(message.statement, partCount++);
        await query.send(bytes, contentType);
        if (query.streams) faults?.whileSending(message.statement);
      }
      if (query.streams) query.flush();
    } finally {
      await answer.close();
    }
    const state = { ...cache!.counts, bytes: cache!.bytes, files: cache!.fileCount };
    const { countsTable = false } = answer;
    query.end(contentType, {
      ...{ rowCount: answer.rowCount(), scans: answer.records(), times: answer.times(), cache: state },
      ...(countsTable ? { countsTable } : {}),
    });
  } catch (error) {
    post({ type: "error", id: message.id, error: describeError(query.signal.aborted ? query.stopError : error) });
  } finally {
    running.delete(message.id);
  }
}

/** Stops statements when the process exceeds its memory. */
function stopForMemory(): void {
  if (running.size === 0 || memory?.isOver() !== true) return;
  const error = new TsdbError("query_limit", "Resources exhausted: the statements that run take more memory than there is for queries");
  for (const query of running.values()) query.stop(error);
}

/** Reported after a delay: most statements have ended by then. */
function tellPlanned(): void {
  for (const query of running.values()) {
    if (query.planMs !== null) post({ type: "planned", id: query.id, planMs: query.planMs });
    query.planMs = null;
  }
}

/** Gives memory that no statement of the last minute has used to the other threads. */
function returnUnused({ heap }: Kernel): void {
  if ((cache?.beginPeriod() ?? 0) > 0) heap.trim();
}

const END_POLL_MS = 5;
/** Statements stop within this time, unless they were terminated. */
const END_PATIENCE_MS = 1000;
let isEnding = false;

/** This thread's state may be inconsistent: it changes no shared data any more, and main replaces it. */
function broken(isCut: boolean, statement: number | null, message: string): void {
  kernel?.extents.seal();
  post({ type: "broken", isCut, statement, message });
}

/** Runs garbage collection and pending finalizers until `isDone`, or until patience is over. */
async function collectUntil(isDone: () => boolean): Promise<void> {
  const startMs = performance.now();
  do {
    Bun.gc(true);
    await new Promise((resolve) => setTimeout(resolve, END_POLL_MS));
  } while (!isDone() && performance.now() - startMs < END_PATIENCE_MS);
}

/** Ends the worker, whatever state statements are in: stops all reads, waits for DuckDB's threads, and frees its memory. */
async function endWorker(): Promise<void> {
  isEnding = true;
  // this may take long on a busy machine, and must not be terminated halfway
  loopWatch.stop();
  kernel?.extents.seal();
  feeder?.stop();
  // a statement that continued would make DuckDB's threads request rows from this thread, which is waiting for them
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
  // results of terminated statements keep DuckDB alive
  await collectUntil(() => liveResultCount() === 0);
  engine?.close();
  engine = undefined;
  // the final cleanup runs in a turn of its own
  await collectUntil(() => true);
  post({ type: "ended" });
}

/** Processor time of this thread. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** What spills first makes it where that is impossible now: on a full disk statements run all the same. */
function makeSpillFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    if (!isFull(error)) throw error;
  }
}

async function start(options: QueryWorkerOptions): Promise<void> {
  const { shared, owner, memoryBytes, threads, tempDir, cacheBytes, nativeCallsMax, processBytesMax, residentBytesMax, loopMsMax } =
    options;
  const own = new WorkerSignals(options.words);
  words = own;
  nativeCalls.limit(nativeCallsMax, (inFlight) => own.setNativeCalls(inFlight));
  makeSpillFolder(tempDir);
  const attached = Kernel.attach(shared, owner);
  kernel = attached;
  engine = await SqlEngine.open(attached, { memoryBytes, threads, tempDir });
  cache = new BlockCache(attached, cacheBytes);
  runner = new QueryRunner(attached, engine, cache, memoryBytes, options.keeps);
  if (runner.cacheWorker !== null) feeder = new CacheFeeder(runner.cacheWorker);
  if (options.hasFaults === true) faults = new Faults(attached, dirname(tempDir), loopMsMax);
  memory = new MemoryWatch({
    ...{ bytesMax: processBytesMax, residentBytesMax },
    residentBytes,
    kernelBytes: () => attached.extents.touchedBytes,
    collect: () => Bun.gc(true),
    nowMs: () => performance.now(),
  });
  let busyMs = threadMs();
  loopWatch.start({
    limitMs: loopMsMax,
    onCut: (statement) => {
      // a process that was suspended, or had no processor, is not at fault
      const isAtFault = threadMs() - busyMs >= loopMsMax / 50;
      broken(true, isAtFault ? statement : null, `query worker was kept from its event loop for ${loopMsMax / 1000} s and was cut short`);
    },
  });
  watchTimers(loopWatch);
  // an uncaught error would end the thread, and thereby crash the process while DuckDB's threads work for it
  process.on("uncaughtException", (error) => broken(false, loopWatch.label, `query worker failed: ${error.message}`));
  process.on("unhandledRejection", (error) => broken(false, null, `query worker failed: ${describeError(error).message}`));
  setInterval(() => {
    tellPlanned();
    stopForMemory();
    busyMs = threadMs();
  }, TICK_MS);
  setInterval(() => returnUnused(attached), CACHE_PERIOD_MS);
  post({ type: "ready" });
  if (options.loadsFlux) setTimeout(() => void loadFlux(), FLUX_DELAY_MS);
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
    case "tables": {
      // decoded in any case: later ones are encoded relative to them
      const tables = snapshots.decodeTables(message.tables);
      running.get(message.id)?.addTables(tables);
      return;
    }
    case "snapshot": {
      const snapshot = snapshots.decode(message.snapshot);
      running.get(message.id)?.deliver(snapshot);
      return;
    }
    case "credit":
      running.get(message.id)?.credit.add(message.bytes);
      return;
    case "written":
      running.get(message.id)?.written(message);
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

/** What takes long by the size of a statement or of its snapshot. */
const OF_STATEMENTS: ReadonlySet<ToQueryWorker["type"]> = new Set(["query", "tables", "snapshot"]);

const unpacker = new StatementUnpacker();
self.onmessage = ({ data: posted }: MessageEvent<PackedToQueryWorker>) => {
  const data = unpacker.unpack(posted);
  if (isEnding) return;
  if (data.type === "end worker") void endWorker();
  else loopWatch.run("message", () => void receive(data), OF_STATEMENTS.has(data.type) && "id" in data ? data.id : null);
};
