// Measures the cost of the cache worker: processor time per row of updating caches, and of opening and reading them, without HTTP and
// without an engine, compared with the rest of ingest. Wide rows: two tags, ten fields.
//   bun bench/cache-worker.ts [series] [rows]

import { CacheManager } from "../src/caches/cache-manager.ts";
import { NullDisk } from "../src/disk/null-disk.ts";
import type { CacheDef } from "../src/model/caches.ts";
import { ALL_TIME } from "../src/model/query/scan.ts";
import { noSeriesNumbers } from "../src/scan/series-numbers.ts";
import { WritePath } from "../test/support/storage/write-path.ts";

const ROUNDS = 7;
const FIELDS = 10;
const START_NS = 1_700_000_000_000_000_000n;

const seriesCount = Number(process.argv[2] ?? 10_000);
const rowCount = Number(process.argv[3] ?? 100_000);
const signal = new AbortController().signal;

/** Rows ordered by time, with the series in turn. */
function body(round: number): string {
  const lines: string[] = [];
  for (let row = 0; row < rowCount; row++) {
    const series = row % seriesCount;
    const time = START_NS + BigInt(round * rowCount + row) * 1_000n;
    const fields = Array.from({ length: FIELDS }, (_, field) => `f${field}=${(row * 7 + field) % 1000}`);
    lines.push(`cpu,host=host_${series},region=r${series % 10} ${fields.join(",")},kind="kind ${series % 4}" ${time}`);
  }
  return lines.join("\n");
}

/** Approximate processor time of this thread's work, in milliseconds: the process does nothing else. */
async function cpuOf<T>(work: () => T | Promise<T>): Promise<{ ms: number; value: T }> {
  const before = process.cpuUsage();
  const value = await work();
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1000, value };
}

const median = (times: number[]) => times.sort((a, b) => a - b)[times.length >> 1]!;

const path = await WritePath.open(new NullDisk());
await path.write(body(0), { noSync: true });
const { kernel, blockCache } = path;
const known = { numbers: noSeriesNumbers(kernel), segments: null };
const cacheWorker = new CacheManager({
  kernel,
  cache: blockCache,
  known: () => known,
  bytesMax: 2 ** 30,
  fillsFromHistory: { last: true, distinct: true },
});
const id = (name: string) => path.columns("cpu").find((column) => column.name === name)!.id;
const common = { tableId: 1, nodes: "all", createdMs: Date.now() };
const last = { ...common, kind: "last", valueColumnIds: null, ttlSeconds: 10 ** 9 } as const;
const distinct = { ...common, kind: "distinct", maxCardinality: 1_000_000, maxAgeSeconds: 10 ** 9 } as const;
const CACHES: readonly CacheDef[] = [
  { ...last, id: 1, name: "last by host", keyColumnIds: [id("host"), id("region")], count: 1 },
  { ...last, id: 2, name: "last 10 by host", keyColumnIds: [id("host"), id("region")], count: 10 },
  { ...last, id: 3, name: "last by region", keyColumnIds: [id("region")], count: 1 },
  { ...last, id: 4, name: "last by host, field", keyColumnIds: [id("host"), id("kind")], count: 1 },
  { ...distinct, id: 5, name: "distinct host, region", columnIds: [id("region"), id("host")] },
  { ...distinct, id: 6, name: "distinct host, field", columnIds: [id("kind"), id("host")] },
];

function table() {
  const taken = path.takeSnapshot("cpu")!;
  return { ...taken, clock: { nowMs: Date.now(), sinceMs: Date.now() } };
}

async function read(def: CacheDef): Promise<number> {
  const { snapshot, release, clock } = table();
  const cache = await cacheWorker.open(def, snapshot, clock, signal);
  const cursor = cache.open({ columns: cache.columns, range: ALL_TIME, tags: [] });
  let rows = 0;
  for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) rows += chunk.rowCount;
  cache.close();
  release();
  return rows;
}

async function feed(def: CacheDef): Promise<void> {
  const { snapshot, release, clock } = table();
  await cacheWorker.feed([def], snapshot, clock);
  release();
}

const times = new Map(
  CACHES.map((def) => [
    def,
    { fill: 0, feed: [] as number[], idle: [] as number[], first: [] as number[], again: [] as number[], rows: 0 },
  ]),
);
for (const [def, time] of times) time.fill = (await cpuOf(() => feed(def))).ms;
const write: number[] = [];
for (let round = 1; round <= ROUNDS; round++) {
  const lines = body(round);
  write.push((await cpuOf(() => path.write(lines, { noSync: true }))).ms);
  for (const [def, time] of times) {
    time.feed.push((await cpuOf(() => feed(def))).ms);
    time.idle.push((await cpuOf(() => feed(def))).ms);
    const first = await cpuOf(() => read(def));
    time.rows = first.value;
    time.first.push(first.ms);
    time.again.push((await cpuOf(() => read(def))).ms);
  }
}
console.log(
  `${seriesCount} series, ${rowCount} new rows of ${FIELDS} floats and a text each time; ms of processor time, medians of ${ROUNDS}`,
);
console.log(`write: ${median(write).toFixed(1)} ms, ${((median(write) * 1e6) / rowCount).toFixed(0)} ns a row`);
for (const [{ name }, { fill, feed: fed, idle, first, again, rows }] of times) {
  const perRow = ((median(fed) * 1e6) / rowCount).toFixed(1);
  console.log(
    `${name}: fill ${fill.toFixed(1)}, feed ${median(fed).toFixed(2)} (${perRow} ns a row), nothing new ${median(idle).toFixed(2)}, ` +
      `open and read ${rows} rows ${median(first).toFixed(2)}, again ${median(again).toFixed(2)}`,
  );
}
console.log(
  cacheWorker
    .stats()
    .map(({ cacheId, bytes }) => `${cacheId}: ${(bytes / (1 << 20)).toFixed(1)} MiB`)
    .join(", "),
);
cacheWorker.keepOnly([]);
await path.close();
