// One reader per DuckDB type: copies a flat vector into Arrow's buffer layouts (model/query/result-batch.ts). Fixed-width columns are a
// single copy.
import type duckdbTypes from "@duckdb/node-bindings";
import type { ResultColumn, ResultField, ResultType, ResultValues } from "../model/query/result-batch.ts";
import { DuckType, duckdb } from "./binding.ts";
import { createNestedReader } from "./nested-reader.ts";
import { readStrings } from "./string-reader.ts";
import { castForReading } from "./type-text.ts";
import { type ColumnReader, readValidity, vectorBytes } from "./vector.ts";

type LogicalType = duckdbTypes.LogicalType;
type Vector = duckdbTypes.Vector;

const NO_VALUES = new Uint8Array(0);
/** Size of a string in a vector (string-reader.ts). */
const VIEW_BYTES = 16;

type ArrayClass = {
  new (buffer: ArrayBuffer): ResultValues;
  readonly BYTES_PER_ELEMENT: number;
};

/** Fixed-width values: DuckDB's layout equals Arrow's. `widthBytes` differs from the element size for 16-byte values. */
function fixed(type: ResultType, ArrayOf: ArrayClass, widthBytes = ArrayOf.BYTES_PER_ELEMENT): ColumnReader {
  return {
    type,
    read(vector, rowCount) {
      const bytes = vectorBytes(vector, rowCount * widthBytes).slice();
      return { validity: readValidity(vector, rowCount), values: new ArrayOf(bytes.buffer as ArrayBuffer) };
    },
  };
}

function text(type: ResultType): ColumnReader {
  return {
    type,
    read(vector, rowCount) {
      const validity = readValidity(vector, rowCount);
      const { offsets, data } = readStrings(vectorBytes(vector, rowCount * 16), rowCount, validity);
      return { validity, values: NO_VALUES, offsets, data };
    },
  };
}

/** Adds each row's text size to `bytes`; NULLs have none. */
export function addTextBytes(vector: Vector, bytes: Float64Array): void {
  const rowCount = bytes.length;
  const validity = readValidity(vector, rowCount);
  const views = vectorBytes(vector, rowCount * VIEW_BYTES);
  const words = new Uint32Array(views.buffer, views.byteOffset, rowCount * (VIEW_BYTES / 4));
  for (let row = 0; row < rowCount; row++) {
    if (validity === null || (validity[row >>> 3]! >>> (row & 7)) & 1) bytes[row]! += words[row * (VIEW_BYTES / 4)]!;
  }
}

/** Reads some rows of a text column. Owned by the caller. */
export function readTextPart(vector: Vector, from: number, to: number): ResultColumn {
  const whole = readValidity(vector, to);
  const rowCount = to - from;
  const validity = whole === null ? null : new Uint8Array(Math.ceil(rowCount / 64) * 8);
  for (let row = 0; validity !== null && row < rowCount; row++) {
    if ((whole![(from + row) >>> 3]! >>> ((from + row) & 7)) & 1) validity[row >>> 3]! |= 1 << (row & 7);
  }
  const { offsets, data } = readStrings(vectorBytes(vector, to * VIEW_BYTES).subarray(from * VIEW_BYTES), rowCount, validity);
  return { validity, values: NO_VALUES, offsets, data };
}

/** Decimals have 2, 4, 8 or 16 bytes in DuckDB; the result has 16. */
function decimal(logical: LogicalType): ColumnReader {
  const internal = duckdb.decimal_internal_type(logical);
  const widthBytes = internal === DuckType.SMALLINT ? 2 : internal === DuckType.INTEGER ? 4 : internal === DuckType.BIGINT ? 8 : 16;
  const type: ResultType = { kind: "decimal", precision: duckdb.decimal_width(logical), scale: duckdb.decimal_scale(logical) };
  return {
    type,
    read(vector, rowCount) {
      const source = vectorBytes(vector, rowCount * widthBytes);
      const values = new Uint8Array(rowCount * 16);
      for (let row = 0; row < rowCount; row++) {
        values.set(source.subarray(row * widthBytes, (row + 1) * widthBytes), row * 16);
        const negative = source[(row + 1) * widthBytes - 1]! >= 0x80;
        if (negative) values.fill(0xff, row * 16 + widthBytes, (row + 1) * 16);
      }
      return { validity: readValidity(vector, rowCount), values };
    },
  };
}

/** Enums become u32 codes and one dictionary array for the whole result. */
function dictionary(logical: LogicalType): ColumnReader {
  const internal = duckdb.enum_internal_type(logical);
  const widthBytes = internal === DuckType.UTINYINT ? 1 : internal === DuckType.USMALLINT ? 2 : 4;
  const strings = Array.from({ length: duckdb.enum_dictionary_size(logical) }, (_, i) => duckdb.enum_dictionary_value(logical, i));
  return {
    type: { kind: "dictionary" },
    read(vector, rowCount) {
      const bytes = vectorBytes(vector, rowCount * widthBytes).slice();
      const codes = widthBytes === 1 ? bytes : widthBytes === 2 ? new Uint16Array(bytes.buffer) : new Uint32Array(bytes.buffer);
      return {
        validity: readValidity(vector, rowCount),
        values: codes instanceof Uint32Array ? codes : Uint32Array.from(codes),
        dictionary: strings,
      };
    },
  };
}

const int = (bits: 8 | 16 | 32 | 64, signed: boolean): ResultType => ({ kind: "int", bits, signed });
const timestamp = (unit: "s" | "ms" | "us" | "ns", zone: string | null = null): ResultType => ({ kind: "timestamp", unit, zone });

/** Readers that depend on the type's number only; stateless, hence shared. */
const SIMPLE: ReadonlyMap<number, ColumnReader> = new Map<number, ColumnReader>([
  [DuckType.BOOLEAN, fixed({ kind: "bool" }, Uint8Array)],
  [DuckType.TINYINT, fixed(int(8, true), Int8Array)],
  [DuckType.SMALLINT, fixed(int(16, true), Int16Array)],
  [DuckType.INTEGER, fixed(int(32, true), Int32Array)],
  [DuckType.BIGINT, fixed(int(64, true), BigInt64Array)],
  [DuckType.UTINYINT, fixed(int(8, false), Uint8Array)],
  [DuckType.USMALLINT, fixed(int(16, false), Uint16Array)],
  [DuckType.UINTEGER, fixed(int(32, false), Uint32Array)],
  [DuckType.UBIGINT, fixed(int(64, false), BigUint64Array)],
  [DuckType.HUGEINT, fixed({ kind: "hugeint", signed: true }, Uint8Array, 16)],
  [DuckType.UHUGEINT, fixed({ kind: "hugeint", signed: false }, Uint8Array, 16)],
  [DuckType.FLOAT, fixed({ kind: "float", bits: 32 }, Float32Array)],
  [DuckType.DOUBLE, fixed({ kind: "float", bits: 64 }, Float64Array)],
  [DuckType.TIMESTAMP_S, fixed(timestamp("s"), BigInt64Array)],
  [DuckType.TIMESTAMP_MS, fixed(timestamp("ms"), BigInt64Array)],
  [DuckType.TIMESTAMP, fixed(timestamp("us"), BigInt64Array)],
  [DuckType.TIMESTAMP_NS, fixed(timestamp("ns"), BigInt64Array)],
  [DuckType.TIMESTAMP_TZ, fixed(timestamp("us", "UTC"), BigInt64Array)],
  [DuckType.DATE, fixed({ kind: "date" }, Int32Array)],
  [DuckType.TIME, fixed({ kind: "time", unit: "us" }, BigInt64Array)],
  [DuckType.TIME_NS, fixed({ kind: "time", unit: "ns" }, BigInt64Array)],
  [DuckType.INTERVAL, fixed({ kind: "interval" }, Uint8Array, 16)],
  [DuckType.VARCHAR, text({ kind: "utf8" })],
  [DuckType.BLOB, text({ kind: "binary" })],
  [DuckType.SQLNULL, { type: { kind: "null" }, read: (_vector, rowCount) => ({ validity: allNull(rowCount), values: NO_VALUES }) }],
]);

function allNull(rowCount: number): Uint8Array {
  return new Uint8Array(Math.ceil(rowCount / 64) * 8);
}

/** The reader for a type that `castForReading` leaves unchanged. */
export function createColumnReader(logical: LogicalType): ColumnReader {
  const id = duckdb.get_type_id(logical);
  const simple = SIMPLE.get(id);
  if (simple !== undefined) return simple;
  if (id === DuckType.DECIMAL) return decimal(logical);
  if (id === DuckType.ENUM) return dictionary(logical);
  const nested = createNestedReader(logical, id, createColumnReader);
  if (nested === null) throw new Error(`BUG: no reader for DuckDB type ${id}; castForReading should have replaced it`);
  return nested;
}

/** Columns and parameters of a statement as fields. A type unknown to DuckDB becomes "null"; types that are read as text become text. */
export function fieldsOf(columns: readonly { readonly name: string; readonly type: LogicalType | null }[]): ResultField[] {
  return columns.map(({ name, type }) => {
    if (type === null || duckdb.get_type_id(type) === DuckType.INVALID) return { name, type: { kind: "null" } };
    return { name, type: castForReading(type) === null ? createColumnReader(type).type : { kind: "utf8" } };
  });
}
