// tsdb write: sends line protocol of any size, compressed, in several concurrent bodies.
import { statSync } from "node:fs";
import { promisify } from "node:util";
import zlib from "node:zlib";
import { TsdbError } from "../../model/errors.ts";
import { parseSize } from "../units.ts";
import { Api, CONNECTION, DATABASE, Refused } from "./api.ts";
import type { ClientCommand, Terminal } from "./command.ts";
import { readCsv } from "./csv/source.ts";
import { type LineChunk, lineChunks } from "./line-chunks.ts";
import type { Input, Option } from "./options.ts";
import { Progress } from "./progress.ts";

const gzip = promisify(zlib.gzip);
const BODY_BYTES_DEFAULT = "5MiB";
const BODY_BYTES_MIN = 1024;
const CONCURRENT_DEFAULT = 4;
const CONCURRENT_MAX = 256;
/** Maximum rejected lines shown. */
const SHOWN_MAX = 20;
const RETRIES_MAX = 8;
const RETRY_MS = 250;

interface Rejection {
  readonly error_message: string;
  readonly line_number: number;
  readonly original_line: string;
}

/** Where lines go. */
export interface LineTarget {
  readonly api: Pick<Api, "call">;
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** No lines at all are an error, as a program that should have made them has probably failed. */
  readonly needsLines?: boolean;
}

interface Job extends LineTarget {
  readonly isCompressed: boolean;
}

/** The result of one body. */
interface Outcome {
  readonly rejected: readonly Rejection[];
  readonly message: string | null;
}

async function send({ api, path, query, isCompressed }: Job, { bytes }: LineChunk): Promise<Outcome> {
  const body = isCompressed ? new Uint8Array(await gzip(bytes, { level: 1 })) : bytes;
  const headers = isCompressed ? { "content-encoding": "gzip" } : {};
  for (let attempt = 0; ; attempt++) {
    try {
      await api.call("POST", path, { query, body, headers });
      return { rejected: [], message: null };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      // the server asks for a retry
      if (error.status === 503 && attempt < RETRIES_MAX) {
        await Bun.sleep(RETRY_MS * 2 ** Math.min(attempt, 4));
        continue;
      }
      const rejected = rejections(error.body);
      if ((error.status !== 400 && error.status !== 422) || rejected.length === 0) throw error;
      return { rejected, message: error.message };
    }
  }
}

function rejections(body: string): Rejection[] {
  try {
    const { data } = JSON.parse(body) as { data?: Rejection | Rejection[] };
    return data === undefined ? [] : Array.isArray(data) ? data : [data];
  } catch {
    return [];
  }
}

/** Processes the chunks with `concurrent` calls of `work` at a time; stops at the first error. */
async function inParallel(chunks: AsyncIterable<LineChunk>, concurrent: number, work: (chunk: LineChunk) => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>();
  let failed: { error: unknown } | undefined;
  for await (const chunk of chunks) {
    while (running.size >= concurrent) await Promise.race(running);
    if (failed !== undefined) break;
    const run: Promise<void> = work(chunk)
      .catch((error) => {
        failed ??= { error };
      })
      .finally(() => running.delete(run));
    running.add(run);
  }
  await Promise.all(running);
  if (failed !== undefined) throw failed.error;
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count++;
  return bytes.at(-1) === 10 ? count : count + 1;
}

interface Source {
  readonly stream: AsyncIterable<Uint8Array>;
  /** Bytes, if known. */
  readonly total: number | undefined;
}

function source(input: Input, { input: standardInput }: Terminal): Source {
  const path = input.option("file");
  const [text] = input.positionals;
  if (path !== undefined && path !== "-") {
    try {
      const { size } = statSync(path);
      const stream = Bun.file(path).stream();
      // the size of a compressed file does not tell the size of its lines
      if (path.endsWith(".gz")) return { stream: gunzipped(stream), total: undefined };
      return { stream, total: size };
    } catch (error) {
      throw new TsdbError("config", `--file: ${(error as Error).message}`, {});
    }
  }
  if (text === undefined || text === "-") return { stream: standardInput(), total: undefined };
  const bytes = new TextEncoder().encode(text);
  return {
    stream: (async function* () {
      yield bytes;
    })(),
    total: bytes.length,
  };
}

async function* gunzipped(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = zlib.createGunzip();
  const feeding = (async () => {
    for await (const piece of stream) if (!gunzip.write(piece)) await new Promise((resolve) => gunzip.once("drain", resolve));
    gunzip.end();
  })();
  feeding.catch((error) => gunzip.destroy(error as Error));
  try {
    for await (const piece of gunzip) yield piece as Uint8Array;
  } catch (error) {
    throw new TsdbError("io", `the file is not gzip: ${(error as Error).message}`, {});
  }
}

function bodyBytes(input: Input): number {
  const text = input.option("max-request-size")!;
  const bytes = parseSize(text, 0);
  if (bytes === null || bytes < BODY_BYTES_MIN) throw new TsdbError("config", `--max-request-size: cannot read "${text}"; write 5MiB`, {});
  return bytes;
}

function concurrency(input: Input): number {
  const text = input.option("max-concurrent-requests")!;
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= CONCURRENT_MAX) return count;
  throw new TsdbError("config", `--max-concurrent-requests must be a whole number from 1 to ${CONCURRENT_MAX}, got "${text}"`, {});
}

/** @throws TsdbError config */
function isCsv(input: Input): boolean {
  const format = input.option("format") ?? (/\.csv(\.gz)?$/i.test(input.option("file") ?? "") ? "csv" : "lp");
  if (format === "csv" || format === "lp") return format === "csv";
  throw new TsdbError("config", `--format: "${format}" is unknown; lp or csv`);
}

/** How lines are sent. */
export const SENDING: readonly Option[] = [
  { name: "gzip", value: null, help: "Compress request bodies.", default: "true" },
  { name: "max-request-size", value: "SIZE", help: "Maximum bytes of a body before compression.", default: BODY_BYTES_DEFAULT },
  { name: "max-concurrent-requests", value: "N", help: "Maximum number of concurrent requests.", default: String(CONCURRENT_DEFAULT) },
  { name: "quiet", short: "q", value: null, help: "Print only errors." },
];

export const WRITE_COMMAND: ClientCommand = {
  words: ["write"],
  aliases: ["w"],
  summary: "Write line protocol from a file, an argument or standard input.",
  notes: `tsdb write -d home -f lines.lp          any size; .gz is decompressed
generate | tsdb write -d home
tsdb write -d home 'temp,room=hall v=21.5'
tsdb write -d home -f rows.csv -t temp --columns room=tag,at=time
The first line of CSV names the columns. Types: i64, u64, f64, bool, string,
time, tag; columns that are not named are as the table has them, or numbers,
booleans or strings by their first 1,000 values. Empty cells are no values.`,
  positionals: [{ name: "LINES", isOptional: true }],
  options: [
    DATABASE,
    { name: "file", short: "f", value: "FILE", help: "File with the lines; - is standard input." },
    { name: "format", value: "FORMAT", help: "lp or csv. Default: csv for files named .csv or .csv.gz, otherwise lp." },
    { name: "table", short: "t", value: "NAME", help: "Of CSV: the table of all rows." },
    { name: "columns", short: "c", value: "NAME=TYPE,…", help: "Of CSV: what columns become.", joinedBy: "," },
    { name: "precision", short: "p", value: "UNIT", help: "Unit of times: auto, s, ms, us, ns.", default: "auto" },
    { name: "accept-partial", value: null, help: "Store the valid lines of a body with invalid ones.", default: "true" },
    { name: "no-sync", value: null, help: "Do not wait until the rows are durable." },
    ...SENDING,
    ...CONNECTION,
  ],
  verb: "Write",
  run: async (input, terminal) => {
    const api = new Api(input);
    const lines = source(input, terminal);
    const csv = isCsv(input) ? await readCsv(api, input, lines.stream) : null;
    const query = {
      db: input.required("database"),
      precision: csv?.hasTextTimes ? "ns" : input.option("precision"),
      accept_partial: String(input.flag("accept-partial")),
      no_sync: String(input.flag("no-sync")),
    };
    const from = csv === null ? lines : { stream: csv.lines, total: undefined };
    return writeLines(input, terminal, { api, path: "/api/v3/write_lp", query, needsLines: csv === null }, from);
  },
};

/** Sends the lines that the options name; the exit code. @throws Refused; TsdbError */
export async function writeLines(
  input: Input,
  terminal: Terminal,
  target: LineTarget,
  { stream, total } = source(input, terminal),
): Promise<number> {
  const concurrent = concurrency(input);
  const bytesMax = bodyBytes(input);
  const job = { ...target, isCompressed: input.flag("gzip") };
  const progress = new Progress(terminal, total, input.flag("quiet"));
  let bytes = 0;
  let lines = 0;
  let rejectedCount = 0;
  let shown = 0;
  await inParallel(lineChunks(stream, bytesMax), concurrent, async (chunk) => {
    const { rejected, message } = await send(job, chunk);
    bytes += chunk.bytes.length;
    lines += countLines(chunk.bytes);
    rejectedCount += rejected.length;
    if (message !== null && shown === 0) terminal.error(`${message}\n`);
    for (const { line_number, error_message, original_line } of rejected) {
      if (shown++ >= SHOWN_MAX) break;
      terminal.error(`  line ${chunk.firstLine + line_number - 1}: ${error_message}: ${original_line}\n`);
    }
    progress.show(bytes, lines);
  });
  if (bytes === 0 && target.needsLines) throw new TsdbError("bad_request", "incoming write was empty", {});
  progress.end(bytes, lines);
  if (rejectedCount > 0) {
    terminal.error(`Write command failed: at least ${rejectedCount} lines were rejected\n`);
    return 1;
  }
  terminal.out("success\n");
  return 0;
}
