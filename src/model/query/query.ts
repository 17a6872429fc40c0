// What the routes ask of the query path, and what it answers.
import type { PolicyRules } from "../retention-policies.ts";
import type { V1Answer } from "./v1-answer.ts";

/** "flight": Arrow as clients of Flight read it, texts without dictionaries. */
export type QueryFormat = "seed" | "json" | "jsonl" | "csv" | "pretty" | "parquet" | "arrow" | "flight";

/** Bind parameters: JSON scalars. Integers are bigint, a number is a float even if it is whole. */
export type QueryParams = Readonly<Record<string, string | number | bigint | boolean | null>>;

/** What a statement of the v1-style language has beside its text. */
export interface TsdbqlOptions {
  /** Of the request; null: the default one. */
  readonly retentionPolicy: string | null;
  /** Of the databases that the statement names, as far as there are any. */
  readonly policyRules?: Readonly<Record<string, PolicyRules>>;
  /** now() of all statements of a request. */
  readonly nowNs: bigint;
  /** Bind parameters as they came, a JSON object; null: none. */
  readonly params: string | null;
  /** How the answer is written: as /query does; as line protocol for INTO, of the measurement it names or, null, of each series' own; null:
   *  in the request's format, with measurement and tags as columns. */
  readonly answer: { readonly v1: V1Answer } | { readonly measurement: string | null } | null;
  /** The databases `db/rp` that lists of all of `db` take along: those that its sender may read. Absent: all there are. */
  readonly policies?: readonly string[];
}

export interface QueryRequest {
  /** Of a statement in the v1-style language it may be "": the statement has to name one. */
  readonly database: string;
  readonly statement: string;
  readonly format: QueryFormat;
  readonly params: QueryParams;
  /** The statement is one of the v1-style language; absent: it is SQL. */
  readonly tsdbql?: TsdbqlOptions;
  /** Only what the answer would be is asked for, in format "flight": an IPC stream without batches for its columns, and behind it one for
   *  the parameters that have no value. */
  readonly describe?: boolean;
  /** What system.queries says of it; "sql" when absent. */
  readonly queryType?: string;
  /** Aborts when the client goes away: interrupts the query. */
  readonly signal: AbortSignal;
}

export interface QueryAnswer {
  readonly contentType: string;
  /** A short answer whole, a long one as the engine makes it, under back-pressure; an error after the first bytes breaks the stream. */
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  /** Rows that were made for the answer, once its body has ended: more than it shows where it was cut. Absent where nobody counts them. */
  readonly rowCount?: () => number;
}

/** A statement that has its turn. */
export interface RunningQuery {
  /** Unique within the process. */
  readonly id: bigint;
  readonly database: string;
  readonly text: string;
  /** Since it came. */
  readonly milliseconds: number;
  /** Killed: its client has been told, what is left of it comes to its end. */
  readonly status: "running" | "killed";
}

export interface QueryControl {
  running(): readonly RunningQuery[];
  /** Ends the statement for its client with an error. @throws TsdbError bad_query when there is none of this id, or it was killed before */
  kill(id: bigint): void;
}

export interface QueryService {
  /** Resolves when the first bytes are there, so that an error before them still has a status.
   *  @throws TsdbError unknown_database, bad_query, query_limit, cancelled, overloaded, unavailable */
  query(request: QueryRequest): Promise<QueryAnswer>;
}
