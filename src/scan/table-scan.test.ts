// Scans of a table that lies in files and in memory, against filtering and merging plain rows; what is read of it, to the page; damage.
import { describe, expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { aggregateRows, expectGroups } from "../../test/support/rows/naive-aggregate.ts";
import {
  isHiddenRow,
  isWanted,
  mergeRows,
  newestInOrder,
  randomFields,
  randomTagOrders,
  randomTags,
} from "../../test/support/rows/naive-scan.ts";
import { HOUR_NS, randomDeletions, randomParts, withLoneHosts } from "../../test/support/rows/random-parts.ts";
import { ALL_TYPES } from "../../test/support/rows/random-rows.ts";
import { readGroups } from "../../test/support/rows/read-groups.ts";
import type { TestRow, TestValue } from "../../test/support/rows/rows.ts";
import { drain, project, type RowValues } from "../../test/support/rows/scan-rows.ts";
import { type TablePart, TestSnapshot } from "../../test/support/rows/table-snapshot.ts";
import { EVERY_AGGREGATE } from "../../test/support/sql/every-aggregate.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import type { AggregateRequest } from "../model/query/aggregate.ts";
import { ALL_TIME, type ScanRequest } from "../model/query/scan.ts";
import type { ScanRecord } from "../model/query/scan-record.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../model/rows/column.ts";
import { finish } from "../model/steps.ts";
import { BlockCache } from "../storage/block-cache/block-cache.ts";
import { SortedSegments } from "./segments/sorted-segments.ts";
import { noSeriesNumbers, type SeriesNumbers, SeriesNumbersOfTables } from "./series-numbers.ts";
import { TableScan } from "./table-scan.ts";

const kernel = Kernel.create();
const SEED = Number(process.env["SEED"] ?? 2);

type Below = (n: number) => number;

/** Rows as a set that keeps how often each occurs. */
const sorted = (rows: readonly RowValues[]) => rows.map((row) => JSON.stringify(row.map(plain))).sort();

function plain(value: TestValue | null): string | boolean | null {
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "number" ? `number ${Object.is(value, -0) ? "-0" : value}` : value;
}

function randomRequest(below: Below): ScanRequest {
  const minNs = BigInt(below(160) - 20) * HOUR_NS;
  const ranges = [ALL_TIME, { minNs, maxNs: minNs + BigInt(below(40)) * HOUR_NS }, { ...ALL_TIME, minNs }, { ...ALL_TIME, maxNs: minNs }];
  const withTags = below(2) === 0;
  const columns = ALL_TYPES.filter(({ type }) => below(3) > 0 && (withTags || type !== ColumnType.tag));
  return {
    columns: below(8) === 0 ? [] : columns.toReversed(),
    range: ranges[below(4)]!,
    tags: randomTags(below),
    ...(below(2) === 0 ? {} : { fields: randomFields(below) }),
  };
}

function randomGrouping(below: Below): Pick<AggregateRequest, "bins" | "groupBy" | "aggregates" | "numbersGroups"> {
  const bins = { originNs: BigInt(below(9)), widthNs: BigInt(1 + below(50)) * HOUR_NS };
  const tags = ALL_TYPES.filter(({ type }) => type === ColumnType.tag && below(3) === 0);
  const aggregates = EVERY_AGGREGATE.filter(() => below(5) === 0);
  return { bins: below(2) === 0 ? null : bins, groupBy: tags, aggregates, numbersGroups: tags.length > 0 && below(2) === 0 };
}

/** Sums of integers at the ends of 64 bits overflow, and then the scan makes no groups. */
function checkGroups(scan: TableScan, merged: readonly TestRow[], request: AggregateRequest): void {
  const cursor = scan.aggregate(request);
  const { groups } = aggregateRows(merged, request);
  const sums = request.aggregates.some(({ fn, column }) => (fn === "sum" || fn === "mean") && column?.type !== ColumnType.float);
  if (cursor === null) {
    expect(sums).toBe(true);
    return;
  }
  expectGroups(readGroups(kernel, cursor, request), groups, request);
  expect(scan.records().at(-1)!.rowsReturned).toBe(groups.size);
}

/** The newest row of each series is found whichever columns are read; what else comes is of the wanted rows. */
function checkNewest(scan: TableScan, merged: readonly TestRow[], { columns, range, tags }: ScanRequest): void {
  const request: ScanRequest = { columns, range, tags };
  const wanted = merged.filter((row) => isWanted(row, request));
  const ofSeries = new Map<string, TestRow>();
  for (const row of wanted) {
    const key = JSON.stringify(Object.entries(row.tags).sort());
    if (!((ofSeries.get(key)?.timeNs ?? row.timeNs) > row.timeNs)) ofSeries.set(key, row);
  }
  const texts = (rows: readonly TestRow[]) => sorted(rows.map((row) => project(request.columns, row)));
  const found = sorted(drain(kernel, scan.open({ ...request, newestOnly: true }), request.columns));
  expect(missing(found, texts([...ofSeries.values()]))).toEqual([]);
  expect(missing(texts(wanted), found)).toEqual([]);
}

/** One newest row of each combination of random tags, in order of these. */
function checkInOrder(below: Below, scan: TableScan, merged: readonly TestRow[], { columns: others, range, tags }: ScanRequest): void {
  const keys = randomTagOrders(below);
  const columns = [...keys.map(({ columnId }) => ALL_TYPES.find(({ id }) => id === columnId)!), TIME_COLUMN, ...others];
  const wanted = merged.filter((row) => isWanted(row, { range, tags }));
  const found = drain(kernel, finish(scan.newestInOrder({ columns, range, tags, keys }))!, columns);
  expect(found.map((row) => row.slice(0, keys.length + 1))).toEqual(newestInOrder(wanted, keys));
  expect(missing(sorted(wanted.map((row) => project(columns, row))), sorted(found))).toEqual([]);
}

/** What of `some` is not in `all`, each as often as it occurs. */
function missing(all: readonly string[], some: readonly string[]): string[] {
  const left = [...all];
  return some.filter((text) => {
    const at = left.indexOf(text);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

describe("agrees with merging and filtering row by row", () => {
  const CACHES: [name: string, bytes: number][] = [
    ["no cache", 0],
    ["a tiny cache", 30_000],
    ["a cache for all", 64 << 20],
  ];
  test.each(CACHES)(`%s, seed ${SEED}`, (_, cacheBytes) => {
    const below = prng(SEED);
    const before = kernel.heap.usedBytes;
    const numbers = new SeriesNumbersOfTables(kernel);
    for (let round = 0; round < 15; round++) {
      const parts = withLoneHosts(below, randomParts(below));
      const batches = parts.flatMap((part) => part.batches);
      const tombstones = randomDeletions(below, parts);
      const retentionMinNs = below(3) === 0 ? BigInt(below(60)) * HOUR_NS : ALL_TIME.minNs;
      const snapshot = new TestSnapshot(kernel, parts, { columns: ALL_TYPES, pageRowsMax: 64, tombstones, retentionMinNs });
      const left = batches.flatMap((rows, i) => rows.filter((row) => !isHiddenRow(row, i + 1, tombstones)));
      const merged = mergeRows(left).filter(({ timeNs }) => timeNs >= retentionMinNs);
      const cache = new BlockCache(kernel, cacheBytes, { readsMax: below(4), pageRowsMin: below(64) });
      const segments = new SortedSegments(kernel, cache, {
        ...{ rowsMin: below(50), rowsPerSeriesMin: below(2), scansMin: below(4) },
        ...{ joined: 2 + below(3), joinScansMin: below(4) },
      });
      for (const { segment } of snapshot.table.runs) if (below(4) > 0) segments.begin(segment!);
      const limits = { mergeBytesMax: below(2) === 0 ? 10_000 : LIMITS.mergeBytesMax };
      const scan = new TableScan(kernel, snapshot.table, cache, limits, { numbers: numbers.of(below(3)), segments });
      for (let each = 0; each < 8; each++) {
        const request = randomRequest(below);
        const expected = merged.filter((row) => isWanted(row, request)).map((row) => project(request.columns, row));
        const found = drain(kernel, scan.open(request), request.columns);
        expect(sorted(found)).toEqual(sorted(expected));
        expect(cache.bytes).toBeLessThanOrEqual(cacheBytes);
        const record = scan.records().at(-1)!;
        expect(record.rowsReturned).toBe(expected.length);
        expect(record.rowsRead).toBeGreaterThanOrEqual(expected.length);
        checkNewest(scan, merged, request);
        checkInOrder(below, scan, merged, request);
        checkGroups(scan, merged, { ...randomGrouping(below), range: request.range, tags: request.tags, fields: request.fields ?? [] });
      }
      scan.close();
      for (const { fileId } of snapshot.table.blocks) cache.dropFile(fileId);
      for (const { segment } of snapshot.table.runs) segments.end(segment!);
      expect(cache.bytes).toBe(0);
      snapshot.free();
    }
    numbers.release();
    expect(kernel.heap.usedBytes).toBe(before);
  });

  test("scans of one table at a time, left half way", () => {
    const below = prng(SEED);
    const before = kernel.heap.usedBytes;
    const cache = new BlockCache(kernel, 100_000);
    for (let round = 0; round < 30; round++) {
      const snapshot = new TestSnapshot(kernel, randomParts(below), { columns: ALL_TYPES, pageRowsMax: 64, firstFileId: 10 * round });
      const scan = new TableScan(kernel, snapshot.table, cache);
      const cursors = Array.from({ length: 3 }, () => scan.open(randomRequest(below)));
      for (let step = 0; step < 20; step++) cursors[below(3)]!.next();
      if (below(2) === 0) cursors[below(3)]!.close();
      scan.close();
      expect(cache.bytes).toBeLessThanOrEqual(100_000);
      for (const { fileId } of snapshot.table.blocks) cache.dropFile(fileId);
      snapshot.free();
    }
    expect(cache.bytes).toBe(0);
    expect(kernel.heap.usedBytes).toBe(before);
  });
});

// Four days in a file each, 40 hosts, a row each 15 minutes: 3,840 rows and 4 pages a day, and a fifth day in memory.
const COLUMNS: readonly ColumnDef[] = [
  TIME_COLUMN,
  { id: 1, name: "host", type: ColumnType.tag },
  { id: 2, name: "load", type: ColumnType.float },
  { id: 3, name: "used", type: ColumnType.integer },
];
const HOSTS = 40;
const DAY_NS = 24n * HOUR_NS;
const hostName = (host: number) => `host_${String(host).padStart(2, "0")}`;
const dayRows = (day: number) =>
  Array.from({ length: HOSTS * 96 }, (_, i): TestRow => {
    const [step, host] = [Math.floor(i / HOSTS), i % HOSTS];
    const timeNs = BigInt(day) * DAY_NS + BigInt(step) * (HOUR_NS / 4n);
    return { timeNs, tags: { host: hostName(host) }, fields: { load: i / 2, used: BigInt(i) } };
  });
const days = new TestSnapshot(
  kernel,
  [
    ...[0, 1, 2, 3].map((day): TablePart => ({ kind: "file", batches: [dayRows(day)] })),
    { kind: "memory", batches: [dayRows(4).slice(0, 3000), dayRows(4).slice(3000)] },
  ],
  { columns: COLUMNS, pageRowsMax: 1024 },
);
const ALL_DAYS: Partial<ScanRecord> = { filesSeen: 4, blocksSeen: 4, segmentsSeen: 2 };
const columnsOf = (...names: string[]) => COLUMNS.filter(({ name }) => names.includes(name));

function scanDays(request: Partial<ScanRequest>, cache = new BlockCache(kernel, 0), numbers?: SeriesNumbers): ScanRecord {
  const scan = new TableScan(kernel, days.table, cache, LIMITS, { numbers: numbers ?? noSeriesNumbers(kernel), segments: null });
  const columns = request.columns ?? columnsOf("load");
  const rows = drain(kernel, scan.open({ range: ALL_TIME, tags: [], ...request, columns }), columns);
  scan.close();
  const [record] = scan.records();
  expect(record!.rowsReturned).toBe(rows.length);
  return record!;
}

describe("groups", () => {
  const load = columnsOf("load")[0]!;
  const groupsOf = (request: Partial<AggregateRequest>, cache = new BlockCache(kernel, 0)) => {
    const scan = new TableScan(kernel, days.table, cache);
    const aggregates = [{ fn: "max", column: load } as const];
    const cursor = scan.aggregate({ range: ALL_TIME, tags: [], fields: [], bins: null, groupBy: [], aggregates, ...request });
    const found = cursor === null ? null : drain(kernel, cursor, [{ id: 0, name: "", type: ColumnType.float }]);
    scan.close();
    return { found, record: scan.records()[0]! };
  };

  test("of a host and an hour: a page of a file", () => {
    const range = { minNs: 2n * DAY_NS + 3n * HOUR_NS, maxNs: 2n * DAY_NS + 4n * HOUR_NS - 1n };
    const { found, record } = groupsOf({ range, tags: [{ columnId: 1, values: [hostName(3)] }] });
    // its last row of that hour is that of step 15
    expect(found).toEqual([[(15 * HOSTS + 3) / 2]]);
    expect(record).toMatchObject({ ...ALL_DAYS, filesRead: 1, pagesRead: 1, rowsRead: 1024, rowsReturned: 1, gen0Misses: 3 });
  });

  test("of all rows, one: what is added up is decoded alone, to count nothing is", () => {
    // 16 pages of 1,024 rows in files
    expect(groupsOf({}).record).toMatchObject({ ...ALL_DAYS, pagesRead: 16, segmentsRead: 2, rowsRead: 5 * 3840, gen0Misses: 16 });
    const count = groupsOf({ aggregates: [{ fn: "count", column: null }] });
    expect(count.record).toMatchObject({ rowsRead: 5 * 3840, gen0Misses: 0 });
    expect(count.found?.length).toBe(1);
  });

  test("a range or tags without rows give no groups", () => {
    expect(groupsOf({ range: { minNs: -9n, maxNs: -1n } }).found).toEqual([]);
    expect(groupsOf({ range: { minNs: 9n, maxNs: 1n } }).found).toEqual([]);
    expect(groupsOf({ tags: [{ columnId: 1, values: [] }] }).found).toEqual([]);
  });

  test("a pass over all of it keeps nothing without a cache", () => {
    const cache = new BlockCache(kernel, 0);
    expect(groupsOf({}, cache).found).toEqual([[(HOSTS * 96 - 1) / 2]]);
    expect(cache.bytes).toBe(0);
  });
});

describe("what is read", () => {
  test.each([[["load"]], [["time"]], [["time", "load", "used"]], [["host"]], [[]]])("newest rows, of them %p", (names) => {
    const scan = new TableScan(kernel, days.table);
    const columns = columnsOf(...names);
    const rows = drain(kernel, scan.open({ columns, range: { minNs: 0n, maxNs: DAY_NS - 1n }, tags: [], newestOnly: true }), columns);
    scan.close();
    const ends = Array.from({ length: HOSTS }, (_, host) => dayRows(0)[95 * HOSTS + host]!);
    expect(missing(sorted(rows), sorted(ends.map((row) => project(columns, row))))).toEqual([]);
    expect(rows.length).toBe(HOSTS);
  });

  const host = (...hosts: number[]) => [{ columnId: 1, values: hosts.map(hostName) }];
  const ROWS: [name: string, request: Partial<ScanRequest>, record: Partial<ScanRecord>][] = [
    [
      // 96 rows of each host: host 3 has rows 288 to 383, in the first of four pages
      "a host and an hour: a page of a file, its series, times and one field",
      { tags: host(3), range: { minNs: DAY_NS + 3n * HOUR_NS, maxNs: DAY_NS + 4n * HOUR_NS - 1n } },
      { filesRead: 1, blocksRead: 1, pagesSeen: 4, pagesRead: 1, segmentsRead: 0, rowsRead: 1024, rowsReturned: 4, gen0Misses: 3 },
    ],
    [
      "a host whose rows lie over two pages",
      { tags: host(10), range: { minNs: DAY_NS, maxNs: 2n * DAY_NS - 1n } },
      { filesRead: 1, pagesRead: 2, rowsReturned: 96, gen0Misses: 1 + 2 * 2 },
    ],
    [
      "hosts at both ends",
      { tags: host(0, 39), range: { minNs: 0n, maxNs: 2n * DAY_NS - 1n } },
      { filesRead: 2, blocksRead: 2, pagesSeen: 8, pagesRead: 4, rowsReturned: 4 * 96, segmentsRead: 0 },
    ],
    [
      "a host that is nowhere: dictionaries only",
      { tags: host(77) },
      { filesRead: 0, pagesSeen: 16, pagesRead: 0, rowsRead: 0, gen0Misses: 4 },
    ],
    [
      "a day in memory: no file",
      { range: { minNs: 4n * DAY_NS, maxNs: 5n * DAY_NS } },
      { filesRead: 0, pagesSeen: 0, segmentsRead: 2, bytesRead: 0 },
    ],
    ["times before all", { range: { minNs: -5n, maxNs: -1n } }, { filesRead: 0, segmentsRead: 0, rowsRead: 0, bytesRead: 0 }],
    [
      "a field of all rows: it alone is decoded",
      {},
      { filesRead: 4, pagesRead: 16, segmentsRead: 2, gen0Misses: 16, rowsReturned: 5 * 3840 },
    ],
    [
      "no column at all: rows are counted by the manifest",
      { columns: [] },
      { filesRead: 4, pagesRead: 0, bytesRead: 0, rowsReturned: 5 * 3840 },
    ],
    [
      "no column, from the middle of a day on: those of this day are counted in its pages",
      { columns: [], range: { minNs: DAY_NS / 2n, maxNs: ALL_TIME.maxNs } },
      { filesRead: 4, pagesRead: 4, gen0Misses: 1 + 4, rowsReturned: 4.5 * 3840 },
    ],
    ["times and hosts of all rows", { columns: columnsOf("time", "host") }, { pagesRead: 16, gen0Misses: 4 + 16, rowsReturned: 5 * 3840 }],
    [
      "a field that is tested and not shown",
      { columns: [], fields: [{ columnId: 3, operator: "<", value: 100n }], range: { minNs: 0n, maxNs: DAY_NS - 1n } },
      { filesRead: 1, pagesRead: 4, rowsReturned: 100 },
    ],
  ];
  test.each(ROWS)("%s", (_, request, record) => {
    const found = scanDays(request);
    expect(found).toMatchObject({ ...ALL_DAYS, ...record, gen0Hits: found.gen0Hits, compactedHits: 0, compactedMisses: 0 });
    if (record.bytesRead === undefined) expect(found.bytesRead).toBeGreaterThan(0);
  });

  test("from the cache the second time", () => {
    const cache = new BlockCache(kernel, 256 << 20);
    const request = { tags: host(3, 20), columns: columnsOf("time", "load") };
    const first = scanDays(request, cache);
    // of each of the four files the series, and times and loads of two pages
    expect(first).toMatchObject({ gen0Hits: 0, gen0Misses: 4 * (1 + 2 * 2), rowsReturned: 2 * 5 * 96 });
    expect(scanDays(request, cache)).toEqual({ ...first, gen0Hits: first.gen0Misses, gen0Misses: 0, bytesRead: 0 });
    for (const fileId of [1, 2, 3, 4]) cache.dropFile(fileId);
    expect(cache.bytes).toBe(0);
  });

  test("newest rows: those pages of a block that hold a series' last, and the next time none", () => {
    const cache = new BlockCache(kernel, 256 << 20);
    const request = { columns: columnsOf("host", "time", "load"), newestOnly: true };
    const first = scanDays(request, cache);
    // each of the four files: its series, times and loads of four pages; of the two segments in memory the later one has all hosts
    expect(first).toMatchObject({ filesRead: 4, gen0Misses: 4 * (1 + 2 * 4), segmentsRead: 1, rowsReturned: 5 * HOSTS });
    const again = scanDays(request, cache);
    expect(again).toMatchObject({ gen0Hits: 4 * (1 + 2), gen0Misses: 0, pagesRead: 0, bytesRead: 0, rowsReturned: 5 * HOSTS });
    // of one host there is a page of each block to look at
    const one = scanDays({ ...request, tags: host(3) });
    expect(one).toMatchObject({ pagesRead: 4, gen0Misses: 4 * 3, rowsReturned: 5 });
    // within a day their newest rows are elsewhere
    const range = { minNs: 0n, maxNs: DAY_NS + 12n * HOUR_NS };
    expect(scanDays({ ...request, range })).toMatchObject({ filesRead: 2, segmentsRead: 0 });
  });

  test("newest rows where series are numbered: dictionaries once, then only parts that hold a newest row", () => {
    const tables = new SeriesNumbersOfTables(kernel);
    const scan = (request: Partial<ScanRequest>) => {
      const columns = columnsOf("host", "time", "load");
      return scanDays({ columns, newestOnly: true, ...request }, new BlockCache(kernel, 0), tables.of(1));
    };
    expect(scan({})).toMatchObject({ filesRead: 0, gen0Misses: 4, segmentsRead: 1, rowsReturned: HOSTS });
    expect(scan({})).toMatchObject({ filesRead: 0, gen0Misses: 0, segmentsRead: 1, rowsReturned: HOSTS });
    expect(scan({ tags: host(3) })).toMatchObject({ filesRead: 0, gen0Misses: 0, segmentsRead: 1, rowsReturned: 1 });
    // nobody has newer rows than the last of three days in files: whole, or up to noon, a page of one host
    const days2 = { minNs: 0n, maxNs: 3n * DAY_NS - 1n };
    expect(scan({ range: days2 })).toMatchObject({ filesRead: 1, pagesRead: 0, rowsReturned: HOSTS });
    // host 21 has mornings in two pages: rows 2,016 to 2,047 and 2,048 to 2,064
    expect(scan({ range: { ...days2, maxNs: 2n * DAY_NS + 12n * HOUR_NS } })).toMatchObject({ filesRead: 1, rowsReturned: HOSTS + 1 });
    const half = { tags: host(3), range: { ...days2, maxNs: 2n * DAY_NS + 12n * HOUR_NS } };
    expect(scan(half)).toMatchObject({ filesRead: 1, pagesRead: 1, rowsReturned: 1 });
    tables.release();
  });

  test("a pass over all of it holds a page at a time", () => {
    const cache = new BlockCache(kernel, 0);
    const scan = new TableScan(kernel, days.table, cache);
    const cursor = scan.open({ columns: COLUMNS, range: { minNs: 0n, maxNs: 4n * DAY_NS - 1n }, tags: [] });
    let most = 0;
    while (cursor.next() !== null) most = Math.max(most, cache.bytes);
    scan.close();
    // a page decoded takes 1,024 × 28 bytes, its block's series and directory a few thousand
    expect(most).toBeGreaterThan(1024 * 28);
    expect(most).toBeLessThan(2 * 1024 * 28);
  });
});

test("damage in the middle of a scan is an error naming file and offset", () => {
  const before = kernel.heap.usedBytes;
  const snapshot = new TestSnapshot(kernel, [{ kind: "file", batches: [dayRows(0)] }], { columns: COLUMNS, pageRowsMax: 1024 });
  const [bytes] = snapshot.files;
  const block = snapshot.table.blocks[0]!;
  const damaged = bytes!.slice();
  // the loads of a later page: columns stand in order of ids
  damaged[Math.floor(bytes!.length * 0.7)]! ^= 8;
  const source = { kind: "bytes" as const, bytes: damaged };
  const scan = new TableScan(kernel, { ...snapshot.table, blocks: [{ ...block, source }] });
  const cursor = scan.open({ columns: COLUMNS, range: ALL_TIME, tags: [] });
  let rows = 0;
  let thrown: unknown;
  try {
    for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) rows += chunk.rowCount;
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(TsdbError);
  expect(thrown).toMatchObject({ kind: "corrupt_file", details: { file: "object in memory", offset: expect.any(Number) } });
  expect(rows).toBeGreaterThan(0);
  expect(rows).toBeLessThan(3840);
  scan.close();
  snapshot.free();
  expect(kernel.heap.usedBytes).toBe(before);
});
