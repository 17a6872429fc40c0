// Rows by their number: `limit`, `tail`.
import type { ScriptRun } from "../interpret/script-run.ts";
import { eachTable, type StreamNode, type Tables } from "../tables/stream.ts";
import type { NativeCall } from "./native-call.ts";
import { marked, operator, type TableBody } from "./operator.ts";
import { NumberedOperation, SortOperation, WindowOperation } from "./plan/operations.ts";
import { type EndRows, endRowsOf } from "./plan/row-limit.ts";
import { PushedNode } from "./universe/pushed.ts";
import { type ByWindows, chosenRows, Places } from "./windows/window-rows.ts";

const prepareLimit = (call: NativeCall): TableBody => {
  const input = call.stream();
  const n = call.int("n");
  const offset = call.int("offset", 0);
  // as recorded: sorted rows have no limit below 0
  if (n < 0 && offset === 0 && input.operation instanceof SortOperation) return (tables) => tables;
  if (offset === 0 && input.operation instanceof SortOperation) {
    input.operation.isLimited = true;
    input.operation.rowsWanted = n;
  }
  const limited = (tables: Tables) =>
    eachTable(tables, (table) => {
      // as recorded: sorting for a limit alone leaves no empty table
      if (offset === 0 && table.isEmpty && input.readers <= 1 && input.operation instanceof SortOperation) return null;
      const from = Math.min(table.rowCount, Math.max(0, offset));
      const kept = table.slice(from, Math.max(from, Math.min(table.rowCount, from + n)));
      // as recorded: a table that loses all its rows goes, unless `n` takes none at all; of sorted rows it always goes
      const isKept = n < 0 || (n === 0 && !(input.operation instanceof SortOperation));
      return kept.isEmpty && !table.isEmpty && !isKept ? null : kept;
    });
  return function* (tables, run) {
    if (input.readers <= 1 && isLatestFirst(input.operation)) wantLatest(input.inputs[0]!, n, offset);
    yield* limited(n > 0 ? yield* endOf(input, { count: n + Math.max(0, offset), isLatest: false }, tables, run) : tables);
  };
};

export const limit = operator(prepareLimit, "tables", (call) => {
  const [input, n, offset] = [call.stream(), call.int("n"), call.int("offset", 0)];
  const isSorted = input.operation instanceof SortOperation;
  const byWindows: ByWindows = function* (rows) {
    // windows behind others, and tables that stay empty
    if (n <= 0 || offset < 0) return null;
    const kept = new Places(rows.windowCount);
    const windows = new Places(rows.windowCount);
    const ends: number[] = [];
    yield* rows.each((from, to, window) => {
      const isEmpty = from === to;
      if (isEmpty ? isSorted && offset === 0 : from + offset >= to) return;
      for (let place = from + offset; place < Math.min(to, from + offset + n); place++) kept.add(place);
      windows.add(window);
      ends.push(kept.count);
    });
    return rows.chosen(kept.build(), Uint32Array.from(ends), windows.build());
  };
  return { operation: new NumberedOperation(byWindows), flow: "rows" };
});

/** The tables of an operator with at least the first or the latest rows of each. */
function* endOf(input: StreamNode, wanted: EndRows, tables: Tables, run: ScriptRun): Generator<null, Tables, void> {
  const found = input instanceof PushedNode ? yield* endRowsOf(input, wanted, run) : null;
  return found === null ? tables : marked(found);
}

function isLatestFirst(operation: object | null): boolean {
  return operation instanceof SortOperation && operation.isDescending && operation.columns.join() === "_time";
}

/** Windows before the latest ones need not be computed. */
function wantLatest({ readers, operation }: StreamNode, n: number, offset: number): void {
  if (readers <= 1 && operation instanceof WindowOperation && n > 0 && offset >= 0) operation.latestWanted = n + offset;
}

const prepareTail = (call: NativeCall): TableBody => {
  const n = call.int("n");
  const offset = call.int("offset", 0);
  const input = call.stream();
  return function* (tables, run) {
    wantLatest(input, n, offset);
    const isEnd = n > 0 && offset >= 0;
    yield* eachTable(isEnd ? yield* endOf(input, { count: n + offset, isLatest: true }, tables, run) : tables, (table) => {
      const to = Math.max(0, table.rowCount - Math.max(0, offset));
      return table.slice(Math.min(to, Math.max(0, table.rowCount - offset - n)), to);
    });
  };
};

export const tail = operator(prepareTail, "tables", (call) => {
  const [n, offset] = [call.int("n"), call.int("offset", 0)];
  const byWindows: ByWindows = (rows) =>
    chosenRows(rows, (from, to, kept) => {
      const [end, start] = [Math.max(from, to - Math.max(0, offset)), Math.max(from, to - offset - n)];
      for (let place = start; place < end; place++) kept.add(place);
    });
  return { operation: new NumberedOperation(byWindows) };
});
