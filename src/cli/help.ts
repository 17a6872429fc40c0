// Generates the help texts from the tables of flags and commands.
import { EDITIONS } from "../api/shared/aliases.ts";
import type { ClientCommand } from "./client/command.ts";
import { CLIENT_COMMANDS } from "./client/commands.ts";
import type { Flag } from "./flag.ts";
import { environmentName, FLAGS } from "./flags.ts";

const WIDTH = 100;
const COLUMN = 36;
/** Column of the command summaries. */
const COMMAND_COLUMN = 33;
/** Commands are grouped by their first word in this order; others follow. */
const VERBS = [
  "query",
  "sql",
  "flux",
  "write",
  "export",
  "import",
  "create",
  "show",
  "update",
  "delete",
  "restore",
  "status",
  "cancel",
  "stop",
  "remove",
  "test",
  "install",
  "setup",
  "recovery",
  "inspect",
  "v2",
  "completions",
];

/** The output of `tsdb --version`. */
export function versionLine(): string {
  return `tsdb ${EDITIONS.enterprise.version}\n`;
}

/** The output of `tsdb --help`. */
export function mainHelp(): string {
  return `tsdb ${EDITIONS.enterprise.version}: a time-series database server

Usage: tsdb <command> [flags]

Commands
${row("serve", "Start the server.")}${byVerb(CLIENT_COMMANDS.filter(({ words }) => words[0] !== "v2"))
  .map(({ words, aliases = [], summary }) => row([words.join(" "), ...aliases].join(", "), summary))
  .join(
    "",
  )}${row("v2 …", "Everything of the bucket-based API (port 8086): tsdb v2 --help lists it.")}${row("print-config", "Print the configuration of `tsdb serve` with the same flags.")}${row("version", "Print the version; also --version, -V.")}${row("help", "Print this; also --help, -h.")}
tsdb <command> --help prints details. Flags take precedence over environment variables,
and these over tsdb.toml (--config FILE, TSDB_CONFIG).
Exit codes: 0 success, 1 a statement or request failed, 2 the command line is invalid.

Example
  tsdb serve
  export TSDB_AUTH_TOKEN=$(tsdb create token --admin --format json | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
  tsdb write -d demo 'cpu,host=a usage=0.5'
  tsdb query -d demo 'SELECT * FROM cpu'
`;
}

/** The output of `tsdb serve --help`. */
export function serveHelp(): string {
  const flags: readonly Flag[] = FLAGS;
  const groups = [...new Set(flags.map((flag) => flag.group))].map((group) => {
    const rows = flags.filter((flag) => flag.group === group).map(flagRow);
    return `${group}\n${rows.join("")}`;
  });
  return `Usage: tsdb serve [flags]

Accepts line protocol at /api/v3/write_lp, /api/v2/write and /write, and SQL at /api/v3/query_sql.

${groups.join("\n")}
Sizes are bytes, 512kb, 10MiB or 20% of the memory. Durations are 100ms, 10s, 5m or 1h30m.
A flag without a value is a switch; --flag=false turns it off.
Each flag is also an environment variable: --http-bind is ${environmentName("http-bind")}. Flags take precedence.
Flags and variables of the servers that this one replaces are accepted too;
the log tells which have no effect.
Exit codes: 0 stopped by SIGTERM or SIGINT, 143 or 130 terminated by a second one,
1 the log or the catalog failed, 2 cannot start.
`;
}

/** The help of words that several commands begin with. */
export function familyHelp({ words, commands }: { words: readonly string[]; commands: readonly ClientCommand[] }): string {
  const first = words.join(" ");
  return `Usage: tsdb ${first} <command> [options]

Commands
${commands.map((each) => row(each.words.join(" "), each.summary)).join("")}
tsdb ${first} <command> --help prints details.
`;
}

/** The help of a client command. */
export function commandHelp({ words, aliases = [], summary, notes, positionals, options }: ClientCommand): string {
  const arguments_ = positionals.map(({ name, choices, isOptional, isRepeated }) => {
    const shown = `${choices?.join("|") ?? name}${isRepeated === true ? "..." : ""}`;
    return isOptional ? `[${shown}]` : shown;
  });
  const rows = options.map(({ name, short, value, help, default: note, env }) => {
    const head = `  ${short === undefined ? "    " : `-${short}, `}--${name}${value === null ? "" : ` ${value}`}`;
    const notes = [...(note === undefined ? [] : [`[${note}]`]), ...(env === undefined ? [] : [`[env ${env[0]}]`])];
    return described(head, [help, ...notes].join(" "));
  });
  const also = aliases.length === 0 ? "" : ` (also: ${aliases.join(", ")})`;
  return `Usage: tsdb ${[...words, ...arguments_].join(" ")} [options]${also}

${wrap(summary, WIDTH).join("\n")}
${notes === undefined ? "" : `\n${notes}\n`}
${rows.length === 0 ? "" : `Options\n${rows.join("")}`}`;
}

function byVerb(commands: readonly ClientCommand[]): ClientCommand[] {
  const place = ({ words }: ClientCommand) => (VERBS.includes(words[0]!) ? VERBS.indexOf(words[0]!) : VERBS.length);
  return commands.toSorted((a, b) => place(a) - place(b));
}

function row(name: string, summary: string): string {
  return described(`  ${name}`, summary, COMMAND_COLUMN);
}

function flagRow(flag: Flag): string {
  const head = `  --${flag.name}${flag.value === null ? "" : ` ${flag.value}`}`;
  const note = flag.defaultNote ?? flag.default;
  return described(head, `${flag.help}${note === null ? "" : ` [${note}]`}`);
}

/** A name followed by wrapped text. */
function described(head: string, text: string, column = COLUMN): string {
  const [first = "", ...others] = wrap(text, WIDTH - column);
  const indent = " ".repeat(column);
  const start = head.length < column ? head.padEnd(column) + first : `${head}\n${indent}${first}`;
  return `${[start, ...others.map((line) => indent + line)].join("\n")}\n`;
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1)!;
    if (last === "") lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
