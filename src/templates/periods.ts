// Durations in templates: read in any unit, stored in hours, minutes and seconds, as in the vendor's exports.

import { type Period, periodNs, readPeriod } from "../alerts/scripts/period.ts";
import { TsdbError } from "../model/errors.ts";
import type { SpecReader } from "./spec-reader.ts";

/** Of what has no duration. */
export const NO_DURATION = "0s";
const SECOND_NS = 1_000_000_000n;
const SMALL: readonly (readonly [string, bigint])[] = [
  ["ms", 1_000_000n],
  ["µs", 1000n],
  ["ns", 1n],
];

/** `1h30m0s`; "0s" for none. */
export function clockText(ns: bigint): string {
  if (ns === 0n) return "0s";
  if (ns < SECOND_NS) {
    const [unit, size] = SMALL.find(([, each]) => ns >= each)!;
    return `${decimal(ns, size)}${unit}`;
  }
  const seconds = ns / SECOND_NS;
  const [h, m] = [seconds / 3600n, (seconds / 60n) % 60n];
  const rest = decimal(ns - (h * 3600n + m * 60n) * SECOND_NS, SECOND_NS);
  return `${h > 0n ? `${h}h` : ""}${h > 0n || m > 0n ? `${m}m` : ""}${rest}s`;
}

/** "0s": absent, or no duration. */
export function readDuration(spec: SpecReader, name: string): string {
  try {
    return clockText(lengthNs(readPeriod(spec.text(name))));
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    return NO_DURATION;
  }
}

/** As release 2.8.0 counts them in templates: a month has 28 days, a year 52 weeks. */
function lengthNs({ parts }: Period): bigint {
  const weeks = parts.map(({ count, unit }) => {
    if (unit === "mo") return { count: count * 4n, unit: "w" };
    return unit === "y" ? { count: count * 52n, unit: "w" } : { count, unit };
  });
  return periodNs({ parts: weeks });
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, "0")
    .replace(/0+$/, "");
  return fraction === "" || unit === 1n ? `${value / unit}` : `${value / unit}.${fraction}`;
}
