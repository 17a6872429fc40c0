// A trigger that sees rows of the log: one call for each group of frames that became durable together, or for several when it is behind.
// Its position is the sequence up to which all frames are handled; what is behind it is delivered again after a crash.
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
  /** What the trigger is for; null: nothing that could have rows at the moment. */
  readonly wanted: () => Pick<LogRequest, "databaseId" | "tableId"> | null;
  /** Names in place of ids; tables and columns that are gone are left out. */
  readonly named: (rows: LogRows) => PluginTable[];
  /** The newest frame that can have rows for it. */
  readonly lastSequence: () => number;
  readonly durableSequence: () => number;
  /** Calls at a time; 1 unless the trigger is asynchronous. */
  readonly callsMax: number;
}

interface Delivery {
  readonly through: number;
  readonly depth: number;
  isDone: boolean;
}

export class WriteTrigger {
  /** Frames up to here are handled. */
  position: number;
  /** Frames up to here are in calls that have begun. */
  private begun: number;
  /** Calls under way, in the order of the log. */
  private readonly deliveries: Delivery[] = [];
  private isReading = false;
  private hasToldOwn = false;
  private hasToldDeep = false;

  constructor(
    private readonly parts: WriteTriggerParts,
    position: number,
  ) {
    this.position = position;
    this.begun = position;
  }

  /** Of what runs: what it writes stands behind one trigger more. */
  get depth(): number {
    return Math.max(0, ...this.deliveries.map(({ depth }) => depth));
  }

  /** There may be new durable frames. */
  wake(): void {
    if (this.isReading || this.parts.calls.signal.aborted) return;
    this.isReading = true;
    void this.deliver().finally(() => {
      this.isReading = false;
    });
  }

  /** The log has given up frames up to `sequence`, which the trigger has not seen. */
  skip(sequence: number): void {
    this.begun = Math.max(this.begun, sequence);
    this.position = Math.max(this.position, sequence);
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
    // a call that was stopped comes again at the next start, and with it those behind it
    if (result.kind === "stopped") return;
    delivery.isDone = true;
    while (this.deliveries[0]?.isDone) this.position = Math.max(this.position, this.deliveries.shift()!.through);
    if (this.deliveries.length === 0) this.position = Math.max(this.position, this.begun);
  }

  /** Nothing in them is for the trigger. */
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
