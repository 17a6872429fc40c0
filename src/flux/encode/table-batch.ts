// Neighbouring tables of few rows as one batch of the kernel's formatter: for each of them alone its preparation would take longer than
// its rows. Columns with one value are texts around the others, repeated row by row where tables differ in them.
import type { ResultBatch, ResultColumn, ResultField } from "../../model/query/result-batch.ts";
import type { RowTextMaker } from "../../model/query/row-text.ts";
import { type FluxColumn, newCells } from "../tables/column.ts";
import type { FluxTable } from "../tables/table.ts";
import { type CellTexts, EOL } from "./cells.ts";
import { CELL_UNITS, PIECE_UNITS } from "./piece-ranges.ts";
import { bitmap, NOTHING, RESULT_TYPES, TextCells, textsOf } from "./row-batches.ts";

/** Longer tables have a batch of their own, in which constants are written once. */
const TABLE_ROWS_MAX = 256;
const encoder = new TextEncoder();

/** Part of a row: a column whose cells vary, or neighbouring places where each table has one value. */
type Part = { readonly place: number } | { readonly from: number; readonly to: number };

/** Tables of one schema that are written together. */
export class TableBatch {
  private tables: FluxTable[] = [];
  private units = 0;
  rowCount = 0;

  /** @param before what every row begins with, up to the number of its table */
  constructor(
    private readonly before: string,
    private readonly delimiter: string,
    private readonly maker: RowTextMaker,
    private readonly cellTexts: CellTexts,
  ) {}

  get count(): number {
    return this.tables.length;
  }

  /** The tables so far, in order. */
  get held(): readonly FluxTable[] {
    return this.tables;
  }

  /** False: the table is too large for a batch, or together with the others; it was not added. */
  add(table: FluxTable): boolean {
    const { columns, rowCount } = table;
    if (rowCount > TABLE_ROWS_MAX || columns.length === 0) return false;
    let units = rowCount * columns.length * CELL_UNITS;
    for (const { cells, mask } of columns) {
      if (!Array.isArray(cells)) continue;
      if (mask === 0) units += rowCount * (cells[0]?.length ?? 0);
      // the cell of a null is not defined
      else for (let row = 0; row < rowCount; row++) units += cells[row]?.length ?? 0;
    }
    if (this.units + units > PIECE_UNITS) return false;
    this.tables.push(table);
    this.units += units;
    this.rowCount += rowCount;
    return true;
  }

  clear(): void {
    this.tables = [];
    this.units = this.rowCount = 0;
  }

  /** The rows of all tables; null: the kernel cannot write them. @param firstIndex of the first table */
  bytes(firstIndex: number): Uint8Array<ArrayBuffer> | null {
    const { tables, delimiter, rowCount } = this;
    const [first] = tables;
    if (first === undefined) return null;
    const parts: Part[] = [];
    const labels: string[] = [""];
    let fixed = delimiter;
    for (let place = 0; place < first.columns.length; place++) {
      const column = first.columns[place]!;
      const isVarying = tables.some(({ columns }) => columns[place]!.mask !== 0);
      const isShared = !isVarying && tables.every(({ columns }) => columns[place] === column);
      const last = parts.at(-1);
      if (isShared) fixed += this.cellTexts.of(column, 0) + delimiter;
      else if (!isVarying && fixed === delimiter && last !== undefined && "to" in last)
        parts[parts.length - 1] = { from: last.from, to: place + 1 };
      else {
        parts.push(isVarying ? { place } : { from: place, to: place + 1 });
        labels.push(fixed);
        fixed = delimiter;
      }
    }
    const types = parts.map((part) => ("place" in part ? RESULT_TYPES[first.columns[part.place]!.type] : RESULT_TYPES.string));
    const fields: ResultField[] = [RESULT_TYPES.int, ...types].map((type) => ({ name: "", type }));
    const ends = { rowStart: encoder.encode(this.before), rowEnd: encoder.encode(fixed.slice(0, -delimiter.length) + EOL) };
    const layout = { isCsv: true, isAnnotated: true, skipsNulls: false, nullText: NOTHING, ...ends };
    const rowText = this.maker.make(fields, { ...layout, labels: labels.map((label) => encoder.encode(label)) });
    if (rowText === null) return null;
    const made = parts.map((part) => ("place" in part ? this.varying(part.place) : this.constants(part.from, part.to)));
    const batch: ResultBatch = { rowCount, columns: [this.indexes(firstIndex), ...made] };
    return rowText.rows(batch);
  }

  private indexes(firstIndex: number): ResultColumn {
    const values = new BigInt64Array(this.rowCount);
    const halves = new Int32Array(values.buffer);
    let at = 0;
    for (let i = 0; i < this.tables.length; i++) {
      for (let end = at + this.tables[i]!.rowCount; at < end; at++) halves[2 * at] = firstIndex + i;
    }
    return { validity: null, values };
  }

  /** The places [from, to), where each table has one value, as one text. */
  private constants(from: number, to: number): ResultColumn {
    const texts = new TextCells(this.rowCount);
    let last: readonly FluxColumn[] = [];
    let text = "";
    for (const { columns, rowCount } of this.tables) {
      // neighbours of one series share their columns
      let place = from;
      while (place < to && columns[place] === last[place]) place++;
      if (place < to) {
        text = this.cellTexts.of(columns[from]!, 0);
        for (let i = from + 1; i < to; i++) text += this.delimiter + this.cellTexts.of(columns[i]!, 0);
      }
      last = columns;
      texts.repeat(text, rowCount);
    }
    return { validity: null, values: NOTHING, ...texts.finish() };
  }

  private varying(place: number): ResultColumn {
    const { tables, rowCount } = this;
    const { type, cells } = tables[0]!.columns[place]!;
    const validity = tables.some(({ columns }) => columns[place]!.valid !== null) ? this.validity(place) : null;
    if (Array.isArray(cells)) {
      const texts = new TextCells(rowCount);
      for (const { columns, rowCount: count } of tables) {
        const column = columns[place]!;
        if (column.mask === 0) texts.repeat(this.cellTexts.of(column, 0), count);
        else textsOf(texts, column.cells as string[], 0, count, this.cellTexts);
      }
      return { validity, values: NOTHING, ...texts.finish() };
    }
    const values = newCells(type, rowCount) as Float64Array;
    let at = 0;
    for (const { columns, rowCount: count } of tables) {
      const column = columns[place]!;
      const own = column.cells as Float64Array;
      if (column.mask === 0) values.fill(own[0]!, at, at + count);
      else values.set(count === own.length ? own : own.subarray(0, count), at);
      at += count;
    }
    return { validity, values };
  }

  private validity(place: number): Uint8Array {
    const all = new Uint8Array(this.rowCount);
    let at = 0;
    for (const { columns, rowCount } of this.tables) {
      const { valid, mask } = columns[place]!;
      if (valid === null) all.fill(1, at, at + rowCount);
      else if (mask === 0) all.fill(valid[0]!, at, at + rowCount);
      else all.set(valid.subarray(0, rowCount), at);
      at += rowCount;
    }
    return bitmap(all, 0, all.length);
  }
}
