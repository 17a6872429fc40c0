// Aggregation in the scan compared with aggregating row by row: every function and type, bins at negative times and the ends of i64, dense
// and hashed cells, predicates and deletions, overflow, and bounds of memory.
import { afterEach, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { aggregateRows, expectGroups, type GroupValue } from "../../../test/support/rows/naive-aggregate.ts";
import { isHiddenRow, randomFields, randomTags, randomTombstones } from "../../../test/support/rows/naive-scan.ts";
import { ALL_TYPES, randomRows } from "../../../test/support/rows/random-rows.ts";
import { readGroups } from "../../../test/support/rows/read-groups.ts";
import { Arena, isPresent, type TestRow, type TestValue, writeRun } from "../../../test/support/rows/rows.ts";
import { addOne } from "../../../test/support/rows/run-scan.ts";
import { EVERY_AGGREGATE } from "../../../test/support/sql/every-aggregate.ts";
import type { Aggregate, AggregateFunction, AggregateRequest } from "../../model/query/aggregate.ts";
import { ALL_TIME, type TimeRange } from "../../model/query/scan.ts";
import type { ScanCursor } from "../../model/query/scan-table.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../model/rows/column.ts";
import type { Run } from "../../model/rows/run.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import { nextDictionaryId } from "../memory/dictionary-id.ts";
import { Kernel } from "../memory/kernel.ts";
import { HiddenRows } from "../scan/hidden-rows.ts";
import { mergeRuns } from "../scan/run-merge.ts";
import { Aggregator, type AggregatorOptions } from "./aggregate.ts";

const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;
const U64_MAX = 2n ** 64n - 1n;
const MIB = 1 << 20;
const kernel = Kernel.create();
const arena = new Arena(kernel);
const owned: { release(): void }[] = [];
afterEach(() => {
  for (const run of owned.splice(0)) run.release();
  arena.free();
});

const column = (name: string): ColumnDef => ALL_TYPES.find((one) => one.name === name)!;

const request = (some: Partial<AggregateRequest> = {}): AggregateRequest => ({
  range: ALL_TIME,
  tags: [],
  fields: [],
  bins: null,
  groupBy: [],
  aggregates: [{ fn: "count", column: null }],
  ...some,
});

interface Part {
  readonly run: Run;
  readonly rows: readonly TestRow[];
}

/** What lies where values are absent is nobody's promise. */
function scribble(run: Run): Run {
  for (const { type, dataPtr, validityPtr } of run.columns) {
    for (let row = 0; row < run.rowCount; row++) {
      if (isPresent(kernel, validityPtr, row)) continue;
      if (type === ColumnType.boolean) kernel.u8[dataPtr + row] = 1;
      else if (type === ColumnType.float) kernel.f64[dataPtr / 8 + row] = [Number.NaN, -1e300, 1e300][row % 3]!;
      else if (type !== ColumnType.string) kernel.i64[dataPtr / 8 + row] = [I64_MIN, I64_MAX, -1n][row % 3]!;
    }
  }
  return run;
}

/** Rows as a run of its own; sorted ones are merged, so they have each (series, time) once. */
function part(rows: readonly TestRow[], { sorted = false, sequence = 1 } = {}): Part {
  const raw = writeRun(arena, ALL_TYPES, rows, { seqMin: sequence });
  if (!sorted) return { run: scribble(raw), rows };
  const merged = mergeRuns(kernel, [raw], ALL_TYPES);
  owned.push(merged);
  const latest = new Map<string, TestRow>();
  for (const row of rows) {
    const key = JSON.stringify([`${row.timeNs}`, row.tags["host"] ?? null, row.tags["region"] ?? null]);
    latest.set(key, { ...row, fields: { ...latest.get(key)?.fields, ...row.fields } });
  }
  return { run: scribble(merged), rows: [...latest.values()] };
}

function rangeOf(parts: readonly Part[]): TimeRange {
  const times = new BigInt64Array(parts.flatMap(({ rows }) => rows.map(({ timeNs }) => timeNs))).sort();
  return { minNs: times[0] ?? 0n, maxNs: times.at(-1) ?? 0n };
}

function drain(cursor: ScanCursor, wanted: AggregateRequest): GroupValue[][] {
  const rows = readGroups(kernel, cursor, wanted);
  cursor.close();
  return rows;
}

interface Setting extends Partial<AggregatorOptions> {
  readonly tombstones?: readonly Tombstone[];
}

/** The groups, or null; no memory is lost either way. */
function aggregate(parts: readonly Part[], wanted: AggregateRequest, { tombstones = [], ...options }: Setting = {}): GroupValue[][] | null {
  const before = kernel.heap.usedBytes;
  const hidden = new HiddenRows(kernel, tombstones);
  const aggregator = new Aggregator(kernel, wanted, rangeOf(parts), { memoryBytesMax: 64 * MIB, ...options });
  for (const { run } of parts) addOne(kernel, aggregator, run, { ...wanted, hidden });
  const cursor = aggregator.finish();
  const found = cursor === null ? null : drain(cursor, wanted);
  hidden.release();
  expect(kernel.heap.usedBytes).toBe(before);
  return found;
}

function check(parts: readonly Part[], wanted: AggregateRequest, setting: Setting = {}): void {
  const { tombstones = [] } = setting;
  const rows = parts.flatMap((one) => one.rows.filter((row) => !isHiddenRow(row, one.run.seqMax, tombstones)));
  const { groups, overflows } = aggregateRows(rows, wanted);
  const found = aggregate(parts, wanted, setting);
  if (overflows) expect(found).toBeNull();
  // a sum may overflow in between; then there is nothing to compare
  if (found !== null) expectGroups(found, groups, wanted);
  else expect(wanted.aggregates.some(({ fn, column: of }) => (fn === "sum" || fn === "mean") && of?.type !== ColumnType.float)).toBe(true);
}

/** Values whose sums mostly fit. */
function tame(rows: readonly TestRow[]): TestRow[] {
  const small = (value: unknown) => (typeof value === "bigint" ? value % 1_000_000_007n : value);
  return rows.map((row) => ({
    ...row,
    fields: Object.fromEntries(Object.entries(row.fields).map(([name, value]) => [name, small(value)])) as TestRow["fields"],
  }));
}

function randomParts(below: (n: number) => number, spread: bigint): Part[] {
  return Array.from({ length: 1 + below(4) }, (_, i) => {
    const shape = { count: [1, 20, 300, 1500][below(4)]!, times: 400, hosts: [1, 5, 60][below(3)]! };
    const rows = randomRows(below, shape).map((row) => ({ ...row, timeNs: (row.timeNs - 200n) * spread }));
    return part(below(4) === 0 ? rows : tame(rows), { sorted: below(2) === 0, sequence: i + 1 });
  });
}

function randomRequest(below: (n: number) => number, spread: bigint): AggregateRequest {
  const minNs = BigInt(below(400) - 200) * spread;
  const ranges: TimeRange[] = [ALL_TIME, { minNs, maxNs: minNs + BigInt(below(200)) * spread }];
  const widths = [1n, 7n, spread, spread * 10n, spread * 64n + 3n, spread * 1000n];
  const request = {
    range: ranges[below(2)]!,
    tags: randomTags(below),
    fields: below(3) === 0 ? randomFields(below) : [],
    bins: below(3) === 0 ? null : { originNs: BigInt(below(1000) - 500), widthNs: widths[below(6)]! },
    groupBy: ["region", "host", "rack"].filter(() => below(2) === 0).map(column),
    aggregates: EVERY_AGGREGATE.filter(() => below(3) === 0),
  };
  return { ...request, numbersGroups: request.groupBy.length > 0 && below(2) === 0 };
}

describe("random rows and requests", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])("agree with aggregating row by row, seed %i", (seed) => {
    const below = prng(seed);
    const spread = [1n, 1000n, 3_600_000_000_000n][below(3)]!;
    for (let round = 0; round < 4; round++) {
      const parts = randomParts(below, spread);
      for (let i = 0; i < 6; i++) {
        const tombstones = randomTombstones(below, { count: below(3), sequences: 5, times: 200 });
        check(parts, randomRequest(below, spread), { tombstones });
      }
    }
  });

  test.each([1, 2, 3, 4])("few rows in many bins have numbered cells, seed %i", (seed) => {
    const below = prng(seed);
    const spread = 10n ** 15n;
    const parts = randomParts(below, spread);
    for (let i = 0; i < 6; i++) {
      const wanted = { ...randomRequest(below, spread), bins: { originNs: -3n, widthNs: BigInt(1 + below(1000)) } };
      check(parts, wanted, { rowCountMax: 6000 });
      check(parts, wanted, { memoryBytesMax: 16 * MIB });
    }
  });

  test.each([1, 2, 3])("cells become numbered when groups appear, seed %i", (seed) => {
    const below = prng(seed);
    // 20,000 bins: three groups fit the 65,536 dense cells that there may always be
    const host = (at: number) => ({ host: `host-${at}` });
    const parts = [1, 2, 3, 8, 40].map((hosts, i) =>
      part(
        Array.from(
          { length: 400 },
          (): TestRow => ({ timeNs: BigInt(below(20_000)), tags: host(below(hosts)), fields: { i: BigInt(below(99)) } }),
        ),
        { sorted: i % 2 === 0, sequence: i + 1 },
      ),
    );
    const aggregates = EVERY_AGGREGATE.filter(({ column: of }) => of === null || of.name === "i" || of.name === "f");
    check(parts, request({ bins: { originNs: 0n, widthNs: 1n }, groupBy: [column("host")], aggregates }), { rowCountMax: 0 });
  });
});

test.each([1, 2, 3, 4, 5])("long stretches with NULLs in any pattern, seed %i", (seed) => {
  const below = prng(seed);
  const one = (oneIn: number, value: TestValue) => (below(oneIn) === 0 ? null : value);
  for (const oneIn of [1000, 9, 2]) {
    const rows = Array.from({ length: 333 }, (_, i): TestRow => {
      const [f, b] = [below(1000) / 8 - 50, below(3) === 0];
      const fields = { f: one(oneIn, f), i: one(oneIn, BigInt(below(1000) - 500)), u: one(oneIn, BigInt(below(1000))), b: one(oneIn, b) };
      return { timeNs: BigInt(i), tags: {}, fields: { ...fields, s: "present" } };
    });
    for (const sorted of [false, true]) {
      for (const widthNs of [1000n, 50n, 13n])
        check([part(rows, { sorted })], request({ bins: { originNs: -3n, widthNs }, aggregates: EVERY_AGGREGATE }));
    }
  }
});

describe("bins", () => {
  const TIMES = [I64_MIN, I64_MIN + 1n, -3_600_000_000_001n, -3_600_000_000_000n, -1n, 0n, 1n, 3_599_999_999_999n, I64_MAX - 1n, I64_MAX];
  const rows = TIMES.map((timeNs, i): TestRow => ({ timeNs, tags: { host: i % 2 === 0 ? "a" : "b" }, fields: { i: BigInt(i) } }));

  test.each([
    [0n, 3_600_000_000_000n],
    [-7n, 1n],
    [I64_MAX, 1n],
    [I64_MIN, 1n],
    [I64_MIN, 2n ** 62n],
    [1n, 2n ** 63n],
    [0n, 2n ** 70n],
    [2n ** 63n, 10n],
  ])("begin %p, width %p: at the ends of time, and around zero", (originNs, widthNs) => {
    const bins = { originNs, widthNs };
    const aggregates = EVERY_AGGREGATE.filter(({ column: of }) => of === null || of.type === ColumnType.time || of.name === "i");
    for (const sorted of [false, true]) {
      for (const some of [rows, rows.slice(1), rows.slice(2, -2), rows.slice(0, 4), rows.slice(-4), rows.slice(4, 5)]) {
        const parts = [part(some, { sorted })];
        const first = originNs + ((some[0]!.timeNs - originNs) / widthNs) * widthNs;
        const begin = first > some[0]!.timeNs ? first - widthNs : first;
        const wanted = request({ bins, aggregates, groupBy: [column("host")] });
        // what cannot be shown or numbered is left to others
        if (begin < I64_MIN || some.at(-1)!.timeNs - begin >= 2n ** 64n) expect(aggregate(parts, wanted)).toBeNull();
        else check(parts, wanted);
      }
    }
  });

  test("many spans of one call, exactly as many as fit, and one more", () => {
    for (const count of [4095, 4096, 4097, 8192]) {
      const regular = Array.from({ length: count }, (_, i): TestRow => ({ timeNs: BigInt(i), tags: {}, fields: { i: 1n } }));
      check(
        [part(regular, { sorted: true })],
        request({ bins: { originNs: 0n, widthNs: 1n }, aggregates: [{ fn: "sum", column: column("i") }] }),
      );
    }
  });

  test("many series of one call, exactly as many as fit, and one more", () => {
    for (const count of [2048, 2049]) {
      // eight rows of each, or they would be read row by row
      const series = Array.from(
        { length: count * 8 },
        (_, i): TestRow => ({ timeNs: BigInt(i % 8), tags: { host: `h${i >> 3}` }, fields: { i: 1n } }),
      );
      const aggregates: Aggregate[] = [{ fn: "sum", column: column("i") }];
      check([part(series, { sorted: true })], request({ groupBy: [column("host")], aggregates }));
      check([part(series, { sorted: true })], request({ aggregates }));
    }
  });
});

describe("sums of integers", () => {
  const one = (values: readonly bigint[], name: string): TestRow[] =>
    values.map((value, i) => ({ timeNs: BigInt(i), tags: {}, fields: { [name]: value } }));
  const repeat = (value: bigint, count: number) => Array.from({ length: count }, () => value);

  test.each<[what: string, name: string, values: bigint[], sum: bigint | null]>([
    ["the most", "i", [I64_MAX - 1n, 1n], I64_MAX],
    ["one more than the most", "i", [I64_MAX, 1n], null],
    ["the least", "i", [I64_MIN + 1n, -1n], I64_MIN],
    ["one less than the least", "i", [I64_MIN, -1n], null],
    ["the most, in many parts", "i", [...repeat(2n ** 57n, 63), 2n ** 57n - 1n], I64_MAX],
    ["one more, in many parts", "i", repeat(2n ** 57n, 64), null],
    ["the most unsigned", "u", [U64_MAX - 1n, 1n], U64_MAX],
    ["one more than the most unsigned", "u", [U64_MAX, 1n], null],
    ["above the signed ones", "u", repeat(2n ** 60n, 15), 15n * 2n ** 60n],
    ["unsigned in many parts", "u", repeat(2n ** 58n, 64), null],
  ])("%s", (_, name, values, sum) => {
    for (const sorted of [false, true]) {
      for (const nulls of [false, true]) {
        const rows = one(values, name);
        const some = nulls ? [...rows, { timeNs: 1000n, tags: {}, fields: { f: 1, [name]: null } }] : rows;
        for (const fn of ["sum", "mean"] as const) {
          const wanted = request({ aggregates: [{ fn, column: column(name) }] });
          const found = aggregate([part(some, { sorted })], wanted);
          const expected = fn === "sum" ? sum : Number(sum) / values.length;
          expect(found).toEqual(sum === null ? null : [[expected]]);
          // over two runs
          const halves = [part(rows.slice(0, 1), { sorted }), part(rows.slice(1), { sorted, sequence: 2 })];
          expect(aggregate(halves, wanted)).toEqual(sum === null ? null : [[expected]]);
        }
      }
    }
  });

  test("after an overflow no run is wanted any more", () => {
    const before = kernel.heap.usedBytes;
    const aggregator = new Aggregator(kernel, request({ aggregates: [{ fn: "sum", column: column("i") }] }), ALL_TIME, {
      memoryBytesMax: MIB,
    });
    const { run } = part(one([I64_MAX, 1n], "i"));
    const beside = kernel.heap.usedBytes;
    expect(aggregator.add({ run, selection: "all" })).toBe(false);
    expect(aggregator.add({ run, selection: "all" })).toBe(false);
    expect(aggregator.finish()).toBeNull();
    aggregator.release();
    expect(kernel.heap.usedBytes - beside).toBeLessThanOrEqual(0);
    arena.free();
    expect(kernel.heap.usedBytes).toBe(before);
  });
});

test("more groups than the request allows are none", () => {
  const groupBy = [column("host")];
  const ofHosts = Array.from({ length: 5 }, (_, i): TestRow => ({ tags: { host: `h${i}` }, timeNs: BigInt(i), fields: { i: 1n } }));
  for (const groupsMax of [4, 5]) {
    const aggregator = new Aggregator(kernel, request({ groupBy, groupsMax }), ALL_TIME, { memoryBytesMax: MIB });
    expect(aggregator.add({ run: part(ofHosts).run, selection: "all" })).toBe(groupsMax === 5);
    const groups = aggregator.finish();
    expect(groups === null).toBe(groupsMax === 4);
    groups?.close();
  }
});

describe("floats", () => {
  const NAN = Number.NaN;
  test.each<[values: number[], min: number, max: number]>([
    [[NAN], NAN, NAN],
    [[NAN, 1], 1, NAN],
    [[Infinity, NAN], Infinity, NAN],
    [[Infinity], Infinity, Infinity],
    [[-Infinity], -Infinity, -Infinity],
    [[-Infinity, NAN, Infinity, 3], -Infinity, NAN],
    [[5, -2, 7, 7, -2, 0.5, 3, 4, -1, 6, 8, 2], -2, 8],
  ])("least and greatest of %p", (values, min, max) => {
    // at every place of a long column of the same value
    for (const shift of [0, 1, 3, 8]) {
      const all = [...Array.from({ length: shift }, () => values[0]!), ...values, ...Array.from({ length: 9 }, () => values.at(-1)!)];
      for (const sorted of [false, true]) {
        for (const nulls of [false, true]) {
          const rows = all.map((value, i): TestRow => ({ timeNs: BigInt(i * 2), tags: {}, fields: { f: value } }));
          if (nulls) rows.splice(2, 0, { timeNs: 1n, tags: {}, fields: { i: 1n, f: null } });
          const aggregates: Aggregate[] = [
            { fn: "min", column: column("f") },
            { fn: "max", column: column("f") },
          ];
          expect(aggregate([part(rows, { sorted })], request({ aggregates }))).toEqual([[min, max]]);
        }
      }
    }
  });
});

test("groups whose hashes are equal are told apart", () => {
  // 32 bits of hash: of 200,000 groups some five pairs share them
  const count = 200_000;
  const numbers = Array.from({ length: count }, (_, i) => i);
  const valuesPtr = arena.views([null, ...numbers.map((i) => `h${i}`)]);
  const codesPtr = arena.u32(numbers.map((i) => i + 1));
  const run: Run = {
    rowCount: count,
    seriesPtr: arena.u32(numbers),
    timePtr: arena.i64(numbers.map(() => 7n)),
    columns: [],
    dictionary: { id: nextDictionaryId(kernel), seriesCount: count, tags: [{ columnId: 1, codesPtr, valuesPtr, valueCount: count + 1 }] },
    sorted: true,
    unique: true,
    minTimeNs: 7n,
    maxTimeNs: 7n,
    seqMin: 1,
    seqMax: 1,
  };
  const found = aggregate([{ run, rows: [{ timeNs: 7n, tags: {}, fields: {} }] }], request({ groupBy: [column("host")] }))!;
  expect(found.length).toBe(count);
  expect(found.every(([host, rows], i) => host === `h${i}` && rows === 1n)).toBe(true);
});

describe("bounds", () => {
  test("no rows, no groups", () => {
    const parts = [part([{ timeNs: 5n, tags: {}, fields: { i: 1n } }])];
    expect(aggregate([], request())).toEqual([]);
    expect(aggregate(parts, request({ range: { minNs: 6n, maxNs: 9n } }))).toEqual([]);
    expect(aggregate(parts, request({ range: { minNs: 9n, maxNs: 1n }, bins: { originNs: 0n, widthNs: 1n } }))).toEqual([]);
  });

  test("too many cells are refused, before they are made", () => {
    const rows = Array.from(
      { length: 3000 },
      (_, i): TestRow => ({ timeNs: BigInt(i) * 10n ** 12n, tags: { host: `h${i}` }, fields: { i: 1n } }),
    );
    for (const sorted of [false, true]) {
      const parts = [part(rows, { sorted })];
      const before = kernel.extents.usedBytes;
      for (const bins of [null, { originNs: 0n, widthNs: 1n }]) {
        expect(aggregate(parts, request({ groupBy: [column("host")], bins }), { memoryBytesMax: 16_000 })).toBeNull();
        expect(aggregate(parts, request({ groupBy: [column("host")], bins }), { memoryBytesMax: 4 * MIB })).toHaveLength(3000);
      }
      expect(kernel.extents.usedBytes - before).toBeLessThan(16 * MIB);
    }
  });

  test("rows outside the announced range are not counted", () => {
    const { run } = part([1n, 5n, 9n].map((timeNs) => ({ timeNs, tags: {}, fields: { i: 1n } })));
    for (const sorted of [false, true]) {
      const wanted = request({ bins: { originNs: 0n, widthNs: 1n } });
      const aggregator = new Aggregator(kernel, wanted, { minNs: 4n, maxNs: 6n }, { memoryBytesMax: MIB });
      addOne(kernel, aggregator, { ...run, sorted }, wanted);
      addOne(kernel, aggregator, { ...run, sorted }, { ...wanted, range: { minNs: 6n, maxNs: 20n } });
      expect(drain(aggregator.finish()!, wanted)).toEqual([[5n, 1n]]);
    }
  });

  test("first and last of strings keep the runs' text", () => {
    const keeps = (name: string, fn: AggregateFunction) => {
      const aggregator = new Aggregator(kernel, request({ aggregates: [{ fn, column: column(name) }] }), ALL_TIME, { memoryBytesMax: MIB });
      aggregator.release();
      return aggregator.keepsText;
    };
    expect([keeps("s", "first"), keeps("s", "count"), keeps("i", "last"), keeps("s2", "last")]).toEqual([true, false, false, true]);
  });

  test("a dictionary that grows between runs keeps its groups", () => {
    const tags = (count: number) =>
      Array.from({ length: count }, (_, i): TestRow => ({ timeNs: BigInt(i), tags: { host: `h${i}` }, fields: { i: 1n } }));
    const { run } = part(tags(9));
    const early: Run = { ...run, rowCount: 4, dictionary: { ...run.dictionary, seriesCount: 4 } };
    const wanted = request({ groupBy: [column("host")] });
    const aggregator = new Aggregator(kernel, wanted, ALL_TIME, { memoryBytesMax: MIB });
    for (const one of [early, run, early]) aggregator.add({ run: one, selection: "all" });
    const found = drain(aggregator.finish()!, wanted);
    expect(found).toEqual(Array.from({ length: 9 }, (_, i) => [`h${i}`, i < 4 ? 3n : 1n]));
  });

  test("min, max and count of time", () => {
    const aggregates = (["min", "max", "count"] as const).map((fn) => ({ fn, column: TIME_COLUMN }));
    const rows = [I64_MAX, I64_MIN, 3n].map((timeNs): TestRow => ({ timeNs, tags: {}, fields: { i: 1n } }));
    for (const sorted of [false, true])
      expect(aggregate([part(rows, { sorted })], request({ aggregates }))).toEqual([[I64_MIN, I64_MAX, 3n]]);
  });
});
