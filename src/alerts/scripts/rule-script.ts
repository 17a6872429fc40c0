// Generates the script of a notification rule: statuses of the last period, the filter on level or change of level, and the sender.
import type { NamedEndpoint } from "../endpoint.ts";
import { levelName } from "../level.ts";
import type { NamedRule, StatusRule, TagRule } from "../rule.ts";
import { periodText, readPeriod, widened } from "./period.ts";
import { formattedScript, importLines, quoted, record, taskOption } from "./script-text.ts";
import { senderOf } from "./senders.ts";

/** The script that `/query` shows and the task runs. @throws TsdbError bad_request */
export function ruleScript({ id, name, settings }: NamedRule, endpoint: NamedEndpoint): string {
  const { every, offset, tagRules, statusRules } = settings;
  const sender = senderOf(endpoint.settings, settings);
  const notification = record([
    ["_notification_rule_id", quoted(id)],
    ["_notification_rule_name", quoted(name)],
    ["_notification_endpoint_id", quoted(endpoint.id)],
    ["_notification_endpoint_name", quoted(endpoint.name)],
  ]);
  const levels = statusRules.map(levelFilter);
  const statements = [
    importLines(["influxdata/influxdb/monitor", ...sender.imports]),
    taskOption(name, every, offset),
    ...sender.statements,
    `notification = ${notification}`,
    `statuses = ${statusesOf(every, tagRules)}`,
    ...levels.map((level) => `${level.name} = ${level.rows}`),
    `all_statuses = ${together(levels.map((level) => level.name))} |> ${since(every)}`,
    `all_statuses |> monitor["notify"](data: notification, endpoint: ${sender.call})`,
  ];
  return formattedScript(statements.join("\n"), 0);
}

/** Statuses of one period more than a run covers, so that a change across its start is seen. Operators are stored and shown; as recorded,
 *  scripts compare with `==` regardless. */
function statusesOf(every: string, tagRules: readonly TagRule[]): string {
  const start = `start: -${periodText(widened(readPeriod(every)))}`;
  if (tagRules.length === 0) return `monitor["from"](${start})`;
  const tests = tagRules.map(({ key, value }) => `r[${quoted(key)}] == ${quoted(value)}`);
  return `monitor["from"](${start}, fn: (r) => ${tests.join(" and ")})`;
}

function levelFilter({ currentLevel, previousLevel }: StatusRule): { readonly name: string; readonly rows: string } {
  const to = levelName(currentLevel);
  if (previousLevel === null) {
    const test = currentLevel === "ANY" ? "true" : `r["_level"] == ${quoted(to)}`;
    return { name: to, rows: `statuses |> filter(fn: (r) => ${test})` };
  }
  const from = levelName(previousLevel);
  const changes = `monitor["stateChanges"](fromLevel: ${quoted(from)}, toLevel: ${quoted(to)})`;
  return { name: `${from}_to_${to}`, rows: `statuses |> ${changes}` };
}

function together(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `union(tables: [${names.join(", ")}]) |> sort(columns: ["_time"])`;
}

function since(every: string): string {
  return `filter(fn: (r) => r["_time"] >= experimental["subDuration"](from: now(), d: ${every}))`;
}
