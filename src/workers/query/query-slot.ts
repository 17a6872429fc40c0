// The main thread's view of one query worker: its unfinished statements, state, memory and end.
import { TsdbError } from "../../model/errors.ts";
import type { TableFeed } from "../caches/cache-feeds.ts";
import type { CacheState, FromQueryWorker, QueryWorkerOptions, ToQueryWorker } from "../wire/messages.ts";
import { type PackedFromQueryWorker, StatementPacker, unpackAnswer } from "../wire/packed-messages.ts";
import { SnapshotSender } from "../wire/snapshot-wire.ts";
import { Pulse, SILENT_MS } from "./pulse.ts";
import type { SpawnedWorker } from "./spawn.ts";
import type { RunWorker, WorkerRun } from "./worker-run.ts";
import type { StatementSignals } from "./worker-signals.ts";

export type Fed = Extract<FromQueryWorker, { type: "fed" }>;

interface PendingFeed {
  readonly tables: readonly TableFeed[];
  readonly resolve: (fed: Fed) => void;
  readonly reject: (error: Error) => void;
}

export interface SlotEvents {
  onReady(): void;
  /** It will never run statements: its modules or DuckDB cannot be loaded. */
  onStartFailure(slot: QuerySlot, error: TsdbError): void;
  /** It cannot continue. */
  onBroken(slot: QuerySlot, error: Error, culprit?: Culprit): void;
  /** It no longer accesses shared memory. */
  onEnded(slot: QuerySlot): void;
}

/** The cause of a worker's failure, and its client's error. */
export interface Culprit {
  readonly run: WorkerRun;
  readonly error: Error;
}

const CUT = new TsdbError("query_limit", "a single step of the statement took longer than any may, and was ended");

const NO_CACHE: CacheState = { bytes: 0, files: 0, gen0Hits: 0, gen0Misses: 0, compactedHits: 0, compactedMisses: 0, bytesRead: 0 };

/** One query worker: its thread, unfinished statements, and memory. */
export class QuerySlot implements RunWorker {
  /** In the order in which they were sent. */
  readonly runs = new Map<number, WorkerRun>();
  readonly feeds = new Map<number, PendingFeed>();
  /** Encodes snapshots relative to those sent earlier. */
  readonly snapshots = new SnapshotSender();
  readonly pulse = new Pulse();
  /** Rejects if the worker fails before it can run statements. */
  readonly ready: Promise<void>;
  /** As of the last completed statement. */
  cache: CacheState = NO_CACHE;
  private readonly packer = new StatementPacker();
  private isReady_ = false;
  private isEnded = false;
  private readonly worker: Worker;

  constructor(
    /** Index among the workers; a replacement takes over the index. */
    readonly place: number,
    { worker, failure }: SpawnedWorker,
    readonly options: QueryWorkerOptions,
    readonly words: StatementSignals,
    readonly nowMs: () => number,
    private readonly events: SlotEvents,
  ) {
    this.worker = worker;
    const ready = Promise.withResolvers<void>();
    ready.promise.catch(() => {}); // code that waits for the worker receives the error
    this.ready = ready.promise;
    worker.onmessage = ({ data: posted }: MessageEvent<PackedFromQueryWorker>) => {
      const data = unpackAnswer(posted);
      if (data.type === "ready") {
        this.isReady_ = true;
        this.events.onReady();
        ready.resolve();
      } else this.receive(data);
    };
    const fail = (message: string) => {
      if (this.isReady_) {
        this.events.onBroken(this, new Error(`query worker failed: ${message}`));
        return;
      }
      const error = new TsdbError("io", `the query engine cannot start: ${causeLine(message)}`, { message });
      this.events.onStartFailure(this, error);
      ready.reject(error);
    };
    worker.onerror = (event) => fail(event.message);
    worker.addEventListener("close", () => this.ended());
    const earlier = failure();
    if (earlier !== undefined) queueMicrotask(() => fail(earlier));
    this.post({ type: "init", options });
  }

  /** True if it accepts statements and responds. */
  get isThere(): boolean {
    return this.isReady_ && !this.pulse.isSilent;
  }

  get isBusy(): boolean {
    return this.runs.size + this.feeds.size > 0;
  }

  /** Number of statements that have run so long that others would wait for them. */
  get longCount(): number {
    let count = 0;
    for (const { startedMs } of this.runs.values()) {
      if (this.nowMs() - startedMs <= SILENT_MS) break;
      count++;
    }
    return count;
  }

  post(message: ToQueryWorker): void {
    if (!this.isEnded) this.worker.postMessage(this.packer.pack(message));
  }

  /** Sends a look, unless one is unanswered. */
  look(): void {
    if (!this.isBusy) {
      this.pulse.rest();
      return;
    }
    const look = this.pulse.look(this.words.answered, this.nowMs());
    if (look !== null) this.post({ type: "look", look });
  }

  /** Terminates a thread that is idle or has ended its work. */
  terminate(): void {
    this.worker.terminate();
  }

  private receive(message: Exclude<FromQueryWorker, { type: "ready" }>): void {
    switch (message.type) {
      case "fed": {
        const pending = this.feeds.get(message.id);
        this.feeds.delete(message.id);
        for (const table of pending?.tables ?? []) table.release();
        pending?.resolve(message);
        return;
      }
      case "broken": {
        const error = new Error(message.message);
        const run = message.statement === null ? undefined : this.runs.get(message.statement);
        this.events.onBroken(this, error, run && { run, error: message.isCut ? CUT : error });
        return;
      }
      case "ended":
        this.ended();
        return;
      case "answer":
        this.cache = message.end.cache;
        break;
      case "end":
        this.cache = message.cache;
        break;
    }
    this.runs.get(message.id)?.receive(message);
  }

  private ended(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.events.onEnded(this);
    for (const run of [...this.runs.values()]) run.end();
    for (const { tables } of this.feeds.values()) for (const table of tables) table.release();
    this.feeds.clear();
  }
}

/** Extracts the cause from the source lines and stack trace in a worker's failure. */
function causeLine(message: string): string {
  const lines = message.split("\n");
  const found = lines.find((line) => /^\s*(?:\w*[eE]rror|E[A-Z]+): /.test(line)) ?? lines[0]!;
  return found.replace(/^\s*\w*error: /i, "").trim();
}
