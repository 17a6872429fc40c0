// `filter`, `map`, `reduce`: functions of rows.
import { FluxColumn } from "../../tables/column.ts";
import { eachTable, type StreamNode, type Tables } from "../../tables/stream.ts";
import { type FluxTable, GroupKey, type KeyColumn, RowRecord, type TableBuilder } from "../../tables/table.ts";
import { COLUMN_TYPES, type FluxColumnType } from "../../values/column-type.ts";
import { FluxError } from "../../values/flux-error.ts";
import { FluxRecord, isNull, kindOf, type Value } from "../../values/value.ts";
import { collision, TableMerge } from "../merge-tables.ts";
import type { NativeBody } from "../native-call.ts";
import { operator } from "../operator.ts";
import { PushedNode } from "./pushed.ts";

/** Rows between two pauses. */
const PAUSE_ROWS = 4096;

export const filter: NativeBody = (call) => {
  const made = plainFilter(call) as StreamNode;
  const input = call.stream();
  const isPushed = input instanceof PushedNode && !input.state.isGrouped && !input.state.isWindowed;
  return isPushed ? new PushedNode("filter", [made], made.location, ([tables]) => tables!, input.state) : made;
};

const plainFilter = operator((call) => {
  const test = call.function("fn").prepare(["r"]);
  const onEmpty = call.string("onEmpty", "drop");
  if (onEmpty !== "drop" && onEmpty !== "keep") throw new FluxError(`onEmpty must be keep or drop, was ${JSON.stringify(onEmpty)}`);
  return (input, run) =>
    eachTable(input, function* (table) {
      const row = new RowRecord(table);
      const kept: number[] = [];
      for (row.row = 0; row.row < table.rowCount; row.row++) {
        if (row.row % PAUSE_ROWS === PAUSE_ROWS - 1) {
          run.pause();
          yield null;
        }
        const result = test(row);
        if (result === true) kept.push(row.row);
        else if (typeof result !== "boolean" && !isNull(result)) throw new FluxError(`type conflict: bool != ${kindOf(result)}`);
      }
      if (kept.length === table.rowCount && (kept.length > 0 || onEmpty === "keep")) yield table;
      else if (kept.length > 0 || onEmpty === "keep") yield table.take(Uint32Array.from(kept));
    });
});

/** The column type of a value, or an error that names the column. */
export function columnTypeOf(label: string, value: Value): FluxColumnType | "invalid" {
  const kind = kindOf(value);
  if (kind === "invalid" || (COLUMN_TYPES as readonly string[]).includes(kind)) return kind as FluxColumnType | "invalid";
  throw new FluxError(`map object property "${label}" is ${kind} type which is not supported in a flux table`);
}

export const map = operator((call) => {
  const make = call.function("fn").prepare(["r"]);
  return function* (input, run): Tables {
    const merge = new TableMerge();
    for (const table of input) {
      if (table === null) {
        yield null;
        continue;
      }
      const row = new RowRecord(table);
      for (row.row = 0; row.row < table.rowCount; row.row++) {
        if (row.row % PAUSE_ROWS === PAUSE_ROWS - 1) {
          run.pause();
          yield null;
        }
        const made = make(row);
        if (!(made instanceof FluxRecord)) throw new FluxError(`map function must return an object, got ${kindOf(made)}`);
        appendRecord(merge, table, made);
      }
    }
    yield* merge.tables();
  };
});

/** Columns of the key that the record still has, with the record's values. */
function keyOf({ key }: FluxTable, record: FluxRecord): GroupKey {
  const columns: KeyColumn[] = [];
  for (const { label, type } of key.columns) {
    const value = record.get(label);
    if (value === undefined) continue;
    const kind = columnTypeOf(label, value);
    columns.push({ label, type: kind === "invalid" ? type : kind, value });
  }
  return new GroupKey(columns);
}

function appendRecord(merge: TableMerge, table: FluxTable, record: FluxRecord): void {
  appendTo(merge.builder(keyOf(table, record)), record);
}

/** The record as a row: new columns come in the order of their labels. */
export function appendTo(builder: TableBuilder, record: FluxRecord): void {
  const entries = [...record.entries()].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  for (const [label, value] of entries) {
    const kind = columnTypeOf(label, value);
    const known = builder.find(label);
    if (kind === "invalid") {
      // a null of no type takes the column's own
      if (known !== undefined) known.appendNull();
      continue;
    }
    const column = builder.column(label, kind);
    if (column.type !== kind) {
      if (!isNull(value)) throw collision(label, column.type, kind);
      column.appendNull();
    } else column.append(value);
  }
  builder.endRow();
}

export const reduce = operator((call) => {
  const step = call.function("fn").prepare(["r", "accumulator"]);
  const identity = call.record("identity");
  return (input, run) => {
    const keys = new Set<string>();
    return eachTable(input, function* (table) {
      const row = new RowRecord(table);
      let accumulator: Value = identity;
      for (row.row = 0; row.row < table.rowCount; row.row++) {
        if (row.row % PAUSE_ROWS === PAUSE_ROWS - 1) {
          run.pause();
          yield null;
        }
        accumulator = step(row, accumulator);
      }
      const record = accumulator as FluxRecord;
      const key = reducedKey(table.key, record);
      if (keys.has(key.text)) throw new FluxError(`two reducers writing result to the same table`);
      keys.add(key.text);
      yield table.with([], key).with(reducedColumns(key, record), key).slice(0, 1);
    });
  };
});

function reducedKey(key: GroupKey, record: FluxRecord): GroupKey {
  return new GroupKey(
    key.columns.map((column) => {
      const value = record.get(column.label);
      return value === undefined ? column : { label: column.label, type: columnTypeOf(column.label, value) as FluxColumnType, value };
    }),
  );
}

function reducedColumns(key: GroupKey, record: FluxRecord): FluxColumn[] {
  const columns = key.columns.map(({ label, type, value }) => FluxColumn.constant(label, type, value, 1));
  const added = [...record.entries()].filter(([label]) => !key.has(label)).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  for (const [label, value] of added) {
    const type = columnTypeOf(label, value);
    if (isNull(value) || type === "invalid") throw new FluxError(`null values are not supported for "${label}" in the reduce() function`);
    columns.push(FluxColumn.constant(label, type, value, 1));
  }
  return columns;
}
