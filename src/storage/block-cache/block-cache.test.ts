// Decoded data that stays, goes and comes back: hits, misses, bytes, memory; a file that is damaged or gone; a kernel without memory.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { Arena, type TestRow, writeRun } from "../../../test/support/rows/rows.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../model/rows/column.ts";
import { encodePt } from "../pt/writer.ts";
import { BlockCache, type BlockRef, type CacheCounts, type Lease, type OpenBlock } from "./block-cache.ts";

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

function fileOf(kernel: Kernel): Uint8Array {
  const arena = new Arena(kernel);
  const run = writeRun(arena, COLUMNS, rows, { unique: true });
  const { bytes } = encodePt(kernel, [{ databaseId: 1, tableId: 1, columns: COLUMNS, runs: [run] }]);
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
  // a file takes some 2 MiB
  const cache = new BlockCache(kernel, 10 << 20);
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
