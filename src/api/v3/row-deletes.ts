// /api/v3/row_delete_requests: requests to delete rows, which are kept and can be taken back.
import { t } from "elysia";
import { near, TsdbError } from "../../model/errors.ts";
import {
  type Disposition,
  dispositionOf,
  type LevelProgress,
  type RowDeleteInfo,
  type RowDeleteProgress,
} from "../../model/rows/row-delete.ts";
import { parseTimeText } from "../../sql/parse/time-text.ts";
import { operation } from "../docs/operation.ts";
import { BodyReader } from "../request/body.ts";
import { readJsonBody } from "../request/json-body.ts";
import { readQueryString } from "../request/query-string.ts";
import type { AppServices } from "../services.ts";
import { json } from "../shared/respond.ts";
import { type Call, Routes } from "../shared/route.ts";
import { answeredJson, failed } from "./job-answers.ts";

const PATH = "/api/v3/row_delete_requests";
/** No database has this name: permissions for all of them cover it. */
const EVERY_DATABASE = "*";
const DISPOSITIONS = ["pending", "completed", "aborted"] as const satisfies readonly Disposition[];

const time = (description: string) =>
  t.Optional(t.Union([t.Integer(), t.String()], { description: `${description} Nanoseconds since 1970, or a time of RFC 3339.` }));
const CreateBody = t.Object({
  db: t.String({ description: "Database." }),
  table: t.String({ description: "Table." }),
  min_time: time("First instant."),
  max_time: time("The instant after the last."),
  all_time: t.Optional(t.Boolean({ description: "Rows of all times: needed where neither a bound nor a predicate is given." })),
  predicate: t.Optional(
    t.String({ description: "A condition of SQL's WHERE over tags, and bounds of time: `room = 'kitchen' AND time < '2026-01-01'`." }),
  ),
});
const AbortBody = t.Object({ reason: t.String({ description: "Why; at most 4096 characters." }) });
const Path = t.Object({ seq: t.Integer({ description: "Sequence of a request." }) });
const ListQuery = t.Object({
  db: t.Optional(t.String({ description: "Only of this database." })),
  table: t.Optional(t.String({ description: "Only of this table." })),
  disposition: t.Optional(t.Union(DISPOSITIONS.map((each) => t.Literal(each)))),
  min_sequence: t.Optional(t.Integer()),
  max_sequence: t.Optional(t.Integer()),
  include_progress: t.Optional(t.Boolean({ default: false, description: "Count blocks of files." })),
});

const Level = t.Object({ total: t.Integer(), processed: t.Integer() });
const Progress = t.Object({
  sequence_id: t.Integer(),
  in_range: t.Object({ l1: Level, l2: Level, l3: Level, l4: Level }, { description: "By how often rows were merged." }),
  out_of_range: Level,
});
const Request = t.Object({
  sequence: t.Integer(),
  db_id: t.Integer(),
  table_id: t.Integer(),
  db_name: t.String({ description: "When it was asked for." }),
  table_name: t.String({ description: "When it was asked for." }),
  db_name_stale: t.Boolean({ description: "The database has another name now, or is gone." }),
  table_name_stale: t.Boolean({ description: "The table has another name now, or is gone." }),
  min_time: t.Optional(t.Integer({ description: "First instant, nanoseconds." })),
  max_time: t.Optional(t.Integer({ description: "The instant after the last, nanoseconds." })),
  delete_predicate: t.String(),
  created_at: t.Integer({ description: "Seconds since 1970." }),
  disposition: t.Union(DISPOSITIONS.map((each) => t.Literal(each))),
  completed_at: t.Optional(t.Integer()),
  aborted_at: t.Optional(t.Integer()),
  abort_reason: t.Optional(t.String()),
  progress: t.Optional(Progress),
});

const UNAVAILABLE = { 503: failed("The server is replaying its log or stopping; try again.") };
const UNSEEN = {
  403: failed("The token may not delete from the request's database; the same of an unknown sequence, unless it may delete from all."),
  404: failed("No request has the sequence."),
};
const one = (description: string) => ({ description, content: { "application/json": Request } });

const COMMON = { tag: "Databases", access: "database" } as const;

/** What the documentation says of each route. */
const OPERATIONS = {
  create: operation({
    ...{ ...COMMON, summary: "Delete rows", body: { "application/json": CreateBody } },
    description:
      "Rows that were written before and fit are gone for every later query; rows written later stay. The request is kept, and can be " +
      "aborted until --row-delete-min-age; then files are written without the rows.",
    answers: {
      ...UNAVAILABLE,
      200: one("The request."),
      400: failed("The body, a time or the predicate cannot be understood, or the predicate compares fields."),
      404: failed("The database or table does not exist."),
      422: failed("Too many requests are pending, or the predicate selects too many different series."),
    },
  }),
  list: operation({
    ...{ ...COMMON, summary: "List requests to delete rows", query: ListQuery },
    answers: {
      ...UNAVAILABLE,
      200: {
        description: "Those of databases from which the token may delete, ascending sequences.",
        content: { "application/json": t.Array(Request) },
      },
      400: failed("A parameter cannot be understood."),
    },
  }),
  show: operation({
    ...{ ...COMMON, summary: "Get a request to delete rows", path: Path },
    answers: { ...UNAVAILABLE, ...UNSEEN, 200: one("The request, with its progress.") },
  }),
  abort: operation({
    ...{ ...COMMON, summary: "Abort a request to delete rows", path: Path, body: { "application/json": AbortBody } },
    description: "The rows are there again.",
    answers: {
      ...UNAVAILABLE,
      200: one("The request, aborted."),
      400: failed("The body cannot be understood, or it is too late: rows are being removed from files, or the request has ended."),
      ...UNSEEN,
    },
  }),
};

/** Only with the extended edition. */
export const rowDeleteRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const routes = new Routes(services.access);
  if (services.edition !== "enterprise") return routes;
  const requested = (call: Call<"database">): RowDeleteInfo => {
    const sequence = sequenceIn(call);
    let request: RowDeleteInfo;
    try {
      request = services.rowDeletes().find(sequence);
    } catch (error) {
      // to others an unknown number is as that of a database from which they may not delete: they learn of neither
      call.caller.require(EVERY_DATABASE, "delete");
      throw error;
    }
    call.caller.require(request.database, "delete");
    return request;
  };
  return routes
    .post(PATH, OPERATIONS.create, (call) =>
      answeredJson(services, call, async () => {
        const { db, table, ...body } = await readJsonBody(CreateBody, call.request, reader, { bigIntegersAsText: true });
        call.caller.require(db, "delete");
        const [minNs, endNs] = [timeOf("min_time", body.min_time), timeOf("max_time", body.max_time)];
        const predicate = body.predicate ?? "";
        if (body.all_time === true && (minNs !== null || endNs !== null)) {
          throw new TsdbError("bad_request", "all_time: true and a bound of time exclude each other");
        }
        if (body.all_time !== true && minNs === null && endNs === null && predicate.trim() === "") {
          throw new TsdbError("bad_request", "this would delete every row of the table: say so by all_time: true");
        }
        const request = { database: db, table, minNs, endNs, predicate };
        return json(200, shown(await services.rowDeletes().create(request, call.request.signal)));
      }),
    )
    .get(PATH, OPERATIONS.list, (call) =>
      answeredJson(services, call, () => {
        const query = readQueryString(ListQuery, call.target.search) ?? {};
        if (query.db !== undefined) call.caller.require(query.db, "delete");
        const requests = services.rowDeletes().list({
          ...{ database: query.db, table: query.table, disposition: dispositionIn(query.disposition) },
          ...{ minSequence: wholeNumber("min_sequence", query.min_sequence) },
          ...{ maxSequence: wholeNumber("max_sequence", query.max_sequence) },
        });
        const allowed = requests.filter(({ database }) => call.caller.allows(database, "delete"));
        const progressOf = (request: RowDeleteInfo) => (query.include_progress ? services.rowDeletes().progress(request) : null);
        return json(
          200,
          allowed.map((request) => shown(request, progressOf(request))),
        );
      }),
    )
    .pattern("GET", `${PATH}/{seq}`, OPERATIONS.show, (call) =>
      answeredJson(services, call, () => {
        const request = requested(call);
        return json(200, shown(request, services.rowDeletes().progress(request)));
      }),
    )
    .pattern("POST", `${PATH}/{seq}/abort`, OPERATIONS.abort, (call) =>
      answeredJson(services, call, async () => {
        const { reason } = await readJsonBody(AbortBody, call.request, reader);
        const { sequence } = requested(call);
        return json(200, shown(await services.rowDeletes().abort(sequence, reason)));
      }),
    );
};

function sequenceIn({ parameters }: Call<"database">): number {
  const text = parameters["seq"] ?? "";
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new TsdbError("bad_request", `want the sequence of a request, got "${near(text)}"`);
}

function wholeNumber(name: string, text: unknown): number | undefined {
  if (text === undefined) return undefined;
  if (typeof text === "string" && /^-?\d{1,15}$/.test(text)) return Number(text);
  throw new TsdbError("bad_request", `serde error: parameter \`${name}\` must be a whole number, got "${near(String(text))}"`);
}

function dispositionIn(text: string | undefined): Disposition | undefined {
  const found = DISPOSITIONS.find((each) => each === text);
  if (text === undefined || found !== undefined) return found;
  throw new TsdbError("bad_request", `serde error: parameter \`disposition\` must be ${DISPOSITIONS.join(", ")}, got "${near(text)}"`);
}

/** @throws TsdbError bad_request */
function timeOf(name: string, value: number | string | undefined): bigint | null {
  if (value === undefined) return null;
  const isWhole = typeof value === "number" || /^-?\d{1,20}$/.test(value);
  const found = isWhole ? BigInt(value) : parseTimeText(value);
  if (typeof found !== "bigint")
    throw new TsdbError("bad_request", `${name}: "${near(String(value))}" is no time; want one as 2026-01-31T12:00:00Z, or nanoseconds`);
  if (BigInt.asIntN(64, found) !== found) throw new TsdbError("bad_request", `${name}: ${value} is beyond 64 bits`);
  return found;
}

/** A number of 64 bits, exactly. */
function exact(text: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);
}

function shown(request: RowDeleteInfo, progress: RowDeleteProgress | null = null): Record<string, unknown> {
  const { sequence, databaseId, tableId, database, table, minTimeNs, endTimeNs, predicate, createdMs, endedMs, abortReason } = request;
  const disposition = dispositionOf(request);
  const seconds = (ms: number) => Math.floor(ms / 1000);
  return {
    ...{ sequence, db_id: databaseId, table_id: tableId, db_name: database, table_name: table },
    ...{ db_name_stale: request.isDatabaseStale, table_name_stale: request.isTableStale },
    ...(minTimeNs === null ? {} : { min_time: exact(minTimeNs) }),
    ...(endTimeNs === null ? {} : { max_time: exact(endTimeNs) }),
    ...{ delete_predicate: predicate, created_at: seconds(createdMs), disposition },
    ...(disposition === "completed" && endedMs !== null ? { completed_at: seconds(endedMs) } : {}),
    ...(disposition === "aborted" && endedMs !== null ? { aborted_at: seconds(endedMs) } : {}),
    ...(abortReason === null ? {} : { abort_reason: abortReason }),
    ...(progress === null ? {} : { progress: shownProgress(sequence, progress) }),
  };
}

function shownProgress(sequence: number, { inRange, outOfRange }: RowDeleteProgress): object {
  const levels = Object.fromEntries(inRange.map((level: LevelProgress, i) => [`l${i + 1}`, level]));
  return { sequence_id: sequence, in_range: levels, out_of_range: outOfRange };
}
