// GET and POST /api/v3/query_tsdbql, and under the vendor's name: one InfluxQL statement in, its rows out as one table in the formats of
// /api/v3/query_sql.
import { t } from "elysia";
import { TsdbError } from "../../model/errors.ts";
import type { QueryAnswer, QueryFormat } from "../../model/query/query.ts";
import { checkParams, decodeUtf8, parseJson, requiredString } from "../../model/query/query-params.ts";
import type { SeriesPiece } from "../../model/query/series-piece.ts";
import { PieceRows } from "../../tsdbql/execute/piece-rows.ts";
import type { Measurement, PlacedStatement, Source, Statement } from "../../tsdbql/parse/ast.ts";
import { NO_PARAMS, parseParams } from "../../tsdbql/parse/params.ts";
import { parseQuery } from "../../tsdbql/parse/parser.ts";
import { hidden, operation } from "../docs/operation.ts";
import { BodyReader } from "../request/body.ts";
import { chooseFormat, FORMATS } from "../request/query-format.ts";
import { readQueryString } from "../request/query-string.ts";
import type { AppServices } from "../services.ts";
import { QUERY_ALIASES } from "../shared/aliases.ts";
import { type Failure, STATUS } from "../shared/errors.ts";
import { errorJson, errorText, json } from "../shared/respond.ts";
import { type AnyCall, type Call, Routes } from "../shared/route.ts";
import { runQuery } from "../shared/run-query.ts";
import { requireReady } from "../shared/write.ts";
import { isDefinition, runStatement, type StatementContext } from "../tsdbql/run-statement.ts";
import { paramsSource } from "../v1/query-form.ts";
import { QueryHeaders, queryAnswers } from "./query-answers.ts";
import { encodeTable, nameList } from "./tsdbql-names.ts";

const FORMAT = { enum: Object.keys(FORMATS), description: "Form of the answer; wins over Accept. Default: the results object." };
const NS_PER_MS = 1_000_000n;
/** The parser's text for a parameter in place of a name. */
const NULL_PARAM = "unable to bind parameter with type <nil>";

const FIELDS = {
  db: t.Optional(t.String({ description: "Database, unless the statement names it." })),
  q: t.String({ description: "One statement of the v1-style language." }),
  format: t.Optional(t.String(FORMAT)),
};

const QueryTsdbqlQuery = t.Object({
  ...FIELDS,
  params: t.Optional(t.String({ description: "Values of `$name` placeholders, a JSON object." })),
});

const QueryTsdbqlBody = t.Object({
  ...FIELDS,
  params: t.Optional(
    t.Record(t.String(), t.Union([t.String(), t.Number(), t.Boolean(), t.Null()]), { description: "Values of `$name` placeholders." }),
  ),
});

interface TsdbqlQuery {
  readonly database: string;
  readonly text: string;
  readonly format: QueryFormat;
  readonly params: string | null;
  /** It came by GET, and changes nothing. */
  readonly isReadOnly: boolean;
}

function queryFromUrl({ request, target }: AnyCall): TsdbqlQuery {
  const query = readQueryString(QueryTsdbqlQuery, target.search);
  if (query === null) throw new TsdbError("bad_request", "missing query parameters 'db' and 'q'");
  const format = chooseFormat(query.format, request.headers.get("accept"));
  const params = query.params === undefined ? null : paramsOf(`{"params":${query.params}}`, parseJson(query.params));
  return { database: query.db ?? "", text: query.q, format, params, isReadOnly: true };
}

/** @param json contains `value` as its member `params` @throws TsdbError bad_request */
function paramsOf(json: string, value: unknown): string | null {
  const params = checkParams(value);
  return Object.keys(params).length === 0 ? null : paramsSource(json, params);
}

/** The content type is ignored: clients send JSON under any name. */
async function queryFromBody(request: Request, reader: BodyReader): Promise<TsdbqlQuery> {
  const json = decodeUtf8(await reader.readWhole(request), "body content is not valid utf8");
  const fields = parseJson(json);
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
    throw new TsdbError("bad_request", "serde json error: the body must be an object with the member `q`");
  }
  const members = fields as Record<string, unknown>;
  const optional = (name: string) => ((members[name] ?? null) === null ? undefined : requiredString(members, name));
  const format = chooseFormat(optional("format"), request.headers.get("accept"));
  return {
    ...{ database: optional("db") ?? "", text: requiredString(members, "q"), format },
    ...{ params: paramsOf(json, members["params"]), isReadOnly: false },
  };
}

/** The vendor's text for a parameter error; for other errors the text at the error position. */
function parsingError(message: string): string {
  const detail = message.replace(/^error parsing query: /, "");
  const param = /^missing parameter: (.*)$/s.exec(detail)?.[1];
  if (param === undefined) return `error in InfluxQL statement: parsing error: ${detail}`;
  if (param === NULL_PARAM) return "a bind parameter is null, and the language knows no null";
  return `Bind parameter '$${param}' was referenced in the InfluxQL statement but its value is undefined`;
}

/** @throws TsdbError bad_query */
function statementOf({ text, params }: TsdbqlQuery): PlacedStatement {
  let statements: readonly PlacedStatement[];
  try {
    statements = parseQuery(text, params === null ? NO_PARAMS : parseParams(params));
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    throw new TsdbError("bad_query", parsingError(error.message), error.details, { cause: error });
  }
  const [only] = statements;
  if (only === undefined || statements.length > 1) throw new TsdbError("bad_query", "must provide only one InfluxQl statement per query");
  return only;
}

/** A statement and its request must not both name a database. @throws TsdbError bad_query */
function checkDatabase({ database }: TsdbqlQuery, statement: Statement): void {
  const named = namedDatabases(statement);
  const other = named.find((name) => name !== null && name !== database);
  if (database !== "" && other !== undefined && other !== null) {
    throw new TsdbError(
      "bad_query",
      `provided a database in both the parameters (${database}) and query string (${other}) that do not match, if providing a query that ` +
        "specifies the database, you can omit the 'database' parameter from your request",
    );
  }
  if (database === "" && named.includes(null)) {
    throw new TsdbError("bad_query", "must specify a 'db' parameter, or provide the database in the InfluxQL query");
  }
}

/** Following a link deletes nothing. @throws TsdbError bad_query */
function refuseChange(statement: Statement): void {
  if (isDefinition(statement)) throw new TsdbError("bad_query", `This feature is not implemented: ${statement.kind.toUpperCase()}`);
}

/** Null entries: the request must name the database. */
function namedDatabases(statement: Statement): (string | null)[] {
  const ofSource = (source: Source): (string | null)[] =>
    source.kind === "subquery" ? source.select.sources.flatMap(ofSource) : [source.database];
  const ofMeasurements = (database: string | null, sources: readonly Measurement[]) =>
    sources.length === 0 ? [database] : sources.map((source) => source.database ?? database);
  if (statement.kind === "select") return statement.sources.flatMap(ofSource);
  if (statement.kind === "explain") return statement.select.sources.flatMap(ofSource);
  if (statement.kind === "drop measurement" || statement.kind === "drop series" || statement.kind === "delete") return [null];
  if (statement.kind === "show retention policies") return [statement.database];
  return "sources" in statement && "database" in statement ? ofMeasurements(statement.database, statement.sources) : [];
}

function encode(pieces: readonly SeriesPiece[], format: QueryFormat): Promise<QueryAnswer> {
  const rows = new PieceRows();
  const batches = [...pieces.map((piece) => rows.add(piece)), rows.flush()];
  return encodeTable(
    rows.schema,
    batches.filter((batch) => batch !== null),
    format,
  );
}

async function answerOf(services: AppServices, { request, caller }: Call<"database">, query: TsdbqlQuery): Promise<QueryAnswer> {
  const placed = statementOf(query);
  checkDatabase(query, placed.statement);
  if (query.isReadOnly) refuseChange(placed.statement);
  const { database, format, params } = query;
  const nowNs = BigInt(Date.now()) * NS_PER_MS;
  const context: StatementContext = { caller, policies: null, database, retentionPolicy: null, params, nowNs, signal: request.signal };
  const list = nameList(services, context, placed.statement);
  if (list !== null) return encodeTable(list.schema, [list.batch], format);
  const result = await runStatement(services, context, placed, { format, answer: null });
  return "body" in result ? result : encode(result.pieces, format);
}

function takeQuery(
  services: AppServices,
  call: Call<"database">,
  path: string,
  read: () => TsdbqlQuery | Promise<TsdbqlQuery>,
): Promise<Response> {
  return runQuery(services, {
    ...{ request: call.request, server: call.server, path },
    run: async () => {
      const query = await read();
      requireReady(services.status());
      return answerOf(services, call, query);
    },
    refused,
  });
}

/** Errors of a statement are plain text; all others have the JSON form. */
function refused(failure: Failure, error: unknown): Response {
  if (error instanceof TsdbError && error.kind === "unknown_database") {
    return errorJson({ ...failure, message: `query error: ${failure.message}` });
  }
  return failure.status === 400 ? errorText(failure) : errorJson(failure);
}

const ANSWERS = queryAnswers(t.Object({ results: t.Array(t.Any()) }), "A row object a line; the first member is iox::measurement.");

/** Routes of the InfluxQL query endpoint. */
export const queryTsdbqlRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const notAllowed = () => json(STATUS.method_not_allowed, { error: "method not allowed" }, { allow: "GET, POST" });
  const about = {
    access: "database",
    tag: "Query",
    summary: "Query with the v1-style language",
    headers: QueryHeaders,
    answers: ANSWERS,
  } as const;
  const app = new Routes(services.access);
  for (const path of QUERY_ALIASES) {
    app
      .get(path, operation({ ...about, query: QueryTsdbqlQuery }), (call) => takeQuery(services, call, path, () => queryFromUrl(call)))
      .post(path, operation({ ...about, body: { "application/json": QueryTsdbqlBody } }), (call) =>
        takeQuery(services, call, path, () => queryFromBody(call.request, reader)),
      )
      .head(path, hidden("any token"), notAllowed)
      .all(path, hidden("any token"), notAllowed);
  }
  return app;
};
