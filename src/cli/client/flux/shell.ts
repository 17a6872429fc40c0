// tsdb flux: an interactive shell for scripts, with history, definitions that stay, and completion of functions and buckets.
import { TsdbError } from "../../../model/errors.ts";
import { visibleLine } from "../../visible-text.ts";
import { Api, jsonOf, Refused } from "../api.ts";
import type { ClientCommand, Terminal } from "../command.ts";
import { NO_PAGER, pagerOf } from "../pager.ts";
import { BUCKETS_CONNECTION } from "../setup.ts";
import { History } from "../shell/history.ts";
import { Keyboard, type LineShell } from "../shell/keyboard.ts";
import { type ShellPaging, ShellRun } from "../shell/shell-run.ts";
import { askFlux, BUCKETS_TOKEN_ENV, FLUX_FORMATS, type FluxFormat, ORGANIZATION, organizationOf } from "./ask.ts";
import { Definitions, isDefinition } from "./definitions.ts";

const KEYWORDS = ["import", "option", "package", "return", "if", "then", "else", "and", "or", "not", "exists", "with", "true", "false"];
const HELP = `\\b           buckets             \\f FORMAT    ${FLUX_FORMATS.join(", ")}
\\t           show how long scripts take, or not
\\clear       forget what was defined
\\q           end                 \\?           this
A script ends with an empty line or with ; at the end of a line. Imports, variables and options
stay for the scripts after it. Ctrl-C ends a script early.
The exit code is 1 when a script failed.
`;
/** Shell commands, and the words with which people try to leave a shell. */
const META = /^\\|^(?:quit|exit)\s*;?$/i;
const WITHOUT_ANSWER = "this Flux script returns no streaming data";
const BUCKETS = 'buckets() |> keep(columns: ["name", "id", "retentionPeriod"]) |> sort(columns: ["name"])';

interface Known {
  readonly functions: readonly string[];
  readonly buckets: readonly string[];
}

class FluxShell implements LineShell {
  private text = "";
  private format: FluxFormat = "pretty";
  private known: Known = { functions: [], buckets: [] };
  private readonly definitions = new Definitions();
  private readonly answers: ShellRun;

  constructor(
    private readonly api: Api,
    private readonly organization: Readonly<Record<string, string>>,
    private readonly terminal: Terminal,
    paging: ShellPaging,
  ) {
    this.answers = new ShellRun(terminal, paging);
  }

  get prompt(): string {
    return this.text.trim() === "" ? "flux> " : "   -> ";
  }

  get isRunning(): boolean {
    return this.answers.isRunning;
  }

  get hasFailed(): boolean {
    return this.answers.hasFailed;
  }

  /** Reads names for completion, which also verifies server, token and organization. @throws Refused; TsdbError io */
  async open(): Promise<void> {
    const call = <T>(path: string, query: Readonly<Record<string, string>>) => this.api.call("GET", path, { query }).then(jsonOf<T>);
    const { buckets } = await call<{ buckets: { name: string }[] }>("/api/v2/buckets", { ...this.organization, limit: "100" });
    const { funcs } = await call<{ funcs: { name: string }[] }>("/api/v2/query/suggestions", {});
    this.known = { functions: funcs.map(({ name }) => name), buckets: buckets.map(({ name }) => visibleLine(name)) };
  }

  complete(line: string): [string[], string] {
    const quoted = /"([^"]*)$/.exec(line)?.[1];
    if (quoted !== undefined) return [this.known.buckets.filter((name) => name.startsWith(quoted)), quoted];
    const word = /[\p{L}_][\p{L}\p{N}_.]*$|$/u.exec(line)![0];
    const all = [...this.definitions.names, ...this.known.functions, ...KEYWORDS];
    return [[...new Set(all)].filter((name) => name.startsWith(word)), word];
  }

  isWhole(line: string): boolean {
    if (this.text.trim() === "") return META.test(line.trim()) || line.trim() === "" || endsScript(line);
    return line.trim() === "" || endsScript(line);
  }

  async line(line: string): Promise<boolean> {
    if (this.text.trim() === "" && META.test(line.trim())) return this.meta(line.trim());
    const isWhole = this.isWhole(line);
    this.text += `${endsScript(line) ? line.trimEnd().slice(0, -1) : line}\n`;
    if (isWhole) await this.run();
    return true;
  }

  async finish(): Promise<void> {
    await this.run();
  }

  abandon(): void {
    this.text = "";
    this.answers.cancel();
  }

  private async run(): Promise<void> {
    const entry = this.text.trim();
    this.text = "";
    if (entry === "") return;
    await this.answers.guarded(async () => {
      try {
        await this.ask(this.definitions.scriptOf(entry));
      } catch (error) {
        if (!(error instanceof Refused) || !isDefinition(entry) || !error.message.includes(WITHOUT_ANSWER)) throw error;
      }
      this.definitions.keep(entry);
    });
  }

  private async ask(script: string): Promise<void> {
    const { format } = this;
    await this.answers.show(format === "pretty", (signal) => askFlux(this.api, this.organization, { script, format, signal }));
  }

  private async meta(line: string): Promise<boolean> {
    const [command, argument] = line.replace(/;$/, "").split(/\s+/) as [string, string | undefined];
    switch (command.toLowerCase()) {
      case "\\q":
      case "quit":
      case "exit":
        return false;
      case "\\b":
        await this.answers.guarded(() => this.ask(BUCKETS));
        return true;
      case "\\f": {
        const format = FLUX_FORMATS.find((each) => each === argument);
        if (format === undefined) this.answers.fail(`\\f is one of ${FLUX_FORMATS.join(", ")}`);
        else this.format = format;
        return true;
      }
      case "\\t":
        this.answers.isTimed = !this.answers.isTimed;
        return true;
      case "\\clear":
        this.definitions.clear();
        return true;
      case "\\?":
        this.terminal.out(HELP);
        return true;
      default:
        this.answers.fail(`unknown command ${command}; \\? lists them`);
        return true;
    }
  }
}

/** A semicolon is no part of a script. */
function endsScript(line: string): boolean {
  return line.trimEnd().endsWith(";");
}

export const FLUX_COMMAND: ClientCommand = {
  words: ["flux"],
  summary: "Run Flux scripts over buckets interactively (port 8086), with history and completion.",
  notes: HELP.trimEnd(),
  positionals: [],
  options: [ORGANIZATION, NO_PAGER, ...BUCKETS_CONNECTION, { name: "token", value: "TOKEN", help: "API token.", env: BUCKETS_TOKEN_ENV }],
  verb: "Flux",
  async run(input, terminal) {
    const keyboard = new Keyboard();
    const paging = { pager: pagerOf(input, terminal), away: (run: () => Promise<boolean>) => keyboard.away(run) };
    const shell = new FluxShell(new Api(input), organizationOf(input), terminal, paging);
    await shell.open().catch(namedFailure);
    await keyboard.read(shell, terminal, new History(terminal.environment, "flux-history"));
    return shell.hasFailed ? 1 : 0;
  },
};

function namedFailure(error: unknown): never {
  if (!(error instanceof Refused) || error.status !== 404) throw error;
  throw new TsdbError("not_found", `${error.message}; --org names an organization`, {}, { cause: error });
}
