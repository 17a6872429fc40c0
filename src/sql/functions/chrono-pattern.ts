// Parses text by a chrono format: converts the format to a regular expression that JavaScript and DuckDB both support, and interprets its
// groups. Constants are parsed here; rewrite/time-parse.ts generates DuckDB expressions for columns.
import { TimeZone } from "../../model/time/time-zone.ts";
import { daysInMonth, daysOf } from "../parse/time-text.ts";
import { type FormatPart, parseFormat } from "./chrono.ts";

/** The field in a group of the expression. */
export type Group = "Y" | "C" | "y" | "m" | "b" | "d" | "j" | "H" | "I" | "p" | "M" | "S" | "s" | "z" | "left" | "ns";

export interface Pattern {
  /** In order: each piece matches as much as it can, as in chrono, without backtracking. */
  readonly pieces: readonly Piece[];
  /** The fields of the groups, in order, without duplicates. */
  readonly groups: readonly Group[];
}

/** A regular expression with at most one group. */
interface Piece {
  readonly source: string;
  readonly sticky: RegExp;
  /** The field in its group; null: no group. */
  readonly group: Group | null;
}

const NEVER: Piece = { source: "[^\\s\\S]", sticky: /[^\s\S]/y, group: null };

/** The whole expression, for engines that match in linear time anyway. */
export function sourceOf({ pieces }: Pattern): string {
  return `${pieces.map(({ source }) => source).join("")}\\s*`;
}

export const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH_NAMES = "january february march april may june july august september october november december".split(" ");
const DAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday".split(" ");

/** Returns null for an invalid format. A format without a date part matches no input. */
export function patternOf(format: string): Pattern | null {
  const parts = parseFormat(format);
  if (parts === null) return null;
  const groups: Group[] = [];
  const pieces = parts.map((part): Piece => {
    const before = groups.length;
    const source = sourceOfPart(part, groups);
    return { source, sticky: new RegExp(source, "y"), group: groups[before] ?? null };
  });
  const has = (...wanted: Group[]): boolean => wanted.every((group) => groups.includes(group));
  const hasYear = has("Y") || has("y");
  const hasDay = has("j") || ((has("m") || has("b")) && has("d"));
  return has("s") || (hasYear && hasDay) ? { pieces, groups } : { pieces: [NEVER], groups: [] };
}

function sourceOfPart(part: FormatPart, groups: Group[]): string {
  if ("text" in part) return part.text.split(/\s+/).map(escaped).join("\\s*");
  if ("fraction" in part) {
    if (part.fraction === "all") return group("ns", "\\s*(\\d{1,9})", groups);
    return part.hasPoint ? group("left", "(?:\\.(\\d+))?", groups) : group("left", `(\\d{${part.fraction}})`, groups);
  }
  switch (part.field) {
    case "Y":
      return group("Y", "\\s*([+-]\\d{1,6}|\\d{1,4})", groups);
    case "C":
    case "y":
    case "m":
    case "d":
    case "H":
    case "I":
    case "M":
    case "S":
      return group(part.field, "\\s*(\\d{1,2})", groups);
    case "e":
      return group("d", "\\s*(\\d{1,2})", groups);
    case "k":
      return group("H", "\\s*(\\d{1,2})", groups);
    case "l":
      return group("I", "\\s*(\\d{1,2})", groups);
    case "j":
      return group("j", "\\s*(\\d{1,3})", groups);
    case "b":
    case "B":
      return group("b", `(${wholeOrShort(MONTH_NAMES)})`, groups);
    case "a":
    case "A":
      return `(?:${wholeOrShort(DAY_NAMES)})`;
    case "p":
    case "P":
      return group("p", "([AaPp])[Mm]", groups);
    case "s":
      return group("s", "\\s*([+-]?\\d{1,19})", groups);
    case "z":
    case ":z":
    case "::z":
      return group("z", "\\s*([Zz]|[+-]\\d{1,2}:?\\d{2})", groups);
    case "Z":
      return "[^\\s]+";
    default:
      // numbers that are implied by the date
      return "\\s*\\d{1,4}";
  }
}

/** A field that occurred before is only skipped. */
function group(name: Group, text: string, groups: Group[]): string {
  if (groups.includes(name)) return text.replace(/\((?!\?)/, "(?:");
  groups.push(name);
  return text;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** The names, or their first three letters, case-insensitive. */
function wholeOrShort(names: readonly string[]): string {
  return names
    .flatMap((name) => [name, name.slice(0, 3)])
    .map(anyCase)
    .join("|");
}

function anyCase(word: string): string {
  return word.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}

/** Nanoseconds of a text, of any size; null: it does not match, or does not determine a time. */
export function readByPattern({ pieces }: Pattern, text: string): bigint | null {
  const found = new Map<Group, string>();
  let at = 0;
  for (const { sticky, group: name } of pieces) {
    sticky.lastIndex = at;
    const match = sticky.exec(text);
    if (match === null) return null;
    at = sticky.lastIndex;
    if (name !== null && match[1] !== undefined) found.set(name, match[1]);
  }
  if (text.slice(at).trim() !== "") return null;
  const number = (name: Group): number | null => (found.get(name) === undefined ? null : Number(found.get(name)));
  const fraction = found.get("left") === undefined ? BigInt(found.get("ns") ?? 0) : BigInt(found.get("left")!.slice(0, 9).padEnd(9, "0"));
  const offset = found.get("z");
  const zone = TimeZone.of(offset === undefined || /^z$/i.test(offset) ? "UTC" : offset);
  if (zone === null) return null;
  const epoch = found.get("s");
  if (epoch !== undefined) return BigInt(epoch) * 1_000_000_000n + fraction;
  const days = dayOf(number, found.get("b"));
  const hour = number("H") ?? hourOf(number("I"), found.get("p"));
  const [minute, second] = [number("M") ?? 0, number("S") ?? 0];
  if (days === null || hour === null || hour > 23 || minute > 59 || second > 60) return null;
  const local = (BigInt(days) * 86_400n + BigInt(hour * 3600 + minute * 60 + second)) * 1_000_000_000n + fraction;
  return zone.toUtc(local);
}

function dayOf(number: (name: Group) => number | null, monthName: string | undefined): number | null {
  const year = yearOf(number("Y"), number("C"), number("y"));
  if (year === null) return null;
  const ofYear = number("j");
  if (ofYear !== null) {
    const days = daysOf(year, 1, 1) + ofYear - 1;
    return ofYear < 1 || days >= daysOf(year + 1, 1, 1) ? null : days;
  }
  const month = monthName === undefined ? number("m") : MONTHS.indexOf(monthName.slice(0, 3).toLowerCase()) + 1;
  const day = number("d");
  if (month === null || day === null || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  return daysOf(year, month, day);
}

/** Two digits alone mean 1970 to 2069. */
function yearOf(year: number | null, century: number | null, ofCentury: number | null): number | null {
  if (year !== null) return year;
  if (ofCentury === null) return null;
  return century === null ? ofCentury + (ofCentury < 70 ? 2000 : 1900) : century * 100 + ofCentury;
}

function hourOf(hour: number | null, half: string | undefined): number | null {
  if (hour === null) return 0;
  if (half === undefined || hour < 1 || hour > 12) return null;
  return (hour % 12) + (/^p/i.test(half) ? 12 : 0);
}
