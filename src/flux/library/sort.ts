// Rows in the order of columns: `sort`, and what others sort with.

import { rowOrder } from "../tables/row-order.ts";
import { eachTable, finished, type StreamNode, type Tables } from "../tables/stream.ts";
import type { FluxTable } from "../tables/table.ts";
import type { NativeBody } from "./native-call.ts";
import { streamOf } from "./operator.ts";
import { SortOperation } from "./plan/operations.ts";
import { sortedRows } from "./windows/sorted-rows.ts";

export const sort: NativeBody = (call) => {
  const columns = call.strings("columns", ["_value"]);
  const isDescending = call.bool("desc", false);
  // the first rows alone are found in another way
  const body = (table: FluxTable): Tables => sortedTables(operation.isLimited ? table.inOnePiece() : table, columns, isDescending);
  const operation = new SortOperation(columns, isDescending, (rows) => sortedRows(rows, columns, isDescending));
  const node: StreamNode = streamOf(call, [call.stream()], ([tables]) => eachTable(tables!, body), {
    operation,
    sourceContext: () => (operation.isLimited && node.readers === 1 ? "runtime error: " : null),
  });
  return node;
};

function* sortedTables(table: FluxTable, labels: readonly string[], isDescending: boolean): Tables {
  yield yield* sortedInSteps(table, labels, isDescending);
}

/** Nulls come first in both directions; rows of one piece that compare as equal keep their order. */
export function* sortedInSteps(table: FluxTable, labels: readonly string[], isDescending: boolean): Generator<null, FluxTable, void> {
  const columns = labels.flatMap((label) => (table.key.has(label) ? [] : (table.column(label) ?? [])));
  if (columns.length === 0) return table;
  const order = yield* rowOrder(columns, table.rowCount, isDescending, table.pieceEnds);
  return order === null ? table : table.take(order);
}

/** The same at once. */
export function sorted(table: FluxTable, labels: readonly string[], isDescending: boolean): FluxTable {
  return finished(sortedInSteps(table, labels, isDescending));
}
