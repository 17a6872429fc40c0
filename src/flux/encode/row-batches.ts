// Rows of large tables as bytes, by the kernel's formatter. Columns with one value are part of the texts around the others.
import type { ResultBatch, ResultColumn, ResultField, ResultType } from "../../model/query/result-batch.ts";
import type { RowText, RowTextMaker } from "../../model/query/row-text.ts";
import type { FluxColumn } from "../tables/column.ts";
import type { FluxTable } from "../tables/table.ts";
import type { FluxColumnType } from "../values/column-type.ts";
import { type CellTexts, EOL } from "./cells.ts";
import { pieceRanges, type RowRange } from "./piece-ranges.ts";

const NOTHING = new Uint8Array(0);
const TYPES: Readonly<Record<FluxColumnType, ResultType>> = {
  bool: { kind: "bool" },
  int: { kind: "int", bits: 64, signed: true },
  uint: { kind: "int", bits: 64, signed: false },
  float: { kind: "float", bits: 64 },
  string: { kind: "utf8" },
  time: { kind: "timestamp", unit: "ns", zone: null },
};
const encoder = new TextEncoder();

/** The rows of one table. */
export class RowBatches {
  private readonly varying: readonly FluxColumn[];
  /** Null: the kernel cannot write them. */
  private readonly rowText: RowText | null;

  /** @param prefix what every row begins with: empty annotation, result and table */
  constructor(
    private readonly table: FluxTable,
    prefix: string,
    delimiter: string,
    maker: RowTextMaker,
    private readonly cellTexts: CellTexts,
  ) {
    const varying: FluxColumn[] = [];
    const labels: Uint8Array[] = [];
    let before = "";
    for (const column of table.columns) {
      before += delimiter;
      if (column.mask === 0) before += cellTexts.of(column, 0);
      else {
        varying.push(column);
        labels.push(encoder.encode(before));
        before = "";
      }
    }
    this.varying = varying;
    const fields: ResultField[] = varying.map(({ label, type }) => ({ name: label, type: TYPES[type] }));
    const ends = { rowStart: encoder.encode(prefix), rowEnd: encoder.encode(before + EOL), nullText: NOTHING };
    this.rowText = maker.make(fields, { isCsv: true, isAnnotated: true, skipsNulls: false, ...ends, labels });
  }

  /** Pieces in order; null where the kernel cannot write one. */
  *pieces(): Generator<RowRange & { readonly bytes: Uint8Array<ArrayBuffer> | null }, void> {
    for (const { from, to } of pieceRanges(this.table)) yield { bytes: this.rowText?.rows(this.batch(from, to)) ?? null, from, to };
  }

  private batch(from: number, to: number): ResultBatch {
    return { rowCount: to - from, columns: this.varying.map((column) => resultColumn(column, from, to, this.cellTexts)) };
  }
}

function resultColumn(column: FluxColumn, from: number, to: number, cellTexts: CellTexts): ResultColumn {
  const { cells, valid } = column;
  const validity = valid === null ? null : bitmap(valid, from, to);
  if (!Array.isArray(cells)) return { validity, values: cells.subarray(from, to) };
  return { validity, values: NOTHING, ...texts(cells, from, to, cellTexts) };
}

/** One bit for a row, the first the lowest. */
function bitmap(valid: Uint8Array, from: number, to: number): Uint8Array {
  const bits = new Uint8Array((to - from + 7) >> 3);
  for (let row = from; row < to; row++) if (valid[row] !== 0) bits[(row - from) >> 3]! |= 1 << ((row - from) & 7);
  return bits;
}

function texts(cells: readonly string[], from: number, to: number, cellTexts: CellTexts): { offsets: Int32Array; data: Uint8Array } {
  const offsets = new Int32Array(to - from + 1);
  const shown: string[] = new Array(to - from);
  let units = 0;
  // neighbours are often equal
  let last: string | undefined;
  let lastShown = "";
  for (let row = from; row < to; row++) {
    // the cell of a null is not defined
    const cell = cells[row] ?? "";
    if (cell !== last) {
      last = cell;
      lastShown = cellTexts.quoted(cell);
    }
    shown[row - from] = lastShown;
    units += lastShown.length;
    offsets[row - from + 1] = units;
  }
  const data = encoder.encode(shown.join(""));
  if (data.length === units) return { offsets, data };
  let bytes = 0;
  for (const [i, text] of shown.entries()) {
    bytes += Buffer.byteLength(text);
    offsets[i + 1] = bytes;
  }
  return { offsets, data };
}
