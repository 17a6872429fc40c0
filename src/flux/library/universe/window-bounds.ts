// Windows of time: where they begin and end, with months and time zones.

import type { TimeBounds } from "../../tables/stream.ts";
import { addMonths, civilOf, DAY_NS, floorDiv, MONTH_NS } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import type { Location } from "../../values/location.ts";
import type { Duration } from "../../values/value.ts";

export interface WindowBounds {
  readonly startNs: bigint;
  readonly stopNs: bigint;
}

const QUARTER_NS = 900_000_000_000n;

/** Windows that may hold one time. */
const OVERLAP_MAX = 100_000n;
/** Windows that are looked at for one time: around a change of clocks, or at the end of a month, they need not come in the order of their
 *  numbers. */
const LOOKED_AT_MAX = 2 * Number(OVERLAP_MAX) + 1000;

/** Windows of `every`, each `period` long, moved by `offset`, by the clock of `location`. */
export class Windows {
  /** Windows computed so far: for pauses. */
  work = 0;
  /** Where the window of the number 0 begins, by the local clock. */
  private readonly zero: bigint;

  constructor(
    readonly every: Duration,
    readonly period: Duration,
    offset: Duration,
    private readonly location: Location,
  ) {
    this.zero = addMonths(0n, offset.months) + offset.ns;
    const problem = intervalProblem(every);
    if (problem !== null) throw new FluxError(problem);
    const longest = (period.ns < 0n ? -period.ns : period.ns) + (period.months < 0n ? -period.months : period.months) * MONTH_NS;
    if (longest / (every.ns + every.months * MONTH_NS) > OVERLAP_MAX) throw new FluxError("window: too many windows overlap");
  }

  /** Whether all have one width and follow each other. */
  get areFixed(): boolean {
    const { every, period, location } = this;
    return location.isFixed && every.months === 0n && period.months === 0n && period.ns === every.ns;
  }

  get areOfFixedClock(): boolean {
    return this.location.isFixed;
  }

  /** Where the window of the number 0 begins, if all are of one width and begin at one distance; null: they need not. */
  get regularZeroNs(): bigint | null {
    const { every, period, location } = this;
    return location.isFixed && every.months === 0n && period.months === 0n && period.ns > 0n ? this.toUtc(this.zero) : null;
  }

  /** Whether windows end before they begin. */
  get isBackward(): boolean {
    return this.period.ns < 0n || this.period.months < 0n;
  }

  /** The windows that hold the time, the latest first. What the clock shows again may be in none: its window is where it was first. */
  *holding(ns: bigint): Generator<WindowBounds> {
    let index = this.localIndexOf(ns);
    for (let looked = 0; ; looked++, index--) {
      checkLooked(looked);
      const bounds = this.at(index);
      if (ns < bounds.startNs || ns >= bounds.stopNs) return;
      yield bounds;
    }
  }

  /** Windows that overlap [startNs, stopNs), in order. */
  *overlapping(startNs: bigint, stopNs: bigint): Generator<WindowBounds> {
    let index = this.indexOf(startNs);
    for (let looked = 0; this.at(index - 1n).stopNs > startNs; looked++) {
      checkLooked(looked);
      index--;
    }
    for (let looked = 0; this.at(index).stopNs <= startNs; looked++) {
      checkLooked(looked);
      index++;
    }
    for (; ; index++) {
      const bounds = this.at(index);
      if (bounds.startNs >= stopNs) return;
      yield bounds;
    }
  }

  /** The window of the number: both ends by the local clock. */
  private at(index: bigint): WindowBounds {
    this.work++;
    const start = this.localStart(index);
    const stop = this.period.months === 0n ? start + this.period.ns : addMonths(start, this.period.months) + this.period.ns;
    return { startNs: this.toUtc(start), stopNs: this.toUtc(stop) };
  }

  private localStart(index: bigint): bigint {
    const { every, zero } = this;
    return every.months === 0n ? zero + index * every.ns : addMonths(zero, index * every.months);
  }

  /** A time that the clock skips is when it does. */
  private toUtc(localNs: bigint): bigint {
    const { location } = this;
    const ns = location.toUtc(localNs);
    if (location.isFixed || location.toLocal(ns) === localNs) return ns;
    const after = location.toLocal(ns) - ns;
    // clocks change at full quarters of an hour
    let at = floorDiv(ns, QUARTER_NS) * QUARTER_NS;
    while (location.toLocal(at - 1n) - (at - 1n) === after) at -= QUARTER_NS;
    return at;
  }

  /** The number of the latest window that begins at or before the local clock of the time. */
  private localIndexOf(ns: bigint): bigint {
    const local = this.location.toLocal(ns);
    const { every, zero } = this;
    if (every.months === 0n) return floorDiv(local - zero, every.ns);
    const index = floorDiv(monthIndex(local) - monthIndex(zero), every.months);
    return this.localStart(index) > local ? index - 1n : index;
  }

  /** The number of the latest window that begins at or before the time. */
  private indexOf(ns: bigint): bigint {
    const index = this.localIndexOf(ns);
    if (this.at(index).startNs > ns) return index - this.farthest((steps) => this.at(index - steps + 1n).startNs > ns);
    return index + this.farthest((steps) => this.at(index + steps).startNs <= ns);
  }

  /** How many steps from 0 on have the property, which they lose once: clocks and months may move a window by many of its widths. */
  private farthest(has: (steps: bigint) => boolean): bigint {
    let [steps, stride] = [0n, 1n];
    while (has(steps + stride)) {
      steps += stride;
      stride *= 2n;
    }
    while (stride > 1n) {
      stride /= 2n;
      if (has(steps + stride)) steps += stride;
    }
    return steps;
  }
}

/** What is wrong with a duration between windows; null: nothing. */
export function intervalProblem({ months, ns }: Duration): string | null {
  if (months !== 0n && ns !== 0n) return "duration used as an interval cannot mix month and nanosecond units";
  if (months === 0n && ns === 0n) return "duration used as an interval cannot be zero";
  // without `every`, windows follow each other by their length
  return months < 0n || ns < 0n ? "duration used as an interval cannot be negative" : null;
}

/** @throws FluxError: too many */
function checkLooked(count: number): void {
  if (count > LOOKED_AT_MAX) throw new FluxError("window: too many windows overlap");
}

/** Months since January 1970. */
function monthIndex(ns: bigint): bigint {
  const { year, month } = civilOf(Number(floorDiv(ns, DAY_NS)));
  return BigInt((year - 1970) * 12 + month - 1);
}

export interface WindowOptions {
  readonly windows: Windows | null;
  /** Why there are no such windows; null: there are. */
  readonly problem: string | null;
  readonly timeColumn: string;
  readonly startColumn: string;
  readonly stopColumn: string;
  readonly createEmpty: boolean;
  /** What `range` has set. */
  readonly bounds: TimeBounds | null;
}
