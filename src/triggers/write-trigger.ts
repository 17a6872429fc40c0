// A write trigger: one call for each group of frames that became durable together, or for several if it lags. Its position is the sequence
// up to which all frames are handled; later frames are delivered again after a crash.
import type { TriggerDef } from "../model/triggers.ts";
import type { PluginTable } from "../plugins/plugin-call.ts";
import { type Clock, pause } from "./clock.ts";
import type { LogFeed, LogRequest, LogRows } from "./log-feed.ts";
import { NOT_READY_PAUSE_MS, type TriggerCalls } from "./trigger-calls.ts";

export interface WriteTriggerParts {
  readonly trigger: TriggerDef;
  readonly feed: LogFeed;
  readonly calls: TriggerCalls;
  readonly clock: Clock;
  readonly log: (level: "warn" | "error", text: string) => void;
  /** The trigger's database and table; null: its table does not exist. */
  readonly wanted: () => Pick<LogRequest, "databaseId" | "tableId"> | null;
  /** Resolves ids to names; deleted tables and unknown columns are omitted. */
  readonly named: (rows: LogRows) => PluginTable[];
  /** The newest frame that may contain rows for it. */
  readonly lastSequence: () => number;
  readonly durableSequence: () => number;
  /** Maximum concurrent calls; 1 unless the trigger is asynchronous. */
  readonly callsMax: number;
}

interface Delivery {
  readonly through: number;
  readonly depth: number;
  isDone: boolean;
}

/** Calls a plugin with the rows of the log. */
export class WriteTrigger {
  /** Frames up to here are handled. */
  position: number;
  /** Frames up to here are delivered to calls. */
  private begun: number;
  /** Running calls, in log order. */
  private readonly deliveries: Delivery[] = [];
  private isReading = false;
  /** There may be frames since the last look at the end of the log. */
  private isWoken = false;
  private hasToldOwn = false;
  private hasToldDeep = false;

  constructor(
    private readonly parts: WriteTriggerParts,
    position: number,
  ) {
    this.position = position;
    this.begun = position;
  }

  /** Moves the position over durable frames without rows for the trigger, which do not wake it. */
  settle(): void {
    const { lastSequence, durableSequence } = this.parts;
    if (!this.isReading && this.deliveries.length === 0 && lastSequence() <= this.begun) this.passed(durableSequence());
  }

  /** The trigger depth of the running calls; their writes have a depth of one more. */
  get depth(): number {
    return Math.max(0, ...this.deliveries.map(({ depth }) => depth));
  }

  /** Call it when there may be new durable frames with rows for the trigger. */
  wake(): void {
    this.isWoken = true;
    if (!this.isReading && !this.parts.calls.signal.aborted) void this.deliverWhileWoken();
  }

  /** Frames up to `sequence` are skipped: the log no longer retains them. */
  skip(sequence: number): void {
    this.begun = Math.max(this.begun, sequence);
    this.position = Math.max(this.position, sequence);
  }

  private async deliverWhileWoken(): Promise<void> {
    this.isReading = true;
    try {
      // no `await` between the last look and the end: a call of `wake` in between would be without effect
      while (this.isWoken) {
        this.isWoken = false;
        await this.deliver();
      }
    } finally {
      this.isReading = false;
    }
  }

  private async deliver(): Promise<void> {
    const { calls, callsMax, wanted, lastSequence, durableSequence } = this.parts;
    while (!calls.signal.aborted && this.deliveries.filter(({ isDone }) => !isDone).length < callsMax) {
      const through = durableSequence();
      if (through <= this.begun) return;
      const owner = wanted();
      if (owner === null || lastSequence() <= this.begun) {
        this.passed(through);
        return;
      }
      const rows = await this.read({ ...owner, after: this.begun, through });
      if (rows === null) return;
      this.tell(rows);
      const tables = this.parts.named(rows);
      if (tables.length === 0) this.passed(rows.through);
      else await this.begin(tables, rows);
    }
  }

  /** Null: the trigger was stopped. */
  private async read(request: Omit<LogRequest, "triggerId">): Promise<LogRows | null> {
    const { feed, trigger, calls, clock, log } = this.parts;
    for (;;) {
      if (calls.signal.aborted) return null;
      try {
        return await feed.read({ ...request, triggerId: trigger.id });
      } catch (error) {
        if (calls.signal.aborted) return null;
        log("error", `cannot read the write-ahead log: ${(error as Error).message}; will try again`);
        await pause(clock, NOT_READY_PAUSE_MS, calls.signal);
      }
    }
  }

  private async begin(tables: readonly PluginTable[], { through, depth }: LogRows): Promise<void> {
    const delivery: Delivery = { through, depth, isDone: false };
    this.deliveries.push(delivery);
    this.begun = through;
    const call = this.run(tables, delivery);
    if (this.parts.callsMax === 1) await call;
    else void call.then(() => this.wake());
  }

  private async run(tables: readonly PluginTable[], delivery: Delivery): Promise<void> {
    const result = await this.parts.calls.run({ kind: "writes", tables }, { waits: true });
    // a stopped call and its successors are delivered again at the next start
    if (result.kind === "stopped") return;
    delivery.isDone = true;
    while (this.deliveries[0]?.isDone) this.position = Math.max(this.position, this.deliveries.shift()!.through);
    if (this.deliveries.length === 0) this.position = Math.max(this.position, this.begun);
  }

  /** The frames contain no rows for the trigger. */
  private passed(through: number): void {
    this.begun = through;
    if (this.deliveries.length === 0) this.position = through;
  }

  private tell({ hasOwn, hasTooDeep, goneBefore }: LogRows): void {
    const { log } = this.parts;
    if (goneBefore !== null) log("error", `rows were passed over: frames ${this.begun + 1} to ${goneBefore - 1} of the log are gone`);
    if (hasOwn && !this.hasToldOwn) {
      log("warn", "writes rows that it is triggered by: they are stored, and the trigger does not see its own rows");
      this.hasToldOwn = true;
    }
    if (hasTooDeep && !this.hasToldDeep) {
      log("error", "triggers call each other in a circle by what they write: rows behind 16 triggers are stored and call no more of them");
      this.hasToldDeep = true;
    }
  }
}
