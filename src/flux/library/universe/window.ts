// `window`: rows by windows of time.
import { FluxColumn } from "../../tables/column.ts";
import { eachTable, type StreamNode, type Tables, type TimeBounds } from "../../tables/stream.ts";
import type { FluxTable, KeyColumn } from "../../tables/table.ts";
import { isZero, LONGEST } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { locationOf } from "../../values/location.ts";
import { Duration, isNull, Time } from "../../values/value.ts";
import { TableMerge } from "../merge-tables.ts";
import type { NativeBody, NativeCall } from "../native-call.ts";
import { operator, streamOf } from "../operator.ts";
import { PushedNode } from "./pushed.ts";
import { emptyLike } from "./shape.ts";
import { type WindowBounds, Windows } from "./window-bounds.ts";

const ZERO = new Duration(0n, 0n);
/** Empty windows that one table may get. */
const WINDOWS_MAX = 1_000_000;

export interface WindowOptions {
  readonly windows: Windows | null;
  readonly timeColumn: string;
  readonly startColumn: string;
  readonly stopColumn: string;
  readonly createEmpty: boolean;
  /** What `range` has set. */
  readonly bounds: TimeBounds | null;
}

export function windowOptions(call: NativeCall): WindowOptions {
  const every = call.duration("every", ZERO);
  const period = call.duration("period", ZERO);
  if (isZero(every) && isZero(period))
    throw new FluxError(`window function requires at least one of "every" or "period" to be set and non-zero`);
  const isWhole = every.ns === LONGEST.ns;
  const effectiveEvery = isZero(every) ? period : every;
  const effectivePeriod = isZero(period) ? effectiveEvery : period;
  const location = locationOf(call.record("location", call.run.location));
  return {
    // one window of all times brings the range back
    windows: isWhole ? null : new Windows(effectiveEvery, effectivePeriod, call.duration("offset", ZERO), location),
    timeColumn: call.string("timeColumn", "_time"),
    startColumn: call.string("startColumn", "_start"),
    stopColumn: call.string("stopColumn", "_stop"),
    createEmpty: call.bool("createEmpty", false),
    bounds: call.stream().bounds,
  };
}

export const window: NativeBody = (call) => {
  const made = plainWindow(call) as StreamNode;
  return isPushedWindow(call, call.stream())
    ? new PushedNode("window", [made], made.location, ([tables]) => tables!, { isGrouped: false, isWindowed: true })
    : made;
};

const plainWindow = operator((call) => {
  const options = windowOptions(call);
  return (input) => windowed(input, options);
});

/** Whether the reference's storage computes these windows: whole ones, of series, in UTC. */
export function isPushedWindow(call: NativeCall, input: StreamNode): boolean {
  if (!(input instanceof PushedNode) || input.state.isGrouped || input.state.isWindowed) return false;
  const [every, period] = [call.duration("every", ZERO), call.duration("period", ZERO)];
  const isWhole = every.ns === LONGEST.ns;
  const isDisjointWindow = isZero(period) || (period.ns === every.ns && period.months === every.months);
  return !isWhole && isDisjointWindow && call.record("location", call.run.location).get("zone") === "UTC";
}

const REWRITTEN: readonly string[] = ["count", "sum", "mean"];

/** Columns in the order in which the reference's form of `aggregateWindow` has them: it has one of its own for these functions. */
export const arranged: NativeBody = (call) => {
  const input = call.stream();
  const fn = call.function("fn");
  if (!REWRITTEN.includes(fn.name) || !fn.isNative || call.string("timeDst") !== "_time" || call.duration("every").ns === LONGEST.ns)
    return input;
  const isPushed = isPushedWindow(call, call.stream("source"));
  const column = call.string("column");
  return streamOf(call, [input], ([tables]) =>
    eachTable(tables!, (table) => {
      const isBound = (label: string) => isPushed && (label === "_start" || label === "_stop");
      const [bounds, times] = [table.columns.filter(({ label }) => isBound(label)), table.columns.filter(({ label }) => label === "_time")];
      const values = table.columns.filter(({ label }) => label === column && label !== "_time");
      const rest = table.columns.filter((each) => !bounds.includes(each) && !times.includes(each) && !values.includes(each));
      return table.with(isPushed ? [...bounds, ...times, ...values, ...rest] : [...times, ...rest, ...values]);
    }),
  );
};

export function* windowed(input: Tables, options: WindowOptions): Tables {
  if (options.windows === null) {
    yield* whole(input, options);
    return;
  }
  const { windows } = options;
  for (const table of input) {
    if (table === null) yield null;
    else yield* windowsOf(table, windows, options);
  }
}

function* windowsOf(table: FluxTable, windows: Windows, options: WindowOptions): Tables {
  const { timeColumn, createEmpty } = options;
  const times = table.column(timeColumn);
  if (times === undefined) throw new FluxError(`missing time column "${timeColumn}"`);
  if (times.type !== "time") throw new FluxError(`time column "${timeColumn}" is not a time`);
  const range = options.bounds;
  if (createEmpty && range === null) {
    throw new FluxError("nil bounds passed to window; use range to set the window range");
  }
  const found = new Map<bigint, { readonly bounds: WindowBounds; readonly rows: number[] }>();
  if (createEmpty && range !== null) {
    for (const bounds of windows.overlapping(range.startNs, range.stopNs)) {
      if (found.size >= WINDOWS_MAX) throw new FluxError("window: too many windows");
      found.set(bounds.startNs, { bounds, rows: [] });
    }
  }
  let latest: WindowBounds[] = [];
  for (let row = 0; row < table.rowCount; row++) {
    if (times.isNull(row)) continue;
    const { ns } = times.get(row) as Time;
    // rows in order of time mostly fall into the windows of the row before
    if (latest.length !== 1 || ns < latest[0]!.startNs || ns >= latest[0]!.stopNs || !isDisjoint(windows))
      latest = [...windows.holding(ns)];
    for (const bounds of latest) {
      let entry = found.get(bounds.startNs);
      if (entry === undefined) {
        entry = { bounds, rows: [] };
        found.set(bounds.startNs, entry);
      }
      entry.rows.push(row);
    }
  }
  const ordered = [...found.values()].sort((a, b) => (a.bounds.startNs < b.bounds.startNs ? -1 : 1));
  for (const { bounds, rows } of ordered) {
    yield windowTable(rows.length === 0 ? emptyLike(table) : table.take(Uint32Array.from(rows)), clipped(bounds, range), options);
  }
}

function isDisjoint({ every, period }: Windows): boolean {
  return every.months === period.months && every.ns === period.ns;
}

function clipped({ startNs, stopNs }: WindowBounds, range: TimeBounds | null): TimeBounds {
  if (range === null) return { startNs, stopNs };
  return { startNs: startNs > range.startNs ? startNs : range.startNs, stopNs: stopNs < range.stopNs ? stopNs : range.stopNs };
}

function windowTable(table: FluxTable, { startNs, stopNs }: TimeBounds, { startColumn, stopColumn }: WindowOptions): FluxTable {
  const bounds: KeyColumn[] = [
    { label: startColumn, type: "time", value: new Time(startNs) },
    { label: stopColumn, type: "time", value: new Time(stopNs) },
  ];
  let made = table;
  for (const { label, type, value } of bounds) made = made.set(FluxColumn.constant(label, type, value, table.rowCount));
  return made.with(made.columns, table.key.with(...bounds));
}

const LARGEST_NS = (1n << 63n) - 1n;

/** `every: inf`: windows of one series come together again, within the bounds of the range. */
function* whole(input: Tables, options: WindowOptions): Tables {
  const bounds = options.bounds ?? { startNs: -LARGEST_NS, stopNs: LARGEST_NS };
  const merge = new TableMerge();
  for (const table of input) {
    yield null;
    if (table === null) continue;
    const times = table.column(options.timeColumn);
    if (times === undefined) throw new FluxError(`missing time column "${options.timeColumn}"`);
    const made = windowTable(withTimes(table, options.timeColumn), bounds, options);
    merge.append(made.key, made);
  }
  yield* merge.tables();
}

/** Rows without a time belong to no window. */
function withTimes(table: FluxTable, timeColumn: string): FluxTable {
  const times = table.column(timeColumn)!;
  if (times.valid === null) return table;
  const rows: number[] = [];
  for (let row = 0; row < table.rowCount; row++) if (!isNull(times.get(row))) rows.push(row);
  return rows.length === table.rowCount ? table : table.take(Uint32Array.from(rows));
}
