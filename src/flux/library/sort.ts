// Rows in the order of columns: `sort`, and what others sort with.

import type { ScriptRun } from "../interpret/script-run.ts";
import type { FluxColumn } from "../tables/column.ts";
import { firstOfPieces, firstRows, rowOrder } from "../tables/row-order.ts";
import { eachTable, finished, type StreamNode, type Tables } from "../tables/stream.ts";
import type { FluxTable } from "../tables/table.ts";
import type { NativeBody } from "./native-call.ts";
import { marked, streamOf } from "./operator.ts";
import { type FirstRows, SortOperation } from "./plan/operations.ts";
import { endRowsOf } from "./plan/row-limit.ts";
import { PushedNode } from "./universe/pushed.ts";
import { sortedRows } from "./windows/sorted-rows.ts";

export const sort: NativeBody = (call) => {
  const labels = call.strings("columns", ["_value"]);
  const isDescending = call.bool("desc", false);
  const input = call.stream();
  const body = function* (tables: Tables, run: ScriptRun): Tables {
    const isOneStep = operation.isLimited && node.readers === 1;
    // the first rows of each table as tables began
    if (isOneStep) input.orderByRows();
    const wanted = { labels, isDescending, count: operation.rowsWanted };
    if (!isOneStep || wanted.count <= 0) yield* eachTable(tables, (table) => sortedTables(table, labels, isDescending));
    else if (run.pushesDown) yield* firstTables(input, tables, wanted, run);
    else yield* eachTable(tables, (table) => firstTable(table, wanted));
  };
  const operation = new SortOperation(labels, isDescending, (rows) => sortedRows(rows, labels, isDescending));
  const node: StreamNode = streamOf(call, [input], ([tables], run) => body(tables!, run), {
    operation,
    sourceContext: () => (operation.isLimited && node.readers === 1 ? "runtime error: " : null),
  });
  return node;
};

function* sortedTables(table: FluxTable, labels: readonly string[], isDescending: boolean): Tables {
  yield yield* sortedInSteps(table, labels, isDescending);
}

function* firstTable(table: FluxTable, wanted: FirstRows): Tables {
  yield yield* firstSorted(table, wanted);
}

/** Tables with their first rows, in order. */
function* firstTables(input: StreamNode, tables: Tables, wanted: FirstRows, run: ScriptRun): Tables {
  let end: Tables | null = null;
  if (input instanceof PushedNode && input.readers <= 1) {
    input.firstWanted = wanted;
    const { labels, count, isDescending: isLatest } = wanted;
    if (labels.length === 1 && labels[0] === "_time") end = yield* endRowsOf(input, { count, isLatest }, run);
  }
  yield* eachTable(end === null ? tables : marked(end), function* (table): Tables {
    yield yield* firstSorted(table, wanted);
  });
}

/** If they are more times the number of pieces, merging the first rows with each piece would take too long. */
const MERGED_MAX = 4 << 20;

function* firstSorted(table: FluxTable, wanted: FirstRows): Generator<null, FluxTable, void> {
  const { labels, isDescending, count } = wanted;
  if (table.pieceEnds.length > 1 && count * table.pieceEnds.length <= MERGED_MAX) {
    return table.inOnePiece().take(yield* firstOfPieces(sortColumns(table, labels), isDescending, table.pieceEnds, count));
  }
  return yield* sortedInSteps(yield* firstInSteps(table.inOnePiece(), wanted), labels, isDescending, count);
}

/** The first rows of a table in an order, in the order of the table, and all that equal the last of them; or more. */
export function* firstInOrder(table: FluxTable, wanted: FirstRows): Tables {
  yield yield* firstInSteps(table, wanted, true);
}

function* firstInSteps(table: FluxTable, { labels, isDescending, count }: FirstRows, keepsEqual = false): Generator<null, FluxTable, void> {
  const rows = yield* firstRows(sortColumns(table, labels), table.rowCount, isDescending, count, keepsEqual);
  return rows === null ? table : table.take(rows);
}

/** Columns of the key have one value. */
function sortColumns({ key, columns }: FluxTable, labels: readonly string[]): FluxColumn[] {
  return labels.flatMap((label) => (key.has(label) ? [] : (columns.find((column) => column.label === label) ?? [])));
}

/** The first `count` rows. Nulls come first in both directions; rows of one piece that compare as equal keep their order. */
export function* sortedInSteps(
  table: FluxTable,
  labels: readonly string[],
  isDescending: boolean,
  count = table.rowCount,
): Generator<null, FluxTable, void> {
  const columns = sortColumns(table, labels);
  // pieces are merged by any columns, also by none
  const isMerged = columns.length > 0 || table.pieceEnds.length > 1;
  const order = !isMerged ? null : yield* rowOrder(columns, table.rowCount, isDescending, table.pieceEnds);
  return order === null ? table.slice(0, Math.min(count, table.rowCount)) : table.take(order.subarray(0, count));
}

/** The same at once. */
export function sorted(table: FluxTable, labels: readonly string[], isDescending: boolean): FluxTable {
  return finished(sortedInSteps(table, labels, isDescending));
}
