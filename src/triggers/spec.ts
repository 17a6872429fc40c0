// The grammar of trigger specifications: `table:NAME`, `all_tables`, `cron:` with six fields, `every:DURATION`, `request:PATH`.
import { near, TsdbError } from "../model/errors.ts";
import { parseHumanDuration } from "../model/time/human-duration.ts";
import type { TriggerKind, TriggerSpec } from "../model/triggers.ts";
import { cronSchedule } from "./schedule.ts";

/** A year of 365.25 days. */
const PERIOD_MS_MAX = 31_557_600_000;
const MS_NS = 1_000_000n;
const PREFIXES = "expect one of the following prefixes: 'table:', 'all_tables:', 'cron:', 'every:', or 'request:'";
/** Characters that a path may contain: those that appear unchanged in a request's target. */
const PATH = /^[\w.~!$&'()*+,;=:@-]+(?:\/[\w.~!$&'()*+,;=:@-]+)*$/;
const PATH_CHARACTERS_MAX = 1000;

/** @throws TsdbError bad_request */
export function parseTriggerSpec(text: string): TriggerSpec {
  const spec = text.trim();
  if (spec === "all_tables") return { kind: "writes", table: null };
  const colon = spec.indexOf(":");
  const rest = spec.slice(colon + 1).trim();
  switch (colon < 0 ? "" : spec.slice(0, colon)) {
    case "table":
      if (rest === "") throw invalid(spec, "table name is empty");
      return { kind: "writes", table: rest };
    case "cron":
      if (rest === "") throw invalid(spec, "the schedule is empty");
      return cronSpec(spec, rest);
    case "every":
      return { kind: "every", periodMs: periodOf(spec, rest) };
    case "request":
      if (rest === "") throw invalid(spec, "request path is empty");
      if (rest.length > PATH_CHARACTERS_MAX || !PATH.test(rest) || rest.split("/").some((part) => part === "." || part === "..")) {
        throw invalid(spec, "a request path has letters, digits and -._~!$&'()*+,;=:@, in parts with one slash between two");
      }
      return { kind: "request", path: rest };
    default:
      throw invalid(spec, PREFIXES);
  }
}

/** The kind of event that starts a trigger. */
export function triggerKindOf({ kind }: TriggerSpec): TriggerKind {
  return kind === "writes" ? "wal" : kind === "request" ? "request" : "schedule";
}

function cronSpec(spec: string, pattern: string): TriggerSpec {
  const fields = pattern.split(/\s+/).length;
  if (fields !== 6) throw invalid(spec, `six fields are wanted (second minute hour day month weekday), got ${fields}`);
  let next: number | null;
  try {
    next = cronSchedule(pattern).next(0);
  } catch (error) {
    throw invalid(spec, (error as Error).message.replace(/^CronPattern: /, ""));
  }
  if (next === null) throw invalid(spec, "there is no such day");
  return { kind: "cron", pattern };
}

function periodOf(spec: string, text: string): number {
  let ns: bigint;
  try {
    ns = parseHumanDuration(text);
  } catch (error) {
    throw invalid(spec, (error as Error).message);
  }
  if (ns > BigInt(PERIOD_MS_MAX) * MS_NS) throw invalid(spec, "don't support every schedules of over 1 year");
  if (ns === 0n || ns % MS_NS !== 0n) throw invalid(spec, "the period must be whole milliseconds, 1 or more");
  return Number(ns / MS_NS);
}

function invalid(spec: string, context: string): TsdbError {
  return new TsdbError("bad_request", `failed to parse trigger from ${near(spec, 200)}: ${context}`);
}
