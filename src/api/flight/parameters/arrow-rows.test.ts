// Rows of parameters as Arrow libraries write them, of every type that can be bound, and damaged.
import { expect, test } from "bun:test";
import {
  Binary,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Dictionary,
  DurationMillisecond,
  FixedSizeBinary,
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  IntervalDayTime,
  IntervalMonthDayNano,
  IntervalYearMonth,
  LargeUtf8,
  makeData,
  Null,
  Table,
  Time,
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
import { prng } from "../../../../test/support/prng.ts";
import { TsdbError } from "../../../model/errors.ts";
import { type IpcMessage, splitWhole } from "../wire/ipc-messages.ts";
import { readRows } from "./arrow-rows.ts";

const messagesOf = (columns: Record<string, Vector>) => splitWhole(tableToIPC(new Table(columns), "stream"));
const made = (value: unknown, type: DataType) => vectorFromArray([value], type) as Vector;
/** For what the library's builders cannot take. */
const raw = (type: DataType, data: ArrayBufferView) => new Vector([makeData({ type, length: 1, data } as never)]) as Vector;

const I64_MIN = -(2n ** 63n);
const U64_MAX = 2n ** 64n - 1n;
/** The one row. */
const readRow = (messages: readonly IpcMessage[]) => readRows(messages).rows[0];

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
  ["a decimal", raw(new Decimal(2, 38), new Uint32Array([12345, 0, 0, 0])), "123.45"],
  ["a negative decimal", raw(new Decimal(1, 38), new Uint32Array([0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff])), "-0.1"],
  ["a decimal of 256 bits", raw(new Decimal(10, 38, 256), new Uint32Array([1, 0, 1, 0, 0, 0, 0, 0])), "1844674407.3709551617"],
  ["a decimal of whole thousands", raw(new Decimal(-3, 5), new Uint32Array([12, 0, 0, 0])), "12000"],
  ["a duration", raw(new DurationMillisecond(), new BigInt64Array([-5n])), -5n],
  ["months", raw(new IntervalYearMonth(), new Int32Array([-14])), "-14 months 0 days 0 nanoseconds"],
  ["days", raw(new IntervalDayTime(), new Int32Array([3, -2])), "0 months 3 days -2000000 nanoseconds"],
  ["nanoseconds and months", raw(new IntervalMonthDayNano(), new Int32Array([14, -3, 5, 0])), "14 months -3 days 5 nanoseconds"],
  ["NULL of type text", made(null, new Utf8()), null],
  ["NULL of type null", made(null, new Null()), null],
  [
    "nanoseconds",
    raw(new Timestamp(TimeUnit.NANOSECOND), new BigInt64Array([1_704_067_200_000_000_001n])),
    "2024-01-01T00:00:00.000000001Z",
  ],
  ["microseconds", raw(new Timestamp(TimeUnit.MICROSECOND, "UTC"), new BigInt64Array([1n])), "1970-01-01T00:00:00.000001Z"],
  ["milliseconds", raw(new Timestamp(TimeUnit.MILLISECOND), new BigInt64Array([-1n])), "1969-12-31T23:59:59.999Z"],
  ["seconds", raw(new Timestamp(TimeUnit.SECOND), new BigInt64Array([86_400n])), "1970-01-02T00:00:00Z"],
  ["bytes", made(new Uint8Array([0, 255]), new Binary()), "00ff"],
  ["bytes of one length", made(new Uint8Array([1, 2, 3]), new FixedSizeBinary(3)), "010203"],
  ["a time of day", raw(new Time(TimeUnit.MICROSECOND, 64), new BigInt64Array([36_671_000_001n])), "10:11:11.000001"],
  ["a time of day in seconds", raw(new Time(TimeUnit.SECOND, 32), new Int32Array([61])), "00:01:01"],
  ["a day", raw(new DateDay(), new Int32Array([19_723])), "2024-01-01"],
  ["a day far away", raw(new DateDay(), new Int32Array([2_932_897])), "+010000-01-01"],
  ["a day in milliseconds", raw(new DateMillisecond(), new BigInt64Array([1_704_067_200_000n])), "2024-01-01"],
];

test.each(VALUES)("a value of a parameter: %s", (_, column, value) => expect(readRow(messagesOf({ p: column }))).toEqual([value] as never));

test("several columns, in their order", () => {
  const columns = Object.fromEntries(VALUES.map(([what, column]) => [what, column]));
  const { columns: found, rows } = readRows(messagesOf(columns));
  expect(found.map(({ name }) => name)).toEqual(VALUES.map(([what]) => what));
  expect(rows).toEqual([VALUES.map(([, , value]) => value)] as never);
});

test("a stream without a row", () => {
  const [schema] = messagesOf({ p: made(1, new Int32()) });
  expect(readRows([schema!])).toEqual({ columns: [{ name: "p", kind: "int" }], rows: [] });
});

test("rows of one batch and of several, with NULLs between them", () => {
  const columns = { n: vectorFromArray([1, null, 3], new Int32()), s: vectorFromArray(["a", "b", null], new Utf8()) } as never;
  const rows = [[1n, "a"], [null, "b"], [3n, null]]; // biome-ignore format: a row
  expect(readRows(messagesOf(columns)).rows).toEqual(rows);
  const [schema, batch] = messagesOf(columns);
  expect(readRows([schema!, batch!, batch!]).rows).toEqual([...rows, ...rows]);
  const codes = vectorFromArray(["b", "a", null, "b"], new Dictionary(new Utf8(), new Int32()));
  expect(readRows(messagesOf({ codes })).rows).toEqual([["b"], ["a"], [null], ["b"]]);
});

/** Columns that this library cannot make: the stream that pyarrow 26 writes of four rows of string_view, binary_view, int8, binary(2),
 *  large_string, large_binary. */
const OF_PYARROW = `
/////1ABAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAYAAAD0AAAAvAAAAIQAAABUAAAALAAAAAQAAAA0////AAABExAAAAAUAAAABAAA
AAAAAAABAAAAbQAAACT///9Y////AAABFBAAAAAUAAAABAAAAAAAAAABAAAAbAAAAEj///98////AAABDxAAAAAYAAAABAAAAAAAAAABAAAAZgAGAAgABAAGAAAAAgAAAKj/
//8AAAECEAAAABwAAAAEAAAAAAAAAAEAAABuAAAACAAMAAgABwAIAAAAAAAAAQgAAADc////AAABFxAAAAAUAAAABAAAAAAAAAABAAAAYgAAAMz///8QABQACAAGAAcADAAA
ABAAEAAAAAAAARgQAAAAGAAAAAQAAAAAAAAAAQAAAHMAAAAEAAQABAAAAAAAAAD/////2AEAABQAAAAAAAAADAAWAAYABQAIAAwADAAAAAADBAAcAAAASAEAAAAAAAAAAA4A
HAAQAAQACAAAAAwADgAAADgBAAAsAAAAEAAAAAQAAAAAAAAAAAAAAAIAAAABAAAAAAAAAAEAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAEAAAAAAAAACAAAAAAAAABAAAAAAAAA
AEgAAAAAAAAAIAAAAAAAAABoAAAAAAAAAAEAAAAAAAAAcAAAAAAAAABAAAAAAAAAALAAAAAAAAAAEAAAAAAAAADAAAAAAAAAAAAAAAAAAAAAwAAAAAAAAAAEAAAAAAAAAMgA
AAAAAAAAAQAAAAAAAADQAAAAAAAAAAgAAAAAAAAA2AAAAAAAAAABAAAAAAAAAOAAAAAAAAAAKAAAAAAAAAAIAQAAAAAAAAIAAAAAAAAAEAEAAAAAAAABAAAAAAAAABgBAAAA
AAAAKAAAAAAAAABAAQAAAAAAAAIAAAAAAAAAAAAAAAYAAAAEAAAAAAAAAAEAAAAAAAAABAAAAAAAAAABAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAEAAAAAAAAA
BAAAAAAAAAABAAAAAAAAAAQAAAAAAAAAAQAAAAAAAAANAAAAAAAAAAUAAABzaG9ydAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIAAAAGEgdGUAAAAAAAAAAAwAAAB0d2VsdmUg
Ynl0ZXNhIHRleHQgb2YgbW9yZSB0aGFuIHR3ZWx2ZSBieXRlcwsAAAAAAAAAAgAAAAD/AAAAAAAAAAAAABAAAAAwMTIzAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAAADAxMjM0NTY3ODlhYmNkZWYBAgMEAAAAAAsAAAAAAAAAYWJjZAAAZWYNAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAABAAAAAAAAAAIAAAAAAAAAAgAAAAAAAAB4
egAAAAAAAA0AAAAAAAAAAAAAAAAAAAABAAAAAAAAAAEAAAAAAAAAAgAAAAAAAAACAAAAAAAAAHh6AAAAAAAA/////wAAAAA=`;

test("views, and texts and bytes with long offsets", () => {
  const { columns, rows } = readRows(splitWhole(Uint8Array.fromBase64(OF_PYARROW)));
  expect(columns.map(({ name, kind }) => `${name} ${kind}`)).toEqual(["s text", "b binary", "n int", "f binary", "l text", "m binary"]);
  expect(rows).toEqual([
    ["short", "00ff", 1n, "6162", "x", "78"],
    [null, "30313233343536373839616263646566", 2n, "6364", null, null],
    ["a text of more than twelve bytes", null, 3n, null, "z", "7a"],
    ["twelve bytes", "", 4n, "6566", "", ""],
  ]);
});

test("more rows, values and text than may be bound", () => {
  const many = (count: number) => vectorFromArray(Array.from({ length: count }, () => 1), new Int8()); // biome-ignore format: a column
  expect(() => readRows(messagesOf({ p: many(1001) }))).toThrow("parameters are at most 1000 rows, got 1001");
  const wide = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`c${i}`, many(700)]));
  expect(() => readRows(messagesOf(wide))).toThrow("parameters are at most 65536 values, got 70000");
  // a row without a byte of its own
  const nothing = messagesOf({ p: new Vector([makeData({ type: new Null(), length: 1_000_000_000 })]) });
  expect(() => readRows(nothing)).toThrow("parameters are at most 1000 rows, got 1000000000");
  // one text in a dictionary, a thousand times
  const codes = makeData({
    ...{ type: new Dictionary(new Utf8(), new Int32()), length: 1000, data: new Int32Array(1000) },
    dictionary: vectorFromArray(["x".repeat(5000)], new Utf8()),
  });
  expect(() => readRows(messagesOf({ p: new Vector([codes]) }))).toThrow("texts of parameters have at most 1048576 characters");
});

/** A schema whose fields, of type null, are one and the same: 4 bytes each. */
function schemaOfOne({ fields, nameLength }: { fields: number; nameLength: number }): IpcMessage {
  const [message, schema, vector] = [16, 36, 44];
  const field = vector + 4 + 4 * fields + 10;
  const view = new DataView(new ArrayBuffer(field + 16 + nameLength + 2));
  const words = (at: number, ...values: number[]) => values.forEach((value, i) => void view.setUint16(at + 2 * i, value, true));
  view.setUint32(0, message, true);
  words(4, 10, 12, 0, 4, 8); // members of a message: its kind at 4, its header at 8
  view.setInt32(message, message - 4, true);
  view.setUint8(message + 4, 1);
  view.setUint32(message + 8, schema - (message + 8), true);
  words(28, 8, 8, 0, 4); // of a schema: its fields at 4
  view.setInt32(schema, schema - 28, true);
  view.setUint32(schema + 4, vector - (schema + 4), true);
  view.setUint32(vector, fields, true);
  for (let i = 0, at = vector + 4; i < fields; i++, at += 4) view.setUint32(at, field - at, true);
  words(field - 10, 10, 12, 4, 0, 8); // of a field: its name at 4, its type at 8
  view.setInt32(field, 10, true);
  view.setUint32(field + 4, 8, true);
  view.setUint8(field + 8, 1);
  view.setUint32(field + 12, nameLength, true);
  return { header: new Uint8Array(view.buffer).fill(0x61, field + 16), body: new Uint8Array(0) };
}

test("more columns, and names of them, than may be bound", () => {
  const one = schemaOfOne({ fields: 3, nameLength: 4 });
  expect(readRows([one])).toEqual({ columns: Array(3).fill({ name: "aaaa", kind: "null" }), rows: [] });
  const many = schemaOfOne({ fields: 65_537, nameLength: 0 });
  expect(() => readRows([many])).toThrow("parameters are at most 65536 values, got 65537");
  const named = schemaOfOne({ fields: 50_000, nameLength: 700_000 });
  expect(() => readRows([named])).toThrow("texts of parameters have at most 1048576 characters");
});

test("batches without a row are nothing, however many columns they have", () => {
  const [, empty] = messagesOf({ n: vectorFromArray([1], new Int32()).slice(0, 0) as Vector });
  const schema = schemaOfOne({ fields: 60_000, nameLength: 0 });
  const started = process.cpuUsage();
  expect(readRows([schema, ...Array<IpcMessage>(10_000).fill(empty!)]).rows).toEqual([]);
  const { user, system } = process.cpuUsage(started);
  expect(user + system).toBeLessThan(2_000_000);
});

test.each([
  [
    "a time of day in nanoseconds",
    raw(new Time(TimeUnit.NANOSECOND, 64), new BigInt64Array([1n])),
    "a time of day has microseconds, got 1 ns",
  ],
  ["a time of another day", raw(new Time(TimeUnit.SECOND, 32), new Int32Array([86_400])), "a time of day is within a day, got 86400 s"],
  [
    "a zone",
    raw(new Timestamp(TimeUnit.SECOND, "Nowhere/Else"), new BigInt64Array([1n])),
    "a value of type timestamp in the zone Nowhere/Else cannot be bound",
  ],
  ["39 digits", raw(new Decimal(0, 39, 256), new Uint32Array(8)), "parameter p: a value of type decimal(39, 0) cannot be bound"],
  [
    "zeros without a digit",
    raw(new Decimal(-300_000, -299_980), new Uint32Array(4)),
    "parameter p: a value of type decimal(-299980, -300000) cannot be bound",
  ],
  ["no digit", raw(new Decimal(5, 0), new Uint32Array(4)), "parameter p: a value of type decimal(0, 5) cannot be bound"],
  [
    "a quote",
    raw(new Timestamp(TimeUnit.SECOND, "')--"), new BigInt64Array([1n])),
    "parameter p: a value of type timestamp in the zone ')-- cannot be bound",
  ],
  ["a list", vectorFromArray([[1]]) as Vector, "parameter p: a value of type list cannot be bound"],
])("%s cannot be bound", (_, column, message) => expect(() => readRows(messagesOf({ p: column }))).toThrow(message));

test("messages out of order", () => {
  const [schema, batch] = messagesOf({ p: made(1, new Int32()) });
  expect(() => readRows([])).toThrow(/there is no schema/);
  expect(() => readRows([batch!, schema!])).toThrow(/a schema must come first/);
  const [first, , last] = messagesOf({ p: made("b", new Dictionary(new Utf8(), new Int32())) });
  expect(() => readRows([first!, last!])).toThrow(/not in its dictionary/);
});

const SEED = Number(process.env["SEED"] ?? 1);
test(`damaged messages are refused, at once, seed ${SEED}`, () => {
  const below = prng(SEED);
  const good = [
    messagesOf({ a: made("text", new Utf8()), b: made(1n, new Int64()) }),
    splitWhole(Uint8Array.fromBase64(OF_PYARROW)),
    messagesOf({ a: made("text", new Dictionary(new Utf8(), new Int32())), b: raw(new Decimal(2, 38), new Uint32Array([12345, 0, 0, 0])) }),
  ];
  let readCount = 0;
  for (let round = 0; round < 20_000; round++) {
    const messages: IpcMessage[] = good[below(3)]!.map(({ header, body }) => ({ header: header.slice(), body: body.slice() }));
    for (let change = below(4); change >= 0; change--) {
      const { header, body } = messages[below(messages.length)]!;
      const bytes = below(4) === 0 && body.length > 0 ? body : header;
      bytes[below(bytes.length)] = below(2) === 0 ? below(256) : 255;
    }
    const started = process.cpuUsage();
    try {
      readRows(messages);
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
