// Flags and variables of other servers' configurations that this server accepts without effect, so that a command line or a container's
// environment starts it unchanged. What has an effect stands in the tables of our own flags, as their `aliases`.

/** A flag that is accepted and has no effect. */
export interface ForeignFlag {
  readonly name: string;
  /** False: a switch. */
  readonly hasValue: boolean;
  /** Completes "… has no effect: ". */
  readonly why: string;
  /** Prefixes of the variable; the rest follows from the name. */
  readonly prefixes: readonly string[];
}

/** Prefixes of the variables of each kind of flag. Those of cloud stores and traces stand in environments for other programs too: a line
 *  about them at every start would say nothing about this server. */
const V3 = ["INFLUXDB3_", "INFLUXDB3_ENTERPRISE_"] as const;
const V2 = ["INFLUXD_"] as const;

const NO_CLOUD = "this server keeps its data in a folder (--data-dir) or in memory";
const NO_CLUSTER = "this server is one node that does everything";
const NO_LICENSE = "this server needs no licence";
const OWN_LOG = "the log is one file that is cut when its rows are in other files (--gen0-duration, --buffer-mem-limit)";
const OWN_FILES = "files hold a day each; compaction decides by their sizes (--compaction-check-interval, --compaction-delay)";
const OWN_CACHE = "decoded data is kept by use, up to --file-cache-size";
const OWN_ENGINE = "the query engine is another one (--query-workers, --query-threads)";
const OWN_INDEX = "indexes of tables are part of their files";
const NO_TRACES = "this server exports no traces; --log-filter and system.queries show what runs";
const NO_TELEMETRY = "this server sends nothing about itself to anybody";
const OWN_STORE = "there is no object store behind a network";

const OWN_V2_STORE = "rows of buckets are stored as those of databases are (--data-dir, --object-store)";
const NO_PAGES = "this server has no web interface";
const NO_VAULT = "secrets are encrypted with a key beside the data or in --v2-secret-key-file";

/** What has no effect here, with the reason. */
export const FOREIGN_FLAGS: readonly ForeignFlag[] = [
  ...apart(
    NO_CLOUD,
    "bucket aws-access-key-id aws-secret-access-key aws-default-region aws-endpoint aws-session-token aws-credentials-file",
  ),
  ...apart(NO_CLOUD, "google-service-account azure-storage-account azure-storage-access-key azure-endpoint"),
  ...apart(NO_CLOUD, "aws-allow-http= aws-skip-signature= azure-allow-http="),
  ...v3(OWN_STORE, "object-store-connection-limit object-store-request-timeout object-store-max-retries object-store-retry-timeout"),
  ...v3(OWN_STORE, "object-store-tls-ca object-store-cache-endpoint object-store-http2-only= object-store-http2-max-frame-size"),
  ...v3(OWN_STORE, "object-store-tls-allow-insecure="),
  ...v3("write --node-id or TSDB_NODE_ID", "node-id-from-env node-identifier-from-env"),
  ...v3(OWN_LOG, "wal-snapshot-size wal-files-per-snapshot wal-max-write-buffer-size wal-max-buffered-writes checkpoint-interval"),
  ...v3(OWN_LOG, "snapshotted-wal-files-to-keep num-wal-files-to-keep wal-replay-concurrency-limit snapshot-concurrency-limit"),
  ...v3("rows in memory are limited by --buffer-mem-limit", "force-snapshot-mem-threshold force-snapshot-mem-size"),
  ...v3(OWN_FILES, "gen1-duration gen1-lookback-duration compaction-gen2-duration compaction-multipliers compaction-row-limit"),
  ...v3(OWN_FILES, "compaction-max-num-files-per-plan"),
  ...v3("files go as soon as no query reads them, or after --compaction-cleanup-wait", "delete-grace-period"),
  ...v3("statements read every file that they need", "query-file-limit"),
  ...v3(OWN_CACHE, "parquet-mem-cache-prune-percentage parquet-mem-cache-prune-interval parquet-mem-cache-query-path-duration"),
  ...v3(OWN_CACHE, "file-cache-recency"),
  ...v3("--file-cache-size 0 turns the cache off", "disable-parquet-mem-cache= disable-file-cache="),
  ...v3(OWN_INDEX, "table-index-cache-max-entries table-index-cache-concurrency-limit"),
  ...v3("retention is checked at --compaction-check-interval", "retention-check-interval"),
  ...v3("threads are those of the runtime and of --query-threads", "num-io-threads"),
  ...v3(OWN_ENGINE, "datafusion-max-parquet-fanout datafusion-config datafusion-use-cached-parquet-loader="),
  ...v3(OWN_ENGINE, "datafusion-runtime-type datafusion-runtime-disable-lifo-slot datafusion-runtime-event-interval"),
  ...v3(OWN_ENGINE, "datafusion-runtime-global-queue-interval datafusion-runtime-max-blocking-threads"),
  ...v3(OWN_ENGINE, "datafusion-runtime-max-io-events-per-tick datafusion-runtime-thread-keep-alive datafusion-runtime-thread-priority"),
  ...apart(NO_TRACES, "traces-exporter traces-exporter-jaeger-agent-host traces-exporter-jaeger-agent-port traces-jaeger-tags"),
  ...apart(NO_TRACES, "traces-exporter-jaeger-service-name traces-exporter-jaeger-trace-context-header-name traces-jaeger-debug-name"),
  ...apart(NO_TRACES, "traces-jaeger-max-msgs-per-second"),
  ...v3(NO_TELEMETRY, "disable-telemetry-upload= telemetry-endpoint"),
  ...v3(NO_CLUSTER, "cluster-id mode catalog-sync-interval replication-interval"),
  ...v3(NO_LICENSE, "license-email license-file license-type"),
  ...v3("processors are taken as they come; --query-threads and --query-workers limit queries", "num-cores"),
  ...v3("data folders of other servers are not read", "upgrade-pacha-tree="),

  ...v2(
    OWN_V2_STORE,
    "bolt-path sqlite-path engine-path store storage-write-timeout storage-wal-fsync-delay storage-wal-max-concurrent-writes",
  ),
  ...v2(OWN_V2_STORE, "storage-wal-max-write-delay storage-wal-flush-on-shutdown= storage-validate-keys= storage-no-validate-field-size="),
  ...v2(OWN_V2_STORE, "storage-cache-max-memory-size storage-cache-snapshot-memory-size storage-cache-snapshot-write-cold-duration"),
  ...v2(OWN_V2_STORE, "storage-compact-full-write-cold-duration storage-compact-throughput storage-compact-throughput-burst"),
  ...v2(OWN_V2_STORE, "storage-max-concurrent-compactions storage-max-index-log-file-size storage-series-id-set-cache-size"),
  ...v2(OWN_V2_STORE, "storage-series-file-max-concurrent-snapshot-compactions storage-tsm-use-madv-willneed="),
  ...v2(OWN_V2_STORE, "storage-retention-check-interval storage-shard-precreator-check-interval storage-shard-precreator-advance-period"),
  ...v2(NO_VAULT, "secret-store vault-addr vault-token vault-cacert vault-capath vault-client-cert vault-client-key vault-client-timeout"),
  ...v2(NO_VAULT, "vault-max-retries vault-skip-verify= vault-tls-server-name"),
  ...v2(NO_PAGES, "ui-disabled= assets-path"),
  ...v2(NO_TELEMETRY, "reporting-disabled="),
  ...v2(NO_TRACES, "tracing-type"),
  ...v2(
    "requests are limited by time and size as on port 8181",
    "http-read-header-timeout http-read-timeout http-write-timeout http-idle-timeout",
  ),
  ...v2("a script has one limit of memory: --v2-query-memory-bytes", "query-initial-memory-bytes query-max-memory-bytes"),
  ...v2(
    "--max-row-limit and --query-timeout limit statements",
    "influxql-max-select-point influxql-max-select-series influxql-max-select-buckets",
  ),
  ...v2("system.queries has the statements that ran", "flux-log-enabled="),
  ...v2("cipher suites without forward secrecy are rejected always", "tls-strict-ciphers="),
  ...v2("templates are read from URLs only with --v2-template-urls", "template-file-urls-disabled="),
  ...v2("it is not needed here", "instance-id feature-flags pid-file overwrite-pid-file= nats-port nats-max-payload-bytes e2e-testing="),
  ...v2("it is not needed here", "testing-always-allow-setup="),
];

function v3(why: string, names: string): ForeignFlag[] {
  return listed(why, names, V3);
}

function v2(why: string, names: string): ForeignFlag[] {
  return listed(why, names, V2);
}

/** Without variables. */
function apart(why: string, names: string): ForeignFlag[] {
  return listed(why, names, []);
}

/** Names separated by spaces; a switch ends with `=`. */
function listed(why: string, names: string, prefixes: readonly string[]): ForeignFlag[] {
  return names.split(" ").map((text) => ({ name: text.replace("=", ""), hasValue: !text.endsWith("="), why, prefixes }));
}

/** The variables of a flag without effect. */
export function foreignVariables({ name, prefixes }: ForeignFlag): string[] {
  return prefixes.map((prefix) => prefix + name.toUpperCase().replaceAll("-", "_"));
}
