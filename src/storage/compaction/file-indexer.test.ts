// File indexes as they are made, used and removed: answers are those of the rows whichever call of the disk fails, at every moment of the
// work and with damaged indexes; there is an index for each file that is to have one, and no other.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { isWanted } from "../../../test/support/rows/naive-scan.ts";
import { COMPACT_EVERYTHING } from "../../../test/support/storage/compact-everything.ts";
import { FaultyDisk, faultLoop } from "../../../test/support/storage/faulty-disk.ts";
import { WritePath } from "../../../test/support/storage/write-path.ts";
import type { FieldPredicate, TagPredicate } from "../../model/query/scan.ts";

const DAY_NS = 86_400_000_000_000n;
const OWNER = { database: "db", table: "t" };
const keysOf = (disk: FaultyDisk) => disk.paths().filter((path) => path.includes("/indexes/"));
const sorted = (rows: readonly unknown[]) =>
  rows.map((row) => JSON.stringify(row, (_, value) => (typeof value === "bigint" ? `${value}` : value))).sort();

const columnOf = (path: WritePath, name: string) => path.columns("t").find((column) => column.name === name)!;
const textsIn = (path: WritePath, name: string, ...values: string[]): FieldPredicate => ({
  columnId: columnOf(path, name).id,
  operator: "in",
  values,
});

/** Rows as the scan finds them are those that the naive reader finds and judges. */
async function checkAnswer(
  path: WritePath,
  fields: readonly FieldPredicate[],
  tags: readonly TagPredicate[] = [],
  context = "",
): Promise<number> {
  const columns = path.columns("t");
  const range = { minNs: -(2n ** 63n), maxNs: 2n ** 63n - 1n };
  const found = sorted(await path.rows("t", { fields, tags }));
  expect(found, context).toEqual(sorted(path.naiveRows("t").filter((row) => isWanted(row, { range, tags, fields }, columns))));
  return found.length;
}

/** Every file with rows of the table has one index, and nothing else has. */
function checkKeys(path: WritePath, disk: FaultyDisk, context: string): void {
  const files = path.manifest.files().filter(({ blocks }) => blocks.some(({ tableId }) => path.catalog.tableById(tableId)?.name === "t"));
  const wanted = path.catalog.fileIndexes.isEmpty ? [] : files.map(({ id }) => id).sort();
  const indexed = keysOf(disk).map((key) => Number(/(\d{20})-\d+\.ix$/.exec(key)![1]));
  expect(indexed.sort(), context).toEqual(wanted);
}

/** Body i writes a row of its own and overwrites the text of a row that all bodies share. */
async function scenario(disk: FaultyDisk): Promise<void> {
  try {
    const path = await WritePath.open(disk);
    for (let i = 0; i < 2; i++) {
      await path.write(`t,h=a s="v${i}",f${i}=1 1\nt,h=b${i} s="w${i}",n=${i}i ${BigInt(i % 2) * DAY_NS}\nu v=1 ${i}`);
      await path.flush();
      if (i === 0) await path.fileIndexes.create(OWNER, ["s", "h"]);
      await path.index();
    }
    await path.compact(COMPACT_EVERYTHING);
    await path.index();
    await path.fileIndexes.create(OWNER, ["s"]);
    await path.index();
    await path.fileIndexes.delete(OWNER);
    await path.index();
    await path.close();
  } catch {
    // the disk is gone
  }
}

test("whichever call fails, answers are those of the rows, and the next start leaves what is to be", async () => {
  const runs = await faultLoop(prng(5), scenario, async (disk, _, failAt) => {
    const path = await WritePath.open(disk);
    for (const when of ["at the start", "indexed"]) {
      const context = `call ${failAt}, ${when}`;
      if (when === "indexed") {
        await path.index();
        checkKeys(path, disk, context);
      }
      if (path.columns("t").length === 0) continue;
      for (const text of ["v0", "v1", "w0"]) await checkAnswer(path, [textsIn(path, "s", text)], [], `${context}, ${text}`);
      await checkAnswer(path, [], [{ columnId: columnOf(path, "h").id, values: ["b1", "c"] }], context);
    }
    await path.close();
  });
  expect(runs).toBeGreaterThan(100);
}, 60_000);

/** Rows of several pages, some of which are written again by a later file. */
async function filled(disk: FaultyDisk, valuesMax = 1024): Promise<WritePath> {
  const path = await WritePath.open(disk);
  path.pageRowsMax = 64;
  path.indexValuesMax = valuesMax;
  const line = (i: number, fields: string) => `t,h=h${i % 4} ${fields} ${i}`;
  await path.write(Array.from({ length: 1000 }, (_, i) => line(i, `s="s${i}",o="o${i % 3}",n=${i}i`)).join("\n"));
  await path.flush();
  // times 400 to 420 again, other texts there
  await path.write(Array.from({ length: 21 }, (_, i) => line(400 + i, `s="again ${i}"`)).join("\n"));
  await path.flush();
  await path.fileIndexes.create(OWNER, ["s", "o", "h"]);
  await path.index();
  return path;
}

describe.each([
  ["lists", 1024],
  ["filters", 0],
])("with %s", (_, valuesMax) => {
  test("pages and blocks are ruled out, and rows that are merged of two files found by what either of them has", async () => {
    const path = await filled(new FaultyDisk(), valuesMax);
    const ask = async (fields: FieldPredicate[], tags: TagPredicate[] = []) => {
      const before = { ...path.ruledOut };
      const count = await checkAnswer(path, fields, tags);
      return [count, path.ruledOut.blocks - before.blocks, path.ruledOut.pages - before.pages];
    };
    // the row is in one of 16 pages; the other file has it not, nor has the page times of both
    expect(await ask([textsIn(path, "s", "s100")])).toEqual([1, 1, 15]);
    // overwritten: the page is there, the row is not
    expect((await ask([textsIn(path, "s", "s401")]))[0]).toBe(0);
    // of the later file, with fields of the earlier one
    expect((await ask([textsIn(path, "s", "again 5")]))[0]).toBe(1);
    expect((await ask([textsIn(path, "s", "again 5"), textsIn(path, "o", "o0")]))[0]).toBe(1);
    expect((await ask([textsIn(path, "s", "again 5"), textsIn(path, "o", "o1")]))[0]).toBe(0);
    expect((await ask([textsIn(path, "s", "s3", "again 20", "s999", "nowhere")]))[0]).toBe(3);
    // nowhere: both blocks, whether read alone or merged
    expect(await ask([textsIn(path, "s", "nowhere")])).toEqual([0, 2, 0]);
    expect(await ask([], [{ columnId: columnOf(path, "h").id, values: ["h9"] }])).toEqual([0, 2, 0]);
    // what is absent is in no index
    expect((await ask([], [{ columnId: columnOf(path, "h").id, values: ["h1", null] }]))[0]).toBe(250);
    await path.close();
  });
});

test("every snapshot taken while indexes are made, changed and removed gets the same answers", async () => {
  const disk = new FaultyDisk();
  const path = await filled(disk);
  let looks = 0;
  path.duringMerge = async () => {
    looks++;
    for (const text of ["s10", "s401", "again 5"]) await checkAnswer(path, [textsIn(path, "s", text)]);
  };
  await path.fileIndexes.create(OWNER, ["s"]);
  await path.index();
  await path.compact(COMPACT_EVERYTHING);
  await path.index();
  await path.fileIndexes.delete(OWNER);
  await path.index();
  expect(looks).toBeGreaterThan(20);
  expect(keysOf(disk)).toEqual([]);
  await path.close();
});

describe("objects", () => {
  test("that a snapshot knows stay until it has gone", async () => {
    const disk = new FaultyDisk();
    const path = await filled(disk);
    const before = keysOf(disk);
    const pin = path.pins.take();
    await path.compact(COMPACT_EVERYTHING);
    await path.index();
    expect(keysOf(disk)).toEqual(expect.arrayContaining(before));
    pin.release();
    await path.index();
    checkKeys(path, disk, "released");
    expect(keysOf(disk)).toHaveLength(1);
    await path.close();
  });

  test("of a database: those of tables with such a column, and of later ones", async () => {
    const disk = new FaultyDisk();
    const path = await WritePath.open(disk);
    await path.write('t s="a" 1\nu v=1 1');
    await path.flush();
    await path.fileIndexes.create({ database: "db", table: null }, ["s"]);
    await path.index();
    expect(keysOf(disk)).toHaveLength(1);
    await path.write("u v=2 2");
    await path.flush();
    await path.index();
    expect(keysOf(disk)).toHaveLength(1);
    await path.write('u s="b" 3');
    await path.flush();
    await path.index();
    expect(keysOf(disk)).toHaveLength(2);
    await path.close();
  });

  test("that are damaged rule nothing out, and are made again", async () => {
    for (const [what, damage] of [
      ["no bytes", () => new Uint8Array(0)],
      ["cut off", (bytes: Uint8Array) => bytes.slice(0, -9)],
      ["another directory", (bytes: Uint8Array) => bytes.map((byte, i) => (i === bytes.length - 60 ? byte ^ 1 : byte))],
      ["other contents", (bytes: Uint8Array) => bytes.map((byte, i) => (i > 16 && i < 40 ? byte ^ 1 : byte))],
    ] as const) {
      const disk = new FaultyDisk();
      await (await filled(disk)).close();
      for (const key of keysOf(disk)) disk.plant(key, damage(disk.peek(key)!));
      const path = await WritePath.open(disk);
      for (const text of ["s10", "s401", "again 5", "nowhere"]) await checkAnswer(path, [textsIn(path, "s", text)], [], what);
      const isSeen = what !== "other contents";
      // told once, and made anew in the same go
      const error = await path.index().catch((thrown: unknown) => String(thrown));
      expect(error ?? "", what).toMatch(isSeen ? /corrupt|cannot read/ : /^$/);
      await checkAnswer(path, [textsIn(path, "s", "nowhere")], [], what);
      if (isSeen) expect(path.ruledOut.blocks, what).toBeGreaterThan(0);
      await path.close();
    }
  });
});
