// Scripts with parameters: the record of `option params`, or of a task's `option task`. Each property is a reference to the environment
// whose default is the value in the script, or the one given beside the script.

import { quoted, treeOf } from "../../alerts/scripts/script-text.ts";
import { formatFile } from "../../flux/format/format.ts";
import type { Expression, File, ObjectExpression } from "../../flux/parse/ast.ts";
import { syntaxProblems } from "../../flux/parse/check.ts";
import { parseFile } from "../../flux/parse/parser.ts";
import { durationOf, parseDuration } from "../../flux/values/duration.ts";
import { TsdbError } from "../../model/errors.ts";
import { clockText } from "../periods.ts";
import { type EnvValue, isEnvValue, type SpecReader } from "../spec-reader.ts";

export type OptionName = "params" | "task";

/** A property of the record. */
export interface Parameter {
  readonly key: string;
  readonly envRefKey: string;
  readonly type: string;
  readonly value: EnvValue | null;
  readonly defaultValue: EnvValue | null;
  /** The value as written in the script. */
  readonly literal: string;
}

export interface ParameterizedScript {
  /** The script with the values; unchanged if it has no such record. */
  readonly text: string;
  readonly parameters: Readonly<Record<OptionName, readonly Parameter[]>>;
}

interface Written {
  readonly type: string;
  readonly value: EnvValue | null;
  readonly text: string;
}

const OPTION = /\boption\s+(?:params|task)\b/;
const NONE = { params: [], task: [] } as const;
const WHOLE_MAX = 1n << 63n;

/** Reads `spec.query`. @param prefix of the keys in the environment @param names the records to read */
export function readScript(spec: SpecReader, prefix: string, names: readonly OptionName[]): ParameterizedScript {
  const source = spec.script("query").trim();
  const given = new Map(names.map((name) => [name, spec.list(name)]));
  if (!OPTION.test(source)) return { text: source, parameters: NONE };
  const file = fileOf(source);
  if (file === null) return { text: source, parameters: NONE };
  const parameters: Record<OptionName, readonly Parameter[]> = { params: [], task: [] };
  const edits: { readonly from: number; readonly to: number; readonly text: string }[] = [];
  for (const name of names) {
    const record = recordOf(file, name);
    if (record === null) continue;
    const read = readParameters(spec, given.get(name)!, record, source, `${prefix}.${name}`);
    parameters[name] = read;
    const properties = read.map(({ key, literal }) => `${isName(key) ? key : quoted(key)}: ${literal}`);
    const from = record.location.from;
    const to = record.location.to;
    if (read.length > 0) edits.push({ from, to, text: `{${properties.join(", ")}}` });
  }
  if (edits.length === 0) return { text: source, parameters };
  let text = source;
  for (const edit of edits.sort((a, b) => b.from - a.from)) text = text.slice(0, edit.from) + edit.text + text.slice(edit.to);
  return { text: formatFile(parseFile(text), text), parameters };
}

/** Inserts a statement after the imports, which must come first. */
export function withOption(flux: string, statement: string): string {
  const head = /\b(?:import|package)\b/.test(flux) ? headEnd(treeOf(flux)) : 0;
  return head === 0 ? `${statement}\n${flux}` : `${flux.slice(0, head)}\n\n${statement}\n${flux.slice(head)}`;
}

/** Removes the statement with that name. The lines around it stay, as the vendor's exports show them. */
export function withoutOption(flux: string, name: OptionName): string {
  const found = fileOf(flux)?.body.find((each) => isOption(each, name));
  if (found === undefined) return flux;
  return (flux.slice(0, found.location.from) + flux.slice(found.location.to)).trim();
}

/** Null: a syntax error, which is reported when the script is applied. */
function fileOf(flux: string): File | null {
  try {
    const file = treeOf(flux);
    return syntaxProblems(file).length === 0 ? file : null;
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    return null;
  }
}

function headEnd({ package: clause, imports }: File): number {
  return imports.at(-1)?.location.to ?? clause?.location.to ?? 0;
}

function readParameters(
  spec: SpecReader,
  given: readonly SpecReader[],
  record: ObjectExpression,
  source: string,
  prefix: string,
): Parameter[] {
  const written = new Map<string, Written>();
  for (const { key, value } of record.properties) {
    const name = key.type === "Identifier" ? key.name : key.value;
    written.set(name, value === null ? { type: "", value: null, text: name } : writtenOf(value, source));
  }
  for (const each of given) {
    const key = each.text("key");
    if (key === "") continue;
    const before = written.get(key) ?? { type: "string", value: null, text: '""' };
    const type = typeName(each.text("type")) || before.type;
    const raw = each.raw("default");
    if (!each.has("default")) {
      written.set(key, { ...before, type });
      continue;
    }
    const read = isEnvValue(raw) ? valueAs(type, raw) : null;
    if (read === null) each.issue("default", `must be of the type ${JSON.stringify(type)}`);
    else written.set(key, read);
  }
  const parameters = [...written].map(([key, { type, value, text }]): Parameter => {
    const envRefKey = `${prefix}.${key}`;
    const own = type === "" ? null : spec.given(envRefKey);
    const read = own === null ? null : valueAs(type, own);
    if (own !== null && read === null) spec.issue("query", `the value of ${JSON.stringify(envRefKey)} must be of the type ${type}`);
    return { key, envRefKey, type, value: read === null ? null : own, defaultValue: value, literal: read?.text ?? text };
  });
  const path = `${spec.place}.${prefix.slice(prefix.lastIndexOf(".") + 1)}`;
  for (const { key, envRefKey, type: valueType, value, defaultValue } of parameters) {
    if (valueType !== "") spec.refer({ resourceField: `${path}.${key}`, envRefKey, valueType, value, defaultValue });
  }
  return parameters;
}

function recordOf(file: File, name: OptionName): ObjectExpression | null {
  const found = file.body.find((each) => isOption(each, name));
  if (found?.type !== "OptionStatement") return null;
  const { init } = found.assignment;
  return init.type === "ObjectExpression" && init.with === undefined ? init : null;
}

function isOption(statement: File["body"][number], name: OptionName): boolean {
  if (statement.type !== "OptionStatement") return false;
  return statement.assignment.type === "VariableAssignment" && statement.assignment.id.name === name;
}

/** A value without a type is an expression that is not a literal; it stays unchanged. */
function writtenOf(at: Expression, source: string): Written {
  const text = source.slice(at.location.from, at.location.to);
  const isNegative = at.type === "UnaryExpression" && at.operator === "-";
  const literal = isNegative ? at.argument : at;
  const sign = isNegative ? -1 : 1;
  switch (literal.type) {
    case "StringLiteral":
      return isNegative ? { type: "", value: null, text } : { type: "string", value: literal.value, text };
    // true and false are names in the language
    case "Identifier":
      return isNegative || (text !== "true" && text !== "false")
        ? { type: "", value: null, text }
        : { type: "bool", value: text === "true", text };
    case "IntegerLiteral":
      return { type: "int", value: Number(literal.value) * sign, text };
    case "FloatLiteral":
      return { type: "float", value: literal.value * sign, text };
    case "DateTimeLiteral":
      return isNegative ? { type: "", value: null, text } : { type: "time", value: literal.value, text };
    case "DurationLiteral": {
      const { months, ns } = durationOf(literal.values);
      // months have no fixed length
      if (months !== 0n) return { type: "duration", value: text, text };
      return durationWritten(isNegative ? -ns : ns);
    }
    default:
      return { type: "", value: null, text };
  }
}

function typeName(given: string): string {
  const names: Readonly<Record<string, string>> = { integer: "int", boolean: "bool", number: "float" };
  const lower = given.toLowerCase();
  return Object.hasOwn(names, lower) ? names[lower]! : lower;
}

/** Null: the value has another type. */
function valueAs(type: string, value: EnvValue): Written | null {
  switch (type) {
    case "string":
      return { type, value: String(value), text: quoted(String(value)) };
    case "bool":
      return typeof value === "boolean" || value === "true" || value === "false"
        ? { type, value: String(value) === "true", text: String(value) }
        : null;
    case "int": {
      if (!/^-?\d{1,19}$/.test(String(value))) return null;
      const whole = BigInt(String(value));
      return whole >= -WHOLE_MAX && whole < WHOLE_MAX ? { type, value: Number(whole), text: whole.toString() } : null;
    }
    case "float": {
      if (!/^-?\d+(\.\d+)?$/.test(String(value)) || String(value).length > 32) return null;
      const text = String(value);
      return { type, value: Number(value), text: text.includes(".") ? text : `${text}.0` };
    }
    case "time":
      return /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d))?$/.test(String(value))
        ? { type, value: String(value), text: String(value) }
        : null;
    case "duration": {
      if (typeof value === "number") return Number.isSafeInteger(value) ? durationWritten(BigInt(value)) : null;
      const duration = typeof value === "string" && value.length <= 64 ? parseDuration(value) : null;
      if (duration === null) return null;
      return duration.months === 0n ? durationWritten(duration.ns) : { type, value, text: String(value) };
    }
    default:
      return null;
  }
}

function durationWritten(ns: bigint): Written {
  return { type: "duration", value: Number(ns), text: clockText(ns) };
}

/** The length of a duration as templates show it; null: undefined. */
export function lengthText({ type, literal }: Parameter): string | null {
  const duration = type === "duration" ? parseDuration(literal) : null;
  if (duration === null) return null;
  return duration.months === 0n ? clockText(duration.ns) : literal;
}

function isName(key: string): boolean {
  return /^[A-Za-z_]\w*$/.test(key);
}
