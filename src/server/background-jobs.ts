// Work that the server does besides requests: flushes, compaction, file indexing, permanent deletion. Assembles the parts of each.

import type { Metrics } from "../api/metrics/metrics.ts";
import type { Log } from "../cli/logger.ts";
import type { ServeConfig } from "../cli/serve-config.ts";
import type { Deletions } from "../ingest/definitions/deletions.ts";
import type { RowDeletes } from "../ingest/row-deletes/row-deletes.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { PageReturn } from "../kernel/memory/page-return.ts";
import { LIMITS } from "../model/limits.ts";
import type { LiveTables } from "../storage/buffer/live-tables.ts";
import type { Pins } from "../storage/buffer/pins.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import { Compactor } from "../storage/compaction/compactor.ts";
import { FileIndexer } from "../storage/compaction/file-indexer.ts";
import { COMPACTION_LIMITS } from "../storage/compaction/plan-compaction.ts";
import type { FileIndexList } from "../storage/file-index/list.ts";
import { Flusher } from "../storage/flush/flush.ts";
import { HardDeletes } from "../storage/flush/hard-deletes.ts";
import type { Manifest } from "../storage/manifest/manifest.ts";
import { objectKeys } from "../storage/paths.ts";
import type { Wal } from "../storage/wal/wal.ts";
import type { MaintenanceClient } from "../workers/maintenance/maintenance-client.ts";
import type { Storage } from "./storage.ts";

export interface BackgroundJobsParts {
  readonly config: ServeConfig;
  readonly logs: (component: string) => Log;
  readonly storage: Storage;
  readonly catalog: Catalog;
  readonly manifest: Manifest;
  readonly pins: Pins;
  readonly tables: LiveTables;
  readonly kernel: Kernel;
  readonly metrics: Metrics;
  readonly wal: Wal;
  readonly deletions: Deletions;
  readonly rowDeletes: Pick<RowDeletes, "check">;
  readonly maintenance: MaintenanceClient;
  readonly indexes: FileIndexList;
  /** How far a flush may cut the log: triggers read it. */
  readonly cutThrough: (sequence: number) => Promise<number>;
}

const FLUSH_CHECK_MS = 1000;
/** Rows in memory are written to a file when no row has come for this time, if they take this much. */
const IDLE_MS = 60_000;
const IDLE_BYTES_MIN = 32 << 20;

/** Flush, compaction, hard deletes and file indexes. Nothing runs before `startTimers`; `stopTimers` lets running jobs finish. */
export class BackgroundJobs {
  readonly flusher: Flusher;
  readonly compactor: Compactor;
  readonly hardDeletes: HardDeletes;
  readonly indexer: FileIndexer;
  private flushTimer: ReturnType<typeof setInterval> | undefined;
  private compactionTimer: ReturnType<typeof setInterval> | undefined;
  private readonly pages: PageReturn;

  constructor(private readonly parts: BackgroundJobsParts) {
    this.pages = new PageReturn(parts.kernel);
    this.indexer = createIndexer(parts);
    this.flusher = createFlusher(parts, () => this.indexer.check());
    this.compactor = createCompactor(parts, () => this.indexer.check());
    this.hardDeletes = createHardDeletes(parts, () => this.compactor.check());
  }

  startTimers(): void {
    const { space } = this.parts.storage;
    this.flushTimer = setInterval(() => {
      void space.check();
      this.flusher.check();
    }, FLUSH_CHECK_MS);
    this.compactionTimer = setInterval(() => {
      this.compactor.check();
      this.indexer.check();
    }, this.parts.config.compactionCheckMs);
    this.pages.start();
    this.indexer.check();
    this.hardDeletes.check();
  }

  /** The disk has become full or has space again. */
  spaceChanged(): void {
    this.flusher.retryNow();
    this.compactor.spaceChanged();
    if (this.parts.storage.space.problem === null) this.indexer.spaceFound();
  }

  stopTimers(): void {
    clearInterval(this.flushTimer);
    clearInterval(this.compactionTimer);
    this.pages.stop();
    this.hardDeletes.stop();
  }
}

function createFlusher(
  { config, logs, storage, catalog, manifest, pins, tables, wal, deletions, maintenance, cutThrough }: BackgroundJobsParts,
  onFile: () => void,
): Flusher {
  const keys = objectKeys(config.nodeId);
  return new Flusher({
    tables,
    pins,
    catalog,
    wal,
    manifest,
    store: storage.store,
    tombstonesOf: (tableId) => deletions.tombstonesOf(tableId),
    ptKey: (fileId) => keys.ptFile(fileId),
    limits: {
      openBytesMax: Math.floor(config.bufferBytesMax / 4),
      ageMsMax: config.gen0DurationMs,
      idleMsMax: IDLE_MS,
      idleBytesMin: IDLE_BYTES_MIN,
      walBytesMax: LIMITS.walSegmentBytes,
    },
    isDiskFull: () => storage.space.problem !== null,
    nowMs: () => Date.now(),
    encode: (input) => maintenance.encode(input),
    cutThrough,
    onFlushed: (flush) => {
      logs("flush").info("flushed", flush);
      deletions.retireApplied();
      onFile();
    },
    onError: (error) => logs("flush").error("flush failed, will try again", { err: error }),
  });
}

function createCompactor(
  { config, logs, storage, catalog, manifest, pins, metrics, deletions, rowDeletes, maintenance }: BackgroundJobsParts,
  onFile: () => void,
): Compactor {
  const keys = objectKeys(config.nodeId);
  return new Compactor({
    manifest,
    store: storage.store,
    pins,
    ptKey: (fileId) => keys.ptFile(fileId),
    objectSource: storage.objectSource,
    tableState: (tableId, nowMs) => ({
      table: catalog.tableById(tableId),
      retentionMinNs: catalog.retentionMinNs(tableId, nowMs),
      tombstones: deletions.tombstonesOf(tableId),
    }),
    stateVersion: () => catalog.version,
    deletionsDurable: () => deletions.durable(),
    retireDeletions: () => {
      deletions.retireApplied();
      rowDeletes.check();
    },
    merge: (request, write) => maintenance.merge(request, write),
    cancelMerge: () => maintenance.cancelMerge(),
    limits: { ...COMPACTION_LIMITS, quietMs: config.compactionDelayMs },
    graceMs: config.compactionCleanupMs,
    isDiskFull: () => storage.space.problem !== null,
    nowMs: () => Date.now(),
    later: (milliseconds, run) => void setTimeout(run, milliseconds).unref(),
    onCompacted: (report) => {
      metrics.compacted(report);
      logs("compact").info("compacted", { ...report });
      onFile();
    },
    onError: (error) => {
      metrics.compactionFailed();
      logs("compact").error("compaction failed, will try again", { err: error });
    },
  });
}

function createIndexer({ config, logs, storage, catalog, manifest, pins, maintenance, indexes }: BackgroundJobsParts): FileIndexer {
  const keys = objectKeys(config.nodeId);
  return new FileIndexer({
    catalog,
    manifest,
    store: storage.store,
    pins,
    list: indexes,
    indexKey: (fileId, revision) => keys.fileIndex(fileId, revision),
    objectSource: storage.objectSource,
    build: (request, write) => maintenance.index(request, write),
    cancelBuild: () => maintenance.cancelIndex(),
    rowsMin: LIMITS.indexedRowsMin,
    isDiskFull: () => storage.space.problem !== null,
    nowMs: () => Date.now(),
    onIndexed: (report) => logs("index").info("indexed", { ...report }),
    onError: (error) => logs("index").error("a file could not be indexed, or its index not be read; will be made again", { err: error }),
  });
}

function createHardDeletes({ logs, catalog, tables }: BackgroundJobsParts, onDropped: () => void): HardDeletes {
  return new HardDeletes({
    catalog,
    tables,
    nowMs: () => Date.now(),
    later: (milliseconds, check) => {
      const timer = setTimeout(check, milliseconds);
      return () => clearTimeout(timer);
    },
    onDropped: ({ of, def, formerName }) => {
      logs("catalog").info(`dropped a deleted ${of}`, { id: def.id, name: def.name, formerName });
      onDropped();
    },
    onError: (error) => logs("catalog").error("a deleted object could not be dropped", { err: error }),
  });
}
