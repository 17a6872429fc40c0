// Columns: a typed array with validity, or one value for all rows. Row `i` of either lies at `i & mask`, so loops do not tell them apart.
import type { FluxColumnType } from "../values/column-type.ts";
import { isNull, Null, Time, UInt, type Value } from "../values/value.ts";

/** bool 0 or 1; int and time as signed, uint as unsigned 64 bits. */
export type ColumnCells = Uint8Array | BigInt64Array | BigUint64Array | Float64Array | string[];

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
    const cells = newCells(this.type, rows.length);
    const source = this.cells as (number | bigint | string)[];
    const target = cells as (number | bigint | string)[];
    for (let i = 0; i < rows.length; i++) target[i] = source[rows[i]!]!;
    let valid: Uint8Array | null = null;
    if (this.valid !== null) {
      valid = new Uint8Array(rows.length);
      for (let i = 0; i < rows.length; i++) valid[i] = this.valid[rows[i]!]!;
    }
    return new FluxColumn(this.label, this.type, cells, valid, rows.length);
  }
}

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
  const target = cells as (number | bigint | string)[];
  if (typeof value === "boolean") target[at] = value ? 1 : 0;
  else if (value instanceof Time) target[at] = value.ns;
  else if (value instanceof UInt) target[at] = value.value;
  else target[at] = value as number | bigint | string;
}
