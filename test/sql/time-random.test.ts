// Random times over all of i64 nanoseconds against arithmetic on BigInt: bins, truncation, parts, intervals, differences, comparisons,
// text, units. Half of them a column's values, half constants; the naive calendar below counts year by year. Seeded: a failure's statement
// is its own test case.
import { describe, expect, test } from "bun:test";
import { ColumnType } from "../../src/model/rows/column.ts";
import { type Below, prng } from "../support/prng.ts";
import { FakeTable } from "../support/rows/fake-table.ts";
import { sqlEngine } from "../support/sql/sql-engine.ts";
import { askRows, type SqlValue } from "../support/sql/sql-rows.ts";

const SEED = Number(process.env["SEED"] ?? 8);
const ROUNDS = Number(process.env["ROUNDS"] ?? 30);
const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;
const DAY = 86_400_000_000_000n;
const UNITS: Readonly<Record<string, bigint>> = {
  nanosecond: 1n,
  microsecond: 1_000n,
  millisecond: 1_000_000n,
  second: 1_000_000_000n,
  minute: 60_000_000_000n,
  hour: 3_600_000_000_000n,
  day: DAY,
  week: 7n * DAY,
};

const floorDiv = (a: bigint, b: bigint): bigint => (a - (((a % b) + b) % b)) / b;
const floorMod = (a: bigint, b: bigint): bigint => ((a % b) + b) % b;
const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const daysInMonth = (year: number, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;

/** Days from 1970 to the first of January, by counting. */
const NEW_YEARS = new Map<number, number>([[1970, 0]]);
for (let year = 1971; year <= 2264; year++) NEW_YEARS.set(year, NEW_YEARS.get(year - 1)! + (isLeap(year - 1) ? 366 : 365));
for (let year = 1969; year >= 1675; year--) NEW_YEARS.set(year, NEW_YEARS.get(year + 1)! - (isLeap(year) ? 366 : 365));

interface Calendar {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly dayOfYear: number;
  /** Since 1970. */
  readonly days: number;
}

function calendarOf(ns: bigint): Calendar {
  const days = Number(floorDiv(ns, DAY));
  let year = 1970 + Math.floor(days / 365.2425);
  while (NEW_YEARS.get(year)! > days) year--;
  while (NEW_YEARS.get(year + 1)! <= days) year++;
  let rest = days - NEW_YEARS.get(year)!;
  const dayOfYear = rest + 1;
  let month = 1;
  for (; rest >= daysInMonth(year, month); month++) rest -= daysInMonth(year, month);
  return { year, month, day: rest + 1, dayOfYear, days };
}

function daysFrom(year: number, month: number, day: number): number {
  let days = NEW_YEARS.get(year)! + day - 1;
  for (let before = 1; before < month; before++) days += daysInMonth(year, before);
  return days;
}

function addMonths(ns: bigint, months: number): bigint | null {
  const { year, month, day } = calendarOf(ns);
  const index = year * 12 + month - 1 + months;
  const [toYear, toMonth] = [Math.floor(index / 12), (index % 12) + 1];
  if (!NEW_YEARS.has(toYear)) return null;
  return BigInt(daysFrom(toYear, toMonth, Math.min(day, daysInMonth(toYear, toMonth)))) * DAY + floorMod(ns, DAY);
}

function textOf(ns: bigint): string {
  const { year, month, day } = calendarOf(ns);
  const two = (value: bigint | number): string => String(value).padStart(2, "0");
  const ofDay = floorMod(ns, DAY);
  const clock = [ofDay / UNITS["hour"]!, (ofDay / UNITS["minute"]!) % 60n, (ofDay / UNITS["second"]!) % 60n].map(two).join(":");
  const digits = String(ofDay % UNITS["second"]!).padStart(9, "0");
  const fraction = digits === "000000000" ? "" : `.${digits.replace(/(000){1,2}$/, "")}`;
  return `${year}-${two(month)}-${two(day)}T${clock}${fraction}`;
}

const own = sqlEngine();
const { kernel } = own;

function randomTime(below: Below): bigint {
  const bits = (BigInt(below(2 ** 32)) << 32n) | BigInt(below(2 ** 32));
  switch (below(6)) {
    case 0:
      return BigInt.asIntN(64, bits) >> BigInt(below(62));
    case 1:
      return [I64_MIN + 1n, I64_MIN + 2n, -1n, 0n, 1n, I64_MAX - 1n][below(6)]!;
    case 2:
      // midnights, and a nanosecond beside them
      return BigInt(below(200_000) - 100_000) * DAY + BigInt(below(3) - 1);
    case 3:
      // first and last days of months
      return BigInt(daysFrom(1680 + below(580), 1 + below(12), 1)) * DAY - BigInt(below(2));
    default:
      return BigInt.asIntN(64, bits);
  }
}

/** A statement's expression over `t`, and its value at one time; null: NULL; undefined: the statement is an error. */
interface Case {
  readonly expression: string;
  readonly value: (ns: bigint) => SqlValue | undefined;
}

const inRange = (ns: bigint | null): bigint | undefined => (ns === null || ns < I64_MIN || ns > I64_MAX ? undefined : ns);
const unitNames = Object.keys(UNITS);

function randomCase(below: Below): Case {
  const unit = unitNames[below(unitNames.length)]!;
  const amount = 1n + BigInt(below(below(2) === 0 ? 3 : 5000));
  switch (below(9)) {
    case 0: {
      const origin = below(2) === 0 ? 0n : randomTime(below);
      const step = amount * UNITS[unit]!;
      const start = (ns: bigint): bigint => origin + floorDiv(ns - origin, step) * step;
      // a bin that begins before the first time there is has no start; the first two are none that DuckDB can make
      const value = (ns: bigint): SqlValue => (step > 1n && start(ns) < I64_MIN + 2n ? null : start(ns));
      const text = origin === 0n ? "" : `, to_timestamp_nanos(${origin})`;
      return { expression: `date_bin(INTERVAL '${amount} ${unit}s', t${text})`, value };
    }
    case 1: {
      const months = 1 + below(40);
      const value = (ns: bigint): SqlValue => {
        const { year, month } = calendarOf(ns);
        const since = (year - 1970) * 12 + month - 1;
        const first = since - (((since % months) + months) % months);
        const [toYear, toMonth] = [1970 + Math.floor(first / 12), (((first % 12) + 12) % 12) + 1];
        const start = BigInt(daysFrom(toYear, toMonth, 1)) * DAY;
        return start < I64_MIN ? null : start;
      };
      return { expression: `date_bin(INTERVAL '${months} months', t)`, value };
    }
    case 2: {
      const value = (ns: bigint): SqlValue => {
        const start = unit === "week" ? floorDiv(ns + 3n * DAY, 7n * DAY) * 7n * DAY - 3n * DAY : floorDiv(ns, UNITS[unit]!) * UNITS[unit]!;
        return UNITS[unit]! > 1n && start < I64_MIN + 2n ? null : start;
      };
      return { expression: `date_trunc('${unit}', t)`, value };
    }
    case 3: {
      const parts: Readonly<Record<string, (ns: bigint) => SqlValue>> = {
        year: (ns) => calendarOf(ns).year,
        quarter: (ns) => Math.ceil(calendarOf(ns).month / 3),
        month: (ns) => calendarOf(ns).month,
        day: (ns) => calendarOf(ns).day,
        doy: (ns) => calendarOf(ns).dayOfYear,
        dow: (ns) => (((calendarOf(ns).days + 4) % 7) + 7) % 7,
        hour: (ns) => Number(floorMod(ns, DAY) / UNITS["hour"]!),
        minute: (ns) => Number(floorMod(ns, UNITS["hour"]!) / UNITS["minute"]!),
        second: (ns) => Number(floorMod(ns, UNITS["minute"]!) / UNITS["second"]!),
        millisecond: (ns) => Number(floorMod(ns, UNITS["minute"]!) / UNITS["millisecond"]!),
        microsecond: (ns) => Number(floorMod(ns, UNITS["minute"]!) / UNITS["microsecond"]!),
        nanosecond: (ns) => floorMod(ns, UNITS["minute"]!),
      };
      const names = Object.keys(parts);
      const name = names[below(names.length)]!;
      return { expression: `date_part('${name}', t)`, value: parts[name]! };
    }
    case 4: {
      const sign = below(2) === 0 ? 1n : -1n;
      const value = (ns: bigint): SqlValue | undefined => inRange(ns + sign * amount * UNITS[unit]!);
      return { expression: `t ${sign === 1n ? "+" : "-"} INTERVAL '${amount} ${unit}s'`, value };
    }
    case 5: {
      const months = below(2000) - 1000;
      return { expression: `t + INTERVAL '${months} months'`, value: (ns) => inRange(addMonths(ns, months)) };
    }
    case 6: {
      const other = randomTime(below);
      const signs = ["<", "<=", "=", ">=", ">"] as const;
      const at = below(signs.length);
      const value = (ns: bigint): SqlValue => [ns < other, ns <= other, ns === other, ns >= other, ns > other][at]!;
      return { expression: `t ${signs[at]} to_timestamp_nanos(${other})`, value };
    }
    case 7:
      return { expression: "to_char(t, '%Y-%m-%dT%H:%M:%S%.f')", value: textOf };
    default: {
      const value = (ns: bigint): SqlValue => floorDiv(ns, 1_000_000n);
      return { expression: "to_timestamp_millis(t)", value };
    }
  }
}

async function ask(sql: string, table: FakeTable): Promise<SqlValue[][] | Error> {
  try {
    return await askRows(own.engine, sql, { tables: [table], params: {} });
  } catch (error) {
    return error as Error;
  }
}

describe(`${ROUNDS} random expressions, seed ${SEED}`, () => {
  const below = prng(SEED);
  for (let round = 0; round < ROUNDS; round++) {
    const { expression, value } = randomCase(below);
    const all = Array.from({ length: 60 }, () => randomTime(below));
    test(`${round}: ${expression}`, async () => {
      // a column: times for which there is a value
      const times = [...new Set(all)].filter((ns) => value(ns) !== undefined);
      const { time, integer } = ColumnType;
      const table = new FakeTable(
        kernel,
        "r",
        { time, n: integer },
        times.map((ns, i) => ({ time: ns, n: BigInt(i) })),
      );
      const column = expression.replaceAll(/\bt\b/g, "time");
      const sql = `SELECT ${column} FROM r ORDER BY n`;
      expect({ sql, rows: await ask(sql, table) }).toEqual({ sql, rows: times.map((ns) => [value(ns)!]) });
      // one at a time: those without a value are errors, never other values
      for (const ns of all.filter((ns) => value(ns) === undefined).slice(0, 2)) {
        const one = new FakeTable(kernel, "r", { time, n: integer }, [{ time: ns, n: 0n }]);
        expect({ sql, ns, answer: await ask(sql, one) }).toEqual({ sql, ns, answer: expect.any(Error) });
        one.free();
      }
      // constants
      for (const ns of all.slice(0, 4)) {
        const constant = `SELECT ${expression.replaceAll(/\bt\b/g, `to_timestamp_nanos(${ns})`)}`;
        const expected = value(ns) === undefined ? expect.any(Error) : [[value(ns)!]];
        expect({ constant, rows: await ask(constant, table) }).toEqual({ constant, rows: expected });
      }
      table.free();
    });
  }
});
