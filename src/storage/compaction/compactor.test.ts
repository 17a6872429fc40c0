// Compaction as a whole: rows are there once and merged in order whichever call of the disk fails, and at every moment of a job; files go
// with their last block; deletions and retention reach the disk.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { COMPACT_EVERYTHING } from "../../../test/support/storage/compact-everything.ts";
import { FaultyDisk, faultLoop } from "../../../test/support/storage/faulty-disk.ts";
import { WritePath } from "../../../test/support/storage/write-path.ts";

const DAY_NS = 86_400_000_000_000n;

/** As if no day were over. */
const OPEN_DAYS = { ...COMPACT_EVERYTHING, closeAfterMs: Number.POSITIVE_INFINITY, mergeRunsMin: 2, mergeGrowth: 1 };

/** Bodies of two rows each. Row i of series b is what body i wrote, later bodies overwrite fields of series a. */
async function scenario(disk: FaultyDisk): Promise<number> {
  let acknowledged = 0;
  try {
    const path = await WritePath.open(disk);
    for (let i = 0; i < 4; i++) {
      await path.write(
        `t,s=a last=${i}i,f${i % 3}=${i}i 1\nt,s=b${i} v=${i}i,text="some text that is not short" ${BigInt(i % 2) * DAY_NS}`,
      );
      acknowledged = i + 1;
      await path.flush();
      if (i === 1) await path.compact(OPEN_DAYS);
    }
    await path.compact(COMPACT_EVERYTHING);
    await path.close();
  } catch {
    // the disk is gone: what was acknowledged must be there at the next start
  }
  return acknowledged;
}

async function checkRows(path: WritePath, acknowledged: number, context: string): Promise<void> {
  const rows = await path.rows("t");
  const bodies = rows.filter(({ tags }) => tags["s"] !== "a");
  const found = bodies.length;
  expect(found, context).toBeGreaterThanOrEqual(acknowledged);
  expect(bodies.map(({ fields }) => fields["v"]).sort(), context).toEqual(Array.from({ length: found }, (_, i) => BigInt(i)));
  for (const { timeNs, fields } of bodies) {
    expect(timeNs, context).toBe(((fields["v"] as bigint) % 2n) * DAY_NS);
    expect(fields["text"], context).toBe("some text that is not short");
  }
  const series = rows.filter(({ tags }) => tags["s"] === "a");
  expect(series.length, context).toBe(found > 0 ? 1 : 0);
  if (found === 0) return;
  const expected: Record<string, bigint> = { last: BigInt(found - 1) };
  for (let i = 0; i < found; i++) expected[`f${i % 3}`] = BigInt(i);
  expect(series[0]!.fields, context).toEqual(expected);
}

test("whichever call fails, acknowledged rows are there once, whole, and merged in order", async () => {
  const runs = await faultLoop(prng(13), scenario, async (disk, acknowledged, failAt) => {
    const path = await WritePath.open(disk);
    const context = `call ${failAt}, ${acknowledged} acknowledged`;
    await checkRows(path, acknowledged, context);
    // and the server goes on from there
    await path.flush();
    await path.compact(COMPACT_EVERYTHING);
    await checkRows(path, acknowledged, `${context}, compacted`);
    await path.close();
  });
  expect(runs).toBeGreaterThan(100);
});

test("every snapshot taken while blocks are merged sees each row once", async () => {
  const path = await WritePath.open(new FaultyDisk());
  for (let i = 0; i < 5; i++) {
    await path.write(`t,h=a v=${i} ${i}\nt,h=b v=2 7`);
    await path.flush();
  }
  let looks = 0;
  path.duringMerge = async () => {
    looks++;
    expect((await path.rows("t")).length).toBe(6);
    // what is flushed meanwhile is compacted too, at some time
    if (looks > 10) return;
    await path.write(`other v=1 ${looks}`);
    await path.flush();
  };
  await path.compact(COMPACT_EVERYTHING);
  expect(looks).toBeGreaterThan(3);
  expect((await path.rows("t")).length).toBe(6);
  await path.close();
});

describe("files", () => {
  const keysOf = (disk: FaultyDisk) => disk.paths().filter((path) => path.includes("/data/"));

  test("go with their last block; what a crash left is removed at the next start", async () => {
    const disk = new FaultyDisk();
    const path = await WritePath.open(disk);
    // one file with blocks of two tables and two days
    await path.write(`t v=1 1\nt v=2 ${DAY_NS}\nu v=1 1`);
    await path.flush();
    expect(keysOf(disk)).toHaveLength(1);
    const FILE_EACH = { ...COMPACT_EVERYTHING, smallRows: 1 };
    await path.compact(FILE_EACH);
    expect(path.manifest.files().map(({ blocks, generation }) => [blocks.map(({ closed }) => closed), generation])).toEqual([
      [[true], 1],
      [[true], 1],
      [[true], 1],
    ]);
    expect(keysOf(disk)).toHaveLength(3);
    await path.write("t v=3 2");
    await path.flush();
    await path.compact(OPEN_DAYS);
    expect(keysOf(disk)).toHaveLength(4);
    await path.compact(FILE_EACH);
    // the other day's and table's file stay as they are
    expect(path.manifest.files().map(({ id, generation }) => [id, generation])).toEqual([
      [3, 1],
      [4, 1],
      [6, 2],
    ]);
    expect(keysOf(disk)).toHaveLength(3);
    await path.close();
  });

  test("are kept for a query that has listed them", async () => {
    const disk = new FaultyDisk();
    const path = await WritePath.open(disk);
    for (const body of ["t v=1 1", "t v=2 2"]) {
      await path.write(body);
      await path.flush();
    }
    const before = keysOf(disk);
    const pin = path.pins.take();
    await path.compact(COMPACT_EVERYTHING);
    expect(keysOf(disk)).toEqual(expect.arrayContaining(before));
    pin.release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(keysOf(disk)).toHaveLength(1);
    await path.close();
  });

  test("small tables of a closed day share one", async () => {
    const path = await WritePath.open(new FaultyDisk());
    for (let round = 0; round < 2; round++) {
      await path.write(Array.from({ length: 100 }, (_, i) => `t${i} v=${round} ${round}`).join("\n"));
      await path.flush();
    }
    await path.compact(COMPACT_EVERYTHING);
    expect(path.manifest.files().map(({ blocks, generation }) => [generation, blocks.length])).toEqual([[1, 100]]);
    for (let i = 0; i < 100; i += 33) expect((await path.rows(`t${i}`)).map(({ fields }) => fields["v"])).toEqual([0, 1]);
    await path.close();
  });
});

describe("deletions", () => {
  test("are applied to the rows before them, and forgotten", async () => {
    const path = await WritePath.open(new FaultyDisk());
    const deleteHost = (value: string) => {
      const database = path.catalog.findDatabase("db")!;
      const table = path.catalog.findTable(database.id, "t")!;
      const columnId = table.columns.find(({ name }) => name === "h")!.id;
      return path.deletions.deleteRows([{ tableId: table.id, range: { minNs: 0n, maxNs: 10n }, tags: [{ columnId, values: [value] }] }]);
    };
    await path.write("t,h=a v=1 1\nt,h=b v=1 1\nt,h=a v=1 11");
    await path.flush();
    await deleteHost("a");
    await path.write("t,h=a v=2 1\nt,h=a w=2 2");
    await path.flush();
    const rows = async () =>
      (await path.rows("t")).map(({ timeNs, tags, fields }) => `${tags["h"]} ${timeNs} ${JSON.stringify(fields)}`).sort();
    const expected = ['a 1 {"v":2}', 'a 11 {"v":1}', 'a 2 {"w":2}', 'b 1 {"v":1}'];
    expect(await rows()).toEqual(expected);
    expect(path.catalog.tombstones()).toHaveLength(1);
    await path.compact(COMPACT_EVERYTHING);
    expect(await rows()).toEqual(expected);
    expect(path.catalog.tombstones()).toEqual([]);
    await path.close();
  });

  test("of all rows cost no reading", async () => {
    const disk = new FaultyDisk();
    const path = await WritePath.open(disk);
    await path.write("t v=1 1\nu v=1 1");
    await path.flush();
    const { id } = path.catalog.findTable(path.catalog.findDatabase("db")!.id, "t")!;
    await path.deletions.deleteData([id]);
    await path.compact(COMPACT_EVERYTHING);
    expect(path.manifest.blocksOf(id)).toEqual([]);
    expect(path.catalog.tombstones()).toEqual([]);
    expect(await path.rows("t")).toEqual([]);
    expect((await path.rows("u")).length).toBe(1);
    await path.close();
  });
});

test("a deletion that was seen while the clock was ahead is applied ten minutes after it was set", async () => {
  const NOW_MS = 1_700_000_000_000;
  let nowMs = NOW_MS + 365 * 86_400_000;
  const path = await WritePath.open(new FaultyDisk(), { nowMs: () => nowMs });
  const limits = { ...COMPACT_EVERYTHING, closeAfterMs: Number.POSITIVE_INFINITY, tombstoneMs: 600_000 };
  await path.write("t v=1 1\nt v=2 11");
  await path.flush();
  const { id } = path.catalog.findTable(path.catalog.findDatabase("db")!.id, "t")!;
  await path.deletions.deleteRows([{ tableId: id, range: { minNs: 0n, maxNs: 10n }, tags: [] }]);
  const applied: boolean[] = [];
  for (const at of [nowMs, NOW_MS, NOW_MS + 599_999, NOW_MS + 600_000]) {
    nowMs = at;
    await path.compact(limits);
    applied.push(path.catalog.tombstones().length === 0);
  }
  expect(applied).toEqual([false, false, false, true]);
  await path.close();
});

test("rows past their retention go when all of their block is", async () => {
  let nowMs = 1_700_000_000_000;
  const path = await WritePath.open(new FaultyDisk(), { nowMs: () => nowMs });
  const at = (msAgo: number) => BigInt(nowMs - msAgo) * 1_000_000n;
  const hour = 3_600_000;
  await path.write(`t v=1 ${at(100 * hour)}\nt v=2 ${at(1)}`);
  await path.flush();
  await path.data.setRetention({ database: "db" }, BigInt(50 * hour) * 1_000_000n);
  await path.compact({ ...COMPACT_EVERYTHING, closeAfterMs: Number.POSITIVE_INFINITY });
  expect(path.manifest.files().flatMap(({ blocks }) => blocks.map(({ rowCount }) => rowCount))).toEqual([1]);
  nowMs += 60 * hour;
  await path.compact(COMPACT_EVERYTHING);
  expect(path.manifest.files()).toEqual([]);
  await path.close();
});

test("a block that cannot be read is left alone, and others are merged", async () => {
  const disk = new FaultyDisk();
  let path = await WritePath.open(disk);
  await path.write("bad v=1 1");
  await path.flush();
  const [key] = path.manifest.files().map((file) => `objects/${file.key}`);
  await path.close();
  const damaged = disk.peek(key!)!.slice();
  damaged[20]! ^= 0xff;
  disk.plant(key!, damaged);
  path = await WritePath.open(disk);
  await path.write("good v=1 1");
  await path.flush();
  const error = await path.compact(COMPACT_EVERYTHING).catch((caught) => caught);
  expect(error.kind).toBe("corrupt_file");
  expect(path.manifest.files().map(({ generation }) => generation)).toEqual([0, 1]);
  expect((await path.rows("good")).length).toBe(1);
  await path.close();
});
