// What operators make of the windows of each table, put together again, without a table for each window:
// `window |> … |> duplicate(as: "_time") |> window(every: inf)`.
import type { ScriptRun } from "../../interpret/script-run.ts";
import { FluxColumn } from "../../tables/column.ts";
import { inKeyOrder } from "../../tables/key-order.ts";
import { HeldCells, type TableOrder, type Tables } from "../../tables/stream.ts";
import type { FluxTable } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { isNull } from "../../values/value.ts";
import { boundsOrAll, windowTable } from "../universe/window.ts";
import type { WindowOptions } from "../universe/window-bounds.ts";
import { RowPlacer } from "./placed-rows.ts";
import { type ByWindows, boundsOfRows, filledRows, type WindowRows } from "./window-rows.ts";

export interface WholeWindows {
  readonly window: WindowOptions;
  /** Whether windows with equal bounds within the range are one. */
  readonly isMerged: boolean;
  /** What is done to the rows of each window. */
  readonly steps: readonly ByWindows[];
  /** Whether windows without rows get a row of nulls. */
  readonly isFilled: boolean;
  /** The bound that becomes the time. */
  readonly time: "_start" | "_stop";
  /** The window of all times. */
  readonly whole: WindowOptions;
  readonly order: TableOrder;
  /** The answer by a table for each window. @param made what the steps have made of tables before @param rest tables that are left */
  readonly byTables: (made: Tables, rest: Tables) => Tables;
}

/** A table of all windows for each table of the source. */
export function* wholeWindows(source: Tables, how: WholeWindows, run: ScriptRun): Tables {
  const placer = new RowPlacer(how.window, how.isMerged);
  const held = new HeldCells(run);
  const input = source[Symbol.iterator]();
  const parts: WindowRows[] = [];
  const keys = new Set<string>();
  let rest: Tables | null = null;
  try {
    while (rest === null) {
      const next = nextOf(input);
      if ("error" in next) rest = failing(next.error);
      else if (next.done === true) break;
      else if (next.value === null) yield null;
      else {
        const rows = yield* computed(next.value, placer, how);
        if (rows === null) rest = preceded(next.value, input);
        else {
          held.hold(rows.table);
          parts.push(rows);
          keys.add(rows.table.key.text);
          yield null;
        }
      }
    }
    // windows of tables with one key come together
    if (rest === null && keys.size === parts.length) yield* wholeTables(parts, how);
    else yield* how.byTables(eachWindow(parts, how.window), rest ?? []);
  } finally {
    held.release();
    input.return?.();
  }
}

type Next = IteratorResult<FluxTable | null> | { readonly error: unknown };

function nextOf(input: Iterator<FluxTable | null>): Next {
  try {
    return input.next();
  } catch (error) {
    return { error };
  }
}

// biome-ignore lint/correctness/useYield: a stream that fails before its first table
function* failing(error: unknown): Tables {
  throw error;
}

function* preceded(first: FluxTable, input: Iterator<FluxTable | null>): Tables {
  yield first;
  for (let next = input.next(); next.done !== true; next = input.next()) yield next.value;
}

/** What the steps make of one table. Null: only tables tell. */
function* computed(table: FluxTable, placer: RowPlacer, { steps, whole }: WholeWindows): Generator<null, WindowRows | null, void> {
  const given = windowTable(table.inOnePiece(), boundsOrAll(whole), whole);
  // a time in the key is one for each window
  if (given.column("_time")?.type !== "time" || given.key.has("_time")) return null;
  if (given.key.columns.some(({ value }) => isNull(value))) return null;
  let rows: WindowRows | null;
  try {
    rows = yield* placer.placed(given);
  } catch (error) {
    // too many windows: `window` says so
    if (error instanceof FluxError) return null;
    throw error;
  }
  for (const step of steps) {
    rows = yield* step(rows);
    if (rows === null) return null;
  }
  return rows;
}

function* wholeTables(parts: readonly WindowRows[], how: WholeWindows): Tables {
  const made: FluxTable[] = [];
  for (const part of parts) {
    const table = wholeTable(part, how);
    if (table !== null) made.push(table);
    yield null;
  }
  yield* how.order === "keys" ? inKeyOrder(made) : made;
}

/** Null: there are no rows. */
function wholeTable(part: WindowRows, { isFilled, time }: WholeWindows): FluxTable | null {
  const rows = isFilled ? filledRows(part) : part;
  if (rows.rowCount === 0) return null;
  return rows.inOrder().set(new FluxColumn("_time", "time", boundsOfRows(rows, time), null, rows.rowCount));
}

/** The tables that the last step would give. */
function* eachWindow(parts: readonly WindowRows[], options: WindowOptions): Tables {
  for (const part of parts) {
    const table = part.inOrder();
    const { startsNs, stopsNs } = part.times;
    let from = 0;
    for (const [window, to] of part.ends.entries()) {
      yield windowTable(table.slice(from, to), { startNs: startsNs[window]!, stopNs: stopsNs[window]! }, options);
      from = to;
    }
  }
}
