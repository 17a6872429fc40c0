// The wrapper's promises: ids, reuse, reset and memory. What the lines mean is tested in test/conformance.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { KernelReader } from "../../test/conformance/parsed-lines.ts";
import { ColumnType } from "../model/column.ts";
import { Precision } from "../model/precision.ts";
import { Kernel } from "./kernel.ts";
import { LineParser } from "./line-parser.ts";

const OPTIONS = { precision: Precision.nanosecond, receiveTimeNs: 77n };
const kernel = Kernel.create();
let parser: LineParser;
let before: number;

beforeEach(() => {
  parser = new LineParser(kernel);
  parse("m v=1"); // the table of powers of five is made once and stays
  parser.reset();
  before = kernel.heap.usedBytes;
});

afterEach(() => {
  parser.release();
  expect(kernel.heap.usedBytes).toBe(before);
});

const parse = (text: string) => parser.parse(new TextEncoder().encode(text), OPTIONS);

test("series, tag and column indexes are dense and kept from body to body", () => {
  const [first] = parse("cpu,host=a,zone=z v=1 1\ncpu,host=b v=1,w=2i 2\n").tables;
  expect(first).toMatchObject({ index: 0, name: "cpu", tagColumns: ["host", "zone"], newSeriesFirst: 0, newSeriesCount: 2 });
  expect(first!.columns).toMatchObject([
    { index: 0, name: "v", type: ColumnType.float, validityPtr: 0, presentCount: 2 },
    { index: 1, name: "w", type: ColumnType.integer, presentCount: 1 },
  ]);
  const body = parse("mem used=1u\ncpu,host=b w=3i\ncpu,rack=1,host=c v=2i");
  expect(body.tables.map(({ index, name }) => [index, name])).toEqual([
    [1, "mem"],
    [0, "cpu"],
  ]);
  const cpu = body.tables[1]!;
  expect(cpu).toMatchObject({ rowCount: 2, tagColumns: ["host", "zone", "rack"], newSeriesFirst: 2, newSeriesCount: 1 });
  expect([...kernel.u32.subarray(cpu.seriesPtr / 4, cpu.seriesPtr / 4 + 2)]).toEqual([1, 2]);
  expect(cpu.columns).toMatchObject([
    { index: 1, name: "w", type: ColumnType.integer },
    { index: 2, name: "v", type: ColumnType.integer },
  ]);
});

test("a bad line leaves no table, series, tag, column or row", () => {
  const { tables, errors, lineCount, rowCount } = parse("cpu,host=a v=1 1\ncpu,host=a,x=1 w=1,y=\nmem,a=1 b=\ncpu,host=b v=2,z=1 1x\n");
  expect({ lineCount, rowCount, errors: errors.length }).toEqual({ lineCount: 4, rowCount: 1, errors: 3 });
  expect(tables.length).toBe(1);
  expect(tables[0]).toMatchObject({ name: "cpu", rowCount: 1, tagColumns: ["host"], newSeriesCount: 1 });
  expect(tables[0]!.columns.map(({ name }) => name)).toEqual(["v"]);
});

test("records tell the tags of a series in any later body", () => {
  const reader = new KernelReader(kernel, parser);
  reader.parse(new TextEncoder().encode("cpu,host=a\\ b,zone=a\\,long\\ value\\ with\\ escapes v=1\ncpu v=1\ncpu,zone=y v=1"), OPTIONS);
  parse("mem v=1");
  const tags = [0, 1, 2].map((seriesId) => {
    const bytes = parser.view.seriesRecordBytes({ tableIndex: 0, seriesId });
    const target = kernel.heap.alloc(bytes);
    parser.view.writeSeriesRecord({ tableIndex: 0, seriesId }, target);
    const { tags } = reader.readRecord(target, ["host", "zone"]);
    kernel.heap.free(target, bytes);
    return tags;
  });
  expect(tags).toEqual([
    [
      ["host", "a b"],
      ["zone", "a,long value with escapes"],
    ],
    [],
    [["zone", "y"]],
  ]);
});

test("reset forgets everything and ids start again", () => {
  parse("cpu,host=a v=1\nmem v=1");
  const { generation } = parser;
  parser.reset();
  expect(parser.generation).not.toBe(generation);
  expect(parse("mem,x=y w=1i").tables).toMatchObject([
    { index: 0, name: "mem", tagColumns: ["x"], newSeriesFirst: 0, columns: [{ index: 0, name: "w" }] },
  ]);
});

test("memoryBytes grows with what is kept and stays when the same comes again", () => {
  const empty = parser.memoryBytes;
  expect(empty).toBe(0);
  const body = Array.from({ length: 5000 }, (_, i) => `cpu,host=${i} v=${i}`).join("\n");
  for (let i = 0; i < 3; i++) parse(body);
  const full = parser.memoryBytes;
  expect(full).toBeGreaterThan(empty + 5000 * 32);
  parse(body);
  parse(body);
  expect(parser.memoryBytes).toBe(full);
});

test("a flood of table names is refused, and gone after a reset", () => {
  const { rowCount, lineCount, errors } = parse(Array.from({ length: 65_540 }, (_, i) => `t${i} v=1`).join("\n"));
  expect([rowCount, lineCount, errors.length]).toEqual([65_536, 65_540, 4]);
  expect(errors[0]!.message).toBe("a body has rows of at most 65536 tables");
  expect(parse("t7 v=2\nu v=1").rowCount).toBe(1);
  expect(parser.view.wantsReset).toBe(true);
  parser.reset();
  expect(parse("u v=1").rowCount).toBe(1);
});

test("a time learned in one precision is not taken for another", () => {
  const body = new TextEncoder().encode("m v=1 0000000001465839830\nm v=2 0000000001465839830");
  for (const precision of [Precision.nanosecond, Precision.nanosecond, Precision.second, Precision.auto, Precision.millisecond]) {
    const { timePtr } = parser.parse(body, { precision, receiveTimeNs: 0n }).tables[0]!;
    const unit = { [Precision.nanosecond]: 1n, [Precision.millisecond]: 1_000_000n }[precision as 1 | 3] ?? 1_000_000_000n;
    expect([...kernel.i64.subarray(timePtr / 8, timePtr / 8 + 2)]).toEqual([1465839830n * unit, 1465839830n * unit]);
  }
});

test("a flood of column names is refused, and gone after a reset", () => {
  const flood = (from: number, count: number) => Array.from({ length: count }, (_, i) => `m f${from + i}=1`).join("\n");
  expect(parse(flood(0, 4000)).rowCount).toBe(4000);
  expect(parser.view.wantsReset).toBe(false);
  const { rowCount, errors } = parse(`${flood(4000, 97)}\nm f1=1,f2=2 1\nm f1=1i\nn f9999=1`);
  expect(rowCount).toBe(98);
  expect(errors.map(({ message }) => message)).toEqual(
    Array(2).fill("Update to schema would exceed number of columns per table limit of 500 columns"),
  );
  expect(parser.view.wantsReset).toBe(true);
  parser.reset();
  expect(parser.view.wantsReset).toBe(false);
  expect(parse(flood(5000, 10)).rowCount).toBe(10);
});

test("at most 100 errors are kept, all are counted", () => {
  const { errors, lineCount, rowCount } = parse(`${"bad\n".repeat(250)}cpu v=1`);
  expect({ errors: errors.length, lineCount, rowCount }).toEqual({ errors: 100, lineCount: 251, rowCount: 1 });
});

test("when memory is full, parse throws, forgets, and works again", () => {
  parse("cpu v=1");
  const { generation } = parser;
  const alloc = kernel.heap.alloc;
  const body = new TextEncoder().encode(Array.from({ length: 2000 }, (_, i) => `cpu,host=${i} v${i % 400}=${i}`).join("\n"));
  for (let allowed = 0, failed = true; failed; allowed += 7) {
    let left = allowed;
    failed = false;
    kernel.heap.alloc = (bytes) => {
      if (left-- > 0) return alloc.call(kernel.heap, bytes);
      failed = true;
      kernel.heap.alloc = alloc;
      throw new Error("full");
    };
    try {
      const { rowCount } = parser.parse(body, OPTIONS);
      expect(failed).toBe(false);
      expect(rowCount).toBe(2000);
    } catch (error) {
      expect((error as Error).message).toBe("full");
    }
    kernel.heap.alloc = alloc;
  }
  expect(parser.generation).not.toBe(generation);
});
