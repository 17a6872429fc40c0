// Integers in fewer bytes: which fit how many, that they come back as they were, all or some of them, and that their sums are right.
import { afterEach, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { Arena } from "../../../test/support/rows/rows.ts";
import { ColumnType } from "../../model/rows/column.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import { Kernel } from "../memory/kernel.ts";
import { PageParts } from "../scan/page-parts.ts";
import { NarrowColumn, narrownessOf } from "./narrow-column.ts";

const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;

const columnOf = (values: readonly bigint[], type: ColumnType = ColumnType.integer, validityPtr = 0): ColumnRun => ({
  ...{ columnId: 5, type, validityPtr },
  dataPtr: arena.i64(values.map((value) => BigInt.asIntN(64, value))),
});
const valuesAt = (ptr: number, count: number) => [...kernel.i64.subarray(ptr / 8, ptr / 8 + count)];

/** `count` integers from `least` to `least + range`, both among them. */
function between(least: bigint, range: bigint, count: number, seed = 1): bigint[] {
  const below = prng(seed);
  const values = Array.from({ length: count }, () => least + (range * BigInt(below(1_000_001))) / 1_000_000n);
  values[below(count)] = least;
  const at = values.indexOf(least);
  values[(at + 1) % count] = least + range;
  return values;
}

describe("bytes per value", () => {
  test.each<[bigint, number]>([
    [0n, 1],
    [255n, 1],
    [256n, 2],
    [65_535n, 2],
    [65_536n, 4],
    [2n ** 31n - 1n, 4],
    [2n ** 33n, 0],
    [2n ** 63n - 1n, 0],
  ])("a range of %s takes %d", (range, width) => {
    for (const least of [0n, -100n, I64_MIN, I64_MAX - range, 1n << 40n]) {
      for (const count of [2, 5, 64, 333]) {
        const found = narrownessOf(kernel, columnOf(between(least, range, count)), count);
        if (width === 0) expect(found).toBe(null);
        else expect(found).toEqual({ width, base: least });
      }
    }
  });

  test("a value far from all others is noticed wherever it is", () => {
    for (let at = 0; at < 11; at++) {
      for (const value of [2n ** 32n, 2n ** 32n + 7n, -(2n ** 32n), I64_MIN, I64_MAX, 2n ** 31n + 10n]) {
        const values = Array.from({ length: 11 }, (_, i) => (i === at ? value : 7n));
        // what is within 2^31 of the first fits four bytes
        const first = values[0]!;
        const isNear = values.every((each) => each - first < 2n ** 31n && each - first >= -(2n ** 31n));
        const found = narrownessOf(kernel, columnOf(values), 11);
        if (isNear) expect(found).toEqual({ width: 4, base: value < 7n ? value : 7n });
        else expect(found).toBe(null);
      }
    }
  });

  test("differences that wrap around come back as they were", () => {
    const values = [I64_MIN, I64_MAX, I64_MIN + 1n];
    const column = columnOf(values);
    const narrow = new NarrowColumn(kernel, column, 3, narrownessOf(kernel, column, 3)!, arena);
    expect(valuesAt(narrow.widen(arena).dataPtr, 3)).toEqual(values);
  });

  test("other types stay as they are", () => {
    for (const type of [ColumnType.time, ColumnType.float]) expect(narrownessOf(kernel, columnOf([1n, 2n], type), 2)).toBe(null);
    expect(narrownessOf(kernel, columnOf([2n ** 63n + 1n, 2n ** 63n], ColumnType.unsigned), 2)).toEqual({ width: 1, base: I64_MIN });
  });
});

const SHAPES: readonly [least: bigint, range: bigint][] = [
  [0n, 100n],
  [-7n, 255n],
  [I64_MIN, 255n],
  [I64_MAX - 65_535n, 65_535n],
  [-30_000n, 60_000n],
  [-(2n ** 40n), 2n ** 31n - 1n],
  [2n ** 46n, 1_000_000n],
];

describe.each(SHAPES)("values from %s on, range %s", (least, range) => {
  test("all come back, and some", () => {
    const below = prng(Number(range));
    for (const rowCount of [1, 7, 16, 63, 257, 1000]) {
      const values = rowCount === 1 ? [least] : between(least, range, rowCount, rowCount);
      const validityPtr = arena.bytes(Uint8Array.from({ length: 128 }, () => below(256)));
      for (const validity of [0, validityPtr]) {
        const column = columnOf(values, ColumnType.integer, validity);
        const narrow = new NarrowColumn(kernel, column, rowCount, narrownessOf(kernel, column, rowCount)!, arena);
        // it is a copy
        kernel.call.fillBytes(column.dataPtr, 0xee, rowCount * 8);
        const wide = narrow.widen(arena);
        expect(wide).toMatchObject({ columnId: 5, type: ColumnType.integer });
        expect(valuesAt(wide.dataPtr, rowCount)).toEqual(values);
        expect(wide.validityPtr === 0).toBe(validity === 0);
        if (validity !== 0) expect(wide.validityPtr).not.toBe(validity);
        // every third series of one to five rows
        const offsets = [0];
        while (offsets.at(-1)! < rowCount) offsets.push(Math.min(rowCount, offsets.at(-1)! + 1 + below(5)));
        const seriesCount = offsets.length - 1;
        const wanted = arena.bytes(Uint8Array.from({ length: seriesCount }, (_, i) => Number(i % 3 === 0)));
        const page = { rowCount, firstRow: 0, firstSeries: 0, lastSeries: seriesCount - 1 };
        const parts = new PageParts(kernel, page, arena.u32(offsets), wanted);
        const rows = Array.from({ length: rowCount }, (_, row) => row).filter((row) => offsets.findLastIndex((at) => at <= row) % 3 === 0);
        const some = narrow.rows(parts, arena);
        expect(valuesAt(some.dataPtr, parts.rowCount)).toEqual(rows.map((row) => values[row]!));
        const bit = (ptr: number, row: number) => (kernel.u8[ptr + (row >> 3)]! >> (row & 7)) & 1;
        if (validity === 0) expect(some.validityPtr).toBe(0);
        else for (const [at, row] of rows.entries()) expect(bit(some.validityPtr, at)).toBe(bit(validityPtr, row));
        parts.release();
      }
      arena.free();
    }
  });

  test("sums of spans", () => {
    const values = between(least, range, 1000);
    const column = columnOf(values);
    const narrow = new NarrowColumn(kernel, column, 1000, narrownessOf(kernel, column, 1000)!, arena).run(() => column).narrow!;
    const spans = [
      [2, 0, 1],
      [0, 1, 17],
      [1, 17, 17],
      [2, 20, 999],
    ] as const;
    for (const unsigned of [0, 1]) {
      const sums = arena.i64([5n, 6n, 7n]);
      const known = [5n, 6n, 7n];
      let fits = true;
      for (const [cell, from, to] of spans) {
        known[cell]! += values.slice(from, to).reduce((sum, value) => sum + value, 0n);
        fits &&= unsigned === 1 ? known[cell]! < 2n ** 64n && known[cell]! >= 0n : known[cell]! <= I64_MAX && known[cell]! >= I64_MIN;
      }
      if (!fits || least > 2n ** 47n || least < -(2n ** 47n) || (unsigned === 1 && least < 0n)) continue;
      const status = kernel.call.spansSumNarrow(arena.u32(spans.flat()), 4, narrow.ptr, narrow.width, narrow.base, unsigned, sums);
      expect([status, ...valuesAt(sums, 3)]).toEqual([0, ...known]);
    }
  });
});

test("sums of as many of the greatest narrow values as a page may have, and of such pages", () => {
  const rowCount = 1 << 16;
  for (const range of [255n, 65_535n, 2n ** 31n - 1n]) {
    const values = Array.from({ length: rowCount }, (_, i) => (i === 0 ? 0n : range));
    const column = columnOf(values);
    const narrow = new NarrowColumn(kernel, column, rowCount, narrownessOf(kernel, column, rowCount)!, arena).run(() => column).narrow!;
    const sum = range * BigInt(rowCount - 1);
    const spans = arena.u32([0, 0, rowCount]);
    const add = (base: bigint, unsigned: number, sums: number) =>
      kernel.call.spansSumNarrow(spans, 1, narrow.ptr, narrow.width, base, unsigned, sums);
    const sums = arena.i64([0n]);
    expect(add(0n, 0, sums)).toBe(0);
    expect(valuesAt(sums, 1)).toEqual([sum]);
    // the sum of a cell leaves 64 bits
    expect(add(0n, 0, arena.i64([I64_MAX - sum]))).toBe(0);
    expect(add(0n, 0, arena.i64([I64_MAX - sum + 1n]))).toBe(1);
    expect(add(-(2n ** 47n), 0, arena.i64([I64_MIN]))).toBe(1);
    expect(add(0n, 1, arena.i64([BigInt.asIntN(64, 2n ** 64n - 1n - sum)]))).toBe(0);
    expect(add(0n, 1, arena.i64([BigInt.asIntN(64, 2n ** 64n - sum)]))).toBe(1);
    arena.free();
  }
});

test("wide values are made when they are read, once", () => {
  const column = columnOf([10n, 20n, 30n]);
  let made = 0;
  const narrow = new NarrowColumn(kernel, column, 3, narrownessOf(kernel, column, 3)!, arena);
  const run = narrow.run(() => {
    made++;
    return narrow.widen(arena);
  });
  const { columnId, type, validityPtr, narrow: values } = run;
  expect([columnId, type, validityPtr, values!.width, values!.base]).toEqual([5, ColumnType.integer, 0, 1, 10n]);
  expect(made).toBe(0);
  expect(valuesAt(run.dataPtr, 3)).toEqual([10n, 20n, 30n]);
  const copy = { ...run };
  expect(copy.dataPtr).toBe(run.dataPtr);
  expect(made).toBe(1);
});
