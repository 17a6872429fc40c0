// What operators read at /api/v2/config: the flags of the vendor's server by their names, because its clients know those.
import type { ServeConfig } from "../cli/serve-config.ts";

const MINUTE_NS = 60_000_000_000;
const SECOND_NS = 1_000_000_000;

/** Flags that this server has no counterpart of, and accepts without effect: as the vendor's server has them when nobody sets them. */
const WITHOUT_COUNTERPART = {
  "assets-path": "",
  "e2e-testing": false,
  "feature-flags": null,
  "flux-log-enabled": false,
  "http-idle-timeout": 3 * MINUTE_NS,
  "http-read-header-timeout": 10 * SECOND_NS,
  "http-read-timeout": 0,
  "http-write-timeout": 0,
  "influxql-max-select-buckets": 0,
  "influxql-max-select-point": 0,
  "influxql-max-select-series": 0,
  "instance-id": "",
  "nats-max-payload-bytes": 0,
  "nats-port": 0,
  "overwrite-pid-file": false,
  "pid-file": "",
  "query-initial-memory-bytes": 0,
  "query-max-memory-bytes": 0,
  "reporting-disabled": true,
  "secret-store": "bolt",
  "storage-cache-max-memory-size": 1 << 30,
  "storage-cache-snapshot-memory-size": 25 << 20,
  "storage-cache-snapshot-write-cold-duration": "10m0s",
  "storage-compact-full-write-cold-duration": "4h0m0s",
  "storage-compact-throughput-burst": 48 << 20,
  "storage-max-concurrent-compactions": 0,
  "storage-max-index-log-file-size": 1 << 20,
  "storage-no-validate-field-size": false,
  "storage-retention-check-interval": "30m0s",
  "storage-series-file-max-concurrent-snapshot-compactions": 0,
  "storage-series-id-set-cache-size": 0,
  "storage-shard-precreator-advance-period": "30m0s",
  "storage-shard-precreator-check-interval": "10m0s",
  "storage-tsm-use-madv-willneed": false,
  "storage-validate-keys": false,
  "storage-wal-flush-on-shutdown": false,
  "storage-wal-fsync-delay": "0s",
  "storage-wal-max-concurrent-writes": 0,
  "storage-wal-max-write-delay": 10 * MINUTE_NS,
  "storage-write-timeout": 10 * SECOND_NS,
  "template-file-urls-disabled": false,
  "testing-always-allow-setup": false,
  "tls-strict-ciphers": false,
  "tracing-type": "",
  "ui-disabled": false,
  "vault-addr": "",
  "vault-cacert": "",
  "vault-capath": "",
  "vault-client-cert": "",
  "vault-client-key": "",
  "vault-client-timeout": 0,
  "vault-max-retries": 0,
  "vault-skip-verify": false,
  "vault-tls-server-name": "",
  "vault-token": "",
} as const;

/** Without secrets. */
export function shownV2Config(config: ServeConfig): Readonly<Record<string, unknown>> {
  const { v2Bind: bind, dataDir, nodeId } = config;
  const own = {
    "bolt-path": `${dataDir}/${nodeId}`,
    "engine-path": dataDir,
    "hardening-enabled": config.v2TransportSecurityMs !== null,
    "http-bind-address": bind === null ? "" : `${bind.hostname}:${bind.port}`,
    "log-level": config.logFilter.level,
    "metrics-disabled": config.v2MetricsDisabled,
    "no-tasks": !config.v2RunsTasks,
    "pprof-disabled": config.v2PprofDisabled,
    "query-concurrency": config.v2Queries.concurrentMax ?? 0,
    "query-memory-bytes": config.v2Queries.memoryBytesMax ?? 0,
    "query-queue-size": config.v2Queries.waitingMax ?? 0,
    "session-length": Math.ceil(config.v2SessionMs / 60_000),
    "session-renew-disabled": !config.v2RenewsSessions,
    "sqlite-path": `${dataDir}/${nodeId}`,
    store: config.objectStore === "memory" ? "memory" : "disk",
    "strong-passwords": config.v2StrongPasswords,
    "tls-cert": config.v2Tls === null && config.tls === null ? "" : "(set)",
    "tls-key": config.v2Tls === null && config.tls === null ? "" : "(set)",
    "tls-min-version": (config.v2TlsMinimum ?? config.tlsMinimum).replace("tls-", ""),
    "use-hashed-tokens": config.v2HashedTokens,
  };
  const all = { ...WITHOUT_COUNTERPART, ...own };
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
}
