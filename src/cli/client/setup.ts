// tsdb setup: makes the first user, organization, bucket and token of the bucket-based API.
import { readFileSync } from "node:fs";
import { TsdbError } from "../../model/errors.ts";
import { retentionSeconds } from "../flags/setup-flags.ts";
import { Api, CONNECTION, jsonOf } from "./api.ts";
import type { ClientCommand, Terminal } from "./command.ts";
import type { Input, Option } from "./options.ts";

/** The bucket-based API has an address of its own. */
export const BUCKETS_CONNECTION: readonly Option[] = CONNECTION.flatMap((option) => {
  if (option.name === "token") return [];
  if (option.name !== "host") return [option];
  return [
    {
      ...option,
      help: "The server's bucket-based API.",
      default: "http://127.0.0.1:8086",
      env: ["TSDB_V2_HOST_URL", "INFLUX_HOST"],
    },
  ];
});

const LINE_BYTES_MAX = 4096;

/** The answer of the server. */
export interface Made {
  readonly user: { readonly name: string; readonly id: string };
  readonly org: { readonly name: string; readonly id: string };
  readonly bucket: { readonly name: string; readonly id: string };
  readonly auth: { readonly token: string };
}

export const SETUP_COMMAND: ClientCommand = {
  words: ["setup"],
  summary: "Make the first user, organization, bucket and API token of the bucket-based API (port 8086).",
  notes:
    "What is not given is asked for on a terminal; `--password -` reads standard input. In containers\n" +
    "the server does the same when it starts, with TSDB_INIT_USERNAME, TSDB_INIT_PASSWORD (or _FILE),\n" +
    "TSDB_INIT_ORG and TSDB_INIT_BUCKET.",
  positionals: [],
  options: [
    ...BUCKETS_CONNECTION,
    { name: "username", short: "u", value: "NAME", help: "The user.", env: ["TSDB_INIT_USERNAME"] },
    { name: "password", short: "p", value: "PASSWORD", help: "The user's password, 8 to 72 characters.", env: ["TSDB_INIT_PASSWORD"] },
    { name: "password-file", value: "FILE", help: "The same, in a file.", env: ["TSDB_INIT_PASSWORD_FILE"] },
    { name: "org", short: "o", value: "NAME", help: "The organization.", env: ["TSDB_INIT_ORG"] },
    { name: "bucket", short: "b", value: "NAME", help: "Its bucket.", env: ["TSDB_INIT_BUCKET"] },
    {
      name: "retention",
      short: "r",
      value: "DURATION",
      help: "How long the bucket keeps rows; 0 is for ever.",
      default: "0",
      env: ["TSDB_INIT_RETENTION"],
    },
    { name: "token", short: "t", value: "TOKEN", help: "The API token; without it one is made.", env: ["TSDB_INIT_ADMIN_TOKEN"] },
    { name: "format", value: "FORMAT", help: "pretty or json.", default: "pretty" },
  ],
  verb: "Setup",
  async run(input, terminal) {
    const isJson = formatOf(input) === "json";
    const made = await setUp(input, terminal);
    terminal.out(isJson ? `${JSON.stringify(made)}\n` : shown(made, input));
    return 0;
  },
};

/** Sets a server up by the options of the command. @throws Refused; TsdbError */
export async function setUp(input: Input, terminal: Terminal): Promise<Made> {
  const api = new Api({ flag: (name) => input.flag(name), option: (name) => (name === "token" ? undefined : input.option(name)) });
  const { allowed } = await jsonOf<{ allowed: boolean }>(await api.call("GET", "/api/v2/setup"));
  if (!allowed) throw new TsdbError("already_exists", `${api.host} has been set up already`);
  const ask = new Questions(terminal);
  const username = input.option("username") ?? (await ask.line("username"));
  const password = await passwordOf(input, ask);
  const org = input.option("org") ?? (await ask.line("org"));
  const bucket = input.option("bucket") ?? (await ask.line("bucket"));
  const token = input.option("token");
  const retentionPeriodSeconds = retentionOf(input.option("retention")!);
  const body = { username, password, org, bucket, retentionPeriodSeconds, ...(token === undefined ? {} : { token }) };
  return jsonOf<Made>(await api.call("POST", "/api/v2/setup", { body }));
}

function formatOf(input: Input): "pretty" | "json" {
  const format = input.option("format")!;
  if (format !== "pretty" && format !== "json") throw new TsdbError("config", `--format must be pretty or json, got "${format}"`);
  return format;
}

/** Seconds; 0 is for ever. @throws TsdbError config that names `--retention` */
export function retentionOf(text: string): number {
  try {
    return retentionSeconds(text);
  } catch (error) {
    throw new TsdbError("config", (error as Error).message.replace("--init-retention", "--retention"));
  }
}

async function passwordOf(input: Input, ask: Questions): Promise<string> {
  const [given, path] = [input.option("password"), input.option("password-file")];
  if (given !== undefined && given !== "-") return given;
  if (given === "-") return ask.piped();
  if (path === undefined) return ask.hidden("password");
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new TsdbError("config", `--password-file: ${(error as Error).message}`);
  }
}

function shown({ user, org, bucket, auth }: Made, input: Input): string {
  const connection = `tsdb v2 config create -n default -u ${input.option("host")} -o ${shellWord(org.name)} -t TOKEN -a`;
  const lines = [
    `user          ${user.name}`,
    `organization  ${org.name} (${org.id})`,
    `bucket        ${bucket.name} (${bucket.id})`,
    ...(input.option("token") === undefined ? [`token         ${auth.token}`] : []),
    "for commands of `tsdb v2`, keep the connection, with the token in place of TOKEN:",
    `  ${connection}`,
  ];
  return `${lines.join("\n")}\n`;
}

function shellWord(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Asks on a terminal for what was not given. */
export class Questions {
  private reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private rest = "";

  constructor(private readonly terminal: Terminal) {}

  /** @throws TsdbError config without a terminal, or for an empty answer */
  async line(name: string): Promise<string> {
    const { terminal } = this;
    if (!terminal.isInputTerminal) throw new TsdbError("config", `--${name} is needed`);
    terminal.error(`${name}: `);
    return this.answer(name);
  }

  /** The same, not shown while it is typed. */
  async hidden(name: string): Promise<string> {
    if (!this.terminal.isInputTerminal)
      throw new TsdbError("config", `--${name} is needed, or --${name}-file, or --${name} - for standard input`);
    const { stdin } = process;
    this.terminal.error(`${name}: `);
    stdin.setRawMode?.(true);
    try {
      return await this.answer(name);
    } finally {
      stdin.setRawMode?.(false);
      this.terminal.error("\n");
    }
  }

  /** The first line of standard input. */
  piped(): Promise<string> {
    return this.answer("password");
  }

  private async answer(name: string): Promise<string> {
    this.reader ??= this.terminal.input().getReader();
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    while (!/[\r\n]/.test(this.rest) && this.rest.length <= LINE_BYTES_MAX) {
      const { done, value } = await this.reader.read();
      if (done) break;
      const piece = decoder.decode(value, { stream: true });
      // raw mode hands on what the terminal would have acted on: Ctrl-C, and the key that deletes
      if (piece.includes("\u0003")) throw new TsdbError("cancelled", "given up");
      this.rest = (this.rest + piece).replace(/[^\r\n\u007f\b]?[\u007f\b]/g, "");
    }
    const [line = "", ...others] = this.rest.split(/\r\n|\r|\n/);
    this.rest = others.join("\n");
    if (line === "") throw new TsdbError("config", `--${name} is needed`);
    return line;
  }
}
