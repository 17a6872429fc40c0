// Runs tasks when they are due or when a client requests it. The result of a run is stored in two steps: first its points, then the
// progress of the task. A server that stops between them repeats the runs that were in progress, and no others.

import type { RunFilter, RunOwner, TaskRun, TaskRunService } from "../metadata/resources/task-runs.ts";
import type { TaskState, Tasks } from "../metadata/resources/tasks.ts";
import { PartIds } from "../metadata/store/ids.ts";
import { TsdbError } from "../model/errors.ts";
import { MonotonicClock } from "../model/time/monotonic-clock.ts";
import { type RehearsalParts, Rehearsals } from "./rehearsals.ts";
import { type EndedRun, RunStore, type RunStoreParts, secondsText } from "./run-store.ts";
import { type ExecutionParts, TaskExecution } from "./task-execution.ts";
import { type DueRun, TaskSchedule } from "./task-schedule.ts";

export interface SchedulerParts extends ExecutionParts, RunStoreParts, RehearsalParts {
  readonly tasks: Tasks;
  /** False: nothing runs, requested runs included. */
  readonly isOn: boolean;
}

/** Numbers for metrics. */
export interface SchedulerStats {
  readonly active: number;
  readonly ended: Readonly<Record<"success" | "failed" | "canceled", number>>;
  /** Seconds between due time and start, summed over all runs. */
  readonly lagSeconds: number;
  readonly runSeconds: number;
  /** Active runs as a share of the limits. */
  readonly busyShare: number;
  /** How often a task was scheduled, and how often it was removed from the schedule. */
  readonly scheduledCount: number;
  readonly releasedCount: number;
}

interface EndedTask {
  readonly kept: EndedRun;
  readonly state: TaskState;
  readonly requestID: string | null;
}

/** Runs that compute at a time. */
const RUNS_MAX = 32;
/** Those included that wait for other servers or for their next attempt: a dead webhook keeps each of its runs for 30 s. */
const RUNS_WITH_WAITING_MAX = 256;
/** Pending requests of one task. */
const REQUESTS_MAX = 1000;
/** The clock of the machine may be adjusted. */
const TICK_MS_MAX = 1000;
/** Delay after points or states could not be written. */
const WRITE_AGAIN_MS = 1000;

/** Owned: call `stop`. */
export class TaskScheduler implements TaskRunService {
  private readonly schedules = new Map<string, TaskSchedule>();
  private readonly store: RunStore;
  private readonly rehearsals: Rehearsals;
  private readonly making = new Set<Promise<void>>();
  private ended: EndedTask[] = [];
  /** Runs whose result is not stored yet. */
  private readonly unkept = new Map<string, TaskRun>();
  private saving: Promise<void> | null = null;
  private cancelTimer = () => {};
  private isStopped = false;
  private generation = -1;
  /** Ids of scheduled runs. */
  private readonly runIds = new PartIds();
  /** Points of equal time would be one row. */
  private readonly startTimes: MonotonicClock;
  private readonly counts = { success: 0, failed: 0, canceled: 0 };
  private lagSeconds = 0;
  private runSeconds = 0;
  private scheduledCount = 0;
  private releasedCount = 0;
  /** Runs in progress, */
  private active = 0;
  /** and those of them that wait. */
  private waiting = 0;

  constructor(private readonly parts: SchedulerParts) {
    this.store = new RunStore(parts);
    this.startTimes = new MonotonicClock(() => parts.clock.nowMs());
    this.rehearsals = new Rehearsals(parts, (taskID, signal) => this.rehearse(taskID, signal));
  }

  get stats(): SchedulerStats {
    const { active, lagSeconds, runSeconds, scheduledCount, releasedCount } = this;
    return { active, ended: { ...this.counts }, lagSeconds, runSeconds, busyShare: this.busyShare, scheduledCount, releasedCount };
  }

  /** From 1 on no run starts; runs that have waited are not stopped, so there may be more. */
  private get busyShare(): number {
    return Math.max((this.active - this.waiting) / RUNS_MAX, this.active / RUNS_WITH_WAITING_MAX);
  }

  start(): void {
    if (!this.parts.isOn) return;
    // after the change, which may still be rolled back
    this.parts.tasks.onChange((id) =>
      queueMicrotask(() => {
        this.follow(id);
        this.tick();
      }),
    );
    this.tick();
  }

  /** Ends active runs, which are repeated after the next start. Stores the finished ones. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.cancelTimer();
    this.rehearsals.stop();
    for (const { running } of this.schedules.values()) for (const run of running.values()) run.abandon();
    await this.settled();
  }

  /** Resolves when nothing runs and all results are stored. */
  async settled(): Promise<void> {
    while (this.making.size > 0 || this.saving !== null) await Promise.all([...this.making, this.saving]);
  }

  async list(task: RunOwner, filter: RunFilter): Promise<TaskRun[]> {
    const { afterMs, beforeMs, limit } = filter;
    const kept = await this.store.list(task, filter);
    const waiting = this.inMemory(task.id).filter(({ scheduledFor }) => {
      const ms = Date.parse(scheduledFor);
      return (afterMs === null || ms > afterMs) && (beforeMs === null || ms < beforeMs);
    });
    const known = new Set(kept.map(({ id }) => id));
    const all = [...kept, ...waiting.filter(({ id }) => !known.has(id))];
    return all.sort((a, b) => (a.scheduledFor === b.scheduledFor ? 0 : a.scheduledFor < b.scheduledFor ? 1 : -1)).slice(0, limit);
  }

  async get(task: RunOwner, runID: string): Promise<TaskRun> {
    const found = this.inMemory(task.id).find(({ id }) => id === runID) ?? (await this.store.find(task, runID));
    if (found === null) throw runNotFound();
    return found;
  }

  /** @param isRepeat of a run that may still wait itself */
  async force(task: RunOwner, scheduledForMs: number | null, isRepeat = false): Promise<TaskRun> {
    const { tasks } = this.parts;
    this.checkActive(task);
    if (tasks.requestedRuns(task.id).length >= REQUESTS_MAX) {
      throw new TsdbError("limit_exceeded", `${REQUESTS_MAX} runs of the task wait already`);
    }
    const run = await tasks.addRun(task.id, scheduledForMs === null ? null : secondsText(scheduledForMs), isRepeat);
    const schedule = this.schedules.get(task.id);
    if (schedule !== undefined && !schedule.requests.some(({ id }) => id === run.id)) schedule.requests.push(run);
    queueMicrotask(() => this.tick());
    return scheduledRun(run);
  }

  async retry(task: RunOwner, runID: string): Promise<TaskRun> {
    // of an inactive task also where it has no such run
    this.checkActive(task);
    const { scheduledFor } = await this.get(task, runID);
    return this.force(task, Date.parse(scheduledFor), true);
  }

  private checkActive({ id }: RunOwner): void {
    if (this.parts.tasks.get(id).status !== "active") throw new TsdbError("bad_request", "inactive task");
  }

  async cancel(task: RunOwner, runID: string): Promise<void> {
    const schedule = this.schedules.get(task.id);
    const run = schedule?.running.get(runID);
    if (run !== undefined) return run.cancel();
    if (this.unkept.has(runID)) return;
    const at = schedule?.requests.findIndex(({ id }) => id === runID) ?? -1;
    if (at >= 0) schedule!.requests.splice(at, 1);
    const { tasks } = this.parts;
    if (!tasks.requestedRuns(task.id).some(({ id }) => id === runID)) throw runNotFound();
    await tasks.saveRuns(new Map(), [runID]);
  }

  /** Starts due runs, one task after the other, and sets the timer. */
  private tick(): void {
    if (this.isStopped || !this.parts.isOn) return;
    this.cancelTimer();
    const { tasks, clock } = this.parts;
    if (tasks.generation !== this.generation) this.followAll();
    const nowMs = clock.nowMs();
    for (const schedule of this.schedules.values()) schedule.followClock(nowMs);
    for (let hasStarted = true; hasStarted && this.busyShare < 1; ) {
      hasStarted = false;
      for (const [id, schedule] of this.schedules) {
        if (this.busyShare >= 1) break;
        const due = schedule.take(nowMs);
        if (due === null) continue;
        // a task that had its turn goes to the end of the queue
        this.schedules.delete(id);
        this.schedules.set(id, schedule);
        this.begin(schedule, due, nowMs);
        hasStarted = true;
      }
    }
    this.wait(nowMs);
  }

  /** Waits for the next due run; at the limit, the end of a run calls this again. */
  private wait(nowMs: number): void {
    let waitMs = TICK_MS_MAX;
    if (this.busyShare < 1) {
      for (const { dueMs } of this.schedules.values()) if (dueMs !== null && dueMs > nowMs) waitMs = Math.min(waitMs, dueMs - nowMs);
    }
    this.cancelTimer = this.parts.clock.after(waitMs, () => this.tick());
  }

  private followAll(): void {
    const { tasks } = this.parts;
    this.generation = tasks.generation;
    const found = new Set<string>();
    for (const { id } of tasks.all()) {
      found.add(id);
      this.follow(id);
    }
    for (const id of this.schedules.keys()) if (!found.has(id)) this.follow(id);
  }

  /** A changed task continues from its stored state; its active runs continue. Those of a deleted task are canceled. */
  private follow(id: string): void {
    const { tasks } = this.parts;
    const before = this.schedules.get(id);
    const task = tasks.find(id);
    if (task === null) {
      for (const run of before?.running.values() ?? []) run.cancel();
      if (this.schedules.delete(id)) this.releasedCount += 1;
      return;
    }
    const onTheirWay = new Set(before === undefined ? [] : before.running.keys());
    const requests = tasks.requestedRuns(id).filter((run) => !onTheirWay.has(run.id) && !this.unkept.has(run.id));
    const schedule = new TaskSchedule(task, tasks.state(id), requests);
    if (before !== undefined) schedule.takeOver(before);
    this.schedules.set(id, schedule);
    this.scheduledCount += 1;
    if (task.status === "active" && task.flux !== before?.task.flux) this.rehearsals.add(id, task.flux);
  }

  private begin(schedule: TaskSchedule, due: DueRun, nowMs: number): void {
    const { task } = schedule;
    const { request, scheduledForMs } = due;
    const toMake = {
      ...{ id: request?.id ?? this.runIds.next(nowMs), task, attemptsMax: schedule.attemptsMax, lastSuccess: schedule.lastSuccess },
      ...{ scheduledFor: secondsText(scheduledForMs), requestedAt: request?.requestedAt ?? null },
      mode: "run" as const,
    };
    const run = new TaskExecution(this.parts, toMake, () => this.waits(run));
    if (request === null) this.lagSeconds += Math.max(0, nowMs - schedule.startOf(scheduledForMs)) / 1000;
    schedule.running.set(run.made.id, run);
    this.active++;
    const making = this.make(schedule, due, run, nowMs).finally(() => {
      this.making.delete(making);
      this.tick();
    });
    this.making.add(making);
  }

  /** A run that nobody sees: it writes nothing, and no outcome is stored. */
  private async rehearse(taskID: string, signal: AbortSignal): Promise<void> {
    const task = this.parts.tasks.find(taskID);
    if (task?.status !== "active") return;
    const scheduledFor = secondsText(this.parts.clock.nowMs());
    const toMake = { id: "", task, attemptsMax: 1, lastSuccess: null, scheduledFor, requestedAt: null, mode: "rehearse" } as const;
    const run = new TaskExecution({ ...this.parts, report: () => {} }, toMake, () => {});
    signal.addEventListener("abort", () => run.abandon());
    await run.run();
  }

  private waits({ isWaiting }: TaskExecution): void {
    const wasFull = this.busyShare >= 1;
    this.waiting += isWaiting ? 1 : -1;
    if (wasFull && this.busyShare < 1) this.tick();
  }

  private async make(schedule: TaskSchedule, due: DueRun, run: TaskExecution, startedMs: number): Promise<void> {
    const { id, task } = run.made;
    const startedNs = this.startTimes.nextNs();
    const outcome = await run.run().finally(() => this.active--);
    // the task may have changed meanwhile
    const current = this.schedules.get(task.id) ?? schedule;
    current.running.delete(id);
    if (outcome === null) return;
    this.runSeconds += (this.parts.clock.nowMs() - startedMs) / 1000;
    this.counts[outcome.run.status as keyof typeof this.counts] += 1;
    const state = current.ended(due, outcome);
    this.unkept.set(id, { ...run.shown, log: outcome.run.log });
    const kept = { run: outcome.run, orgID: task.orgID, startedNs, name: task.name, flux: task.flux };
    this.ended.push({ kept, state, requestID: due.request?.id ?? null });
    this.saving ??= this.save().finally(() => {
      this.saving = null;
    });
  }

  /** Stores all runs that finished meanwhile at once: one write of points and one entry of the catalog's log. */
  private async save(): Promise<void> {
    while (this.ended.length > 0) {
      const some = this.ended;
      this.ended = [];
      try {
        await this.store.write(some.map(({ kept }) => kept));
        const states = new Map(some.map(({ kept, state }) => [kept.run.taskID, state]));
        await this.parts.tasks.saveRuns(
          states,
          some.flatMap(({ requestID }) => requestID ?? []),
        );
        for (const { kept } of some) this.unkept.delete(kept.run.id);
      } catch (error) {
        this.ended = some.concat(this.ended);
        this.parts.warn("runs of tasks could not be kept, will try again", { runs: this.ended.length, reason: (error as Error).message });
        // runs that are not stored are repeated after the next start
        if (this.isStopped) return;
        await new Promise<void>((resolve) => void this.parts.clock.after(WRITE_AGAIN_MS, resolve));
      }
    }
  }

  /** Scheduled, active and not yet stored runs, in the order of their requests. */
  private inMemory(taskID: string): TaskRun[] {
    const schedule = this.schedules.get(taskID);
    const running = [...(schedule?.running.values() ?? [])].map((run) => run.shown);
    const unkept = [...this.unkept.values()].filter((run) => run.taskID === taskID);
    const requests = this.parts.isOn ? (schedule?.requests ?? []) : this.parts.tasks.requestedRuns(taskID);
    return [...unkept, ...running, ...requests.map(scheduledRun)];
  }
}

function scheduledRun(run: {
  readonly id: string;
  readonly taskID: string;
  readonly scheduledFor: string;
  readonly requestedAt: string;
}): TaskRun {
  return { ...run, status: "scheduled", startedAt: null, finishedAt: null, log: [] };
}

function runNotFound(): TsdbError {
  return new TsdbError("not_found", "run not found");
}
