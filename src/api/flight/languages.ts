// The languages of tickets: the one place that knows which of them the query path understands.
import { near, TsdbError } from "../../model/errors.ts";
import type { QueryParams, QueryRequest } from "../../model/query/query.ts";
import { parseParams } from "../../tsdbql/parse/params.ts";
import { parseQuery } from "../../tsdbql/parse/parser.ts";
import { requiredPermissions } from "../../tsdbql/parse/required-permissions.ts";

const NS_PER_MS = 1_000_000n;

export type Language = "sql" | "influxql";

/** A statement on its way to the engine. */
export interface LanguageStatement {
  readonly language: Language;
  readonly database: string;
  readonly statement: string;
  readonly params: QueryParams;
  /** It came as a command of Flight SQL. */
  readonly isFlightSql?: boolean;
}

/** As tickets and headers name it; absent is SQL. @throws TsdbError bad_request */
export function languageOf(name: unknown): Language {
  if (name === undefined || name === null || name === "sql") return "sql";
  if (name === "influxql") return "influxql";
  throw new TsdbError("bad_request", `Unknown query type. Expected 'sql' or 'influxql', got ${near(String(name))}`);
}

export function arrowRequest(asked: LanguageStatement, signal: AbortSignal): QueryRequest {
  const { language, database, statement, params, isFlightSql = false } = asked;
  if (language === "influxql") return tsdbqlRequest(asked, signal);
  return { database, statement, params, format: "flight", queryType: isFlightSql ? "flightsql" : language, signal };
}

/** Its parameters are bound as the JSON that they are in a ticket.
 *  @throws TsdbError bad_query for what is not about rows of the ticket's database: the caller was authorized for that one alone */
function tsdbqlRequest({ language, database, statement, params }: LanguageStatement, signal: AbortSignal): QueryRequest {
  const json = jsonOf(params);
  const [only, ...others] = parseQuery(statement, parseParams(json));
  if (only === undefined || others.length > 0) throw new TsdbError("bad_query", "must provide only one InfluxQl statement per query");
  const touched = requiredPermissions(only.statement, { database, retentionPolicy: null, policies: null });
  const isHere = touched !== "admin" && touched.length > 0 && touched.every((each) => each.action === "read" && each.database === database);
  if (!isHere) throw new TsdbError("bad_query", "only statements that read the ticket's database can be asked here; others go to /query");
  const tsdbql = { retentionPolicy: null, nowNs: BigInt(Date.now()) * NS_PER_MS, params: json, answer: null };
  return { database, statement, params: {}, format: "flight", queryType: language, tsdbql, signal };
}

function jsonOf(params: QueryParams): string {
  return `{${Object.entries(params)
    .map(([name, value]) => `${JSON.stringify(name)}:${scalarText(value)}`)
    .join()}}`;
}

/** A number is a float even if it is whole. */
function scalarText(value: QueryParams[string]): string {
  if (typeof value === "bigint") return String(value);
  const isWhole = typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 1e21;
  return isWhole ? `${value}.0` : JSON.stringify(value);
}
