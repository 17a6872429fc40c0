// Functions of time: the vendor's documented examples, every unit and part by the calendar, formats by the documentation of Rust's chrono,
// and errors. Times are UTC unless they say a zone.
import type { Kernel } from "../../src/kernel/memory/kernel.ts";
import { ColumnType } from "../../src/model/rows/column.ts";
import { FakeTable } from "../support/rows/fake-table.ts";
import type { SqlValue } from "../support/sql/sql-rows.ts";
import { type SqlCase, SUITE_NOW_NS, sqlSuite, utc } from "../support/sql/sql-suite.ts";

const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;
/** The value of one expression. */
const is = (expression: string, value: SqlValue): SqlCase => [`SELECT ${expression}`, [[value]]];
const fails = (expression: string, message: string): SqlCase => [`SELECT ${expression}`, new Error(message)];
const NEW_YEAR = utc("2024-01-01T00:00:00");

sqlSuite("numbers and texts as times, as documented", [
  is("to_timestamp(1704067200000000000)", NEW_YEAR),
  is("to_timestamp_nanos(1704067200000000001)", NEW_YEAR + 1n),
  is("to_timestamp_micros(1704067200000001)", (NEW_YEAR + 1000n) / 1000n),
  is("to_timestamp_millis(1704067200001)", (NEW_YEAR + 1_000_000n) / 1_000_000n),
  is("to_timestamp_seconds(1704067201)", (NEW_YEAR + SECOND) / SECOND),
  is("to_timestamp_nanos('01:01:59.123456789 01-01-2024', '%c', '%+', '%H:%M:%S%.f %m-%d-%Y')", utc("2024-01-01T01:01:59", 123_456_789n)),
  is("to_timestamp_micros('01:01:59.123456789 01-01-2024', '%c', '%+', '%H:%M:%S%.f %m-%d-%Y')", 1_704_070_919_123_456n),
  is("to_timestamp_millis('01:01:59.123456789 01-01-2024', '%c', '%+', '%H:%M:%S%.f %m-%d-%Y')", 1_704_070_919_123n),
  is("to_timestamp_seconds('01:01:59.123456789 01-01-2024', '%c', '%+', '%H:%M:%S%.f %m-%d-%Y')", 1_704_070_919n),
  is("from_unixtime(1672531200000000000)", utc("2023-01-01T00:00:00")),
  is("from_unixtime(1672531200)", utc("2023-01-01T00:00:00")),
  is("from_unixtime(-1)", -SECOND),
  is("from_unixtime(1672531200, 'Asia/Tokyo')::varchar", "2023-01-01T09:00:00+09:00"),
  is("to_unixtime('2024-01-01T01:01:59.123456789Z')", 1_704_070_919n),
  is("to_unixtime('01:01:59.123456789 01-01-2024', '%c', '%+', '%H:%M:%S%.f %m-%d-%Y')", 1_704_070_919n),
  is("to_unixtime(1.75)", 1n),
  is("to_unixtime(12)", 12n),
  // cut towards 1970, as recorded (time-143)
  is("to_unixtime('1969-12-31T23:59:59.5Z')", 0n),
  is("to_unixtime(date '1970-01-02')", 86_400n),
  is("to_date('1-Jan-2024', '%e-%b-%Y')::STRING", "2024-01-01"),
  is("make_date(2024, 01, 01)::STRING", "2024-01-01"),
  is("to_char('2024-01-01T12:22:01Z'::TIMESTAMP, '%a %e-%b-%Y %H:%M:%S')", "Mon  1-Jan-2024 12:22:01"),
  is("date_format('2024-01-01T12:22:01Z'::TIMESTAMP, '%a %e-%b-%Y %H:%M:%S')", "Mon  1-Jan-2024 12:22:01"),
]);

sqlSuite("now", [
  is("now()", SUITE_NOW_NS),
  is("current_timestamp", SUITE_NOW_NS),
  is("current_timestamp()", SUITE_NOW_NS),
  is("current_date", 19_889),
  is("current_date()", 19_889),
  is("today()", 19_889),
  is("current_date()::TIMESTAMP", utc("2024-06-15T00:00:00")),
  is("current_time()", 45_296_123_456_000n),
  is("current_time", 45_296_123_456_000n),
  ["SELECT count(*) FROM home WHERE time > current_date()::TIMESTAMP - INTERVAL '5 years'", [[26n]]],
  ["SELECT count(*) FROM home WHERE time <= now() - interval '12 minutes' AND time >= now() - INTERVAL '3 years'", [[26n]]],
]);

sqlSuite("forms of times and dates in text", [
  ...[
    "2024-02-29T12:30:45.123456789Z",
    "2024-02-29 12:30:45.123456789",
    "2024-02-29T12:30:45.123456789",
    "2024-02-29t12:30:45.123456789z",
    "2024-02-29 12:30:45.123456789 UTC",
    "2024-02-29 12:30:45.123456789+00",
    "2024-02-29T14:30:45.123456789+02:00",
    "2024-02-29T07:00:45.123456789-0530",
    "2024-02-29T11:30:45.123456789-1:00",
    "2024-02-29 13:30:45.123456789 Europe/Berlin",
    "20240229T123045.123456789Z",
    "2024-02-29T12:30:45,1234567899",
    "  2024-02-29T12:30:45.123456789Z ",
  ].map((text) => is(`'${text}'::timestamp`, utc("2024-02-29T12:30:45", 123_456_789n))),
  ...[
    "2023-01-02T03:04:06.000Z",
    "2023-01-02T03:04:06.000-00:00",
    "2023-01-02 03:04:06.000-00:00",
    "2023-01-02T03:04:06Z",
    "2023-01-02 03:04:06.000",
    "2023-01-02 03:04:06",
  ].map((text) => is(`'${text}'::timestamp`, utc("2023-01-02T03:04:06"))),
  is("'2024-01-01T05'::timestamp", utc("2024-01-01T05:00:00")),
  is("'2024-01-01 05:06'::timestamp", utc("2024-01-01T05:06:00")),
  is("'2024-01-01'::timestamp", NEW_YEAR),
  is("'2023-12-31T24:00:00'::timestamp", NEW_YEAR),
  is("'2016-12-31T23:59:60Z'::timestamp", utc("2017-01-01T00:00:00")),
  is("TIMESTAMP '1970-01-01 00:00:00Z'", 0n),
  is("to_timestamp('2024-01-01T00:00:00.000000001Z')", NEW_YEAR + 1n),
  is("1704067200::timestamp", NEW_YEAR),
  is("to_date('2024-02-29')::varchar", "2024-02-29"),
  is("to_date('9999-12-31')::varchar", "9999-12-31"),
  is("to_date('2024-02-29T23:59:59.999Z')::varchar", "2024-02-29"),
  is("to_date(19000)::varchar", "2022-01-08"),
  is("to_date(-1)::varchar", "1969-12-31"),
  is("to_date('2024-02-29'::timestamp)::varchar", "2024-02-29"),
  is("make_date(1969, 7, 20)", -165),
  is("make_date('2024', '2', '29')::varchar", "2024-02-29"),
  fails("'2023-02-29'::timestamp", "Error parsing timestamp from '2023-02-29'"),
  fails("'2024-01-01T25:00:00'::timestamp", "Error parsing timestamp from '2024-01-01T25:00:00'"),
  fails("'2024-01-01T00:00:00+25:00'::timestamp", "Error parsing timestamp"),
  fails("'2024-01-01 00:00:00 Mars/Olympus'::timestamp", "Error parsing timestamp"),
  fails("'20240101'::timestamp", "Error parsing timestamp from '20240101'"),
  fails("to_timestamp('soon')", "Error parsing timestamp from 'soon'"),
  fails("make_date(2024, 2, 30)", "Date out of range"),
  fails("make_date(2024, 2)", "expects 3 arguments"),
]);

/** Time texts of all sorts in a column. */
function texts(kernel: Kernel): FakeTable {
  const { time, tag, string, integer, float } = ColumnType;
  const row = (n: number, s: string | null, odd: string) => ({ time: BigInt(n), n: BigInt(n), s, odd, f: n + 0.75, h: "x" });
  return new FakeTable(kernel, "texts", { time, h: tag, n: integer, s: string, odd: string, f: float }, [
    row(1, "2024-01-01T00:00:00.123456789Z", "1-Jan-2024 01:02 PM +0530"),
    row(2, "2024-01-01T02:00+02:00", "29-FEB-2024 12:00 am Z"),
    row(3, "2023-12-31 19-05:00", "31-december-69 11:59 pm -00:01"),
    row(4, null, "1-may-1970 12:30 PM +00:00"),
  ]);
}

sqlSuite(
  "columns as times",
  [
    ["SELECT s::timestamp FROM texts ORDER BY n", [[NEW_YEAR + 123_456_789n], [NEW_YEAR], [NEW_YEAR], [null]]],
    ["SELECT to_timestamp(s) - INTERVAL '1 ns' FROM texts WHERE n = 2", [[NEW_YEAR - 1n]]],
    ["SELECT count(*) FROM texts WHERE s > '2024-01-01'::timestamp", [[1n]]],
    ["SELECT date_bin(INTERVAL '1 s', s) FROM texts WHERE n = 1", [[NEW_YEAR]]],
    [
      "SELECT to_timestamp_seconds(n), to_timestamp_millis(n), to_timestamp_micros(n), to_timestamp_nanos(n), to_timestamp(n) FROM texts WHERE n = 3",
      [[3n, 3n, 3n, 3n, 3n]],
    ],
    ["SELECT to_timestamp_seconds(f), to_timestamp_millis(-f), to_timestamp(f) FROM texts WHERE n = 1", [[1n, -1n, 1_750_000_000n]]],
    [
      "SELECT to_timestamp_seconds(s), to_timestamp_micros(s) FROM texts WHERE n = 1",
      [[NEW_YEAR / SECOND, (NEW_YEAR + 123_456_000n) / 1000n]],
    ],
    ["SELECT from_unixtime(n), from_unixtime(n * 10000000000) FROM texts WHERE n = 2", [[2n * SECOND, 20_000_000_000n]]],
    [
      "SELECT to_timestamp(odd, '%Y', '%d-%b-%Y %I:%M %p %z', '%e-%B-%y %l:%M %P %z') FROM texts ORDER BY n",
      [[utc("2024-01-01T07:32:00")], [utc("2024-02-29T00:00:00")], [utc("2070-01-01T00:00:00")], [utc("1970-05-01T12:30:00")]],
    ],
    ["SELECT to_timestamp_seconds(odd, '%d-%b-%Y %I:%M %p %z') FROM texts WHERE n = 1", [[utc("2024-01-01T07:32:00") / SECOND]]],
    [
      "SELECT to_unixtime(s), to_date(s)::varchar FROM texts WHERE n < 3 ORDER BY n",
      [
        [NEW_YEAR / SECOND, "2024-01-01"],
        [NEW_YEAR / SECOND, "2024-01-01"],
      ],
    ],
    ["SELECT to_date(n)::varchar, make_date(2000 + n, n, n)::varchar FROM texts WHERE n = 3", [["1970-01-04", "2003-03-03"]]],
    [
      "SELECT s::timestamp FROM texts WHERE to_timestamp(odd, '%d-%b-%Y') IS NULL",
      new Error("Error parsing timestamp from '1-Jan-2024 01:02 PM +0530' using formats: ['%d-%b-%Y']"),
    ],
    ["SELECT to_timestamp(odd, '%Y') FROM texts", new Error("using formats: ['%Y']")],
    ["SELECT to_timestamp(odd) FROM texts", new Error("Error parsing timestamp from '1-Jan-2024 01:02 PM +0530'")],
    ["SELECT to_timestamp_seconds(n * 100000000000000) FROM texts", new Error("Overflow")],
  ],
  (kernel) => [texts(kernel)],
);

/** A Sunday evening. */
const T = "'2001-07-08T21:04:05.026490007Z'::timestamp";
const shown = (format: string, text: string): SqlCase => is(`to_char(${T}, '${format}')`, text);

sqlSuite("formats, as chrono documents them", [
  shown("%Y|%C|%y", "2001|20|01"),
  shown("%q|%m|%b|%B|%h", "3|07|Jul|July|Jul"),
  shown("%d|%e|%-d|%_m|%-m", "08| 8|8| 7|7"),
  shown("%a|%A|%w|%u", "Sun|Sunday|0|7"),
  shown("%U|%W|%G|%g|%V|%j", "27|27|2001|01|27|189"),
  shown("%D|%x|%F|%v", "07/08/01|07/08/01|2001-07-08| 8-Jul-2001"),
  shown("%H|%k|%I|%l|%P|%p", "21|21|09| 9|pm|PM"),
  shown("%M|%S", "04|05"),
  shown("%f|%.f|%.3f|%.6f|%.9f|%3f|%6f|%9f", "026490007|.026490007|.026|.026490|.026490007|026|026490|026490007"),
  shown("%R|%T|%X|%r", "21:04|21:04:05|21:04:05|09:04:05 PM"),
  shown("%c", "Sun Jul  8 21:04:05 2001"),
  shown("%+", "2001-07-08T21:04:05.026490007+00:00"),
  shown("%s|%z|%:z|%Z", "994626245|+0000|+00:00|UTC"),
  shown("100%%%t|%n", "100%\t|\n"),
  shown("plain ''text''", "plain 'text'"),
  is("to_char('2001-07-08T00:00:00.5Z'::timestamp, '%.f|%I %p')", ".500|12 AM"),
  is("to_char('2001-07-08T00:00:00Z'::timestamp, '[%.f]')", "[]"),
  is("to_char('1969-12-31T23:59:59.999999999Z'::timestamp, '%s %.9f %S')", "-1 .999999999 59"),
  is("to_char(tz('2024-07-01T22:30:00Z', 'Asia/Kathmandu'), '%F %T %z %:z %::z')", "2024-07-02 04:15:00 +0545 +05:45 +05:45:00"),
  is("to_char(tz('2024-07-01T22:30:00Z', 'Europe/Berlin'), '%+ %s')", "2024-07-02T00:30:00+02:00 1719873000"),
  is("to_char(date '2024-02-29', '%A %d %B %Y')", "Thursday 29 February 2024"),
  is("to_char(date '0024-02-29', '%Y %-Y')", "0024 24"),
  is("to_char(time '10:11:12.5', '%H.%M.%S%.f')", "10.11.12.500"),
  is("to_char(to_timestamp_seconds(253402300799), '%Y-%m-%dT%H:%M:%S')", "9999-12-31T23:59:59"),
  is("to_char(time - time, 'iso8601') FROM home LIMIT 1", "P0D"),
  is("to_char(now() - '2024-06-14T12:34:56Z', 'iso8601')", "PT86400.123456789S"),
  is("to_char(now() - '2024-06-14T10:33:56Z', 'pretty')", "1 days 2 hours 1 mins 0.123456789 secs"),
  is("to_char('2024-01-01', '%F')", "2024-01-01"),
  is("to_char(NULL::timestamp, '%F')", null),
  ["SELECT to_char(time, '%Hh') FROM home ORDER BY time LIMIT 3", [["08h"], ["08h"], ["09h"]]],
  fails(`to_char(${T}, '%Q')`, "'%Q' is no valid format"),
  fails(`to_char(${T}, '50%')`, "'50%' is no valid format"),
  fails("to_char(time, room) FROM home", "to_char expects its format to be a constant string"),
  // reading
  is("to_timestamp('2001-07-08T21:04:05.026490007+09:30', '%+')", utc("2001-07-08T11:34:05", 26_490_007n)),
  is("to_timestamp('Sun Jul  8 21:04:05 2001', '%c')", utc("2001-07-08T21:04:05")),
  is("to_timestamp('994626245', '%s')", utc("2001-07-08T21:04:05")),
  is("to_timestamp('189/2001', '%j/%Y')", utc("2001-07-08T00:00:00")),
  is("to_timestamp('69-12-31', '%y-%m-%d')", utc("2069-12-31T00:00:00")),
  is("to_timestamp('70-01-01', '%y-%m-%d')", 0n),
  is("to_timestamp('2001-07-08 21:04:05 7', '%F %T %f')", utc("2001-07-08T21:04:05", 7n)),
  is("to_timestamp('2001-07-08 21:04:05.7', '%F %T%.f')", utc("2001-07-08T21:04:05", 700_000_000n)),
  fails("to_timestamp('12:30 AM, 1 sept', '%I:%M %p, %d sept')", "Error parsing timestamp from '12:30 AM, 1 sept'"),
  is("to_timestamp('12:30 AM 2001-07-08', '%I:%M %p %F')", utc("2001-07-08T00:30:00")),
  fails("to_timestamp('2001-02-29', '%F')", "Execution error: Error parsing timestamp from '2001-02-29' using formats: ['%F']"),
  fails("to_timestamp('2001-07-08x', '%F', '%D')", "Error parsing timestamp from '2001-07-08x' using formats: ['%F', '%D']"),
  fails("to_timestamp('0 AM 2001-07-08', '%I %p %F')", "Error parsing timestamp"),
  fails("to_timestamp('2001', '%Y')", "Error parsing timestamp from '2001' using formats: ['%Y']"),
  is("to_timestamp('2001-07-08', '%Y', '%H:%M', '%F')", utc("2001-07-08T00:00:00")),
  fails("to_timestamp('2001', '%Q')", "'%Q' is no valid format"),
  fails("to_timestamp(now(), '%Y')", "unsupported data type with formats"),
  // greedy, and never twice over the same text
  fails(`to_timestamp('${"1".repeat(60)}x', '${"%d".repeat(60)}%Y')`, "Error parsing timestamp"),
]);

/** Text read by a format, as a constant and as a column; null: it does not fit. */
const READ: readonly (readonly [text: string, format: string, value: bigint | null])[] = [
  ["2024-02-29", "%Y-%m-%d", utc("2024-02-29T00:00:00")],
  ["2023-02-29", "%Y-%m-%d", null],
  ["2024-13-01", "%F", null],
  ["2024-1-2", "%F", utc("2024-01-02T00:00:00")],
  ["20240102", "%Y%m%d", utc("2024-01-02T00:00:00")],
  ["  2024 - 1-2", "%Y -%m-%d", utc("2024-01-02T00:00:00")],
  ["2024-366", "%Y-%j", utc("2024-12-31T00:00:00")],
  ["2023-366", "%Y-%j", null],
  ["2024-0", "%Y-%j", null],
  ["9 Feb 24", "%d %b %y", utc("2024-02-09T00:00:00")],
  ["9 FEBRUARY 1969", "%e %B %Y", utc("1969-02-09T00:00:00")],
  ["1969", "%C%y", null],
  ["19690720", "%C%y%m%d", utc("1969-07-20T00:00:00")],
  ["2024-01-02 23:59:59.5", "%F %T%.f", utc("2024-01-02T23:59:59", 500_000_000n)],
  ["2024-01-02 23:59:59", "%F %T%.f", utc("2024-01-02T23:59:59")],
  ["2024-01-02 23:59:59.1234567899", "%F %T%.3f", utc("2024-01-02T23:59:59", 123_456_789n)],
  ["2024-01-02 23:59:59 000000042", "%F %T %f", utc("2024-01-02T23:59:59", 42n)],
  ["2024-01-02 235959042", "%F %H%M%S%3f", utc("2024-01-02T23:59:59", 42_000_000n)],
  ["2024-01-02 24:00", "%F %H:%M", null],
  ["2024-01-02 23:60", "%F %H:%M", null],
  ["2024-01-02 23:59:60", "%F %T", utc("2024-01-03T00:00:00")],
  ["2024-01-02 12 am", "%F %I %P", utc("2024-01-02T00:00:00")],
  ["2024-01-02 12 PM", "%F %l %p", utc("2024-01-02T12:00:00")],
  ["2024-01-02 13 PM", "%F %I %p", null],
  ["2024-01-02T03:04:05+0530", "%FT%T%z", utc("2024-01-01T21:34:05")],
  ["2024-01-02T03:04:05-01:30", "%FT%T%:z", utc("2024-01-02T04:34:05")],
  ["2024-01-02T03:04:05Z", "%+", utc("2024-01-02T03:04:05")],
  ["2024-01-02 03:04:05 CET", "%F %T %Z", utc("2024-01-02T03:04:05")],
  ["-1", "%s", -SECOND],
  ["99999999999", "%s", null],
  ["1.5", "%s%.f", SECOND + SECOND / 2n],
  ["Tue, 2 Jan 2024", "%a, %d %b %Y", utc("2024-01-02T00:00:00")],
  ["100% 2024-01-02", "100%% %F", utc("2024-01-02T00:00:00")],
  ["a.b (2024-01-02) [x]", "a.b (%F) [x]", utc("2024-01-02T00:00:00")],
  ["axb (2024-01-02) [x]", "a.b (%F) [x]", null],
  ["3000-01-02", "%F", null],
  ["2024-01-02", "%F %H", null],
];

sqlSuite(
  "reading by formats, constants and columns",
  READ.flatMap(([text, format, value]): SqlCase[] => {
    const failure = new Error(`Error parsing timestamp from '${text}' using formats: ['${format}']`);
    const expected = value === null ? failure : [[value]];
    return [
      [`SELECT to_timestamp('${text}', '${format}')`, expected],
      [`SELECT to_timestamp(s, '${format}') FROM (VALUES ('${text}')) AS v(s)`, expected],
    ];
  }),
);

/** A Thursday in the 53rd week of its ISO year, 2020. */
const P = "'2020-12-31T23:59:58.123456789Z'::timestamp";
const part = (name: string, value: SqlValue): SqlCase[] => [is(`date_part('${name}', ${P})`, value)];

sqlSuite("parts", [
  ...part("year", 2020),
  ...part("isoyear", 2020),
  ...part("quarter", 4),
  ...part("month", 12),
  ...part("week", 53),
  ...part("day", 31),
  ...part("doy", 366),
  ...part("dow", 4),
  ...part("isodow", 3),
  ...part("hour", 23),
  ...part("minute", 59),
  ...part("second", 58),
  ...part("millisecond", 58_123),
  ...part("microsecond", 58_123_456),
  ...part("nanosecond", 58_123_456_789n),
  ...part("epoch", 1_609_459_198.1234567),
  ...part("YEARS", 2020),
  ...part("ms", 58_123),
  ...part("us", 58_123_456),
  ...part("ns", 58_123_456_789n),
  is(`extract(epoch FROM ${P})`, 1_609_459_198.1234567),
  is(`extract(ISODOW FROM ${P})`, 3),
  is(`extract(nanosecond FROM ${P})`, 58_123_456_789n),
  is(`datepart('century', ${P})`, 21),
  // Sunday is 0, or 6 when Monday is 0; the ISO week of a first of January may be the last of the year before
  is("date_part('dow', '2023-01-01'::timestamp)", 0),
  is("date_part('isodow', '2023-01-01'::timestamp)", 6),
  is("date_part('week', '2023-01-01'::timestamp)", 52),
  is("date_part('isoyear', '2023-01-01'::timestamp)", 2022),
  // dates, coarser times, texts, times of day, intervals, durations
  is("date_part('doy', date '2024-12-31')", 366),
  is("date_part('nanosecond', date '2024-12-31')", 0n),
  is("date_part('epoch', date '1970-01-02')", 86_400),
  is("date_part('year', to_timestamp_seconds(253402300799))", 9999),
  is("date_part('month', '2024-05-06')", 5),
  is("extract(minute FROM time '10:11:12')", 11),
  is("date_part('hour', INTERVAL '90 minutes')", 1),
  is("date_part('minute', INTERVAL '90 minutes')", 30),
  is("date_part('hour', now() - '2024-06-14T12:34:56Z')", 24),
  is("date_part('nanosecond', now() - '2024-06-15T12:34:56Z')", 123_456_789n),
  is("date_part('hour', tz('2024-07-01T22:30:00Z', 'Asia/Kathmandu'))", 4),
  is("date_part('minute', tz('2024-07-01T22:30:00Z', 'Asia/Kathmandu'))", 15),
  is("date_part('epoch', tz('1970-01-01T00:00:01Z', 'Asia/Kathmandu'))", 1),
  ["SELECT DISTINCT date_part('hour', time) AS h FROM home WHERE temp > 23 ORDER BY h", [[18], [19]]],
  fails(`date_part('fortnight', ${P})`, "Date part 'fortnight' not supported"),
  fails("date_part(room, time) FROM home", "First argument of `DATE_PART` must be non-null scalar Utf8"),
  fails("date_part('year') FROM home", "expects 2 arguments"),
]);

const bin = (interval: string, text: string): SqlCase => is(`date_bin(INTERVAL '${interval}', ${P})::varchar`, text);
const cut = (unit: string, text: string): SqlCase => is(`date_trunc('${unit}', ${P})::varchar`, text);

sqlSuite("bins and truncation, every unit", [
  bin("1 nanosecond", "2020-12-31T23:59:58.123456789"),
  bin("10 nanoseconds", "2020-12-31T23:59:58.123456780"),
  bin("1 microsecond", "2020-12-31T23:59:58.123456"),
  bin("1 millisecond", "2020-12-31T23:59:58.123"),
  bin("1 second", "2020-12-31T23:59:58"),
  bin("15 minutes", "2020-12-31T23:45:00"),
  bin("1 hour", "2020-12-31T23:00:00"),
  bin("1 day", "2020-12-31T00:00:00"),
  // a Thursday, as was 1970-01-01
  bin("1 week", "2020-12-31T00:00:00"),
  bin("2 weeks", "2020-12-24T00:00:00"),
  bin("1 month", "2020-12-01T00:00:00"),
  bin("7 months", "2020-10-01T00:00:00"),
  bin("1 quarter", "2020-10-01T00:00:00"),
  bin("1 year", "2020-01-01T00:00:00"),
  bin("1 century", "1970-01-01T00:00:00"),
  bin("1 day 12 hours", "2020-12-31T00:00:00"),
  is("date_bin(INTERVAL '1 day', '1969-12-31T23:59:59.999999999Z')::varchar", "1969-12-31T00:00:00"),
  is("date_bin(INTERVAL '1 month', '1969-12-31T23:59:59.999999999Z')::varchar", "1969-12-01T00:00:00"),
  is("date_bin(INTERVAL '7 days', '2024-01-10', DATE '2024-01-02')::varchar", "2024-01-09T00:00:00"),
  is("date_bin(INTERVAL '1 month', '2024-03-01', DATE '2024-01-02')::varchar", "2024-02-02T00:00:00"),
  is("date_bin(INTERVAL '1 hour', '2023-01-01T18:18:18Z', TIMESTAMP '1970-01-01 00:30:00Z')::varchar", "2023-01-01T17:30:00"),
  is("date_bin(INTERVAL '15 minutes', '2023-01-01T18:18:18Z')::varchar", "2023-01-01T18:15:00"),
  is("date_bin(INTERVAL '1 month', '2023-03-30', '2020-01-31')::varchar", "2023-02-28T00:00:00"),
  is("date_bin(INTERVAL '1 day', date '2023-01-01')::varchar", "2023-01-01T00:00:00"),
  is("date_bin(INTERVAL '1 s', to_timestamp_millis(1500))", 1000n),
  cut("nanosecond", "2020-12-31T23:59:58.123456789"),
  cut("microsecond", "2020-12-31T23:59:58.123456"),
  cut("millisecond", "2020-12-31T23:59:58.123"),
  cut("second", "2020-12-31T23:59:58"),
  cut("minute", "2020-12-31T23:59:00"),
  cut("hour", "2020-12-31T23:00:00"),
  cut("day", "2020-12-31T00:00:00"),
  cut("week", "2020-12-28T00:00:00"),
  cut("month", "2020-12-01T00:00:00"),
  cut("quarter", "2020-10-01T00:00:00"),
  cut("year", "2020-01-01T00:00:00"),
  cut("decade", "2020-01-01T00:00:00"),
  is("datetrunc('hour', '1969-12-31T23:59:59.999999999Z')::varchar", "1969-12-31T23:00:00"),
  fails("date_trunc('fortnight', now())", "Unsupported date_trunc granularity: fortnight"),
  is("date_bin(INTERVAL '98 years', now())::varchar", "1970-01-01T00:00:00"),
  fails("date_bin(INTERVAL '0 months', now())", "stride must be non-zero and positive"),
  fails("date_bin('no interval', now())", "expects the stride to be an interval literal"),
]);

const moved = (interval: string, text: string): SqlCase => is(`('2024-01-31T12:00:00.000000001Z'::timestamp + ${interval})::varchar`, text);

sqlSuite("intervals", [
  moved("INTERVAL '1 nanosecond'", "2024-01-31T12:00:00.000000002"),
  moved("INTERVAL '1 ns' * 9", "2024-01-31T12:00:00.000000010"),
  moved("INTERVAL '2 microseconds 3 milliseconds'", "2024-01-31T12:00:00.003002001"),
  moved("INTERVAL '1.5 seconds'", "2024-01-31T12:00:01.500000001"),
  moved("INTERVAL '90 minutes'", "2024-01-31T13:30:00.000000001"),
  moved("INTERVAL 90", "2024-01-31T12:01:30.000000001"),
  moved("INTERVAL -2.5", "2024-01-31T11:59:57.500000001"),
  moved("INTERVAL '2 days 1 hour 31 minutes'", "2024-02-02T13:31:00.000000001"),
  moved("INTERVAL '1 week'", "2024-02-07T12:00:00.000000001"),
  moved("INTERVAL '1 month'", "2024-02-29T12:00:00.000000001"),
  moved("INTERVAL '1 year'", "2025-01-31T12:00:00.000000001"),
  moved("INTERVAL '-1 quarter'", "2023-10-31T12:00:00.000000001"),
  moved("INTERVAL '1 century'", "2124-01-31T12:00:00.000000001"),
  moved("INTERVAL '1' DAY", "2024-02-01T12:00:00.000000001"),
  moved("INTERVAL 3 HOUR", "2024-01-31T15:00:00.000000001"),
  // fractions count with a unit behind the number too; of years whole months
  moved("INTERVAL '1.5' HOUR", "2024-01-31T13:30:00.000000001"),
  moved("INTERVAL '-1.5' DAY", "2024-01-30T00:00:00.000000001"),
  moved("INTERVAL '0.5' MONTH", "2024-02-15T12:00:00.000000001"),
  moved("INTERVAL '0.55' YEAR", "2024-07-31T12:00:00.000000001"),
  moved("INTERVAL '0.3 years'", "2024-04-30T12:00:00.000000001"),
  moved("INTERVAL '1 day -1 hour'", "2024-02-01T11:00:00.000000001"),
  moved("INTERVAL '02:30:00.5'", "2024-01-31T14:30:00.500000001"),
  moved("INTERVAL '1 day 02:30'", "2024-02-01T14:30:00.000000001"),
  moved("INTERVAL 'P1Y2M3DT4H5M6.5S'", "2025-04-03T16:05:06.500000001"),
  moved("INTERVAL '3 days ago'", "2024-01-28T12:00:00.000000001"),
  moved("(INTERVAL '1 hour' - INTERVAL '1 ns')", "2024-01-31T13:00:00"),
  moved("- INTERVAL '1 ns'", "2024-01-31T12:00:00"),
  moved("2 * INTERVAL '1 month'", "2024-03-31T12:00:00.000000001"),
  is("INTERVAL '1 hour 5 ns'", "PT3600.000000005S"),
  is("INTERVAL '5 ns' > INTERVAL '4 ns'", true),
  is("INTERVAL '1 day' = INTERVAL '24 hours'", false),
  is("now() - INTERVAL '1 ns' < now()", true),
  ["SELECT max(time) + co * INTERVAL '5 ns' FROM home GROUP BY co ORDER BY co DESC LIMIT 1", [[utc("2022-01-01T20:00:00") + 130n]]],
  ["SELECT count(*) FROM home WHERE time > '2022-01-01T20:00:00Z'::timestamp - INTERVAL '1 hour 1 ns'", [[4n]]],
  fails("INTERVAL '1 fortnight'", "Invalid input syntax for type interval: '1 fortnight'"),
  fails("INTERVAL ''", "Invalid input syntax for type interval"),
]);

sqlSuite("beyond the range of nanoseconds", [
  fails("now() + INTERVAL '1000 years'", "Arithmetic overflow"),
  fails("now() - INTERVAL '1000 years'", "Arithmetic overflow"),
  fails("to_timestamp(9223372036854775807) + INTERVAL '1 ns'", "Arithmetic overflow"),
  fails("time + INTERVAL '300 years' FROM home", "Overflow"),
  fails("time - INTERVAL '99999 days' * 10 FROM home", "verflow"),
  fails("time + INTERVAL '5000 months' FROM home", "verflow"),
  fails("'3000-01-01'::timestamp", "outside of the range of nanoseconds"),
  is("to_timestamp(9223372036854775807)", 2n ** 63n - 1n),
  // but a condition with such a constant has an answer
  ["SELECT count(*) FROM home WHERE time > now() - INTERVAL '1000 years' AND time < now() + INTERVAL '1000 years'", [[26n]]],
  ["SELECT count(*) FROM home WHERE time BETWEEN now() - INTERVAL '1000 years' AND now()", [[26n]]],
  ["SELECT count(*) FROM home WHERE time < now() - INTERVAL '1000 years'", [[0n]]],
  is("to_timestamp_seconds(253402300799)", 253_402_300_799n),
  is("to_timestamp_millis(253402300799999)", 253_402_300_799_999n),
  is("to_timestamp_seconds(253402300799) > now()", true),
  ["SELECT count(*) FROM home WHERE time < to_timestamp_seconds(253402300799)", [[26n]]],
  is("to_timestamp_seconds(1) = '1970-01-01T00:00:01Z'", true),
  is("to_timestamp_millis(1500) - to_timestamp_seconds(1)", "PT0.5S"),
  is("arrow_typeof(to_timestamp_seconds(1))", "Timestamp(s)"),
  is("arrow_typeof(to_timestamp_millis(1))", "Timestamp(ms)"),
  is("arrow_typeof(to_timestamp_micros(1))", "Timestamp(µs)"),
  is("arrow_typeof(to_timestamp(1))", "Timestamp(ns)"),
  is("arrow_typeof(tz(now(), 'Asia/Tokyo'))", 'Timestamp(ns, "Asia/Tokyo")'),
  is("to_timestamp_seconds(-1)::varchar", "1969-12-31T23:59:59"),
  is("to_timestamp_micros(1)::varchar", "1970-01-01T00:00:00.000001"),
  is("to_timestamp_seconds(-1)::date", -1),
  is("to_timestamp_millis(1500)::bigint", 1500n),
  is("to_timestamp_seconds(86400)::timestamp + INTERVAL '1 day'", 2n * DAY),
  ["SELECT max(to_timestamp_seconds(co)), min(to_timestamp_millis(co)) FROM home", [[26n, 0n]]],
]);
