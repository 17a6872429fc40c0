// Rows and groups of integers and times that wait narrowed in the block cache: the same at each scan, in caches of any size.
import { describe, expect, test } from "bun:test";
import { aggregateRows, expectGroups } from "../../test/support/rows/naive-aggregate.ts";
import { readGroups } from "../../test/support/rows/read-groups.ts";
import type { TestRow } from "../../test/support/rows/rows.ts";
import { drain, project } from "../../test/support/rows/scan-rows.ts";
import { TestSnapshot } from "../../test/support/rows/table-snapshot.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { LIMITS } from "../model/limits.ts";
import type { AggregateRequest } from "../model/query/aggregate.ts";
import { ALL_TIME } from "../model/query/scan.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../model/rows/column.ts";
import { BlockCache } from "../storage/block-cache/block-cache.ts";
import { noSeriesNumbers } from "./series-numbers.ts";
import { TableScan } from "./table-scan.ts";

const kernel = Kernel.create();
const HOST: ColumnDef = { id: 1, name: "host", type: ColumnType.tag };
const USED: ColumnDef = { id: 2, name: "used", type: ColumnType.integer };
const SIZE: ColumnDef = { id: 3, name: "size", type: ColumnType.unsigned };
const COLUMNS = [TIME_COLUMN, HOST, USED, SIZE];
const HOUR_NS = 3_600_000_000_000n;
const DAY_NS = 24n * HOUR_NS;

// 20 hosts, a row each 15 minutes of three days in a file each, in pages of 512 rows; on the second day values are missing
const days = [0, 1, 2].map((day) =>
  Array.from({ length: 20 * 96 }, (_, i): TestRow => {
    const [step, host] = [Math.floor(i / 20), i % 20];
    const used = day === 1 && i % 5 === 0 ? {} : { used: BigInt(i * 37) - 20_000n };
    // of the third day no page fits four bytes
    const size = day === 2 ? BigInt(i) * 2n ** 36n : 2n ** 46n + BigInt(i % 200);
    // of the third day no two times share a divisor
    const timeNs = BigInt(day) * DAY_NS + BigInt(step) * (HOUR_NS / 4n) + (day === 2 ? BigInt(i) : 0n);
    return { timeNs, tags: { host: `host_${host}` }, fields: { ...used, size } };
  }),
);
const snapshot = new TestSnapshot(
  kernel,
  days.map((rows) => ({ kind: "file", batches: [rows] })),
  { columns: COLUMNS, pageRowsMax: 512 },
);

const bins = { originNs: 0n, widthNs: 6n * HOUR_NS };
const REQUESTS: [what: string, request: Partial<AggregateRequest>][] = [
  ["hosts and times", { bins, groupBy: [HOST] }],
  ["times, of a range", { bins, range: { minNs: 5n * HOUR_NS, maxNs: 2n * DAY_NS } }],
  ["two hosts", { groupBy: [HOST], tags: [{ columnId: HOST.id, values: ["host_3", "host_17"] }] }],
];
const aggregates = [USED, SIZE].flatMap((column) => (["sum", "mean", "min", "max", "count"] as const).map((fn) => ({ fn, column })));

// with 256 KiB four pages of 4 KiB stay wide when nobody uses them, and all in 0.5 to 2 KiB each
describe.each([0, 256 << 10, 64 << 20])("within %d bytes", (cacheBytes) => {
  test.each(REQUESTS)("groups of %s, and their rows", (_, some) => {
    const cache = new BlockCache(kernel, cacheBytes);
    const scan = new TableScan(kernel, snapshot.table, cache, LIMITS, { numbers: noSeriesNumbers(kernel), segments: null });
    const request: AggregateRequest = { range: ALL_TIME, tags: [], fields: [], bins: null, groupBy: [], aggregates, ...some };
    const { range, tags } = request;
    const hosts = tags[0]?.values;
    const rows = days
      .flat()
      .filter((row) => row.timeNs >= range.minNs && row.timeNs <= range.maxNs && hosts?.includes(row.tags["host"]!) !== false);
    const texts = (found: readonly unknown[]) => found.map((row) => Bun.inspect(row)).sort();
    const { groups } = aggregateRows(rows, request);
    for (let round = 0; round < 3; round++) {
      expectGroups(readGroups(kernel, scan.aggregate(request)!, request), groups, request);
      const found = drain(kernel, scan.open({ columns: COLUMNS, range, tags }), COLUMNS);
      expect(texts(found)).toEqual(texts(rows.map((row) => project(COLUMNS, row))));
    }
    if (cacheBytes > 0) expect(cache.counts.gen0Hits).toBeGreaterThan(cache.counts.gen0Misses);
    scan.close();
    for (const { fileId } of snapshot.table.blocks) cache.dropFile(fileId);
    expect(cache.bytes).toBe(0);
  });
});
