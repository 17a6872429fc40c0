// Parses time literals: common RFC 3339 forms, with nanoseconds; and calendar arithmetic on i64 nanoseconds in UTC.

import { I64_MAX, I64_MIN } from "../../model/rows/int64.ts";
import { DAY_NS } from "../../model/time/time-units.ts";
import { TimeZone } from "../../model/time/time-zone.ts";
import type { Interval } from "./interval.ts";

const DATE = String.raw`([+-]?\d{4,6})-(\d{1,2})-(\d{1,2})`;
const CLOCK = String.raw`(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:[.,](\d+))?)?)?`;
const ZONE = String.raw`([+-]\d{1,2}(?::?\d{2})?|[A-Za-z]+(?:[/_+-][A-Za-z0-9]+)*)`;
const TIME_TEXT = new RegExp(String.raw`^\s*${DATE}(?:[Tt ]\s*${CLOCK})?\s*${ZONE}?\s*$`);
/** The longest zone name, and some whitespace. */
const TEXT_CHARS_MAX = 128;
/** ISO 8601 without separators; a date alone would be a number. */
const COMPACT = new RegExp(String.raw`^\s*(\d{4})(\d{2})(\d{2})[Tt](\d{2})(?:(\d{2})(?:(\d{2})(?:[.,](\d+))?)?)?\s*${ZONE}?\s*$`);
/** A date with dashes, then a clock without colons. */
const PLAIN_CLOCK = /(?<=^\d{4}-\d{2}-\d{2}[Tt ])(\d{2})(\d{2})(\d{2})(?![\d.])/;
/** As most clients write times, which `Date` reads in a fifth of the time: every month has these days, and all are in the range. */
const SECONDS = /^(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/;
const DAYS_BEFORE = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/** Days from 1970-01-01 to a date of the Gregorian calendar (month 1 to 12).
 *  Source: Howard Hinnant, "chrono-compatible low-level date algorithms". */
export function daysOf(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return era * 146097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719468;
}

/** The date of a day number since 1970. */
export function dateOf(days: number): { year: number; month: number; day: number } {
  const z = days + 719468;
  const era = Math.floor(z / 146097);
  const dayOfEra = z - era * 146097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524) - Math.floor(dayOfEra / 146096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day: dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1 };
}

/** Days of a month (1 to 12). */
export function daysInMonth(year: number, month: number): number {
  return month === 12 ? 31 : month === 2 ? (isLeap(year) ? 29 : 28) : DAYS_BEFORE[month]! - DAYS_BEFORE[month - 1]!;
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

/** Nanoseconds since 1970 of a date or date and time; in `zone` if it contains none. Digits beyond the ninth are truncated. Null for an
 *  invalid text; "range" outside of 1677 to 2262. */
export function parseTimeText(text: string, zone = "UTC"): bigint | "range" | null {
  if (text.length > TEXT_CHARS_MAX) return null;
  if (SECONDS.test(text)) return BigInt(Date.parse(text)) * 1_000_000n;
  const match = TIME_TEXT.exec(text) ?? COMPACT.exec(text) ?? TIME_TEXT.exec(text.replace(PLAIN_CLOCK, "$1:$2:$3"));
  if (match === null) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const [hour, minute, second] = [Number(match[4] ?? 0), Number(match[5] ?? 0), Number(match[6] ?? 0)];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  // 24:00:00 is midnight of the next day, 23:59:60 a leap second: both carry over
  if (hour > 24 || minute > 59 || second > 60 || (hour === 24 && (minute > 0 || second > 0))) return null;
  const seconds = BigInt(daysOf(year, month, day)) * 86400n + BigInt(hour * 3600 + minute * 60 + second);
  const written = match[8];
  const clock = TimeZone.of(written === undefined ? zone : /^(?:z|utc|gmt)$/i.test(written) ? "UTC" : written);
  if (clock === null) return null;
  const ns = clock.toUtc(seconds * 1_000_000_000n + BigInt((match[7] ?? "").slice(0, 9).padEnd(9, "0")));
  return ns < I64_MIN || ns > I64_MAX ? "range" : ns;
}

/** Adds an interval: months first (a day beyond the month's end becomes its last), then days and nanoseconds. */
export function addInterval(timeNs: bigint, interval: Interval): bigint {
  let base = timeNs;
  if (interval.months !== 0) {
    const dayNumber = floorDiv(timeNs, DAY_NS);
    const { year, month, day } = dateOf(Number(dayNumber));
    const index = year * 12 + month - 1 + interval.months;
    const [newYear, newMonth] = [Math.floor(index / 12), index - Math.floor(index / 12) * 12 + 1];
    const days = daysOf(newYear, newMonth, Math.min(day, daysInMonth(newYear, newMonth)));
    base = BigInt(days) * DAY_NS + (timeNs - dayNumber * DAY_NS);
  }
  return base + BigInt(interval.days) * DAY_NS + interval.ns;
}

/** The quotient, rounded towards negative infinity. */
export function floorDiv(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

/** The value, limited to the range of 64-bit integers. */
export function clampI64(value: bigint): bigint {
  return value < I64_MIN ? I64_MIN : value > I64_MAX ? I64_MAX : value;
}
