// POST /api/v3/write_lp, the native write endpoint: the precision is detected from the timestamps unless given.
import { t } from "elysia";
import { TsdbError } from "../../model/errors.ts";
import { Precision } from "../../model/time/precision.ts";
import { operation } from "../docs/operation.ts";
import { V3_PRECISIONS } from "../request/precisions.ts";
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

const V3WriteQuery = t.Object({
  db: t.String({ description: "Database; made by the first write." }),
  precision: precision(V3_PRECISIONS, "auto"),
  accept_partial: acceptPartial,
  no_sync: noSync,
});

const UNITS: PrecisionNames = { names: V3_PRECISIONS, absent: Precision.auto, prefix: "serde error: " };

function target(search: string): WriteTarget {
  const query = readQueryString(V3WriteQuery, search);
  if (query === null) throw new TsdbError("bad_request", "missing query parameter 'db'");
  return {
    database: query.db,
    precision: readPrecision(query.precision, UNITS),
    acceptPartial: query.accept_partial ?? true,
    noSync: query.no_sync ?? false,
  };
}

const DIALECT: WriteDialect = {
  target,
  emptyMessage: "incoming write was empty",
  rejected: (result, { acceptPartial }) => {
    const records = rejectionRecords(result);
    // All or nothing: clients expect only the first rejected line, as an object.
    return acceptPartial
      ? json(rejectedStatus(result), { error: "partial write of line protocol occurred", data: records })
      : json(rejectedStatus(result), { error: "parsing failed for write_lp endpoint", data: records[0] });
  },
  failed: errorJson,
};

/** Routes of the v3 write endpoint. */
export const v3WriteRoutes = (services: AppServices) => {
  const route = new WriteRoute(services, DIALECT);
  return new Routes(services.access).post(
    "/api/v3/write_lp",
    operation({
      tag: "Write",
      access: "database",
      summary: "Write line protocol",
      description: "With accept_partial=false `data` is one object, the first bad line, and nothing was stored.",
      query: V3WriteQuery,
      headers: WriteHeaders,
      body: LINE_PROTOCOL,
      answers: writeAnswers(Rejections),
    }),
    (call) => route.take(call),
  );
};
