// The configuration of `tsdb serve`: text from flags and environment, checked and in plain units.
import { readFileSync } from "node:fs";
import os from "node:os";
import type { Edition } from "../api/shared/aliases.ts";
import type { GivenFile } from "../auth/given-tokens.ts";
import { type FileToken, type PermissionTokens, readAdminTokenFile, readPermissionTokensFile } from "../auth/token-file.ts";
import { SYSTEM_PAGES, type SystemPage } from "../model/access.ts";
import type { CacheOptions } from "../model/caches.ts";
import { LIMITS } from "../model/limits.ts";
import { DEFAULT_SCHEMA_LIMITS, type SchemaLimits } from "../storage/catalog/schema-limits.ts";
import { type Environment, readFlags } from "./arguments.ts";
import type { ConfigFile } from "./config-file.ts";
import { FlagReader } from "./flag-reader.ts";
import type { LogFilter, LogFormat } from "./log-filter.ts";
import type { Address } from "./units.ts";

export interface ServeConfig {
  readonly nodeId: string;
  readonly objectStore: "file" | "memory";
  /** As given: may be relative to the working folder. */
  readonly dataDir: string;
  readonly httpBind: Address;
  /** Arrow Flight; null = off. */
  readonly flightBind: Address | null;
  /** The address is a wish: without it the server starts all the same. */
  readonly flightIsOptional: boolean;
  readonly tcpListenerFilePath: string | null;
  /** PEM texts; `self-signed`: a certificate of the server's own; null = plain http. */
  readonly tls: { readonly cert: string; readonly key: string } | "self-signed" | null;
  readonly tlsMinimum: "tls-1.2" | "tls-1.3";
  readonly withoutAuth: boolean;
  /** Pages that nobody needs a token for. */
  readonly openPages: readonly SystemPage[];
  /** For a server that has no admin token yet. */
  readonly adminToken: GivenFile<FileToken> | null;
  readonly permissionTokens: GivenFile<PermissionTokens> | null;
  /** Files that hold a secret, by the flag or variable that names them. */
  readonly secretFiles: readonly { readonly source: string; readonly path: string }[];
  /** Where a lost admin token is replaced; null = nowhere. */
  readonly recoveryBind: Address | null;
  readonly maxRequestBytes: number;
  /** 0 = a group is synced as soon as the previous sync ends. */
  readonly walFlushIntervalMs: number;
  readonly walReplayFailOnError: boolean;
  /** Nothing is written into the data folder. */
  readonly readOnly: boolean;
  /** 0 = no reserve. */
  readonly diskReserveBytes: number;
  readonly gen0DurationMs: number;
  readonly schemaLimits: SchemaLimits;
  readonly compactionCheckMs: number;
  readonly compactionDelayMs: number;
  readonly compactionCleanupMs: number;
  readonly bufferBytesMax: number;
  readonly seriesBytesMax: number;
  /** Of all query workers together; 0 = nothing decoded is kept. */
  readonly fileCacheBytes: number;
  readonly caches: CacheOptions;
  readonly queryMemoryBytes: number;
  readonly queryWorkers: number;
  readonly queryThreads: number;
  /** 0 = no limit. */
  readonly queryTimeoutMs: number;
  /** How long after a statement's end its worker may be stuck in it. */
  readonly queryStuckGraceMs: number;
  readonly concurrentQueriesMax: number;
  readonly queryLogEntries: number;
  readonly logFilter: LogFilter;
  readonly logFormat: LogFormat;
  readonly edition: Edition;
  readonly usePachaTree: boolean;
  readonly shutdownTimeoutMs: number;
}

/** What the defaults depend on, and how files are read. */
export interface Machine {
  readonly processors: number;
  readonly memoryBytes: number;
  readonly readFile: (path: string) => string;
}

const FLIGHT_BIND: Address = { hostname: "127.0.0.1", port: 8183 };
const MIB = 1024 * 1024;
const BUFFER_BYTES_MIN = 64 * MIB;
const SERIES_BYTES_MIN = 32 * MIB;
const VALUE_CACHE_BYTES_MIN = 1 * MIB;
/** Nobody has more of anything. */
const COUNT_MAX = 999_999_999;
const QUERY_MEMORY_BYTES_MIN = 32 * MIB;

export function thisMachine(): Machine {
  // A container may be allowed less than the machine has; without a limit this is 0 or absurdly large.
  const allowedBytes = process.constrainedMemory();
  const memoryBytes = allowedBytes > 0 ? Math.min(os.totalmem(), allowedBytes) : os.totalmem();
  return { processors: os.availableParallelism(), memoryBytes, readFile: (path) => readFileSync(path, "utf8") };
}

/** `args` are the arguments after `serve`.
 *  @throws TsdbError config: one clear line, for exit code 2 */
export function parseServeFlags(
  args: readonly string[],
  environment: Environment,
  machine = thisMachine(),
  config: ConfigFile | null = null,
): ServeConfig {
  const read = new FlagReader(readFlags(args, environment, config), machine.memoryBytes, machine.readFile);
  const maxRequestBytes = read.bytes("max-http-request-size", { min: 1, max: LIMITS.bodyBytesMax });
  const bufferBytesMax = read.bytes("buffer-mem-limit", {
    // A body's rows fit beside those of the body before it.
    min: Math.max(BUFFER_BYTES_MIN, 2 * maxRequestBytes),
    max: LIMITS.bufferBytesMax,
    absent: Math.max(BUFFER_BYTES_MIN, 2 * maxRequestBytes, Math.min(LIMITS.bufferBytesDefault, Math.floor(machine.memoryBytes / 4))),
  });
  const seriesBytesMax = read.bytes("series-mem-limit", {
    min: SERIES_BYTES_MIN,
    max: Math.min(LIMITS.seriesBytesMax, LIMITS.bufferSeriesCacheBytesMax - bufferBytesMax),
    absent: Math.max(SERIES_BYTES_MIN, Math.min(LIMITS.seriesBytesDefault, Math.floor(machine.memoryBytes / 8))),
  });
  const room = LIMITS.bufferSeriesCacheBytesMax - bufferBytesMax - seriesBytesMax;
  const valueCacheBytesMax = Math.min(LIMITS.valueCacheBytesMax, Math.max(LIMITS.valueCacheBytesBeside, room));
  const valueCacheBytes = read.bytes("cache-mem-limit", {
    min: VALUE_CACHE_BYTES_MIN,
    max: valueCacheBytesMax,
    absent: Math.min(valueCacheBytesMax, LIMITS.valueCacheBytesDefault, Math.floor(machine.memoryBytes / 32)),
  });
  const fileCacheBytesMax = Math.min(LIMITS.fileCacheBytesMax, Math.max(LIMITS.fileCacheBytesBeside, room - valueCacheBytes));
  return {
    nodeId: read.matching(
      "node-id",
      /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
      "1 to 64 letters, digits, - and _, beginning with a letter or digit",
    ),
    objectStore: read.oneOf("object-store", ["file", "memory"]),
    dataDir: read.text("data-dir"),
    httpBind: read.address("http-bind"),
    flightBind: read.addressOrNone("flight-bind", FLIGHT_BIND),
    flightIsOptional: !read.given.has("flight-bind"),
    tcpListenerFilePath: read.optional("tcp-listener-file-path"),
    tls: read.tls("tls-cert", "tls-key", "tls-self-signed"),
    tlsMinimum: read.oneOf("tls-minimum-version", ["tls-1.2", "tls-1.3"]),
    withoutAuth: read.boolean("without-auth"),
    openPages: read.someOf("disable-authz", SYSTEM_PAGES),
    adminToken: read.file("admin-token-file", readAdminTokenFile),
    permissionTokens: read.file("permission-tokens-file", readPermissionTokensFile),
    secretFiles: read.paths(["admin-token-file", "permission-tokens-file", "tls-key"]),
    recoveryBind: read.given.has("admin-token-recovery-http-bind") ? read.address("admin-token-recovery-http-bind") : null,
    maxRequestBytes,
    walFlushIntervalMs: read.durationMs("wal-flush-interval", { min: 0, max: 60_000 }),
    walReplayFailOnError: read.boolean("wal-replay-fail-on-error"),
    readOnly: read.boolean("read-only"),
    diskReserveBytes: read.bytes("disk-reserve", { min: 0, max: LIMITS.diskReserveBytesMax }),
    gen0DurationMs: read.durationMs("gen0-duration", { min: 1000, max: 86_400_000 }),
    schemaLimits: {
      databasesMax: read.count("num-database-limit", { max: COUNT_MAX, absent: DEFAULT_SCHEMA_LIMITS.databasesMax }),
      tablesMax: read.count("num-table-limit", { max: COUNT_MAX, absent: DEFAULT_SCHEMA_LIMITS.tablesMax }),
      columnsPerTableMax: read.count("num-total-columns-per-table-limit", {
        max: LIMITS.columnsPerTableMax,
        absent: DEFAULT_SCHEMA_LIMITS.columnsPerTableMax,
      }),
      newTablesPerBodyMax: read.count("num-new-tables-per-write-limit", {
        max: LIMITS.bodyTablesMax,
        absent: LIMITS.bodyTablesMax,
      }),
      schemaBytesMax: read.bytes("schema-mem-limit", {
        min: 1 << 20,
        max: LIMITS.schemaBytesMax,
        absent: Math.min(LIMITS.schemaBytesDefault, Math.floor(machine.memoryBytes / 16)),
      }),
    },
    compactionCheckMs: read.durationMs("compaction-check-interval", { min: 100, max: 86_400_000 }),
    compactionDelayMs: read.durationMs("compaction-delay", { min: 0, max: 86_400_000 }),
    compactionCleanupMs: read.durationMs("compaction-cleanup-wait", { min: 0, max: 86_400_000 }),
    bufferBytesMax,
    seriesBytesMax,
    fileCacheBytes: read.bytes("file-cache-size", {
      min: 0,
      max: fileCacheBytesMax,
      absent: Math.min(fileCacheBytesMax, Math.floor(machine.memoryBytes / 5)),
    }),
    caches: {
      bytesMax: valueCacheBytes,
      evictionMs: {
        last: read.durationMs("last-cache-eviction-interval", { min: 100, max: 86_400_000 }),
        distinct: read.durationMs("distinct-cache-eviction-interval", { min: 100, max: 86_400_000 }),
      },
      fillsFromHistory: {
        last: !read.boolean("last-value-cache-disable-from-history"),
        distinct: !read.boolean("distinct-value-cache-disable-from-history"),
      },
    },
    queryMemoryBytes: read.bytes("exec-mem-pool-bytes", { min: QUERY_MEMORY_BYTES_MIN, max: Number.MAX_SAFE_INTEGER }),
    queryWorkers: read.count("query-workers", {
      max: LIMITS.nativeCallsMax,
      absent: Math.min(LIMITS.nativeCallsMax, Math.max(1, Math.floor(machine.processors / 2))),
    }),
    queryThreads: read.count("query-threads", { max: 1024, absent: machine.processors }),
    queryTimeoutMs: read.durationMs("query-timeout", { min: 0, max: 86_400_000 }),
    queryStuckGraceMs: read.durationMs("query-stuck-grace", { min: 100, max: 3_600_000 }),
    concurrentQueriesMax: read.count("max-concurrent-queries", {
      max: LIMITS.concurrentQueriesMax,
      absent: LIMITS.concurrentQueriesDefault,
    }),
    queryLogEntries: read.count("query-log-size", { max: LIMITS.queryLogMax, absent: LIMITS.queryLogDefault }),
    logFilter: read.logFilter("log-filter"),
    logFormat: read.oneOf("log-format", ["full", "json"]),
    edition: read.oneOf("edition", ["enterprise", "core"]),
    usePachaTree: read.boolean("use-pacha-tree"),
    shutdownTimeoutMs: read.durationMs("shutdown-timeout", { min: 0, max: 3_600_000 }),
  };
}
