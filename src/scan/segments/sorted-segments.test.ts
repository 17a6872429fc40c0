// Segments in order: the same rows, sorted, from the scan on that makes it worth it; and their memory, which goes with them.
import { afterEach, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { ALL_TYPES, randomRows } from "../../../test/support/rows/random-rows.ts";
import { Arena, packColumn, readRun, type TestRow, writeRun } from "../../../test/support/rows/rows.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { emptyScanRecord } from "../../model/query/scan-record.ts";
import { BlockCache } from "../../storage/block-cache/block-cache.ts";
import { SortedSegments } from "./sorted-segments.ts";

const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

const LIMITS = { rowsMin: 10, rowsPerSeriesMin: 1, scansMin: 2, joined: 3, joinScansMin: 3 };
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

test.each([1, 2, 3])("several segments in one order, seed %i", (seed) => {
  const below = prng(seed);
  const before = kernel.heap.usedBytes;
  const cache = new BlockCache(kernel, 64 << 20);
  for (let round = 0; round < 5; round++) {
    const segments = new SortedSegments(kernel, cache, LIMITS);
    const all = distinct(randomRows(below, { count: 300 + below(3000), times: 900, hosts: 1 + below(9) }));
    const columns = ALL_TYPES.filter(() => below(3) > 0);
    const names = new Set(columns.map(({ name }) => name));
    // the second segment lacks some columns of the others
    const rows = all.map(({ fields, ...row }, i) => {
      const isLacking = i >= all.length / 3 && i < (all.length * 2) / 3;
      return { ...row, fields: isLacking ? Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name))) : fields };
    });
    const runs = cutInThree(rows).map((run, i) => ({
      ...run,
      ...{ segment: i + 1, seqMin: i + 1, seqMax: i + 1 },
      columns: run.columns.map((column) => (below(2) === 0 ? packColumn(arena, column, run.rowCount) : column)),
    }));
    for (const { segment } of runs) segments.begin(segment);
    const [group, ...others] = segments.joinable(runs);
    expect(others).toEqual([]);
    if (group === undefined || !("members" in group)) throw new Error("three segments are a group");
    expect(group.rowCount).toBe(all.length);
    const lease = cache.reader(emptyScanRecord("t")).lease();
    // one by one meanwhile
    for (const run of runs) for (let scan = 0; scan < LIMITS.scansMin; scan++) segments.find(run, columns, lease);
    const alone = cache.bytes;
    for (let scan = 1; scan < LIMITS.joinScansMin; scan++) expect(segments.findJoined(group, columns, lease)).toBeNull();
    for (const fields of [columns, ALL_TYPES]) {
      const found = new Set(fields.map(({ name }) => name));
      const joined = segments.findJoined(group, fields, lease)!;
      const expected = rows.map((row) =>
        show({ ...row, fields: Object.fromEntries(Object.entries(present(row)).filter(([name]) => found.has(name))) }),
      );
      expect(readRun(kernel, ALL_TYPES, joined).map(show).sort()).toEqual(expected.sort());
      expect(kernel.call.isSorted(joined.seriesPtr, joined.timePtr, joined.rowCount)).toBe(1);
      expect(joined.minTimeNs).toBe(group.minTimeNs);
      expect(joined.maxTimeNs).toBe(group.maxTimeNs);
    }
    // the members' own orders are given up with the last scan that uses them
    const held = cache.bytes;
    lease.release();
    expect(cache.bytes).toBe(held - alone);
    // the group goes with any of its segments; the others are read alone
    segments.end(2);
    expect(cache.bytes).toBe(0);
    expect(segments.findJoined(group, columns, lease)).toBeNull();
    expect(segments.joinable(runs)).toEqual(runs);
    for (const { segment } of runs) segments.end(segment);
  }
  arena.free();
  expect(kernel.heap.usedBytes).toBe(before);
});

/** Runs of one dictionary. */
function cutInThree(rows: readonly TestRow[]) {
  const whole = writeRun(arena, ALL_TYPES, rows, { unique: true });
  return [0, 1, 2].map((third) => {
    const [from, to] = [third, third + 1].map((each) => Math.floor((rows.length * each) / 3)) as [number, number];
    const part = writeRun(arena, ALL_TYPES, rows.slice(from, to), { unique: true });
    const seriesPtr = whole.seriesPtr + from * 4;
    return { ...part, seriesPtr, dictionary: whole.dictionary };
  });
}
