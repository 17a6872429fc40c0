// Maps error kinds to gRPC statuses, and all other exceptions to internal errors.
import { status } from "@grpc/grpc-js";
import { type ErrorKind, TsdbError } from "../../../model/errors.ts";

const CODES = {
  bad_request: status.INVALID_ARGUMENT,
  bad_query: status.INVALID_ARGUMENT,
  bad_format: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  unknown_database: status.NOT_FOUND,
  unknown_table: status.NOT_FOUND,
  not_found: status.NOT_FOUND,
  method_not_allowed: status.UNIMPLEMENTED,
  already_exists: status.ALREADY_EXISTS,
  too_slow: status.DEADLINE_EXCEEDED,
  too_large: status.RESOURCE_EXHAUSTED,
  unprocessable: status.FAILED_PRECONDITION,
  empty_value: status.INVALID_ARGUMENT,
  not_implemented: status.UNIMPLEMENTED,
  too_many_requests: status.RESOURCE_EXHAUSTED,
  limit_exceeded: status.RESOURCE_EXHAUSTED,
  query_limit: status.RESOURCE_EXHAUSTED,
  cancelled: status.CANCELLED,
  // tells clients to retry
  overloaded: status.UNAVAILABLE,
  unavailable: status.UNAVAILABLE,
  no_space: status.UNAVAILABLE,
  read_only: status.PERMISSION_DENIED,
  corrupt_file: status.DATA_LOSS,
  plugin: status.INTERNAL,
  config: status.INTERNAL,
  io: status.INTERNAL,
} as const satisfies Record<ErrorKind, status>;

/** For calls that this service does not offer. */
export class Unimplemented extends Error {
  override readonly name = "Unimplemented";
}

/** The outcome of a failed RPC. */
export interface RpcFailure {
  readonly code: status;
  readonly details: string;
  /** True if the operator must know: a bug, a broken file, a failing disk. Clients learn nothing about bugs. */
  readonly isOurs: boolean;
}

/** The status is sent in an escaped header, and clients reject headers of several thousand bytes. */
const DETAILS_BYTES_MAX = 4000;

/** Converts anything thrown to the outcome of an RPC. */
export function rpcFailure(error: unknown): RpcFailure {
  if (error instanceof Unimplemented) return { code: status.UNIMPLEMENTED, details: shortened(error.message), isOurs: false };
  if (!(error instanceof TsdbError)) return { code: status.INTERNAL, details: "internal error", isOurs: true };
  const code = CODES[error.kind];
  const isOurs = code === status.INTERNAL || code === status.DATA_LOSS;
  return { code, details: shortened(describe(error)), isOurs };
}

function describe(error: TsdbError): string {
  const { database } = error.details;
  // clients match on this text
  return error.kind === "unknown_database" && typeof database === "string" ? `Database '${database}' not found` : error.message;
}

const CLIENT_ERRORS: ReadonlySet<status> = new Set([
  ...[status.INVALID_ARGUMENT, status.NOT_FOUND, status.ALREADY_EXISTS, status.FAILED_PRECONDITION, status.RESOURCE_EXHAUSTED],
  ...[status.UNAUTHENTICATED, status.PERMISSION_DENIED, status.UNIMPLEMENTED, status.DEADLINE_EXCEEDED],
]);

export type RpcOutcome = "ok" | "client_error" | "server_error" | "aborted";

/** What a status means for the one who counts calls. */
export function rpcOutcome(code: status): RpcOutcome {
  if (code === status.OK) return "ok";
  if (code === status.CANCELLED) return "aborted";
  return CLIENT_ERRORS.has(code) ? "client_error" : "server_error";
}

/** Truncates a message so that it fits when escaped; never splits a surrogate pair, which cannot be escaped. */
function shortened(message: string): string {
  let text = message.toWellFormed();
  while (encodeURI(text).length > DETAILS_BYTES_MAX) text = `${text.slice(0, Math.floor(text.length * 0.8)).toWellFormed()}…`;
  return text;
}
