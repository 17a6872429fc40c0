// Arrow streams and Parquet files, opened by readers that are not ours.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { type Table, tableFromIPC } from "apache-arrow";
import { readParquet } from "parquet-wasm/esm";
import { splitWhole } from "../../src/api/flight/wire/ipc-messages.ts";
import { ArrowEncoder } from "../../src/encode/arrow/arrow-encoder.ts";
import { intervalText } from "../../src/encode/cells/clock-text.ts";
import { decimalText } from "../../src/encode/cells/wide-text.ts";
import { createEncoder } from "../../src/encode/encode.ts";
import { type Encoder, joinParts, wholeTable } from "../../src/encode/encoder.ts";
import { ParquetEncoder } from "../../src/encode/parquet/parquet-encoder.ts";
import type { QueryFormat } from "../../src/model/query/query.ts";
import type { ResultBatch, ResultColumn, ResultField, ResultSchema } from "../../src/model/query/result-batch.ts";
import { readColumn } from "../support/flight/arrow-read.ts";
import { pythonWith } from "../support/plugins/python.ts";
import { prng } from "../support/prng.ts";
import { EVERY_KIND, everyKindRows } from "../support/rows/every-kind.ts";
import { batchOf, Dictionaries, type Plain, schemaOf } from "../support/rows/result-batch.ts";

const SEED = Number(process.env["SEED"] ?? 23);
const SCHEMA = schemaOf("every", EVERY_KIND);
const folder = mkdtempSync(join(tmpdir(), "tsdb-readers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A value of every kind. */
const FULL = (() => {
  const rows = everyKindRows(prng(1), 500);
  return EVERY_KIND.map((_, column) => rows.find((row) => row[column] !== null)?.[column] ?? null);
})();

type Rows = readonly (readonly Plain[])[];

function encodeAll(encoder: Encoder, { fields, ...schema }: ResultSchema, batches: readonly Rows[]): Uint8Array<ArrayBuffer> {
  const dictionaries = new Dictionaries();
  return wholeTable(
    encoder,
    { fields, ...schema },
    batches.map((rows) => batchOf(fields, rows, dictionaries)),
  );
}

/** All codes of an answer in one dictionary; the batches' buffers are overwritten after each call. */
function encodeKept(encoder: Encoder, batches: readonly Rows[]): Uint8Array<ArrayBuffer> {
  const dictionaries = new Dictionaries();
  batchOf(EVERY_KIND, batches.flat(), dictionaries);
  const parts: (Uint8Array | null)[] = [encoder.begin(SCHEMA)];
  for (const rows of batches) {
    const batch = withMore(batchOf(EVERY_KIND, rows, dictionaries));
    parts.push(encoder.rows(batch));
    for (const column of batch.columns) overwrite(column);
  }
  parts.push(encoder.end());
  return joinParts(parts);
}

/** The same rows, with bits behind the last one, and texts that do not begin at the buffer's start. */
function withMore({ rowCount, columns }: ResultBatch): ResultBatch {
  const more = columns.map((column) => {
    const validity =
      column.validity?.map((byte, i) => (i * 8 + 8 <= rowCount ? byte : byte | (0xff << Math.max(0, rowCount - i * 8)))) ?? null;
    if (column.data === undefined) return { ...column, validity };
    const data = Uint8Array.of(1, 2, 3, ...column.data);
    return { ...column, validity, data, offsets: column.offsets!.map((offset) => offset + 3) };
  });
  return { rowCount, columns: more };
}

function overwrite({ validity, values, offsets, data, children }: ResultColumn): void {
  for (const buffer of [validity, values, offsets, data]) {
    if (buffer) new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).fill(0x5a);
  }
  for (const child of children ?? []) overwrite(child);
}

/** Some batches of differing size, the first and an inner one empty. */
function sampleBatches(): Plain[][][] {
  const below = prng(SEED);
  return [0, 1, 100, 0, 7, 64].map((count) => everyKindRows(below, count));
}

/** What Parquet stores for a value, where it differs: text for intervals, milliseconds for seconds. */
function inParquet(field: ResultField, value: Plain): Plain {
  if (value === null) return null;
  const { type } = field;
  if (type.kind === "interval") return intervalText(...(value as [number, number, bigint]));
  if (type.kind === "timestamp" && type.unit === "s") return (value as bigint) * 1000n;
  if (type.kind === "time" && type.unit === "s") return Number(value) * 1000;
  return type.kind === "time" && type.unit === "ms" ? Number(value) : value;
}

function inArrow(field: ResultField, value: Plain): Plain {
  const small = field.type.kind === "time" && (field.type.unit === "s" || field.type.unit === "ms");
  return value !== null && small ? Number(value) : value;
}

function expectRows(table: Table, rows: Rows, stored: (field: ResultField, value: Plain) => Plain): void {
  expect(table.numRows).toBe(rows.length);
  for (const [index, field] of EVERY_KIND.entries()) {
    expect([field.name, readColumn(table, index)]).toEqual([field.name, rows.map((row) => stored(field, row[index]!))]);
  }
}

function openParquet(file: Uint8Array): Table {
  return tableFromIPC(readParquet(file).intoIPCStream());
}

const batches = sampleBatches();
const rows = batches.flat();

describe(`every kind, seed ${SEED}`, () => {
  test("arrow stream, by apache-arrow", async () => {
    expectRows(tableFromIPC(encodeAll(await createEncoder("arrow"), SCHEMA, batches)), rows, inArrow);
  });

  test("arrow stream of batches cut small, by apache-arrow", () => {
    const table = tableFromIPC(encodeAll(new ArrowEncoder("ipc", { bytesMax: 1000, join: null }), SCHEMA, batches));
    expectRows(table, rows, inArrow);
    // 1, 100, 7 and 64 rows, eight at a time
    expect(table.batches.map(({ numRows }) => numRows)).toEqual([1, ...Array(12).fill(8), 4, 7, ...Array(8).fill(8)]);
  });

  test("arrow stream of batches cut by size, by apache-arrow", () => {
    const all = encodeAll(new ArrowEncoder("ipc", { bytesMax: 20_000, join: null }), SCHEMA, batches);
    const table = tableFromIPC(all);
    expectRows(table, rows, inArrow);
    expect(table.batches.length).toBeGreaterThan(4);
    expect(Math.max(...splitWhole(all).map(({ body }) => body.length))).toBeLessThan(25_000);
  });

  test("arrow stream of batches that are joined, and of the same that are not, by apache-arrow", () => {
    const below = prng(SEED);
    // each kind of position in a byte of the bitmaps, and batches with and without NULLs
    const small = Array.from({ length: 16 }, (_, i) => everyKindRows(below, i % 7 === 0 ? 8 : below(20)));
    const columnsFull = small.map((part, i) =>
      i % 3 === 0 ? part : part.map((row) => row.map((value, column) => value ?? FULL[column]!)),
    );
    for (const parts of [small, columnsFull]) {
      for (const join of [{ rows: 40, bytes: 1 << 20 }, { rows: 1 << 20, bytes: 8000 }, { rows: 1 << 20, bytes: 1 << 30 }, null]) {
        const table = tableFromIPC(encodeKept(new ArrowEncoder("ipc", { join }), parts));
        expectRows(table, parts.flat(), inArrow);
        const sizes = parts.map(({ length }) => length).filter((count) => count > 0);
        const got = table.batches.map(({ numRows }) => numRows);
        expect(got[0]).toBe(sizes[0]!);
        if (join === null) expect(got).toEqual(sizes);
        else if (join.bytes === 1 << 30) expect(got).toEqual([sizes[0]!, sizes.slice(1).reduce((sum, count) => sum + count, 0)]);
        else expect(got.length).toBeLessThan(sizes.length);
        if (join?.rows === 40) expect(Math.max(...got)).toBeLessThanOrEqual(40);
      }
    }
  });

  test("a batch is joined with others only while its codes have the same strings", () => {
    const fields: ResultField[] = [{ name: "tag", type: { kind: "list", child: { name: "item", type: { kind: "dictionary" } } } }];
    const encoder = new ArrowEncoder();
    const parts: (Uint8Array | null)[] = [encoder.begin(schemaOf("t", fields))];
    for (const text of ["a", "b", "b", "c", "a"]) parts.push(encoder.rows(batchOf(fields, [[[text, text]]])));
    parts.push(encoder.end());
    const table = tableFromIPC(joinParts(parts));
    expect(readColumn(table, 0)).toEqual(["a", "b", "b", "c", "a"].map((text) => [text, text]));
  });

  test("parquet in one row group, by parquet-wasm", async () => {
    expectRows(openParquet(encodeAll(await createEncoder("parquet"), SCHEMA, batches)), rows, inParquet);
  });

  test("parquet in many row groups, by parquet-wasm", async () => {
    const encoder = await ParquetEncoder.create({ rows: 50, bytes: 1 << 20 });
    expectRows(openParquet(encodeAll(encoder, SCHEMA, batches)), rows, inParquet);
  });

  test("parquet in row groups by bytes, by parquet-wasm", async () => {
    const encoder = await ParquetEncoder.create({ rows: 1 << 20, bytes: 1 });
    expectRows(openParquet(encodeAll(encoder, SCHEMA, batches)), rows, inParquet);
  });

  test("parquet, by DuckDB", async () => {
    const encoder = await ParquetEncoder.create({ rows: 50, bytes: 1 << 20 });
    const path = join(folder, "every.parquet");
    await Bun.write(path, encodeAll(encoder, SCHEMA, batches));
    const connection = await (await DuckDBInstance.create()).connect();
    const columns = "i64, u64, huge, f64, decimal, text, tag, epoch_ns(time), epoch_us(time_us), date - date '1970-01-01', list, interval";
    const reader = await connection.runAndReadAll(`select ${columns} from read_parquet('${path}')`);
    const index = (name: string) => EVERY_KIND.findIndex((field) => field.name === name);
    const expected = rows.map((row) => {
      const at = (name: string) => row[index(name)]!;
      const interval = at("interval");
      return [
        ...["i64", "u64"].map((name) => at(name)),
        at("huge") === null ? null : String(at("huge")),
        at("f64"),
        at("decimal") === null ? null : decimalText(at("decimal") as bigint, 3),
        ...["text", "tag", "time", "time_us"].map(at),
        at("date") === null ? null : BigInt(at("date") as number),
        at("list"),
        interval === null ? null : intervalText(...(interval as [number, number, bigint])),
      ];
    });
    const got = reader.getRows().map((row) => row.map((value, column) => duckValue(value, column)));
    expect(got).toEqual(expected as unknown[][]);
    connection.closeSync();
  });
});

/** DuckDB's value classes as plain values: decimals as text, lists as arrays. */
function duckValue(value: unknown, column: number): unknown {
  if (value === null) return null;
  if (column === 2 || column === 4) return String(value);
  return typeof value === "object" && "items" in value ? value.items : value;
}

describe("without rows", () => {
  test("arrow", async () => {
    const table = tableFromIPC(encodeAll(await createEncoder("arrow"), SCHEMA, []));
    expect([table.numRows, table.schema.fields.map(({ name }) => name)]).toEqual([0, EVERY_KIND.map(({ name }) => name)]);
  });

  test.each([
    ["no batch", []],
    ["an empty batch", [[]]],
  ] as [string, Rows[]][])("parquet from %s", async (_name, empty) => {
    const table = openParquet(encodeAll(await createEncoder("parquet"), SCHEMA, empty));
    expect([table.numRows, table.schema.fields.map(({ name }) => name)]).toEqual([0, EVERY_KIND.map(({ name }) => name)]);
  });
});

test("the vendor's column kind is in the field's metadata, in both formats", async () => {
  const fields: ResultField[] = [{ name: "host", type: { kind: "dictionary" }, columnKind: "iox::column_type::tag" }];
  for (const [format, open] of [
    ["arrow", tableFromIPC],
    ["parquet", openParquet],
  ] as const) {
    const table = open(encodeAll(await createEncoder(format), schemaOf("t", fields), [[["a"]]]));
    expect(table.schema.fields[0]!.metadata.get("iox::column::type")).toBe("iox::column_type::tag");
    expect(String(table.schema.fields[0]!.type)).toBe("Dictionary<Int32, Utf8>");
  }
});

describe("dictionaries", () => {
  const fields: ResultField[] = [{ name: "tag", type: { kind: "dictionary" } }];
  const one = (text: string | null): Plain[] => [text];

  /** The strings of each dictionary in the stream, and the column read back. */
  async function throughArrow(sources: readonly { dictionary: readonly string[]; codes: readonly number[] }[]) {
    const encoder = new ArrowEncoder("ipc", { join: null });
    const parts: (Uint8Array | null)[] = [encoder.begin(schemaOf("t", fields))];
    for (const { dictionary, codes } of sources) {
      const column = { validity: null, values: Uint32Array.from(codes), dictionary };
      parts.push(encoder.rows({ rowCount: codes.length, columns: [column] }));
    }
    parts.push(encoder.end());
    const table = tableFromIPC(Buffer.concat(parts.filter((part) => part !== null)));
    return { sizes: table.batches.map((batch) => batch.data.children[0]!.dictionary!.length), column: readColumn(table, 0), parts };
  }

  test("only strings that occur are sent, once while they suffice", async () => {
    const dictionary = Array.from({ length: 100_000 }, (_, code) => `host_${code}`);
    const codes = [99_999, 5, 5, 99_999];
    const { sizes, column, parts } = await throughArrow([
      { dictionary, codes },
      { dictionary, codes: codes.toReversed() },
      { dictionary, codes: [7] },
    ]);
    expect(sizes).toEqual([2, 2, 3]);
    expect(column).toEqual([...codes, ...codes.toReversed(), 7].map((code) => `host_${code}`));
    expect(parts[2]!.length).toBeLessThan(parts[1]!.length);
  });

  test("a large one starts anew instead of growing for ever", async () => {
    const dictionary = Array.from({ length: 10_000 }, (_, code) => `h${code}`);
    const range = (start: number, count: number) => Array.from({ length: count }, (_, index) => start + index);
    const { sizes, column } = await throughArrow([
      { dictionary, codes: range(0, 1000) },
      { dictionary, codes: range(1000, 2000) },
      { dictionary, codes: range(0, 10) },
    ]);
    expect(sizes).toEqual([1000, 2000, 10]);
    expect(column).toEqual([...range(0, 3000), ...range(0, 10)].map((code) => `h${code}`));
  });

  test("the engine's dictionary grows, shrinks or changes under the codes", async () => {
    const { sizes, column } = await throughArrow([
      { dictionary: ["a", "b"], codes: [1] },
      { dictionary: ["a", "b", "c"], codes: [1, 2] },
      { dictionary: ["x", "b", "c"], codes: [0] },
      { dictionary: ["b", "x"], codes: [0, 1] },
      { dictionary: [], codes: [] },
      { dictionary: ["z"], codes: [0] },
    ]);
    expect(column).toEqual(["b", "b", "c", "x", "b", "x", "z"]);
    expect(sizes).toEqual([1, 2, 3, 2, 1]);
  });

  test("a column of nulls alone", async () => {
    const bytes = encodeAll(await createEncoder("arrow"), schemaOf("t", fields), [[one(null)], [one("a"), one(null)], [one(null)]]);
    expect(readColumn(tableFromIPC(bytes), 0)).toEqual([null, "a", null, null]);
  });
});

/** Tags come as text wherever the engine has no codes for them. */
const TAG: ResultField = { name: "host", type: { kind: "utf8" }, columnKind: "iox::column_type::tag" };

describe("tags that come as text", () => {
  const fields = [TAG];

  async function throughArrow(batches: readonly (readonly (string | null)[])[]) {
    const rows = batches.map((batch) => batch.map((text) => [text]));
    const table = tableFromIPC(encodeAll(new ArrowEncoder("ipc", { join: null }), schemaOf("t", fields), rows));
    expect(String(table.schema.fields[0]!.type)).toBe("Dictionary<Int32, Utf8>");
    expect(table.schema.fields[0]!.metadata.get("iox::column::type")).toBe("iox::column_type::tag");
    return { sizes: table.batches.map((batch) => batch.data.children[0]!.dictionary!.length), column: readColumn(table, 0) };
  }

  const CASES: [name: string, batches: (string | null)[][], sizes: number[]][] = [
    ["each string once", [["a", "b", "a", "a", "b"]], [2]],
    ["the dictionary grows", [["a"], ["a", "b"], ["a"]], [1, 2, 2]],
    ["NULLs have no string", [[null, "a", null], [null]], [1, 1]],
    ["nothing but NULLs, then a string", [[null, null], [null], ["a"]], [1, 1, 1]],
    ["empty strings are strings", [["", "a", "", null]], [2]],
    ["prefixes and lengths", [["a", "aa", "aaa", "ab", "b", "é", "e", "\u0000", "\u0000\u0000"]], [9]],
  ];
  test.each(CASES)("%s", async (_name, batches, sizes) => expect(await throughArrow(batches)).toEqual({ sizes, column: batches.flat() }));

  test("a large dictionary starts anew instead of growing for ever", async () => {
    const range = (start: number, count: number) => Array.from({ length: count }, (_, index) => `h${start + index}`);
    const batches = [range(0, 1000), range(1000, 2000), range(0, 10)];
    expect(await throughArrow(batches)).toEqual({ sizes: [1000, 2000, 10], column: batches.flat() });
  });

  test(`random strings come back, seed ${SEED}`, async () => {
    const below = prng(SEED);
    const pool = Array.from({ length: 3000 }, (_, i) => "xyz"[below(3)]!.repeat(below(5)) + (below(2) === 0 ? i : below(50)));
    const batches = Array.from({ length: 12 }, () => {
      const few = below(2) === 0 ? 20 : pool.length;
      return Array.from({ length: below(2000) + 1 }, () => (below(9) === 0 ? null : pool[below(few)]!));
    });
    expect((await throughArrow(batches)).column).toEqual(batches.flat());
  });

  test("in Parquet they are a dictionary too, and other text is not", async () => {
    const both = [TAG, { name: "note", type: { kind: "utf8" }, columnKind: "iox::column_type::field::string" }] as const;
    const rows = [[["a", "x"]], [["b", null]]];
    const table = openParquet(encodeAll(await createEncoder("parquet"), schemaOf("t", both), rows));
    expect(table.schema.fields.map(({ type }) => String(type))).toEqual(["Dictionary<Int32, Utf8>", "Utf8"]);
    expect([readColumn(table, 0), readColumn(table, 1)]).toEqual([
      ["a", "b"],
      ["x", null],
    ]);
  });
});

const REFUSED: [name: string, field: ResultField, value: Plain, formats: readonly QueryFormat[], message: string][] = [
  ["an integer of 39 digits", { name: "v", type: { kind: "hugeint", signed: true } }, 10n ** 38n, ["arrow", "parquet"], "38 digits"],
  ["an interval beyond nanoseconds", { name: "v", type: { kind: "interval" } }, [0, 0, 2n ** 62n], ["arrow"], "292 years"],
  [
    "a second beyond milliseconds",
    { name: "v", type: { kind: "timestamp", unit: "s", zone: null } },
    2n ** 62n,
    ["parquet"],
    "cannot hold the time",
  ],
];

test.each(REFUSED)("%s is refused, and as NULL is not looked at", async (_name, field, value, formats, message) => {
  for (const format of formats) {
    const encoder = await createEncoder(format);
    encoder.begin(schemaOf("t", [field]));
    encoder.rows(batchOf([field], [[null]]));
    expect(() => {
      encoder.rows(batchOf([field], [[value]]));
      encoder.end();
    }).toThrow(message);
  }
});

test("parquet refuses what has no columns", async () => {
  const encoder = await ParquetEncoder.create();
  expect(() => encoder.begin(schemaOf("t", []))).toThrow("parquet cannot hold an answer without columns");
});

test("each row group leaves when it is full", async () => {
  const encoder = await ParquetEncoder.create({ rows: 64, bytes: 1 << 20 });
  const below = prng(SEED);
  const batch = batchOf(EVERY_KIND, everyKindRows(below, 64));
  const parts: (Uint8Array | null)[] = [encoder.begin(SCHEMA)];
  for (let group = 0; group < 40; group++) parts.push(encoder.rows(batch));
  const pages = parts.slice(1);
  expect(pages.every((part) => part !== null && part.length < 64 * 1024)).toBe(true);
  parts.push(encoder.end());
  const table = openParquet(Buffer.concat(parts.filter((part) => part !== null)));
  expect(table.numRows).toBe(64 * 40);
});

/** Checks the same files with pyarrow, and prints how many rows and columns were equal. */
const PYTHON = `
import json, sys
import pyarrow as pa, pyarrow.parquet as pq
folder = sys.argv[1]
with pa.ipc.open_stream(folder + "/every.arrow") as reader:
    stream = reader.read_all()
stream.validate(full=True)
parquet = pq.read_table(folder + "/every-python.parquet")
parquet.validate(full=True)
assert pq.ParquetFile(folder + "/every-python.parquet").num_row_groups > 1
want = json.load(open(folder + "/every.json"))
def plain(column):
    if pa.types.is_dictionary(column.type): column = column.cast(column.type.value_type)
    if pa.types.is_timestamp(column.type) or pa.types.is_time64(column.type): column = column.cast(pa.int64())
    return [None if value is None else str(value) for value in column.to_pylist()]
for name, values in want.items():
    for table in (stream, parquet):
        got = plain(table.column(name))
        assert got == values, (name, [pair for pair in zip(got, values) if pair[0] != pair[1]][:3])
print(stream.num_rows, len(want))
`;

const python = pythonWith("pyarrow");
if (python !== null) {
  test("arrow stream and parquet, by pyarrow", async () => {
    const names = ["i64", "u64", "huge", "text", "tag", "time", "time_us", "time_ms", "clock_us"];
    const want = names.map((name) => {
      const index = EVERY_KIND.findIndex((field) => field.name === name);
      return [name, rows.map((row) => (row[index] === null ? null : String(row[index])))];
    });
    await Bun.write(join(folder, "every.json"), JSON.stringify(Object.fromEntries(want)));
    await Bun.write(join(folder, "every.arrow"), encodeAll(await createEncoder("arrow"), SCHEMA, batches));
    const encoder = await ParquetEncoder.create({ rows: 50, bytes: 1 << 20 });
    await Bun.write(join(folder, "every-python.parquet"), encodeAll(encoder, SCHEMA, batches));
    const run = Bun.spawnSync([python, "-c", PYTHON, folder]);
    expect(run.stderr.toString()).toBe("");
    expect(run.stdout.toString()).toBe(`${rows.length} ${names.length}\n`);
  });
} else {
  console.log("readers: python3 has no pyarrow here; its check of Arrow streams and Parquet is left out");
}
