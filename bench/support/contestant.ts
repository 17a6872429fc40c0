// What a bench compares: a server that takes line protocol, started on loopback with a temporary folder and gone afterwards.

export interface RunningServer {
  /** Where a body of line protocol with nanosecond times is posted; all of it lands in one database. */
  readonly writeUrl: string;
  /** Rows of table `cpu`, asked by a query until it is `expected` or a deadline passes, for servers that show rows a little later.
   *  Undefined where nothing is kept. */
  countRows(expected: number): Promise<number | undefined>;
  /** Bytes on disk once everything has reached its final form, the server's log not counted twice. May stop the server. */
  diskBytes(): Promise<number | undefined>;
  /** Bytes on disk once files that were flushed have been merged to what they stay; after `diskBytes`. Absent where that is the same. */
  compactedBytes?(): Promise<number>;
  stop(): Promise<void>;
}

export interface Contestant {
  readonly name: string;
  /** Undefined when its program is not installed. */
  readonly start: (() => Promise<RunningServer>) | undefined;
}

export const DATABASE = "bench";

/** Starts it, hands it to `use` and stops it whatever happens. */
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
