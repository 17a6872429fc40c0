// Puts the parts together: folder, catalog, manifest, kernel, log, buffer, workers, HTTP — and takes them apart again in an order in which
// nothing acknowledged is lost. The only file that knows them all.
import { resolve } from "node:path";
import { createApp } from "../api/app.ts";
import { authorized } from "../api/flight/access.ts";
import type { FlightThread } from "../api/flight/flight-thread.ts";
import { showAddress } from "../api/flight/grpc/address.ts";
import { startFlight } from "../api/flight/start-flight.ts";
import { Metrics, type ServerStats } from "../api/metrics/metrics.ts";
import { type HttpServer, startHttpServer } from "../api/server.ts";
import type { ServerStatus } from "../api/services.ts";
import { queryOutcome } from "../api/shared/errors.ts";
import { nameListAnswer } from "../api/v3/tsdbql-names.ts";
import type { TokenService } from "../auth/token-service.ts";
import type { Log } from "../cli/logger.ts";
import type { ServeConfig } from "../cli/serve-config.ts";
import { writePublicFile } from "../disk/private-files.ts";
import { Admission } from "../ingest/admission.ts";
import { BodyMemory } from "../ingest/body-memory.ts";
import { MonotonicClock } from "../ingest/clock.ts";
import { Deletions } from "../ingest/definitions/deletions.ts";
import { Ingest } from "../ingest/ingest.ts";
import { Replayer } from "../ingest/replay.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import type { NodeService } from "../model/nodes.ts";
import type { QueryRequest } from "../model/query/query.ts";
import type { QueryTelemetry } from "../model/query/query-telemetry.ts";
import type { DataService } from "../model/rows/deletion.ts";
import type { Tls } from "../model/tls.ts";
import type { IncomingBody } from "../model/write.ts";
import type { Snapshots } from "../scan/snapshots.ts";
import { LiveTables } from "../storage/buffer/live-tables.ts";
import { Pins } from "../storage/buffer/pins.ts";
import { SeriesMemory } from "../storage/buffer/series-memory.ts";
import { Catalog } from "../storage/catalog/catalog.ts";
import { FileIndexList } from "../storage/file-index/list.ts";
import { Manifest } from "../storage/manifest/manifest.ts";
import { type LocalPaths, localPaths, objectKeys } from "../storage/paths.ts";
import { type ReplayResult, replay } from "../storage/wal/replay.ts";
import { Wal } from "../storage/wal/wal.ts";
import { MaintenanceClient } from "../workers/maintenance/maintenance-client.ts";
import type { SpawnedWorker } from "../workers/query/spawn.ts";
import { AdminServices } from "./admin-services.ts";
import { ServerAuth } from "./auth.ts";
import { BackgroundJobs } from "./background-jobs.ts";
import { LocalNodeService } from "./node-service.ts";
import { Queries } from "./query-service.ts";
import { openStorage, removeOrphans, type Storage } from "./storage.ts";
import { tlsOf } from "./tls.ts";

const PROGRESS_LOG_MS = 1000;

export type Logs = (part: string) => Log;

export class Server {
  /** Settles when the server cannot go on: the process must end. */
  readonly failed: Promise<Error>;
  private status: ServerStatus = { state: "replaying", reason: "starting" };
  private fail: (error: Error) => void = () => {};
  private wal: Wal | undefined;
  private ingest: Ingest | undefined;
  private deletions: Deletions | undefined;
  private queries: Queries | undefined;
  private maintenance: MaintenanceClient | undefined;
  private backgroundJobs: BackgroundJobs | undefined;
  private named_: AdminServices | undefined;
  private http: HttpServer | undefined;
  /** Started after all else: resolves to what it is, undefined when it is off. */
  private flight: Promise<FlightThread | undefined> = Promise.resolve(undefined);
  private readonly kernel = Kernel.create();
  private readonly pins = new Pins();
  private readonly processId = crypto.randomUUID();
  private readonly tables: LiveTables;
  private readonly metrics: Metrics;
  private readonly auth: ServerAuth;
  private readonly node: LocalNodeService;

  private constructor(
    private readonly config: ServeConfig,
    private readonly logs: Logs,
    private readonly paths: LocalPaths,
    private readonly storage: Storage,
    private readonly catalog: Catalog,
    private readonly manifest: Manifest,
    private readonly indexes: FileIndexList,
    private readonly tls: Tls | null,
  ) {
    this.failed = new Promise((resolveFailed) => {
      this.fail = (error) => {
        if (this.status.state === "failed") return;
        this.status = { state: "failed", reason: error.message };
        this.logs("server").error("cannot go on", { err: error });
        resolveFailed(error);
      };
    });
    const durableTimes = (tableId: number) => manifest.tableTimes(tableId);
    this.tables = new LiveTables(this.kernel, this.pins, durableTimes, new SeriesMemory(config.seriesBytesMax));
    this.metrics = new Metrics(() => this.stats());
    this.node = new LocalNodeService(catalog, config, this.processId);
    this.auth = new ServerAuth({ config, catalog, log: logs("auth") });
  }

  /** Opens the data folder and listens; `ready` resolves when the log is replayed and writes and queries are taken.
   *  @throws TsdbError config, io, corrupt_file */
  static async start(
    config: ServeConfig,
    logs: Logs,
    firstWorker: SpawnedWorker | undefined,
  ): Promise<{ server: Server; ready: Promise<void> }> {
    const dataFolder = resolve(config.dataDir);
    const paths = localPaths(dataFolder, config.nodeId);
    let server: Server | undefined;
    const onSpace = (problem: TsdbError | null) => {
      if (problem === null) logs("disk").info("the disk has space again: writes are taken");
      else logs("disk").error("writes are refused", { reason: problem.message });
      server?.backgroundJobs?.spaceChanged();
    };
    const storage = await openStorage(config, { dataFolder, paths, onSpace });
    try {
      const keys = objectKeys(config.nodeId);
      const onFailure = (error: TsdbError) => server?.fail(error);
      const { readOnly } = config;
      const catalog = await Catalog.open(storage.store, { prefix: keys.catalog, onFailure, limits: config.schemaLimits, readOnly });
      const manifest = await Manifest.open(storage.store, { prefix: keys.manifest, onFailure, readOnly });
      if (readOnly) logs("server").warn("serves reads only, and writes nothing into the data folder (--read-only)");
      else await removeOrphans(storage.store, manifest, keys.data);
      const { store, objectSource } = storage;
      const indexes = await FileIndexList.open(store, manifest, { prefix: keys.indexes, objectSource, readOnly });
      for (const warning of [...storage.warnings, ...catalog.warnings, ...manifest.warnings]) logs("store").warn(warning);
      const tls = await tlsOf(config, dataFolder);
      server = new Server(config, logs, paths, storage, catalog, manifest, indexes, tls);
      server.listen();
      return { server, ready: server.begin(firstWorker) };
    } catch (error) {
      storage.release();
      throw error;
    }
  }

  /** Of the most recent statement that was answered to its end. */
  get telemetry(): QueryTelemetry | undefined {
    return this.queries?.lastTelemetry;
  }

  get url(): string {
    return this.http?.url ?? "";
  }

  /** Of Arrow Flight, HTTP as well; null when it is off. To be asked for when the server is ready.
   *  @throws TsdbError config when an address was asked for and cannot be had */
  async flightUrl(): Promise<string | null> {
    return (await this.flight)?.url ?? null;
  }

  /** Deletions and retention. @throws TsdbError unavailable before the log is replayed */
  get data(): DataService {
    return this.named.data;
  }

  /** @throws TsdbError unavailable before the log is replayed */
  get tokens(): TokenService {
    if (this.ingest === undefined) throw this.unavailable();
    return this.auth.tokens;
  }

  /** The servers of the cluster. @throws TsdbError unavailable before the log is replayed */
  get nodes(): NodeService {
    if (this.ingest === undefined) throw this.unavailable();
    return this.node;
  }

  /** What is configured by name. @throws TsdbError unavailable before the log is replayed */
  private get named(): AdminServices {
    const { catalog, tables, queries, deletions, backgroundJobs, config } = this;
    if (queries === undefined || deletions === undefined || backgroundJobs === undefined) throw this.unavailable();
    this.named_ ??= new AdminServices({
      ...{ catalog, tables, deletions, queries: queries.client },
      isNode: (nodeId) => nodeId === config.nodeId,
      onScheduled: () => backgroundJobs.hardDeletes.check(),
      onIndexChanged: () => backgroundJobs.indexer.check(),
    });
    return this.named_;
  }

  /** Nobody can call: the first admin token is to be made. */
  get wantsOperator(): boolean {
    return this.auth.wantsOperator;
  }

  /** Stops accepting, finishes what runs (at most `shutdownTimeoutMs`), flushes, and lets go of the folder. */
  async stop(): Promise<void> {
    const { config } = this;
    if (this.status.state !== "failed") this.status = { state: "stopping" };
    this.backgroundJobs?.stopTimers();
    this.auth.stop();
    // together, because HTTP comes in by both
    const flight = this.flight.then((thread) => thread?.stop(config.shutdownTimeoutMs)).catch(() => {});
    await Promise.all([flight, this.http?.stop(config.shutdownTimeoutMs)]);
    await this.queries?.close();
    // what it has not finished is begun anew at the next start
    await Promise.all([this.backgroundJobs?.compactor.stop(), this.backgroundJobs?.indexer.stop()]);
    await this.ingest?.close();
    if (this.wal !== undefined && this.wal.failed === null) {
      if (!config.readOnly) {
        await this.flushAtEnd();
        await this.wal.close();
      }
      await this.manifest.close();
      await this.catalog.close();
    }
    this.maintenance?.close();
    await this.storage.space.close();
    this.storage.release();
  }

  /** Rows that find no space in a file are in the log, and are replayed at the next start: the server still ends in order. */
  private async flushAtEnd(): Promise<void> {
    try {
      await this.backgroundJobs?.flusher.flushAll();
    } catch (error) {
      if (!(error instanceof TsdbError) || error.kind !== "no_space") throw error;
      this.logs("server").warn("rows were not written to a file before the end; they are in the log", { reason: error.message });
    }
  }

  private listen(): void {
    const { config, logs } = this;
    const unavailable = () => this.unavailable();
    const app = createApp({
      write: { receive: (bytes) => this.receive(bytes) },
      query: { query: (request) => (this.ingest === undefined ? Promise.reject(unavailable()) : this.queries!.client.query(request)) },
      definitions: () => this.named.definitions,
      policies: () => this.named.policies,
      databaseList: () => this.named.databases,
      databases: () => this.named.databases,
      data: () => this.named.data,
      tokens: () => this.tokens,
      fileIndexes: () => this.named.fileIndexes,
      caches: () => this.named.caches,
      nodes: () => this.nodes,
      access: this.auth.access,
      status: () => this.currentStatus(),
      clusterUuid: this.catalog.clusterUuid,
      processId: this.processId,
      edition: config.edition,
      revision: process.env["TSDB_REVISION"] ?? "source",
      metrics: this.metrics,
      maxRequestBytes: config.maxRequestBytes,
      now: () => performance.now(),
      report: (error, where) => logs("http").error("request failed", { where, err: error }),
    });
    this.auth.listenForRecovery(() => this.tokens);
    const { hostname, port } = config.httpBind;
    this.http = startHttpServer(app, { hostname, port, ...(this.tls === null ? {} : { tls: this.tls }) });
    const path = config.tcpListenerFilePath;
    if (path === null) return;
    try {
      writePublicFile(path, showAddress(hostname, this.http.port));
    } catch (cause) {
      throw new TsdbError("config", `--tcp-listener-file-path: ${(cause as Error).message}`, { path }, { cause });
    }
  }

  /** Ready all the same while the disk is full: what reads goes on. */
  private currentStatus(): ServerStatus {
    const { problem } = this.storage.space;
    return this.status.state !== "ready" || problem === null ? this.status : { state: "ready", degraded: problem.message };
  }

  private receive(announcedBytes: number | undefined): IncomingBody | Promise<IncomingBody> {
    if (this.ingest === undefined) return Promise.reject(this.unavailable());
    if (this.config.readOnly) return Promise.reject(this.catalog.refusal);
    return this.ingest.receive(announcedBytes);
  }

  private unavailable(): TsdbError {
    return new TsdbError("unavailable", `the server is ${this.status.state}: ${this.status.reason ?? ""}`.trim());
  }

  /** Replays the log while the workers start. */
  private async begin(firstWorker: SpawnedWorker | undefined): Promise<void> {
    const { config, kernel } = this;
    const { catalog, manifest, indexes, tables, pins, metrics, logs, storage } = this;
    const queries = new Queries({
      ...{ config, logs, storage, catalog, manifest, indexes, tables, pins, metrics, firstWorker },
      tempDir: storage.tempDir,
      shared: kernel.shared,
      deletions: () => this.deletions,
      nodes: () => [this.node.info()],
      tokens: () => this.auth.tokenRows(),
    });
    this.queries = queries;
    this.maintenance = new MaintenanceClient(kernel.shared);
    const replayed = await this.replay();
    const wal = await Wal.open(this.storage.walDisk, this.paths.wal, replayed, {
      space: this.storage.space,
      readOnly: config.readOnly,
      flushIntervalMs: config.walFlushIntervalMs,
      onFailure: (error) => this.fail(error),
      onGroup: ({ seconds, bytes }) => this.metrics.walSynced(seconds, bytes),
    });
    this.wal = wal;
    if (!config.readOnly) void wal.makeRoom(0).catch(() => {}); // whoever writes finds out
    const deletions = new Deletions({ catalog: this.catalog, tables: this.tables, wal, manifest: this.manifest });
    this.deletions = deletions;
    const backgroundJobs = this.startBackgroundJobs(wal, deletions, this.maintenance);
    const { flusher } = backgroundJobs;
    queries.startCaches();
    const clock = new MonotonicClock(() => Date.now());
    const admission = new Admission({
      bytesMax: config.bufferBytesMax,
      bufferBytes: () => this.tables.bytes,
      seriesMemory: this.tables.seriesMemory,
      kernelBytes: () => kernel.extents.usedBytes,
      flush: () => flusher.check(),
      flushSettled: () => flusher.settled(),
    });
    this.ingest = new Ingest({
      kernel,
      catalog: this.catalog,
      tables: this.tables,
      wal,
      bodies: new BodyMemory(kernel, { bytesMax: LIMITS.bodyMemoryBytesMax, bodyBytesMax: config.maxRequestBytes }),
      clockNs: () => clock.nextNs(),
      admission,
      onFatal: (error) => this.fail(error instanceof Error ? error : new Error(String(error))),
      onRows: () => flusher.check(),
    });
    if (!config.readOnly) backgroundJobs.startTimers();
    await queries.client.ready();
    if (!config.readOnly) {
      await this.node.started();
      await this.auth.addGiven(this.named.databases);
    }
    if (this.status.state === "replaying") this.status = { state: "ready" };
    // whoever wants it is told
    this.flight = this.startFlight(queries.snapshots);
    this.flight.catch(() => {});
  }

  /** @throws TsdbError config when its address was asked for and cannot be had */
  private async startFlight(snapshots: Snapshots): Promise<FlightThread | undefined> {
    const { metrics, http, tls } = this;
    const { flightBind: bind, flightIsOptional: isOptional } = this.config;
    if (bind === null || http === undefined) return undefined;
    const check = (token: string | null, database: string | null) => {
      this.auth.checkReader(token, database);
      if (database !== null) snapshots.checkDatabase(database);
    };
    const databaseList = () => this.named.databases;
    // the token is checked for one database
    const query = async (request: QueryRequest, token: string | null) =>
      (await nameListAnswer({ databaseList }, this.auth.reader(token), request)) ?? this.queries!.client.query(this.auth.narrowed(request));
    return startFlight(
      {
        ...{ bind, isOptional, tls, http },
        log: this.logs("flight"),
        queryStarted: () => metrics.queryStarted(),
        queryEnded: ({ error, ...cost }) => metrics.queryEnded(queryOutcome(error), cost),
      },
      authorized({ check }, { query }),
    );
  }

  private startBackgroundJobs(wal: Wal, deletions: Deletions, maintenance: MaintenanceClient): BackgroundJobs {
    const { config, logs, storage, catalog, manifest, indexes, pins, tables, metrics } = this;
    this.backgroundJobs = new BackgroundJobs({
      config,
      logs,
      storage,
      catalog,
      manifest,
      pins,
      tables,
      metrics,
      wal,
      deletions,
      maintenance,
      indexes,
    });
    return this.backgroundJobs;
  }

  private async replay(): Promise<ReplayResult> {
    const log = this.logs("replay");
    const replayer = new Replayer(this.kernel, this.catalog, this.tables, Date.now());
    const startMs = performance.now();
    let loggedMs = startMs;
    const result = await replay(this.storage.walDisk, this.paths.wal, {
      afterSequence: this.manifest.flushedSequence,
      takenSequences: this.catalog.tombstones().map(({ sequence }) => sequence),
      failOnError: this.config.walReplayFailOnError,
      readOnly: this.config.readOnly,
      onFrame: (sequence, payload, segment) => replayer.frame(sequence, payload, segment),
      onProgress: (bytesDone, bytesTotal) => {
        const percent = bytesTotal === 0 ? 100 : Math.floor((bytesDone / bytesTotal) * 100);
        if (this.status.state === "replaying") this.status = { state: "replaying", reason: `${percent} % of ${bytesTotal} bytes of log` };
        if (performance.now() - loggedMs < PROGRESS_LOG_MS) return;
        loggedMs = performance.now();
        log.info("replaying", { percent, rows: replayer.rowCount, bytesTotal });
      },
    });
    replayer.release();
    for (const damage of result.damage) log.warn(`the log was damaged: ${damage.reason}`, { ...damage });
    const milliseconds = Math.round(performance.now() - startMs);
    if (replayer.rowCount > 0 || replayer.droppedRows > 0) {
      log.info("replayed", { rows: replayer.rowCount, droppedRows: replayer.droppedRows, bytes: result.payloadBytes, milliseconds });
    }
    return result;
  }

  private stats(): ServerStats {
    const files = this.manifest.files();
    return {
      bufferBytes: this.tables.bytes,
      bufferRows: this.tables.openRows,
      kernelBytes: this.kernel.extents.usedBytes,
      pins: this.pins.openCount,
      walBytes: this.wal?.segmentBytes ?? 0,
      walSegments: this.wal === undefined ? 0 : 1,
      files: files.length,
      fileBytes: files.reduce((sum, file) => sum + file.bytes, 0),
      databases: this.catalog.databaseCount,
      tables: this.catalog.tableCount,
      series: this.tables.seriesCount,
      seriesBytes: this.tables.seriesMemory.bytes,
      seriesEvictions: this.tables.seriesMemory.evictions,
    };
  }
}
