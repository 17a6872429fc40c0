// The flags of `tsdb serve`: one table for the parser, the environment and the help text.
import { LIMITS } from "../model/limits.ts";
import { showBytes } from "./units.ts";

export interface Flag {
  readonly name: string;
  readonly group: "Network" | "Storage" | "Memory and queries" | "Logging and the rest";
  /** What stands for the value in the help; null = a switch. */
  readonly value: string | null;
  readonly help: string;
  /** As the user would write it; null = none, or worked out from the machine. */
  readonly default: string | null;
  /** What the help says in place of a default. */
  readonly defaultNote?: string;
  /** Environment variables of existing installations that mean the same, first found wins. TSDB_ names win over them. */
  readonly aliases?: readonly string[];
}

export const FLAGS = [
  {
    name: "http-bind",
    group: "Network",
    value: "ADDRESS",
    help: "Address to listen on, as 127.0.0.1:8181 or [::1]:8181. Port 0 takes a free one.",
    default: "127.0.0.1:8181",
    aliases: ["INFLUXDB3_HTTP_BIND_ADDR"],
  },
  {
    name: "flight-bind",
    group: "Network",
    value: "ADDRESS",
    help: "Address for Arrow Flight (gRPC), which v3 client libraries query by; HTTP is answered there as well. `none` turns it off.",
    default: null,
    defaultNote: "127.0.0.1:8183, unless another program has it",
  },
  {
    name: "without-auth",
    group: "Network",
    value: null,
    help: "Serve everyone who can reach the address, without tokens.",
    default: "false",
    aliases: ["INFLUXDB3_WITHOUT_AUTH", "INFLUXDB3_START_WITHOUT_AUTH"],
  },
  {
    name: "disable-authz",
    group: "Network",
    value: "PAGES",
    help: "Pages that need no token, separated by commas: health, ping, metrics, ready.",
    default: null,
    aliases: ["INFLUXDB3_DISABLE_AUTHZ"],
  },
  {
    name: "admin-token-file",
    group: "Network",
    value: "FILE",
    help: 'The first admin token of a server that has none: {"token":"apiv3_…","name":"_admin"}.',
    default: null,
    aliases: ["INFLUXDB3_ADMIN_TOKEN_FILE"],
  },
  {
    name: "permission-tokens-file",
    group: "Network",
    value: "FILE",
    help: "Databases and tokens with permissions that are made at the start unless they exist.",
    default: null,
    aliases: ["INFLUXDB3_PERMISSION_TOKENS_FILE", "INFLUXDB3_ENTERPRISE_PERMISSION_TOKENS_FILE"],
  },
  {
    name: "admin-token-recovery-http-bind",
    group: "Network",
    value: "ADDRESS",
    help: "Where a lost admin token is replaced by whoever can reach the address, once: POST /api/v3/configure/token/admin/regenerate. As 127.0.0.1:8182.",
    default: null,
    aliases: ["INFLUXDB3_ADMIN_TOKEN_RECOVERY_HTTP_BIND_ADDR"],
  },
  {
    name: "tls-cert",
    group: "Network",
    value: "FILE",
    help: "Certificate chain (PEM). With --tls-key the server speaks https.",
    default: null,
    aliases: ["INFLUXDB3_TLS_CERT"],
  },
  { name: "tls-key", group: "Network", value: "FILE", help: "Private key (PEM).", default: null, aliases: ["INFLUXDB3_TLS_KEY"] },
  {
    name: "tls-minimum-version",
    group: "Network",
    value: "tls-1.2|tls-1.3",
    help: "Clients with an older one are refused.",
    default: "tls-1.2",
    aliases: ["INFLUXDB3_TLS_MINIMUM_VERSION"],
  },
  {
    name: "tls-self-signed",
    group: "Network",
    value: null,
    help: "For trying out https: a certificate for localhost that is made in the folder `tls` of the data folder. Clients must be told to trust it.",
    default: "false",
  },
  {
    name: "max-http-request-size",
    group: "Network",
    value: "SIZE",
    help: `Largest body, as sent and again decompressed; at most ${showBytes(LIMITS.bodyBytesMax)}.`,
    default: showBytes(LIMITS.bodyBytesDefault),
    aliases: ["INFLUXDB3_MAX_HTTP_REQUEST_SIZE"],
  },
  {
    name: "tcp-listener-file-path",
    group: "Network",
    value: "FILE",
    help: "Write the bound address into this file.",
    default: null,
    aliases: ["INFLUXDB3_TCP_LISTENER_FILE_PATH", "INFLUXDB3_TCP_LISTINER_FILE_PATH"],
  },
  {
    name: "node-id",
    group: "Storage",
    value: "NAME",
    help: "Name of this server in the object store. Keep it for the life of the data.",
    default: "node0",
    aliases: ["INFLUXDB3_NODE_ID", "INFLUXDB3_NODE_IDENTIFIER_PREFIX"],
  },
  {
    name: "object-store",
    group: "Storage",
    value: "file|memory",
    help: "Where data lives. With memory it is gone at the end.",
    default: "file",
    aliases: ["INFLUXDB3_OBJECT_STORE"],
  },
  {
    name: "data-dir",
    group: "Storage",
    value: "FOLDER",
    help: "Folder of the file store.",
    default: "./.tsdb",
    aliases: ["INFLUXDB3_DATA_DIR", "INFLUXDB3_DB_DIR"],
  },
  {
    name: "wal-flush-interval",
    group: "Storage",
    value: "DURATION",
    help: "How long a group of writes may wait for company before it is synced.",
    default: "0",
    defaultNote: "0: as soon as the previous sync ends",
    aliases: ["INFLUXDB3_WAL_FLUSH_INTERVAL"],
  },
  {
    name: "wal-replay-fail-on-error",
    group: "Storage",
    value: null,
    help: "Refuse to start on a corrupt log; =false skips what is corrupt and reports the loss.",
    default: "true",
    aliases: ["INFLUXDB3_WAL_REPLAY_FAIL_ON_ERROR"],
  },
  {
    name: "gen0-duration",
    group: "Storage",
    value: "DURATION",
    help: "Greatest age of rows that are only in the log and in memory.",
    default: "10m",
  },
  {
    name: "compaction-check-interval",
    group: "Storage",
    value: "DURATION",
    help: "How often to look for files to merge, and for rows past their retention.",
    default: "10s",
    aliases: ["INFLUXDB3_ENTERPRISE_COMPACTION_CHECK_INTERVAL", "INFLUXDB3_COMPACTION_CHECK_INTERVAL"],
  },
  {
    name: "compaction-delay",
    group: "Storage",
    value: "DURATION",
    help: "How long no rows must have come for a day that is over before its files become one Parquet file.",
    default: "1m",
  },
  {
    name: "compaction-cleanup-wait",
    group: "Storage",
    value: "DURATION",
    help: "How long a file stays after others have replaced it.",
    default: "10m",
    aliases: ["INFLUXDB3_ENTERPRISE_COMPACTION_CLEANUP_WAIT", "INFLUXDB3_COMPACTION_CLEANUP_WAIT"],
  },
  {
    name: "buffer-mem-limit",
    group: "Memory and queries",
    value: "SIZE",
    help: `Memory for rows that are not in a file yet; at most ${showBytes(LIMITS.bufferBytesMax)}.`,
    default: null,
    defaultNote: `${showBytes(LIMITS.bufferBytesDefault)}, or a quarter of a smaller machine`,
  },
  {
    name: "series-mem-limit",
    group: "Memory and queries",
    value: "SIZE",
    help:
      `Memory for the series of tables that are written to, some 150 bytes each; at most ${showBytes(LIMITS.seriesBytesMax)}. ` +
      "Where there are more, they are learned anew after a flush.",
    default: null,
    defaultNote: `${showBytes(LIMITS.seriesBytesDefault)}, or an eighth of a smaller machine`,
  },
  {
    name: "file-cache-size",
    group: "Memory and queries",
    value: "SIZE",
    help: `Memory for decoded data of files, of all query workers together; at most ${showBytes(LIMITS.fileCacheBytesMax)}.`,
    default: null,
    defaultNote: `20% up to ${showBytes(LIMITS.fileCacheBytesMax)}, and what rows and series leave of ${showBytes(LIMITS.bufferSeriesCacheBytesMax)}`,
    aliases: ["INFLUXDB3_FILE_CACHE_SIZE"],
  },
  {
    name: "exec-mem-pool-bytes",
    group: "Memory and queries",
    value: "SIZE",
    help: "Memory for all running queries together.",
    default: "20%",
    aliases: ["INFLUXDB3_EXEC_MEM_POOL_BYTES", "INFLUXDB3_EXEC_MEM_POOL_SIZE"],
  },
  {
    name: "ingest-workers",
    group: "Memory and queries",
    value: "COUNT",
    help: "Workers that parse and encode large bodies beside the main thread; 0 = it does all itself.",
    default: null,
    defaultNote: "0 on one or two processors, a third of the others on more, at least 1, at most 4",
  },
  {
    name: "ingest-worker-body-min",
    group: "Memory and queries",
    value: "SIZE",
    help: "Bodies below this size are not worth handing to a worker.",
    default: "128KiB",
  },
  {
    name: "query-workers",
    group: "Memory and queries",
    value: "COUNT",
    help: "Workers that answer queries.",
    default: null,
    defaultNote: "half the processors, at least 1",
  },
  {
    name: "query-threads",
    group: "Memory and queries",
    value: "COUNT",
    help: "Threads of one worker's query engine.",
    default: null,
    defaultNote: "the number of processors",
    aliases: ["INFLUXDB3_NUM_DATAFUSION_THREADS", "INFLUXDB3_DATAFUSION_NUM_THREADS"],
  },
  {
    name: "query-timeout",
    group: "Memory and queries",
    value: "DURATION",
    help: "How long a statement may take, its wait for its turn included, the time its answer waits for the client not.",
    default: "10m",
    defaultNote: "10m; 0 is no limit",
  },
  {
    name: "max-concurrent-queries",
    group: "Memory and queries",
    value: "COUNT",
    help: "Statements that run at a time; the others wait for their turn.",
    default: null,
    defaultNote: String(LIMITS.concurrentQueriesDefault),
    aliases: ["INFLUXDB3_MAX_CONCURRENT_QUERIES"],
  },
  {
    name: "query-log-size",
    group: "Memory and queries",
    value: "COUNT",
    help: "Statements that system.queries remembers.",
    default: null,
    defaultNote: String(LIMITS.queryLogDefault),
    aliases: ["INFLUXDB3_QUERY_LOG_SIZE", "INFLUXDB3_QUERY_LOG_MAX_ENTRIES"],
  },
  {
    name: "log-filter",
    group: "Logging and the rest",
    value: "FILTER",
    help: "Least level to log: trace, debug, info, warn, error or off; also by part, as info,wal=debug.",
    default: "info",
    aliases: ["LOG_FILTER"],
  },
  {
    name: "log-format",
    group: "Logging and the rest",
    value: "full|json",
    help: "Lines for people or for programs.",
    default: "full",
    aliases: ["LOG_FORMAT"],
  },
  {
    name: "edition",
    group: "Logging and the rest",
    value: "enterprise|core",
    help: "Which edition's endpoints and version to offer.",
    default: "enterprise",
  },
  {
    name: "use-pacha-tree",
    group: "Logging and the rest",
    value: null,
    help: "Open the endpoints that belong to the upgraded storage engine; there is only that one here.",
    default: "false",
    aliases: ["INFLUXDB3_USE_PACHA_TREE"],
  },
  {
    name: "shutdown-timeout",
    group: "Logging and the rest",
    value: "DURATION",
    help: "How long running requests may take to finish at the end.",
    default: "30s",
    aliases: ["INFLUXDB3_SHUTDOWN_TIMEOUT"],
  },
] as const satisfies readonly Flag[];

export type FlagName = (typeof FLAGS)[number]["name"];

/** `--http-bind` is TSDB_HTTP_BIND. */
export function environmentName(flag: string): string {
  return `TSDB_${flag.toUpperCase().replaceAll("-", "_")}`;
}
