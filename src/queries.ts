// How statements are run, put together: the moment that each of them sees, the workers, what is remembered of the last one, and the caches
// that the first worker keeps.
import type { LiveTables } from "./buffer/live-tables.ts";
import type { Pins } from "./buffer/pins.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { Log } from "./cli/logger.ts";
import type { ServeConfig } from "./cli/serve-config.ts";
import type { Metrics } from "./http/metrics.ts";
import type { Deletions } from "./ingest/deletions.ts";
import type { SharedMemory } from "./kernel/extents.ts";
import { LIMITS } from "./model/limits.ts";
import type { QueryTelemetry } from "./model/query-telemetry.ts";
import { QueryLog } from "./query/query-log.ts";
import { Snapshots } from "./query/snapshots.ts";
import { type SystemTablesParts, systemRows } from "./query/system-tables.ts";
import { functionBytesOf } from "./sql/engine.ts";
import type { Storage } from "./storage.ts";
import type { FileIndexList } from "./store/file-index-list.ts";
import type { Manifest } from "./store/manifest.ts";
import { CacheFeeds } from "./workers/cache-feeds.ts";
import { QueryClient } from "./workers/query-client.ts";
import type { SpawnedWorker } from "./workers/spawn.ts";

const READER_STALL_MS = 300_000;
/** A cancelled statement ends within tens of milliseconds; one that does not must not hold up the flush. */
const CLOSE_MS = 3000;

export interface QueriesParts {
  readonly config: ServeConfig;
  readonly logs: (component: string) => Log;
  /** Where the engine spills. */
  readonly tempDir: string;
  readonly storage: Pick<Storage, "objectSource">;
  readonly shared: SharedMemory;
  readonly catalog: Catalog;
  readonly manifest: Manifest;
  readonly indexes: FileIndexList;
  readonly tables: LiveTables;
  readonly pins: Pins;
  readonly metrics: Metrics;
  /** Undefined before the log is replayed. */
  readonly deletions: () => Deletions | undefined;
  readonly nodes: SystemTablesParts["nodes"];
  readonly tokens: SystemTablesParts["tokens"];
  readonly firstWorker: SpawnedWorker | undefined;
}

export class Queries {
  readonly snapshots: Snapshots;
  readonly client: QueryClient;
  /** Of the most recent statement that was answered to its end. */
  lastTelemetry: QueryTelemetry | undefined;
  private feeds: CacheFeeds | undefined;

  constructor(private readonly parts: QueriesParts) {
    const { config, catalog, manifest, indexes, tables, pins, metrics, deletions, storage, nodes, tokens } = parts;
    const clockNs = () => BigInt(Date.now()) * 1_000_000n;
    const log = new QueryLog({ entriesMax: config.queryLogEntries, clockNs, nowMs: () => performance.now() });
    this.snapshots = new Snapshots({
      ...{ catalog, tables, manifest, indexes, pins },
      tombstonesOf: (tableId) => (deletions() ?? catalog).tombstonesOf(tableId),
      lastDeletionOf: (tableId) => deletions()?.lastOf(tableId) ?? 0,
      nowMs: () => Date.now(),
      systemRows: (names, database) => systemRows({ catalog, manifest, indexes, queries: log, nodes, tokens }, names, database),
      objectSource: storage.objectSource,
    });
    this.client = this.startClient(log);
    metrics.watchFileCache(() => this.client.cache);
    metrics.watchFileIndexes(() => indexes);
  }

  /** Caches are fed from now on, those that there are with what is there first. To be called when the log is replayed. */
  startCaches(): void {
    const { catalog, tables, config, metrics, logs } = this.parts;
    const { fillsFromHistory, evictionMs } = config.caches;
    const feeds = new CacheFeeds({
      ...{ keeper: this.client, catalog, tables, snapshots: this.snapshots, fillsFromHistory, evictionMs },
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
    return new QueryClient({
      ...{ workerCount, firstWorker, log, snapshots: this.snapshots },
      keeper: { bytesMax, fillsFromHistory },
      onKeeperReplaced: () => this.feeds?.keeperReplaced(),
      workerOptions: {
        ...{ shared, tempDir, threads: config.queryThreads },
        memoryBytes: Math.floor(queryMemoryBytes / workerCount),
        cacheBytes: Math.floor(config.fileCacheBytes / workerCount),
        processBytesMax: LIMITS.programBytes + queryMemoryBytes + functionBytesOf({ memoryBytes: queryMemoryBytes }),
        nativeCallsMax: Math.floor(LIMITS.nativeCallsMax / workerCount),
      },
      concurrentMax: config.concurrentQueriesMax,
      timeoutMs: config.queryTimeoutMs,
      readerStallMs: READER_STALL_MS,
      onWorkerFailure: (error) => logs("query").error("a query worker was replaced", { err: error }),
      onQueryEnd: ({ caches, ...outcome }) => {
        for (const kind of caches) metrics.cacheRead(kind, outcome.milliseconds / 1000);
        logs("query").debug("query ended", outcome);
      },
      onTelemetry: (telemetry) => {
        this.lastTelemetry = telemetry;
        for (const chunk of telemetry.chunks) metrics.ruledOut(chunk);
        logs("query").debug("query telemetry", { ...telemetry });
      },
    });
  }
}
