// One statement on its way through a query worker: the client's side and the worker's side of it, and the pinned snapshot between them.
// The worker's bytes become a stream under credit: at most ANSWER_WINDOW_BYTES of an answer wait for a slow reader.
import type { CacheKind } from "../model/caches.ts";
import { errorOf, TsdbError } from "../model/errors.ts";
import type { QueryAnswer, QueryRequest, RunningQuery } from "../model/query.ts";
import { type QueryTelemetry, telemetryOf } from "../model/query-telemetry.ts";
import type { LoggedQuery } from "../query/query-log.ts";
import type { DatabaseSnapshot, SnapshotNeed } from "../query/snapshot.ts";
import type { FromQueryWorker, ToQueryWorker } from "./messages.ts";
import type { SnapshotSender, WireSnapshot } from "./snapshot-wire.ts";
import type { TableGuess } from "./table-guess.ts";
import type { TimeLimit } from "./time-limit.ts";

/** A pinned snapshot; `release` lets go of the pin. */
export interface PinnedSnapshot {
  readonly snapshot: DatabaseSnapshot;
  release(): void;
}

export interface SnapshotSource {
  /** @throws TsdbError unknown_database */
  checkDatabase(database: string): void;
  /** Tables that do not exist are left out: the engine names them in its error. @throws TsdbError unknown_database */
  take(database: string, need: SnapshotNeed): PinnedSnapshot;
}

export interface ActiveQueryOptions {
  readonly snapshots: SnapshotSource;
  readonly guess: TableGuess;
  /** A reader that takes nothing for this long loses its query, and with it the pin. */
  readonly readerStallMs: number;
  /** The client has its answer, or an error, or is gone. */
  readonly onQueryEnd: (outcome: { milliseconds: number; ok: boolean; rowCount: number; caches: readonly CacheKind[] }) => void;
  /** A worker has done all it had to for a statement. */
  readonly onTelemetry: (telemetry: QueryTelemetry) => void;
}

/** The client's side and the worker's side end separately: the pin is held until the worker has said its last word, because until then it
 *  may read the pinned memory. */
export class ActiveQuery {
  /** The one that went with the statement. */
  private early: PinnedSnapshot | undefined;
  private readonly pinned: PinnedSnapshot[] = [];
  private controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  private contentType = "";
  private readonly queue: Uint8Array[] = [];
  private pullWaiting: (() => void) | undefined;
  private settleHead: { resolve: (answer: QueryAnswer) => void; reject: (error: unknown) => void } | undefined;
  private clientDone = false;
  private workerDone = false;
  private wasKilled = false;
  private rowCount = 0;
  /** Kinds of the caches that it reads. */
  private caches: readonly CacheKind[] = [];
  private stallTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly startedMs = performance.now();
  private readonly onAbort = () => this.abandon(new TsdbError("cancelled", "the client went away"));

  constructor(
    private readonly id: number,
    private readonly request: QueryRequest,
    private readonly log: LoggedQuery,
    private readonly limit: TimeLimit,
    private readonly slot: { readonly worker: Worker; readonly snapshots: SnapshotSender },
    private readonly options: ActiveQueryOptions,
    /** The worker is done with this query. */
    private readonly onWorkerDone: () => void,
  ) {}

  /** Undefined when its client has its answer or is gone. */
  about(id: bigint): RunningQuery | undefined {
    if (this.clientDone && !this.wasKilled) return undefined;
    const { database, statement: text } = this.request;
    return { id, database, text, milliseconds: performance.now() - this.startedMs, status: this.wasKilled ? "killed" : "running" };
  }

  start(): Promise<QueryAnswer> {
    return new Promise((resolve, reject) => {
      this.settleHead = { resolve, reject };
      this.request.signal.addEventListener("abort", this.onAbort, { once: true });
      this.limit.whenOver(() => {
        const message = `the statement ran longer than ${this.limit.text}, the limit that --query-timeout sets`;
        this.abandon(new TsdbError("query_limit", message, { limitMs: this.limit.limitMs }));
      });
      const { database, statement, format, params, tsdbql, describe } = this.request;
      try {
        const early = this.takeEarly();
        this.post({
          type: "query",
          id: this.id,
          database,
          statement,
          format,
          params,
          ...(tsdbql === undefined ? {} : { tsdbql }),
          ...(describe ? { describe } : {}),
          ...(early === undefined ? {} : { early }),
        });
      } catch (error) {
        this.endWorker();
        this.failClient(error as Error);
      }
    });
  }

  receive(message: Exclude<FromQueryWorker, { type: "ready" | "fed" }>): void {
    switch (message.type) {
      case "pin":
        if (!this.clientDone) this.pin(message.need, message.keepsEarly);
        return;
      case "answer":
        if (this.clientDone) return;
        this.rowCount = message.rowCount;
        this.log.timed(message.times);
        this.settleHead?.resolve({ contentType: message.contentType, body: message.bytes });
        this.settleHead = undefined;
        this.endClient(true);
        return;
      case "planned":
        this.log.planned(message.planMs);
        return;
      case "head":
        this.contentType = message.contentType;
        return;
      case "bytes":
        if (this.clientDone) return;
        this.queue.push(message.bytes);
        this.limit.pause();
        this.answerHead();
        this.deliver();
        return;
      case "end":
        this.rowCount = message.rowCount;
        this.log.timed(message.times);
        this.log.fileCount = BigInt(message.scans.reduce((sum, { filesRead }) => sum + filesRead, 0));
        this.options.onTelemetry(telemetryOf(this.log.id, Math.round((performance.now() - this.startedMs) * 1000), message.scans));
        this.endWorker();
        if (this.clientDone) return;
        this.answerHead();
        this.deliver();
        return;
      case "error":
        this.endWorker();
        this.failClient(errorOf(message.error));
        return;
    }
  }

  /** The worker is gone or will be: nothing reads the pinned memory any more. */
  workerGone(error: Error): void {
    this.endWorker();
    this.failClient(error);
  }

  /** Nobody wants the answer: tells the client why and the worker to stop; the worker's last message ends the rest. */
  abandon(error: TsdbError): void {
    if (this.clientDone) return;
    if (!this.workerDone) this.post({ type: "cancel", id: this.id });
    this.failClient(error);
  }

  /** Somebody else wants it to end. */
  kill(): void {
    this.wasKilled = true;
    this.abandon(new TsdbError("query_limit", "query interrupted"));
  }

  /** What the worker will probably ask for. @throws TsdbError unknown_database */
  private takeEarly(): { need: SnapshotNeed; snapshot: WireSnapshot } | undefined {
    const need = this.options.guess.find(this.guessedBy);
    if (need === undefined) return undefined;
    this.early = this.take(need);
    return { need, snapshot: this.slot.snapshots.encode(this.early.snapshot) };
  }

  private take(need: SnapshotNeed): PinnedSnapshot {
    this.caches = [...new Set(need.caches?.map(({ kind }) => kind))];
    return this.options.snapshots.take(need.database ?? this.request.database, need);
  }

  /** Of a statement that names tables of several databases, what it reads first. */
  private get guessedBy(): string {
    const { statement, database, tsdbql } = this.request;
    return tsdbql === undefined ? statement : `${database}/${tsdbql.retentionPolicy ?? ""}\n${statement}`;
  }

  private pin(need: SnapshotNeed, keepsEarly: boolean): void {
    try {
      if (!keepsEarly) {
        // the worker does not read what it was guessed to read
        this.early?.release();
        this.early = undefined;
        if (this.pinned.length === 0) this.options.guess.learn(this.guessedBy, need);
      }
      const pinned = this.take(need);
      this.pinned.push(pinned);
      this.post({ type: "snapshot", id: this.id, snapshot: this.slot.snapshots.encode(pinned.snapshot) });
    } catch (error) {
      this.abandon(error instanceof TsdbError ? error : new TsdbError("bad_query", String(error)));
    }
  }

  /** The first bytes (or the end) are here: the route may send its status now. */
  private answerHead(): void {
    if (this.settleHead === undefined) return;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller;
        },
        pull: () => this.pull(),
        cancel: () => this.abandon(new TsdbError("cancelled", "the client went away")),
      },
      { highWaterMark: 0 },
    );
    this.settleHead.resolve({ contentType: this.contentType, body });
    this.settleHead = undefined;
    this.watchReader();
  }

  /** The reader wants bytes: one message's worth now, or as soon as it comes. */
  private pull(): Promise<void> {
    return new Promise((resolve) => {
      this.pullWaiting = resolve;
      this.deliver();
    });
  }

  private deliver(): void {
    const controller = this.controller;
    if (controller === undefined || this.clientDone) return;
    if (this.pullWaiting !== undefined) {
      const next = this.queue.shift();
      if (next !== undefined) {
        controller.enqueue(next);
        if (!this.workerDone) this.post({ type: "credit", id: this.id, bytes: next.byteLength });
        this.pullWaiting();
        this.pullWaiting = undefined;
        this.watchReader();
        if (this.queue.length === 0) this.limit.resume();
      }
    }
    if (this.workerDone && this.queue.length === 0) {
      this.endClient(true);
      controller.close();
    }
  }

  /** Starts the clock again in which the reader must take something, if something waits for it. */
  private watchReader(): void {
    clearTimeout(this.stallTimer);
    const { readerStallMs } = this.options;
    this.stallTimer = setTimeout(() => {
      if (this.queue.length === 0) this.watchReader();
      else this.abandon(new TsdbError("cancelled", `the reader took nothing for ${readerStallMs} ms`));
    }, readerStallMs);
  }

  private failClient(error: Error): void {
    if (this.clientDone) return;
    this.endClient(false, error);
    if (this.settleHead !== undefined) this.settleHead.reject(error);
    else this.controller?.error(error);
    this.settleHead = undefined;
  }

  private endClient(ok: boolean, error?: Error): void {
    this.clientDone = true;
    this.limit.pause();
    this.log.ended(error);
    this.queue.length = 0;
    clearTimeout(this.stallTimer);
    this.request.signal.removeEventListener("abort", this.onAbort);
    this.pullWaiting?.();
    this.pullWaiting = undefined;
    const { rowCount, caches } = this;
    this.options.onQueryEnd({ milliseconds: performance.now() - this.startedMs, ok, rowCount, caches });
  }

  private endWorker(): void {
    if (this.workerDone) return;
    this.workerDone = true;
    this.early?.release();
    this.early = undefined;
    for (const pinned of this.pinned) pinned.release();
    this.pinned.length = 0;
    this.onWorkerDone();
  }

  private post(message: ToQueryWorker): void {
    this.slot.worker.postMessage(message);
  }
}
