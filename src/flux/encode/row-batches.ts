// Rows of large tables as bytes, by the kernel's formatter. Columns with one value are part of the texts around the others.
import type { ResultBatch, ResultColumn, ResultField, ResultType } from "../../model/query/result-batch.ts";
import type { RowText, RowTextMaker } from "../../model/query/row-text.ts";
import type { FluxColumn } from "../tables/column.ts";
import type { FluxTable } from "../tables/table.ts";
import type { FluxColumnType } from "../values/column-type.ts";
import { type CellTexts, EOL } from "./cells.ts";
import { pieceRanges, type RowRange } from "./piece-ranges.ts";

export const NOTHING = new Uint8Array(0);
/** What the kernel's formatter knows values as. */
export const RESULT_TYPES: Readonly<Record<FluxColumnType, ResultType>> = {
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
    const fields: ResultField[] = varying.map(({ label, type }) => ({ name: label, type: RESULT_TYPES[type] }));
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
  const texts = new TextCells(to - from);
  textsOf(texts, cells, from, to, cellTexts);
  return { validity, values: NOTHING, ...texts.finish() };
}

/** One bit for a row, the first the lowest. */
export function bitmap(valid: Uint8Array, from: number, to: number): Uint8Array {
  const bits = new Uint8Array((to - from + 7) >> 3);
  for (let row = from; row < to; row++) if (valid[row] !== 0) bits[(row - from) >> 3]! |= 1 << ((row - from) & 7);
  return bits;
}

/** Texts of rows, as the kernel's formatter reads them. */
export class TextCells {
  private readonly offsets: Int32Array;
  private readonly shown: string[] = [];
  /** Rows that have the text of the same place. */
  private readonly counts: number[] = [];
  private row = 0;
  private units = 0;

  constructor(rowCount: number) {
    this.offsets = new Int32Array(rowCount + 1);
  }

  /** The text of the next rows, in quotes if it needs them. */
  repeat(text: string, count: number): void {
    this.shown.push(count === 1 ? text : text.repeat(count));
    this.counts.push(count);
    for (let i = 0; i < count; i++) {
      this.units += text.length;
      this.offsets[++this.row] = this.units;
    }
  }

  finish(): { readonly offsets: Int32Array; readonly data: Uint8Array } {
    const { offsets, shown, counts } = this;
    const data = encoder.encode(shown.join(""));
    if (data.length === this.units) return { offsets, data };
    let [bytes, row] = [0, 0];
    for (const [i, text] of shown.entries()) {
      const length = Buffer.byteLength(text) / counts[i]!;
      for (let k = 0; k < counts[i]!; k++) {
        bytes += length;
        offsets[++row] = bytes;
      }
    }
    return { offsets, data };
  }
}

/** Appends the texts of rows [from, to). */
export function textsOf(texts: TextCells, cells: readonly string[], from: number, to: number, cellTexts: CellTexts): void {
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
    texts.repeat(lastShown, 1);
  }
}
