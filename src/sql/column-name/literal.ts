// Literals in names: the vendor's type with the value in parentheses, whatever the literal's notation.

import { I64_MAX, I64_MIN, U64_MAX } from "../../model/rows/int64.ts";
import { negateInterval, parseInterval } from "../parse/interval.ts";
import type { Token } from "../parse/tokens.ts";
import { UNNAMED } from "./token-reader.ts";

const NUMBER = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

export const isNumber = (written: string) => NUMBER.test(written);

/** A number with the type that names show: `Int64(1)`. */
export function numberText(written: string, isNegative: boolean): string {
  const signed = isNegative ? `-${written}` : written;
  if (/^\d{1,20}$/.test(written)) {
    const value = BigInt(signed);
    if (value >= I64_MIN && value <= I64_MAX) return `Int64(${value})`;
    if (value >= 0n && value <= U64_MAX) return `UInt64(${value})`;
  }
  return `Float64(${floatText(Number(signed))})`;
}

/** The shortest exact digits of a number, without an exponent. */
function floatText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const match = /^(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(Math.abs(value).toString().includes("e") ? Math.abs(value).toString() : "");
  if (match === null) return `${sign}${Math.abs(value)}`;
  const digits = match[1]! + (match[2] ?? "");
  const point = 1 + Number(match[3]);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return `${sign}${digits.padEnd(point, "0")}${digits.length > point ? "." : ""}`;
}

export const stringText = (value: string): string => `Utf8("${value}")`;

/** The text between the quotes of a string token. */
export function stringValue({ text }: Token): string {
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'");
  const tag = text.indexOf("$", 1) + 1;
  return text.slice(tag, -tag);
}

/** The bytes of `X'00ff'`. */
export function binaryText(hex: string): string {
  if (!/^[0-9A-Fa-f]*$/.test(hex)) throw UNNAMED;
  return `Binary("${Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex").join(",")}")`;
}

/** The text after INTERVAL; unchanged if it is not an interval. */
export function intervalText(written: string, isNegative: boolean): string {
  const interval = parseInterval(written);
  if (interval === null) return written;
  const { months, days, ns } = isNegative ? negateInterval(interval) : interval;
  return `IntervalMonthDayNano("IntervalMonthDayNano { months: ${months}, days: ${days}, nanoseconds: ${ns} }")`;
}
