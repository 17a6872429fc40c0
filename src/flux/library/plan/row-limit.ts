// `limit` over whole series: how far a source has to be read until each of them has its first rows.
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

/** The tables of a node with at least the first rows of each, or null: all rows have to be read. */
export function* firstRowsOf(node: PushedNode, rowCount: number, run: ScriptRun): Generator<null, Tables | null, void> {
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
    const { first, last, rows } = reach(tables, rowCount);
    const endNs = startNs + BigInt(last + 1) * widthNs;
    if (endNs < stopNs) stopNs = endNs;
    startNs += BigInt(first) * widthNs;
    if (rows <= FEW_ROWS || last - first >= CLOSE_WINDOWS) break;
  }
  return read(run, [], stopNs);
}

interface Reach {
  /** The first window with rows. */
  readonly first: number;
  /** The first window by whose end all tables have enough rows, or all. */
  readonly last: number;
  readonly rows: number;
}

/** @param tables a row for each window with rows, with the window's number as its time */
function reach(tables: readonly FluxTable[], rowCount: number): Reach {
  let [first, last, rows] = [WINDOWS - 1, 0, 0];
  for (const table of tables) {
    const numbers = table.column("_time")!.cells as BigInt64Array;
    const counts = table.column("_value")!.cells as BigInt64Array;
    let count = 0;
    for (let row = 0; row < numbers.length && count < rowCount; row++) {
      const number = Number(numbers[row]);
      count += Number(counts[row]);
      if (number < first) first = number;
      if (number > last) last = number;
    }
    for (const each of counts) rows += Number(each);
  }
  return { first: Math.min(first, last), last, rows };
}
