// `distinct`: the values of a column, each once.
import { FluxColumn } from "../../tables/column.ts";
import { eachTable } from "../../tables/stream.ts";
import { FluxTable } from "../../tables/table.ts";
import { operator } from "../operator.ts";
import { RowsOperation } from "../plan/operations.ts";
import { reducedOr } from "../plan/reduced.ts";
import { WindowRows } from "../windows/window-rows.ts";
import { oneRow } from "./aggregates.ts";
import { PushedNode } from "./pushed.ts";
import { firstRows, uniqueRows } from "./selectors.ts";

export const distinct = operator(
  (call) => {
    const label = call.string("column", "_value");
    const source = call.stream();
    return (input, run) => {
      // a series has one value of any other column, so one of its rows tells
      const reduce = label !== "_value" && label !== "_time" && source instanceof PushedNode ? source.reduce : null;
      const all = () => eachTable(input, (table) => distinctTable(table, label));
      if (reduce === null) return all();
      const reduction = { fn: "first", runs: null, ownTimes: false } as const;
      return reducedOr(run, reduce, reduction, (tables) => eachTable(tables, (table) => distinctTable(table, label)), all);
    };
  },
  "tables",
  (call) => {
    const label = call.string("column", "_value");
    return { operation: new RowsOperation((rows) => distinctRows(rows, label)) };
  },
);

function* distinctRows(rows: WindowRows, label: string): Generator<null, WindowRows | null, void> {
  const found = yield* uniqueRows(rows, label);
  if (found === null || found.table.key.has("_value")) return null;
  return new WindowRows(withValues(found.table, found.column(label)!), null, found.ends, found.times);
}

/** The values of the column, each once; one empty text without the column. */
export function distinctTable(table: FluxTable, label: string): FluxTable {
  const column = table.column(label);
  if (column === undefined) return oneRow(table, FluxColumn.constant("_value", "string", "", 1));
  return withValues(table, column.take(Uint32Array.from(firstRows(column, 0, column.length))));
}

/** The columns of the key, and the values. */
function withValues(table: FluxTable, column: FluxColumn): FluxTable {
  const values = column.labelled("_value");
  const keys = table.key.columns
    .filter((each) => each.label !== "_value")
    .map(({ label: each, type, value }) => FluxColumn.constant(each, type, value, values.length));
  return new FluxTable(table.key, [...keys, values], values.length);
}
