// Columns: a typed array with validity, or one value for all rows. Row `i` of either lies at `i & mask`, so loops do not tell them apart.
import type { FluxColumnType } from "../values/column-type.ts";
import { FluxError } from "../values/flux-error.ts";
import { isNull, kindOf, Null, Time, UInt, type Value } from "../values/value.ts";

/** bool 0 or 1; int and time as signed, uint as unsigned 64 bits. */
export type ColumnCells = Uint8Array | BigInt64Array | BigUint64Array | Float64Array | string[];

/** A column of a table. It does not change. */
export class FluxColumn {
  constructor(
    readonly label: string,
    readonly type: FluxColumnType,
    readonly cells: ColumnCells,
    /** 1 for a value, 0 for null; null: there are no nulls. */
    readonly valid: Uint8Array | null,
    readonly length: number,
    /** -1, or 0 when `cells` holds one value for all rows. */
    readonly mask: number = -1,
  ) {}

  static constant(label: string, type: FluxColumnType, value: Value, length: number): FluxColumn {
    const cells = newCells(type, 1);
    if (isNull(value)) return new FluxColumn(label, type, cells, new Uint8Array(1), length, 0);
    if (!isOfType(type, value)) throw mistyped(label, type, value);
    setCell(cells, 0, value);
    return new FluxColumn(label, type, cells, null, length, 0);
  }

  isNull(row: number): boolean {
    return this.valid !== null && this.valid[row & this.mask] === 0;
  }

  get(row: number): Value {
    const at = row & this.mask;
    if (this.valid !== null && this.valid[at] === 0) return Null.of(this.type);
    const cell = this.cells[at]!;
    switch (this.type) {
      case "bool":
        return cell === 1;
      case "time":
        return new Time(cell as bigint);
      case "uint":
        return new UInt(cell as bigint);
      default:
        return cell as Value;
    }
  }

  labelled(label: string): FluxColumn {
    return label === this.label ? this : new FluxColumn(label, this.type, this.cells, this.valid, this.length, this.mask);
  }

  /** Rows [from, to). */
  slice(from: number, to: number): FluxColumn {
    const length = to - from;
    if (this.mask === 0) return new FluxColumn(this.label, this.type, this.cells, this.valid, length, 0);
    const valid = this.valid === null ? null : this.valid.subarray(from, to);
    const cells = Array.isArray(this.cells) ? this.cells.slice(from, to) : this.cells.subarray(from, to);
    return new FluxColumn(this.label, this.type, cells, valid, length);
  }

  /** The rows of these numbers, in their order. */
  take(rows: Uint32Array): FluxColumn {
    if (this.mask === 0) return new FluxColumn(this.label, this.type, this.cells, this.valid, rows.length, 0);
    const cells = takenCells(this, rows);
    let valid: Uint8Array | null = null;
    if (this.valid !== null) {
      valid = new Uint8Array(rows.length);
      for (let i = 0; i < rows.length; i++) valid[i] = this.valid[rows[i]!]!;
    }
    return new FluxColumn(this.label, this.type, cells, valid, rows.length);
  }
}

/** A row that there is not: null in all columns. */
export const NO_ROW = 0xffff_ffff;

/** As `take`, with nulls for `NO_ROW`. */
export function takeOrNull(column: FluxColumn, rows: Uint32Array): FluxColumn {
  if (!rows.includes(NO_ROW)) return column.take(rows);
  if (column.length === 0) return FluxColumn.constant(column.label, column.type, Null.of(column.type), rows.length);
  const present = Uint32Array.from(rows, (row) => (row === NO_ROW ? 0 : row));
  const { label, type, cells, mask } = column.take(present);
  const valid = Uint8Array.from(rows, (row) => (row === NO_ROW || column.isNull(row) ? 0 : 1));
  if (mask !== 0) return new FluxColumn(label, type, cells, valid, rows.length);
  const builder = newCells(type, rows.length) as (number | bigint | string)[];
  builder.fill(cells[0]!);
  return new FluxColumn(label, type, builder as ColumnCells, valid, rows.length);
}

/** A column of 64-bit integers as words of 32 bits, the lower ones first: reading a bigint would make one. */
export function halvesOf({ cells }: FluxColumn): Int32Array {
  const { buffer, byteOffset, length } = cells as BigInt64Array;
  return new Int32Array(buffer, byteOffset, length * 2);
}

const TWO_32 = 2 ** 32;

/** Integers without nulls, each as the nearest float: `Number` of a bigint, half by half. */
export function floatsOfIntegers(column: FluxColumn): Float64Array {
  const { type, length } = column;
  const halves = halvesOf(column);
  const values = new Float64Array(length);
  for (let row = 0; row < length; row++) {
    const high = halves[2 * row + 1]!;
    // the product is exact, so the sum is rounded once
    values[row] = (type === "uint" ? high >>> 0 : high) * TWO_32 + (halves[2 * row]! >>> 0);
  }
  return values;
}

/** A loop for each kind of cells; integers go half by half, since a bigint is an allocation. */
function takenCells(column: FluxColumn, rows: Uint32Array): ColumnCells {
  const { cells } = column;
  if (Array.isArray(cells)) return Array.from(rows, (row) => cells[row]!);
  if (cells instanceof Float64Array) {
    const taken = new Float64Array(rows.length);
    for (let i = 0; i < rows.length; i++) taken[i] = cells[rows[i]!]!;
    return taken;
  }
  if (cells instanceof Uint8Array) {
    const taken = new Uint8Array(rows.length);
    for (let i = 0; i < rows.length; i++) taken[i] = cells[rows[i]!]!;
    return taken;
  }
  const halves = halvesOf(column);
  const taken = new Int32Array(rows.length * 2);
  for (let i = 0; i < rows.length; i++) {
    const from = rows[i]! * 2;
    taken[2 * i] = halves[from]!;
    taken[2 * i + 1] = halves[from + 1]!;
  }
  return cells instanceof BigInt64Array ? new BigInt64Array(taken.buffer) : new BigUint64Array(taken.buffer);
}

/** Cells of a column, to be filled. */
export function newCells(type: FluxColumnType, length: number): ColumnCells {
  switch (type) {
    case "bool":
      return new Uint8Array(length);
    case "float":
      return new Float64Array(length);
    case "uint":
      return new BigUint64Array(length);
    case "string":
      return new Array<string>(length).fill("");
    default:
      return new BigInt64Array(length);
  }
}

/** @param value of the cells' type, not null */
export function setCell(cells: ColumnCells, at: number, value: Value): void {
  // a kind of cells at a time: the engine makes a slow store of one for all
  if (cells instanceof Float64Array) cells[at] = value as number;
  else if (Array.isArray(cells)) cells[at] = value as string;
  else if (cells instanceof Uint8Array) cells[at] = value === true ? 1 : 0;
  else if (cells instanceof BigUint64Array) cells[at] = (value as UInt).value;
  else cells[at] = value instanceof Time ? value.ns : (value as bigint);
}

/** Whether a column of the type can hold the value, which is not null. */
export function isOfType(type: FluxColumnType, value: Value): boolean {
  switch (type) {
    case "float":
      return typeof value === "number";
    case "string":
      return typeof value === "string";
    case "time":
      return value instanceof Time;
    case "int":
      return typeof value === "bigint";
    case "bool":
      return typeof value === "boolean";
    case "uint":
      return value instanceof UInt;
  }
}

/** A value of another type than its column. */
export function mistyped(label: string, type: FluxColumnType, value: Value): FluxError {
  return new FluxError(`column ${JSON.stringify(label)} of type ${type} cannot hold a value of type ${kindOf(value)}`);
}
