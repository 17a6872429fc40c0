// Groups by values of fields, stored and computed: the same as of rows that are grouped one by one.
import { afterEach, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { aggregateRows, expectGroups } from "../../../test/support/rows/naive-aggregate.ts";
import { narrowedRun, withNearIntegers } from "../../../test/support/rows/narrow-run.ts";
import { ALL_TYPES, randomRows } from "../../../test/support/rows/random-rows.ts";
import { readGroups } from "../../../test/support/rows/read-groups.ts";
import { Arena, type TestRow, writeRun } from "../../../test/support/rows/rows.ts";
import { addOne } from "../../../test/support/rows/run-scan.ts";
import { type AggregateRequest, readsSeriesAndTimes } from "../../model/query/aggregate.ts";
import type { ComputedColumn } from "../../model/query/field-expression.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import { Kernel } from "../memory/kernel.ts";
import { mergeRuns } from "../scan/run-merge.ts";
import { Aggregator } from "./aggregate.ts";

const SEEDS = Array.from({ length: 60 * Number(process.env["ROUNDS"] ?? 1) }, (_, i) => i + 1);
const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

const IS_HIGH: ComputedColumn = {
  ...{ id: -1, name: "computed", type: ColumnType.boolean },
  expression: {
    ...{ kind: "call", type: "boolean", operator: "<" },
    operands: [
      { kind: "constant", type: "float", value: 1 },
      { kind: "column", type: "float", columnId: 2 },
    ],
  },
};

/** Also those computed of it. */
function latestRows(rows: readonly TestRow[]): TestRow[] {
  const latest = new Map<string, TestRow>();
  for (const row of rows) {
    const key = JSON.stringify([row.tags["host"] ?? null, row.tags["region"] ?? null, `${row.timeNs}`]);
    latest.set(key, { ...row, fields: { ...latest.get(key)?.fields, ...row.fields } });
  }
  return [...latest.values()].map((row) => {
    const f = row.fields["f"];
    // NaN is greater than all other numbers
    return typeof f === "number" ? { ...row, fields: { ...row.fields, computed: !(f <= 1) } } : row;
  });
}

const optionsOf = (columns: readonly ColumnDef[], below: (n: number) => number) => columns.filter(() => below(3) === 0);

describe("groups by values", () => {
  test.each(SEEDS)("seed %i", (seed) => {
    const below = prng(seed);
    const fields = [2, 3, 4, 5, 6].map((i) => ALL_TYPES[i]!);
    const chosen = optionsOf([...fields, IS_HIGH], below);
    const values = chosen.length === 0 ? [fields[below(5)]!] : chosen;
    const random = randomRows(below, { count: [1, 5, 900, 6000][below(4)]!, times: 5000, hosts: [1, 4, 400][below(3)]! });
    const rows = below(2) === 0 ? random : withNearIntegers(below, random);
    const raw = writeRun(arena, ALL_TYPES, rows);
    const merged = mergeRuns(kernel, [raw], ALL_TYPES);
    const request: AggregateRequest = {
      range: below(3) > 0 ? ALL_TIME : { minNs: BigInt(below(2500)), maxNs: BigInt(2500 + below(2500)) },
      tags: below(4) === 0 ? [{ columnId: 1, values: ["host-0", null] }] : [],
      fields: below(4) === 0 ? [{ columnId: 2, operator: ">", value: 1 }] : [],
      bins: below(3) > 0 ? null : { originNs: 3n, widthNs: [700n, 1n][below(2)]! },
      groupBy: optionsOf([ALL_TYPES[1]!, ALL_TYPES[7]!], below),
      values,
      aggregates: [
        { fn: "count", column: null },
        ...optionsOf(fields.slice(1), below).map((column) => ({ fn: "count", column }) as const),
        ...(below(2) === 0 ? [] : [{ fn: "max", column: ALL_TYPES[2]! } as const, { fn: "last", column: ALL_TYPES[2]! } as const]),
      ],
    };
    const used = kernel.heap.usedBytes;
    const options = { memoryBytesMax: 1 << 26, rowCountMax: rows.length };
    const aggregator = new Aggregator(kernel, request, { minNs: 0n, maxNs: 5000n }, options);
    const narrowed = narrowedRun(kernel, arena, merged);
    const run = below(4) === 0 ? { ...narrowed, sorted: false } : narrowed;
    if (!readsSeriesAndTimes(request) && request.tags.length === 0 && request.range === ALL_TIME) {
      // a reader leaves out what is not read
      const { seriesPtr: _, timePtr: __, dictionary: ___, ...partial } = run;
      expect(aggregator.add({ run: partial, selection: "all" })).toBe(true);
    } else expect(addOne(kernel, aggregator, run, request)).toBe(true);
    const found = aggregator.finish()!;
    expectGroups(readGroups(kernel, found, request), aggregateRows(latestRows(rows), request).groups, request);
    arena.free();
    merged.release();
    expect(kernel.heap.usedBytes).toBeLessThan(used);
  });

  test.each(SEEDS)("of which only rows are counted, seed %i", (seed) => {
    const below = prng(seed + 5000);
    const hosts = 1 + below(6);
    const base = [0n, -100n, 2n ** 40n][below(3)]!;
    const range = [1, 5, 256, 1000, 1030, 60_000][below(6)]!;
    const isPartial = below(2) === 0;
    // of a host enough rows to count values first
    const rows = Array.from({ length: [3, 4099, 17_000][below(3)]! }, (_, i): TestRow => {
      const value = i < 2 ? BigInt(i * range) : BigInt(below(range + 1));
      const isAbsent = isPartial && below(3) === 0;
      const fields = { f: i, i: isAbsent ? null : base + value, b: isAbsent ? null : below(2) === 0 };
      return { timeNs: BigInt(i), tags: { host: `host-${below(hosts)}` }, fields };
    });
    const run = mergeRuns(kernel, [writeRun(arena, ALL_TYPES, rows)], ALL_TYPES);
    const request: AggregateRequest = {
      ...{ range: ALL_TIME, tags: [], fields: [], bins: null },
      groupBy: below(2) === 0 ? [] : [ALL_TYPES[1]!],
      values: [ALL_TYPES[below(2) === 0 ? 3 : 6]!],
      aggregates: below(4) === 0 ? [] : [{ fn: "count", column: null }],
    };
    const aggregator = new Aggregator(kernel, request, { minNs: 0n, maxNs: 20_000n }, { memoryBytesMax: 1 << 26 });
    expect(addOne(kernel, aggregator, narrowedRun(kernel, arena, run), request)).toBe(true);
    expectGroups(readGroups(kernel, aggregator.finish()!, request), aggregateRows(rows, request).groups, request);
    run.release();
  });

  test("of several runs, in which values have other places", () => {
    const rows = (from: number, present: boolean): TestRow[] =>
      Array.from({ length: 3000 }, (_, i) => ({
        timeNs: BigInt(from + i),
        tags: { host: `host-${i % 3}` },
        fields: present ? { s: `level ${(from + i) % 7}`, i: BigInt(((from + i) % 5) * 1000) - 2000n } : { f: 1 },
      }));
    const request: AggregateRequest = {
      ...{ range: ALL_TIME, tags: [], fields: [], bins: null },
      groupBy: [ALL_TYPES[1]!],
      values: [ALL_TYPES[5]!, ALL_TYPES[3]!],
      aggregates: [{ fn: "count", column: null }],
    };
    const all = [rows(0, true), rows(10_001, false), rows(20_002, true)];
    const aggregator = new Aggregator(kernel, request, { minNs: 0n, maxNs: 30_000n }, { memoryBytesMax: 1 << 24 });
    for (const each of all) addOne(kernel, aggregator, writeRun(arena, ALL_TYPES, each), request);
    expectGroups(readGroups(kernel, aggregator.finish()!, request), aggregateRows(all.flat(), request).groups, request);
  });

  test("end where they are too many", () => {
    const rows = Array.from({ length: 5000 }, (_, i): TestRow => ({ timeNs: BigInt(i), tags: {}, fields: { i: BigInt(i) } }));
    const run = writeRun(arena, ALL_TYPES, rows);
    const request: AggregateRequest = {
      ...{ range: ALL_TIME, tags: [], fields: [], bins: null, groupBy: [], values: [ALL_TYPES[3]!] },
      aggregates: [{ fn: "count", column: null }],
    };
    const used = kernel.heap.usedBytes;
    const isFine = (limits: { groupsMax?: number; memoryBytesMax?: number }) => {
      const { groupsMax = 5000, memoryBytesMax = 1 << 24 } = limits;
      const aggregator = new Aggregator(kernel, { ...request, groupsMax }, { minNs: 0n, maxNs: 5000n }, { memoryBytesMax });
      addOne(kernel, aggregator, run, request);
      const found = aggregator.finish();
      found?.close();
      return found !== null;
    };
    expect(isFine({})).toBe(true);
    expect(isFine({ groupsMax: 4999 })).toBe(false);
    expect(isFine({ memoryBytesMax: 1 << 16 })).toBe(false);
    expect(kernel.heap.usedBytes).toBe(used);
  });

  test("take no more text than they may, however long one block's is", () => {
    const rows = Array.from(
      { length: 4000 },
      (_, i): TestRow => ({ timeNs: BigInt(i), tags: {}, fields: { s: `${i} `.padEnd(10_000, "x") } }),
    );
    const run = writeRun(arena, ALL_TYPES, rows);
    const request: AggregateRequest = {
      ...{ range: ALL_TIME, tags: [], fields: [], bins: null, groupBy: [], values: [ALL_TYPES[5]!] },
      aggregates: [{ fn: "count", column: null }],
    };
    const used = kernel.heap.usedBytes;
    const aggregator = new Aggregator(kernel, request, { minNs: 0n, maxNs: 5000n }, { memoryBytesMax: 1 << 20 });
    expect(addOne(kernel, aggregator, run, request)).toBe(false);
    expect(kernel.heap.usedBytes - used).toBeLessThan(6 << 20);
    expect(aggregator.finish()).toBeNull();
    expect(kernel.heap.usedBytes).toBe(used);
  });

  test("end early where most rows have a value of their own", () => {
    const isFine = (count: number, eighths: (i: number) => number, groupsMax?: number) => {
      const rows = Array.from({ length: count }, (_, i): TestRow => ({ timeNs: BigInt(i), tags: {}, fields: { f: eighths(i) / 8 } }));
      const request: AggregateRequest = {
        ...{ range: ALL_TIME, tags: [], fields: [], bins: null, groupBy: [], values: [ALL_TYPES[2]!] },
        aggregates: [{ fn: "count", column: null }],
        ...(groupsMax === undefined ? {} : { groupsMax }),
      };
      const aggregator = new Aggregator(kernel, request, { minNs: 0n, maxNs: BigInt(count) }, { memoryBytesMax: 1 << 26 });
      addOne(kernel, aggregator, writeRun(arena, ALL_TYPES, rows), request);
      const found = aggregator.finish();
      found?.close();
      return found !== null;
    };
    const own = (i: number) => i;
    expect(isFine(16_384, own, 100_000)).toBe(true);
    expect(isFine(40_000, own, 100_000)).toBe(false);
    expect(isFine(40_000, own)).toBe(true);
    expect(isFine(318_000, (i) => (i < 300_000 ? i % 100 : i), 100_000)).toBe(true);
  });
});
