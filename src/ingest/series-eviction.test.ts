// Series that come and go for ever under a small limit: every answer stays exact, and memory stays where it is.
import { expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { FaultyDisk } from "../../test/support/storage/faulty-disk.ts";
import { lineText, type ModelLine, rowText, StorageModel } from "../../test/support/storage/storage-model.ts";
import { WritePath } from "../../test/support/storage/write-path.ts";
import { TsdbError } from "../model/errors.ts";
import { ALL_TIME } from "../model/query/scan.ts";
import { ColumnType } from "../model/rows/column.ts";
import { SeriesMemory } from "../storage/buffer/series-memory.ts";

const LIMIT_BYTES = 240_000;
const NOW_MS = 1_700_000_000_000;

function line(table: string, host: number, timeNs: bigint, value: number): ModelLine {
  const tags = { host: `a host with a long name ${host}`, rack: `r${host % 10}` };
  return { table, tags, fields: { [`f${value % 3}`]: { type: ColumnType.float, value } }, timeNs };
}

async function expectModel(path: WritePath, model: StorageModel): Promise<void> {
  for (const table of model.tables.keys()) {
    const want = model
      .rows(table, BigInt(NOW_MS) * 1_000_000n)
      .map((row) => rowText(row))
      .sort();
    expect((await path.rows(table)).map((row) => rowText(row)).sort(), table).toEqual(want);
    expect((await path.naiveRows(table)).map((row) => rowText(row)).sort(), table).toEqual(want);
  }
}

const SEEDS = Array.from({ length: Number(process.env["ROUNDS"] ?? 1) }, (_, i) => i + 1);

test.each(SEEDS)("many times more series than there is room for, duplicates, deletions and restarts between, seed %i", async (seed) => {
  const below = prng(seed);
  const disk = new FaultyDisk();
  const memory = () => new SeriesMemory(LIMIT_BYTES);
  const model = new StorageModel();
  let path = await WritePath.open(disk, { nowMs: () => NOW_MS, seriesMemory: memory() });
  let evictions = 0;
  let mostBytes = 0;
  let value = 0;
  for (let body = 0; body < 45; body++) {
    const timeNs = BigInt(body) * 1_000_000_000n;
    const lines = Array.from({ length: 100 + below(200) }, () => {
      // new ones, some of the last bodies, some of long ago; one table is churned ten times as much as the other
      const host = below(3) > 0 ? body * 300 + below(300) : below(body * 300 + 1);
      const at = below(5) > 0 ? timeNs : BigInt(below(body + 1)) * 1_000_000_000n;
      return line(below(10) > 0 ? "churn" : "calm", below(10) > 0 ? host : below(20), at, value++);
    });
    model.write(lines);
    await path.write(lines.map(lineText).join("\n"));
    mostBytes = Math.max(mostBytes, path.tables.seriesMemory.bytes);
    if (body % 17 === 3) {
      const range = { minNs: BigInt(below(body + 1)) * 1_000_000_000n, maxNs: timeNs };
      const tags = [{ tag: "rack", values: [`r${below(10)}`, `r${below(10)}`] }];
      model.delete({ table: "churn", range, tags });
      await path.data.deleteRows({ database: "db", table: "churn", range, tags });
    }
    if (body % 20 === 11) await path.compact();
    if (body % 20 === 9) {
      evictions += path.tables.seriesMemory.evictions;
      if (below(2) === 0) await path.close();
      else path.release();
      path = await WritePath.open(disk, { nowMs: () => NOW_MS, seriesMemory: memory() });
    }
    if (body % 15 === 14) await expectModel(path, model);
  }
  await path.flush();
  await path.compact();
  await expectModel(path, model);
  expect(evictions + path.tables.seriesMemory.evictions).toBeGreaterThan(5);
  // memory is looked at every 256 new series, before it is known when they have no rows
  expect(mostBytes).toBeLessThanOrEqual(LIMIT_BYTES + 300 * 300);
  await path.close();
});

test("a point that comes again after its series was evicted merges with the old one", async () => {
  const path = await WritePath.open(new FaultyDisk(), { nowMs: () => NOW_MS, seriesMemory: new SeriesMemory(1_000_000) });
  const evictAll = async () => {
    path.tables.seriesMemory.note(1_000_000); // as if other tables had it all
    await path.flush();
    path.tables.seriesMemory.note(-1_000_000);
  };
  await path.write("t,h=a x=1,y=1 10\nt,h=b x=1 10");
  await evictAll();
  await path.write("t,h=a x=2 10\nt,h=a x=3 11");
  const want = ["10 {h=string:a} {x=number:2,y=number:1}", "10 {h=string:b} {x=number:1}", "11 {h=string:a} {x=number:3}"];
  const texts = async () => (await path.rows("t")).map((row) => rowText(row)).sort();
  expect(await texts()).toEqual(want);
  await evictAll();
  expect(await texts()).toEqual(want);
  // nothing but what is newer than all of the table is known to be new
  await path.write("t,h=b x=7 11");
  await path.write("t,h=b x=8 11");
  expect((await path.rows("t", { range: { minNs: 11n, maxNs: 11n } })).map((row) => rowText(row)).sort()).toEqual([
    "11 {h=string:a} {x=number:3}",
    "11 {h=string:b} {x=number:8}",
  ]);
  expect(path.tables.seriesMemory.evictions).toBe(2);
  await path.close();
});

test("other databases and tables keep what they know when one is evicted", async () => {
  const path = await WritePath.open(new FaultyDisk(), { nowMs: () => NOW_MS, seriesMemory: new SeriesMemory(60_000) });
  await path.write("t,h=a x=1 1\nu,h=a x=1 1", { database: "calm" });
  const calm = path.tables.find(1)!.dictionary;
  for (let body = 0; body < 5; body++) {
    const lines = Array.from({ length: 100 }, (_, i) => lineText(line("churn", body * 100 + i, BigInt(body), 1)));
    await path.write(lines.join("\n"));
    await path.write(`t,h=a x=${body} ${body + 2}\nu,h=b x=1 ${body + 2}`, { database: "calm" });
  }
  expect(path.tables.seriesMemory.evictions).toBeGreaterThan(1);
  expect(path.tables.find(1)!.dictionary).toBe(calm);
  expect((await path.rows("churn")).length).toBe(500);
  expect((await path.rows("t", { database: "calm" })).length).toBe(6);
  await path.close();
});

test("a body whose series would never fit is refused as too large; the same in parts is taken", async () => {
  const path = await WritePath.open(new FaultyDisk(), { nowMs: () => NOW_MS, seriesMemory: new SeriesMemory(LIMIT_BYTES) });
  const lines = Array.from({ length: 4000 }, (_, i) => lineText(line("t", i, BigInt(i), i)));
  const refused = await path.write(lines.join("\n")).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(TsdbError);
  expect((refused as TsdbError).kind).toBe("too_large");
  expect((refused as TsdbError).message).toContain("send it as several smaller ones");
  expect(await path.rows("t")).toEqual([]);
  for (let from = 0; from < 4000; from += 400) await path.write(lines.slice(from, from + 400).join("\n"));
  expect((await path.rows("t")).length).toBe(4000);
  await path.close();
});

test("a table whose rows are deleted again and again begins anew", async () => {
  const path = await WritePath.open(new FaultyDisk(), { nowMs: () => NOW_MS, seriesMemory: new SeriesMemory(32_000) });
  for (let round = 0; round < 6; round++) {
    const lines = Array.from({ length: 60 }, (_, i) => lineText(line("t", round * 60 + i, 5n, round)));
    await path.write(lines.join("\n"));
    await path.data.deleteRows({ database: "db", table: "t", range: ALL_TIME, tags: [] });
    await path.write(lineText(line("t", round, 5n, round + 1)));
    expect((await path.rows("t")).map((row) => rowText(row))).toEqual([
      `5 {host=string:a host with a long name ${round},rack=string:r${round}} {f${(round + 1) % 3}=number:${round + 1}}`,
    ]);
  }
  expect(path.tables.seriesMemory.evictions).toBeGreaterThan(1);
  await path.close();
});
