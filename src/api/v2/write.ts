// POST /api/v2/write, the endpoint of v2 clients: `bucket` names the database, errors are a code and a message.
import { t } from "elysia";
import { TsdbError } from "../../model/errors.ts";
import { Precision } from "../../model/time/precision.ts";
import type { WriteResult } from "../../model/write.ts";
import { operation } from "../docs/operation.ts";
import { V2_PRECISIONS } from "../request/precisions.ts";
import { readQueryString } from "../request/query-string.ts";
import type { AppServices } from "../services.ts";
import { json } from "../shared/respond.ts";
import { Routes } from "../shared/route.ts";
import { type PrecisionNames, readPrecision, rejectedStatus, type WriteDialect, WriteRoute, type WriteTarget } from "../shared/write.ts";
import { acceptPartial, LINE_PROTOCOL, noSync, precision, WriteHeaders, writeAnswers } from "../shared/write-schemas.ts";

const V2WriteQuery = t.Object({
  bucket: t.String({ description: "Database; made by the first write." }),
  org: t.Optional(t.String({ description: "Ignored." })),
  precision: precision(V2_PRECISIONS, "ns"),
  accept_partial: acceptPartial,
  no_sync: noSync,
});

const V2Error = t.Object({ code: t.String(), message: t.String() });

/** Error codes of v2 clients, by status. */
const CODES: Readonly<Record<number, string>> = {
  400: "invalid",
  401: "unauthorized",
  403: "forbidden",
  404: "not found",
  413: "request too large",
  422: "unprocessable entity",
  503: "unavailable",
};

const UNITS: PrecisionNames = {
  names: V2_PRECISIONS,
  absent: Precision.nanosecond,
  prefix: "failed to deserialize org/bucket/precision in request: ",
};

function target(search: string): WriteTarget {
  const query = readQueryString(t.Partial(V2WriteQuery), search);
  if (query === null) throw new TsdbError("bad_request", "no org/bucket destination provided");
  if (query.bucket === undefined || query.bucket === "") throw new TsdbError("bad_request", "missing bucket value");
  return {
    database: query.bucket,
    precision: readPrecision(query.precision, UNITS),
    acceptPartial: query.accept_partial ?? true,
    noSync: query.no_sync ?? false,
  };
}

/** The first rejected line in the words that clients match on, then the outcome of the rest. */
function rejectionMessage(result: WriteResult): string {
  const first = result.lineErrors[0];
  const reason = first === undefined ? "no line could be stored" : `${first.errorMessage} (line ${first.lineNumber})`;
  return `write buffer error: line protocol parse failed: ${reason}; rejected lines: ${result.rejectedCount}, stored lines: ${result.rowCount}`;
}

function errorBody(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return json(status, { code: CODES[status] ?? "internal error", message }, headers);
}

const DIALECT: WriteDialect = {
  target,
  emptyMessage: "write buffer error: incoming write was empty",
  rejected: (result) => errorBody(rejectedStatus(result), rejectionMessage(result)),
  failed: (failure) => errorBody(failure.status, failure.message, failure.headers),
};

/** Routes of the v2 write endpoint. */
export const v2WriteRoutes = (services: AppServices) => {
  const route = new WriteRoute(services, DIALECT);
  return new Routes(services.access).post(
    "/api/v2/write",
    operation({
      tag: "Write",
      access: "database",
      summary: "Write line protocol (v2)",
      query: V2WriteQuery,
      headers: WriteHeaders,
      body: LINE_PROTOCOL,
      answers: writeAnswers(V2Error),
    }),
    (call) => route.take(call),
  );
};
