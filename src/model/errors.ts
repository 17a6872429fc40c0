// The one family of operating errors. A kind is what went wrong, independent of the API dialect that reports it:
// api/shared/errors.ts maps a kind to a status, each dialect chooses the body.

export type ErrorKind =
  | "bad_request" // a parameter, header or body that cannot be understood
  | "bad_query" // the statement is wrong: syntax, unknown table or column, refused function
  | "bad_format" // unknown output format or Accept header
  | "unknown_database"
  | "unknown_table"
  | "not_found"
  | "already_exists"
  | "method_not_allowed"
  | "too_large" // a body over the size limit, compressed or decompressed
  | "too_slow" // a body that holds memory and does not come on
  | "limit_exceeded" // schema limits: columns, tables, databases
  | "unauthenticated"
  | "forbidden"
  | "overloaded" // memory or queue limits; try again later
  | "query_limit" // a query ran into its memory or time limit
  | "cancelled" // the client went away
  | "no_space" // the disk takes nothing new: full, over a quota, failing; nothing was stored
  | "read_only" // the server was started with --read-only
  | "unavailable" // replaying, or the log has failed
  | "plugin" // the processing engine is off, or lacks the plugin or a Python
  | "corrupt_file"
  | "config" // a flag or environment variable; the command line exits with 2
  | "io";

/** An error with a kind. `details` holds what a program may want to read: file, offset, position, got, want. */
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

/** An error as it crosses the border between threads; "bug" marks anything that is not a TsdbError. */
export interface ErrorDescription {
  readonly kind: ErrorKind | "bug";
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A kind and message from anything thrown: for logs and for the border between threads. */
export function describeError(error: unknown): ErrorDescription {
  if (error instanceof TsdbError) return { kind: error.kind, message: error.message, details: { ...error.details } };
  return { kind: "bug", message: error instanceof Error ? error.message : String(error), details: {} };
}

/** The error on the other side of the border. */
export function errorOf({ kind, message, details }: ErrorDescription): Error {
  return kind === "bug" ? new Error(message) : new TsdbError(kind, message, details);
}

/** Cuts text for a message to a few dozen characters. */
export function near(text: string, max = 40): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
