// Maps error kinds to HTTP statuses, and all other exceptions to 500.
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
  empty_value: 400,
  unprocessable: 422,
  not_implemented: 501,
  too_many_requests: 429,
  limit_exceeded: 422,
  query_limit: 422,
  cancelled: 499, // nobody reads the answer; distinguished in the metrics
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
  too_many_requests: { "retry-after": "1" },
  unavailable: { "retry-after": "1" },
  no_space: { "retry-after": "5" },
  // the rest of the body is not awaited
  too_slow: { connection: "close" },
};

/** Any exception, in the form that the API dialects render. */
export interface Failure {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  /** True if the operator must know: a bug, a broken file, a failing disk. Clients learn nothing about bugs. */
  readonly isOurs: boolean;
}

/** Converts anything thrown to a failure. */
export function failureOf(error: unknown): Failure {
  if (error instanceof TsdbError) {
    const status = STATUS[error.kind];
    const { retryAfterSeconds: after } = error.details;
    const headers = { ...HEADERS[error.kind], ...(typeof after === "number" ? { "retry-after": String(after) } : {}) };
    return { status, message: error.message, headers, isOurs: status === 500 && error.kind !== "plugin" };
  }
  // The connection was closed while its body was being read.
  if (error instanceof DOMException && error.name === "AbortError") {
    return { status: STATUS.cancelled, message: "the client closed the connection", headers: {}, isOurs: false };
  }
  return { status: 500, message: "internal error", headers: {}, isOurs: true };
}

/** The outcome of a query for the metrics; `error`: undefined if it was answered completely. */
export function queryOutcome(error: unknown): "answered" | "cancelled" | "refused" | "failed" {
  if (error === undefined) return "answered";
  const { status } = failureOf(error);
  return status === STATUS.cancelled ? "cancelled" : status < 500 ? "refused" : "failed";
}
