// Rules for names that users choose, with the vendor's texts, which clients match on.
import { TsdbError } from "./errors.ts";
import { LIMITS } from "./limits.ts";

/** Columns that the server makes itself. */
export const RESERVED_COLUMNS: ReadonlySet<string> = new Set(["time", "__chunk_order"]);

/** The server's own: it holds nothing but system tables about all databases. No user can choose the name. */
export const INTERNAL_DATABASE = "_internal";

/** What is said of names of new columns that have some. */
export const NO_CONTROL = "cannot contain control characters";

export function hasControl(name: string): boolean {
  return /\p{Cc}/u.test(name);
}

const LETTER_OR_DIGIT = /^[A-Za-z0-9]/;
const DATABASE_NAME = /^[A-Za-z0-9_/-]*$/;

/** Why `name` cannot be a database's name, or null. `db/rp` is a legal name: the v1 API's database with retention policy. */
export function databaseNameError(name: string): string | null {
  if (name === "") return "db name cannot be empty";
  if (Buffer.byteLength(name) > LIMITS.databaseNameBytesMax) return `db name too long: max ${LIMITS.databaseNameBytesMax}`;
  if (name.charCodeAt(0) < 0x80 && !LETTER_OR_DIGIT.test(name)) return "db name did not start with a number or letter";
  if (!DATABASE_NAME.test(name)) {
    return "invalid character in database or rp name: must be ASCII, containing only letters, numbers, underscores, or hyphens";
  }
  const slash = name.indexOf("/");
  if (slash !== -1 && (slash !== name.lastIndexOf("/") || slash === name.length - 1)) {
    return "db name with invalid retention policy, if providing a retention policy name, must be of form '<db_name>/<rp_name>'";
  }
  return null;
}

/** @throws TsdbError bad_request with the vendor's text */
export function validateDatabaseName(name: string): void {
  const message = databaseNameError(name);
  if (message !== null) throw new TsdbError("bad_request", message, { name });
}

/** The same rule as line protocol's. @throws TsdbError bad_request */
export function validateTableName(name: string): void {
  if (name === "") throw new TsdbError("bad_request", "table name cannot be empty", { name });
  if (name.includes("\0")) throw new TsdbError("bad_request", "table name contains a NUL character", { name });
  const bytes = Buffer.byteLength(name);
  if (bytes > LIMITS.tableNameBytesMax) {
    throw new TsdbError("bad_request", `table name too long: ${bytes} bytes, max ${LIMITS.tableNameBytesMax}`, {});
  }
}

/** The database that a database and one of its retention policies mean together: the default policies are the database itself, any other
 *  is `db/rp`, in small letters. */
export function databaseOfPolicy(database: string, retentionPolicy: string | null | undefined): string {
  const policy = (retentionPolicy ?? "").toLowerCase();
  return ["", "''", "autogen", "default"].includes(policy) ? database : `${database}/${policy}`;
}
