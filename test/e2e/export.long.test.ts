// Exports of a real server: what is listed, what archives hold in every state of rows, and what is refused.
import { describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Dictionary, type Timestamp, TimeUnit, tableFromIPC } from "apache-arrow";
import { readParquet } from "parquet-wasm/esm";
import { loadParquetLibrary } from "../../src/encode/parquet/library.ts";
import { ROW_STATES, type RowStep } from "../support/rows/row-states.ts";
import { inEachState } from "../support/rows/served-rows.ts";
import { TestServer } from "../support/servers/server.ts";
import { store } from "./client.ts";

const HOUR_NS = 3_600_000_000_000n;
const DAY_NS = 24n * HOUR_NS;
const FLAGS = ["--use-pacha-tree"];

type Row = Record<string, unknown>;

const line = (host: string, hour: number, fields: string) => `cpu,env=prod,host=${host} ${fields} ${BigInt(hour) * HOUR_NS}`;

/** One environment, two hosts: the first day and the third have rows, and today; `one` has a row. */
const STEPS: readonly RowStep[] = [
  {
    database: "d",
    lines: [line("a", 0, 'f=1.5,n=1i,s="x"'), line("b", 5, "f=2,n=2i,u=7u,ok=true"), line("a", 23, "n=3i"), line("a", 50, "n=4i")].join(
      "\n",
    ),
  },
  { database: "d", lines: `one v=1 1727769600000000000\ncpu,env=prod,host=a n=9i ${BigInt(Date.now()) * 1_000_000n}` },
  // deleted as a whole: the second day of b is not listed
  { database: "d", lines: line("b", 30, "n=100i") },
  { delete: { database: "d", table: "cpu", tags: [{ tag: "host", values: ["b"] }], range: { minNs: DAY_NS, maxNs: 2n * DAY_NS } } },
  // a field of an old point again
  { database: "d", lines: line("a", 0, "f=3.5") },
];

const FIRST_DAY: readonly Row[] = [
  { env: "prod", f: 3.5, host: "a", n: 1n, ok: null, s: "x", time: 0n, u: null },
  { env: "prod", f: 2, host: "b", n: 2n, ok: true, s: null, time: 5n * HOUR_NS, u: 7n },
  { env: "prod", f: null, host: "a", n: 3n, ok: null, s: null, time: 23n * HOUR_NS, u: null },
];
const THIRD_DAY: readonly Row[] = [{ env: "prod", f: null, host: "a", n: 4n, ok: null, s: null, time: 50n * HOUR_NS, u: null }];

async function get(server: TestServer, path: string, query: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/api/v3/export/${path}?${new URLSearchParams(query)}`, { headers });
  return { status: response.status, type: response.headers.get("content-type"), bytes: new Uint8Array(await response.arrayBuffer()) };
}

async function list(server: TestServer, path: string, query: Record<string, string> = {}): Promise<unknown> {
  const { status, bytes } = await get(server, path, query);
  expect(status).toBe(200);
  return JSON.parse(Buffer.from(bytes).toString());
}

/** Files of an archive by name, as the system's `tar` unpacks them. */
function unpacked(archive: Uint8Array): Map<string, Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-export-"));
  try {
    const { exitCode, stderr } = Bun.spawnSync(["tar", "-xf", "-", "-C", folder], { stdin: archive });
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
    return new Map(
      readdirSync(folder)
        .sort()
        .map((name) => [name, readFileSync(join(folder, name))]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowsOf(file: Uint8Array): Row[] {
  const table = tableFromIPC(readParquet(file).intoIPCStream());
  const names = table.schema.fields.map(({ name }) => name).sort();
  const times = table.schema.fields.find(({ name }) => name === "time")!.type as Timestamp;
  expect(times.unit).toBe(TimeUnit.NANOSECOND);
  const value = (name: string, i: number) => {
    const column = table.getChild(name)!;
    const found: unknown = name === "time" ? column.data[0]!.values[i] : column.get(i);
    return found ?? null;
  };
  const rows = Array.from({ length: table.numRows }, (_, i) => Object.fromEntries(names.map((name) => [name, value(name, i)])));
  return rows.sort((a, b) => Number((a["time"] as bigint) - (b["time"] as bigint)));
}

test("archives and lists are the same in every state of rows", async () => {
  await loadParquetLibrary();
  const answers = await inEachState(
    ROW_STATES,
    STEPS,
    async (server) => {
      expect(await list(server, "databases")).toEqual(["d"]);
      expect(await list(server, "tables", { db: "d" })).toEqual(["cpu", "one"]);
      expect(await list(server, "windows", { db: "d", table: "one" })).toEqual(["2024-10-01"]);
      const { status, type, bytes } = await get(server, "window_data", { db: "d", table: "cpu" });
      expect([status, type]).toEqual([200, "application/x-tar"]);
      const files = unpacked(bytes);
      expect(rowsOf(files.get("1970-01-01.parquet")!)).toEqual([...FIRST_DAY]);
      expect(rowsOf(files.get("1970-01-03.parquet")!)).toEqual([...THIRD_DAY]);
      const chosen = await get(server, "window_data", { db: "d", table: "cpu", windows: "1970-01-03,1970-01-01,1970-01-03" });
      return [await list(server, "windows", { db: "d", table: "cpu" }), [...files.keys()], [...unpacked(chosen.bytes).keys()]];
    },
    { flags: FLAGS },
  );
  const files = ["1970-01-01.parquet", "1970-01-03.parquet"];
  const want = [["1970-01-01", "1970-01-03"], files, files];
  expect([...answers]).toEqual(ROW_STATES.map((state) => [state, want]));
}, 120_000);

describe("a server", () => {
  test("tags are dictionaries, and the first and last days can be exported", async () => {
    await loadParquetLibrary();
    await using server = await TestServer.start({ flags: FLAGS });
    await store(server, "d", `"q,t=${"é".repeat(60)} v=1 -9223372036854775806\n"q,t=b v=2 1`);
    const { bytes } = await get(server, "window_data", { db: "d", table: '"q' });
    const files = unpacked(bytes);
    expect([...files.keys()]).toEqual(["1677-09-21.parquet", "1970-01-01.parquet"]);
    const table = tableFromIPC(readParquet(files.get("1677-09-21.parquet")!).intoIPCStream());
    expect(table.numRows).toBe(1);
    expect(table.schema.fields.find(({ name }) => name === "t")!.type).toBeInstanceOf(Dictionary);
    expect(table.getChild("t")!.get(0)).toBe("é".repeat(60));
  });

  test("refused requests", async () => {
    await using server = await TestServer.start({ flags: FLAGS });
    await store(server, "d", "m v=1 1");
    const refused: readonly (readonly [path: string, query: Record<string, string>, status: number, why: RegExp])[] = [
      ["tables", {}, 400, /missing field `db`/],
      ["tables", { db: "absent" }, 404, /database not found: absent/],
      ["windows", { db: "d" }, 400, /missing field `table`/],
      ["windows", { db: "d", table: "absent" }, 404, /table not found: absent/],
      ["window_data", { db: "absent", table: "m" }, 404, /database not found/],
      ["window_data", { db: "d", table: "absent" }, 404, /table not found/],
      ["window_data", { db: "d", table: "m", windows: "1970-01-02" }, 404, /window not found: 1970-01-02/],
      ["window_data", { db: "d", table: "m", windows: "1970-01-01," }, 400, /want days as YYYY-MM-DD, got ""/],
      ["window_data", { db: "d", table: "m", windows: "1970-02-30" }, 400, /got "1970-02-30"/],
      ["window_data", { db: "d", table: "m", windows: "../x" }, 400, /got "\.\.\/x"/],
    ];
    for (const [path, query, status, why] of refused) {
      const answer = await get(server, path, query);
      expect([path, query, answer.status]).toEqual([path, query, status]);
      expect(JSON.parse(Buffer.from(answer.bytes).toString()).error).toMatch(why);
    }
    const days = Array(20_000).fill("1970-01-01").join(",");
    expect([200, 414, 431]).toContain((await get(server, "window_data", { db: "d", table: "m", windows: days })).status);
  });

  test("without the flag, and in the base edition", async () => {
    await using server = await TestServer.start();
    const { status, bytes } = await get(server, "databases");
    expect([status, Buffer.from(bytes).toString()]).toEqual([503, expect.stringContaining("--use-pacha-tree")]);
    expect((await fetch(`${server.url}/api/v3/query_sql_telemetry`)).status).toBe(503);
    await server.restart([...FLAGS, "--edition", "core"]);
    expect((await get(server, "databases")).status).toBe(404);
    expect((await fetch(`${server.url}/api/v3/query_sql_telemetry`)).status).toBe(404);
  });

  test("telemetry is of the last SQL statement", async () => {
    await using server = await TestServer.start({ flags: FLAGS });
    const url = `${server.url}/api/v3/query_sql_telemetry`;
    expect((await fetch(url)).status).toBe(404);
    await store(server, "d", "m,t=a v=1 1\nm,t=b v=2 2\nm,t=b v=3 3");
    await server.sql("d", "SELECT v FROM m WHERE t = 'b'");
    // an answer comes before the worker has counted what it cost
    while ((await fetch(url)).status === 404);
    for (const method of ["GET", "POST"]) {
      const response = await fetch(url, { method });
      expect([response.status, await response.json()]).toEqual([
        200,
        {
          query_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          execution_time_us: expect.any(Number),
          chunks: [{ chunk_id: "0:m", files_scanned: 0, blocks_processed: 1, rows_read: 3, rows_returned: 2, bytes_read: 0 }],
          cache_stats: { gen0_hits: 0, gen0_misses: 0, compacted_hits: 0, compacted_misses: 0 },
        },
      ]);
    }
  });
});
