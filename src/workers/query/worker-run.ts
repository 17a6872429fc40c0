// A statement as its worker has it: what it may read is pinned until the worker has said its last word, whatever has become of the client.
import type { DatabaseSnapshot } from "../../scan/snapshot.ts";
import type { FromQueryWorker, ToQueryWorker } from "../wire/messages.ts";
import type { SnapshotSender, WireSnapshot } from "../wire/snapshot-wire.ts";
import type { StatementSignals } from "./worker-signals.ts";

/** A pinned snapshot; `release` lets go of the pin. */
export interface PinnedSnapshot {
  readonly snapshot: DatabaseSnapshot;
  release(): void;
}

/** The worker that runs it. */
export interface RunWorker {
  readonly snapshots: SnapshotSender;
  readonly words: StatementSignals;
  /** Milliseconds of a clock that never goes back. */
  nowMs(): number;
  post(message: ToQueryWorker): void;
}

export type StatementMessage = Exclude<FromQueryWorker, { type: "ready" | "fed" | "broken" | "ended" }>;

/** The statement that is run. */
export interface RunOwner {
  readonly id: number;
  /** For logs. */
  readonly label: StatementLabel;
  receive(message: StatementMessage): void;
  /** The worker is lost. True: another one may run it. */
  lose(error: Error): boolean;
  /** True: the worker had not begun it, and another one may. */
  withdraw(): boolean;
  /** No worker will run it. */
  fail(error: Error): void;
}

export interface StatementLabel {
  readonly id: string;
  readonly database: string;
}

/** One statement in one worker: its messages, its pins, the credit for its answer. */
export class WorkerRun {
  /** The one that went with the statement. */
  private early: PinnedSnapshot | undefined;
  private readonly pinned: PinnedSnapshot[] = [];
  readonly startedMs: number;
  private readonly place: number | null;
  private isDone_ = false;
  private stoppedMs_: number | null = null;

  /** @param onDone the worker will not read anything any more */
  constructor(
    readonly id: number,
    /** Null: it has been given to another worker, or nobody waits for it. */
    public owner: RunOwner | null,
    private readonly worker: RunWorker,
    private readonly onDone: () => void,
  ) {
    this.place = worker.words.take();
    this.startedMs = worker.nowMs();
  }

  /** The worker has said its last word. */
  get isDone(): boolean {
    return this.isDone_;
  }

  /** Since when nobody wants it; null: somebody does. */
  get stoppedMs(): number | null {
    return this.stoppedMs_;
  }

  start(message: Omit<Extract<ToQueryWorker, { type: "query" }>, "type" | "id" | "place">): void {
    this.worker.post({ type: "query", id: this.id, ...(this.place === null ? {} : { place: this.place }), ...message });
  }

  receive(message: StatementMessage): void {
    const { owner } = this;
    if (message.type === "end" || message.type === "error" || message.type === "withdrawn") this.end();
    owner?.receive(message);
  }

  /** Pins what goes with the statement; undefined, and nothing is pinned: it is more than one message holds. */
  sendEarly(early: PinnedSnapshot): WireSnapshot | undefined {
    if (this.sendAhead(early.snapshot, 0) !== null) {
      early.release();
      return undefined;
    }
    this.early = early;
    return this.worker.snapshots.encode(early.snapshot);
  }

  /** The worker does not read what it was guessed to read. */
  dropEarly(): void {
    this.early?.release();
    this.early = undefined;
  }

  get hasPinned(): boolean {
    return this.pinned.length > 0;
  }

  /** Long lists of tables go in turns of the event loop. */
  send(pinned: PinnedSnapshot): void {
    this.pinned.push(pinned);
    this.sendInTurns(pinned.snapshot, 0);
  }

  private sendInTurns(snapshot: DatabaseSnapshot, from: number): void {
    if (this.isDone_) return;
    const end = this.sendAhead(snapshot, from);
    if (end !== null) setImmediate(() => this.sendInTurns(snapshot, end));
    else this.worker.post({ type: "snapshot", id: this.id, snapshot: this.worker.snapshots.encode(snapshot) });
  }

  /** The place up to which the list of tables was sent ahead of the snapshot; null: the rest goes with it. */
  private sendAhead(snapshot: DatabaseSnapshot, from: number): number | null {
    const part = this.worker.snapshots.ahead(snapshot, from);
    if (part !== null) this.worker.post({ type: "ahead", tables: part.tables });
    return part?.end ?? null;
  }

  credit(bytes: number): void {
    if (!this.isDone_) this.worker.post({ type: "credit", id: this.id, bytes });
  }

  /** Nobody wants it any more: the worker is told, also in the midst of its work. */
  stop(): void {
    if (this.isDone_ || this.stoppedMs_ !== null) return;
    this.stoppedMs_ = this.worker.nowMs();
    if (this.place !== null) this.worker.words.stop(this.place);
    this.worker.post({ type: "cancel", id: this.id });
  }

  /** True: the worker had not begun it, and never will. */
  withdraw(): boolean {
    return !this.isDone_ && this.place !== null && this.worker.words.withdraw(this.place);
  }

  /** Whether the worker may have begun it. */
  get mayHaveBegun(): boolean {
    return this.place === null || this.worker.words.hasBegun(this.place);
  }

  /** The worker has said its last word, or is gone. */
  end(): void {
    if (this.isDone_) return;
    this.isDone_ = true;
    this.dropEarly();
    for (const pinned of this.pinned.splice(0)) pinned.release();
    if (this.place !== null) this.worker.words.giveBack(this.place);
    this.onDone();
  }
}
