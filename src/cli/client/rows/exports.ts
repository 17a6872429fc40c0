// tsdb export databases, tables, windows, data: days that are over, as Parquet files of a folder or as one archive.
import { type TarEntry, TarReader } from "../../../backup/tar.ts";
import { TsdbError } from "../../../model/errors.ts";
import { printRows } from "../../offline/table.ts";
import { Api, CONNECTION, DATABASE, jsonOf, piecesOf } from "../api.ts";
import type { ClientCommand, Terminal } from "../command.ts";
import type { Input, Option } from "../options.ts";
import { bar, megabytes, ProgressLine } from "../progress.ts";
import { WholeFile } from "./whole-file.ts";

const PATH = "/api/v3/export";
const FILE = /^\d{4}-\d{2}-\d{2}\.parquet$/;

const TABLE: Option = { name: "table", short: "t", value: "NAME", help: "Table." };
const FORMAT: Option = { name: "format", value: "FORMAT", help: "pretty or json.", default: "pretty" };

/** What has arrived, as a line on a terminal. */
class Arrived {
  bytes = 0;
  days = 0;
  private readonly line: ProgressLine;

  constructor(
    private readonly terminal: Terminal,
    private readonly total: number,
  ) {
    this.line = new ProgressLine(terminal);
  }

  add(bytes: number): void {
    this.bytes += bytes;
    this.line.redraw(() => `${bar(this.days / this.total)}  ${this.days} of ${this.text(this.total)}`);
  }

  end(where: string): void {
    this.line.show("");
    this.terminal.out(`${this.text(this.days)} exported to ${where}\n`);
  }

  private text(days: number): string {
    return `${days} ${days === 1 ? "day" : "days"}, ${megabytes(this.bytes)}`;
  }
}

/** The days to export: those that are wanted, or all. */
async function daysOf(api: Api, input: Input): Promise<readonly string[]> {
  const wanted = input.option("windows");
  if (wanted !== undefined) return [...new Set(wanted.split(","))];
  const query = { db: input.required("database"), table: input.required("table") };
  return jsonOf<string[]>(await api.call("GET", `${PATH}/windows`, { query }));
}

function noExport(reason: string): TsdbError {
  return new TsdbError("io", `the answer is no archive of an export: ${reason}`);
}

/** @throws TsdbError io unless it is the name of a day's file */
function checkName({ name }: TarEntry): void {
  if (!FILE.test(name)) throw new TsdbError("io", `the archive has a file "${name}", which is no day`);
}

/** Files of an archive, each whole or not at all. @throws TsdbError io */
async function unpack(archive: AsyncIterable<Uint8Array>, folder: string, arrived: Arrived): Promise<void> {
  const tar = new TarReader(archive, noExport);
  for (let entry = await tar.next(); entry !== null; entry = await tar.next()) {
    checkName(entry);
    const file = await WholeFile.create(folder, entry.name);
    try {
      await tar.pipe(entry, async (piece) => {
        await file.append(piece);
        arrived.add(piece.byteLength);
      });
      await file.finish();
    } finally {
      await file.close();
    }
    arrived.days += 1;
  }
}

/** The archive as it comes, checked on the way: it is whole only with its end. @throws TsdbError io */
async function keep(archive: AsyncIterable<Uint8Array>, path: string, arrived: Arrived): Promise<void> {
  const file = await WholeFile.at(path);
  try {
    const copied = async function* (): AsyncGenerator<Uint8Array> {
      for await (const piece of archive) {
        await file.append(piece);
        arrived.add(piece.byteLength);
        yield piece;
      }
    };
    const tar = new TarReader(copied(), noExport);
    for (let entry = await tar.next(); entry !== null; entry = await tar.next()) {
      checkName(entry);
      await tar.pipe(entry, async () => {});
      arrived.days += 1;
    }
    await file.finish();
  } finally {
    await file.close();
  }
}

const DATA_COMMAND: ClientCommand = {
  words: ["export", "data"],
  summary: "Export days that are over as Parquet files.",
  notes: `tsdb export data -d home -t temp -o days                       a file for each day
tsdb export data -d home -t temp --windows 2026-01-15 -o a.tar  one archive
A file has its name only when it is whole. The server needs --use-pacha-tree.`,
  positionals: [],
  options: [
    DATABASE,
    TABLE,
    { name: "windows", short: "w", value: "DAYS", help: "Days as YYYY-MM-DD, separated by commas; default all.", joinedBy: "," },
    {
      ...{ name: "output", short: "o", value: "PATH", aliases: ["output-dir"] },
      help: "Folder for the files, made if it is not there; or FILE.tar for the archive.",
      default: ".",
    },
    ...CONNECTION,
  ],
  verb: "Export",
  async run(input, terminal) {
    const api = new Api(input);
    const query = { db: input.required("database"), table: input.required("table"), windows: input.option("windows") };
    const output = input.option("output")!;
    const days = await daysOf(api, input);
    const arrived = new Arrived(terminal, days.length);
    const archive = piecesOf(await api.call("GET", `${PATH}/window_data`, { query }));
    await (output.endsWith(".tar") ? keep(archive, output, arrived) : unpack(archive, output, arrived));
    if (arrived.days < days.length && query.windows !== undefined) {
      throw new TsdbError("io", `the archive has ${arrived.days} of ${days.length} days`);
    }
    arrived.end(output);
    return 0;
  },
};

/** `export databases`, `export tables` and `export windows`. */
function listCommand(noun: "databases" | "tables" | "windows", summary: string, options: readonly Option[]): ClientCommand {
  const names: Readonly<Record<string, string>> = { databases: "database", tables: "table", windows: "window" };
  return {
    words: ["export", noun],
    summary,
    positionals: [],
    options: [...options, FORMAT, ...CONNECTION],
    verb: "Export",
    async run(input, terminal) {
      const has = (option: Option) => options.includes(option);
      const query = {
        ...(has(DATABASE) ? { db: input.required("database") } : {}),
        ...(has(TABLE) ? { table: input.required("table") } : {}),
      };
      const found = await jsonOf<readonly string[]>(await new Api(input).call("GET", `${PATH}/${noun}`, { query }));
      printRows(
        input,
        terminal,
        found.map((name) => ({ [names[noun]!]: name })),
      );
      return 0;
    },
  };
}

export const EXPORT_COMMANDS: readonly ClientCommand[] = [
  listCommand("databases", "List databases with days that can be exported.", []),
  listCommand("tables", "List tables with days that can be exported.", [DATABASE]),
  listCommand("windows", "List days of a table that can be exported.", [DATABASE, TABLE]),
  DATA_COMMAND,
];
