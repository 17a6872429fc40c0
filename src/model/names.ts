// Rules for user-chosen names, with the vendor's error texts, which clients match on.
import { TsdbError } from "./errors.ts";
import { LIMITS } from "./limits.ts";

/** Columns that the server generates. */
export const RESERVED_COLUMNS: ReadonlySet<string> = new Set(["time", "__chunk_order"]);

/** The server's own database: contains only system tables about all databases. Users cannot create one of this name. */
export const INTERNAL_DATABASE = "_internal";

/** Error for names of new columns that contain control characters. */
export const NO_CONTROL = "cannot contain control characters";

/** True if `name` contains a control character. */
export function hasControl(name: string): boolean {
  return /\p{Cc}/u.test(name);
}

const LETTER_OR_DIGIT = /^[A-Za-z0-9]/;
const DATABASE_NAME = /^[A-Za-z0-9_/-]*$/;

/** Why `name` is not a valid database name, or null. `db/rp` is valid: database and retention policy of the v1 API. */
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

/** Why `name` is not a valid table name, or null. Line protocol has the same rule. */
export function tableNameError(name: string): string | null {
  if (name === "") return "table name cannot be empty";
  if (name.includes("\0")) return "table name contains a NUL character";
  const bytes = Buffer.byteLength(name);
  return bytes > LIMITS.tableNameBytesMax ? `table name too long: ${bytes} bytes, max ${LIMITS.tableNameBytesMax}` : null;
}

/** @throws TsdbError bad_request */
export function validateTableName(name: string): void {
  const message = tableNameError(name);
  // configuring answers errors of names as JSON, as the vendor does, but for long ones
  if (message !== null) throw new TsdbError("bad_request", message, Buffer.byteLength(name) > LIMITS.tableNameBytesMax ? {} : { name });
}

/** Why `name` is not a valid bucket name, or null. Buckets are databases too: every valid database name is valid, and many others are, also
 *  the empty one. */
export function bucketNameError(name: string): string | null {
  if (name.startsWith("_")) return `bucket name ${name} is invalid. Buckets may not start with underscore`;
  return name.includes('"') ? `bucket name ${name} is invalid. Bucket names may not include quotation marks` : null;
}

/** The database that a database and a retention policy denote together: default policies denote the database itself, any other `db/rp`,
 *  in lower case. */
export function databaseOfPolicy(database: string, retentionPolicy: string | null | undefined): string {
  const policy = (retentionPolicy ?? "").toLowerCase();
  return ["", "''", "autogen", "default"].includes(policy) ? database : `${database}/${policy}`;
}
