// Scans compared with filtering and projecting rows one by one: sorted and unsorted runs, ranges, tag predicates, whole tables.
import { afterEach, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { ALL_TYPES, randomRows } from "../../../test/support/rows/random-rows.ts";
import { Arena, canonicalKey, readRun, type TestRow, type TestValue, writeBatch, writeRun } from "../../../test/support/rows/rows.ts";
import { openOne, openScan } from "../../../test/support/rows/run-scan.ts";
import { drain, project, type RowValues } from "../../../test/support/rows/scan-rows.ts";
import { ALL_TIME, type ScanRequest, type TagPredicate, type TimeRange } from "../../model/query/scan.ts";
import { RECLAIM_AT_ONCE } from "../../model/reclaimer.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../model/rows/column.ts";
import type { Run } from "../../model/rows/run.ts";
import { TableBuffer } from "../../storage/buffer/table-buffer.ts";
import { Kernel } from "../memory/kernel.ts";
import { SeriesDictionary } from "../series/series-dictionary.ts";
import { mergeRuns } from "./run-merge.ts";

const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;
const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

function matches(row: TestRow, { range, tags }: ScanRequest): boolean {
  if (row.timeNs < range.minNs || row.timeNs > range.maxNs) return false;
  return tags.every(({ columnId, values }) => values.includes(row.tags[ALL_TYPES.find(({ id }) => id === columnId)?.name ?? ""] ?? null));
}

/** Scans one run with and without a filter's help and compares with filtering its rows one by one, in their order. */
function check(run: Run, request: ScanRequest): void {
  const before = kernel.heap.usedBytes;
  const expected = readRun(kernel, ALL_TYPES, run).filter((row) => matches(row, request));
  const found = drain(kernel, openOne(kernel, run, request), request.columns);
  expect(found).toEqual(expected.map((row) => project(request.columns, row)));
  expect(kernel.heap.usedBytes).toBe(before);
}

function randomRequest(below: (n: number) => number): ScanRequest {
  const minNs = BigInt(below(120) - 10);
  const ranges: TimeRange[] = [
    ALL_TIME,
    { minNs, maxNs: minNs + BigInt(below(60)) },
    { minNs: I64_MIN, maxNs: 50n },
    { minNs: 50n, maxNs: I64_MAX },
  ];
  const hosts = Array.from({ length: below(8) }, () => (below(6) === 0 ? null : `host-${below(9)}`));
  const predicates: TagPredicate[][] = [
    [],
    [{ columnId: 1, values: hosts }],
    [
      { columnId: 1, values: hosts },
      { columnId: 7, values: ["a region with a long name", null] },
    ],
    [{ columnId: 9, values: below(2) === 0 ? [null] : ["x"] }], // a tag column that no row has
  ];
  const columns = ALL_TYPES.filter(() => below(3) > 0);
  return { columns: columns.toReversed(), range: ranges[below(4)]!, tags: predicates[below(4)]! };
}

const all = (columns: readonly ColumnDef[] = ALL_TYPES): ScanRequest => ({ columns, range: ALL_TIME, tags: [] });

describe("openRunCursor", () => {
  test.each([1, 2, 3, 4, 5, 6])("agrees with filtering row by row, unsorted, seed %i", (seed) => {
    const below = prng(seed);
    for (const count of [1, 7, 64, 1000]) {
      const run = writeRun(arena, ALL_TYPES, randomRows(below, { count, times: 100, hosts: 9 }));
      for (let round = 0; round < 12; round++) check(run, randomRequest(below));
    }
  });

  test.each([1, 2, 3, 4, 5, 6])("agrees with filtering row by row, sorted, seed %i", (seed) => {
    const below = prng(seed);
    for (const hosts of [1, 4, 200]) {
      const run = writeRun(arena, ALL_TYPES, randomRows(below, { count: 800, times: 100, hosts }));
      const merged = mergeRuns(kernel, [run], ALL_TYPES);
      for (let round = 0; round < 12; round++) check(merged, randomRequest(below));
      merged.release();
    }
  });

  test("chunks of a whole run point into it", () => {
    const rows = Array.from(
      { length: 5000 },
      (_, i): TestRow => ({ timeNs: BigInt(i), tags: {}, fields: { f: i, i: i % 3 === 0 ? null : 1n } }),
    );
    const run = writeRun(arena, ALL_TYPES, rows);
    const columns = ALL_TYPES.filter(({ name }) => ["time", "f", "i", "s"].includes(name));
    const cursor = openOne(kernel, run, all(columns));
    const [f, i] = run.columns;
    for (const [first, count] of [[0, 2048] as const, [2048, 2048] as const, [4096, 904] as const]) {
      expect(cursor.next()).toEqual({
        rowCount: count,
        columns: [
          { dataPtr: run.timePtr + first * 8, validityPtr: 0 },
          { dataPtr: f!.dataPtr + first * 8, validityPtr: 0 },
          { dataPtr: i!.dataPtr + first * 8, validityPtr: i!.validityPtr + first / 8 },
          { dataPtr: 0, validityPtr: 0 },
        ],
      });
    }
    expect(cursor.next()).toBeNull();
    cursor.close();
    check(run, all());
  });

  test("many chunks, selected from each end and between", () => {
    const rows = Array.from(
      { length: 9000 },
      (_, i): TestRow => ({ timeNs: BigInt(i), tags: { host: `host-${i % 3}` }, fields: { i: i % 5 === 0 ? null : BigInt(i) } }),
    );
    const columns = ALL_TYPES.filter(({ name }) => ["time", "host", "i"].includes(name));
    const unsorted = writeRun(arena, ALL_TYPES, rows);
    const sorted = mergeRuns(kernel, [unsorted], ALL_TYPES);
    for (const run of [unsorted, sorted]) {
      for (const [minNs, maxNs] of [[0n, 8999n] as const, [3n, 8000n] as const, [2048n, 4095n] as const, [8999n, I64_MAX] as const]) {
        check(run, { columns, range: { minNs, maxNs }, tags: [] });
        check(run, { columns, range: { minNs, maxNs }, tags: [{ columnId: 1, values: ["host-1"] }] });
      }
    }
    sorted.release();
  });

  test("the ends of time", () => {
    const times = [I64_MIN, I64_MIN + 1n, -1n, 0n, I64_MAX - 1n, I64_MAX];
    const rows = times.map((timeNs): TestRow => ({ timeNs, tags: {}, fields: { f: 1 } }));
    const run = writeRun(arena, ALL_TYPES, rows);
    const sorted = mergeRuns(kernel, [run], ALL_TYPES);
    for (const minNs of times) {
      for (const maxNs of times) {
        check(run, { ...all(), range: { minNs, maxNs } });
        check(sorted, { ...all(), range: { minNs, maxNs } });
      }
    }
    sorted.release();
  });

  test("no rows, and time ranges without rows", () => {
    check(writeRun(arena, ALL_TYPES, []), all());
    const run = writeRun(arena, ALL_TYPES, [{ timeNs: 5n, tags: {}, fields: { f: 1 } }]);
    check(run, { ...all(), range: { minNs: 6n, maxNs: 9n } });
    check(run, { ...all(), range: { minNs: 9n, maxNs: 1n } });
  });

  test("500 columns, most of them missing", () => {
    const columns: ColumnDef[] = [TIME_COLUMN];
    for (let id = 1; id < 500; id++) columns.push({ id, name: `c${id}`, type: ([1, 2, 3, 4, 5, 6] as const)[id % 6]! });
    const fieldOf = (type: ColumnType): TestValue => ({ 2: 1.5, 3: -3n, 4: 4n, 5: "a text of some length", 6: true })[type as 2]!;
    const rows = Array.from({ length: 70 }, (_, row): TestRow => {
      const some = columns.filter(({ id }) => id > 0 && id % 70 === row % 70);
      const [tags, fields] = [some.filter(({ type }) => type === ColumnType.tag), some.filter(({ type }) => type !== ColumnType.tag)];
      return {
        timeNs: BigInt(row),
        tags: Object.fromEntries(tags.map(({ name }) => [name, name])),
        fields: Object.fromEntries(fields.map(({ name, type }) => [name, fieldOf(type)])),
      };
    });
    const run = writeRun(arena, columns, rows);
    for (const range of [ALL_TIME, { minNs: 3n, maxNs: 60n }]) {
      const found = drain(kernel, openOne(kernel, run, { columns, range, tags: [] }), columns);
      expect(found).toEqual(rows.filter((row) => matches(row, { columns, range, tags: [] })).map((row) => project(columns, row)));
    }
  });
});

describe("openScan", () => {
  test.each([1, 2, 3, 4, 5])("gives each (series, time) once, from a buffer and files, seed %i", (seed) => {
    const below = prng(seed);
    const dictionary = new SeriesDictionary(kernel, { lastTimeFloorNs: I64_MIN, reclaimer: RECLAIM_AT_ONCE });
    const buffer = new TableBuffer(kernel, dictionary, RECLAIM_AT_ONCE);
    const log: TestRow[] = [];
    const runs: Run[] = [];
    // two files, of which the second may repeat rows of the first
    for (const seq of [1, 2]) {
      const rows = randomRows(below, { count: 200, times: 60, hosts: 9 });
      const raw = writeRun(arena, ALL_TYPES, rows, { seqMin: seq });
      runs.push({ ...mergeRuns(kernel, [raw], ALL_TYPES), unique: seq === 1 });
      log.push(...rows);
    }
    for (let sequence = 3; sequence < 20; sequence++) {
      // mostly new times, sometimes old ones
      const offset = below(4) === 0 ? 0 : sequence * 100;
      const rows = randomRows(below, { count: 60, times: 50, hosts: 9 }).map((row) => ({ ...row, timeNs: row.timeNs + BigInt(offset) }));
      const batch = writeBatch(arena, dictionary, ALL_TYPES, rows);
      // last times do not reach back into the files
      buffer.append({ ...batch, unique: batch.unique && offset > 0 }, sequence);
      log.push(...rows);
    }
    runs.push(...buffer.runs());
    const latest = new Map<string, TestRow>();
    for (const row of log) {
      const key = `${Buffer.from(canonicalKey(ALL_TYPES, row.tags)).toString("latin1")}@${row.timeNs}`;
      latest.set(key, { ...row, fields: { ...latest.get(key)?.fields, ...row.fields } });
    }
    const before = kernel.heap.usedBytes;
    for (let round = 0; round < 10; round++) {
      const request = round === 0 ? all() : randomRequest(below);
      const expected = [...latest.values()].filter((row) => matches(row, request)).map((row) => project(request.columns, row));
      expect(
        drain(kernel, openScan(kernel, runs, request), request.columns)
          .map(show)
          .toSorted(),
      ).toEqual(expected.map(show).toSorted());
      expect(kernel.heap.usedBytes).toBe(before);
    }
    buffer.dropAll();
    dictionary.release();
  });

  test("a cursor closed half way gives its memory back", () => {
    const rows = Array.from({ length: 6000 }, (_, i): TestRow => ({ timeNs: BigInt(i % 100), tags: { host: "a" }, fields: { i: 1n } }));
    const runs = [writeRun(arena, ALL_TYPES, rows), writeRun(arena, ALL_TYPES, rows.slice(0, 10), { unique: true, seqMin: 2 })];
    const before = kernel.heap.usedBytes;
    const cursor = openScan(kernel, runs, { ...all(), tags: [{ columnId: 1, values: ["a"] }] });
    expect(cursor.next()!.rowCount).toBe(100);
    cursor.close();
    expect(kernel.heap.usedBytes).toBe(before);
    expect(() => cursor.next()).toThrow("BUG");
  });
});

const show = (values: RowValues) => values.map((value) => (Object.is(value, -0) ? "-0" : `${typeof value} ${value}`)).join("|");
