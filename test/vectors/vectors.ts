// The recorded requests of v3 (v3/README.md): rows as bodies, and statements over them with the way each is sent.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { QueryParams } from "../../src/model/query/query.ts";
import { type RowStep, splitLines } from "../support/rows/row-states.ts";
import type { RecordedStep } from "./compare-steps.ts";
import type { RecordedRequest } from "./played-request.ts";

const FOLDER = join(import.meta.dir, "v3");
export const DATABASE = "vec";

/** A statement over the database. */
export interface StatementVector {
  readonly id: string;
  readonly request: { readonly q: string; readonly params?: QueryParams; readonly format?: string; readonly db?: string | null };
  /** The order of the rows is part of the answer. */
  readonly ordered?: boolean;
}

/** As recorded (v3/README.md). */
export interface RecordedAnswer {
  readonly columns?: readonly string[];
  /** Null where they are not known. */
  readonly types?: readonly string[] | null;
  /** By column. */
  readonly marks?: Readonly<Record<string, string>>;
  readonly rows?: readonly (readonly unknown[])[];
  /** Why there are no types and marks: without rows the vendor sends no file; other answers have no Parquet form. */
  readonly parquet?: "empty" | number;
  /** Content type. */
  readonly type?: string;
  readonly text?: string;
  readonly error?: string;
  readonly cut?: boolean;
}

/** A statement with what was recorded. */
export interface RecordedVector extends StatementVector {
  readonly status: number;
  readonly answer: RecordedAnswer;
  /** Why our answer may be another one. */
  readonly class?: string;
  /** Numbers are estimates. */
  readonly approx?: boolean;
  /** Columns alone count. */
  readonly shape?: boolean;
  /** The text of the answer counts, byte for byte. */
  readonly text?: boolean;
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
  readonly status: number;
  readonly answer: unknown;
  readonly class?: string;
}

function linesOf<T>(name: string): T[] {
  const lines = readFileSync(join(FOLDER, `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => parseExact(line) as T);
}

/** JSON with integers beyond 2^53 as they are. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, function (this: unknown, _: string, value: unknown, context?: { source?: string }) {
    const isLarge = typeof value === "number" && !Number.isSafeInteger(value);
    return isLarge && /^-?\d+$/.test(context?.source ?? "") ? BigInt(context!.source!) : value;
  } as (key: string, value: unknown) => unknown);
}

/** JSON of what `parseExact` gives. */
export function exactJson(value: unknown): string {
  const text = JSON.stringify(value, (_, part) => (typeof part === "bigint" ? `\0${part}\0` : part));
  return text.replace(/"\\u0000(-?\d+)\\u0000"/g, "$1");
}

/** Recorded before us, and recorded where ours was another one. */
export const sqlVectors = () => [...linesOf<RecordedVector>("sql").map(today), ...linesOf<RecordedVector>("near-sql")];

/** Asks for the day in UTC; recorded is the day on which it was asked. */
const ASKS_FOR_TODAY = "err-299";

function today(vector: RecordedVector): RecordedVector {
  if (vector.id !== ASKS_FOR_TODAY) return vector;
  return { ...vector, answer: { ...(vector.answer as object), rows: [[new Date().toISOString().slice(0, 10)]] } };
}
/** The v1 language: recorded before us, and recorded where ours was another one. */
export const tsdbqlVectors = () => [...linesOf<RecordedVector>("influxql"), ...linesOf<RecordedVector>("near-influxql")];
/** A write, and what is there afterwards; or steps about databases, tables, caches and more. */
export interface StepsVector {
  readonly id: string;
  readonly before?: readonly RecordedRequest[];
  readonly steps?: readonly RecordedStep[];
  /** Where there are no steps. */
  readonly request?: RecordedRequest;
  readonly status?: number;
  readonly answer?: unknown;
  readonly heads?: Readonly<Record<string, string>>;
  readonly after?: unknown;
  /** The database, where it is none of the case's own. */
  readonly cleanup?: string;
  readonly class?: string;
}

/** Commands of a client, one after the other. */
export interface CommandVector {
  readonly id: string;
  readonly steps: readonly {
    readonly args: readonly string[];
    readonly stdin?: string;
    readonly exit: number;
    readonly stdout: string;
  }[];
  readonly class?: string;
}

export const commandVectors = () => linesOf<CommandVector>("cli");
export const writeVectors = () => linesOf<StepsVector>("writes");
export const manageVectors = () => [...linesOf<StepsVector>("manage"), ...linesOf<StepsVector>("near-manage")];
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
