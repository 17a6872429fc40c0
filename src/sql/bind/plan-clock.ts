// Values that follow from now(). A text that is run again has another now(): so such times and ranges of times stay functions of it, and a
// known plan computes their values for each run (plan/known-plan.ts). Reading a value while the statement is planned makes its plan one of
// this moment, which is not used again: so rules that decide by the clock without knowing of other runs are correct.
import type { TimeRange } from "../../model/query/scan.ts";
import type { Typed } from "./kind.ts";

/** A value by the value of now(). */
export type At<T> = (nowNs: bigint) => T;

/** A value that follows from now(). */
export interface Deferred<T> {
  readonly clock: PlanClock;
  readonly at: At<T>;
}

/** The clock of a statement that is planned. */
export class PlanClock {
  /** True if a part of the plan follows from now(), as a function or a value. */
  isUsed = false;
  /** True if the plan is one of this moment. */
  isRead = false;

  constructor(private readonly nowNs: bigint) {}

  /** The value of now(), for a plan of this moment. */
  now(): bigint {
    this.isUsed = true;
    this.isRead = true;
    return this.nowNs;
  }

  /** A value for this moment, of a function that is kept for later ones. */
  valueOf<T>(at: At<T>): T {
    this.isUsed = true;
    return at(this.nowNs);
  }

  /** A range of times that follows from now(). */
  range(at: At<TimeRange>): TimeRange {
    const range = this.valueOf(at);
    const read = <T>(value: T): T => {
      this.now();
      return value;
    };
    // own properties, because copies of an object have no others
    const deferred: TimeRange = {
      get minNs() {
        return read(range.minNs);
      },
      get maxNs() {
        return read(range.maxNs);
      },
    };
    deferredRanges.set(deferred, { clock: this, at });
    return deferred;
  }
}

const deferredRanges = new WeakMap<TimeRange, Deferred<TimeRange>>();
/** Copies of these times are values of one moment. */
const deferredTimes = new WeakMap<Typed, Deferred<bigint>>();

/** Notes that a time follows from now(). Its properties must read the clock. */
export function noteDeferred(time: Typed, deferred: Deferred<bigint>): void {
  deferredTimes.set(time, deferred);
}

/** The function of a time that follows from now(). */
export function deferredTime(time: Typed): Deferred<bigint> | undefined {
  return deferredTimes.get(time);
}

/** True if the range follows from now(). */
export function isDeferred(range: TimeRange): boolean {
  return deferredRanges.has(range);
}

/** The range when now() has that value. */
export function rangeAt(range: TimeRange, nowNs: bigint): TimeRange {
  return deferredRanges.get(range)?.at(nowNs) ?? range;
}

/** `map(range)`, which follows from now() if the range does. */
export function mapRange(range: TimeRange, map: (range: TimeRange) => TimeRange): TimeRange {
  const deferred = deferredRanges.get(range);
  return deferred === undefined ? map(range) : deferred.clock.range((nowNs) => map(deferred.at(nowNs)));
}

/** The times of both ranges. */
export function intersect(a: TimeRange, b: TimeRange): TimeRange {
  const deferred = deferredRanges.get(a) ?? deferredRanges.get(b);
  return deferred === undefined ? both(a, b) : deferred.clock.range((nowNs) => both(rangeAt(a, nowNs), rangeAt(b, nowNs)));
}

function both(a: TimeRange, b: TimeRange): TimeRange {
  return { minNs: a.minNs > b.minNs ? a.minNs : b.minNs, maxNs: a.maxNs < b.maxNs ? a.maxNs : b.maxNs };
}
