// Durations in templates: read in any unit, stored in hours, minutes and seconds, as in the vendor's exports.
import { lengthNs, overlongPart, readParts } from "../flux/values/duration.ts";
import type { SpecReader } from "./spec-reader.ts";

/** Of what has no duration. */
export const NO_DURATION = "0s";
const SECOND_NS = 1_000_000_000n;
const SMALL: readonly (readonly [string, bigint])[] = [
  ["ms", 1_000_000n],
  ["µs", 1000n],
  ["ns", 1n],
];

/** `1h30m0s` or `-1h0m0s`; "0s" for none. */
export function clockText(ns: bigint): string {
  if (ns < 0n) return `-${clockText(-ns)}`;
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
  const read = readParts(spec.text(name));
  if (read === null || overlongPart(read.parts) !== null) return NO_DURATION;
  const ns = lengthNs(read.parts);
  return clockText(read.isNegative ? -ns : ns);
}

/** Of a check: "" for what is negative or has fractions, as its clock text is read once more. */
export function readWholeDuration(spec: SpecReader, name: string): string {
  const text = readDuration(spec, name);
  return /[-.]/.test(text) ? "" : text.replace("µ", "u");
}

/** `90s` as `1m30s`, as exports have it. */
export function exportedPeriod(text: string): string {
  const parts = readParts(text)?.parts;
  return parts === undefined ? text : clockText(lengthNs(parts));
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, "0")
    .replace(/0+$/, "");
  return fraction === "" || unit === 1n ? `${value / unit}` : `${value / unit}.${fraction}`;
}
