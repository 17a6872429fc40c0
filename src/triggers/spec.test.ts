// Trigger specifications: what they mean, what is refused with which words, and when schedules fire.
import { describe, expect, test } from "bun:test";
import type { TriggerSpec } from "../model/triggers.ts";
import { scheduleOf } from "./schedule.ts";
import { parseTriggerSpec, triggerKindOf } from "./spec.ts";

const GOOD: [text: string, spec: TriggerSpec, kind: string][] = [
  ["all_tables", { kind: "writes", table: null }, "wal"],
  [" all_tables ", { kind: "writes", table: null }, "wal"],
  ["table:cpu", { kind: "writes", table: "cpu" }, "wal"],
  ["table: it's:a table ", { kind: "writes", table: "it's:a table" }, "wal"],
  ["cron:0 0 6 * * 1-5", { kind: "cron", pattern: "0 0 6 * * 1-5" }, "schedule"],
  ["cron: */10 * * * * *", { kind: "cron", pattern: "*/10 * * * * *" }, "schedule"],
  ["every:10s", { kind: "every", periodMs: 10_000 }, "schedule"],
  ["every:5m", { kind: "every", periodMs: 300_000 }, "schedule"],
  ["every:1h 30m", { kind: "every", periodMs: 5_400_000 }, "schedule"],
  ["every:1d", { kind: "every", periodMs: 86_400_000 }, "schedule"],
  ["every:1w", { kind: "every", periodMs: 7 * 86_400_000 }, "schedule"],
  ["every:1M", { kind: "every", periodMs: 2_630_016_000 }, "schedule"],
  ["every:1y", { kind: "every", periodMs: 31_557_600_000 }, "schedule"],
  ["every:250ms", { kind: "every", periodMs: 250 }, "schedule"],
  ["request:hello-world", { kind: "request", path: "hello-world" }, "request"],
  ["request:a/b_c.d", { kind: "request", path: "a/b_c.d" }, "request"],
];

const PREFIXES = "expect one of the following prefixes: 'table:', 'all_tables:', 'cron:', 'every:', or 'request:'";
const BAD: [text: string, message: string][] = [
  ["bad", `failed to parse trigger from bad: ${PREFIXES}`],
  ["", `failed to parse trigger from : ${PREFIXES}`],
  ["all_tables:", `failed to parse trigger from all_tables:: ${PREFIXES}`],
  ["ALL_TABLES", PREFIXES],
  ["table:", "failed to parse trigger from table:: table name is empty"],
  ["table:  ", "table name is empty"],
  ["cron:", "the schedule is empty"],
  ["cron:* * * * *", "six fields are wanted (second minute hour day month weekday), got 5"],
  ["cron:* * * * * * *", "got 7"],
  ["cron:60 * * * * *", "Invalid value for second: 60"],
  ["cron:*/0 * * * * *", "illegal stepping"],
  ["cron:0 0 0 31 2 *", "there is no such day"],
  ["cron:2025-01-01T00:00:00", "got 1"],
  ["every:", "it is empty"],
  ["every:10", "a number and a unit are wanted"],
  ["every:-5s", "a number and a unit are wanted"],
  ["every:0s", "whole milliseconds, 1 or more"],
  ["every:1ns", "whole milliseconds"],
  ["every:366d", "don't support every schedules of over 1 year"],
  ["every:1y 1s", "over 1 year"],
  ["request:", "request path is empty"],
  ["request:/a", "in parts with one slash between two"],
  ["request:a//b", "in parts with one slash between two"],
  ["request:a/../b", "in parts with one slash between two"],
  ["request:a?b", "in parts with one slash between two"],
  ["request:a b", "in parts with one slash between two"],
  [`request:${"a".repeat(1001)}`, "in parts with one slash between two"],
];

describe("trigger specifications", () => {
  test.each(GOOD)("%s", (text, spec, kind) => {
    expect(parseTriggerSpec(text)).toEqual(spec);
    expect(triggerKindOf(spec) as string).toBe(kind);
  });

  test.each(BAD)("%j: %s", (text, message) => {
    expect(() => parseTriggerSpec(text)).toThrow(message);
  });
});

const FIRES: [text: string, after: string, next: string | null][] = [
  ["every:10s", "2026-11-22T22:00:00.000Z", "2026-11-22T22:00:10.000Z"],
  ["every:10s", "2026-11-22T22:00:09.999Z", "2026-11-22T22:00:10.000Z"],
  ["every:7m", "1970-01-01T00:00:00.000Z", "1970-01-01T00:07:00.000Z"],
  ["every:1w", "1970-01-01T00:00:00.001Z", "1970-01-08T00:00:00.000Z"],
  ["cron:0 0 6 * * 1-5", "2026-11-20T06:00:00.000Z", "2026-11-23T06:00:00.000Z"],
  ["cron:0 30 14 * * 5", "2026-11-22T00:00:00.000Z", "2026-11-27T14:30:00.000Z"],
  ["cron:0 0 0 1 * *", "2026-11-22T00:00:00.000Z", "2026-12-01T00:00:00.000Z"],
  ["cron:0 0 0 29 2 *", "2026-11-22T00:00:00.000Z", "2028-02-29T00:00:00.000Z"],
  // a Friday that is a 13th
  ["cron:0 0 0 13 * 5", "2026-11-22T00:00:00.000Z", "2027-08-13T00:00:00.000Z"],
  ["cron:0 0 0 * * 7", "2026-11-22T00:00:00.000Z", "2026-11-29T00:00:00.000Z"],
  // no clock of a place: the hour that others skip in spring is there
  ["cron:0 30 2 29 3 *", "2026-01-01T00:00:00.000Z", "2026-03-29T02:30:00.000Z"],
];

test.each(FIRES)("%s fires after %s at %s", (text, after, next) => {
  const found = scheduleOf(parseTriggerSpec(text))!.next(Date.parse(after));
  expect(found === null ? null : new Date(found).toISOString()).toBe(next);
});
