// GET and POST /api/v3/query_sql: one statement in, its rows out in the format that `format` or Accept selects, streamed.
import { t } from "elysia";
import { TsdbError } from "../../model/errors.ts";
import type { QueryRequest } from "../../model/query/query.ts";
import { checkParams, decodeUtf8, parseJson, requiredString } from "../../model/query/query-params.ts";
import type { QueryTelemetry } from "../../model/telemetry/query-telemetry.ts";
import { hidden, operation } from "../docs/operation.ts";
import { BodyReader } from "../request/body.ts";
import { chooseFormat, FORMATS } from "../request/query-format.ts";
import { readQueryString } from "../request/query-string.ts";
import type { AppServices } from "../services.ts";
import { type Failure, STATUS } from "../shared/errors.ts";
import { errorJson, errorText, json } from "../shared/respond.ts";
import { type AnyCall, type Call, Routes } from "../shared/route.ts";
import { runQuery } from "../shared/run-query.ts";
import { requireReady } from "../shared/write.ts";
import { QueryHeaders, queryAnswers } from "./query-answers.ts";

const PATH = "/api/v3/query_sql";
const FORMAT = { enum: Object.keys(FORMATS), description: "Form of the answer; wins over Accept. Default: the results object." };

const QuerySqlQuery = t.Object({
  db: t.String({ description: "Database." }),
  q: t.String({ description: "One SQL statement." }),
  format: t.Optional(t.String(FORMAT)),
  params: t.Optional(t.String({ description: "Values of `$name` placeholders, a JSON object of scalars." })),
});

const QuerySqlBody = t.Object({
  db: t.String({ description: "Database." }),
  q: t.String({ description: "One SQL statement." }),
  format: t.Optional(t.String(FORMAT)),
  params: t.Optional(
    t.Record(t.String(), t.Union([t.String(), t.Number(), t.Boolean(), t.Null()]), { description: "Values of `$name` placeholders." }),
  ),
});

/** The vendor's form: used for application/json unless `format=json` requests row objects. */
const SqlResults = t.Object({
  results: t.Array(
    t.Object({
      series: t.Array(t.Object({ name: t.String(), columns: t.Array(t.String()), values: t.Array(t.Array(t.Any())) })),
    }),
  ),
});

type Statement = Omit<QueryRequest, "signal">;

function statementFromUrl({ request, target }: AnyCall): Statement {
  const query = readQueryString(QuerySqlQuery, target.search);
  if (query === null) throw new TsdbError("bad_request", "missing query parameters 'db' and 'q'");
  return {
    database: query.db,
    statement: query.q,
    format: chooseFormat(query.format, request.headers.get("accept")),
    params: query.params === undefined ? {} : checkParams(parseJson(query.params)),
  };
}

/** The content type is ignored: clients send JSON under any name. */
async function statementFromBody(request: Request, reader: BodyReader): Promise<Statement> {
  const body = await reader.readWhole(request);
  const fields = parseJson(decodeUtf8(body, "body content is not valid utf8"));
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
    throw new TsdbError("bad_request", "serde json error: the body must be an object with the members `db` and `q`");
  }
  const members = fields as Record<string, unknown>;
  const { format, params } = members;
  return {
    database: requiredString(members, "db"),
    statement: requiredString(members, "q"),
    format: chooseFormat(
      format === undefined || format === null ? undefined : requiredString(members, "format"),
      request.headers.get("accept"),
    ),
    params: checkParams(params),
  };
}

/** Runs the statement that `read` returns. */
function takeQuery(
  services: AppServices,
  { request, server, caller }: Call<"database">,
  read: () => Statement | Promise<Statement>,
): Promise<Response> {
  let statement: Statement | undefined;
  return runQuery(services, {
    ...{ request, server, path: PATH },
    run: async () => {
      statement = await read();
      requireReady(services.status());
      caller.require(statement.database, "read");
      const onTelemetry = (telemetry: QueryTelemetry) => services.telemetry.set(caller.id, telemetry);
      return services.query.query({ ...statement, onTelemetry, signal: request.signal });
    },
    refused: (failure, error) => refused(failure, error, statement),
  });
}

/** Errors of a statement are plain text; all others have the JSON form. */
function refused(failure: Failure, error: unknown, statement: Statement | undefined): Response {
  if (statement !== undefined && error instanceof TsdbError && error.kind === "unknown_database") {
    return errorJson({ ...failure, message: `query error: database not found: ${statement.database}` });
  }
  return failure.status === 400 ? errorText(failure) : errorJson(failure);
}

const ANSWERS = queryAnswers(SqlResults, "A row object a line.");

/** Routes of the SQL query endpoint. */
export const querySqlRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const notAllowed = () => json(STATUS.method_not_allowed, { error: "method not allowed" }, { allow: "GET, POST" });
  return new Routes(services.access)
    .get(
      PATH,
      operation({
        tag: "Query",
        access: "database",
        summary: "Query with SQL",
        query: QuerySqlQuery,
        headers: QueryHeaders,
        answers: ANSWERS,
      }),
      (call) => takeQuery(services, call, () => statementFromUrl(call)),
    )
    .post(
      PATH,
      operation({
        tag: "Query",
        access: "database",
        summary: "Query with SQL",
        headers: QueryHeaders,
        body: { "application/json": QuerySqlBody },
        answers: ANSWERS,
      }),
      (call) => takeQuery(services, call, () => statementFromBody(call.request, reader)),
    )
    .head(PATH, hidden("any token"), notAllowed)
    .all(PATH, hidden("any token"), notAllowed);
};
