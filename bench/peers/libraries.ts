// DuckDB and ClickHouse (chdb), each in a Python process of its own, on rows that our server gives as Parquet.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endWithThisProcess, plainEnvironment, type TestServer } from "../../test/support/servers/server.ts";
import { DATABASE } from "../support/contestant.ts";
import { installedPeer } from "./installed.ts";
import { PATIENCE_MS, type PeerAnswer, type PeerName, type QueryPeer, ROWS_SHOWN } from "./query-peer.ts";

const PYTHON = installedPeer("python/bin/python");
const NAMES: readonly PeerName[] = ["DuckDB", "ClickHouse"];
/** Rows of a file, about. */
const FILE_ROWS = 1_000_000;

/** Undefined if they are not installed. The caller stops each. */
export const startLibraries = PYTHON === undefined ? undefined : (server: TestServer) => start(PYTHON, server);

async function start(python: string, server: TestServer): Promise<QueryPeer[]> {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-bench-"));
  const peers: QueryPeer[] = [];
  try {
    const paths = await parquetFiles(server, folder);
    for (const name of NAMES) peers.push(await startLibrary(python, name, paths));
    return peers;
  } catch (error) {
    for (const peer of peers) await peer.stop();
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Table `cpu` in files of equal ranges of time. */
async function parquetFiles(server: TestServer, folder: string): Promise<string[]> {
  const extent =
    "SELECT count(*) AS n, CAST(min(time) AS BIGINT)::VARCHAR AS oldest, CAST(max(time) AS BIGINT)::VARCHAR AS newest FROM cpu";
  const [found] = await server.sql<{ n: number; oldest: string; newest: string }>(DATABASE, extent);
  const { n, oldest, newest } = found!;
  const count = Math.ceil(n / FILE_ROWS);
  const [startNs, stepNs] = [BigInt(oldest), (BigInt(newest) - BigInt(oldest)) / BigInt(count) + 1n];
  const paths: string[] = [];
  for (let i = 0; i < count; i++) {
    const fromNs = startNs + BigInt(i) * stepNs;
    const time = "CAST(time AS BIGINT)";
    const statement = `SELECT * FROM cpu WHERE ${time} >= ${fromNs} AND ${time} < ${fromNs + stepNs}`;
    const response = await fetch(
      `${server.url}/api/v3/query_sql?${new URLSearchParams({ db: DATABASE, q: statement, format: "parquet" })}`,
    );
    if (!response.ok) throw new Error(`${statement}: ${response.status} ${await response.text()}`);
    const path = join(folder, `${i}.parquet`);
    await Bun.write(path, response);
    paths.push(path);
  }
  return paths;
}

async function startLibrary(python: string, name: PeerName, paths: readonly string[]): Promise<QueryPeer> {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-bench-"));
  const files = join(folder, "files");
  mkdirSync(files);
  const child = Bun.spawn([python, join(import.meta.dir, "libraries.py"), name, files], {
    ...{ env: plainEnvironment(), stdin: "pipe", stdout: "pipe", stderr: Bun.file(join(folder, "errors.log")) },
  });
  endWithThisProcess(child);
  const stop = async () => {
    child.kill();
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
  };
  const lines = linesOf(child.stdout);
  const request = async <T>(body: unknown): Promise<T> => {
    child.stdin.write(`${JSON.stringify(body)}\n`);
    child.stdin.flush();
    const { value } = await lines.next();
    if (value === undefined) throw new Error(`${name} ended: ${(await Bun.file(join(folder, "errors.log")).text()).slice(-2000)}`);
    const answer = JSON.parse(value) as T & { readonly error?: string };
    if (answer.error !== undefined) throw new Error(`${name}: ${answer.error}`);
    return answer;
  };
  try {
    await request({ load: paths });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ...{ name, isLibrary: true, stop },
    ask: (statements, [warm]) => request<PeerAnswer>({ ask: statements, warm, patience: PATIENCE_MS / 1000, shown: ROWS_SHOWN }),
  };
}

async function* linesOf(output: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of output) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}
