// This project's server as a contestant.
import { TestServer } from "../../test/support/servers/server.ts";
import { compactAll } from "./compaction.ts";
import { type Contestant, DATABASE, type RunningServer } from "./contestant.ts";
import { folderBytes } from "./peer-process.ts";

export const OURS: Contestant = { name: "tsdb", start };

export const writeUrlOf = (server: TestServer, database: string = DATABASE) =>
  `${server.url}/api/v3/write_lp?db=${database}&precision=nanosecond`;

async function start(): Promise<RunningServer> {
  const server = await TestServer.start();
  return {
    writeUrl: writeUrlOf(server),
    countRows: () => countRows(server),
    // a clean stop flushes
    diskBytes: () => bytesAfterStop(server),
    compactedBytes: async () => {
      await compactAll(server);
      return bytesAfterStop(server);
    },
    stop: () => server.dispose(),
  };
}

async function bytesAfterStop(server: TestServer): Promise<number> {
  const code = await server.stop();
  if (code !== 0) throw new Error(`the server stopped with exit code ${code}\n${server.output}`);
  return folderBytes(server.dataDir);
}

/** The number of rows of the benchmark's table. */
export async function countRows(server: TestServer, database = DATABASE): Promise<number> {
  const [row] = await server.sql<{ n: number }>(database, "SELECT count(*) AS n FROM cpu");
  return row?.n ?? 0;
}

/** @throws Error unless table `cpu` holds exactly so many rows */
export async function checkOurRows(server: TestServer, expected: number, database = DATABASE): Promise<void> {
  const found = await countRows(server, database);
  if (found !== expected) throw new Error(`the server holds ${found} rows of ${expected}`);
}

/** Adds the server's last output to the error: a connection reset carries no reason. */
export function withOutput(error: unknown, server: TestServer): Error {
  return new Error(`${error instanceof Error ? error.message : error}\nthe server said:\n${server.output.slice(-3000)}`, { cause: error });
}

/** The unmodified answer of `/api/v3/query_sql` with `format=json`, after a check of its status. */
export async function askOurs(server: TestServer, statement: string, database = DATABASE): Promise<string> {
  const response = await fetch(`${server.url}/api/v3/query_sql?${new URLSearchParams({ db: database, q: statement, format: "json" })}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`${statement}: ${response.status} ${text.slice(0, 500)}`);
  return text;
}
