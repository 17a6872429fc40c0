// The only class of operational errors. The kind states what went wrong, independent of the API dialect that reports it:
// api/shared/errors.ts maps kinds to statuses, each dialect chooses the body.

export type ErrorKind =
  | "bad_request" // an invalid parameter, header or body
  | "bad_query" // an invalid statement: syntax, unknown table or column, disallowed function
  | "bad_format" // unknown output format or Accept header
  | "unknown_database"
  | "unknown_table"
  | "not_found"
  | "already_exists"
  | "method_not_allowed"
  | "too_large" // a body over the size limit, compressed or decompressed
  | "too_slow" // the client sends a body too slowly and holds its memory
  | "empty_value" // a name or key that has no characters
  | "unprocessable" // understood, and not possible as it stands
  | "not_implemented"
  | "too_many_requests"
  | "limit_exceeded" // schema limits: columns, tables, databases
  | "unauthenticated"
  | "forbidden"
  | "overloaded" // memory or queue limits; try again later
  | "query_limit" // a query exceeded its memory or time limit
  | "cancelled" // the client disconnected
  | "no_space" // the disk accepts no data: full, over quota, or failing; nothing was stored
  | "read_only" // the server was started with --read-only
  | "unavailable" // the log is being replayed or has failed
  | "plugin" // the processing engine is off, or lacks the plugin or a Python
  | "corrupt_file"
  | "config" // an invalid flag or environment variable; the command line exits with 2
  | "io";

/** An error with a kind. `details` holds data for programs: file, offset, position, actual and expected values. */
export class TsdbError extends Error {
  override readonly name = "TsdbError";
  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** An error in structured-cloneable form, for other threads; "bug" stands for anything but a TsdbError. */
export interface ErrorDescription {
  readonly kind: ErrorKind | "bug";
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Kind and message of any thrown value: for logs and for other threads. */
export function describeError(error: unknown): ErrorDescription {
  if (error instanceof TsdbError) return { kind: error.kind, message: error.message, details: { ...error.details } };
  return { kind: "bug", message: error instanceof Error ? error.message : String(error), details: {} };
}

/** Recreates the error on the receiving thread. */
export function errorOf({ kind, message, details }: ErrorDescription): Error {
  return kind === "bug" ? new Error(message) : new TsdbError(kind, message, details);
}

/** Truncates text for a message to a few dozen characters. */
export function near(text: string, max = 40): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
