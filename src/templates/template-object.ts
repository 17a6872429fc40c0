// The objects of a template, parsed from JSON or YAML, within limits that are checked before they are processed.
import { near, TsdbError } from "../model/errors.ts";

export type Members = Readonly<Record<string, unknown>>;

export interface TemplateObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Members;
  readonly spec: Members;
}

const OBJECT_NAMES = new Map(["apiVersion", "kind", "metadata", "spec"].map((name) => [name.toLowerCase(), name]));
/** In all templates of a request together. */
export const OBJECTS_MAX = 1000;
const DEPTH_MAX = 64;
/** An alias of YAML counts as its full expansion. */
const NODES_MAX = 200_000;
/** Of all templates in a text of YAML, and the characters of their texts. */
const YAML_NODES_MAX = 2_000_000;
const TEXT_MAX = 64 << 20;

/** @throws TsdbError unprocessable */
export function readObjects(value: unknown): TemplateObject[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw unread(value, "a list of resources");
  if (value.length > OBJECTS_MAX) throw tooMany(value.length);
  let nodes = 0;
  const visit = (node: unknown, depth: number): void => {
    if (typeof node !== "object" || node === null) return;
    if (depth > DEPTH_MAX) throw new TsdbError("unprocessable", `a template is at most ${DEPTH_MAX} levels deep`);
    const items = Array.isArray(node) ? node : Object.values(node);
    nodes += items.length;
    if (nodes > NODES_MAX) throw tooManyValues(NODES_MAX);
    for (const item of items) visit(item, depth + 1);
  };
  visit(value, 0);
  return value.map(objectOf);
}

/** @throws TsdbError unprocessable */
export function requireObjectCount(count: number): void {
  if (count > OBJECTS_MAX) throw tooMany(count);
}

/** The documents of a YAML text: resources, or lists of them. @throws TsdbError unprocessable */
export function readYaml(text: string): unknown {
  requireFewCopies(text);
  try {
    const value: unknown = Bun.YAML.parse(text);
    requireSize(value);
    return value;
  } catch (cause) {
    if (cause instanceof TsdbError) throw cause;
    const message = cause instanceof RangeError ? `more than ${DEPTH_MAX} levels deep` : near((cause as Error).message, 100);
    throw new TsdbError("unprocessable", `yaml: ${message}`, {}, { cause });
  }
}

/** What may be an anchor or an alias: names are told apart by their first characters, which holds wherever the parser ends them. */
const MARKS = /(?<![\w.*&])[&*]\S/g;

/** The parser copies an anchored text for each of its aliases. The text ends before them, so each copies at most what lies between.
 *  @throws TsdbError unprocessable */
function requireFewCopies(text: string): void {
  const anchors = new Map<string, number>();
  let copied = 0;
  for (const { 0: mark, index } of text.matchAll(MARKS)) {
    const name = mark.charAt(1);
    if (mark.startsWith("*")) copied += index - (anchors.get(name) ?? index);
    else if (!anchors.has(name)) anchors.set(name, index);
    if (copied > TEXT_MAX) throw tooLong();
  }
}

/** An alias of a list or of members is the same object, so a small text may stand for more than can be processed.
 *  @throws TsdbError unprocessable; RangeError for a value within itself */
function requireSize(value: unknown): void {
  let nodes = 0;
  let length = 0;
  const visit = (node: unknown): void => {
    if (++nodes > YAML_NODES_MAX) throw tooManyValues(YAML_NODES_MAX);
    if (typeof node === "string") length += node.length;
    if (length > TEXT_MAX) throw tooLong();
    if (typeof node !== "object" || node === null) return;
    if (!Array.isArray(node)) for (const name of Object.keys(node)) length += name.length;
    for (const item of Array.isArray(node) ? node : Object.values(node)) visit(item);
  };
  visit(value);
}

function tooLong(): TsdbError {
  return new TsdbError("unprocessable", `yaml: its texts have more than ${TEXT_MAX} characters, aliases resolved`);
}

function tooManyValues(max: number): TsdbError {
  return new TsdbError("unprocessable", `a template has at most ${max} values, aliases resolved`);
}

/** Flattens the documents of YAML: the parser returns several documents as a list. */
export function flattened(value: unknown): unknown {
  if (value === null || value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).flat().filter((each) => each !== null);
}

/** True for an object. */
export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): TemplateObject {
  // null is a resource without members
  if (value !== null && !isMembers(value)) throw unread(value, "a resource");
  const { apiVersion, kind, metadata, spec } = anyCase(value ?? {});
  return {
    apiVersion: textIn(apiVersion, "apiVersion"),
    kind: textIn(kind, "kind"),
    metadata: membersIn(metadata, "metadata"),
    spec: membersIn(spec, "spec"),
  };
}

/** Names of these members count in any case of letters. */
function anyCase(members: Members): Members {
  const given = Object.entries(members).map(([name, value]) => [OBJECT_NAMES.get(name.toLowerCase()) ?? name, value] as const);
  return Object.fromEntries(given);
}

function unread(value: unknown, wanted: string): TsdbError {
  return new TsdbError("unprocessable", `json: cannot unmarshal ${kindOf(value)} into ${wanted}`);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
}

function tooMany(count: number): TsdbError {
  return new TsdbError("unprocessable", `a request has at most ${OBJECTS_MAX} resources, this one has ${count}`);
}

/** "": absent. @throws TsdbError unprocessable */
function textIn(value: unknown, what: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw unread(value, `a text as ${what}`);
  return value;
}

/** Empty: absent. @throws TsdbError unprocessable */
function membersIn(value: unknown, what: string): Members {
  if (value === undefined || value === null) return {};
  if (!isMembers(value)) throw unread(value, `an object as ${what}`);
  return value;
}
