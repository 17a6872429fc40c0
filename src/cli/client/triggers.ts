// tsdb create|delete|enable|disable|update trigger, and what plugins there are.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { TsdbError } from "../../model/errors.ts";
import { parseTriggerSpec } from "../../triggers/spec.ts";
import { Api, CONNECTION, DATABASE } from "./api.ts";
import type { ClientCommand } from "./command.ts";
import { FORMAT, list, statement } from "./databases.ts";
import type { Input } from "./options.ts";

const PATH = "/api/v3/configure/processing_engine_trigger";
const FILES = "/api/v3/plugins/files";
const FOLDER = "/api/v3/plugins/directory";
const NAME = [{ name: "NAME" }];
/** Of a folder's files what Python makes of them itself is left out. */
const NOT_SENT = /(^|\/)(__pycache__|\.[^/]*)(\/|$)|\.pyc$/;

/** `a=1,b=two` @throws TsdbError config */
function argumentsOf(text: string | undefined): Record<string, string> | null {
  if (text === undefined) return null;
  const pairs = list(text).map((item) => {
    const equals = item.indexOf("=");
    if (equals <= 0) throw new TsdbError("config", `--trigger-arguments: "${item}" is no NAME=VALUE`, {});
    return [item.slice(0, equals), item.slice(equals + 1)];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** @throws TsdbError config */
function specOf(input: Input): string {
  const text = input.required("trigger-spec");
  try {
    parseTriggerSpec(text);
  } catch (error) {
    throw new TsdbError("config", `invalid value '${text}' for '--trigger-spec': ${(error as Error).message}`, {});
  }
  return text;
}

/** @throws TsdbError config */
function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new TsdbError("config", `--path: cannot read ${path}: ${(error as Error).message}`, {});
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function filesIn(folder: string, below = ""): { relative_path: string; content: string }[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (NOT_SENT.test(path)) return [];
    if (entry.isDirectory()) return filesIn(folder, path);
    return entry.isFile() ? [{ relative_path: path, content: readText(join(folder, path)) }] : [];
  });
}

/** Puts a file or folder of this machine into the server's folder of plugins. Returns what it is called there. @throws TsdbError config */
async function upload(api: Api, path: string): Promise<string> {
  const name = basename(resolve(path));
  const create = (plugin_name: string, content: string) => api.call("POST", FILES, { body: { plugin_name, content } });
  if (!isFolder(path)) await create(name, readText(path));
  else for (const file of folderFiles(path)) await create(`${name}/${file.relative_path}`, file.content);
  return name;
}

/** Of a plugin. Its entry comes last: without it a folder is no plugin. @throws TsdbError config */
function folderFiles(folder: string): { relative_path: string; content: string }[] {
  const files = filesIn(folder);
  const entry = files.find(({ relative_path }) => relative_path === "__init__.py");
  if (entry === undefined) throw new TsdbError("config", `--path: the folder ${folder} has no __init__.py`, {});
  return [...files.filter((file) => file !== entry), entry];
}

/** `enable` and `disable`: the same of another path. */
function change(verb: "enable" | "disable", title: string, summary: string): ClientCommand {
  return {
    words: [verb, "trigger"],
    summary,
    positionals: NAME,
    options: [DATABASE, ...CONNECTION],
    verb: title,
    async run(input, { out }) {
      const [name] = input.positionals as [string];
      await new Api(input).call("POST", `${PATH}/${verb}`, { query: { db: input.required("database"), trigger_name: name } });
      out(`Trigger ${name} ${verb}d successfully\n`);
      return 0;
    },
  };
}

export const TRIGGER_COMMANDS: readonly ClientCommand[] = [
  {
    words: ["create", "trigger"],
    summary: "Run a Python plugin on writes, by a schedule, or on requests.",
    notes: `tsdb create trigger counter -d home --trigger-spec all_tables --path count.py
tsdb create trigger hourly -d home --trigger-spec every:1h --path report.py --trigger-arguments table=cpu,limit=3
tsdb create trigger hello -d home --trigger-spec request:hello --path hello.py --upload`,
    positionals: NAME,
    options: [
      DATABASE,
      {
        name: "trigger-spec",
        value: "SPEC",
        help: "all_tables, table:NAME, 'cron:0 0 6 * * 1-5' (seconds first, UTC), every:DURATION, request:PATH.",
      },
      {
        name: "path",
        short: "p",
        value: "FILE",
        help: "Below the server's --plugin-dir; gh:PATH of its --plugin-repo.",
        aliases: ["plugin-filename"],
      },
      { name: "trigger-arguments", value: "A=1,B=2", help: "What the plugin gets as args.", joinedBy: "," },
      { name: "error-behavior", value: "log|retry|disable", help: "What becomes of a run that fails.", default: "log" },
      { name: "run-asynchronous", value: null, help: "Runs may overlap." },
      { name: "disabled", value: null, help: "Make it and do not run it." },
      { name: "upload", value: null, help: "--path is a file or folder of this machine: put it into the server's folder first." },
      { name: "node-spec", short: "n", value: "SPEC", help: "Servers that run it: all, or nodes:a,b.", default: "all" },
      ...CONNECTION,
    ],
    verb: "Create",
    async run(input, { out }) {
      const [name] = input.positionals as [string];
      const db = input.required("database");
      const trigger_specification = specOf(input);
      const trigger_arguments = argumentsOf(input.option("trigger-arguments"));
      const path = input.required("path");
      const api = new Api(input);
      const plugin_filename = input.flag("upload") ? await upload(api, path) : path;
      const trigger_settings = { run_async: input.flag("run-asynchronous"), error_behavior: input.option("error-behavior") };
      const body = { db, plugin_filename, trigger_name: name, trigger_specification, trigger_settings, trigger_arguments };
      await api.call("POST", PATH, { body: { ...body, disabled: input.flag("disabled"), node_spec: input.option("node-spec") } });
      out(`Trigger ${name} created successfully\n`);
      return 0;
    },
  },
  {
    words: ["delete", "trigger"],
    summary: "Delete a trigger; the plugin's file stays.",
    positionals: NAME,
    options: [DATABASE, { name: "force", value: null, help: "Also while it runs." }, ...CONNECTION],
    verb: "Delete",
    async run(input, { out }) {
      const [name] = input.positionals as [string];
      const query = { db: input.required("database"), trigger_name: name, force: String(input.flag("force")) };
      await new Api(input).call("DELETE", PATH, { query });
      out(`Trigger ${name} deleted successfully\n`);
      return 0;
    },
  },
  change("enable", "Enable", "Let a trigger run; one for writes sees rows from then on."),
  change("disable", "Disable", "Let a trigger run no more; what runs is interrupted."),
  {
    words: ["update", "trigger"],
    summary: "Replace the plugin of a trigger by a file or a folder of this machine.",
    positionals: [],
    options: [
      DATABASE,
      { name: "trigger-name", short: "t", value: "NAME", help: "Trigger." },
      { name: "path", short: "p", value: "FILE", help: "File, or folder with an __init__.py." },
      ...CONNECTION,
    ],
    verb: "Update",
    async run(input, { out }) {
      const [db, name, path] = [input.required("database"), input.required("trigger-name"), input.required("path")];
      const body = isFolder(path) ? { files: folderFiles(path) } : { content: readText(path) };
      await new Api(input).call("PUT", "files" in body ? FOLDER : FILES, { body: { db, plugin_name: name, ...body } });
      out(`Trigger ${name} updated successfully\n`);
      return 0;
    },
  },
  {
    words: ["show", "plugins"],
    summary: "List the plugins' files.",
    positionals: [],
    options: [FORMAT, ...CONNECTION],
    verb: "Show",
    run: (input, { out }) => statement(input, "_internal", "SELECT * FROM system.plugin_files ORDER BY plugin_name, file_name", out),
  },
];
