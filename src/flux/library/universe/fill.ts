// `fill`, and rows for tables without any.
import { columnTypeOfCell } from "../../tables/cell-type.ts";
import { FluxColumn } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import { eachTable, type StreamNode, type Tables } from "../../tables/stream.ts";
import { FluxTable } from "../../tables/table.ts";
import { COLUMN_TYPES } from "../../values/column-type.ts";
import { FluxError } from "../../values/flux-error.ts";
import { isNull, kindOf, Null, type Value } from "../../values/value.ts";
import type { NativeBody, NativeCall } from "../native-call.ts";
import { operator, streamOf, type TableBody } from "../operator.ts";
import { FillEmptyOperation, SelectorOperation } from "../plan/operations.ts";
import { pushedState } from "./pushed.ts";

const prepareFill = (call: NativeCall): TableBody => {
  const label = call.string("column", "_value");
  const usePrevious = call.bool("usePrevious", false);
  // one of them is given, and if it is usePrevious, it is true
  if (call.has("usePrevious") === call.has("value") || usePrevious === call.has("value")) {
    throw new FluxError("fill requires exactly one of value or usePrevious");
  }
  const value = usePrevious ? null : call.value("value");
  if (value !== null && !isCell(value))
    throw new FluxError("value type for fill must be a valid primitive type (bool, int, uint, float, string, time)");
  return (input) => eachTable(input, (table) => filled(table, label, value));
};

export const fill = operator(prepareFill, "tables", { passesTables: true });

function isCell(value: Value): boolean {
  return isNull(value) || (COLUMN_TYPES as readonly string[]).includes(kindOf(value));
}

/** @param value null: the value before */
function filled(table: FluxTable, label: string, value: Value | null): FluxTable {
  const column = table.column(label);
  if (column === undefined) {
    if (value === null) return table;
    return table.set(FluxColumn.constant(label, columnTypeOfCell(label, value), value, table.rowCount));
  }
  const key = table.key.get(label);
  if (key !== undefined) {
    if (value === null || !(key.value instanceof Null)) return table;
    const made = table.set(FluxColumn.constant(label, column.type, value, table.rowCount));
    return made.with(made.columns, table.key.with({ ...key, value }));
  }
  if (value !== null && kindOf(value) !== column.type) {
    throw new FluxError(`fill column type mismatch: ${column.type}/${kindOf(value)}`);
  }
  if (column.valid === null) return table;
  const builder = new ColumnBuilder(label, column.type, table.rowCount);
  let before: Value = Null.of(column.type);
  for (let row = 0; row < table.rowCount; row++) {
    const cell = column.get(row);
    const found: Value = cell instanceof Null ? (value ?? before) : cell;
    builder.append(found);
    before = found;
  }
  return table.set(builder.build());
}

/** One row of the key's values and nulls in each table without rows. */
export const fillEmpty: NativeBody = (call) => {
  const input = call.stream();
  const body = ([tables]: readonly Tables[]) => {
    const made = filledEmpty(tables!);
    return isStoredSelection(input) ? eachTable(made, withoutTime) : made;
  };
  return streamOf(call, [input], body, { operation: new FillEmptyOperation(), passesTables: true });
};

/** Whether the reference's storage selects a row of each window and fills the windows without rows: as recorded, it gives no times then. */
function isStoredSelection({ operation, readers, inputs }: StreamNode): boolean {
  if (!(operation instanceof SelectorOperation) || operation.column !== "_value" || readers > 1) return false;
  return pushedState(inputs[0])?.isWindowed === true;
}

function withoutTime(table: FluxTable): FluxTable {
  return table.with(table.columns.filter(({ label }) => label !== "_time"));
}

/** Tables without rows get a row of nulls. */
export function filledEmpty(input: Tables): Tables {
  return eachTable(input, (table) => (table.isEmpty ? rowOfNulls(table) : table));
}

function rowOfNulls({ key, columns }: FluxTable): FluxTable {
  const made = columns.map(({ label, type }) => FluxColumn.constant(label, type, key.get(label)?.value ?? Null.of(type), 1));
  return new FluxTable(key, made, 1);
}
