// What is counted, when a flush is due, which dictionaries go; and that tables which lose theirs keep their rows and know what may be a
// duplicate.
import { describe, expect, test } from "bun:test";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import { ColumnType, type TableDef } from "../../model/rows/column.ts";
import { LiveTables } from "./live-tables.ts";
import { Pins } from "./pins.ts";
import { type EvictionCandidate, SeriesMemory } from "./series-memory.ts";

const table = (tableId: number, bytes: number, other: Partial<EvictionCandidate> = {}): EvictionCandidate => {
  return { tableId, bytes, isIdle: false, lastSequence: tableId, ...other };
};

describe("choose", () => {
  const idle = { isIdle: true };
  // of 1000 bytes: due from 750 on, down to 500
  const CHOICES: [why: string, tables: EvictionCandidate[], refused: number, chosen: number[]][] = [
    ["no table", [], 0, []],
    ["below three quarters of the limit", [table(1, 749)], 0, []],
    ["at three quarters of the limit", [table(1, 750)], 0, [1]],
    ["the largest first", [table(1, 100), table(2, 250), table(3, 400)], 0, [3]],
    ["until half is left", [table(1, 300), table(2, 310), table(3, 320)], 0, [3, 2]],
    ["idle ones before larger ones", [table(1, 100, idle), table(2, 200, idle), table(3, 460)], 0, [1, 2]],
    [
      "of the idle ones the oldest",
      [table(1, 300, { ...idle, lastSequence: 9 }), table(2, 300, { ...idle, lastSequence: 5 }), table(3, 200)],
      0,
      [2],
    ],
    ["a refused body makes eviction due", [table(1, 100), table(2, 200)], 701, [2]],
    ["a refused body finds room afterwards", [table(1, 100), table(2, 200)], 950, [2, 1]],
    ["a body that finds room makes no eviction due", [table(1, 100), table(2, 200)], 700, []],
  ];
  test.each(CHOICES)("%s", (_, tables, refused, chosen) => {
    const memory = new SeriesMemory(1000);
    for (const { bytes } of tables) memory.note(bytes);
    const isRefused = refused > memory.roomBytes;
    const message = `the memory for series is full: ${memory.bytes} of 1000 bytes; try again in a few seconds`;
    if (isRefused) expect(memory.refuse({ bytes: refused, fromEmptyBytes: 1 })).toMatchObject({ kind: "overloaded", message });
    expect(memory.hasRoom).toBe(!isRefused);
    expect([...memory.choose(tables)]).toEqual(chosen);
    expect(memory.choose(tables).size).toBe(memory.bytes < 750 ? 0 : chosen.length); // a refusal counts once
  });

  test("a body whose series would not fit empty memory is too_large, and makes no flush due", () => {
    const memory = new SeriesMemory(1000);
    memory.note(100);
    expect(memory.roomBytes).toBe(900);
    const refused = memory.refuse({ bytes: 901, fromEmptyBytes: 501 });
    expect(refused.kind).toBe("too_large");
    expect(refused.message).toContain("501 bytes of the 1000 that there are for all series");
    expect([memory.hasRoom, memory.isDue]).toEqual([true, false]);
  });
});

const kernel = Kernel.create();
const DEF: TableDef = { id: 7, databaseId: 1, name: "t", columns: [{ id: 1, name: "h", type: ColumnType.tag }] };

/** One key record: column 1 = text. */
function insert(live: ReturnType<LiveTables["ensure"]>, text: string): number {
  const bytes = 8 + text.length;
  const ptr = kernel.heap.alloc(bytes);
  kernel.u32.set([1, text.length], ptr / 4);
  kernel.u8.set(new TextEncoder().encode(text), ptr + 8);
  const id = live.dictionary.insertKey(ptr, bytes);
  kernel.heap.free(ptr, bytes);
  return id;
}

function append(tables: LiveTables, host: string, time: bigint, sequence: number): boolean {
  const live = tables.ensure(DEF);
  const [seriesPtr, timePtr] = [kernel.heap.alloc(4), kernel.heap.alloc(8)];
  kernel.u32[seriesPtr / 4] = insert(live, host);
  kernel.i64[timePtr / 8] = time;
  const facts = live.dictionary.noteTimes(seriesPtr, timePtr, 1);
  tables.append(live, { rowCount: 1, seriesPtr, timePtr, columns: [], ...facts }, { sequence, nowMs: 0 });
  kernel.heap.free(seriesPtr, 4);
  kernel.heap.free(timePtr, 8);
  return facts.unique;
}

test("an evicted table takes what is not newer than all its rows for a possible duplicate", () => {
  const memory = new SeriesMemory(1); // always due
  const [usedBefore, pins] = [kernel.heap.usedBytes, new Pins()];
  let durableMaxNs = 40n;
  const tables = new LiveTables(kernel, pins, () => [{ minNs: ALL_TIME.minNs, maxNs: durableMaxNs }], memory);
  expect(append(tables, "a", 41n, 1)).toBe(true);
  expect(append(tables, "b", 50n, 2)).toBe(true);
  expect(append(tables, "a", 42n, 3)).toBe(true);
  const first = tables.ensure(DEF).dictionary;
  tables.seal(3);
  expect(memory.evictions).toBe(1);
  expect(tables.ensure(DEF).dictionary).not.toBe(first);
  expect(append(tables, "a", 50n, 4)).toBe(false); // 43 to 50 would have been newer, but nobody knows any more
  expect(append(tables, "a", 51n, 5)).toBe(true);
  expect(append(tables, "c", 49n, 6)).toBe(false);
  // sealed rows and new ones have dictionaries of their own
  expect(new Set(tables.runs(7).map(({ dictionary }) => dictionary.id)).size).toBe(2);
  expect(tables.runs(7).map(({ dictionary }) => dictionary.seriesCount)).toEqual([2, 2]);
  tables.dropSealed();
  durableMaxNs = 60n; // newer than what is buffered: compaction knows better
  tables.seal(6);
  expect(append(tables, "a", 60n, 7)).toBe(false);
  expect(append(tables, "d", 61n, 8)).toBe(true);
  tables.release();
  expect([memory.bytes, kernel.heap.usedBytes]).toEqual([0, usedBefore]);
});

test("an evicted table knows at which times it has no rows, neither in files nor in memory", () => {
  const tables = new LiveTables(kernel, new Pins(), () => [{ minNs: 100n, maxNs: 200n }], new SeriesMemory(1));
  expect([append(tables, "a", 250n, 1), append(tables, "a", 150n, 2), append(tables, "a", 90n, 3)]).toEqual([true, false, true]);
  tables.seal(3);
  // files have 100 to 200, the sealed rows 90 to 250
  expect([append(tables, "a", 89n, 4), append(tables, "a", 95n, 5), append(tables, "a", 240n, 6)]).toEqual([true, false, false]);
  tables.dropSealed();
  tables.release();
});

test("a table without rows is evicted, too; its dictionary stays for a statement that reads it", () => {
  const memory = new SeriesMemory(1);
  const [usedBefore, pins] = [kernel.heap.usedBytes, new Pins()];
  const tables = new LiveTables(kernel, pins, () => [], memory);
  append(tables, "a text that lies outside of its view", 1n, 1);
  const pin = pins.take();
  const [run] = tables.runs(7);
  tables.seal(1);
  tables.dropSealed();
  tables.seal(1);
  expect(memory.evictions).toBe(2);
  const view = run!.dictionary.tags[0]!;
  const code = kernel.u32[view.codesPtr / 4]!;
  expect(kernel.u32[(view.valuesPtr + 16 * code) / 4]).toBe("a text that lies outside of its view".length);
  pin.release();
  tables.release();
  expect([memory.bytes, kernel.heap.usedBytes]).toEqual([0, usedBefore]);
});

test("when there is no memory for an empty dictionary the rows are sealed all the same", () => {
  const memory = new SeriesMemory(1);
  const tables = new LiveTables(kernel, new Pins(), () => [], memory);
  append(tables, "a", 1n, 1);
  const alloc = kernel.heap.alloc.bind(kernel.heap);
  const { extents } = kernel;
  // as full as it gets
  kernel.heap.alloc = () => extents.allocate(2 ** 33);
  try {
    expect(tables.seal(1).tables.size).toBe(1);
  } finally {
    kernel.heap.alloc = alloc;
  }
  expect(memory.evictions).toBe(0);
  tables.dropSealed();
  tables.seal(1);
  expect(memory.evictions).toBe(1);
  tables.release();
});
