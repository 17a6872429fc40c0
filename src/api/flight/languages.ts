// Query languages of tickets, and their conversion to requests of the query path.
import { near, TsdbError } from "../../model/errors.ts";
import type { QueryParams, QueryRequest } from "../../model/query/query.ts";
import { shownJson } from "../../model/query/query-params.ts";
import { parseParams } from "../../tsdbql/parse/params.ts";
import { parseQuery } from "../../tsdbql/parse/parser.ts";
import { requiredPermissions } from "../../tsdbql/parse/required-permissions.ts";

const NS_PER_MS = 1_000_000n;

export type Language = "sql" | "influxql";

/** A statement to be executed. */
export interface LanguageStatement {
  readonly language: Language;
  readonly database: string;
  readonly statement: string;
  readonly params: QueryParams;
  /** True for a Flight SQL command. */
  readonly isFlightSql?: boolean;
}

/** Parses the name in tickets and headers; absent means SQL. @throws TsdbError bad_request */
export function languageOf(name: unknown): Language {
  if (name === undefined || name === null || name === "sql") return "sql";
  if (name === "influxql") return "influxql";
  throw new TsdbError("bad_request", `Unknown query type. Expected 'sql' or 'influxql', got ${near(shownJson(name))}`);
}

/** The request for a statement, with an Arrow answer. @throws TsdbError bad_query */
export function arrowRequest(asked: LanguageStatement, signal: AbortSignal): QueryRequest {
  const { language, database, statement, params, isFlightSql = false } = asked;
  if (language === "influxql") return tsdbqlRequest(asked, signal);
  return { database, statement, params, format: "flight", queryType: isFlightSql ? "flightsql" : language, signal };
}

/** Parameters are bound as the JSON given in the ticket. @throws TsdbError bad_query unless the statement reads the ticket's database:
 *  the caller was authorized for it alone */
function tsdbqlRequest({ language, database, statement, params }: LanguageStatement, signal: AbortSignal): QueryRequest {
  const json = jsonOf(params);
  const [only, ...others] = parseQuery(statement, parseParams(json));
  if (only === undefined || others.length > 0) throw new TsdbError("bad_query", "must provide only one InfluxQl statement per query");
  const required = requiredPermissions(only.statement, { database, retentionPolicy: null, policies: null });
  const isHere =
    required !== "admin" && required.length > 0 && required.every((each) => each.action === "read" && each.database === database);
  if (!isHere) throw new TsdbError("bad_query", "only statements that read the ticket's database can be asked here; others go to /query");
  const tsdbql = { retentionPolicy: null, nowNs: BigInt(Date.now()) * NS_PER_MS, params: json, answer: null };
  return { database, statement, params: {}, format: "flight", queryType: language, tsdbql, signal };
}

function jsonOf(params: QueryParams): string {
  return `{${Object.entries(params)
    .map(([name, value]) => `${JSON.stringify(name)}:${scalarText(value)}`)
    .join()}}`;
}

/** Numbers become floats even if integral. */
function scalarText(value: QueryParams[string]): string {
  if (typeof value === "bigint") return String(value);
  const isWhole = typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 1e21;
  return isWhole ? `${value}.0` : JSON.stringify(value);
}
