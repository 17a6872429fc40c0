// Dates of the demo's data: each spelling, and what is refused.
import { expect, test } from "bun:test";
import { parseDate } from "./time.ts";

const DATES: [text: string, iso: string, nanos: bigint][] = [
  ["2012-01-31", "2012-01-31T00:00:00Z", 0n],
  ["1970-01-01", "1970-01-01T00:00:00Z", 0n],
  ["1854-04-01", "1854-04-01T00:00:00Z", 0n],
  ["2001/01/01 06:55", "2001-01-01T06:55:00Z", 0n],
  ["2015/01/01 01:02:03", "2015-01-01T01:02:03Z", 0n],
  ["2010-01-01T01:00:00", "2010-01-01T01:00:00Z", 0n],
  ["2000-01-01T08:00:00.000Z", "2000-01-01T08:00:00Z", 0n],
  ["2000-01-01T08:00:00.25Z", "2000-01-01T08:00:00Z", 250_000_000n],
  ["Jan 1 2000", "2000-01-01T00:00:00Z", 0n],
  ["Dec 31 1999", "1999-12-31T00:00:00Z", 0n],
  ["1880", "1880-01-01T00:00:00Z", 0n],
];

test.each(DATES)("a date is parsed: %s", (text, iso, nanos) => expect(parseDate(text)).toBe(BigInt(Date.parse(iso)) * 1_000_000n + nanos));

test.each(["", "today", "2012-13-01", "2012-02-30", "Foo 1 2000", "2012-01-31 25:00", "12-01-31", "2012-1-1"])("%j is no date", (text) => {
  expect(parseDate(text)).toBeNull();
});
