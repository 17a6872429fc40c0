// tsdb v2 task: scripts that run by their schedules, their runs, and what the runs logged.
import { TsdbError } from "../../../model/errors.ts";
import type { ClientCommand } from "../command.ts";
import type { Input, Option } from "../options.ts";
import { statementOf } from "../query.ts";
import { at, present, type Session, v2Command, wholeOf } from "./session.ts";
import type { Columns, Row } from "./table.ts";

const TASKS = "/api/v2/tasks";
/** Of one page: what the server allows. */
const PAGE = 500;
const COLUMNS: Columns = {
  ID: "id",
  Name: "name",
  "Organization ID": "orgID",
  Organization: "org",
  Status: "status",
  Every: "every",
  Cron: "cron",
};
const RUN_COLUMNS: Columns = {
  ID: "id",
  TaskID: "taskID",
  Status: "status",
  ScheduledFor: "scheduledFor",
  StartedAt: "startedAt",
  FinishedAt: "finishedAt",
  RequestedAt: "requestedAt",
};
const LOG_COLUMNS: Columns = { RunID: "runID", Time: "time", Message: "message" };

const ID: Option = { name: "id", short: "i", value: "ID", help: "The task's id." };
const FILE: Option = { name: "file", short: "f", value: "FILE", help: "File with the script; - is standard input." };
const TASK: Option = { name: "task-id", short: "i", value: "ID", help: "The task's id." };
const RUN: Option = { name: "run-id", value: "ID", help: "The run's id." };
const LIMIT: Option = { name: "limit", value: "COUNT", help: "Maximum number." };
const TIMES: readonly Option[] = [
  { name: "after", value: "TIME", help: "Runs that are for a later time, such as 2026-01-02T03:04:05Z." },
  { name: "before", value: "TIME", help: "Runs that are for an earlier time." },
];

/** Pages begin after a task. */
async function tasksOf(session: Session, query: Readonly<Record<string, string>>, limit = Number.POSITIVE_INFINITY): Promise<Row[]> {
  const rows: Row[] = [];
  while (rows.length < limit) {
    const size = Math.min(PAGE, limit - rows.length);
    const after = rows.at(-1)?.["id"];
    const search = { ...query, limit: String(size), ...(after === undefined ? {} : { after: String(after) }) };
    const tasks = await session.list(TASKS, "tasks", search);
    rows.push(...tasks);
    if (tasks.length < size) break;
  }
  return rows;
}

/** Those between the times that are given. @param limit name of the option */
function runsOf(session: Session, input: Input, task: string, limit = "limit"): Promise<Row[]> {
  const query = present({
    ...{ afterTime: input.option("after"), beforeTime: input.option("before") },
    limit: wholeOf(input, limit)?.toString(),
  });
  return session.list(at(TASKS, task, "/runs"), "runs", query);
}

function statusOf(input: Input): "active" | "inactive" | undefined {
  const status = input.option("status");
  if (status === undefined || status === "active" || status === "inactive") return status;
  throw new TsdbError("config", `--status must be active or inactive, got "${status}"`);
}

const hasScript = (input: Input) => input.positionals[0] !== undefined || input.option("file") !== undefined;

export const TASK_COMMANDS: readonly ClientCommand[] = [
  v2Command({
    words: "task create",
    summary: "Make a task of a script with `option task`.",
    positionals: [{ name: "SCRIPT", isOptional: true }],
    hasOrganization: true,
    options: [FILE],
    run: async (session, input) => {
      const flux = await statementOf(input, session.terminal);
      return session.show(COLUMNS, await session.json("POST", TASKS, { body: { flux, ...session.neededOrganization } }));
    },
  }),
  v2Command({
    words: "task list",
    also: ["ls", "find"],
    summary: "List tasks.",
    hasOrganization: true,
    options: [
      ID,
      { name: "user-id", short: "n", value: "ID", help: "Those of this user." },
      { name: "status", value: "STATUS", help: "active or inactive." },
      LIMIT,
    ],
    run: async (session, input) => {
      const id = input.option("id");
      if (id !== undefined) return session.show(COLUMNS, await session.json("GET", at(TASKS, id)));
      const query = present({ ...session.organization, user: input.option("user-id"), status: statusOf(input) });
      return session.show(COLUMNS, await tasksOf(session, query as Record<string, string>, wholeOf(input, "limit")));
    },
  }),
  v2Command({
    words: "task update",
    summary: "Change a task's script or status.",
    positionals: [{ name: "SCRIPT", isOptional: true }],
    options: [ID, FILE, { name: "status", value: "STATUS", help: "active or inactive." }],
    run: async (session, input) => {
      const id = input.required("id");
      const body = present({ status: statusOf(input), flux: hasScript(input) ? await statementOf(input, session.terminal) : undefined });
      if (Object.keys(body).length === 0) throw new TsdbError("config", "what is new? --status, --file or a script says so");
      return session.show(COLUMNS, await session.json("PATCH", at(TASKS, id), { body }));
    },
  }),
  v2Command({
    words: "task delete",
    also: ["rm"],
    summary: "Delete a task.",
    options: [ID],
    run: async (session, input) => {
      const path = at(TASKS, input.required("id"));
      const task = await session.json("GET", path);
      await session.call("DELETE", path);
      return session.show(COLUMNS, task);
    },
  }),
  v2Command({
    words: "task run list",
    also: ["ls", "find"],
    summary: "List the runs of a task.",
    options: [TASK, RUN, ...TIMES, LIMIT],
    run: async (session, input) => {
      const task = input.required("task-id");
      const run = input.option("run-id");
      if (run === undefined) return session.show(RUN_COLUMNS, await runsOf(session, input, task));
      return session.show(RUN_COLUMNS, await session.json("GET", at(at(TASKS, task, "/runs"), run)));
    },
  }),
  v2Command({
    words: "task run retry",
    summary: "Run a run of a task once more.",
    options: [TASK, RUN],
    run: async (session, input) => {
      const [task, run] = [input.required("task-id"), input.required("run-id")];
      const retried = await session.json("POST", at(at(TASKS, task, "/runs"), run, "/retry"), { body: {} });
      if (input.flag("json")) return session.show(RUN_COLUMNS, retried);
      session.terminal.out(`run ${run} of task ${task} is made again as ${String(retried["id"])}\n`);
      return 0;
    },
  }),
  v2Command({
    words: "task log list",
    also: ["ls", "find"],
    summary: "List what the runs of a task logged.",
    options: [TASK, RUN],
    run: async (session, input) => {
      const run = input.option("run-id");
      const below = run === undefined ? "/logs" : `/runs/${encodeURIComponent(run)}/logs`;
      const events = await session.list(at(TASKS, input.required("task-id"), below), "events");
      return session.show(LOG_COLUMNS, events);
    },
  }),
  v2Command({
    words: "task retry-failed",
    summary: "Make the failed runs of a task, or of all tasks, once more.",
    hasOrganization: true,
    options: [
      ID,
      ...TIMES,
      { ...LIMIT, name: "run-limit", help: "Maximum number of runs of each task that are looked at." },
      { name: "task-limit", value: "COUNT", help: "Maximum number of tasks." },
      { name: "dry-run", value: null, help: "Only say which." },
    ],
    run: async (session, input) => {
      const id = input.option("id");
      const tasks = id === undefined ? await tasksOf(session, session.neededOrganization, wholeOf(input, "task-limit")) : [{ id }];
      let count = 0;
      for (const task of tasks) {
        const path = at(TASKS, String(task["id"]), "/runs");
        const runs = await runsOf(session, input, String(task["id"]), "run-limit");
        for (const { id: run } of runs.filter(({ status }) => status === "failed")) {
          count++;
          if (!input.flag("dry-run")) await session.call("POST", at(path, String(run), "/retry"), { body: {} });
          session.terminal.out(`run ${run} of task ${task["id"]}${input.flag("dry-run") ? " would be made again" : " is made again"}\n`);
        }
      }
      session.terminal.out(`${count} failed ${count === 1 ? "run" : "runs"}\n`);
      return 0;
    },
  }),
];
