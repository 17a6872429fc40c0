// The SQL type of a parameter column's values. The kind is stored in the handle of a prepared statement; a value without a JSON form is
// passed as text, and its placeholder becomes an expression that converts it.
import { ByteWriter } from "../../../encode/byte-writer.ts";
import { TimestampText, writeTimeOfDay } from "../../../encode/cells/clock-text.ts";
import { near, TsdbError } from "../../../model/errors.ts";
import type { QueryParams } from "../../../model/query/query.ts";
import type { TimeUnit } from "../../../model/query/result-batch.ts";
import { TimeZone } from "../../../model/time/time-zone.ts";

export type { TimeUnit } from "../../../model/query/result-batch.ts";

export type ParameterValue = QueryParams[string];

/** A key of `FORMS`, followed by type details: `timestamp:ns`, `timestamp:ms,Europe/Oslo`, `decimal:10,2`. */
export type ParameterKind = string;

/** The SQL expression for a placeholder, with ? as the placeholder itself; empty: unchanged. */
interface ParameterForms {
  readonly value: string;
  /** NULL of the column's type. */
  readonly none: string;
}

const castTo = (type: string): ParameterForms => ({ value: "", none: `CAST(? AS ${type})` });
const always = (form: string): ParameterForms => ({ value: form, none: form });

const FORMS: Readonly<Record<string, ParameterForms>> = {
  null: { value: "", none: "" },
  bool: castTo("BOOLEAN"),
  // without a minus sign it would be unsigned
  int: always("CAST(? AS BIGINT)"),
  uint: castTo("BIGINT UNSIGNED"),
  float: castTo("DOUBLE"),
  text: castTo("VARCHAR"),
  binary: always("decode(?, 'hex')"),
  date: always("CAST(? AS DATE)"),
  time: always("CAST(? AS TIME)"),
  interval: always("CAST(? AS INTERVAL)"),
};

/** Kinds with details. Handles come from clients, so only text that matches these patterns gets into a statement. */
const DETAILED: readonly (readonly [RegExp, (details: readonly string[]) => string])[] = [
  [/^timestamp:(s|ms|us|ns)$/, ([unit]) => `arrow_cast(?, 'Timestamp(${unit})')`],
  [/^timestamp:(s|ms|us|ns),([\w+:/-]{1,64})$/, ([unit, zone]) => `arrow_cast(?, 'Timestamp(${unit}, "${zone}")')`],
  [/^duration:(s|ms|us|ns)$/, ([unit]) => `arrow_cast(?, 'Duration(${unit})')`],
  [/^decimal:(\d{1,2}),(\d{1,2})$/, ([width, scale]) => `CAST(? AS DECIMAL(${width}, ${scale}))`],
];

/** @throws TsdbError bad_request for an unknown kind */
export function formOf(kind: ParameterKind, value: ParameterValue): string {
  if (Object.hasOwn(FORMS, kind)) return FORMS[kind]![value === null ? "none" : "value"];
  const form = detailedForm(kind);
  if (form === null) throw new TsdbError("bad_request", `parameters have no kind ${near(kind)}`);
  return form;
}

function detailedForm(kind: ParameterKind): string | null {
  for (const [pattern, form] of DETAILED) {
    const match = pattern.exec(kind);
    if (match !== null) return form(match.slice(1));
  }
  return null;
}

/** Null for an unknown zone. `zone`: empty if the type has none. */
export function timestampKind(unit: TimeUnit, zone: string): ParameterKind | null {
  if (zone === "") return `timestamp:${unit}`;
  const kind = `timestamp:${unit},${zone}`;
  return detailedForm(kind) === null || TimeZone.of(zone) === null ? null : kind;
}

/** The kind of a duration. */
export function durationKind(unit: TimeUnit): ParameterKind {
  return `duration:${unit}`;
}

const DIGITS_MAX = 38;

/** Returns null if it is too wide for SQL, or has no digit of its own: then any scale would do. */
export function decimalKind({ precision, scale }: { readonly precision: number; readonly scale: number }): ParameterKind | null {
  // 12 * 10^3 with precision 2 and scale -3 has 5 digits, 0.0012 with precision 2 and scale 4 has 4
  const digits = Math.max(precision - Math.min(scale, 0), scale);
  return precision < 1 || digits > DIGITS_MAX ? null : `decimal:${digits},${Math.max(scale, 0)}`;
}

/** `value` * 10^-`scale` */
export function decimalText(value: bigint, scale: number): string {
  if (scale <= 0) return String(value * 10n ** BigInt(-scale));
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, "0");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** In UTC and marked as such, so that the result does not depend on a statement's zone. */
export function timestampText(value: bigint, unit: TimeUnit): string {
  const out = new ByteWriter();
  new TimestampText(out, unit, null).write(Number(value & 0xffffffffn), Number(value >> 32n));
  return `${new TextDecoder("utf-8", { ignoreBOM: true }).decode(out.take())}Z`;
}

const PER_DAY: Readonly<Record<TimeUnit, number>> = { s: 86_400, ms: 86_400e3, us: 86_400e6, ns: 86_400e9 };

/** @throws TsdbError bad_request for an invalid time of day, or one finer than a microsecond */
export function timeText(value: number, unit: TimeUnit): string {
  if (value < 0 || value >= PER_DAY[unit]) throw new TsdbError("bad_request", `a time of day is within a day, got ${value} ${unit}`);
  if (unit === "ns" && value % 1000 !== 0) throw new TsdbError("bad_request", `a time of day has microseconds, got ${value} ns`);
  const out = new ByteWriter();
  writeTimeOfDay(out, value, unit);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(out.take());
}

/** The date of a day, `YYYY-MM-DD`. */
export function dateText(milliseconds: number): string {
  const [date = ""] = new Date(milliseconds).toISOString().split("T");
  return date;
}

/** An SQL interval. @throws TsdbError bad_request if it is finer than a microsecond */
export function intervalText({ months, days, ns }: { readonly months: number; readonly days: number; readonly ns: bigint }): string {
  return `${months} months ${days} days ${ns} nanoseconds`;
}
