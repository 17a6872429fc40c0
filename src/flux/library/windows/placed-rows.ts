// Rows of a table by windows, for operators that take those of all windows at once.
import type { FluxColumn } from "../../tables/column.ts";
import type { TimeBounds } from "../../tables/stream.ts";
import type { FluxTable } from "../../tables/table.ts";
import { floorDiv } from "../../values/duration.ts";
import { foundWindows, PLACES_MAX, WINDOWS_MAX } from "../universe/window.ts";
import type { WindowOptions, Windows } from "../universe/window-bounds.ts";
import { WindowRows, type WindowTimes } from "./window-rows.ts";

/** Rows, and windows, between two pauses. */
const PAUSE_WORK = 16_384;

/** Windows whose numbers are counted though most may have no rows. */
const SPAN_MAX = 4_000_000n;

/** Regular windows that rows of a range can be in. */
interface Regular {
  readonly zeroNs: bigint;
  readonly everyNs: bigint;
  readonly periodNs: bigint;
  readonly range: TimeBounds | null;
}

/** Finds the windows of the rows of each table of a stream. */
export class RowPlacer {
  private readonly windows: Windows;
  private readonly regular: Regular | null;
  /** Of all windows of the range: tables beside each other share them. */
  private allTimes: WindowTimes | null = null;

  /** @param isMerged whether windows with equal bounds within the range are one */
  constructor(
    private readonly options: WindowOptions,
    private readonly isMerged: boolean,
  ) {
    this.windows = options.windows!;
    this.regular = regularWindows(this.windows, options.bounds);
  }

  /** @param table with bounds of windows as columns @throws FluxError: it has no times, or too many windows */
  *placed(table: FluxTable): Generator<null, WindowRows, void> {
    const times = table.column("_time");
    if (this.regular !== null && times?.type === "time") {
      const found = yield* this.regularRows(table, times, this.regular);
      if (found !== null) return found;
    }
    const found = yield* foundWindows(table, this.windows, this.options, this.isMerged);
    const ends = new Uint32Array(found.length);
    const [startsNs, stopsNs] = [new BigInt64Array(found.length), new BigInt64Array(found.length)];
    let count = 0;
    for (const [i, { shown, rows }] of found.entries()) {
      count += rows.length;
      ends[i] = count;
      startsNs[i] = shown.startNs;
      stopsNs[i] = shown.stopNs;
    }
    const places = new Uint32Array(count);
    for (const [i, { rows }] of found.entries()) places.set(rows, ends[i]! - rows.length);
    return new WindowRows(table, places, ends, { startsNs, stopsNs });
  }

  /** Null: there are rows beyond the range, or more windows or rows in them than are counted here. */
  private *regularRows(table: FluxTable, times: FluxColumn, regular: Regular): Generator<null, WindowRows | null, void> {
    const { createEmpty, bounds } = this.options;
    const numbers = yield* numbered(times, regular);
    if (numbers === null) return null;
    let { first, last } = numbers;
    if (createEmpty) {
      if (bounds === null) return null;
      first = firstHolding(bounds.startNs, regular);
      last = floorDiv(bounds.stopNs - 1n - regular.zeroNs, regular.everyNs);
      if (last - first >= BigInt(WINDOWS_MAX)) return null;
    }
    if (last < first) return new WindowRows(table, new Uint32Array(0), new Uint32Array(0), timesOf([], first, regular));
    if (last - first >= SPAN_MAX) return null;
    const span = Number(last - first) + 1;
    const shift = Number(numbers.base - first);
    const { lows, highs, isOrdered } = numbers;
    // where each window's rows begin, then where they end
    const ends = new Uint32Array(span + 1);
    let placed = 0;
    for (let row = 0; row < highs.length; row++) {
      for (let number = lows[row]! + shift; number <= highs[row]! + shift; number++) ends[number + 1]!++;
      placed += highs[row]! - lows[row]! + 1;
      if (placed > PLACES_MAX) return null;
      if (row % PAUSE_WORK === PAUSE_WORK - 1) yield null;
    }
    for (let number = 0; number < span; number++) ends[number + 1]! += ends[number]!;
    yield null;
    let places: Uint32Array | null = null;
    if (!isOrdered || placed !== highs.length) {
      places = new Uint32Array(placed);
      const next = ends.slice(0, span);
      for (let row = 0; row < highs.length; row++) {
        for (let number = lows[row]! + shift; number <= highs[row]! + shift; number++) places[next[number]!++] = row;
        if (row % PAUSE_WORK === PAUSE_WORK - 1) yield null;
      }
    }
    if (createEmpty) {
      this.allTimes ??= timesOf(
        Uint32Array.from({ length: span }, (_, i) => i),
        first,
        regular,
      );
      return new WindowRows(table, places, ends.subarray(1), this.allTimes);
    }
    const kept = new Uint32Array(Math.min(span, placed));
    let count = 0;
    for (let number = 0; number < span; number++) if (ends[number + 1]! > ends[number]!) kept[count++] = number;
    const shown = kept.subarray(0, count);
    return new WindowRows(
      table,
      places,
      shown.map((number) => ends[number + 1]!),
      timesOf(shown, first, regular),
    );
  }
}

/** Null: windows differ in width or distance, or two of them may have one beginning and end within the range. */
function regularWindows(windows: Windows, range: TimeBounds | null): Regular | null {
  const zeroNs = windows.regularZeroNs;
  const [everyNs, periodNs] = [windows.every.ns, windows.period.ns];
  if (zeroNs === null || everyNs <= 0n) return null;
  if (range !== null && (range.stopNs <= range.startNs || (periodNs > everyNs && periodNs >= range.stopNs - range.startNs))) return null;
  return { zeroNs, everyNs, periodNs, range };
}

interface Numbered {
  /** The number of the window that `lows` and `highs` count from. */
  readonly base: bigint;
  /** Of each row: the first and the last window that holds it; the last is less where none does. */
  readonly lows: Float64Array;
  readonly highs: Float64Array;
  readonly first: bigint;
  readonly last: bigint;
  /** Whether each row is in one window, that of the row before or a later one. */
  readonly isOrdered: boolean;
}

/** The number of the first window that holds the time, or begins after it. */
function firstHolding(ns: bigint, { zeroNs, everyNs, periodNs }: Regular): bigint {
  return floorDiv(ns - zeroNs - periodNs, everyNs) + 1n;
}

/** The windows of each row. Null: a row has no time, or none in the range. */
function* numbered(times: FluxColumn, regular: Regular): Generator<null, Numbered | null, void> {
  const { zeroNs, everyNs, periodNs, range } = regular;
  const { length, mask } = times;
  const cells = times.cells as BigInt64Array;
  const isDisjoint = periodNs === everyNs;
  const [lows, highs] = [new Float64Array(length), new Float64Array(length)];
  if (length === 0 || times.valid !== null) return length === 0 ? { base: 0n, lows, highs, first: 0n, last: -1n, isOrdered: true } : null;
  const base = floorDiv(cells[0]! - zeroNs, everyNs);
  // times of which the row's windows are those of the row before
  let [fromNs, toNs] = [0n, 0n];
  let [low, high] = [0, 0];
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let isOrdered = isDisjoint;
  for (let row = 0; row < length; row++) {
    const ns = cells[row & mask]!;
    if (ns < fromNs || ns >= toNs) {
      if (range !== null && (ns < range.startNs || ns >= range.stopNs)) return null;
      const before = high;
      const last = floorDiv(ns - zeroNs, everyNs);
      const first = isDisjoint ? last : firstHolding(ns, regular);
      low = Number(first - base);
      high = Number(last - base);
      if (row > 0 && high < before) isOrdered = false;
      if (low <= high) {
        least = Math.min(least, low);
        most = Math.max(most, high);
      }
      // where the last window begins or the one before the first ends, until the next begins or the first ends
      const beginNs = zeroNs + last * everyNs;
      const nextNs = zeroNs + (last + 1n) * everyNs;
      const outNs = zeroNs + (first - 1n) * everyNs + periodNs;
      const endNs = zeroNs + first * everyNs + periodNs;
      fromNs = beginNs > outNs ? beginNs : outNs;
      toNs = nextNs < endNs ? nextNs : endNs;
      if (range !== null && fromNs < range.startNs) fromNs = range.startNs;
      if (range !== null && toNs > range.stopNs) toNs = range.stopNs;
    }
    lows[row] = low;
    highs[row] = high;
    if (row % PAUSE_WORK === PAUSE_WORK - 1) yield null;
  }
  // no window has a row
  if (most < least) [least, most] = [0, -1];
  return { base, lows, highs, first: base + BigInt(least), last: base + BigInt(most), isOrdered };
}

/** The bounds of windows within the range. @param numbers counted from `first` */
function timesOf(numbers: ArrayLike<number>, first: bigint, { zeroNs, everyNs, periodNs, range }: Regular): WindowTimes {
  const [startsNs, stopsNs] = [new BigInt64Array(numbers.length), new BigInt64Array(numbers.length)];
  for (let i = 0; i < numbers.length; i++) {
    const startNs = zeroNs + (first + BigInt(numbers[i]!)) * everyNs;
    const stopNs = startNs + periodNs;
    startsNs[i] = range !== null && startNs < range.startNs ? range.startNs : startNs;
    stopsNs[i] = range !== null && stopNs > range.stopNs ? range.stopNs : stopNs;
  }
  return { startsNs, stopsNs };
}
