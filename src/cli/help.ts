// The help texts, made from the table of flags.
import { EDITIONS } from "../http/aliases.ts";
import { environmentName, FLAGS, type Flag } from "./flags.ts";

const WIDTH = 100;
const COLUMN = 36;

export function versionLine(): string {
  return `tsdb ${EDITIONS.enterprise.version}\n`;
}

export function mainHelp(): string {
  return `tsdb ${EDITIONS.enterprise.version}: a time-series database server

Usage: tsdb <command> [flags]

Commands
  serve      Start the server. tsdb serve --help lists its flags.
  version    Print the version; also --version, -V.
  help       Print this; also --help, -h.

Try it
  tsdb serve
  curl 'localhost:8181/api/v3/write_lp?db=demo' --data-binary 'cpu,host=a usage=0.5'
  curl 'localhost:8181/api/v3/query_sql?db=demo&format=pretty' --get --data-urlencode 'q=SELECT * FROM cpu'
`;
}

export function serveHelp(): string {
  const flags: readonly Flag[] = FLAGS;
  const groups = [...new Set(flags.map((flag) => flag.group))].map((group) => {
    const rows = flags.filter((flag) => flag.group === group).map(flagRow);
    return `${group}\n${rows.join("")}`;
  });
  return `Usage: tsdb serve [flags]

Takes line protocol at /api/v3/write_lp, /api/v2/write and /write, and answers SQL at /api/v3/query_sql.

${groups.join("\n")}
Sizes are bytes, 512kb, 10MiB or 20% of the memory. Durations are 100ms, 10s, 5m or 1h30m.
A flag without a value is a switch; --flag=false turns it off.
Each flag is also an environment variable: --http-bind is ${environmentName("http-bind")}. Flags win.
`;
}

function flagRow(flag: Flag): string {
  const head = `  --${flag.name}${flag.value === null ? "" : ` ${flag.value}`}`;
  const note = flag.defaultNote ?? flag.default;
  const [first = "", ...others] = wrap(`${flag.help}${note === null ? "" : ` [${note}]`}`, WIDTH - COLUMN);
  const start = head.length < COLUMN ? head.padEnd(COLUMN) + first : `${head}\n${" ".repeat(COLUMN)}${first}`;
  return `${[start, ...others.map((line) => " ".repeat(COLUMN) + line)].join("\n")}\n`;
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
