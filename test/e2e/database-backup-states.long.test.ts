// Answers before a backup and after its restore are the same, in every state of rows: in SQL, in the v1 language and in Flux, with
// deletions, retention, policies, caches, file indexes and triggers; on the same server after other writes, and on an empty one.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pluginPython } from "../support/plugins/plugins.ts";
import { ROW_STATES, type RowStep } from "../support/rows/row-states.ts";
import { ServedRows } from "../support/rows/served-rows.ts";
import { dataOf } from "../support/servers/data-server.ts";
import { backUp, restore } from "../support/servers/database-backups.ts";
import { TestServer } from "../support/servers/server.ts";
import { store } from "./client.ts";

const DAY_NS = 86_400_000_000_000n;
const NOW_NS = BigInt(Date.now()) * 1_000_000n;
const TOKEN = "t".repeat(20);

const at = (day: number, hour: number) => BigInt(day) * DAY_NS + BigInt(hour) * 3_600_000_000_000n;
const line = (host: string, ns: bigint, fields: string) => `cpu,host=${host} ${fields} ${ns}`;
const body = (host: string, from: number) =>
  Array.from({ length: 40 }, (_, i) => line(host, at(from + Math.floor(i / 20), i % 20), `f=${i}.5,n=${i}i,s="x${i % 3}"`)).join("\n");

const STEPS: readonly RowStep[] = [
  { database: "d", lines: body("a", 1) },
  { database: "d", lines: body("b", 1) },
  { delete: { database: "d", table: "cpu", tags: [{ tag: "host", values: ["a"] }], range: { minNs: at(1, 3), maxNs: at(1, 9) } } },
  // in the deleted range again, and a field of an old point
  { database: "d", lines: [line("a", at(1, 5), "f=-1"), line("b", at(1, 7), "n=-7i")].join("\n") },
  { delete: { database: "d", table: "cpu", tags: [], range: { minNs: at(2, 15), maxNs: at(2, 17) } } },
  { database: "d", retentionPolicy: "week", lines: `kept v=1 ${NOW_NS}\nkept v=2 ${NOW_NS - 10n * DAY_NS}` },
  { database: "e", lines: `m,t=\\ x v=1u 1\nm ok=true 2\n${line("z", 3n, "f=1")}` },
];

const SQL: readonly (readonly [database: string, statement: string])[] = [
  ["d", "SELECT * FROM cpu ORDER BY time, host"],
  ["d", "SELECT host, count(*) AS n, sum(f) AS f, max(n) AS m FROM cpu GROUP BY host ORDER BY host"],
  ["d", "SELECT * FROM last_cache('cpu', 'newest') ORDER BY host"],
  ["d", "SELECT * FROM distinct_cache('cpu', 'hosts') ORDER BY host"],
  ["d", 'SELECT "table", name, count, ttl FROM system.last_caches'],
  ["d", "SELECT table_name, index_columns FROM system.file_index"],
  ["d", "SELECT trigger_name, plugin_filename, trigger_specification, disabled FROM system.processing_engine_triggers"],
  ["d/week", "SELECT v FROM kept ORDER BY time"],
  ["e", "SELECT * FROM m ORDER BY time"],
  ["e", "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'iox' ORDER BY ALL"],
];
const V1: readonly string[] = [
  "SELECT * FROM cpu",
  "SELECT mean(f) FROM cpu WHERE time < 4d GROUP BY time(12h), host",
  "SHOW TAG VALUES WITH KEY = host",
  "SHOW RETENTION POLICIES",
  "SHOW FIELD KEYS",
  'SELECT v FROM "week".kept',
];
const FLUX: readonly string[] = [
  'from(bucket: "d") |> range(start: 1970-01-01T00:00:00Z, stop: 2030-01-01T00:00:00Z) |> filter(fn: (r) => r._measurement == "cpu") |> group(columns: ["host", "_field"]) |> count()',
  'from(bucket: "e") |> range(start: 1970-01-01T00:00:00Z, stop: 2030-01-01T00:00:00Z)',
];

async function answered(statement: string, response: Response): Promise<string> {
  const text = await response.text();
  return `${statement}: ${response.status} ${text}`;
}

async function answersOf(server: TestServer): Promise<string[]> {
  const found: string[] = [];
  for (const [db, q] of SQL) {
    const query = new URLSearchParams({ db, q, format: "csv" });
    found.push(await answered(q, await fetch(`${server.url}/api/v3/query_sql?${query}`)));
  }
  for (const q of V1) found.push(await answered(q, await fetch(`${server.url}/query?${new URLSearchParams({ db: "d", q, epoch: "ns" })}`)));
  for (const script of FLUX) {
    const headers = { authorization: `Token ${TOKEN}`, "content-type": "application/vnd.flux" };
    found.push(await answered(script, await fetch(`${server.bucketsUrl}/api/v2/query?org=o`, { method: "POST", headers, body: script })));
  }
  return found;
}

async function post(url: string, value: unknown, status: number): Promise<void> {
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value) });
  expect([url, response.status, response.ok ? "" : await response.text()]).toEqual([url, status, ""]);
}

const setUp = (server: TestServer) =>
  post(`${server.bucketsUrl}/api/v2/setup`, { username: "u", password: "password1", org: "o", bucket: "first", token: TOKEN }, 201);

async function define({ url }: TestServer): Promise<void> {
  const configure = `${url}/api/v3/configure`;
  await post(`${configure}/last_cache`, { db: "d", table: "cpu", name: "newest", key_columns: ["host"], count: 2, ttl: 999_999_999 }, 201);
  await post(`${configure}/distinct_cache`, { db: "d", table: "cpu", name: "hosts", columns: ["host"], max_age: 999_999_999 }, 201);
  await post(`${url}/api/v3/enterprise/configure/file_index`, { db: "d", table: "cpu", columns: ["host"] }, 200);
  const trigger = { db: "d", plugin_filename: "p.py", trigger_name: "t", trigger_specification: "table:cpu", disabled: true };
  await post(`${configure}/processing_engine_trigger`, { ...trigger, trigger_settings: { run_async: false, error_behavior: "log" } }, 200);
}

test.each(ROW_STATES)(
  "%s",
  async (state) => {
    const folder = mkdtempSync(join(tmpdir(), "tsdb-backups-"));
    writeFileSync(join(folder, "p.py"), "def process_writes(local, batches, args=None): pass\n");
    const flags = ["--use-pacha-tree", "--backup-dir", folder, "--plugin-dir", folder];
    const prepare = async (server: TestServer) => {
      await setUp(server);
      const week = new URLSearchParams({ q: "CREATE DATABASE d; CREATE RETENTION POLICY week ON d DURATION 1w REPLICATION 1" });
      expect((await fetch(`${server.url}/query`, { method: "POST", body: week })).status).toBe(200);
    };
    const server = await ServedRows.start(state, STEPS, { flags, prepare, withBuckets: true });
    try {
      await define(server);
      const before = await answersOf(server);
      expect(before.filter((answer) => !answer.includes(": 200 "))).toEqual([]);
      expect(before[0]!.split("\n").length).toBeGreaterThan(60);
      expect(await backUp(server, "b")).toMatchObject({ status: "completed" });
      expect(await answersOf(server)).toEqual(before);

      // everything changes, and comes back
      await store(server, "d", `${line("a", at(1, 1), "f=100")}\n${line("new", at(5, 1), "f=1")}\nother v=1 1`);
      await dataOf(server).deleteData({ database: "e", table: "m" });
      await dataOf(server).setRetention({ database: "e" }, DAY_NS);
      const other = { db: "d", table: "cpu", columns: ["s"] };
      await post(`${server.url}/api/v3/enterprise/configure/file_index`, other, 200);
      expect(await answersOf(server)).not.toEqual(before);
      expect(await restore(server, "b")).toMatchObject({ status: "completed" });
      expect(await answersOf(server)).toEqual(before);
      await dataOf(server).compact();
      expect(await answersOf(server)).toEqual(before);
      await server.restart();
      expect(await answersOf(server)).toEqual(before);

      await using empty = await TestServer.start({ flags, withBuckets: true });
      await setUp(empty);
      expect(await restore(empty, "b")).toMatchObject({ status: "completed" });
      expect(await answersOf(empty)).toEqual(before);
      await empty.restart();
      expect(await answersOf(empty)).toEqual(before);
    } finally {
      await server.dispose();
      rmSync(folder, { recursive: true });
    }
  },
  120_000,
);

if (pluginPython() !== null) {
  test("an enabled trigger runs on the server that has restored it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tsdb-backups-"));
    writeFileSync(
      join(folder, "p.py"),
      "def process_writes(local, batches, args=None):\n    local.write(LineBuilder('seen').int64_field('n', 1))\n",
    );
    const flags = ["--use-pacha-tree", "--backup-dir", folder, "--plugin-dir", folder, "--package-manager", "disabled"];
    try {
      await using server = await TestServer.start({ flags });
      await store(server, "d", "cpu v=1 1");
      const settings = { trigger_settings: { run_async: false, error_behavior: "log" }, disabled: false };
      const trigger = { db: "d", plugin_filename: "p.py", trigger_name: "t", trigger_specification: "table:cpu", ...settings };
      await post(`${server.url}/api/v3/configure/processing_engine_trigger`, trigger, 200);
      expect(await backUp(server, "b")).toMatchObject({ status: "completed" });
      await using empty = await TestServer.start({ flags });
      expect(await restore(empty, "b")).toMatchObject({ status: "completed" });
      await store(empty, "d", "cpu v=2 2");
      const count = async () => (await empty.sql<{ n: number }>("d", "SELECT count(*) AS n FROM seen").catch(() => []))[0]?.n;
      while ((await count()) === undefined) await Bun.sleep(20);
      // not for rows that the backup has brought
      expect(await count()).toBe(1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 60_000);
}
