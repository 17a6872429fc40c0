// `pivot`: values of rows become columns.

import type { ScriptRun } from "../../interpret/script-run.ts";
import { FluxColumn } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import { RowNumbers } from "../../tables/row-numbers.ts";
import { ScatteredColumn } from "../../tables/scattered-column.ts";
import type { Tables } from "../../tables/stream.ts";
import { type FluxTable, type GroupKey, FluxTable as Table } from "../../tables/table.ts";
import type { FluxColumnType } from "../../values/column-type.ts";
import { FluxError } from "../../values/flux-error.ts";
import { fullTimeText, stringOf } from "../../values/text.ts";
import { isNull, Time, type Value } from "../../values/value.ts";
import { collision } from "../merge-tables.ts";
import { marked, operator } from "../operator.ts";
import { PushedNode } from "./pushed.ts";

export const pivot = operator((call) => {
  const rowKey = call.strings("rowKey");
  const columnKey = call.strings("columnKey");
  const valueColumn = call.string("valueColumn");
  for (const label of columnKey) {
    if (rowKey.includes(label)) throw new FluxError(`column name found in both rowKey and colKey: ${label}`);
  }
  const source = call.stream();
  const isOfFields = rowKey.join() === "_time" && columnKey.join() === "_field" && valueColumn === "_value";
  return function* (input, run): Tables {
    const wide = isOfFields && run.pushesDown && source instanceof PushedNode ? source.rows : null;
    if (wide !== null) {
      yield* fieldsOf(marked(wide(run, [])), run);
      return;
    }
    const pivots = new Map<string, Pivot>();
    for (const table of input) {
      yield null;
      if (table === null) continue;
      const key = table.shownKey.filter((label) => !columnKey.includes(label) && label !== valueColumn);
      let found = pivots.get(key.text);
      if (found === undefined) {
        found = new Pivot(key, rowKey, columnKey, valueColumn, (count) => run.checkCells(count));
        pivots.set(key.text, found);
      }
      for (const _ of found.add(table)) {
        run.pause();
        yield null;
      }
    }
    for (const each of pivots.values()) yield each.table();
  };
});

/** Series whose fields the source has side by side. */
function* fieldsOf(tables: Tables, run: ScriptRun): Tables {
  const found: FluxTable[] = [];
  let cells = 0;
  for (const table of tables) {
    yield null;
    if (table === null) continue;
    const fields = table.columns.length - table.key.columns.length - 1;
    for (const { label } of table.columns.slice(-fields)) if (label === "_time" || table.key.has(label)) throw nameClash(label);
    cells += table.rowCount * (fields + 1);
    run.checkCells(cells);
    found.push(table);
  }
  yield* found;
}

/** Rows between two pauses. */
const PART_ROWS = 65_536;

class Pivot {
  private readonly rows: RowNumbers;
  /** The columns of the row key. */
  private readonly heads = new Map<string, ColumnBuilder>();
  private readonly made = new Map<string, ScatteredColumn>();
  /** Labels of the first table: columns that stay come in their order. */
  private order: readonly string[] = [];

  constructor(
    private readonly key: GroupKey,
    private readonly rowKey: readonly string[],
    private readonly columnKey: readonly string[],
    private readonly valueColumn: string,
    private readonly checkCells: (count: number) => void,
  ) {
    this.rows = new RowNumbers(rowKey.length);
  }

  *add(table: FluxTable): Generator<void> {
    const named = (label: string, what: string) => {
      const column = table.column(label);
      if (column === undefined) throw missing(what, label);
      return column;
    };
    if (this.order.length === 0) this.order = table.columns.map(({ label }) => label);
    const rowColumns = this.rowKey.map((label) => named(label, "row key "));
    const values = named(this.valueColumn, "value ");
    if (this.columnKey.includes(this.valueColumn)) throw missing("", this.valueColumn);
    const nameColumns = this.columnKey.map((label) => named(label, ""));
    for (const { label, type } of rowColumns) if (label !== this.valueColumn) this.head(label, type);
    for (let from = 0; from < table.rowCount; from += PART_ROWS) {
      const to = Math.min(table.rowCount, from + PART_ROWS);
      const targets = this.rowsOf(rowColumns, from, to);
      this.checkCells(this.cellCount);
      if (nameColumns.every(({ label, mask }) => mask === 0 || table.key.has(label))) {
        this.column(nameOf(nameColumns, from), values.type).put(values, from, targets, this.rows.count);
      } else this.putByName(nameColumns, values, from, targets);
      yield;
    }
  }

  private get cellCount(): number {
    return this.rows.count * (this.heads.size + this.made.size);
  }

  private head(label: string, type: FluxColumnType): ColumnBuilder {
    let found = this.heads.get(label);
    if (found === undefined) {
      found = new ColumnBuilder(label, type);
      this.heads.set(label, found);
    }
    if (found.type !== type) throw collision(label, found.type, type);
    return found;
  }

  /** The numbers of the rows; the row key of new ones is kept. */
  private rowsOf(columns: readonly FluxColumn[], from: number, to: number): Uint32Array {
    let known = this.rows.count;
    const numbers = this.rows.add(columns, from, to);
    for (let i = 0; i < numbers.length; i++) {
      const start = i;
      while (i < numbers.length && numbers[i] === known) {
        known++;
        i++;
      }
      if (i > start)
        for (const column of columns)
          if (column.label !== this.valueColumn) this.heads.get(column.label)!.appendColumn(column, from + start, from + i);
    }
    return numbers;
  }

  private column(name: string, type: FluxColumnType): ScatteredColumn {
    let found = this.made.get(name);
    if (found === undefined) {
      if (this.heads.has(name) || (this.key.has(name) && !this.columnKey.includes(name))) throw nameClash(name);
      found = new ScatteredColumn(name, type, this.rows.count);
      this.made.set(name, found);
      this.checkCells(this.cellCount);
    }
    if (found.type !== type) throw collision(name, found.type, type);
    return found;
  }

  /** Rows of several names: those of one name at a time. */
  private putByName(nameColumns: readonly FluxColumn[], values: FluxColumn, from: number, targets: Uint32Array): void {
    const names = new RowNumbers(nameColumns.length);
    const numbers = names.add(nameColumns, from, from + targets.length);
    const rows: number[][] = Array.from({ length: names.count }, () => []);
    for (let i = 0; i < numbers.length; i++) rows[numbers[i]!]!.push(i);
    for (const each of rows) {
      const taken = values.take(Uint32Array.from(each, (i) => from + i));
      const column = this.column(nameOf(nameColumns, from + each[0]!), values.type);
      column.put(
        taken,
        0,
        Uint32Array.from(each, (i) => targets[i]!),
        this.rows.count,
      );
    }
  }

  table(): FluxTable {
    const rowCount = this.rows.count;
    const columns: FluxColumn[] = [];
    for (const { label, type, value } of this.key.columns) {
      if (!this.rowKey.includes(label)) columns.push(FluxColumn.constant(label, type, value, rowCount));
    }
    for (const head of this.heads.values()) columns.push(head.build());
    columns.sort((a, b) => this.order.indexOf(a.label) - this.order.indexOf(b.label));
    for (const column of this.made.values()) columns.push(column.build(rowCount));
    return new Table(this.key, columns, rowCount);
  }
}

function missing(what: string, label: string): FluxError {
  return new FluxError(`specified ${what}column does not exist in table: ${label}`);
}

function nameClash(name: string): FluxError {
  const shown = JSON.stringify(name);
  return new FluxError(
    `value ${shown} appears in a column key column, but a column named ${shown} already exists; consider renaming ${shown} to something else before pivoting`,
  );
}

function nameOf(columns: readonly FluxColumn[], row: number): string {
  return columns.map((column) => textOf(column.get(row))).join("_");
}

function textOf(value: Value): string {
  if (value instanceof Time) return fullTimeText(value.ns);
  if (typeof value === "number" && Number.isFinite(value)) return exponentText(value);
  return isNull(value) ? "null" : (stringOf(value) ?? "");
}

/** `1.5E+00`: at least two digits of exponent. */
function exponentText(value: number): string {
  return value
    .toExponential()
    .replace(/e([+-])(\d)$/, "e$10$2")
    .toUpperCase();
}
