// One server per data folder. The lock is SQLite's file lock, because the runtime has no flock: it ends with the process, however that
// ends, so a killed server never leaves a folder locked.
import { Database, type DatabaseOptions } from "bun:sqlite";
import { existsSync } from "node:fs";
import { TsdbError } from "../model/errors.ts";
import { codeOf, ioError } from "./io-error.ts";

export const LOCK_FILE_NAME = "server.lock";

/** Handles of held locks: garbage collection of a handle would release its lock while the server is running. */
const held = new Set<Database>();

export interface FolderLock {
  release(): void;
}

/** Locks `folder`, which must exist, until `release` or the end of the process. @throws TsdbError config if another server holds the
 *  lock, io if the lock file cannot be created */
export function lockFolder(folder: string): FolderLock {
  return lock(folder, { create: true, readwrite: true }, "BEGIN EXCLUSIVE");
}

/** Locks the folder against a writing server, but not against other readers; writes nothing. A folder without a lock file, such as a
 *  copy, is not locked. @throws TsdbError config if a writing server holds the lock, io */
export function lockFolderForReading(folder: string): FolderLock {
  if (!existsSync(`${folder}/${LOCK_FILE_NAME}`)) return { release() {} };
  return lock(folder, { readonly: true }, "BEGIN; SELECT count(*) FROM sqlite_master");
}

function lock(folder: string, mode: DatabaseOptions, statements: string): FolderLock {
  const path = `${folder}/${LOCK_FILE_NAME}`;
  let database: Database | undefined;
  try {
    database = new Database(path, mode);
    database.exec("PRAGMA busy_timeout = 0");
    // a journal beside the file would want space, and a server starts on a full disk too
    database.exec("PRAGMA journal_mode = MEMORY");
    database.exec(statements);
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
