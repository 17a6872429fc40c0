// A column that grows row by row.
import type { FluxColumnType } from "../values/column-type.ts";
import { isNull, type Value } from "../values/value.ts";
import { type ColumnCells, FluxColumn, newCells, setCell } from "./column.ts";

const FIRST_CAPACITY = 16;

export class ColumnBuilder {
  private cells: ColumnCells;
  private valid: Uint8Array | null = null;
  private capacity: number;
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
    this.reserve(1);
    setCell(this.cells, this.length, value);
    if (this.valid !== null) this.valid[this.length] = 1;
    this.length++;
  }

  appendNull(): void {
    this.reserve(1);
    if (this.valid === null) {
      this.valid = new Uint8Array(this.capacity).fill(1, 0, this.length);
    }
    if (Array.isArray(this.cells)) this.cells[this.length] = "";
    this.valid[this.length++] = 0;
  }

  /** Rows [from, to) of a column of the same type. */
  appendColumn(column: FluxColumn, from: number, to: number): void {
    const count = to - from;
    this.reserve(count);
    const target = this.cells as (number | bigint | string)[];
    const source = column.cells as (number | bigint | string)[];
    if (column.valid !== null && this.valid === null) this.valid = new Uint8Array(this.capacity).fill(1, 0, this.length);
    for (let i = 0; i < count; i++) target[this.length + i] = source[(from + i) & column.mask]!;
    if (this.valid !== null) {
      for (let i = 0; i < count; i++) this.valid[this.length + i] = column.valid === null ? 1 : column.valid[(from + i) & column.mask]!;
    }
    this.length += count;
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
    const { length } = this;
    const cells = Array.isArray(this.cells) ? this.cells.slice(0, length) : this.cells.subarray(0, length);
    return new FluxColumn(this.label, this.type, cells, this.valid === null ? null : this.valid.subarray(0, length), length);
  }
}
