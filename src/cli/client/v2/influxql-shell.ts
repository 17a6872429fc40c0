// tsdb v2 v1 shell: an interactive shell for InfluxQL on port 8086, a line a statement, as people know it from v1.
import { TsdbError } from "../../../model/errors.ts";
import { jsonOf } from "../api.ts";
import type { ClientCommand } from "../command.ts";
import { NO_PAGER, pagerOf } from "../pager.ts";
import { History } from "../shell/history.ts";
import { Keyboard, type LineShell } from "../shell/keyboard.ts";
import { type ShellPaging, ShellRun } from "../shell/shell-run.ts";
import { type Session, v2Command } from "./session.ts";
import { type Row, tableOf } from "./table.ts";

const FORMATS = ["column", "csv", "json"] as const;
const PRECISIONS = ["rfc3339", "h", "m", "s", "ms", "u", "ns"] as const;
const KEYWORDS = `SELECT FROM WHERE GROUP BY ORDER LIMIT OFFSET SLIMIT SOFFSET DESC FILL AND OR SHOW DATABASES MEASUREMENTS TAG FIELD KEYS
  VALUES SERIES RETENTION POLICIES time now() mean( sum( count( min( max( first( last(`.split(/\s+/);
const HELP = `use DB             statements are for this database
format FORMAT      ${FORMATS.join(", ")}
precision UNIT     ${PRECISIONS.join(", ")}
exit               end; help shows this
A line is a statement, and Ctrl-C ends it early. The exit code is 1 when a statement failed.
`;
const META = /^\s*(?:use|format|precision|help|exit|quit|\\q|\\\?)(?:\s|;|$)/i;

interface Series {
  readonly name?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values?: readonly (readonly unknown[])[];
}

interface Answer {
  readonly error?: string;
  readonly results?: readonly { readonly series?: readonly Series[]; readonly error?: string }[];
}

class InfluxqlShell implements LineShell {
  private database: string | undefined;
  private format: (typeof FORMATS)[number] = "column";
  private precision: (typeof PRECISIONS)[number] = "ns";
  private databases: readonly string[] = [];
  private readonly answers: ShellRun;

  constructor(
    private readonly session: Session,
    paging: ShellPaging,
    database: string | undefined,
  ) {
    this.database = database;
    this.answers = new ShellRun(session.terminal, paging);
    this.answers.isTimed = false;
  }

  get prompt(): string {
    return "> ";
  }

  get isRunning(): boolean {
    return this.answers.isRunning;
  }

  get hasFailed(): boolean {
    return this.answers.hasFailed;
  }

  /** Reads the names of databases, which also verifies server and token. @throws Refused; TsdbError */
  async open(): Promise<void> {
    const { results } = await jsonOf<Answer>(await this.call("SHOW DATABASES", "application/json"));
    this.databases = (results?.[0]?.series?.[0]?.values ?? []).map(([name]) => String(name));
  }

  complete(line: string): [string[], string] {
    const database = /^\s*use\s+(\S*)$/i.exec(line)?.[1];
    if (database !== undefined) return [this.databases.filter((name) => name.startsWith(database)), database];
    const word = /[^\s,()=<>+*/;"']*$/.exec(line)![0];
    return [KEYWORDS.filter((each) => each.toLowerCase().startsWith(word.toLowerCase())), word];
  }

  isWhole(): boolean {
    return true;
  }

  async line(line: string): Promise<boolean> {
    const text = line.trim();
    if (text === "") return true;
    if (META.test(text)) return this.meta(text);
    await this.answers.guarded(() =>
      this.answers.show(this.format === "column", async (signal) => {
        const accept = this.format === "csv" ? "application/csv" : "application/json";
        const answer = await (await this.call(text, accept, signal)).text();
        const failures = this.format === "csv" ? [] : errorsOf(answer);
        for (const failure of failures) this.answers.fail(failure);
        return pieces(this.format === "column" ? columnsOf(answer) : answer);
      }),
    );
    return true;
  }

  async finish(): Promise<void> {}

  abandon(): void {
    this.answers.cancel();
  }

  private call(q: string, accept: string, signal?: AbortSignal): Promise<Response> {
    const form = new URLSearchParams({ q, ...(this.database !== undefined && { db: this.database }) });
    if (this.precision !== "rfc3339") form.set("epoch", this.precision);
    const headers = { accept, "content-type": "application/x-www-form-urlencoded" };
    return this.session.call("POST", "/query", { body: form.toString(), headers, ...(signal && { signal }) });
  }

  private meta(text: string): boolean {
    const [command, argument] = text.replace(/;$/, "").split(/\s+/) as [string, string | undefined];
    switch (command.toLowerCase()) {
      case "use":
        if (argument === undefined) this.answers.fail("use which database?");
        else this.database = argument.replace(/^"(.*)"$/, "$1");
        return true;
      case "format": {
        const format = FORMATS.find((each) => each === argument);
        if (format === undefined) this.answers.fail(`format is one of ${FORMATS.join(", ")}`);
        else this.format = format;
        return true;
      }
      case "precision": {
        const precision = PRECISIONS.find((each) => each === argument);
        if (precision === undefined) this.answers.fail(`precision is one of ${PRECISIONS.join(", ")}`);
        else this.precision = precision;
        return true;
      }
      case "help":
      case "\\?":
        this.session.terminal.out(HELP);
        return true;
      default:
        return false;
    }
  }
}

function parsed(text: string, reviver?: typeof asWritten): Answer {
  try {
    return JSON.parse(text, reviver as (key: string, value: unknown) => unknown) as Answer;
  } catch (cause) {
    throw new TsdbError("io", "the answer is no JSON", {}, { cause });
  }
}

function errorsOf(text: string): string[] {
  const { error, results = [] } = parsed(text);
  return [error, ...results.map((each) => each.error)].filter((each) => each !== undefined);
}

/** Numbers are texts as they were written: times in nanoseconds and integers may have more digits than a double. */
const asWritten = (_: string, value: unknown, { source }: { readonly source?: string }) =>
  typeof value === "number" ? (source ?? String(value)) : value;

/** An answer in JSON as a table for each series, below its name and tags. */
export function columnsOf(text: string): string {
  const series = (parsed(text, asWritten).results ?? []).flatMap((result) => result.series ?? []);
  return series
    .map(({ name, tags, columns, values = [] }) => {
      const head = [
        ...(name === undefined || name === "" ? [] : [`name: ${name}\n`]),
        ...(tags === undefined
          ? []
          : [
              `tags: ${Object.entries(tags)
                .map(([key, value]) => `${key}=${value}`)
                .join(", ")}\n`,
            ]),
      ];
      // names are a row too: as properties, those that are numbers would come first
      const rows: Row[] = [columns, ...values].map((cells) => ({ cells }));
      const shown = Object.fromEntries(columns.map((_, i) => [`column ${i}`, (row: Row) => (row["cells"] as unknown[])[i]]));
      return head.join("") + tableOf(shown, rows, false);
    })
    .join("\n");
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  if (text !== "") yield Buffer.from(text);
}

export const INFLUXQL_SHELL: ClientCommand = v2Command({
  words: "v1 shell",
  summary: "Run InfluxQL statements interactively, by way of the mappings of databases to buckets.",
  notes: HELP.trimEnd(),
  options: [{ name: "database", short: "d", value: "NAME", help: "The database, as `use` sets it." }, NO_PAGER],
  run: async (session, input) => {
    const keyboard = new Keyboard();
    const paging = { pager: pagerOf(input, session.terminal), away: (run: () => Promise<boolean>) => keyboard.away(run) };
    const shell = new InfluxqlShell(session, paging, input.option("database"));
    await shell.open();
    await keyboard.read(shell, session.terminal, new History(session.terminal.environment, "influxql-history"));
    return shell.hasFailed ? 1 : 0;
  },
});
