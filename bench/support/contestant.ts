// A server under comparison: accepts line protocol, is started on loopback with a temporary folder and removed afterwards.

export interface RunningServer {
  /** URL for bodies of line protocol with nanosecond times; all rows go to one database. */
  readonly writeUrl: string;
  /** Of a request that writes. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Rows of table `cpu`, queried until the count is `expected` or a deadline passes, for servers with delayed visibility. Undefined if
   *  nothing is stored. */
  countRows(expected: number): Promise<number | undefined>;
  /** Bytes on disk in the final form, without counting the log twice. May stop the server. */
  diskBytes(): Promise<number | undefined>;
  /** Bytes on disk once flushed files have been merged; after `diskBytes`. Absent if equal. */
  compactedBytes?(): Promise<number>;
  stop(): Promise<void>;
}

export interface Contestant {
  readonly name: string;
  /** Undefined if the program is not installed. */
  readonly start: (() => Promise<RunningServer>) | undefined;
}

export const DATABASE = "bench";

/** Starts the contestant, passes it to `use` and always stops it. */
export async function withServer<T>(contestant: Contestant, use: (server: RunningServer) => Promise<T>): Promise<T> {
  if (contestant.start === undefined) throw new Error(`${contestant.name} is not installed`);
  const server = await contestant.start();
  try {
    return await use(server);
  } finally {
    await server.stop();
  }
}

/** @throws Error unless the server holds exactly the rows that were sent to it */
export async function checkRows(contestant: Contestant, server: RunningServer, expected: number): Promise<void> {
  const found = await server.countRows(expected);
  if (found !== undefined && found !== expected) throw new Error(`${contestant.name} holds ${found} rows of ${expected}`);
}
