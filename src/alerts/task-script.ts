// Scripts of checks and rules are scripts of tasks: what their `option task` has to be.
import type { Expression, OptionStatement } from "../flux/parse/ast.ts";
import { parseFile } from "../flux/parse/parser.ts";
import { durationNs, durationOf, SECOND_NS } from "../flux/values/duration.ts";
import { TsdbError } from "../model/errors.ts";

/** The script itself. @throws TsdbError bad_request */
export function requireTask(script: string): string {
  const options = parseFile(script).body.filter((statement) => statement.type === "OptionStatement");
  const task = options.flatMap(taskOf)[0];
  if (task === undefined) throw refused("no task options defined");
  const name = task.get("name");
  const every = task.get("every");
  if (name?.type === "StringLiteral" && name.value === "") throw refused("invalid options: name required");
  const ns = every?.type === "DurationLiteral" ? durationNs(durationOf(every.values)) : 0n;
  if (ns === 0n) throw refused("invalid options: must specify exactly one of either cron or every");
  if (ns < SECOND_NS) throw refused("invalid options: every option must be at least 1 second");
  return script;
}

function taskOf({ assignment }: OptionStatement): ReadonlyMap<string, Expression | null>[] {
  if (assignment.type !== "VariableAssignment" || assignment.id.name !== "task" || assignment.init.type !== "ObjectExpression") return [];
  return [new Map(assignment.init.properties.map(({ key, value }) => [key.type === "Identifier" ? key.name : key.value, value]))];
}

function refused(message: string): TsdbError {
  return new TsdbError("bad_request", `invalid options: ${message}`);
}
