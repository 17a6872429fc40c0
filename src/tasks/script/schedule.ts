// When a task is due: `every` on multiples of its period since 1970, `cron` by croner; both in UTC.
import { Cron } from "croner";
import { durationNs, isNegative, isZero, parseDuration, SECOND_NS } from "../../flux/values/duration.ts";
import { Duration } from "../../flux/values/value.ts";
import { everyFault, readCron } from "./cron-pattern.ts";

const MS_NS = 1_000_000n;
const EVERY_PREFIX = /^@every\s+/;
/** The limit of JavaScript's dates and of 64-bit nanoseconds. */
const LAST_MS = 9_223_372_036_854;

export interface TaskSchedule {
  /** The first due time after `afterMs`; null: none. */
  next(afterMs: number): number | null;
}

/** @param period positive; months and shorter units may be mixed, as in `1mo1s` */
export function everySchedule(period: Duration): TaskSchedule {
  const { months, ns } = period;
  const periodMs = Number(ns / MS_NS);
  if (months > 0n && ns > 0n) return { next: (afterMs) => within(nextMixed(Number(months), periodMs, afterMs)) };
  if (months > 0n) return { next: (afterMs) => within(nextMonths(Number(months), afterMs)) };
  return { next: (afterMs) => within((Math.floor(afterMs / periodMs) + 1) * periodMs) };
}

/** @param pattern a pattern of `readCron`, or `@every` with a duration; if days of the month and weekdays are given, both must match
 *  @throws Error with the reason */
export function cronSchedule(pattern: string, isKept = false): TaskSchedule {
  if (EVERY_PREFIX.test(pattern)) {
    const text = pattern.replace(EVERY_PREFIX, "").trimEnd();
    const period = parseDuration(text);
    if (period === null || isNegative(period) || isZero(period)) throw everyFault(pattern);
    // parts of a second do not count
    const whole = new Duration(period.months, period.ns - (period.ns % SECOND_NS));
    const problem = periodProblem(durationNs(whole));
    if (problem !== null) throw new Error(`@every ${problem}`);
    return everySchedule(whole);
  }
  const fields = readCron(pattern, isKept);
  const names = ["second", "minute", "hour", "dayOfMonth", "month", "dayOfWeek", "year"] as const;
  const text = names.map((name) => listed(fields[name], FULL[name])).join(" ");
  const cron = new Cron(text, { timezone: "UTC", mode: "7-part", domAndDow: true, paused: true });
  return { next: (afterMs) => cron.nextRun(new Date(afterMs))?.getTime() ?? null };
}

/** Number of values of each field. */
const FULL = { second: 60, minute: 60, hour: 24, dayOfMonth: 31, month: 12, dayOfWeek: 7, year: 130 } as const;

function listed(values: ReadonlySet<number>, full: number): string {
  return values.size === full ? "*" : [...values].sort((a, b) => a - b).join(",");
}

/** Why a period cannot be that of a schedule; null: it can. */
export function periodProblem(ns: bigint): string | null {
  if (ns < SECOND_NS) return "must be at least 1 second";
  return ns % SECOND_NS === 0n ? null : "must be expressible as whole seconds";
}

/** NaN beyond the range of dates. */
function nextMonths(months: number, afterMs: number): number {
  const after = new Date(afterMs);
  const month = (after.getUTCFullYear() - 1970) * 12 + after.getUTCMonth();
  return Date.UTC(1970, (Math.floor(month / months) + 1) * months);
}

/** The first of the multiples since 1970, each of its months and then of its rest, after `afterMs`. NaN beyond the range of dates. */
function nextMixed(months: number, restMs: number, afterMs: number): number {
  const multiple = (count: number) => Date.UTC(1970, count * months) + count * restMs;
  // one of the calendar's 400 years has 146,097 days, and a multiple is at most a month from what the mean makes of it
  const meanMs = (months * 146_097 * 86_400_000) / 4800 + restMs;
  const count = Math.floor(afterMs / meanMs);
  const reach = Math.ceil((31 * 86_400_000) / meanMs) + 1;
  for (let each = count - reach; each <= count + reach; each++) {
    if (multiple(each) > afterMs) return multiple(each);
  }
  return Number.NaN;
}

function within(ms: number): number | null {
  return ms <= LAST_MS ? ms : null;
}
