// Exact selection of rows: field predicates and deletions, in scans of single runs, in merges, and in whole scans; compared with judging
// row by row.
import { afterEach, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import {
  isHiddenRow,
  isWanted,
  mergeRows,
  randomFields,
  randomTags,
  randomTombstones,
  satisfies,
} from "../../../test/support/rows/naive-scan.ts";
import { narrowedRun } from "../../../test/support/rows/narrow-run.ts";
import { ALL_TYPES, randomRows } from "../../../test/support/rows/random-rows.ts";
import { Arena, readRun, type TestRow, writeRun } from "../../../test/support/rows/rows.ts";
import { openOne, openScan } from "../../../test/support/rows/run-scan.ts";
import { drain, project, type RowValues } from "../../../test/support/rows/scan-rows.ts";
import { ALL_TIME, type ComparisonOperator, type FieldComparison, type FieldPredicate, type ScanRequest } from "../../model/query/scan.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../model/rows/column.ts";
import type { Run } from "../../model/rows/run.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import { Kernel } from "../memory/kernel.ts";
import { HiddenRows } from "./hidden-rows.ts";
import { mergeRuns } from "./run-merge.ts";

const SEEDS = Array.from({ length: Number(process.env["ROUNDS"] ?? 1) }, (_, i) => i + 1);
const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;
const U64_MAX = 2n ** 64n - 1n;
const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

const show = (values: RowValues) => values.map((value) => (Object.is(value, -0) ? "-0" : `${typeof value} ${value}`)).join("|");
const sorted = (rows: RowValues[]) => rows.map(show).toSorted();

/** Scans one run and compares with judging its rows in their order. */
function check(run: Run, request: ScanRequest, tombstones: readonly Tombstone[] = []): void {
  const before = kernel.heap.usedBytes;
  const expected = readRun(kernel, ALL_TYPES, run).filter((row) => isWanted(row, request) && !isHiddenRow(row, run.seqMax, tombstones));
  const hidden = new HiddenRows(kernel, tombstones);
  const found = drain(kernel, openOne(kernel, run, request, hidden), request.columns);
  hidden.release();
  expect(found).toEqual(expected.map((row) => project(request.columns, row)));
  expect(kernel.heap.usedBytes).toBe(before);
}

function randomRequest(below: (n: number) => number): ScanRequest {
  const minNs = BigInt(below(110) - 5);
  const ranges = [ALL_TIME, { minNs, maxNs: minNs + BigInt(below(60)) }, { minNs: I64_MIN, maxNs: 50n }, { minNs: 50n, maxNs: I64_MAX }];
  return {
    columns: ALL_TYPES.filter(() => below(3) > 0),
    range: ranges[below(4)]!,
    tags: randomTags(below),
    fields: below(2) === 0 ? [] : randomFields(below),
  };
}

const OPERATORS: readonly ComparisonOperator[] = ["=", "!=", "<", "<=", ">", ">="];

describe("field predicates", () => {
  const EDGES: [
    name: string,
    columnId: number,
    type: ColumnType,
    values: (number | bigint | boolean)[],
    constants: (number | bigint | boolean)[],
  ][] = [
    [
      "float",
      2,
      ColumnType.float,
      [0, -0, 1.5, -1.5, 5e-324, Number.MAX_VALUE, Infinity, -Infinity, Number.NaN],
      [0, -0, 1.5, 5e-324, Infinity, -Infinity, Number.NaN, 7],
    ],
    ["integer", 3, ColumnType.integer, [0n, -1n, 1n, I64_MIN, I64_MAX], [0n, -1n, I64_MIN, I64_MAX, I64_MIN - 1n, I64_MAX + 1n, U64_MAX]],
    ["unsigned", 4, ColumnType.unsigned, [0n, 1n, 2n ** 63n, U64_MAX], [0n, 1n, 2n ** 63n - 1n, 2n ** 63n, U64_MAX, -1n, U64_MAX + 1n]],
    ["boolean", 6, ColumnType.boolean, [true, false], [true, false]],
  ];

  test.each(EDGES)("%s: every operator at the edges", (name, columnId, type, values, constants) => {
    const column: ColumnDef = { id: columnId, name: "x", type };
    const columns = [TIME_COLUMN, column];
    const rows = [null, ...values].map((value, i): TestRow => ({ timeNs: BigInt(i), tags: {}, fields: { x: value } }));
    const run = writeRun(arena, columns, rows);
    for (const operator of OPERATORS) {
      for (const constant of constants) {
        const fields: FieldComparison[] = [{ columnId, operator, value: constant }];
        const found = drain(kernel, openOne(kernel, run, { columns, range: ALL_TIME, tags: [], fields }), columns);
        const expected = rows.filter((row) => satisfies(row.fields["x"]!, fields[0]!)).map((row) => project(columns, row));
        expect([name, operator, constant, found]).toEqual([name, operator, constant, expected]);
      }
    }
  });

  test("the naive comparison itself, where it is easy to get wrong", () => {
    const NAN = Number.NaN;
    const CASES: [value: number | null, operator: ComparisonOperator, constant: number, expected: boolean][] = [
      [NAN, "=", NAN, true],
      [NAN, ">", Infinity, true],
      [NAN, "<", Infinity, false],
      [1, "<", NAN, true],
      [NAN, "<=", NAN, true],
      [NAN, "!=", 1, true],
      [-0, "=", 0, true],
      [null, "!=", 1, false],
    ];
    for (const [value, operator, constant, expected] of CASES) {
      expect([value, operator, constant, satisfies(value, { columnId: 2, operator, value: constant })]).toEqual([
        value,
        operator,
        constant,
        expected,
      ]);
    }
  });

  test("chunks are full although few rows pass", () => {
    const columns = ALL_TYPES.filter(({ name }) => ["time", "i"].includes(name));
    const rows = Array.from({ length: 60_000 }, (_, i): TestRow => ({ timeNs: BigInt(i), tags: {}, fields: { i: BigInt(i % 20), f: i } }));
    const run = writeRun(arena, ALL_TYPES, rows);
    const request: ScanRequest = { columns, range: ALL_TIME, tags: [], fields: [{ columnId: 3, operator: "=", value: 7n }] };
    for (const sortedRun of [false, true]) {
      const cursor = openOne(kernel, { ...run, sorted: sortedRun }, request);
      const counts: number[] = [];
      for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) counts.push(chunk.rowCount);
      cursor.close();
      expect(counts).toEqual([2048, 952]);
    }
  });

  test("a predicate of another type than the column's is a bug", () => {
    const run = writeRun(arena, ALL_TYPES, [{ timeNs: 1n, tags: {}, fields: { i: 1n } }]);
    const fields: FieldPredicate[] = [{ columnId: 3, operator: "=", value: 1 }];
    const before = kernel.heap.usedBytes;
    expect(() => openOne(kernel, run, { columns: ALL_TYPES, range: ALL_TIME, tags: [], fields })).toThrow("BUG");
    expect(kernel.heap.usedBytes).toBe(before);
  });
});

describe("integers in fewer bytes", () => {
  const KINDS = [
    { columnId: 3, name: "i", base: -100n },
    { columnId: 3, name: "i", base: I64_MIN },
    { columnId: 3, name: "i", base: I64_MAX - 70_000n },
    { columnId: 4, name: "u", base: 0n },
    { columnId: 4, name: "u", base: 2n ** 63n - 50n },
    { columnId: 4, name: "u", base: U64_MAX - 70_000n },
    // these go on at the other end
    { columnId: 3, name: "i", base: I64_MAX - 10n },
    { columnId: 4, name: "u", base: U64_MAX - 10n },
    { columnId: 4, name: "u", base: U64_MAX },
  ];

  test.each(KINDS)("of $name from $base: every operator, of adjacent rows and of others", ({ columnId, name, base }) => {
    const below = prng(7);
    const within = (value: bigint) => (name === "i" ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value));
    for (const range of [1n, 255n, 65_535n, 70_000n]) {
      for (const isSparse of [false, true]) {
        const rows = Array.from({ length: 100 }, (_, i): TestRow => {
          const value = within(i === 0 ? base : i === 1 ? base + range : base + (range * BigInt(below(1001))) / 1000n);
          return { timeNs: BigInt(i), tags: { host: `h${below(2)}` }, fields: { [name]: isSparse && below(3) === 0 ? null : value } };
        });
        const run = narrowedRun(kernel, arena, writeRun(arena, ALL_TYPES, rows));
        const constants = [base, base + 1n, base + range / 2n, base + range, base + range + 1n, base - 1n, 0n, 5n, -5n].map(within);
        for (const operator of OPERATORS) {
          for (const value of constants) {
            const comparison: FieldComparison = { columnId, operator, value };
            // after another condition rows are not adjacent
            for (const others of [[], [{ columnId: 1, values: ["h0"] }]]) {
              const fields: FieldPredicate[] = others.length === 0 ? [comparison] : [comparison, comparison];
              const request = { columns: [TIME_COLUMN], range: ALL_TIME, tags: others, fields };
              const found = drain(kernel, openOne(kernel, run, request), [TIME_COLUMN]).map(([time]) => time);
              const expected = rows.filter((row) => isWanted(row, { ...request, tags: others }, ALL_TYPES)).map(({ timeNs }) => timeNs);
              expect([operator, value, range, found]).toEqual([operator, value, range, expected]);
            }
          }
        }
      }
    }
  });
});

describe("one run", () => {
  test.each(SEEDS)("agrees with judging row by row, seed %i", (seed) => {
    const below = prng(seed);
    for (const count of [1, 9, 900]) {
      const raw = writeRun(arena, ALL_TYPES, randomRows(below, { count, times: 100, hosts: [1, 9, 200][below(3)]! }), {
        seqMin: 3,
        seqMax: 5,
      });
      const merged = mergeRuns(kernel, [raw], ALL_TYPES);
      for (let round = 0; round < 15; round++) {
        const tombstones = randomTombstones(below, { count: below(5), sequences: 8, times: 100 });
        const request = randomRequest(below);
        check(raw, request, tombstones);
        check(merged, request, tombstones);
      }
      merged.release();
    }
  });

  const ALL: ScanRequest = { columns: ALL_TYPES, range: ALL_TIME, tags: [] };
  const tombstone = (minNs: bigint, maxNs: bigint, extra: Partial<Tombstone> = {}): Tombstone => ({
    id: 1,
    tableId: 1,
    sequence: 9,
    range: { minNs, maxNs },
    tags: [],
    ...extra,
  });
  const TIMES = [I64_MIN, -5n, -1n, 0n, 1n, 5n, I64_MAX];

  test.each([
    ["no tombstone", []],
    ["all times", [tombstone(I64_MIN, I64_MAX)]],
    ["all times, by three overlapping tombstones", [tombstone(0n, 5n), tombstone(I64_MIN, 0n), tombstone(2n, I64_MAX)]],
    ["the ends", [tombstone(I64_MIN, I64_MIN), tombstone(I64_MAX, I64_MAX)]],
    ["a gap inside another", [tombstone(-1n, 1n), tombstone(-5n, 5n)]],
    ["steps that end where the next begins", [tombstone(0n, 1n), tombstone(-1n, -1n), tombstone(2n, 5n)]],
    ["an empty range", [tombstone(5n, -5n)]],
    ["one host", [tombstone(I64_MIN, I64_MAX, { tags: [{ columnId: 1, values: ["a"] }] })]],
    ["every host, by name", [tombstone(I64_MIN, I64_MAX, { tags: [{ columnId: 1, values: ["a", "b"] }] })]],
    ["older than the run", [tombstone(I64_MIN, I64_MAX, { sequence: 1 })]],
    ["as old as its latest row", [tombstone(0n, 1n, { sequence: 2 })]],
  ])("rows hidden by tombstones: %s", (_, tombstones) => {
    const rows = ["a", "b"].flatMap((host) => TIMES.map((timeNs): TestRow => ({ timeNs, tags: { host }, fields: { f: 1 } })));
    const run = writeRun(arena, ALL_TYPES, rows, { seqMin: 1, seqMax: 2 });
    for (const sortedRun of [false, true]) {
      check({ ...run, sorted: sortedRun }, ALL, tombstones);
      check({ ...run, sorted: sortedRun }, { ...ALL, range: { minNs: -5n, maxNs: 1n } }, tombstones);
    }
  });

  test("a run that is hidden whole says so", () => {
    const run = writeRun(arena, ALL_TYPES, [{ timeNs: 1n, tags: { host: "a" }, fields: { f: 1 } }], { seqMin: 1, seqMax: 2 });
    const hidden = new HiddenRows(kernel, [tombstone(0n, 3n, { tags: [{ columnId: 1, values: ["a"] }] }), tombstone(2n, 3n)]);
    expect(hidden.of(run)).toBe("all");
    expect(hidden.of({ ...run, minTimeNs: -1n })).toHaveLength(1);
    expect(hidden.of({ ...run, seqMax: 10 })).toEqual([]);
    hidden.release();
  });
});

describe("merging", () => {
  /** Parts of a log, as runs with their sequences. */
  function log(below: (n: number) => number, parts: number): { runs: Run[]; rows: { row: TestRow; sequence: number }[] } {
    const runs: Run[] = [];
    const rows: { row: TestRow; sequence: number }[] = [];
    for (let part = 1; part <= parts; part++) {
      const some = randomRows(below, { count: 1 + below(80), times: 40, hosts: 4 });
      const raw = writeRun(arena, ALL_TYPES, some, { seqMin: part });
      runs.push(below(2) === 0 ? raw : { ...mergeRuns(kernel, [raw], ALL_TYPES), unique: false });
      rows.push(...some.map((row) => ({ row, sequence: part })));
    }
    return { runs, rows };
  }

  test.each(SEEDS)("hidden rows do not take part, seed %i", (seed) => {
    const below = prng(seed);
    const { runs, rows } = log(below, 6);
    for (let round = 0; round < 12; round++) {
      const tombstones = randomTombstones(below, { count: below(5), sequences: 7, times: 40 });
      const { range, tags } = randomRequest(below);
      const visible = rows.filter(({ row, sequence }) => !isHiddenRow(row, sequence, tombstones)).map(({ row }) => row);
      const expected = mergeRows(visible).filter((row) => isWanted(row, { range, tags }));
      const hidden = new HiddenRows(kernel, tombstones);
      const merged = mergeRuns(kernel, runs, ALL_TYPES, { range, tags, hidden });
      const found = readRun(kernel, ALL_TYPES, merged);
      merged.release();
      hidden.release();
      expect(sorted(found.map((row) => project(ALL_TYPES, row)))).toEqual(sorted(expected.map((row) => project(ALL_TYPES, row))));
    }
  });

  test.each(SEEDS)("a whole scan judges fields after merging, seed %i", (seed) => {
    const below = prng(seed);
    const { runs, rows } = log(below, 5);
    for (let round = 0; round < 12; round++) {
      const tombstones = randomTombstones(below, { count: below(4), sequences: 6, times: 40 });
      const request = randomRequest(below);
      const visible = rows.filter(({ row, sequence }) => !isHiddenRow(row, sequence, tombstones)).map(({ row }) => row);
      const expected = mergeRows(visible).filter((row) => isWanted(row, request));
      const hidden = new HiddenRows(kernel, tombstones);
      const found = drain(kernel, openScan(kernel, runs, request, hidden), request.columns);
      hidden.release();
      expect(sorted(found)).toEqual(sorted(expected.map((row) => project(request.columns, row))));
    }
  });
});

describe("the newest row of every series", () => {
  const seriesOf = (row: TestRow) => JSON.stringify([row.tags["host"] ?? null, row.tags["region"] ?? null]);

  /** Later rows win at equal times. */
  function newest(rows: readonly TestRow[]): TestRow[] {
    const best = new Map<string, TestRow>();
    for (const row of rows) {
      const known = best.get(seriesOf(row));
      if (known === undefined || row.timeNs >= known.timeNs) best.set(seriesOf(row), row);
    }
    return [...best.values()];
  }

  function checkNewest(run: Run, request: ScanRequest, tombstones: readonly Tombstone[]): void {
    const before = kernel.heap.usedBytes;
    const rows = readRun(kernel, ALL_TYPES, run).filter((row) => isWanted(row, request) && !isHiddenRow(row, run.seqMax, tombstones));
    const hidden = new HiddenRows(kernel, tombstones);
    const found = drain(kernel, openOne(kernel, run, { ...request, newestOnly: true }, hidden), request.columns);
    hidden.release();
    const expected = (request.fields ?? []).length > 0 ? rows : newest(rows);
    expect(sorted(found)).toEqual(sorted(expected.map((row) => project(request.columns, row))));
    expect(kernel.heap.usedBytes).toBe(before);
  }

  test.each(SEEDS)("agrees with looking at every row, seed %i", (seed) => {
    const below = prng(seed);
    for (const count of [1, 30, 900, 5000]) {
      const rows = randomRows(below, { count, times: 100, hosts: [1, 9, 3000][below(3)]! });
      const raw = writeRun(arena, ALL_TYPES, rows, { seqMin: 3, seqMax: 5 });
      const merged = mergeRuns(kernel, [raw], ALL_TYPES);
      // rows of each series ascend in time, as in a segment in which nothing is late
      const log = readRun(kernel, ALL_TYPES, merged).toSorted((a, b) => (a.timeNs < b.timeNs ? -1 : a.timeNs > b.timeNs ? 1 : 0));
      const ascending = writeRun(arena, ALL_TYPES, log, { seqMin: 3, seqMax: 5, unique: true, ascending: true });
      for (let round = 0; round < 10; round++) {
        const tombstones = randomTombstones(below, { count: below(4), sequences: 8, times: 100 });
        const request = randomRequest(below);
        for (const run of [raw, merged, ascending]) checkNewest(run, request, tombstones);
      }
      merged.release();
    }
  });

  test("a whole scan merges before it looks for the newest", () => {
    const tags = { host: "a" };
    const early = writeRun(arena, ALL_TYPES, [
      { timeNs: 1n, tags, fields: { i: 1n } },
      { timeNs: 2n, tags, fields: { i: 2n, f: 0.5 } },
    ]);
    const late = writeRun(arena, ALL_TYPES, [{ timeNs: 2n, tags, fields: { i: 3n } }], { seqMin: 2 });
    const columns = ALL_TYPES.filter(({ name }) => ["time", "i", "f"].includes(name));
    const request: ScanRequest = { columns, range: ALL_TIME, tags: [], newestOnly: true };
    expect(drain(kernel, openScan(kernel, [early, late], request), columns)).toEqual([[2n, 0.5, 3n]]);
  });
});
