// The parts of a server once its log is replayed: the log open for writing, the write path, background jobs, admin services, and Arrow
// Flight.

import { authorized } from "../api/flight/access.ts";
import type { FlightThread } from "../api/flight/flight-thread.ts";
import { startFlight } from "../api/flight/start-flight.ts";
import type { RunCounts } from "../api/metrics/v2-metrics.ts";
import { loopTurns } from "../api/request/loop-turns.ts";
import type { AppServices } from "../api/services.ts";
import { queryOutcome } from "../api/shared/errors.ts";
import { nameListAnswer } from "../api/v3/tsdbql-names.ts";
import type { BackupService } from "../backup/backup-service.ts";
import type { DatabaseBackups } from "../backup/databases/database-backups.ts";
import { DayExports } from "../export/export-service.ts";
import type { Imports } from "../imports/jobs/import-service.ts";
import { Admission } from "../ingest/admission.ts";
import { BodyMemory } from "../ingest/body-memory.ts";
import { Deletions } from "../ingest/definitions/deletions.ts";
import { tagValuesBySql } from "../ingest/definitions/tag-values.ts";
import { Ingest } from "../ingest/ingest.ts";
import { RowDeletes } from "../ingest/row-deletes/row-deletes.ts";
import type { V2Line } from "../metadata/line.ts";
import type { TaskRunService } from "../metadata/resources/task-runs.ts";
import { assert } from "../model/assert.ts";
import { TsdbError } from "../model/errors.ts";
import type { QueryAnswer, QueryRequest } from "../model/query/query.ts";
import type { QueryConcurrency } from "../model/query/query-concurrency.ts";
import type { BackupJobs } from "../model/rows/backup-jobs.ts";
import type { ImportJobs } from "../model/rows/import-jobs.ts";
import type { SystemRow } from "../model/system-table.ts";
import type { QueryTelemetry } from "../model/telemetry/query-telemetry.ts";
import { MonotonicClock } from "../model/time/monotonic-clock.ts";
import type { IncomingBody } from "../model/write.ts";
import type { Replicator } from "../replications/replicator.ts";
import type { Scraping } from "../scrapers/scraping.ts";
import type { ReplayResult } from "../storage/wal/replay.ts";
import { Wal } from "../storage/wal/wal.ts";
import type { TaskScheduler } from "../tasks/scheduler.ts";
import { AdminServices } from "./admin-services.ts";
import { BackgroundJobs } from "./background-jobs.ts";
import { createDatabaseBackups } from "./backup-services.ts";
import type { Foundation } from "./foundation.ts";
import { createImports } from "./import-services.ts";
import type { Listening, RequestServices } from "./listening.ts";
import { createPlugins, type PluginParts, Plugins } from "./plugin-services.ts";
import { Replicating } from "./replication-services.ts";
import { openPositions, Triggers } from "./trigger-services.ts";
import { createBackup, createScraping, createTasks, openV2Line, renewSealed, setUpOnce } from "./v2-line.ts";
import { warmUp } from "./warm-up.ts";

interface ServingParts {
  readonly wal: Wal;
  readonly ingest: Ingest;
  readonly backgroundJobs: BackgroundJobs;
  readonly admin: AdminServices;
  readonly rowDeletes: RowDeletes;
  /** Null: the bucket-based API is off. */
  readonly v2: V2Services | null;
  /** Null without --use-pacha-tree, and in the base edition. */
  readonly databaseBackups: DatabaseBackups | null;
  /** The same. */
  readonly imports: Imports | null;
  readonly replications: Replicating | null;
  readonly triggers: Triggers;
  /** Null: without --plugin-dir. */
  readonly pluginParts: PluginParts | null;
}

interface V2Services {
  readonly line: V2Line;
  readonly backup: BackupService;
}

type Fail = (error: Error) => void;

/** Is told of frames; null while it is made. */
interface LogWatcher {
  triggers: Triggers | null;
  /** Null also without the bucket-based API. */
  replications: Replicating | null;
}

/** Opens the log at the end of its replay, and waits for the workers. Nothing runs in the background until a `Serving` is created from
 *  the parts. @throws TsdbError io, config if token files contradict the limits */
export async function prepareServing(listening: Listening, replayed: ReplayResult, fail: Fail): Promise<ServingParts> {
  const { foundation, queries, maintenance } = listening;
  const { config, catalog, tables, manifest, node, auth } = foundation;
  const watcher: LogWatcher = { triggers: null, replications: null };
  const wal = await openWal(foundation, replayed, watcher, fail);
  const deletions = new Deletions({ catalog, tables, wal, manifest });
  const rowDeletes = new RowDeletes({
    ...{ catalog, manifest, deletions, minAgeMs: config.rowDeleteMinAgeMs, nowMs: () => Date.now() },
    tagValues: (databaseId, table, tags, signal) => tagValuesBySql(queries.client, { databaseId, table, tags }, signal),
  });
  const backgroundJobs = new BackgroundJobs({
    ...{ ...foundation, wal, deletions, rowDeletes, maintenance },
    cutThrough: async (sequence) => {
      const ofTriggers = (await watcher.triggers?.cutThrough(sequence)) ?? sequence;
      return watcher.replications?.cutThrough(ofTriggers) ?? ofTriggers;
    },
  });
  queries.startCaches(deletions);
  const admin = new AdminServices({
    ...{ catalog, tables, deletions, queries: queries.client, hardDeleteDefaultMs: config.hardDeleteDefaultMs },
    isNode: (nodeId) => nodeId === config.nodeId,
    onScheduled: () => backgroundJobs.hardDeletes.check(),
    onIndexChanged: () => backgroundJobs.indexer.check(),
  });
  const line = openV2Line(foundation, () => backgroundJobs.hardDeletes.check());
  const v2 = line === null ? null : { line, backup: createBackup(foundation, line, { backgroundJobs, deletions, maintenance }) };
  const databaseBackups = await createDatabaseBackups(foundation, { backgroundJobs, deletions, wal });
  const imports = createImports(foundation, backgroundJobs);
  const replications = line === null ? null : new Replicating(foundation, line, wal);
  watcher.replications = replications;
  const ingest = createIngest(foundation, wal, backgroundJobs, watcher, fail);
  const pluginParts = createPlugins({
    ...{ config: config.plugins, catalog, kernel: foundation.kernel, log: foundation.logs("plugin") },
    ...{ queries: queries.client, writes: ingest, maxRequestBytes: config.maxRequestBytes },
    writerOf: (caller) => watcher.triggers?.writerOf(caller),
  });
  const triggers = new Triggers({
    ...{ foundation, wal, writes: ingest, runtime: pluginParts?.runtime ?? null, asyncCallsMax: config.plugins?.asyncRunsMax ?? 1 },
    positions: await openPositions(foundation),
  });
  watcher.triggers = triggers;
  await queries.client.ready();
  if (!config.readOnly) {
    await node.started();
    await auth.addGiven(admin.databases);
    await auth.users?.users.addRoles();
    if (line !== null) {
      await renewSealed(line, foundation);
      await setUpOnce(line, foundation);
    }
  }
  return { wal, ingest, backgroundJobs, admin, rowDeletes, triggers, v2, databaseBackups, imports, replications, pluginParts };
}

async function openWal(
  { config, storage, paths, metrics }: Foundation,
  replayed: ReplayResult,
  watcher: LogWatcher,
  fail: Fail,
): Promise<Wal> {
  const wal = await Wal.open(storage.walDisk, paths.wal, replayed, {
    space: storage.space,
    readOnly: config.readOnly,
    flushIntervalMs: config.walFlushIntervalMs,
    onFailure: fail,
    onGroup: ({ seconds, bytes, lastSequence }) => {
      metrics.walSynced(seconds, bytes);
      watcher.triggers?.logged(lastSequence);
      watcher.replications?.replicator.logged(lastSequence);
    },
  });
  if (!config.readOnly) void wal.makeRoom(0).catch(() => {}); // the next write reports a failure
  return wal;
}

function createIngest(
  { config, kernel, catalog, tables }: Foundation,
  wal: Wal,
  { flusher }: BackgroundJobs,
  watcher: LogWatcher,
  fail: Fail,
): Ingest {
  const clock = new MonotonicClock(() => Date.now());
  return new Ingest({
    ...{ kernel, catalog, tables, wal },
    bodies: new BodyMemory(kernel, { bytesMax: config.bodyMemoryBytesMax, bodyBytesMax: config.maxRequestBytes }),
    clockNs: () => clock.nextNs(),
    admission: new Admission({
      bytesMax: config.bufferBytesMax,
      bufferBytes: () => tables.bytes,
      seriesMemory: tables.seriesMemory,
      kernelBytes: () => kernel.extents.usedBytes,
      flush: () => flusher.check(),
      flushSettled: () => flusher.settled(),
    }),
    onFatal: (error) => fail(error instanceof Error ? error : new Error(String(error))),
    onRows: () => flusher.check(),
    onTableRows: (databaseId, tableId, sequence) => {
      watcher.triggers?.noteRows(databaseId, tableId, sequence);
      watcher.replications?.replicator.noteRows(databaseId, sequence);
    },
  });
}

/** Accepts writes and queries. Created once, on entering the state serving. */
export class Serving implements RequestServices {
  readonly wal: Wal;
  readonly backgroundJobs: BackgroundJobs;
  readonly admin: AdminServices;
  readonly rowDeletes: RowDeletes;
  readonly plugins: Plugins;
  readonly exports: DayExports;
  /** Resolves to null if Flight is off. @throws TsdbError config if a requested address cannot be bound */
  readonly flight: Promise<FlightThread | null>;
  readonly triggers: Triggers;
  private readonly scraping: Scraping | null;
  private readonly tasks: TaskScheduler | null;
  private readonly ingest: Ingest;
  private readonly v2: V2Services | null;
  private readonly databaseBackups: DatabaseBackups | null;
  private readonly importJobs: Imports | null;
  private readonly replications: Replicating | null;
  private readonly pluginParts: PluginParts | null;
  private readonly warming = new AbortController();

  /** Starts background jobs and Arrow Flight. */
  constructor(
    private readonly listening: Listening,
    { wal, ingest, backgroundJobs, admin, rowDeletes, triggers, v2, databaseBackups, imports, replications, pluginParts }: ServingParts,
  ) {
    this.wal = wal;
    this.ingest = ingest;
    this.backgroundJobs = backgroundJobs;
    this.admin = admin;
    this.rowDeletes = rowDeletes;
    this.v2 = v2;
    this.databaseBackups = databaseBackups;
    this.importJobs = imports;
    // each call waits for it, and tries again
    imports
      ?.open()
      .catch((error) => listening.foundation.logs("import").error("imports cannot be read; will be tried again", { err: error }));
    this.replications = replications;
    this.pluginParts = pluginParts;
    this.plugins = new Plugins(pluginParts, listening.foundation);
    this.triggers = triggers;
    this.exports = new DayExports({
      ...{ ...listening.foundation, queries: listening.queries.client },
      folder: listening.foundation.storage.tempDir,
      nowMs: () => Date.now(),
    });
    this.scraping = v2 === null ? null : createScraping(listening.foundation, v2.line, ingest);
    const queries = listening.queries.client;
    const services = { writes: ingest, queries, isBusy: () => queries.activeCount > 0 };
    this.tasks = v2 === null ? null : createTasks(listening.foundation, v2.line, services);
    if (!listening.foundation.config.readOnly) {
      listening.foundation.auth.users?.audit.start(ingest);
      backgroundJobs.startTimers();
      triggers.start();
      this.scraping?.start();
      this.tasks?.start();
      this.replications?.replicator.start();
    }
    this.flight = flightOf(listening, () => admin.databases);
    this.flight.catch(() => {}); // `flightUrl` reports a failure
  }

  /** Runs usual statements when nothing else does, so that the first of clients are as fast as later ones. */
  async warmUp(): Promise<void> {
    const { foundation, queries } = this.listening;
    const { catalog, manifest, tables, config, logs } = foundation;
    const report = await warmUp(
      {
        ...{ catalog, manifest, tables, query: queries.client, workerCount: config.queryWorkers },
        isBusy: () => queries.client.activeCount > 0,
        now: () => performance.now(),
        sleep: (milliseconds) => Bun.sleep(milliseconds),
      },
      this.warming.signal,
    );
    logs("query").debug("usual statements have run once", { ...report });
  }

  /** Ends what `warmUp` has begun. */
  stopWarmUp(): void {
    this.warming.abort();
  }

  v2Line(): V2Line {
    return this.v2Services.line;
  }

  backup(): BackupService {
    return this.v2Services.backup;
  }

  backups(): BackupJobs {
    assert(this.databaseBackups !== null, "backups of databases are off, and were asked for");
    return this.databaseBackups;
  }

  imports(): ImportJobs {
    assert(this.importJobs !== null, "imports are off, and were asked for");
    return this.importJobs;
  }

  taskRuns(): TaskRunService {
    assert(this.tasks !== null, "the bucket-based API is off, and was asked for");
    return this.tasks;
  }

  runCounts(): RunCounts | null {
    return this.tasks?.stats ?? null;
  }

  replicating(): Replicator {
    assert(this.replications !== null, "the bucket-based API is off, and was asked for");
    return this.replications.replicator;
  }

  private get v2Services(): V2Services {
    assert(this.v2 !== null, "the bucket-based API is off, and was asked for");
    return this.v2;
  }

  receive(announcedBytes: number | undefined): IncomingBody | Promise<IncomingBody> {
    const { config, catalog } = this.listening.foundation;
    return config.readOnly ? Promise.reject(catalog.refusal) : this.ingest.receive(announcedBytes);
  }

  pluginFileRows(): SystemRow[] {
    return this.plugins.fileRows();
  }

  /** Ends what runs of plugins, dry runs too, of scrapers and of tasks: their statements and writes find the server as it was. */
  async stopPlugins(): Promise<void> {
    await Promise.all([this.scraping?.stop(), this.tasks?.stop(), this.replications?.replicator.stop()]);
    await this.triggers.stop();
    await this.pluginParts?.runtime.stop();
  }

  get queryConcurrency(): QueryConcurrency {
    return this.listening.queries.client;
  }

  query(request: QueryRequest): Promise<QueryAnswer> {
    return this.listening.queries.client.query(request);
  }

  /** Stops accepting requests by Flight; running ones have `graceMs` to finish. */
  async stopFlight(graceMs: number): Promise<void> {
    const thread = await this.flight.catch(() => null);
    await thread?.stop(graceMs).catch(() => {});
  }

  /** Call it when no request is running: flushes rows and closes log, manifest and catalog. */
  async close(): Promise<void> {
    const { wal, backgroundJobs, ingest } = this;
    const { config, manifest, catalog } = this.listening.foundation;
    await Promise.all([this.databaseBackups?.stop(), this.importJobs?.stop()]);
    // unfinished work starts over at the next start
    await Promise.all([backgroundJobs.compactor.stop(), backgroundJobs.indexer.stop()]);
    await this.listening.foundation.auth.users?.audit.flush();
    ingest.close();
    if (wal.failed !== null) return;
    if (!config.readOnly) {
      await this.flushAtEnd();
      await wal.close();
    }
    await manifest.close();
    await catalog.close();
  }

  /** Rows that find no space in a file are in the log and replayed at the next start: the shutdown is still orderly. */
  private async flushAtEnd(): Promise<void> {
    try {
      await this.backgroundJobs.flusher.flushAll();
    } catch (error) {
      if (!(error instanceof TsdbError) || error.kind !== "no_space") throw error;
      const log = this.listening.foundation.logs("server");
      log.warn("rows were not written to a file before the end; they are in the log", { reason: error.message });
    }
  }
}

async function flightOf(
  { foundation, http, queries, telemetry }: Listening,
  databaseList: AppServices["databaseList"],
): Promise<FlightThread | null> {
  const { config, logs, metrics, tls, auth } = foundation;
  const { flightBind: bind, flightIsOptional: isOptional } = config;
  if (bind === null) return null;
  const check = async (token: string | null, database: string | null) => {
    await auth.checkReader(token, database);
    if (database !== null) queries.snapshots.checkDatabase(database);
  };
  // the token is checked for one database
  const query = async (request: QueryRequest, token: string | null) => {
    const reader = await auth.reader(token);
    const onTelemetry = (of: QueryTelemetry) => {
      if (request.tsdbql === undefined) telemetry.set(reader.id, of);
    };
    return (await nameListAnswer({ databaseList }, reader, request)) ?? queries.client.query(auth.narrowed({ ...request, onTelemetry }));
  };
  const thread = await startFlight(
    {
      ...{ bind, isOptional, tls, http },
      log: logs("flight"),
      queryStarted: () => {
        loopTurns.noteStatement();
        metrics.queryStarted();
      },
      queryEnded: ({ error, ...cost }) => metrics.queryEnded(queryOutcome(error), cost),
      onCall: (call) => metrics.grpc.add(call),
      onFailure: () => metrics.threadFailed(),
    },
    authorized({ check }, { query }),
  );
  return thread ?? null;
}
