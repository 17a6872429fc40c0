// Windows of GROUP BY time: which one an instant lies in, by UTC or by the clock of a zone.
import type { TimeZone } from "../model/time-zone.ts";
import type { Interval } from "./check-select.ts";
import { MAX_TIME_NS, MIN_TIME_NS } from "./plan-condition.ts";

export interface Window {
  readonly startNs: bigint;
  /** Exclusive. */
  readonly endNs: bigint;
}

/** The window of an instant. By a clock, a day is as long as the clock makes it. */
export function windowAt(ns: bigint, { durationNs, offsetNs }: Interval, zone: TimeZone | null): Window {
  const t = ns - offsetNs;
  const zoneNs = zone?.offsetAt(t) ?? 0n;
  let into = (t + zoneNs) % durationNs;
  if (into < 0n) into += durationNs;
  let start = t - into < MIN_TIME_NS ? MIN_TIME_NS : t - into;
  let end = MAX_TIME_NS - t < durationNs - into ? MAX_TIME_NS : start + durationNs;
  if (zone !== null) {
    // the clock may change within the window: both ends are where the clock shows what they should
    const startZone = zone.offsetAt(start);
    if (startZone !== zoneNs) {
      const shift = zoneNs - startZone;
      if (shift < durationNs && shift > -durationNs) start += shift;
    }
    const endZone = zone.offsetAt(end);
    if (endZone !== zoneNs) {
      const shift = zoneNs - endZone;
      if (shift < durationNs && shift > -durationNs) end += shift;
    }
  }
  return { startNs: start + offsetNs, endNs: end + offsetNs };
}
