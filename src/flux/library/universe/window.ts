// `window`: rows by windows of time.
import { FluxColumn } from "../../tables/column.ts";
import type { Tables, TimeBounds } from "../../tables/stream.ts";
import type { FluxTable, GroupKey, KeyColumn } from "../../tables/table.ts";
import { isZero, LONGEST } from "../../values/duration.ts";
import { FluxError, UnplacedError } from "../../values/flux-error.ts";
import { type Location, locationOf } from "../../values/location.ts";
import { Duration, isNull, Time } from "../../values/value.ts";
import { TableMerge } from "../merge-tables.ts";
import type { NativeCall } from "../native-call.ts";
import { emptyLike } from "./shape.ts";
import { type WindowBounds, type WindowOptions, Windows } from "./window-bounds.ts";

const ZERO = new Duration(0n, 0n);
/** Empty windows that one table may get. */
export const WINDOWS_MAX = 1_000_000;
/** Rows of one table in all its windows: a row may be in many. */
const PLACES_MAX = 20_000_000;
/** Windows computed and rows placed between two pauses. */
const PAUSE_WORK = 65_536;

/** The arguments of a call of `window` or `aggregateWindow`. @throws FluxError for invalid ones */
export function windowOptions(call: NativeCall): WindowOptions {
  const every = call.duration("every", ZERO);
  const period = call.duration("period", ZERO);
  if (every.ns < 0n || every.months < 0n) throw new FluxError('parameter "every" must be non-negative');
  if (isZero(every) && isZero(period))
    throw new FluxError(`window function requires at least one of "every" or "period" to be set and non-zero`);
  const isWhole = every.ns === LONGEST.ns;
  const effectiveEvery = isZero(every) ? period : every;
  const effectivePeriod = isZero(period) ? effectiveEvery : period;
  const location = locationOf(call.record("location", call.run.location));
  return {
    // one window of all times brings the range back
    windows: isWhole ? null : windowsOf(effectiveEvery, effectivePeriod, call.duration("offset", ZERO), location),
    timeColumn: call.string("timeColumn", "_time"),
    startColumn: call.string("startColumn", "_start"),
    stopColumn: call.string("stopColumn", "_stop"),
    createEmpty: call.bool("createEmpty", false),
    bounds: call.stream().bounds,
  };
}

function windowsOf(every: Duration, period: Duration, offset: Duration, location: Location): Windows {
  try {
    return new Windows(every, period, offset, location);
  } catch (error) {
    throw error instanceof FluxError ? new UnplacedError(error.message) : error;
  }
}

/** Whether the reference's storage computes these windows: whole ones in UTC. */
export function isStorableWindow(call: NativeCall): boolean {
  const [every, period, offset] = [call.duration("every", ZERO), call.duration("period", ZERO), call.duration("offset", ZERO)];
  const location = call.record("location", call.run.location);
  const zoneOffset = location.get("offset");
  const isUtc = location.get("zone") === "UTC" && (!(zoneOffset instanceof Duration) || isZero(zoneOffset));
  const isDisjointWindow = isZero(period) || (period.ns === every.ns && period.months === every.months);
  return every.ns !== LONGEST.ns && isDisjointWindow && isUtc && offset.ns >= 0n && offset.months >= 0n;
}

/**
 * The tables cut into windows of time, one table for each.
 * @param isMerged whether windows with equal bounds within the range are one table
 */
export function* windowed(input: Tables, options: WindowOptions, isMerged = true): Tables {
  if (options.windows === null) {
    yield* whole(input, options);
    return;
  }
  const { windows } = options;
  for (const table of input) {
    if (table === null) yield null;
    else yield* splitTable(table, windows, options, isMerged);
  }
}

function* splitTable(table: FluxTable, windows: Windows, options: WindowOptions, isMerged: boolean): Tables {
  const { timeColumn, createEmpty } = options;
  const times = table.column(timeColumn);
  if (times === undefined) throw new FluxError(`missing time column "${timeColumn}"`);
  if (times.type !== "time") throw new FluxError(`time column "${timeColumn}" is not a time`);
  const range = options.bounds;
  if (createEmpty && range === null) {
    throw new FluxError("nil bounds passed to window; use range to set the window range");
  }
  const found = new Map<bigint, { readonly bounds: WindowBounds; readonly rows: number[] }>();
  const keyOf = windowKey(isMerged ? range : null);
  let placed = 0;
  let pausedAt = windows.work;
  const isPauseDue = (): boolean => {
    const isDue = windows.work + placed - pausedAt > PAUSE_WORK;
    if (isDue) pausedAt = windows.work + placed;
    return isDue;
  };
  if (createEmpty && range !== null) {
    for (const bounds of windows.overlapping(range.startNs, range.stopNs)) {
      if (found.size >= WINDOWS_MAX) throw new FluxError("window: too many windows");
      const key = keyOf(bounds);
      if (!found.has(key)) found.set(key, { bounds, rows: [] });
      if (isPauseDue()) yield null;
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
      const key = keyOf(bounds);
      let entry = found.get(key);
      if (entry === undefined) {
        if (found.size >= WINDOWS_MAX) throw new FluxError("window: too many windows");
        entry = { bounds, rows: [] };
        found.set(key, entry);
      }
      entry.rows.push(row);
      if (++placed > PLACES_MAX) throw new FluxError("window: too many rows in windows");
    }
    if (isPauseDue()) yield null;
  }
  const ordered = [...found.values()].sort((a, b) => (a.bounds.startNs < b.bounds.startNs ? -1 : 1));
  for (const { bounds, rows } of ordered) {
    yield windowTable(rows.length === 0 ? emptyLike(table) : table.take(Uint32Array.from(rows)), clipped(bounds, range), options);
  }
}

const BEYOND_ALL_TIMES = 1n << 70n;

/** What tells windows apart. With a range: those that begin before it differ by their ends within it alone. */
function windowKey(range: TimeBounds | null): (bounds: WindowBounds) => bigint {
  if (range === null) return ({ startNs }) => startNs;
  return ({ startNs, stopNs }) => {
    if (startNs >= range.startNs) return startNs;
    return BEYOND_ALL_TIMES + (stopNs < range.stopNs ? stopNs : range.stopNs);
  };
}

function isDisjoint({ every, period }: Windows): boolean {
  return every.months === period.months && every.ns === period.ns;
}

function clipped({ startNs, stopNs }: WindowBounds, range: TimeBounds | null): TimeBounds {
  if (range === null) return { startNs, stopNs };
  return { startNs: startNs > range.startNs ? startNs : range.startNs, stopNs: stopNs < range.stopNs ? stopNs : range.stopNs };
}

function boundsColumns({ startNs, stopNs }: TimeBounds, { startColumn, stopColumn }: WindowOptions): KeyColumn[] {
  return [
    { label: startColumn, type: "time", value: new Time(startNs) },
    { label: stopColumn, type: "time", value: new Time(stopNs) },
  ];
}

function windowTable(table: FluxTable, times: TimeBounds, options: WindowOptions): FluxTable {
  const bounds = boundsColumns(times, options);
  let made = table;
  for (const { label, type, value } of bounds) made = made.set(FluxColumn.constant(label, type, value, table.rowCount));
  return made.with(made.columns, table.key.with(...bounds));
}

const LARGEST_NS = (1n << 63n) - 1n;
const ALL_TIMES: TimeBounds = { startNs: -LARGEST_NS, stopNs: LARGEST_NS };

/** The key that a table has behind `every: inf`. */
export function wholeKey(key: GroupKey, options: WindowOptions): GroupKey {
  return key.with(...boundsColumns(options.bounds ?? ALL_TIMES, options));
}

/** `every: inf`: windows of one series come together again, within the bounds of the range. */
function* whole(input: Tables, options: WindowOptions): Tables {
  const bounds = options.bounds ?? ALL_TIMES;
  const merge = new TableMerge();
  for (const table of input) {
    yield null;
    if (table === null) continue;
    const times = table.column(options.timeColumn);
    if (times === undefined) throw new FluxError(`missing time column "${options.timeColumn}"`);
    if (table.isEmpty) continue;
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
