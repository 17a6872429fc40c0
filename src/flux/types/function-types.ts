// Types of the function literals of all trees that were inferred, and what they ask of the records that the functions are called with.
import type { FunctionExpression } from "../parse/ast.ts";
import { fieldsOf, resolve, type Type, type TypeVariable } from "./type.ts";
import { typeLine } from "./type-text.ts";

interface KnownType {
  readonly type: Type;
  text: string | null;
  parameters: ReadonlyMap<string, ParameterFields> | null;
}

/** The members that a parameter's records are used with, in the order in which they were inferred; null: not of records that are known. */
type ParameterFields = ReadonlyMap<string, Type> | null;

/** Names of column types by parameter and label; null: not known, or not there. */
export type MemberTypes = ReadonlyMap<string, (label: string) => string | null>;

const TYPES = new WeakMap<FunctionExpression, KnownType>();

/** Keeps the type of a function literal, as long as there is its tree. */
export function keepFunctionType(node: FunctionExpression, type: Type): void {
  TYPES.set(node, { type, text: null, parameters: null });
}

/** The type of a function literal of a tree that was inferred. @throws FluxError: the type is too large */
export function functionTypeText(node: FunctionExpression): string {
  const known = TYPES.get(node);
  if (known === undefined) throw new Error("BUG: the type of a function is not known");
  known.text ??= typeLine(known.type);
  return known.text;
}

/** To be asked when the whole script is inferred. */
function fieldsByParameter(node: FunctionExpression): ReadonlyMap<string, ParameterFields> {
  const known = TYPES.get(node);
  if (known === undefined) return NO_PARAMETERS;
  if (known.parameters !== null) return known.parameters;
  const type = resolve(known.type);
  const parameters = new Map<string, ParameterFields>();
  for (const [name, each] of type.kind === "function" ? type.required : []) parameters.set(name, memberTypes(each));
  known.parameters = parameters;
  return parameters;
}

const NO_PARAMETERS: ReadonlyMap<string, ParameterFields> = new Map();

function memberTypes(given: Type): ParameterFields {
  const { kind } = resolve(given);
  if (kind !== "field" && kind !== "empty") return null;
  const members = new Map<string, Type>();
  // of a record that was extended with a label it had, the first one is seen
  for (const { label, type } of fieldsOf(given).fields) if (!members.has(label)) members.set(label, resolve(type));
  return members;
}

/** The labels that records given for a parameter must have, as inferred from all uses; null: not known. */
export function parameterLabels(node: FunctionExpression, parameter: string): Iterable<string> | null {
  return fieldsByParameter(node).get(parameter)?.keys() ?? null;
}

export interface Conflict {
  readonly wanted: string;
  readonly given: string;
}

/** The first column that has another type than the function was inferred for, or than another column of the same type variable. */
export function columnConflict(node: FunctionExpression, members: MemberTypes): Conflict | null {
  const chosen = new Map<TypeVariable, string>();
  for (const [parameter, fields] of fieldsByParameter(node)) {
    const columnType = members.get(parameter);
    if (columnType === undefined) continue;
    for (const [label, type] of fields ?? NO_FIELDS) {
      const given = columnType(label);
      if (given === null || !BASIC_NAMES.includes(given)) continue;
      const wanted = type.kind === "variable" ? (chosen.get(type) ?? given) : type.kind === "basic" ? type.name : typeLine(type);
      if (wanted !== given) return { wanted, given };
      if (type.kind === "variable") chosen.set(type, given);
    }
  }
  return null;
}

/** Others have more to compare than a name. */
const BASIC_NAMES: readonly string[] = ["bool", "int", "uint", "float", "string", "time", "duration", "regexp", "bytes"];
const NO_FIELDS: ReadonlyMap<string, Type> = new Map();

/** The type that inference finds for a member whose column is missing: its own, or that of a column of the same type variable. "invalid":
 *  none. Null: not known. */
export function inferredMember(node: FunctionExpression, members: MemberTypes, parameter: string, label: string): string | null {
  const parameters = fieldsByParameter(node);
  const type = parameters.get(parameter)?.get(label);
  if (type?.kind === "basic") return type.name;
  if (type?.kind !== "variable") return null;
  for (const [other, columnType] of members) {
    for (const [name, each] of parameters.get(other) ?? NO_FIELDS) {
      const found = each === type ? columnType(name) : null;
      if (found !== null) return found;
    }
  }
  return "invalid";
}

/** What a member is used as that no column can be: the kind of its values. Null: it may be a column. */
export function compositeMember(node: FunctionExpression, parameter: string, label: string): string | null {
  const type = fieldsByParameter(node).get(parameter)?.get(label);
  return type === undefined ? null : (COMPOSITES.get(type.kind) ?? null);
}

const COMPOSITES: ReadonlyMap<Type["kind"], string> = new Map([
  ["field", "object"],
  ["empty", "object"],
  ["array", "array"],
  ["dictionary", "dictionary"],
]);
