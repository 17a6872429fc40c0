// tsdb sql: an interactive shell with history and completion of names.
import { createInterface, type Interface } from "node:readline";
import { near, TsdbError } from "../../model/errors.ts";
import { visibleLine } from "../visible-text.ts";
import { Api, CONNECTION, DATABASE, failureText, jsonOf, piecesOf, Refused } from "./api.ts";
import type { ClientCommand, Terminal } from "./command.ts";
import { TABLE_LIST, withNewline } from "./databases.ts";
import { HISTORY_ENTRIES_MAX, History } from "./history.ts";
import { NO_PAGER, pagerOf, type Showing, showAnswer } from "./pager.ts";
import { isBlank, splitStatements } from "./statement-text.ts";

const FORMATS = ["pretty", "json", "jsonl", "csv"];
const KEYWORDS =
  `SELECT FROM WHERE GROUP BY ORDER LIMIT OFFSET HAVING JOIN LEFT ON AS AND OR NOT IN IS NULL LIKE BETWEEN CASE WHEN THEN ELSE END
  DISTINCT UNION ALL WITH INTERVAL DESC ASC SHOW TABLES COLUMNS DESCRIBE EXPLAIN ANALYZE COUNT SUM AVG MIN MAX time now() date_bin`.split(
    /\s+/,
  );
const HELP = `\\d           tables              \\d TABLE     columns of a table
\\l           databases           \\c NAME      another database
\\f FORMAT    ${FORMATS.join(", ")}
\\t           show how long statements take, or not
\\q           end                 \\?           this
A statement ends with ; and Ctrl-C ends it early.
The exit code is 1 when a statement failed.
`;
/** Shell commands, and the words with which people try to leave a shell. */
const META = /^\s*\\|^\s*(?:quit|exit)\s*;?\s*$/i;

class Shell {
  private text = "";
  private database = "";
  private format = "pretty";
  private isTimed = true;
  private names: readonly string[] = [];
  private databases: readonly string[] = [];
  private hasFailed_ = false;
  /** Aborts the running statement. */
  private aborter: AbortController | undefined;

  constructor(
    private readonly api: Api,
    private readonly terminal: Terminal,
    /** The pager, and how it gets the keyboard. */
    private readonly paging: Pick<Showing, "pager" | "away">,
  ) {}

  get prompt(): string {
    const database = visibleLine(this.database);
    return isBlank(this.text) ? `${database}> ` : `${" ".repeat(Math.max(0, database.length - 1))}-> `;
  }

  /** True if a statement or shell command failed; cancellation does not count. */
  get hasFailed(): boolean {
    return this.hasFailed_;
  }

  /** Reads table and column names for completion, which also verifies server, token and database. @throws Refused; TsdbError io */
  async open(database: string): Promise<void> {
    const rows = await this.namesIn(database);
    this.database = database;
    if (this.terminal.isInputTerminal) this.databases = await databasesOf(this.api).catch(() => []);
    this.names = [...new Set(rows.flatMap(({ table_name, column_name }) => [table_name, column_name]))];
  }

  /** True if `line` completes a statement or is a shell command. */
  isWhole(line: string): boolean {
    return (isBlank(this.text) && META.test(line)) || isBlank(splitStatements(`${this.text}${line}\n`).rest);
  }

  private async namesIn(database: string): Promise<{ table_name: string; column_name: string }[]> {
    try {
      return await this.api.rows(database, "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'iox'");
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 404) throw error;
      this.databases = await databasesOf(this.api).catch(() => []);
      const there = this.databases.length === 0 ? "tsdb create database makes one" : `there are ${this.databases.join(", ")}`;
      throw new TsdbError("not_found", `there is no database ${near(database)}; ${there}`, {}, { cause: error });
    }
  }

  complete(line: string): [string[], string] {
    const database = /^\s*\\c\s+(\S*)$/.exec(line)?.[1];
    if (database !== undefined) return [this.databases.filter((name) => name.startsWith(database)).map(visibleLine), database];
    const word = /[^\s,()=<>+*/;"']*$/.exec(line)![0];
    const lower = word.toLowerCase();
    const all = [...this.names, ...KEYWORDS];
    return [all.filter((name) => name.toLowerCase().startsWith(lower)).map(visibleLine), word];
  }

  /** Returns false if the user wants to leave. */
  async line(line: string): Promise<boolean> {
    if (isBlank(this.text) && META.test(line)) return this.meta(line.trim());
    const { statements, rest } = splitStatements(`${this.text}${line}\n`);
    this.text = rest;
    for (const statement of statements) await this.ask(statement);
    return true;
  }

  /** Runs a last statement without a semicolon, at the end of a file. */
  async finish(): Promise<void> {
    await this.line(";");
    if (isBlank(this.text)) return;
    this.fail(`the last statement does not end: a quote or comment is open in ${near(this.text.trim())}`);
  }

  /** Discards the input and cancels the running statement. */
  abandon(): void {
    this.text = "";
    this.aborter?.abort();
  }

  get isRunning(): boolean {
    return this.aborter !== undefined;
  }

  private async meta(line: string): Promise<boolean> {
    const { terminal } = this;
    const [command, argument] = line.replace(/;$/, "").split(/\s+/) as [string, string | undefined];
    switch (command.toLowerCase()) {
      case "\\q":
      case "quit":
      case "exit":
        return false;
      case "\\d":
        await this.ask(argument === undefined ? TABLE_LIST : `SHOW COLUMNS FROM ${argument}`);
        return true;
      case "\\l":
        await this.listDatabases();
        return true;
      case "\\c":
        if (argument === undefined) this.fail("\\c NAME");
        else await this.guarded(() => this.open(argument));
        return true;
      case "\\f":
        if (argument !== undefined && FORMATS.includes(argument)) this.format = argument;
        else this.fail(`\\f is one of ${FORMATS.join(", ")}`);
        return true;
      case "\\t":
        this.isTimed = !this.isTimed;
        return true;
      case "\\?":
        terminal.out(HELP);
        return true;
      default:
        this.fail(`unknown command ${command}; \\? lists them`);
        return true;
    }
  }

  private async listDatabases(): Promise<void> {
    await this.guarded(async () => {
      const response = await this.api.call("GET", "/api/v3/configure/database", { query: { format: this.format } });
      this.terminal.out(withNewline(await response.bytes(), this.format));
    });
  }

  private async ask(q: string): Promise<void> {
    const { api, database, format, terminal } = this;
    const { pager, away } = this.paging;
    const startMs = performance.now();
    const aborter = new AbortController();
    this.aborter = aborter;
    const cancel = () => aborter.abort();
    await this.guarded(async () => {
      try {
        const response = await api.call("POST", "/api/v3/query_sql", { body: { db: database, q, format }, signal: aborter.signal });
        const showing = { pager: format === "pretty" ? pager : null, cancel, ...(away && { away }) };
        const wasPaged = await showAnswer(piecesOf(response), terminal, showing);
        // in a pager most of the time is spent reading
        if (this.isTimed && !wasPaged) terminal.error(`${(performance.now() - startMs).toFixed(1)} ms\n`);
      } catch (error) {
        if (!aborter.signal.aborted) throw error;
        terminal.error("cancelled\n");
      } finally {
        this.aborter = undefined;
      }
    });
  }

  /** Prints errors of the server; the shell continues. */
  private async guarded(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      const text = failureText(error);
      if (text === null) throw error;
      this.fail(text);
    }
  }

  private fail(text: string): void {
    this.hasFailed_ = true;
    this.terminal.error(`${text}\n`);
  }
}

function linesOf(terminal: Terminal, shell: Shell, history: History): Interface {
  if (!terminal.isInputTerminal) return createInterface({ input: process.stdin, terminal: false });
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: true,
    history: history.entries,
    historySize: HISTORY_ENTRIES_MAX,
    completer: (line: string) => shell.complete(line),
  });
  // readline would recall single lines: replace them by whole entries, see `recall`
  lines.on("history", (recalled: string[]) => recalled.splice(0, recalled.length, ...history.entries));
  return lines;
}

/** Makes the whole entry available to the arrow keys. */
function recall(lines: Interface, history: History): void {
  const recalled = (lines as Interface & { history?: string[] }).history;
  recalled?.splice(0, recalled.length, ...history.entries);
}

async function databasesOf(api: Api): Promise<string[]> {
  const rows = await jsonOf<{ "iox::database": string }[]>(
    await api.call("GET", "/api/v3/configure/database", { query: { format: "json" } }),
  );
  return rows.map((row) => visibleLine(row["iox::database"]));
}

/** Lets another program read the keyboard while it runs. */
async function awayFrom(lines: Interface, run: () => Promise<boolean>): Promise<boolean> {
  const { stdin } = process;
  if (!stdin.isTTY) return run();
  lines.pause();
  stdin.setRawMode(false);
  try {
    return await run();
  } finally {
    stdin.setRawMode(true);
    lines.resume();
  }
}

export const SHELL_COMMAND: ClientCommand = {
  words: ["sql"],
  summary: "Run statements interactively, with history and completion of names.",
  notes: HELP.trimEnd(),
  positionals: [],
  options: [DATABASE, NO_PAGER, ...CONNECTION],
  verb: "Sql",
  async run(input, terminal) {
    let lines: Interface | undefined;
    const paging = { pager: pagerOf(input, terminal), away: (run: () => Promise<boolean>) => awayFrom(lines!, run) };
    const database = input.required("database");
    const shell = new Shell(new Api(input), terminal, paging);
    const history = new History(terminal.environment);
    await shell.open(database);
    lines = linesOf(terminal, shell, history);
    if (terminal.isInputTerminal) terminal.error("\\? for help, \\q to leave\n");
    const prompt = () => {
      if (!terminal.isInputTerminal) return;
      lines!.setPrompt(shell.prompt);
      lines!.prompt();
    };
    // Ctrl-C discards the input, as in other shells
    lines.on("SIGINT", () => {
      const { isRunning } = shell;
      shell.abandon();
      history.abandon();
      terminal.error("^C\n");
      for (const name of ["e", "u"]) lines!.write(null, { ctrl: true, name }); // from the end of the line to its start
      if (!isRunning) prompt();
    });
    let isLeft = false;
    prompt();
    for await (const typed of lines) {
      // readline separates the lines of a recalled entry by carriage returns
      const line = typed.replaceAll("\r", "\n");
      if (terminal.isInputTerminal) {
        history.add(line, shell.isWhole(line));
        recall(lines, history);
      }
      isLeft = !(await shell.line(line));
      if (isLeft) break;
      prompt();
    }
    if (!terminal.isInputTerminal && !isLeft) await shell.finish();
    lines.close();
    return shell.hasFailed ? 1 : 0;
  },
};
