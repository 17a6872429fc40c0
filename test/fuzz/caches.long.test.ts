// Last-value and distinct-value caches beside lists of writes: one random stream of writes, late and doubled rows, deletions, retention,
// flushes, compactions and restarts goes to the storage, whose snapshots feed the cache worker, and to a model of each cache
// (test/support/caches/cache-model.ts). `ROUNDS=… SEED=… bun test test/fuzz/caches.long.test.ts` runs longer or again.

import { expect, test } from "bun:test";
import { CacheManager } from "../../src/caches/cache-manager.ts";
import { type CacheClock, cacheColumns } from "../../src/model/cache-table.ts";
import type { CacheDef } from "../../src/model/caches.ts";
import { ALL_TIME } from "../../src/model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../src/model/rows/column.ts";
import { noSeriesNumbers } from "../../src/scan/series-numbers.ts";
import type { TableSnapshot } from "../../src/scan/snapshot.ts";
import { type DistinctModel, type LastModel, type ModelClock, modelOf } from "../support/caches/cache-model.ts";
import { type Below, pick, prng } from "../support/prng.ts";
import { readChunk, type TestRow, type TestValue } from "../support/rows/rows.ts";
import { tellSteps } from "../support/scenario.ts";
import { FaultyDisk } from "../support/storage/faulty-disk.ts";
import { RandomEviction } from "../support/storage/random-eviction.ts";
import { lineText, type ModelField, type ModelLine, StorageModel } from "../support/storage/storage-model.ts";
import { randomValue } from "../support/storage/storage-questions.ts";
import { WritePath } from "../support/storage/write-path.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const STEPS = Number(process.env["ROUNDS"] ?? 120);
const SEEDS = [SEED, SEED + 1, SEED + 2];
const TIMEOUT_MS = 30_000 + STEPS * 100;

const SECOND_NS = 1_000_000_000n;
const START_MS = 1_700_000_000_000;
const TABLE = "cpu";
const FOREVER_S = 10 ** 9;
const LARGE_BODY_LINES = 2500;

const FIELDS: readonly [name: string, type: ColumnType][] = [
  ["f", ColumnType.float],
  ["i", ColumnType.integer],
  ["u", ColumnType.unsigned],
  ["s", ColumnType.string],
  ["b", ColumnType.boolean],
  ["late", ColumnType.string],
];

interface Cache {
  readonly def: CacheDef;
  readonly model: LastModel | DistinctModel;
  /** Of the rows of `written` so many have been seen; null: it has seen nothing. */
  seen: { count: number; lastDeletion: number; fedMs: number } | null;
}

class CacheScenario {
  private readonly storage = new StorageModel();
  private path!: WritePath;
  private cacheWorker!: CacheManager;
  private readonly disk: FaultyDisk;
  private nowMs = START_MS;
  private step = 0;
  private caches: Cache[] = [];
  private lastCacheId = 0;
  /** In order, with the time of arrival. */
  private written: { row: TestRow; arrivalMs: number }[] = [];
  private old: { snapshot: TableSnapshot; count: number; release(): void } | null = null;

  /** @param isLazy true: rows are flushed before a cache has seen them, statements leave half way, and nothing expires */
  constructor(
    private readonly below: Below,
    private readonly isLazy: boolean,
  ) {
    this.disk = new FaultyDisk({ below });
  }

  async open(): Promise<void> {
    this.path = await WritePath.open(this.disk, { nowMs: () => this.nowMs, seriesMemory: new RandomEviction(this.below) });
    this.path.pageRowsMax = 64;
    const { kernel, blockCache } = this.path;
    const known = { numbers: noSeriesNumbers(kernel), segments: null };
    const fills = { last: true, distinct: true };
    this.cacheWorker = new CacheManager({
      kernel,
      cache: blockCache,
      known: () => known,
      bytesMax: 2 ** 28,
      fillsFromHistory: fills,
      turnMs: 0,
    });
    for (const cache of this.caches) cache.seen = null;
  }

  async close(): Promise<void> {
    this.old?.release();
    this.old = null;
    this.cacheWorker.keepOnly([]);
    await this.cacheWorker.idle();
    this.cacheWorker.evict(["last", "distinct"], this.nowMs);
    expect(this.cacheWorker.bytes).toBe(0);
    await this.path.close();
  }

  private get nowNs(): bigint {
    return BigInt(this.nowMs) * 1_000_000n;
  }

  private get columns(): readonly ColumnDef[] {
    return this.path.columns(TABLE);
  }

  async next(): Promise<string> {
    const { below } = this;
    this.step += 1;
    if (this.step < 4) return this.write();
    if (this.caches.length < 4 || below(40) === 0) return this.create();
    const dice = below(100);
    if (dice < 55) return this.write();
    if (dice < 65) return this.feed();
    if (dice < 68) return this.delete();
    // a cache filled again after a worker was lost misses what is past its retention by then
    if (dice < 69 && !this.isLazy) return this.shorten();
    if (dice < 78) return this.flush();
    if (dice < 82) return this.compact();
    if (dice < 92) return this.wait();
    if (dice < 95) return this.hold();
    if (dice < 97) return this.evict();
    return this.restart();
  }

  async check(): Promise<void> {
    if (this.below(3) === 0) for (const cache of this.caches) await this.read(cache);
  }

  private create(): Promise<string> {
    const { below, columns } = this;
    const some = (usable: readonly ColumnDef[]) => usable.filter(() => below(usable.length) < 2).map(({ id }) => id);
    const common = { id: ++this.lastCacheId, tableId: 1, name: `c${this.lastCacheId}`, nodes: "all", createdMs: this.nowMs };
    const tags = columns.filter(({ type }) => type === ColumnType.tag);
    // what two writes of one point had in a field is one value once it is in a file
    const isKey = ({ type }: ColumnDef) =>
      type === ColumnType.tag || (!this.isLazy && type !== ColumnType.float && type !== ColumnType.time);
    const keys = columns.filter(isKey);
    const ageSeconds = this.isLazy ? FOREVER_S : pick(below, [60, 3600, 4 * 3600, FOREVER_S]);
    const values = columns.filter(({ type }) => type !== ColumnType.time);
    const last: CacheDef = {
      ...common,
      kind: "last",
      keyColumnIds: pick(below, [some(tags), some(keys), tags.map(({ id }) => id)]),
      valueColumnIds: pick(below, [null, null, some(values)]),
      count: pick(below, [1, 1, 2, 3, 10]),
      ttlSeconds: ageSeconds,
    };
    const texts = pick(below, [tags, keys.filter(({ type }) => type === ColumnType.tag || type === ColumnType.string)]);
    const ids = some(texts);
    const distinct: CacheDef = {
      ...common,
      kind: "distinct",
      columnIds: ids.length === 0 ? [texts[0]!.id] : ids,
      maxCardinality: this.isLazy ? 100_000 : pick(below, [100_000, 5, 1]),
      maxAgeSeconds: ageSeconds,
    };
    const def = pick(below, [last, distinct]);
    this.caches.push({ def, model: modelOf(def), seen: null });
    if (this.caches.length > 7) this.caches.splice(below(this.caches.length), 1);
    this.cacheWorker.keepOnly(this.caches.map((cache) => cache.def));
    return Promise.resolve(`create ${JSON.stringify(def)}`);
  }

  private async write(): Promise<string> {
    const { below } = this;
    const count = below(100) === 0 ? LARGE_BODY_LINES : 1 + below(12);
    const lines = Array.from({ length: count }, () => this.line());
    if (this.step < 4)
      lines.push(...FIELDS.slice(0, -1).map(([name, type]) => this.line({ [name]: { type, value: randomValue(below, type) } })));
    this.storage.write(lines);
    const { rowCount } = await this.path.write(lines.map(lineText).join("\n"), { noSync: true });
    expect(rowCount).toBe(lines.length);
    for (const { tags, fields, timeNs } of lines) {
      const values = Object.entries(fields).map(([name, { value }]) => [name, value]);
      this.written.push({ row: { tags, timeNs, fields: Object.fromEntries(values) }, arrivalMs: this.nowMs });
    }
    if (!this.isLazy && below(2) === 0) this.nowMs += below(90);
    return `write ${count}`;
  }

  private line(given?: Record<string, ModelField>): ModelLine {
    const { below, step } = this;
    const tags: Record<string, string> = {};
    const [host, region, rack] = [below(7), below(4), step > 40 ? below(4) : 0];
    if (host > 0) tags["host"] = `host ${host}`;
    if (region > 0) tags["region"] = ["", "eu", "us=east", "a region with a long, long name"][region]!;
    if (rack > 0) tags["rack"] = `r${rack}`;
    const fields: Record<string, ModelField> = { ...given };
    for (const [name, type] of given === undefined ? FIELDS : []) {
      if (below(2) === 0 || (name === "late" && step < 60)) continue;
      fields[name] = { type, value: below(3) > 0 ? smallValue(below, type) : randomValue(below, type) };
    }
    if (Object.keys(fields).length === 0) fields["i"] = { type: ColumnType.integer, value: BigInt(step) };
    // no two series have rows of one time: which of them is the newer one nobody says of history
    return { table: TABLE, tags, fields, timeNs: this.time() + BigInt(host * 100 + region * 10 + rack) };
  }

  /** Mostly about now, often the same again, sometimes long ago or ahead. */
  private time(): bigint {
    const { below, nowNs } = this;
    const second = nowNs - (nowNs % SECOND_NS);
    if (below(20) === 0) return second + BigInt(below(3000)) * SECOND_NS;
    return second - BigInt(below(6) > 0 ? below(5) : below(20_000)) * SECOND_NS;
  }

  private async delete(): Promise<string> {
    const { below } = this;
    const range = pick(below, [ALL_TIME, { minNs: this.time(), maxNs: ALL_TIME.maxNs }, { minNs: ALL_TIME.minNs, maxNs: this.time() }]);
    const tags = pick(below, [[], [{ tag: "host", values: [`host ${below(7)}`, null] }]]);
    this.storage.delete({ table: TABLE, range, tags });
    await this.path.data.deleteRows({ database: "db", table: TABLE, range, tags });
    return "delete";
  }

  private async shorten(): Promise<string> {
    const retentionNs = BigInt(1 + this.below(72)) * 3600n * SECOND_NS;
    if (this.storage.retentionNs !== null && this.storage.retentionNs <= retentionNs) return "keep";
    this.storage.retentionNs = retentionNs;
    await this.path.data.setRetention({ database: "db" }, retentionNs);
    return "shorten";
  }

  private async flush(): Promise<string> {
    if (!this.isLazy) await this.feed();
    await this.path.flush();
    return "flush";
  }

  private async compact(): Promise<string> {
    await this.path.compact({
      mergeRunsMin: 2 + this.below(3),
      closeAfterMs: pick(this.below, [0, Number.MAX_SAFE_INTEGER]),
      tombstoneMs: 0,
    });
    return "compact";
  }

  private wait(): Promise<string> {
    this.nowMs += pick(this.below, [1000, 30_000, 60_000, 1_800_000, 4 * 3_600_000]);
    return Promise.resolve("wait");
  }

  private hold(): Promise<string> {
    this.old?.release();
    this.old = { ...this.path.takeSnapshot(TABLE)!, count: this.written.length };
    return Promise.resolve("hold");
  }

  private evict(): Promise<string> {
    this.cacheWorker.evict(["last", "distinct"], this.nowMs);
    for (const { model } of this.caches) model.expire(this.nowMs);
    return Promise.resolve("evict");
  }

  private async restart(): Promise<string> {
    this.old?.release();
    this.old = null;
    this.cacheWorker.keepOnly([]);
    await this.cacheWorker.idle();
    await this.path.close();
    await this.open();
    return "restart";
  }

  /** What the cache worker and the model of a cache are fed since the last time. */
  private clock({ seen }: Cache): CacheClock {
    const first = seen === null ? undefined : this.written[seen.count];
    return { nowMs: this.nowMs, sinceMs: first?.arrivalMs ?? null };
  }

  private async feed(): Promise<string> {
    const taken = this.path.takeSnapshot(TABLE)!;
    for (const cache of this.caches) {
      await this.cacheWorker.feed([cache.def], taken.snapshot, this.clock(cache));
      this.bring(cache, taken.snapshot);
    }
    taken.release();
    return "feed";
  }

  /** The model sees what the cache sees with the newest snapshot. */
  private bring(cache: Cache, { lastDeletion = 0, retentionMinNs }: TableSnapshot): void {
    const { model, seen, def } = cache;
    const { nowMs, columns, written } = this;
    const count = written.length;
    const isHistory = seen === null || seen.lastDeletion !== lastDeletion;
    if (isHistory) {
      model.clear();
      const clock: ModelClock = { leastMs: def.createdMs, mostMs: nowMs, nowMs };
      for (const row of this.storage.rows(TABLE, this.nowNs)) model.write(row, columns, clock);
    } else if (seen.count < count) {
      model.expire(nowMs);
      const clock: ModelClock = { leastMs: written[seen.count]!.arrivalMs, mostMs: nowMs, nowMs };
      const isSeen = ({ row }: { row: TestRow }) => def.kind === "last" || row.timeNs >= retentionMinNs;
      for (const { row } of written.slice(seen.count).filter(isSeen)) model.write(row, columns, clock);
    }
    cache.seen = { count, lastDeletion, fedMs: nowMs };
  }

  private async read(cache: Cache): Promise<void> {
    const { below } = this;
    const isOld = this.old !== null && below(4) === 0 && this.isPast(cache, this.old);
    const { snapshot, release } = isOld ? { ...this.old!, release: () => {} } : this.path.takeSnapshot(TABLE)!;
    if (this.isLazy && !isOld && below(3) === 0) await this.leave(cache, snapshot);
    const clock = isOld ? { nowMs: this.nowMs, sinceMs: null } : this.clock(cache);
    const table = await this.cacheWorker.open(cache.def, snapshot, clock, new AbortController().signal);
    if (!isOld) this.bring(cache, snapshot);
    const answer = cacheColumns(cache.def, snapshot.table);
    expect(table.columns).toEqual(answer);
    const rows: (TestValue | null)[][] = [];
    const cursor = table.open({ columns: answer, range: ALL_TIME, tags: [] });
    for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) rows.push(...readChunk(this.path.kernel, answer, chunk));
    table.close();
    const { model } = cache;
    const wanted = model.rows(answer, this.columns, this.nowMs, snapshot.retentionMinNs);
    release();
    const isCut = cache.def.kind === "distinct" && wanted.length > cache.def.maxCardinality;
    if (isCut) (model as DistinctModel).check(rows);
    else expect({ cache: cache.def, rows: rows.map(textOf) }).toEqual({ cache: cache.def, rows: wanted.map(textOf) });
  }

  /** The cache has seen a later snapshot, and the old one shows what this one does. */
  private isPast({ def, seen }: Cache, { snapshot, count }: { snapshot: TableSnapshot; count: number }): boolean {
    const ids = def.kind === "last" ? def.keyColumnIds : def.columnIds;
    const hasColumns = ids.every((id) => snapshot.table.columns.some((column) => column.id === id));
    const isLater = seen !== null && seen.count >= count && seen.lastDeletion >= (snapshot.lastDeletion ?? 0);
    return hasColumns && isLater && snapshot.retentionMinNs === this.storage.keptFromNs(TABLE, this.nowNs);
  }

  /** A statement that is cancelled somewhere. */
  private async leave({ def }: Cache, snapshot: TableSnapshot): Promise<void> {
    const controller = new AbortController();
    const left = this.below(4);
    const opened = this.cacheWorker.open(def, snapshot, { nowMs: this.nowMs, sinceMs: null }, controller.signal).then(
      (table) => table.close(),
      (error: Error) => expect(error.message).toContain("cancelled"),
    );
    for (let turn = 0; turn < left; turn++) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    await opened;
  }
}

/** Of few values, so that keys come again. */
function smallValue(below: Below, type: ColumnType): TestValue {
  if (type === ColumnType.float) return below(4) / 2;
  if (type === ColumnType.integer) return BigInt(below(4) - 2);
  if (type === ColumnType.unsigned) return below(2) === 0 ? 2n ** 64n - 1n : BigInt(below(3));
  if (type === ColumnType.boolean) return below(2) === 1;
  return pick(below, ["", "a", "b", "exactly12byt", "thirteen bytes", "a text that is rather longer than others"]);
}

function textOf(values: readonly (TestValue | null)[]): string {
  return values.map((value) => `${typeof value}:${Object.is(value, -0) ? "-0" : value}`).join(" | ");
}

const SCENARIOS = SEEDS.flatMap((seed): [number, string, boolean][] => [
  [seed, "fed in time", false],
  [seed, "fed late and left half way", true],
]);

test.each(SCENARIOS)(
  `caches and lists of writes agree over ${STEPS} steps, seed %i, %s`,
  async (seed, _, isLazy) => {
    const scenario = new CacheScenario(prng(seed), isLazy);
    await scenario.open();
    await tellSteps(
      { seed, steps: STEPS },
      () => scenario.next(),
      () => scenario.check(),
    );
    await scenario.close();
  },
  TIMEOUT_MS,
);
