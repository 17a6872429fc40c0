// The flags of plugins: where they are, which Python runs them, and what they may take.
import { LIMITS } from "../../model/limits.ts";
import { TRIGGER_KINDS, type TriggerKind } from "../../model/triggers.ts";
import { PACKAGE_MANAGERS, type PackageManagerName } from "../../plugins/packages/package-manager.ts";
import type { Flag } from "../flag.ts";
import { showBytes } from "../units.ts";

const MIB = 1024 * 1024;
const MEMORY_BYTES_DEFAULT = 1024 * MIB;
const MEMORY_BYTES_MIN = 64 * MIB;
const DAY_MS = 86_400_000;
const ASYNC_RUNS_DEFAULT = 4;
const ASYNC_RUNS_MAX = 64;
const REPOSITORY = "https://raw.githubusercontent.com/influxdata/influxdb3_plugins/main/";

export const PLUGIN_FLAGS = [
  {
    name: "plugin-dir",
    group: "Plugins",
    value: "FOLDER",
    help: "Folder of Python plugins. Without it triggers cannot be made.",
    default: null,
    aliases: ["INFLUXDB3_PLUGIN_DIR"],
  },
  {
    name: "python",
    group: "Plugins",
    value: "FILE",
    help: "CPython 3.9 or later, which runs plugins and makes their virtual environment.",
    default: null,
    defaultNote: "python3 of the PATH",
  },
  {
    name: "virtual-env-location",
    group: "Plugins",
    value: "FOLDER",
    help: "Virtual environment of plugins. It is made when the first package is installed.",
    default: null,
    defaultNote: ".venv in the folder of plugins",
    aliases: ["INFLUXDB3_VIRTUAL_ENV_LOCATION", "VIRTUAL_ENV"],
  },
  {
    name: "package-manager",
    group: "Plugins",
    value: PACKAGE_MANAGERS.join("|"),
    help: "What installs packages; discover: uv if there is one, else pip.",
    default: "discover",
    aliases: ["INFLUXDB3_PACKAGE_MANAGER"],
  },
  {
    name: "plugin-repo",
    group: "Plugins",
    value: "URL",
    help: "Where plugins named gh:PATH are downloaded from.",
    default: REPOSITORY,
    defaultNote: "the vendor's library of plugins",
    aliases: ["INFLUXDB3_PLUGIN_REPO"],
  },
  {
    name: "async-trigger-concurrency-limit",
    group: "Plugins",
    value: "COUNT",
    help: "Runs of one asynchronous trigger at a time, each in a process of its own.",
    default: null,
    defaultNote: String(ASYNC_RUNS_DEFAULT),
    aliases: ["INFLUXDB3_ASYNC_TRIGGER_CONCURRENCY_LIMIT"],
  },
  {
    name: "restrict-plugin-triggers-to",
    group: "Plugins",
    value: "KINDS",
    help: "Kinds of triggers that can be made, separated by commas: wal, schedule, request.",
    default: null,
    defaultNote: "all",
    aliases: ["INFLUXDB3_RESTRICT_PLUGIN_TRIGGERS_TO"],
  },
  {
    name: "trigger-log-limit",
    group: "Plugins",
    value: "SIZE",
    help: "Log that is kept for triggers which are behind with its rows; beyond it rows are passed over.",
    default: showBytes(LIMITS.triggerLogBytesDefault),
  },
  {
    name: "plugin-mem-limit",
    group: "Plugins",
    value: "SIZE",
    help: "Memory of one process of a plugin; it is ended when it takes more.",
    default: null,
    defaultNote: `${showBytes(MEMORY_BYTES_DEFAULT)}, or a quarter of a smaller machine`,
  },
  {
    name: "plugin-time-limit",
    group: "Plugins",
    value: "DURATION",
    help: "How long one run of a plugin may take.",
    default: "10m",
    defaultNote: "10m; 0 is no limit",
  },
] as const satisfies readonly Flag[];

export interface PluginConfig {
  /** As given: may be relative to the working folder. */
  readonly folder: string;
  /** Null: python3 of the PATH. */
  readonly python: string | null;
  /** Null: in the folder of plugins. */
  readonly virtualEnv: string | null;
  readonly packageManager: PackageManagerName;
  /** With a slash at its end. */
  readonly repository: string;
  readonly asyncRunsMax: number;
  /** Kinds of triggers that can be made. */
  readonly triggerKinds: ReadonlySet<TriggerKind>;
  /** Log that is kept for triggers alone. */
  readonly triggerLogBytesMax: number;
  readonly memoryBytesMax: number;
  /** 0 = no limit. */
  readonly timeMsMax: number;
}

type PluginFlagName = (typeof PLUGIN_FLAGS)[number]["name"];

/** The part of a FlagReader that reads these flags. */
interface PluginFlagReader {
  readonly memoryBytes: number;
  optional(name: PluginFlagName): string | null;
  oneOf<T extends string>(name: PluginFlagName, values: readonly T[]): T;
  matching(name: PluginFlagName, pattern: RegExp, wanted: string): string;
  count(name: PluginFlagName, bounds: { max: number; absent: number }): number;
  someOf<T extends string>(name: PluginFlagName, values: readonly T[]): T[];
  bytes(name: PluginFlagName, bounds: { min: number; max: number; absent?: number }): number;
  durationMs(name: PluginFlagName, bounds: { min: number; max: number }): number;
}

/** Null: plugins are off. All flags are checked all the same. @throws TsdbError config */
export function readPlugins(read: PluginFlagReader): PluginConfig | null {
  const address = read.matching("plugin-repo", /^https?:\/\/[^\s?#]+$/, "an address that begins with http:// or https://");
  const absent = Math.max(MEMORY_BYTES_MIN, Math.min(MEMORY_BYTES_DEFAULT, Math.floor(read.memoryBytes / 4)));
  const kinds = read.someOf("restrict-plugin-triggers-to", TRIGGER_KINDS);
  const config = {
    python: read.optional("python"),
    virtualEnv: read.optional("virtual-env-location"),
    packageManager: read.oneOf("package-manager", PACKAGE_MANAGERS),
    repository: address.endsWith("/") ? address : `${address}/`,
    asyncRunsMax: read.count("async-trigger-concurrency-limit", { max: ASYNC_RUNS_MAX, absent: ASYNC_RUNS_DEFAULT }),
    triggerKinds: new Set(kinds.length === 0 ? TRIGGER_KINDS : kinds),
    triggerLogBytesMax: read.bytes("trigger-log-limit", { min: 0, max: Number.MAX_SAFE_INTEGER }),
    memoryBytesMax: read.bytes("plugin-mem-limit", { min: MEMORY_BYTES_MIN, max: Number.MAX_SAFE_INTEGER, absent }),
    timeMsMax: read.durationMs("plugin-time-limit", { min: 0, max: DAY_MS }),
  };
  const folder = read.optional("plugin-dir");
  return folder === null ? null : { folder, ...config };
}
