// Windows of GROUP BY time(length, offset), in the local time of a zone: the window of a time, the windows of sorted points, and all
// windows of a range, for `fill`. A window starts where local time is a multiple of the length, plus the offset; where the clock jumps by
// less than the length, the window around the jump is longer or shorter.
import { TsdbError } from "../../model/errors.ts";
import { I64_MIN } from "../../model/rows/int64.ts";
import { inSteps, StepCounter, type Steps } from "../../model/steps.ts";
import type { TimeZone } from "../../model/time/time-zone.ts";
import type { Windows } from "./operator.ts";

export interface WindowGrid {
  /** Positive. */
  readonly intervalNs: bigint;
  readonly offsetNs: bigint;
  /** Null: UTC. */
  readonly zone: TimeZone | null;
}

/** The least and greatest times of the language. */
export const TIME_MIN = I64_MIN + 2n;
export const TIME_MAX = 2n ** 63n - 2n;

/** Maximum windows per group of a statement, including empty ones. */
const WINDOWS_MAX = 10_000_000;

/** Cost of finding a window, in units of rows. */
const WINDOW_COST = 16;

export interface Window {
  readonly startNs: bigint;
  /** Exclusive. */
  readonly endNs: bigint;
}

/** The window that contains a time. */
export function windowAt({ intervalNs, offsetNs, zone }: WindowGrid, timeNs: bigint): Window {
  const time = timeNs - offsetNs;
  const zoneNs = zone === null ? 0n : zone.offsetAt(clamp(time));
  let into = (time + zoneNs) % intervalNs;
  if (into < 0n) into += intervalNs;
  let startNs = clamp(time - into + offsetNs);
  let endNs = clamp(time + intervalNs - into);
  if (zone !== null) {
    // a clock change between the start and the time, smaller than the window
    const atStart = zoneNs - zone.offsetAt(startNs);
    if (atStart !== 0n && isShorter(atStart, intervalNs)) startNs += atStart;
    const endOffsetNs = zone.offsetAt(endNs);
    const atEnd = zoneNs - endOffsetNs;
    // skipped local time belongs to the following window, so the end moves only if the change is still before it then
    if (atEnd !== 0n && isShorter(atEnd, intervalNs) && (atEnd > 0n || zone.offsetAt(endNs + atEnd) === endOffsetNs)) endNs += atEnd;
  }
  return { startNs, endNs: clamp(endNs + offsetNs) };
}

const isShorter = (changeNs: bigint, intervalNs: bigint) => (changeNs < 0n ? -changeNs : changeNs) < intervalNs;
const clamp = (timeNs: bigint) => (timeNs < TIME_MIN ? TIME_MIN : timeNs > TIME_MAX ? TIME_MAX : timeNs);

/** All points in one window, as without GROUP BY time; no window without points. */
export function oneWindow(pointCount: number, { startNs, endNs }: Window): Windows {
  const count = pointCount === 0 ? 0 : 1;
  return {
    startsNs: new BigInt64Array(count).fill(startNs),
    endsNs: new BigInt64Array(count).fill(endNs),
    offsets: pointCount === 0 ? new Int32Array(1) : Int32Array.of(0, pointCount),
  };
}

/** The windows of sorted times, without empty ones. */
export function* cutWindows(times: BigInt64Array, grid: WindowGrid, descending: boolean): Steps<Windows> {
  const counter = new StepCounter();
  const startsNs: bigint[] = [];
  const endsNs: bigint[] = [];
  const offsets: number[] = [0];
  for (let at = 0; at < times.length; ) {
    if (counter.isDue(WINDOW_COST)) yield;
    const { startNs, endNs } = windowAt(grid, times[at]!);
    at = Math.max(at + 1, descending ? firstBefore(times, startNs, at) : firstFrom(times, endNs, at));
    startsNs.push(startNs);
    endsNs.push(endNs);
    offsets.push(at);
  }
  return { startsNs: BigInt64Array.from(startsNs), endsNs: BigInt64Array.from(endsNs), offsets: Int32Array.from(offsets) };
}

/** The first row from `from` on with a time of at least `boundNs`, for ascending times. */
const firstFrom = (times: BigInt64Array, boundNs: bigint, from: number) => gallop(times.length, from, (row) => times[row]! >= boundNs);

/** The first row from `from` on with a time before `boundNs`, for descending times. */
const firstBefore = (times: BigInt64Array, boundNs: bigint, from: number) => gallop(times.length, from, (row) => times[row]! < boundNs);

/** The first row for which `isPast` is true; it is true for all later rows. Fast for near rows (galloping search). */
function gallop(count: number, from: number, isPast: (row: number) => boolean): number {
  let low = from;
  let step = 1;
  while (low + step < count && !isPast(low + step)) {
    low += step;
    step *= 2;
  }
  let high = Math.min(count, low + step);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isPast(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The starts of all windows from that of `fromNs` to that of `toNs`; the last first if descending. @throws TsdbError query_limit for
 *  too many windows */
export function* windowStarts(grid: WindowGrid, fromNs: bigint, toNs: bigint, descending: boolean): Steps<BigInt64Array> {
  const count = (toNs - fromNs) / grid.intervalNs + 1n;
  if (count > WINDOWS_MAX) throw new TsdbError("query_limit", `max-select-buckets limit exceeded: (${count}/${WINDOWS_MAX})`);
  const starts = grid.zone === null ? yield* evenStarts(grid, fromNs, toNs) : yield* zonedStarts(grid, fromNs, toNs);
  return descending ? starts.reverse() : starts;
}

function* evenStarts(grid: WindowGrid, fromNs: bigint, toNs: bigint): Steps<BigInt64Array> {
  const first = windowAt(grid, fromNs).startNs;
  const last = windowAt(grid, toNs).startNs;
  const starts = new BigInt64Array(last < first ? 0 : Number((last - first) / grid.intervalNs) + 1);
  yield* inSteps(starts.length, (from, to) => {
    for (let i = from; i < to; i++) starts[i] = first + BigInt(i) * grid.intervalNs;
  });
  return starts;
}

function* zonedStarts(grid: WindowGrid, fromNs: bigint, toNs: bigint): Steps<BigInt64Array> {
  const starts: bigint[] = [];
  const counter = new StepCounter();
  for (let window = windowAt(grid, fromNs); ; ) {
    if (counter.isDue(WINDOW_COST)) yield;
    starts.push(window.startNs);
    if (window.endNs > toNs || window.endNs >= TIME_MAX) return BigInt64Array.from(starts);
    const next = windowAt(grid, window.endNs);
    // where the clock is set back, two windows may have the same start
    window = next.startNs > window.startNs ? next : { startNs: window.endNs, endNs: window.endNs + grid.intervalNs };
  }
}
