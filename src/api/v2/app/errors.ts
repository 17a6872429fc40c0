// Errors as v2 clients read them: a code and a message, and the code again as a header.
import { type ErrorKind, TsdbError } from "../../../model/errors.ts";
import { failureOf } from "../../shared/errors.ts";

/** Each code has one status. */
const STATUS_OF_CODE = {
  invalid: 400,
  "empty value": 400,
  unauthorized: 401,
  forbidden: 403,
  "not found": 404,
  "method not allowed": 405,
  "request too large": 413,
  "unprocessable entity": 422,
  conflict: 422,
  "too many requests": 429,
  "internal error": 500,
  "not implemented": 501,
  unavailable: 503,
} as const;

export type V2Code = keyof typeof STATUS_OF_CODE;

export const ERROR_CODES = Object.keys(STATUS_OF_CODE) as readonly V2Code[];

const CODE_OF_KIND = {
  bad_request: "invalid",
  bad_query: "invalid",
  bad_format: "invalid",
  empty_value: "empty value",
  unauthenticated: "unauthorized",
  forbidden: "forbidden",
  read_only: "forbidden",
  unknown_database: "not found",
  unknown_table: "not found",
  not_found: "not found",
  method_not_allowed: "method not allowed",
  already_exists: "conflict",
  too_large: "request too large",
  too_slow: "invalid",
  unprocessable: "unprocessable entity",
  limit_exceeded: "unprocessable entity",
  query_limit: "unprocessable entity",
  too_many_requests: "too many requests",
  cancelled: "invalid",
  not_implemented: "not implemented",
  overloaded: "unavailable",
  unavailable: "unavailable",
  no_space: "unavailable",
  corrupt_file: "internal error",
  config: "internal error",
  plugin: "internal error",
  io: "internal error",
} as const satisfies Record<ErrorKind, V2Code>;

const UNEXPECTED = "An internal error has occurred - check server logs";

/** @param head before the message: what was tried */
export function errorAnswer(error: unknown, head = ""): Response {
  const { headers, message, isOurs } = failureOf(error);
  if (error instanceof TsdbError) {
    const answer = codeAnswer(CODE_OF_KIND[error.kind], head + error.message, headers);
    // clients send again what came too slowly, and nothing else that has its code
    return error.kind === "too_slow" ? new Response(answer.body, { status: 408, headers: answer.headers }) : answer;
  }
  // nobody reads it: the client has closed the connection
  if (!isOurs) return codeAnswer("invalid", message, headers);
  return codeAnswer("internal error", UNEXPECTED, headers);
}

/** An error answer with the status that belongs to the code. */
export function codeAnswer(code: V2Code, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify({ code, message }), {
    status: STATUS_OF_CODE[code],
    headers: { "content-type": "application/json; charset=utf-8", "X-Platform-Error-Code": code, ...headers },
  });
}
