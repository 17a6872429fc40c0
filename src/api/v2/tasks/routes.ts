// Tasks: /api/v2/tasks. Their runs are in task-runs.ts.

import { Type as t } from "@sinclair/typebox";
import { requireUnits } from "../../../alerts/scripts/period.ts";
import type { Principal } from "../../../metadata/access/principal.ts";
import type { Organization } from "../../../metadata/resources/organizations.ts";
import type { Task, TaskChanges, TaskScript } from "../../../metadata/resources/tasks.ts";
import { readId } from "../../../metadata/store/ids.ts";
import type { Status } from "../../../metadata/store/kinds.ts";
import { near, TsdbError } from "../../../model/errors.ts";
import { readTaskOptions } from "../../../tasks/script/options.ts";
import { isNone, rewriteTaskOptions } from "../../../tasks/script/rewrite.ts";
import { SCRIPT_LENGTH_MAX } from "../../../templates/spec-reader.ts";
import { json, noContent } from "../app/answers.ts";
import { listAnswer, found as listed } from "../app/list-answer.ts";
import { JsonBodies, type SearchParams } from "../app/params.ts";
import { type V2Call, V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { addLabelRoutes, seen } from "../labels.ts";
import { addMemberRoutes } from "../members.ts";
import { shownLabel } from "../shown.ts";
import { DECODING, headed, readLimit, TASKS, taskIdOf, taskNeed } from "./calls.ts";
import { addTaskRunRoutes } from "./runs.ts";

export const TaskBody = t.Object({
  flux: t.Optional(t.String()),
  orgID: t.Optional(t.String()),
  org: t.Optional(t.String()),
  status: t.Optional(t.String()),
  description: t.Optional(t.String()),
  type: t.Optional(t.String({ description: "Ignored." })),
});

export const TaskPatchBody = t.Object({
  flux: t.Optional(t.String()),
  status: t.Optional(t.String()),
  name: t.Optional(t.String()),
  description: t.Optional(t.String()),
  every: t.Optional(t.String()),
  cron: t.Optional(t.String()),
  offset: t.Optional(t.String()),
});

const ITEM = `${TASKS}/:taskID`;
const ORGANIZATION = "could not identify organization: ";

export const taskRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  const found = (call: V2Call, action: "read" | "write", failed: string): Task => {
    const id = taskIdOf(call);
    const task = headed(failed, () => line().tasks.get(id));
    call.principal.require(taskNeed(action, task));
    return task;
  };
  const routes = new V2Routes(services)
    .get(TASKS, ({ principal, search }) => {
      const { filter: given, limit, query, isBasic } = headed(DECODING, () => readFilter(services, search));
      // without either, a list is of the sender's own tasks
      const filter = given.orgID === undefined && given.ownerID === undefined ? { ...given, ownerID: principal.userID } : given;
      const visible = line()
        .tasks.heads(filter)
        .filter((task) => principal.allows(taskNeed("read", task)))
        .slice(0, limit);
      const link = (more: Readonly<Record<string, string>>) => `${TASKS}?${new URLSearchParams(sorted({ ...query, ...more }))}`;
      const next = visible.length < limit ? {} : { next: link({ after: visible.at(-1)!.id }) };
      const items = listed(
        visible,
        (id) => line().tasks.find(id),
        (task) => (isBasic ? basicTask(services, task) : shownTask(services, task)),
      );
      return listAnswer("tasks", items, { links: { self: link({}), ...next } });
    })
    .post(TASKS, async ({ principal, request }) => {
      const { flux = "", orgID, org = "", status = "", description = "" } = await bodies.read(TaskBody, request, DECODING);
      const givenOrg = orgID === undefined ? null : headed(DECODING, () => readId(orgID));
      if (flux === "") throw new TsdbError("bad_request", `${DECODING}missing flux`);
      requireLength(flux);
      if (givenOrg === null && org === "") throw new TsdbError("bad_request", `${DECODING}missing orgID and org`);
      const wanted = status === "" ? "active" : readStatus(status);
      const organization = organizationOf(services, givenOrg, org);
      const script = newScriptOf(services, flux, "failed to create task: ");
      principal.require({ action: "write", type: "tasks", orgID: organization.id });
      const owner = { orgID: organization.id, ownerID: principal.userID };
      const task = await line().tasks.create({ ...script, ...owner, kind: "task", description, status: wanted });
      return json(201, shownTask(services, task));
    })
    .get(ITEM, (call) => json(200, shownTask(services, found(call, "read", "failed to find task: "))))
    .patch(ITEM, async (call) => {
      const id = taskIdOf(call);
      const patch = readPatch(await bodies.read(TaskPatchBody, call.request, DECODING));
      const task = headed("failed to update task: ", () => line().tasks.get(id));
      requirePatch(call.principal, task);
      const changes = headed("failed to update task: ", () => changesOf(services, task, patch));
      return json(200, shownTask(services, await line().tasks.update(id, changes)));
    })
    .delete(ITEM, async (call) => {
      const task = found(call, "write", "failed to delete task: ");
      if (task.kind !== "task") throw new TsdbError("bad_request", `the task belongs to a ${task.kind}, and goes with it`);
      await line().tasks.delete(task.id);
      return noContent();
    });
  addTaskRunRoutes(routes, services, found);
  const find = ({ params }: V2Call): Task => line().tasks.get(readId(params["taskID"]!));
  const parent = seen(find, taskNeed, () => "task not found");
  const place = { path: TASKS, type: "tasks", param: "taskID", find, parent } as const;
  addLabelRoutes(routes, services, { ...place, decidesOnLabels: true });
  return addMemberRoutes(routes, services, { ...place, need: taskNeed, hasLogs: true });
};

/** A task of a check or rule is changed with that. */
function requirePatch(principal: Principal, task: Task): void {
  principal.require(taskNeed("write", task));
  if (task.kind !== "task") throw new TsdbError("bad_request", `the task belongs to a ${task.kind}, and is changed with it`);
}

/** What a task keeps of its script. @throws TsdbError bad_request */
export function scriptOf(flux: string, options = readTaskOptions(flux)): TaskScript {
  const { name, every, cron, offset } = options;
  return { flux, name, every, cron, offset };
}

/** Of a script that is given: it is parsed on this thread, here and where it is scheduled. @throws TsdbError too_large */
function requireLength(flux: string): void {
  if (flux.length <= SCRIPT_LENGTH_MAX) return;
  throw new TsdbError("too_large", `the script of a task may have ${SCRIPT_LENGTH_MAX} characters, this one has ${flux.length}`);
}

/** The same of a script that is given now: its schedule has a time to come. @param head of that message @throws TsdbError bad_request */
function newScriptOf(services: V2Services, flux: string, head = ""): TaskScript {
  const options = readTaskOptions(flux);
  if (options.schedule.next(services.clockMs()) !== null) return scriptOf(flux, options);
  throw new TsdbError("bad_request", `${head}could not fulfil schedule due to year`);
}

interface Patch {
  readonly flux?: string;
  readonly status?: Status;
  readonly description?: string;
  readonly options: { readonly name?: string; readonly every?: string; readonly cron?: string; readonly offset?: string };
}

/** What is empty, or of no length, is as absent. @throws TsdbError bad_request, too_large */
function readPatch(
  body: Readonly<Partial<Record<"flux" | "status" | "name" | "description" | "every" | "cron" | "offset", string>>>,
): Patch {
  const { flux, status, name = "", description, every = "", cron = "", offset = "" } = body;
  requireLength(flux ?? "");
  for (const text of [every, offset]) requireUnits(text.replace(/^-/, ""), DECODING);
  const hasEvery = every !== "" && !isNone(every);
  if (hasEvery && cron !== "") throw new TsdbError("bad_request", `${DECODING}cannot specify both every and cron`);
  if (!hasEvery) checkOffset(offset);
  const wanted = status === undefined ? {} : { status: readStatus(status) };
  const options = { ...(name === "" ? {} : { name }), ...(hasEvery ? { every } : {}), ...(cron === "" ? {} : { cron }) };
  const hasOffset = offset !== "" && !isNone(offset);
  if (flux === undefined && status === undefined && Object.keys(options).length === 0 && !hasOffset) {
    throw new TsdbError("bad_request", `${DECODING}cannot update task without content`);
  }
  return {
    ...wanted,
    ...(flux === undefined ? {} : { flux }),
    ...(description === undefined ? {} : { description }),
    options: offset === "" ? options : { ...options, offset },
  };
}

/** Of an offset with units larger than an hour. @throws TsdbError bad_request */
function checkOffset(text: string): void {
  const unit = [...text.matchAll(/\d+(\p{L}+)/gu)]
    .map(([, each]) => each!)
    .find((each) => !["ns", "us", "µs", "ms", "s", "m", "h"].includes(each));
  if (unit === undefined) return;
  const shown = near(text);
  const message = `offset: ${shown}, time: unknown unit "${near(unit)}" in duration "${shown}" is invalid, the largest unit supported is h`;
  throw new TsdbError("bad_request", DECODING + message);
}

/** @throws TsdbError bad_request */
function changesOf(services: V2Services, task: Task, { flux, options, ...rest }: Patch): TaskChanges {
  if (Object.keys(options).length === 0) return flux === undefined ? rest : { ...rest, ...newScriptOf(services, flux) };
  // an empty script is as absent where there are options
  return { ...rest, ...newScriptOf(services, rewriteTaskOptions(flux || task.flux, options)) };
}

/** @throws TsdbError bad_request */
function readStatus(text: string): Status {
  if (text === "active" || text === "inactive") return text;
  throw new TsdbError("bad_request", `${DECODING}invalid task status: ${JSON.stringify(near(text))}`);
}

/** @throws TsdbError not_found */
function organizationOf(services: V2Services, id: string | null, name: string): Organization {
  const { organizations } = services.line();
  // of two, the name counts
  if (id === null) return headed(ORGANIZATION, () => organizations.byName(name));
  return name === "" ? headed(ORGANIZATION, () => organizations.get(id)) : organizations.byName(name);
}

/** A status that there is not is as absent. @throws TsdbError bad_request */
function readFilter(services: V2Services, search: SearchParams) {
  const after = search.id("after");
  const org = search.get("org");
  const named = org === undefined ? undefined : organizationNamed(services, org);
  const given = search.id("orgID");
  // of two, the name counts
  const orgID = named?.id ?? given;
  const user = search.id("user");
  const limit = readLimit(search, "limit");
  const [name, wanted, type] = [search.get("name"), search.get("status"), search.get("type")];
  if (type !== undefined && type !== "basic" && type !== "system") {
    throw new TsdbError("bad_request", `${JSON.stringify(near(type))} is not a valid task type`);
  }
  const status = wanted === "active" || wanted === "inactive" ? wanted : undefined;
  const shown = { after, limit: String(limit), org: named?.name, orgID, user };
  const query = Object.fromEntries(Object.entries(shown).filter((entry): entry is [string, string] => entry[1] !== undefined));
  // of two filters of organizations and users, that of users counts
  const filter = { name, status, orgID: user === undefined ? orgID : undefined, after, ownerID: user };
  return { filter, limit, query, isBasic: type === "basic" };
}

/** @throws TsdbError bad_request */
function organizationNamed(services: V2Services, name: string): Organization {
  try {
    return services.line().organizations.byName(name);
  } catch (cause) {
    throw new TsdbError("bad_request", (cause as Error).message, {}, { cause });
  }
}

function sorted(query: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A task in a list that is to be short: without its script, the name of its organization, and when it was made and changed. */
function basicTask(services: V2Services, task: Task): object {
  return { ...shownTask(services, { ...task, flux: "" }), org: "", createdAt: undefined, updatedAt: undefined };
}

/** A task as clients read it. */
function shownTask(services: V2Services, task: Task): object {
  const { id, orgID, ownerID, name, description, status, flux, every, cron, offset, createdAt, updatedAt } = task;
  const { organizations, labels, tasks } = services.line();
  const { latestCompleted, lastRunStatus, lastRunError } = tasks.state(id);
  const self = `${TASKS}/${id}`;
  const links = ["labels", "logs", "members", "owners", "runs"].map((each) => [each, `${self}/${each}`]);
  const optional = { description: description === "" ? null : description, every, cron, offset, lastRunStatus, lastRunError, updatedAt };
  return {
    links: { ...Object.fromEntries(links), self },
    labels: labels.ofResource("tasks", id).map(shownLabel),
    ...{ id, orgID, org: organizations.find(orgID)?.name ?? "", ownerID, name, status, flux, latestCompleted, createdAt },
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null)),
  };
}
