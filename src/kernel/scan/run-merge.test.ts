// Merged runs compared with a map from series and time to fields: duplicates, NULLs, several dictionaries, all types, hostile shapes.
import { afterEach, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { ALL_TYPES, randomRows } from "../../../test/support/rows/random-rows.ts";
import {
  Arena,
  canonicalKey,
  readRun,
  readSeries,
  type TestRow,
  type TestValue,
  writeBatch,
  writeRun,
} from "../../../test/support/rows/rows.ts";
import { ALL_TIME, type TagPredicate, type TimeRange } from "../../model/query/scan.ts";
import { RECLAIM_AT_ONCE } from "../../model/reclaimer.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../model/rows/column.ts";
import type { Run } from "../../model/rows/run.ts";
import { TableBuffer } from "../../storage/buffer/table-buffer.ts";
import { Kernel } from "../memory/kernel.ts";
import { SeriesDictionary } from "../series/series-dictionary.ts";
import { isSorted } from "./rows.ts";
import { mergeRuns, type OwnedRun } from "./run-merge.ts";

const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;
const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

const rowKey = (columns: readonly ColumnDef[], row: TestRow) =>
  `${Buffer.from(canonicalKey(columns, row.tags)).toString("latin1")}@${row.timeNs}`;

/** What a merge must give, by row key: later rows' present fields win. `rows` in log order. */
function naiveMerge(columns: readonly ColumnDef[], rows: readonly TestRow[]): Map<string, TestRow> {
  const merged = new Map<string, TestRow>();
  for (const row of rows) {
    const key = rowKey(columns, row);
    const fields: Record<string, TestValue | null> = { ...merged.get(key)?.fields };
    for (const [name, value] of Object.entries(row.fields)) if (value !== null) fields[name] = value;
    merged.set(key, { ...row, fields });
  }
  return merged;
}

const byKey = (columns: readonly ColumnDef[], rows: readonly TestRow[]) => new Map(rows.map((row) => [rowKey(columns, row), row]));

/** Merges, checks order and content against the naive model, and returns the rows. */
function check(runs: readonly Run[], rowsInLogOrder: readonly TestRow[], columns = ALL_TYPES, options = {}): TestRow[] {
  const before = kernel.heap.usedBytes;
  const merged = mergeRuns(kernel, runs, columns, options);
  const rows = readRun(kernel, columns, merged);
  const expected = naiveMerge(columns, rowsInLogOrder);
  expect(rows.length).toBe(expected.size);
  expect(byKey(columns, rows)).toEqual(expected);
  expect(merged.sorted).toBe(true);
  expect(isSorted(kernel, merged.seriesPtr, merged.timePtr, merged.rowCount)).toBe(true);
  checkSpan(merged, rows);
  merged.release();
  merged.release(); // a second release is nothing
  expect(kernel.heap.usedBytes).toBe(before);
  return rows;
}

function checkSpan(merged: OwnedRun, rows: readonly TestRow[]): void {
  if (rows.length === 0) return;
  const times = new BigInt64Array(rows.map(({ timeNs }) => timeNs)).sort();
  expect([merged.minTimeNs, merged.maxTimeNs]).toEqual([times[0]!, times.at(-1)!]);
}

const cpu = (timeNs: bigint, fields: TestRow["fields"], tags: TestRow["tags"] = { host: "a" }): TestRow => ({ timeNs, tags, fields });

describe("mergeRuns", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])("agrees with a map, runs with dictionaries of their own, seed %i", (seed) => {
    const below = prng(seed);
    const shape = { times: [3, 50, 5000][below(3)]!, hosts: [1, 5, 300][below(3)]! };
    const parts = Array.from({ length: 1 + below(6) }, () => randomRows(below, { count: [0, 1, 5, 40, 600][below(5)]!, ...shape }));
    const runs = parts.map((rows, i) => writeRun(arena, ALL_TYPES, rows, { seqMin: i * 2 + 1, seqMax: i * 2 + 2 }));
    check(runs, parts.flat());
    // sequences order runs, not their place in the list
    check(runs.toReversed(), parts.flat());
  });

  test.each([1, 2, 3, 4])("agrees with a map, segments of a buffer beside a file, seed %i", (seed) => {
    const below = prng(seed);
    const dictionary = new SeriesDictionary(kernel, { lastTimeFloorNs: I64_MIN, reclaimer: RECLAIM_AT_ONCE });
    const buffer = new TableBuffer(kernel, dictionary, RECLAIM_AT_ONCE);
    const file = randomRows(below, { count: 300, times: 40, hosts: 6 });
    const all = [...file];
    for (let sequence = 10; sequence < 22; sequence++) {
      const rows = randomRows(below, { count: 1 + below(150), times: 40, hosts: 6 });
      buffer.append(writeBatch(arena, dictionary, ALL_TYPES, rows), sequence);
      all.push(...rows);
    }
    const fileRun = writeRun(arena, ALL_TYPES, file, { seqMin: 1, seqMax: 9 });
    check(buffer.runs(), all.slice(300));
    check([...buffer.runs(), fileRun], all);
    check(buffer.runs(), all.slice(300), ALL_TYPES, { ownDictionary: true });
    buffer.dropAll();
    dictionary.release();
  });

  const MERGES: [what: string, runs: TestRow[][], merged: TestRow[]][] = [
    ["no run", [], []],
    ["a run without rows", [[]], []],
    ["one row", [[cpu(1n, { f: 1 })]], [cpu(1n, { f: 1 })]],
    ["the later write wins per field", [[cpu(1n, { f: 1, i: 1n })], [cpu(1n, { f: 2 })]], [cpu(1n, { f: 2, i: 1n })]],
    ["also within one run", [[cpu(1n, { f: 1, i: 1n }), cpu(1n, { f: 2, s: "x" })]], [cpu(1n, { f: 2, i: 1n, s: "x" })]],
    ["NULL never overwrites", [[cpu(1n, { f: 1 })], [cpu(1n, { f: null, i: 3n })]], [cpu(1n, { f: 1, i: 3n })]],
    [
      "an absent tag is not an empty one",
      [[cpu(1n, { f: 1 }, {})], [cpu(1n, { f: 2 }, { host: "" })]],
      [cpu(1n, { f: 1 }, {}), cpu(1n, { f: 2 }, { host: "" })],
    ],
    [
      "the ends of time",
      [
        [cpu(I64_MAX, { f: 1 }), cpu(I64_MIN, { f: 2 })],
        [cpu(I64_MIN, { i: 5n }), cpu(0n, { i: 6n }), cpu(I64_MAX, { f: 3 })],
      ],
      [cpu(I64_MIN, { f: 2, i: 5n }), cpu(0n, { i: 6n }), cpu(I64_MAX, { f: 3 })],
    ],
  ];

  test.each(MERGES)("%s", (_, parts, expected) => {
    const runs = parts.map((rows, i) => writeRun(arena, ALL_TYPES, rows, { seqMin: i + 1 }));
    expect(check(runs, parts.flat())).toEqual(expected);
  });

  test("descending, interleaved and shuffled times of one series", () => {
    const below = prng(3);
    const orders: number[][] = [
      Array.from({ length: 5000 }, (_, i) => 5000 - i),
      Array.from({ length: 5000 }, (_, i) => (i % 7) * 1000 + i),
      Array.from({ length: 5000 }, () => below(100_000)),
      Array.from({ length: 5000 }, () => below(40)),
    ];
    for (const order of orders) {
      const rows = order.map((time, i) => cpu(BigInt(time), { i: BigInt(i) }));
      check([writeRun(arena, ALL_TYPES, rows)], rows);
    }
  });

  test("a result says whether its rows may equal rows elsewhere", () => {
    const merged = (...unique: boolean[]) =>
      mergeRuns(
        kernel,
        unique.map((flag, i) => writeRun(arena, ALL_TYPES, [cpu(BigInt(i), { f: 1 })], { unique: flag, seqMin: i + 1 })),
        ALL_TYPES,
      );
    for (const [flags, unique] of [[[true, true], true] as const, [[true, false], false] as const]) {
      const run = merged(...flags);
      expect([run.unique, run.seqMin, run.seqMax]).toEqual([unique, 1, 2]);
      run.release();
    }
  });

  test("another thread's kernel merges the same memory", () => {
    const other = Kernel.attach(kernel.shared);
    const rows = [cpu(2n, { s: "a text of more than 12 bytes" }), cpu(1n, { f: 1 })];
    const runs = [writeRun(arena, ALL_TYPES, rows), writeRun(arena, ALL_TYPES, [cpu(2n, { i: 1n }, { host: "b" })], { seqMin: 2 })];
    const merged = mergeRuns(other, runs, ALL_TYPES);
    const expected = [cpu(1n, { f: 1 }), cpu(2n, { s: "a text of more than 12 bytes" }), cpu(2n, { i: 1n }, { host: "b" })];
    expect(readRun(other, ALL_TYPES, merged)).toEqual(expected);
    expect(readRun(kernel, ALL_TYPES, merged)).toEqual(expected);
    expect(runs.map(({ dictionary }) => dictionary.id)).not.toContain(merged.dictionary.id);
    merged.release();
  });

  test("500 columns, each run with some of them", () => {
    const columns: ColumnDef[] = [
      TIME_COLUMN,
      { id: 1, name: "host", type: ColumnType.tag },
      ...Array.from({ length: 498 }, (_, i) => ({ id: i + 2, name: `f${i}`, type: ColumnType.float })),
    ];
    const parts = [0, 1, 2].map((part) =>
      Array.from({ length: 20 }, (_, row) =>
        cpu(
          BigInt(row % 11),
          Object.fromEntries(columns.filter(({ id }) => id > 1 && id % 3 === part).map(({ id, name }) => [name, id + row])),
        ),
      ),
    );
    const runs = parts.map((rows, i) => writeRun(arena, columns, rows, { seqMin: i + 1 }));
    check(runs, parts.flat(), columns);
  });

  test("gives only the columns that were asked for", () => {
    const runs = [writeRun(arena, ALL_TYPES, [cpu(1n, { f: 1, i: 1n })]), writeRun(arena, ALL_TYPES, [cpu(2n, { f: 1, s: "x" })])];
    const wanted = ALL_TYPES.filter(({ name }) => ["time", "host", "i", "b"].includes(name));
    const merged = mergeRuns(kernel, runs, wanted);
    expect(merged.columns.map(({ columnId }) => columnId)).toEqual([3]);
    expect(readRun(kernel, ALL_TYPES, merged)).toEqual([cpu(1n, { i: 1n }), cpu(2n, {})]);
    merged.release();
  });
});

describe("mergeRuns of some rows", () => {
  test.each([1, 2, 3, 4, 5])("by time and tags, seed %i", (seed) => {
    const below = prng(seed);
    const parts = Array.from({ length: 3 }, () => randomRows(below, { count: 200, times: 60, hosts: 5 }));
    const runs = parts.map((rows, i) => writeRun(arena, ALL_TYPES, rows, { seqMin: i + 1 }));
    for (let round = 0; round < 10; round++) {
      const minNs = BigInt(below(70) - 5);
      const range: TimeRange = { minNs, maxNs: minNs + BigInt(below(40)) };
      const tags: TagPredicate[] = below(2) === 0 ? [] : [{ columnId: 1, values: [`host-${below(5)}`, below(2) === 0 ? null : "none"] }];
      const kept = parts.flat().filter((row) => inRange(row, range) && tags.every((predicate) => hasTag(row, predicate)));
      check(runs, kept, ALL_TYPES, { range, tags });
    }
  });

  test("a file's dictionary holds the series of its rows and no others", () => {
    const rows = Array.from({ length: 100 }, (_, i) => cpu(BigInt(i), { f: i }, { host: `a host with a long name ${i}` }));
    const run = writeRun(arena, ALL_TYPES, rows);
    const merged = mergeRuns(kernel, [run], ALL_TYPES, { range: { minNs: 40n, maxNs: 42n }, ownDictionary: true });
    expect(merged.dictionary.seriesCount).toBe(3);
    expect(merged.dictionary.tags.map(({ valueCount }) => valueCount)).toEqual([4]);
    expect(readSeries(kernel, ALL_TYPES, merged.dictionary, 2)).toEqual({ host: "a host with a long name 42" });
    expect(readRun(kernel, ALL_TYPES, merged)).toEqual(rows.slice(40, 43));
    merged.release();
  });

  test("one sorted run is its own merge, and stays as it is", () => {
    const rows = [cpu(1n, { f: 1 }), cpu(2n, { f: 2, i: 4n })];
    const run = writeRun(arena, ALL_TYPES, rows, { sorted: true });
    const merged = mergeRuns(kernel, [run], ALL_TYPES, { range: ALL_TIME });
    expect(merged.timePtr).toBe(run.timePtr);
    merged.release();
    expect(readRun(kernel, ALL_TYPES, run)).toEqual(rows);
  });
});

const inRange = ({ timeNs }: TestRow, { minNs, maxNs }: TimeRange) => timeNs >= minNs && timeNs <= maxNs;

function hasTag({ tags }: TestRow, { columnId, values }: TagPredicate): boolean {
  return values.includes(tags[ALL_TYPES.find(({ id }) => id === columnId)!.name] ?? null);
}
