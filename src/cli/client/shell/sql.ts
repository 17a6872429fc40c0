// tsdb sql: an interactive shell with history and completion of names.
import { near, TsdbError } from "../../../model/errors.ts";
import { visibleLine } from "../../visible-text.ts";
import { Api, CONNECTION, DATABASE, jsonOf, piecesOf, Refused } from "../api.ts";
import type { ClientCommand, Terminal } from "../command.ts";
import { TABLE_LIST, withNewline } from "../databases.ts";
import { NO_PAGER, pagerOf } from "../pager.ts";
import { History } from "./history.ts";
import { Keyboard, type LineShell } from "./keyboard.ts";
import { type ShellPaging, ShellRun } from "./shell-run.ts";
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

class Shell implements LineShell {
  private text = "";
  private database = "";
  private format = "pretty";
  private names: readonly string[] = [];
  private databases: readonly string[] = [];
  private readonly answers: ShellRun;

  constructor(
    private readonly api: Api,
    private readonly terminal: Terminal,
    paging: ShellPaging,
  ) {
    this.answers = new ShellRun(terminal, paging);
  }

  get prompt(): string {
    const database = visibleLine(this.database);
    return isBlank(this.text) ? `${database}> ` : `${" ".repeat(Math.max(0, database.length - 1))}-> `;
  }

  get hasFailed(): boolean {
    return this.answers.hasFailed;
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
    this.answers.fail(`the last statement does not end: a quote or comment is open in ${near(this.text.trim())}`);
  }

  /** Discards the input and cancels the running statement. */
  abandon(): void {
    this.text = "";
    this.answers.cancel();
  }

  get isRunning(): boolean {
    return this.answers.isRunning;
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
        if (argument === undefined) this.answers.fail("\\c NAME");
        else await this.answers.guarded(() => this.open(argument));
        return true;
      case "\\f":
        if (argument !== undefined && FORMATS.includes(argument)) this.format = argument;
        else this.answers.fail(`\\f is one of ${FORMATS.join(", ")}`);
        return true;
      case "\\t":
        this.answers.isTimed = !this.answers.isTimed;
        return true;
      case "\\?":
        terminal.out(HELP);
        return true;
      default:
        this.answers.fail(`unknown command ${command}; \\? lists them`);
        return true;
    }
  }

  private async listDatabases(): Promise<void> {
    await this.answers.guarded(async () => {
      const response = await this.api.call("GET", "/api/v3/configure/database", { query: { format: this.format } });
      this.terminal.out(withNewline(await response.bytes(), this.format));
    });
  }

  private async ask(q: string): Promise<void> {
    const { api, database, format } = this;
    await this.answers.guarded(() =>
      this.answers.show(format === "pretty", async (signal) =>
        piecesOf(await api.call("POST", "/api/v3/query_sql", { body: { db: database, q, format }, signal })),
      ),
    );
  }
}

async function databasesOf(api: Api): Promise<string[]> {
  const rows = await jsonOf<{ "iox::database": string }[]>(
    await api.call("GET", "/api/v3/configure/database", { query: { format: "json" } }),
  );
  return rows.map((row) => visibleLine(row["iox::database"]));
}

export const SHELL_COMMAND: ClientCommand = {
  words: ["sql"],
  summary: "Run statements interactively, with history and completion of names.",
  notes: HELP.trimEnd(),
  positionals: [],
  options: [DATABASE, NO_PAGER, ...CONNECTION],
  verb: "Sql",
  async run(input, terminal) {
    const keyboard = new Keyboard();
    const paging = { pager: pagerOf(input, terminal), away: (run: () => Promise<boolean>) => keyboard.away(run) };
    const database = input.required("database");
    const shell = new Shell(new Api(input), terminal, paging);
    const history = new History(terminal.environment);
    await shell.open(database);
    await keyboard.read(shell, terminal, history);
    return shell.hasFailed ? 1 : 0;
  },
};
