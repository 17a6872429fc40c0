// Dictionaries that grow far: hash tables that split, arrays that move bit by bit while others read them, memory that runs out at any
// moment.
import { afterEach, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { Arena, readSeries } from "../../../test/support/rows/rows.ts";
import { RECLAIM_AT_ONCE } from "../../model/reclaimer.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import type { DictionaryView } from "../../model/rows/run.ts";
import { Pins } from "../../storage/buffer/pins.ts";
import { Kernel } from "../memory/kernel.ts";
import { SeriesDictionary } from "./series-dictionary.ts";

const I64_MIN = -(2n ** 63n);
const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

const TAGS: ColumnDef[] = [3, 7, 9].map((id) => ({ id, name: `tag${id}`, type: ColumnType.tag }));
type Tags = Record<string, string>;

/** Key records of series in order, as the log has them. */
function keyRecords(series: readonly Tags[]): { ptr: number; bytes: number } {
  const parts: Buffer[] = [];
  series.forEach((tags, i) => {
    const values = TAGS.filter(({ name }) => tags[name] !== undefined).map(({ id, name }) => {
      const value = Buffer.from(tags[name]!);
      const head = Buffer.alloc(8);
      head.writeUInt32LE(id);
      head.writeUInt32LE(value.length, 4);
      return Buffer.concat([head, value]);
    });
    const key = Buffer.concat(values);
    const head = Buffer.alloc(8);
    head.writeUInt32LE(i);
    head.writeUInt32LE(key.length, 4);
    parts.push(head, key);
  });
  const all = Buffer.concat(parts);
  return { ptr: arena.bytes(all), bytes: all.length };
}

/** Ids of the series, in their order. */
function insert(dictionary: SeriesDictionary, series: readonly Tags[]): number[] {
  const { ptr, bytes } = keyRecords(series);
  const out = arena.alloc(Math.max(8, series.length * 8));
  const count = dictionary.insertRecords(ptr, bytes, out);
  expect(count).toBe(series.length);
  return Array.from({ length: count }, (_, i) => kernel.u32[out / 4 + 2 * i + 1]!);
}

/** The n-th series: most have a host of their own, some a tag that came late, some texts lie outside of their views. */
function seriesOf(n: number): Tags {
  const tags: Tags = { tag3: n % 3 === 0 ? `host ${n}` : `a longer name of host ${n}` };
  if (n % 5 > 0) tags["tag7"] = `rack ${n % 1000}`;
  if (n > 30_000 && n % 7 === 0) tags["tag9"] = `late ${n}`;
  return tags;
}

test.each([1, 2])("120,000 series, looked up, dated and read by pinned views all the while, seed %i", (seed) => {
  const below = prng(seed);
  const [usedBefore, pins] = [kernel.heap.usedBytes, new Pins()];
  const dictionary = new SeriesDictionary(kernel, { lastTimeFloorNs: I64_MIN, reclaimer: pins });
  const views: { view: DictionaryView; count: number; release: () => void }[] = [];
  const lastTimes: bigint[] = [];
  const stamped = new Set<number>();
  const check = ({ view, count }: { view: DictionaryView; count: number }) => {
    expect(view.seriesCount).toBe(count);
    for (const id of [0, count - 1, below(count), below(count), below(count)]) {
      expect(readSeries(kernel, TAGS, view, id)).toEqual(seriesOf(id));
    }
  };
  for (let count = 0; count < 120_000; ) {
    const fresh = [1, 7, 100, 3000][below(4)]!;
    const wanted = [...Array.from({ length: fresh }, (_, i) => count + i), ...Array.from({ length: 20 }, () => below(count + fresh))];
    expect(insert(dictionary, wanted.map(seriesOf))).toEqual(wanted);
    count += fresh;
    // old and new series, each once
    const rows = [...new Set(Array.from({ length: 50 }, () => below(count)))];
    const times = rows.map(() => BigInt(below(1000)));
    const { ascending } = dictionary.noteTimes(arena.u32(rows), arena.i64(times), rows.length);
    expect(ascending).toBe(rows.every((id, i) => times[i]! > (lastTimes[id] ?? I64_MIN)));
    rows.forEach((id, i) => {
      if (times[i]! > (lastTimes[id] ?? I64_MIN)) lastTimes[id] = times[i]!;
    });
    const keys = dictionary.unseenKeys(arena.u32(rows), rows.length, 1);
    expect(keys.count).toBe(rows.filter((id) => !stamped.has(id)).length);
    keys.release();
    for (const id of rows) stamped.add(id);
    if (below(3) === 0) {
      views.push({ view: dictionary.view(), count, release: pins.take().release });
      check(views.at(-1)!);
    }
    if (views.length > 4) {
      const [old] = views.splice(below(views.length), 1);
      check(old!);
      old!.release();
    }
    arena.free();
  }
  for (const old of views) {
    check(old);
    old.release();
  }
  // gaps are 64 of them, because rows come out of order
  expect(dictionary.memoryBytes / dictionary.seriesCount).toBeLessThan(260);
  dictionary.release();
  expect([pins.waitingCount, kernel.heap.usedBytes]).toEqual([0, usedBefore]);
});

test.each([1, 2, 3])("40,000 series although memory is full again and again, seed %i", (seed) => {
  const below = prng(seed);
  const usedBefore = kernel.heap.usedBytes;
  const dictionary = new SeriesDictionary(kernel, { lastTimeFloorNs: 0n, reclaimer: RECLAIM_AT_ONCE });
  const alloc = kernel.heap.alloc.bind(kernel.heap);
  let failures = 0;
  for (let count = 0; count < 40_000; ) {
    const wanted = Array.from({ length: 1 + below(900) }, (_, i) => count + i);
    const { ptr, bytes } = keyRecords(wanted.map(seriesOf));
    const out = arena.alloc(wanted.length * 8);
    for (let done = false; !done; ) {
      kernel.heap.alloc = (size) => {
        if (below(3) === 0) throw new Error("full");
        return alloc(size);
      };
      try {
        dictionary.insertRecords(ptr, bytes, out);
        done = true;
      } catch (error) {
        expect((error as Error).message).toBe("full");
        failures++;
      } finally {
        kernel.heap.alloc = alloc;
      }
    }
    expect(wanted.map((_, i) => kernel.u32[out / 4 + 2 * i + 1])).toEqual(wanted);
    count += wanted.length;
    arena.free();
  }
  expect(failures).toBeGreaterThan(30);
  const all = Array.from({ length: 200 }, () => below(40_000));
  expect(insert(dictionary, all.map(seriesOf))).toEqual(all);
  for (const id of all) expect(readSeries(kernel, TAGS, dictionary.view(), id)).toEqual(seriesOf(id));
  dictionary.release();
  arena.free();
  expect(kernel.heap.usedBytes).toBe(usedBefore);
});
