// Times as text: the ends of every unit, calendars before and after ours, zones around the change of the clock.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import type { TimeUnit } from "../../model/query/result-batch.ts";
import { ByteWriter } from "../byte-writer.ts";
import { dateText, intervalText, TimestampText, writeTimeOfDay } from "./clock-text.ts";
import { zoneOffsets } from "./zone-offsets.ts";

const SEED = Number(process.env["SEED"] ?? 21);
const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;

function timestamps(values: readonly bigint[], unit: TimeUnit, zone: string | null = null): string[] {
  const out = new ByteWriter();
  const text = new TimestampText(out, unit, zone === null ? null : zoneOffsets(zone));
  return values.map((value) => {
    text.write(Number(value & 0xffffffffn), Number(value >> 32n));
    return new TextDecoder().decode(out.take());
  });
}

const INSTANTS: [value: bigint, unit: TimeUnit, text: string][] = [
  // 0, 3, 6 or 9 digits
  [0n, "ns", "1970-01-01T00:00:00"],
  [1n, "ns", "1970-01-01T00:00:00.000000001"],
  [2998574931000690067n, "ns", "2065-01-07T17:28:51.000690067"],
  [1000n, "ns", "1970-01-01T00:00:00.000001"],
  [500_000_000n, "ns", "1970-01-01T00:00:00.500"],
  [120_000_000n, "us", "1970-01-01T00:02:00"],
  [1_500n, "ms", "1970-01-01T00:00:01.500"],
  [1_500_100n, "us", "1970-01-01T00:00:01.500100"],
  // before 1970 the fraction still counts forward
  [-1n, "ns", "1969-12-31T23:59:59.999999999"],
  [-1_000_000_000n, "ns", "1969-12-31T23:59:59"],
  [-1n, "s", "1969-12-31T23:59:59"],
  [-1n, "ms", "1969-12-31T23:59:59.999"],
  // calendar
  [951_782_400n, "s", "2000-02-29T00:00:00"],
  [4_107_542_400n, "s", "2100-03-01T00:00:00"],
  [-62_135_596_800n, "s", "0001-01-01T00:00:00"],
  [-62_167_219_201n, "s", "-0001-12-31T23:59:59"],
  [253_402_300_799n, "s", "9999-12-31T23:59:59"],
  [253_402_300_800n, "s", "+10000-01-01T00:00:00"],
  // the ends of i64
  [I64_MAX, "ns", "2262-04-11T23:47:16.854775807"],
  [I64_MIN, "ns", "1677-09-21T00:12:43.145224192"],
  [I64_MAX, "us", "+294247-01-10T04:00:54.775807"],
  [I64_MIN, "us", "-290308-12-21T19:59:05.224192"],
  [I64_MAX, "ms", "+292278994-08-17T07:12:55.807"],
  [I64_MIN, "ms", "-292275055-05-16T16:47:04.192"],
  [I64_MAX, "s", "+292277026596-12-04T15:30:07"],
];

describe("timestamps", () => {
  test.each(INSTANTS)("%p %s is %s", (value, unit, text) => expect(timestamps([value], unit)).toEqual([text]));

  test(`random instants agree with Date and BigInt, seed ${SEED}`, () => {
    const below = prng(SEED);
    const values = Array.from({ length: 10_000 }, (_, index) => {
      // Walks around one point in half of the cases, so that the kept date is both used and left.
      const base = BigInt.asIntN(64, (BigInt(below(2 ** 32)) << 32n) | BigInt(below(2 ** 32)));
      return index % 2 === 0 ? base : 1_700_000_000_000_000_000n + BigInt(below(2 ** 32)) * 40_000n;
    });
    expect(timestamps(values, "ns")).toEqual(values.map(reference));
  });
});

/** Milliseconds through Date, the rest through BigInt. */
function reference(nanos: bigint): string {
  const rest = ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const date = new Date(Number((nanos - rest) / 1_000_000n)).toISOString().slice(0, 19);
  const digits = String(rest)
    .padStart(9, "0")
    .replace(/(000)+$/, "");
  return rest === 0n ? date : `${date}.${digits}`;
}

const ZONED: [zone: string, second: bigint, text: string][] = [
  ["UTC", 0n, "1970-01-01T00:00:00Z"],
  ["+05:30", 0n, "1970-01-01T05:30:00+05:30"],
  ["-01:00", 0n, "1969-12-31T23:00:00-01:00"],
  ["Europe/Berlin", 1_700_000_000n, "2023-11-14T23:13:20+01:00"],
  ["Europe/Berlin", 1_690_000_000n, "2023-07-22T06:26:40+02:00"],
  // one second around the change of the clock
  ["Europe/Berlin", 1_679_792_399n, "2023-03-26T01:59:59+01:00"],
  ["Europe/Berlin", 1_679_792_400n, "2023-03-26T03:00:00+02:00"],
  ["Europe/London", 1_700_000_000n, "2023-11-14T22:13:20Z"],
  ["Asia/Kathmandu", 1_700_000_000n, "2023-11-15T03:58:20+05:45"],
  ["America/St_Johns", 1_700_000_000n, "2023-11-14T18:43:20-03:30"],
];

test.each(ZONED)("%s at %p is %s", (zone, second, text) => expect(timestamps([second], "s", zone)).toEqual([text]));

test("a zone that does not exist is the statement's fault", () => {
  expect(() => zoneOffsets("Mars/Olympus")).toThrow("unknown time zone 'Mars/Olympus'");
});

test.each([
  [0, "1970-01-01"],
  [-719_468, "0000-03-01"],
  [-719_529, "-0001-12-31"],
  [2_932_896, "9999-12-31"],
  [2_932_897, "+10000-01-01"],
  [2 ** 31 - 1, "+5881580-07-11"],
  [-(2 ** 31), "-5877641-06-23"],
])("day %p is %s", (day, text) => expect(dateText(day)).toBe(text));

test.each([
  [0, "us", "00:00:00"],
  [3_600_000_001, "us", "01:00:00.000001"],
  [86_399_999, "ms", "23:59:59.999"],
  [86_400, "s", "24:00:00"],
  [86_399_999_999_999, "ns", "23:59:59.999999999"],
] as [number, TimeUnit, string][])("time of day %p %s is %s", (units, unit, text) => {
  const out = new ByteWriter();
  writeTimeOfDay(out, units, unit);
  expect(new TextDecoder().decode(out.take())).toBe(text);
});

test.each([
  [0, 0, 0n, ""],
  [0, 0, 32_689n, "0.032689000 secs"],
  [0, 0, 3_600_000_000n, "1 hours"],
  [0, 0, -1_500_000n, "-1.500000000 secs"],
  [14, 0, 0n, "14 mons"],
  [1, 2, 3_500_000n, "1 mons 2 days 3.500000000 secs"],
  [-1, -2, -3_000_000n, "-1 mons -2 days -3.000000000 secs"],
  [1, -2, -500_000n, "1 mons -2 days -0.500000000 secs"],
  [0, 0, I64_MIN, "-2562047788 hours -54.775808000 secs"],
  [-(2 ** 31), 2 ** 31 - 1, 0n, "-2147483648 mons 2147483647 days"],
] as [number, number, bigint, string][])("interval %p %p %p is %s", (months, days, micros, text) => {
  expect(intervalText(months, days, micros)).toBe(text);
});
