// Runs of a task and their logs: below /api/v2/tasks/{taskID}.
import { Type as t } from "@sinclair/typebox";
import { parseTime } from "../../../flux/values/duration.ts";
import type { RunEvent, RunFilter, TaskRun } from "../../../metadata/resources/task-runs.ts";
import type { Task } from "../../../metadata/resources/tasks.ts";
import { readId } from "../../../metadata/store/ids.ts";
import { near, TsdbError } from "../../../model/errors.ts";
import { json } from "../app/answers.ts";
import { listAnswer } from "../app/list-answer.ts";
import { JsonBodies, type SearchParams } from "../app/params.ts";
import type { V2Call, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { DECODING, headed, readLimit, TASKS, taskIdOf, taskNeed, withHead } from "./calls.ts";

export const RunBody = t.Object({ scheduledFor: t.Optional(t.String()) });

const RUNS = `${TASKS}/:taskID/runs`;
const RUN = `${RUNS}/:runID`;
const LOGGED_RUNS_MAX = 500;

/** What RFC 3339 can write. */
const [FIRST_MS, LAST_MS] = [Date.parse("0000-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59Z")];

type Find = (call: V2Call, action: "read" | "write", failed: string) => Task;

/** Adds the routes. `find`: the task of a call, which the sender may read or write. */
export function addTaskRunRoutes(routes: V2Routes, services: V2Services, find: Find): V2Routes {
  const bodies = new JsonBodies(services.now);
  const runs = () => services.taskRuns();
  const force = "failed to force run: ";
  return routes
    .get(RUNS, async (call) => {
      taskIdOf(call);
      const { filter, hasAfter } = headed(DECODING, () => readFilter(call.search));
      const task = find(call, "read", "failed to find runs: ");
      // the vendor's server has none behind the id of a run
      const found = hasAfter ? [] : await runs().list(task, filter);
      const self = `${TASKS}/${task.id}/runs`;
      return listAnswer("runs", found.values().map(shownRun), { links: { self, task: `${TASKS}/${task.id}` } });
    })
    .post(RUNS, async (call) => {
      const id = taskIdOf(call);
      const body = await bodies.readIfGiven(RunBody, call.request, DECODING);
      const scheduledForMs =
        body.scheduledFor === undefined || body.scheduledFor === "" ? null : headed(DECODING, () => readRunTime(body.scheduledFor!));
      const task = headed(force, () => services.line().tasks.get(id));
      if (task.status !== "active") throw new TsdbError("bad_request", `${force}inactive task`);
      call.principal.require(taskNeed("write", task));
      return json(201, shownRun(await told(force, runs().force(task, scheduledForMs))));
    })
    .get(RUN, async (call) => {
      const [runID, task] = [runBelowTask(call), find(call, "read", "failed to find run: ")];
      return json(200, shownRun(await told("failed to find run: ", runs().get(task, runID))));
    })
    .delete(RUN, async (call) => {
      const [runID, task] = [runIdOf(call), find(call, "write", "failed to cancel run: ")];
      await told("failed to cancel run: ", runs().cancel(task, runID));
      return new Response(null);
    })
    .post(`${RUN}/retry`, async (call) => {
      const [runID, task] = [runBelowTask(call), find(call, "write", "failed to retry run: ")];
      return json(200, shownRun(await told("failed to retry run: ", runs().retry(task, runID))));
    })
    .get(`${RUN}/logs`, async (call) => {
      const [runID, task] = [runBelowTask(call), find(call, "read", "failed to find task logs: ")];
      return logAnswer([await told("failed to find task logs: ", runs().get(task, runID))]);
    })
    .get(`${TASKS}/:taskID/logs`, async (call) => {
      const task = find(call, "read", "failed to find task logs: ");
      return logAnswer(await runs().list(task, { afterMs: null, beforeMs: null, limit: LOGGED_RUNS_MAX }));
    });
}

/** As recorded, the task's id is told first. @throws TsdbError bad_request */
function runBelowTask(call: V2Call): string {
  taskIdOf(call);
  return runIdOf(call);
}

/** @throws TsdbError bad_request */
function runIdOf({ params }: V2Call): string {
  return headed(DECODING, () => readId(params["runID"]!));
}

async function told<T>(head: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw withHead(head, error);
  }
}

/** @throws TsdbError bad_request */
function readFilter(search: SearchParams): { readonly filter: RunFilter; readonly hasAfter: boolean } {
  const limit = readLimit(search, "limit", "run limit is out of bounds,");
  const hasAfter = search.id("after") !== undefined;
  const bound = (name: string) => {
    const text = search.get(name);
    return text === undefined ? null : readTime(text);
  };
  const [afterMs, beforeMs] = [bound("afterTime"), bound("beforeTime")];
  if (afterMs !== null && beforeMs !== null && beforeMs <= afterMs) {
    throw new TsdbError("bad_request", "beforeTime must be later than afterTime");
  }
  // bounds are compared as texts, with four digits of the year
  const within = (ms: number | null) => (ms === null ? null : Math.min(Math.max(ms, FIRST_MS), LAST_MS));
  return { filter: { afterMs: within(afterMs), beforeMs: within(beforeMs), limit }, hasAfter };
}

/** Of a run: its year has four digits in UTC too, whatever the zone. @throws TsdbError bad_request */
function readRunTime(text: string): number {
  const ms = readTime(text);
  if (ms < FIRST_MS || ms > LAST_MS) throw new TsdbError("bad_request", `the year of "${near(text)}" in UTC is not within 0 to 9999`);
  return ms;
}

/** In whole seconds. @throws TsdbError bad_request */
function readTime(text: string): number {
  const time = /T/.test(text) ? parseTime(text) : null;
  if (time === null) throw new TsdbError("bad_request", `parsing time "${near(text)}" as RFC 3339: cannot parse it`);
  // unlike nanoseconds of 64 bits, milliseconds reach all years; not known there is a second 60
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? Number(time.ns / 1_000_000_000n) * 1000 : Math.floor(ms / 1000) * 1000;
}

function shownRun(run: TaskRun): object {
  const { id, taskID, status, scheduledFor, startedAt, finishedAt, requestedAt, log } = run;
  const self = `${TASKS}/${taskID}/runs/${id}`;
  return {
    links: { logs: `${self}/logs`, retry: `${self}/retry`, self, task: `${TASKS}/${taskID}` },
    ...{ id, taskID, status, scheduledFor },
    ...(startedAt === null ? {} : { startedAt }),
    ...(finishedAt === null ? {} : { finishedAt }),
    ...(requestedAt === null ? {} : { requestedAt }),
    ...(log.length === 0 ? {} : { log: log.map((event) => shownEvent(id, event)) }),
  };
}

/** Null without events. */
function logAnswer(runs: readonly TaskRun[]): Response {
  if (runs.every(({ log }) => log.length === 0)) return json(200, { events: null });
  return listAnswer(
    "events",
    runs.values().flatMap(({ id, log }) => log.map((event) => shownEvent(id, event))),
  );
}

function shownEvent(runID: string, { time, message }: RunEvent): object {
  return { runID, time, message };
}
