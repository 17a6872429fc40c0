// What agents can be configured with: /api/v2/telegraf/plugins.
import { stringify } from "smol-toml";
import { near, TsdbError } from "../../../model/errors.ts";
import { json } from "../app/answers.ts";
import { V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { AGENT_VERSION, AGGREGATORS, INPUTS, OUTPUTS, PROCESSORS } from "./agent-plugins.ts";

interface Plugin {
  readonly type: string;
  readonly name: string;
  readonly description: string;
  /** TOML to begin with. */
  readonly config: string;
}

/** What a plugin does not run without, by its section. */
const SETTINGS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "outputs.influxdb_v2": { urls: ["http://127.0.0.1:8086"], token: "$INFLUX_TOKEN", organization: "", bucket: "" },
  "outputs.influxdb": { urls: ["http://127.0.0.1:8086"], database: "telegraf" },
  "outputs.file": { files: ["stdout"] },
  "outputs.http": { url: "http://127.0.0.1:8080/telegraf" },
  "inputs.exec": { commands: [], data_format: "influx" },
  "inputs.execd": { command: [], data_format: "influx" },
  "inputs.file": { files: [], data_format: "influx" },
  "inputs.tail": { files: [], data_format: "influx" },
  "inputs.http": { urls: [], data_format: "influx" },
  "inputs.http_response": { urls: [] },
  "inputs.mqtt_consumer": { servers: ["tcp://127.0.0.1:1883"], topics: [], data_format: "influx" },
  "inputs.ping": { urls: [] },
  "inputs.prometheus": { urls: [] },
};

const plugins = (type: string, section: string, of: Readonly<Record<string, string>>): readonly Plugin[] =>
  Object.entries(of).map(([name, what]) => {
    const description = `${what}.`;
    const place = `${section}.${name}`;
    const settings = SETTINGS[place] === undefined ? "" : stringify(SETTINGS[place]).replaceAll(/^(?=.)/gm, "  ");
    return { type, name, description, config: `# ${description}\n[[${place}]]\n${settings}` };
  });
const BY_TYPE: ReadonlyMap<string, readonly Plugin[]> = new Map([
  ["input", plugins("input", "inputs", INPUTS)],
  ["output", plugins("output", "outputs", OUTPUTS)],
  ["processor", plugins("processor", "processors", PROCESSORS)],
  ["aggregator", plugins("aggregator", "aggregators", AGGREGATORS)],
]);
export const PLUGIN_TYPES: readonly string[] = [...BY_TYPE.keys()];
const ALL = { version: AGENT_VERSION, plugins: [...BY_TYPE.values()].flat() };

export const telegrafPluginRoutes = (services: V2Services): V2Routes =>
  new V2Routes(services).get("/api/v2/telegraf/plugins", ({ search }) => {
    const type = search.get("type");
    if (type === undefined) return json(200, ALL);
    const found = BY_TYPE.get(type);
    if (found === undefined) throw new TsdbError("bad_request", `unknown plugin type ${near(type)}: want ${PLUGIN_TYPES.join(", ")}`);
    return json(200, { version: AGENT_VERSION, os: "linux", plugins: found });
  });
