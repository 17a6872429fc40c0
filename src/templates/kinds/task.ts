// Tasks in templates: the schedule is given beside the script, or, since `v2alpha2`, in it.
import { quoted } from "../../alerts/scripts/script-text.ts";
import type { Status } from "../../metadata/store/kinds.ts";
import { NO_DURATION, readDuration } from "../periods.ts";
import type { SpecReader } from "../spec-reader.ts";
import { readStatus } from "./alerts.ts";
import { lengthText, type Parameter, readScript, withOption } from "./parameters.ts";

export interface TaskSpec {
  readonly category: "Task";
  /** The name in the script; null: it is given beside the script. */
  readonly name: string | null;
  readonly status: Status;
  /** "": none; so for the other two. */
  readonly every: string;
  readonly cron: string;
  readonly offset: string;
  /** Without the task record, unless it was in the script itself. */
  readonly query: string;
  readonly hasRecord: boolean;
}

/** Errors are collected in the reader. */
export function readTask(spec: SpecReader, apiVersion: string): TaskSpec {
  const isScript = apiVersion.endsWith("v2alpha2");
  const prefix = `tasks[${spec.metaName}].spec`;
  const { text: query, parameters } = readScript(spec, prefix, isScript ? ["params", "task"] : ["params"]);
  const record = new Map(parameters.task.map((each) => [each.key, each]));
  const hasRecord = record.size > 0;
  const name = named(spec, record.get("name"));
  const length = (key: string) => {
    const parameter = record.get(key);
    const read = parameter === undefined ? readDuration(spec, key) : (lengthText(parameter) ?? "");
    return read === NO_DURATION ? "" : read;
  };
  const every = length("every");
  const cron = textOf(record.get("cron")) ?? spec.text("cron");
  const offset = length("offset");
  if (every === "" && cron === "") {
    spec.issue("every", "must provide if cron field is not provided");
    spec.issue("cron", "must provide if every field is not provided");
  }
  if (query === "") spec.issue("query", "must provide a non zero value");
  return { category: "Task", name, status: readStatus(spec), every, cron, offset, query, hasRecord };
}

/** The script with the task record. */
export function taskFlux(name: string, { every, cron, offset, query, hasRecord }: TaskSpec): string {
  if (hasRecord) return query;
  // with both no task is made, and a negative period is none
  const hasEvery = every !== "" && !every.startsWith("-");
  const schedule = [...(cron === "" ? [] : [`, cron: ${quoted(cron)}`]), ...(hasEvery ? [`, every: ${every}`] : [])].join("");
  const later = offset === "" || offset === "0s" ? "" : `, offset: ${offset}`;
  return withOption(query, `option task = { name: ${quoted(name)}${schedule}${later} }`);
}

/** A name in the script is also shown as the resource's. */
function named(spec: SpecReader, parameter: Parameter | undefined): string | null {
  if (parameter?.type !== "string") return null;
  const { envRefKey, type: valueType, value, defaultValue } = parameter;
  spec.refer({ resourceField: "spec.name", envRefKey, valueType, value, defaultValue });
  return String(value ?? defaultValue ?? "");
}

function textOf(parameter: Parameter | undefined): string | null {
  if (parameter?.type !== "string") return null;
  return String(parameter.value ?? parameter.defaultValue ?? "");
}
