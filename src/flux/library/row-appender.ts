// Records as rows of tables: the table of a record's key, and its columns in the order of their labels.
import type { ColumnBuilder } from "../tables/column-builder.ts";
import { type FluxTable, GroupKey, type KeyColumn, type TableBuilder } from "../tables/table.ts";
import { COLUMN_TYPES, type FluxColumnType } from "../values/column-type.ts";
import { FluxError } from "../values/flux-error.ts";
import { type FluxRecord, isNull, kindOf, type RecordShape, Time, UInt, type Value } from "../values/value.ts";
import { collision, type TableMerge } from "./merge-tables.ts";

const CELL_TYPES: ReadonlySet<string> = new Set([...COLUMN_TYPES, "invalid"]);

/** The column type of a value, or an error that names the column. */
export function columnTypeOf(label: string, value: Value): FluxColumnType | "invalid" {
  const kind = kindOf(value);
  if (CELL_TYPES.has(kind)) return kind as FluxColumnType | "invalid";
  throw new FluxError(`map object property "${label}" is ${kind} type which is not supported in a flux table`);
}

/** Appends the records that a function makes of a table's rows. Neighbours mostly have one shape and one key. */
export class RowAppender {
  private latest: { readonly keyValues: readonly (Value | undefined)[]; readonly rows: RowLayout } | null = null;
  private readonly keyLabels: readonly string[];
  /** Where records of the latest shape have the columns of the key. */
  private shape: RecordShape | null = null;
  private keyPlaces: readonly (number | undefined)[] = [];

  constructor(
    private readonly merge: TableMerge,
    private readonly table: FluxTable,
    private readonly keepsOrder = false,
  ) {
    this.keyLabels = table.key.columns.map(({ label }) => label);
  }

  append(record: FluxRecord): void {
    if (this.latest === null || !this.hasKey(record, this.latest.keyValues)) {
      const key = keyOf(this.table, record);
      const rows = new RowLayout(this.merge.builder(this.keepsOrder ? key : key.inOrder()), this.keepsOrder);
      this.latest = { keyValues: this.keyLabels.map((label) => record.get(label)), rows };
    }
    this.latest.rows.append(record);
  }

  private hasKey(record: FluxRecord, values: readonly (Value | undefined)[]): boolean {
    const { shape } = record;
    if (shape === null) return this.keyLabels.every((label, i) => isSame(record.get(label), values[i]));
    if (shape !== this.shape) {
      this.shape = shape;
      this.keyPlaces = this.keyLabels.map((label) => shape.places.get(label));
    }
    for (let i = 0; i < values.length; i++) {
      const place = this.keyPlaces[i];
      if (!isSame(place === undefined ? record.get(this.keyLabels[i]!) : record.at(place), values[i])) return false;
    }
    return true;
  }
}

function isSame(a: Value | undefined, b: Value | undefined): boolean {
  if (a === b) return true;
  if (a instanceof Time && b instanceof Time) return a.ns === b.ns;
  return a instanceof UInt && b instanceof UInt && a.value === b.value;
}

/** Columns of the key that the record still has, with the record's values. */
function keyOf({ key }: FluxTable, record: FluxRecord): GroupKey {
  const columns: KeyColumn[] = [];
  for (const { label } of key.columns) {
    const value = record.get(label);
    if (value === undefined) continue;
    const type = columnTypeOf(label, value);
    // no column shows a null without a type
    if (type !== "invalid") columns.push({ label, type, value });
  }
  return new GroupKey(columns);
}

interface LayoutCell {
  readonly place: number;
  readonly label: string;
  /** Null as long as there were only nulls without a type. */
  column: ColumnBuilder | null;
}

/** The rows of one table; the order of a shape's labels is found once. */
export class RowLayout {
  private shape: RecordShape | null = null;
  private order: readonly LayoutCell[] = [];

  constructor(
    readonly builder: TableBuilder,
    /** Of the labels; else they are sorted. */
    private readonly keepsOrder = false,
  ) {}

  append(record: FluxRecord): void {
    if (record.shape === null || record.shape !== this.shape) this.arrange(record);
    const values = record.values();
    for (const cell of this.order) {
      const value = values[cell.place]!;
      if (cell.column === null || !cell.column.tryAppend(value)) this.appendOther(cell, value);
    }
    this.builder.endRow();
  }

  private arrange(record: FluxRecord): void {
    this.shape = record.shape;
    const cells = [...record.labels()].map((label, place) => ({ place, label, column: this.builder.find(label) ?? null }));
    this.order = this.keepsOrder ? cells : cells.sort((a, b) => (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
  }

  /** A first value, a null, or a value of the wrong type. */
  private appendOther(cell: LayoutCell, value: Value): void {
    const kind = columnTypeOf(cell.label, value);
    if (kind === "invalid") {
      // a null of no type takes the column's own
      cell.column?.appendNull();
      return;
    }
    cell.column ??= this.builder.column(cell.label, kind);
    if (isNull(value)) cell.column.appendNull();
    else if (cell.column.type === kind) cell.column.append(value);
    else throw collision(cell.label, cell.column.type, kind);
  }
}
