// Wide tables of which a row has few fields, in bodies large enough that segments hold columns packed, among bodies that are all alike and
// take the short way. The storage and a list of points must agree. `ROUNDS=… SEED=… bun test test/fuzz/wide-rows.long.test.ts` runs longer.
import { expect, test } from "bun:test";
import { LIMITS } from "../../src/model/limits.ts";
import { ALL_TIME } from "../../src/model/query/scan.ts";
import { ColumnType } from "../../src/model/rows/column.ts";
import { SeriesMemory } from "../../src/storage/buffer/series-memory.ts";
import { type Below, pick, prng } from "../support/prng.ts";
import { tellSteps } from "../support/scenario.ts";
import { FaultyDisk } from "../support/storage/faulty-disk.ts";
import { lineText, type ModelField, type ModelLine, StorageModel } from "../support/storage/storage-model.ts";
import { askStorage, checkStorage, randomValue } from "../support/storage/storage-questions.ts";
import { WritePath } from "../support/storage/write-path.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const STEPS = Number(process.env["ROUNDS"] ?? 12);
const TIMEOUT_MS = 30_000 + STEPS * 3000;
const DATABASE = "db";
const TABLE = "wide";
const START_NS = 1_700_000_000_000_000_000n;
/** More points make every question slow. */
const POINTS_MAX = 12_000;
/** Segments that may hold packed columns have 4,096 rows. */
const LINE_COUNTS = [1, 9, 300, 2000, 5000];
/** Packed and not, in runs that queries read. */
const seen = { packed: 0, dense: 0 };

const TYPES = [ColumnType.float, ColumnType.integer, ColumnType.unsigned, ColumnType.string, ColumnType.boolean];
const FIELDS = Array.from({ length: 40 }, (_, i) => ({ name: `field_${i}${"_long".repeat(i % 4)}`, type: TYPES[i % TYPES.length]! }));

class Wide {
  readonly model = new StorageModel();
  private path!: WritePath;
  private disk: FaultyDisk;
  private timeNs = START_NS;
  /** Of the body before, to be written again or gone on with. */
  private alike: readonly (typeof FIELDS)[number][] = [];

  constructor(private readonly below: Below) {
    this.disk = new FaultyDisk({ below });
  }

  async open(): Promise<void> {
    this.path = await WritePath.open(this.disk, { seriesMemory: new SeriesMemory(LIMITS.seriesBytesDefault) });
    this.path.pageRowsMax = pick(this.below, [64, 1024, LIMITS.pageRowsMax]);
  }

  async close(): Promise<void> {
    await this.check();
    await this.path.flush();
    await this.path.compact();
    await this.check();
    await this.path.close();
  }

  async next(): Promise<string> {
    const { below, model } = this;
    const pointCount = model.tables.get(TABLE)?.points.size ?? 0;
    if (pointCount > POINTS_MAX) return this.deleteAll();
    const dice = below(20);
    if (dice < 14 || pointCount === 0) return this.write();
    if (dice < 16) {
      await this.path.flush();
      return "flush";
    }
    if (dice < 18) {
      await this.path.compact();
      return "compact";
    }
    return this.restart();
  }

  private async write(): Promise<string> {
    const { below } = this;
    const shape = pick(below, ["alike", "alike", "sparse", "sparse", "rare", "again"]);
    const lines = this.lines(shape, pick(below, LINE_COUNTS));
    const stored = this.model.write(lines).filter(Boolean).length;
    const { rowCount, rejectedCount } = await this.path.write(lines.map(lineText).join("\n"), { database: DATABASE });
    expect([rowCount, rejectedCount]).toEqual([stored, lines.length - stored]);
    return `${shape} ${lines.length}`;
  }

  private lines(shape: string, count: number): ModelLine[] {
    const { below } = this;
    if (shape === "alike" && (this.alike.length === 0 || below(4) === 0)) {
      this.alike = FIELDS.filter(({ type }) => type !== ColumnType.string || below(4) === 0).slice(below(20), 20 + below(20));
    }
    const chosen = below(FIELDS.length);
    // the same times again: rows are merged, and packed columns meet others
    if (shape === "again") this.timeNs -= BigInt(below(3000)) * 1000n;
    const isShared = below(3) === 0;
    return Array.from({ length: count }, (_, row) => {
      if (!isShared || row % 8 === 0) this.timeNs += 1000n;
      let fields = this.alike;
      if (shape === "sparse" || shape === "again") {
        // some fields are in many rows, others in few
        const spread = 1 + below(FIELDS.length);
        fields = Array.from({ length: 1 + below(3) }, () => FIELDS[below(spread)]!);
      } else if (shape === "rare") fields = row === count - 1 || below(800) === 0 ? [FIELDS[chosen]!, FIELDS[0]!] : [FIELDS[0]!];
      return this.line(fields);
    });
  }

  private line(fields: readonly (typeof FIELDS)[number][]): ModelLine {
    const { below } = this;
    const values: Record<string, ModelField> = {};
    for (const { name, type } of fields.length === 0 ? [FIELDS[0]!] : fields) {
      // now and then one of another type: the line is rejected
      const given = below(4000) === 0 ? pick(below, TYPES) : type;
      values[name] = { type: given, value: randomValue(below, given) };
    }
    const host = below(6);
    const tags: Record<string, string> = host === 0 ? {} : { host: `host ${host}` };
    if (below(200) === 0) tags["new"] = `tag ${below(100)}`;
    return { table: TABLE, tags, fields: values, timeNs: this.timeNs };
  }

  private async deleteAll(): Promise<string> {
    this.model.delete({ table: TABLE, range: ALL_TIME, tags: [] });
    await this.path.data.deleteRows({ database: DATABASE, table: TABLE, range: ALL_TIME, tags: [] });
    return "delete";
  }

  private async restart(): Promise<string> {
    const isCrash = this.below(2) === 0;
    const old = this.path;
    if (isCrash) {
      await old.wal.flushed();
      this.disk = this.disk.afterCrash({ below: this.below });
      await old.ingest.close();
      old.release();
    } else await old.close();
    await this.open();
    return isCrash ? "crash" : "restart";
  }

  async ask(): Promise<void> {
    const { below, path, model, timeNs } = this;
    const from = timeNs - BigInt(below(6000)) * 1000n;
    const range = pick(below, [ALL_TIME, { minNs: from, maxNs: from + 1_000_000n }, { minNs: from, maxNs: ALL_TIME.maxNs }]);
    const tags = pick(below, [[], [{ tag: "host", values: ["host 1", null] }], [{ tag: "new", values: ["tag 7", "tag 8"] }]]);
    path.withSnapshot(TABLE, DATABASE, ({ runs }) => {
      for (const column of runs.flatMap((run) => run.columns)) seen[column.isPacked ? "packed" : "dense"]++;
    });
    await askStorage({ below, path, model, nowNs: timeNs, database: DATABASE, table: TABLE, range, tags });
  }

  check(): Promise<void> {
    return checkStorage({ path: this.path, model: this.model, nowNs: this.timeNs, database: DATABASE });
  }
}

test.each([SEED, SEED + 1, SEED + 2])(
  `wide tables and a list of points agree over ${STEPS} steps, seed %i`,
  async (seed) => {
    const wide = new Wide(prng(seed));
    await wide.open();
    await tellSteps(
      { seed, steps: STEPS },
      () => wide.next(),
      async (step) => {
        await wide.ask();
        if (step % 4 === 0) await wide.check();
      },
    );
    await wide.close();
  },
  TIMEOUT_MS,
);

test("columns were packed and dense", () => {
  expect(seen.packed).toBeGreaterThan(STEPS);
  expect(seen.dense).toBeGreaterThan(STEPS);
});
