// tsdb query: runs one statement and prints its rows to the terminal, a pager or a file.
import { readFileSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { TsdbError } from "../../model/errors.ts";
import { Api, CONNECTION, DATABASE, piecesOf } from "./api.ts";
import type { ClientCommand, Terminal } from "./command.ts";
import { askFlux, BUCKETS_TOKEN_ENV, fluxFormatOf, ORGANIZATION, organizationOf } from "./flux/ask.ts";
import type { Input } from "./options.ts";
import { NO_PAGER, pagerOf, showAnswer, withLastNewline } from "./pager.ts";
import { PARAM, paramsOf } from "./params.ts";

const LANGUAGES: Readonly<Record<string, string>> = {
  sql: "/api/v3/query_sql",
  influxql: "/api/v3/query_tsdbql",
  tsdbql: "/api/v3/query_tsdbql",
};
const V2_HOST = "http://127.0.0.1:8086";
const FORMATS = ["pretty", "json", "jsonl", "csv", "parquet", "arrow"];
const BINARY: ReadonlySet<string> = new Set(["parquet", "arrow"]);

/** The text of `--file`, of the argument or of standard input. @throws TsdbError config */
export async function statementOf(input: Input, { input: standardInput, isInputTerminal }: Terminal): Promise<string> {
  const path = input.option("file");
  const [text] = input.positionals;
  if (path !== undefined && path !== "-") {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      throw new TsdbError("config", `--file: ${(error as Error).message}`, {});
    }
  }
  if (text !== undefined && text !== "-") return text;
  if (isInputTerminal) throw new TsdbError("config", "no statement: give it as an argument, with --file, or on standard input", {});
  return new Response(standardInput()).text();
}

async function save(pieces: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const file = await open(path, "w").catch(cannotWrite);
  try {
    for await (const piece of pieces) await file.appendFile(piece).catch(cannotWrite);
    await file.close();
  } catch (error) {
    const isFile = (await file.stat()).isFile();
    await file.close();
    // do not leave an incomplete file
    if (isFile) rmSync(path, { force: true });
    throw error;
  }
}

function cannotWrite(error: Error): never {
  throw new TsdbError("io", `--output: ${error.message}`, {}, { cause: error });
}

/** A script over the buckets of an organization. */
async function runFlux(input: Input, terminal: Terminal): Promise<number> {
  const format = fluxFormatOf(input.option("format")!);
  if (input.option("param") !== undefined) throw new TsdbError("config", "--param is not for flux: write the value into the script", {});
  const organization = organizationOf(input);
  const renamed: Readonly<Record<string, string | undefined>> = {
    host: input.option("v2-host"),
    token: input.option("v2-token") ?? input.option("token"),
  };
  const option = (name: string) => (Object.hasOwn(renamed, name) ? renamed[name] : input.option(name));
  const api = new Api({ flag: (name) => input.flag(name), option });
  const script = await statementOf(input, terminal);
  const aborter = new AbortController();
  const pieces = await askFlux(api, organization, { script, format, signal: aborter.signal });
  const output = input.option("output");
  if (output !== undefined) await save(pieces, output);
  else if (terminal.isOutputTerminal || format === "pretty") {
    const pager = format === "pretty" ? pagerOf(input, terminal) : null;
    await showAnswer(pieces, terminal, { pager, cancel: () => aborter.abort() });
  } else for await (const piece of withLastNewline(pieces)) await terminal.out(piece);
  return 0;
}

export const QUERY_COMMAND: ClientCommand = {
  words: ["query"],
  aliases: ["q"],
  summary: "Run one statement.",
  notes: `tsdb query -d home 'SELECT * FROM temp LIMIT 10'
tsdb query -d home 'SELECT * FROM temp WHERE room = $room AND v > $low' --param room=hall --param low=20.5
tsdb query -d home --format parquet -o temp.parquet 'SELECT * FROM temp'
tsdb query -l flux --org home 'from(bucket: "home") |> range(start: -1h)'`,
  positionals: [{ name: "STATEMENT", isOptional: true }],
  options: [
    DATABASE,
    { name: "language", short: "l", value: "LANGUAGE", help: "sql, influxql or flux.", default: "sql" },
    { name: "format", value: "FORMAT", help: `${FORMATS.join(", ")}.`, default: "pretty" },
    PARAM,
    { name: "output", short: "o", value: "FILE", help: "Write the answer to this file; on a terminal, parquet and arrow need one." },
    { name: "file", short: "f", value: "FILE", help: "File with the statement; - is standard input." },
    NO_PAGER,
    ...CONNECTION,
    ORGANIZATION,
    { name: "v2-host", value: "URL", help: "The bucket-based API, for flux.", default: V2_HOST, env: ["TSDB_V2_HOST_URL", "INFLUX_HOST"] },
    { name: "v2-token", value: "TOKEN", help: "Its API token, otherwise --token.", env: BUCKETS_TOKEN_ENV },
  ],
  verb: "Query",
  async run(input, terminal) {
    const api = new Api(input);
    const language = input.option("language")!;
    if (language === "flux") return runFlux(input, terminal);
    const path = Object.hasOwn(LANGUAGES, language) ? LANGUAGES[language]! : undefined;
    if (path === undefined) throw new TsdbError("config", `--language must be sql, influxql or flux, got "${language}"`, {});
    const format = input.option("format")!;
    if (!FORMATS.includes(format)) throw new TsdbError("config", `--format must be ${FORMATS.join(", ")}, got "${format}"`, {});
    const output = input.option("output");
    const isBinary = BINARY.has(format);
    if (isBinary && output === undefined && terminal.isOutputTerminal) {
      throw new TsdbError("config", `--format ${format} is not for a terminal: give --output FILE, or redirect it to a file`, {});
    }
    const db = input.required("database");
    const q = await statementOf(input, terminal);
    const params = paramsOf(input);
    const pager = format === "pretty" ? pagerOf(input, terminal) : null;
    const aborter = new AbortController();
    // assembled as text: JavaScript has no 64-bit numbers in JSON
    const body = `${JSON.stringify({ db, q, format }).slice(0, -1)},"params":${params}}`;
    const headers = { "content-type": "application/json" };
    const response = await api.call("POST", path, { body, headers, signal: aborter.signal });
    if (output !== undefined) await save(piecesOf(response), output);
    else if (terminal.isOutputTerminal || format === "pretty") {
      await showAnswer(piecesOf(response), terminal, { pager, cancel: () => aborter.abort() });
    } else {
      const pieces = isBinary ? piecesOf(response) : withLastNewline(piecesOf(response));
      for await (const piece of pieces) await terminal.out(piece);
    }
    return 0;
  },
};
