// Decoded data that stays, goes and comes back: hits, misses, bytes, memory; a file that is damaged or gone; a kernel without memory.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { Arena, isPresent, type TestRow, writeRun } from "../../../test/support/rows/rows.ts";
import { Blocks } from "../../kernel/memory/blocks.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { PageParts } from "../../kernel/scan/page-parts.ts";
import { TsdbError } from "../../model/errors.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../model/rows/column.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import type { BlockSeries } from "../block/data-block.ts";
import { encodePt } from "../pt/writer.ts";
import { BlockCache, type OpenBlock } from "./block-cache.ts";
import type { BlockRef, CacheCounts, CacheReader, Lease } from "./lease.ts";

const COLUMNS: readonly ColumnDef[] = [
  TIME_COLUMN,
  { id: 1, name: "host", type: ColumnType.tag },
  { id: 2, name: "load", type: ColumnType.float },
  { id: 3, name: "state", type: ColumnType.string },
];
// three pages of 16,384, 16,384 and 7,232 rows, over 40 series of 1,000
const HOSTS = 40;
const rows = Array.from({ length: HOSTS * 1000 }, (_, i): TestRow => {
  const host = Math.floor(i / 1000);
  const fields = { load: i / 4, ...(i % 2 === 0 ? { state: `what host ${host} is at in row ${i}` } : {}) };
  return { timeNs: BigInt(i % 1000) * 1000n, tags: { host: `host_${String(host).padStart(2, "0")}` }, fields };
});

function fileOf(kernel: Kernel, columns = COLUMNS, ofFile: readonly TestRow[] = rows): Uint8Array {
  const arena = new Arena(kernel);
  const run = writeRun(arena, columns, ofFile, { unique: true });
  const { bytes } = encodePt(kernel, [{ databaseId: 1, tableId: 1, columns, runs: [run] }]);
  arena.free();
  return bytes;
}

const refOf = (bytes: Uint8Array, fileId = 1, generation = 0): BlockRef => ({
  fileId,
  generation,
  source: { kind: "bytes", bytes },
  blockIndex: 0,
});

const NOTHING: CacheCounts = { gen0Hits: 0, gen0Misses: 0, compactedHits: 0, compactedMisses: 0, bytesRead: 0 };
const kernel = Kernel.create();
const file = fileOf(kernel);

/** Reads a page's columns as a scan does and checks values of it. */
function readPage(cache: BlockCache, ref: BlockRef, page: number, columnIds = [0, 2, 3]): CacheCounts {
  const counts = { ...NOTHING };
  const lease = cache.reader(counts).lease();
  const block = cache.open(ref, lease);
  try {
    check(block, page, columnIds, lease);
    return counts;
  } finally {
    lease.release();
    block.close();
  }
}

function check(block: OpenBlock, page: number, columnIds: readonly number[], lease: Lease): void {
  const series = block.series(lease);
  const ids = block.seriesIds(page, series, lease);
  const columns = columnIds.map((id) => block.column(page, id, lease));
  const { firstRow, rowCount } = block.pages[page]!;
  expectGathered(block, page, series);
  for (const row of [0, 1, 777, rowCount - 1]) {
    const at = firstRow + row;
    expect(kernel.u32[ids / 4 + row]).toBe(Math.floor(at / 1000));
    for (const column of columns) {
      if (column!.type === ColumnType.time) expect(kernel.i64[column!.dataPtr / 8 + row]).toBe(BigInt(at % 1000) * 1000n);
      if (column!.type === ColumnType.float) expect(kernel.f64[column!.dataPtr / 8 + row]).toBe(at / 4);
      if (column!.type === ColumnType.string) expect((kernel.u8[column!.validityPtr + (row >> 3)]! >> (row & 7)) & 1).toBe((at + 1) % 2);
    }
  }
}

/** Series of rows that are listed, with gaps of less than a series and of several. */
function expectGathered(block: OpenBlock, page: number, series: BlockSeries): void {
  const { firstRow, rowCount } = block.pages[page]!;
  const rows = Array.from({ length: rowCount }, (_, row) => row).filter((row) => row === rowCount - 1 || row % 7 === 3 || row % 2500 < 2);
  const ptr = kernel.heap.alloc(rows.length * 4);
  kernel.u32.set(rows, ptr / 4);
  block.gatherSeries(page, series, { rowsPtr: ptr, count: rows.length, targetPtr: ptr });
  const found = [...kernel.u32.subarray(ptr / 4, ptr / 4 + rows.length)];
  kernel.heap.free(ptr, rows.length * 4);
  expect(found).toEqual(rows.map((row) => Math.floor((firstRow + row) / 1000)));
}

test("a decoded column is found again without reading the file", () => {
  const cache = new BlockCache(kernel, 64 << 20);
  const first = readPage(cache, refOf(file), 1);
  expect(first).toEqual({ ...NOTHING, gen0Misses: 4, bytesRead: first.bytesRead });
  expect(first.bytesRead).toBeGreaterThan(0);
  expect(first.bytesRead).toBeLessThan(file.length);
  expect(readPage(cache, refOf(file), 1)).toEqual({ ...NOTHING, gen0Hits: 4 });
  const other = readPage(cache, refOf(file), 2, [0]);
  expect(other).toEqual({ ...NOTHING, gen0Hits: 1, gen0Misses: 1, bytesRead: other.bytesRead });
  expect(readPage(cache, refOf(file, 2, 1), 0, [2])).toMatchObject({ compactedHits: 0, compactedMisses: 2, gen0Misses: 0 });
  expect(readPage(cache, refOf(file, 2, 1), 0, [2])).toEqual({ ...NOTHING, compactedHits: 2 });
  expect(cache.counts).toMatchObject({ gen0Hits: 5, gen0Misses: 5, compactedHits: 2, compactedMisses: 2 });
  cache.dropFile(1);
  cache.dropFile(2);
});

test("a column that the block does not have is no miss", () => {
  const cache = new BlockCache(kernel, 64 << 20);
  const counts = { ...NOTHING };
  const lease = cache.reader(counts).lease();
  const block = cache.open(refOf(file), lease);
  expect(block.column(0, 99, lease)).toBe(null);
  expect(counts.gen0Misses).toBe(0);
  lease.release();
  block.close();
  cache.dropFile(1);
  expect(cache.bytes).toBe(0);
});

const SIZES = [0, 1000, 200_000, 1 << 20, 8 << 20];
test.each(SIZES)("within %d bytes, the same answers; nothing is lost of the memory", (bytesMax) => {
  const before = kernel.heap.usedBytes;
  const below = prng(bytesMax);
  const cache = new BlockCache(kernel, bytesMax);
  for (let round = 0; round < 100; round++) {
    readPage(cache, refOf(file, 1 + below(3)), below(3), [[0], [2], [0, 2, 3]][below(3)]!);
    expect(cache.bytes).toBeLessThanOrEqual(bytesMax);
  }
  if (bytesMax === 0) expect(cache.counts.gen0Hits).toBe(0);
  if (bytesMax === 8 << 20) expect(cache.counts.gen0Misses).toBe(3 * (1 + 3 * 3));
  for (const fileId of [1, 2, 3]) cache.dropFile(fileId);
  expect(cache.bytes).toBe(0);
  expect(kernel.heap.usedBytes).toBe(before);
});

test("entries in use survive the removal of their file until they are released", () => {
  const before = kernel.heap.usedBytes;
  const cache = new BlockCache(kernel, 64 << 20);
  const lease = cache.reader({ ...NOTHING }).lease();
  const block = cache.open(refOf(file), lease);
  const column = block.column(0, 2, lease)!;
  cache.dropFile(1);
  expect(kernel.f64[column.dataPtr / 8 + 9]).toBe(9 / 4);
  // a scan that began earlier may go on
  check(block, 2, [0, 2, 3], lease);
  lease.release();
  block.close();
  cache.dropFile(1);
  expect(cache.bytes).toBe(0);
  expect(kernel.heap.usedBytes).toBe(before);
});

test("what a passing lease loads is dropped with it, unless another scan uses it", () => {
  const before = kernel.heap.usedBytes;
  const cache = new BlockCache(kernel, 64 << 20);
  const kept = readPage(cache, refOf(file), 0, [0]);
  const [keptBytes, keptMemory] = [cache.bytes, kernel.heap.usedBytes];
  const counts = { ...NOTHING };
  const reader = cache.reader(counts);
  const [lease, passing, other] = [reader.lease(), reader.passingLease(), reader.lease()];
  const block = cache.open(refOf(file), lease);
  for (const page of [0, 1, 2]) {
    check(block, page, [0, 2, 3], passing);
    passing.release();
  }
  // series and time of the first page were in the cache, and stay there
  expect([counts.gen0Hits, counts.gen0Misses]).toEqual([4, 8]);
  expect(cache.bytes).toBe(keptBytes);
  check(block, 1, [2], passing);
  check(block, 1, [2], other);
  passing.release();
  check(block, 1, [2], other);
  other.release();
  lease.release();
  block.close();
  expect([cache.bytes, kernel.heap.usedBytes]).toEqual([keptBytes, keptMemory]);
  expect(readPage(cache, refOf(file), 0, [0])).toEqual({ ...NOTHING, gen0Hits: kept.gen0Misses });
  cache.dropFile(1);
  expect(kernel.heap.usedBytes).toBe(before);
});

test("times wait in fewer bytes, and are read without the file", () => {
  const cache = new BlockCache(kernel, 1 << 20);
  const first = [0, 1, 2].map((page) => readPage(cache, refOf(file), page, [0]));
  for (const counts of first) expect(counts.gen0Misses).toBeGreaterThanOrEqual(1);
  // 1,000 steps in two bytes of eight; without them 140 bytes a series, and series of some rows
  expect(cache.bytes).toBeLessThan(3.5 * 40_000);
  for (let round = 0; round < 2; round++) {
    for (const page of [2, 0, 1]) expect(readPage(cache, refOf(file), page, [0])).toEqual({ ...NOTHING, gen0Hits: 2 });
  }
  cache.dropFile(1);
  expect(cache.bytes).toBe(0);
});

test("rows of a time range beside times that wait: cut where those wait, and kept whole once they are asked for often", () => {
  const cache = new BlockCache(kernel, 2 << 20);
  const counts = { ...NOTHING };
  const reader = cache.reader(counts);
  const lease = reader.lease();
  const block = cache.open(refOf(file), lease);
  const { offsetsPtr } = block.series(lease);
  const range = { minNs: 100_000n, maxNs: 149_999n };
  const bytesRead: number[] = [];
  for (let read = 0; read < 12; read++) {
    const pageLease = reader.lease();
    const parts = new PageParts(kernel, block.pages[0]!, offsetsPtr, 0);
    const memory = new Blocks(kernel);
    const isCut = block.cutNarrow(0, parts, range, pageLease);
    expect(isCut).toBe(read > 0);
    if (!isCut) parts.cut(block.column(0, TIME_COLUMN.id, pageLease)!.dataPtr, false, range);
    // 50 rows each of 16 whole series, and of the first 384 rows of the next one
    expect(parts.rowCount).toBe(17 * 50);
    const { dataPtr } = block.rows(0, 2, parts, memory, pageLease)!;
    for (const row of [0, 49, 50, 849]) expect(kernel.f64[dataPtr / 8 + row]).toBe((Math.floor(row / 50) * 1000 + 100 + (row % 50)) / 4);
    bytesRead.push(counts.bytesRead);
    memory.release();
    parts.release();
    pageLease.release();
  }
  // decoded in part as often as the limit says, then once as a whole
  const { readsMax } = cache.partLimits;
  for (let read = 1; read <= readsMax; read++) expect(bytesRead[read]).toBeGreaterThan(bytesRead[read - 1]!);
  for (let read = readsMax + 1; read < 12; read++) expect(bytesRead[read]).toBe(bytesRead[readsMax]!);
  lease.release();
  block.close();
  cache.dropFile(1);
});

describe("integers", () => {
  const USED: ColumnDef = { id: 4, name: "used", type: ColumnType.integer };
  const columns = [...COLUMNS.slice(0, 2), USED];
  // 40,000 rows in three pages; of the first page all rows have a value, of the others three in four
  const usedOf = (row: number) => (row < 16_384 || row % 4 !== 0 ? BigInt((row * 31) % 60_000) - 10n : null);
  const used = rows.map(({ timeNs, tags }, row): TestRow => {
    const value = usedOf(row);
    return { timeNs, tags, fields: value === null ? {} : { used: value } };
  });
  const ref = refOf(fileOf(kernel, columns, used));

  function checkUsed(block: OpenBlock, page: number, { dataPtr, validityPtr }: ColumnRun): void {
    const { firstRow, rowCount } = block.pages[page]!;
    const found = [...kernel.i64.subarray(dataPtr / 8, dataPtr / 8 + rowCount)];
    expect(found).toEqual(found.map((_, row) => usedOf(firstRow + row) ?? 0n));
    if (page === 0) expect(validityPtr).toBe(0);
    else for (const row of [0, 1, 4, 5, 6000]) expect(isPresent(kernel, validityPtr, row)).toBe(usedOf(firstRow + row) !== null);
  }

  /** Opens the block on a cache with room for a wide page only while it is in use, unless said otherwise. */
  function withBlock(use: (block: OpenBlock, reader: CacheReader, cache: BlockCache, counts: CacheCounts) => void, bytes = 1 << 20): void {
    const before = kernel.heap.usedBytes;
    const cache = new BlockCache(kernel, bytes);
    const counts = { ...NOTHING };
    const reader = cache.reader(counts);
    const held = reader.lease();
    const block = cache.open(ref, held);
    use(block, reader, cache, counts);
    held.release();
    block.close();
    cache.dropFile(1);
    expect(cache.bytes).toBe(0);
    expect(kernel.heap.usedBytes).toBe(before);
  }

  test("wait in fewer bytes, and are read without the file", () => {
    withBlock((block, reader, cache, counts) => {
      const lease = reader.lease();
      const before = cache.bytes;
      for (const page of [0, 1, 2]) {
        checkUsed(block, page, block.column(page, USED.id, lease)!);
        lease.release();
      }
      expect(counts.gen0Misses).toBe(3);
      // values in two bytes of eight, and bitmaps, in blocks of powers of two
      expect(cache.bytes - before).toBeLessThan(3 * 40_000);
      const { bytesRead } = counts;
      const waiting = cache.bytes;
      for (let round = 0; round < 2; round++) {
        for (const page of [0, 1, 2]) {
          const column = block.column(page, USED.id, lease)!;
          expect(column.narrow).toMatchObject({ width: 2 });
          // nothing is widened before it is read
          expect(cache.bytes).toBe(waiting);
          checkUsed(block, page, column);
          expect(cache.bytes).toBeGreaterThan(waiting + 8 * 7000);
          checkUsed(block, page, block.column(page, USED.id, lease)!);
          lease.release();
          expect(cache.bytes).toBe(waiting);
        }
      }
      expect(counts).toMatchObject({ gen0Misses: 3, gen0Hits: 12, bytesRead });
    });
  });

  test("are as wide as scans read them where there is room, and narrowed beside", () => {
    withBlock((block, reader) => {
      const lease = reader.lease();
      const { dataPtr } = block.column(0, USED.id, lease)!;
      lease.release();
      const again = block.column(0, USED.id, lease)!;
      expect([again.narrow?.width, again.dataPtr]).toEqual([2, dataPtr]);
      lease.release();
    }, 64 << 20);
  });

  test("that are handed over unread stay until the other lease is released", () => {
    withBlock((block, reader, cache) => {
      const [lease, kept] = [reader.lease(), reader.lease()];
      for (const page of [0, 1]) {
        block.column(page, USED.id, lease);
        lease.release();
      }
      const column = block.column(0, USED.id, lease)!;
      lease.handOver(kept);
      // what is read by the first lease afterwards has other memory
      for (let round = 0; round < 3; round++) {
        checkUsed(block, 1, block.column(1, USED.id, lease)!);
        lease.release();
      }
      cache.makeRoom();
      checkUsed(block, 0, column);
      kept.release();
    });
  });

  test("a few rows of them are read where they wait", () => {
    withBlock((block, reader, _, counts) => {
      const lease = reader.lease();
      const series = block.series(lease);
      for (const page of [0, 1]) {
        const pageLease = reader.lease();
        block.column(page, USED.id, pageLease);
        pageLease.release();
        expect(block.isRare(page, [USED.id])).toBe(true);
        const { bytesRead } = counts;
        const { offsetsPtr, dictionary } = series;
        const wanted = kernel.heap.allocZeroed(dictionary.seriesCount);
        kernel.u8[wanted + 16] = 1;
        const parts = new PageParts(kernel, block.pages[page]!, offsetsPtr, wanted);
        const memory = new Blocks(kernel);
        // host 16 has rows 16,000 to 16,999, the first 384 of them on the first page
        const [from, count] = page === 0 ? [16_000, 384] : [16_384, 616];
        expect(parts.rowCount).toBe(count);
        const { dataPtr, validityPtr } = block.rows(page, USED.id, parts, memory, lease)!;
        for (const row of [0, 1, 2, 3, 4, count - 1]) {
          expect(kernel.i64[dataPtr / 8 + row]).toBe(usedOf(from + row) ?? 0n);
          expect(isPresent(kernel, validityPtr, row)).toBe(usedOf(from + row) !== null);
        }
        expect(counts.bytesRead).toBe(bytesRead);
        memory.release();
        parts.release();
        kernel.heap.free(wanted, dictionary.seriesCount);
      }
      lease.release();
    });
  });

  test("of a passing lease do not wait", () => {
    withBlock((block, reader, cache) => {
      const before = cache.bytes;
      const passing = reader.passingLease();
      checkUsed(block, 0, block.column(0, USED.id, passing)!);
      passing.release();
      expect(cache.bytes).toBe(before);
    });
  });
});

test("damage is an error each time, and leaves nothing behind", () => {
  const before = kernel.heap.usedBytes;
  const cache = new BlockCache(kernel, 64 << 20);
  const whole = readPage(cache, refOf(file), 0, [0]);
  expect(whole.gen0Misses).toBe(2);
  cache.dropFile(1);
  const damaged = file.slice();
  damaged[file.length / 2]! ^= 1;
  for (let again = 0; again < 2; again++) {
    let broken = 0;
    for (const page of [0, 1, 2]) {
      for (const id of [0, 2, 3]) {
        try {
          readPage(cache, refOf(damaged), page, [id]);
        } catch (error) {
          expect(error).toBeInstanceOf(TsdbError);
          expect((error as TsdbError).kind).toBe("corrupt_file");
          expect((error as TsdbError).details).toMatchObject({ file: "object in memory", offset: expect.any(Number) });
          broken++;
        }
      }
    }
    expect(broken).toBe(1);
  }
  expect(() => cache.open({ ...refOf(file.subarray(0, 100)), fileId: 2 }, cache.reader({ ...NOTHING }).lease())).toThrow(
    /object in memory/,
  );
  cache.dropFile(1);
  expect(cache.bytes).toBe(0);
  expect(kernel.heap.usedBytes).toBe(before);
});

test("a scan of more than fits finds a part of it the next time, and leaves alone what others use", () => {
  // a file takes some 1.7 MiB
  const cache = new BlockCache(kernel, 8 << 20);
  const counts = { ...NOTHING };
  for (let round = 0; round < 2; round++) readPage(cache, refOf(file, 100), 0);
  const passes = Array.from({ length: 5 }, () => {
    const reader = cache.reader(counts);
    const before = counts.gen0Hits;
    for (let fileId = 1; fileId <= 20; fileId++) {
      const lease = reader.lease();
      const block = cache.open(refOf(file, fileId), lease);
      for (const page of [0, 1, 2]) check(block, page, [0, 2, 3], lease);
      lease.release();
      block.close();
    }
    // the series of a file are asked for with each of three pages
    return counts.gen0Hits - before - 20 * 2;
  });
  expect(readPage(cache, refOf(file, 100), 0)).toMatchObject({ gen0Hits: 4, gen0Misses: 0 });
  expect(passes[0]).toBe(0);
  // ten entries a file, of which four fit beside what is kept for others
  for (const hits of passes.slice(1)) expect(hits).toBeGreaterThanOrEqual(30);
  for (let fileId = 1; fileId <= 100; fileId++) cache.dropFile(fileId);
  expect(cache.bytes).toBe(0);
});

test("when the kernel's memory is full, the cache gives way", () => {
  const filled: [ptr: number, bytes: number][] = [];
  for (let bytes = 256 << 20; bytes >= 4 << 20; ) {
    try {
      filled.push([kernel.heap.alloc(bytes), bytes]);
    } catch {
      bytes /= 2;
    }
  }
  // no 4 MiB in one piece are left, and each file takes 2
  const cache = new BlockCache(kernel, 1 << 30);
  for (let fileId = 1; fileId <= 30; fileId++) for (const page of [0, 1, 2]) readPage(cache, refOf(file, fileId), page);
  expect(cache.counts.gen0Misses).toBe(30 * (1 + 3 * 3));
  expect(cache.bytes).toBeLessThan(16 << 20);
  // and when it has nothing left to give, that is an error
  expect(() =>
    cache.withRoom(() => {
      throw new TsdbError("overloaded", "kernel memory is full");
    }),
  ).toThrow("kernel memory is full");
  expect(cache.bytes).toBe(0);
  for (const [ptr, bytes] of filled) kernel.heap.free(ptr, bytes);
});
