// `window`: rows by windows of time.
import { FluxColumn } from "../../tables/column.ts";
import type { TableOrder, Tables, TimeBounds } from "../../tables/stream.ts";
import type { FluxTable, GroupKey, KeyColumn } from "../../tables/table.ts";
import { isZero, LONGEST } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { locationOf } from "../../values/location.ts";
import { Duration, FluxRecord, isNull, Time } from "../../values/value.ts";
import { TableMerge } from "../merge-tables.ts";
import type { NativeCall } from "../native-call.ts";
import { emptyLike } from "./shape.ts";
import { intervalProblem, type WindowBounds, type WindowOptions, Windows } from "./window-bounds.ts";

const ZERO = new Duration(0n, 0n);
/** Empty windows that one table may get. */
export const WINDOWS_MAX = 1_000_000;
/** Rows of one table in all its windows: a row may be in many. */
export const PLACES_MAX = 20_000_000;
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
  const place = call.record("location", call.run.location);
  // as recorded: by the clock of the zone, moved by the offset of the place
  const location = locationOf(FluxRecord.of({ zone: place.get("zone") ?? "UTC" }));
  const [moved, placeOffset] = [call.duration("offset", ZERO), place.get("offset")];
  const offset = placeOffset instanceof Duration ? new Duration(moved.months - placeOffset.months, moved.ns - placeOffset.ns) : moved;
  const problem = isWhole ? null : intervalProblem(effectiveEvery);
  return {
    problem,
    // one window of all times brings the range back
    windows: isWhole || problem !== null ? null : new Windows(effectiveEvery, effectivePeriod, offset, location),
    timeColumn: call.string("timeColumn", "_time"),
    startColumn: call.string("startColumn", "_start"),
    stopColumn: call.string("stopColumn", "_stop"),
    createEmpty: call.bool("createEmpty", false),
    bounds: call.stream().bounds,
  };
}

/** Whether the reference's storage computes these windows: whole ones in UTC. */
export function isStorableWindow(call: NativeCall): boolean {
  const [every, period, offset] = [call.duration("every", ZERO), call.duration("period", ZERO), call.duration("offset", ZERO)];
  const location = call.record("location", call.run.location);
  const zoneOffset = location.get("offset");
  const isUtc = ["UTC", ""].includes(String(location.get("zone"))) && (!(zoneOffset instanceof Duration) || isZero(zoneOffset));
  const isDisjointWindow = isZero(period) || (period.ns === every.ns && period.months === every.months);
  return every.ns !== LONGEST.ns && isDisjointWindow && isUtc && offset.ns >= 0n && offset.months >= 0n;
}

/**
 * The tables cut into windows of time, one table for each.
 * @param isMerged whether windows with equal bounds within the range are one table
 * @param order of the tables of `every: inf`
 */
export function* windowed(input: Tables, options: WindowOptions, isMerged = true, order: TableOrder = "keys"): Tables {
  if (options.windows === null) {
    yield* whole(input, options, order);
    return;
  }
  const { windows } = options;
  for (const table of input) {
    if (table === null) yield null;
    else yield* splitTable(table, windows, options, isMerged);
  }
}

function* splitTable(table: FluxTable, windows: Windows, options: WindowOptions, isMerged: boolean): Tables {
  for (const { shown, rows } of yield* foundWindows(table, windows, options, isMerged)) {
    yield windowTable(rows.length === 0 ? emptyLike(table) : table.take(Uint32Array.from(rows)), shown, options);
  }
}

/** The windows of one table, in order. @throws FluxError: it has no times, or too many windows */
export function* foundWindows(
  table: FluxTable,
  windows: Windows,
  options: WindowOptions,
  isMerged: boolean,
): Generator<null, readonly FoundWindow[], void> {
  const { timeColumn, createEmpty } = options;
  const times = table.column(timeColumn);
  if (times === undefined) throw new FluxError(`missing time column "${timeColumn}"`);
  if (times.type !== "time") throw new FluxError(`time column "${timeColumn}" is not a time`);
  const range = options.bounds;
  if (createEmpty && range === null) {
    throw new FluxError("nil bounds passed to window; use range to set the window range");
  }
  const found = new FoundWindows(windows, isMerged, range);
  let placed = 0;
  let pausedAt = windows.work;
  const isPauseDue = (): boolean => {
    const isDue = windows.work + placed - pausedAt > PAUSE_WORK;
    if (isDue) pausedAt = windows.work + placed;
    return isDue;
  };
  if (createEmpty && range !== null) {
    for (const bounds of windows.overlapping(range.startNs, range.stopNs)) {
      found.entry(bounds);
      if (isPauseDue()) yield null;
    }
  }
  /** Computed at once with empty windows, there are none beyond the range. */
  const isInside = createEmpty && !isMerged;
  let latest: readonly FoundWindow[] = [];
  /** The latest window holds all times within them. */
  let sure: TimeBounds | null = null;
  for (let row = 0; row < table.rowCount; row++) {
    if (times.isNull(row)) continue;
    const { ns } = times.get(row) as Time;
    // rows in order of time mostly fall into the windows of the row before
    if (sure === null || ns < sure.startNs || ns >= sure.stopNs) {
      const bounds = Array.from(windows.holding(ns)).filter((each) => !isInside || !found.isOutside(each));
      latest = bounds.map((each) => found.entry(each)).filter((entry) => found.takes(entry, ns));
      const [only] = latest;
      const isSure = only !== undefined && latest.length === 1 && isDisjoint(windows) && (!isMerged || hasEveryNs(windows, only.bounds));
      sure = !isSure ? null : isMerged ? only.bounds : only.shown;
    }
    for (const { rows } of latest) {
      rows.push(row);
      if (++placed > PLACES_MAX) throw new FluxError("window: too many rows in windows");
    }
    if (isPauseDue()) yield null;
  }
  return found.inOrder();
}

export interface FoundWindow {
  readonly bounds: WindowBounds;
  /** Within the range. */
  readonly shown: TimeBounds;
  readonly rows: number[];
}

/** The windows of one table that have a place in the answer. */
class FoundWindows {
  private readonly byBounds = new Map<bigint, FoundWindow>();

  constructor(
    private readonly windows: Windows,
    /** Windows with equal bounds within the range are one. */
    private readonly isMerged: boolean,
    private readonly range: TimeBounds | null,
  ) {}

  /** @throws FluxError: too many windows */
  entry(bounds: WindowBounds): FoundWindow {
    const shown = this.clipped(bounds);
    const { startNs, stopNs } = this.isMerged ? shown : bounds;
    // windows without a length are told apart by their order
    const key = (startNs << 64n) + (stopNs > startNs ? stopNs : BigInt(-1 - this.byBounds.size));
    let found = this.byBounds.get(key);
    if (found === undefined) {
      if (this.byBounds.size >= WINDOWS_MAX) throw new FluxError("window: too many windows");
      found = { bounds, shown, rows: [] };
      this.byBounds.set(key, found);
    }
    return found;
  }

  inOrder(): readonly FoundWindow[] {
    const of = this.isMerged ? ({ shown }: FoundWindow) => shown : ({ bounds }: FoundWindow) => bounds;
    const isBefore = (a: TimeBounds, b: TimeBounds) => a.startNs < b.startNs || (a.startNs === b.startNs && a.stopNs < b.stopNs);
    return [...this.byBounds.values()].sort((a, b) => (isBefore(of(a), of(b)) ? -1 : isBefore(of(b), of(a)) ? 1 : 0));
  }

  /** Computed at once, windows end with the range, and so do the rows in them. */
  takes({ shown }: FoundWindow, ns: bigint): boolean {
    return this.isMerged || this.range === null || this.windows.isBackward || (ns >= shown.startNs && ns < shown.stopNs);
  }

  isOutside({ startNs, stopNs }: WindowBounds): boolean {
    return this.range !== null && (startNs >= this.range.stopNs || stopNs <= this.range.startNs);
  }

  /** As recorded: a window beyond the range, or skipped by the clock, ends where the range begins, or is all of the range. */
  private clipped({ startNs, stopNs }: WindowBounds): TimeBounds {
    const { range, isMerged, windows } = this;
    if (range === null) return { startNs, stopNs };
    const isNowhere = stopNs <= startNs || this.isOutside({ startNs, stopNs });
    if (isNowhere && !windows.isBackward) return isMerged ? range : { startNs: range.startNs, stopNs: range.startNs };
    return { startNs: startNs > range.startNs ? startNs : range.startNs, stopNs: stopNs < range.stopNs ? stopNs : range.stopNs };
  }
}

/** Where a clock is set back, a window is longer, and does not hold all times of the hour that the clock shows twice. */
function hasEveryNs({ every, areOfFixedClock }: Windows, { startNs, stopNs }: WindowBounds): boolean {
  return areOfFixedClock || stopNs - startNs === every.ns;
}

function isDisjoint({ every, period }: Windows): boolean {
  return every.months === period.months && every.ns === period.ns;
}

function boundsColumns({ startNs, stopNs }: TimeBounds, { startColumn, stopColumn }: WindowOptions): KeyColumn[] {
  return [
    { label: startColumn, type: "time", value: new Time(startNs) },
    { label: stopColumn, type: "time", value: new Time(stopNs) },
  ];
}

/** The table as that of a window: the bounds are in its key. */
export function windowTable(table: FluxTable, times: TimeBounds, options: WindowOptions): FluxTable {
  const bounds = boundsColumns(times, options);
  let made = table;
  for (const { label, type, value } of bounds) made = made.set(FluxColumn.constant(label, type, value, table.rowCount));
  return made.with(made.columns, table.shownKey.with(...bounds));
}

const LARGEST_NS = (1n << 63n) - 1n;
const ALL_TIMES: TimeBounds = { startNs: -LARGEST_NS, stopNs: LARGEST_NS };

/** What a window of all times brings back. */
export function boundsOrAll({ bounds }: WindowOptions): TimeBounds {
  return bounds ?? ALL_TIMES;
}

/** The key that a table has behind `every: inf`. */
export function wholeKey(key: GroupKey, options: WindowOptions): GroupKey {
  return key.with(...boundsColumns(boundsOrAll(options), options));
}

/** `every: inf`: windows of one series come together again, within the bounds of the range. */
function* whole(input: Tables, options: WindowOptions, order: TableOrder): Tables {
  const bounds = boundsOrAll(options);
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
  yield* merge.tables(order);
}

/** Rows without a time belong to no window. */
function withTimes(table: FluxTable, timeColumn: string): FluxTable {
  const times = table.column(timeColumn)!;
  if (times.valid === null) return table;
  const rows: number[] = [];
  for (let row = 0; row < table.rowCount; row++) if (!isNull(times.get(row))) rows.push(row);
  return rows.length === table.rowCount ? table : table.take(Uint32Array.from(rows));
}
