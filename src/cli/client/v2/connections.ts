// tsdb v2 config, setup, ping, version, server-config, query: which server commands speak to, whether it is there, and scripts.
import { TsdbError } from "../../../model/errors.ts";
import type { ClientCommand, Terminal } from "../command.ts";
import { askFlux } from "../flux/ask.ts";
import type { Input, Option } from "../options.ts";
import { NO_PAGER, pagerOf, showAnswer, withLastNewline } from "../pager.ts";
import { statementOf } from "../query.ts";
import { SETUP_COMMAND, setUp } from "../setup.ts";
import { activated, type Connections, configsPath, readConnections, writeConnections } from "./configs.ts";
import { CONFIGS, listOf, OUTPUT, present, v2Command } from "./session.ts";
import { type Row, tableOf } from "./table.ts";

const COLUMNS = { Active: "active", Name: "name", URL: "url", Org: "org" };
const NAME: Option = { name: "config-name", short: "n", value: "NAME", help: "The connection's name.", aliases: ["name"] };
const CONNECTION: readonly Option[] = [
  NAME,
  { name: "host-url", short: "u", value: "URL", help: "The server.", aliases: ["url"] },
  { name: "token", short: "t", value: "TOKEN", help: "API token." },
  { name: "org", short: "o", value: "NAME", help: "Organization that commands are for." },
  { name: "active", short: "a", value: null, help: "Use it from now on." },
];

/** The file as the options name it. */
function fileOf(input: Input, { environment }: Terminal): { path: string; connections: Connections } {
  const path = configsPath(input.option("configs-path"), environment);
  return { path, connections: readConnections(path) };
}

function nameOf(input: Input, connections: Connections): string {
  const name = input.positionals[0] ?? input.required("config-name");
  if (Object.hasOwn(connections, name)) return name;
  throw new TsdbError("config", `there is no connection "${name}"; tsdb v2 config list shows them`);
}

/** Tokens are not shown. */
function shown(input: Input, terminal: Terminal, connections: Connections): number {
  const rows: Row[] = Object.entries(connections).map(([name, { url, org, active }]) => ({ name, url, org, active: active === true }));
  if (input.flag("json")) terminal.out(`${JSON.stringify(rows, null, "\t")}\n`);
  else terminal.out(tableOf({ ...COLUMNS, Active: (row) => (row["active"] === true ? "*" : "") }, rows, !input.flag("hide-headers")));
  return 0;
}

function urlOf(input: Input): string | undefined {
  const url = input.option("host-url");
  if (url === undefined || /^https?:\/\/[^/\s]/.test(url)) return url;
  throw new TsdbError("config", `--host-url: "${url}" is no URL; write http://localhost:8086`);
}

interface FileCommand extends Pick<ClientCommand, "summary" | "notes" | "positionals"> {
  readonly words: string;
  readonly also?: readonly string[];
  readonly options: readonly Option[];
  run(input: Input, terminal: Terminal): number;
}

/** A command on the file alone: it needs no server. */
function fileCommand({ words, also = [], options, run, ...rest }: FileCommand): ClientCommand {
  const path = CONFIGS.filter(({ name }) => name === "configs-path");
  return {
    ...rest,
    words: ["v2", ...words.split(" ")],
    aliases: also.map((word) => `v2 config ${word}`),
    options: [...options, ...path, ...OUTPUT],
    isApart: true,
    verb: "Config",
    run: async (input, terminal) => run(input, terminal),
  };
}

const CONFIG: readonly ClientCommand[] = [
  fileCommand({
    words: "config",
    summary: "Show the active connection, or make another one active.",
    positionals: [{ name: "NAME", isOptional: true }],
    options: [],
    run: (input, terminal) => {
      const { path, connections } = fileOf(input, terminal);
      if (input.positionals[0] === undefined) {
        return shown(input, terminal, Object.fromEntries(Object.entries(connections).filter(([, { active }]) => active === true)));
      }
      const name = nameOf(input, connections);
      const next = activated(connections, name);
      writeConnections(path, next);
      return shown(input, terminal, { [name]: next[name]! });
    },
  }),
  fileCommand({
    words: "config create",
    summary: "Make a named connection in the file that all commands of the bucket-based API read.",
    notes: "tsdb v2 config create -n home -u http://localhost:8086 -o demo -t TOKEN -a",
    positionals: [],
    options: CONNECTION,
    run: (input, terminal) => {
      const { path, connections } = fileOf(input, terminal);
      const name = input.required("config-name");
      if (Object.hasOwn(connections, name))
        throw new TsdbError("already_exists", `there is a connection "${name}"; tsdb v2 config set changes it`);
      input.required("host-url");
      const made = { url: urlOf(input)!, token: input.required("token"), ...present({ org: input.option("org") }) };
      const all = { ...connections, [name]: made };
      const next = input.flag("active") ? activated(all, name) : all;
      writeConnections(path, next);
      return shown(input, terminal, { [name]: next[name]! });
    },
  }),
  fileCommand({
    words: "config set",
    also: ["update"],
    summary: "Change a connection.",
    positionals: [],
    options: CONNECTION,
    run: (input, terminal) => {
      const { path, connections } = fileOf(input, terminal);
      const name = nameOf(input, connections);
      const changes = present({ url: urlOf(input), token: input.option("token"), org: input.option("org") });
      const all = { ...connections, [name]: { ...connections[name], ...changes } };
      const next = input.flag("active") ? activated(all, name) : all;
      writeConnections(path, next);
      return shown(input, terminal, { [name]: next[name]! });
    },
  }),
  fileCommand({
    words: "config rm",
    also: ["delete", "remove"],
    summary: "Remove a connection.",
    positionals: [{ name: "NAME", isOptional: true }],
    options: [NAME],
    run: (input, terminal) => {
      const { path, connections } = fileOf(input, terminal);
      const name = nameOf(input, connections);
      const { [name]: removed, ...others } = connections;
      writeConnections(path, others);
      return shown(input, terminal, { [name]: removed! });
    },
  }),
  fileCommand({
    words: "config list",
    also: ["ls"],
    summary: "List the connections.",
    positionals: [],
    options: [],
    run: (input, terminal) => shown(input, terminal, fileOf(input, terminal).connections),
  }),
];

const SETUP: ClientCommand = {
  ...SETUP_COMMAND,
  words: ["v2", "setup"],
  isApart: true,
  summary: "Make the first user, organization, bucket and API token, and a connection for them.",
  notes: "What is not given is asked for on a terminal; `--password -` reads standard input.",
  options: [
    ...SETUP_COMMAND.options.filter(({ name }) => name !== "format"),
    { ...NAME, help: "Name of the connection, which becomes the active one.", default: "default" },
    { name: "force", short: "f", value: null, help: "For scripts of other clients: nothing is confirmed here." },
    ...CONFIGS.filter(({ name }) => name === "configs-path"),
    ...OUTPUT,
  ],
  async run(input, terminal) {
    const { path, connections } = fileOf(input, terminal);
    const name = input.option("config-name")!;
    // a token that is made once must find its place
    if (Object.hasOwn(connections, name))
      throw new TsdbError("already_exists", `there is a connection "${name}"; --name NAME makes another one`);
    const made = await setUp(input, terminal);
    const connection = { url: input.option("host")!, token: made.auth.token, org: made.org.name };
    writeConnections(path, activated({ ...connections, [name]: connection }, name));
    const row = { user: made.user.name, organization: made.org.name, bucket: made.bucket.name };
    if (input.flag("json")) terminal.out(`${JSON.stringify(row, null, "\t")}\n`);
    else terminal.out(tableOf({ User: "user", Organization: "organization", Bucket: "bucket" }, [row], !input.flag("hide-headers")));
    return 0;
  },
};

export const CONNECTION_COMMANDS: readonly ClientCommand[] = [
  ...CONFIG,
  SETUP,
  v2Command({
    words: "ping",
    summary: "Ask whether the server is well.",
    run: async (session) => {
      const { status, message } = await session.json<{ status: string; message: string }>("GET", "/health");
      if (status !== "pass") throw new TsdbError("unavailable", `the server is not well: ${message}`);
      session.terminal.out("OK\n");
      return 0;
    },
  }),
  v2Command({
    words: "server-config",
    summary: "Print the configuration of the server as JSON.",
    run: async (session) => {
      session.terminal.out(`${JSON.stringify((await session.json<{ config: Row }>("GET", "/api/v2/config")).config, null, "\t")}\n`);
      return 0;
    },
  }),
  v2Command({
    words: "query",
    summary: "Run a Flux script.",
    notes: `tsdb v2 query 'from(bucket: "home") |> range(start: -1h)'\ntsdb v2 query -f script.flux --raw`,
    positionals: [{ name: "SCRIPT", isOptional: true }],
    hasOrganization: true,
    options: [
      { name: "file", short: "f", value: "FILE", help: "File with the script; - is standard input." },
      { name: "raw", short: "r", value: null, help: "Annotated CSV as it comes." },
      { name: "profilers", short: "p", value: "A,B", help: "Profilers to run, such as query,operator.", joinedBy: "," },
      NO_PAGER,
    ],
    run: async ({ api, terminal, neededOrganization }, input) => {
      const script = await statementOf(input, terminal);
      const aborter = new AbortController();
      const format = input.flag("raw") ? "csv" : "pretty";
      const profilers = listOf(input, "profilers");
      const pieces = await askFlux(api, neededOrganization, {
        script,
        format,
        signal: aborter.signal,
        ...(profilers.length > 0 && { profilers }),
      });
      if (terminal.isOutputTerminal) {
        const pager = format === "pretty" ? pagerOf(input, terminal) : null;
        await showAnswer(pieces, terminal, { pager, cancel: () => aborter.abort() });
      } else for await (const piece of withLastNewline(pieces)) await terminal.out(piece);
      return 0;
    },
  }),
];
