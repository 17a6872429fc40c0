// Patterns of `cron`: five fields, six with seconds first, seven with years last, or a name with `@`. A field is a list of values, ranges
// and steps. Error messages are those of the vendor's server; croner computes the times.

/** The values of each field; those of `dayOfWeek` begin with Sunday, 0. */
export interface CronFields {
  readonly second: ReadonlySet<number>;
  readonly minute: ReadonlySet<number>;
  readonly hour: ReadonlySet<number>;
  readonly dayOfMonth: ReadonlySet<number>;
  readonly month: ReadonlySet<number>;
  readonly dayOfWeek: ReadonlySet<number>;
  readonly year: ReadonlySet<number>;
}

type FieldName = keyof CronFields;

interface Field {
  readonly min: number;
  readonly max: number;
  /** The names of the values, starting with `min`. */
  readonly names?: readonly string[];
  readonly stepMax: number;
  /** The field's name in messages, and its first and last value. */
  readonly called: string;
  readonly bound: string;
  /** A value in messages: days of a month are counted from 0. */
  readonly shown?: (value: number) => string;
}

const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const FIRST_YEAR = 1970;
const LAST_YEAR = 2099;

const FIELDS: { readonly [F in FieldName]: Field } = {
  second: { min: 0, max: 59, stepMax: 59, called: "second", bound: "second" },
  minute: { min: 0, max: 59, stepMax: 59, called: "minute", bound: "minute" },
  hour: { min: 0, max: 23, stepMax: 23, called: "hour", bound: "hour" },
  dayOfMonth: {
    min: 1,
    max: 31,
    stepMax: 30,
    called: "day month",
    bound: "month",
    shown: (day) => String(BigInt.asUintN(64, BigInt(day - 1))),
  },
  month: { min: 1, max: 12, names: MONTHS, stepMax: 12, called: "month", bound: "month" },
  dayOfWeek: { min: 0, max: 7, names: WEEKDAYS, stepMax: 7, called: "day of week", bound: "day of week" },
  year: { min: FIRST_YEAR, max: LAST_YEAR, stepMax: 128, called: "year", bound: "year" },
};

const POSITIONS: ReadonlyMap<number, readonly FieldName[]> = new Map([
  [5, ["minute", "hour", "dayOfMonth", "month", "dayOfWeek"]],
  [6, ["second", "minute", "hour", "dayOfMonth", "month", "dayOfWeek"]],
  [7, ["second", "minute", "hour", "dayOfMonth", "month", "dayOfWeek", "year"]],
]);

const NAMED: ReadonlyMap<string, string> = new Map([
  ["yearly", "0 0 0 1 1 *"],
  ["annually", "0 0 0 1 1 *"],
  ["monthly", "0 0 0 1 * *"],
  ["weekly", "0 0 0 * * 0"],
  ["daily", "0 0 0 * * *"],
  ["midnight", "0 0 0 * * *"],
  ["hourly", "0 0 * * * *"],
  ["every_minute", "0 * * * * *"],
  ["every_second", "* * * * * *"],
]);

/** @param pattern any pattern except `@every` with a duration @param isKept 7 is also a day of the week, as it was before release 2.8.0's
 *  rule was known @throws Error with the reason */
export function readCron(pattern: string, isKept = false): CronFields {
  const text = pattern.trimStart();
  if (text.startsWith("@")) return readNamed(pattern, text.slice(1));
  const parts = text.trimEnd().split(/\s+/);
  if (parts.length > 7 && parts.every((part) => /^[\w/*,-]+$/.test(part))) throw unexpected(pattern, pattern.trimEnd().length - 2);
  const read: ReadFields = {};
  const names = POSITIONS.get(parts.length);
  if (names === undefined || !parts.every((part) => /^[A-Za-z\d/*,-]+$/.test(part))) throw failed(pattern, read);
  if (parts.length === 5) read.second = new Set([0]);
  if (parts.length < 7) read.year = valuesOf("year", "*")!;
  for (const [i, name] of names.entries()) {
    const values = new Set<number>();
    read[name] = values;
    for (const item of parts[i]!.split(",")) {
      if (name === "dayOfWeek" && !isKept && /^7(?:[-/]|$)/.test(item)) throw isBackwards();
      const found = valuesOf(name, item);
      if (found === null) throw failed(pattern, read);
      for (const value of found) values.add(value);
    }
  }
  for (const name of names) if (read[name]!.size === 0) throw failed(pattern, read);
  return read as CronFields;
}

type ReadFields = { [F in FieldName]?: Set<number> };

/** The values of `*`, `5` or `1-5`, each with a step; null for another form. @throws Error for values outside the field's range */
function valuesOf(name: FieldName, item: string): Set<number> | null {
  const { min, max, stepMax, called, bound, shown = String } = FIELDS[name];
  const [, from, to, stepText] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(item) ?? [];
  if (from === undefined || (from === "*" && to !== undefined)) return null;
  const start = from === "*" ? min : valueIn(name, from);
  const end = to === undefined ? null : valueIn(name, to);
  if (start === null || (to !== undefined && end === null)) return null;
  const step = stepText === undefined ? null : Number(stepText);
  if (step !== null && step > stepMax) throw new Error(`invalid ${called} */${stepText}`);
  // months and weekdays below the first match nothing, without an error
  const isStart = start <= max && (start >= min || name === "month");
  if (!isStart) throw new Error(`invalid start ${bound} ${shown(start)}`);
  if (end !== null && end > max) throw new Error(`invalid end ${bound} ${shown(name === "second" || name === "year" ? end : start)}`);
  if (name === "dayOfWeek" && end !== null && start > end) throw isBackwards();
  // a step of 0 selects only the first value
  if (step === 0) return new Set([min]);
  const last = end ?? (from === "*" || step !== null ? lastOf(name) : start);
  const values = new Set<number>();
  for (let value = Math.max(start, min); value <= last; value += step ?? 1) values.add(name === "dayOfWeek" ? value % 7 : value);
  return start < min ? new Set() : values;
}

/** Also of a week that begins with 7, which is a Sunday only as the end of a range. */
function isBackwards(): Error {
  return new Error("invalid day of week range start must be before end");
}

/** The end of steps without one: 7 is Sunday again. */
function lastOf(name: FieldName): number {
  return name === "dayOfWeek" ? 6 : FIELDS[name].max;
}

function valueIn(name: FieldName, text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text);
  const names = name === "dayOfMonth" ? WEEKDAYS : FIELDS[name].names;
  const at = names?.indexOf(text.toUpperCase()) ?? -1;
  return at < 0 ? null : at + (name === "month" ? 1 : 0);
}

function readNamed(pattern: string, text: string): CronFields {
  const found = [...NAMED].filter(([name]) => text.startsWith(name)).sort(([a], [b]) => b.length - a.length)[0];
  if (found === undefined) throw failed(pattern, {});
  const [name, fields] = found;
  const rest = text.slice(name.length).trimStart();
  if (rest !== "") throw unexpected(pattern, pattern.length - rest.length - 1);
  return readCron(fields);
}

/** The error for `@every` with an invalid or non-positive duration. */
export function everyFault(pattern: string): Error {
  const read = /^\s*@every\s+(?:\d+(?:mo|ms|us|µs|ns|[ywdhms])\s*)*/i.exec(pattern)?.[0].length ?? 0;
  if (read < pattern.length && !/[ymµunhd]/.test(pattern[read]!)) return unexpected(pattern, read - 1);
  return new Error(`failed to parse cron string '${pattern}' {${Array(11).fill(0).join(" ")} true} 111111111111`);
}

function unexpected(pattern: string, place: number): Error {
  return new Error(`error in parsing at char ${place}, '${pattern[place]}'`);
}

/** The vendor's message shows the fields that were read before the fault, as bits. */
function failed(pattern: string, read: ReadFields): Error {
  const bits = (name: FieldName, offset = 0) => [...(read[name] ?? [])].reduce((all, value) => all | (1n << BigInt(value - offset)), 0n);
  const years = read.year === undefined ? [0n, 0n] : [0xffff_ffff_ffff_ffffn, 0xffff_ffff_ffff_ffffn];
  const [second, minute, hour] = [bits("second"), bits("minute"), bits("hour")];
  const [dayOfMonth, month, dayOfWeek] = [bits("dayOfMonth", 1), bits("month", 1), bits("dayOfWeek")];
  const shown = [second, minute, ...years, hour, dayOfMonth, 0n, 0n, month, 0n, dayOfWeek].join(" ");
  return new Error(`failed to parse cron string '${pattern}' {${shown} false} 111111111111`);
}
