// Series have one number in whatever dictionary they come, compared with a map of their tags; and tables with too many have none.
import { afterEach, expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { Arena, canonicalKey, readSeries, type TestRow, writeDictionary } from "../../test/support/rows/rows.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { SeriesDictionary } from "../kernel/series/series-dictionary.ts";
import { RECLAIM_AT_ONCE } from "../model/reclaimer.ts";
import { type ColumnDef, ColumnType } from "../model/rows/column.ts";
import { type SeriesNumbers, SeriesNumbersOfTables } from "./series-numbers.ts";
import type { BlockSnapshot } from "./snapshot.ts";

const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

const TAGS: ColumnDef[] = [3, 7].map((id) => ({ id, name: `tag${id}`, type: ColumnType.tag }));
const place = { fileId: 1, generation: 0, source: { kind: "path", path: "/1" }, blockIndex: 0 } as const;
const newBlock = (): BlockSnapshot => ({ ...place, rowCount: 1, minTimeNs: 0n, maxTimeNs: 0n, seqMin: 1, seqMax: 1, unique: true });
const randomTags = (below: (n: number) => number): TestRow["tags"] => {
  return Object.fromEntries(TAGS.filter(() => below(4) > 0).map(({ name }) => [name, `${"x".repeat(below(20))}${below(3)}`]));
};
const text = (tags: TestRow["tags"]) => JSON.stringify(Object.entries(tags).sort());

test.each([1, 2, 3])("seed %i", (seed) => {
  const below = prng(seed);
  const before = kernel.heap.usedBytes;
  const tables = new SeriesNumbersOfTables(kernel, { seriesMax: 1000, seriesOfTableMax: 1000 });
  const memory = new SeriesDictionary(kernel, { lastTimeFloorNs: 0n, reclaimer: RECLAIM_AT_ONCE });
  const known = new Map<string, number>();
  const blocks = new Map<BlockSnapshot, Uint32Array>();
  const check = (numbers: Uint32Array, series: readonly string[]) => {
    expect(numbers.length).toBe(series.length);
    series.forEach((tags, id) => {
      expect(known.get(tags) ?? numbers[id]).toBe(numbers[id]!);
      known.set(tags, numbers[id]!);
    });
    expect(new Set(known.values()).size).toBe(known.size);
  };
  for (let round = 0; round < 30; round++) {
    const numbers = tables.of(1);
    const rows = Array.from({ length: below(20) }, () => ({ tags: randomTags(below) }));
    if (below(2) === 0) {
      for (const { tags } of rows) {
        const key = canonicalKey(TAGS, tags);
        memory.insertKey(arena.bytes(key), key.length);
      }
      const view = memory.view();
      const series = Array.from({ length: view.seriesCount }, (_, id) => text(readSeries(kernel, TAGS, view, id)));
      check(numbers.ofMemory(view)!, series);
    } else {
      const { dictionary } = writeDictionary(arena, TAGS, rows);
      const series = Array.from({ length: dictionary.seriesCount }, (_, id) => text(readSeries(kernel, TAGS, dictionary, id)));
      const block = newBlock();
      expect(numbers.ofBlock(block)).toBeNull();
      blocks.set(block, numbers.ofBlock(block, () => dictionary)!);
      check(blocks.get(block)!, series);
    }
    for (const [block, found] of blocks) expect(numbers.ofBlock(block)).toBe(found);
    // the view's ids are the numbers
    const { view } = numbers;
    for (const [tags, number] of known) expect(text(readSeries(kernel, TAGS, view, number))).toBe(tags);
  }
  tables.release();
  memory.release();
  arena.free();
  expect(kernel.heap.usedBytes).toBe(before);
});

test("too many series, and too many tables", () => {
  const before = kernel.heap.usedBytes;
  const tables = new SeriesNumbersOfTables(kernel, { seriesMax: 30, seriesOfTableMax: 20 });
  const learn = (numbers: SeriesNumbers, from: number, count: number) => {
    const rows = Array.from({ length: count }, (_, i) => ({ tags: { tag3: `${from + i}` } }));
    const { dictionary } = writeDictionary(arena, TAGS, rows);
    return numbers.ofBlock(newBlock(), () => dictionary);
  };
  const first = tables.of(1);
  expect(learn(first, 0, 20)?.length).toBe(20);
  expect(learn(first, 10, 10)?.length).toBe(10);
  expect(learn(first, 10, 11)).toBeNull();
  expect(learn(first, 0, 1)).toBeNull();
  expect(tables.of(1)).toBe(first);
  const second = tables.of(2);
  expect(learn(second, 0, 15)?.length).toBe(15);
  const third = tables.of(3);
  expect(learn(third, 0, 16)?.length).toBe(16);
  // together more than there may be: of tables that were used before this one the oldest go
  expect(tables.of(3)).toBe(third);
  expect([first.isUsable, second.isUsable, third.isUsable]).toEqual([false, false, true]);
  expect(tables.of(2)).not.toBe(second);
  // after a while it is tried again
  let fourth = tables.of(4);
  learn(fourth, 0, 20);
  learn(fourth, 20, 1);
  const given: SeriesNumbers[] = Array.from({ length: 1002 }, () => tables.of(4));
  fourth = given.at(-1)!;
  expect(given.filter(({ isUsable }) => !isUsable).length).toBe(1000);
  expect(learn(fourth, 0, 20)?.length).toBe(20);
  tables.release();
  arena.free();
  expect(kernel.heap.usedBytes).toBe(before);
});

test("one more table costs the same, however many are known", () => {
  let counted = 0;
  const seriesCount = (ptr: number) => {
    counted++;
    return kernel.call.seriesCount(ptr);
  };
  const counting: Kernel = Object.create(kernel, { call: { value: { ...kernel.call, seriesCount } } });
  const tables = new SeriesNumbersOfTables(counting);
  const { dictionary } = writeDictionary(arena, TAGS, [{ tags: { tag3: "a" } }]);
  const callsOfTables = (from: number, count: number) => {
    const before = counted;
    for (let id = from; id < from + count; id++) expect(tables.of(id).ofMemory(dictionary)?.length).toBe(1);
    return counted - before;
  };
  const ofTen = callsOfTables(0, 10);
  callsOfTables(10, 500);
  expect(callsOfTables(510, 10)).toBe(ofTen);
  tables.release();
});
