// Batches with arbitrary unused bytes, which producers may return: everything not visible in a row holds a pattern. Slots under NULL, bits
// after the last row, text and items of NULL rows, bytes before the first offset and after the last one, rows after the batch's.
import type { ResultBatch, ResultColumn, ResultField, ResultType, ResultValues } from "../../../src/model/query/result-batch.ts";

export const DIRT = 0xa5;
/** Number of extra rows in the buffers after those of the batch. */
const SPARE_ROWS = 5;
const SPARE_BYTES = 24;

/** The batch with arbitrary bytes in places that readers must not look at. */
export function dirtyBatch(batch: ResultBatch, fields: readonly ResultField[]): ResultBatch {
  return { rowCount: batch.rowCount, columns: batch.columns.map((column, i) => dirty(column, fields[i]!.type, batch.rowCount)) };
}

const isPresent = (bits: Uint8Array | null, row: number) => bits === null || ((bits[row >> 3]! >> (row & 7)) & 1) === 1;

function dirty(column: ResultColumn, type: ResultType, rowCount: number): ResultColumn {
  const validity = dirtyBits(column.validity, rowCount);
  const present = (row: number) => isPresent(column.validity, row);
  switch (type.kind) {
    case "null":
      return { ...column, validity };
    case "utf8":
    case "binary": {
      const { offsets, items } = dirtyOffsets(column.offsets!, rowCount, present);
      const data = new Uint8Array(items.length).fill(DIRT);
      for (const [at, item] of items.entries()) if (item >= 0) data[at] = column.data![item]!;
      return { validity, values: column.values, offsets, data };
    }
    case "list":
    case "map": {
      const { offsets, items } = dirtyOffsets(column.offsets!, rowCount, present);
      const types = type.kind === "list" ? [type.child.type] : [type.key.type, type.value.type];
      const children = column.children!.map((child, i) => spread(child, types[i]!, items));
      return { validity, values: column.values, offsets, children };
    }
    case "struct": {
      // a member of a NULL struct is present and holds the pattern
      const rows = Array.from({ length: rowCount }, (_, row) => (present(row) ? row : -1));
      return { ...column, validity, children: column.children!.map((child, i) => spread(child, type.children[i]!.type, rows)) };
    }
    default: {
      const width = widthOf(type);
      const values = room(column.values, (rowCount + SPARE_ROWS) * width);
      for (let row = 0; row < rowCount; row++) if (present(row)) copyRow(column.values, row, values, row, width);
      return column.dictionary === undefined ? { validity, values } : { validity, values, dictionary: column.dictionary };
    }
  }
}

const widthOf = ({ kind }: ResultType) => (kind === "hugeint" || kind === "decimal" || kind === "interval" ? 16 : 1);

function room(like: ResultValues, length: number): ResultValues {
  const values = new (like.constructor as new (length: number) => ResultValues)(length);
  new Uint8Array(values.buffer).fill(DIRT);
  return values;
}

function copyRow(source: ResultValues, from: number, target: ResultValues, to: number, width: number): void {
  for (let i = 0; i < width; i++) target[to * width + i] = source[from * width + i]!;
}

function dirtyBits(bits: Uint8Array | null, rowCount: number): Uint8Array | null {
  if (bits === null) return null;
  const out = new Uint8Array((Math.ceil(rowCount / 64) + 1) * 8).fill(0xff);
  for (let row = 0; row < rowCount; row++) if (!isPresent(bits, row)) out[row >> 3]! &= ~(1 << (row & 7));
  return out;
}

/** Offsets with items before, after, and in NULL rows. `items`: the index of the old item, -1 = none. */
function dirtyOffsets(source: Int32Array, rowCount: number, present: (row: number) => boolean): { offsets: Int32Array; items: number[] } {
  const none = (count: number) => Array.from({ length: count }, () => -1);
  const items = none(3);
  const offsets = new Int32Array(rowCount + 1 + SPARE_ROWS).fill(SPARE_BYTES);
  for (let row = 0; row < rowCount; row++) {
    offsets[row] = items.length;
    if (!present(row)) items.push(...none(2 + (row % 3)));
    else for (let item = source[row]!; item < source[row + 1]!; item++) items.push(item);
  }
  offsets[rowCount] = items.length;
  items.push(...none(SPARE_BYTES));
  return { offsets, items };
}

/** A child with the listed rows; -1 is a present row that holds the pattern. */
function spread(column: ResultColumn, type: ResultType, rows: readonly number[]): ResultColumn {
  const validity = column.validity === null ? null : new Uint8Array(Math.ceil(rows.length / 64) * 8);
  for (const [at, row] of rows.entries()) {
    if (validity !== null && (row < 0 || isPresent(column.validity, row))) validity[at >> 3]! |= 1 << (at & 7);
  }
  if (column.offsets !== undefined) {
    const offsets = new Int32Array(rows.length + 1);
    const items: number[] = [];
    for (const [at, row] of rows.entries()) {
      if (row < 0) items.push(-1, -1);
      else for (let item = column.offsets[row]!; item < column.offsets[row + 1]!; item++) items.push(item);
      offsets[at + 1] = items.length;
    }
    if (column.data !== undefined) {
      const data = Uint8Array.from(items, (item) => (item < 0 ? DIRT : column.data![item]!));
      return dirty({ validity, values: column.values, offsets, data }, type, rows.length);
    }
    const types = type.kind === "list" ? [type.child.type] : type.kind === "map" ? [type.key.type, type.value.type] : [];
    const children = column.children!.map((child, i) => spread(child, types[i]!, items));
    return dirty({ validity, values: column.values, offsets, children }, type, rows.length);
  }
  if (type.kind === "struct") {
    const children = column.children!.map((child, i) => spread(child, type.children[i]!.type, rows));
    return dirty({ validity, values: column.values, children }, type, rows.length);
  }
  if (type.kind === "null") return { validity, values: column.values };
  const width = widthOf(type);
  const values = room(column.values, rows.length * width);
  for (const [at, row] of rows.entries()) if (row >= 0) copyRow(column.values, row, values, at, width);
  if (column.dictionary === undefined) return dirty({ validity, values }, type, rows.length);
  // a code must be valid even in an invisible row
  for (const [at, row] of rows.entries()) if (row < 0) values[at] = column.dictionary.length;
  return dirty({ validity, values, dictionary: [...column.dictionary, "nobody's"] }, type, rows.length);
}
