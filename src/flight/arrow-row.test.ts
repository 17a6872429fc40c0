// A row of parameters as the Arrow library writes it, of every type that can be bound, and damaged.
import { expect, test } from "bun:test";
import {
  Binary,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Dictionary,
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  LargeUtf8,
  makeData,
  Null,
  Table,
  Timestamp,
  TimeUnit,
  tableToIPC,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
  Vector,
  vectorFromArray,
} from "apache-arrow";
import { prng } from "../../test/support/prng.ts";
import { TsdbError } from "../model/errors.ts";
import { readRow } from "./arrow-row.ts";
import { type IpcMessage, splitWhole } from "./ipc-messages.ts";

const messagesOf = (columns: Record<string, Vector>) => splitWhole(tableToIPC(new Table(columns), "stream"));
const made = (value: unknown, type: DataType) => vectorFromArray([value], type) as Vector;
/** For what the library's builders cannot take. */
const raw = (type: DataType, data: ArrayBufferView) => new Vector([makeData({ type, length: 1, data } as never)]) as Vector;

const I64_MIN = -(2n ** 63n);
const U64_MAX = 2n ** 64n - 1n;
const VALUES: [what: string, column: Vector, value: unknown][] = [
  ["text", made("Zürich", new Utf8()), "Zürich"],
  ["empty text", made("", new Utf8()), ""],
  ["large text", made("x".repeat(1000), new LargeUtf8()), "x".repeat(1000)],
  ["text in a dictionary", made("b", new Dictionary(new Utf8(), new Int32())), "b"],
  ["no text in a dictionary", made(null, new Dictionary(new Utf8(), new Int8())), null],
  ["true", made(true, vectorFromArray([true]).type), true],
  ["false", made(false, vectorFromArray([true]).type), false],
  ["8 bits", made(-128, new Int8()), -128n],
  ["8 bits without a sign", made(255, new Uint8()), 255n],
  ["16 bits", made(-32768, new Int16()), -32768n],
  ["16 bits without a sign", made(65535, new Uint16()), 65535n],
  ["32 bits", made(-2147483648, new Int32()), -2147483648n],
  ["32 bits without a sign", made(4294967295, new Uint32()), 4294967295n],
  ["64 bits", made(I64_MIN, new Int64()), I64_MIN],
  ["64 bits without a sign", made(U64_MAX, new Uint64()), U64_MAX],
  ["a double", made(0.1, new Float64()), 0.1],
  ["a single", made(0.5, new Float32()), 0.5],
  ["a half", raw(new Float16(), new Uint16Array([0x3e00])), 1.5],
  ["a decimal", raw(new Decimal(2, 38), new Uint32Array([12345, 0, 0, 0])), 123.45],
  ["a negative decimal", raw(new Decimal(1, 38), new Uint32Array([0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff])), -0.1],
  ["nothing", made(null, new Utf8()), null],
  ["nothing at all", made(null, new Null()), null],
  [
    "nanoseconds",
    raw(new Timestamp(TimeUnit.NANOSECOND), new BigInt64Array([1_704_067_200_000_000_001n])),
    "2024-01-01T00:00:00.000000001",
  ],
  ["microseconds", raw(new Timestamp(TimeUnit.MICROSECOND, "UTC"), new BigInt64Array([1n])), "1970-01-01T00:00:00.000001"],
  ["milliseconds", raw(new Timestamp(TimeUnit.MILLISECOND), new BigInt64Array([-1n])), "1969-12-31T23:59:59.999"],
  ["seconds", raw(new Timestamp(TimeUnit.SECOND), new BigInt64Array([86_400n])), "1970-01-02T00:00:00"],
  ["a day", raw(new DateDay(), new Int32Array([19_723])), "2024-01-01"],
  ["a day in milliseconds", raw(new DateMillisecond(), new BigInt64Array([1_704_067_200_000n])), "2024-01-01"],
];

test.each(VALUES)("%s", (_, column, value) => expect(readRow(messagesOf({ p: column }))).toEqual([["p", value]] as never));

test("several columns, in their order", () => {
  const columns = Object.fromEntries(VALUES.map(([what, column]) => [what, column]));
  expect(readRow(messagesOf(columns))).toEqual(VALUES.map(([what, , value]) => [what, value]) as never);
});

test("a stream without a row", () => {
  const [schema] = messagesOf({ p: made(1, new Int32()) });
  expect(readRow([schema!])).toEqual([]);
});

test("two rows, in one batch or in two", () => {
  expect(() => readRow(messagesOf({ p: vectorFromArray([1, 2], new Int32()) }))).toThrow("parameters are one row, got 2");
  const [schema, batch] = messagesOf({ p: made(1, new Int32()) });
  expect(() => readRow([schema!, batch!, batch!])).toThrow("parameters are one row, got 2");
});

test.each([
  ["binary", made(new Uint8Array([1]), new Binary()), "parameter p: a value of type binary cannot be bound"],
  ["a list", vectorFromArray([[1]]) as Vector, "parameter p: a value of type list cannot be bound"],
])("%s cannot be bound", (_, column, message) => expect(() => readRow(messagesOf({ p: column }))).toThrow(message));

test("messages out of order", () => {
  const [schema, batch] = messagesOf({ p: made(1, new Int32()) });
  expect(() => readRow([])).toThrow(/there is no schema/);
  expect(() => readRow([batch!, schema!])).toThrow(/a schema must come first/);
  const [first, , last] = messagesOf({ p: made("b", new Dictionary(new Utf8(), new Int32())) });
  expect(() => readRow([first!, last!])).toThrow(/not in its dictionary/);
});

const SEED = Number(process.env["SEED"] ?? 1);
test(`damaged messages are refused, at once, seed ${SEED}`, () => {
  const below = prng(SEED);
  const good = [
    messagesOf({ a: made("text", new Utf8()), b: made(1n, new Int64()) }),
    messagesOf({ a: made("text", new Dictionary(new Utf8(), new Int32())), b: raw(new Decimal(2, 38), new Uint32Array([12345, 0, 0, 0])) }),
  ];
  let readCount = 0;
  for (let round = 0; round < 20_000; round++) {
    const messages: IpcMessage[] = good[below(2)]!.map(({ header, body }) => ({ header: header.slice(), body: body.slice() }));
    for (let change = below(4); change >= 0; change--) {
      const { header, body } = messages[below(messages.length)]!;
      const bytes = below(4) === 0 && body.length > 0 ? body : header;
      bytes[below(bytes.length)] = below(2) === 0 ? below(256) : 255;
    }
    const started = process.cpuUsage();
    try {
      readRow(messages);
      readCount++;
    } catch (error) {
      if (!(error instanceof TsdbError)) throw error;
      expect(error.kind).toBe("bad_request");
    }
    // what goes through all that a message claims takes seconds
    const { user, system } = process.cpuUsage(started);
    expect(user + system).toBeLessThan(1_000_000);
  }
  expect(readCount).toBeGreaterThan(1000);
});
