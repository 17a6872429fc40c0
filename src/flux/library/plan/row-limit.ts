// The first or the latest rows of whole series: how much of a source has to be read until all of them are there.
import type { ScriptRun } from "../../interpret/script-run.ts";
import type { Tables } from "../../tables/stream.ts";
import type { FluxTable } from "../../tables/table.ts";
import { asInput } from "../operator.ts";
import type { PushedNode } from "../universe/pushed.ts";

const WINDOWS = 64;
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
    const widthNs = (stopNs - startNs + BigInt(WINDOWS) - 1n) / BigInt(WINDOWS);
    const runs = [{ firstNumber: 0, startNs, widthNs, count: WINDOWS }];
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
function reach(tables: readonly FluxTable[], { count, isLatest }: EndRows): Reach {
  const ofEach = tables.map((table) => {
    const found = new Float64Array(WINDOWS);
    const numbers = table.column("_time")!.cells as BigInt64Array;
    const counts = table.column("_value")!.cells as BigInt64Array;
    for (let row = 0; row < numbers.length; row++) found[Number(numbers[row])]! += Number(counts[row]);
    return found;
  });
  const all = new Float64Array(WINDOWS);
  for (const found of ofEach) for (let window = 0; window < WINDOWS; window++) all[window]! += found[window]!;
  let [first, last, rows] = [WINDOWS - 1, 0, 0];
  for (let window = 0; window < WINDOWS; window++) {
    if (all[window] === 0) continue;
    rows += all[window]!;
    first = Math.min(first, window);
    last = window;
  }
  let farthest = isLatest ? last : first;
  for (const found of ofEach) {
    let left = count;
    for (let step = 0; step < WINDOWS && left > 0; step++) {
      const window = isLatest ? WINDOWS - 1 - step : step;
      left -= found[window]!;
      if (found[window]! > 0) farthest = isLatest ? Math.min(farthest, window) : Math.max(farthest, window);
    }
  }
  return isLatest ? { first: farthest, last, rows } : { first, last: farthest, rows };
}
