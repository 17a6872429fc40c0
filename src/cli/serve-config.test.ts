// Flags and environment of `tsdb serve`: what they mean, which wins, and the one line about each mistake.
import { expect, test } from "bun:test";
import { TsdbError } from "../model/errors.ts";
import { shownArguments } from "./arguments.ts";
import type { Flag } from "./flag.ts";
import { FOREIGN_FLAGS } from "./flags/foreign-flags.ts";
import { FLAGS } from "./flags.ts";
import { type Machine, parseServeFlags, type ServeConfig } from "./serve-config.ts";

const GIB = 2 ** 30;
const PEM: Readonly<Record<string, string>> = {
  "c.pem": "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n",
  "k.pem": "-----BEGIN EC PRIVATE KEY-----\nAA==\n-----END EC PRIVATE KEY-----\n",
  "text.pem": "hello",
};
const SCHEMA_LIMITS = {
  databasesMax: Number.POSITIVE_INFINITY,
  tablesMax: Number.POSITIVE_INFINITY,
  columnsPerTableMax: 500,
  columnsPerBucketTableMax: 4095,
  newTablesPerBodyMax: 10_000,
  schemaBytesMax: (10 * GIB) / 16,
};
const MACHINE: Machine = {
  processors: 6,
  memoryBytes: 10 * GIB,
  readFile: (path) => {
    const text = PEM[path];
    if (text === undefined) throw new Error("no such file");
    return text;
  },
};

const parse = (args: string, environment = {}, machine: Partial<Machine> = {}) =>
  parseServeFlags(args === "" ? [] : args.split(" "), environment, { ...MACHINE, ...machine });

test("the configuration without flags", () => {
  expect(parse("")).toEqual({
    nodeId: "node0",
    objectStore: "file",
    dataDir: "./.tsdb",
    backupDir: null,
    httpBind: { hostname: "127.0.0.1", port: 8181 },
    flightBind: { hostname: "127.0.0.1", port: 8183 },
    flightIsOptional: true,
    v2Bind: { hostname: "127.0.0.1", port: 8086 },
    v2DefaultRetentionMs: 30 * 86_400_000,
    v2SessionMs: 3_600_000,
    v2RenewsSessions: true,
    v2StrongPasswords: false,
    v2HashedTokens: false,
    v2SecretKeyFile: null,
    v2SecretKey: null,
    v2PreviousSecretKeyFile: null,
    v2MetricsDisabled: false,
    v2BucketsMax: null,
    v2RetentionMaxMs: null,
    v2RequestsMax: null,
    v2RequestsPerMinuteMax: null,
    v2PprofDisabled: false,
    v2RunsTasks: true,
    v2Queries: { concurrentMax: 1024, waitingMax: 1024, memoryBytesMax: null },
    v2Tls: null,
    v2TlsMinimum: null,
    v2TransportSecurityMs: null,
    v2TemplateUrls: false,
    fluxAllowsPrivateNetwork: false,
    fluxSqliteFolder: null,
    v2Setup: null,
    tcpListenerFilePath: null,
    tls: null,
    tlsMinimum: "tls-1.2",
    withoutAuth: false,
    openPages: [],
    adminToken: null,
    permissionTokens: null,
    secretFiles: [],
    users: null,
    recoveryBind: null,
    passwordHashBytes: 64 << 20,
    maxRequestBytes: 10 * 2 ** 20,
    walFlushIntervalMs: 0,
    walReplayFailOnError: true,
    readOnly: false,
    diskReserveBytes: 16 * 2 ** 20,
    gen0DurationMs: 600_000,
    schemaLimits: SCHEMA_LIMITS,
    compactionCheckMs: 10_000,
    compactionDelayMs: 60_000,
    rowDeleteMinAgeMs: 86_400_000,
    hardDeleteDefaultMs: 259_200_000,
    compactionCleanupMs: 600_000,
    bufferBytesMax: GIB,
    seriesBytesMax: GIB / 2,
    fileCacheBytes: GIB,
    bodyMemoryBytesMax: 384 * 2 ** 20,
    residentBytesMax: 8_053_063_680,
    caches: {
      bytesMax: GIB / 8,
      evictionMs: { last: 10_000, distinct: 10_000 },
      fillsFromHistory: { last: true, distinct: true },
    },
    queryMemoryBytes: 2 * GIB,
    queryWorkers: 3,
    queryThreads: 6,
    queryTimeoutMs: 600_000,
    queryStuckGraceMs: 1000,
    concurrentQueriesMax: 1000,
    queryLogEntries: 1000,
    warmsUp: true,
    v1RowsMax: 0,
    logFilter: { level: "info", parts: new Map() },
    logFormat: "full",
    logDestination: "stdout",
    withoutEffect: [],
    edition: "enterprise",
    hasUpgradedEngine: false,
    plugins: null,
    shutdownTimeoutMs: 30_000,
  });
});

test("defaults of a small machine", () => {
  const config = parse("", {}, { processors: 1, memoryBytes: GIB / 2 });
  expect([config.bufferBytesMax, config.seriesBytesMax, config.queryWorkers, config.queryThreads]).toEqual([GIB / 8, GIB / 16, 1, 1]);
  expect([config.caches.bytesMax, config.bodyMemoryBytesMax]).toEqual([GIB / 64, GIB / 16]);
  expect(config.residentBytesMax).toBe((GIB * 3) / 8);
  // the largest body has room, also while it grows
  expect(parse("--max-http-request-size 64MiB", {}, { memoryBytes: GIB / 2 }).bodyMemoryBytesMax).toBe(97 * 2 ** 20);
});

const READ: [args: string, want: Partial<ServeConfig>, environment?: Record<string, string>][] = [
  // both ways to give a value
  ["--node-id a-1", { nodeId: "a-1" }],
  ["--node-id=a-1", { nodeId: "a-1" }],
  ["--data-dir=/a=b", { dataDir: "/a=b" }],
  ["--node-id a --node-id b", { nodeId: "b" }],
  // switches
  ["--without-auth", { withoutAuth: true }],
  ["--without-auth=true", { withoutAuth: true }],
  ["--without-auth=FALSE", { withoutAuth: false }],
  ["--without-auth --use-pacha-tree", { withoutAuth: true, hasUpgradedEngine: true }],
  ["--wal-replay-fail-on-error=false", { walReplayFailOnError: false }],
  ["--wal-replay-fail-on-error false --without-auth", { walReplayFailOnError: false, withoutAuth: true }],
  // addresses
  ["--flight-bind [::1]:0", { flightBind: { hostname: "::1", port: 0 }, flightIsOptional: false }],
  ["--flight-bind none", { flightBind: null }],
  ["--flight-bind=", { flightBind: null }],
  ["--v2-http-bind off", { v2Bind: null }],
  ["--v2-http-bind 0.0.0.0:0", { v2Bind: { hostname: "0.0.0.0", port: 0 } }],
  ["--v2-default-bucket-retention 0 --v2-session-length 1h30m", { v2DefaultRetentionMs: 0, v2SessionMs: 5_400_000 }],
  // those of the bucket-based API, also as its vendor spells them
  ["", { v2Bind: { hostname: "0.0.0.0", port: 8087 } }, { INFLUXD_HTTP_BIND_ADDRESS: ":8087" }],
  ["--v2-http-bind [::1]:1", { v2Bind: { hostname: "::1", port: 1 } }, { INFLUXD_HTTP_BIND_ADDRESS: ":8087" }],
  ["", { v2SessionMs: 90 * 60_000, v2RenewsSessions: false }, { INFLUXD_SESSION_LENGTH: "90", INFLUXD_SESSION_RENEW_DISABLED: "true" }],
  ["", { v2StrongPasswords: true, v2HashedTokens: true }, { INFLUXD_STRONG_PASSWORDS: "1", INFLUXD_USE_HASHED_TOKENS: "true" }],
  ["--no-tasks", { v2RunsTasks: false }],
  ["", { v2MetricsDisabled: true, v2PprofDisabled: true }, { INFLUXD_METRICS_DISABLED: "true", INFLUXD_PPROF_DISABLED: "true" }],
  ["--v2-hardening-enabled", { v2TransportSecurityMs: 31_536_000_000 }],
  ["--v2-strict-transport-security-max-age 60", { v2TransportSecurityMs: null }],
  ["", { v2TransportSecurityMs: 60_000 }, { INFLUXD_HARDENING_ENABLED: "true", INFLUXD_STRICT_TRANSPORT_SECURITY_MAX_AGE: "60" }],
  ["", { v2TlsMinimum: "tls-1.3", tlsMinimum: "tls-1.2" }, { INFLUXD_TLS_MIN_VERSION: "1.3" }],
  ["", { v2Tls: { cert: PEM["c.pem"]!, key: PEM["k.pem"]! }, tls: null }, { INFLUXD_TLS_CERT: "c.pem", INFLUXD_TLS_KEY: "k.pem" }],
  [
    "--v2-query-memory-bytes 1MiB",
    { v2Queries: { concurrentMax: 3, waitingMax: null, memoryBytesMax: 1 << 20 } },
    { INFLUXD_QUERY_CONCURRENCY: "3", INFLUXD_QUERY_QUEUE_SIZE: "0", INFLUXD_QUERY_MEMORY_BYTES: "5000000" },
  ],
  ["", { logFilter: { level: "debug", parts: new Map() } }, { INFLUXD_LOG_LEVEL: "debug" }],
  ["--log-level warn", { logFilter: { level: "warn", parts: new Map() } }],
  ["--log-destination stderr", { logDestination: "stderr" }],
  ["--log-format pretty", { logFormat: "full" }],
  ["", { logDestination: "stderr" }, { LOG_DESTINATION: "stderr" }],
  ["", { logDestination: "stderr", logFormat: "logfmt" }, { INFLUXDB3_LOG_DESTINATION: "stderr", INFLUXDB3_LOG_FORMAT: "logfmt" }],
  // another server's flags
  ["--exec-mem-pool-size 1000000000", { queryMemoryBytes: 1_000_000_000 }],
  ["--query-log-max-entries=7 --datafusion-num-threads 3", { queryLogEntries: 7, queryThreads: 3 }],
  ["--start-without-auth --db-dir /var/lib/y", { withoutAuth: true, dataDir: "/var/lib/y" }],
  ["--parquet-mem-cache-size 200", { fileCacheBytes: 200_000_000 }],
  ["", { fileCacheBytes: 200_000_000 }, { INFLUXDB3_PARQUET_MEM_CACHE_SIZE: "200" }],
  ["--parquet-mem-cache-size 20%", { fileCacheBytes: GIB }],
  ["", { fileCacheBytes: GIB }, { INFLUXDB3_FILE_CACHE_SIZE: "4gb" }],
  ["--http-bind-address :9999", { v2Bind: { hostname: "0.0.0.0", port: 9999 } }],
  ["--session-length 30 --strong-passwords", { v2SessionMs: 1_800_000, v2StrongPasswords: true }],
  ["--object-store memory-throttled", { objectStore: "memory" }],
  ["--http-bind [::1]:0", { httpBind: { hostname: "::1", port: 0 } }],
  ["--http-bind 0.0.0.0:80 --without-auth", { httpBind: { hostname: "0.0.0.0", port: 80 } }],
  // units
  ["--max-http-request-size 20mb", { maxRequestBytes: 20_000_000 }],
  ["--buffer-mem-limit 20%", { bufferBytesMax: 2 * GIB }],
  ["--buffer-mem-limit 3GiB", { bufferBytesMax: 3 * GIB }],
  ["--file-cache-size 0", { fileCacheBytes: 0 }],
  ["--file-cache-size 5%", { fileCacheBytes: GIB / 2 }],
  ["--series-mem-limit 1GiB", { seriesBytesMax: GIB }],
  // what rows, series and other caches leave of 3.5 GiB
  ["--buffer-mem-limit 1536MiB --series-mem-limit 1536MiB", { fileCacheBytes: (3 * GIB) / 8 }],
  ["--buffer-mem-limit 2560MiB", { fileCacheBytes: (3 * GIB) / 8 }],
  ["--buffer-mem-limit 2560MiB --cache-mem-limit 256MiB", { fileCacheBytes: GIB / 4 }],
  ["--buffer-mem-limit 3GiB", { fileCacheBytes: 64 * 1024 * 1024 }],
  ["", { fileCacheBytes: 1000 }, { INFLUXDB3_FILE_CACHE_SIZE: "1000" }],
  [
    "--cache-mem-limit 10% --last-cache-eviction-interval 1s --distinct-value-cache-disable-from-history",
    { caches: { bytesMax: GIB, evictionMs: { last: 1000, distinct: 2000 }, fillsFromHistory: { last: true, distinct: false } } },
    { INFLUXDB3_DISTINCT_CACHE_EVICTION_INTERVAL: "2s" },
  ],
  [
    "--cache-mem-limit=1MiB",
    { caches: { bytesMax: 2 ** 20, evictionMs: { last: 5000, distinct: 10_000 }, fillsFromHistory: { last: false, distinct: true } } },
    {
      TSDB_LAST_CACHE_EVICTION_INTERVAL: "5s",
      INFLUXDB3_LAST_CACHE_EVICTION_INTERVAL: "6s",
      INFLUXDB3_ENTERPRISE_LAST_VALUE_CACHE_DISABLE_FROM_HISTORY: "true",
    },
  ],
  ["--exec-mem-pool-bytes 1000000000", { queryMemoryBytes: 1_000_000_000 }],
  ["--disk-reserve 1GB", { diskReserveBytes: 1_000_000_000 }],
  ["--wal-flush-interval 100ms --gen0-duration 1h30m", { walFlushIntervalMs: 100, gen0DurationMs: 5_400_000 }],
  // times are made of them: 1.1 * 3,600,000 is more than it looks, and 1 ns is not nothing
  ["--hard-delete-default-duration 1.1h --gen0-duration 1.0001s", { hardDeleteDefaultMs: 3_960_000, gen0DurationMs: 1001 }],
  ["--query-timeout 1ns --row-delete-min-age 1.23456789h", { queryTimeoutMs: 1, rowDeleteMinAgeMs: 4_444_445 }],
  ["--query-workers 2 --query-threads 1", { queryWorkers: 2, queryThreads: 1 }],
  ["--max-row-limit 10000 --warm-up=false", { v1RowsMax: 10_000, warmsUp: false }],
  ["", { v1RowsMax: 5 }, { INFLUXDB_HTTP_MAX_ROW_LIMIT: "5" }],
  ["", { v1RowsMax: 0 }, { INFLUXDB_HTTP_MAX_ROW_LIMIT: "5", TSDB_MAX_ROW_LIMIT: "0" }],
  [
    "--num-database-limit 5 --num-table-limit=2000 --num-total-columns-per-table-limit 250",
    { schemaLimits: { ...SCHEMA_LIMITS, databasesMax: 5, tablesMax: 2000, columnsPerTableMax: 250, columnsPerBucketTableMax: 250 } },
  ],
  [
    "--num-new-tables-per-write-limit 20 --schema-mem-limit 64MiB",
    { schemaLimits: { ...SCHEMA_LIMITS, newTablesPerBodyMax: 20, schemaBytesMax: 64 * 2 ** 20 } },
  ],
  [
    "--num-table-limit 7",
    { schemaLimits: { ...SCHEMA_LIMITS, databasesMax: 3, tablesMax: 7, columnsPerTableMax: 9, columnsPerBucketTableMax: 9 } },
    {
      INFLUXDB3_ENTERPRISE_NUM_DATABASE_LIMIT: "3",
      INFLUXDB3_NUM_TABLE_LIMIT: "4",
      TSDB_NUM_TOTAL_COLUMNS_PER_TABLE_LIMIT: "9",
      INFLUXDB3_NUM_TOTAL_COLUMNS_PER_TABLE_LIMIT: "8",
    },
  ],
  // words
  ["--object-store memory --edition core --log-format json", { objectStore: "memory", edition: "core", logFormat: "json" }],
  [
    "--log-filter warn,wal=debug,http=off",
    {
      logFilter: {
        level: "warn",
        parts: new Map([
          ["wal", "debug"],
          ["http", "off"],
        ]),
      },
    },
  ],
  ["--tls-self-signed --tls-minimum-version tls-1.3", { tls: "self-signed", tlsMinimum: "tls-1.3" }],
  ["--tls-cert c.pem --tls-key k.pem", { tls: { cert: PEM["c.pem"]!, key: PEM["k.pem"]! } }],
  // the environment
  ["", { nodeId: "e" }, { TSDB_NODE_ID: "e" }],
  ["--node-id f", { nodeId: "f" }, { TSDB_NODE_ID: "e" }],
  ["", { nodeId: "e" }, { TSDB_NODE_ID: "e", INFLUXDB3_NODE_ID: "v" }],
  ["", { nodeId: "v" }, { TSDB_NODE_ID: "", INFLUXDB3_NODE_ID: "v" }],
  ["", { nodeId: "old" }, { INFLUXDB3_NODE_IDENTIFIER_PREFIX: "old" }],
  ["", { withoutAuth: true }, { INFLUXDB3_START_WITHOUT_AUTH: "1" }],
  ["", { dataDir: "/var/lib/x" }, { INFLUXDB3_DB_DIR: "/var/lib/x" }],
  ["", { tcpListenerFilePath: "/tmp/a" }, { TSDB_TCP_LISTENER_FILE_PATH: "/tmp/a" }],
];

test.each(READ)("flags are read: %j", (args, want, environment = {}) => expect(parse(args, environment)).toMatchObject(want));

const WRONG: [args: string, message: string, environment?: Record<string, string>][] = [
  ["--http-bnid x", "unknown flag --http-bnid; did you mean --http-bind?"],
  ["--bind x", "unknown flag --bind; tsdb serve --help lists them"],
  ["--data x", "unknown flag --data; did you mean --data-dir?"],
  ["--frobnicate", "unknown flag --frobnicate; tsdb serve --help lists them"],
  ["--wal-flush-intervall=1s", "unknown flag --wal-flush-intervall; did you mean --wal-flush-interval?"],
  ["extra", 'unexpected argument "extra"; flags begin with --'],
  ["-x", 'unexpected argument "-x"; flags begin with --'],
  ["--", 'unexpected argument "--"; flags begin with --'],
  ["--node-id", "--node-id needs a value: --node-id NAME"],
  ["--node-id --without-auth", "--node-id needs a value: --node-id NAME"],
  ["--node-id=", '--node-id: must be 1 to 64 letters, digits, - and _, beginning with a letter or digit, got ""'],
  ["--node-id ../x", '--node-id: must be 1 to 64 letters, digits, - and _, beginning with a letter or digit, got "../x"'],
  ["--data-dir=", "--data-dir: must not be empty"],
  ["--num-database-limit 0", '--num-database-limit: must be a whole number from 1 to 999999999, got "0"'],
  ["--num-new-tables-per-write-limit 10001", '--num-new-tables-per-write-limit: must be a whole number from 1 to 10000, got "10001"'],
  ["--schema-mem-limit 1kb", "--schema-mem-limit: must be at least 1MiB, got 1kb"],
  ["--num-table-limit many", '--num-table-limit: must be a whole number from 1 to 999999999, got "many"'],
  ["--num-total-columns-per-table-limit 4096", '--num-total-columns-per-table-limit: must be a whole number from 1 to 4095, got "4096"'],
  ["--object-store s3", '--object-store: must be file or memory, got "s3"'],
  ["--edition pro", '--edition: must be enterprise or core, got "pro"'],
  ["--without-auth=maybe", '--without-auth: must be true or false, got "maybe"'],
  ["--http-bind 8181", '--http-bind: cannot read "8181" as an address; write 127.0.0.1:8181 or [::1]:8181'],
  ["--disable-authz health,pong", '--disable-authz: must be some of health, ping, metrics, ready, got "pong"'],
  ["--admin-token-file /nowhere", "--admin-token-file: cannot read the file: no such file"],
  ["--max-http-request-size 10x", '--max-http-request-size: cannot read "10x" as a size; write bytes, 512kb, 10MiB or 20%'],
  ["--max-http-request-size 0", "--max-http-request-size: must be at least 1, got 0"],
  ["--max-http-request-size 1GiB", "--max-http-request-size: must be at most 256MiB, got 1GiB"],
  ["--buffer-mem-limit 4GiB", "--buffer-mem-limit: must be at most 3GiB, got 4GiB"],
  ["--buffer-mem-limit 1MiB", "--buffer-mem-limit: must be at least 64MiB, got 1MiB"],
  ["--buffer-mem-limit 128MiB --max-http-request-size 100MiB", "--buffer-mem-limit: must be at least 200MiB, got 128MiB"],
  ["--cache-mem-limit 1000", "--cache-mem-limit: must be at least 1MiB, got 1000"],
  ["--cache-mem-limit 20%", "--cache-mem-limit: must be at most 1GiB, got 20%"],
  ["--cache-mem-limit 65MiB --buffer-mem-limit 3GiB", "--cache-mem-limit: must be at most 64MiB, got 65MiB"],
  ["--last-cache-eviction-interval 10ms", "--last-cache-eviction-interval: must be at least 0.1s, got 10ms"],
  [
    "--distinct-cache-eviction-interval soon",
    '--distinct-cache-eviction-interval: cannot read "soon" as a duration; write 100ms, 10s, 5m or 1h30m',
  ],
  ["--last-value-cache-disable-from-history=maybe", '--last-value-cache-disable-from-history: must be true or false, got "maybe"'],
  ["--series-mem-limit 16MiB", "--series-mem-limit: must be at least 32MiB, got 16MiB"],
  ["--series-mem-limit 3GiB", "--series-mem-limit: must be at most 2GiB, got 3GiB"],
  ["--series-mem-limit 1GiB --buffer-mem-limit 3GiB", "--series-mem-limit: must be at most 512MiB, got 1GiB"],
  ["--file-cache-size 2GiB", "--file-cache-size: must be at most 1GiB, got 2GiB"],
  ["--file-cache-size 1GiB --buffer-mem-limit 2560MiB", "--file-cache-size: must be at most 384MiB, got 1GiB"],
  ["--wal-flush-interval 1", '--wal-flush-interval: cannot read "1" as a duration; write 100ms, 10s, 5m or 1h30m'],
  ["--wal-flush-interval 2m", "--wal-flush-interval: must be at most 60s, got 2m"],
  ["--compaction-check-interval 0", "--compaction-check-interval: must be at least 0.1s, got 0"],
  ["--gen0-duration 1ms", "--gen0-duration: must be at least 1s, got 1ms"],
  ["--query-workers 0", '--query-workers: must be a whole number from 1 to 32, got "0"'],
  ["--query-threads 1.5", '--query-threads: must be a whole number from 1 to 1024, got "1.5"'],
  ["--log-filter loud", '--log-filter: cannot read "loud"; write trace, debug, info, warn, error or off, or as info,wal=debug'],
  ["--tls-cert c.pem", "--tls-cert: needs --tls-key beside it"],
  ["--tls-self-signed --tls-key k.pem", "--tls-self-signed: there is --tls-key too; one of them"],
  ["--tls-minimum-version tls-1.1", '--tls-minimum-version: must be tls-1.2 or tls-1.3, got "tls-1.1"'],
  ["--tls-key k.pem", "--tls-key: needs --tls-cert beside it"],
  ["--tls-cert none.pem --tls-key k.pem", "--tls-cert: cannot read the file: no such file"],
  ["--v2-http-bind :x", '--v2-http-bind: cannot read ":x" as an address; write 127.0.0.1:8181 or [::1]:8181'],
  ["--password-hash-memory 19MB", "--password-hash-memory: must be at least 19MiB, got 19MB"],
  ["--password-hash-memory 2GiB", "--password-hash-memory: must be at most 1GiB, got 2GiB"],
  ["--v2-session-length 0", "--v2-session-length: must be at least 1s, got 0"],
  ["--v2-session-length x", '--v2-session-length: cannot read "x" as a duration; write 100ms, 10s, 5m or 1h30m'],
  ["", 'INFLUXD_TLS_MIN_VERSION: must be 1.2 or 1.3, got "1.1"', { INFLUXD_TLS_MIN_VERSION: "1.1" }],
  ["--v2-tls-cert c.pem", "--v2-tls-cert: needs --v2-tls-key beside it"],
  ["--v2-tls-cert c.pem --v2-tls-key text.pem", "--v2-tls-key: text.pem holds no PEM private key"],
  ["--v2-query-memory-bytes 1000", "--v2-query-memory-bytes: must be at least 64KiB, got 1000"],
  ["--v2-query-concurrency -1", '--v2-query-concurrency: must be a whole number from 0 to 999999999, got "-1"'],
  ["--tls-cert c.pem --tls-key text.pem", "--tls-key: text.pem holds no PEM private key"],
  // a variable is named as itself
  ["", 'TSDB_OBJECT_STORE: must be file or memory, got "s3"', { TSDB_OBJECT_STORE: "s3" }],
  ["", 'INFLUXDB3_OBJECT_STORE: must be file or memory, got "s3"', { INFLUXDB3_OBJECT_STORE: "s3" }],
  ["", 'LOG_FORMAT: must be full or json or logfmt, got "xml"', { LOG_FORMAT: "xml" }],
];

test.each(WRONG)("flags are refused: %j: %s", (args, message, environment = {}) => {
  let thrown: unknown;
  try {
    parse(args, environment);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(TsdbError);
  expect(thrown).toMatchObject({ kind: "config", message });
});

// none where the main thread has no processor to spare, then a third of those beside the main thread's and a query's
test("the real machine gives a valid configuration", () => {
  expect(parseServeFlags([], {}).queryWorkers).toBeGreaterThanOrEqual(1);
});

const INEFFECTIVE: [args: string, lines: string[], environment?: Record<string, string>][] = [
  ["", []],
  ["--mode all", ["--mode has no effect: this server is one node that does everything"]],
  [
    "",
    [
      "INFLUXDB3_GEN1_DURATION has no effect: files hold a day each; compaction decides by their sizes (--compaction-check-interval, --compaction-delay)",
    ],
    { INFLUXDB3_GEN1_DURATION: "10m" },
  ],
  ["--mode=all --mode ingest", ["--mode has no effect: this server is one node that does everything"]],
  ["--disable-telemetry-upload", ["--disable-telemetry-upload has no effect: this server sends nothing about itself to anybody"]],
  [
    "--disable-telemetry-upload false --node-id x",
    ["--disable-telemetry-upload has no effect: this server sends nothing about itself to anybody"],
  ],
  ["", ["INFLUXDB3_ENTERPRISE_LICENSE_EMAIL has no effect: this server needs no licence"], { INFLUXDB3_ENTERPRISE_LICENSE_EMAIL: "a@b" }],
  ["--engine-path /e", ["--engine-path has no effect: rows of buckets are stored as those of databases are (--data-dir, --object-store)"]],
  // variables of programs of their own
  ["", [], { AWS_ENDPOINT: "x", INFLUXDB3_AWS_ENDPOINT: "x", TRACES_EXPORTER: "jaeger", INFLUXDB3_MODE: "" }],
];

test.each(INEFFECTIVE)("without effect: %j", (args, withoutEffect, environment = {}) => {
  expect(parse(args, environment)).toMatchObject({ withoutEffect });
});

/** v3-facts.md 9.1 and v2-facts.md 10.2. */
const FOREIGN =
  `node-id node-id-from-env object-store data-dir bucket aws-access-key-id aws-secret-access-key aws-default-region aws-endpoint
aws-session-token aws-allow-http aws-skip-signature aws-credentials-file google-service-account azure-storage-account azure-storage-access-key
azure-endpoint azure-allow-http object-store-connection-limit object-store-http2-only object-store-request-timeout object-store-max-retries
object-store-retry-timeout object-store-tls-ca object-store-tls-allow-insecure object-store-cache-endpoint http-bind max-http-request-size
admin-token-recovery-http-bind admin-token-file without-auth disable-authz tls-key tls-cert tls-minimum-version wal-flush-interval
wal-snapshot-size wal-max-write-buffer-size snapshotted-wal-files-to-keep wal-replay-fail-on-error wal-replay-concurrency-limit gen1-duration
gen1-lookback-duration checkpoint-interval force-snapshot-mem-threshold exec-mem-pool-bytes query-log-size query-file-limit
max-concurrent-queries parquet-mem-cache-size parquet-mem-cache-prune-percentage parquet-mem-cache-prune-interval
parquet-mem-cache-query-path-duration disable-parquet-mem-cache last-cache-eviction-interval distinct-cache-eviction-interval
table-index-cache-max-entries table-index-cache-concurrency-limit retention-check-interval delete-grace-period
hard-delete-default-duration last-value-cache-disable-from-history distinct-value-cache-disable-from-history without-user-auth user-auth-type
jwt-key-id jwt-private-key jwt-issuer jwt-default-ttl-seconds compaction-multipliers compaction-check-interval compaction-cleanup-wait
snapshot-concurrency-limit num-io-threads datafusion-num-threads datafusion-max-parquet-fanout datafusion-config
plugin-dir virtual-env-location package-manager plugin-repo restrict-plugin-triggers-to log-filter log-destination log-format traces-exporter
disable-telemetry-upload telemetry-endpoint tcp-listener-file-path cluster-id mode license-email license-file license-type num-cores
num-database-limit num-table-limit num-total-columns-per-table-limit compaction-row-limit compaction-gen2-duration catalog-sync-interval
replication-interval permission-tokens-file use-pacha-tree upgrade-pacha-tree exec-mem-pool-size file-cache-size file-cache-recency
disable-file-cache force-snapshot-mem-size wal-files-per-snapshot wal-max-buffered-writes query-log-max-entries shutdown-timeout
http-bind-address http-read-header-timeout http-read-timeout http-write-timeout http-idle-timeout tls-min-version tls-strict-ciphers bolt-path
sqlite-path engine-path store secret-store session-length session-renew-disabled strong-passwords use-hashed-tokens hardening-enabled
strict-transport-security-max-age template-file-urls-disabled query-concurrency query-queue-size query-memory-bytes
query-initial-memory-bytes query-max-memory-bytes influxql-max-select-point influxql-max-select-series influxql-max-select-buckets
object-store-http2-max-frame-size datafusion-use-cached-parquet-loader datafusion-runtime-type datafusion-runtime-disable-lifo-slot
datafusion-runtime-event-interval datafusion-runtime-global-queue-interval datafusion-runtime-max-blocking-threads
datafusion-runtime-max-io-events-per-tick datafusion-runtime-thread-keep-alive datafusion-runtime-thread-priority
flux-log-enabled storage-write-timeout storage-wal-fsync-delay storage-validate-keys storage-retention-check-interval no-tasks instance-id
feature-flags log-level tracing-type reporting-disabled pid-file metrics-disabled pprof-disabled ui-disabled assets-path`.split(/\s+/);

test.each(FOREIGN)("--%s is a flag", (name) => {
  // its value may be wrong, its name is not
  let message = "";
  try {
    parse(`--${name}=1`);
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).not.toContain("unknown flag");
});

test("no two flags share a variable", () => {
  const names = (FLAGS as readonly Flag[]).flatMap(({ aliases = [] }) => aliases);
  expect(new Set(names).size).toBe(names.length);
});

test("no flag without effect has the name of one of ours", () => {
  const ours = (FLAGS as readonly Flag[]).map(({ name }) => name);
  const foreign = FOREIGN_FLAGS.map(({ name }) => name);
  expect(foreign.filter((name) => ours.includes(name))).toEqual([]);
  expect(new Set(foreign).size).toBe(foreign.length);
});

test("secrets of another server's flags are not shown", () => {
  expect(shownArguments(["serve", "--aws-secret-access-key", "k", "--vault-token=t", "--init-password", "p", "--mode", "all"])).toEqual([
    ...["serve", "--aws-secret-access-key", "***", "--vault-token=***", "--init-password", "***", "--mode", "all"],
  ]);
});
