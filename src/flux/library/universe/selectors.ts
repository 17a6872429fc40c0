// Selectors: rows of a table as they are.
import type { ScriptRun } from "../../interpret/script-run.ts";
import { FluxColumn, newCells } from "../../tables/column.ts";
import { eachTable, missingColumn, type Tables } from "../../tables/stream.ts";
import type { FluxTable } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import type { NativeBody, NativeCall } from "../native-call.ts";
import { operator, streamOf } from "../operator.ts";
import { RowsOperation, SelectorOperation } from "../plan/operations.ts";
import { reducedOr } from "../plan/reduced.ts";
import { type ByWindows, chosenRows, isOfWindow, WindowRows } from "../windows/window-rows.ts";
import { unsupported } from "./aggregates.ts";
import { PushedNode, pushedState, sinceEpoch } from "./pushed.ts";
import { emptyLike } from "./shape.ts";

/** The number of the chosen one of rows [from, to), or -1. */
type Choose = (column: FluxColumn, from: number, to: number) => number;

const chooseFirst: Choose = (column, from, to) => {
  for (let row = from; row < to; row++) if (!column.isNull(row)) return row;
  return -1;
};
const chooseLast: Choose = (column, from, to) => {
  for (let row = to - 1; row >= from; row--) if (!column.isNull(row)) return row;
  return -1;
};

function chooseExtreme(isBetter: (a: number | bigint, b: number | bigint) => boolean): Choose {
  return (column, from, to) => {
    const cells = column.cells as unknown as (number | bigint)[];
    let best = -1;
    for (let row = from; row < to; row++) {
      if (column.isNull(row)) continue;
      if (best < 0 || isBetter(cells[row & column.mask]!, cells[best & column.mask]!)) best = row;
    }
    return best;
  };
}

/** The column that is looked at: no name means the value. */
function selectedColumn(call: NativeCall): string {
  return call.string("column", "_value") || "_value";
}

function selector(name: SelectorOperation["name"], choose: Choose): NativeBody {
  return (call) => {
    const label = selectedColumn(call);
    const input = call.stream();
    const isChosenFrom = ({ type }: FluxColumn) => (name !== "min" && name !== "max") || (type !== "bool" && type !== "string");
    const byWindows: ByWindows = function* (rows) {
      const column = rows.column(label);
      const state = pushedState(input);
      if (column === undefined || !isChosenFrom(column) || state?.isGrouped === true) return null;
      const chosen = yield* chosenRows(rows, (from, to, places) => {
        const row = choose(column, from, to);
        if (row >= 0) places.add(row);
      });
      return name === "first" || state !== null ? chosen : new WindowRows(withoutNulls(chosen.inOrder()), null, chosen.ends, chosen.times);
    };
    const body = ([tables]: readonly Tables[], run: ScriptRun) => {
      const state = pushedState(input);
      // rows of several series lie one series behind the other there
      const byTime = state?.isGrouped === true && (name === "first" || name === "last");
      const select = (input: Tables) =>
        eachTable(input, (table) => {
          const column = table.column(label);
          if (column === undefined) throw missingColumn(label);
          // the storage stops at the series; those before it are in the answer
          if (!isChosenFrom(column) && state !== null) throw unsupported(name, column.type, true);
          if (!isChosenFrom(column)) {
            throw new FluxError(
              `invalid use of function: *universe.${name === "min" ? "Min" : "Max"}Selector has no implementation for type ${column.type}`,
            );
          }
          const row = byTime ? chooseByTime(table, name === "first") : choose(column, 0, column.length);
          if (row < 0) return emptyLike(table);
          const chosen = table.slice(row, row + 1);
          return name === "first" || state !== null ? chosen : withoutNulls(chosen);
        });
      node.handsOn = label === "_value" && state !== null && !state.isWindowed;
      const reduce = input instanceof PushedNode && label === "_value" ? input.reduce : null;
      if (reduce === null) return select(tables!);
      return reducedOr(run, reduce, { fn: name, runs: null, ownTimes: true }, select, () => select(tables!));
    };
    const stored: typeof body = (inputs, run) => (label === "_value" ? sinceEpoch(input, body(inputs, run)) : body(inputs, run));
    const inStorage = () => label === "_value" && pushedState(input) !== null;
    const node = streamOf(call, [input], stored, { operation: new SelectorOperation(name, label, byWindows), inStorage });
    return node;
  };
}

/** As recorded: rows that are copied cell by cell have the zero of the type in place of nulls. */
function withoutNulls(table: FluxTable): FluxTable {
  if (table.columns.every((column) => column.valid === null)) return table;
  return table.with(table.columns.map(zeroesForNulls));
}

function zeroesForNulls(column: FluxColumn): FluxColumn {
  const { label, type, cells, valid, mask, length } = column;
  if (valid === null || !valid.includes(0)) return column;
  const made = newCells(type, cells.length) as (number | bigint | string)[];
  for (let i = 0; i < valid.length; i++) if (valid[i] === 1) made[i] = (cells as (number | bigint | string)[])[i]!;
  return new FluxColumn(label, type, made as FluxColumn["cells"], null, length, mask);
}

function chooseByTime(table: FluxTable, isFirst: boolean): number {
  const times = table.column("_time");
  if (times === undefined) return isFirst ? 0 : table.rowCount - 1;
  return (isFirst ? chooseExtreme((a, b) => a < b) : chooseExtreme((a, b) => a >= b))(times, 0, times.length);
}

export const first = selector("first", chooseFirst);
export const last = selector("last", chooseLast);
export const min = selector(
  "min",
  chooseExtreme((a, b) => a < b),
);
export const max = selector(
  "max",
  chooseExtreme((a, b) => a > b),
);

/** Rows with values that came before are left out. */
export const unique = operator(
  (call) => {
    const label = call.string("column", "_value");
    return (input) =>
      eachTable(input, (table) => {
        const column = table.column(label);
        if (column === undefined) throw missingColumn(label);
        return table.take(Uint32Array.from(firstRows(column, 0, column.length)));
      });
  },
  "tables",
  (call) => {
    const label = call.string("column", "_value");
    return { operation: new RowsOperation((rows) => uniqueRows(rows, label)) };
  },
);

/** The first row of each value of each window. Null: there is no such column, or its values differ with the window. */
export function* uniqueRows(rows: WindowRows, label: string): Generator<null, WindowRows | null, void> {
  const column = isOfWindow(label) ? undefined : rows.column(label);
  if (column === undefined) return null;
  return yield* chosenRows(rows, (from, to, places) => {
    for (const row of firstRows(column, from, to)) places.add(row);
  });
}

/** Of rows [from, to) those with values that no row before has; null is a value. */
export function firstRows(column: FluxColumn, from: number, to: number): number[] {
  // most windows have few rows
  if (to - from < 2) return to > from ? [from] : [];
  const seen = new Set<unknown>();
  const rows: number[] = [];
  for (let row = from; row < to; row++) {
    const cell = column.isNull(row) ? null : (column.cells as unknown[])[row & column.mask];
    if (seen.has(cell)) continue;
    // NaN equals nothing
    if (!Number.isNaN(cell)) seen.add(cell);
    rows.push(row);
  }
  return rows;
}

/** Every n-th row. A place below 0 is random in the reference, and the first here: answers stay the same. */
export const sample = operator(
  (call) => {
    const { n, pos, label } = sampleOf(call);
    if (n <= 0) throw new FluxError(`n must be a positive integer, but was ${n}`);
    if (pos >= n) throw new FluxError(`pos must be less than n, but ${pos} >= ${n}`);
    return (input) =>
      eachTable(input, (table) => {
        if (table.column(label) === undefined) throw new FluxError(`no column "${label}" exists`);
        const rows: number[] = [];
        for (let row = Math.max(0, pos); row < table.rowCount; row += n) rows.push(row);
        return table.take(Uint32Array.from(rows));
      });
  },
  "tables",
  (call) => {
    const { n, pos, label } = sampleOf(call);
    return {
      operation: new RowsOperation(function* (rows) {
        if (rows.table.column(label) === undefined) return null;
        return yield* chosenRows(rows, (from, to, places) => {
          for (let row = from + Math.max(0, pos); row < to; row += n) places.add(row);
        });
      }),
    };
  },
);

function sampleOf(call: NativeCall) {
  return { n: call.int("n"), pos: call.int("pos", -1), label: selectedColumn(call) };
}
