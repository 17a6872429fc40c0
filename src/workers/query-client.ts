// The main thread's side of the query workers: implements QueryService by messages, hands out snapshots, and turns the worker's bytes into
// a stream under credit: at most ANSWER_WINDOW_BYTES of an answer wait for a slow reader.
import { TsdbError } from "../model/errors.ts";
import type { QueryAnswer, QueryRequest, QueryService } from "../model/query.ts";
import { type QueryTelemetry, telemetryOf } from "../model/query-telemetry.ts";
import type { DatabaseSnapshot } from "../query/snapshot.ts";
import type { CacheState, FromQueryWorker, QueryWorkerOptions, ToQueryWorker, WireError } from "./messages.ts";
import { SnapshotSender, type WireSnapshot } from "./snapshot-wire.ts";
import { type SpawnedWorker, spawnQueryWorker } from "./spawn.ts";
import { TableGuess, type TableNeed } from "./table-guess.ts";

/** A pinned snapshot; `release` lets go of the pin. */
export interface PinnedSnapshot {
  readonly snapshot: DatabaseSnapshot;
  release(): void;
}

export interface SnapshotSource {
  /** @throws TsdbError unknown_database */
  checkDatabase(database: string): void;
  /** Tables that do not exist are left out: the engine names them in its error. @throws TsdbError unknown_database */
  take(database: string, tables: readonly string[], wholeCatalog: boolean): PinnedSnapshot;
}

export interface QueryClientOptions {
  readonly workerCount: number;
  /** One that was spawned early. */
  readonly firstWorker: SpawnedWorker | undefined;
  readonly workerOptions: QueryWorkerOptions;
  readonly snapshots: SnapshotSource;
  /** A reader that takes nothing for this long loses its query, and with it the pin. */
  readonly readerStallMs: number;
  /** A worker died: the queries it ran have failed already. */
  readonly onWorkerFailure: (error: Error) => void;
  /** The client has its answer, or an error, or is gone. */
  readonly onQueryEnd: (outcome: { milliseconds: number; ok: boolean; rowCount: number }) => void;
  /** A worker has done all it had to for a statement. */
  readonly onTelemetry: (telemetry: QueryTelemetry) => void;
}

const CLOSE_POLL_MS = 5;

interface WorkerSlot {
  readonly worker: Worker;
  /** Rejects when the worker fails before it can take statements. */
  readonly ready: Promise<void>;
  readonly queries: Map<number, ActiveQuery>;
  /** What was sent to the worker. */
  readonly snapshots: SnapshotSender;
  /** As of the last statement that it ended. */
  cache: CacheState;
}

const NO_CACHE: CacheState = { bytes: 0, gen0Hits: 0, gen0Misses: 0, compactedHits: 0, compactedMisses: 0, bytesRead: 0 };

export class QueryClient implements QueryService {
  private readonly slots: WorkerSlot[] = [];
  private readonly guess = new TableGuess();
  private nextId = 1;
  private closed = false;
  /** Why no further worker is started. */
  private startFailed: Error | undefined;

  /** Spawned before there was a client; the first slot takes it. */
  private waitingWorker: SpawnedWorker | undefined;

  constructor(private readonly options: QueryClientOptions) {
    this.waitingWorker = options.firstWorker;
    for (let i = 0; i < options.workerCount; i++) this.slots.push(this.startWorker());
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
    this.options.snapshots.checkDatabase(request.database);
    if (this.closed) throw new TsdbError("unavailable", "the server is stopping");
    if (request.signal.aborted) throw new TsdbError("cancelled", "the client went away");
    const slot = this.slots.reduce((least, other) => (other.queries.size < least.queries.size ? other : least));
    await slot.ready;
    // an abort that has happened already is not heard of again
    if (request.signal.aborted) throw new TsdbError("cancelled", "the client went away");
    const id = this.nextId++;
    const query = new ActiveQuery(id, request, slot, { ...this.options, guess: this.guess }, () => slot.queries.delete(id));
    slot.queries.set(id, query);
    return query.start();
  }

  /** Takes no more statements and cancels those that run. Resolves when the workers are done with them, or after `graceMs`.
   *  A worker is ended only when it is idle: DuckDB's threads call into it, and would take the process with them. */
  async close(graceMs: number): Promise<void> {
    this.closed = true;
    const stopping = new TsdbError("unavailable", "the server is stopping");
    for (const slot of this.slots) for (const query of [...slot.queries.values()]) query.abandon(stopping);
    const deadlineMs = performance.now() + graceMs;
    while (this.activeCount > 0 && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
    for (const slot of this.slots) if (slot.queries.size === 0) slot.worker.terminate();
  }

  private startWorker(): WorkerSlot {
    const { worker, failure } = this.waitingWorker ?? spawnQueryWorker();
    this.waitingWorker = undefined;
    const queries = new Map<number, ActiveQuery>();
    const ready = Promise.withResolvers<void>();
    ready.promise.catch(() => {}); // whoever waits for the worker is told
    const slot: WorkerSlot = { worker, queries, ready: ready.promise, snapshots: new SnapshotSender(), cache: NO_CACHE };
    let isReady = false;
    worker.onmessage = (event: MessageEvent<FromQueryWorker>) => {
      if (event.data.type === "end") slot.cache = event.data.cache;
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
    worker.postMessage({ type: "init", options: this.options.workerOptions } satisfies ToQueryWorker);
    return slot;
  }

  private replaceWorker(slot: WorkerSlot, error: Error): void {
    if (this.closed) return;
    slot.worker.terminate();
    for (const query of [...slot.queries.values()]) query.workerGone(error);
    if (this.startFailed !== undefined) return;
    this.options.onWorkerFailure(error);
    this.slots[this.slots.indexOf(slot)] = this.startWorker();
  }
}

/** One statement on its way through a worker. The client's side and the worker's side end separately: the pin is held until the worker
 *  has said its last word, because until then it may read the pinned memory. */
class ActiveQuery {
  private pinned: PinnedSnapshot | undefined;
  private controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  private contentType = "";
  private readonly queue: Uint8Array[] = [];
  private pullWaiting: (() => void) | undefined;
  private settleHead: { resolve: (answer: QueryAnswer) => void; reject: (error: unknown) => void } | undefined;
  private clientDone = false;
  private workerDone = false;
  private rowCount = 0;
  private stallTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly startedMs = performance.now();
  private readonly queryId = crypto.randomUUID();
  private readonly onAbort = () => this.abandon(new TsdbError("cancelled", "the client went away"));

  constructor(
    private readonly id: number,
    private readonly request: QueryRequest,
    private readonly slot: Pick<WorkerSlot, "worker" | "snapshots">,
    private readonly options: QueryClientOptions & { readonly guess: TableGuess },
    /** The worker is done with this query. */
    private readonly onWorkerDone: () => void,
  ) {}

  start(): Promise<QueryAnswer> {
    return new Promise((resolve, reject) => {
      this.settleHead = { resolve, reject };
      this.request.signal.addEventListener("abort", this.onAbort, { once: true });
      const { statement, format, params } = this.request;
      try {
        const early = this.takeEarly();
        this.post({ type: "query", id: this.id, statement, format, params, ...(early === undefined ? {} : { early }) });
      } catch (error) {
        this.endWorker();
        this.failClient(error as Error);
      }
    });
  }

  receive(message: Exclude<FromQueryWorker, { type: "ready" }>): void {
    switch (message.type) {
      case "pin":
        if (!this.clientDone) this.pin(message.need);
        return;
      case "answer":
        if (this.clientDone) return;
        this.rowCount = message.rowCount;
        this.settleHead?.resolve({ contentType: message.contentType, body: message.bytes });
        this.settleHead = undefined;
        this.endClient(true);
        return;
      case "head":
        this.contentType = message.contentType;
        return;
      case "bytes":
        if (this.clientDone) return;
        this.queue.push(message.bytes);
        this.answerHead();
        this.deliver();
        return;
      case "end":
        this.rowCount = message.rowCount;
        this.options.onTelemetry(telemetryOf(this.queryId, Math.round((performance.now() - this.startedMs) * 1000), message.scans));
        this.endWorker();
        if (this.clientDone) return;
        this.answerHead();
        this.deliver();
        return;
      case "error":
        this.endWorker();
        this.failClient(toError(message.error));
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

  /** What the worker will probably ask for. @throws TsdbError unknown_database */
  private takeEarly(): { need: TableNeed; snapshot: WireSnapshot } | undefined {
    const need = this.options.guess.find(this.request.statement);
    if (need === undefined) return undefined;
    this.pinned = this.options.snapshots.take(this.request.database, need.tables, need.wholeCatalog);
    return { need, snapshot: this.slot.snapshots.encode(this.pinned.snapshot) };
  }

  private pin(need: TableNeed): void {
    try {
      // the worker does not read what it was guessed to read
      this.pinned?.release();
      this.pinned = undefined;
      this.options.guess.learn(this.request.statement, need);
      this.pinned = this.options.snapshots.take(this.request.database, need.tables, need.wholeCatalog);
      this.post({ type: "snapshot", id: this.id, snapshot: this.slot.snapshots.encode(this.pinned.snapshot) });
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
    this.endClient(false);
    if (this.settleHead !== undefined) this.settleHead.reject(error);
    else this.controller?.error(error);
    this.settleHead = undefined;
  }

  private endClient(ok: boolean): void {
    this.clientDone = true;
    this.queue.length = 0;
    clearTimeout(this.stallTimer);
    this.request.signal.removeEventListener("abort", this.onAbort);
    this.pullWaiting?.();
    this.pullWaiting = undefined;
    this.options.onQueryEnd({ milliseconds: performance.now() - this.startedMs, ok, rowCount: this.rowCount });
  }

  private endWorker(): void {
    if (this.workerDone) return;
    this.workerDone = true;
    this.pinned?.release();
    this.pinned = undefined;
    this.onWorkerDone();
  }

  private post(message: ToQueryWorker): void {
    this.slot.worker.postMessage(message);
  }
}

function toError(error: WireError): Error {
  if (error.kind === "bug") return new Error(error.message);
  return new TsdbError(error.kind, error.message, error.details);
}

/** What went wrong, out of the lines of code and stack that a worker's failure comes with. */
function causeLine(message: string): string {
  const lines = message.split("\n");
  const found = lines.find((line) => /^\s*\w*error: /i.test(line)) ?? lines[0]!;
  return found.replace(/^\s*\w*error: /i, "").trim();
}
