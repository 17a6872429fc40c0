// The first or the latest rows of whole series: how much of a source has to be read until all of them are there.
import { END_WINDOWS, endWindows, type WindowedRows } from "../../../model/query/end-windows.ts";
import type { ScriptRun } from "../../interpret/script-run.ts";
import type { Tables } from "../../tables/stream.ts";
import type { FluxTable } from "../../tables/table.ts";
import { asInput } from "../operator.ts";
import type { PushedNode } from "../universe/pushed.ts";

/** Fewer rows are read without looking closer. */
const FEW_ROWS = 256;
/** Looks at the rows: each tells a time to 1/64 of what is left. */
const LOOKS_MAX = 3;
/** A closer look is worth it when the rows are in so many windows. */
const CLOSE_WINDOWS = 4;

export interface EndRows {
  /** How many rows are wanted, at least 1. */
  readonly count: number;
  /** True: those with the greatest times. */
  readonly isLatest: boolean;
}

/** The tables of a node with at least these rows of each, or null: all rows have to be read. */
export function* endRowsOf(node: PushedNode, wanted: EndRows, run: ScriptRun): Generator<null, Tables | null, void> {
  const { read, reduce, bounds, state } = node;
  if (!run.pushesDown || read === null || reduce === null || bounds === null || state.isGrouped || state.isWindowed) return null;
  let { startNs, stopNs } = bounds;
  for (let look = 0; look < LOOKS_MAX; look++) {
    const widthNs = (stopNs - startNs + BigInt(END_WINDOWS) - 1n) / BigInt(END_WINDOWS);
    const runs = [{ firstNumber: 0, startNs, widthNs, count: END_WINDOWS }];
    const whole = { latest: null, isPartial: false, oneTypeOf: null, apart: null };
    const reduction = { ...whole, fn: "count", runs, ownTimes: false } as const;
    const tables = yield* asInput(reduce(run, { reduction, columns: null, shown: null, filters: [], values: [] }));
    if (tables === null) return null;
    const { first, last, rows } = reach(tables, wanted);
    const endNs = startNs + BigInt(last + 1) * widthNs;
    if (endNs < stopNs) stopNs = endNs;
    startNs += BigInt(first) * widthNs;
    if (rows <= FEW_ROWS || last - first >= CLOSE_WINDOWS) break;
  }
  return read(run, [], wanted.isLatest ? { fromNs: startNs } : { untilNs: stopNs });
}

interface Reach {
  /** The first window of those that have the rows. */
  readonly first: number;
  readonly last: number;
  /** In all windows. */
  readonly rows: number;
}

/** Where the wanted rows are. @param tables a row for each window with rows, with the window's number as its time */
function reach(tables: readonly FluxTable[], wanted: EndRows): Reach {
  const ofEach = tables.map((table): WindowedRows => {
    const found = new Float64Array(END_WINDOWS);
    const numbers = table.column("_time")!.cells as BigInt64Array;
    const counts = table.column("_value")!.cells as BigInt64Array;
    for (let row = 0; row < numbers.length; row++) found[Number(numbers[row])]! += Number(counts[row]);
    return { most: found, least: found };
  });
  let [first, last, rows] = [END_WINDOWS - 1, 0, 0];
  for (const { most } of ofEach) {
    for (let window = 0; window < END_WINDOWS; window++) {
      if (most[window] === 0) continue;
      rows += most[window]!;
      first = Math.min(first, window);
      last = Math.max(last, window);
    }
  }
  const count = endWindows(ofEach, wanted);
  return wanted.isLatest ? { first: END_WINDOWS - count, last, rows } : { first, last: count - 1, rows };
}
