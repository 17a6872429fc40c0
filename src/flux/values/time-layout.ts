// Times by a layout: an example that shows how the parts of Monday 2 January 2006, 15:04:05 in the zone -0700 are written,
// as Go reads them.
import { daysOf, monthLength, SECOND_NS } from "./duration.ts";
import { Time } from "./value.ts";

/** What a text has said so far; -1 for what it has not. */
interface Parts {
  year: number;
  month: number;
  day: number;
  dayOfYear: number;
  hour: number;
  minute: number;
  second: number;
  ns: bigint;
  half: "am" | "pm" | null;
  offsetSeconds: number;
}

/** A part of a layout: how its text looks, and what that says. A text that is returned names what is out of its range. */
interface Part {
  readonly pattern: RegExp;
  read(parts: Parts, text: string, groups: readonly string[]): string | undefined;
}

/** A literal text, and the part behind it (none at the end). */
interface Step {
  readonly literal: string;
  readonly shown: string;
  readonly part: Part | null;
}

const MONTHS = ["january", "february", "march", "april", "may", "june", "july"].concat(
  ["august", "september", "october"],
  ["november", "december"],
);
const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const short = (names: readonly string[]) => names.map((name) => name.slice(0, 3));

/** Parts as a layout shows them, where one begins with another the longer first. */
const SHOWN = new RegExp(
  [
    "January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|1|2006|2|__2|_2(?!006)|3|4|5|PM|pm",
    "-070000|-07:00:00|-0700|-07:00|-07|Z070000|Z07:00:00|Z0700|Z07:00|Z07",
    "[.,](?:0+|9+)(?!\\d)",
  ].join("|"),
  "g",
);

const ONE_OR_TWO = /\d{1,2}/y;
const TWO = /\d\d/y;

type NumberName = "year" | "month" | "day" | "dayOfYear" | "hour" | "minute";

function nameOf(names: readonly string[]): Part {
  return { pattern: new RegExp(names.join("|"), "iy"), read: () => undefined };
}

function monthName(names: readonly string[]): Part {
  return {
    pattern: new RegExp(names.join("|"), "iy"),
    read: (parts, text) => {
      parts.month = names.indexOf(text.toLowerCase()) + 1;
      return undefined;
    },
  };
}

function numberOf(name: NumberName, pattern: RegExp, least = 0, most = Number.POSITIVE_INFINITY): Part {
  return {
    pattern,
    read: (parts, text) => {
      const value = Number(text);
      parts[name] = value;
      return value < least || value > most ? name : undefined;
    },
  };
}

const YEAR_OF_CENTURY: Part = {
  pattern: TWO,
  read: (parts, text) => {
    parts.year = Number(text) + (Number(text) >= 69 ? 1900 : 2000);
    return undefined;
  },
};

function halfOfDay(pattern: RegExp): Part {
  return {
    pattern,
    read: (parts, text) => {
      parts.half = text.toLowerCase() === "pm" ? "pm" : "am";
      return undefined;
    },
  };
}

/** @param takesFraction no part for it follows, and digits behind the second are taken all the same */
function secondOf(digits: string, takesFraction: boolean): Part {
  return {
    pattern: new RegExp(`(${digits})${takesFraction ? "([.,]\\d+)?" : ""}`, "y"),
    read: (parts, _, [second, fraction]) => {
      parts.second = Number(second);
      if (fraction !== undefined) parts.ns = nanoseconds(fraction);
      return parts.second > 59 ? "second" : undefined;
    },
  };
}

function nanoseconds(fraction: string): bigint {
  return BigInt(fraction.slice(1, 10).padEnd(9, "0"));
}

function offset(shown: string): Part {
  const digits = shown.slice(3).replaceAll("00", "(\\d\\d)");
  return {
    pattern: new RegExp(`([+-])(\\d\\d)${digits}${shown.startsWith("Z") ? "|Z" : ""}`, "y"),
    read: (parts, _, [sign, hours = "0", minutes = "0", seconds = "0"]) => {
      parts.offsetSeconds = (sign === "-" ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
      // the greatest of each is one more than any zone has
      if (Number(hours) > 24) return "time zone offset hour";
      if (Number(minutes) > 60) return "time zone offset minute";
      return Number(seconds) > 60 ? "time zone offset second" : undefined;
    },
  };
}

/** A zone by letters does not move the time. */
const ZONE: Part = {
  pattern:
    /UTC|ChST|MeST|GMT(?:[+-](?:[01]?\d|2[0-3])(?!\d))?|[+-](?:[01]?\d|2[0-3])(?!\d)|(?:[A-Z]{4}T|[A-Z]{3}T|WITA|[A-Z]{3})(?![A-Z])/y,
  read: () => undefined,
};

function partOf(shown: string, takesFraction: boolean): Part {
  switch (shown) {
    case "2006":
      return numberOf("year", /\d{4}/y);
    case "06":
      return YEAR_OF_CENTURY;
    case "January":
      return monthName(MONTHS);
    case "Jan":
      return monthName(short(MONTHS));
    case "Monday":
      return nameOf(DAYS);
    case "Mon":
      return nameOf(short(DAYS));
    case "1":
      return numberOf("month", ONE_OR_TWO, 1, 12);
    case "01":
      return numberOf("month", TWO, 1, 12);
    case "2":
      return numberOf("day", ONE_OR_TWO);
    case "_2":
      return numberOf("day", / ?\d{1,2}/y);
    case "02":
      return numberOf("day", TWO);
    case "__2":
      return numberOf("dayOfYear", / {0,2}\d{1,3}/y);
    case "002":
      return numberOf("dayOfYear", /\d{3}/y);
    case "15":
      return numberOf("hour", ONE_OR_TWO, 0, 23);
    case "3":
      return numberOf("hour", ONE_OR_TWO, 0, 12);
    case "03":
      return numberOf("hour", TWO, 0, 12);
    case "4":
      return numberOf("minute", ONE_OR_TWO, 0, 59);
    case "04":
      return numberOf("minute", TWO, 0, 59);
    case "5":
      return secondOf("\\d{1,2}", takesFraction);
    case "05":
      return secondOf("\\d\\d", takesFraction);
    case "PM":
      return halfOfDay(/[AP]M/y);
    case "pm":
      return halfOfDay(/[ap]m/y);
    case "MST":
      return ZONE;
  }
  if (/^[Z-]/.test(shown)) return offset(shown);
  // nines: as many digits as there are, none too
  const pattern = shown[1] === "0" ? new RegExp(`[.,]\\d{${shown.length - 1}}`, "y") : /(?:[.,]\d+)?/y;
  return {
    pattern,
    read: (parts, text) => {
      if (text !== "") parts.ns = nanoseconds(text);
      return undefined;
    },
  };
}

/** Reads times of one layout. */
export class TimeLayout {
  private readonly steps: readonly Step[];

  constructor(readonly layout: string) {
    const steps: Step[] = [];
    const all = [...layout.matchAll(SHOWN)];
    let at = 0;
    all.forEach((match, i) => {
      const [shown] = match;
      const takesFraction = !/^[.,]/.test(all[i + 1]?.[0] ?? "");
      steps.push({ literal: layout.slice(at, match.index), shown, part: partOf(shown, takesFraction) });
      at = match.index + shown.length;
    });
    this.steps = [...steps, { literal: layout.slice(at), shown: "", part: null }];
  }

  /** Wrapped to 64 bits of nanoseconds, or what is wrong with the text. */
  parse(text: string): Time | string {
    const parts: Parts = {
      ...{ year: 0, month: -1, day: -1, dayOfYear: -1, hour: 0, minute: 0, second: 0 },
      ...{ ns: 0n, half: null, offsetSeconds: 0 },
    };
    let at = 0;
    for (const { literal, shown, part } of this.steps) {
      const behind = skipped(text, at, literal);
      if (!behind.isWhole) return this.mismatch(text, behind.at, literal);
      at = behind.at;
      if (part === null) break;
      const { pattern } = part;
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (match === null) return this.mismatch(text, at, shown);
      const problem = part.read(parts, match[0], match.slice(1));
      if (problem !== undefined) return `parsing time ${quoted(text)}: ${problem} out of range`;
      at += match[0].length;
    }
    if (at < text.length) return `parsing time ${quoted(text)}: extra text: ${quoted(text.slice(at))}`;
    const problem = dated(parts);
    return problem === null ? timeOf(parts) : `parsing time ${quoted(text)}: ${problem}`;
  }

  private mismatch(text: string, at: number, expected: string): string {
    return `parsing time ${quoted(text)} as ${quoted(this.layout)}: cannot parse ${quoted(text.slice(at))} as ${quoted(expected)}`;
  }
}

/** Behind the literal; spaces of it stand for any number of spaces. */
function skipped(text: string, from: number, literal: string): { readonly at: number; readonly isWhole: boolean } {
  let at = from;
  for (let i = 0; i < literal.length; i++) {
    if (literal[i] === " ") {
      if (at < text.length && text[at] !== " ") return { at, isWhole: false };
      while (literal[i + 1] === " ") i++;
      while (text[at] === " ") at++;
    } else if (text[at] === literal[i]) at++;
    else return { at, isWhole: false };
  }
  return { at, isWhole: true };
}

/** Makes a month and a day of the day of the year. @returns what is wrong with them, or null */
function dated(parts: Parts): string | null {
  if (parts.dayOfYear >= 0) {
    const lengths = Array.from({ length: 12 }, (_, i) => monthLength(parts.year, i + 1));
    let [month, day] = [1, parts.dayOfYear];
    for (; month <= 12 && day > lengths[month - 1]!; month++) day -= lengths[month - 1]!;
    if (day < 1 || month > 12) return "day-of-year out of range";
    if (parts.month >= 0 && parts.month !== month) return "day-of-year does not match month";
    if (parts.day >= 0 && parts.day !== day) return "day-of-year does not match day";
    [parts.month, parts.day] = [month, day];
  }
  if (parts.month < 0) parts.month = 1;
  if (parts.day < 0) parts.day = 1;
  return parts.day < 1 || parts.day > monthLength(parts.year, parts.month) ? "day out of range" : null;
}

function timeOf({ year, month, day, hour, minute, second, ns, half, offsetSeconds }: Parts): Time {
  const hourOfDay = half === "pm" && hour < 12 ? hour + 12 : half === "am" && hour === 12 ? 0 : hour;
  const seconds = BigInt(daysOf(year, month, day)) * 86_400n + BigInt(hourOfDay * 3600 + minute * 60 + second - offsetSeconds);
  return new Time(BigInt.asIntN(64, seconds * SECOND_NS + ns));
}

/** In quotes; what is no visible ASCII character is shown by its bytes. */
function quoted(text: string): string {
  const hexadecimal = (char: string) => [...Buffer.from(char)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  return `"${text.replace(/["\\]/g, "\\$&").replace(/[^ -\x7f]/gu, hexadecimal)}"`;
}
