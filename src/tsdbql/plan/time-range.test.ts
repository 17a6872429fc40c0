// Ranges of time by hand: what a condition leaves of all times, and what is left of the condition.
import { describe, expect, test } from "bun:test";
import { TimeZone } from "../../model/time/time-zone.ts";
import { parseQuery } from "../parse/parser.ts";
import { printExpression } from "../parse/print.ts";
import { splitCondition } from "./time-range.ts";

const SECOND = 1_000_000_000n;
const HOUR = 3600n * SECOND;
const DAY = 24n * HOUR;
/** 2024-03-01T12:00:00Z */
const NOW = 1_709_294_400n * SECOND;
const YEAR_2000 = 946_684_800n * SECOND;

function splitText(condition: string, zone: string | null = null) {
  const [placed] = parseQuery(`SELECT a FROM b WHERE ${condition}`);
  if (placed?.statement.kind !== "select") throw new Error("not a SELECT");
  const context = { nowNs: NOW, zone: zone === null ? null : TimeZone.of(zone) };
  const { bounds, rest } = splitCondition(placed.statement.where, context);
  return [bounds.minNs, bounds.maxNs, rest === null ? null : printExpression(rest)] as const;
}

describe("bounds and the rest", () => {
  test.each([
    ["time > 5", 6n, null, null],
    ["time >= 5", 5n, null, null],
    ["time < 5", null, 4n, null],
    ["time <= 5", null, 5n, null],
    ["time = 5", 5n, 5n, null],
    ["5 < time", 6n, null, null],
    ["5 >= time", null, 5n, null],
    ["TIME > 5", 6n, null, null],
    ["time > 5s", 5n * SECOND + 1n, null, null],
    ["time > -1h30m", -HOUR - HOUR / 2n + 1n, null, null],
    ["time > 1.9", 2n, null, null],
    ["time >= now() - 1h + 2m", NOW - HOUR + 120n * SECOND, null, null],
    ["time >= now() - 1h * 2", NOW - 2n * HOUR, null, null],
    ["time < now() AND time > now() - 1d", NOW - DAY + 1n, NOW - 1n, null],
    ["time >= '2000-01-01'", YEAR_2000, null, null],
    ["time >= '2000-01-01 00:00:01'", YEAR_2000 + SECOND, null, null],
    ["time >= '2000-01-01 00:00:01.5'", YEAR_2000 + SECOND + SECOND / 2n, null, null],
    ["time >= '2000-01-01T00:00:00Z'", YEAR_2000, null, null],
    ["time >= '2000-01-01T00:00:00.000000001Z'", YEAR_2000 + 1n, null, null],
    ["time >= '2000-01-01T02:00:00+02:00'", YEAR_2000, null, null],
    ["time >= '2000-01-01' + 1d - 1h", YEAR_2000 + DAY - HOUR, null, null],
    ["time >= 1d + '2000-01-01'", YEAR_2000 + DAY, null, null],
    ["time >= '2000-01-01' + 5", YEAR_2000 + 5n, null, null],
    ["time > 5 AND time > 7 AND time < 20 AND time < 10", 8n, 9n, null],
    // there is no OR of ranges in 1.x
    ["time > 5 OR time < 3", 6n, 2n, null],
    ["a = 1 OR time > 5", 6n, null, "a = 1"],
    ["time > 5 AND a = 1", 6n, null, "a = 1"],
    ["(time > 5 AND (time < 9)) AND (a = 1 OR b = 2)", 6n, 8n, "a = 1 OR b = 2"],
    ["a = 1 AND time > 5 AND b = 2", 6n, null, "a = 1 AND b = 2"],
    ["a = 1 OR b = 2 AND c = 3", null, null, "a = 1 OR b = 2 AND c = 3"],
    ["a > 1 + 2 * 3", null, null, "a > 7"],
    ["a > 7 / 2", null, null, "a > 3.500"],
    ["a > (1 + 2) * 3", null, null, "a > 9"],
    ["a > b + (1 + 1)", null, null, "a > b + 2"],
    ["1 = 1", null, null, null],
    ["1 = 2", null, null, "false"],
    ["a = 1 AND 1 = 1", null, null, "a = 1"],
    ["a = 1 AND 1 > 2", null, null, "false"],
    ["a = 1 OR 1 > 2", null, null, "a = 1"],
    ["a = 1 OR true", null, null, null],
    ["9223372036854775807 + 1 = -9223372036854775808", null, null, null],
    ["time + 1 > 5", null, null, "time + 1 > 5"],
  ] as const)("%s", (condition, minNs, maxNs, rest) => {
    expect(splitText(condition)).toEqual([minNs, maxNs, rest]);
  });

  test("clocks of a zone, in winter and in summer", () => {
    expect(splitText("time >= '2000-01-01'", "Europe/Berlin")).toEqual([YEAR_2000 - HOUR, null, null]);
    expect(splitText("time >= '2000-07-01 00:00:00'", "Europe/Berlin")).toEqual([YEAR_2000 + 182n * DAY - 2n * HOUR, null, null]);
    expect(splitText("time >= '2000-01-01T00:00:00Z'", "Europe/Berlin")).toEqual([YEAR_2000, null, null]);
  });
});

/** The right sides are what influxd 1.6.7 answers. */
test.each([
  ["time > 'foo'", "invalid operation: time and *influxql.StringLiteral are not compatible"],
  ["time > '2000-1-1'", "invalid operation: time and *influxql.StringLiteral are not compatible"],
  ["time > '2000-01-01T00:00:00'", "invalid timestamp string"],
  ["time > '2000-02-30'", "invalid timestamp string"],
  ["time > '2000-01-01 00:00:00.1234567891'", "invalid timestamp string"],
  ["time > '2500-01-01'", "time 2500-01-01T00:00:00Z overflows time literal"],
  ["time > '1000-01-01'", "time 1000-01-01T00:00:00Z underflows time literal"],
  ["time > x", "invalid operation: time and *influxql.VarRef are not compatible"],
  ["time > v + 1", "invalid operation: time and *influxql.BinaryExpr are not compatible"],
  ["time > now() - 2 * 1h", "invalid operation: time and *influxql.BinaryExpr are not compatible"],
  ["time > now(1)", "invalid operation: time and *influxql.Call are not compatible"],
  ["time > *", "invalid operation: time and *influxql.Wildcard are not compatible"],
  ["time > true", "invalid operation: time and *influxql.BooleanLiteral are not compatible"],
  ["time > 18446744073709551615", "invalid operation: time and *influxql.UnsignedLiteral are not compatible"],
  ["time =~ /a/", "invalid operation: time and *influxql.RegexLiteral are not compatible"],
  ["time != 1", "invalid time comparison operator: !="],
  ["time", "invalid condition expression: time"],
  ["(v)", "invalid condition expression: v"],
])("%s is refused", (condition, message) => {
  expect(() => splitText(condition)).toThrow(message);
});
