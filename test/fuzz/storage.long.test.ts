// One random stream of writes, deletions, retention, flushes, compactions, restarts and crashes goes to the storage and to a list of
// points; random questions must get the same answers from both. `ROUNDS=… SEED=… bun test test/fuzz/storage.long.test.ts` runs longer.

import { expect, test } from "bun:test";
import { ALL_TIME, type TimeRange } from "../../src/model/query/scan.ts";
import { ColumnType } from "../../src/model/rows/column.ts";
import type { DeleteRequest } from "../../src/model/rows/deletion.ts";
import type { FileMeta } from "../../src/storage/manifest/manifest.ts";
import { type Below, pick, prng } from "../support/prng.ts";
import { tellSteps } from "../support/scenario.ts";
import { FaultyDisk } from "../support/storage/faulty-disk.ts";
import { RandomEviction } from "../support/storage/random-eviction.ts";
import { lineText, type ModelField, type ModelLine, StorageModel } from "../support/storage/storage-model.ts";
import { askStorage, checkStorage, randomValue } from "../support/storage/storage-questions.ts";
import { WritePath } from "../support/storage/write-path.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const STEPS = Number(process.env["ROUNDS"] ?? 150);
const SEEDS = [SEED, SEED + 1, SEED + 2, SEED + 3];
/** Long runs take as long as they take. */
const TIMEOUT_MS = 30_000 + STEPS * 100;

/** More than a vector, in long runs more than a page. */
const LARGE_BODY_LINES = STEPS > 1000 ? 20_000 : 2500;
const SECOND_NS = 1_000_000_000n;
const HOUR_NS = 3600n * SECOND_NS;
const DAY_NS = 24n * HOUR_NS;
const START_MS = 1_700_000_000_000;
const DATABASE = "db";
const TABLES = ["cpu", "disk"];
/** More points than this make every question slow: then old ones are deleted. */
const POINTS_MAX = 4000;

const FIELDS: readonly [name: string, type: ColumnType][] = [
  ["f", ColumnType.float],
  ["i", ColumnType.integer],
  ["u", ColumnType.unsigned],
  ["s", ColumnType.string],
  ["b", ColumnType.boolean],
  ["late", ColumnType.float],
];

/** Of all files there ever were. */
const kindsOfFiles = new Set<string>();

function kindOf({ generation, blocks }: FileMeta): string {
  if (generation === 0) return "flushed";
  return blocks.some(({ closed }) => closed) ? "closed" : "merged";
}
/** Blocks that file indexes ruled out. */
let ruledOut = 0;

class Storage {
  readonly model = new StorageModel();
  private path!: WritePath;
  private disk: FaultyDisk;
  private nowMs = START_MS;
  private step = 0;
  /** They run beside what follows. */
  private flushing: Promise<void> = Promise.resolve();
  private compacting: Promise<void> = Promise.resolve();
  private indexing: Promise<void> = Promise.resolve();
  /** The worker answers some steps later, or when it is waited for. */
  private readonly answers: { readonly step: number; readonly give: () => void }[] = [];
  private isWaiting = false;

  constructor(private readonly below: Below) {
    this.disk = new FaultyDisk({ below });
  }

  async open(): Promise<void> {
    const { below } = this;
    this.path = await WritePath.open(this.disk, { nowMs: () => this.nowMs, seriesMemory: new RandomEviction(below) });
    this.path.beforeEncode = () => this.answer();
    this.path.pageRowsMax = 64;
    this.path.indexValuesMax = below(2) * 1024;
  }

  private sumUp(): void {
    ruledOut += this.path.ruledOut.blocks;
  }

  /** In the end every deletion is applied and forgotten. */
  async close(): Promise<void> {
    await this.settle();
    await this.end(this.path.flush());
    await this.end(this.path.compact());
    expect(this.path.catalog.tombstones()).toEqual([]);
    await this.checkAll();
    this.sumUp();
    await this.path.close();
  }

  private answer(): Promise<void> {
    if (this.isWaiting) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.answers.push({ step: this.step + this.below(6), give: resolve });
    return promise;
  }

  private async end(work: Promise<unknown>): Promise<void> {
    this.isWaiting = true;
    for (const { give } of this.answers.splice(0)) give();
    await work;
    this.isWaiting = false;
  }

  /** Waits for what runs in the background. */
  private async settle(): Promise<void> {
    await this.end(Promise.all([this.flushing, this.compacting, this.indexing]));
    for (const file of this.path.manifest.files()) kindsOfFiles.add(kindOf(file));
  }

  private get nowNs(): bigint {
    return BigInt(this.nowMs) * 1_000_000n;
  }

  /** One random thing happens. */
  async next(): Promise<string> {
    const { below } = this;
    this.step += 1;
    while (this.answers[0] !== undefined && this.answers[0].step <= this.step) this.answers.shift()!.give();
    if (this.step > 1 && [...this.model.tables.values()].some(({ points }) => points.size > POINTS_MAX)) return this.deleteOld();
    const dice = below(100);
    if (dice < 60 || this.model.tables.size < TABLES.length) return this.write();
    if (dice < 72) return this.delete();
    if (dice < 73) return this.deleteData();
    if (dice < 75) return this.shorten();
    if (dice < 82) return this.flush();
    if (dice < 87) return this.compact();
    if (dice < 90) return this.changeIndex();
    if (dice < 94) return this.index();
    if (dice < 96) return this.wait();
    return this.restart();
  }

  private async write(): Promise<string> {
    const { below } = this;
    const count = below(100) === 0 ? LARGE_BODY_LINES : below(30) === 0 ? 600 : 1 + below(12);
    const lines = Array.from({ length: count }, () => this.line());
    const stored = this.model.write(lines);
    const result = this.path.write(lines.map(lineText).join("\n"), { database: DATABASE, noSync: below(3) === 0 });
    const { rowCount, rejectedCount } = await result;
    const storedCount = stored.filter(Boolean).length;
    expect([rowCount, rejectedCount]).toEqual([storedCount, count - storedCount]);
    return `write ${count}`;
  }

  private line(): ModelLine {
    const { below, step } = this;
    const tags: Record<string, string> = {};
    if (below(8) > 0) tags["host"] = `host ${below(6)}`;
    if (below(3) === 0) tags["region"] = pick(below, ["eu", "us=east", "a region with a long, long name"]);
    if (step > 40 && below(4) === 0) tags["rack"] = `r${below(3)}`;
    const fields: Record<string, ModelField> = {};
    for (const [name, type] of FIELDS) {
      if (below(2) === 0 || (name === "late" && step < 60)) continue;
      const given = below(60) === 0 ? ColumnType.integer : type;
      fields[name] = { type: given, value: randomValue(below, given) };
    }
    // a field with the name of a tag
    if (below(150) === 0) fields["host"] = { type: ColumnType.float, value: 1 };
    if (Object.keys(fields).length === 0) fields["i"] = { type: ColumnType.integer, value: BigInt(step) };
    return { table: pick(below, TABLES), tags, fields, timeNs: this.time() };
  }

  /** Mostly about now, often the same again, sometimes hours or days ago. */
  private time(): bigint {
    const { below, nowNs } = this;
    if (below(6) > 0) return nowNs - (nowNs % SECOND_NS) - BigInt(below(5)) * SECOND_NS;
    const day = nowNs / DAY_NS - BigInt(below(4));
    return day * DAY_NS + pick(below, [0n, DAY_NS - 1n, BigInt(below(40)) * SECOND_NS]);
  }

  private range(): TimeRange {
    const { below } = this;
    const from = this.time();
    return pick(below, [
      ALL_TIME,
      { minNs: from, maxNs: from },
      { minNs: ALL_TIME.minNs, maxNs: from },
      { minNs: from, maxNs: ALL_TIME.maxNs },
      { minNs: from, maxNs: from + HOUR_NS },
      { minNs: from - (from % DAY_NS), maxNs: from - (from % DAY_NS) + DAY_NS - 1n },
    ]);
  }

  private table(): string {
    return pick(this.below, [...this.model.tables.keys()]);
  }

  private tags(): DeleteRequest["tags"] {
    const { below } = this;
    const hosts = [null, ...Array.from({ length: 6 }, (_, i) => `host ${i}`)].filter(() => below(3) === 0);
    return pick(below, [
      [],
      [{ tag: "host", values: hosts }],
      [{ tag: "host", values: [`host ${below(7)}`] }],
      [{ tag: "region", values: pick(below, [[null], ["eu", "nowhere"], ["us=east", null]]) }],
      [
        { tag: "host", values: hosts },
        { tag: "rack", values: pick(below, [[null], ["r1"], ["r0", "r2", null]]) },
      ],
    ]);
  }

  private async delete(): Promise<string> {
    const [table, range, tags] = [this.table(), this.range(), this.tags()];
    const done = this.path.data.deleteRows({ database: DATABASE, table, range, tags });
    this.model.delete({ table, range, tags });
    // what is written in the same moment comes after it
    if (this.below(3) === 0) await this.write();
    await done;
    return "delete";
  }

  private async deleteData(): Promise<string> {
    const tables = this.below(2) === 0 ? [this.table()] : undefined;
    const done = this.path.data.deleteData({ database: DATABASE, ...(tables === undefined ? {} : { table: tables[0]! }) });
    for (const table of tables ?? this.model.tables.keys()) this.model.delete({ table, range: ALL_TIME, tags: [] });
    await done;
    return "delete data";
  }

  private async deleteOld(): Promise<string> {
    const range = { minNs: ALL_TIME.minNs, maxNs: this.nowNs - 10n * SECOND_NS };
    for (const table of this.model.tables.keys()) {
      this.model.delete({ table, range, tags: [] });
      await this.path.data.deleteRows({ database: DATABASE, table, range, tags: [] });
    }
    return "delete old";
  }

  /** Retention only ever gets shorter here: what is past it may be gone or not. */
  private async shorten(): Promise<string> {
    const { below, model, nowNs } = this;
    const retentionNs = BigInt(1 + below(72)) * HOUR_NS;
    const table = below(2) === 0 ? this.table() : undefined;
    const before = [...model.tables.keys()].map((name) => model.keptFromNs(name, nowNs));
    const owner = table === undefined ? model : model.tables.get(table)!;
    const old = owner.retentionNs;
    owner.retentionNs = retentionNs;
    if ([...model.tables.keys()].some((name, i) => model.keptFromNs(name, nowNs) < before[i]!)) owner.retentionNs = old;
    else await this.path.data.setRetention({ database: DATABASE, ...(table === undefined ? {} : { table }) }, retentionNs);
    return "shorten";
  }

  private async flush(): Promise<string> {
    await this.end(this.flushing);
    this.flushing = this.path.flush();
    if (this.below(3) > 0) return "flush beside";
    await this.settle();
    return "flush";
  }

  private async compact(): Promise<string> {
    await this.end(this.compacting);
    const { below } = this;
    this.compacting = this.path.compact({
      mergeRunsMin: 2 + below(3),
      mergeGrowth: 1 + below(4),
      closeAfterMs: pick(below, [0, 3_600_000, Number.MAX_SAFE_INTEGER]),
      lateMs: pick(below, [0, 3_600_000]),
      tombstoneMs: pick(below, [0, 3_600_000]),
    });
    if (this.below(3) > 0) return "compact beside";
    await this.settle();
    return "compact";
  }

  /** Of a table or the database, over other columns or none any more. */
  private async changeIndex(): Promise<string> {
    const { below, path } = this;
    const owner = { database: DATABASE, table: below(2) === 0 ? null : this.table() };
    const columns = ["s", "host", "region"].filter(() => below(3) > 0);
    const isRefused = (error: unknown) =>
      expect(String(error)).toMatch(/has no file index|has a column|has no column|neither a tag|needs a column/);
    await (below(4) === 0 ? path.fileIndexes.delete(owner) : path.fileIndexes.create(owner, columns)).catch(isRefused);
    return "change index";
  }

  private async index(): Promise<string> {
    await this.end(this.indexing);
    this.indexing = this.path.index();
    if (this.below(3) > 0) return "index beside";
    await this.settle();
    return "index";
  }

  private wait(): Promise<string> {
    this.nowMs += pick(this.below, [1000, 60_000, 3_600_000, 8 * 3_600_000]);
    return Promise.resolve("wait");
  }

  private async restart(): Promise<string> {
    this.sumUp();
    const { below } = this;
    const isCrash = below(2) === 0;
    const old = this.path;
    if (isCrash) {
      // everything was answered, and what was not waited for is written
      await old.wal.flushed();
      this.disk = this.disk.afterCrash({ below });
      await this.settle();
      await old.ingest.close();
      old.release();
    } else {
      await this.settle();
      await old.close();
    }
    await this.open();
    return isCrash ? "crash" : "restart";
  }

  /** A random question to a random table. */
  ask(): Promise<void> {
    const { below, path, model, nowNs } = this;
    return askStorage({ below, path, model, nowNs, database: DATABASE, table: this.table(), range: this.range(), tags: this.tags() });
  }

  /** Everything. */
  checkAll(): Promise<void> {
    return checkStorage({ path: this.path, model: this.model, nowNs: this.nowNs, database: DATABASE });
  }
}

test.each(SEEDS)(
  `storage and a list of points agree over ${STEPS} steps, seed %i`,
  async (seed) => {
    const storage = new Storage(prng(seed));
    await storage.open();
    await tellSteps(
      { seed, steps: STEPS },
      () => storage.next(),
      async (step) => {
        await storage.ask();
        if (step % 10 === 0) await storage.checkAll();
      },
    );
    await storage.close();
  },
  TIMEOUT_MS,
);

test("the streams met every kind of file", () => {
  expect([...kindsOfFiles].sort()).toEqual(["closed", "flushed", "merged"]);
  expect(ruledOut).toBeGreaterThan(10);
});
