// Formats timestamps, dates and times of day: ISO 8601 with `T`, a fraction of 0, 3, 6 or 9 digits, a zone suffix only if the column has a
// zone. Years outside 0..9999 have a sign, as in `+10000-01-01`. Exact for every i64 of every unit.
import type { TimeUnit } from "../../model/query/result-batch.ts";
import type { ByteWriter } from "../byte-writer.ts";
import type { ZoneOffsets } from "./zone-offsets.ts";

const DAY_SECONDS = 86_400;
const TWO_32 = 4294967296;
const ZERO = 0x30;
const COLON = 0x3a;
const POINT = 0x2e;

/** Units per second, and the digits of a unit's fraction. */
const UNITS: Readonly<Record<TimeUnit, { perSecond: number; digits: number }>> = {
  s: { perSecond: 1, digits: 0 },
  ms: { perSecond: 1e3, digits: 3 },
  us: { perSecond: 1e6, digits: 6 },
  ns: { perSecond: 1e9, digits: 9 },
};

/** Formats the timestamps of one column. Caches the last date, because consecutive values mostly share it. */
export class TimestampText {
  private readonly perSecond: number;
  private readonly digits: number;
  private readonly date = new Uint8Array(32);
  private dateDay = Number.NaN;
  private dateLength = 0;
  private day = 0;
  private secondOfDay = 0;
  private fraction = 0;

  constructor(
    private readonly out: ByteWriter,
    unit: TimeUnit,
    private readonly zone: ZoneOffsets | null,
  ) {
    ({ perSecond: this.perSecond, digits: this.digits } = UNITS[unit]);
  }

  /** The i64 since 1970 in the column's unit, given as words: `low` as u32, `high` as i32. */
  write(low: number, high: number): void {
    this.split(low, high);
    const offset = this.zone === null ? 0 : this.zone.offsetSeconds(this.day * DAY_SECONDS + this.secondOfDay);
    if (offset !== 0) this.shift(offset);
    if (this.day !== this.dateDay) this.renderDate(this.day);
    this.out.copy(this.date, 0, this.dateLength);
    writeClock(this.out, this.secondOfDay, this.fraction, this.digits);
    if (this.zone !== null) writeOffset(this.out, offset);
  }

  /** Sets `day`, `secondOfDay` and `fraction` (units). */
  private split(low: number, high: number): void {
    const { perSecond } = this;
    if (perSecond < 1e6 && (high >= 1 << 20 || high < -(1 << 20))) {
      this.splitFar((BigInt(high) << 32n) | BigInt(low));
      return;
    }
    // The floating-point quotient is off by at most one; the remainder, exact modulo 2^32, corrects it.
    let seconds = Math.floor((high * TWO_32 + low) / perSecond);
    let fraction = (low - Math.imul(seconds, perSecond)) | 0;
    if (fraction < 0) {
      seconds--;
      fraction += perSecond;
    } else if (fraction >= perSecond) {
      seconds++;
      fraction -= perSecond;
    }
    this.day = Math.floor(seconds / DAY_SECONDS);
    this.secondOfDay = seconds - this.day * DAY_SECONDS;
    this.fraction = fraction;
  }

  /** For seconds and milliseconds beyond the exact range of doubles, 140,000 years away and more. */
  private splitFar(value: bigint): void {
    const units = BigInt(this.perSecond);
    const perDay = units * BigInt(DAY_SECONDS);
    const ofDay = ((value % perDay) + perDay) % perDay;
    this.day = Number((value - ofDay) / perDay);
    this.secondOfDay = Number(ofDay / units);
    this.fraction = Number(ofDay % units);
  }

  private shift(offsetSeconds: number): void {
    const second = this.secondOfDay + offsetSeconds;
    const days = Math.floor(second / DAY_SECONDS);
    this.day += days;
    this.secondOfDay = second - days * DAY_SECONDS;
  }

  private renderDate(day: number): void {
    const text = `${dateText(day)}T`;
    for (let index = 0; index < text.length; index++) this.date[index] = text.charCodeAt(index);
    this.dateLength = text.length;
    this.dateDay = day;
  }
}

/** A time of day, `units` since midnight (at most 24 hours, so a safe integer). */
export function writeTimeOfDay(out: ByteWriter, units: number, unit: TimeUnit): void {
  const { perSecond, digits } = UNITS[unit];
  const seconds = Math.floor(units / perSecond);
  writeClock(out, seconds, units - seconds * perSecond, digits);
}

/** `YYYY-MM-DD` of a day number since 1970, proleptic Gregorian.
 *  Source: Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days. */
export function dateText(day: number): string {
  const shifted = day + 719_468; // days since 0000-03-01
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const dayOfMonth = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const digits = String(Math.abs(year)).padStart(4, "0");
  const sign = year < 0 ? "-" : year > 9999 ? "+" : "";
  return `${sign}${digits}-${String(month).padStart(2, "0")}-${String(dayOfMonth).padStart(2, "0")}`;
}

/** `HH:MM:SS` and the fraction, in one reserved block: separate calls for each part took most of a JSON row's time. */
function writeClock(out: ByteWriter, secondOfDay: number, fraction: number, digits: number): void {
  out.reserve(24);
  const { bytes } = out;
  let at = out.length;
  const hour = (secondOfDay / 3600) | 0;
  const ofHour = secondOfDay - hour * 3600;
  const minute = (ofHour / 60) | 0;
  const second = ofHour - minute * 60;
  const hourTens = (hour / 10) | 0;
  const minuteTens = (minute / 10) | 0;
  const secondTens = (second / 10) | 0;
  bytes[at++] = ZERO + hourTens;
  bytes[at++] = ZERO + hour - hourTens * 10;
  bytes[at++] = COLON;
  bytes[at++] = ZERO + minuteTens;
  bytes[at++] = ZERO + minute - minuteTens * 10;
  bytes[at++] = COLON;
  bytes[at++] = ZERO + secondTens;
  bytes[at++] = ZERO + second - secondTens * 10;
  if (fraction !== 0) bytes[at++] = POINT;
  out.length = at;
  if (fraction !== 0) writeFraction(out, fraction, digits);
}

function writeFraction(out: ByteWriter, fraction: number, digits: number): void {
  let value = fraction;
  let count = digits;
  while (value % 1000 === 0) {
    value /= 1000;
    count -= 3;
  }
  out.padded(value, count);
}

function writeOffset(out: ByteWriter, offsetSeconds: number): void {
  if (offsetSeconds === 0) {
    out.ascii("Z");
    return;
  }
  const minutes = Math.floor(Math.abs(offsetSeconds) / 60);
  out.ascii(offsetSeconds < 0 ? "-" : "+");
  out.padded(Math.floor(minutes / 60), 2);
  out.byte(COLON);
  out.padded(minutes % 60, 2);
}

/** Months, days and microseconds in the vendor's format: `14 mons 3 days 4 hours 5 mins 6.789000000 secs`. Zero parts are omitted, each
 *  other part has its own sign; an empty interval has none. */
export function intervalText(months: number, days: number, microseconds: bigint): string {
  const size = microseconds < 0n ? -microseconds : microseconds;
  const sign = microseconds < 0n ? "-" : "";
  const parts = [months === 0 ? "" : `${months} mons`, days === 0 ? "" : `${days} days`];
  const [hours, minutes, rest] = [size / HOUR_US, (size / MINUTE_US) % 60n, size % MINUTE_US];
  if (hours > 0n) parts.push(`${sign}${hours} hours`);
  if (minutes > 0n) parts.push(`${sign}${minutes} mins`);
  if (rest > 0n) parts.push(`${sign}${rest / SECOND_US}.${String(rest % SECOND_US).padStart(6, "0")}000 secs`);
  return parts.filter((part) => part !== "").join(" ");
}

const SECOND_US = 1_000_000n;
const MINUTE_US = 60n * SECOND_US;
const HOUR_US = 60n * MINUTE_US;

/** A duration in the vendor's format: seconds with as many digits as needed, `PT0.032689S`; zero is `P0D`. */
export function durationText(value: bigint, unit: TimeUnit): string {
  if (value === 0n) return "P0D";
  const { perSecond, digits } = UNITS[unit];
  const size = value < 0n ? -value : value;
  const fraction = (size % BigInt(perSecond)).toString().padStart(digits, "0").replace(/0+$/, "");
  return `${value < 0n ? "-" : ""}PT${size / BigInt(perSecond)}${fraction === "" ? "" : `.${fraction}`}S`;
}
