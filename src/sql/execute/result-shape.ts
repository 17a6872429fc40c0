// Converts DuckDB's columns to the dialect's: decodes names, narrows 128-bit integers, converts timestamps and durations to their units,
// and adds marks of plain columns.

import { TsdbError } from "../../model/errors.ts";
import type { ResultBatch, ResultColumn, ResultField, ResultType, TimeUnit } from "../../model/query/result-batch.ts";
import { COLUMN_TYPE_LABEL, ColumnType } from "../../model/rows/column.ts";
import type { OutputColumn } from "../bind/scope.ts";
import { isDictionary, markOf, notedField } from "../bind/type-notes.ts";
import { decodeNames } from "../parse/names.ts";

type IntegerType = Extract<ResultType, { kind: "int" }>;
type Convert = (column: ResultColumn, rowCount: number) => ResultColumn;

/** The conversion of one answer's batches. */
export class ResultShape {
  readonly fields: readonly ResultField[];
  private readonly conversions: readonly (Convert | null)[];

  /** @param outputs the rewriter's knowledge, in the order of `fields`; null if it does not know the columns */
  constructor(fields: readonly ResultField[], outputs: readonly OutputColumn[] | null) {
    const known = outputs !== null && outputs.length === fields.length ? outputs : null;
    const shaped = fields.map((field, i) => shapeField(field, known?.[i]));
    this.fields = shaped.map(({ field }) => field);
    this.conversions = shaped.map(({ convert }) => convert);
  }

  apply(batch: ResultBatch): ResultBatch {
    if (this.conversions.every((convert) => convert === null)) return batch;
    const columns = batch.columns.map((column, i) => this.conversions[i]?.(column, batch.rowCount) ?? column);
    return { rowCount: batch.rowCount, columns };
  }
}

interface ShapedField {
  readonly field: ResultField;
  readonly convert: Convert | null;
}

function shapeField(field: ResultField, output: OutputColumn | undefined): ShapedField {
  const shaped = shapeType(field, output);
  const mark = output === undefined ? null : markOf(output);
  if (output === undefined || mark === null) return shaped;
  // a tag cast to text is plain text
  const isPlain = mark === ColumnType.tag && !isDictionary(output) ? { isDictionary: false } : {};
  return { ...shaped, field: { ...shaped.field, columnKind: COLUMN_TYPE_LABEL[mark], ...isPlain } };
}

function shapeType(field: ResultField, output: OutputColumn | undefined): ShapedField {
  const name = decodeNames(field.name);
  const type = decodeType(field.type);
  if (output?.kind === "duration" && field.type.kind === "int" && field.type.bits === 64) {
    const unit = unitOf(output);
    return { field: { name, type: { kind: "duration", unit } }, convert: inUnit(unit) };
  }
  const width = INTEGER_WIDTHS[output?.arrow ?? ""];
  if (width !== undefined && field.type.kind === "int" && isOther(field.type, width.type)) {
    return { field: { name, type: width.type }, convert: width.convert };
  }
  if (output?.isWide === true && output.arrow === undefined && field.type.kind === "int" && field.type.bits < 64) {
    return { field: { name, type: { ...field.type, bits: 64 } }, convert: widen };
  }
  if (type.kind === "timestamp" && output !== undefined) {
    const { zone = type.zone } = output;
    const unit = type.unit === "ns" ? unitOf(output) : type.unit;
    if (zone !== type.zone || unit !== type.unit) {
      return { field: { name, type: { ...type, unit, zone } }, convert: unit === type.unit ? null : inUnit(unit) };
    }
  }
  if (type.kind === "time" && type.unit === "us") return { field: { name, type: { kind: "time", unit: "ns" } }, convert: thousandfold };
  if (field.type.kind === "hugeint") return { field: { name, type: { kind: "int", bits: 64, signed: true } }, convert: narrow };
  const def = output?.source?.scan.defs[output.source.index];
  const noted = output?.arrow === undefined ? { type } : notedField({ name, type }, output.arrow);
  const hasNoNulls = def?.type === ColumnType.time && output?.isOptional !== true ? { hasNoNulls: true } : {};
  return { field: { ...noted, name, ...hasNoNulls }, convert: null };
}

const UNITS: Readonly<Record<string, { readonly unit: TimeUnit; readonly ns: bigint }>> = {
  s: { unit: "s", ns: 1_000_000_000n },
  ms: { unit: "ms", ns: 1_000_000n },
  µs: { unit: "us", ns: 1_000n },
};

/** The unit in the name of a timestamp or duration type: `Timestamp(ms, "UTC")`; all are nanoseconds in DuckDB. */
function unitOf({ arrow = "" }: OutputColumn): TimeUnit {
  return UNITS[/^(?:Timestamp|Duration)\((s|ms|µs)\b/.exec(arrow)?.[1] ?? ""]?.unit ?? "ns";
}

/** Converts nanoseconds to a unit of which they are multiples. */
function inUnit(wanted: TimeUnit): Convert | null {
  const found = Object.values(UNITS).find(({ unit }) => unit === wanted);
  if (found === undefined) return null;
  return ({ validity, values }) => ({ validity, values: BigInt64Array.from(values as BigInt64Array, (value) => value / found.ns) });
}

type Integers = Int8Array | Int16Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;

/** Integers of DuckDB that have another type in the dialect; of 64 bits all values fit. */
const INTEGER_WIDTHS: Readonly<Record<string, { type: IntegerType; convert: Convert }>> = {
  Int8: { type: { kind: "int", bits: 8, signed: true }, convert: inBits((count) => new Int8Array(count)) },
  Int16: { type: { kind: "int", bits: 16, signed: true }, convert: inBits((count) => new Int16Array(count)) },
  Int32: { type: { kind: "int", bits: 32, signed: true }, convert: inBits((count) => new Int32Array(count)) },
  UInt8: { type: { kind: "int", bits: 8, signed: false }, convert: inBits((count) => new Uint8Array(count)) },
  UInt16: { type: { kind: "int", bits: 16, signed: false }, convert: inBits((count) => new Uint16Array(count)) },
  UInt32: { type: { kind: "int", bits: 32, signed: false }, convert: inBits((count) => new Uint32Array(count)) },
  UInt64: {
    type: { kind: "int", bits: 64, signed: false },
    convert: ({ validity, values }) => ({ validity, values: new BigUint64Array(values.buffer, values.byteOffset, values.length) }),
  },
};

/** Unsigned 64-bit integers by their note alone are signed in DuckDB. */
function isOther(type: IntegerType, wanted: IntegerType): boolean {
  if (wanted.bits === 64) return type.signed && type.bits === 64;
  return type.bits !== wanted.bits || type.signed !== wanted.signed;
}

/** @throws TsdbError bad_query if an integer does not fit */
function inBits(make: (count: number) => Integers): Convert {
  return ({ validity, values }) => {
    const found = values as Integers | BigInt64Array;
    const converted = make(found.length);
    for (let row = 0; row < found.length; row++) {
      const value = Number(found[row]);
      converted[row] = value;
      const isPresent = validity === null || (validity[row >>> 3]! >>> (row & 7)) & 1;
      if (isPresent && converted[row] !== value)
        throw new TsdbError("bad_query", `Arrow error: Arithmetic overflow: ${value} does not fit ${converted.BYTES_PER_ELEMENT * 8} bits`);
    }
    return { validity, values: converted };
  };
}

/** Decodes member names of structs, too. */
function decodeType(type: ResultType): ResultType {
  const decode = (field: ResultField): ResultField => ({ ...field, name: decodeNames(field.name), type: decodeType(field.type) });
  if (type.kind === "struct") return { ...type, children: type.children.map(decode) };
  if (type.kind === "list") return { ...type, child: decode(type.child) };
  if (type.kind === "map") return { ...type, key: decode(type.key), value: decode(type.value) };
  return type;
}

/** Narrows 128-bit integers to 64 bits. @throws TsdbError bad_query if one does not fit */
function narrow(column: ResultColumn, rowCount: number): ResultColumn {
  const words = new BigInt64Array(column.values.buffer as ArrayBuffer, column.values.byteOffset, rowCount * 2);
  const values = new BigInt64Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const low = words[row * 2]!;
    const present = column.validity === null || (column.validity[row >>> 3]! >>> (row & 7)) & 1;
    if (present && words[row * 2 + 1] !== (low < 0n ? -1n : 0n)) {
      throw new TsdbError("bad_query", "Arrow error: Arithmetic overflow: an integer result does not fit 64 bits");
    }
    values[row] = low;
  }
  return { validity: column.validity, values };
}

function thousandfold({ validity, values }: ResultColumn): ResultColumn {
  return { validity, values: BigInt64Array.from(values as BigInt64Array, (value) => value * 1000n) };
}

function widen(column: ResultColumn): ResultColumn {
  return { validity: column.validity, values: BigInt64Array.from(column.values as Int32Array, BigInt) };
}
