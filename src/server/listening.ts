// The parts of a server during replay, in addition to its foundation: HTTP, which answers only requests that need no data, and the workers,
// which start meanwhile.

import { createApp } from "../api/app.ts";
import { showAddress } from "../api/flight/grpc/address.ts";
import type { RunCounts } from "../api/metrics/v2-metrics.ts";
import { type HttpServer, startHttpServer } from "../api/server.ts";
import type { ServerStatus } from "../api/services.ts";
import type { BackupService } from "../backup/backup-service.ts";
import { shownArguments } from "../cli/arguments.ts";
import { writePublicFile } from "../disk/private-files.ts";
import type { V2Line } from "../metadata/line.ts";
import type { TaskRunService } from "../metadata/resources/task-runs.ts";
import { TsdbError } from "../model/errors.ts";
import type { PluginService } from "../model/plugins.ts";
import type { QueryService } from "../model/query/query.ts";
import type { QueryConcurrency } from "../model/query/query-concurrency.ts";
import type { BackupJobs } from "../model/rows/backup-jobs.ts";
import type { ExportService } from "../model/rows/export.ts";
import type { ImportJobs } from "../model/rows/import-jobs.ts";
import type { RowDeleteService } from "../model/rows/row-delete.ts";
import type { SystemRow } from "../model/system-table.ts";
import { LatestTelemetry } from "../model/telemetry/latest-telemetry.ts";
import type { WriteService } from "../model/write.ts";
import type { Replicator } from "../replications/replicator.ts";
import { MaintenanceClient } from "../workers/maintenance/maintenance-client.ts";
import type { SpawnedWorker } from "../workers/query/spawn.ts";
import type { AdminServices } from "./admin-services.ts";
import type { Foundation } from "./foundation.ts";
import { Queries } from "./query-service.ts";
import type { Triggers } from "./trigger-services.ts";
import { listenV2 } from "./v2-line.ts";

export interface Listening {
  readonly foundation: Foundation;
  readonly http: HttpServer;
  /** The bucket-based API; null = off. */
  readonly v2: HttpServer | null;
  readonly queries: Queries;
  /** Of SQL statements, by token. */
  readonly telemetry: LatestTelemetry;
  readonly maintenance: MaintenanceClient;
}

/** The services for requests, once the log is replayed. */
export interface RequestServices {
  readonly admin: AdminServices;
  /** Asked for by its own listener alone, which is there only with it. */
  v2Line(): V2Line;
  /** The same. */
  backup(): BackupService;
  /** The same. */
  taskRuns(): TaskRunService;
  /** Of tasks. */
  runCounts(): RunCounts | null;
  /** The same. */
  replicating(): Replicator;
  readonly triggers: Pick<Triggers, "service" | "requests">;
  readonly plugins: PluginService;
  readonly exports: ExportService;
  readonly rowDeletes: RowDeleteService;
  /** Asked for with --use-pacha-tree alone. */
  backups(): BackupJobs;
  /** The same. */
  imports(): ImportJobs;
  /** Of system.plugin_files. */
  pluginFileRows(): SystemRow[];
  receive: WriteService["receive"];
  query: QueryService["query"];
  readonly queryConcurrency: QueryConcurrency;
}

/** The server as seen by its HTTP routes. */
export interface ServerView {
  status(): ServerStatus;
  /** @throws TsdbError unavailable before the log is replayed */
  serving(): RequestServices;
}

/** @throws TsdbError config if an address cannot be bound */
export function listen(foundation: Foundation, view: ServerView, firstWorker: SpawnedWorker | undefined): Listening {
  const { auth, kernel, storage, node } = foundation;
  auth.listenForRecovery(() => {
    view.serving();
    return auth.tokens;
  });
  const telemetry = new LatestTelemetry();
  const http = startHttp(foundation, view, telemetry);
  const v2 = listenV2(foundation, view);
  const queries = new Queries({
    ...foundation,
    firstWorker,
    tempDir: storage.tempDir,
    shared: kernel.shared,
    nodes: () => node.members(),
    tokens: () => auth.tokenRows(),
    pluginFiles: () => view.serving().pluginFileRows(),
  });
  return { foundation, http, v2, queries, telemetry, maintenance: new MaintenanceClient(kernel.shared) };
}

function startHttp(
  { config, logs, catalog, processId, metrics, auth, node, tls }: Foundation,
  view: ServerView,
  telemetry: LatestTelemetry,
): HttpServer {
  const serving = () => view.serving();
  const ifServing = <T>(service: T): T => {
    view.serving();
    return service;
  };
  const app = createApp({
    write: { receive: (bytes) => serving().receive(bytes) },
    query: { query: (request) => serving().query(request) },
    definitions: () => serving().admin.definitions,
    policies: () => serving().admin.policies,
    databaseList: () => serving().admin.databases,
    databases: () => serving().admin.databases,
    data: () => serving().admin.data,
    tokens: () => ifServing(auth.tokens),
    fileIndexes: () => serving().admin.fileIndexes,
    plugins: () => serving().plugins,
    exports: () => serving().exports,
    backups: () => serving().backups(),
    imports: () => serving().imports(),
    rowDeletes: () => serving().rowDeletes,
    telemetry,
    caches: () => serving().admin.caches,
    nodes: () => ifServing(node),
    queryConcurrency: () => serving().queryConcurrency,
    triggers: () => serving().triggers.service,
    engine: () => serving().triggers.requests,
    accounts: auth.accounts(serving),
    access: auth.access,
    status: () => view.status(),
    clusterUuid: catalog.clusterUuid,
    processId,
    edition: config.edition,
    hasUpgradedEngine: config.hasUpgradedEngine,
    revision: process.env["TSDB_REVISION"] ?? "source",
    commandLine: shownArguments(process.argv),
    metrics,
    maxRequestBytes: config.maxRequestBytes,
    v1RowsMax: config.v1RowsMax,
    now: () => performance.now(),
    report: (error, where) => logs("http").error("request failed", { where, err: error }),
  });
  const { hostname, port } = config.httpBind;
  const http = startHttpServer(app, { hostname, port, ...(tls === null ? {} : { tls }) });
  if (config.tcpListenerFilePath !== null) writeAddress(config.tcpListenerFilePath, showAddress(hostname, http.port));
  return http;
}

function writeAddress(path: string, address: string): void {
  try {
    writePublicFile(path, address);
  } catch (cause) {
    throw new TsdbError("config", `--tcp-listener-file-path: ${(cause as Error).message}`, { path }, { cause });
  }
}
