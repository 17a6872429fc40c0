// Rows written by the kernel against the same rows written cell by cell in TypeScript: byte for byte, in every text format.
import { beforeAll, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { FakeTable } from "../../../test/support/rows/fake-table.ts";
import { batchOf, type Plain, schemaOf } from "../../../test/support/rows/result-batch.ts";
import { doubleText, JSON_LAYOUT } from "../../encode/cells/float-text.ts";
import { createEncoder } from "../../encode/encode.ts";
import { wholeTable } from "../../encode/encoder.ts";
import type { QueryFormat } from "../../model/query/query.ts";
import type { ResultField, ResultType } from "../../model/query/result-batch.ts";
import type { RowText, RowTextMaker } from "../../model/query/row-text.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { ChunkColumn, RESULT_TYPE } from "../../sql/execute/chunk-reader.ts";
import { Blocks } from "../memory/blocks.ts";
import { EXTENT_BYTES } from "../memory/extents.ts";
import { Kernel } from "../memory/kernel.ts";
import { KernelRowText } from "./row-text.ts";

const FORMATS: QueryFormat[] = ["seed", "json", "jsonl", "csv"];

let maker: KernelRowText;
beforeAll(() => {
  maker = new KernelRowText(Kernel.create());
});

/** Counts the batches that the kernel wrote. */
class Counting implements RowTextMaker {
  written = 0;
  make(...args: Parameters<RowTextMaker["make"]>): RowText | null {
    const text = maker.make(...args);
    if (text === null) return null;
    return {
      rows: (batch) => {
        const rows = text.rows(batch);
        if (rows !== null) this.written += 1;
        return rows;
      },
    };
  }
}

async function encoded(format: QueryFormat, fields: ResultField[], batches: Plain[][][], kernel?: RowTextMaker): Promise<string> {
  const encoder = await createEncoder(format, kernel);
  const all = batches.map((rows) => batchOf(fields, rows));
  return Buffer.from(wholeTable(encoder, schemaOf("table", fields), all)).toString("latin1");
}

async function expectSame(fields: ResultField[], batches: Plain[][][]): Promise<void> {
  const counting = new Counting();
  for (const format of FORMATS) expect(await encoded(format, fields, batches, counting)).toBe(await encoded(format, fields, batches));
  expect(counting.written).toBe(FORMATS.length * batches.filter((rows) => rows.length > 0).length);
}

const bits64 = (below: (n: number) => number): bigint => (BigInt(below(2 ** 32)) << 32n) | BigInt(below(2 ** 32));
const float = (bits: bigint): number => new Float64Array(BigUint64Array.of(bits).buffer)[0]!;

const TEXTS = [
  "",
  "a",
  "Zürich 🏔",
  "line\nbreak",
  '"quoted", too',
  "back\\slash",
  "\r",
  ",",
  "\0\x01\x1f\b\t\f\x7f",
  "fifteen bytes..",
  "sixteen bytes...",
];
const SIZES = [0, 1, 9, 10, 99, 100, 9999, 99_999_999, 100_000_000, 4_294_967_295];

const KINDS: [type: ResultType, make: (below: (n: number) => number) => Plain][] = [
  [{ kind: "bool" }, (below) => below(2) === 1],
  [{ kind: "int", bits: 32, signed: true }, (below) => (below(2) === 0 ? below(200) - 100 : below(2 ** 32) - 2 ** 31)],
  [{ kind: "int", bits: 32, signed: false }, (below) => (below(2) === 0 ? SIZES[below(SIZES.length)]! : below(2 ** 32))],
  [{ kind: "int", bits: 64, signed: true }, (below) => BigInt.asIntN(64, bits64(below)) >> BigInt(below(64))],
  [{ kind: "int", bits: 64, signed: false }, (below) => bits64(below) >> BigInt(below(64))],
  [{ kind: "float", bits: 64 }, (below) => [Number.NaN, Infinity, -Infinity, 0, -0, below(10_000) / 100, float(bits64(below))][below(7)]!],
  [{ kind: "timestamp", unit: "ns", zone: null }, (below) => BigInt.asIntN(64, bits64(below)) >> BigInt(below(64))],
  [{ kind: "timestamp", unit: "us", zone: null }, (below) => BigInt.asIntN(64, bits64(below)) >> BigInt(below(64))],
  [{ kind: "timestamp", unit: "ms", zone: null }, (below) => BigInt.asIntN(64, bits64(below)) >> BigInt(below(64))],
  [{ kind: "timestamp", unit: "s", zone: null }, (below) => BigInt.asIntN(64, bits64(below)) >> BigInt(below(64))],
  [{ kind: "timestamp", unit: "ns", zone: null }, (below) => 1_700_000_000_000_000_000n + BigInt(below(1000)) * 10n ** BigInt(below(12))],
  [{ kind: "utf8" }, (below) => TEXTS[below(TEXTS.length)]!.repeat(below(4))],
  [{ kind: "dictionary" }, (below) => TEXTS[below(TEXTS.length)]!.repeat(below(3))],
];

describe("random rows", () => {
  for (const seed of [1, 2, 3]) {
    test(`seed ${seed}`, async () => {
      const below = prng(seed);
      for (let round = 0; round < 40; round++) {
        const kinds = Array.from({ length: 1 + below(round < 10 ? 1 : 8) }, () => KINDS[below(KINDS.length)]!);
        const fields = kinds.map(([type], i) => ({ name: `${"c".repeat(below(20))}"ö${i}`, type }));
        const nullEvery = below(5);
        const cell = (make: (typeof KINDS)[number][1]) => (nullEvery > 0 && below(nullEvery) === 0 ? null : make(below));
        const batches = Array.from({ length: below(4) }, () =>
          Array.from({ length: below(70) }, () => kinds.map(([, make]) => cell(make))),
        );
        await expectSame(fields, batches);
      }
    });
  }
});

describe("floats", () => {
  const FLOAT: ResultField[] = [{ name: "v", type: { kind: "float", bits: 64 } }];

  async function texts(values: number[], format: QueryFormat = "csv"): Promise<string> {
    const counting = new Counting();
    const text = await encoded(format, FLOAT, [values.map((value) => [value])], counting);
    expect(counting.written).toBe(1);
    return text;
  }

  async function expectTexts(values: number[]): Promise<void> {
    expect((await texts(values)).split("\n").slice(1, -1)).toEqual(values.map((value) => doubleText(value)));
    const lines = values.map((value) => `{"v":${doubleText(value, JSON_LAYOUT)}}\n`);
    expect(await texts(values, "jsonl")).toBe(lines.join(""));
  }

  // Source of the hard ones: Giulietti, "The Schubfach way to render doubles", and the tests of the Ryu library.
  const HARD = [
    ...[5e-324, 1e-323, 2.2250738585072014e-308, 2.225073858507201e-308, 1.7976931348623157e308, 4.9406564584124654e-324],
    ...[2e23, 1e23, 9e22, 8.41e21, 8.5e21, 4.35e-10, 9007199254740991, 9007199254740992, 1.8014398509481984e16],
    ...[2 ** -1074, 2 ** 1023, 2 ** -1022, 1.5 * 2 ** -1022, 2 ** 53 + 2, 2 ** 60, 2 ** 63, 2 ** 64, 2 ** 89, 4.4501477170144023e-308],
    ...[1e-5, 9.999999999999999e-6, 1e16, 9999999999999998, 1e15, 999999999999999.9, 0.1, 0.2, 0.3, 1 / 3, 123456789.125, 1e21, 1.1e-7],
    ...[1.0000000000000002, 0.30000000000000004, 5e-5, 100, 120, 1200000, 0.001, 0.00012, 12e15, 1.2e17],
  ];

  test("floats with hard shortest digits", async () => {
    const values = HARD.flatMap((value) => [value, -value]);
    await expectTexts(values);
  });

  test("every power of two and of ten, and their neighbours", async () => {
    const near = (value: number) => {
      const [bits] = new BigUint64Array(Float64Array.of(value).buffer);
      return [float(bits! - 1n), value, float(bits! + 1n)];
    };
    const twos = Array.from({ length: 2097 }, (_, i) => 2 ** (i - 1073)).flatMap(near);
    const tens = Array.from({ length: 631 }, (_, i) => Number(`1e${i - 322}`)).flatMap(near);
    const values = [...twos, ...tens].filter(Number.isFinite);
    await expectTexts(values);
  });

  test("random bits, random decimals, seed 4", async () => {
    const below = prng(4);
    const values = Array.from({ length: 60_000 }, (_, i) => {
      if (i % 3 === 0) return float(bits64(below));
      if (i % 3 === 1) return (below(2 ** 32) - 2 ** 31) / 10 ** below(15);
      return below(2 ** 30) / (1 + below(1000));
    }).filter(Number.isFinite);
    await expectTexts(values);
  });
});

test("rows longer than the room for them, beside short ones", async () => {
  const fields: ResultField[] = [{ name: "s", type: { kind: "utf8" } }];
  const long = '"\u0001,é'.repeat(60_000);
  await expectSame(fields, [[["a"], [long], ["b"], [null], [long]], [["c"]], [[""]]]);
});

test("codes of long strings are written cell by cell, and give the same bytes", async () => {
  const fields: ResultField[] = [{ name: "tag", type: { kind: "dictionary" } }];
  const rows = (count: number) => Array.from({ length: count }, (_, row) => [`${row % 2}`.repeat(60_000)]);
  for (const [count, written] of [
    [60, 1],
    [80, 0],
  ] as const) {
    const counting = new Counting();
    const text = await encoded("csv", fields, [rows(count)], counting);
    expect(counting.written).toBe(written);
    expect(text).toBe(`tag\n${rows(count).join("\n")}\n`);
  }
});

describe("columns in the kernel's memory", () => {
  test("rows of a table with every type, seed 5", async () => {
    const kernel = Kernel.create();
    const below = prng(5);
    const { time, tag, float, integer, unsigned, string, boolean } = ColumnType;
    const columns = { time, host: tag, f: float, i: integer, u: unsigned, s: string, b: boolean, nothing: string, never: float };
    const orNull = <T>(value: T): T | null => (below(4) === 0 ? null : value);
    const rows = Array.from({ length: 3000 }, (_, row) => ({
      time: BigInt(row) * 1_000_000_007n,
      host: orNull(`host_${below(100)}${below(2) === 0 ? "" : ", of many words"}`),
      f: orNull(below(10_000) / 100),
      i: orNull(BigInt(below(1000)) - 500n),
      u: orNull(bits64(below)),
      s: orNull(TEXTS[below(TEXTS.length)]!),
      b: orNull(below(2) === 1),
      nothing: null,
      never: null,
    }));
    const table = new FakeTable(kernel, "t", columns, rows);
    const cursor = table.open({ columns: table.columns, range: ALL_TIME, tags: [] });
    const fields = table.columns.map(({ name, type }) => ({ name, type: RESULT_TYPE[type] }));
    const own = new KernelRowText(kernel);
    let chunks = 0;
    for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next(), chunks++) {
      const { rowCount } = chunk;
      const batch = {
        rowCount,
        columns: chunk.columns.map((column, i) => new ChunkColumn(kernel, table.columns[i]!.type, column, rowCount)),
      };
      for (const format of FORMATS) {
        const encode = async (kernelText?: RowTextMaker) =>
          wholeTable(await createEncoder(format, kernelText), schemaOf("t", fields), [batch]);
        expect(Buffer.from(await encode(own)).equals(await encode())).toBe(true);
      }
    }
    expect(chunks).toBe(2);
  });

  test("strings that end where the memory does", async () => {
    const kernel = Kernel.create();
    const own = new KernelRowText(kernel);
    const fields: ResultField[] = [{ name: "s", type: { kind: "utf8" } }];
    const encode = async (format: QueryFormat, view: number, kernelText?: RowTextMaker) => {
      const columns = [new ChunkColumn(kernel, ColumnType.string, { dataPtr: view, validityPtr: 0 }, 1)];
      const bytes = wholeTable(await createEncoder(format, kernelText), schemaOf("t", fields), [{ rowCount: 1, columns }]);
      return Buffer.from(bytes).toString("latin1");
    };
    // its own memory is taken before the rest is
    await encode("csv", kernel.heap.allocZeroed(16), own);
    // and the memory grows to where runs of more than two extents begin
    kernel.heap.alloc(3 * EXTENT_BYTES);
    const end = kernel.memory.buffer.byteLength;
    while (kernel.heap.alloc(EXTENT_BYTES) + EXTENT_BYTES < end);
    const put = (text: string, at: number, view: number) => {
      kernel.u8.set(new TextEncoder().encode(text), at);
      kernel.u32.set([text.length], view >>> 2);
      if (text.length > 12) new DataView(kernel.memory.buffer).setBigUint64(view + 8, kernel.base + BigInt(at), true);
      return view;
    };
    for (const text of ['"a long text", of 31 characters', "a text of twenty-two \n", "without special characters, of 46 letters or so"]) {
      const view = put(text, end - text.length, end - 128);
      for (const format of FORMATS) expect(await encode(format, view, own)).toBe(await encode(format, view));
    }
    for (const text of ["twelve\nbytes", "", "a"]) {
      const view = put(text, end - 12, end - 16);
      for (const format of FORMATS) expect(await encode(format, view, own)).toBe(await encode(format, view));
    }
    expect(kernel.memory.buffer.byteLength).toBe(end);
  });

  test("a row of 190 texts of 1 MiB is the caller's", () => {
    const kernel = Kernel.create();
    const own = new KernelRowText(kernel);
    const view = new Blocks(kernel).allocViews(["x".repeat(1 << 20)]);
    const fields: ResultField[] = Array.from({ length: 190 }, (_, i) => ({ name: `s${i}`, type: { kind: "utf8" } }));
    const none = new Uint8Array(0);
    const ends = { rowStart: none, rowEnd: Uint8Array.of(0x0a), nullText: none, labels: fields.map(() => Uint8Array.of(0x2c)) };
    const text = own.make(fields, { isCsv: true, skipsNulls: false, ...ends })!;
    const before = kernel.heap.usedBytes;
    const columns = fields.map(() => new ChunkColumn(kernel, ColumnType.string, { dataPtr: view, validityPtr: 0 }, 1));
    expect(text.rows({ rowCount: 1, columns })).toBeNull();
    expect(kernel.heap.usedBytes).toBe(before);
  });
});

test("large batches are written too, and their memory is given back", () => {
  const kernel = Kernel.create();
  const own = new KernelRowText(kernel);
  const fields: ResultField[] = Array.from({ length: 600 }, (_, i) => ({ name: `c${i}`, type: { kind: "int", bits: 64, signed: true } }));
  const none = new Uint8Array(0);
  const labels = fields.map(() => Uint8Array.of(0x2c));
  const text = own.make(fields, { isCsv: true, skipsNulls: false, rowStart: none, rowEnd: Uint8Array.of(0x0a), nullText: none, labels })!;
  const before = kernel.heap.usedBytes;
  const values = new BigInt64Array(2048).fill(7n);
  const rows = text.rows({ rowCount: 2048, columns: fields.map(() => ({ validity: null, values })) })!;
  expect(Buffer.from(rows).equals(Buffer.from(`${",7".repeat(600)}\n`.repeat(2048)))).toBe(true);
  expect(kernel.heap.usedBytes).toBe(before);
});

test("column types that the kernel does not write", () => {
  const layout = { isCsv: true, skipsNulls: false, rowStart: new Uint8Array(0), rowEnd: new Uint8Array(1), nullText: new Uint8Array(0) };
  const make = (type: ResultType) => maker.make([{ name: "a", type }], { ...layout, labels: [new Uint8Array(0)] });
  expect(make({ kind: "date" })).toBeNull();
  expect(make({ kind: "timestamp", unit: "us", zone: "UTC" })).toBeNull();
  expect(make({ kind: "float", bits: 32 })).toBeNull();
  const text: ResultField[] = [{ name: "a", type: { kind: "utf8" } }];
  const huge = batchOf(text, [["x".repeat(33 << 20)]]);
  expect(make({ kind: "utf8" })!.rows(huge)).toBeNull();
});
