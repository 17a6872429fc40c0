// Numbers of rows that satisfy predicates, counted without a list of them: the same as of rows that are judged one by one.
import { afterEach, describe, expect, test } from "bun:test";
import { type Below, prng } from "../../../test/support/prng.ts";
import { isHiddenRow, isWanted, randomFields, randomTags, randomTombstones } from "../../../test/support/rows/naive-scan.ts";
import { narrowedRun, withNearIntegers } from "../../../test/support/rows/narrow-run.ts";
import { ALL_TYPES, randomRows } from "../../../test/support/rows/random-rows.ts";
import { Arena, readRun, type TestRow, writeRun } from "../../../test/support/rows/rows.ts";
import { openOne } from "../../../test/support/rows/run-scan.ts";
import { drain } from "../../../test/support/rows/scan-rows.ts";
import type { AggregateRequest } from "../../model/query/aggregate.ts";
import type { FieldExpression } from "../../model/query/field-expression.ts";
import { ALL_TIME, type FieldPredicate } from "../../model/query/scan.ts";
import { TIME_COLUMN } from "../../model/rows/column.ts";
import type { PartialRun, Run } from "../../model/rows/run.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import { Aggregator } from "../aggregate/aggregate.ts";
import { Kernel } from "../memory/kernel.ts";
import { SeriesFilter } from "../series/series-filter.ts";
import { HiddenRows } from "./hidden-rows.ts";
import { RowSelection, type SelectedRun } from "./row-selection.ts";
import { mergeRuns } from "./run-merge.ts";

const SEEDS = Array.from({ length: 80 * Number(process.env["ROUNDS"] ?? 1) }, (_, i) => i + 1);
const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

const constant = (value: bigint): FieldExpression => ({ kind: "constant", type: "integer", value });

type Wanted = Pick<AggregateRequest, "range" | "tags"> & { readonly fields: readonly FieldPredicate[] };

function requestOf(wanted: Wanted): AggregateRequest {
  return { ...wanted, bins: null, groupBy: [], aggregates: [{ fn: "count", column: null }] };
}

/** What `SELECT count(*)` with these conditions finds in one run; a number of rows that is not there is 0. */
function counted(wanted: Wanted, select: (aggregator: Aggregator) => void): number {
  const aggregator = new Aggregator(kernel, requestOf(wanted), { minNs: 0n, maxNs: 20_000n }, { memoryBytesMax: 1 << 24 });
  try {
    select(aggregator);
    const cursor = aggregator.finish()!;
    const chunk = cursor.next();
    const count = chunk === null ? 0 : Number(kernel.i64[chunk.columns[0]!.dataPtr / 8]!);
    cursor.close();
    return count;
  } finally {
    aggregator.release();
  }
}

function countSelected(run: Run, wanted: Wanted, tombstones: readonly Tombstone[]): number {
  const filter = new SeriesFilter(kernel, wanted.tags);
  const hidden = new HiddenRows(kernel, tombstones);
  try {
    return counted(wanted, (aggregator) => aggregator.add({ run, selection: { range: wanted.range, filter, hidden } }));
  } finally {
    hidden.release();
    filter.release();
  }
}

/** All rows of a run of which a reader has left out series and times. */
function whole({ seriesPtr: _, timePtr: __, dictionary: ___, ...run }: Run): SelectedRun {
  return { run: run satisfies PartialRun, selection: "all" };
}

const countOf = (rows: readonly TestRow[], wanted: Wanted) => rows.filter((row) => isWanted(row, wanted)).length;

function randomWanted(below: Below): Wanted {
  const minNs = BigInt(below(4000));
  return {
    range: below(2) === 0 ? ALL_TIME : { minNs, maxNs: minNs + BigInt(below(6000)) },
    tags: below(2) === 0 ? [] : randomTags(below),
    fields: below(6) === 0 ? [] : randomFields(below),
  };
}

describe("values of rows are counted", () => {
  test.each(SEEDS)("over several runs, seed %i", (seed) => {
    const below = prng(seed + 500);
    const rows = [900, 3, 2000].map((count) => randomRows(below, { count, times: 9000, hosts: 2 }));
    const runs = rows.map((some, i) => mergeRuns(kernel, [writeRun(arena, ALL_TYPES, some, { seqMin: i + 1 })], ALL_TYPES));
    const fields = [2, 3, 4, 5, 6].map((i) => ALL_TYPES[i]!);
    const columns = fields.filter(() => below(2) === 0);
    const wanted = { range: ALL_TIME, tags: [], fields: below(5) === 0 ? [] : randomFields(below) };
    const aggregates = [null, ...columns].map((column) => ({ fn: "count", column }) as const);
    const request: AggregateRequest = { ...wanted, bins: null, groupBy: [], aggregates };
    const aggregator = new Aggregator(kernel, request, { minNs: 0n, maxNs: 20_000n }, { memoryBytesMax: 1 << 24 });
    for (const run of runs) aggregator.add(whole(narrowedRun(kernel, arena, run)));
    const cursor = aggregator.finish()!;
    const chunk = cursor.next();
    const found = aggregates.map((_, i) => (chunk === null ? 0 : Number(kernel.i64[chunk.columns[i]!.dataPtr / 8]!)));
    cursor.close();
    const kept = runs.flatMap((run) => readRun(kernel, ALL_TYPES, run)).filter((row) => isWanted(row, wanted));
    expect(found).toEqual(
      aggregates.map(({ column }) => kept.filter(({ fields: values }) => column === null || (values[column.name] ?? null) !== null).length),
    );
    for (const run of runs) run.release();
  });
});

describe("rows are counted", () => {
  test.each(SEEDS)("as one by one, seed %i", (seed) => {
    const below = prng(seed);
    const count = [1, 15, 16, 17, 900, 1024, 1025, 5000][below(8)]!;
    const random = randomRows(below, { count, times: 9000, hosts: [1, 3, 300][below(3)]! });
    const raw = writeRun(arena, ALL_TYPES, below(2) === 0 ? random : withNearIntegers(below, random), { seqMin: 3, seqMax: 5 });
    const merged = mergeRuns(kernel, [raw], ALL_TYPES);
    const runs = [raw, narrowedRun(kernel, arena, raw), merged, narrowedRun(kernel, arena, merged)];
    for (let round = 0; round < 8; round++) {
      const wanted = randomWanted(below);
      const tombstones = below(3) > 0 ? [] : randomTombstones(below, { count: 1 + below(4), sequences: 8, times: 9000 });
      const before = kernel.heap.usedBytes;
      for (const run of runs) {
        const rows = readRun(kernel, ALL_TYPES, run.sorted ? merged : raw);
        const visible = rows.filter((row) => !isHiddenRow(row, run.seqMax, tombstones));
        expect(countSelected(run, wanted, tombstones)).toBe(countOf(visible, wanted));
        const ofAll = { ...wanted, range: ALL_TIME, tags: [] };
        expect(counted(ofAll, (aggregator) => aggregator.add(whole(run)))).toBe(countOf(rows, ofAll));
      }
      expect(kernel.heap.usedBytes).toBe(before);
    }
    merged.release();
  });

  test("of several conditions that are false of different rows", () => {
    const rows = Array.from(
      { length: 3000 },
      (_, i): TestRow => ({
        timeNs: BigInt(i),
        tags: {},
        // every third integer is absent, every fifth text
        fields: { i: i % 3 === 0 ? null : BigInt(i % 100), f: i / 2, s: i % 5 === 0 ? null : `level ${i % 4}`, b: i % 7 === 0 },
      }),
    );
    const run = narrowedRun(kernel, arena, writeRun(arena, ALL_TYPES, rows));
    const id = (name: string) => ALL_TYPES.find((column) => column.name === name)!.id;
    const fields: FieldPredicate[] = [
      { columnId: id("i"), operator: ">=", value: 50n },
      { columnId: id("f"), operator: "<", value: 1200 },
      { columnId: id("s"), operator: "in", values: ["level 1", "level 3"] },
      { columnId: id("b"), operator: "=", value: false },
    ];
    const expected = rows.filter((_, i) => i % 3 !== 0 && i % 100 >= 50 && i < 2400 && i % 5 !== 0 && i % 2 === 1 && i % 7 !== 0).length;
    expect(expected).toBeGreaterThan(100);
    expect(counted({ range: ALL_TIME, tags: [], fields }, (aggregator) => aggregator.add(whole(run)))).toBe(expected);
  });

  test.each([1, 3, 15, 16, 100, 1024, 2048])("listed at most %i at a time, each is there once", (max) => {
    const below = prng(max);
    const hosts = 4;
    // ranges of rows that are long and short
    const rows = Array.from({ length: 5000 }, (_, i): TestRow => {
      const host = i < 90 ? 0 : i < 150 ? 1 : i < 152 ? 2 : hosts - 1;
      return { timeNs: BigInt(i), tags: { host: `host-${host}` }, fields: { i: BigInt(below(12)), b: i % 5 > 0 } };
    });
    const run = mergeRuns(kernel, [writeRun(arena, ALL_TYPES, rows)], ALL_TYPES);
    const fields: FieldPredicate[] = [
      { columnId: 3, operator: ">=", value: 5n },
      { columnId: 6, operator: "=", value: true },
    ];
    const filter = new SeriesFilter(kernel, []);
    const selection = RowSelection.open(kernel, { run, selection: { range: { minNs: 3n, maxNs: 4990n }, filter } }, fields) as RowSelection;
    const ptr = arena.alloc(max * 4 + 16);
    const found: number[] = [];
    for (let count: number = max; count === max; ) {
      kernel.u32.fill(0xabcdef, ptr / 4, ptr / 4 + max + 4);
      count = selection.next(ptr, max);
      found.push(...kernel.u32.subarray(ptr / 4, ptr / 4 + count));
      // nothing is written behind the list
      expect([...kernel.u32.subarray(ptr / 4 + max, ptr / 4 + max + 4)]).toEqual([0xabcdef, 0xabcdef, 0xabcdef, 0xabcdef]);
    }
    selection.release();
    filter.release();
    // hosts are numbered as they appear, so that the run has the order of the rows
    const expected = rows.flatMap(({ fields: { i, b } }, row) =>
      row >= 3 && row <= 4990 && (i as bigint) >= 5n && b === true ? [row] : [],
    );
    expect(found).toEqual(expected);
    run.release();
  });

  test.each([2, 63, 64, 1500])("a condition cannot fail in %i rows that those before it leave out", (count) => {
    const rows = Array.from(
      { length: count },
      (_, i): TestRow => ({ timeNs: BigInt(i), tags: {}, fields: { i: i === 1 ? 7n : 2n ** 62n } }),
    );
    const raw = writeRun(arena, ALL_TYPES, rows);
    const merged = mergeRuns(kernel, [raw], ALL_TYPES);
    const i: FieldExpression = { kind: "column", type: "integer", columnId: 3 };
    const product: FieldExpression = { kind: "call", type: "integer", operator: "*", operands: [i, i] };
    const expression: FieldExpression = { kind: "call", type: "boolean", operator: "=", operands: [product, constant(49n)] };
    const condition: FieldPredicate = { operator: "true", expression };
    const small: FieldPredicate = { columnId: 3, operator: "<", value: 2n ** 62n };
    for (const run of [raw, merged, narrowedRun(kernel, arena, merged)]) {
      const wanted: Wanted = { range: ALL_TIME, tags: [], fields: [small, condition] };
      expect(countSelected(run, wanted, [])).toBe(1);
      expect(drain(kernel, openOne(kernel, run, { ...wanted, columns: [TIME_COLUMN] }), [TIME_COLUMN])).toEqual([[1n]]);
      expect(() => countSelected(run, { ...wanted, fields: [condition, small] }, [])).toThrow("64-bit");
    }
    merged.release();
  });

  test("an integer that leaves 64 bits is an error, in a row that is selected", () => {
    const large = 2n ** 63n - 1n;
    const rows = [1n, large, 3n].map((i, row): TestRow => ({ timeNs: BigInt(row), tags: {}, fields: { i } }));
    const run = mergeRuns(kernel, [writeRun(arena, ALL_TYPES, rows)], ALL_TYPES);
    const i: FieldExpression = { kind: "column", type: "integer", columnId: 3 };
    const sum: FieldExpression = { kind: "call", type: "integer", operator: "+", operands: [i, constant(1n)] };
    const expression: FieldExpression = { kind: "call", type: "boolean", operator: "<", operands: [constant(2n), sum] };
    const wanted: Wanted = { range: ALL_TIME, tags: [], fields: [{ operator: "true", expression }] };
    expect(() => countSelected(run, wanted, [])).toThrow("64-bit");
    expect(() => counted(wanted, (aggregator) => aggregator.add(whole(run)))).toThrow("64-bit");
    expect(countSelected(run, { ...wanted, range: { minNs: 2n, maxNs: 9n } }, [])).toBe(1);
    run.release();
  });
});
