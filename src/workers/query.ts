// Entry point of the query worker: DuckDB, statement rewriting and the answer's encoding live here, so that the main thread only ingests.
import { nativeCalls } from "../duckdb/native-calls.ts";
import { Kernel } from "../kernel/kernel.ts";
import { describeError, TsdbError } from "../model/errors.ts";
import { QueryRunner, type StatementTimes } from "../query/query.ts";
import type { DatabaseSnapshot, SnapshotNeed } from "../query/snapshot.ts";
import { SqlEngine } from "../sql/engine.ts";
import { BlockCache } from "../store/block-cache.ts";
import { CacheFeeder } from "./cache-feeder.ts";
import { MemoryWatch } from "./memory-watch.ts";
import { ANSWER_MESSAGE_BYTES, ANSWER_WINDOW_BYTES, type FromQueryWorker, type ToQueryWorker } from "./messages.ts";
import { SnapshotReceiver } from "./snapshot-wire.ts";
import { covers } from "./table-guess.ts";

declare const self: Worker;

type StatementMessage = Extract<ToQueryWorker, { type: "query" }>;

/** A running statement: what main may still say about it, and its answer on the way there. */
class RunningQuery {
  readonly cancelled = new AbortController();
  /** Why it was stopped, unless somebody cancelled it. */
  private reason: TsdbError | undefined;
  /** How long it took to begin; null: it has not, or main knows. */
  planMs: number | null = null;
  private usesEarly = false;
  private streams = false;
  private snapshotReady: ((snapshot: DatabaseSnapshot) => void) | undefined;
  private creditBytes = ANSWER_WINDOW_BYTES;
  private creditReady: (() => void) | undefined;
  private pending: Uint8Array[] = [];
  private pendingBytes = 0;

  constructor(
    readonly id: number,
    private early: { readonly need: SnapshotNeed; readonly snapshot: DatabaseSnapshot } | undefined,
  ) {}

  /** A pinned snapshot: the one that came with the statement if it will do, else main is asked for one. */
  async snapshot(need: SnapshotNeed): Promise<DatabaseSnapshot> {
    const { early } = this;
    if (early !== undefined && covers(early.need, need)) {
      this.usesEarly = true;
      return early.snapshot;
    }
    // an abort that has happened already is not heard of again, and main does not answer who is cancelled
    if (this.cancelled.signal.aborted) throw cancelledError();
    return new Promise((resolve, reject) => {
      this.snapshotReady = resolve;
      this.cancelled.signal.addEventListener("abort", () => reject(cancelledError()), { once: true });
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
      if (this.cancelled.signal.aborted) throw cancelledError();
      await new Promise<void>((resolve) => {
        this.creditReady = resolve;
        this.cancelled.signal.addEventListener("abort", () => resolve(), { once: true });
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
  const { early } = message;
  // at once and also if nobody will use it: what comes next is told in terms of it
  const query = new RunningQuery(message.id, early && { need: early.need, snapshot: snapshots.decode(early.snapshot) });
  running.set(message.id, query);
  try {
    if (runner === undefined) throw new TsdbError("unavailable", "the query engine is still starting");
    const answer = await runner.run({
      database: message.database,
      statement: message.statement,
      format: message.format,
      params: message.params,
      describe: message.describe === true,
      ...(message.tsdbql === undefined ? {} : { tsdbql: message.tsdbql }),
      signal: query.cancelled.signal,
      snapshot: (need) => query.snapshot(need),
      onPlanned: (planMs) => {
        query.planMs = planMs;
      },
    });
    try {
      const { contentType } = answer;
      for await (const bytes of answer.parts) await query.send(bytes, contentType);
      query.finish(contentType, answer.rowCount(), answer.times());
    } finally {
      await answer.close();
    }
    const state = { ...cache!.counts, bytes: cache!.bytes };
    post({ type: "end", id: message.id, rowCount: answer.rowCount(), scans: answer.records(), times: answer.times(), cache: state });
  } catch (error) {
    post({ type: "error", id: message.id, error: describeError(query.cancelled.signal.aborted ? query.stopError : error) });
  } finally {
    running.delete(message.id);
  }
}

/** Ends what takes more memory than there is for statements, whoever it is. */
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

self.onmessage = async (event: MessageEvent<ToQueryWorker>) => {
  const message = event.data;
  switch (message.type) {
    case "init": {
      const { shared, memoryBytes, threads, tempDir, cacheBytes, nativeCallsMax } = message.options;
      nativeCalls.limit(nativeCallsMax);
      const kernel = Kernel.attach(shared);
      const engine = await SqlEngine.open(kernel, { memoryBytes, threads, tempDir });
      cache = new BlockCache(kernel, cacheBytes);
      runner = new QueryRunner(kernel, engine, cache, memoryBytes, message.options.keeps);
      if (runner.keeper !== null) feeder = new CacheFeeder(runner.keeper);
      memory = new MemoryWatch({
        bytesMax: message.options.processBytesMax,
        residentBytes: () => process.memoryUsage.rss(),
        kernelBytes: () => kernel.memory.buffer.byteLength,
        nowMs: () => performance.now(),
      });
      setInterval(() => {
        tellPlanned();
        stopForMemory();
      }, TICK_MS);
      post({ type: "ready" });
      return;
    }
    case "query":
      await runQuery(message);
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
      post(await feeder!.feed(message.id, snapshots.decode(message.snapshot).tables, message.feeds));
      return;
    case "keep":
      post(feeder!.keep(message));
      return;
    case "stop feeding":
      feeder!.stop();
      return;
  }
};
