// The configuration of `tsdb serve`: text from flags and environment, validated and converted to plain units. One interface and one
// function per part; the server sees one flat record.
import { readFileSync } from "node:fs";
import os from "node:os";
import type { Edition } from "../api/shared/aliases.ts";
import type { GivenFile } from "../auth/given-tokens.ts";
import { type FileToken, type PermissionTokens, readAdminTokenFile, readPermissionTokensFile } from "../auth/token-file.ts";
import { SYSTEM_PAGES, type SystemPage } from "../model/access.ts";
import type { CacheOptions } from "../model/caches.ts";
import { LIMITS } from "../model/limits.ts";
import { DEFAULT_SCHEMA_LIMITS, type SchemaLimits } from "../storage/catalog/schema-limits.ts";
import { readFlags } from "./arguments.ts";
import type { ConfigFile } from "./config-file.ts";
import { FlagReader } from "./flag-reader.ts";
import { type PluginConfig, readPlugins } from "./flags/plugin-flags.ts";
import { readUsers, type UsersConfig } from "./flags/user-config.ts";
import { readV2, type V2Config } from "./flags/v2-config.ts";
import type { Environment } from "./flags.ts";
import type { LogDestination, LogFilter, LogFormat } from "./log-filter.ts";
import { type MemoryLimits, readMemoryLimits } from "./memory-limits.ts";
import type { Address } from "./units.ts";

export interface ServeConfig
  extends NetworkConfig,
    AuthConfig,
    UsersConfig,
    StorageConfig,
    V2Config,
    CompactionConfig,
    Omit<MemoryLimits, "valueCacheBytesMax">,
    QueryConfig {
  readonly schemaLimits: SchemaLimits;
  /** Null: without --plugin-dir. */
  readonly plugins: PluginConfig | null;
  readonly caches: CacheOptions;
  readonly logFilter: LogFilter;
  readonly logFormat: LogFormat;
  readonly logDestination: LogDestination;
  /** A line for each flag and variable of another server's that was accepted without effect. */
  readonly withoutEffect: readonly string[];
  readonly edition: Edition;
  /** Serves what the vendor offers with its upgraded storage engine alone. */
  readonly hasUpgradedEngine: boolean;
  readonly shutdownTimeoutMs: number;
}

interface NetworkConfig {
  readonly httpBind: Address;
  /** Arrow Flight; null = off. */
  readonly flightBind: Address | null;
  /** True for the default address: if it is in use, the server starts without Arrow Flight. */
  readonly flightIsOptional: boolean;
  /** File that receives the bound address; null = none. */
  readonly tcpListenerFilePath: string | null;
  /** PEM texts; `self-signed`: a generated certificate; null = plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | "self-signed" | null;
  readonly tlsMinimum: "tls-1.2" | "tls-1.3";
  /** Maximum size of a body, as sent and again after decompression. */
  readonly maxRequestBytes: number;
}

interface AuthConfig {
  readonly withoutAuth: boolean;
  /** Endpoints that need no token. */
  readonly openPages: readonly SystemPage[];
  /** Used if the server has no admin token. */
  readonly adminToken: GivenFile<FileToken> | null;
  readonly permissionTokens: GivenFile<PermissionTokens> | null;
  /** Files that contain secrets, with the flag or variable that names each. */
  readonly secretFiles: readonly { readonly source: string; readonly path: string }[];
  /** Address for replacing a lost admin token; null = none. */
  readonly recoveryBind: Address | null;
  /** Of hashing one password. */
  readonly passwordHashBytes: number;
}

interface StorageConfig {
  readonly nodeId: string;
  readonly objectStore: "file" | "memory";
  /** As given: may be relative to the working directory. */
  readonly dataDir: string;
  /** The same, of backups; null: with the data. */
  readonly backupDir: string | null;
  /** 0 = a group is synced as soon as the previous sync ends. */
  readonly walFlushIntervalMs: number;
  readonly walReplayFailOnError: boolean;
  /** Nothing is written into the data folder. */
  readonly readOnly: boolean;
  /** 0 = no reserve. */
  readonly diskReserveBytes: number;
  /** Maximum age of rows that are only in the log and in memory. */
  readonly gen0DurationMs: number;
}

interface CompactionConfig {
  readonly compactionCheckMs: number;
  /** How long a past day must be without new rows before it is closed. */
  readonly compactionDelayMs: number;
  /** How long a request to delete rows can be taken back. */
  readonly rowDeleteMinAgeMs: number;
  /** What is deleted at the time `default` can be restored for so long. */
  readonly hardDeleteDefaultMs: number;
  /** How long a file is kept after it was replaced. */
  readonly compactionCleanupMs: number;
}

interface QueryConfig {
  /** For all query workers together. */
  readonly queryMemoryBytes: number;
  readonly queryWorkers: number;
  /** Threads of each worker's DuckDB. */
  readonly queryThreads: number;
  /** 0 = no limit. */
  readonly queryTimeoutMs: number;
  /** How long after a statement's end its worker may stay stuck in it. */
  readonly queryStuckGraceMs: number;
  readonly concurrentQueriesMax: number;
  /** Statements of the usual shapes run once after the start. */
  readonly warmsUp: boolean;
  /** Statements kept in system.queries. */
  readonly queryLogEntries: number;
  /** 0 = no limit. */
  readonly v1RowsMax: number;
}

/** The properties of the machine that defaults depend on, and access to files. */
export interface Machine {
  readonly processors: number;
  readonly memoryBytes: number;
  readonly readFile: (path: string) => string;
}

const FLIGHT_BIND: Address = { hostname: "127.0.0.1", port: 8183 };
const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
/** Maximum for databases, tables and rows. */
const COUNT_MAX = 999_999_999;
const QUERY_MEMORY_BYTES_MIN = 32 * MIB;

/** The machine that the process runs on. */
export function thisMachine(): Machine {
  // A container may be limited to less than the machine's memory; without a limit this is 0 or absurdly large.
  const allowedBytes = process.constrainedMemory();
  const memoryBytes = allowedBytes > 0 ? Math.min(os.totalmem(), allowedBytes) : os.totalmem();
  return { processors: os.availableParallelism(), memoryBytes, readFile: (path) => readFileSync(path, "utf8") };
}

/** `args`: the arguments after `serve`. @throws TsdbError config with a one-line message, for exit code 2 */
export function parseServeFlags(
  args: readonly string[],
  environment: Environment,
  machine = thisMachine(),
  config: ConfigFile | null = null,
): ServeConfig {
  const { flags, withoutEffect } = readFlags(args, environment, config);
  const read = new FlagReader(flags, machine.memoryBytes, machine.readFile);
  const network = readNetwork(read);
  const { valueCacheBytesMax, ...memory } = readMemoryLimits(read, network.maxRequestBytes);
  return {
    ...network,
    ...readAuth(read),
    ...readUsers(read),
    ...readV2(read),
    ...readStorage(read),
    ...readCompaction(read),
    ...memory,
    ...readQueries(read, machine.processors),
    schemaLimits: readSchemaLimits(read),
    plugins: readPlugins(read),
    caches: readCaches(read, valueCacheBytesMax),
    logFilter: read.logFilter("log-filter"),
    logFormat: read.oneOf("log-format", ["full", "json", "logfmt"], { pretty: "full" }),
    logDestination: read.oneOf("log-destination", ["stdout", "stderr"]),
    withoutEffect,
    edition: read.oneOf("edition", ["enterprise", "core"]),
    hasUpgradedEngine: read.boolean("use-pacha-tree"),
    shutdownTimeoutMs: read.durationMs("shutdown-timeout", { min: 0, max: 3_600_000 }),
  };
}

function readNetwork(read: FlagReader): NetworkConfig {
  return {
    httpBind: read.address("http-bind"),
    flightBind: read.addressOrNone("flight-bind", FLIGHT_BIND),
    flightIsOptional: !read.given.has("flight-bind"),
    tcpListenerFilePath: read.optional("tcp-listener-file-path"),
    tls: read.tls("tls-cert", "tls-key", "tls-self-signed"),
    tlsMinimum: read.oneOf("tls-minimum-version", ["tls-1.2", "tls-1.3"]),
    maxRequestBytes: read.bytes("max-http-request-size", { min: 1, max: LIMITS.bodyBytesMax }),
  };
}

function readAuth(read: FlagReader): AuthConfig {
  return {
    withoutAuth: read.boolean("without-auth"),
    openPages: read.someOf("disable-authz", SYSTEM_PAGES),
    adminToken: read.file("admin-token-file", readAdminTokenFile),
    permissionTokens: read.file("permission-tokens-file", readPermissionTokensFile),
    secretFiles: read
      .paths([
        "admin-token-file",
        "permission-tokens-file",
        "tls-key",
        "jwt-private-key",
        "v2-secret-key-file",
        "v2-previous-secret-key-file",
        "v2-tls-key",
        "init-password-file",
        "init-admin-token-file",
      ])
      .filter(({ path }) => !path.includes("-----BEGIN")),
    recoveryBind: read.given.has("admin-token-recovery-http-bind") ? read.address("admin-token-recovery-http-bind") : null,
    passwordHashBytes: read.bytes("password-hash-memory", { min: 19 * MIB, max: 1024 * MIB }),
  };
}

function readStorage(read: FlagReader): StorageConfig {
  const nodeIds = "1 to 64 letters, digits, - and _, beginning with a letter or digit";
  return {
    nodeId: read.matching("node-id", /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, nodeIds),
    objectStore: read.oneOf("object-store", ["file", "memory"], { "memory-throttled": "memory" }),
    dataDir: read.text("data-dir"),
    backupDir: read.optional("backup-dir"),
    walFlushIntervalMs: read.durationMs("wal-flush-interval", { min: 0, max: 60_000 }),
    walReplayFailOnError: read.boolean("wal-replay-fail-on-error"),
    readOnly: read.boolean("read-only"),
    diskReserveBytes: read.bytes("disk-reserve", { min: 0, max: LIMITS.diskReserveBytesMax }),
    gen0DurationMs: read.durationMs("gen0-duration", { min: 1000, max: DAY_MS }),
  };
}

function readCompaction(read: FlagReader): CompactionConfig {
  return {
    compactionCheckMs: read.durationMs("compaction-check-interval", { min: 100, max: DAY_MS }),
    compactionDelayMs: read.durationMs("compaction-delay", { min: 0, max: DAY_MS }),
    rowDeleteMinAgeMs: read.durationMs("row-delete-min-age", { min: 0, max: 366 * DAY_MS }),
    hardDeleteDefaultMs: read.durationMs("hard-delete-default-duration", { min: 0, max: 3660 * DAY_MS }),
    compactionCleanupMs: read.durationMs("compaction-cleanup-wait", { min: 0, max: DAY_MS }),
  };
}

function readSchemaLimits(read: FlagReader): SchemaLimits {
  const { databasesMax, tablesMax, columnsPerTableMax, columnsPerBucketTableMax } = DEFAULT_SCHEMA_LIMITS;
  const columns = (absent: number) => read.count("num-total-columns-per-table-limit", { max: LIMITS.columnsPerTableMax, absent });
  const defaultBytes = Math.min(LIMITS.schemaBytesDefault, Math.floor(read.memoryBytes / 16));
  return {
    databasesMax: read.count("num-database-limit", { max: COUNT_MAX, absent: databasesMax }),
    tablesMax: read.count("num-table-limit", { max: COUNT_MAX, absent: tablesMax }),
    columnsPerTableMax: columns(columnsPerTableMax),
    columnsPerBucketTableMax: columns(columnsPerBucketTableMax),
    newTablesPerBodyMax: read.count("num-new-tables-per-write-limit", { max: LIMITS.bodyTablesMax, absent: LIMITS.bodyTablesMax }),
    schemaBytesMax: read.bytes("schema-mem-limit", { min: 1 * MIB, max: LIMITS.schemaBytesMax, absent: defaultBytes }),
  };
}

function readCaches(read: FlagReader, bytesMax: number): CacheOptions {
  return {
    bytesMax,
    evictionMs: {
      last: read.durationMs("last-cache-eviction-interval", { min: 100, max: DAY_MS }),
      distinct: read.durationMs("distinct-cache-eviction-interval", { min: 100, max: DAY_MS }),
    },
    fillsFromHistory: {
      last: !read.boolean("last-value-cache-disable-from-history"),
      distinct: !read.boolean("distinct-value-cache-disable-from-history"),
    },
  };
}

function readQueries(read: FlagReader, processors: number): QueryConfig {
  const halfOfProcessors = Math.max(1, Math.floor(processors / 2));
  return {
    queryMemoryBytes: read.bytes("exec-mem-pool-bytes", { min: QUERY_MEMORY_BYTES_MIN, max: Number.MAX_SAFE_INTEGER }),
    queryWorkers: read.count("query-workers", { max: LIMITS.nativeCallsMax, absent: halfOfProcessors }),
    queryThreads: read.count("query-threads", { max: 1024, absent: processors }),
    queryTimeoutMs: read.durationMs("query-timeout", { min: 0, max: DAY_MS }),
    queryStuckGraceMs: read.durationMs("query-stuck-grace", { min: 100, max: 3_600_000 }),
    concurrentQueriesMax: read.count("max-concurrent-queries", {
      max: LIMITS.concurrentQueriesMax,
      absent: LIMITS.concurrentQueriesDefault,
    }),
    queryLogEntries: read.count("query-log-size", { max: LIMITS.queryLogMax, absent: LIMITS.queryLogDefault }),
    warmsUp: read.boolean("warm-up"),
    v1RowsMax: read.count("max-row-limit", { min: 0, max: COUNT_MAX, absent: 0 }),
  };
}
