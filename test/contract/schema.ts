// Whether a value is what a schema says: the words that the OpenAPI files use, and a few more that the tables of this folder need.
import type { Schema } from "./extract.ts";

export interface StrictSchema extends Schema {
  readonly properties?: Readonly<Record<string, StrictSchema>>;
  readonly items?: StrictSchema;
  readonly maxItems?: number;
  readonly oneOf?: readonly StrictSchema[];
  /** At least one of these. */
  readonly anyOf?: readonly StrictSchema[];
  readonly const?: unknown;
  readonly patternProperties?: Readonly<Record<string, StrictSchema>>;
}

const WORDS = new Set([
  ...["type", "properties", "required", "items", "enum", "nullable", "format", "pattern", "additionalProperties", "maxItems", "oneOf"],
  ...["anyOf", "const", "patternProperties", "minimum", "maximum", "minLength", "maxLength", "minItems"],
  // they tell people something, or are true of bytes alone
  ...["description", "default", "contentEncoding"],
]);
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** What is wrong with `value`, a line each. @throws Error for a schema with words that are not known here */
export function mistakes(schema: StrictSchema, value: unknown, path = "the body"): string[] {
  const unknown = Object.keys(schema).filter((word) => !WORDS.has(word));
  if (unknown.length > 0) throw new Error(`cannot check ${unknown.join(", ")} of a schema`);
  if (schema.oneOf !== undefined) {
    const fits = schema.oneOf.filter((each) => mistakes(each, value, path).length === 0).length;
    return fits === 1 ? [] : [`${path} fits ${fits} of ${schema.oneOf.length} forms: ${shown(value)}`];
  }
  if (schema.anyOf !== undefined) {
    const isOne = schema.anyOf.some((each) => mistakes(each, value, path).length === 0);
    return isOne ? [] : [`${path} fits none of ${schema.anyOf.length} forms: ${shown(value)}`];
  }
  if (schema.const !== undefined && schema.const !== value) return [`${path} is not ${shown(schema.const)}: ${shown(value)}`];
  if (value === null && (schema.nullable || schema.type === undefined)) return [];
  if (schema.type !== undefined && !isOf(schema.type, value)) return [`${path} is no ${schema.type}: ${shown(value)}`];
  const found: string[] = [];
  if (schema.enum !== undefined && !schema.enum.includes(value))
    found.push(`${path} is none of ${schema.enum.join(", ")}: ${shown(value)}`);
  if (typeof value === "number") found.push(...outside(value, schema.minimum, schema.maximum, path));
  if (typeof value === "string") {
    found.push(...outside([...value].length, schema.minLength, schema.maxLength, `the length of ${path}`));
    if (schema.format === "date-time" && !DATE_TIME.test(value)) found.push(`${path} is no time: ${value}`);
    if (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(value)) found.push(`${path} does not match: ${value}`);
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    found.push(...outside(value.length, schema.minItems, undefined, `the length of ${path}`));
    if (schema.maxItems !== undefined && value.length > schema.maxItems) found.push(`${path} has ${value.length} items`);
    if (items !== undefined) found.push(...value.flatMap((item, i) => mistakes(items, item, `${path}[${i}]`)));
  } else if (typeof value === "object" && value !== null) {
    found.push(...membersOf(schema, value as Record<string, unknown>, path));
  }
  return found;
}

function outside(value: number, minimum = -Infinity, maximum = Infinity, path: string): string[] {
  return value < minimum || value > maximum ? [`${path} is ${value}, not from ${minimum} to ${maximum}`] : [];
}

function membersOf(schema: StrictSchema, value: Readonly<Record<string, unknown>>, path: string): string[] {
  const { required = [], properties = {}, additionalProperties: more = true } = schema;
  const found = required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${path} has no ${name}`);
  const patterns = Object.entries(schema.patternProperties ?? {});
  for (const [name, member] of Object.entries(value)) {
    const other = patterns.find(([pattern]) => new RegExp(pattern, "u").test(name))?.[1] ?? (typeof more === "object" ? more : undefined);
    const known = Object.hasOwn(properties, name) ? properties[name]! : other;
    if (known !== undefined) found.push(...mistakes(known, member, `${path}.${name}`));
    else if (more === false) found.push(`${path} has a member ${name}`);
  }
  return found;
}

function isOf(type: NonNullable<Schema["type"]>, value: unknown): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  if ((type as string) === "null") return value === null;
  if (type === "integer") return Number.isInteger(value);
  // the words that are left are the language's own
  return typeof value === type;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 100);
}
