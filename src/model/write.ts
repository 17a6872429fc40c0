// What the routes ask of the write path, and what it answers.
import type { Precision } from "./time/precision.ts";

export interface WriteRequest {
  /** Database name, already validated; made by the write when it does not exist. */
  readonly database: string;
  readonly precision: Precision;
  /** False: nothing is stored when any line is bad. */
  readonly acceptPartial: boolean;
  /** True: the promise resolves once the rows are visible, before they are durable. */
  readonly noSync: boolean;
}

/** A rejected line, in the seed's words. */
export interface LineError {
  readonly errorMessage: string;
  /** 1-based line of the body, comments and blank lines counted. */
  readonly lineNumber: number;
  readonly originalLine: string;
}

export interface WriteResult {
  /** Rows stored. */
  readonly rowCount: number;
  readonly rejectedCount: number;
  /** The first LIMITS.lineErrorsReported rejected lines, in the body's order. */
  readonly lineErrors: readonly LineError[];
  /** True when a line was rejected because a schema limit was reached (422 instead of 400). */
  readonly schemaLimit: boolean;
  /** True when the body held no line at all. */
  readonly empty: boolean;
}

/** A body on its way in: line protocol, decompressed, in memory that the write path owns. Ends with `write` or `release`. */
export interface IncomingBody {
  readonly byteCount: number;
  /** Bytes that it keeps from others, at least byteCount. */
  readonly memoryBytes: number;
  /** Copies bytes behind those before. @throws TsdbError overloaded */
  append(bytes: Uint8Array): void;
  /** Takes the lines. Resolves when the rows are visible and (unless noSync) durable.
   *  @throws TsdbError overloaded, unavailable, limit_exceeded */
  write(request: WriteRequest): Promise<WriteResult>;
  /** Gives the memory back. Idempotent; `write` does it too. */
  release(): void;
}

export interface WriteService {
  /** A place for a body, as soon as there is room for one. `announcedBytes` is what the client says it will send, undefined when it does
   *  not; more or less may come. @throws TsdbError overloaded, unavailable */
  receive(announcedBytes: number | undefined): IncomingBody | Promise<IncomingBody>;
}
