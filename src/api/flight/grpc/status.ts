// The one map from an error's kind to a gRPC status, and what becomes of everything else that a handler may throw.
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
  limit_exceeded: status.RESOURCE_EXHAUSTED,
  query_limit: status.RESOURCE_EXHAUSTED,
  cancelled: status.CANCELLED,
  // tells clients to try again
  overloaded: status.UNAVAILABLE,
  unavailable: status.UNAVAILABLE,
  no_space: status.UNAVAILABLE,
  read_only: status.PERMISSION_DENIED,
  corrupt_file: status.DATA_LOSS,
  plugin: status.INTERNAL,
  config: status.INTERNAL,
  io: status.INTERNAL,
} as const satisfies Record<ErrorKind, status>;

/** What this service does not offer. */
export class Unimplemented extends Error {
  override readonly name = "Unimplemented";
}

/** How an RPC ends. */
export interface RpcFailure {
  readonly code: status;
  readonly details: string;
  /** The operator has to know: a bug, a broken file, a failing disk. Of a bug the client learns nothing. */
  readonly isOurs: boolean;
}

/** The status travels in a header, escaped, and clients refuse headers above some thousand bytes. */
const DETAILS_BYTES_MAX = 4000;

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

/** As much of a message as fits when it is escaped; no half character, which cannot be escaped. */
function shortened(message: string): string {
  let text = message.toWellFormed();
  while (encodeURI(text).length > DETAILS_BYTES_MAX) text = `${text.slice(0, Math.floor(text.length * 0.8)).toWellFormed()}…`;
  return text;
}
