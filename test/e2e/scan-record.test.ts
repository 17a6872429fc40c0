// What a statement read, as users and scrapers see it: EXPLAIN ANALYZE, /metrics, the log; and a data file that is damaged.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";
import { query, store } from "./client.ts";

setDefaultTimeout(60_000);

const DAY_S = 86_400;
const START_S = 1_704_067_200; // 2024-01-01
const HOSTS = 4;
/** A row a minute of each host. */
/** What the server asks itself after a start would be in the cache. */
const COLD = ["--warm-up=false"];
const dayOf = (day: number) =>
  Array.from({ length: HOSTS * 1440 }, (_, i) => {
    const [minute, host] = [Math.floor(i / HOSTS), i % HOSTS];
    return `cpu,host=h${host} load=${i / 2},state="row ${i}" ${START_S + day * DAY_S + minute * 60}000000000`;
  }).join("\n");
const HOUR = "SELECT max(load) AS top FROM cpu WHERE host = 'h1' AND time >= '2024-01-02T03:00:00Z' AND time < '2024-01-02T04:00:00Z'";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ flags: COLD });
  await store(server, "db", `${dayOf(0)}\n${dayOf(1)}`);
  // a clean stop flushes
  await server.restart(COLD);
  await store(server, "db", dayOf(2));
  await server.restart([...COLD, "--log-filter", "info,query=debug"]);
});
afterAll(() => server.dispose());

/** The counts of the only scan. */
async function record(statement: string): Promise<Record<string, string>> {
  const [{ plan }] = (await server.sql<{ plan: string }>("db", `EXPLAIN ANALYZE ${statement}`)) as [{ plan: string }];
  const lines = plan.split("\n").filter((line) => line.startsWith("scan of cpu: "));
  expect(lines.length).toBe(1);
  return Object.fromEntries(
    lines[0]!
      .slice("scan of cpu: ".length)
      .split(" ")
      .map((pair) => pair.split("=") as [string, string]),
  );
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${name} `))!
      .slice(name.length),
  );
}

/** An answer leaves before its statement is counted: asks until the count is there. */
async function metricReaches(name: string, least: number): Promise<number> {
  const deadlineMs = performance.now() + 20_000;
  let value = await metric(name);
  while (value < least && performance.now() < deadlineMs) value = await metric(name);
  return value;
}

test("an hour of a host is a page of one of two files: read in part eight times, then as a whole, then from memory", async () => {
  const first = await record(HOUR);
  expect(first).toMatchObject({ files: "1/2", blocks: "1/3", pages: "1/1", segments: "0/0", rows_read: "60", rows_returned: "1" });
  expect(first).toMatchObject({ gen0_hits: "0", gen0_misses: "3", compacted_hits: "0", compacted_misses: "0" });
  expect(Number(first["bytes_read"])).toBeGreaterThan(0);
  const later: Record<string, string>[] = [];
  for (let time = 2; time <= 9; time++) later.push(await record(HOUR));
  expect(later.map(({ rows_read }) => rows_read)).toEqual([...Array.from({ length: 7 }, () => "60"), "5760"]);
  expect(await record(HOUR)).toMatchObject({ bytes_read: "0", gen0_hits: "3", gen0_misses: "0", rows_returned: "1" });
  expect(await metricReaches('tsdb_file_cache_hits_total{generation="gen0"}', 3)).toBeGreaterThanOrEqual(3);
  expect(await metric('tsdb_file_cache_misses_total{generation="gen0"}')).toBeGreaterThanOrEqual(3);
  expect(await metric("tsdb_file_cache_bytes")).toBeGreaterThan(5760 * 16);
  expect(await metric("tsdb_file_read_bytes_total")).toBe([first, ...later].reduce((sum, { bytes_read }) => sum + Number(bytes_read), 0));
});

test("the log tells of each statement", async () => {
  await server.sql("db", HOUR);
  await server.sql("db", "SELECT 1");
  await server.untilOutput(/query telemetry.*"?chunkId"?.*0:cpu/);
});

test("without a cache: the same answer, read each time", async () => {
  const answer = await server.sql("db", HOUR);
  await server.restart([...COLD, "--file-cache-size", "0"]);
  expect(await server.sql("db", HOUR)).toEqual(answer);
  // minute 239 of host 1
  expect(answer).toEqual([{ top: (239 * HOSTS + 1) / 2 }]);
  expect(await record(HOUR)).toMatchObject({ gen0_hits: "0", gen0_misses: "3" });
  expect(await metric("tsdb_file_cache_bytes")).toBe(0);
});

test("damage is reported with file and place, and only where it is read", async () => {
  await server.stop();
  const files = readdirSync(server.dataDir, { recursive: true }).map(String);
  const [file] = files.filter((name) => name.endsWith(".pt")).sort();
  const path = join(server.dataDir, file!);
  const bytes = readFileSync(path);
  // the texts of the first day: after its dictionary, times and loads
  bytes[Math.floor(bytes.length * 0.4)]! ^= 4;
  writeFileSync(path, bytes);
  await server.restart(COLD);
  const { status, text } = await query(server, "db", "SELECT * FROM cpu WHERE time < '2024-01-02'");
  expect(status).toBe(500);
  expect(text).toMatch(/cannot read .*\.pt at \d+: checksum [0-9a-f]{8}, expected [0-9a-f]{8}/);
  expect(await server.sql("db", HOUR)).toEqual([{ top: (239 * HOSTS + 1) / 2 }]);
});
