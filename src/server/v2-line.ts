// The bucket-based API as a part of the server: its records and services over the catalog, and its own HTTP listener.
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { type HttpServer, startHttpServer } from "../api/server.ts";
import type { ServerStatus } from "../api/services.ts";
import { createV2App } from "../api/v2/app/app.ts";
import type { V2Options } from "../api/v2/app/services.ts";
import type { ServeConfig } from "../cli/serve-config.ts";
import { SecretBox } from "../metadata/access/secret-box.ts";
import { V2Line } from "../metadata/line.ts";
import { TsdbError } from "../model/errors.ts";
import type { WriteService } from "../model/write.ts";
import type { Foundation } from "./foundation.ts";

/** The server as the routes see it. */
export interface V2View {
  status(): ServerStatus;
  /** @throws TsdbError unavailable before the log is replayed */
  serving(): { v2Line(): V2Line; receive: WriteService["receive"] };
}

/** As far as a request moves the end of its session. */
const RENEW_MS = 5 * 60_000;

/** Null when the API is off. @throws TsdbError corrupt_file, config when the key of secrets cannot be used */
export function openV2Line({ config, catalog, tables, paths }: Foundation, onScheduled: () => void): V2Line | null {
  if (config.v2Bind === null) return null;
  return new V2Line(catalog, {
    nowMs: () => Date.now(),
    sessions: { lengthMs: config.v2SessionMs, renewMs: config.v2RenewsSessions ? RENEW_MS : null },
    box: secretBox(config, paths.secretKey),
    keepsHashesOnly: config.v2HashedTokens,
    onDropped: (databaseIds) => {
      for (const databaseId of databaseIds) for (const { id } of catalog.allTables(databaseId)) tables.renamed(id);
      onScheduled();
    },
  });
}

function secretBox({ v2SecretKeyFile, objectStore, readOnly }: ServeConfig, path: string): SecretBox {
  if (v2SecretKeyFile !== null) return SecretBox.ofFile(v2SecretKeyFile, false);
  // without a key nothing was encrypted yet
  if (objectStore === "memory" || (readOnly && !existsSync(path))) return SecretBox.random();
  if (!readOnly) mkdirSync(dirname(path), { recursive: true });
  return SecretBox.ofFile(path, !readOnly);
}

/** Null when it is off, or when another program has the address: port 8181 goes on without it. */
export function listenV2(foundation: Foundation, view: V2View): HttpServer | null {
  const { config, logs, metrics, tls } = foundation;
  const { v2Bind: bind } = config;
  if (bind === null) return null;
  const log = logs("v2");
  const startedMs = Date.now();
  const app = createV2App({
    line: () => view.serving().v2Line(),
    write: { receive: (bytes) => view.serving().receive(bytes) },
    written: (outcome, counts) => metrics.write(outcome, counts),
    status: () => view.status(),
    options: optionsOf(config),
    startedMs,
    clockMs: () => Date.now(),
    now: () => performance.now(),
    report: (error, where) => log.error("request failed", { where, err: error }),
    revision: process.env["TSDB_REVISION"] ?? "0000000",
    renderMetrics: () => metrics.render(),
    counted: (method, route, status, seconds) => metrics.request(method, route, status, seconds),
  });
  try {
    const http = startHttpServer(app, { ...bind, ...(tls === null ? {} : { tls }) });
    log.info("listening", { address: `${bind.hostname}:${http.port}` });
    return http;
  } catch (error) {
    if (!(error instanceof TsdbError) || error.kind !== "config") throw error;
    log.warn("the bucket-based API is off; --v2-http-bind gives it another address, or `off`", { reason: error.message });
    return null;
  }
}

function optionsOf(config: ServeConfig): V2Options {
  return {
    strongPasswords: config.v2StrongPasswords,
    defaultRetentionSeconds: Math.ceil(config.v2DefaultRetentionMs / 1000),
    metricsDisabled: config.v2MetricsDisabled,
    pprofDisabled: config.v2PprofDisabled,
    maxRequestBytes: config.maxRequestBytes,
    shownConfig: shownConfig(config),
    isSecure: config.tls !== null,
    sessionLengthSeconds: Math.ceil(config.v2SessionMs / 1000),
  };
}

/** What operators read at /api/v2/config, under the vendor's names where this server has such a setting. */
function shownConfig(config: ServeConfig): Readonly<Record<string, unknown>> {
  const { v2Bind: bind } = config;
  return {
    "engine-path": config.dataDir,
    "http-bind-address": bind === null ? "" : `${bind.hostname}:${bind.port}`,
    "log-level": config.logFilter.level,
    "metrics-disabled": config.v2MetricsDisabled,
    "pprof-disabled": config.v2PprofDisabled,
    "query-concurrency": config.concurrentQueriesMax,
    "query-memory-bytes": config.queryMemoryBytes,
    "session-length": Math.ceil(config.v2SessionMs / 60_000),
    "session-renew-disabled": !config.v2RenewsSessions,
    store: config.objectStore === "memory" ? "memory" : "disk",
    "strong-passwords": config.v2StrongPasswords,
    "use-hashed-tokens": config.v2HashedTokens,
  };
}
