// Selectors: rows of a table as they are.
import type { ScriptRun } from "../../interpret/script-run.ts";
import { FluxColumn, newCells } from "../../tables/column.ts";
import { eachTable, missingColumn, type Tables } from "../../tables/stream.ts";
import type { FluxTable } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import type { NativeBody, NativeCall } from "../native-call.ts";
import { operator, streamOf } from "../operator.ts";
import { SelectorOperation } from "../plan/operations.ts";
import { reducedOr } from "../plan/reduced.ts";
import { PushedNode, pushedState, sinceEpoch } from "./pushed.ts";
import { emptyLike } from "./shape.ts";

/** The number of the row that is chosen, or -1. */
type Choose = (column: FluxColumn) => number;

const chooseFirst: Choose = (column) => {
  for (let row = 0; row < column.length; row++) if (!column.isNull(row)) return row;
  return -1;
};
const chooseLast: Choose = (column) => {
  for (let row = column.length - 1; row >= 0; row--) if (!column.isNull(row)) return row;
  return -1;
};

function chooseExtreme(isBetter: (a: number | bigint, b: number | bigint) => boolean): Choose {
  return (column) => {
    const cells = column.cells as unknown as (number | bigint)[];
    let best = -1;
    for (let row = 0; row < column.length; row++) {
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
    const body = ([tables]: readonly Tables[], run: ScriptRun) => {
      const state = pushedState(input);
      // rows of several series lie one series behind the other there
      const byTime = state?.isGrouped === true && (name === "first" || name === "last");
      const select = (input: Tables) =>
        eachTable(input, (table) => {
          const column = table.column(label);
          if (column === undefined) throw missingColumn(label);
          if ((name === "min" || name === "max") && (column.type === "bool" || column.type === "string")) {
            throw new FluxError(
              `invalid use of function: *universe.${name === "min" ? "Min" : "Max"}Selector has no implementation for type ${column.type}`,
            );
          }
          const row = byTime ? chooseByTime(table, name === "first") : choose(column);
          if (row < 0) return emptyLike(table);
          const chosen = table.slice(row, row + 1);
          return name === "first" || state !== null ? chosen : withoutNulls(chosen);
        });
      const reduce = input instanceof PushedNode && label === "_value" ? input.reduce : null;
      if (reduce === null) return select(tables!);
      return reducedOr(run, reduce, { fn: name, runs: null, ownTimes: true }, select, () => select(tables!));
    };
    const stored: typeof body = (inputs, run) => (label === "_value" ? sinceEpoch(input, body(inputs, run)) : body(inputs, run));
    const inStorage = () => label === "_value" && pushedState(input) !== null;
    return streamOf(call, [input], stored, { operation: new SelectorOperation(name, label), inStorage });
  };
}

/** As recorded: rows that are copied cell by cell have the zero of the type in place of nulls. */
function withoutNulls(table: FluxTable): FluxTable {
  if (table.columns.every((column) => column.valid === null)) return table;
  return table.with(
    table.columns.map((column) => {
      if (!column.isNull(0)) return column;
      return new FluxColumn(column.label, column.type, newCells(column.type, 1), null, column.length);
    }),
  );
}

function chooseByTime(table: FluxTable, isFirst: boolean): number {
  const times = table.column("_time");
  if (times === undefined) return isFirst ? 0 : table.rowCount - 1;
  return (isFirst ? chooseExtreme((a, b) => a < b) : chooseExtreme((a, b) => a >= b))(times);
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
export const unique = operator((call) => {
  const label = call.string("column", "_value");
  return (input) =>
    eachTable(input, (table) => {
      const column = table.column(label);
      if (column === undefined) throw missingColumn(label);
      return table.take(Uint32Array.from(firstRows(column)));
    });
});

/** Rows with values that no row before has; null is a value. */
export function firstRows(column: FluxColumn): number[] {
  const seen = new Set<unknown>();
  const rows: number[] = [];
  for (let row = 0; row < column.length; row++) {
    const cell = column.isNull(row) ? null : (column.cells as unknown[])[row & column.mask];
    if (seen.has(cell)) continue;
    // NaN equals nothing
    if (!Number.isNaN(cell)) seen.add(cell);
    rows.push(row);
  }
  return rows;
}

/** Every n-th row. A place below 0 is random in the reference, and the first here: answers stay the same. */
export const sample = operator((call) => {
  const n = call.int("n");
  const pos = call.int("pos", -1);
  if (n <= 0) throw new FluxError(`n must be a positive integer, but was ${n}`);
  if (pos >= n) throw new FluxError(`pos must be less than n, but ${pos} >= ${n}`);
  const label = selectedColumn(call);
  return (input) =>
    eachTable(input, (table) => {
      if (table.column(label) === undefined) throw new FluxError(`no column "${label}" exists`);
      const rows: number[] = [];
      for (let row = Math.max(0, pos); row < table.rowCount; row += n) rows.push(row);
      return table.take(Uint32Array.from(rows));
    });
});
