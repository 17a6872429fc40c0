// Tasks of templates.
import type { V2Line } from "../../../../metadata/line.ts";
import type { TaskScript } from "../../../../metadata/resources/tasks.ts";
import { readTaskOptions, taskRecord } from "../../../../tasks/script/options.ts";
import { withoutOption } from "../../../../templates/kinds/parameters.ts";
import { type TaskSpec, taskFlux } from "../../../../templates/kinds/task.ts";
import { exportedPeriod } from "../../../../templates/periods.ts";
import type { Resource } from "../../../../templates/template.ts";
import { scriptOf } from "../../tasks/routes.ts";
import { type Adapter, described, idNumber } from "./adapter.ts";

const PLAIN_OPTIONS: ReadonlySet<string> = new Set(["name", "every", "cron", "offset"]);
const PLAIN_PERIOD = /^(?:\d+(?:w|d|h|m|s))+$/;

/** Tasks that users have made; those of checks and rules belong to these. */
export function taskAdapter({ tasks }: V2Line): Adapter<TaskSpec> {
  const shown = ({ name, description, spec }: Resource<TaskSpec>) => {
    const { cron, every, offset, query, status } = spec;
    return { name, cron, description, every, offset, query, status };
  };
  const prepared = new Map<Resource<TaskSpec>, TaskScript>();
  const made = ({ name, spec }: Resource<TaskSpec>) => scriptOf(taskFlux(name, spec));
  const script = (resource: Resource<TaskSpec>) => prepared.get(resource) ?? made(resource);
  return {
    // tasks of one name are different tasks
    find: () => null,
    orgOf: (id) => {
      const found = tasks.find(id);
      return found === null || found.kind !== "task" ? null : found.orgID;
    },
    list: (orgID) => tasks.heads({ orgID }).map(({ id }) => id),
    prepare: (resource) => void prepared.set(resource, made(resource)),
    create: (change, resource, { orgID, ownerID }) => {
      const { description, spec } = resource;
      return tasks.planCreate(change, { ...script(resource), orgID, ownerID, kind: "task", description, status: spec.status }).id;
    },
    // the new script runs with the rights of who has applied it
    update: (change, resource, { ownerID }, id) => {
      const { description, spec } = resource;
      tasks.planUpdate(change, id, { ...script(resource), description, status: spec.status, ownerID });
    },
    remove: (change, id) => tasks.planDelete(change, id),
    old: (id) => {
      const { name, cron, description, every, offset, flux, status } = tasks.get(id);
      return { name, cron: cron ?? "", description, every: every ?? "", offset: offset ?? "0s", query: flux, status };
    },
    kindOf: () => "Task",
    shown,
    summary: (resource, { id }) => ({ id: idNumber(id), ...shown(resource) }),
    exported: (id) => {
      const { name, description, flux, every, cron, offset } = tasks.get(id);
      if (!isPlain(flux, every))
        return { kind: "Task", apiVersion: "influxdata.com/v2alpha2", spec: { ...described(description), query: flux } };
      const schedule = every === null ? { cron } : { every };
      const later = offset === null ? {} : { offset: exportedPeriod(offset) };
      return { kind: "Task", spec: { name, ...described(description), ...schedule, ...later, query: withoutOption(flux, "task") } };
    },
  };
}

/** Whether the other members of a task can say what the record in its script says. */
function isPlain(flux: string, every: string | null): boolean {
  const keys = taskRecord(flux).properties.map(({ key }) => (key.type === "Identifier" ? key.name : key.value));
  const isWithin = readTaskOptions(flux).offsetMs >= 0 && (every === null || PLAIN_PERIOD.test(every));
  return isWithin && keys.every((key) => PLAIN_OPTIONS.has(key)) && withoutOption(flux, "task") !== "";
}
