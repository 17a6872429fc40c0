// Which tables are fed when, against a cache worker and a catalog of plain lists.
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import type { CacheDef, DistinctCacheDef, LastCacheDef } from "../../model/caches.ts";
import { describeError } from "../../model/errors.ts";
import { TIME_COLUMN } from "../../model/rows/column.ts";
import type { LiveTable } from "../../storage/buffer/live-tables.ts";
import type { FromQueryWorker } from "../wire/messages.ts";
import { CacheFeeds, type CacheFeedsParts, type TableFeed } from "./cache-feeds.ts";

type Fed = Extract<FromQueryWorker, { type: "fed" }>;

const last = (id: number, tableId: number): LastCacheDef => ({
  ...{ kind: "last", id, tableId, name: `c${id}`, nodes: "all", createdMs: 0 },
  ...{ keyColumnIds: [1], valueColumnIds: null, count: 1, ttlSeconds: 10 },
});

interface Sent {
  readonly feeds: readonly TableFeed[];
  readonly answer: (failed?: Fed["failed"]) => Promise<void>;
  readonly fail: (error: Error) => Promise<void>;
}

class World {
  caches: CacheDef[] = [];
  changed: () => void = () => {};
  fed: ReadonlySet<number> = new Set();
  onUnfed: (table: LiveTable) => void = () => {};
  readonly since = new Map<number, number>();
  readonly sent: Sent[] = [];
  readonly kept: number[][] = [];
  readonly expiring: string[] = [];
  readonly errors: string[] = [];
  pins = 0;
  nowMs = 1000;

  start(options: Partial<CacheFeedsParts> = {}): CacheFeeds {
    const tableById = (id: number) => ({ id, databaseId: 0, name: `t${id}`, columns: [TIME_COLUMN] });
    return new CacheFeeds({
      cacheWorker: {
        feed: (feeds) => {
          const { promise, resolve, reject } = Promise.withResolvers<Fed>();
          const totals = { last: { bytes: 1, keys: 2, rows: 3 }, distinct: { bytes: 0, keys: 0, rows: 0 } };
          const release = () => {
            for (const feed of feeds) feed.release();
          };
          const answer = (failed: Fed["failed"] = []) => {
            release();
            return settled(() => resolve({ type: "fed", id: 0, failed, totals }));
          };
          const fail = (error: Error) => {
            release();
            return settled(() => reject(error));
          };
          this.sent.push({ feeds, answer, fail });
          return promise;
        },
        keep: async (caches, expiring) => {
          this.expiring.push(...expiring);
          this.kept.push(caches.map(({ id }) => id));
          const kept = { bytes: 9, keys: caches.length, rows: caches.length };
          return { totals: { last: kept, distinct: { bytes: 0, keys: 0, rows: 0 } } };
        },
      },
      catalog: {
        caches: (tableId) => this.caches.filter((cache) => cache.tableId === tableId),
        liveCaches: () => this.caches,
        onCacheChanges: (changed) => {
          this.changed = changed;
        },
        tableById,
      },
      tables: {
        feedCaches: (ids, onUnfed) => {
          this.fed = ids;
          this.onUnfed = onUnfed;
        },
      },
      snapshots: {
        takeForCaches: (table) => {
          this.pins++;
          const sinceMs = this.since.get(table.id) ?? null;
          this.since.delete(table.id);
          const snapshot = { table, retentionMinNs: 0n, tombstones: [], lastDeletion: 0, runs: [], blocks: [] };
          return { table: snapshot, clock: { nowMs: this.nowMs, sinceMs }, release: () => void this.pins-- };
        },
      },
      fillsFromHistory: { last: true, distinct: true },
      evictionMs: { last: 10_000, distinct: 10_000 },
      nowMs: () => this.nowMs,
      onError: (error, table) => void this.errors.push(`${table}: ${error.message}`),
      ...options,
    });
  }

  /** What LiveTables does for a body. */
  body(tableId: number, nowMs: number): void {
    this.nowMs = nowMs;
    if (!this.fed.has(tableId) || this.since.has(tableId)) return;
    this.since.set(tableId, nowMs);
    this.onUnfed({ tableId } as LiveTable);
  }

  set(...caches: LastCacheDef[]): void {
    this.caches = caches;
    this.changed();
  }

  /** Tables of each message so far, with the arrival that it tells. */
  get log(): [tableId: number, caches: number[], sinceMs: number | null][][] {
    return this.sent.map(({ feeds }) =>
      feeds.map(({ table, caches, clock }) => [table.table.id, caches.map(({ id }) => id), clock.sinceMs]),
    );
  }
}

async function settled(act: () => void): Promise<void> {
  act();
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

const later = (ms: number) => settled(() => void jest.advanceTimersByTime(ms));

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("caches that there are at the start are filled, one table at a time, and their tables' rows are noted", async () => {
  const world = new World();
  world.caches = [last(1, 7), last(2, 8), last(3, 7)];
  const feeds = world.start();
  expect([...world.fed]).toEqual([7, 8]);
  await later(50);
  expect(world.kept).toEqual([[1, 2, 3]]);
  expect(world.log).toEqual([[[7, [1, 3], null]]]);
  await world.sent[0]!.answer();
  expect(world.log[1]).toEqual([[8, [2], null]]);
  await world.sent[1]!.answer();
  expect(world.sent).toHaveLength(2);
  expect(world.pins).toBe(0);
  expect(feeds.stats).toMatchObject({ caches: { last: 3, distinct: 0 }, totals: { last: { bytes: 1, keys: 2, rows: 3 } }, feeds: 2 });
  feeds.stop();
});

test("totals drop caches that were deleted, without a feed", async () => {
  const world = new World();
  world.caches = [last(1, 7)];
  const feeds = world.start();
  await world.sent[0]!.answer();
  expect(feeds.stats.totals.last).toEqual({ bytes: 1, keys: 2, rows: 3 });
  world.caches = [];
  world.changed();
  await later(50);
  expect(world.kept.at(-1)).toEqual([]);
  expect(feeds.stats).toMatchObject({ caches: { last: 0, distinct: 0 }, totals: { last: { bytes: 9, keys: 0, rows: 0 } } });
  feeds.stop();
});

test("expired rows are freed at the interval of the cache's kind", async () => {
  const world = new World();
  const distinct: DistinctCacheDef = { ...last(2, 7), kind: "distinct", columnIds: [1], maxCardinality: 9, maxAgeSeconds: 9 };
  world.caches = [last(1, 7), distinct];
  const feeds = world.start({ evictionMs: { last: 1000, distinct: 2500 } });
  await later(999);
  expect(world.expiring).toEqual([]);
  await later(4001);
  expect(world.expiring.toSorted()).toEqual([...Array(2).fill("distinct"), ...Array(5).fill("last")]);
  feeds.stop();
  await later(10_000);
  expect(world.expiring).toHaveLength(7);
});

test("new rows are fed within 100 ms of the first body, one message at a time, with the arrival of that body", async () => {
  const world = new World();
  world.caches = [last(1, 7), last(2, 8)];
  const feeds = world.start();
  await world.sent[0]!.answer();
  await world.sent[1]!.answer();
  world.body(7, 5000);
  world.body(9, 5010);
  world.body(8, 5020);
  world.body(7, 5040);
  expect(world.sent).toHaveLength(2);
  await later(100);
  expect(world.log[2]).toEqual([
    [7, [1], 5000],
    [8, [2], 5020],
  ]);
  // what comes while a message is under way waits for its answer, and then not for long
  world.body(7, 5100);
  await later(1000);
  expect(world.sent).toHaveLength(3);
  await world.sent[2]!.answer();
  await later(100);
  expect(world.log[3]).toEqual([[7, [1], 5100]]);
  await world.sent[3]!.answer();
  await later(1000);
  expect(world.sent).toHaveLength(4);
  feeds.stop();
});

test("rows of a table that is being filled wait; those of others do not", async () => {
  const world = new World();
  world.caches = [last(1, 7)];
  const feeds = world.start();
  await world.sent[0]!.answer();
  world.set(last(1, 7), last(2, 8));
  expect(world.log[1]).toEqual([[8, [2], null]]);
  world.body(8, 5000);
  world.body(7, 5001);
  await later(100);
  expect(world.log[2]).toEqual([[7, [1], 5001]]);
  await world.sent[2]!.answer();
  await later(1000);
  expect(world.sent).toHaveLength(3);
  await world.sent[1]!.answer();
  await later(100);
  expect(world.log[3]).toEqual([[8, [2], 5000]]);
  feeds.stop();
});

test("caches that begin empty do so at the moment of their creation, whatever is under way", async () => {
  const world = new World();
  world.caches = [last(1, 7)];
  const feeds = world.start({ fillsFromHistory: { last: false, distinct: true } });
  world.set(last(1, 7), last(2, 7));
  expect(world.log).toEqual([[[7, [1], null]], [[7, [2], null]]]);
  await world.sent[0]!.answer();
  await world.sent[1]!.answer();
  world.body(7, 5000);
  await later(100);
  expect(world.log[2]).toEqual([[7, [1, 2], 5000]]);
  feeds.stop();
});

test("deleted caches are not fed, and rows of a table without caches are not reported", async () => {
  const world = new World();
  world.caches = [last(1, 7), last(2, 8)];
  const feeds = world.start();
  await world.sent[0]!.answer();
  await world.sent[1]!.answer();
  world.body(7, 5000);
  world.set(last(2, 8));
  expect([...world.fed]).toEqual([8]);
  await later(50);
  expect(world.kept.at(-1)).toEqual([2]);
  await later(200);
  expect(world.sent).toHaveLength(2);
  world.set();
  await later(50);
  expect(world.kept.at(-1)).toEqual([]);
  // what has expired goes every ten seconds, as long as there is anything
  const kept = world.kept.length;
  await later(30_000);
  expect(world.kept).toHaveLength(kept);
  world.set(last(3, 8));
  world.set(last(3, 8), last(4, 8));
  await later(10_000);
  expect(world.kept.slice(kept)).toEqual([
    [3, 4],
    [3, 4],
  ]);
  feeds.stop();
});

test("a table that could not be fed is fed again, later each time, with the arrival of what was missed; others are not held up", async () => {
  const world = new World();
  world.caches = [last(1, 7), last(2, 8)];
  const feeds = world.start();
  await world.sent[0]!.answer();
  await world.sent[1]!.answer();
  const failed = [{ place: 0, error: describeError(new Error("no room")) }];
  world.body(7, 5000);
  world.body(8, 5000);
  await later(100);
  await world.sent[2]!.answer(failed);
  expect(world.errors).toHaveLength(1);
  expect(world.errors[0]).toStartWith("t7: ");
  await later(500);
  expect(world.sent).toHaveLength(3);
  await later(700);
  expect(world.log[3]).toEqual([[7, [1], 5000]]);
  await world.sent[3]!.answer(failed);
  await later(1500);
  expect(world.sent).toHaveLength(4);
  await later(700);
  expect(world.log[4]).toEqual([[7, [1], 5000]]);
  await world.sent[4]!.answer();
  world.body(7, 9000);
  await later(100);
  expect(world.log[5]).toEqual([[7, [1], 9000]]);
  feeds.stop();
});

test("a new cache worker gets all caches and fills them; pins of the lost worker are released", async () => {
  const world = new World();
  world.caches = [last(1, 7)];
  const feeds = world.start();
  await world.sent[0]!.answer();
  world.body(7, 5000);
  await later(100);
  expect(world.pins).toBe(1);
  await world.sent[1]!.fail(new Error("gone"));
  expect(world.pins).toBe(0);
  feeds.cacheWorkerReplaced();
  expect(world.log[2]).toEqual([[7, [1], null]]);
  expect(world.errors).toEqual([]);
  feeds.stop();
});

test("after the stop nothing is sent", async () => {
  const world = new World();
  world.caches = [last(1, 7), last(2, 8)];
  const feeds = world.start();
  world.body(7, 5000);
  feeds.stop();
  await world.sent[0]!.answer();
  await later(60_000);
  expect(world.sent).toHaveLength(1);
  expect(world.pins).toBe(0);
  expect([...world.fed]).toEqual([]);
});
