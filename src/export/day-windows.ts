// Windows of the export: UTC days.
import { near, TsdbError } from "../model/errors.ts";
import type { TimeRange } from "../model/query/scan.ts";
import { I64_MAX, I64_MIN } from "../model/rows/int64.ts";

const MS_PER_DAY = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const NS_PER_MS = 1_000_000n;
/** Of the first time that a row may have. */
export const FIRST_DAY = "1677-09-21";

/** The day of a time, `YYYY-MM-DD`. */
function dayOf(ms: number): string {
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

/** The times of the day, as far as rows may have them. */
export function dayRange(day: string): TimeRange {
  const minNs = BigInt(Date.parse(day)) * NS_PER_MS;
  const maxNs = minNs + BigInt(MS_PER_DAY) * NS_PER_MS - 1n;
  return { minNs: minNs < I64_MIN ? I64_MIN : minNs, maxNs: maxNs > I64_MAX ? I64_MAX : maxNs };
}
