// Finished runs, as points in the bucket `_tasks` of their organization.
import type { BucketService } from "../metadata/resources/buckets.ts";
import type { RunEvent, RunFilter, RunOwner, RunStatus, TaskRun } from "../metadata/resources/task-runs.ts";
import { databaseIdOf } from "../metadata/store/ids.ts";
import { type ErrorKind, TsdbError } from "../model/errors.ts";
import type { QueryService } from "../model/query/query.ts";
import type { Steps } from "../model/steps.ts";
import { Precision } from "../model/time/precision.ts";
import { Turns } from "../model/turns.ts";
import type { WriteService } from "../model/write.ts";

export interface RunStoreParts {
  readonly buckets: Pick<BucketService, "findByName">;
  readonly writes: WriteService;
  readonly queries: QueryService;
  readonly warn: (message: string, details: Readonly<Record<string, unknown>>) => void;
}

/** A finished run to store. */
export interface EndedRun {
  readonly run: TaskRun;
  readonly orgID: string;
  /** Nanoseconds since 1970; unique among all runs. */
  readonly startedNs: bigint;
  readonly name: string;
  readonly flux: string;
}

interface Row {
  readonly runID: string;
  readonly status: RunStatus;
  readonly scheduledFor: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly requestedAt: string;
  readonly logs: string;
}

const BUCKET = "_tasks";
const TABLE = "runs";
const COLUMNS = ["runID", "status", "scheduledFor", "startedAt", "finishedAt", "requestedAt", "logs"] as const;
/** Longer scripts are truncated: each run's point contains one. */
const SCRIPT_LENGTH_MAX = 64 << 10;
/** Of the whole server, and over sooner or later. */
const PASSING: ReadonlySet<ErrorKind> = new Set(["overloaded", "unavailable", "no_space", "io"]);

/** Writes and reads finished runs. */
export class RunStore {
  constructor(private readonly parts: RunStoreParts) {}

  /** Skips runs of deleted organizations, and what the bucket does not take: clients that may write into it can give its columns other
   *  types, and others' runs do not wait for that. @throws TsdbError overloaded, unavailable, no_space, io */
  async write(ended: readonly EndedRun[]): Promise<void> {
    for (const [orgID, runs] of Map.groupBy(ended, (each) => each.orgID)) {
      try {
        await this.writeOf(orgID, runs);
      } catch (error) {
        if (!(error instanceof TsdbError) || PASSING.has(error.kind)) throw error;
        this.warnOf(orgID, runs.length, error.message);
      }
    }
  }

  private async writeOf(orgID: string, runs: readonly EndedRun[]): Promise<void> {
    const bucket = this.parts.buckets.findByName(orgID, BUCKET);
    if (bucket === null) return;
    const bytes = Buffer.from(runs.map(lineOf).join("\n"));
    const body = await this.parts.writes.receive(bytes.byteLength);
    try {
      body.append(bytes);
      const databaseId = databaseIdOf(bucket.id)!;
      const { lineErrors, rejectedCount } = await body.write({
        ...{ database: bucket.name, databaseId, precision: Precision.nanosecond, acceptPartial: true, noSync: false },
      });
      const [first] = lineErrors;
      if (first !== undefined) this.warnOf(orgID, rejectedCount, first.errorMessage);
    } finally {
      body.release();
    }
  }

  private warnOf(orgID: string, runs: number, reason: string): void {
    this.parts.warn(`runs of tasks were not kept: the organization's bucket ${BUCKET} does not take them`, { orgID, runs, reason });
  }

  list({ id, orgID }: RunOwner, { afterMs, beforeMs, limit }: RunFilter): Promise<TaskRun[]> {
    const bound = (operator: string, ms: number | null) => (ms === null ? "" : ` AND "scheduledFor" ${operator} '${secondsText(ms)}'`);
    const conditions = `"taskID" = '${id}'${bound(">", afterMs)}${bound("<", beforeMs)}`;
    return this.read(id, orgID, `${conditions} ORDER BY "scheduledFor" DESC, time LIMIT ${limit}`);
  }

  async find({ id, orgID }: RunOwner, runID: string): Promise<TaskRun | null> {
    const [found] = await this.read(id, orgID, `"taskID" = '${id}' AND "runID" = '${runID}'`);
    return found ?? null;
  }

  /** Empty before the first run was stored. */
  private async read(taskID: string, orgID: string, condition: string): Promise<TaskRun[]> {
    const bucket = this.parts.buckets.findByName(orgID, BUCKET);
    if (bucket === null) return [];
    const statement = `SELECT ${COLUMNS.map((name) => `"${name}"`).join(", ")} FROM ${TABLE} WHERE ${condition}`;
    const signal = new AbortController().signal;
    try {
      const { body } = await this.parts.queries.query({
        ...{ database: bucket.id, scope: { databaseId: () => databaseIdOf(bucket.id)! }, statement, params: {}, signal },
        ...{ format: "jsonl", queryType: "tasks" },
      });
      const lines = (await new Response(body).text()).split("\n").filter((line) => line !== "");
      return await new Turns(signal).run(runSteps(taskID, lines));
    } catch (error) {
      if (error instanceof TsdbError && error.message.includes(`table 'public.iox.${TABLE}' not found`)) return [];
      throw error;
    }
  }
}

function lineOf({ run, name, flux, startedNs }: EndedRun): string {
  const fields = {
    ...{ runID: run.id, name, startedAt: run.startedAt ?? "", finishedAt: run.finishedAt ?? "", scheduledFor: run.scheduledFor },
    ...{ requestedAt: run.requestedAt ?? "", flux: shortened(flux), logs: JSON.stringify(run.log) },
  };
  const written = Object.entries(fields).map(([key, value]) => `${key}="${value.replace(/["\\]/g, "\\$&")}"`);
  return `${TABLE},status=${run.status},taskID=${run.taskID} ${written.join(",")} ${startedNs}`;
}

/** Logs of many runs are long: a run a step. */
function* runSteps(taskID: string, lines: readonly string[]): Steps<TaskRun[]> {
  const runs: TaskRun[] = [];
  for (const line of lines) {
    runs.push(runOf(taskID, JSON.parse(line) as Row));
    yield;
  }
  return runs;
}

function runOf(taskID: string, row: Row): TaskRun {
  const time = (text: string) => (text === "" ? null : text);
  return {
    ...{ id: row.runID, taskID, status: row.status, scheduledFor: row.scheduledFor },
    ...{ startedAt: time(row.startedAt), finishedAt: time(row.finishedAt), requestedAt: time(row.requestedAt) },
    log: JSON.parse(row.logs) as RunEvent[],
  };
}

/** The stored form of a text. */
export function shortened(text: string, lengthMax = SCRIPT_LENGTH_MAX): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`;
}

/** RFC 3339 in whole seconds. */
export function secondsText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
