// Integers and times in fewer bytes: which fit how many, that they come back as they were, all or some of them, and that sums of integers
// are right.
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

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}

/** `count` integers from `least` to `least + range`, both among them. */
function between(least: bigint, range: bigint, count: number, seed = 1): bigint[] {
  const below = prng(seed);
  const values = Array.from({ length: count }, () => least + (range * BigInt(below(1_000_001))) / 1_000_000n);
  values[below(count)] = least;
  const at = values.indexOf(least);
  values[(at + 1) % count] = least + range;
  return values;
}

/** Listed values of a column that is never read as a wide one. */
function expectGathered(narrow: NarrowColumn, values: readonly bigint[]): void {
  const { gather } = narrow.run(() => {
    throw new Error("read as a wide one");
  });
  const rows = values.flatMap((_, i) => (i % 3 !== 1 || i === values.length - 1 ? [i] : []));
  const target = arena.alloc(rows.length * 8);
  gather!(arena.u32(rows), rows.length, target);
  expect(valuesAt(target, rows.length)).toEqual(rows.map((row) => values[row]!));
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
    expectGathered(narrow, values);
  });

  test.each([255n, 65_535n, 2n ** 31n - 1n])("listed ones of a range of %s come back alone", (range) => {
    for (const least of [0n, -100n, I64_MIN, I64_MAX - range]) {
      const values = between(least, range, 333);
      const column = columnOf(values);
      expectGathered(new NarrowColumn(kernel, column, 333, narrownessOf(kernel, column, 333)!, arena), values);
    }
  });

  test("other types stay as they are", () => {
    for (const type of [ColumnType.boolean, ColumnType.float]) expect(narrownessOf(kernel, columnOf([1n, 2n], type), 2)).toBe(null);
    expect(narrownessOf(kernel, columnOf([2n ** 63n + 1n, 2n ** 63n], ColumnType.unsigned), 2)).toEqual({ width: 1, base: I64_MIN });
  });
});

const SECOND = 1_000_000_000n;
// divisor = odd << zeros
const STEPS: readonly [what: string, step: bigint, odd: number, zeros: number][] = [
  ["nanoseconds", 1n, 1, 0],
  ["microseconds", 1000n, 125, 3],
  ["ten seconds", 10n * SECOND, 9_765_625, 10],
  ["days", 86_400n * SECOND, 1_318_359_375, 16],
  ["the greatest odd part", 2n ** 32n - 1n, 2 ** 32 - 1, 0],
  ["2^40", 2n ** 40n, 1, 40],
];
/** Its differences are `step` times numbers up to `most`, and have no greater divisor. */
function timesOf(least: bigint, step: bigint, most: bigint, count: number): bigint[] {
  const below = prng(Number(most) + count);
  const numbers = Array.from({ length: count }, () => (most * BigInt(below(1_000_001))) / 1_000_000n);
  const first = below(count - 2);
  numbers.splice(first, 3, 0n, most, most - 1n);
  return numbers.map((number) => least + step * number);
}

describe.each(STEPS)("times of %s", (_, step, odd, zeros) => {
  const LEASTS = [0n, 1_451_606_400n * SECOND, -(2n ** 62n), I64_MIN];

  test.each([
    [2n, 2],
    [65_535n, 2],
    [65_536n, 4],
    [2n ** 32n - 1n, 4],
    [2n ** 32n, 0],
  ])("up to %s times", (most, width) => {
    if (step * most >= 2n ** 63n) return;
    for (const least of LEASTS) {
      for (const rowCount of [3, 4, 8, 11, 333]) {
        const times = timesOf(least, step, most, rowCount);
        const column = columnOf(times, ColumnType.time);
        const narrowness = narrownessOf(kernel, column, rowCount);
        if (width === 0) {
          expect(narrowness).toBe(null);
          continue;
        }
        expect(narrowness).toEqual({ width, base: least, divisor: { odd, zeros } });
        const narrow = new NarrowColumn(kernel, column, rowCount, narrowness!, arena);
        kernel.call.fillBytes(column.dataPtr, 0xee, rowCount * 8);
        expect(valuesAt(narrow.widen(arena).dataPtr, rowCount)).toEqual(times);
        // sums read narrow values as differences
        const wide = narrow.widen(arena);
        expect(narrow.run(() => wide)).toMatchObject({ columnId: 5, type: ColumnType.time, dataPtr: wide.dataPtr });
        expect(narrow.run(() => wide).narrow).toBe(undefined);
        // every other row, as a series each
        const offsets = arena.u32(Array.from({ length: rowCount + 1 }, (__, i) => i));
        const wanted = arena.bytes(Uint8Array.from({ length: rowCount }, (__, i) => Number(i % 2 === 1)));
        const parts = new PageParts(kernel, { rowCount, firstRow: 0, firstSeries: 0, lastSeries: rowCount - 1 }, offsets, wanted);
        expect(valuesAt(narrow.rows(parts, arena).dataPtr, parts.rowCount)).toEqual(times.filter((__, i) => i % 2 === 1));
        parts.release();
        expectGathered(narrow, times);
      }
    }
  });

  test("a single time that is off, wherever it is", () => {
    for (let at = 1; at < 41; at++) {
      for (const off of [1n, step / 2n, 2n ** 32n, 2n ** 40n]) {
        const times = Array.from({ length: 41 }, (_, i) => BigInt(i) * step + (i === at ? off : 0n));
        const range = times.reduce((most, time) => (time > most ? time : most));
        const divisor = times.reduce(gcd);
        const narrowness = narrownessOf(kernel, columnOf(times, ColumnType.time), 41);
        let [oddPart, twos] = [divisor, 0];
        for (; oddPart % 2n === 0n; twos++) oddPart /= 2n;
        const most = range / divisor;
        if (oddPart >= 2n ** 32n || most >= 2n ** 32n) expect(narrowness).toBe(null);
        else {
          expect(narrowness).toEqual({ width: most <= 65_535n ? 2 : 4, base: 0n, divisor: { odd: Number(oddPart), zeros: twos } });
          const narrow = new NarrowColumn(kernel, columnOf(times, ColumnType.time), 41, narrowness!, arena);
          expect(valuesAt(narrow.widen(arena).dataPtr, 41)).toEqual(times);
        }
      }
    }
  });
});

describe.each(STEPS)("rows of a page within times of %s", (_, step) => {
  test.each([300n, 70_000n])("are those of the times as they were, up to %s steps", (most) => {
    const below = prng(Number(most));
    const rowCount = 200;
    for (const least of [0n, -(2n ** 62n), I64_MIN]) {
      if (step * most >= 2n ** 63n) continue;
      // series of 1 to 40 rows, ascending each
      const times = timesOf(least, step, most, rowCount);
      const offsets = [0];
      while (offsets.at(-1)! < rowCount) offsets.push(Math.min(rowCount, offsets.at(-1)! + 1 + below(40)));
      const sorted = offsets.slice(1).flatMap((end, i) => times.slice(offsets[i], end).sort((a, b) => (a < b ? -1 : 1)));
      const column = columnOf(sorted, ColumnType.time);
      const narrow = new NarrowColumn(kernel, column, rowCount, narrownessOf(kernel, column, rowCount)!, arena);
      expect(narrow.hasTimes).toBe(true);
      const page = { rowCount, firstRow: 0, firstSeries: 0, lastSeries: offsets.length - 2 };
      const bounds = [I64_MIN, least, least + 1n, ...[0, 1, 7].map((at) => sorted[at]!), sorted[3]! - 1n, sorted[9]! + 1n, I64_MAX];
      const ends = [...bounds, least + step * most, least + step * most + 1n].filter((end) => end >= I64_MIN && end <= I64_MAX);
      for (const minNs of ends) {
        for (const maxNs of ends) {
          const wanted = arena.bytes(Uint8Array.from({ length: offsets.length - 1 }, () => below(4)));
          const parts = new PageParts(kernel, page, arena.u32(offsets), below(2) === 0 ? 0 : wanted);
          const before = valuesAt(narrow.rows(parts, arena).dataPtr, parts.rowCount);
          narrow.cut(parts, { minNs, maxNs });
          const kept = valuesAt(narrow.rows(parts, arena).dataPtr, parts.rowCount);
          expect(kept).toEqual(before.filter((time) => time >= minNs && time <= maxNs));
          parts.release();
        }
      }
      arena.free();
    }
  });
});

test("integers are no times", () => {
  const column = columnOf([1n, 2n]);
  expect(new NarrowColumn(kernel, column, 2, narrownessOf(kernel, column, 2)!, arena).hasTimes).toBe(false);
});

test("times from the first to the last there are", () => {
  const all = [I64_MIN, I64_MAX, I64_MIN + 2n];
  expect(narrownessOf(kernel, columnOf(all, ColumnType.time), 3)).toBe(null);
  const two = [I64_MIN, I64_MIN + 3n * 2n ** 62n, I64_MIN + 2n ** 62n];
  const column = columnOf(two, ColumnType.time);
  const narrowness = narrownessOf(kernel, column, 3)!;
  expect(narrowness).toEqual({ width: 2, base: I64_MIN, divisor: { odd: 1, zeros: 62 } });
  expect(valuesAt(new NarrowColumn(kernel, column, 3, narrowness, arena).widen(arena).dataPtr, 3)).toEqual(two);
  // one time, of many rows
  expect(narrownessOf(kernel, columnOf([7n, 7n, 7n], ColumnType.time), 3)).toEqual({ width: 2, base: 7n, divisor: { odd: 1, zeros: 0 } });
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
