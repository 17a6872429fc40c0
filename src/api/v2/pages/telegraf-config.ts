// The TOML of an agent's configuration: to which buckets it writes, and what bodies of old clients stand for.
import { parse, stringify } from "smol-toml";
import { near, TsdbError } from "../../../model/errors.ts";

/** A plugin as old clients send it: with settings, or with TOML of its own. */
export interface AgentPlugin {
  readonly name: string;
  readonly type: string;
  readonly comment: string;
  readonly config: string | Readonly<Record<string, unknown>>;
}

type Members = Readonly<Record<string, unknown>>;

/** The parser's time grows with the square of the parts of a key; no key has as many. */
const DOTS_OF_LINE_MAX = 2000;
const SECTIONS: Readonly<Record<string, string>> = {
  ...{ input: "inputs", output: "outputs", processor: "processors", aggregator: "aggregators" },
};
const DEFAULT_INTERVAL_MS = 10_000;

/** The buckets of its v2 outputs, each once, in order. @throws TsdbError bad_request if it is not TOML */
export function bucketsOf(config: string): string[] {
  const outputs = membersOf(parsed(config)["outputs"])["influxdb_v2"];
  const buckets = (Array.isArray(outputs) ? outputs : [outputs]).map((output) => membersOf(output)["bucket"]);
  return [...new Set(buckets.filter((bucket): bucket is string => typeof bucket === "string" && bucket !== ""))];
}

/** The same; none of what is not TOML, which templates may hold. */
export function knownBucketsOf(config: string): string[] {
  try {
    return bucketsOf(config);
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    return [];
  }
}

/** @throws TsdbError bad_request for an unknown type of a plugin, or invalid TOML */
export function configOf(agentIntervalMs: number | undefined, plugins: readonly AgentPlugin[]): string {
  const interval = `${(agentIntervalMs ?? DEFAULT_INTERVAL_MS) / 1000}s`;
  const parts = plugins.map(({ name, type, comment, config }) => {
    const section = Object.hasOwn(SECTIONS, type) ? SECTIONS[type]! : null;
    if (section === null) throw new TsdbError("bad_request", `unsupported telegraf plugin type ${near(type)}`);
    const head = comment === "" ? "" : `${comment.replaceAll(/^/gm, "# ")}\n`;
    return `${head}${typeof config === "string" ? config : settingsOf(section, name, config)}`;
  });
  const whole = [stringify({ agent: { interval } }), ...parts].map((part) => `${part.trimEnd()}\n`).join("\n");
  parsed(whole);
  return whole;
}

function settingsOf(section: string, name: string, config: Members): string {
  try {
    return stringify({ [section]: { [name]: [config] } });
  } catch (error) {
    throw new TsdbError(
      "bad_request",
      `the settings of the plugin ${near(name)} have no form in TOML: ${near((error as Error).message, 200)}`,
    );
  }
}

function parsed(config: string): Members {
  const crowded = config.split("\n").findIndex((line) => line.split(".").length - 1 > DOTS_OF_LINE_MAX);
  if (crowded >= 0) {
    throw new TsdbError("bad_request", `the configuration is not read: line ${crowded + 1} has more than ${DOTS_OF_LINE_MAX} dots`);
  }
  try {
    return parse(config);
  } catch (error) {
    const [message] = (error as Error).message.split("\n");
    throw new TsdbError("bad_request", `the configuration is not TOML: ${near(message!, 200)}`);
  }
}

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
}
