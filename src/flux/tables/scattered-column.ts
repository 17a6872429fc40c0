// A column whose rows are filled in any order; rows that were not filled are null.
import type { FluxColumnType } from "../values/column-type.ts";
import { type ColumnCells, FluxColumn, halvesOf, newCells } from "./column.ts";

/** A column under construction, of known length. */
export class ScatteredColumn {
  private cells: ColumnCells;
  private valid: Uint8Array;

  constructor(
    readonly label: string,
    readonly type: FluxColumnType,
    rowCount: number,
  ) {
    this.cells = newCells(type, rowCount);
    this.valid = new Uint8Array(rowCount);
  }

  /** Puts row `from + i` of the column at `targets[i]`. @param column of this type @param rowCount above all targets */
  put(column: FluxColumn, from: number, targets: Uint32Array, rowCount: number): void {
    this.reserve(rowCount);
    copyCells(this.cells, column, from, targets);
    const { valid } = this;
    if (column.valid === null) for (let i = 0; i < targets.length; i++) valid[targets[i]!] = 1;
    else for (let i = 0; i < targets.length; i++) valid[targets[i]!] = column.valid[(from + i) & column.mask]!;
  }

  private reserve(rowCount: number): void {
    if (rowCount <= this.valid.length) return;
    const capacity = Math.max(rowCount, this.valid.length * 2);
    const valid = new Uint8Array(capacity);
    valid.set(this.valid);
    this.valid = valid;
    const cells = newCells(this.type, capacity);
    if (Array.isArray(cells)) for (let i = 0; i < this.cells.length; i++) cells[i] = this.cells[i] as string;
    else (cells as Float64Array).set(this.cells as Float64Array);
    this.cells = cells;
  }

  build(rowCount: number): FluxColumn {
    this.reserve(rowCount);
    const valid = this.valid.subarray(0, rowCount);
    const cells = Array.isArray(this.cells) ? this.cells.slice(0, rowCount) : this.cells.subarray(0, rowCount);
    return new FluxColumn(this.label, this.type, cells, valid.includes(0) ? valid : null, rowCount);
  }
}

function copyCells(cells: ColumnCells, column: FluxColumn, from: number, targets: Uint32Array): void {
  const { mask } = column;
  const source = column.cells;
  if (cells instanceof Float64Array) {
    for (let i = 0; i < targets.length; i++) cells[targets[i]!] = (source as Float64Array)[(from + i) & mask]!;
  } else if (Array.isArray(cells)) {
    for (let i = 0; i < targets.length; i++) cells[targets[i]!] = (source as string[])[(from + i) & mask]!;
  } else if (cells instanceof Uint8Array) {
    for (let i = 0; i < targets.length; i++) cells[targets[i]!] = (source as Uint8Array)[(from + i) & mask]!;
  } else {
    // half by half: a bigint is an allocation
    const [to, of] = [new Int32Array(cells.buffer), halvesOf(column)];
    for (let i = 0; i < targets.length; i++) {
      const at = ((from + i) & mask) * 2;
      to[targets[i]! * 2] = of[at]!;
      to[targets[i]! * 2 + 1] = of[at + 1]!;
    }
  }
}
