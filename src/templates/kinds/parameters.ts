// Scripts with parameters: the record of `option params`, or of a task's `option task`. Each property is a reference to the environment
// whose default is the value in the script, or the one given beside the script.

import { quoted, treeOf } from "../../alerts/scripts/script-text.ts";
import { formatFile } from "../../flux/format/format.ts";
import type { Expression, File, ObjectExpression } from "../../flux/parse/ast.ts";
import { syntaxProblems } from "../../flux/parse/check.ts";
import { parseFile } from "../../flux/parse/parser.ts";
import { durationOf, durationText, parseDuration } from "../../flux/values/duration.ts";
import { TsdbError } from "../../model/errors.ts";
import { clockText } from "../periods.ts";
import { type EnvValue, isEnvValue, type SpecReader, textIn } from "../spec-reader.ts";

export type OptionName = "params" | "task";

/** A property of the record. */
export interface Parameter {
  readonly key: string;
  readonly envRefKey: string;
  /** "": none that a template can name. */
  readonly type: string;
  readonly shownType: string;
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
  /** As recorded, literals with a sign, truth values and other expressions are shown without a type. */
  readonly isUntyped?: boolean;
  readonly value: EnvValue | null;
  readonly text: string;
}

const OPTION = /\boption\s+(?:params|task)\b/;
const NONE = { params: [], task: [] } as const;
const WHOLE_MAX = 1n << 63n;
const SHOWN_TYPES: Readonly<Record<string, string>> = { int: "integer" };

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
    // as recorded, a key in quotes is no reference
    if (key.type !== "Identifier") continue;
    written.set(key.name, value === null ? { type: "", value: null, text: key.name } : writtenOf(value, source));
  }
  for (const each of given) {
    const key = each.text("key");
    if (key === "") continue;
    const before = written.get(key) ?? { type: "", value: null, text: '""' };
    const type = each.text("type") === "" ? before.type : typeName(each.text("type"));
    const raw = each.raw("default");
    if (raw === undefined) {
      const isUntyped = before.isUntyped === true && each.text("type") === "";
      written.set(key, type === before.type ? { ...before, isUntyped } : { ...valueAs(type, before.value), value: before.value });
    } else if (!isEnvValue(raw)) written.set(key, { ...before, type, value: null });
    else if (type !== "duration" || !prefix.endsWith(".task")) written.set(key, { ...valueAs(type, raw), value: raw });
    else if (typeof raw !== "number") {
      // the period of a task is needed to plan it
      const length = parseDuration(String(raw));
      if (length === null) each.issue("default", `must be of the type ${JSON.stringify(type)}`);
      else if (length.months === 0n) written.set(key, durationWritten(length.ns));
      else written.set(key, valueAs(type, raw));
    }
  }
  const parameters = [...written].map(([key, { type, isUntyped = false, value, text }]): Parameter => {
    const envRefKey = `${prefix}.${key}`;
    const own = spec.given(envRefKey);
    const shownType = isUntyped ? "" : (SHOWN_TYPES[type] ?? type);
    return { key, envRefKey, type, shownType, value: own, defaultValue: value, literal: own === null ? text : valueAs(type, own).text };
  });
  const path = `${spec.place}.${prefix.slice(prefix.lastIndexOf(".") + 1)}`;
  for (const { key, envRefKey, shownType: valueType, value, defaultValue } of parameters) {
    spec.refer({ resourceField: `${path}.${key}`, envRefKey, valueType, value, defaultValue });
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

/** What is written in the script stays as it is, unless a request or the template has another value. */
function writtenOf(at: Expression, source: string): Written {
  const text = source.slice(at.location.from, at.location.to);
  const isNegative = at.type === "UnaryExpression" && at.operator === "-";
  const literal = isNegative ? at.argument : at;
  if (isNegative) {
    const read = writtenOf(literal, source);
    if (read.type === "duration" && typeof read.value === "number") {
      return { type: "duration", isUntyped: true, value: `-${clockText(BigInt(read.value))}`, text };
    }
    const isNumber = typeof read.value === "number";
    return { type: isNumber ? read.type : "", isUntyped: true, value: isNumber ? -(read.value as number) : null, text };
  }
  switch (literal.type) {
    case "StringLiteral":
      return { type: "string", value: literal.value, text };
    case "IntegerLiteral":
      return { type: "int", value: Number(literal.value), text };
    case "FloatLiteral":
      return { type: "float", value: literal.value, text };
    case "DateTimeLiteral":
      return { type: "time", value: literal.value, text };
    case "CallExpression":
      return /^now\(\s*\)$/.test(text) ? { type: "time", isUntyped: true, value: "now()", text } : { type: "", value: null, text };
    // names in the language
    case "Identifier":
      return { type: text === "true" || text === "false" ? "bool" : "", isUntyped: true, value: null, text };
    case "DurationLiteral": {
      const { months, ns } = durationOf(literal.values);
      // months have no fixed length
      return months === 0n ? durationWritten(ns) : { type: "duration", value: text, text };
    }
    default:
      return { type: "", value: null, text };
  }
}

/** "": no type that a parameter may have. */
function typeName(given: string): string {
  const names: Readonly<Record<string, string>> = {
    ...{ bool: "bool", booleanliteral: "bool", duration: "duration", durationliteral: "duration" },
    ...{ float: "float", floatliteral: "float", int: "int", integerliteral: "int" },
    ...{ string: "string", stringliteral: "string", time: "time", datetimeliteral: "time" },
  };
  const lower = given.toLowerCase();
  return Object.hasOwn(names, lower) ? names[lower]! : "";
}

/** What a value of another type stands for is the zero of the type; of a parameter without one its own type counts. */
function valueAs(type: string, value: EnvValue | null): Written {
  switch (type) {
    case "string":
      return { type, value, text: quoted(value === null ? "" : String(value)) };
    case "bool":
      return { type, value, text: String(String(value) === "true") };
    case "int": {
      const text = typeof value === "number" ? (textIn(Math.trunc(value)) ?? "") : String(value);
      const whole = /^-?\d{1,19}$/.test(text) ? BigInt(text) : 0n;
      return { type, value, text: whole >= -WHOLE_MAX && whole < WHOLE_MAX ? whole.toString() : "0" };
    }
    case "float": {
      const text = textIn(value) ?? "";
      if (!/^-?\d+(\.\d+)?$/.test(text) || text.length > 340) return { type, value, text: "0.0" };
      return { type, value, text: text.includes(".") ? text : `${text}.0` };
    }
    case "time": {
      const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d))?$/.test(String(value));
      return { type, value, text: isTime ? String(value) : "now()" };
    }
    case "duration": {
      if (typeof value === "number" && Number.isSafeInteger(value)) return durationWritten(BigInt(value));
      const isDuration = typeof value === "string" && value.length <= 64 && parseDuration(value) !== null;
      return { type, value, text: isDuration ? value.trim() : "0m" };
    }
    default:
      return { type: "", value, text: typeof value === "boolean" ? String(value) : quoted(value === null ? "" : String(value)) };
  }
}

function durationWritten(ns: bigint): Written {
  const isExact = ns % 1_000_000_000n === 0n;
  return { type: "duration", value: Number(ns), text: isExact ? clockText(ns) : durationText({ months: 0n, ns }) };
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
