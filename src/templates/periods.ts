// Durations in templates: read in any unit, stored in hours, minutes and seconds, as in the vendor's exports.

import { periodNs, readPeriod } from "../alerts/scripts/period.ts";
import { TsdbError } from "../model/errors.ts";
import type { SpecReader } from "./spec-reader.ts";

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

/** Null: absent. An invalid duration is an issue. */
export function readDuration(spec: SpecReader, name: string): string | null {
  const text = spec.text(name);
  if (text === "") return null;
  try {
    return clockText(periodNs(readPeriod(text)));
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    spec.issue(name, error.message);
    return null;
  }
}

/** The period of a recurring action. An absent or too short one is an issue. */
export function readEvery(spec: SpecReader, minimumSeconds: number): string {
  const every = readDuration(spec, "every");
  if (every === null) {
    if (!spec.has("every")) spec.issue("every", "is required: a duration such as 1h");
    return "0s";
  }
  if (periodNs(readPeriod(every)) < BigInt(minimumSeconds) * SECOND_NS) {
    spec.issue("every", `is shorter than ${minimumSeconds} seconds`);
  }
  return every;
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, "0")
    .replace(/0+$/, "");
  return fraction === "" || unit === 1n ? `${value / unit}` : `${value / unit}.${fraction}`;
}
