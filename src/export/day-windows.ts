// Windows of the export: UTC days.
import { near, TsdbError } from "../model/errors.ts";

const MS_PER_DAY = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** The first time that a row may have, as SQL writes it. */
const FIRST = "1677-09-21T00:12:43.145224194Z";
const LAST_DAY = "2262-04-11";
export const FIRST_DAY: string = FIRST.slice(0, 10);

/** The day of a time, `YYYY-MM-DD`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The first instant of the day of a time, milliseconds since 1970. */
export function dayStartMs(ms: number): number {
  return Math.floor(ms / MS_PER_DAY) * MS_PER_DAY;
}

/** @throws TsdbError bad_request unless the text is a day */
export function checkDay(text: string): void {
  if (DAY.test(text) && !Number.isNaN(Date.parse(text)) && dayOf(Date.parse(text)) === text) return;
  throw new TsdbError("bad_request", `windows: want days as YYYY-MM-DD, got "${near(text)}"`, { window: near(text) });
}

/** Bounds of the day's rows as condition of SQL. */
export function dayCondition(day: string): string {
  const startMs = Date.parse(day);
  const from = day === FIRST_DAY ? FIRST : `${day}T00:00:00Z`;
  return day === LAST_DAY ? `time >= '${from}'` : `time >= '${from}' AND time < '${dayOf(startMs + MS_PER_DAY)}T00:00:00Z'`;
}
