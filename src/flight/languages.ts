// The languages of tickets: the one place that knows which of them the query path understands.
import { near, TsdbError } from "../model/errors.ts";
import type { QueryParams, QueryRequest } from "../model/query.ts";
import { Unimplemented } from "./status.ts";

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

/** @throws Unimplemented for a language without an engine */
export function arrowRequest(asked: LanguageStatement, signal: AbortSignal): QueryRequest {
  const { language, database, statement, params, isFlightSql = false } = asked;
  if (language !== "sql") throw new Unimplemented(`This feature is not implemented: query_type ${language}`);
  return { database, statement, params, format: "arrow", queryType: isFlightSql ? "flightsql" : language, signal };
}
