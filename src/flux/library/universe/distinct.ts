// `distinct`: the values of a column, each once.
import { FluxColumn } from "../../tables/column.ts";
import { eachTable } from "../../tables/stream.ts";
import { FluxTable } from "../../tables/table.ts";
import { operator } from "../operator.ts";
import { oneRow } from "./aggregates.ts";
import { firstRows } from "./selectors.ts";

export const distinct = operator((call) => {
  const label = call.string("column", "_value");
  return (input) =>
    eachTable(input, (table) => {
      const column = table.column(label);
      if (column === undefined) return oneRow(table, FluxColumn.constant("_value", "string", "", 1));
      const values = column.take(Uint32Array.from(firstRows(column))).labelled("_value");
      const keys = table.key.columns
        .filter((each) => each.label !== "_value")
        .map(({ label: each, type, value }) => FluxColumn.constant(each, type, value, values.length));
      return new FluxTable(table.key, [...keys, values], values.length);
    });
});
