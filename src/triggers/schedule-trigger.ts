// A scheduled trigger. Firings missed while the server is down or the previous run is active are not repeated.
import type { Clock } from "./clock.ts";
import type { Schedule } from "./schedule.ts";
import type { TriggerCalls } from "./trigger-calls.ts";

/** The wall clock can be set, so it is checked at least this often. */
const WAIT_MS_MAX = 30_000;

export interface ScheduleTriggerParts {
  readonly schedule: Schedule;
  readonly runAsync: boolean;
  readonly clock: Clock;
  readonly calls: TriggerCalls;
  readonly log: (level: "warn", text: string) => void;
}

/** Calls a plugin at the times of a schedule. */
export class ScheduleTrigger {
  private cancel: () => void = () => {};
  private isRunning = false;
  /** Firings skipped because the previous run was active. */
  private missed = 0;

  constructor(private readonly parts: ScheduleTriggerParts) {}

  start(): void {
    const { schedule, clock } = this.parts;
    this.wait(schedule.next(clock.nowMs()));
  }

  stop(): void {
    this.cancel();
  }

  private wait(nextMs: number | null): void {
    if (nextMs === null) return;
    const { schedule, clock } = this.parts;
    const leftMs = nextMs - clock.nowMs();
    this.cancel = clock.after(Math.max(0, Math.min(leftMs, WAIT_MS_MAX)), () => {
      const nowMs = clock.nowMs();
      if (nowMs >= nextMs) {
        this.fire(nextMs);
        this.wait(schedule.next(nowMs));
      } else {
        // the clock was set back: an earlier time may be due
        const again = schedule.next(nowMs);
        this.wait(again === null ? nextMs : Math.min(nextMs, again));
      }
    });
  }

  private fire(timeMs: number): void {
    const { runAsync } = this.parts;
    if (this.isRunning && !runAsync) this.missed++;
    else void this.run(timeMs);
  }

  private async run(timeMs: number): Promise<void> {
    const { calls, log } = this.parts;
    this.isRunning = true;
    await calls.run({ kind: "schedule", timeMs });
    this.isRunning = false;
    if (this.missed === 0 || calls.signal.aborted) return;
    log("warn", `the run for ${new Date(timeMs).toISOString()} took so long that ${this.missed} times were passed over`);
    this.missed = 0;
  }
}
