// Numbers of values of a tag, and of combinations of tags, against rows that are merged and counted one by one.
import { describe, expect, test } from "bun:test";
import { type Below, prng } from "../../test/support/prng.ts";
import { isHiddenRow, isWanted, mergeRows, randomTags } from "../../test/support/rows/naive-scan.ts";
import { HOUR_NS, randomDeletions, randomParts, withLoneHosts } from "../../test/support/rows/random-parts.ts";
import { ALL_TYPES } from "../../test/support/rows/random-rows.ts";
import { readGroups } from "../../test/support/rows/read-groups.ts";
import type { TestRow } from "../../test/support/rows/rows.ts";
import { TestSnapshot } from "../../test/support/rows/table-snapshot.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { LIMITS } from "../model/limits.ts";
import type { AggregateRequest } from "../model/query/aggregate.ts";
import { ALL_TIME } from "../model/query/scan.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../model/rows/column.ts";
import { BlockCache } from "../storage/block-cache/block-cache.ts";
import { SeriesNumbersOfTables } from "./series-numbers.ts";
import { TableScan } from "./table-scan.ts";

const kernel = Kernel.create();
const SEED = Number(process.env["SEED"] ?? 2);
const TAGS = ALL_TYPES.filter(({ type }) => type === ColumnType.tag);
const KEYS = [TAGS, ...TAGS.map((tag) => [tag]), TAGS.slice(1), TAGS.toReversed()];

function randomRequest(below: Below): AggregateRequest {
  const minNs = BigInt(below(160) - 20) * HOUR_NS;
  const ranges = [ALL_TIME, { minNs, maxNs: minNs + BigInt(below(40)) * HOUR_NS }, { ...ALL_TIME, minNs }, { ...ALL_TIME, maxNs: minNs }];
  const groupBy = KEYS[below(KEYS.length)]!;
  const counted = groupBy.length === 1 && below(2) === 0 ? "present" : "all";
  return { range: ranges[below(4)]!, tags: randomTags(below), fields: [], bins: null, groupBy, aggregates: [], counted };
}

function numberOf(rows: readonly TestRow[], { groupBy, counted }: AggregateRequest): number {
  const keys = rows.map((row) => groupBy.map(({ name }) => row.tags[name] ?? null));
  return new Set(keys.filter((key) => counted === "all" || !key.includes(null)).map((key) => JSON.stringify(key))).size;
}

const found = (scan: TableScan, request: AggregateRequest) => readGroups(kernel, scan.aggregate(request)!, request);

test(`random tables and questions, seed ${SEED}`, () => {
  const below = prng(SEED);
  const before = kernel.heap.usedBytes;
  const numbers = new SeriesNumbersOfTables(kernel);
  for (let round = 0; round < 60; round++) {
    const parts = withLoneHosts(below, randomParts(below));
    const tombstones = below(3) === 0 ? randomDeletions(below, parts) : [];
    const retentionMinNs = below(4) === 0 ? BigInt(below(60)) * HOUR_NS : ALL_TIME.minNs;
    const snapshot = new TestSnapshot(kernel, parts, { columns: ALL_TYPES, pageRowsMax: 64, tombstones, retentionMinNs });
    const batches = parts.flatMap((part) => part.batches);
    const left = batches.flatMap((rows, i) => rows.filter((row) => !isHiddenRow(row, i + 1, tombstones)));
    const merged = mergeRows(left).filter(({ timeNs }) => timeNs >= retentionMinNs);
    const cache = new BlockCache(kernel, below(2) === 0 ? 0 : 64 << 20);
    // with series that have numbers, and without
    const known = { numbers: numbers.of(below(3)), segments: null };
    const scans = [new TableScan(kernel, snapshot.table, cache, LIMITS, known), new TableScan(kernel, snapshot.table, cache)];
    for (let each = 0; each < 10; each++) {
      const request = randomRequest(below);
      const expected = BigInt(
        numberOf(
          merged.filter((row) => isWanted(row, request)),
          request,
        ),
      );
      for (const scan of scans) expect(found(scan, request)).toEqual([[expected]]);
    }
    for (const scan of scans) scan.close();
    for (const { fileId } of snapshot.table.blocks) cache.dropFile(fileId);
    snapshot.free();
  }
  numbers.release();
  expect(kernel.heap.usedBytes).toBe(before);
});

describe("one sensor, one row, no row", () => {
  const HOST: ColumnDef = { id: 1, name: "host", type: ColumnType.tag };
  const RACK: ColumnDef = { id: 3, name: "rack", type: ColumnType.tag };
  const COLUMNS = [TIME_COLUMN, HOST, { id: 2, name: "load", type: ColumnType.float }, RACK];
  const row = (hour: number, tags: Record<string, string>): TestRow => ({ timeNs: BigInt(hour) * HOUR_NS, tags, fields: { load: 1 } });
  const TABLES: [what: string, rows: TestRow[], hosts: number, present: number, both: number][] = [
    ["no row", [], 0, 0, 0],
    ["one row", [row(1, { host: "a" })], 1, 1, 1],
    ["one sensor", [row(1, { host: "a" }), row(2, { host: "a" }), row(3, { host: "a" })], 1, 1, 1],
    ["no tags", [row(1, {}), row(2, {})], 1, 0, 1],
    ["a constant tag", [row(1, { host: "a", rack: "r" }), row(2, { host: "b", rack: "r" })], 2, 2, 2],
    ["a tag that some rows lack", [row(1, { host: "a", rack: "r" }), row(2, { rack: "r" }), row(3, {})], 2, 1, 3],
  ];
  test.each(TABLES)("%s", (_, rows, hosts, present, both) => {
    for (const kind of ["file", "memory"] as const) {
      const snapshot = new TestSnapshot(kernel, [{ kind, batches: [rows] }], { columns: COLUMNS });
      const scan = new TableScan(kernel, snapshot.table);
      const of = (groupBy: readonly ColumnDef[], counted: "all" | "present") =>
        found(scan, { range: ALL_TIME, tags: [], fields: [], bins: null, groupBy, aggregates: [], counted });
      expect([of([HOST], "all"), of([HOST], "present"), of([RACK, HOST], "all")]).toEqual(
        [hosts, present, both].map((count) => [[BigInt(count)]]),
      );
      scan.close();
      snapshot.free();
    }
  });
});

test("numbers that another statement has released meanwhile", () => {
  const HOST: ColumnDef = { id: 1, name: "host", type: ColumnType.tag };
  const columns = [TIME_COLUMN, HOST, { id: 2, name: "load", type: ColumnType.float }];
  const ofHosts = (count: number, name: string) =>
    [0, 24].map((hour) => ({
      kind: "file" as const,
      batches: [
        Array.from(
          { length: count },
          (_, i): TestRow => ({ timeNs: BigInt(hour + i) * HOUR_NS, tags: { host: `${name}${i}` }, fields: { load: 1 } }),
        ),
      ],
    }));
  const request = { range: ALL_TIME, tags: [], fields: [], bins: null, groupBy: [HOST], aggregates: [], counted: "all" } as const;
  const numbers = new SeriesNumbersOfTables(kernel, { seriesMax: 30, seriesOfTableMax: 30 });
  const cache = new BlockCache(kernel, 0);
  const snapshots = [ofHosts(20, "h"), ofHosts(25, "x")].map(
    (parts, i) => new TestSnapshot(kernel, parts, { columns, pageRowsMax: 64, firstFileId: 10 * i }),
  );
  const scanOf = (i: number) => new TableScan(kernel, snapshots[i]!.table, cache, LIMITS, { numbers: numbers.of(i), segments: null });
  const scan = scanOf(0);
  for (const steps = [scan.aggregateInSteps(request)]; ; ) {
    // together they have more series than are numbered
    const step = steps[0]!.next();
    if (step.done) {
      expect(readGroups(kernel, step.value!, request)).toEqual([[20n]]);
      break;
    }
    const other = scanOf(1);
    expect(found(other, request)).toEqual([[25n]]);
    other.close();
  }
  scan.close();
  numbers.release();
  for (const snapshot of snapshots) {
    for (const { fileId } of snapshot.table.blocks) cache.dropFile(fileId);
    snapshot.free();
  }
});

test("more possible combinations than are numbered", () => {
  const [a, b, c, d] = ["a", "b", "c", "d"].map((name, i): ColumnDef => ({ id: i + 1, name, type: ColumnType.tag }));
  const rows = Array.from({ length: 6000 }, (_, i): TestRow => {
    const number = i >> 1;
    const tags = { a: `a${number % 257}`, b: `b${number % 263}`, c: `c${number % 269}`, d: `d${i & 1}` };
    return { timeNs: BigInt(i), tags, fields: { load: 1 } };
  });
  const columns = [TIME_COLUMN, a!, b!, c!, d!, { id: 5, name: "load", type: ColumnType.float }];
  const snapshot = new TestSnapshot(kernel, [{ kind: "file", batches: [rows] }], { columns });
  const scan = new TableScan(kernel, snapshot.table);
  const request = { range: ALL_TIME, tags: [], fields: [], bins: null, groupBy: [a!, b!, c!], aggregates: [], counted: "all" } as const;
  expect(found(scan, request)).toEqual([[3000n]]);
  scan.close();
  snapshot.free();
});
