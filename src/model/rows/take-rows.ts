// Gathers rows of a result column by index into a new column: needed to reorder the children of lists.
import type { ResultColumn, ResultType, ResultValues } from "../query/result-batch.ts";

/** The rows `rows` of `column`, in that order; owned by the caller. */
export function takeRows(column: ResultColumn, type: ResultType, rows: Uint32Array): ResultColumn {
  const validity = column.validity === null ? null : takeBits(column.validity, rows);
  switch (type.kind) {
    case "null":
      return { validity: new Uint8Array(Math.ceil(rows.length / 64) * 8), values: column.values };
    case "utf8":
    case "binary": {
      const { offsets, childRows } = takeRanges(column.offsets!, rows);
      const data = new Uint8Array(childRows.length);
      for (let i = 0; i < childRows.length; i++) data[i] = column.data![childRows[i]!]!;
      return { validity, values: column.values, offsets, data };
    }
    case "struct":
      return { validity, values: column.values, children: column.children!.map((c, i) => takeRows(c, type.children[i]!.type, rows)) };
    case "list": {
      const { offsets, childRows } = takeRanges(column.offsets!, rows);
      return { validity, values: column.values, offsets, children: [takeRows(column.children![0]!, type.child.type, childRows)] };
    }
    case "map": {
      const { offsets, childRows } = takeRanges(column.offsets!, rows);
      const children = [type.key, type.value].map((field, i) => takeRows(column.children![i]!, field.type, childRows));
      return { validity, values: column.values, offsets, children };
    }
    case "hugeint":
    case "decimal":
    case "interval":
      return { validity, values: takeValues(column.values, rows, 16) };
    case "dictionary":
      return { validity, values: takeValues(column.values, rows, 1), dictionary: column.dictionary! };
    default:
      return { validity, values: takeValues(column.values, rows, 1) };
  }
}

function takeBits(bits: Uint8Array, rows: Uint32Array): Uint8Array {
  const out = new Uint8Array(Math.ceil(rows.length / 64) * 8);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    if ((bits[row >>> 3]! >>> (row & 7)) & 1) out[i >>> 3] = out[i >>> 3]! | (1 << (i & 7));
  }
  return out;
}

/** Offsets of the gathered rows, and the child rows (or bytes) that they cover. */
function takeRanges(offsets: Int32Array, rows: Uint32Array): { offsets: Int32Array; childRows: Uint32Array } {
  const out = new Int32Array(rows.length + 1);
  for (let i = 0; i < rows.length; i++) out[i + 1] = out[i]! + offsets[rows[i]! + 1]! - offsets[rows[i]!]!;
  const childRows = new Uint32Array(out[rows.length]!);
  for (let i = 0; i < rows.length; i++) {
    for (let at = out[i]!, from = offsets[rows[i]!]!; at < out[i + 1]!; at++, from++) childRows[at] = from;
  }
  return { offsets: out, childRows };
}

/** `perRow` elements for each gathered row. */
function takeValues(values: ResultValues, rows: Uint32Array, perRow: number): ResultValues {
  const out = values.slice(0, 0);
  const target = new (out.constructor as new (length: number) => ResultValues)(rows.length * perRow);
  for (let i = 0; i < rows.length; i++) {
    for (let k = 0; k < perRow; k++) target[i * perRow + k] = values[rows[i]! * perRow + k]!;
  }
  return target;
}
