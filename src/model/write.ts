// What the routes ask of the write path, and what it answers.
import type { Precision } from "./precision.ts";

export interface WriteRequest {
  /** Database name, already validated; made by the write when it does not exist. */
  readonly database: string;
  /** Line protocol, decompressed. Borrowed until `write` returns its promise (the kernel copies it synchronously). */
  readonly body: Uint8Array;
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

export interface WriteService {
  /** Resolves when the rows are visible and (unless noSync) durable. @throws TsdbError overloaded, unavailable, limit_exceeded */
  write(request: WriteRequest): Promise<WriteResult>;
}
