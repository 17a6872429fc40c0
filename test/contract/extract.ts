// Makes contract.json out of the two public OpenAPI files: what each operation takes and answers, references resolved, without prose. Run
// as a program it writes the file: `bun test/contract/extract.ts [folder]`. extract.test.ts says when that is due.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { LATER } from "./not-served.ts";

/** The words of JSON Schema that the files use, in the dialect of OpenAPI 3.0. */
export interface Schema {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly additionalProperties?: boolean | Schema;
}

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "header" | "path";
  readonly required: boolean;
  readonly schema: Schema;
}

export interface Operation {
  /** Only the extended edition has it. */
  readonly isEnterprise: boolean;
  readonly parameters: readonly Parameter[];
  /** By media type; empty: it takes none. */
  readonly body: Readonly<Record<string, Schema>>;
  /** By status, then by media type; no media type: the files do not say what the body is. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
}

/** By `METHOD path`. */
export type Contract = Readonly<Record<string, Operation>>;

/** The folder of the order, beside this repository or a little further up; it is no part of it. */
const SPEC_FOLDERS = ["../../../shared/spec/openapi", "../../../../shared/spec/openapi"].map((path) => join(import.meta.dir, path));
/** In this order: what both have is taken from the first. */
const FILES = ["v3-core.yaml", "v3-enterprise.yaml"] as const;
const TARGET = join(import.meta.dir, "contract.json");

const METHODS = new Set(["get", "post", "put", "patch", "delete", "head"]);
const KEPT = ["type", "required", "enum", "nullable", "format", "pattern"];

type Node = Readonly<Record<string, unknown>>;

/** Undefined: the files are not on this machine. */
export const specFolder = SPEC_FOLDERS.find((folder) => FILES.every((name) => existsSync(join(folder, name))));

/** Every operation that either file has, and which of them are of interest. */
export async function extract(folder: string): Promise<{ readonly contract: Contract; readonly keys: readonly string[] }> {
  const contract: Record<string, Operation> = {};
  const keys = new Set<string>();
  for (const name of FILES) {
    const document = Bun.YAML.parse(await Bun.file(join(folder, name)).text()) as Node;
    for (const [path, item] of entries(document["paths"])) {
      for (const [method, operation] of entries(item)) {
        if (!METHODS.has(method)) continue;
        const key = `${method.toUpperCase()} ${path}`;
        if (keys.has(key)) continue;
        keys.add(key);
        if (!LATER.has(key)) contract[key] = readOperation(document, operation as Node, name === "v3-enterprise.yaml");
      }
    }
  }
  return { contract: sorted(contract), keys: [...keys].sort() };
}

function readOperation(document: Node, operation: Node, isEnterprise: boolean): Operation {
  const parameters = (operation["parameters"] ?? []) as Node[];
  const body = resolve(document, operation["requestBody"]);
  return {
    isEnterprise,
    parameters: parameters.map((each) => readParameter(document, resolve(document, each))),
    body: readContent(document, body),
    answers: sorted(
      Object.fromEntries(
        entries(operation["responses"]).map(([status, answer]) => [status, readContent(document, resolve(document, answer))]),
      ),
    ),
  };
}

function readParameter(document: Node, { name, in: place, required, schema }: Node): Parameter {
  return {
    name: name as string,
    in: place as Parameter["in"],
    required: required === true,
    schema: readSchema(document, schema),
  };
}

function readContent(document: Node, holder: Node): Record<string, Schema> {
  return Object.fromEntries(entries(holder["content"]).map(([type, { schema }]) => [type, readSchema(document, schema)]));
}

function readSchema(document: Node, source: unknown): Schema {
  const node = resolve(document, source);
  const all = node["allOf"] as unknown[] | undefined;
  if (all !== undefined) return Object.assign({}, ...all.map((each) => readSchema(document, each))) as Schema;
  const schema: Record<string, unknown> = {};
  for (const word of KEPT) if (node[word] !== undefined) schema[word] = node[word];
  const properties = entries(node["properties"]).map(([name, each]) => [name, readSchema(document, each)] as const);
  if (properties.length > 0) schema["properties"] = Object.fromEntries(properties);
  if (node["items"] !== undefined) schema["items"] = readSchema(document, node["items"]);
  const more = node["additionalProperties"];
  if (more !== undefined) schema["additionalProperties"] = typeof more === "boolean" ? more : readSchema(document, more);
  return schema as Schema;
}

/** Follows `$ref` within the document. */
function resolve(document: Node, node: unknown): Node {
  let found = (node ?? {}) as Node;
  while (typeof found["$ref"] === "string") {
    const path = found["$ref"].replace(/^#\//, "").split("/");
    found = path.reduce<Node>((inner, name) => inner[name] as Node, document);
  }
  return found;
}

function entries(node: unknown): [string, Node][] {
  return Object.entries((node ?? {}) as Record<string, Node>);
}

function sorted<T>(by: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(by).sort(([a], [b]) => (a < b ? -1 : 1)));
}

if (import.meta.main) {
  const folder = process.argv[2] ?? specFolder;
  if (folder === undefined) throw new Error(`no ${FILES.join(" and ")} in ${SPEC_FOLDERS.join(" or ")}`);
  const { contract } = await extract(folder);
  // without line breaks: so the formatter makes as few as it needs
  await Bun.write(TARGET, JSON.stringify(contract));
  Bun.spawnSync(["node_modules/.bin/biome", "format", "--write", TARGET], { cwd: join(import.meta.dir, "../..") });
}
