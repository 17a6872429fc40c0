// Restricts a batch's buffers to the data of its rows: binary formats send raw buffers, and values of NULL rows, bits and text beyond the
// last row, and items of NULL lists may be another database's memory. They become zero or are removed; buffers get exactly the length of
// their rows, and offsets begin at 0.
//
// The buffers are borrowed, so everything that must be changed is copied first; a column without NULLs is a view of its buffers.
import { assert } from "../../model/assert.ts";
import type { ResultBatch, ResultColumn, ResultField, ResultType, ResultValues } from "../../model/query/result-batch.ts";
import { takeRows } from "../../model/rows/take-rows.ts";

const NO_BYTES = new Uint8Array(0);

/** `count` rows of a column, starting at `from`. */
interface Rows {
  readonly from: number;
  readonly count: number;
}

/** Rows [from, from + count) of `batch`, whose columns are `fields`. Borrows the batch's buffers. */
export function shownRows(
  batch: ResultBatch,
  fields: readonly ResultField[],
  rows: Rows = { from: 0, count: batch.rowCount },
): ResultBatch {
  return { rowCount: rows.count, columns: batch.columns.map((column, i) => shownColumn(column, fields[i]!.type, rows)) };
}

/** @param parent validity of the enclosing struct: members are NULL where it is NULL */
function shownColumn(column: ResultColumn, type: ResultType, rows: Rows, parent: Uint8Array | null = null): ResultColumn {
  const validity = presentBits(column.validity, rows, parent);
  switch (type.kind) {
    case "null":
      return { validity, values: NO_BYTES };
    case "utf8":
    case "binary": {
      const { offsets, start, items } = ranges(column, rows, validity);
      assert(column.data !== undefined, "a column of texts has their bytes");
      const end = start + offsets[rows.count]!;
      return { validity, values: NO_BYTES, offsets, data: items === null ? column.data.subarray(start, end) : picked(column.data, items) };
    }
    case "list":
      return shownList(column, [type.child], rows, validity);
    case "map":
      return shownList(column, [type.key, type.value], rows, validity);
    case "struct":
      return {
        validity,
        values: NO_BYTES,
        children: type.children.map((child, i) => shownColumn(column.children![i]!, child.type, rows, validity)),
      };
    default: {
      const width = type.kind === "hugeint" || type.kind === "decimal" || type.kind === "interval" ? 16 : 1;
      const { dictionary } = column;
      const values = column.values.subarray(rows.from * width, (rows.from + rows.count) * width) as ResultValues;
      assert(values.length === rows.count * width, `${values.length} values of ${width} for ${rows.count} rows`);
      const shown = { validity, values: validity === null ? values : zeroNulls(values, validity, rows.count) };
      return dictionary === undefined ? shown : { ...shown, dictionary };
    }
  }
}

function shownList(column: ResultColumn, fields: readonly ResultField[], rows: Rows, validity: Uint8Array | null): ResultColumn {
  const { offsets, start, items } = ranges(column, rows, validity);
  const count = offsets[rows.count]!;
  const children = fields.map(({ type }, i) => {
    const child = column.children![i]!;
    return items === null
      ? shownColumn(child, type, { from: start, count })
      : shownColumn(takeRows(child, type, items), type, { from: 0, count });
  });
  return { validity, values: NO_BYTES, offsets, children };
}

/** The validity of the rows in whole bytes, with the bits beyond the last row 0; null: all present. */
function presentBits(validity: Uint8Array | null, { from, count }: Rows, parent: Uint8Array | null): Uint8Array | null {
  if (validity === null) return parent;
  const bytes = (count + 7) >> 3;
  const bits = new Uint8Array(bytes);
  const first = from >> 3;
  const shift = from & 7;
  if (shift === 0) bits.set(validity.subarray(first, first + bytes));
  // beyond the bitmap bits are read as 0; they belong to no row
  else for (let i = 0; i < bytes; i++) bits[i] = (validity[first + i]! >> shift) | ((validity[first + i + 1] ?? 0) << (8 - shift));
  if ((count & 7) !== 0) bits[bytes - 1]! &= (1 << (count & 7)) - 1;
  if (parent !== null) for (let i = 0; i < bytes; i++) bits[i]! &= parent[i]!;
  return bits;
}

/** A copy with 0 for each row whose bit is 0. */
function zeroNulls(source: ResultValues, bits: Uint8Array, count: number): ResultValues {
  const values = source.slice();
  if (count === 0) return values;
  const width = values.byteLength / count;
  const buffer = values.buffer as ArrayBuffer;
  const units = width === 1 ? new Int8Array(buffer) : width === 2 ? new Int16Array(buffer) : new Int32Array(buffer);
  const perRow = width <= 4 ? 1 : width / 4;
  for (let i = 0; i < bits.length; i++) {
    const byte = bits[i]!;
    if (byte === 0xff) continue;
    const row = i * 8;
    const end = Math.min(count, row + 8);
    if (byte === 0) units.fill(0, row * perRow, end * perRow);
    else if (perRow === 1) maskRows(units, byte, row, end);
    else if (perRow === 2) maskPairs(units, byte, row, end);
    else maskQuads(units, byte, row, end);
  }
  return values;
}

type Units = Int8Array | Int16Array | Int32Array;

// Masks instead of branches: NULLs in real data are unpredictable.

function maskRows(units: Units, byte: number, from: number, end: number): void {
  for (let row = from, rest = byte; row < end; row++, rest >>= 1) units[row]! &= -(rest & 1);
}

function maskPairs(units: Units, byte: number, from: number, end: number): void {
  for (let at = from * 2, rest = byte; at < end * 2; at += 2, rest >>= 1) {
    const mask = -(rest & 1);
    units[at]! &= mask;
    units[at + 1]! &= mask;
  }
}

function maskQuads(units: Units, byte: number, from: number, end: number): void {
  for (let at = from * 4, rest = byte; at < end * 4; at += 4, rest >>= 1) {
    const mask = -(rest & 1);
    units[at]! &= mask;
    units[at + 1]! &= mask;
    units[at + 2]! &= mask;
    units[at + 3]! &= mask;
  }
}

/** Offsets from 0, with length 0 for NULLs; `start`: position of the first item. `items`: the rows' items, if NULLs have some in
 *  between; null: they are contiguous. */
function ranges(
  column: ResultColumn,
  { from, count }: Rows,
  bits: Uint8Array | null,
): { readonly offsets: Int32Array; readonly start: number; readonly items: Uint32Array | null } {
  const source = column.offsets;
  assert(source !== undefined && source.length > from + count, `offsets for ${from + count} rows`);
  const start = source[from]!;
  if (bits === null || !haveNullsItems(source, { from, count }, bits)) {
    const offsets = source.subarray(from, from + count + 1);
    return { offsets: start === 0 ? offsets : offsets.map((offset) => offset - start), start, items: null };
  }
  const offsets = new Int32Array(count + 1);
  let total = 0;
  for (let row = 0; row < count; row++) {
    if ((bits[row >> 3]! >> (row & 7)) & 1) total += source[from + row + 1]! - source[from + row]!;
    offsets[row + 1] = total;
  }
  const items = new Uint32Array(total);
  for (let row = 0; row < count; row++) {
    for (let at = offsets[row]!, item = source[from + row]!; at < offsets[row + 1]!; at++, item++) items[at] = item;
  }
  return { offsets, start: 0, items };
}

function haveNullsItems(offsets: Int32Array, { from, count }: Rows, bits: Uint8Array): boolean {
  for (let i = 0; i < bits.length; i++) {
    if (bits[i] === 0xff) continue;
    for (let row = i * 8; row < Math.min(count, i * 8 + 8); row++) {
      if (((bits[i]! >> (row & 7)) & 1) === 0 && offsets[from + row] !== offsets[from + row + 1]) return true;
    }
  }
  return false;
}

function picked(bytes: Uint8Array, items: Uint32Array): Uint8Array {
  const out = new Uint8Array(items.length);
  for (let i = 0; i < items.length; i++) out[i] = bytes[items[i]!]!;
  return out;
}
