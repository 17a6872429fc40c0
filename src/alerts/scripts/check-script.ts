// Generates the script of a check: the user's query, a function for each level, and `monitor.check`.
import { floatText } from "../../flux/values/text.ts";
import { TsdbError } from "../../model/errors.ts";
import type { DeadmanSettings, NamedCheck, Threshold, ThresholdSettings } from "../check.ts";
import { levelName } from "../level.ts";
import { rewrittenQuery } from "./check-query.ts";
import {
  formattedScript,
  isMemberName,
  parsedQuery,
  quoted,
  record,
  requireOptions,
  taskOption,
  templateLiteral,
  treeOf,
} from "./script-text.ts";

/** Start of messages. */
export const NO_TASK = "Could not create task from check: ";
const MONITOR = "influxdata/influxdb/monitor";
const V1 = "influxdata/influxdb/v1";

/** The script that `/query` shows and the task runs. @throws TsdbError bad_request */
export function checkScript({ id, name, settings }: NamedCheck): string {
  switch (settings.type) {
    case "custom":
      return settings.query.text;
    case "threshold":
      return thresholdScript(id, name, settings);
    case "deadman":
      return deadmanScript(id, name, settings);
  }
}

/** @throws TsdbError bad_request with the syntax errors of a query */
export function requireQuery(text: string): void {
  try {
    parsedQuery(text);
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    throw new TsdbError(error.kind, NO_TASK + error.message, {}, { cause: error });
  }
}

/** Keys that are no names of members are told as release 2.8.0 tells them, which writes them into the script as they are: at their place
 *  in the formatted script. @throws TsdbError bad_request */
export function requireTagKeys({ settings, ...check }: NamedCheck): void {
  const tags = settings.type === "custom" ? [] : (settings.tags ?? []);
  if (settings.type === "custom" || tags.every(({ key }) => isMemberName(key))) return;
  const shown = tags.map(({ key, value }) => ({ key: isMemberName(key) ? key : "x".repeat(key.length), value }));
  let script = checkScript({ ...check, settings: { ...settings, tags: shown } });
  let at = script.indexOf("tags: {", script.lastIndexOf("\ncheck = {"));
  for (const [i, { key }] of shown.entries()) {
    at = script.indexOf(`${key}: "`, at);
    script = `${script.slice(0, at)}${tags[i]!.key}${script.slice(at + key.length)}`;
    at += key.length;
  }
  requireOptions(treeOf(script));
}

function thresholdScript(id: string, name: string, settings: ThresholdSettings): string {
  const { every, query, thresholds } = settings;
  const { text, eof, fields } = rewrittenQuery(query.text, { period: every, aggregates: true, imports: [MONITOR, V1] });
  const [field] = fields;
  if (field === undefined || fields.length > 1) {
    throw new TsdbError("bad_request", `expected a single field but got: [${fields.join(" ")}]`);
  }
  const levels = (thresholds ?? []).map((threshold) => ({
    name: levelName(threshold.level),
    condition: condition(threshold, `r[${quoted(field)}]`),
  }));
  return formattedScript(`${text}${definitions(id, name, settings, levels)}\n${checked(levels, [])}`, text.length, eof);
}

function deadmanScript(id: string, name: string, settings: DeadmanSettings): string {
  const { query, staleTime, timeSince, level } = settings;
  const imports = [MONITOR, "experimental", V1];
  const { text, eof } = rewrittenQuery(query.text, { period: staleTime, aggregates: false, imports });
  const levels = [{ name: levelName(level), condition: `r["dead"]` }];
  const dead = `monitor["deadman"](t: experimental["subDuration"](from: now(), d: ${timeSince}))`;
  return formattedScript(`${text}${definitions(id, name, settings, levels)}\n${checked(levels, [dead])}`, text.length, eof);
}

interface LevelCondition {
  readonly name: string;
  readonly condition: string;
}

function definitions(
  id: string,
  name: string,
  { type, every, offset, tags, statusMessageTemplate }: ThresholdSettings | DeadmanSettings,
  levels: readonly LevelCondition[],
): string {
  const check = record([
    ["_check_id", quoted(id)],
    ["_check_name", quoted(name)],
    ["_type", quoted(type)],
    ["tags", record((tags ?? []).map(({ key, value }) => [key, quoted(value)]))],
  ]);
  return [
    taskOption(name, every, offset),
    `check = ${check}`,
    ...levels.map((level) => `${level.name} = (r) => ${level.condition}`),
    `messageFn = (r) => ${templateLiteral(statusMessageTemplate)}`,
  ].join("\n");
}

function checked(levels: readonly LevelCondition[], steps: readonly string[]): string {
  const given = ["data: check", "messageFn: messageFn", ...levels.map(({ name }) => `${name}: ${name}`)];
  return ["data", `v1["fieldsAsCols"]()`, ...steps, `monitor["check"](${given.join(", ")})`].join(" |> ");
}

function condition(threshold: Threshold, value: string): string {
  if (threshold.type !== "range") return `${value} ${threshold.type === "greater" ? ">" : "<"} ${float(threshold.value)}`;
  const [min, max] = [float(threshold.min), float(threshold.max)];
  return threshold.within ? `${value} < ${max} and ${value} > ${min}` : `${value} < ${min} or ${value} > ${max}`;
}

function float(value: number): string {
  const text = floatText(value);
  return text.includes(".") ? text : `${text}.0`;
}
