// What every command of the v2 line has: a server, a token, an organization, and how answers are printed.
import { TsdbError } from "../../../model/errors.ts";
import { type Advice, Api, type CallOptions, jsonOf } from "../api.ts";
import type { ClientCommand, Terminal } from "../command.ts";
import type { Input, Option, Positional } from "../options.ts";
import { chosenConnection, configsPath, readConnections } from "./configs.ts";
import { type Columns, type Row, tableOf } from "./table.ts";

const HOST = "http://localhost:8086";
const ADVICE: Advice = { host: HOST, token: "use --token or INFLUX_TOKEN, or make a connection with tsdb v2 config create" };
/** Of one page of a list: what the server allows. */
const PAGE = 100;

export const CONFIGS: readonly Option[] = [
  { name: "configs-path", value: "FILE", help: "File of connections; default ~/.influxdbv2/configs.", env: ["INFLUX_CONFIGS_PATH"] },
  { name: "active-config", short: "c", value: "NAME", help: "Connection of that file to use.", env: ["INFLUX_ACTIVE_CONFIG"] },
];
const CONNECTION: readonly Option[] = [
  { name: "host", value: "URL", help: `The server; default ${HOST}.`, env: ["INFLUX_HOST", "TSDB_V2_HOST_URL"] },
  { name: "token", short: "t", value: "TOKEN", help: "API token.", env: ["INFLUX_TOKEN", "TSDB_V2_TOKEN"] },
  { name: "tls-ca", value: "FILE", help: "Certificate (PEM) to trust in addition to the system's.", env: ["TSDB_TLS_CA"] },
  { name: "skip-verify", value: null, help: "Trust any certificate.", env: ["INFLUX_SKIP_VERIFY"], aliases: ["tls-no-verify"] },
  ...CONFIGS,
  { name: "trace-debug-id", value: "TEXT", help: "Sent as Zap-Trace-Span, for the server's log.", env: ["INFLUX_TRACE_DEBUG_ID"] },
  { name: "http-header", value: "NAME:VALUE", help: "A header of every request.", env: ["INFLUX_EXTRA_HTTP_HEADER"] },
  { name: "http-debug", value: null, help: "Print requests and statuses to standard error." },
];
const ORGANIZATION: readonly Option[] = [
  { name: "org", short: "o", value: "NAME", help: "Organization.", env: ["INFLUX_ORG", "TSDB_V2_ORG"] },
  { name: "org-id", value: "ID", help: "The same by its id.", env: ["INFLUX_ORG_ID"] },
];
export const OUTPUT: readonly Option[] = [
  { name: "json", value: null, help: "Print JSON.", env: ["INFLUX_OUTPUT_JSON"] },
  { name: "hide-headers", value: null, help: "Print tables without their first line.", env: ["INFLUX_HIDE_HEADERS"] },
];
/** A bucket as the environment names it. */
export const BUCKET: readonly Option[] = [
  { name: "bucket", short: "b", value: "NAME", help: "Bucket.", env: ["INFLUX_BUCKET_NAME"] },
  { name: "bucket-id", value: "ID", help: "The same by its id.", env: ["INFLUX_BUCKET_ID"] },
];

/** One server, as one user sees it. */
export class Session {
  readonly api: Pick<Api, "call" | "host">;
  private readonly connectionOrg: string | undefined;

  /** @throws TsdbError config */
  constructor(
    readonly input: Input,
    readonly terminal: Terminal,
  ) {
    const path = configsPath(input.option("configs-path"), terminal.environment);
    const connection = chosenConnection(readConnections(path), input.option("active-config"));
    this.connectionOrg = connection.org;
    const values: Readonly<Record<string, string | undefined>> = {
      host: input.option("host") ?? connection.url ?? HOST,
      token: input.option("token") ?? connection.token,
      "tls-ca": input.option("tls-ca"),
    };
    const api = new Api({ option: (name) => values[name], flag: () => input.flag("skip-verify") }, ADVICE);
    const { token } = values;
    // not Bearer, which the v1 endpoints of this API do not take for a token
    const headers = { ...(token !== undefined && { authorization: `Token ${token}` }), ...headersOf(input) };
    const isTraced = input.flag("http-debug");
    this.api = {
      host: api.host,
      call: async (method, requestPath, options = {}) => {
        if (isTraced) terminal.error(`> ${method} ${requestPath}${searchOf(options.query)}\n`);
        const response = await api.call(method, requestPath, { ...options, headers: { ...headers, ...options.headers } });
        if (isTraced) terminal.error(`< ${response.status}\n`);
        return response;
      },
    };
  }

  call(method: string, path: string, options?: CallOptions): Promise<Response> {
    return this.api.call(method, path, options);
  }

  /** The JSON of an answer. @throws Refused; TsdbError io */
  async json<T = Row>(method: string, path: string, options?: CallOptions): Promise<T> {
    return jsonOf<T>(await this.call(method, path, options));
  }

  /** The rows of a list; some servers write null for none. @throws Refused; TsdbError io */
  async list(path: string, key: string, query: NonNullable<CallOptions["query"]> = {}): Promise<Row[]> {
    return (await this.json<Record<string, Row[] | null>>("GET", path, { query }))[key] ?? [];
  }

  /** All rows of a list, or `limit` of them from `offset` on. */
  async pages(
    path: string,
    key: string,
    query: NonNullable<CallOptions["query"]>,
    { limit, offset = 0 }: { limit?: number; offset?: number } = {},
  ): Promise<Row[]> {
    const rows: Row[] = [];
    while (limit === undefined || rows.length < limit) {
      const size = Math.min(PAGE, (limit ?? Number.MAX_SAFE_INTEGER) - rows.length);
      const search = { ...query, limit: String(size), offset: String(offset + rows.length) };
      const page = await this.list(path, key, search);
      rows.push(...page);
      if (page.length < size) break;
    }
    return rows;
  }

  /** The organization as a request's parameter; an argument comes before the environment, and that before the connection. */
  get organization(): { readonly org: string } | { readonly orgID: string } | undefined {
    const { input } = this;
    const [id, name] = [input.given("org-id"), input.given("org")];
    if (id !== undefined) return { orgID: id };
    if (name !== undefined) return { org: name };
    const known = input.option("org-id");
    if (known !== undefined) return { orgID: known };
    const org = input.option("org") ?? this.connectionOrg;
    return org === undefined ? undefined : { org };
  }

  /** @throws TsdbError config: none is named */
  get neededOrganization(): { readonly org: string } | { readonly orgID: string } {
    const { organization } = this;
    if (organization === undefined)
      throw new TsdbError("config", "--org NAME is missing; INFLUX_ORG and a connection's org (tsdb v2 config create) also name it");
    return organization;
  }

  /** @throws TsdbError config: none is named; Refused: there is none of that name */
  async orgId(): Promise<string> {
    const { neededOrganization: named } = this;
    return "orgID" in named ? named.orgID : this.idOf("/api/v2/orgs", "orgs", { org: named.org }, `organization "${named.org}"`);
  }

  /** The bucket as a parameter of writes and deletions. @throws TsdbError config */
  get bucket(): { readonly bucket: string } | { readonly bucketID: string } {
    const { input } = this;
    const [id, name] = [input.given("bucket-id"), input.given("bucket")];
    if (id !== undefined) return { bucketID: id };
    if (name !== undefined) return { bucket: name };
    const known = input.option("bucket-id");
    return known === undefined ? { bucket: input.required("bucket") } : { bucketID: known };
  }

  /** The id of the first row that a list finds. @throws TsdbError not_found */
  async idOf(path: string, key: string, query: NonNullable<CallOptions["query"]>, what: string): Promise<string> {
    const [first] = await this.list(path, key, query);
    if (first === undefined) throw new TsdbError("not_found", `there is no ${what}`);
    return String(first["id"]);
  }

  /** Prints what a command found or made: one row, or a list. Returns the exit code. */
  show(columns: Columns, found: Row | readonly Row[]): number {
    const { input, terminal } = this;
    if (input.flag("json")) terminal.out(`${JSON.stringify(found, null, "\t")}\n`);
    else terminal.out(tableOf(columns, Array.isArray(found) ? found : [found as Row], !input.flag("hide-headers")));
    return 0;
  }
}

function headersOf(input: Input): Record<string, string> {
  const [trace, header] = [input.option("trace-debug-id"), input.option("http-header")];
  const colon = header?.indexOf(":") ?? -1;
  if (header !== undefined && colon < 1) throw new TsdbError("config", `--http-header: write NAME:VALUE, got "${header}"`);
  return {
    ...(trace === undefined ? {} : { "zap-trace-span": trace }),
    ...(header === undefined ? {} : { [header.slice(0, colon).trim()]: header.slice(colon + 1).trim() }),
  };
}

function searchOf(query: CallOptions["query"] = {}): string {
  const present = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return present.length === 0 ? "" : `?${new URLSearchParams(present)}`;
}

export interface V2Command {
  /** After `v2`: `bucket list`. */
  readonly words: string;
  /** Other last words. */
  readonly also?: readonly string[];
  readonly summary: string;
  readonly notes?: string;
  readonly positionals?: readonly Positional[];
  readonly options?: readonly Option[];
  /** True: it belongs to an organization. */
  readonly hasOrganization?: boolean;
  /** Returns the exit code. @throws Refused; TsdbError */
  run(session: Session, input: Input): Promise<number>;
}

/** A command with the options that all of them have. */
export function v2Command({
  words,
  also = [],
  options = [],
  positionals = [],
  hasOrganization = false,
  run,
  ...rest
}: V2Command): ClientCommand {
  const all = ["v2", ...words.split(" ")];
  const last = all.at(-1)!;
  const own = new Set(options.map(({ name }) => name));
  const shorts = new Set(options.flatMap(({ short }) => short ?? []));
  // a command's own option comes before a common one of the same name or letter
  const common = [...(hasOrganization ? ORGANIZATION : []), ...CONNECTION, ...OUTPUT]
    .filter(({ name }) => !own.has(name))
    .map(({ short, ...option }) => (short === undefined || shorts.has(short) ? option : { ...option, short }));
  return {
    ...rest,
    words: all,
    aliases: also.map((word) => [...all.slice(0, -1), word].join(" ")),
    positionals,
    options: [...options, ...common],
    isApart: true,
    verb: `${last[0]!.toUpperCase()}${last.slice(1)}`,
    run: (input, terminal) => run(new Session(input, terminal), input),
  };
}

/** The path of one resource. */
export function at(list: string, id: string, below = ""): string {
  return `${list}/${encodeURIComponent(id)}${below}`;
}

/** A whole number of an option. @throws TsdbError config */
export function wholeOf(input: Input, name: string): number | undefined {
  const text = input.option(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new TsdbError("config", `--${name} must be a whole number, got "${text}"`);
  return Number(text);
}

/** The values of an option that may be repeated or hold several, separated by commas. */
export function listOf(input: Input, name: string): string[] {
  return (input.option(name) ?? "").split(",").filter((each) => each !== "");
}

/** `present({a: undefined})` is `{}`: what was not given is not sent. */
export function present<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
