// One run of a task's script, with the permissions of the task's owner.

import { packageJson } from "../flux/parse/json.ts";
import { parseFile } from "../flux/parse/parser.ts";
import type { Principal } from "../metadata/access/principal.ts";
import type { RunEvent, TaskRun } from "../metadata/resources/task-runs.ts";
import type { Task } from "../metadata/resources/tasks.ts";
import { TsdbError } from "../model/errors.ts";
import type { FluxDialect } from "../model/query/flux.ts";
import type { QueryAnswer } from "../model/query/query.ts";
import { type Clock, pause } from "../triggers/clock.ts";
import { shortened } from "./run-store.ts";

export interface ScriptToRun {
  readonly text: string;
  readonly task: "run" | "rehearse";
  readonly nowNs: bigint;
  readonly dialect: FluxDialect;
  readonly extern: string | null;
  readonly ast: null;
}

export interface ExecutionParts {
  readonly clock: Clock;
  /** The owner's principal when the run starts. */
  readonly principalOf: (userID: string) => Principal;
  /** Reports an error that the script did not cause. */
  readonly report: (error: unknown) => void;
  /** @throws what the script throws */
  readonly runScript: (
    sender: {
      readonly principal: Principal;
      readonly orgID: string;
      readonly signal: AbortSignal;
      /** Called when the script begins and ends to wait for other servers. */
      readonly onWaits: (waits: boolean) => void;
    },
    script: ScriptToRun,
  ) => Promise<QueryAnswer>;
}

export interface RunToMake {
  readonly id: string;
  readonly task: Task;
  readonly scheduledFor: string;
  readonly requestedAt: string | null;
  /** Maximum number of attempts. */
  readonly attemptsMax: number;
  /** The scheduled time of the last successful run; null: there was none. */
  readonly lastSuccess: string | null;
  /** A rehearsal reads what the run would read, and has no effects. */
  readonly mode: "run" | "rehearse";
}

export interface RunOutcome {
  readonly run: TaskRun;
  /** Shown with the task; null for a successful run. */
  readonly error: string | null;
}

const DIALECT: FluxDialect = { header: true, delimiter: ",", annotations: [] };
const TASKS_PACKAGE = "influxdata/influxdb/tasks";
const NS_PER_MS = 1_000_000n;
/** Of a message in the log. Scripts and their errors may be long, and one request shows the logs of 500 runs. */
const MESSAGE_LENGTH_MAX = 4096;
/** Pause before the second attempt; it grows with each further one. */
const RETRY_MS = 1000;
/** Another attempt fails too, until the script or the resource is changed. */
const UNRECOVERABLE = /could not find bucket|no such (?:user|organization)/;

/** Errors of tables, which come when results are read; others come when the script is evaluated. */
const LATE =
  /^(?:runtime error|partial write|unsupported (?:input|aggregate)|cannot represent the type|error in csv\.from\(\)|(?:GET|POST) ")/;

/** What the log of a run says of its error. */
export function failureText(error: string): string {
  return `${LATE.test(error) ? "could not execute task run" : "error exhausting result iterator"}: ${error}`;
}

/** A run in progress. */
export class TaskExecution {
  private readonly ending = new AbortController();
  private readonly log: RunEvent[] = [];
  private wasCanceled = false;
  private isWaiting_ = false;
  readonly startedAt: string;

  constructor(
    private readonly parts: ExecutionParts,
    readonly made: RunToMake,
    /** Called when `isWaiting` has changed. */
    private readonly onWaits: () => void,
  ) {
    this.startedAt = this.now();
  }

  /** True while it does nothing but wait: for other servers, or for its next attempt. */
  get isWaiting(): boolean {
    return this.isWaiting_;
  }

  /** The run as clients see it meanwhile. */
  get shown(): TaskRun {
    const { id, task, scheduledFor, requestedAt } = this.made;
    const { startedAt, log } = this;
    return {
      ...{ id, taskID: task.id, scheduledFor, requestedAt, startedAt, finishedAt: null, log: [...log] },
      status: this.wasCanceled ? "canceled" : "started",
    };
  }

  cancel(): void {
    this.wasCanceled = true;
    this.ending.abort();
  }

  /** The server stops: the run will be repeated. */
  abandon(): void {
    this.ending.abort();
  }

  /** Returns null for an abandoned run. */
  async run(): Promise<RunOutcome | null> {
    const { task, attemptsMax } = this.made;
    this.say(`Started task from script: ${JSON.stringify(shortened(task.flux, MESSAGE_LENGTH_MAX / 2))}`);
    for (let attempt = 1; ; attempt++) {
      const error = await this.attempt();
      if (this.wasCanceled) return this.canceled();
      if (this.ending.signal.aborted) return null;
      if (error === null) return this.ended("success", []);
      const text = failureText(error);
      if (UNRECOVERABLE.test(error)) {
        return this.ended("failed", [text, `Task encountered unrecoverable error, requires admin action: ${text}`]);
      }
      if (attempt >= attemptsMax) return this.ended("failed", [text]);
      this.say(`Attempt ${attempt} of ${attemptsMax} failed: ${text}`);
      this.setWaiting(true);
      await pause(this.parts.clock, RETRY_MS * attempt, this.ending.signal);
      this.setWaiting(false);
    }
  }

  /** Returns the error; null on success. */
  private async attempt(): Promise<string | null> {
    const { task, scheduledFor, lastSuccess, mode } = this.made;
    const principal = this.parts.principalOf(task.ownerID);
    const { signal } = this.ending;
    const nowNs = BigInt(Date.parse(scheduledFor)) * NS_PER_MS;
    try {
      const extern = lastSuccess !== null && task.flux.includes(TASKS_PACKAGE) ? lastSuccessOption(lastSuccess) : null;
      const script = { text: task.flux, task: mode, nowNs, dialect: DIALECT, extern, ast: null } as const;
      const onWaits = (waits: boolean) => this.setWaiting(waits);
      const { body } = await this.parts.runScript({ principal, orgID: task.orgID, signal, onWaits }, script);
      // the answer has no bytes and ends with the script
      if (!(body instanceof Uint8Array)) await new Response(body).arrayBuffer();
      return null;
    } catch (error) {
      if (error instanceof TsdbError) return error.message;
      this.parts.report(error);
      return "internal error";
    } finally {
      this.setWaiting(false);
    }
  }

  private setWaiting(isWaiting: boolean): void {
    if (isWaiting === this.isWaiting_) return;
    this.isWaiting_ = isWaiting;
    this.onWaits();
  }

  private ended(status: "success" | "failed", texts: readonly string[]): RunOutcome {
    this.say(`Completed(${status})`);
    for (const text of texts) this.say(text);
    // clients show the message before the last one
    const error = status === "success" ? null : (this.log.at(-2)?.message ?? "");
    return { run: { ...this.shown, status, finishedAt: this.now() }, error };
  }

  private canceled(): RunOutcome {
    this.say("Run canceled");
    return { run: { ...this.shown, status: "canceled", finishedAt: null }, error: "Run canceled" };
  }

  private say(message: string): void {
    this.log.push({ time: this.now(), message: shortened(message, MESSAGE_LENGTH_MAX) });
  }

  private now(): string {
    return new Date(this.parts.clock.nowMs()).toISOString();
  }
}

/** A file that precedes the script. */
function lastSuccessOption(time: string): string {
  const text = `import "${TASKS_PACKAGE}"\noption tasks.lastSuccessTime = ${time}`;
  return JSON.stringify(packageJson(parseFile(text), text));
}
