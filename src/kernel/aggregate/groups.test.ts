// Groups over many dictionaries: the same values make the same group, whether a dictionary is still known or was forgotten.
import { afterEach, expect, test } from "bun:test";
import { ALL_TYPES } from "../../../test/support/rows/random-rows.ts";
import { Arena, readView, type TestRow, writeRun } from "../../../test/support/rows/rows.ts";
import { Kernel } from "../memory/kernel.ts";
import { AggregateGroups } from "./groups.ts";

const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

const host = ALL_TYPES.find(({ name }) => name === "host")!;
const region = ALL_TYPES.find(({ name }) => name === "region")!;

test.each([1 << 20, 0])("dictionaries known: %i bytes", (sourcesBytesMax) => {
  const before = kernel.heap.usedBytes;
  const groups = new AggregateGroups(kernel, [host, region], sourcesBytesMax);
  const tagsOf = (group: number) =>
    [0, 1].map((index) => {
      const { codesPtr, valuesPtr } = groups.tag(index);
      const code = kernel.u32[codesPtr / 4 + group]!;
      return code === 0 ? null : readView(kernel, valuesPtr + code * 16);
    });
  const all: Record<string, string>[] = [
    {},
    { host: "a" },
    { region: "a" },
    { host: "a", region: "a" },
    { host: "b", region: "a value of some length" },
  ];
  const numbers = new Map<string, number>();
  for (let round = 0; round < 4; round++) {
    // each round a dictionary of its own, with series in another order
    const rows = all.map((_, i): TestRow => ({ timeNs: 1n, tags: all[(i * (round + 1) + round) % all.length]!, fields: { i: 1n } }));
    const { dictionary, seriesPtr, rowCount } = writeRun(arena, ALL_TYPES, rows);
    groups.learnRows(dictionary, seriesPtr, { rowsPtr: 0, first: 0, count: rowCount });
    const map = groups.mapOf(dictionary);
    rows.forEach(({ tags }, row) => {
      const group = kernel.u32[map / 4 + kernel.u32[seriesPtr / 4 + row]!]!;
      expect(tagsOf(group)).toEqual([tags["host"] ?? null, tags["region"] ?? null]);
      const key = JSON.stringify([tags["host"], tags["region"]]);
      expect(numbers.get(key) ?? group).toBe(group);
      numbers.set(key, group);
    });
    expect(groups.count).toBe(numbers.size);
  }
  expect(groups.count).toBe(all.length);
  groups.release();
  arena.free();
  expect(kernel.heap.usedBytes).toBe(before);
});
