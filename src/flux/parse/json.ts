// Trees as JSON: what `/api/v2/query/ast` answers and what requests send as `ast` and `extern`.
import { TsdbError } from "../../model/errors.ts";
import { type File, NOWHERE, type SourceLocation } from "./ast.ts";

/** One file as a package, ready for JSON. @param file has no syntax problems: then it is not deep @param text what it was parsed from */
export function packageJson(file: File, text: string): unknown {
  return { type: "Package", package: file.package?.name.name ?? "main", files: [fileJson(file, text)] };
}

function fileJson(file: File, text: string): unknown {
  return {
    type: "File",
    ...(file.location === undefined ? {} : { location: locationJson(file.location, text) }),
    metadata: "parser-type=rust",
    package: nodeJson(file.package, text),
    imports: file.imports.length === 0 ? null : file.imports.map((each) => nodeJson(each, text)),
    body: file.body.map((each) => nodeJson(each, text)),
    ...(file.eof.length === 0 ? {} : { eof: commentsJson(file.eof) }),
  };
}

const LEFT_OUT: ReadonlySet<string> = new Set(["errors", "attributes"]);

function nodeJson(value: unknown, text: string): unknown {
  if (Array.isArray(value)) return value.map((each) => nodeJson(each, text));
  // JSON has no 64-bit integers: magnitudes of durations are numbers, integer literals texts (below)
  if (typeof value === "bigint") return Number(value);
  if (value === null || typeof value !== "object") return value;
  const node = value as Readonly<Record<string, unknown>>;
  if (node["type"] === "BadExpression") return null;
  if (node["type"] === "CallExpression" && (node["arguments"] as readonly unknown[]).length === 0) {
    const { arguments: _, ...rest } = node;
    return membersJson(rest, text);
  }
  return membersJson(node, text);
}

function membersJson(node: Readonly<Record<string, unknown>>, text: string): unknown {
  const isInteger = node["type"] === "IntegerLiteral" || node["type"] === "UnsignedIntegerLiteral";
  return Object.fromEntries(
    Object.entries(node).flatMap(([name, value]) => {
      if (LEFT_OUT.has(name)) return [];
      if (name === "location") return [[name, locationJson(value as SourceLocation, text)]];
      if (name === "comments") return [[name, commentsJson(value as readonly string[])]];
      return [[name, isInteger && name === "value" ? String(value) : nodeJson(value, text)]];
    }),
  );
}

function commentsJson(comments: readonly string[]): unknown {
  return comments.map((text) => ({ text }));
}

function locationJson({ start, end, from, to }: SourceLocation, text: string): unknown {
  return { start, end, source: text.slice(from, to) };
}

/** Nodes that a request may nest. */
const DEPTH_MAX = 200;
/** Members that hold a node or null where the JSON may leave them out. */
const OPTIONAL: Readonly<Record<string, readonly string[]>> = { Property: ["value"], ImportDeclaration: ["as"] };
const LISTS: Readonly<Record<string, readonly string[]>> = {
  CallExpression: ["arguments"],
  ObjectExpression: ["properties"],
  ArrayExpression: ["elements"],
  DictExpression: ["elements"],
  FunctionExpression: ["params"],
  StringExpression: ["parts"],
  DurationLiteral: ["values"],
  Block: ["body"],
};
/** Members that each kind of node has to have. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  Identifier: ["name"],
  BooleanLiteral: ["value"],
  IntegerLiteral: ["value"],
  UnsignedIntegerLiteral: ["value"],
  FloatLiteral: ["value"],
  StringLiteral: ["value"],
  RegexpLiteral: ["value"],
  DateTimeLiteral: ["value"],
  DurationLiteral: [],
  LabelLiteral: ["value"],
  PipeLiteral: [],
  TextPart: ["value"],
  InterpolatedPart: ["expression"],
  StringExpression: [],
  ParenExpression: ["expression"],
  ArrayExpression: [],
  DictExpression: [],
  Property: ["key"],
  ObjectExpression: [],
  MemberExpression: ["object", "property"],
  IndexExpression: ["array", "index"],
  CallExpression: ["callee"],
  PipeExpression: ["argument", "call"],
  UnaryExpression: ["operator", "argument"],
  BinaryExpression: ["operator", "left", "right"],
  LogicalExpression: ["operator", "left", "right"],
  ConditionalExpression: ["test", "consequent", "alternate"],
  FunctionExpression: ["body"],
  VariableAssignment: ["id", "init"],
  MemberAssignment: ["member", "init"],
  OptionStatement: ["assignment"],
  ExpressionStatement: ["expression"],
  ReturnStatement: ["argument"],
  Block: [],
  PackageClause: ["name"],
  ImportDeclaration: ["path"],
};

/** The files of an `ast` or `extern` member: a package or one file. @throws TsdbError bad_query: what is sent is no tree */
export function filesOfJson(json: unknown): File[] {
  const node = recordOf(json, "a tree");
  if (node["type"] === "Package") return arrayOf(node["files"], "files").map(fileOfJson);
  return [fileOfJson(node)];
}

function fileOfJson(json: unknown): File {
  const node = recordOf(json, "a file");
  return {
    type: "File",
    package: (node["package"] ?? null) === null ? null : (nodeOfJson(node["package"], 0) as unknown as File["package"]),
    imports: arrayOf(node["imports"], "imports").map((each) => nodeOfJson(each, 0)) as unknown as File["imports"],
    body: arrayOf(node["body"], "body").map((each) => nodeOfJson(each, 0)) as unknown as File["body"],
    eof: [],
  };
}

function nodeOfJson(json: unknown, depth: number): Record<string, unknown> {
  const given = recordOf(json, "a node");
  const type = String(given["type"]);
  const required = REQUIRED[type];
  if (required === undefined) throw badTree(`unknown node "${type.slice(0, 40)}"`);
  if (depth > DEPTH_MAX) throw badTree("nodes are nested too deep");
  const node: Record<string, unknown> = { type, location: NOWHERE };
  for (const name of [...required, ...(LISTS[type] ?? []), ...(OPTIONAL[type] ?? [])]) {
    const value = given[name] ?? null;
    if (value === null && required.includes(name)) throw badTree(`${type} without ${name}`);
    node[name] = memberOfJson(type, name, value, depth);
  }
  if ((given["with"] ?? null) !== null) node["with"] = nodeOfJson(given["with"], depth + 1);
  return node;
}

function memberOfJson(type: string, name: string, value: unknown, depth: number): unknown {
  if (LISTS[type]?.includes(name)) return arrayOf(value, name).map((each) => itemOfJson(type, each, depth));
  if (value === null) return null;
  if (name === "value" && type !== "Property") return literalOf(type, value);
  if (name === "operator" || name === "name") {
    if (typeof value === "string") return value;
    if (name === "operator" || type === "Identifier") throw badTree(`${type}: ${name} is no text`);
  }
  return nodeOfJson(value, depth + 1);
}

function itemOfJson(type: string, item: unknown, depth: number): unknown {
  if (type === "DurationLiteral") {
    const { magnitude, unit } = recordOf(item, "a duration");
    return { magnitude: integerOf(magnitude), unit: String(unit) };
  }
  if (type !== "DictExpression") return nodeOfJson(item, depth + 1);
  const { key, val } = recordOf(item, "an item of a dictionary");
  return { type: "DictItem", key: nodeOfJson(key, depth + 1), val: nodeOfJson(val, depth + 1) };
}

function literalOf(type: string, value: unknown): unknown {
  if (type === "BooleanLiteral" && typeof value === "boolean") return value;
  if (type === "FloatLiteral" && typeof value === "number") return value;
  if (type === "IntegerLiteral" || type === "UnsignedIntegerLiteral") return integerOf(value);
  if (typeof value === "string" && type !== "BooleanLiteral" && type !== "FloatLiteral") return value;
  throw badTree(`${type} has a value of the wrong type`);
}

function integerOf(value: unknown): bigint {
  if (typeof value === "number" && Number.isInteger(value)) return BigInt.asIntN(64, BigInt(value));
  if (typeof value === "string" && /^-?\d{1,20}$/.test(value)) return BigInt(value);
  throw badTree("an integer is expected");
}

function recordOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw badTree(`${what} is expected`);
  return value as Readonly<Record<string, unknown>>;
}

function arrayOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw badTree(`${what} is no list`);
  return value;
}

function badTree(what: string): TsdbError {
  return new TsdbError("bad_query", `invalid AST: ${what}`);
}
