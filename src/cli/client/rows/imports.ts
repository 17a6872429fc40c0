// tsdb import upload, tsdb import list: Parquet files that the server imports into tables.
import { statSync } from "node:fs";
import { basename } from "node:path";
import { TsdbError } from "../../../model/errors.ts";
import { printRows, type Row } from "../../offline/table.ts";
import { Api, CONNECTION, DATABASE, jsonOf } from "../api.ts";
import type { ClientCommand, Terminal } from "../command.ts";
import { columnTypes } from "../csv/source.ts";
import type { Input, Option } from "../options.ts";
import { bar, megabytes, ProgressLine } from "../progress.ts";

/** An import as the server tells of it. */
interface Job {
  readonly upload_uuid: string;
  readonly filename: string;
  readonly status: string;
  readonly last_message?: string;
  readonly created_at: number;
  readonly completed_at?: number;
  readonly size_bytes: number;
  readonly row_count: number;
}

const PATH = "/api/v3/enterprise/import";
const POLL_MS = 200;

const TABLE: Option = { name: "table", short: "t", value: "NAME", help: "A table that exists." };
const FORMAT: Option = { name: "format", value: "FORMAT", help: "pretty or json.", default: "pretty" };

/** What the options say of columns, as the server wants it; undefined: nothing. @throws TsdbError config */
function columnMetadata(input: Input): string | undefined {
  if (input.option("columns") === undefined) return input.option("column-metadata");
  return JSON.stringify({ column_mapping: Object.fromEntries(columnTypes(input)) });
}

function sizeOf(path: string): number {
  try {
    const found = statSync(path);
    if (!found.isFile()) throw new Error("it is no file");
    return found.size;
  } catch (error) {
    throw new TsdbError("config", `cannot read ${path}: ${(error as Error).message}`);
  }
}

/** A form, with the file as it is read. */
function formOf(
  path: string,
  fields: Readonly<Record<string, string>>,
  boundary: string,
  onPiece: (bytes: number) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const head = (name: string, more = "") => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const fileName = basename(path).replace(/[\r\n"\\]/g, "_");
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    for (const [name, value] of Object.entries(fields)) yield encoder.encode(`${head(name)}${value}\r\n`);
    yield encoder.encode(head("file_bytes", `; filename="${fileName}"`));
    for await (const piece of Bun.file(path).stream()) {
      onPiece(piece.byteLength);
      yield piece;
    }
    yield encoder.encode(`\r\n--${boundary}--\r\n`);
  };
  const reading = pieces();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await reading.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await reading.return(undefined);
    },
  });
}

/** Sends one file; waits for its end unless told otherwise. @throws TsdbError io if it was not imported */
async function upload(input: Input, terminal: Terminal, path: string): Promise<void> {
  const api = new Api(input);
  const columns = columnMetadata(input);
  const fields = {
    ...{ database: input.required("database"), table: input.required("table") },
    ...(columns === undefined ? {} : { column_metadata: columns }),
  };
  const name = basename(path);
  const [line, total] = [new ProgressLine(terminal), sizeOf(path)];
  let sent = 0;
  const onPiece = (bytes: number) => {
    sent += bytes;
    line.redraw(() => `${bar(sent / Math.max(1, total))}  ${megabytes(sent)} of ${megabytes(total)}  ${name}`);
  };
  const boundary = `tsdb-${crypto.randomUUID()}`;
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const body = formOf(path, fields, boundary, onPiece);
  let job = await jsonOf<Job>(await api.call("POST", PATH, { body, headers })).finally(() => line.show(""));
  if (input.flag("no-wait")) {
    terminal.out(`${name} waits to be imported, as ${job.upload_uuid}\n`);
    return;
  }
  while (["queued", "dispatched", "failed"].includes(job.status)) {
    line.show(`${name}: ${job.status}${job.last_message === undefined ? "" : `: ${job.last_message}`}`);
    await Bun.sleep(POLL_MS);
    const found = (await jsonOf<readonly Job[]>(await api.call("GET", PATH))).find(({ upload_uuid: id }) => id === job.upload_uuid);
    if (found === undefined) throw new TsdbError("io", `the server no longer knows the import ${job.upload_uuid}`);
    job = found;
  }
  line.show("");
  if (job.status === "terminal_failed") throw new TsdbError("io", `${name} was not imported: ${job.last_message ?? job.status}`);
  terminal.out(`${job.row_count.toLocaleString("en-US")} ${job.row_count === 1 ? "row" : "rows"} of ${name} imported\n`);
}

function rowOf(job: Job): Row {
  const time = (ns: number | undefined) => (ns === undefined ? "" : new Date(ns / 1e6).toISOString());
  return {
    ...{ id: job.upload_uuid, file: job.filename, status: job.status, rows: job.row_count, bytes: job.size_bytes },
    ...{ created: time(job.created_at), completed: time(job.completed_at), message: job.last_message ?? "" },
  };
}

export const IMPORT_COMMANDS: readonly ClientCommand[] = [
  {
    words: ["import", "upload"],
    summary: "Import Parquet files into a table.",
    notes: `tsdb import upload -d home -t temp days/*.parquet
tsdb import upload -d home -t temp --columns room=tag,at=time rows.parquet
All rows of a file appear at once, as written then; a file that is refused
changes nothing. Types: i64, u64, f64, bool, string, time, tag; columns that
are not named are as the file says, or the table, or fields of their own type.
CSV and line protocol: tsdb write. The server needs --use-pacha-tree.`,
    positionals: [{ name: "FILE", isRepeated: true }],
    options: [
      DATABASE,
      TABLE,
      { name: "columns", short: "c", value: "NAME=TYPE,…", help: "What columns become.", joinedBy: "," },
      { name: "column-metadata", value: "JSON", help: 'The same as JSON: {"column_mapping":{"room":"tag"}}.' },
      { name: "no-wait", value: null, help: "Return when the server has the file: `import list` tells of it." },
      ...CONNECTION,
    ],
    verb: "Import",
    async run(input, terminal) {
      for (const path of input.positionals) sizeOf(path);
      for (const path of input.positionals) await upload(input, terminal, path);
      return 0;
    },
  },
  {
    words: ["import", "list"],
    aliases: ["show imports"],
    summary: "List imports, the newest first.",
    positionals: [],
    options: [FORMAT, ...CONNECTION],
    verb: "Show",
    async run(input, terminal) {
      printRows(input, terminal, (await jsonOf<readonly Job[]>(await new Api(input).call("GET", PATH))).map(rowOf));
      return 0;
    },
  },
];
