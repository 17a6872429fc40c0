// From DuckDB's columns to the dialect's: names decoded, no 128-bit integers, durations as ISO 8601 text, and what is known of plain
// columns.

import { COLUMN_TYPE_LABEL, ColumnType } from "../model/column.ts";
import { TsdbError } from "../model/errors.ts";
import type { ResultBatch, ResultColumn, ResultField, ResultType } from "../model/result-batch.ts";
import { decodeNames } from "./names.ts";
import type { OutputColumn } from "./scope.ts";

type Convert = (column: ResultColumn, rowCount: number) => ResultColumn;

/** How the batches of one answer change on their way out. */
export class ResultShape {
  readonly fields: readonly ResultField[];
  private readonly conversions: readonly (Convert | null)[];

  /** `outputs`: what the rewriter knows, in the order of `fields`; null when it does not know the columns. */
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

function shapeField(field: ResultField, output: OutputColumn | undefined): { field: ResultField; convert: Convert | null } {
  const name = decodeNames(field.name);
  const type = decodeType(field.type);
  if (output?.kind === "duration" && field.type.kind === "int" && field.type.bits === 64) {
    return { field: { name, type: { kind: "utf8" } }, convert: durationTexts };
  }
  const width = INTEGER_WIDTHS[output?.arrow ?? ""];
  if (width !== undefined && field.type.kind === "int" && field.type.signed && field.type.bits === 64) {
    return { field: { name, type: width.type }, convert: width.convert };
  }
  if (output?.isWide === true && output.arrow === undefined && field.type.kind === "int" && field.type.bits < 64) {
    return { field: { name, type: { ...field.type, bits: 64 } }, convert: widen };
  }
  if (output?.zone !== undefined && type.kind === "timestamp")
    return { field: { name, type: { ...type, zone: output.zone } }, convert: null };
  if (field.type.kind === "hugeint") return { field: { name, type: { kind: "int", bits: 64, signed: true } }, convert: narrow };
  const def = output?.source?.scan.defs[output.source.index];
  const columnKind = def === undefined ? {} : { columnKind: COLUMN_TYPE_LABEL[def.type] };
  const hasNoNulls = def?.type === ColumnType.time && output?.isOptional !== true ? { hasNoNulls: true } : {};
  return { field: { name, type, ...columnKind, ...hasNoNulls }, convert: null };
}

/** What is 64 bits wide in DuckDB and another integer in the dialect; values that do not fit there do not occur. */
const INTEGER_WIDTHS: Readonly<Record<string, { type: ResultType; convert: Convert }>> = {
  Int32: {
    type: { kind: "int", bits: 32, signed: true },
    convert: ({ validity, values }) => ({ validity, values: Int32Array.from(values as BigInt64Array, Number) }),
  },
  UInt64: {
    type: { kind: "int", bits: 64, signed: false },
    convert: ({ validity, values }) => ({ validity, values: new BigUint64Array(values.buffer, values.byteOffset, values.length) }),
  },
};

/** Members of structs have names too. */
function decodeType(type: ResultType): ResultType {
  const decode = (field: ResultField): ResultField => ({ ...field, name: decodeNames(field.name), type: decodeType(field.type) });
  if (type.kind === "struct") return { ...type, children: type.children.map(decode) };
  if (type.kind === "list") return { ...type, child: decode(type.child) };
  if (type.kind === "map") return { ...type, key: decode(type.key), value: decode(type.value) };
  return type;
}

/** 128-bit integers as 64-bit ones. @throws TsdbError bad_query when one does not fit */
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

function widen(column: ResultColumn): ResultColumn {
  return { validity: column.validity, values: BigInt64Array.from(column.values as Int32Array, BigInt) };
}

const encoder = new TextEncoder();

function durationTexts(column: ResultColumn, rowCount: number): ResultColumn {
  const source = column.values as BigInt64Array;
  const texts: Uint8Array[] = [];
  const offsets = new Int32Array(rowCount + 1);
  for (let row = 0; row < rowCount; row++) {
    const present = column.validity === null || (column.validity[row >>> 3]! >>> (row & 7)) & 1;
    const text = encoder.encode(present ? durationText(source[row]!) : "");
    texts.push(text);
    offsets[row + 1] = offsets[row]! + text.length;
  }
  const data = new Uint8Array(offsets[rowCount]!);
  for (const [row, text] of texts.entries()) data.set(text, offsets[row]!);
  return { validity: column.validity, values: new Uint8Array(0), offsets, data };
}

/** Nanoseconds as the vendor prints a duration: seconds with as many digits as needed, `PT0.032689S`; nothing is `P0D`. */
export function durationText(ns: bigint): string {
  if (ns === 0n) return "P0D";
  const abs = ns < 0n ? -ns : ns;
  const fraction = (abs % 1_000_000_000n).toString().padStart(9, "0").replace(/0+$/, "");
  return `${ns < 0n ? "-" : ""}PT${abs / 1_000_000_000n}${fraction === "" ? "" : `.${fraction}`}S`;
}
