// Interval literals. DuckDB's intervals have microseconds; ours keep nanoseconds until they are combined with a time.
import { TsdbError } from "../../model/errors.ts";
import { I64_MAX } from "../../model/rows/int64.ts";
import { DAY_NS, HOUR_NS, MINUTE_NS, SECOND_NS } from "../../model/time/time-units.ts";

/** Months and days have no fixed length in general; in UTC a day has 24 hours. */
export interface Interval {
  readonly months: number;
  readonly days: number;
  readonly ns: bigint;
}

type UnitLength = { readonly ns: bigint } | { readonly days: number } | { readonly months: number };

/** Includes the vendor's abbreviations. */
const UNITS: ReadonlyMap<string, UnitLength> = new Map(
  Object.entries({
    nanosecond: { ns: 1n },
    ns: { ns: 1n },
    microsecond: { ns: 1_000n },
    us: { ns: 1_000n },
    usec: { ns: 1_000n },
    usecond: { ns: 1_000n },
    µs: { ns: 1_000n },
    millisecond: { ns: 1_000_000n },
    ms: { ns: 1_000_000n },
    msec: { ns: 1_000_000n },
    msecond: { ns: 1_000_000n },
    second: { ns: SECOND_NS },
    s: { ns: SECOND_NS },
    sec: { ns: SECOND_NS },
    minute: { ns: MINUTE_NS },
    m: { ns: MINUTE_NS },
    min: { ns: MINUTE_NS },
    hour: { ns: HOUR_NS },
    h: { ns: HOUR_NS },
    hr: { ns: HOUR_NS },
    day: { days: 1 },
    d: { days: 1 },
    week: { days: 7 },
    w: { days: 7 },
    month: { months: 1 },
    mon: { months: 1 },
    quarter: { months: 3 },
    year: { months: 12 },
    y: { months: 12 },
    yr: { months: 12 },
    decade: { months: 120 },
    dec: { months: 120 },
    century: { months: 1200 },
    c: { months: 1200 },
    cent: { months: 1200 },
    millennium: { months: 12000 },
  }),
);

/** Plurals not formed by a final s. */
export const PLURALS: ReadonlyMap<string, string> = new Map(Object.entries({ centuries: "century", millennia: "millennium" }));

function unitOf(word: string): UnitLength | undefined {
  const lower = word.toLowerCase();
  const exact = UNITS.get(PLURALS.get(lower) ?? lower);
  return exact ?? (lower.endsWith("s") ? UNITS.get(lower.slice(0, -1)) : undefined);
}

const PART = /\s*([+-]?\s*\d+(?:\.\d*)?|[+-]?\s*\.\d+)\s*([A-Za-zµ]+)?\s*(ago\b)?/y;
const CLOCK = /\s*([+-])?(\d+):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?(?=\s|$)/y;

/** ISO 8601: `P1Y2M3DT4H5M6.5S`, with an optional sign per number. */
const ISO = /^\s*([+-])?P(?=.)((?:[+-]?\d+(?:\.\d+)?[YMWD])*)(?:T((?:[+-]?\d+(?:\.\d+)?[HMS])+))?\s*$/;
const ISO_DATE: Readonly<Record<string, string>> = { Y: "year", M: "month", W: "week", D: "day" };
const ISO_CLOCK: Readonly<Record<string, string>> = { H: "hour", M: "minute", S: "second" };

function parseIso(text: string): Interval | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  let total: Interval = { months: 0, days: 0, ns: 0n };
  for (const [part, units] of [
    [match[2] ?? "", ISO_DATE],
    [match[3] ?? "", ISO_CLOCK],
  ] as const) {
    for (const [, amount, unit] of part.matchAll(/([+-]?\d+(?:\.\d+)?)([A-Z])/g))
      total = addIntervals(total, scaledUnit(amount!, units[unit!]!)!);
  }
  return match[1] === "-" ? negateInterval(total) : total;
}

/** `1 hour`, `1 day 02:30:00`, `-1.5 minutes`, `5 ns`, `P1DT2H`; a plain number means seconds. Null for an invalid text. */
export function parseInterval(text: string): Interval | null {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  if (text.length > TEXT_CHARS_MAX) return null;
  const interval = parseIso(text) ?? parseParts(text);
  if (interval === null || isTooLarge(interval)) return null;
  if (parsed.size >= PARSED_MAX) parsed.clear();
  parsed.set(text, interval);
  return interval;
}

const TEXT_CHARS_MAX = 500;
/** Statements have few different intervals, and each is read several times. */
const parsed = new Map<string, Interval>();
const PARSED_MAX = 256;
const I32_MAX = 2 ** 31 - 1;

/** Months and days have 32 bits in the dialect, nanoseconds 64. */
export function isTooLarge({ months, days, ns }: Interval): boolean {
  return Math.abs(months) > I32_MAX || Math.abs(days) > I32_MAX || ns > I64_MAX || ns < -I64_MAX;
}

function parseParts(text: string): Interval | null {
  let total: Interval = { months: 0, days: 0, ns: 0n };
  let at = 0;
  let parts = 0;
  const end = text.trimEnd().length;
  while (at < end) {
    CLOCK.lastIndex = at;
    const clock = CLOCK.exec(text);
    if (clock !== null) {
      total = addIntervals(total, clockInterval(clock));
      at = CLOCK.lastIndex;
    } else {
      PART.lastIndex = at;
      const part = PART.exec(text);
      if (part === null) return null;
      // `2024-10-25` is no sum of seconds
      if (part[2] === undefined && PART.lastIndex < end) return null;
      const interval = scaledUnit(part[1]!.replaceAll(/\s/g, ""), part[2] ?? "second");
      if (interval === null) return null;
      total = addIntervals(total, part[3] === undefined ? interval : negateInterval(interval));
      at = PART.lastIndex;
    }
    parts++;
  }
  return parts === 0 ? null : total;
}

function clockInterval(match: RegExpExecArray): Interval {
  const [, sign, hours, minutes, seconds = "0", fraction = ""] = match;
  const ns = (BigInt(hours!) * 3600n + BigInt(minutes!) * 60n + BigInt(seconds)) * SECOND_NS + BigInt(fraction.padEnd(9, "0"));
  return { months: 0, days: 0, ns: sign === "-" ? -ns : ns };
}

/** True for a word that `scaledUnit` knows. */
export const isUnit = (word: string): boolean => unitOf(word) !== undefined;

/** `amount` (a decimal number) of a unit: for fractions a month has 30 days, a day 24 hours, and years have whole months. */
export function scaledUnit(amount: string, word: string): Interval | null {
  const unit = unitOf(word);
  const match = /^([+-])?(\d*)(?:\.(\d*))?$/.exec(amount);
  if (unit === undefined || match === null) return null;
  const sign = match[1] === "-" ? -1n : 1n;
  const fraction = match[3] ?? "";
  const scale = 10n ** BigInt(fraction.length);
  const scaled = sign * BigInt(`${match[2] ?? ""}${fraction}` || "0");
  if ("ns" in unit) return { months: 0, days: 0, ns: (scaled * unit.ns) / scale };
  if ("days" in unit) return splitDays(scaled * BigInt(unit.days), scale, 0);
  const months = (scaled * BigInt(unit.months)) / scale;
  if (unit.months > 1) return { months: Number(months), days: 0, ns: 0n };
  return splitDays((scaled - months * scale) * 30n, scale, Number(months));
}

function splitDays(scaledDays: bigint, scale: bigint, months: number): Interval {
  const days = scaledDays / scale;
  return { months, days: Number(days), ns: ((scaledDays - days * scale) * DAY_NS) / scale };
}

/** The sum. */
export function addIntervals(a: Interval, b: Interval): Interval {
  return { months: a.months + b.months, days: a.days + b.days, ns: a.ns + b.ns };
}

/** The negation. */
export function negateInterval(a: Interval): Interval {
  return { months: -a.months, days: -a.days, ns: -a.ns };
}

/** The product with an integer. */
export function scaleInterval(a: Interval, factor: bigint): Interval {
  return { months: a.months * Number(factor), days: a.days * Number(factor), ns: a.ns * factor };
}

/** True if DuckDB's intervals cannot represent it. */
export function isFine({ ns }: Interval): boolean {
  return ns % 1000n !== 0n;
}

/** Nanoseconds of days and time. @throws TsdbError bad_query for months, which have no fixed length */
export function intervalNs(interval: Interval): bigint {
  if (interval.months !== 0) throw new TsdbError("bad_query", "Error during planning: an interval with months has no fixed length");
  return BigInt(interval.days) * DAY_NS + interval.ns;
}

/** As DuckDB's literal: microseconds, truncated. */
export function duckInterval(interval: Interval): string {
  return `${interval.months} months ${interval.days} days ${interval.ns / 1000n} microseconds`;
}
