// Durations: literals, arithmetic with the calendar, and their texts.
import { FluxError } from "./flux-error.ts";
import { Duration, Time } from "./value.ts";

export const SECOND_NS = 1_000_000_000n;
export const DAY_NS = 86_400n * SECOND_NS;
/** 30.4375 days: what a month counts where the calendar is not asked. */
export const MONTH_NS = (304_375n * DAY_NS) / 10_000n;

const UNITS_NS: Readonly<Record<string, bigint>> = {
  w: 7n * DAY_NS,
  d: DAY_NS,
  h: 3600n * SECOND_NS,
  m: 60n * SECOND_NS,
  s: SECOND_NS,
  ms: 1_000_000n,
  us: 1000n,
  µs: 1000n,
  ns: 1n,
};
const UNITS_MONTHS: Readonly<Record<string, bigint>> = { y: 12n, mo: 1n };
/** 2^63 - 1 ns: the longest. */
export const LONGEST = new Duration(0n, (1n << 63n) - 1n);

/** `h`, `mo` and the others. */
export function isUnit(text: string): boolean {
  return Object.hasOwn(UNITS_NS, text) || Object.hasOwn(UNITS_MONTHS, text);
}

/** The sum of the parts, in months and nanoseconds. */
export function durationOf(parts: readonly DurationPart[]): Duration {
  let months = 0n;
  let ns = 0n;
  for (const { magnitude, unit } of parts) {
    const inMonths = UNITS_MONTHS[unit];
    if (inMonths !== undefined) months += magnitude * inMonths;
    else ns += magnitude * (UNITS_NS[unit] ?? 0n);
  }
  return new Duration(months, BigInt.asIntN(64, ns));
}

const PART = /(\d+)(mo|ms|us|µs|ns|y|w|d|h|m|s)/y;

/** A number and its unit. */
export interface DurationPart {
  readonly magnitude: bigint;
  readonly unit: string;
}

/** @returns null for a text that is no duration */
export function parseDuration(text: string): Duration | null {
  const read = readParts(text);
  if (read === null) return null;
  const duration = durationOf(read.parts);
  return read.isNegative ? negated(duration) : duration;
}

/** The parts of a text, which may begin with a minus; null for a text that is no duration. */
export function readParts(text: string): { readonly isNegative: boolean; readonly parts: readonly DurationPart[] } | null {
  const isNegative = text.startsWith("-");
  const parts: DurationPart[] = [];
  let at = isNegative ? 1 : 0;
  while (at < text.length) {
    PART.lastIndex = at;
    const found = PART.exec(text);
    if (found === null || found[1]!.length > 19) return null;
    parts.push({ magnitude: BigInt(found[1]!), unit: found[2]! });
    at = PART.lastIndex;
  }
  return parts.length === 0 ? null : { isNegative, parts };
}

/** A part as a length of time, as release 2.8.0 counts it in tasks and templates: months and years are so many whole weeks. */
export function partNs({ magnitude, unit }: DurationPart): bigint {
  const months = UNITS_MONTHS[unit];
  if (months === undefined) return magnitude * (UNITS_NS[unit] ?? 0n);
  const week = UNITS_NS["w"]!;
  return ((magnitude * months * MONTH_NS) / week) * week;
}

/** The sum of the parts, wrapped to 64 bits. */
export function lengthNs(parts: readonly DurationPart[]): bigint {
  return BigInt.asIntN(
    64,
    parts.reduce((sum, part) => sum + partNs(part), 0n),
  );
}

/** The first part that 64 bits do not hold, without days and longer units; null: none. */
export function overlongPart(parts: readonly DurationPart[]): string | null {
  const found = parts.find((part) => partNs(part) > LONGEST.ns);
  if (found === undefined) return null;
  const isClock = UNITS_MONTHS[found.unit] === undefined && found.unit !== "w" && found.unit !== "d";
  return isClock ? `${found.magnitude}${found.unit}` : `${partNs(found) / UNITS_NS["h"]!}h`;
}

/** The duration with the opposite sign. */
export function negated({ months, ns }: Duration): Duration {
  return new Duration(-months, -ns);
}

/** True if a duration is shorter than nothing. */
export function isNegative({ months, ns }: Duration): boolean {
  return months < 0n || ns < 0n;
}

/** True for the duration of no length. */
export function isZero({ months, ns }: Duration): boolean {
  return months === 0n && ns === 0n;
}

/** Months as 30.4375 days. */
export function durationNs({ months, ns }: Duration): bigint {
  return months * MONTH_NS + ns;
}

const SHOWN: readonly (readonly [string, bigint])[] = [
  ["w", UNITS_NS["w"]!],
  ["d", UNITS_NS["d"]!],
  ["h", UNITS_NS["h"]!],
  ["m", UNITS_NS["m"]!],
  ["s", UNITS_NS["s"]!],
  ["ms", UNITS_NS["ms"]!],
  ["us", UNITS_NS["us"]!],
  ["ns", 1n],
];

/** The largest units first: `1w2d`. */
export function durationText(duration: Duration): string {
  if (isZero(duration)) return "0ns";
  const isMinus = isNegative(duration);
  const months = isMinus ? -duration.months : duration.months;
  let ns = isMinus ? -duration.ns : duration.ns;
  let text = isMinus ? "-" : "";
  if (months >= 12n) text += `${months / 12n}y`;
  if (months % 12n > 0n) text += `${months % 12n}mo`;
  for (const [unit, size] of SHOWN) {
    const count = ns / size;
    if (count > 0n) text += `${count}${unit}`;
    ns %= size;
  }
  return text;
}

/** The time so many months and nanoseconds later, months first; a day that the month lacks is its last. */
export function addDuration(time: Time, { months, ns }: Duration, zoneOffsetNs = 0n): Time {
  if (months === 0n) return new Time(BigInt.asIntN(64, time.ns + ns));
  const local = time.ns + zoneOffsetNs;
  const moved = addMonths(local, months);
  return new Time(BigInt.asIntN(64, moved - zoneOffsetNs + ns));
}

/** Far beyond what 64 bits of nanoseconds hold, and safe to compute with. */
const YEARS_MAX = 200_000;

/** The time `months` later (UTC); the day is limited to the length of its month. */
export function addMonths(ns: bigint, months: bigint): bigint {
  const day = floorDiv(ns, DAY_NS);
  const { year, month, day: dayOfMonth } = civilOf(Number(day));
  const index = year * 12 + (month - 1) + Number(months);
  const newYear = Math.floor(index / 12);
  if (!(Math.abs(newYear) < YEARS_MAX)) throw new FluxError("the time is out of range");
  const newMonth = index - newYear * 12 + 1;
  const newDay = daysOf(newYear, newMonth, Math.min(dayOfMonth, monthLength(newYear, newMonth)));
  return BigInt(newDay) * DAY_NS + (ns - day * DAY_NS);
}

/** The quotient, rounded towards negative infinity. */
export function floorDiv(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The number of days of a month, 1 to 12. */
export function monthLength(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : MONTH_LENGTHS[month - 1]!;
}

/** Days since 1970 → date. Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms". */
export function civilOf(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  };
}

/** Date → days since 1970. */
export function daysOf(year: number, month: number, day: number): number {
  const shiftedYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(shiftedYear / 400);
  const yearOfEra = shiftedYear - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468;
}

/** Years of up to nine digits: their days are exact as numbers. */
const TIME = /^(-?\d{4,9})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(Z|[+-]\d{2}:\d{2}))?$/;

/** RFC 3339 → nanoseconds, wrapped to 64 bits. @returns null for a text of another form */
export function parseTime(text: string): Time | null {
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", zone = "Z"] = TIME.exec(text) ?? [];
  if (year === undefined) return null;
  const [monthNumber, dayNumber] = [Number(month), Number(day)];
  if (monthNumber < 1 || monthNumber > 12 || dayNumber < 1 || dayNumber > monthLength(Number(year), monthNumber)) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  const seconds =
    BigInt(daysOf(Number(year), monthNumber, dayNumber)) * 86_400n + BigInt(Number(hour) * 3600 + Number(minute) * 60 + Number(second));
  const sign = zone.startsWith("-") ? -1 : 1;
  const offset = zone === "Z" ? 0 : sign * (Number(zone.slice(1, 3)) * 3600 + Number(zone.slice(4)) * 60);
  const ns = BigInt(fraction.slice(0, 9).padEnd(9, "0"));
  return new Time(BigInt.asIntN(64, (seconds - BigInt(offset)) * SECOND_NS + ns));
}

/** RFC 3339 in UTC with as many digits as needed. */
export function timeText(ns: bigint): string {
  const seconds = floorDiv(ns, SECOND_NS);
  const fraction = Number(ns - seconds * SECOND_NS);
  const days = Math.floor(Number(seconds) / 86_400);
  const rest = Number(seconds) - days * 86_400;
  const { year, month, day } = civilOf(days);
  const two = (value: number) => (value < 10 ? `0${value}` : `${value}`);
  const digits = fraction === 0 ? "" : `.${String(fraction).padStart(9, "0").replace(/0+$/, "")}`;
  const clock = `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`;
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T${clock}${digits}Z`;
}
