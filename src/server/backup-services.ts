// Backups of the databases of port 8181 as a part of the server.
import { resolve } from "node:path";
import { sha256 } from "../backup/checksum.ts";
import { DatabaseBackups } from "../backup/databases/database-backups.ts";
import { checkFile } from "../backup/databases/file-check.ts";
import type { DatabaseBackupParts } from "../backup/databases/parts.ts";
import { RestoreLog } from "../backup/databases/restore-log.ts";
import { Shelf } from "../backup/databases/shelf.ts";
import type { ServeConfig } from "../cli/serve-config.ts";
import { NodeDisk } from "../disk/node-disk.ts";
import { ReadOnlyDisk } from "../disk/read-only-disk.ts";
import type { Deletions } from "../ingest/definitions/deletions.ts";
import { TsdbError } from "../model/errors.ts";
import { FileObjectStore } from "../object-store/file-object-store.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import { objectKeys } from "../storage/paths.ts";
import type { Wal } from "../storage/wal/wal.ts";
import type { BackgroundJobs } from "./background-jobs.ts";
import type { Foundation } from "./foundation.ts";

interface Running {
  readonly backgroundJobs: BackgroundJobs;
  readonly deletions: Deletions;
  readonly wal: Wal;
}

/** Backups in a folder that is given, below it. */
const FOLDER_PREFIX = "backups/";
const OWNER_DIGITS = 16;

/** Null without --use-pacha-tree, and in the base edition. Reads in the background what there is. @throws TsdbError config if --backup-dir
 *  cannot be used */
export async function createDatabaseBackups(foundation: Foundation, running: Running): Promise<DatabaseBackups | null> {
  const { config, catalog, storage, logs } = foundation;
  if (!config.hasUpgradedEngine || config.edition !== "enterprise") return null;
  const keys = objectKeys(config.nodeId);
  const source = sourceOf(catalog, config);
  const given = config.backupDir === null ? null : await openFolder(resolve(config.backupDir), source, config.readOnly);
  const shelf = given === null ? new Shelf(storage.store, keys.backups) : new Shelf(given, FOLDER_PREFIX);
  const recoverStore = async () => given?.recover();
  const backups = new DatabaseBackups(
    { ...partsOf(foundation, running), recoverStore },
    shelf,
    new RestoreLog(storage.store, keys.restores),
  );
  // each call waits for it, and tries again
  backups.open().catch((error) => logs("backup").error("backups cannot be read; will be tried again", { err: error }));
  return backups;
}

/** Identifies the server. */
function sourceOf({ clusterUuid }: Catalog, { nodeId }: ServeConfig): string {
  return `${clusterUuid}/${nodeId}`;
}

/** A folder that other servers may have open too. */
async function openFolder(folder: string, source: string, readOnly: boolean): Promise<FileObjectStore> {
  if (readOnly) return new FileObjectStore(new ReadOnlyDisk(new NodeDisk()), folder);
  try {
    const disk = new NodeDisk();
    await disk.makeFolder(folder);
    return new FileObjectStore(disk, folder, undefined, { owner: sha256(Buffer.from(source)).slice(0, OWNER_DIGITS) });
  } catch (cause) {
    throw new TsdbError("config", `--backup-dir: ${(cause as Error).message}`, { folder }, { cause });
  }
}

function partsOf(foundation: Foundation, { backgroundJobs, deletions, wal }: Running): Omit<DatabaseBackupParts, "recoverStore"> {
  const { config, catalog, manifest, tables, storage, paths, logs, kernel } = foundation;
  const { flusher, compactor, indexer, hardDeletes } = backgroundJobs;
  const keys = objectKeys(config.nodeId);
  const dataFolder = resolve(config.dataDir);
  const log = logs("backup");
  const disk = new NodeDisk();
  // the reserve is a file: what it has is not free
  const missingBytes = async () => config.diskReserveBytes - ((await disk.stat(paths.reserve))?.sizeBytes ?? 0);
  const dataRoom = async () => {
    const free = config.objectStore === "memory" ? null : await disk.freeBytes(dataFolder);
    return free === null ? null : Math.max(0, free - Math.max(0, await missingBytes()));
  };
  return {
    ...{ catalog, manifest, tables, wal, store: storage.store, dataRoom },
    ptKey: (fileId) => keys.ptFile(fileId),
    checkFile: (key, blocks, described) => checkFile(kernel, storage.objectSource(key), blocks, described),
    source: sourceOf(catalog, config),
    tombstonesOf: (tableId) => deletions.tombstonesOf(tableId),
    reserveTombstones: (count) => deletions.reserveIds(count),
    barrier: () => flusher.barrier(),
    keepFiles: () => compactor.keepFiles(),
    durableSequence: () => wal.durableSequence,
    backupRoom: () => (config.backupDir === null ? dataRoom() : disk.freeBytes(resolve(config.backupDir))),
    onRestored: () => {
      // of the tables that were replaced
      hardDeletes.check();
      compactor.check();
      indexer.check();
    },
    nowMs: () => Date.now(),
    hardDeleteDefaultMs: config.hardDeleteDefaultMs,
    ended: (what, details, error) => {
      if (error === null) log.info(`${what} completed`, details);
      else if (error instanceof TsdbError && error.kind === "cancelled") log.warn(`${what} ended`, { ...details, reason: error.message });
      else log.error(`${what} failed`, { ...details, err: error });
    },
  };
}
