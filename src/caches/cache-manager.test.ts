// What test/fuzz/caches.long.test.ts does not meet: equal times, memory and its limit, who fills from history, what is covered.
import { expect, test } from "bun:test";
import { readChunk, type TestRow, type TestValue } from "../../test/support/rows/rows.ts";
import { type TablePart, TestSnapshot } from "../../test/support/rows/table-snapshot.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import type { CacheTable } from "../model/cache-table.ts";
import type { CacheDef, DistinctCacheDef, LastCacheDef } from "../model/caches.ts";
import { ALL_TIME } from "../model/query/scan.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../model/rows/column.ts";
import { noSeriesNumbers } from "../scan/series-numbers.ts";
import type { TableSnapshot } from "../scan/snapshot.ts";
import { BlockCache } from "../storage/block-cache/block-cache.ts";
import { CacheManager } from "./cache-manager.ts";

const COLUMNS: ColumnDef[] = [
  TIME_COLUMN,
  { id: 1, name: "host", type: ColumnType.tag },
  { id: 2, name: "region", type: ColumnType.tag },
  { id: 3, name: "load", type: ColumnType.float },
  { id: 4, name: "note", type: ColumnType.string },
];
const NOW_MS = 1_700_000_000_000;
const NOW_NS = BigInt(NOW_MS) * 1_000_000n;
const MINUTE_MS = 60_000;
const NEVER_ABORTED = new AbortController().signal;
const ALL = { last: true, distinct: true };

const common = { tableId: 1, nodes: "all", createdMs: NOW_MS };
const LAST: LastCacheDef = {
  ...{ ...common, id: 1, name: "last", kind: "last" },
  ...{ keyColumnIds: [1], valueColumnIds: null, count: 1, ttlSeconds: 3600 },
};
const DISTINCT: DistinctCacheDef = {
  ...{ ...common, id: 2, name: "hosts", kind: "distinct" },
  ...{ columnIds: [1], maxCardinality: 1000, maxAgeSeconds: 3600 },
};

const kernel = Kernel.create();
const blocks = new BlockCache(kernel, 1 << 20);

function cacheWorkerOf(options: { bytesMax?: number; fills?: { last: boolean; distinct: boolean } } = {}): CacheManager {
  const known = { numbers: noSeriesNumbers(kernel), segments: null };
  const { bytesMax = 2 ** 28, fills = ALL } = options;
  return new CacheManager({ kernel, cache: blocks, known: () => known, bytesMax, fillsFromHistory: fills });
}

const row = (host: string | null, region: string, seconds: number, load: number, note?: string): TestRow => ({
  timeNs: NOW_NS + BigInt(seconds) * 1_000_000_000n,
  tags: { ...(host === null ? {} : { host }), region },
  fields: { load, ...(note === undefined ? {} : { note }) },
});

function rowsOf(table: CacheTable): (TestValue | null)[][] {
  const cursor = table.open({ columns: table.columns, range: ALL_TIME, tags: [] });
  const rows: (TestValue | null)[][] = [];
  for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) rows.push(...readChunk(kernel, table.columns, chunk));
  return rows;
}

async function read(cacheWorker: CacheManager, cache: CacheDef, snapshot: TableSnapshot, nowMs = NOW_MS): Promise<(TestValue | null)[][]> {
  const table = await cacheWorker.open(cache, snapshot, { nowMs, sinceMs: nowMs }, NEVER_ABORTED);
  const rows = rowsOf(table);
  table.close();
  return rows;
}

const snapshotOf = (...batches: (readonly TestRow[])[]) =>
  new TestSnapshot(kernel, [{ kind: "memory", batches }] satisfies TablePart[], { columns: COLUMNS });

test("of rows of one key and time that come one after the other the later write counts as newer, in one body and in several", async () => {
  const [a, b, c] = [row("h", "a", 0, 1), row("h", "b", 0, 2), row("h", "c", 0, 3)];
  const scenarios: { batches: TestRow[][]; count: number; regions: string[] }[] = [
    { batches: [[], [a, b]], count: 1, regions: ["b"] },
    { batches: [[], [b, a]], count: 1, regions: ["a"] },
    { batches: [[a], [b]], count: 1, regions: ["b"] },
    { batches: [[b], [a]], count: 1, regions: ["a"] },
    { batches: [[], [a, b, c]], count: 2, regions: ["c", "b"] },
    { batches: [[a, b], [c]], count: 2, regions: ["c", "b"] },
    // the point is written again, and that is later than the other one
    { batches: [[a, b], [a], [c]], count: 2, regions: ["c", "a"] },
  ];
  for (const { batches, count, regions } of scenarios) {
    const cacheWorker = cacheWorkerOf();
    const cache = { ...LAST, count };
    let last: (TestValue | null)[][] = [];
    // the first part of the scenario is read as history, the rest is fed
    for (let length = 1; length <= batches.length; length++) {
      const snapshot = snapshotOf(...batches.slice(0, length));
      last = await read(cacheWorker, cache, snapshot.table);
      snapshot.free();
    }
    expect({ batches, regions: last.map(([, region]) => region) }).toEqual({ batches, regions });
    cacheWorker.keepOnly([]);
    await cacheWorker.idle();
  }
});

test("rows without a value in a key column are in no last-value cache, NULL is a value of a distinct-value one", async () => {
  const cacheWorker = cacheWorkerOf();
  const snapshot = snapshotOf([row(null, "eu", 0, 1), row("h", "eu", 0, 2)]);
  expect((await read(cacheWorker, LAST, snapshot.table)).map(([host]) => host)).toEqual(["h"]);
  expect(await read(cacheWorker, DISTINCT, snapshot.table)).toEqual([[null], ["h"]]);
  snapshot.free();
});

test("rows of a cache stay unchanged while they are read; all memory is freed when caches go", async () => {
  const before = kernel.heap.usedBytes;
  const cacheWorker = cacheWorkerOf();
  const hosts = { ...DISTINCT, maxCardinality: 10_000 };
  const caches: CacheDef[] = [LAST, hosts, { ...LAST, id: 3, keyColumnIds: [4], count: 3 }, { ...hosts, id: 4, columnIds: [4, 1] }];
  const batch = (k: number) =>
    Array.from({ length: 300 }, (_, i) => row(`a host ${k} with a long name ${i}`, "eu", k, i, `note ${k} of host ${i % 7}`));
  const first = snapshotOf(batch(0));
  const open = await Promise.all(
    caches.map((cache) => cacheWorker.open(cache, first.table, { nowMs: NOW_MS, sinceMs: null }, NEVER_ABORTED)),
  );
  const shown = open.map(rowsOf);
  expect(shown.map(({ length }) => length)).toEqual([300, 300, 21, 300]);
  const batches = [batch(0)];
  for (let k = 1; k < 12; k++) {
    batches.push(batch(k));
    const snapshot = snapshotOf(...batches);
    await cacheWorker.feed(caches, snapshot.table, { nowMs: NOW_MS + k * MINUTE_MS, sinceMs: NOW_MS + k * MINUTE_MS });
    snapshot.free();
  }
  // what came in the last seven feeds has not expired
  cacheWorker.evict(["last", "distinct"], NOW_MS + 65 * MINUTE_MS);
  expect(cacheWorker.stats().map(({ keys }) => keys)).toEqual([2100, 2100, 49, 2100]);
  cacheWorker.keepOnly([]);
  await cacheWorker.idle();
  expect(open.map(rowsOf)).toEqual(shown);
  for (const table of open) table.close();
  cacheWorker.evict(["last", "distinct"], NOW_MS);
  expect(cacheWorker.bytes).toBe(0);
  first.free();
  expect(kernel.heap.usedBytes).toBe(before);
});

test("of history only the files are read that can hold rows that are kept", async () => {
  const hosts = Array.from({ length: 20 }, (_, i) => `host ${i}`);
  const batch = (k: number) => [0, 1, 2].flatMap((second) => hosts.map((host) => row(host, "eu", k * 10 + second, k)));
  const parts = Array.from({ length: 10 }, (_, k): TablePart => ({ kind: "file", batches: [batch(k)] }));
  const snapshot = new TestSnapshot(kernel, parts, { columns: COLUMNS, firstFileId: 100 });
  const known = { numbers: noSeriesNumbers(kernel), segments: null };
  const read = async (cache: CacheDef) => {
    const files = new BlockCache(kernel, 1 << 20);
    const cacheWorker = new CacheManager({ kernel, cache: files, known: () => known, bytesMax: 2 ** 28, fillsFromHistory: ALL });
    const table = await cacheWorker.open(cache, snapshot.table, { nowMs: NOW_MS, sinceMs: null }, NEVER_ABORTED);
    const loads = new Set(rowsOf(table).map(([, , load]) => load));
    table.close();
    return { loads: [...loads].sort(), misses: files.counts.gen0Misses };
  };
  // three rows of each host are in the last file, and six in the last two
  const [three, five] = [await read({ ...LAST, count: 3 }), await read({ ...LAST, count: 5 })];
  expect([three.loads, five.loads]).toEqual([[9], [8, 9]]);
  // of a file that is left out the series are read, of others three columns and series of rows as well
  expect(five.misses - three.misses).toBeGreaterThan(0);
  expect(three.misses).toBeLessThan(10 + 10);
  snapshot.free();
});

test("a file with rows that were seen and rows that were not brings each point once", async () => {
  const cacheWorker = cacheWorkerOf();
  const cache = { ...LAST, count: 3 };
  const [seen, unseen] = [[row("h", "eu", 0, 1), row("i", "eu", 0, 1)], [row("h", "eu", 1, 2)]];
  const first = snapshotOf(seen);
  expect(await read(cacheWorker, cache, first.table)).toHaveLength(2);
  const second = new TestSnapshot(kernel, [{ kind: "file", batches: [seen, unseen] }], { columns: COLUMNS, firstFileId: 200 });
  const hosts = (await read(cacheWorker, cache, second.table)).map(([host, , load]) => [host, load]);
  expect(hosts).toEqual([
    ["h", 2],
    ["h", 1],
    ["i", 1],
  ]);
  first.free();
  second.free();
});

test("a cache that does not fit says so at each read, takes nothing, and is there again when it fits", async () => {
  const before = kernel.heap.usedBytes;
  const cacheWorker = cacheWorkerOf({ bytesMax: 200_000 });
  const many = snapshotOf(Array.from({ length: 5000 }, (_, i) => row(`host ${i}`, "eu", 0, i, `a note that is longer than others ${i}`)));
  const few = snapshotOf([row("host", "eu", 0, 1, "a note")]);
  for (const cache of [LAST, { ...LAST, id: 3, keyColumnIds: [4] }, { ...DISTINCT, columnIds: [4], maxCardinality: 100_000 }]) {
    await cacheWorker.feed([cache], many.table, { nowMs: NOW_MS, sinceMs: null });
    await expect(read(cacheWorker, cache, many.table)).rejects.toThrow(
      `Resources exhausted: cache ${cache.name} does not fit into the 0 MiB of all caches; --cache-mem-limit sets the limit`,
    );
    expect(cacheWorker.bytes).toBe(0);
    expect(await read(cacheWorker, cache, few.table)).toHaveLength(1);
    cacheWorker.keepOnly([]);
    await cacheWorker.idle();
  }
  many.free();
  few.free();
  cacheWorker.evict(["last", "distinct"], NOW_MS);
  expect(kernel.heap.usedBytes).toBe(before);
});

test("reads of caches that do not fit lose no memory, however little there is", async () => {
  const snapshot = snapshotOf(
    Array.from({ length: 2000 }, (_, i) => row(`host ${i % 500}`, "eu", i, i, `a note of some length ${i % 900}`)),
  );
  const keyed = { ...LAST, id: 3, keyColumnIds: [1, 4], count: 3 };
  for (const cache of [LAST, keyed, DISTINCT, { ...DISTINCT, id: 4, columnIds: [1, 4] }]) {
    let misfits = 0;
    for (let bytesMax = 0; bytesMax < 400_000; bytesMax += bytesMax < 4000 ? 100 : 4000) {
      const before = kernel.heap.usedBytes;
      const cacheWorker = cacheWorkerOf({ bytesMax });
      const fits = await read(cacheWorker, cache, snapshot.table).then(
        () => true,
        () => false,
      );
      if (!fits) misfits += 1;
      cacheWorker.keepOnly([]);
      await cacheWorker.idle();
      cacheWorker.evict(["last", "distinct"], NOW_MS);
      expect({ bytesMax, left: cacheWorker.bytes, lost: kernel.heap.usedBytes - before }).toEqual({ bytesMax, left: 0, lost: 0 });
      if (fits) break;
    }
    expect(misfits).toBeGreaterThan(10);
  }
  snapshot.free();
});

test("a statement that waits for another one leaves at once when it is cancelled, and the others go on", async () => {
  const cacheWorker = cacheWorkerOf();
  const snapshot = snapshotOf([row("h", "eu", 0, 1)]);
  const controller = new AbortController();
  // the first is under way until the next turn of the loop
  const clock = { nowMs: NOW_MS, sinceMs: null };
  const first = cacheWorker.open(LAST, snapshot.table, clock, NEVER_ABORTED);
  const second = cacheWorker.open(LAST, snapshot.table, clock, controller.signal);
  const third = cacheWorker.open(LAST, snapshot.table, clock, NEVER_ABORTED);
  controller.abort();
  await expect(second).rejects.toThrow("the query was cancelled");
  for (const table of [await first, await third]) {
    expect(rowsOf(table)).toHaveLength(1);
    table.close();
  }
  await cacheWorker.idle();
  snapshot.free();
});

test("a cache whose history cannot be read is not tried with each feed, but with each read", async () => {
  const cacheWorker = cacheWorkerOf();
  const snapshot = new TestSnapshot(kernel, [{ kind: "file", batches: [[row("h", "eu", 0, 1)]] }], { columns: COLUMNS, firstFileId: 77 });
  snapshot.files[0]!.fill(0);
  const clock = { nowMs: NOW_MS, sinceMs: null };
  await expect(cacheWorker.feed([LAST], snapshot.table, clock)).rejects.toThrow();
  await cacheWorker.feed([LAST], snapshot.table, clock);
  await expect(cacheWorker.open(LAST, snapshot.table, clock, NEVER_ABORTED)).rejects.toThrow();
  const whole = snapshotOf([row("h", "eu", 0, 1)]);
  expect(await read(cacheWorker, LAST, whole.table)).toHaveLength(1);
  const more = snapshotOf([row("h", "eu", 0, 1)], [row("h", "eu", 1, 2)]);
  await cacheWorker.feed([LAST], more.table, clock);
  expect((await read(cacheWorker, LAST, whole.table)).map(([, , load]) => load)).toEqual([2]);
  whole.free();
  more.free();
  snapshot.free();
});

test("a cache that does not fill from history begins with what comes after its first feed", async () => {
  const cacheWorker = cacheWorkerOf({ fills: { last: false, distinct: false } });
  const old = [row("old", "eu", -60, 1), row("both", "eu", -60, 1)];
  const first = snapshotOf(old);
  expect(await read(cacheWorker, LAST, first.table)).toEqual([]);
  expect(await read(cacheWorker, DISTINCT, first.table)).toEqual([]);
  const second = snapshotOf(old, [row("both", "eu", -30, 2)]);
  expect((await read(cacheWorker, LAST, second.table)).map(([host]) => host)).toEqual(["both"]);
  expect(await read(cacheWorker, DISTINCT, second.table)).toEqual([["both"]]);
  first.free();
  second.free();
});
