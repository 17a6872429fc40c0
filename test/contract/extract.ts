// Makes contract.json out of the two public OpenAPI files: what each operation takes and answers, references resolved, without prose. Run
// as a program it writes the file: `bun test/contract/extract.ts [folder]`. extract.test.ts says when that is due.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { LATER } from "./not-served.ts";

/** The words of JSON Schema that are kept of the files, in the dialect of OpenAPI 3.0. */
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
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  /** One of these. */
  readonly oneOf?: readonly Schema[];
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

/** What an operation takes and answers. */
export type OperationForm = Omit<Operation, "isEnterprise">;

/** By `METHOD path`. */
export type Contract = Readonly<Record<string, Operation>>;

/** The folder of the order, beside this repository or a little further up; it is no part of it. */
const SPEC_FOLDERS = ["../../../shared/spec/openapi", "../../../../shared/spec/openapi"].map((path) => join(import.meta.dir, path));
/** In this order: what both have is taken from the first. */
const FILES = ["v3-core.yaml", "v3-enterprise.yaml"] as const;
const TARGET = join(import.meta.dir, "contract.json");

const METHODS = new Set(["get", "post", "put", "patch", "delete", "head"]);
const KEPT = ["type", "required", "enum", "nullable", "format", "pattern"];
const BOUNDS = ["minimum", "maximum", "minLength", "maxLength", "minItems"];

export type Node = Readonly<Record<string, unknown>>;

/** Undefined: the files are not on this machine. */
export const specFolder = specFolderWith(FILES);

/** The folder that has all these files; undefined: none. */
export function specFolderWith(files: readonly string[]): string | undefined {
  return SPEC_FOLDERS.find((folder) => files.every((name) => existsSync(join(folder, name))));
}

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
        if (LATER.has(key)) continue;
        contract[key] = { isEnterprise: name === "v3-enterprise.yaml", ...new Extractor(document, KEPT).operation(operation) };
      }
    }
  }
  return { contract: sorted(contract), keys: [...keys].sort() };
}

/** Reads operations of one document. */
export class Extractor {
  /** References that are being followed: a schema within itself is anything. */
  private readonly within = new Set<string>();

  /** @param words those of a schema that are kept as they are; @param opaque schemas of which only the type is kept */
  constructor(
    private readonly document: Node,
    private readonly words: readonly string[] = [...KEPT, ...BOUNDS],
    private readonly opaque: ReadonlySet<string> = new Set(),
  ) {}

  operation(operation: Node): OperationForm {
    const parameters = (operation["parameters"] ?? []) as Node[];
    return {
      parameters: parameters.map((each) => this.parameter(this.resolve(each))),
      body: this.content(this.resolve(operation["requestBody"])),
      answers: sorted(
        Object.fromEntries(entries(operation["responses"]).map(([status, answer]) => [status, this.content(this.resolve(answer))])),
      ),
    };
  }

  private parameter({ name, in: place, required, schema }: Node): Parameter {
    return { name: name as string, in: place as Parameter["in"], required: required === true, schema: this.schema(schema) };
  }

  private content(holder: Node): Record<string, Schema> {
    return Object.fromEntries(entries(holder["content"]).map(([type, { schema }]) => [type, this.schema(schema)]));
  }

  private schema(source: unknown): Schema {
    const reference = (source as Node | undefined)?.["$ref"];
    if (typeof reference !== "string") return this.plain((source ?? {}) as Node);
    if (this.opaque.has(reference.split("/").at(-1)!)) return { type: "object" };
    if (this.within.has(reference)) return {};
    this.within.add(reference);
    const found = this.plain(this.resolve(source));
    this.within.delete(reference);
    return found;
  }

  private plain(node: Node): Schema {
    const schema: Record<string, unknown> = {};
    for (const word of this.words) if (node[word] !== undefined) schema[word] = node[word];
    const properties = entries(node["properties"]).map(([name, each]) => [name, this.schema(each)] as const);
    if (properties.length > 0) schema["properties"] = Object.fromEntries(properties);
    if (node["items"] !== undefined) schema["items"] = this.schema(node["items"]);
    const more = node["additionalProperties"];
    if (more !== undefined) schema["additionalProperties"] = typeof more === "boolean" ? more : this.schema(more);
    const choices = node["oneOf"] as unknown[] | undefined;
    if (choices !== undefined) schema["oneOf"] = choices.map((each) => this.schema(each));
    const all = (node["allOf"] as unknown[] | undefined) ?? [];
    return all.map((each) => this.schema(each)).reduce(merged, schema as Schema);
  }

  /** Follows `$ref` within the document. */
  private resolve(node: unknown): Node {
    let found = (node ?? {}) as Node;
    while (typeof found["$ref"] === "string") {
      const path = found["$ref"].replace(/^#\//, "").split("/");
      found = path.reduce<Node>((inner, name) => inner[name] as Node, this.document);
    }
    return found;
  }
}

/** What fits both. */
function merged(a: Schema, b: Schema): Schema {
  const required = [...new Set([...(a.required ?? []), ...(b.required ?? [])])];
  const properties = { ...a.properties, ...b.properties };
  return {
    ...a,
    ...b,
    ...(required.length === 0 ? {} : { required }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
  };
}

/** Writes the file as the formatter has it. */
export async function writeContract(path: string, contract: object): Promise<void> {
  // without line breaks: so the formatter makes as few as it needs
  await Bun.write(path, JSON.stringify(contract));
  Bun.spawnSync(["node_modules/.bin/biome", "format", "--write", path], { cwd: join(import.meta.dir, "../..") });
}

/** The members of an object; none of a missing one. */
export function entries(node: unknown): [string, Node][] {
  return Object.entries((node ?? {}) as Record<string, Node>);
}

/** The object with its members in the order of their names. */
export function sorted<T>(by: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(by).sort(([a], [b]) => (a < b ? -1 : 1)));
}

if (import.meta.main) {
  const folder = process.argv[2] ?? specFolder;
  if (folder === undefined) throw new Error(`no ${FILES.join(" and ")} in ${SPEC_FOLDERS.join(" or ")}`);
  const { contract } = await extract(folder);
  await writeContract(TARGET, contract);
}
