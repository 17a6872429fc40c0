// Databases that scripts read and write, by the names of their drivers.
import type { SqlService } from "../../model/query/sql-service.ts";
import { insertPostgres, queryPostgres } from "./postgres.ts";
import { insertSqlite, querySqlite } from "./sqlite-process.ts";

export interface SqlLimits {
  readonly allowsPrivate: boolean;
  /** Null: scripts open no files. */
  readonly sqliteFolder: string | null;
  readonly timeoutMs: number;
  readonly rowsMax: number;
  readonly bytesMax: number;
}

export const SQL_LIMITS: SqlLimits = {
  ...{ allowsPrivate: false, sqliteFolder: null, timeoutMs: 30_000 },
  ...{ rowsMax: 1_000_000, bytesMax: 64 * 1024 * 1024 },
};

/** Answers for the databases that the limits allow. Errors of databases are errors of the promises. */
export function sqlService(limits: SqlLimits, signal?: AbortSignal): SqlService {
  const sqlite = { ...limits, folder: limits.sqliteFolder };
  return {
    query: async ({ driver, dataSource }, text) =>
      driver === "postgres" ? queryPostgres(dataSource, text, limits, signal) : querySqlite(dataSource, text, sqlite, signal),
    insert: async ({ driver, dataSource }, insert) =>
      driver === "postgres" ? insertPostgres(dataSource, insert, limits, signal) : insertSqlite(dataSource, insert, sqlite, signal),
  };
}
