// The wrapper's promises: ids, reuse, reset and memory. What the lines mean is tested in test/conformance.
import { afterEach, beforeEach, expect, test } from "bun:test";
import * as abi from "../../../assembly/abi.ts";
import { KernelReader } from "../../../test/conformance/parsed-lines.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { Precision } from "../../model/time/precision.ts";
import { Kernel } from "../memory/kernel.ts";
import { BODY_PADDING_BYTES, type BodyLocation, LineParser } from "./line-parser.ts";

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

const bodies: { ptr: number; bytes: number }[] = [];

/** A body in the kernel's memory until the end of the test. */
function bodyAt(text: Uint8Array): BodyLocation {
  const bytes = text.byteLength + BODY_PADDING_BYTES;
  const ptr = kernel.heap.alloc(bytes);
  bodies.push({ ptr, bytes });
  kernel.u8.set(text, ptr);
  return { ptr, byteCount: text.byteLength };
}

afterEach(() => {
  for (const { ptr, bytes } of bodies.splice(0)) kernel.heap.free(ptr, bytes);
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
  const body = (first: number, count: number) => Array.from({ length: count }, (_, i) => `t${first + i} v=1`).join("\n");
  const { rowCount, lineCount, errors } = parse(body(0, 10_004));
  expect([rowCount, lineCount, errors.length]).toEqual([10_000, 10_004, 4]);
  expect(errors[0]!.message).toBe(
    "Update to schema would exceed number of tables of one body: rows of at most 10000; send the others with another write",
  );
  expect(parser.view.wantsReset).toBe(false);
  for (let first = 10_000; first < 60_000; first += 10_000) expect(parse(body(first, 10_000)).rowCount).toBe(10_000);
  expect(parse(body(60_000, 5536)).rowCount).toBe(5536);
  expect(parser.view.tableCount).toBe(65_536);
  expect(parse("t7 v=2\nu v=1").rowCount).toBe(1);
  expect(parser.view.wantsReset).toBe(true);
  parser.reset();
  expect(parse("u v=1").rowCount).toBe(1);
});

test("a body in parts: each ends behind the line that brings too much, and the next goes on there", () => {
  const bytes = new TextEncoder().encode("a,h=1 v=1 1\nb v=1 2\n\n# c\nc v=1 3\na w=1 4\nbad\nd v=1 5");
  const part = (from: number, limits: { tablesMax?: number; newNamesMax?: number; keptTablesMax?: number }) => {
    const options = { precision: Precision.nanosecond, receiveTimeNs: 0n, from, ...limits };
    const location = bodyAt(bytes);
    const resultPtr = parser.parseRaw(location, options);
    const { tables, lineCount, rowCount } = parser.view.read(resultPtr, options.precision);
    return { names: tables.map(({ name }) => name).join(), lineCount, rowCount, end: parser.view.endOf(resultPtr) };
  };
  parser.reset();
  expect(part(0, { tablesMax: 2 })).toEqual({ names: "a,b", lineCount: 2, rowCount: 2, end: 20 });
  expect(part(20, { tablesMax: 2 })).toEqual({ names: "c,a", lineCount: 2, rowCount: 2, end: 41 });
  expect(part(41, { tablesMax: 2 })).toEqual({ names: "d", lineCount: 2, rowCount: 1, end: bytes.length });
  // table, tag and field are three names
  parser.reset();
  expect(part(0, { newNamesMax: 3 })).toMatchObject({ names: "a", end: 12 });
  expect(part(12, { newNamesMax: 3 })).toMatchObject({ names: "b,c", end: 33 });
  expect(part(0, { newNamesMax: 3 })).toMatchObject({ names: "a,b,c,d", rowCount: 5, lineCount: 6, end: bytes.length });
  parser.reset();
  expect(part(0, { keptTablesMax: 2 })).toMatchObject({ names: "a,b", rowCount: 3, lineCount: 6 });
  expect(parser.view.tableCount).toBe(2);
});

test("a fault that has no text does not take the memory before the line for it", () => {
  parser.reset();
  const options = { precision: Precision.nanosecond, receiveTimeNs: 0n, keptTablesMax: 0 };
  const resultPtr = parser.parseRaw(bodyAt(new TextEncoder().encode("a v=1")), options);
  const words = kernel.u32;
  const errorAt = words[(resultPtr >>> 2) + abi.PARSED_ERRORS_PTR]! >>> 2;
  expect([words[errorAt + abi.LINE_ERROR_CODE], words[errorAt + abi.LINE_ERROR_TEXT_BYTES]]).toEqual([abi.LINE_BAD_TOO_MANY_TABLES, 0]);
});

test("a time learned in one precision is not taken for another", () => {
  const body = new TextEncoder().encode("m v=1 0000000001465839830\nm v=2 0000000001465839830");
  for (const precision of [Precision.nanosecond, Precision.nanosecond, Precision.second, Precision.auto, Precision.millisecond]) {
    const { timePtr } = parser.parse(body, { precision, receiveTimeNs: 0n }).tables[0]!;
    const unit = { [Precision.nanosecond]: 1n, [Precision.millisecond]: 1_000_000n }[precision as 1 | 3] ?? 1_000_000_000n;
    expect([...kernel.i64.subarray(timePtr / 8, timePtr / 8 + 2)]).toEqual([1465839830n * unit, 1465839830n * unit]);
  }
});

const wide = (fields: number) => `m ${Array.from({ length: fields }, (_, i) => `f${i}=${i}`).join(",")}`;
const narrow = (rows: number) => "m f0=1\n".repeat(rows);

test("rows of a wide table are limited in a body, also those of known columns", () => {
  const rowsMax = Math.floor(abi.LINE_CELLS_MAX / 600);
  const body = `${wide(600)}\n${narrow(rowsMax + 1)}n v=1`;
  const { rowCount, lineCount, errors } = parse(body);
  expect([rowCount, lineCount]).toEqual([rowsMax + 1, rowsMax + 3]);
  const message = "too many rows of a table of so many columns in one body; send the others with another write";
  expect(errors.map((error) => error.message)).toEqual([message, message]);
  // further columns lower it
  expect(parse(`${narrow(rowsMax - 1)}${wide(1200)}`).errors.map((error) => error.message)).toEqual([message]);
  expect(parse(`${narrow(rowsMax / 2 - 1)}${wide(1200)}`).errors).toEqual([]);
  // and a table of 512 columns or fewer has no such limit
  parser.reset();
  expect(parse(`${wide(512)}\n${narrow(rowsMax + 100_000)}`).errors).toEqual([]);
});

test("columns of a small body take no room for the rows of an earlier large one", () => {
  parse(narrow(300_000));
  const before = parser.memoryBytes;
  expect(parse(`${narrow(1)}${wide(4095)}\n${narrow(1)}`).rowCount).toBe(3);
  // a bit for each of 524,288 rows would take 256 MiB
  expect(parser.memoryBytes - before).toBeLessThan(8 << 20);
});

test("a flood of column names is refused, and gone after a reset", () => {
  const flood = (from: number, count: number) => Array.from({ length: count }, (_, i) => `m f${from + i}=1`).join("\n");
  expect(parse(flood(0, 8000)).rowCount).toBe(8000);
  expect(parser.view.wantsReset).toBe(false);
  const { rowCount, errors } = parse(`${flood(8000, 193)}\nm f1=1,f2=2 1\nm f1=1i\nn f99999=1`);
  expect(rowCount).toBe(194);
  expect(errors.map(({ message }) => message)).toEqual(
    Array(2).fill("Update to schema would exceed number of columns per table limit of 4095 columns"),
  );
  expect(parser.view.wantsReset).toBe(true);
  parser.reset();
  expect(parser.view.wantsReset).toBe(false);
  expect(parse(flood(9000, 10)).rowCount).toBe(10);
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
