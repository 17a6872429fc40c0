// The interface between API routes and the write path.
import type { Precision } from "./time/precision.ts";

/** Whose rules lines follow: those of the vendor's server 3.x, or 2.x. */
export type LineDialect = "v3" | "v2";

export interface WriteRequest {
  /** Database name, already validated; created by the write if it does not exist. */
  readonly database: string;
  /** The database of a bucket, in any namespace: it must exist. Undefined: `database` in the default namespace. */
  readonly databaseId?: number;
  /** Rows before this time are not stored; undefined: all are, and reads hide what is past its retention. */
  readonly minTimeNs?: bigint;
  readonly precision: Precision;
  /** Absent: v3. */
  readonly dialect?: LineDialect;
  /** False: nothing is stored if any line is invalid. `conflicts`: nothing is stored if a line cannot be parsed, and lines that the schema
   *  or a limit of values rejects are left out. */
  readonly acceptPartial: boolean | "conflicts";
  /** True: the promise resolves once the rows are visible, before they are durable. */
  readonly noSync: boolean;
  /** A trigger that writes; absent: a client. */
  readonly writer?: TriggerWriter | undefined;
}

/** Frames of the log are marked with it, so that the trigger does not see its own rows. */
export interface TriggerWriter {
  readonly triggerId: number;
  /** Triggers behind the rows, this one included: one writes what calls the next. */
  readonly depth: number;
}

/** A rejected line, with the vendor's error text. */
export interface LineError {
  readonly errorMessage: string;
  /** 1-based line number in the body, counting comments and blank lines. */
  readonly lineNumber: number;
  readonly originalLine: string;
}

/** Lines before a request's `minTimeNs`. */
export interface OldLines {
  readonly count: number;
  readonly oldest: OldLine;
  readonly newest: OldLine;
}

export interface OldLine {
  readonly line: string;
  readonly timeNs: bigint;
}

export interface WriteResult {
  /** Rows stored. */
  readonly rowCount: number;
  readonly rejectedCount: number;
  /** The first LIMITS.lineErrorsReported rejected lines, in body order. */
  readonly lineErrors: readonly LineError[];
  /** Rows before the request's `minTimeNs`; undefined: there were none. Counted in `rejectedCount`, and not in `lineErrors`. */
  readonly old?: OldLines;
  /** True if a line was rejected because of a schema limit (422 instead of 400). */
  readonly schemaLimit: boolean;
  /** True if the body contained no line. */
  readonly empty: boolean;
}

/** A body being received: line protocol, decompressed, in memory owned by the write path. Ends with `write` or `release`. */
export interface IncomingBody {
  readonly byteCount: number;
  /** Bytes that it occupies, at least byteCount. */
  readonly memoryBytes: number;
  /** Appends a copy of `bytes`. @throws TsdbError overloaded */
  append(bytes: Uint8Array): void;
  /** Writes the lines. Resolves once the rows are visible and (unless noSync) durable. @throws TsdbError overloaded, unavailable,
   *  limit_exceeded */
  write(request: WriteRequest): Promise<WriteResult>;
  /** Frees the memory. Idempotent; `write` does it too. */
  release(): void;
}

export interface WriteService {
  /** Reserves memory for a body, waiting until there is room. `announcedBytes`: the Content-Length, undefined if absent; the actual size
   *  may differ. @throws TsdbError overloaded, unavailable */
  receive(announcedBytes: number | undefined): IncomingBody | Promise<IncomingBody>;
}
