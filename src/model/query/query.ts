// The interface between API routes and query execution.
import type { PolicyRules } from "../retention-policies.ts";
import type { QueryTelemetry } from "../telemetry/query-telemetry.ts";
import type { FluxOptions } from "./flux.ts";
import type { TimeRange } from "./scan.ts";
import type { V1Answer } from "./v1-answer.ts";

/** "flight": Arrow as Flight clients read it, strings without dictionaries. "plugin": "seed" with times as integers of nanoseconds,
 *  and NaN and infinite numbers behind the rows. */
export type QueryFormat = "seed" | "plugin" | "json" | "jsonl" | "csv" | "pretty" | "parquet" | "arrow" | "flight";

/** Bind parameters: JSON scalars. Integers are bigint; a number is a float even if it is integral. */
export type QueryParams = Readonly<Record<string, string | number | bigint | boolean | null>>;

/** What a name of a database denotes in InfluxQL statements of port 8086: a bucket for each retention policy. */
export interface MappedDatabase {
  /** Names in the request's scope, by policy. */
  readonly policies: ReadonlyMap<string, string>;
  /** Where the statement names no policy; null: it must name one. */
  readonly defaultName: string | null;
}

/** Options of an InfluxQL statement besides its text. */
export interface TsdbqlOptions {
  /** Retention policy of the request; null: the default policy. */
  readonly retentionPolicy: string | null;
  /** Rules of the databases that the statement names, where rules are set. */
  readonly policyRules?: Readonly<Record<string, PolicyRules>>;
  /** Set for requests with a scope: databases that the statement names, as far as the sender may read them. Others are unknown. */
  readonly mappings?: ReadonlyMap<string, MappedDatabase>;
  /** Value of now() for all statements of a request. */
  readonly nowNs: bigint;
  /** Bind parameters as received, a JSON object; null: none. */
  readonly params: string | null;
  /** Format of the answer: as for /query; or as line protocol for INTO, with the named measurement or, null, each series' own; null: in
   *  the request's format, with measurement and tags as columns. */
  readonly answer: { readonly v1: V1Answer } | { readonly measurement: string | null } | null;
  /** The databases `db/rp` that listings of `db` include: those that the sender may read. Absent: all. */
  readonly policies?: readonly string[];
}

/** What names of databases in a statement denote, where they are not those of databases that port 8181 shows. Used on the main thread
 *  whenever the statement requests rows, so it also decides whether its sender may read them. */
export interface DatabaseScope {
  /** The database's id in the catalog. @throws TsdbError unknown_database, forbidden */
  databaseId(name: string): number;
}

/** All rows of a table within a range of time, read without a language. Answered as a Parquet file. */
export interface TableRows {
  readonly table: string;
  readonly range: TimeRange;
}

export interface QueryRequest {
  /** May be "" for InfluxQL: the statement must then name a database. */
  readonly database: string;
  /** Absent: names are those of databases that port 8181 shows. */
  readonly scope?: DatabaseScope;
  readonly statement: string;
  readonly format: QueryFormat;
  readonly params: QueryParams;
  /** Set for InfluxQL. */
  readonly tsdbql?: TsdbqlOptions;
  /** Set for Flux; without it, `tsdbql` and `rows` the statement is SQL. */
  readonly flux?: FluxOptions;
  /** Set for rows; `statement` only describes them then. */
  readonly rows?: TableRows;
  /** Only the answer's schema is wanted, in format "flight": an IPC stream without batches for its columns, followed by one for the
   *  unbound parameters. */
  readonly describe?: boolean;
  /** True: it is not in system.queries or SHOW QUERIES, and in no count of statements. */
  readonly isUnlisted?: boolean;
  /** Shown in system.queries; "sql" if absent. */
  readonly queryType?: string;
  /** Of rows that it holds, below what its worker allows; not for SQL. */
  readonly memoryBytesMax?: number;
  /** Where the statement's own rows go; absent: it may not write. */
  readonly write?: StatementWrite;
  /** Called when it begins and ends to wait for other servers, as scripts do. */
  readonly onWaits?: (waits: boolean) => void;
  /** Called once its worker has finished, if it did. */
  readonly onTelemetry?: (telemetry: QueryTelemetry) => void;
  /** Aborts when the client disconnects: interrupts the query. */
  readonly signal: AbortSignal;
}

/** Stores line protocol with times in nanoseconds in a database of the statement's scope. Resolves with what was refused, null: nothing.
 *  @throws TsdbError forbidden, not_found, overloaded, unavailable */
export type StatementWrite = (database: string, lines: string) => Promise<string | null>;

export interface QueryAnswer {
  readonly contentType: string;
  /** A short answer is complete; a longer one streams with back-pressure, and an error after the first bytes breaks the stream. */
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  /** Rows produced, available once the body has ended; more than the answer contains if it was cut off. Absent if not counted. */
  readonly rowCount?: () => number;
}

/** A running statement. */
export interface RunningQuery {
  /** Unique within the process. */
  readonly id: bigint;
  readonly database: string;
  readonly text: string;
  /** Since its arrival. */
  readonly milliseconds: number;
  /** Killed: the client has been answered, the remaining work is ending. */
  readonly status: "running" | "killed";
}

export interface QueryControl {
  running(): readonly RunningQuery[];
  /** Ends the statement with an error for its client. @throws TsdbError bad_query if the id is unknown or already killed */
  kill(id: bigint): void;
}

export interface QueryService {
  /** Resolves once the first bytes are available, so that earlier errors still determine the status. @throws TsdbError unknown_database,
   *  bad_query, query_limit, cancelled, overloaded, unavailable */
  query(request: QueryRequest): Promise<QueryAnswer>;
}
