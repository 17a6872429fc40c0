// tsdb.toml: defaults for flags that are neither given nor in the environment. Keys are the flag names of `tsdb serve`; table [client] has
// the options of the client commands.
import { TsdbError } from "../model/errors.ts";
import { type Environment, FLAGS, type FlagName } from "./flags.ts";
import { nearestName } from "./nearest-name.ts";

export interface ConfigFile {
  /** Path of the file: the prefix of error messages. */
  readonly path: string;
  readonly serve: ReadonlyMap<FlagName, string>;
  readonly client: Readonly<Record<string, string>>;
}

const DEFAULT_PATH = "tsdb.toml";
const VARIABLES = ["TSDB_CONFIG", "TSDB_CONFIG_FILE"] as const;
const CLIENT_KEYS = ["host", "token", "database", "tls-ca", "tls-no-verify", "format", "language"];

/** The file named by `--config` or the environment, otherwise ./tsdb.toml if it exists; removes the flag from `args`. @throws TsdbError
 *  config */
export function readConfigFile(
  args: readonly string[],
  environment: Environment,
  readFile: (path: string) => string,
): { config: ConfigFile | null; args: readonly string[] } {
  const { path, rest } = takeConfigFlag(args);
  const named = path ?? VARIABLES.map((name) => environment[name]).find((value) => value !== undefined && value !== "");
  let text: string;
  try {
    text = readFile(named ?? DEFAULT_PATH);
  } catch (error) {
    if (named === undefined) return { config: null, args: rest };
    throw new TsdbError("config", `--config: cannot read the file: ${(error as Error).message}`, {});
  }
  return { config: parseConfigFile(named ?? DEFAULT_PATH, text), args: rest };
}

function takeConfigFlag(args: readonly string[]): { path: string | undefined; rest: readonly string[] } {
  const at = args.findIndex((argument) => argument === "--config" || argument.startsWith("--config="));
  if (at < 0) return { path: undefined, rest: args };
  const argument = args[at]!;
  if (argument !== "--config") return { path: argument.slice("--config=".length), rest: args.toSpliced(at, 1) };
  const path = args[at + 1];
  if (path === undefined || path.startsWith("--")) throw new TsdbError("config", "--config needs a value: --config FILE", {});
  return { path, rest: args.toSpliced(at, 2) };
}

/** @throws TsdbError config */
export function parseConfigFile(path: string, text: string): ConfigFile {
  let content: Record<string, unknown>;
  try {
    content = Bun.TOML.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw new TsdbError("config", `${path}: ${(error as Error).message}`, {});
  }
  const serve = new Map<FlagName, string>();
  const names = FLAGS.map(({ name }) => name as string);
  for (const [key, value] of Object.entries(content)) {
    if (key === "client") continue;
    const name = key.replaceAll("_", "-");
    if (!names.includes(name)) throw new TsdbError("config", unknownKey(path, key, nearestName(name, names)), {});
    serve.set(name as FlagName, textOf(path, key, value));
  }
  return { path, serve, client: clientOf(path, content["client"]) };
}

function clientOf(path: string, value: unknown): Record<string, string> {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TsdbError("config", `${path}: client must be a table: write [client]`, {});
  }
  const client: Record<string, string> = {};
  for (const [key, text] of Object.entries(value)) {
    const name = key.replaceAll("_", "-");
    if (!CLIENT_KEYS.includes(name)) throw new TsdbError("config", unknownKey(path, `client.${key}`, nearestName(name, CLIENT_KEYS)), {});
    client[name] = textOf(path, `client.${key}`, text);
  }
  return client;
}

/** Lists become comma-separated text. */
function textOf(path: string, key: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => textOf(path, key, item)).join(",");
  if (typeof value === "string" || typeof value === "boolean" || typeof value === "number") return String(value);
  throw new TsdbError("config", `${path}: ${key} must be a text, a number, true or false`, {});
}

function unknownKey(path: string, key: string, nearest: string | null): string {
  return `${path}: unknown key ${key}; ${nearest === null ? "tsdb serve --help lists them" : `did you mean ${nearest}?`}`;
}
