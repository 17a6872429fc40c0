// The user writes the script of a custom check. Its task option and its record `check` must agree with the check.
import type { ObjectExpression, OptionStatement, Property, VariableAssignment } from "../../flux/parse/ast.ts";
import { type AnyNode, walk } from "../../flux/parse/walk.ts";
import { TsdbError } from "../../model/errors.ts";
import { commentsBehind, endOfBody, formattedScript, parsed, quoted, treeOf } from "./script-text.ts";
import { edited, type SourceEdit } from "./source-edits.ts";

/** The script with the check's id, formatted. @throws TsdbError bad_request */
export function customScript(text: string, { id, name }: { readonly id: string; readonly name: string }): string {
  const source = text.toWellFormed();
  requireAgreement(source, name);
  const file = parsed(source);
  const edits = assignmentsOf(file.body, "check").flatMap((assignment) => withId(assignment, id));
  const end = endOfBody(file);
  return formattedScript(edited(source.slice(0, end), edits), Number.POSITIVE_INFINITY, commentsBehind(source, end));
}

/** Errors in the record and the option come before syntax errors. @throws TsdbError bad_request */
function requireAgreement(text: string, name: string): void {
  const { body } = treeOf(text);
  const checks = assignmentsOf(body, "check").map(recordOf);
  if (checks.length === 0) throw refused("Custom flux must have an object called 'check'");
  const isSet = (key: string, value: string) => checks.some((record) => has(record, key, value));
  if (!isSet("_check_name", name)) throw refused("_check_name parameter on check object must match check name");
  if (!isSet("_type", "custom")) throw refused("_type parameter on check object must be set to 'custom'");
  const options = body.filter((statement) => statement.type === "OptionStatement").flatMap(taskOf);
  if (options.length === 0) throw refused("Custom flux missing task option statement");
  for (const key of ["name", "every", "offset"]) {
    const isGiven = options.some((record) => propertyOf(record, key) !== undefined);
    if (!isGiven) throw refused(`Custom flux missing ${key} parameter from task option statement`);
    if (key === "name" && !options.some((record) => has(record, "name", name))) {
      throw refused("Name parameter from task option statement must match check name");
    }
  }
}

function assignmentsOf(nodes: readonly AnyNode[], name: string): VariableAssignment[] {
  const found: VariableAssignment[] = [];
  for (const node of nodes) {
    walk(node, (each) => {
      if (each.type === "VariableAssignment" && (each as VariableAssignment).id.name === name) found.push(each as VariableAssignment);
      return true;
    });
  }
  return found;
}

function taskOf({ assignment }: OptionStatement): (ObjectExpression | null)[] {
  return assignment.type === "VariableAssignment" && assignment.id.name === "task" ? [recordOf(assignment)] : [];
}

function recordOf({ init }: VariableAssignment): ObjectExpression | null {
  return init.type === "ObjectExpression" ? init : null;
}

function propertyOf(record: ObjectExpression | null, key: string): Property | undefined {
  return record?.properties.find((each) => (each.key.type === "Identifier" ? each.key.name : each.key.value) === key);
}

function has(record: ObjectExpression | null, key: string, value: string): boolean {
  const given = propertyOf(record, key)?.value;
  return given?.type === "StringLiteral" && given.value === value;
}

function withId(assignment: VariableAssignment, id: string): SourceEdit[] {
  const record = recordOf(assignment);
  if (record === null) return [];
  const text = `_check_id: ${quoted(id)}`;
  const given = propertyOf(record, "_check_id");
  if (given !== undefined) return [{ from: given.location.from, to: given.location.to, text }];
  const last = record.properties.at(-1);
  const at = last?.location.to ?? record.location.from + 1;
  return [{ from: at, to: at, text: last === undefined ? text : `, ${text}` }];
}

function refused(message: string): TsdbError {
  return new TsdbError("bad_request", message);
}
