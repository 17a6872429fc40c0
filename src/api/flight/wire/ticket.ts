// Tickets of DoGet: the vendor's, as JSON or protobuf, and those returned by GetFlightInfo.
import { TsdbError } from "../../../model/errors.ts";
import type { QueryParams } from "../../../model/query/query.ts";
import { checkParams, decodeUtf8, parseJson, requiredString } from "../../../model/query/query-params.ts";
import { type Language, type LanguageStatement, languageOf } from "../languages.ts";
import { Any, QUERY_TYPE, type QueryParam, ReadInfo } from "./flight-messages.ts";
import type { MessageOf } from "./protobuf.ts";
import { decodeCommand, isAnyOf, packAny, type SqlCommand, StatementTicket, unpackAny } from "./sql-messages.ts";

export type TicketRequest =
  | ({ readonly is: "statement" } & LanguageStatement)
  /** `database`: null if the ticket names none; the call's metadata must then. */
  | { readonly is: "command"; readonly database: string | null; readonly command: SqlCommand };

/** @throws TsdbError bad_request */
export function decodeTicket(ticket: Uint8Array): TicketRequest {
  try {
    if (isAnyOf(ReadInfo, ticket)) return fromReadInfo(unpackAny(ReadInfo, ticket));
    if (isAnyOf(StatementTicket, ticket)) return fromReadInfo(ReadInfo.decode(unpackAny(StatementTicket, ticket).handle));
    const command = commandIn(ticket);
    if (command !== null) return { is: "command", database: null, command };
    return ticket.find((byte) => !WHITESPACE.has(byte)) === BRACE ? fromJson(ticket) : fromReadInfo(ReadInfo.decode(ticket));
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    throw new TsdbError("bad_request", `Invalid ticket. Error: ${error.message}`, {}, { cause: error });
  }
}

/** The ticket for a Flight SQL command (an encoded Any) on a database. */
export function ticketFor(database: string, command: Uint8Array): Uint8Array<ArrayBuffer> {
  return packAny(ReadInfo, { database, queryType: QUERY_TYPE.flightSql, flightSqlCommand: command });
}

/** The ticket for a statement in a language without Flight SQL commands. */
export function statementTicket(database: string, language: Language, query: string): Uint8Array<ArrayBuffer> {
  return packAny(ReadInfo, { database, query, queryType: QUERY_TYPE[language] });
}

const BRACE = 0x7b;
const WHITESPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
/** Members of a JSON ticket that name the database. */
const DATABASE_MEMBERS = ["database", "namespace_name", "bucket", "bucket-name"] as const;

function commandIn(ticket: Uint8Array): SqlCommand | null {
  try {
    Any.decode(ticket);
  } catch {
    return null;
  }
  return decodeCommand(ticket);
}

/** {"database":"d","sql_query":"SELECT 1","query_type":"sql","params":{},"is_debug":false}; other members are ignored. */
function fromJson(ticket: Uint8Array): TicketRequest {
  const members = parseJson(decodeUtf8(ticket, "the ticket is not valid UTF-8")) as Record<string, unknown>;
  const given = DATABASE_MEMBERS.filter((name) => Object.hasOwn(members, name));
  if (given.length > 1) throw new TsdbError("bad_request", `the database is given twice, as ${given.join(" and ")}`);
  const { is_debug: isDebug } = members;
  if (isDebug !== undefined && typeof isDebug !== "boolean") throw new TsdbError("bad_request", "`is_debug` must be true or false");
  return {
    is: "statement",
    database: requiredString(members, given[0] ?? "database"),
    statement: requiredString(members, "sql_query"),
    language: languageOf(members["query_type"]),
    params: checkParams(members["params"]),
  };
}

function fromReadInfo(info: MessageOf<typeof ReadInfo>): TicketRequest {
  const { database, query, queryType, flightSqlCommand } = info;
  if (queryType === QUERY_TYPE.flightSql) {
    if (query !== "") throw new TsdbError("bad_request", "a ticket for a Flight SQL command has no text");
    const command = decodeCommand(flightSqlCommand);
    if (command === null) throw new TsdbError("bad_request", "the ticket's Flight SQL command is unknown");
    return { is: "command", database, command };
  }
  if (flightSqlCommand.length > 0) throw new TsdbError("bad_request", "a ticket for a statement has no Flight SQL command");
  if (database === "") throw new TsdbError("bad_request", "missing field `database`");
  const isKnown = queryType === QUERY_TYPE.unspecified || queryType === QUERY_TYPE.sql || queryType === QUERY_TYPE.influxql;
  if (!isKnown) throw new TsdbError("bad_request", `Unknown query type. Expected 0 to 3, got ${queryType}`);
  return {
    is: "statement",
    database,
    statement: query,
    language: queryType === QUERY_TYPE.influxql ? "influxql" : "sql",
    params: paramValues(info.params),
  };
}

type Param = MessageOf<typeof QueryParam>;
const NO_VALUE = {
  ...{ null: undefined, boolean: undefined, uint64: undefined, int64: undefined, float64: undefined, string: undefined },
};

function paramValues(params: readonly Param[]): QueryParams {
  return Object.fromEntries(params.map((param) => [param.name, paramValue(param)]));
}

/** The value of a parameter message. */
export function paramValue({ string, boolean, float64, uint64, int64 }: Param): QueryParams[string] {
  return string ?? boolean ?? float64 ?? uint64 ?? int64 ?? null;
}

/** The message of a parameter. */
export function paramMessage(name: string, value: QueryParams[string]): Param {
  return { ...NO_VALUE, name, ...typedValue(value) };
}

function typedValue(value: QueryParams[string]): Partial<Param> {
  if (typeof value === "string") return { string: value };
  if (typeof value === "boolean") return { boolean: value };
  if (typeof value === "bigint") return value < 0n ? { int64: BigInt.asIntN(64, value) } : { uint64: BigInt.asUintN(64, value) };
  return value === null ? { null: 0 } : { float64: value };
}
