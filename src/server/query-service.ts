// Assembles query execution: snapshots, workers, telemetry of the last statement, and the caches in the first worker.
import { rmSync } from "node:fs";
import type { Metrics } from "../api/metrics/metrics.ts";
import type { Log } from "../cli/logger.ts";
import type { ServeConfig } from "../cli/serve-config.ts";
import type { Deletions } from "../ingest/definitions/deletions.ts";
import { Extents, type SharedMemory } from "../kernel/memory/extents.ts";
import { LIMITS } from "../model/limits.ts";
import type { QueryTelemetry } from "../model/telemetry/query-telemetry.ts";
import { QueryLog } from "../query/query-log.ts";
import { type SystemTablesParts, systemRows } from "../query/system-tables.ts";
import { Snapshots } from "../scan/snapshots.ts";
import { functionBytesOf } from "../sql/limits/function-memory.ts";
import type { LiveTables } from "../storage/buffer/live-tables.ts";
import type { Pins } from "../storage/buffer/pins.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { FileIndexList } from "../storage/file-index/list.ts";
import type { Manifest } from "../storage/manifest/manifest.ts";
import { CacheFeeds } from "../workers/caches/cache-feeds.ts";
import { QueryClient } from "../workers/query/query-client.ts";
import type { SpawnedWorker } from "../workers/query/spawn.ts";
import type { Storage } from "./storage.ts";

/** A cancelled statement ends within tens of milliseconds; others must not delay the final flush. */
const CLOSE_MS = 3000;

export interface QueriesParts {
  readonly config: ServeConfig;
  readonly logs: (component: string) => Log;
  /** Spill folder of DuckDB. */
  readonly tempDir: string;
  readonly storage: Pick<Storage, "objectSource">;
  readonly shared: SharedMemory;
  readonly catalog: Catalog;
  readonly manifest: Manifest;
  readonly indexes: FileIndexList;
  readonly tables: LiveTables;
  readonly pins: Pins;
  readonly metrics: Metrics;
  readonly nodes: SystemTablesParts["nodes"];
  readonly tokens: SystemTablesParts["tokens"];
  readonly pluginFiles: SystemTablesParts["pluginFiles"];
  readonly firstWorker: SpawnedWorker | undefined;
}

/** For tests with stuck workers (workers/query/faults.ts): TSDB_FAULTS is the time limit of an entry in milliseconds. */
function faultsOf({ TSDB_FAULTS }: NodeJS.ProcessEnv): number | undefined {
  const milliseconds = Number(TSDB_FAULTS);
  return TSDB_FAULTS === undefined || !(milliseconds > 0) ? undefined : milliseconds;
}

/** Deletions that hide rows of a table. */
type DeletionSource = Pick<Deletions, "tombstonesOf" | "lastOf">;

/** Statements of the server: snapshots, query workers, the query log and cache updates. */
export class Queries {
  readonly snapshots: Snapshots;
  readonly client: QueryClient;
  /** Telemetry of the most recently completed statement. */
  lastTelemetry: QueryTelemetry | undefined;
  private deletions: DeletionSource;
  /** Undefined until the log is replayed. */
  private feeds: CacheFeeds | undefined;

  constructor(private readonly parts: QueriesParts) {
    const { config, catalog, manifest, indexes, tables, pins, metrics, storage, nodes, tokens, pluginFiles } = parts;
    // during replay only the catalog's deletions exist
    this.deletions = { tombstonesOf: (tableId) => catalog.tombstonesOf(tableId), lastOf: () => 0 };
    const clockNs = () => BigInt(Date.now()) * 1_000_000n;
    const entriesMax = config.queryLogEntries;
    const log = new QueryLog({ entriesMax, clockNs, nowMs: () => performance.now(), observer: metrics.statements });
    this.snapshots = new Snapshots({
      ...{ catalog, tables, manifest, indexes, pins },
      tombstonesOf: (tableId) => this.deletions.tombstonesOf(tableId),
      lastDeletionOf: (tableId) => this.deletions.lastOf(tableId) + tables.arrivalsOf(tableId),
      nowMs: () => Date.now(),
      systemRows: (names, database) =>
        systemRows({ catalog, manifest, indexes, queries: log, nodes, tokens, pluginFiles }, names, database),
      objectSource: storage.objectSource,
    });
    this.client = this.startClient(log);
    metrics.watchFileCache(() => this.client.cache);
    metrics.watchFileIndexes(() => indexes);
    metrics.watchQueryWorkers(() => this.client.workers);
    metrics.watchStatements({ permits: () => this.client.permitCounts, memoryBytesMax: config.queryMemoryBytes });
  }

  /** Starts updating caches, beginning with existing ones and existing rows. Call it when the log is replayed. */
  startCaches(deletions: Deletions): void {
    this.deletions = deletions;
    const { catalog, tables, config, metrics, logs } = this.parts;
    const { fillsFromHistory, evictionMs } = config.caches;
    const feeds = new CacheFeeds({
      ...{ cacheWorker: this.client, catalog, tables, snapshots: this.snapshots, fillsFromHistory, evictionMs },
      nowMs: () => Date.now(),
      onError: (error, table) => logs("cache").error("caches could not be fed, will try again", { table, err: error }),
    });
    this.feeds = feeds;
    metrics.watchCaches(() => feeds.stats);
  }

  async close(): Promise<void> {
    this.feeds?.stop();
    await this.client.close(CLOSE_MS);
  }

  private startClient(log: QueryLog): QueryClient {
    const { config, logs, tempDir, shared, metrics, firstWorker } = this.parts;
    const { queryWorkers: workerCount, queryMemoryBytes } = config;
    const { bytesMax, fillsFromHistory } = config.caches;
    const testedLoopMs = faultsOf(process.env);
    return new QueryClient({
      ...{ workerCount, firstWorker, log, snapshots: this.snapshots },
      cacheWorker: { bytesMax, fillsFromHistory },
      onCacheWorkerReplaced: () => this.feeds?.cacheWorkerReplaced(),
      workerOptions: {
        ...{ shared, tempDir, threads: config.queryThreads },
        memoryBytes: Math.floor(queryMemoryBytes / workerCount),
        cacheBytes: Math.floor(config.fileCacheBytes / workerCount),
        loopMsMax: testedLoopMs ?? LIMITS.loopMsMax,
        loadsFlux: config.v2Bind !== null,
        hasFaults: testedLoopMs !== undefined,
        processBytesMax: LIMITS.programBytes + queryMemoryBytes + functionBytesOf(queryMemoryBytes),
        residentBytesMax: config.residentBytesMax,
        nativeCallsMax: Math.floor(LIMITS.nativeCallsMax / workerCount),
      },
      concurrentMax: config.concurrentQueriesMax,
      timeoutMs: config.queryTimeoutMs,
      stuckGraceMs: config.queryStuckGraceMs,
      readerStallMs: LIMITS.readerStallMs,
      memory: Extents.attach(shared),
      // DuckDB's spill files, usually none
      removeFolder: (path) => rmSync(path, { recursive: true, force: true }),
      warn: (message, error) => logs("query").warn(message, { err: error }),
      onLost: ({ error, statements }) => logs("query").error("a query worker was replaced", { err: error, statements }),
      onQueryEnd: ({ caches, ...outcome }) => {
        for (const kind of caches) metrics.cacheRead(kind, outcome.milliseconds / 1000);
        logs("query").debug("query ended", outcome);
      },
      onTelemetry: (telemetry) => {
        this.lastTelemetry = telemetry;
        metrics.statements.scanned(telemetry);
        for (const chunk of telemetry.chunks) metrics.ruledOut(chunk);
        logs("query").debug("query telemetry", { ...telemetry });
      },
    });
  }
}
