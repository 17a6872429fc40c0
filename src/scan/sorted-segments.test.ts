// Segments in order: the same rows, sorted, from the scan on that makes it worth it; and their memory, which goes with them.
import { afterEach, expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { ALL_TYPES, randomRows } from "../../test/support/rows/random-rows.ts";
import { Arena, packColumn, readRun, type TestRow, writeRun } from "../../test/support/rows/rows.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { emptyScanRecord } from "../model/query/scan-record.ts";
import { BlockCache } from "../storage/block-cache/block-cache.ts";
import { SortedSegments } from "./sorted-segments.ts";

const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

const LIMITS = { rowsMin: 10, rowsPerSeriesMin: 1, scansMin: 2 };
const show = ({ timeNs, tags, fields }: TestRow) => {
  const sorted = (some: object) => Object.entries(some).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([
    `${timeNs}`,
    sorted(tags),
    sorted(fields).map(([name, value]) => [name, Object.is(value, -0) ? "-0" : `${value}`]),
  ]);
};

/** No series and time twice. */
function distinct(rows: readonly TestRow[]): TestRow[] {
  return [...new Map(rows.map((row) => [JSON.stringify([`${row.timeNs}`, Object.entries(row.tags).sort()]), row])).values()];
}

test.each([1, 2, 3, 4])("the same rows in order, seed %i", (seed) => {
  const below = prng(seed);
  const before = kernel.heap.usedBytes;
  const cache = new BlockCache(kernel, 64 << 20);
  const segments = new SortedSegments(kernel, cache, LIMITS);
  for (let segment = 1; segment <= 8; segment++) {
    const rows = distinct(randomRows(below, { count: 50 + below(3000), times: 400, hosts: 1 + below(9) }));
    const raw = writeRun(arena, ALL_TYPES, rows, { unique: true });
    const run = {
      ...raw,
      segment,
      columns: raw.columns.map((column) => (below(2) === 0 ? packColumn(arena, column, rows.length) : column)),
    };
    const fields = ALL_TYPES.filter(() => below(2) === 0);
    const lease = cache.reader(emptyScanRecord("t")).lease();
    // nobody has said that there is such a segment
    expect(segments.find(run, fields, lease)).toBeNull();
    segments.begin(segment);
    expect(segments.find(run, fields, lease)).toBeNull();
    const names = new Set(fields.map(({ name }) => name));
    const expected = rows.map(({ timeNs, tags, fields: all }) => {
      return { timeNs, tags, fields: Object.fromEntries(Object.entries(all).filter(([name, value]) => names.has(name) && value !== null)) };
    });
    for (let scan = 0; scan < 2; scan++) {
      const sorted = segments.find(run, fields, lease)!;
      expect(readRun(kernel, ALL_TYPES, sorted).map(show).sort()).toEqual(expected.map(show).sort());
      expect(kernel.call.isSorted(sorted.seriesPtr, sorted.timePtr, sorted.rowCount)).toBe(1);
      expect(sorted.sorted).toBe(true);
    }
    const bytes = cache.bytes;
    // columns that were not asked for before
    const all = segments.find(run, ALL_TYPES, lease)!;
    expect(readRun(kernel, ALL_TYPES, all).map(show).sort()).toEqual(rows.map((row) => show({ ...row, fields: present(row) })).sort());
    expect(cache.bytes >= bytes).toBe(true);
    if (below(2) === 0) lease.release();
    segments.end(segment);
    lease.release();
    expect(cache.bytes).toBe(0);
    expect(segments.find(run, fields, lease)).toBeNull();
  }
  arena.free();
  expect(kernel.heap.usedBytes).toBe(before);
});

const present = ({ fields }: TestRow) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

test("small, non-unique or rarely scanned segments are read unsorted", () => {
  const rows = distinct(randomRows(prng(5), { count: 300, times: 400, hosts: 5 }));
  const run = { ...writeRun(arena, ALL_TYPES, rows, { unique: true }), segment: 1 };
  const cacheOf = (bytes: number, found: boolean, other: object = {}) => {
    const cache = new BlockCache(kernel, bytes);
    const segments = new SortedSegments(kernel, cache, LIMITS);
    segments.begin(1);
    const lease = cache.reader(emptyScanRecord("t")).lease();
    segments.find({ ...run, ...other }, ALL_TYPES, lease);
    expect(segments.find({ ...run, ...other }, ALL_TYPES, lease) !== null).toBe(found);
    lease.release();
    segments.end(1);
  };
  cacheOf(1 << 20, true);
  // open, with overlap ranges, too few rows, more series than rows, no cache
  cacheOf(1 << 20, false, { segment: undefined });
  cacheOf(1 << 20, false, { unique: false });
  cacheOf(1 << 20, false, { rowCount: 9 });
  cacheOf(1 << 20, false, { dictionary: { ...run.dictionary, seriesCount: run.rowCount + 1 } });
  cacheOf(0, false);
  // a scan that has filled its share of the cache sorts no more, but finds what is sorted
  const cache = new BlockCache(kernel, 20_000);
  const segments = new SortedSegments(kernel, cache, LIMITS);
  for (const segment of [1, 2]) segments.begin(segment);
  const lease = () => cache.reader(emptyScanRecord("t")).lease();
  const leases = Array.from({ length: 4 }, lease);
  const found = leases.map((each) => [1, 2].map((segment) => segments.find({ ...run, segment }, [], each) !== null));
  expect(found).toEqual([
    [false, false],
    [true, false],
    [true, true],
    [true, true],
  ]);
  for (const each of leases) each.release();
  for (const segment of [1, 2]) segments.end(segment);
  expect(cache.bytes).toBe(0);
});
