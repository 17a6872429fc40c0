// POST /write, the endpoint of v1 clients: `db` and `rp` name the database, errors list the rejected lines.
import { t } from "elysia";
import { TsdbError } from "../../model/errors.ts";
import { databaseOfPolicy } from "../../model/names.ts";
import { isNoPolicy } from "../../model/retention-policies.ts";
import { Precision } from "../../model/time/precision.ts";
import { operation } from "../docs/operation.ts";
import { V1_PRECISIONS } from "../request/precisions.ts";
import { readQueryString } from "../request/query-string.ts";
import type { AppServices } from "../services.ts";
import { errorJson, json } from "../shared/respond.ts";
import { Routes } from "../shared/route.ts";
import {
  type PrecisionNames,
  readPrecision,
  rejectedStatus,
  rejectionRecords,
  type WriteDialect,
  WriteRoute,
  type WriteTarget,
} from "../shared/write.ts";
import { acceptPartial, LINE_PROTOCOL, noSync, precision, Rejections, WriteHeaders, writeAnswers } from "../shared/write-schemas.ts";
import { headerText } from "./query-request.ts";

const PREFIX = "failed to deserialize db/rp/precision in request: ";

const V1WriteQuery = t.Object({
  db: t.String({ description: "Database; made by the first write." }),
  rp: t.Optional(
    t.String({
      description: "Retention policy; empty: the default one. autogen and default are the database itself, any other the database `db/rp`.",
    }),
  ),
  precision: precision(V1_PRECISIONS, "ns"),
  accept_partial: t.Optional(
    t.String({ enum: ["true", "false"], default: "true", description: `${acceptPartial.description} Other values are not looked at.` }),
  ),
  no_sync: noSync,
  consistency: t.Optional(t.String({ description: "Ignored." })),
  u: t.Optional(t.String({ description: "User name; ignored." })),
  p: t.Optional(t.String({ description: "Password: the token." })),
});

const UNITS: PrecisionNames = { names: V1_PRECISIONS, absent: Precision.nanosecond, prefix: PREFIX };

function target(search: string): WriteTarget {
  const query = readQueryString(V1WriteQuery, search, PREFIX);
  if (query === null) throw new TsdbError("bad_request", "no db destination provided");
  if (query.db === "") throw new TsdbError("bad_request", "namespace name  length must be between 1 and 64 characters");
  return {
    database: databaseOfPolicy(query.db, query.rp),
    isOfV1: true,
    takesDefaultPolicy: isNoPolicy(query.rp),
    precision: readPrecision(query.precision, UNITS),
    acceptPartial: query.accept_partial !== "false",
    noSync: query.no_sync ?? false,
  };
}

const DIALECT: WriteDialect = {
  target,
  emptyMessage: "incoming write was empty",
  rejected: (result) => {
    const data = rejectionRecords(result);
    // clients show only the error: the first line's reason precedes the text that they match
    const isFailed = result.rowCount === 0;
    const outcome = isFailed ? "write of line protocol failed" : "partial write of line protocol occurred";
    const message = [...data.slice(0, 1).map((record) => record.error_message), outcome].join(": ");
    return json(rejectedStatus(result), { error: isFailed ? outcome : message, data }, errorHeader(message));
  },
  failed: (failure) => errorJson({ ...failure, headers: { ...failure.headers, ...errorHeader(failure.message) } }),
};

/** Where clients of 1.x look for the reason of a refused write, some there alone. */
function errorHeader(message: string): Record<string, string> {
  return { "X-Influxdb-Error": headerText(message) };
}

/** Routes of the v1 write endpoint. */
export const v1WriteRoutes = (services: AppServices) => {
  const route = new WriteRoute(services, DIALECT);
  return new Routes(services.access).post(
    "/write",
    operation({
      tag: "Write",
      access: "database",
      takesPassword: true,
      summary: "Write line protocol (v1)",
      query: V1WriteQuery,
      headers: WriteHeaders,
      body: LINE_PROTOCOL,
      answers: writeAnswers(Rejections),
    }),
    (call) => route.take(call),
  );
};
