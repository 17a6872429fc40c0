// Rows that arrive in the order of their times, with late ones, deletions, flushes, merges and restarts between them: questions that read
// several segments as one get the answers of a list of points.

import { afterAll, expect, spyOn, test } from "bun:test";
import { ALL_TIME } from "../../src/model/query/scan.ts";
import { ColumnType } from "../../src/model/rows/column.ts";
import { SortedSegments } from "../../src/scan/segments/sorted-segments.ts";
import { type Below, pick, prng } from "../support/prng.ts";
import { FaultyDisk } from "../support/storage/faulty-disk.ts";
import { lineText, type ModelField, type ModelLine, StorageModel } from "../support/storage/storage-model.ts";
import { askStorage, checkStorage, randomValue } from "../support/storage/storage-questions.ts";
import { WritePath } from "../support/storage/write-path.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const STEPS = Number(process.env["ROUNDS"] ?? 30);
const START_MS = 1_700_000_000_000;
const SECOND_NS = 1_000_000_000n;
const TABLE = "cpu";
const TYPES = { f: ColumnType.float, i: ColumnType.integer, s: ColumnType.string, b: ColumnType.boolean, late: ColumnType.float } as const;
const nowNs = BigInt(START_MS) * 1_000_000n;

const joins = spyOn(SortedSegments.prototype, "findJoined");
afterAll(() => joins.mockRestore());

class Stream {
  readonly model = new StorageModel();
  private path!: WritePath;
  private readonly disk: FaultyDisk;
  private clockNs = nowNs - 86_400n * SECOND_NS;
  private step = 0;

  constructor(private readonly below: Below) {
    this.disk = new FaultyDisk({ below });
  }

  async open(): Promise<void> {
    this.path = await WritePath.open(this.disk, { nowMs: () => START_MS });
  }

  async close(): Promise<void> {
    await checkStorage({ path: this.path, model: this.model, nowNs, database: "db" });
    await this.path.close();
  }

  async next(): Promise<void> {
    const { below } = this;
    const dice = below(60);
    this.step++;
    if (dice === 0) await this.path.flush();
    else if (dice === 1) await this.path.compact();
    else if (dice < 5 && this.step > 10) await this.delete();
    else if (dice === 5) await this.restart();
    else await this.write();
    for (let asked = 0; asked < 3 && this.model.tables.size > 0; asked++) await this.ask();
  }

  private async restart(): Promise<void> {
    await this.path.close();
    await this.open();
  }

  private async delete(): Promise<void> {
    const to = this.clockNs - BigInt(this.below(3000)) * SECOND_NS;
    const gone = { table: TABLE, range: { minNs: to - 600n * SECOND_NS, maxNs: to }, tags: [{ tag: "host", values: ["h1", "h2"] }] };
    this.model.delete(gone);
    await this.path.data.deleteRows({ database: "db", ...gone });
  }

  private async write(): Promise<void> {
    const { below } = this;
    // fields that a whole body lacks are no columns of small segments
    const names = (Object.keys(TYPES) as (keyof typeof TYPES)[]).filter((name) => below(4) > 0 && (name !== "late" || this.step > 15));
    const lines = Array.from({ length: 40 + below(160) }, () => this.line(names));
    this.model.write(lines);
    await this.path.write(lines.map(lineText).join("\n"), { database: "db" });
  }

  private line(names: readonly (keyof typeof TYPES)[]): ModelLine {
    const { below } = this;
    this.clockNs += BigInt(1 + below(20)) * SECOND_NS;
    // now and then a row that is there already, or between others
    const isLate = below(900) === 0;
    const fields: Record<string, ModelField> = { n: { type: ColumnType.integer, value: BigInt(this.step) } };
    for (const name of names) if (below(5) > 0) fields[name] = { type: TYPES[name], value: randomValue(below, TYPES[name]) };
    const timeNs = isLate ? this.clockNs - BigInt(below(2000)) * SECOND_NS : this.clockNs;
    return { table: TABLE, tags: { host: `h${below(6)}`, ...(below(9) === 0 ? { rack: "r" } : {}) }, fields, timeNs };
  }

  private ask(): Promise<void> {
    const { below, clockNs } = this;
    const fromNs = clockNs - BigInt(below(20_000)) * SECOND_NS;
    const range = pick(below, [ALL_TIME, { minNs: fromNs, maxNs: ALL_TIME.maxNs }, { minNs: fromNs, maxNs: fromNs + 900n * SECOND_NS }]);
    const tags = pick(below, [[], [{ tag: "host", values: [`h${below(7)}`] }], [{ tag: "rack", values: ["r"] }]]);
    return askStorage({ below, path: this.path, model: this.model, nowNs, database: "db", table: TABLE, range, tags });
  }
}

test.each([SEED, SEED + 2])("the answers of a list of points, seed %i", async (seed) => {
  const stream = new Stream(prng(seed));
  await stream.open();
  for (let step = 0; step < STEPS; step++) await stream.next();
  await stream.close();
});

test("the streams met segments in one order", () => {
  expect(joins.mock.results.filter(({ type, value }) => type === "return" && value !== null).length).toBeGreaterThan(0);
});
