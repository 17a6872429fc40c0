// When a scheduled trigger fires: `cron:` by croner, in UTC; `every:` on multiples of the period since 1970.
import { Cron } from "croner";
import type { TriggerSpec } from "../model/triggers.ts";

export interface Schedule {
  /** The first firing time after `afterMs`; null: none. */
  next(afterMs: number): number | null;
}

/** Weekdays are 0 to 6 from Sunday, 7 is Sunday too. Where days of the month and weekdays are given both must fit.
 *  @throws Error saying what is wrong with the pattern */
export function cronSchedule(pattern: string): Schedule {
  const cron = new Cron(pattern, { timezone: "UTC", mode: "6-part", domAndDow: true, paused: true });
  return { next: (afterMs) => cron.nextRun(new Date(afterMs))?.getTime() ?? null };
}

/** Times at multiples of a period. */
function everySchedule(periodMs: number): Schedule {
  return { next: (afterMs) => (Math.floor(afterMs / periodMs) + 1) * periodMs };
}

/** Null: the trigger has no schedule. */
export function scheduleOf(spec: TriggerSpec): Schedule | null {
  if (spec.kind === "cron") return cronSchedule(spec.pattern);
  return spec.kind === "every" ? everySchedule(spec.periodMs) : null;
}
