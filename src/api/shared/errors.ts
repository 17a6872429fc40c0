// The one map from an error's kind to a status, and what becomes of everything else that a handler may throw.
import { type ErrorKind, TsdbError } from "../../model/errors.ts";

export const STATUS = {
  bad_request: 400,
  bad_query: 400,
  bad_format: 400,
  unauthenticated: 401,
  forbidden: 403,
  unknown_database: 404,
  unknown_table: 404,
  not_found: 404,
  method_not_allowed: 405,
  already_exists: 409,
  too_slow: 408,
  too_large: 413,
  limit_exceeded: 422,
  query_limit: 422,
  cancelled: 499, // nobody reads it; kept apart in the metrics
  overloaded: 503,
  unavailable: 503,
  no_space: 503,
  read_only: 403,
  plugin: 500,
  corrupt_file: 500,
  config: 500,
  io: 500,
} as const satisfies Record<ErrorKind, number>;

const HEADERS: Partial<Record<ErrorKind, Readonly<Record<string, string>>>> = {
  overloaded: { "retry-after": "1" },
  unavailable: { "retry-after": "1" },
  no_space: { "retry-after": "5" },
  // nobody waits for the rest of its body
  too_slow: { connection: "close" },
};

/** Anything thrown, ready for a dialect to put into words. */
export interface Failure {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The operator has to know: a bug, a broken file, a failing disk. Of a bug the client learns nothing. */
  readonly isOurs: boolean;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof TsdbError) {
    const status = STATUS[error.kind];
    return { status, message: error.message, headers: HEADERS[error.kind] ?? {}, isOurs: status === 500 && error.kind !== "plugin" };
  }
  // The connection closed while its body was being read.
  if (error instanceof DOMException && error.name === "AbortError") {
    return { status: STATUS.cancelled, message: "the client closed the connection", headers: {}, isOurs: false };
  }
  return { status: 500, message: "internal error", headers: {}, isOurs: true };
}

/** How a query ended, for the metrics; `error`: what ended it, undefined when it was answered to its end. */
export function queryOutcome(error: unknown): "answered" | "cancelled" | "refused" | "failed" {
  if (error === undefined) return "answered";
  const { status } = failureOf(error);
  return status === STATUS.cancelled ? "cancelled" : status < 500 ? "refused" : "failed";
}
