// What literals mean: strings with escapes, regular expressions, durations and times. Each function gives the value or an error's text.
import type { DurationPart } from "./ast.ts";

export type Parsed<T> = { readonly value: T } | { readonly error: string };

const ESCAPES: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, "\\": 92, '"': 34, $: 36 };

/** @param literal with its quotes */
export function parseStringLiteral(literal: string): Parsed<string> {
  if (literal.length < 2 || !literal.startsWith('"') || !literal.endsWith('"')) return { error: "invalid string literal" };
  return parseText(literal.slice(1, -1));
}

/** The text between quotes. `\xHH` are bytes, which must make valid UTF-8. */
export function parseText(text: string): Parsed<string> {
  if (!text.includes("\\")) return { value: text };
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i] !== "\\") {
      const code = text.codePointAt(i)!;
      bytes.push(...ENCODER.encode(String.fromCodePoint(code)));
      if (code > 0xffff) i++;
      continue;
    }
    const escaped = text[++i];
    if (escaped === undefined) return { error: "invalid escape sequence" };
    if (escaped === "x") {
      const byte = hexByte(text, i + 1);
      if (typeof byte !== "number") return byte;
      bytes.push(byte);
      i += 2;
      continue;
    }
    const known = ESCAPES[escaped];
    if (known === undefined) return { error: `invalid escape character ${escaped}` };
    bytes.push(known);
  }
  return decode(bytes);
}

/** @param literal with its slashes */
export function parseRegexLiteral(literal: string): Parsed<string> {
  const source = literal.slice(1, -1);
  if (!source.includes("\\")) return { value: source };
  let value = "";
  for (let i = 0; i < source.length; i++) {
    if (source[i] !== "\\") {
      value += source[i];
      continue;
    }
    const escaped = source[++i];
    if (escaped === undefined) return { error: "unterminated regex sequence" };
    if (escaped === "/") value += "/";
    else if (escaped === "x") {
      const byte = hexByte(source, i + 1);
      if (typeof byte !== "number") return byte;
      if (byte > 0x7f) return { error: "invalid utf-8 sequence" };
      value += String.fromCharCode(byte);
      i += 2;
    } else value += `\\${escaped}`;
  }
  return { value };
}

/** The parts of a literal such as `1h30m`. */
export function parseDurationLiteral(literal: string): Parsed<DurationPart[]> {
  const values: DurationPart[] = [];
  for (const [, digits, unit] of literal.matchAll(/(\d+)(\D+)/g)) {
    const magnitude = BigInt(digits!);
    if (magnitude > INT_MAX) return { error: "number too large to fit in target type" };
    values.push({ magnitude, unit: unit === "µs" ? "us" : unit! });
  }
  return { value: values };
}

const TIME = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2})(\.\d+)?(Z|[+-]\d{2}:\d{2}))?$/;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const FRACTION_DIGITS_MAX = 9;

/** Checks a date or time literal; a date is midnight UTC. Gives RFC 3339: fractions have nine digits at most, and no zeros at their end. */
export function parseTimeLiteral(literal: string): Parsed<string> {
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "", zone = "Z"] = TIME.exec(literal) ?? [];
  if (year === undefined) return { error: "invalid time" };
  const monthIndex = Number(month) - 1;
  const isLeap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0);
  const days = (MONTH_DAYS[monthIndex] ?? 0) + (monthIndex === 1 && isLeap ? 1 : 0);
  if (Number(day) < 1 || Number(day) > days) return { error: "input is out of range" };
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return { error: "input is out of range" };
  if (zone !== "Z" && (Number(zone.slice(1, 3)) > 23 || Number(zone.slice(4)) > 59)) return { error: "input is out of range" };
  const shown = fraction.slice(0, 1 + FRACTION_DIGITS_MAX).replace(/\.?0+$/, "");
  return { value: `${year}-${month}-${day}T${hour}:${minute}:${second}${shown}${zone.replace(/^[+-]00:00$/, "Z")}` };
}

const INT_MAX = (1n << 63n) - 1n;
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function hexByte(text: string, at: number): number | { readonly error: string } {
  const digits = text.slice(at, at + 2);
  if (digits.length < 2) return { error: `\\x followed by ${digits.length} char, must be 2` };
  return /^[0-9a-fA-F]{2}$/.test(digits) ? Number.parseInt(digits, 16) : { error: "invalid byte value" };
}

function decode(bytes: readonly number[]): Parsed<string> {
  try {
    return { value: DECODER.decode(Uint8Array.from(bytes)) };
  } catch {
    return { error: "invalid utf-8 sequence" };
  }
}
