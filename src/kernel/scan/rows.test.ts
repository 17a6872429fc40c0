// Row operations compared with the same done on plain arrays, at every width and bit offset.
import { afterEach, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { Arena, isPresent } from "../../../test/support/rows/rows.ts";
import { Kernel } from "../memory/kernel.ts";
import { bitmapBytes, countPresent, gatherBitmap, gatherValues, isSorted, presentRows, timeRange } from "./rows.ts";

const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

const COUNTS = [0, 1, 7, 8, 9, 63, 64, 65, 200];

test.each([1, 4, 8, 16])("gathers values of %i bytes, to a target and in place", (width) => {
  const below = prng(width);
  for (const count of COUNTS) {
    const source = Uint8Array.from({ length: 300 * width }, () => below(256));
    const rows = Array.from({ length: count }, () => below(300)).toSorted((a, b) => a - b);
    const expected = Buffer.concat(rows.map((row) => source.subarray(row * width, (row + 1) * width)));
    const sourcePtr = arena.bytes(source);
    const rowsPtr = arena.u32(rows);
    const targetPtr = arena.alloc(count * width);
    gatherValues(kernel, width, { sourcePtr, rowsPtr, count, targetPtr });
    expect(Buffer.from(kernel.copyOut(targetPtr, count * width))).toEqual(expected);
    const distinct = [...new Set(rows)];
    gatherValues(kernel, width, { sourcePtr, rowsPtr: arena.u32(distinct), count: distinct.length, targetPtr: sourcePtr });
    const inPlace = Buffer.concat(distinct.map((row) => source.subarray(row * width, (row + 1) * width)));
    expect(Buffer.from(kernel.copyOut(sourcePtr, distinct.length * width))).toEqual(inPlace);
  }
});

test.each([1, 8])("packed values of %i bytes: from dense, to dense, of some rows, at every offset", (width) => {
  const below = prng(width);
  for (const rowCount of [1, 63, 64, 65, 200]) {
    const bits = Array.from({ length: rowCount }, () => below(4) === 0);
    const dense = Uint8Array.from({ length: rowCount * width }, () => below(256));
    const valuesOf = (rows: number[]) => Buffer.concat(rows.map((row) => dense.subarray(row * width, (row + 1) * width)));
    const [validity, densePtr] = [arena.bits(bits), arena.bytes(dense)];
    const present = bits.flatMap((bit, row) => (bit ? [row] : []));
    for (let from = 0; from < rowCount; from += 1 + below(20)) {
      const count = 1 + below(rowCount - from);
      const within = present.filter((row) => row >= from && row < from + count);
      const packed = arena.alloc(within.length * width);
      kernel.call.packValues(width, densePtr, validity, from, count, packed);
      expect(Buffer.from(kernel.copyOut(packed, within.length * width))).toEqual(valuesOf(within));
      const spread = arena.bytes(new Uint8Array(count * width).fill(0x55));
      kernel.call.spreadValues(width, packed, validity, from, count, spread);
      const wanted = Buffer.alloc(count * width);
      for (const row of within) wanted.set(dense.subarray(row * width, (row + 1) * width), (row - from) * width);
      expect(Buffer.from(kernel.copyOut(spread, count * width))).toEqual(wanted);
    }
    const all = arena.bytes(valuesOf(present));
    const unpacked = arena.bytes(new Uint8Array(rowCount * width).fill(0x55));
    kernel.call.unpackValues(width, all, validity, rowCount, unpacked);
    const wanted = Buffer.alloc(rowCount * width);
    for (const row of present) wanted.set(dense.subarray(row * width, (row + 1) * width), row * width);
    expect(Buffer.from(kernel.copyOut(unpacked, rowCount * width))).toEqual(wanted);
  }
});

test.each([1, 8, 16])("values of %i bytes: those of absent rows become 0, at every offset", (width) => {
  const below = prng(width);
  for (const present of [0, 1, 9, 10]) {
    for (const rowCount of [1, 63, 64, 65, 200]) {
      const bits = Array.from({ length: rowCount }, () => below(10) < present);
      // what is behind the last row does not count
      const validity = arena.bits([...bits, true, false, true]);
      for (let from = 0; from < rowCount; from += 1 + below(20)) {
        const count = 1 + below(rowCount - from);
        const values = arena.bytes(new Uint8Array((count + 1) * width).fill(0x55));
        kernel.call.clearAbsent(width, values, validity, from, count);
        const wanted = Buffer.alloc((count + 1) * width, 0x55);
        for (let i = 0; i < count; i++) if (!bits[from + i]) wanted.fill(0, i * width, (i + 1) * width);
        expect(Buffer.from(kernel.copyOut(values, wanted.length))).toEqual(wanted);
      }
    }
  }
});

test.each([1, 8, 16])("packed values of %i bytes of which some rows go, none, all", (width) => {
  const below = prng(width);
  for (const rowCount of [1, 63, 64, 65, 128, 200, 1000]) {
    for (const goes of [1, 2, 50, 2000]) {
      for (const isThere of [1, 3, 100]) {
        const bits = Array.from({ length: rowCount }, () => below(isThere) === 0);
        const valueBytes = (row: number) => Buffer.alloc(width, row);
        const all = arena.bytes(Buffer.concat(bits.flatMap((bit, row) => (bit ? [valueBytes(row)] : []))));
        const kept = Array.from({ length: rowCount }, (_, row) => row).filter(() => goes === 1 || below(goes) > 0);
        const keptPresent = kept.filter((row) => bits[row]);
        const [keep, target] = [arena.alloc(bitmapBytes(rowCount)), arena.alloc(bitmapBytes(rowCount))];
        kernel.call.rowBits(arena.u32(kept), kept.length, rowCount, keep);
        // what is behind the last row of the column does not count
        const validity = arena.bits([...bits, true, true, true]);
        expect(kernel.call.keepPacked(width, all, validity, keep, rowCount, target)).toBe(keptPresent.length);
        expect(Buffer.from(kernel.copyOut(all, keptPresent.length * width))).toEqual(Buffer.concat(keptPresent.map(valueBytes)));
        expect(kept.map((_, i) => isPresent(kernel, target, i))).toEqual(kept.map((row) => bits[row]!));
      }
    }
  }
});

test("bitmaps: gather, rows, count, copy and set at every offset", () => {
  const below = prng(7);
  for (const count of COUNTS) {
    const bits = Array.from({ length: count }, () => below(3) > 0);
    const bitmap = arena.bits(bits);
    const rows = Array.from({ length: 100 }, () => below(Math.max(1, count)));
    const gathered = arena.alloc(bitmapBytes(100));
    gatherBitmap(kernel, { sourcePtr: bitmap, rowsPtr: arena.u32(rows), count: count === 0 ? 0 : 100, targetPtr: gathered });
    if (count > 0) expect(rows.map((_, i) => isPresent(kernel, gathered, i))).toEqual(rows.map((row) => bits[row]!));
    const found = arena.alloc(count * 4);
    const present = bits.flatMap((bit, row) => (bit ? [row] : []));
    expect(presentRows(kernel, bitmap, count, found)).toBe(present.length);
    expect([...kernel.u32.slice(found / 4, found / 4 + present.length)]).toEqual(present);
    for (let from = 0; from < 10 && from < count; from++) {
      const part = bits.slice(from);
      expect(countPresent(kernel, bitmap, from, part.length)).toBe(part.filter(Boolean).length);
      for (let to = 0; to < 17; to++) {
        const bytes = bitmapBytes(to + part.length + 1);
        const copied = arena.alloc(bytes);
        kernel.call.copyBits(bitmap, from, copied, to, part.length);
        const set = arena.alloc(bytes);
        kernel.call.setBits(set, to, part.length);
        for (let i = 0; i < bytes * 8; i++) {
          const inside = i >= to && i < to + part.length;
          if (isPresent(kernel, copied, i) !== (inside && part[i - to]!)) throw new Error(`copyBits ${from} → ${to}, bit ${i}`);
          if (isPresent(kernel, set, i) !== inside) throw new Error(`setBits ${to} + ${part.length}, bit ${i}`);
        }
      }
    }
  }
});

test("range and order of times", () => {
  const times = [5n, -(2n ** 63n), 2n ** 63n - 1n, 0n];
  expect(timeRange(kernel, arena.i64(times), 4)).toEqual({ minNs: times[1]!, maxNs: times[2]! });
  expect(timeRange(kernel, arena.i64(times), 1)).toEqual({ minNs: 5n, maxNs: 5n });
  const sorted = (series: number[], values: bigint[]) => isSorted(kernel, arena.u32(series), arena.i64(values), series.length);
  expect(sorted([], [])).toBe(true);
  expect(sorted([0, 0, 1], [5n, 5n, 1n])).toBe(true);
  expect(sorted([0, 0], [5n, 4n])).toBe(false);
  expect(sorted([1, 0], [1n, 2n])).toBe(false);
});
