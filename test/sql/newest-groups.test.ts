// Groups of which only those of the latest bins are wanted: these are complete and as many as asked for, whatever the rows are and wherever
// they lie, and a table of many bins is not read for a few of them.
import { describe, expect, test } from "bun:test";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { type AggregateRequest, NEWEST_GROUPS_MAX } from "../../src/model/query/aggregate.ts";
import { ALL_TIME } from "../../src/model/query/scan.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../src/model/rows/column.ts";
import { TableScan } from "../../src/scan/table-scan.ts";
import { BlockCache } from "../../src/storage/block-cache/block-cache.ts";
import { prng } from "../support/prng.ts";
import { aggregateRows, expectGroups } from "../support/rows/naive-aggregate.ts";
import { readGroups } from "../support/rows/read-groups.ts";
import type { TestRow } from "../support/rows/rows.ts";
import { type TablePart, TestSnapshot } from "../support/rows/table-snapshot.ts";

const kernel = Kernel.create();
const HOST: ColumnDef = { id: 1, name: "host", type: ColumnType.tag };
const USED: ColumnDef = { id: 2, name: "used", type: ColumnType.integer };
const COLUMNS = [TIME_COLUMN, HOST, USED];
const FIRST_NS = -1000n;

const rowOf = (time: number, host: number, used: number): TestRow => ({
  ...{ timeNs: FIRST_NS + BigInt(time), tags: host === 0 ? {} : { host: `h${host}` } },
  fields: { used: BigInt(used) },
});

/** Parts, and the rows that are visible of them: of equal points the later one. */
const STATES: [state: string, partsOf: (rows: readonly TestRow[]) => TablePart[]][] = [
  ["in memory", (rows) => [{ kind: "memory", batches: [rows] }]],
  ["in a file", (rows) => [{ kind: "file", batches: [rows] }]],
  [
    "half and half, with points again",
    (rows) => {
      const half = rows.length >> 1;
      const before = rows.slice(half - 20).map((row) => ({ ...row, fields: { used: -1n } }));
      return [
        { kind: "file", batches: [[...rows.slice(0, half), ...before]] },
        { kind: "memory", batches: [rows.slice(half - 20)] },
      ];
    },
  ],
];

function check(scan: TableScan, rows: readonly TestRow[], request: AggregateRequest, wanted: number): void {
  const found = readGroups(kernel, scan.aggregate({ ...request, newestGroups: wanted })!, request);
  const { groups } = aggregateRows(rows, request, COLUMNS);
  const least = found.reduce<bigint | null>((min, [bin]) => (min === null || (bin as bigint) < min ? (bin as bigint) : min), null);
  const expected = new Map([...groups].filter(([, { bin }]) => least !== null && bin! >= least));
  expectGroups(found, expected, request);
  expect(found.length).toBeGreaterThanOrEqual(Math.min(wanted, groups.size));
}

describe.each(STATES)("rows %s", (_, partsOf) => {
  test.each([1, 2, 3, 4, 5, 6])("of random times, hosts, bins and conditions: %d", (seed) => {
    const below = prng(seed);
    const [hosts, times] = [1 + below(4), [200, 2000, 20_000][below(3)]!];
    const points = new Map<string, TestRow>();
    for (let i = 0; i < 400; i++) {
      // at some times many hosts, at others none; sometimes a single row far behind all others
      const time = i === 0 && below(2) === 0 ? times * 20 : (below(times) >> 3) << below(4);
      const row = rowOf(time, below(hosts + 1), i);
      points.set(`${row.timeNs} ${row.tags["host"]}`, row);
    }
    const rows = [...points.values()];
    const snapshot = new TestSnapshot(kernel, partsOf(rows), { columns: COLUMNS, pageRowsMax: 64 });
    const scan = new TableScan(kernel, snapshot.table, new BlockCache(kernel, 0));
    const aggregates = (["count", "min", "max", "sum", "last"] as const).map((fn) => ({ fn, column: USED }));
    for (let i = 0; i < 40; i++) {
      const from = FIRST_NS + BigInt(below(times));
      const tags = below(3) === 0 ? [{ columnId: HOST.id, values: ["h1", null, "nobody"].slice(below(3)) }] : [];
      const fields = below(3) === 0 ? [{ columnId: USED.id, operator: "<" as const, value: BigInt(below(400)) }] : [];
      const request: AggregateRequest = {
        range: [ALL_TIME, { minNs: from, maxNs: from + BigInt(below(times)) }, { ...ALL_TIME, maxNs: from }][below(3)]!,
        ...{ tags, fields, aggregates },
        bins: { originNs: BigInt(below(50)), widthNs: BigInt([1, 7, 10, 64, 1000][below(5)]!) },
        groupBy: below(2) === 0 ? [] : [HOST],
      };
      check(scan, rows, request, [1, 2, 5, 50, NEWEST_GROUPS_MAX][below(5)]!);
    }
    scan.close();
  });

  test("an empty range, and rows past their retention", () => {
    const rows = Array.from({ length: 100 }, (_unused, i) => rowOf(i * 10, 1, i));
    const snapshot = new TestSnapshot(kernel, partsOf(rows), { columns: COLUMNS, retentionMinNs: FIRST_NS + 985n });
    const scan = new TableScan(kernel, snapshot.table, new BlockCache(kernel, 0));
    const request: AggregateRequest = {
      ...{ range: ALL_TIME, tags: [], fields: [], groupBy: [], bins: { originNs: 0n, widthNs: 10n } },
      aggregates: [{ fn: "max", column: USED }],
    };
    check(scan, rows.slice(99), request, 5);
    check(scan, [], { ...request, range: { minNs: 0n, maxNs: 5n } }, 5);
    scan.close();
  });
});

test("of 1,000 bins the pages of the latest are read", () => {
  // a host's rows are in the order of time
  const rows = Array.from({ length: 64_000 }, (_, i) => rowOf(i, 1, i));
  const snapshot = new TestSnapshot(kernel, [{ kind: "file", batches: [rows] }], { columns: COLUMNS, pageRowsMax: 1024 });
  const scan = new TableScan(kernel, snapshot.table, new BlockCache(kernel, 0));
  const request: AggregateRequest = {
    ...{ range: ALL_TIME, tags: [], fields: [], groupBy: [HOST], bins: { originNs: 0n, widthNs: 64n } },
    aggregates: [{ fn: "sum", column: USED }],
  };
  check(scan, rows, request, 5);
  // 5 bins of 64 rows end within the last page, or in the one before
  const read = scan.records().reduce((sum, { rowsRead }) => sum + rowsRead, 0);
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThanOrEqual(2 * 1024);
  scan.close();
});
