// The cut of a scan by time: hand-made overlaps; rows of random runs that are in exactly one place, together with their duplicates; and
// whole scans of late and repeated rows compared with a merge row by row.
import { afterEach, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { isHiddenRow, isWanted, mergeRows, randomTombstones } from "../../../test/support/rows/naive-scan.ts";
import { ALL_TYPES, randomRows } from "../../../test/support/rows/random-rows.ts";
import { Arena, readChunk, type TestRow, writeRun } from "../../../test/support/rows/rows.ts";
import { openScan } from "../../../test/support/rows/run-scan.ts";
import { ALL_TIME, type ScanRequest, type TimeRange } from "../../model/query/scan.ts";
import { ColumnType } from "../../model/rows/column.ts";
import type { Run } from "../../model/rows/run.ts";
import { Kernel } from "../memory/kernel.ts";
import { HiddenRows } from "./hidden-rows.ts";
import { mergeRuns } from "./run-merge.ts";
import { planSlices, type RunSummary } from "./slices.ts";

/** [begin, end, "u"nique or "m"arked, and "s" when sorted, when marked the overlap ranges if not all] */
type Short = [begin: number, end: number, flags: "u" | "m" | "us" | "ms", ...overlaps: [number, number][]];
/** [run, begin, end, times within that are left out] */
type Alone = [index: number, begin: number, end: number, ...except: [number, number][]];
type Merge = [begin: number, end: number, ...members: number[]];

const summary = ([begin, end, flags, ...overlaps]: Short): RunSummary => ({
  minTimeNs: BigInt(begin),
  maxTimeNs: BigInt(end),
  unique: flags.startsWith("u"),
  sorted: flags.endsWith("s"),
  overlaps: overlaps.length === 0 ? undefined : overlaps.map(([min, max]) => ({ minNs: BigInt(min), maxNs: BigInt(max) })),
});

const PLANS: [what: string, runs: Short[], alone: Alone[], merges: Merge[], range: [number, number] | null][] = [
  ["no run", [], [], [], null],
  [
    "unique runs are read alone, however they overlap",
    [
      [0, 10, "u"],
      [5, 15, "us"],
      [0, 10, "u"],
    ],
    [
      [0, 0, 10],
      [1, 5, 15],
      [2, 0, 10],
    ],
    [],
    null,
  ],
  ["a marked run alone is merged with itself", [[0, 10, "m"]], [], [[0, 10, 0]], null],
  ["unless it is sorted", [[0, 10, "ms"]], [[0, 0, 10]], [], null],
  [
    "a late minute costs a minute of the day",
    [
      [0, 1440, "us"],
      [700, 700, "m"],
    ],
    [[0, 0, 1440, [700, 700]]],
    [[700, 700, 0, 1]],
    null,
  ],
  [
    "a marked day meets others only at its end",
    [
      [0, 1440, "ms"],
      [1430, 1500, "u"],
      [1435, 1510, "u"],
    ],
    [
      [0, 0, 1429],
      [1, 1441, 1500],
      [2, 1441, 1510],
    ],
    [[1430, 1440, 0, 1, 2]],
    null,
  ],
  [
    "touching ends collide, the next nanosecond does not",
    [
      [0, 10, "us"],
      [10, 20, "ms"],
      [21, 30, "us"],
    ],
    [
      [0, 0, 9],
      [1, 11, 20],
      [2, 21, 30],
    ],
    [[10, 10, 0, 1]],
    null,
  ],
  [
    "collisions that follow each other are one slice",
    [
      [0, 4, "us"],
      [5, 9, "us"],
      [0, 9, "ms"],
    ],
    [],
    [[0, 9, 0, 1, 2]],
    null,
  ],
  [
    "a run may be left with several parts",
    [
      [0, 100, "us"],
      [10, 20, "m"],
      [30, 30, "m"],
      [95, 120, "m"],
    ],
    [[0, 0, 94, [10, 20], [30, 30]]],
    [
      [10, 20, 0, 1],
      [30, 30, 0, 2],
      [95, 120, 0, 3],
    ],
    null,
  ],
  [
    "a marked run collides only in its overlap ranges",
    [
      [0, 100, "us"],
      [50, 150, "m", [60, 60], [99, 120]],
      [110, 200, "u"],
    ],
    [
      [0, 0, 98, [60, 60]],
      [1, 50, 150, [60, 60], [99, 120]],
      [2, 121, 200],
    ],
    [
      [60, 60, 0, 1],
      [99, 120, 0, 1, 2],
    ],
    null,
  ],
  [
    "a sorted one only where it meets another",
    [
      [0, 100, "us"],
      [50, 150, "ms", [60, 60], [99, 120]],
      [110, 200, "u"],
    ],
    [
      [0, 0, 98, [60, 60]],
      [1, 50, 150, [60, 60], [99, 100], [110, 120]],
      [2, 121, 200],
    ],
    [
      [60, 60, 0, 1],
      [99, 100, 0, 1],
      [110, 120, 1, 2],
    ],
    null,
  ],
  [
    "only times within the range matter",
    [
      [0, 50, "us"],
      [40, 60, "m"],
      [70, 80, "m"],
    ],
    [[0, 5, 39]],
    [[40, 45, 0, 1]],
    [5, 45],
  ],
];

const shortRange = ({ minNs, maxNs }: TimeRange): [number, number] => [Number(minNs), Number(maxNs)];

describe("planSlices", () => {
  test.each(PLANS)("%s", (_, runs, alone, merges, range) => {
    const within = range === null ? ALL_TIME : { minNs: BigInt(range[0]), maxNs: BigInt(range[1]) };
    const plan = planSlices(runs.map(summary), within);
    expect(plan.alone.map((part) => [part.index, ...shortRange(part.range), ...part.except.map(shortRange)])).toEqual(alone);
    expect(plan.merges.map((slice) => [...shortRange(slice.range), ...slice.members])).toEqual(merges);
  });

  test("runs at the ends of time", () => {
    const [min, max] = [ALL_TIME.minNs, ALL_TIME.maxNs];
    const runs: RunSummary[] = [
      { minTimeNs: min, maxTimeNs: max, unique: true, sorted: true },
      { minTimeNs: min, maxTimeNs: min, unique: false, sorted: true },
      { minTimeNs: max, maxTimeNs: max, unique: false, sorted: false },
    ];
    expect(planSlices(runs, ALL_TIME)).toEqual({
      alone: [{ index: 0, range: { minNs: min + 1n, maxNs: max - 1n }, except: [] }],
      merges: [
        { range: { minNs: min, maxNs: min }, members: [0, 1] },
        { range: { minNs: max, maxNs: max }, members: [0, 2] },
      ],
    });
    expect(planSlices(runs, { minNs: 5n, maxNs: 4n })).toEqual({ alone: [], merges: [] });
  });

  test("a thousand late batches in a day make no more slices than allowed, with the largest gaps between them", () => {
    const day = summary([0, 1_000_000, "us"]);
    // gaps grow from batch to batch
    const late = Array.from({ length: 1000 }, (_, i) => summary([i * i, i * i, "m"]));
    const { alone, merges } = planSlices([day, ...late], ALL_TIME);
    expect(merges.length).toBe(64);
    expect(merges.slice(1).map(({ range }) => range.minNs)).toEqual(late.slice(-63).map(({ minTimeNs }) => minTimeNs));
    expect(merges[0]!.range).toEqual({ minNs: 0n, maxNs: 936n * 936n });
    expect(alone).toHaveLength(1);
    expect(alone[0]!.except).toHaveLength(63);
    expect(planSlices([day, ...late], ALL_TIME, 1).merges).toHaveLength(1);
  });

  test.each([1, 2, 3, 4, 5, 6])("every row has one place, shared by what may equal it, seed %i", (seed) => {
    const below = prng(seed);
    for (let round = 0; round < 30; round++) {
      const runs = Array.from({ length: below(12) }, () => {
        const begin = below(60) - 30;
        const end = begin + below(20);
        const overlaps = Array.from({ length: below(3) }, (_, i): [number, number] => [begin + i * 8, begin + i * 8 + below(7)]);
        return summary([begin, end, (["u", "us", "us", "m", "ms"] as const)[below(5)]!, ...overlaps]);
      });
      const range = below(2) === 0 ? ALL_TIME : { minNs: BigInt(below(40) - 30), maxNs: BigInt(below(60) - 20) };
      const mergesMax = 1 + below(5);
      const { alone, merges } = planSlices(runs, range, mergesMax);
      expect(merges.length).toBeLessThanOrEqual(mergesMax);
      const within = (timeNs: bigint, { minNs, maxNs }: TimeRange) => timeNs >= minNs && timeNs <= maxNs;
      for (let timeNs = -31n; timeNs <= 51n; timeNs++) {
        const present = runs.flatMap((run, i) => (within(timeNs, range) && timeNs >= run.minTimeNs && timeNs <= run.maxTimeNs ? [i] : []));
        const slices = merges.filter((slice) => within(timeNs, slice.range));
        const parts = alone.filter((part) => within(timeNs, part.range) && !part.except.some((one) => within(timeNs, one)));
        expect(slices.length).toBeLessThanOrEqual(1);
        const merged = slices.flatMap(({ members }) => members.filter((i) => present.includes(i)));
        expect([...merged, ...parts.map(({ index }) => index)].toSorted((a, b) => a - b)).toEqual(present);
        const isOverlapped = ({ unique, overlaps }: RunSummary) =>
          !unique && (overlaps === undefined || overlaps.some((one) => within(timeNs, one)));
        const marked = present.filter((i) => isOverlapped(runs[i]!));
        if (marked.length > 0 && (present.length > 1 || !runs[marked[0]!]!.sorted)) expect(merged).toEqual(present);
      }
    }
  });
});

describe("a scan in slices", () => {
  const kernel = Kernel.create();
  const arena = new Arena(kernel);
  const owned: { release(): void }[] = [];
  afterEach(() => {
    for (const run of owned.splice(0)) run.release();
    arena.free();
  });

  const keyOf = (row: TestRow) => JSON.stringify([`${row.timeNs}`, row.tags["host"] ?? null, row.tags["region"] ?? null]);

  /** A log in parts, most of them newer than what was, some late; each marked exactly when it repeats something, as ingest marks them. */
  function log(below: (n: number) => number): { runs: Run[]; rows: { row: TestRow; sequence: number }[] } {
    const runs: Run[] = [];
    const rows: { row: TestRow; sequence: number }[] = [];
    const known = new Set<string>();
    for (let sequence = 1; sequence <= 12; sequence++) {
      const isLate = below(3) === 0;
      const [begin, length] = isLate ? [below(sequence * 40), 1 + below(20)] : [sequence * 40, 120];
      const some = randomRows(below, { count: 1 + below(60), times: length, hosts: 5 }).map((row) => ({
        ...row,
        timeNs: row.timeNs + BigInt(begin),
      }));
      const before = known.size;
      const repeats = some.some((row) => known.has(keyOf(row)));
      for (const row of some) known.add(keyOf(row));
      const isDistinct = known.size - before === some.length;
      const raw = writeRun(arena, ALL_TYPES, some, { seqMin: sequence, unique: isDistinct });
      if (below(2) === 0) runs.push(raw);
      else {
        const merged = mergeRuns(kernel, [raw], ALL_TYPES);
        owned.push(merged);
        runs.push({ ...merged, unique: !repeats });
      }
      rows.push(...some.map((row) => ({ row, sequence })));
    }
    return { runs, rows };
  }

  test.each([1, 2, 3, 4, 5, 6, 7, 8])("gives every (series, time) once, seed %i", (seed) => {
    const below = prng(seed);
    const columns = ALL_TYPES;
    const project = (row: TestRow) =>
      columns.map(
        ({ name, type }) => (type === ColumnType.time ? row.timeNs : (type === ColumnType.tag ? row.tags : row.fields)[name]) ?? null,
      );
    const show = (values: readonly unknown[]) => values.map((value) => (Object.is(value, -0) ? "-0" : `${value}`)).join("|");
    for (let round = 0; round < 4; round++) {
      const { runs, rows } = log(below);
      const before = kernel.heap.usedBytes;
      for (let i = 0; i < 4; i++) {
        const tombstones = randomTombstones(below, { count: below(3), sequences: 12, times: 500 });
        const minNs = BigInt(below(500));
        const range = below(2) === 0 ? ALL_TIME : { minNs, maxNs: minNs + BigInt(below(200)) };
        const request: ScanRequest = { columns, range, tags: [] };
        const visible = rows.filter(({ row, sequence }) => !isHiddenRow(row, sequence, tombstones)).map(({ row }) => row);
        const expected = mergeRows(visible).filter((row) => isWanted(row, request));
        const hidden = new HiddenRows(kernel, tombstones);
        const cursor = openScan(kernel, runs, request, hidden);
        const found: string[] = [];
        for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) found.push(...readChunk(kernel, columns, chunk).map(show));
        cursor.close();
        hidden.release();
        expect(found.toSorted()).toEqual(expected.map(project).map(show).toSorted());
        expect(kernel.heap.usedBytes).toBe(before);
      }
      for (const run of owned.splice(0)) run.release();
      arena.free();
    }
  });
});
