// A column that grows row by row.
import type { FluxColumnType } from "../values/column-type.ts";
import { isNull, type Value } from "../values/value.ts";
import { type ColumnCells, FluxColumn, isOfType, mistyped, newCells, setCell } from "./column.ts";

const FIRST_CAPACITY = 16;

/** Appends values of one type to a column. */
export class ColumnBuilder {
  private cells: ColumnCells;
  private valid: Uint8Array | null = null;
  private capacity: number;
  /** Cells that are written; the rows up to `length` repeat the last of them, whose value this is. */
  private written = 0;
  private latest: Value | undefined;
  length = 0;

  constructor(
    readonly label: string,
    readonly type: FluxColumnType,
    capacity = FIRST_CAPACITY,
  ) {
    this.capacity = Math.max(1, capacity);
    this.cells = newCells(type, type === "string" ? 0 : this.capacity);
  }

  append(value: Value): void {
    if (isNull(value)) {
      this.appendNull();
      return;
    }
    if (!isOfType(this.type, value)) throw mistyped(this.label, this.type, value);
    this.push(value);
  }

  private push(value: Value): void {
    this.writeRepeated();
    this.reserve(1);
    setCell(this.cells, this.length, value);
    if (this.valid !== null) this.valid[this.length] = 1;
    this.written = ++this.length;
    // both zeros are one number to `===`
    this.latest = typeof value === "number" ? undefined : value;
  }

  /** False for a null and for a value of another type. */
  tryAppend(value: Value): boolean {
    // the same value in many rows is written when another one comes
    if (value === this.latest) {
      this.length++;
      return true;
    }
    if (!isOfType(this.type, value)) return false;
    this.push(value);
    return true;
  }

  private writeRepeated(): void {
    const { written, length } = this;
    if (written === length) return;
    this.length = written;
    this.reserve(length - written);
    if (Array.isArray(this.cells)) for (let i = written; i < length; i++) this.cells[i] = this.cells[written - 1] as string;
    else (this.cells as Float64Array).fill(this.cells[written - 1] as number, written, length);
    this.valid?.fill(1, written, length);
    this.written = this.length = length;
  }

  appendNull(): void {
    this.writeRepeated();
    this.reserve(1);
    if (this.valid === null) {
      this.valid = new Uint8Array(this.capacity).fill(1, 0, this.length);
    }
    if (Array.isArray(this.cells)) this.cells[this.length] = "";
    this.valid[this.length++] = 0;
    this.written = this.length;
    this.latest = undefined;
  }

  /** Rows [from, to) of a column of the same type. */
  appendColumn(column: FluxColumn, from: number, to: number): void {
    this.writeRepeated();
    const count = to - from;
    this.reserve(count);
    if (column.valid !== null && this.valid === null) this.valid = new Uint8Array(this.capacity).fill(1, 0, this.length);
    this.copyCells(column, from, to);
    const { valid } = this;
    if (valid !== null) {
      if (column.valid === null) valid.fill(1, this.length, this.length + count);
      else if (column.mask === 0) valid.fill(column.valid[0]!, this.length, this.length + count);
      else valid.set(column.valid.subarray(from, to), this.length);
    }
    this.length += count;
    this.written = this.length;
    this.latest = undefined;
  }

  private copyCells(column: FluxColumn, from: number, to: number): void {
    const { cells, length } = this;
    const source = column.cells;
    if (Array.isArray(cells)) {
      for (let i = 0; i < to - from; i++) cells[length + i] = (source as string[])[(from + i) & column.mask]!;
    } else if (column.mask === 0) (cells as Float64Array).fill((source as Float64Array)[0]!, length, length + to - from);
    else (cells as Float64Array).set((source as Float64Array).subarray(from, to), length);
  }

  private reserve(count: number): void {
    const wanted = this.length + count;
    if (wanted <= this.capacity) return;
    while (this.capacity < wanted) this.capacity *= 2;
    if (!Array.isArray(this.cells)) {
      const cells = newCells(this.type, this.capacity) as Float64Array;
      cells.set(this.cells as Float64Array);
      this.cells = cells;
    }
    if (this.valid !== null) {
      const valid = new Uint8Array(this.capacity);
      valid.set(this.valid);
      this.valid = valid;
    }
  }

  build(): FluxColumn {
    this.writeRepeated();
    const { length } = this;
    const cells = Array.isArray(this.cells) ? this.cells.slice(0, length) : this.cells.subarray(0, length);
    return new FluxColumn(this.label, this.type, cells, this.valid === null ? null : this.valid.subarray(0, length), length);
  }
}
