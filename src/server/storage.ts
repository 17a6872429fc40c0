// The storage of a server: a locked data folder, or memory.
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ServeConfig } from "../cli/serve-config.ts";
import type { Disk } from "../disk/disk.ts";
import { codeOf } from "../disk/io-error.ts";
import { LOCK_FILE_NAME, lockFolder, lockFolderForReading } from "../disk/lock.ts";
import { NodeDisk } from "../disk/node-disk.ts";
import { NullDisk } from "../disk/null-disk.ts";
import { tightenFolder } from "../disk/private-files.ts";
import { ReadOnlyDisk } from "../disk/read-only-disk.ts";
import { DiskSpace } from "../disk/space.ts";
import { assert } from "../model/assert.ts";
import { TsdbError } from "../model/errors.ts";
import { FileObjectStore } from "../object-store/file-object-store.ts";
import { MeasuredObjectStore, type StoreOperation } from "../object-store/measured-object-store.ts";
import { MemoryObjectStore } from "../object-store/memory-object-store.ts";
import type { ObjectStore } from "../object-store/object-store.ts";
import type { ObjectSource } from "../scan/snapshot.ts";
import type { Manifest } from "../storage/manifest/manifest.ts";
import type { LocalPaths } from "../storage/paths.ts";

export interface Storage {
  readonly store: ObjectStore;
  readonly walDisk: Disk;
  /** Space of the data folder's disk. */
  readonly space: DiskSpace;
  /** Spill folder of DuckDB. */
  readonly tempDir: string;
  /** Location of a stored object, for readers in workers. */
  readonly objectSource: (key: string) => ObjectSource;
  /** Sentences for the server's log. */
  readonly warnings: readonly string[];
  release(): void;
}

const OF_PROCESS = /^memory-(\d+)$/;

/** A folder below `temporary` for this process alone: servers that spill into the same folder overwrite each other's files. */
export function folderOfProcess(temporary: string): string {
  return `${temporary}/memory-${process.pid}`;
}

/** Empties a temporary folder, as far as it holds what `isMeant`, of what ended processes have left. */
function removeLeftovers(folder: string, isMeant: (name: string) => boolean): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const [, pid] = OF_PROCESS.exec(name) ?? [];
    if (isMeant(name) && (pid === undefined || !isOther(Number(pid)))) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** True if another process of the number runs. */
function isOther(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** Of a log below the temporary folder, without what a process of the same number has left there. */
function temporaryLogDisk({ wal, temporary }: LocalPaths): Disk {
  assert(wal.startsWith(`${temporary}/`), `${wal} is the log of a server that keeps its data`);
  for (const path of [wal, `${wal}.newest`]) rmSync(path, { recursive: true, force: true });
  return new NodeDisk();
}

interface StorageParts {
  readonly dataFolder: string;
  readonly paths: LocalPaths;
  readonly onSpace: (problem: TsdbError | null) => void;
  readonly onOperation: (operation: StoreOperation) => void;
}

/** Creates the folders and takes the lock. @throws TsdbError config if the folder cannot be used */
export async function openStorage(config: ServeConfig, { dataFolder, paths, onSpace, onOperation }: StorageParts): Promise<Storage> {
  if (config.objectStore === "memory") {
    const store = new MemoryObjectStore();
    const space = new NullDisk();
    removeLeftovers(dirname(paths.temporary), (name) => OF_PROCESS.test(name));
    makeFolder(paths.temporary);
    const walDisk = config.plugins === null ? space : temporaryLogDisk(paths);
    return {
      ...{ store: new MeasuredObjectStore(store, onOperation), walDisk, tempDir: paths.temporary },
      space: new DiskSpace(space, { path: "", reserveBytes: 0, folder: dataFolder }),
      objectSource: (key) => ({ kind: "bytes", bytes: store.sharedBytes(key) }),
      warnings: [],
      release: () => rmSync(paths.temporary, { recursive: true, force: true }),
    };
  }
  if (config.readOnly) return openReadOnly(dataFolder, paths, onOperation);
  makeFolder(dataFolder);
  requireWritable(dataFolder);
  const lock = lockFolder(dataFolder);
  try {
    const { warnings } = tightenFolder(dataFolder, (name) => isOwn(dataFolder, name));
    const disk = new NodeDisk();
    const space = new DiskSpace(disk, {
      ...{ path: paths.reserve, folder: dataFolder, reserveBytes: config.diskReserveBytes },
      onChange: onSpace,
    });
    const store = new FileObjectStore(disk, paths.objects, space);
    await store.recover();
    removeLeftovers(paths.temporary, () => true);
    makeFolder(paths.temporary);
    return {
      ...{ store: new MeasuredObjectStore(store, onOperation), walDisk: disk, space, tempDir: paths.temporary },
      objectSource: (key) => ({ kind: "path", path: store.localPath(key) }),
      warnings,
      release: () => lock.release(),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** True for entries of the data folder that a server creates: lock, objects, certificate, its own folder and those of other nodes. */
function isOwn(dataFolder: string, name: string): boolean {
  return name.startsWith(LOCK_FILE_NAME) || ["objects", "tls"].includes(name) || existsSync(join(dataFolder, name, "wal"));
}

function requireWritable(dataFolder: string): void {
  try {
    accessSync(dataFolder, constants.W_OK);
  } catch (cause) {
    const message = `--data-dir: nothing can be written into ${dataFolder}: ${(cause as Error).message}; with --read-only what is there is served`;
    throw new TsdbError("config", message, { dataFolder }, { cause });
  }
}

/** Writes nothing into the folder, and locks it only against writing servers. */
function openReadOnly(dataFolder: string, paths: LocalPaths, onOperation: StorageParts["onOperation"]): Storage {
  if (statSync(dataFolder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new TsdbError("config", `--read-only: there is no data folder ${dataFolder}`, { dataFolder });
  }
  const lock = lockFolderForReading(dataFolder);
  const disk = new ReadOnlyDisk(new NodeDisk());
  const store = new FileObjectStore(disk, paths.objects);
  const tempDir = mkdtempSync(join(tmpdir(), "tsdb-"));
  return {
    ...{ store: new MeasuredObjectStore(store, onOperation), walDisk: disk, tempDir },
    space: new DiskSpace(disk, { path: "", reserveBytes: 0, folder: dataFolder }),
    objectSource: (key) => ({ kind: "path", path: store.localPath(key) }),
    warnings: [],
    release: () => {
      rmSync(tempDir, { recursive: true, force: true });
      lock.release();
    },
  };
}

/** Deletes data files that a crash left between put and commit. */
export async function removeOrphans(store: ObjectStore, manifest: Manifest, prefix: string): Promise<void> {
  const known = new Set(manifest.files().map(({ key }) => key));
  for (const { key } of await store.list(prefix)) if (!known.has(key)) await store.delete(key);
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (cause) {
    throw new TsdbError("config", `--data-dir: cannot make the folder ${path}: ${(cause as Error).message}`, { path }, { cause });
  }
}
