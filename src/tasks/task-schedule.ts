// The progress of one task: which runs are due, which are active, and until when all have ended.
import type { RequestedRun, Task, TaskState } from "../metadata/resources/tasks.ts";
import { secondsText } from "./run-store.ts";
import { readTaskOptions, type TaskOptions } from "./script/options.ts";
import type { RunOutcome, TaskExecution } from "./task-execution.ts";

/** So far the clock may go back and the runs that were started still count; further, the same times have their runs again. */
const STEP_BACK_MS_MAX = 60_000;

/** A run that may start. `request`: a client asked for it. */
export interface DueRun {
  readonly scheduledForMs: number;
  readonly request: RequestedRun | null;
}

/** The schedule of one task. All times are milliseconds since 1970. */
export class TaskSchedule {
  readonly running = new Map<string, TaskExecution>();
  /** In the order of the requests, without active ones. */
  readonly requests: RequestedRun[];
  private readonly options: TaskOptions | null;
  /** Runs for times up to this one were started. */
  private startedMs: number;
  private completedMs: number;
  /** Times after `completedMs` whose runs have ended. */
  private readonly ahead: Set<number>;
  /** Times of active scheduled runs. */
  private readonly open = new Set<number>();
  /** Null: never. */
  private nextMs: number | null;
  private last: Pick<TaskState, "lastRunStatus" | "lastRunError" | "lastSuccess">;

  constructor(
    readonly task: Task,
    { latestCompleted, doneAhead, ...last }: TaskState,
    requests: readonly RequestedRun[],
  ) {
    this.options = optionsOf(task);
    this.completedMs = this.startedMs = Date.parse(latestCompleted);
    this.ahead = new Set(doneAhead.map((time) => Date.parse(time)));
    this.requests = [...requests];
    this.last = last;
    this.nextMs = this.following();
  }

  /** Start of the next scheduled run; null: never. */
  get dueMs(): number | null {
    return this.nextMs === null ? null : this.nextMs + this.options!.offsetMs;
  }

  get attemptsMax(): number {
    return this.options?.retry ?? 1;
  }

  get lastSuccess(): string | null {
    return this.last.lastSuccess;
  }

  /** Earliest start of the run for this time. */
  startOf(scheduledForMs: number): number {
    return scheduledForMs + (this.options?.offsetMs ?? 0);
  }

  /** Takes over the active runs of the task as it was before a change; due runs follow them. */
  takeOver({ running, open, startedMs, last }: TaskSchedule): void {
    for (const [id, run] of running) this.running.set(id, run);
    for (const ms of open) this.open.add(ms);
    this.startedMs = Math.max(this.startedMs, startedMs);
    this.last = last;
    this.nextMs = this.following();
  }

  /** Begins again at this moment if runs for much later times were started: the clock was ahead. */
  followClock(nowMs: number): void {
    const earlyMs = Math.max(0, -(this.options?.offsetMs ?? 0));
    if (this.startedMs - earlyMs - nowMs <= STEP_BACK_MS_MAX) return;
    this.startedMs = this.completedMs = nowMs;
    this.ahead.clear();
    this.open.clear();
    this.nextMs = this.following();
  }

  /** Returns the next run, marked as started, if one is due and the task may start another. */
  take(nowMs: number): DueRun | null {
    if (this.running.size >= (this.options?.concurrency ?? 1)) return null;
    const request = this.requests.shift();
    if (request !== undefined) return { scheduledForMs: Date.parse(request.scheduledFor), request };
    const { dueMs, nextMs } = this;
    if (dueMs === null || dueMs > nowMs) return null;
    this.startedMs = nextMs!;
    this.open.add(nextMs!);
    this.nextMs = this.following();
    return { scheduledForMs: nextMs!, request: null };
  }

  /** Returns the state to store after a run has ended. */
  ended({ scheduledForMs, request }: DueRun, { run: { status }, error }: RunOutcome): TaskState {
    if (request === null && this.open.delete(scheduledForMs)) {
      this.ahead.add(scheduledForMs);
      const firstOpen = Math.min(...this.open, Number.POSITIVE_INFINITY);
      for (const ms of [...this.ahead].sort((a, b) => a - b)) {
        if (ms > firstOpen) break;
        this.completedMs = Math.max(this.completedMs, ms);
        this.ahead.delete(ms);
      }
    }
    const lastSuccess = status === "success" ? secondsText(scheduledForMs) : this.last.lastSuccess;
    this.last = { lastRunStatus: status as NonNullable<TaskState["lastRunStatus"]>, lastRunError: error, lastSuccess };
    return {
      ...this.last,
      latestCompleted: secondsText(this.completedMs),
      doneAhead: [...this.ahead].sort((a, b) => a - b).map(secondsText),
    };
  }

  /** The earliest started time whose run has not ended. */
  private following(): number | null {
    if (this.options === null || this.task.status !== "active") return null;
    let ms = this.options.schedule.next(this.startedMs);
    while (ms !== null && this.ahead.has(ms)) ms = this.options.schedule.next(ms);
    return ms;
  }
}

/** Null for a script that a version with other rules stored. */
function optionsOf({ flux }: Task): TaskOptions | null {
  try {
    return readTaskOptions(flux, true);
  } catch {
    return null;
  }
}
