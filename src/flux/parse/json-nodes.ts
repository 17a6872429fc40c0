// Nodes of a tree out of JSON that a client has sent: each member is checked against what its place takes.
import { near, TsdbError } from "../../model/errors.ts";
import { NOWHERE } from "./ast.ts";

/** Nodes that a request may nest. */
const DEPTH_MAX = 200;

const EXPRESSIONS = [
  ...["Identifier", "BooleanLiteral", "IntegerLiteral", "UnsignedIntegerLiteral", "FloatLiteral", "StringLiteral", "RegexpLiteral"],
  ...["DateTimeLiteral", "DurationLiteral", "LabelLiteral", "PipeLiteral", "StringExpression", "ParenExpression", "ArrayExpression"],
  ...["DictExpression", "ObjectExpression", "MemberExpression", "IndexExpression", "CallExpression", "PipeExpression", "UnaryExpression"],
  ...["BinaryExpression", "LogicalExpression", "ConditionalExpression", "FunctionExpression"],
];
export const STATEMENTS = ["VariableAssignment", "OptionStatement", "ExpressionStatement", "ReturnStatement"];
const INT_MAX = (1n << 63n) - 1n;
const LABELS = ["Identifier", "StringLiteral"];

/** What a member holds: nodes of these types, or a value that `read` makes of the JSON. */
type Reader = (value: unknown) => unknown;
interface NodeMember {
  readonly types: readonly string[];
  /** A list, which may be left out when it is empty. */
  readonly isList?: boolean;
  /** `undefined` or null stands for an absent node. */
  readonly absent?: undefined | null;
}
type Member = Reader | NodeMember;

const one = (...types: readonly string[]): NodeMember => ({ types });
const list = (...types: readonly string[]): NodeMember => ({ types, isList: true });
const optional = (absent: undefined | null, ...types: readonly string[]): NodeMember => ({ types, absent });
const EXPRESSION = one(...EXPRESSIONS);

const oneOf =
  (...texts: readonly string[]): Reader =>
  (value) => {
    if (typeof value === "string" && texts.includes(value)) return value;
    throw badTree(`${typeof value === "string" ? `"${near(value)}"` : "a value"} is none of ${texts.join(" ")}`);
  };
const text: Reader = (value) => {
  if (typeof value === "string") return value;
  throw badTree("a text is expected");
};

const MEMBERS: Readonly<Record<string, Readonly<Record<string, Member>>>> = {
  Identifier: { name: text },
  BooleanLiteral: { value: booleanOf },
  IntegerLiteral: { value: (value) => integerOf(value, -INT_MAX - 1n, INT_MAX) },
  UnsignedIntegerLiteral: { value: (value) => integerOf(value, 0n, 2n * INT_MAX + 1n) },
  FloatLiteral: { value: floatOf },
  StringLiteral: { value: text },
  RegexpLiteral: { value: text },
  DateTimeLiteral: { value: text },
  DurationLiteral: { values: (value) => arrayOf(value, "values").map(durationPart) },
  LabelLiteral: { value: text },
  PipeLiteral: {},
  TextPart: { value: text },
  InterpolatedPart: { expression: EXPRESSION },
  StringExpression: { parts: list("TextPart", "InterpolatedPart") },
  ParenExpression: { expression: EXPRESSION },
  ArrayExpression: { elements: list(...EXPRESSIONS) },
  DictExpression: { elements: list("DictItem") },
  DictItem: { key: EXPRESSION, val: EXPRESSION },
  Property: { key: one(...LABELS), value: optional(null, ...EXPRESSIONS) },
  ObjectExpression: { with: optional(undefined, "Identifier"), properties: list("Property") },
  MemberExpression: { object: EXPRESSION, property: one(...LABELS) },
  IndexExpression: { array: EXPRESSION, index: EXPRESSION },
  CallExpression: { callee: EXPRESSION, arguments: list("ObjectExpression") },
  PipeExpression: { argument: EXPRESSION, call: one("CallExpression") },
  UnaryExpression: { operator: oneOf("-", "+", "not", "exists"), argument: EXPRESSION },
  BinaryExpression: {
    operator: oneOf("+", "-", "*", "/", "%", "^", "==", "!=", "<", "<=", ">", ">=", "=~", "!~"),
    left: EXPRESSION,
    right: EXPRESSION,
  },
  LogicalExpression: { operator: oneOf("and", "or"), left: EXPRESSION, right: EXPRESSION },
  ConditionalExpression: { test: EXPRESSION, consequent: EXPRESSION, alternate: EXPRESSION },
  FunctionExpression: { params: list("Property"), body: one(...EXPRESSIONS, "Block") },
  Block: { body: list(...STATEMENTS) },
  VariableAssignment: { id: one("Identifier"), init: EXPRESSION },
  MemberAssignment: { member: one("MemberExpression"), init: EXPRESSION },
  OptionStatement: { assignment: one("VariableAssignment", "MemberAssignment") },
  ExpressionStatement: { expression: EXPRESSION },
  ReturnStatement: { argument: EXPRESSION },
  PackageClause: { name: one("Identifier") },
  ImportDeclaration: { as: optional(null, "Identifier"), path: one("StringLiteral") },
};

/** @param types that the node may have @throws TsdbError bad_query: it is no such node, or deeper than DEPTH_MAX */
export function nodeOfJson(json: unknown, types: readonly string[], depth = 0): Record<string, unknown> {
  const given = recordOf(json, "a node");
  // items of a dictionary have no type of their own in JSON
  const [only] = types;
  const type = only === "DictItem" ? only : typeof given["type"] === "string" ? given["type"] : "";
  const members = Object.hasOwn(MEMBERS, type) ? MEMBERS[type] : undefined;
  if (members === undefined) throw badTree(`unknown node "${near(type)}"`);
  if (!types.includes(type)) throw badTree(`a node ${type} where ${types.length > 3 ? "an expression" : types.join(" or ")} is expected`);
  if (depth > DEPTH_MAX) throw badTree("nodes are nested too deep");
  const node: Record<string, unknown> = { type, location: NOWHERE };
  for (const [name, member] of Object.entries(members)) {
    const value = memberOfJson(type, name, member, Object.hasOwn(given, name) ? given[name] : null, depth);
    if (value !== undefined) node[name] = value;
  }
  if (type === "CallExpression" && (node["arguments"] as readonly unknown[]).length > 1)
    throw badTree("a call has one record of arguments");
  return node;
}

function memberOfJson(type: string, name: string, member: Member, given: unknown, depth: number): unknown {
  const value = given ?? null;
  if (typeof member !== "function" && member.isList === true) {
    return arrayOf(value, name).map((each) => nodeOfJson(each, member.types, depth + 1));
  }
  if (value === null && typeof member !== "function" && "absent" in member) return member.absent;
  if (value === null && !(type === "DurationLiteral")) throw badTree(`${type} without ${name}`);
  return typeof member === "function" ? member(value) : nodeOfJson(value, member.types, depth + 1);
}

const DURATION_UNITS = oneOf("ns", "us", "µs", "ms", "s", "m", "h", "d", "w", "mo", "y");

function durationPart(item: unknown): unknown {
  const { magnitude, unit } = recordOf(item, "a duration");
  // the largest magnitude is rounded up as a number of JSON
  const rounded = integerOf(magnitude, -INT_MAX, INT_MAX + 1n);
  return { magnitude: rounded > INT_MAX ? INT_MAX : rounded, unit: DURATION_UNITS(unit) };
}

function booleanOf(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw badTree("true or false is expected");
}

function floatOf(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw badTree("a number is expected");
}

function integerOf(value: unknown, least: bigint, most: bigint): bigint {
  const isNumber = typeof value === "number" && Number.isInteger(value) && Math.abs(value) <= 2 ** 64;
  if (!isNumber && !(typeof value === "string" && /^-?\d{1,20}$/.test(value))) throw badTree("an integer is expected");
  const integer = BigInt(value as number | string);
  if (integer >= least && integer <= most) return integer;
  throw badTree(`${integer} is not between ${least} and ${most}`);
}

/** @throws TsdbError bad_query: the value is no object */
export function recordOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw badTree(`${what} is expected`);
  return value as Readonly<Record<string, unknown>>;
}

/** Absent and null are an empty list. @throws TsdbError bad_query: the value is no list */
export function arrayOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw badTree(`${what} is no list`);
  return value;
}

function badTree(what: string): TsdbError {
  return new TsdbError("bad_query", `invalid AST: ${what}`);
}
