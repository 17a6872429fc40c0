// What plugins ask of the server. Calls carry no token: creating a trigger requires an admin token.
import type { PluginCaller } from "./plugin-call.ts";

export interface PluginQuery {
  readonly database: string;
  readonly statement: string;
  /** For `$name`: strings, numbers and booleans as JSON has them. */
  readonly params: Readonly<Record<string, string | number | bigint | boolean | null>>;
  readonly signal: AbortSignal;
}

export interface PluginHostWrite {
  readonly database: string;
  readonly lines: Uint8Array;
  /** True: resolves when the rows are visible, before they are durable. */
  readonly noSync: boolean;
  /** The writer of the rows, for loop detection. */
  readonly writer: PluginCaller;
}

export interface PluginHost {
  /** Rows as JSON lines, times as integers of nanoseconds. @throws TsdbError as QueryService.query */
  query(query: PluginQuery): Promise<Uint8Array | ReadableStream<Uint8Array>>;
  /** Timestamps are nanoseconds; lines without one get the server's time. @throws TsdbError when any line is refused; the others of the
   *  body are stored */
  write(write: PluginHostWrite): Promise<void>;
}
