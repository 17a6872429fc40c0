// tsdb test wal_plugin|schedule_plugin: dry runs of plugins. tsdb install package: packages that they import.
import { readFileSync } from "node:fs";
import { TsdbError } from "../../model/errors.ts";
import { Api, CONNECTION, DATABASE, jsonOf } from "./api.ts";
import type { ClientCommand } from "./command.ts";
import { list } from "./databases.ts";
import type { Input, Option } from "./options.ts";

const INSTALL = "/api/v3/configure/plugin_environment";
const PLUGIN = [{ name: "PLUGIN" }];

const RUN_OPTIONS: readonly Option[] = [
  DATABASE,
  { name: "input-arguments", value: "A=1,B=2", help: "What the plugin gets as args.", joinedBy: "," },
  { name: "cache-name", value: "NAME", help: "Dry runs of the same name share a cache." },
];

const OF_SERVER = "No effect: the server's own flag decides.";
/** Commands written for other servers name these. */
const SERVER_OPTIONS: readonly Option[] = [
  { name: "package-manager", value: "NAME", help: OF_SERVER },
  { name: "virtual-env-location", value: "FOLDER", help: OF_SERVER },
];

/** `a=1,b=two` @throws TsdbError config */
function argumentsOf(text: string | undefined): Record<string, string> | null {
  if (text === undefined) return null;
  const pairs = list(text).map((item) => {
    const equals = item.indexOf("=");
    if (equals <= 0) throw new TsdbError("config", `--input-arguments: "${item}" is no NAME=VALUE`, {});
    return [item.slice(0, equals), item.slice(equals + 1)];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}

function bodyOf(input: Input): Record<string, unknown> {
  const [filename] = input.positionals as [string];
  const cacheName = input.option("cache-name");
  return {
    ...{ filename, database: input.required("database"), input_arguments: argumentsOf(input.option("input-arguments")) },
    ...(cacheName === undefined ? {} : { cache_name: cacheName }),
  };
}

/** @throws TsdbError config */
function linesOf(input: Input): string {
  const [lines, file] = [input.option("lp"), input.option("file")];
  if ((lines === undefined) === (file === undefined)) throw new TsdbError("config", "one of --lp and --file is needed", {});
  if (lines !== undefined) return lines;
  try {
    return readFileSync(file!, "utf8");
  } catch (error) {
    throw new TsdbError("config", `--file: cannot read ${file}: ${(error as Error).message}`, {});
  }
}

/** Prints the answer, indented. */
async function dryRun(input: Input, path: string, body: object, out: (text: string) => unknown): Promise<number> {
  const answer = await jsonOf<object>(await new Api(input).call("POST", path, { body }));
  await out(`${JSON.stringify(answer, null, 2)}\n`);
  return 0;
}

export const PLUGIN_COMMANDS: readonly ClientCommand[] = [
  {
    words: ["test", "wal_plugin"],
    summary: "Run a plugin for writes on some lines, and store nothing.",
    notes: `tsdb test wal_plugin count.py -d home --lp 'temp,room=hall v=21.5'
tsdb test wal_plugin count.py -d home --file lines.lp --input-arguments limit=3`,
    positionals: PLUGIN,
    options: [
      ...RUN_OPTIONS,
      { name: "lp", value: "LINES", help: "Lines that the plugin gets the rows of." },
      { name: "file", value: "FILE", help: "Where the lines are instead." },
      ...CONNECTION,
    ],
    verb: "Test",
    run: async (input, { out }) => dryRun(input, "/api/v3/plugin_test/wal", { ...bodyOf(input), input_lp: linesOf(input) }, out),
  },
  {
    words: ["test", "schedule_plugin"],
    summary: "Run a plugin for schedules now, and store nothing.",
    notes: "tsdb test schedule_plugin report.py -d home --schedule 'cron:0 0 6 * * *'",
    positionals: PLUGIN,
    options: [
      ...RUN_OPTIONS,
      {
        name: "schedule",
        value: "SPEC",
        help: "The plugin gets its next time; fields of cron, or as in a trigger.",
        default: "* * * * * *",
      },
      ...CONNECTION,
    ],
    verb: "Test",
    run: async (input, { out }) =>
      dryRun(input, "/api/v3/plugin_test/schedule", { ...bodyOf(input), schedule: input.option("schedule") }, out),
  },
  {
    words: ["install", "package"],
    summary: "Install Python packages for the plugins of a server.",
    notes: `tsdb install package pandas 'requests>=2'
tsdb install package -r requirements.txt`,
    positionals: [{ name: "PACKAGE", isOptional: true, isRepeated: true }],
    options: [
      { name: "requirements", short: "r", value: "FILE", help: "A requirements file of the server, below its --plugin-dir." },
      ...SERVER_OPTIONS,
      ...CONNECTION,
    ],
    verb: "Install",
    async run(input, { out, error }) {
      const location = input.option("requirements");
      const packages = input.positionals;
      if ((location === undefined) === (packages.length === 0)) {
        throw new TsdbError("config", "name packages, or a requirements file by --requirements", {});
      }
      for (const { name } of SERVER_OPTIONS) {
        if (input.option(name) !== undefined) error(`--${name} has no effect: the server's own flag decides\n`);
      }
      const api = new Api(input);
      if (location === undefined) await api.call("POST", `${INSTALL}/install_packages`, { body: { packages } });
      else await api.call("POST", `${INSTALL}/install_requirements`, { body: { requirements_location: location } });
      out("Packages installed successfully\n");
      return 0;
    },
  },
];
