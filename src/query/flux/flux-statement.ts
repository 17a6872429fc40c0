// A statement in Flux inside the query worker: annotated CSV, or what editors ask about a script.
import type { CsvPiece, KernelRows } from "../../flux/encode/annotated-csv.ts";
import { programsOf } from "../../flux/interpret/program-cache.ts";
import { answerQuery, type FluxQuery } from "../../flux/interpret/query.ts";
import { limitsFor } from "../../flux/interpret/run-limits.ts";
import type { FluxServices } from "../../flux/interpret/services.ts";
import { fluxLibrary } from "../../flux/library/packages.ts";
import type { File } from "../../flux/parse/ast.ts";
import { placeText, type SyntaxProblem, treeProblems } from "../../flux/parse/check.ts";
import { externFiles, filesOfJson, packageJson } from "../../flux/parse/json.ts";
import { parseFile } from "../../flux/parse/parser.ts";
import { regexpError } from "../../flux/values/regexp.ts";
import { Time } from "../../flux/values/value.ts";
import { near, TsdbError } from "../../model/errors.ts";
import type { FluxOptions } from "../../model/query/flux.ts";
import { Turns } from "../../model/turns.ts";
import { OUTGOING_LIMITS, outgoingHttp } from "../../outgoing/outgoing-http.ts";
import { publishMqtt } from "../../outgoing/outgoing-mqtt.ts";
import { SQL_LIMITS, sqlService } from "../../outgoing/sql/sql-service.ts";
import { GivenSecrets } from "./given-secrets.ts";
import { StoredSource, type StoredSourceParts } from "./stored-source.ts";
import { allSuggestions, type Suggestion, suggestionFor } from "./suggestions.ts";

export interface FluxAnswer {
  readonly contentType: string;
  readonly parts: AsyncIterable<Uint8Array>;
  readonly source: StoredSource;
}

const CSV = "text/csv; charset=utf-8";
const JSON_TYPE = "application/json; charset=utf-8";
/** Of an analysis. */
const PROBLEMS_MAX = 100;
const PROBLEM_LENGTH_MAX = 1000;
const encoder = new TextEncoder();

export interface FluxStatement {
  readonly text: string;
  readonly options: FluxOptions;
}

/** What the statement asks of the main thread. */
export interface FluxOutside extends Pick<FluxServices, "write"> {
  /** Called when the script begins and ends to wait for other servers. */
  readonly onWaits: (waits: boolean) => void;
}

/** @throws TsdbError bad_query, not_found, query_limit, cancelled */
export function runFlux(
  { text, options }: FluxStatement,
  parts: Omit<StoredSourceParts, "options">,
  { write, onWaits }: FluxOutside,
  kernelRows: KernelRows,
): FluxAnswer {
  const source = new StoredSource({ ...parts, options });
  const { task } = options;
  if (task !== "query" && task !== "run" && task !== "rehearse")
    return { contentType: JSON_TYPE, parts: once(inspected(text, task)), source };
  const secrets = new GivenSecrets(options.secrets);
  const services: FluxServices = {
    ...(write === undefined ? {} : { write }),
    secret: (key) => secrets.get(key),
    ...(task === "rehearse" ? {} : servers(options, secrets, parts.signal, onWaits)),
  };
  const script = scriptOf({ text, options }, services, kernelRows);
  return {
    contentType: CSV,
    parts: encoded(scriptPieces({ ...script, limits: limitsFor(parts.memoryBytesMax) }, source, parts.signal)),
    source,
  };
}

/** Requests to other servers. */
function servers(
  { allowsPrivateNetwork: allowsPrivate, sqliteFolder }: FluxOptions,
  secrets: GivenSecrets,
  signal: AbortSignal,
  onWaits: FluxOutside["onWaits"],
): Pick<FluxServices, "http" | "mqtt" | "sql"> {
  const limits = { ...OUTGOING_LIMITS, allowsPrivate };
  const sql = sqlService({ ...SQL_LIMITS, allowsPrivate, sqliteFolder }, signal);
  const waited = async <T>(ask: () => Promise<T>): Promise<T> => {
    onWaits(true);
    try {
      return await secrets.hiding(ask);
    } finally {
      onWaits(false);
    }
  };
  return {
    http: (request) => waited(() => outgoingHttp(request, limits, signal)),
    mqtt: (message) => waited(() => publishMqtt(message, limits, signal)),
    sql: { query: (...asked) => waited(() => sql.query(...asked)), insert: (...asked) => waited(() => sql.insert(...asked)) },
  };
}

function scriptOf({ text, options }: FluxStatement, services: FluxServices, kernelRows: KernelRows): FluxQuery {
  const extern: File[] = options.extern === null ? [] : externFiles(options.extern);
  if (options.ast !== null) extern.push(...filesOfJson(JSON.parse(options.ast)));
  const { nowNs, dialect, pushesDown = true, task } = options;
  return {
    text,
    extern,
    now: new Time(nowNs),
    dialect,
    pushesDown,
    services,
    kernelRows,
    withoutRows: task === "run" || task === "rehearse",
  };
}

/** Pieces of the answer. Other statements of the worker run between them. @throws FluxError before the first piece; TsdbError */
export async function* scriptPieces(query: FluxQuery, source: StoredSource, signal: AbortSignal): AsyncGenerator<CsvPiece> {
  const turns = new Turns(signal);
  for (const piece of answerQuery({ ...query, watch: () => turns.check() }, fluxLibrary(), source)) {
    if (piece instanceof Promise) await piece;
    else if (piece !== null) yield piece;
    const { waiting } = source;
    source.waiting = null;
    if (waiting !== null) await waiting;
    turns.check();
    const pause = turns.pause();
    if (pause !== null) await pause;
  }
}

async function* encoded(pieces: AsyncIterable<CsvPiece>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield typeof piece === "string" ? encoder.encode(piece) : piece;
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield encoder.encode(`${text}\n`);
}

function inspected(text: string, task: Exclude<FluxOptions["task"], "query" | "run">): string {
  if (task === "prepare") {
    programsOf(fluxLibrary()).program(text);
    return "";
  }
  if (task === "suggestions") return JSON.stringify(text === "" ? allSuggestions() : knownSuggestion(text));
  const file = parsed(text);
  const problems = treeProblems(file);
  if (task === "analyze") return JSON.stringify({ errors: problems.slice(0, PROBLEMS_MAX).map(analyzed) });
  const [first] = problems;
  if (first !== undefined)
    throw new TsdbError("bad_query", near(`invalid AST: loc ${placeText(first.location)}: ${first.message}`, PROBLEM_LENGTH_MAX));
  return JSON.stringify({ ast: packageJson(file, text) });
}

/** @throws TsdbError bad_query: errors of a nested text, each with the rest of it, are too long or too deep together */
function parsed(text: string): File {
  try {
    return parseFile(text, regexpError);
  } catch (error) {
    if (error instanceof RangeError) throw new TsdbError("bad_query", "the script is nested too deep");
    throw error;
  }
}

function knownSuggestion(name: string): Suggestion {
  const found = suggestionFor(name);
  if (found === null) throw new TsdbError("not_found", `function not found: ${near(name)}`);
  return found;
}

function analyzed({ location, message }: SyntaxProblem): unknown {
  return { line: location.start.line, column: location.start.column, character: 0, message: near(message, PROBLEM_LENGTH_MAX) };
}
