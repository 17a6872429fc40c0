// Trees as JSON: what `/api/v2/query/ast` answers and what requests send as `ast` and `extern`.
import { near, TsdbError } from "../../model/errors.ts";
import type { File, SourceLocation } from "./ast.ts";
import { openingName, signComments } from "./json-comments.ts";
import { arrayOf, nodeOfJson, recordOf, STATEMENTS } from "./json-nodes.ts";

/** One file as a package, ready for JSON. @param file has no syntax problems: then it is not deep @param text what it was parsed from */
export function packageJson(file: File, text: string): unknown {
  return { type: "Package", package: file.package?.name.name ?? "main", files: [fileJson(file, text)] };
}

/** What a file was parsed from. */
interface Source {
  readonly text: string;
  /** A text without comments is not searched for them at every node. */
  readonly mayHaveComments: boolean;
}

function fileJson(file: File, text: string): unknown {
  const source = { text, mayHaveComments: text.includes("//") };
  return {
    type: "File",
    ...(file.location === undefined ? {} : { location: locationJson(file.location, text) }),
    metadata: "parser-type=rust",
    package: nodeJson(file.package, source),
    imports: file.imports.length === 0 ? null : file.imports.map((each) => nodeJson(each, source)),
    body: file.body.map((each) => nodeJson(each, source)),
    ...(file.eof.length === 0 ? {} : { eof: commentsJson(file.eof) }),
  };
}

const LEFT_OUT: ReadonlySet<string> = new Set(["errors", "attributes"]);

function nodeJson(value: unknown, source: Source): unknown {
  if (Array.isArray(value)) return value.map((each) => nodeJson(each, source));
  // JSON has no 64-bit integers: magnitudes of durations are numbers, integer literals texts (below)
  if (typeof value === "bigint") return Number(value);
  if (value === null || typeof value !== "object") return value;
  const node = value as Readonly<Record<string, unknown>>;
  if (node["type"] === "BadExpression") return null;
  if (node["type"] === "CallExpression" && (node["arguments"] as readonly unknown[]).length === 0) {
    const { arguments: _, ...rest } = node;
    return membersJson(rest, source);
  }
  return membersJson(node, source);
}

function membersJson(node: Readonly<Record<string, unknown>>, source: Source): unknown {
  const isInteger = node["type"] === "IntegerLiteral" || node["type"] === "UnsignedIntegerLiteral";
  const members = Object.entries(node).flatMap(([name, value]): [string, unknown][] => {
    if (LEFT_OUT.has(name)) return [];
    if (name === "location") return [[name, locationJson(value as SourceLocation, source.text)]];
    if (name === "comments") return [[openingName(node["type"]), commentsJson(value as readonly string[])]];
    return [[name, isInteger && name === "value" ? String(value) : nodeJson(value, source)]];
  });
  if (!source.mayHaveComments) return Object.fromEntries(members);
  const before = signComments(node, source.text).map(([name, comments]) => [name, commentsJson(comments)] as const);
  return Object.fromEntries([...members, ...before]);
}

function commentsJson(comments: readonly string[]): unknown {
  return comments.map((text) => ({ text }));
}

function locationJson({ start, end, from, to }: SourceLocation, text: string): unknown {
  return { start, end, source: text.slice(from, to) };
}

/** The files of an `ast` or `extern` member: a package or one file. @throws TsdbError bad_query: what is sent is no tree */
export function filesOfJson(json: unknown): File[] {
  const node = recordOf(json, "a tree");
  if (node["type"] === "Package") return arrayOf(node["files"], "files").map(fileOfJson);
  return [fileOfJson(node)];
}

/** Characters before the file in what the recorded server parses: its package around it. */
const EXTERN_FROM = 44;

/** The file of an `extern` member. It has to name its imports and its body, if only as null. @throws TsdbError bad_query, worded as the
 *  vendor's for what is no file */
export function externFiles(text: string): File[] {
  const json: unknown = JSON.parse(text);
  const refused = (what: string) => {
    const column = EXTERN_FROM + Buffer.byteLength(text);
    return new TsdbError("bad_query", `compilation failed: extern json parse error: ${what} at line 1 column ${column}`);
  };
  if (json === null || typeof json !== "object" || Array.isArray(json)) throw refused(`invalid type: ${shown(json)}, expected struct File`);
  if ("files" in json) return filesOfJson(json);
  for (const name of ["imports", "body"]) if (!Object.hasOwn(json, name)) throw refused(`missing field \`${name}\``);
  return filesOfJson(json);
}

function shown(value: unknown): string {
  if (typeof value === "string") return `string ${JSON.stringify(near(value))}`;
  if (typeof value === "number") return `${Number.isInteger(value) ? "integer" : "floating point"} \`${value}\``;
  return typeof value === "boolean" ? `boolean \`${value}\`` : "sequence";
}

function fileOfJson(json: unknown): File {
  const node = recordOf(json, "a file");
  return {
    type: "File",
    package: (node["package"] ?? null) === null ? null : (nodeOfJson(node["package"], ["PackageClause"]) as unknown as File["package"]),
    imports: arrayOf(node["imports"], "imports").map((each) => nodeOfJson(each, ["ImportDeclaration"])) as unknown as File["imports"],
    body: arrayOf(node["body"], "body").map((each) => nodeOfJson(each, STATEMENTS)) as unknown as File["body"],
    eof: [],
  };
}
