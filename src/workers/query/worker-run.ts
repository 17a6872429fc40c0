// A statement in its worker: its data stays pinned until the worker has sent its last message, even if the client has disconnected.
import type { DatabaseSnapshot } from "../../scan/snapshot.ts";
import type { FromQueryWorker, ToQueryWorker, WrittenMessage } from "../wire/messages.ts";
import type { SnapshotSender, WireSnapshot } from "../wire/snapshot-wire.ts";
import type { StatementSignals } from "./worker-signals.ts";

/** A few milliseconds of encoding and serialization, which block the main thread. */
export const TABLES_PER_MESSAGE = 128;

/** A pinned snapshot; `release` releases the pin. */
export interface PinnedSnapshot {
  readonly snapshot: DatabaseSnapshot;
  release(): void;
}

/** The worker that runs it. */
export interface RunWorker {
  readonly snapshots: SnapshotSender;
  readonly words: StatementSignals;
  /** Milliseconds of a monotonic clock. */
  nowMs(): number;
  post(message: ToQueryWorker): void;
}

const LAST: ReadonlySet<FromQueryWorker["type"]> = new Set(["answer", "end", "error", "withdrawn"]);

export type StatementMessage = Exclude<FromQueryWorker, { type: "ready" | "fed" | "broken" | "ended" }>;

/** The statement being run. */
export interface RunOwner {
  readonly id: number;
  /** For logs. */
  readonly label: StatementLabel;
  receive(message: StatementMessage): void;
  /** The worker was lost. Returns true if another one may run it. */
  lose(error: Error): boolean;
  /** Returns true if the worker had not started it, and another one may run it. */
  withdraw(): boolean;
  /** No worker will run it. */
  fail(error: Error): void;
}

export interface StatementLabel {
  readonly id: string;
  readonly database: string;
}

/** One statement in one worker: its messages, pins, and credit for the answer. */
export class WorkerRun {
  /** The snapshot sent with the statement. */
  private early: PinnedSnapshot | undefined;
  private readonly pinned: PinnedSnapshot[] = [];
  readonly startedMs: number;
  private readonly place: number | null;
  private isDone_ = false;
  private stoppedMs_: number | null = null;

  /** @param onDone called when the worker no longer reads any data of it */
  constructor(
    readonly id: number,
    /** Null: moved to another worker, or abandoned. */
    public owner: RunOwner | null,
    private readonly worker: RunWorker,
    private readonly onDone: () => void,
  ) {
    this.place = worker.words.take();
    this.startedMs = worker.nowMs();
  }

  /** True once the worker has sent its last message. */
  get isDone(): boolean {
    return this.isDone_;
  }

  /** Time at which it was stopped; null if it is wanted. */
  get stoppedMs(): number | null {
    return this.stoppedMs_;
  }

  start(message: Omit<Extract<ToQueryWorker, { type: "query" }>, "type" | "id" | "place">): void {
    this.worker.post({ type: "query", id: this.id, ...(this.place === null ? {} : { place: this.place }), ...message });
  }

  receive(message: StatementMessage): void {
    const { owner } = this;
    if (LAST.has(message.type)) this.end();
    owner?.receive(message);
  }

  /** Pins the snapshot to send with the statement; returns undefined, without pinning, if it exceeds one message. */
  sendEarly(early: PinnedSnapshot): WireSnapshot | undefined {
    if (early.snapshot.tables.length > TABLES_PER_MESSAGE || this.sendAhead(early.snapshot, 0) !== null) {
      early.release();
      return undefined;
    }
    this.early = early;
    return this.worker.snapshots.encode(early.snapshot);
  }

  /** The prediction was wrong: releases the early snapshot. */
  dropEarly(): void {
    this.early?.release();
    this.early = undefined;
  }

  get hasPinned(): boolean {
    return this.pinned.length > 0;
  }

  /** Sends a snapshot; long lists of tables are sent over several turns of the event loop. */
  send(pinned: PinnedSnapshot): void {
    this.pinned.push(pinned);
    this.sendInTurns(pinned.snapshot, 0);
  }

  private sendInTurns(snapshot: DatabaseSnapshot, from: number): void {
    if (this.isDone_) return;
    const end = this.sendAhead(snapshot, from);
    if (end !== null) setImmediate(() => this.sendInTurns(snapshot, end));
    else this.sendTablesInTurns(snapshot, 0);
  }

  private sendTablesInTurns(snapshot: DatabaseSnapshot, from: number): void {
    if (this.isDone_) return;
    const { id, worker } = this;
    const end = from + TABLES_PER_MESSAGE;
    if (end < snapshot.tables.length) {
      worker.post({ type: "tables", id, tables: worker.snapshots.encodeTables(snapshot.tables.slice(from, end)) });
      setImmediate(() => this.sendTablesInTurns(snapshot, end));
    } else {
      const last = from === 0 ? snapshot : { ...snapshot, tables: snapshot.tables.slice(from) };
      worker.post({ type: "snapshot", id, snapshot: worker.snapshots.encode(last) });
    }
  }

  /** Sends a part of the table list ahead of the snapshot, from position `from`. Returns the next position; null if the rest is sent
   *  with the snapshot. */
  private sendAhead(snapshot: DatabaseSnapshot, from: number): number | null {
    const part = this.worker.snapshots.ahead(snapshot, from);
    if (part !== null) this.worker.post({ type: "ahead", tables: part.tables });
    return part?.end ?? null;
  }

  credit(bytes: number): void {
    if (!this.isDone_) this.worker.post({ type: "credit", id: this.id, bytes });
  }

  tellWritten(number: number, outcome: WrittenMessage["outcome"]): void {
    if (!this.isDone_) this.worker.post({ type: "written", id: this.id, number, outcome });
  }

  /** The statement is not wanted any more: tells the worker, even in the midst of its work. */
  stop(): void {
    if (this.isDone_ || this.stoppedMs_ !== null) return;
    this.stoppedMs_ = this.worker.nowMs();
    if (this.place !== null) this.worker.words.stop(this.place);
    this.worker.post({ type: "cancel", id: this.id });
  }

  /** Returns true if the worker had not started it, and never will. */
  withdraw(): boolean {
    return !this.isDone_ && this.place !== null && this.worker.words.withdraw(this.place);
  }

  /** True if the worker may have started it. */
  get mayHaveBegun(): boolean {
    return this.place === null || this.worker.words.hasBegun(this.place);
  }

  /** The worker has sent its last message, or is gone. */
  end(): void {
    if (this.isDone_) return;
    this.isDone_ = true;
    this.dropEarly();
    for (const pinned of this.pinned.splice(0)) pinned.release();
    if (this.place !== null) this.worker.words.giveBack(this.place);
    this.onDone();
  }
}
