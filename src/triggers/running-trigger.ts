// One enabled trigger: its calls and their source (writes, schedule or requests).
import type { TriggerDef, TriggerSpec } from "../model/triggers.ts";
import { RequestTrigger } from "./request-trigger.ts";
import { scheduleOf } from "./schedule.ts";
import { ScheduleTrigger } from "./schedule-trigger.ts";
import { TriggerCalls, type TriggerCallsParts } from "./trigger-calls.ts";
import { WriteTrigger, type WriteTriggerParts } from "./write-trigger.ts";

export interface RunningTriggerParts extends TriggerCallsParts {
  readonly spec: TriggerSpec;
  readonly writes: Pick<WriteTriggerParts, "feed" | "wanted" | "named" | "lastSequence" | "durableSequence" | "callsMax">;
  /** Initial position of a write trigger. */
  readonly position: number;
}

/** One enabled trigger. Owned: call `stop`. */
export class RunningTrigger {
  readonly trigger: TriggerDef;
  readonly database: string;
  readonly calls: TriggerCalls;
  readonly writes: WriteTrigger | null;
  /** Of a write trigger; null: all tables. */
  readonly table: string | null;
  readonly requests: RequestTrigger | null;
  private readonly schedule: ScheduleTrigger | null;

  constructor(parts: RunningTriggerParts) {
    const { trigger, database, spec, clock, log, position } = parts;
    const { runAsync } = trigger;
    this.trigger = trigger;
    this.database = database;
    const calls = new TriggerCalls(parts);
    this.calls = calls;
    const schedule = scheduleOf(spec);
    this.schedule = schedule === null ? null : new ScheduleTrigger({ schedule, runAsync, clock, calls, log });
    this.writes = spec.kind === "writes" ? new WriteTrigger({ trigger, calls, clock, log, ...parts.writes }, position) : null;
    this.table = spec.kind === "writes" ? spec.table : null;
    this.requests = spec.kind === "request" ? new RequestTrigger(database, spec.path, calls) : null;
  }

  start(): void {
    this.schedule?.start();
    this.writes?.wake();
  }

  /** Resolves when the plugin's processes have ended. */
  stop(): Promise<void> {
    this.schedule?.stop();
    return this.calls.stop();
  }
}
