// Numbers of rows that satisfy predicates, counted without a list of them: the same as of rows that are judged one by one.
import { afterEach, describe, expect, test } from "bun:test";
import { type Below, prng } from "../../../test/support/prng.ts";
import { isHiddenRow, isWanted, randomFields, randomTags, randomTombstones } from "../../../test/support/rows/naive-scan.ts";
import { narrowedRun, withNearIntegers } from "../../../test/support/rows/narrow-run.ts";
import { ALL_TYPES, randomRows } from "../../../test/support/rows/random-rows.ts";
import { Arena, readRun, type TestRow, writeRun } from "../../../test/support/rows/rows.ts";
import type { AggregateRequest } from "../../model/query/aggregate.ts";
import type { FieldExpression } from "../../model/query/field-expression.ts";
import { ALL_TIME, type FieldPredicate } from "../../model/query/scan.ts";
import type { PartialRun, Run } from "../../model/rows/run.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import { Aggregator } from "../aggregate/aggregate.ts";
import { Kernel } from "../memory/kernel.ts";
import { SeriesFilter } from "../series/series-filter.ts";
import { HiddenRows } from "./hidden-rows.ts";
import type { SelectedRun } from "./row-selection.ts";
import { mergeRuns } from "./run-merge.ts";

const SEEDS = Array.from({ length: 80 * Number(process.env["ROUNDS"] ?? 1) }, (_, i) => i + 1);
const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

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

  test("an integer that leaves 64 bits is an error, in a row that is selected", () => {
    const large = 2n ** 63n - 1n;
    const rows = [1n, large, 3n].map((i, row): TestRow => ({ timeNs: BigInt(row), tags: {}, fields: { i } }));
    const run = mergeRuns(kernel, [writeRun(arena, ALL_TYPES, rows)], ALL_TYPES);
    const i: FieldExpression = { kind: "column", type: "integer", columnId: 3 };
    const constant = (value: bigint): FieldExpression => ({ kind: "constant", type: "integer", value });
    const sum: FieldExpression = { kind: "call", type: "integer", operator: "+", operands: [i, constant(1n)] };
    const expression: FieldExpression = { kind: "call", type: "boolean", operator: "<", operands: [constant(2n), sum] };
    const wanted: Wanted = { range: ALL_TIME, tags: [], fields: [{ operator: "true", expression }] };
    expect(() => countSelected(run, wanted, [])).toThrow("64-bit");
    expect(() => counted(wanted, (aggregator) => aggregator.add(whole(run)))).toThrow("64-bit");
    expect(countSelected(run, { ...wanted, range: { minNs: 2n, maxNs: 9n } }, [])).toBe(1);
    run.release();
  });
});
