// The buffer gives back what was appended, in every snapshot, for every type and sparseness, also when memory runs out at any allocation.
import { afterEach, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { ALL_TYPES, randomRows, randomValue } from "../../../test/support/rows/random-rows.ts";
import { Arena, packColumn, readRun, type TestRow, type TestValue, writeBatch } from "../../../test/support/rows/rows.ts";
import { Blocks } from "../../kernel/memory/blocks.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { denseRun } from "../../kernel/scan/dense-run.ts";
import { mergeRuns } from "../../kernel/scan/run-merge.ts";
import { SeriesDictionary } from "../../kernel/series/series-dictionary.ts";
import { LIMITS } from "../../model/limits.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import type { Run } from "../../model/rows/run.ts";
import { Pins } from "./pins.ts";
import { type BufferBatch, TableBuffer } from "./table-buffer.ts";

const I64_MIN = -(2n ** 63n);
const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

const COLUMNS = ALL_TYPES;
const FIELD_TYPES = [ColumnType.integer, ColumnType.float, ColumnType.string, ColumnType.boolean, ColumnType.unsigned];

function setUp(): { pins: Pins; dictionary: SeriesDictionary; buffer: TableBuffer } {
  const pins = new Pins();
  const dictionary = new SeriesDictionary(kernel, { lastTimeFloorNs: I64_MIN, reclaimer: pins });
  return { pins, dictionary, buffer: new TableBuffer(kernel, dictionary, pins) };
}

/** 24 field columns of every type. */
const SPARSE: ColumnDef[] = [
  { id: 1, name: "host", type: ColumnType.tag },
  ...Array.from({ length: 24 }, (_, i) => ({ id: i + 2, name: `c${i}`, type: FIELD_TYPES[i % FIELD_TYPES.length]! })),
];

/** One to three fields of SPARSE; which ones are likely changes with time. */
function sparseRow(below: (n: number) => number, time: number): TestRow {
  const fields: Record<string, TestValue> = {};
  for (let i = below(3); i >= 0; i--) {
    const at = (below(12) + Math.floor(time / 1000) * 6) % 24;
    fields[`c${at}`] = randomValue(FIELD_TYPES[at % FIELD_TYPES.length]!, below);
  }
  return { timeNs: BigInt(time), tags: { host: `h${below(5)}` }, fields };
}

const rowsOf = (runs: readonly Run[]) => runs.flatMap((run) => readRun(kernel, COLUMNS, run));
const row = (timeNs: bigint, fields: TestRow["fields"] = { f: 1 }): TestRow => ({ timeNs, tags: { host: "a" }, fields });

describe("TableBuffer", () => {
  test("a run is the same object until its segment has more rows or is closed", () => {
    const { dictionary, buffer } = setUp();
    const append = (sequence: number, rows: TestRow[]) => buffer.append(writeBatch(arena, dictionary, COLUMNS, rows), sequence);
    append(1, [row(1n), row(2n)]);
    const [before] = buffer.runs();
    expect(buffer.runs()[0]).toBe(before!);
    append(2, [row(3n)]);
    const [after] = buffer.runs();
    expect(rowsOf([after!]).map(({ timeNs }) => timeNs)).toEqual([1n, 2n, 3n]);
    expect(rowsOf([before!]).map(({ timeNs }) => timeNs)).toEqual([1n, 2n]);
    expect(buffer.runs()[0]).toBe(after!);
    expect(after!.segment).toBeUndefined();
    buffer.cut();
    const [closed] = buffer.runs();
    expect(closed!.segment).toBeGreaterThan(0);
    append(3, [row(4n)]);
    expect(buffer.runs()[0]).toBe(closed!);
    buffer.dropAll();
  });

  test.each([1, 2, 3, 4, 5, 6])("gives back what was appended, in every snapshot, seed %i", (seed) => {
    const below = prng(seed);
    const { dictionary, buffer, pins } = setUp();
    const all: TestRow[] = [];
    const snapshots: [runs: Run[], rowCount: number][] = [];
    const pin = pins.take(); // arrays that move must outlive the snapshots
    for (let sequence = 1; sequence <= 25; sequence++) {
      const rows = randomRows(below, { count: [0, 1, 2, 7, 8, 9, 63, 64, 200, 700][below(10)]!, times: 1000, hosts: 9 });
      const batch = writeBatch(arena, dictionary, COLUMNS, rows);
      const columns = batch.columns.map((column) => (below(2) === 0 ? column : packColumn(arena, column, rows.length)));
      buffer.append({ ...batch, columns }, sequence);
      arena.free(); // the buffer has copied everything, text too
      all.push(...rows);
      if (below(3) === 0) snapshots.push([buffer.runs(), all.length]);
    }
    expect(buffer.rowCount).toBe(all.length);
    expect(rowsOf(buffer.runs())).toEqual(all);
    for (const [runs, rowCount] of snapshots) expect(rowsOf(runs)).toEqual(all.slice(0, rowCount));
    for (const run of buffer.runs()) {
      const times = readRun(kernel, COLUMNS, run).map(({ timeNs }) => Number(timeNs));
      expect([run.minTimeNs, run.maxTimeNs]).toEqual([BigInt(Math.min(...times)), BigInt(Math.max(...times))]);
    }
    buffer.dropAll();
    dictionary.release();
    pin.release();
  });

  test.each([1, 2])("columns that few rows have are packed, and given back like any other, seed %i", (seed) => {
    const below = prng(seed);
    const { dictionary, buffer, pins } = setUp();
    const all: TestRow[] = [];
    const snapshots: [runs: Run[], rowCount: number][] = [];
    const pin = pins.take();
    for (let sequence = 1; sequence <= 6; sequence++) {
      const rows = Array.from({ length: sequence === 1 ? 2500 : [1, 64, 1500, 700][below(4)]! }, (_, i) =>
        sparseRow(below, all.length + i),
      );
      const batch = writeBatch(arena, dictionary, SPARSE, rows);
      // as the parser makes them, or with a place for every row
      const columns = batch.columns.map((column) => (below(3) === 0 ? column : packColumn(arena, column, rows.length)));
      buffer.append({ ...batch, columns }, sequence);
      arena.free();
      all.push(...rows);
      if (below(2) === 0) snapshots.push([buffer.runs(), all.length]);
    }
    const read = (runs: readonly Run[]) => runs.flatMap((run) => readRun(kernel, SPARSE, run));
    const runs = buffer.runs();
    expect(runs.some(({ columns }) => columns.some(({ isPacked }) => isPacked))).toBe(true);
    expect(read(runs)).toEqual(all);
    for (const [runs, rowCount] of snapshots) expect(read(runs)).toEqual(all.slice(0, rowCount));
    // as merges and scans see them
    const merged = mergeRuns(kernel, runs, SPARSE);
    const inOrder = (rows: readonly TestRow[]) => rows.toSorted((a, b) => Number(a.timeNs - b.timeNs));
    expect(inOrder(readRun(kernel, SPARSE, merged))).toEqual(all);
    merged.release();
    const blocks = new Blocks(kernel);
    const wanted = new Set(SPARSE.filter((_, i) => i % 2 === 0).map(({ id }) => id));
    const dense = runs.map((run) => denseRun(kernel, run, (columnId) => wanted.has(columnId), blocks));
    expect(dense.some(({ columns }) => columns.some(({ isPacked }) => isPacked))).toBe(false);
    const names = new Set(SPARSE.filter(({ id }) => wanted.has(id)).map(({ name }) => name));
    const project = (row: TestRow) => ({
      ...row,
      fields: Object.fromEntries(Object.entries(row.fields).filter(([name]) => names.has(name))),
    });
    expect(read(dense).map(project)).toEqual(all.map(project));
    blocks.release();
    // a tenth of the columns in a row: much less than a value for every row and column
    expect(buffer.bytes).toBeLessThan(all.length * (12 + (SPARSE.length * 16) / 3));
    buffer.dropAll();
    dictionary.release();
    pin.release();
  });

  test("a batch may span segments; sequences follow its rows", () => {
    const { dictionary, buffer } = setUp();
    const rowCount = LIMITS.segmentRowsMax * 2 + 100;
    buffer.append(writeBatch(arena, dictionary, COLUMNS, [row(1n), row(2n)]), 3);
    // one series, times ascending: every other row has an integer
    const series = arena.u32([0]);
    const rows = arena.alloc(rowCount * 4);
    kernel.call.gather4(series, arena.alloc(rowCount * 4), rowCount, rows);
    const times = arena.i64(Array.from({ length: rowCount }, (_, i) => BigInt(i + 10)));
    const validityPtr = arena.alloc(rowCount / 8 + 8);
    kernel.u8.fill(0b01010101, validityPtr, validityPtr + Math.ceil(rowCount / 8));
    const facts = dictionary.noteTimes(rows, times, rowCount);
    expect(facts.unique).toBe(true);
    const columns = [{ columnId: 3, type: ColumnType.integer, dataPtr: times, validityPtr }];
    buffer.append({ rowCount, seriesPtr: rows, timePtr: times, columns, ...facts }, 4);
    const runs = buffer.runs();
    // the small first segment, and then as few as there can be
    expect(runs.map((run) => [run.seqMin, run.seqMax, run.unique])).toEqual([
      [3, 4, true],
      [4, 4, true],
      [4, 4, true],
      [4, 4, true],
    ]);
    expect(runs.reduce((sum, run) => sum + run.rowCount, 0)).toBe(rowCount + 2);
    let seen = 0;
    for (const found of rowsOf(runs)) {
      if (seen >= 2) {
        const at = seen - 2;
        expect(found.timeNs).toBe(BigInt(at + 10));
        expect(found.fields).toEqual(at % 2 === 0 ? { i: BigInt(at + 10) } : {});
      }
      seen++;
    }
    expect(seen).toBe(rowCount + 2);
    expect(buffer.span).toEqual({ minTimeNs: 1n, maxTimeNs: BigInt(rowCount + 9), seqMin: 3, seqMax: 4 });
    buffer.dropAll();
    dictionary.release();
  });

  test.each([1, 2, 3])("rows on both sides of a cut share no run, seed %i", (seed) => {
    const below = prng(seed);
    const { dictionary, buffer } = setUp();
    const all: TestRow[] = [];
    const cuts: number[] = [];
    for (let sequence = 1; sequence <= 60; sequence++) {
      const rows = randomRows(below, { count: below(40), times: 1000, hosts: 9 });
      buffer.append(writeBatch(arena, dictionary, COLUMNS, rows), sequence);
      arena.free();
      all.push(...rows);
      if (below(3) > 0) continue;
      buffer.cut();
      if (below(2) === 0) buffer.cut();
      cuts.push(sequence);
    }
    const runs = buffer.runs();
    expect(rowsOf(runs)).toEqual(all);
    for (const cut of cuts)
      for (const { seqMin, seqMax } of runs) expect(seqMax <= cut || seqMin > cut, `${seqMin} to ${seqMax}`).toBe(true);
    // a small first segment and one more
    expect(runs.length).toBeLessThanOrEqual((cuts.length + 1) * 2);
    const sealed = buffer.seal();
    expect(sealed.runs()).toHaveLength(runs.length);
    // a new buffer is open again
    buffer.append(writeBatch(arena, dictionary, COLUMNS, [row(1n)]), 61);
    buffer.append(writeBatch(arena, dictionary, COLUMNS, [row(2n)]), 62);
    expect(buffer.runs().map(({ seqMin, seqMax }) => [seqMin, seqMax])).toEqual([[61, 62]]);
    sealed.release();
    buffer.dropAll();
    dictionary.release();
  });

  test("a table that is cut often has small segments, and large ones again when it is cut less often", () => {
    const { dictionary, buffer } = setUp();
    const rows = (count: number) => Array.from({ length: count }, (_, i) => row(BigInt(i)));
    for (let i = 0; i < 8; i++) buffer.append(writeBatch(arena, dictionary, COLUMNS, rows(4000)), 1);
    const pace = buffer.bytes / buffer.rowCount;
    for (let i = 0; i < 100; i++) {
      buffer.cut();
      buffer.append(writeBatch(arena, dictionary, COLUMNS, rows(200)), 2 + i);
    }
    // 256 rows of room for 200, and what they came behind
    expect(buffer.bytes / buffer.rowCount).toBeLessThan(pace * 3);
    buffer.dropAll();
    dictionary.release();
  });

  test("a body goes to the next segment whole when the rest of one is little", () => {
    const { dictionary, buffer } = setUp();
    const batchOf = (rowCount: number): BufferBatch => {
      const series = arena.alloc(rowCount * 4);
      const rows = { rowCount, seriesPtr: series, timePtr: arena.alloc(rowCount * 8), columns: [], unique: false };
      return rows;
    };
    // 6 x 10,000 of 65,536 rows leave less than an eighth
    let sequence = 1;
    buffer.append(batchOf(LIMITS.segmentRowsMax), sequence++);
    for (let i = 0; i < 14; i++) buffer.append(batchOf(10_000), sequence++);
    expect(buffer.runs().map(({ rowCount, seqMin, seqMax }) => [rowCount, seqMin, seqMax])).toEqual([
      [65_536, 1, 1],
      [60_000, 2, 7],
      [60_000, 8, 13],
      [20_000, 14, 15],
    ]);
    // half full: it is continued, and the body lies on both sides
    buffer.append(batchOf(50_000), sequence++);
    expect(
      buffer
        .runs()
        .map(({ rowCount, seqMin, seqMax }) => [rowCount, seqMin, seqMax])
        .slice(3),
    ).toEqual([
      [65_536, 14, 16],
      [4_464, 16, 16],
    ]);
    buffer.dropAll();
    dictionary.release();
  });

  test("a segment is unique as long as all its batches are", () => {
    const { dictionary, buffer } = setUp();
    const uniqueAfter = (rows: TestRow[], sequence: number) => {
      buffer.append(writeBatch(arena, dictionary, COLUMNS, rows), sequence);
      return buffer.runs().map(({ unique }) => unique);
    };
    expect(uniqueAfter([row(1n), row(2n)], 1)).toEqual([true]);
    expect(uniqueAfter([row(3n)], 2)).toEqual([true]);
    expect(uniqueAfter([row(3n)], 3)).toEqual([false]);
    expect(uniqueAfter([row(4n)], 4)).toEqual([false]);
    buffer.seal().release();
    expect(uniqueAfter([row(5n)], 5)).toEqual([true]);
    buffer.dropAll();
    dictionary.release();
  });

  test("a column costs nothing where it has no value", () => {
    const { dictionary, buffer } = setUp();
    buffer.append(writeBatch(arena, dictionary, COLUMNS, [row(1n), row(2n)]), 1);
    const before = buffer.bytes;
    const batch = writeBatch(arena, dictionary, COLUMNS, [row(3n)]);
    const absent = { columnId: 3, type: ColumnType.integer, dataPtr: arena.alloc(8), validityPtr: arena.bits([false]) };
    buffer.append({ ...batch, columns: [...batch.columns, absent] }, 2);
    expect(buffer.bytes).toBe(before);
    expect(buffer.runs()[0]!.columns.map(({ columnId, validityPtr }) => [columnId, validityPtr])).toEqual([[2, 0]]);
    buffer.dropAll();
    dictionary.release();
  });

  test("a snapshot keeps its columns when a bitmap or a column is added behind it", () => {
    const { dictionary, buffer } = setUp();
    buffer.append(writeBatch(arena, dictionary, COLUMNS, [row(1n), row(2n)]), 1);
    const runs = buffer.runs();
    buffer.append(writeBatch(arena, dictionary, COLUMNS, [row(3n, { i: 7n }), row(4n, { s: "text that is not inline" })]), 2);
    expect(rowsOf(runs)).toEqual([row(1n), row(2n)]);
    expect(rowsOf(buffer.runs())).toEqual([row(1n), row(2n), row(3n, { i: 7n }), row(4n, { s: "text that is not inline" })]);
    buffer.dropAll();
    dictionary.release();
  });

  test("sealed rows stay until they are released and no pin can see them", () => {
    const before = kernel.heap.usedBytes;
    const { dictionary, buffer, pins } = setUp();
    buffer.append(writeBatch(arena, dictionary, COLUMNS, [row(5n), row(9n, { s: "a text of more than 12 bytes" })]), 7);
    const bytes = buffer.bytes;
    const sealed = buffer.seal();
    expect([buffer.rowCount, buffer.bytes, buffer.runs()]).toEqual([0, 0, []]);
    expect(sealed).toMatchObject({ rowCount: 2, bytes, minTimeNs: 5n, maxTimeNs: 9n, seqMin: 7, seqMax: 7 });
    const pin = pins.take();
    sealed.release();
    sealed.release();
    dictionary.release();
    expect(rowsOf(sealed.runs())).toEqual([row(5n), row(9n, { s: "a text of more than 12 bytes" })]);
    expect(kernel.heap.usedBytes).toBeGreaterThan(before);
    arena.free();
    pin.release();
    expect(kernel.heap.usedBytes).toBe(before);
  });

  test("sealed rows are read with the dictionary as it is then: its arrays move as it grows", () => {
    const { dictionary, buffer } = setUp();
    const hosts = (from: number, count: number): TestRow[] =>
      Array.from({ length: count }, (_, i) => ({ timeNs: 1n, tags: { host: `a long name of host ${from + i}` }, fields: { f: from + i } }));
    buffer.append(writeBatch(arena, dictionary, COLUMNS, hosts(0, 20)), 1);
    const sealed = buffer.seal();
    buffer.append(writeBatch(arena, dictionary, COLUMNS, hosts(20, 3000)), 2);
    // what was freed is used again
    const used = arena.alloc(1 << 20);
    kernel.u8.fill(0xff, used, used + (1 << 20));
    expect(rowsOf(sealed.runs())).toEqual(hosts(0, 20));
    sealed.release();
    buffer.dropAll();
    dictionary.release();
  });

  test("the next buffer has a dictionary of its own when the old one is evicted", () => {
    const { dictionary, buffer, pins } = setUp();
    buffer.append(writeBatch(arena, dictionary, COLUMNS, [row(1n)]), 1);
    const next = new SeriesDictionary(kernel, { lastTimeFloorNs: 1n, reclaimer: pins });
    const sealed = buffer.seal(next);
    expect(buffer.dictionary).toBe(next);
    const other: TestRow = { timeNs: 2n, tags: { host: "b" }, fields: { f: 2 } };
    buffer.append(writeBatch(arena, next, COLUMNS, [other]), 2);
    expect(rowsOf(buffer.runs())).toEqual([other]);
    expect(rowsOf(sealed.runs())).toEqual([row(1n)]);
    expect(sealed.runs()[0]!.dictionary.id).not.toBe(buffer.runs()[0]!.dictionary.id);
    sealed.release();
    expect(() => dictionary.release()).toThrow("released twice"); // it went with its rows
    buffer.dropAll();
    next.release();
  });

  // every allocation in turn finds the memory full
  test("a batch that does not fit into memory leaves the buffer as it was", () => {
    const { dictionary, buffer } = setUp();
    const first = [row(1n), row(2n, { s: "a text of more than 12 bytes" })];
    buffer.append(writeBatch(arena, dictionary, COLUMNS, first), 1);
    const rows = randomRows(prng(4), { count: 900, times: 1, hosts: 9 }).map((some, i) => ({ ...some, timeNs: BigInt(i + 10) }));
    const batch = writeBatch(arena, dictionary, COLUMNS, rows);
    const alloc = kernel.heap.alloc.bind(kernel.heap);
    let failed = 0;
    for (let failAt = 1, done = false; !done; failAt++) {
      let calls = 0;
      kernel.heap.alloc = (bytes) => {
        if (++calls === failAt) throw new Error("full");
        return alloc(bytes);
      };
      try {
        buffer.append(batch, 2);
        done = true;
      } catch (error) {
        expect((error as Error).message).toBe("full");
        failed++;
        expect(rowsOf(buffer.runs())).toEqual(first);
        expect([buffer.rowCount, buffer.span.seqMax]).toEqual([2, 1]);
      } finally {
        kernel.heap.alloc = alloc;
      }
    }
    expect(failed).toBeGreaterThan(3);
    expect(rowsOf(buffer.runs())).toEqual([...first, ...rows]);
    buffer.dropAll();
    dictionary.release();
  });
});
