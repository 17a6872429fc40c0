// `sort` of the rows of each window.
import { rowOrder } from "../../tables/row-order.ts";
import type { WindowRows } from "./window-rows.ts";

/** The rows of each window in order: all of them in order, and then by their windows again. Null: that is another order. */
export function* sortedRows(rows: WindowRows, labels: readonly string[], isDescending: boolean): Generator<null, WindowRows | null, void> {
  // rows of a table in pieces are merged, window by window
  if (rows.table.pieceEnds.length > 1) return null;
  const columns = labels.flatMap((label) => (rows.table.key.has(label) ? [] : (rows.column(label) ?? [])));
  // the place of NaN depends on the rows beside it
  if (columns.some(({ cells }) => cells instanceof Float64Array && cells.includes(Number.NaN))) return null;
  const order = columns.length === 0 ? null : yield* rowOrder(columns, rows.rowCount, isDescending);
  if (order === null) return rows;
  const windows = new Uint32Array(rows.rowCount);
  const next = new Uint32Array(rows.windowCount);
  yield* rows.each((from, to, window) => {
    windows.fill(window, from, to);
    next[window] = from;
  });
  const places = new Uint32Array(order.length);
  for (let i = 0; i < order.length; i++) {
    const place = order[i]!;
    places[next[windows[place]!]!++] = place;
  }
  return rows.chosen(places, rows.ends);
}
