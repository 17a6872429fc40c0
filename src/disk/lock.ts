// One server per data folder. The lock is SQLite's own file lock, because the runtime offers no flock: it goes away with the
// process, however that ends, so a killed server never leaves a folder locked.
import { Database } from "bun:sqlite";
import { TsdbError } from "../model/errors.ts";
import { codeOf, ioError } from "./io-error.ts";

export const LOCK_FILE_NAME = "server.lock";

/** Handles of held locks: a collected handle would free its lock while the server still runs. */
const held = new Set<Database>();

export interface FolderLock {
  release(): void;
}

/** Locks `folder`, which exists, until `release` or the end of the process.
 *  @throws TsdbError config when another server holds it, io when the lock file cannot be made */
export function lockFolder(folder: string): FolderLock {
  const path = `${folder}/${LOCK_FILE_NAME}`;
  let database: Database | undefined;
  try {
    database = new Database(path, { create: true, readwrite: true });
    database.exec("PRAGMA busy_timeout = 0");
    database.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    database?.close();
    if (codeOf(cause)?.startsWith("SQLITE_BUSY")) {
      throw new TsdbError("config", `data folder ${folder} is in use by another server`, { folder, path }, { cause });
    }
    throw ioError("lock", path, cause);
  }
  const locked = database;
  held.add(locked);
  return {
    release() {
      if (!held.delete(locked)) return;
      locked.exec("ROLLBACK");
      locked.close();
    },
  };
}
