// `distinct`: the values of a column, each once.
import { FluxColumn } from "../../tables/column.ts";
import { eachTable } from "../../tables/stream.ts";
import { FluxTable } from "../../tables/table.ts";
import { operator } from "../operator.ts";
import { reducedOr } from "../plan/reduced.ts";
import { oneRow } from "./aggregates.ts";
import { PushedNode } from "./pushed.ts";
import { firstRows } from "./selectors.ts";

export const distinct = operator((call) => {
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
});

/** The values of the column, each once; one empty text without the column. */
export function distinctTable(table: FluxTable, label: string): FluxTable {
  const column = table.column(label);
  if (column === undefined) return oneRow(table, FluxColumn.constant("_value", "string", "", 1));
  const values = column.take(Uint32Array.from(firstRows(column))).labelled("_value");
  const keys = table.key.columns
    .filter((each) => each.label !== "_value")
    .map(({ label: each, type, value }) => FluxColumn.constant(each, type, value, values.length));
  return new FluxTable(table.key, [...keys, values], values.length);
}
