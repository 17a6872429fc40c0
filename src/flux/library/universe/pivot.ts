// `pivot`: values of rows become columns.

import { FluxColumn } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import type { Tables } from "../../tables/stream.ts";
import { cellText, type FluxTable, type GroupKey, FluxTable as Table } from "../../tables/table.ts";
import type { FluxColumnType } from "../../values/column-type.ts";
import { FluxError } from "../../values/flux-error.ts";
import { stringOf } from "../../values/text.ts";
import { isNull, type Value } from "../../values/value.ts";
import { operator } from "../operator.ts";

export const pivot = operator((call) => {
  const rowKey = call.strings("rowKey");
  const columnKey = call.strings("columnKey");
  const valueColumn = call.string("valueColumn");
  for (const label of rowKey) {
    if (columnKey.includes(label)) throw new FluxError(`column name found in both rowKey and colKey: ${label}`);
    if (label === valueColumn) throw new FluxError(`column name found in both rowKey and valueColumn: ${label}`);
  }
  for (const label of columnKey)
    if (label === valueColumn) throw new FluxError(`column name found in both colKey and valueColumn: ${label}`);
  return function* (input): Tables {
    const pivots = new Map<string, Pivot>();
    for (const table of input) {
      yield null;
      if (table === null) continue;
      const key = table.key.filter((label) => !columnKey.includes(label) && label !== valueColumn);
      let found = pivots.get(key.text);
      if (found === undefined) {
        found = new Pivot(key, rowKey, columnKey, valueColumn);
        pivots.set(key.text, found);
      }
      found.add(table);
    }
    for (const each of pivots.values()) yield each.table();
  };
});

class Pivot {
  private readonly rows = new Map<string, number>();
  private readonly heads = new Map<string, { readonly type: FluxColumnType; readonly values: Value[] }>();
  private readonly made = new Map<string, { readonly type: FluxColumnType; readonly values: Map<number, Value> }>();
  private rowCount = 0;
  /** Of the columns that stay, as the first table has them. */
  private order: readonly string[] = [];

  constructor(
    private readonly key: GroupKey,
    private readonly rowKey: readonly string[],
    private readonly columnKey: readonly string[],
    private readonly valueColumn: string,
  ) {}

  add(table: FluxTable): void {
    const named = (label: string, what: string) => {
      const column = table.column(label);
      if (column === undefined) throw new FluxError(`specified ${what}column does not exist in table: ${label}`);
      return column;
    };
    if (this.order.length === 0) this.order = table.columns.map(({ label }) => label);
    const rowColumns = this.rowKey.map((label) => named(label, ""));
    const nameColumns = this.columnKey.map((label) => named(label, ""));
    const values = named(this.valueColumn, "value ");
    for (const column of rowColumns) {
      if (!this.heads.has(column.label)) this.heads.set(column.label, { type: column.type, values: [] });
    }
    for (let row = 0; row < table.rowCount; row++) {
      const at = this.rowOf(rowColumns, row);
      const name = nameColumns.map((column) => textOf(column.get(row))).join("_");
      let target = this.made.get(name);
      if (target === undefined) {
        target = { type: values.type, values: new Map() };
        this.made.set(name, target);
      }
      if (target.type !== values.type)
        throw new FluxError(`schema collision detected: column "${name}" is both of type ${values.type} and ${target.type}`);
      target.values.set(at, values.get(row));
    }
  }

  private rowOf(columns: readonly FluxColumn[], row: number): number {
    const cells = columns.map((column) => column.get(row));
    const text = JSON.stringify(cells.map(cellText));
    const known = this.rows.get(text);
    if (known !== undefined) return known;
    for (const [i, { label }] of columns.entries()) this.heads.get(label)!.values.push(cells[i]!);
    this.rows.set(text, this.rowCount);
    return this.rowCount++;
  }

  table(): FluxTable {
    const columns: FluxColumn[] = [];
    for (const { label, type, value } of this.key.columns) {
      if (!this.rowKey.includes(label)) columns.push(FluxColumn.constant(label, type, value, this.rowCount));
    }
    for (const [label, { type, values }] of this.heads) columns.push(columnOf(label, type, values));
    columns.sort((a, b) => this.order.indexOf(a.label) - this.order.indexOf(b.label));
    for (const [label, { type, values }] of this.made) {
      const builder = new ColumnBuilder(label, type, this.rowCount);
      for (let row = 0; row < this.rowCount; row++) {
        const value = values.get(row);
        if (value === undefined) builder.appendNull();
        else builder.append(value);
      }
      columns.push(builder.build());
    }
    return new Table(this.key, columns, this.rowCount);
  }
}

function columnOf(label: string, type: FluxColumnType, values: readonly Value[]): FluxColumn {
  const builder = new ColumnBuilder(label, type, values.length);
  for (const value of values) builder.append(value);
  return builder.build();
}

function textOf(value: Value): string {
  return isNull(value) ? "null" : (stringOf(value) ?? "");
}
