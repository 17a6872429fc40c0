// Operations on tasks and their runs.
import { Type as t } from "@sinclair/typebox";
import { LabelIdBody } from "../labels.ts";
import { TaskBody, TaskPatchBody } from "../tasks/routes.ts";
import { RunBody } from "../tasks/runs.ts";
import { membersOf } from "./accounts.ts";
import { done, id, jsonOf, made, ok, requiring, text, type V2Operations } from "./described.ts";
import { LabelShape, LabelsShape, OneLabelShape } from "./shapes.ts";

const tag = "Tasks";
const ITEM = "/api/v2/tasks/:taskID";
const RUN = `${ITEM}/runs/:runID`;

const Id = t.String({ minLength: 16, maxLength: 16 });
const Time = t.String({ format: "date-time" });
const LinksShape = t.Record(t.String(), t.String());
const Active = t.Union([t.Literal("active"), t.Literal("inactive")]);
const Ended = t.Union([t.Literal("success"), t.Literal("failed"), t.Literal("canceled")]);

const TaskShape = t.Object(
  {
    ...{ id: Id, orgID: Id, org: t.String(), ownerID: Id, name: t.String(), description: t.Optional(t.String()), status: Active },
    flux: t.String({ description: "The script, with its `option task`." }),
    ...{ every: t.Optional(t.String()), cron: t.Optional(t.String()), offset: t.Optional(t.String()) },
    latestCompleted: Time,
    ...{ lastRunStatus: t.Optional(Ended), lastRunError: t.Optional(t.String()) },
    ...{ createdAt: Time, updatedAt: t.Optional(Time), labels: t.Array(LabelShape), links: LinksShape },
  },
  { $id: "Task" },
);
const TasksShape = t.Object(
  { links: t.Object({ self: t.String(), next: t.Optional(t.String()) }), tasks: t.Array(TaskShape) },
  { $id: "Tasks" },
);
const EventShape = t.Object({ runID: Id, time: Time, message: t.String() }, { $id: "TaskEvent" });
const RunShape = t.Object(
  {
    ...{ id: Id, taskID: Id, status: t.Union([t.Literal("scheduled"), t.Literal("started"), Ended]) },
    scheduledFor: t.String({ format: "date-time", description: "Value of now() in the script; its year in UTC is within 0 to 9999." }),
    ...{ startedAt: t.Optional(Time), finishedAt: t.Optional(Time), requestedAt: t.Optional(Time) },
    ...{ log: t.Optional(t.Array(EventShape)), links: LinksShape },
  },
  { $id: "TaskRun" },
);
const RunsShape = t.Object({ links: t.Object({ self: t.String(), task: t.String() }), runs: t.Array(RunShape) }, { $id: "TaskRuns" });
const LogShape = t.Object({ events: t.Union([t.Array(EventShape), t.Null()]) }, { $id: "TaskLog" });

const about =
  "The script has one `option task` with `name`, `every` (whole seconds, on multiples since 1970) or `cron` (five fields, or six with " +
  "seconds, UTC), and if wanted `offset`, `concurrency` (1 to 100) and `retry` (how often a run is tried, 1 to 10). It runs with the rights of the user who made the task.";
const limit = t.Optional(t.Integer({ minimum: 1, maximum: 500, default: 100 }));

/** By `METHOD path`. */
export const TASK_OPERATIONS: V2Operations = {
  "GET /api/v2/tasks": {
    tag,
    summary: "Lists tasks",
    query: {
      ...{ name: text("Of this name."), user: id("Owned by this user."), status: t.Optional(Active) },
      ...{ orgID: id("Of this organization; goes before `org`."), org: text("Of the organization of this name.") },
      ...{
        after: id("Behind this one."),
        limit,
        type: t.Optional(t.Union([t.Literal("basic"), t.Literal("system")], { description: "Both list the same." })),
      },
    },
    answers: {
      ...ok("Those that the sender may read, without those of checks and rules.", TasksShape),
      404: { description: "No organization of this name." },
    },
  },
  "POST /api/v2/tasks": {
    tag,
    summary: "Makes a task",
    description: about,
    body: jsonOf(requiring(TaskBody, "flux")),
    answers: { ...made("As made.", TaskShape), 404: { description: "No such organization." } },
  },
  [`GET ${ITEM}`]: { tag, summary: "Shows a task", answers: ok("The task.", TaskShape) },
  [`PATCH ${ITEM}`]: {
    tag,
    summary: "Changes a task",
    description:
      "`name`, `every`, `cron` and `offset` are changed in the script, which is formatted. Times before a new schedule, and those at which the task was inactive, are left out.",
    body: jsonOf(TaskPatchBody),
    answers: ok("As changed.", TaskShape),
  },
  [`DELETE ${ITEM}`]: { tag, summary: "Deletes a task", answers: done("It is gone, what runs is canceled, and points of its runs stay.") },
  [`GET ${ITEM}/logs`]: { tag, summary: "Shows the logs of a task's runs", answers: ok("Null without runs.", LogShape) },
  [`GET ${ITEM}/runs`]: {
    tag,
    summary: "Lists runs of a task",
    query: {
      ...{ after: id("No run is listed behind another."), limit },
      ...{ afterTime: t.Optional(Time), beforeTime: t.Optional(Time) },
    },
    answers: ok("By `scheduledFor`, the latest first: those that wait, run, or have ended within three days.", RunsShape),
  },
  [`POST ${ITEM}/runs`]: {
    tag,
    summary: "Runs a task",
    description: "Besides its schedule, as soon as it may have another run; `scheduledFor` is now by default.",
    body: jsonOf(RunBody),
    answers: { ...made("The run that waits.", RunShape), 422: { description: "A run for the time waits." } },
  },
  [`GET ${RUN}`]: { tag, summary: "Shows a run", answers: ok("The run.", RunShape) },
  [`DELETE ${RUN}`]: {
    tag,
    summary: "Cancels a run",
    answers: { 200: { description: "It ends soon." } },
  },
  [`POST ${RUN}/retry`]: {
    tag,
    summary: "Runs a task again for the time of a run",
    answers: { ...ok("The new run.", RunShape), 422: { description: "A run for the time waits." } },
  },
  [`GET ${RUN}/logs`]: { tag, summary: "Shows the log of a run", answers: ok("The log.", LogShape) },
  [`GET ${ITEM}/labels`]: { tag, summary: "Lists the labels of a task", answers: ok("The list.", LabelsShape) },
  [`POST ${ITEM}/labels`]: {
    tag,
    summary: "Puts a label on a task",
    body: jsonOf(requiring(LabelIdBody, "labelID")),
    answers: { ...made("The label.", OneLabelShape), 422: { description: "The task has the label." } },
  },
  [`DELETE ${ITEM}/labels/:labelID`]: { tag, summary: "Takes a label off a task", answers: done("It is off.") },
  ...membersOf(ITEM, tag, "a task"),
};
