// The parts that a server has while its data folder is open: storage, catalog, manifest, memory, tokens. Created in the first state,
// opening; replaying and serving add to it.
import { resolve } from "node:path";
import type { Metrics, ServerStats } from "../api/metrics/metrics.ts";
import type { Log } from "../cli/logger.ts";
import type { ServeConfig } from "../cli/serve-config.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import type { TsdbError } from "../model/errors.ts";
import type { Tls } from "../model/tls.ts";
import { LiveTables } from "../storage/buffer/live-tables.ts";
import { Pins } from "../storage/buffer/pins.ts";
import { SeriesMemory } from "../storage/buffer/series-memory.ts";
import { Catalog } from "../storage/catalog/catalog.ts";
import { requireCurrentFiles } from "../storage/compaction/upgrade-files.ts";
import { FileIndexList } from "../storage/file-index/list.ts";
import { Manifest } from "../storage/manifest/manifest.ts";
import { type LocalPaths, localPaths, objectKeys } from "../storage/paths.ts";
import type { Wal } from "../storage/wal/wal.ts";
import { ServerAuth } from "./auth.ts";
import { LocalNodeService } from "./node-service.ts";
import { folderOfProcess, openStorage, removeOrphans, type Storage } from "./storage.ts";
import { tlsOf } from "./tls.ts";

/** Creates the log of one component. */
export type Logs = (part: string) => Log;

/** Events of the storage. */
export interface StorageEvents {
  /** The disk is full, or has space again. */
  readonly onSpace: () => void;
  /** Catalog or manifest cannot be written: the process must end. */
  readonly onFailure: (error: Error) => void;
}

/** Contents of the data folder, and the TLS certificate. */
interface OpenedFolder {
  readonly paths: LocalPaths;
  readonly storage: Storage;
  readonly catalog: Catalog;
  readonly manifest: Manifest;
  readonly indexes: FileIndexList;
  /** Null: plain HTTP. */
  readonly tls: Tls | null;
}

/** An open data folder with everything that does not depend on the log. Holds the folder's lock until `release`. */
export class Foundation {
  readonly kernel = Kernel.create();
  readonly pins = new Pins();
  /** Generated at each start of the process. */
  readonly processId = crypto.randomUUID();
  readonly paths: LocalPaths;
  readonly storage: Storage;
  readonly catalog: Catalog;
  readonly manifest: Manifest;
  readonly indexes: FileIndexList;
  readonly tls: Tls | null;
  readonly tables: LiveTables;
  readonly auth: ServerAuth;
  readonly node: LocalNodeService;

  private constructor(
    readonly config: ServeConfig,
    readonly logs: Logs,
    readonly metrics: Metrics,
    { paths, storage, catalog, manifest, indexes, tls }: OpenedFolder,
  ) {
    this.paths = paths;
    this.storage = storage;
    this.catalog = catalog;
    this.manifest = manifest;
    this.indexes = indexes;
    this.tls = tls;
    const durableTimes = (tableId: number) => manifest.tableTimes(tableId);
    this.tables = new LiveTables(this.kernel, this.pins, durableTimes, new SeriesMemory(config.seriesBytesMax));
    this.node = new LocalNodeService(catalog, config, this.processId);
    this.auth = new ServerAuth({ config, catalog, log: logs("auth"), keyPath: paths.signingKey });
  }

  /** Locks the data folder and reads catalog and manifest. @throws TsdbError config, io, corrupt_file; nothing is held then */
  static async open(config: ServeConfig, logs: Logs, metrics: Metrics, { onSpace, onFailure }: StorageEvents): Promise<Foundation> {
    const dataFolder = resolve(config.dataDir);
    const paths = pathsOf(config, dataFolder);
    const storage = await openStorage(config, {
      ...{ dataFolder, paths },
      onOperation: (operation) => metrics.store.add(operation),
      onSpace: (problem) => {
        if (problem === null) logs("disk").info("the disk has space again: writes are taken");
        else logs("disk").error("writes are refused", { reason: problem.message });
        onSpace();
      },
    });
    try {
      const opened = await openFolder(config, logs, { dataFolder, paths, storage, onFailure });
      return new Foundation(config, logs, metrics, opened);
    } catch (error) {
      storage.release();
      throw error;
    }
  }

  /** Why the running server cannot write: the disk is full. Null if it can. */
  get spaceProblem(): TsdbError | null {
    return this.storage.space.problem;
  }

  /** @param wal null while the log is replayed */
  stats(wal: Wal | null): ServerStats {
    const { manifest, tables, kernel, pins, catalog } = this;
    const files = manifest.files();
    return {
      bufferBytes: tables.bytes,
      bufferRows: tables.openRows,
      kernelBytes: kernel.extents.usedBytes,
      pins: pins.openCount,
      walBytes: wal?.segmentBytes ?? 0,
      walSegments: wal === null ? 0 : 1,
      files: files.length,
      fileBytes: files.reduce((sum, file) => sum + file.bytes, 0),
      databases: catalog.databaseCount,
      tables: catalog.tableCount,
      series: tables.seriesCount,
      seriesBytes: tables.seriesMemory.bytes,
      seriesEvictions: tables.seriesMemory.evictions,
      catalogOperations: catalog.version,
    };
  }

  /** Releases the data folder. */
  async release(): Promise<void> {
    await this.storage.space.close();
    this.storage.release();
  }
}

/** With data in memory the log is on disk only for triggers, which read it, and for the life of the process. Several such servers may have
 *  the data folder, beside a server that keeps its data there. */
function pathsOf({ objectStore, plugins, nodeId }: ServeConfig, dataFolder: string): LocalPaths {
  const paths = localPaths(dataFolder, nodeId);
  if (objectStore !== "memory") return paths;
  const temporary = folderOfProcess(paths.temporary);
  return { ...paths, temporary, ...(plugins === null ? {} : { wal: `${temporary}/log` }) };
}

async function openFolder(
  config: ServeConfig,
  logs: Logs,
  {
    dataFolder,
    paths,
    storage,
    onFailure,
  }: Pick<StorageEvents, "onFailure"> & Pick<OpenedFolder, "paths" | "storage"> & { dataFolder: string },
): Promise<OpenedFolder> {
  const { readOnly } = config;
  const { store, objectSource } = storage;
  const keys = objectKeys(config.nodeId);
  const catalog = await Catalog.open(store, { prefix: keys.catalog, onFailure, limits: config.schemaLimits, readOnly });
  const manifest = await Manifest.open(store, { prefix: keys.manifest, onFailure, readOnly });
  if (readOnly) {
    requireCurrentFiles(manifest);
    logs("server").warn("serves reads only, and writes nothing into the data folder (--read-only)");
  } else await removeOrphans(store, manifest, keys.data);
  const indexes = await FileIndexList.open(store, manifest, { prefix: keys.indexes, objectSource, readOnly });
  for (const warning of [...storage.warnings, ...catalog.warnings, ...manifest.warnings]) logs("store").warn(warning);
  return { paths, storage, catalog, manifest, indexes, tls: await tlsOf(config, dataFolder) };
}
