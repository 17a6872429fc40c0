// The recorded requests of v3 (v3/README.md): rows as bodies, and statements over them with the way each is sent.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { QueryParams } from "../../src/model/query.ts";
import { type RowStep, splitLines } from "../support/row-states.ts";

const FOLDER = join(import.meta.dir, "v3");
export const DATABASE = "vec";

/** A statement over the database. */
export interface StatementVector {
  readonly id: string;
  readonly request: { readonly q: string; readonly params?: QueryParams; readonly format?: string; readonly db?: string | null };
  /** The order of the rows is part of the answer. */
  readonly ordered?: boolean;
}

/** A request of /query. */
export interface RequestVector {
  readonly id: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly query?: Readonly<Record<string, string>> | string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly json?: unknown;
  };
}

function linesOf<T>(name: string): T[] {
  const lines = readFileSync(join(FOLDER, `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as T);
}

export const sqlVectors = () => linesOf<StatementVector>("sql");
export const tsdbqlVectors = () => linesOf<StatementVector>("influxql");
export const requestVectors = () => linesOf<RequestVector>("query");

/** Each file a body, in the order of their names. */
export function vectorSteps(): RowStep[] {
  const names = readdirSync(join(FOLDER, "data")).sort();
  return names.map((name) => ({ database: DATABASE, lines: readFileSync(join(FOLDER, "data", name), "utf8") }));
}

/** Tables that the rows are in. */
export function vectorTables(): string[] {
  const lines = vectorSteps().flatMap((step) => ("lines" in step ? splitLines(step.lines) : []));
  const names = lines.filter((line) => !line.startsWith("#")).map((line) => /^(?:[^,\s\\]|\\.)+/.exec(line)![0].replaceAll("\\", ""));
  return [...new Set(names)];
}

/** Status and text. */
export async function play(url: string, { request }: RequestVector): Promise<string> {
  const { method, path, query = "", headers = {}, body, json } = request;
  const search = typeof query === "string" ? query : new URLSearchParams(query).toString();
  const type = json === undefined ? {} : { "content-type": "application/json" };
  const sent = json === undefined ? body : JSON.stringify(json);
  const response = await fetch(`${url}${path}?${search}`, {
    ...{ method, headers: { ...type, ...headers } },
    ...(sent === undefined ? {} : { body: sent }),
  });
  return `${response.status} ${Buffer.from(await response.arrayBuffer()).toString("latin1")}`;
}
