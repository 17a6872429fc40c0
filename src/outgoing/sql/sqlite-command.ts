// The command of the program that answers one request to SQLite from its input; only servers give it.

/** Its name. */
export const SQLITE_COMMAND = "sqlite-request";
