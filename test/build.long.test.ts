// The single executable, as a user gets it: built once, copied to an empty folder, run with the source tree out of reach where the system
// allows to hide it. Everything that is loaded late (DuckDB, Arrow, Parquet, the workers, WebAssembly) is used.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InfluxDBClient } from "@influxdata/influxdb3-client";
import { tableFromIPC } from "apache-arrow";
import { buildBinary } from "../src/tools/build.ts";
import { TestServer } from "./support/server.ts";

const ROOT = join(import.meta.dir, "..");

let scratch = "";
let binary = "";

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "tsdb-build-"));
  for (const folder of ["alone", "home", "hidden"]) mkdirSync(join(scratch, folder));
  await buildBinary({ entryPoint: join(ROOT, "src/main.ts"), outFile: join(scratch, "built") });
  binary = join(scratch, "alone", "tsdb");
  copyFileSync(join(scratch, "built"), binary);
  chmodSync(binary, 0o755);
}, 120_000);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A namespace of its own in which an empty folder is mounted over the source tree; needs root and a system that allows it. */
function withoutSourceTree(): string[] | undefined {
  const hide = 'mount --bind "$0" "$1" && test ! -e "$1/package.json"';
  const shell = ["unshare", "-m", "bash", "-c"];
  const tried = Bun.spawnSync([...shell, hide, join(scratch, "hidden"), ROOT], { cwd: ROOT, stderr: "ignore" });
  if (tried.exitCode !== 0) return undefined;
  return [...shell, `mount --bind ${quoted(join(scratch, "hidden"))} ${quoted(ROOT)} && exec "$0" "$@"`];
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

test("serves from an empty folder, without the source tree", async () => {
  const prefix = withoutSourceTree();
  if (prefix === undefined) console.log("cannot hide the source tree here (needs root and mount namespaces): it stays in reach");
  await using server = await TestServer.start({
    command: [...(prefix ?? []), binary],
    cwd: join(scratch, "alone"),
    env: { HOME: join(scratch, "home"), PATH: process.env["PATH"] ?? "" },
    withFlight: true,
  });
  const written = await fetch(`${server.url}/api/v3/write_lp?db=d`, {
    ...{ method: "POST", body: "cpu,host=a usage=0.5,n=7i 1700000000000000000\ncpu,host=b usage=1.5 1700000000000000001" },
  });
  expect(written.status, await written.text()).toBe(204);
  expect(await server.sql("d", "SELECT host, avg(usage) AS usage FROM cpu GROUP BY host ORDER BY host")).toEqual([
    { host: "a", usage: 0.5 },
    { host: "b", usage: 1.5 },
  ]);
  const arrow = tableFromIPC(await answerIn(server, "arrow"));
  expect([...arrow.getChild("host")!]).toEqual(["a", "b"]);
  const parquet = await answerIn(server, "parquet");
  expect(new TextDecoder().decode(parquet.subarray(0, 4))).toBe("PAR1");
  expect(await overFlight(server, "SELECT host, usage, n FROM cpu ORDER BY host")).toEqual([
    { host: "a", usage: 0.5, n: 7 },
    { host: "b", usage: 1.5, n: null },
  ]);
  for (const page of ["/health", "/metrics", "/docs", "/openapi.json"]) {
    const response = await fetch(server.url + page);
    expect(`${page} ${response.status}`, await response.text()).toBe(`${page} 200`);
  }

  await server.kill("SIGKILL");
  await server.restart();
  expect(await server.sql("d", "SELECT count(*) AS n FROM cpu")).toEqual([{ n: 2 }]);
  expect(await server.stop()).toBe(0);
  // after the flush of a clean stop the rows come from a file
  await server.restart();
  expect(await server.sql("d", "SELECT count(*) AS n FROM cpu")).toEqual([{ n: 2 }]);
  expect(await server.stop()).toBe(0);

  expect(readdirSync(join(scratch, "alone"))).toEqual(["tsdb"]);
  expect(readdirSync(join(scratch, "home/.cache/tsdb"))).toHaveLength(1);
}, 120_000);

test("a cache that cannot be written is a clear error", async () => {
  const unusable = join(binary, "cache"); // below a file
  const serve = ["serve", "--without-auth", "--http-bind", "127.0.0.1:0", "--data-dir", join(scratch, "data")];
  const child = Bun.spawn(["bash", "-c", 'exec "$0" "$@" 2>&1', binary, ...serve], {
    ...{ cwd: scratch, env: { TSDB_CACHE_DIR: unusable }, stdin: "ignore", stdout: "pipe" },
  });
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += new TextDecoder().decode(chunk);
    if (/cannot unpack the SQL engine into \S+: .*; set TSDB_CACHE_DIR to a writable folder/.test(printed)) break;
  }
  child.kill("SIGKILL");
  await child.exited;
  expect(printed).toContain(`cannot unpack the SQL engine into ${unusable}`);
}, 60_000);

test("a bad flag is one line and exit code 2", () => {
  const { exitCode, stderr } = Bun.spawnSync([binary, "serve", "--no-such-flag"], { cwd: scratch, env: {} });
  expect(exitCode).toBe(2);
  expect(stderr.toString().trim().split("\n")).toHaveLength(1);
}, 30_000);

async function answerIn(server: TestServer, format: string): Promise<Uint8Array> {
  const query = new URLSearchParams({ db: "d", q: "SELECT host, usage FROM cpu ORDER BY host", format });
  const response = await fetch(`${server.url}/api/v3/query_sql?${query}`);
  expect(response.status, format).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
}

/** As the vendor's client library asks, with everything that gRPC loads late. */
async function overFlight(server: TestServer, statement: string): Promise<Record<string, unknown>[]> {
  const client = new InfluxDBClient({ host: `http://${server.flightAddress}`, token: "any", database: "d" });
  try {
    const rows: Record<string, unknown>[] = [];
    for await (const row of client.query(statement, "d")) rows.push(row);
    return rows;
  } finally {
    await client.close();
  }
}
