// Converts result columns to Arrow columns. Buffers are passed unchanged where the layouts agree; booleans become bits, times of seconds
// and milliseconds 32 bits, intervals nanoseconds, and codes refer to a dictionary of the strings used.
//
// Built with makeData on typed arrays throughout: apache-arrow's builders throw on a BigInt for nanoseconds.
import {
  Binary,
  Bool,
  Data,
  type DataType,
  DateDay,
  Decimal,
  Duration,
  Field,
  Float32,
  Float64,
  Int,
  IntervalMonthDayNano,
  List,
  Map_,
  makeData,
  Null,
  Struct,
  Time,
  Timestamp,
  TimeUnit,
  Utf8,
  vectorFromArray,
} from "apache-arrow";
import { assert, unreachable } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import type { TimeUnit as ModelTimeUnit, ResultColumn, ResultField, ResultType } from "../../model/query/result-batch.ts";
import { COLUMN_TYPE_LABEL, ColumnType } from "../../model/rows/column.ts";
import { intervalText } from "../cells/clock-text.ts";
import { readInt128 } from "../cells/wide-text.ts";
import { type Convert, type Converter, isNull, nulls, TagStrings, UsedStrings } from "./dictionaries.ts";

/** The vendor's metadata key in files and answers. */
const COLUMN_KIND_KEY = "iox::column::type";
/** Decimal128 holds 38 digits; DuckDB exports its 128-bit integers the same way. */
const INT128_DIGITS = 38;
const INT128_LIMIT = 10n ** 38n;
const UNITS: Readonly<Record<ModelTimeUnit, TimeUnit>> = {
  s: TimeUnit.SECOND,
  ms: TimeUnit.MILLISECOND,
  us: TimeUnit.MICROSECOND,
  ns: TimeUnit.NANOSECOND,
};

/** The reader of the columns. Parquet has no seconds, and its writer no intervals: they become milliseconds and text. Flight clients do
 *  not support dictionaries: tags are plain strings there, and codes are expanded before. */
export type ArrowTarget = "ipc" | "flight" | "parquet";

/** One column of the answer: its Arrow field, and the conversion of each batch. */
export interface ArrowColumn {
  readonly field: Field;
  /** Converts a column prepared by shown-rows.ts, whose buffers it borrows. @throws TsdbError bad_format for a value out of the Arrow
   *  type's range */
  readonly data: Convert;
}

/** The Arrow column for a result field. */
export function arrowColumn(result: ResultField, target: ArrowTarget): ArrowColumn {
  const metadata = result.columnKind === undefined ? null : new Map([[COLUMN_KIND_KEY, result.columnKind]]);
  const isNamed = result.isDictionary ?? result.columnKind === COLUMN_TYPE_LABEL[ColumnType.tag];
  const { type, data } = target !== "flight" && isNamed && result.type.kind === "utf8" ? new TagStrings() : converter(result.type, target);
  return { field: new Field(result.name, type, result.hasNoNulls !== true, metadata), data };
}

function converter(type: ResultType, target: ArrowTarget): Converter {
  switch (type.kind) {
    case "null":
      return { type: new Null(), data: (_column, length) => nullData(length) };
    case "bool":
      return fixed(new Bool(), bitsOf);
    case "int":
      return fixed(new Int(type.signed, type.bits));
    case "float":
      return fixed(type.bits === 64 ? new Float64() : new Float32());
    case "hugeint":
      return fixed(new Decimal(0, INT128_DIGITS), (column, length) => wordsOf(checkDigits(column, length, type.signed)));
    case "decimal":
      return fixed(new Decimal(type.scale, type.precision), wordsOf);
    case "utf8":
      return bytes(new Utf8());
    case "binary":
      return bytes(new Binary());
    case "dictionary":
      return new UsedStrings();
    case "timestamp":
      return timestamp(type.unit, type.zone, target);
    case "date":
      return fixed(new DateDay());
    case "time":
      return time(type.unit, target);
    case "duration":
      return fixed(new Duration(UNITS[type.unit]));
    case "interval":
      return target === "parquet" ? { type: new Utf8(), data: intervalStrings } : fixed(new IntervalMonthDayNano(), nanosOf);
    case "list":
      return list(type.child, target);
    case "struct":
      return struct(type.children, target);
    case "map":
      return map(type.key, type.value, target);
    default:
      return unreachable(type);
  }
}

function fixed(type: DataType, buffer: (column: ResultColumn, length: number) => ArrayBufferView = ({ values }) => values): Converter {
  return { type, data: (column, length) => makeData({ type, length, data: buffer(column, length), ...nulls(column) } as never) };
}

function bytes(type: Utf8 | Binary): Converter {
  return {
    type,
    data: (column, length) =>
      makeData({
        type: type as Utf8,
        length,
        valueOffsets: offsetsOf(column, length),
        data: column.data ?? new Uint8Array(0),
        ...nulls(column),
      }),
  };
}

function timestamp(unit: ModelTimeUnit, zone: string | null, target: ArrowTarget): Converter {
  if (unit !== "s" || target !== "parquet") return fixed(new Timestamp(UNITS[unit], zone));
  return fixed(new Timestamp(TimeUnit.MILLISECOND, zone), (column, length) => {
    const seconds = column.values as BigInt64Array;
    return BigInt64Array.from({ length }, (_, row) => (isNull(column, row) ? 0n : milliseconds(seconds[row]!)));
  });
}

function milliseconds(seconds: bigint): bigint {
  const value = seconds * 1000n;
  if (BigInt.asIntN(64, value) !== value) throw new TsdbError("bad_format", `parquet cannot hold the time ${seconds} s`, { seconds });
  return value;
}

function time(unit: ModelTimeUnit, target: ArrowTarget): Converter {
  if (unit === "us" || unit === "ns") return fixed(new Time(UNITS[unit], 64));
  const scale = unit === "s" && target === "parquet" ? 1000 : 1;
  const type = new Time(unit === "s" && target !== "parquet" ? TimeUnit.SECOND : TimeUnit.MILLISECOND, 32);
  return fixed(type, (column, length) =>
    Int32Array.from({ length }, (_, row) => (isNull(column, row) ? 0 : Number((column.values as BigInt64Array)[row]!) * scale)),
  );
}

/** With bits, from which apache-arrow counts what is left of it where it is cut: within a list. They are not written. */
function nullData(length: number): Data<Null> {
  return new Data(new Null(), 0, length, length, [undefined, undefined, new Uint8Array((length + 7) >> 3), undefined]);
}

function list(child: ResultField, target: ArrowTarget): Converter {
  const item = arrowColumn(child, target);
  const type = new List(item.field);
  return {
    type,
    data: (column, length) => {
      const valueOffsets = offsetsOf(column, length);
      return makeData({ type, length, valueOffsets, child: item.data(childOf(column, 0), valueOffsets[length]!), ...nulls(column) });
    },
  };
}

function struct(children: readonly ResultField[], target: ArrowTarget): Converter {
  const members = children.map((child) => arrowColumn(child, target));
  const type = new Struct(members.map(({ field }) => field));
  return {
    type,
    data: (column, length) =>
      makeData({ type, length, children: members.map((member, index) => member.data(childOf(column, index), length)), ...nulls(column) }),
  };
}

function map(key: ResultField, value: ResultField, target: ArrowTarget): Converter {
  const keys = converter(key.type, target);
  const values = converter(value.type, target);
  const entry = new Struct<{ key: DataType; value: DataType }>([new Field("key", keys.type, false), new Field("value", values.type, true)]);
  const type = new Map_(new Field("entries", entry, false));
  return {
    type,
    data: (column, length) => {
      const valueOffsets = offsetsOf(column, length);
      const count = valueOffsets[length]!;
      const children = [keys.data(childOf(column, 0), count), values.data(childOf(column, 1), count)];
      return makeData({
        type,
        length,
        valueOffsets,
        child: makeData({ type: entry, length: count, children, nullCount: 0 }),
        ...nulls(column),
      });
    },
  };
}

function bitsOf(column: ResultColumn, length: number): Uint8Array {
  const values = column.values as Uint8Array;
  const bits = new Uint8Array((length + 7) >> 3);
  for (let row = 0; row < length; row++) if (values[row] !== 0) bits[row >> 3]! |= 1 << (row & 7);
  return bits;
}

/** 16-byte values as the 32-bit words of Arrow's decimals, for any alignment. */
function wordsOf({ values }: Pick<ResultColumn, "values">): Uint32Array {
  if (values.byteOffset % 4 === 0) return new Uint32Array(values.buffer, values.byteOffset, values.byteLength >> 2);
  return new Uint32Array(Uint8Array.from(values as Uint8Array).buffer);
}

function checkDigits(column: ResultColumn, length: number, signed: boolean): ResultColumn {
  const view = viewOf(column, length);
  for (let row = 0; row < length; row++) {
    if (isNull(column, row)) continue;
    const value = readInt128(view, row * 16, signed);
    if (value >= INT128_LIMIT || value <= -INT128_LIMIT) {
      throw new TsdbError("bad_format", `arrow and parquet hold integers of ${INT128_DIGITS} digits, got ${value}; choose json or csv`, {});
    }
  }
  return column;
}

/** Months, days, microseconds -> months, days, nanoseconds. */
function nanosOf(column: ResultColumn, length: number): Int32Array {
  const view = viewOf(column, length);
  const target = new DataView(new ArrayBuffer(length * 16));
  for (let row = 0; row < length; row++) {
    if (isNull(column, row)) continue;
    const at = row * 16;
    target.setInt32(at, view.getInt32(at, true), true);
    target.setInt32(at + 4, view.getInt32(at + 4, true), true);
    const nanos = view.getBigInt64(at + 8, true) * 1000n;
    if (BigInt.asIntN(64, nanos) !== nanos)
      throw new TsdbError("bad_format", "arrow intervals hold 292 years of nanoseconds; choose json or csv", {});
    target.setBigInt64(at + 8, nanos, true);
  }
  return new Int32Array(target.buffer);
}

const intervalStrings: Convert = (column, length) => {
  const view = viewOf(column, length);
  return textData(column, length, (row) => {
    const at = row * 16;
    return intervalText(view.getInt32(at, true), view.getInt32(at + 4, true), view.getBigInt64(at + 8, true));
  });
};

function textData(column: ResultColumn, length: number, textAt: (row: number) => string): Data<Utf8> {
  const texts = Array.from({ length }, (_, row) => (isNull(column, row) ? "" : textAt(row)));
  const { values, valueOffsets } = vectorFromArray(["", ...texts], new Utf8()).data[0]!;
  return makeData({ type: new Utf8(), length, valueOffsets: valueOffsets.subarray(1), data: values, ...nulls(column) });
}

function viewOf({ values }: ResultColumn, length: number): DataView {
  assert(values.byteLength >= length * 16, `${values.byteLength} bytes for ${length} values of 16`);
  return new DataView(values.buffer, values.byteOffset, length * 16);
}

function offsetsOf(column: ResultColumn, length: number): Int32Array {
  assert(column.offsets !== undefined && column.offsets.length > length, `offsets for ${length} rows`);
  return column.offsets.subarray(0, length + 1);
}

function childOf(column: ResultColumn, index: number): ResultColumn {
  const child = column.children?.[index];
  assert(child !== undefined, `a nested column has child ${index}`);
  return child;
}
