// The bucket-based API as a part of the server: its records and services over the catalog, and its own HTTP listener.
import { existsSync, mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import { type RunCounts, sortedFamilies, V2Metrics, type V2Totals } from "../api/metrics/v2-metrics.ts";
import { type HttpServer, startHttpServer } from "../api/server.ts";
import type { ServerStatus } from "../api/services.ts";
import { V2_VERSION } from "../api/shared/aliases.ts";
import { createV2App } from "../api/v2/app/app.ts";
import { RequestLimits } from "../api/v2/app/request-limits.ts";
import type { V2Options } from "../api/v2/app/services.ts";
import { Scripts } from "../api/v2/scripts.ts";
import { BackupService } from "../backup/backup-service.ts";
import { shownArguments } from "../cli/arguments.ts";
import type { ServeConfig } from "../cli/serve-config.ts";
import type { Deletions } from "../ingest/definitions/deletions.ts";
import type { RowDeletions } from "../ingest/definitions/row-deletions.ts";
import { hashCostOf, PasswordHasher } from "../metadata/access/passwords.ts";
import { SecretBox } from "../metadata/access/secret-box.ts";
import { V2Line } from "../metadata/line.ts";
import type { TaskRunService } from "../metadata/resources/task-runs.ts";
import { TsdbError } from "../model/errors.ts";
import type { QueryService } from "../model/query/query.ts";
import type { Tls } from "../model/tls.ts";
import type { WriteService } from "../model/write.ts";
import type { Replicator } from "../replications/replicator.ts";
import { Scraping } from "../scrapers/scraping.ts";
import { objectKeys } from "../storage/paths.ts";
import { TaskScheduler } from "../tasks/scheduler.ts";
import { SYSTEM_CLOCK } from "../triggers/clock.ts";
import type { MaintenanceClient } from "../workers/maintenance/maintenance-client.ts";
import type { BackgroundJobs } from "./background-jobs.ts";
import { CountedQueries } from "./counted-queries.ts";
import type { Foundation } from "./foundation.ts";
import { LimitedQueries } from "./limited-queries.ts";
import { shownV2Config } from "./shown-v2-config.ts";

/** The server as the routes see it. */
export interface V2View {
  status(): ServerStatus;
  /** @throws TsdbError unavailable before the log is replayed */
  serving(): {
    v2Line(): V2Line;
    backup(): BackupService;
    taskRuns(): TaskRunService;
    runCounts(): RunCounts | null;
    replicating(): Replicator;
    receive: WriteService["receive"];
    query: QueryService["query"];
    readonly admin: { readonly rows: RowDeletions };
  };
}

/** As far as a request moves the end of its session. */
const RENEW_MS = 5 * 60_000;

/** Null when the API is off. @throws TsdbError corrupt_file, config when the key of secrets cannot be used */
export function openV2Line({ config, catalog, tables, paths, auth }: Foundation, onScheduled: () => void): V2Line | null {
  if (config.v2Bind === null) return null;
  return new V2Line(catalog, {
    nowMs: () => Date.now(),
    sessions: { lengthMs: config.v2SessionMs, renewMs: config.v2RenewsSessions ? RENEW_MS : null },
    box: secretBox(config, paths.secretKey),
    keepsHashesOnly: config.v2HashedTokens,
    passwords: auth.users?.passwords ?? new PasswordHasher(hashCostOf(config.passwordHashBytes)),
    bucketLimits: { countMax: config.v2BucketsMax, retentionSecondsMax: secondsOrNull(config.v2RetentionMaxMs) },
    onDropped: (databaseIds) => {
      for (const databaseId of databaseIds) for (const { id } of catalog.allTables(databaseId)) tables.renamed(id);
      onScheduled();
    },
  });
}

/** What the configuration says of a server that nobody has set up. @throws TsdbError config */
export async function setUpOnce(line: V2Line, { config, logs }: Pick<Foundation, "config" | "logs">): Promise<void> {
  const { v2Setup: setup, v2StrongPasswords: strong, readOnly } = config;
  if (setup === null || readOnly || !line.onboarding.isAllowed) return;
  try {
    const { user, org, bucket } = await line.setUp(setup, { strong });
    logs("v2").info("set up", { user: user.name, org: org.name, bucket: bucket.name });
  } catch (cause) {
    if (!(cause instanceof TsdbError) || ["unavailable", "no_space"].includes(cause.kind)) throw cause;
    throw new TsdbError("config", `the first setup (--init-…, TSDB_INIT_…): ${cause.message}`, {}, { cause });
  }
}

/** Scraper targets are often on this machine: private addresses are refused on a hardened server alone. */
export function createScraping({ config, logs }: Foundation, line: V2Line, writes: WriteService): Scraping {
  const log = logs("scrapers");
  return new Scraping({
    scrapers: line.scrapers,
    buckets: line.buckets,
    writes,
    clock: SYSTEM_CLOCK,
    allowsPrivate: config.v2TransportSecurityMs === null,
    failed: (details) => log.warn("cannot read metrics; failures of this target are not told again before it answers", details),
  });
}

/** Runs tasks, with the rights of their owners. */
export function createTasks(
  { config, logs, metrics }: Foundation,
  line: V2Line,
  { writes, queries, isBusy }: { readonly writes: WriteService; readonly queries: QueryService; readonly isBusy: () => boolean },
): TaskScheduler {
  const log = logs("tasks");
  const scripts = new Scripts({
    line: () => line,
    ...{ query: queries, write: writes, options: optionsOf(config) },
    written: (outcome, body) => metrics.write(outcome, body),
    clockMs: () => Date.now(),
    now: () => performance.now(),
  });
  return new TaskScheduler({
    ...{ tasks: line.tasks, buckets: line.buckets, writes, queries, clock: SYSTEM_CLOCK },
    isOn: config.v2RunsTasks && !config.readOnly,
    principalOf: (userID) => line.authentication.ofUser(userID),
    runScript: (sender, script) => scripts.run(sender, script),
    prepareScript: (script, signal) => scripts.prepare(script, signal),
    ...{ rehearses: config.warmsUp, isBusy },
    rehearsed: (count) => log.debug("scripts of tasks were rehearsed", { count }),
    report: (error) => log.error("a run failed", { err: error }),
    warn: (message, details) => log.warn(message, details),
  });
}

/** Backup and restore over the server's files. */
export function createBackup(
  foundation: Foundation,
  line: V2Line,
  { backgroundJobs, deletions, maintenance }: { backgroundJobs: BackgroundJobs; deletions: Deletions; maintenance: MaintenanceClient },
): BackupService {
  const { kernel, catalog, manifest, tables, storage, config, logs } = foundation;
  const { compactor, flusher, hardDeletes } = backgroundJobs;
  const keys = objectKeys(config.nodeId);
  return new BackupService({
    ...{ kernel, catalog, manifest, tables, line, store: storage.store, objectSource: storage.objectSource },
    folder: storage.tempDir,
    ptKey: (fileId) => keys.ptFile(fileId),
    tombstonesOf: (tableId) => deletions.tombstonesOf(tableId),
    deletionsDurable: () => deletions.durable(),
    merge: (request, write) => maintenance.merge(request, write),
    barrier: () => flusher.barrier(),
    keepFiles: () => compactor.keepFiles(),
    discard: (files) => compactor.discard(files),
    onDropped: () => {
      hardDeletes.check();
      compactor.check();
    },
    warn: (message, details) => logs("v2").warn(message, details),
    nowMs: () => Date.now(),
  });
}

function secretBox(config: ServeConfig, path: string): SecretBox {
  const box = presentBox(config, path);
  const { v2PreviousSecretKeyFile: previous } = config;
  return previous === null ? box : box.after(SecretBox.ofFile(previous, false));
}

/** After a change of the key. Without a previous key there is nothing to do. */
export async function renewSealed(line: V2Line, { config, logs }: Pick<Foundation, "config" | "logs">): Promise<void> {
  if (config.v2PreviousSecretKeyFile === null || config.readOnly) return;
  const count = await line.renewSealed();
  logs("v2").info("tokens and secrets of the previous key are encrypted with the present one", { count });
}

function presentBox({ v2SecretKeyFile, v2SecretKey, objectStore, readOnly }: ServeConfig, path: string): SecretBox {
  if (v2SecretKey !== null) return SecretBox.ofText(v2SecretKey);
  if (v2SecretKeyFile !== null) return SecretBox.ofFile(v2SecretKeyFile, false);
  // without a key nothing was encrypted yet
  if (objectStore === "memory" || (readOnly && !existsSync(path))) return SecretBox.random();
  if (!readOnly) mkdirSync(dirname(path), { recursive: true });
  return SecretBox.ofFile(path, !readOnly);
}

/** Null when it is off, or when another program has the address: port 8181 goes on without it. */
export function listenV2(foundation: Foundation, view: V2View): HttpServer | null {
  const { config, logs, metrics } = foundation;
  const { v2Bind: bind } = config;
  const tls = tlsOf(foundation);
  if (bind === null) return null;
  const log = logs("v2");
  const startedMs = Date.now();
  const now = () => performance.now();
  const revision = process.env["TSDB_REVISION"] ?? "0000000";
  const counts = new V2Metrics({
    ...{ version: V2_VERSION, commit: revision, cpus: availableParallelism(), upMs: () => Date.now() - startedMs },
    totals: () => totalsOf(view),
    metadata: () => (view.status().state === "ready" ? view.serving().v2Line().metadata.view.statements : { reads: 0, writes: 0 }),
    runs: () => (view.status().state === "ready" ? view.serving().runCounts() : null),
    replications: () => (view.status().state === "ready" ? view.serving().replicating().numbers() : []),
  });
  const queries = new LimitedQueries({ query: (request) => view.serving().query(request) }, config.v2Queries);
  const app = createV2App({
    limits: new RequestLimits({ concurrentMax: config.v2RequestsMax, perMinuteMax: config.v2RequestsPerMinuteMax }, now),
    line: () => view.serving().v2Line(),
    backup: () => view.serving().backup(),
    taskRuns: () => view.serving().taskRuns(),
    replicating: () => view.serving().replicating(),
    write: { receive: (bytes) => view.serving().receive(bytes) },
    query: new CountedQueries(queries, counts, now),
    rows: () => view.serving().admin.rows,
    metrics,
    written: (outcome, body) => {
      metrics.write(outcome, body);
      counts.wrote(outcome, body);
    },
    status: () => view.status(),
    options: optionsOf(config),
    startedMs,
    clockMs: () => Date.now(),
    now,
    report: (error, where) => log.error("request failed", { where, err: error }),
    revision,
    // without a token: names of databases are not for everyone
    renderMetrics: async () => {
      const [{ text, contentType }, own] = await Promise.all([metrics.render({ withDatabases: false }), counts.render()]);
      return { text: sortedFamilies(own, text), contentType: `${contentType}; escaping=values` };
    },
    traced: (trace, answered) => log[answered.status >= 500 ? "warn" : "debug"]("answered", { trace, ...answered }),
    counted: (request) => {
      const { method, route = "other", status, seconds } = request;
      metrics.request(method, route, status, seconds);
      counts.request(request);
    },
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

/** Null before the log is replayed. */
function totalsOf(view: V2View): V2Totals | null {
  if (view.status().state !== "ready") return null;
  const { buckets, dashboards, organizations, users, authorizations, scrapers, tasks, telegrafs, remotes, replications } = view
    .serving()
    .v2Line();
  return {
    ...{ buckets: buckets.count, dashboards: dashboards.count, organizations: organizations.count, users: users.count },
    ...{ tokens: authorizations.count, scrapers: scrapers.count, tasks: tasks.count, telegrafs: telegrafs.count },
    ...{ remotes: remotes.count, replications: replications.count },
  };
}

function tlsOf({ config, tls }: Pick<Foundation, "config" | "tls">): Tls | null {
  const { v2Tls: own, v2TlsMinimum: minimum, tlsMinimum } = config;
  if (own !== null) return { ...own, minimum: minimum ?? tlsMinimum };
  return tls === null || minimum === null ? tls : { ...tls, minimum };
}

function secondsOrNull(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.ceil(milliseconds / 1000);
}

function optionsOf(config: ServeConfig): V2Options {
  const retentionSecondsMax = secondsOrNull(config.v2RetentionMaxMs);
  const byDefault = Math.ceil(config.v2DefaultRetentionMs / 1000);
  const isAllowed = retentionSecondsMax === null || (byDefault > 0 && byDefault <= retentionSecondsMax);
  return {
    strongPasswords: config.v2StrongPasswords,
    defaultRetentionSeconds: isAllowed ? byDefault : retentionSecondsMax,
    retentionSecondsMax,
    metricsDisabled: config.v2MetricsDisabled,
    pprofDisabled: config.v2PprofDisabled,
    commandLine: shownArguments(process.argv),
    fluxAllowsPrivateNetwork: config.fluxAllowsPrivateNetwork,
    sourcesAllowPrivateNetwork: config.v2TransportSecurityMs === null,
    templateUrls: config.v2TemplateUrls,
    fluxSqliteFolder: config.fluxSqliteFolder,
    maxRequestBytes: config.maxRequestBytes,
    shownConfig: shownV2Config(config),
    isSecure: config.tls !== null || config.v2Tls !== null,
    transportSecuritySeconds: secondsOrNull(config.v2TransportSecurityMs),
    sessionLengthSeconds: Math.ceil(config.v2SessionMs / 1000),
  };
}
