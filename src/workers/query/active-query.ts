// One statement of a client: a worker runs it (worker-run.ts), or a second one if the first is lost before it has sent anything. The
// worker's bytes become a stream under credit: at most ANSWER_WINDOW_BYTES of an answer wait for a slow reader.
import type { CacheKind } from "../../model/caches.ts";
import { describeError, errorOf, TsdbError } from "../../model/errors.ts";
import type { QueryAnswer, QueryRequest, RunningQuery } from "../../model/query/query.ts";
import type { ScanRecord } from "../../model/query/scan-record.ts";
import { type QueryTelemetry, telemetryOf } from "../../model/telemetry/query-telemetry.ts";
import type { LoggedQuery } from "../../query/query-log.ts";
import type { DatabaseSnapshot, SnapshotNeed, TableState } from "../../scan/snapshot.ts";
import type { StatementEnd } from "../wire/messages.ts";
import type { WireSnapshot } from "../wire/snapshot-wire.ts";
import type { AnswerTurns } from "./answer-turns.ts";
import type { KeptCounts } from "./kept-counts.ts";
import type { TableGuess } from "./table-guess.ts";
import type { TimeLimit } from "./time-limit.ts";
import { type PinnedSnapshot, type RunOwner, type StatementMessage, TABLES_PER_MESSAGE, type WorkerRun } from "./worker-run.ts";

export interface SnapshotSource {
  /** @param database a name that port 8181 shows, or an id. @throws TsdbError unknown_database */
  checkDatabase(database: string | number): void;
  /** Unknown tables are omitted: DuckDB names them in its error. @throws TsdbError unknown_database */
  take(database: string | number, need: SnapshotNeed): PinnedSnapshot;
  /** Null if the table does not exist, or its rows may change by themselves. */
  stateOf(database: string, tableName: string): TableState | null;
}

export interface ActiveQueryOptions {
  readonly snapshots: SnapshotSource;
  readonly guess: TableGuess;
  readonly counts: KeptCounts;
  readonly turns: AnswerTurns;
  /** A client that reads nothing for this long loses its query, which releases the pin. */
  readonly readerStallMs: number;
  /** The client has received the answer or an error, or has disconnected. */
  readonly onQueryEnd: (outcome: { milliseconds: number; ok: boolean; rowCount: number; caches: readonly CacheKind[] }) => void;
  /** A worker has finished its work on a statement. */
  readonly onTelemetry: (telemetry: QueryTelemetry) => void;
}

/** Who holds the statement's permit. */
export interface PermitHolder {
  /** The statement begins or ends to wait for other servers. */
  onWaits(waits: boolean): void;
  /** No worker works on the statement any more. */
  onDone(): void;
}

/** One statement and its answer, across the workers that run it. */
export class ActiveQuery implements RunOwner {
  /** Null: not assigned to a worker. */
  private run: WorkerRun | null = null;
  private runCount = 0;
  private wasPlaced_ = false;
  private controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  private contentType = "";
  private readonly queue: Uint8Array[] = [];
  private pullWaiting: (() => void) | undefined;
  /** The next part leaves in another turn of the event loop. */
  private isDeferred = false;
  private settleHead: { resolve: (answer: QueryAnswer) => void; reject: (error: unknown) => void } | undefined;
  private clientDone = false;
  private isDone = false;
  private wasKilled = false;
  /** For other servers. */
  private isWaiting = false;
  private rowCount = 0;
  /** What it reads; null: nothing yet, or several snapshots. */
  private snapshot: DatabaseSnapshot | null = null;
  /** Kinds of the caches that it reads. */
  private caches: readonly CacheKind[] = [];
  private stallTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly startedMs = performance.now();
  private readonly onTurn = () => {
    this.isDeferred = false;
    this.deliver();
  };
  private readonly onAbort = () => this.abandon(new TsdbError("cancelled", "the client went away"));
  /** Settles once, when the route can send the status. */
  readonly answer: Promise<QueryAnswer>;

  constructor(
    readonly id: number,
    readonly request: QueryRequest,
    private readonly log: LoggedQuery,
    private readonly limit: TimeLimit,
    private readonly options: ActiveQueryOptions,
    private readonly holder: PermitHolder,
  ) {
    this.answer = new Promise((resolve, reject) => {
      this.settleHead = { resolve, reject };
    });
    this.request.signal.addEventListener("abort", this.onAbort, { once: true });
    this.limit.whenOver(() => {
      const message = `the statement ran longer than ${this.limit.text}, the limit that --query-timeout sets`;
      this.abandon(new TsdbError("query_limit", message, { limitMs: this.limit.limitMs }));
    });
  }

  get label(): { readonly id: string; readonly database: string } {
    return { id: this.log.id, database: this.log.database };
  }

  /** True if the client has received the answer or an error, or has disconnected. */
  get isOver(): boolean {
    return this.clientDone;
  }

  /** True if it was ever assigned to a worker, even if not started there. */
  get wasPlaced(): boolean {
    return this.wasPlaced_;
  }

  /** Undefined once the client has been answered or has disconnected, and for what the server asks by itself. */
  about(id: bigint): RunningQuery | undefined {
    if (this.request.isUnlisted === true || (this.clientDone && !this.wasKilled)) return undefined;
    const { statement: text } = this.request;
    return {
      id,
      database: this.log.database,
      text,
      milliseconds: performance.now() - this.startedMs,
      status: this.wasKilled ? "killed" : "running",
    };
  }

  /** Starts it in a worker; no effect if it is over. */
  runIn(run: WorkerRun): void {
    this.run = run;
    this.runCount += 1;
    this.wasPlaced_ = true;
    const { database, statement, format, params, tsdbql, flux, rows, describe, memoryBytesMax } = this.request;
    try {
      const early = this.takeEarly(run);
      run.start({
        ...{ database, statement, format, params },
        ...(tsdbql === undefined ? {} : { tsdbql }),
        ...(flux === undefined ? {} : { flux }),
        ...(rows === undefined ? {} : { rows }),
        ...(describe ? { describe } : {}),
        ...(memoryBytesMax === undefined ? {} : { memoryBytesMax }),
        ...(early === undefined ? {} : { early }),
      });
    } catch (error) {
      run.end();
      this.fail(error as Error);
    }
  }

  /** Its worker was lost; its data stays pinned until that worker has ended. Returns true if it can run again. */
  lose(error: Error): boolean {
    this.leave();
    // bytes already sent cannot be withdrawn; and a statement that lost two workers has probably caused it
    const isAgain = this.settleHead !== undefined && this.runCount === 1;
    this.setWaiting(false);
    if (!isAgain) this.fail(error);
    return isAgain;
  }

  /** Returns true if its worker had not started it and never will; another one may run it. */
  withdraw(): boolean {
    if (this.clientDone || this.run === null || !this.run.withdraw()) return false;
    this.leave();
    this.runCount -= 1;
    return true;
  }

  /** No worker will run it: fails with `error`. */
  fail(error: Error): void {
    this.leave();
    this.failClient(error);
    this.done();
  }

  private leave(): void {
    if (this.run !== null) this.run.owner = null;
    this.run = null;
  }

  receive(message: StatementMessage): void {
    switch (message.type) {
      case "pin":
        if (!this.clientDone) this.pin(message.need, message.keepsEarly);
        return;
      case "write":
        if (!this.clientDone) void this.write(this.run!, message);
        return;
      case "withdrawn":
        return; // it was moved to another worker
      case "answer":
        this.keepCount(message);
        this.answerWhole(message);
        this.ended(message.end);
        return;
      case "waits":
        this.setWaiting(message.waits);
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
        this.ended(message);
        if (this.clientDone) return;
        this.answerHead();
        this.deliver();
        return;
      case "error":
        this.failClient(errorOf(message.error));
        this.done();
        return;
    }
  }

  private setWaiting(isWaiting: boolean): void {
    if (isWaiting === this.isWaiting) return;
    this.isWaiting = isWaiting;
    this.holder.onWaits(isWaiting);
    this.request.onWaits?.(isWaiting);
  }

  private keepCount({ contentType, bytes, end }: Extract<StatementMessage, { type: "answer" }>): void {
    const [table, ...others] = this.snapshot?.tables ?? [];
    if (end.countsTable !== true || table === undefined || others.length > 0) return;
    this.options.counts.keep(this.request, table, { contentType, bytes, rowCount: end.rowCount });
  }

  private answerWhole({ contentType, bytes, end }: Extract<StatementMessage, { type: "answer" }>): void {
    if (this.clientDone) return;
    const { rowCount } = end;
    this.rowCount = rowCount;
    this.log.timed(end.times);
    this.settleHead?.resolve({ contentType, body: bytes, rowCount: () => rowCount });
    this.settleHead = undefined;
    this.endClient(true);
  }

  /** The worker has finished. */
  private ended({ rowCount, scans, times }: StatementEnd): void {
    this.rowCount = rowCount;
    this.log.timed(times);
    this.log.fileCount = BigInt(scans.reduce((sum, { filesRead }) => sum + filesRead, 0));
    this.reportTelemetry(scans);
    this.done();
  }

  /** Ends the statement early: tells the client why, and the worker to stop; the worker's last message releases the rest. */
  abandon(error: TsdbError): void {
    if (this.clientDone) return;
    this.run?.stop();
    this.failClient(error);
    if (this.run === null) this.done();
  }

  private reportTelemetry(scans: readonly ScanRecord[]): void {
    const telemetry = telemetryOf(this.log.id, Math.round((performance.now() - this.startedMs) * 1000), scans);
    this.options.onTelemetry(telemetry);
    this.request.onTelemetry?.(telemetry);
  }

  /** Ends the statement on request of another client. */
  kill(): void {
    this.wasKilled = true;
    this.abandon(new TsdbError("query_limit", "query interrupted"));
  }

  /** Takes a snapshot of the tables that the worker will probably request. @throws TsdbError unknown_database */
  private takeEarly(run: WorkerRun): { need: SnapshotNeed; snapshot: WireSnapshot } | undefined {
    const need = this.options.guess.find(this.guessedBy);
    const pinned = need === undefined || need.tables.length > TABLES_PER_MESSAGE ? undefined : this.takeGuessed(need);
    const snapshot = pinned === undefined ? undefined : run.sendEarly(pinned);
    return need === undefined || snapshot === undefined ? undefined : { need, snapshot };
  }

  /** Undefined if the guess names what is none of the databases in the statement's scope. */
  private takeGuessed(need: SnapshotNeed): PinnedSnapshot | undefined {
    try {
      return this.take(need);
    } catch (error) {
      if (this.request.scope === undefined || !(error instanceof TsdbError)) throw error;
      return undefined;
    }
  }

  private take(need: SnapshotNeed): PinnedSnapshot {
    this.caches = [...new Set(need.caches?.map(({ kind }) => kind))];
    const { database, scope } = this.request;
    const name = need.database ?? database;
    const pinned = this.options.snapshots.take(scope === undefined ? name : scope.databaseId(name), need);
    this.snapshot = pinned.snapshot;
    return pinned;
  }

  /** For a statement on tables of several databases: what it reads first. */
  private get guessedBy(): string {
    const { statement, database, tsdbql, flux, rows } = this.request;
    // what is only parsed reads no tables, and may be text that another sender has run
    if (rows !== undefined) return `rows ${rows.table}`;
    if (flux !== undefined) return `flux ${flux.task}\n${statement}`;
    if (tsdbql === undefined) return statement;
    const { retentionPolicy, policyRules = {}, mappings } = tsdbql;
    const named =
      mappings === undefined ? policyRules : [...mappings].map(([name, { policies, defaultName }]) => [name, ...policies, defaultName]);
    return `${database}/${retentionPolicy ?? ""}${JSON.stringify(named)}\n${statement}`;
  }

  private pin(need: SnapshotNeed, keepsEarly: boolean): void {
    const run = this.run!;
    try {
      if (!keepsEarly) {
        run.dropEarly();
        if (!run.hasPinned) this.options.guess.learn(this.guessedBy, need);
      }
      run.send(this.take(need));
      if (keepsEarly) this.snapshot = null;
    } catch (error) {
      this.abandon(error instanceof TsdbError ? error : new TsdbError("bad_query", String(error)));
    }
  }

  private async write(run: WorkerRun, { number, database, lines }: Extract<StatementMessage, { type: "write" }>): Promise<void> {
    try {
      const { write } = this.request;
      if (write === undefined) throw new TsdbError("forbidden", "this statement may not write");
      run.tellWritten(number, { refused: await write(database, lines) });
    } catch (error) {
      run.tellWritten(number, { error: describeError(error) });
    }
  }

  /** The first bytes (or the end) have arrived: the route can send the status. */
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
    this.settleHead.resolve({ contentType: this.contentType, body, rowCount: () => this.rowCount });
    this.settleHead = undefined;
    this.watchReader();
  }

  /** The reader requests bytes: returns one message's worth, now or when it arrives. */
  private pull(): Promise<void> {
    return new Promise((resolve) => {
      this.pullWaiting = resolve;
      this.deliver();
    });
  }

  private deliver(): void {
    const controller = this.controller;
    if (controller === undefined || this.clientDone) return;
    if (this.pullWaiting !== undefined && this.queue.length > 0 && !this.isDeferred) {
      if (!this.options.turns.mayGoOn(this.onTurn)) {
        this.isDeferred = true;
        return;
      }
      const next = this.queue.shift()!;
      controller.enqueue(next);
      this.run?.credit(next.byteLength);
      this.pullWaiting();
      this.pullWaiting = undefined;
      this.watchReader();
      if (this.queue.length === 0) this.limit.resume();
    }
    if (this.isDone && this.queue.length === 0) {
      this.endClient(true);
      controller.close();
    }
  }

  /** Restarts the reader's timeout if data waits for it. */
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

  private done(): void {
    if (this.isDone) return;
    this.isDone = true;
    this.run = null;
    this.setWaiting(false);
    this.holder.onDone();
  }
}
