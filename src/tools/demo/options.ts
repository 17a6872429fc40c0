// The demo's command line.
import { parseArgs } from "node:util";
import { DemoError } from "./client.ts";

export const DEFAULT_HOST = "http://127.0.0.1:8181";
const SECONDS_DEFAULT = 5;

export const USAGE = `npm run demo -- [--host URL] [--database NAME] [--seconds N] [--follow] [--flights]

Loads real tables (weather, stocks, flights, ...) into a server, collects this machine's counters, and asks three
questions about them. Without a server at ${DEFAULT_HOST} it starts one of its own on a temporary folder.

  --host URL        the server; then none is started (default ${DEFAULT_HOST})
  --database NAME   where the tables go (default showcase)
  --seconds N       how long to collect counters (default ${SECONDS_DEFAULT})
  --follow          collect every second until Ctrl-C
  --flights         load three million flights too
  TSDB_TOKEN        token to send, from the environment`;

export interface DemoOptions {
  /** Null if not given: then a new server may be started instead. */
  readonly host: string | null;
  readonly database: string;
  readonly seconds: number;
  readonly follow: boolean;
  readonly flights: boolean;
  readonly help: boolean;
}

/** @throws DemoError with a one-line message */
export function parseOptions(args: readonly string[]): DemoOptions {
  const values = parse(args);
  const seconds = Number(values.seconds ?? SECONDS_DEFAULT);
  if (!Number.isInteger(seconds) || seconds < 0) throw new DemoError(`--seconds must be a whole number, got '${values.seconds}'`);
  return {
    host: values.host === undefined ? null : urlOf(values.host),
    database: values.database ?? "showcase",
    seconds,
    follow: values.follow ?? false,
    flights: values.flights ?? false,
    help: values.help ?? false,
  };
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const options = { host: text, database: text, seconds: text, follow: flag, flights: flag, help: { ...flag, short: "h" } } as const;
  try {
    return parseArgs({ args: [...args], options, strict: true }).values;
  } catch (error) {
    throw new DemoError(`${error instanceof Error ? error.message : String(error)}; see --help`);
  }
}

/** `localhost:8181` means http; without a trailing slash. */
function urlOf(host: string): string {
  const text = /^https?:\/\//.test(host) ? host : `http://${host}`;
  if (!URL.canParse(text)) throw new DemoError(`--host must be a URL such as ${DEFAULT_HOST}, got '${host}'`);
  return text.replace(/\/+$/, "");
}
