// Layouts of times. Expected: what InfluxDB 2.8 makes of the texts in columns of such a layout.
import { expect, test } from "bun:test";
import { timeText } from "./duration.ts";
import { TimeLayout } from "./time-layout.ts";

const READ: readonly (readonly [layout: string, text: string, time: string])[] = [
  ["2006-01-02 15:04:05", "2024-03-05 10:03:04", "2024-03-05T10:03:04Z"],
  ["2006-01-02 15:04:05", "2024-03-05  10:03:04.5", "2024-03-05T10:03:04.5Z"],
  ["2006-01-02 ", "2024-03-05", "2024-03-05T00:00:00Z"],
  ["January _2 06", "march  5 24", "2024-03-05T00:00:00Z"],
  ["January _2 06", "march 15 70", "1970-03-15T00:00:00Z"],
  ["2006 03:04 pm", "2024 12:03 am", "2024-01-01T00:03:00Z"],
  ["2006 3:04PM", "2024 2:03PM", "2024-01-01T14:03:00Z"],
  ["2006 15:04:05.000", "2024 10:11:12.123", "2024-01-01T10:11:12.123Z"],
  ["2006 15:04:05.999", "2024 10:11:12", "2024-01-01T10:11:12Z"],
  ["2006 15:04 -07", "2024 10:11 -01", "2024-01-01T11:11:00Z"],
  ["2006 15:04 Z0700", "2024 10:11 +0130", "2024-01-01T08:41:00Z"],
  ["2006 15:04 Z070000", "2024 10:11 Z", "2024-01-01T10:11:00Z"],
  ["Mon, 02 Jan 2006 15:04:05 MST", "Tue, 05 Mar 2024 10:03:04 CET", "2024-03-05T10:03:04Z"],
  ["2006-002", "2024-060", "2024-02-29T00:00:00Z"],
  ["2006 __2", "2023  60", "2023-03-01T00:00:00Z"],
  ["_2006", "_2024", "2024-01-01T00:00:00Z"],
  // wrapped to 64 bits
  ["0", "0", "1753-08-29T22:43:41.128654848Z"],
];

test.each(READ)("by %j, %j is %s", (layout, text, time) => {
  const parsed = new TimeLayout(layout).parse(text);
  expect(typeof parsed === "string" ? parsed : timeText(parsed.ns)).toBe(time);
});

const RFC3339 = "2006-01-02T15:04:05Z07:00";
const WRONG: readonly (readonly [layout: string, text: string, problem: string])[] = [
  [RFC3339, "2024-03-05", `as "${RFC3339}": cannot parse "" as "T"`],
  [RFC3339, "10000-01-01T00:00:00Z", `as "${RFC3339}": cannot parse "0-01-01T00:00:00Z" as "-"`],
  [RFC3339, "2024-3-05T10:00:00Z", `as "${RFC3339}": cannot parse "3-05T10:00:00Z" as "01"`],
  [RFC3339, "2024-03-05T10:00:60Z", ": second out of range"],
  [RFC3339, "2024-02-30T10:00:00Z", ": day out of range"],
  [RFC3339, "2024-03-05T10:00:00+25:00", ": time zone offset hour out of range"],
  [RFC3339, "2024-03-05T10:00:00Zx", ': extra text: "x"'],
  ["", "2024-03-05T10:00:00Z", ': extra text: "2024-03-05T10:00:00Z"'],
  ["number", "2024", 'as "number": cannot parse "2024" as "number"'],
  ["15:04:05.000", "10:11:12", 'as "15:04:05.000": cannot parse "" as ".000"'],
  ["2006-002", "2023-366", ": day-of-year out of range"],
  ["2006-02 002", "2024-28 060", ": day-of-year does not match day"],
  ["é2006", "ü2024", 'as "\\xc3\\xa92006": cannot parse "\\xc3\\xbc2024" as "\\xc3\\xa9"'],
];

test.each(WRONG)("by %j, %j is no time", (layout, text, problem) => {
  const parsed = new TimeLayout(layout).parse(text);
  expect(typeof parsed === "string" ? parsed : timeText(parsed.ns)).toEndWith(problem);
});
