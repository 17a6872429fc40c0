// One server per data folder. The lock is SQLite's own file lock, because the runtime offers no flock: it goes away with the
// process, however that ends, so a killed server never leaves a folder locked.
import { Database, type DatabaseOptions } from "bun:sqlite";
import { existsSync } from "node:fs";
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
  return lock(folder, { create: true, readwrite: true }, "BEGIN EXCLUSIVE");
}

/** Locks it against a server that writes, not against others that read; nothing is written. A folder without a lock file, as a copy may be,
 *  is not locked. @throws TsdbError config when a server that writes holds it, io */
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
