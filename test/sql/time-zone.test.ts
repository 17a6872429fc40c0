// Times with a zone: tz, AT TIME ZONE, to_local_time, date_bin_wallclock. Expected values from the vendor's documentation and from the laws
// that set the clocks: Berlin and Paris 2020-03-29 and 2020-10-25 at 01:00 UTC, Sydney 2022-10-02 at 16:00 UTC of the day before.
import { type SqlCase, sqlSuite, utc } from "../support/sql/sql-suite.ts";

/** The text of one expression. */
const text = (expression: string, value: string | null): [string, (string | null)[][]] => [`SELECT (${expression})::varchar`, [[value]]];

sqlSuite("tz and AT TIME ZONE, as documented", [
  text("tz('2024-01-01T01:00:00Z', 'America/New_York')", "2023-12-31T20:00:00-05:00"),
  text("'2024-01-01 00:00:00'::TIMESTAMP AT TIME ZONE 'America/Los_Angeles'", "2024-01-01T00:00:00-08:00"),
  text("'2024-01-01T00:00:00-00:00' AT TIME ZONE 'America/Los_Angeles'", "2023-12-31T16:00:00-08:00"),
  text("tz('2024-01-01T00:00:00-00:00', 'America/Los_Angeles')", "2023-12-31T16:00:00-08:00"),
  text("tz('2024-01-01 00:00:00'::TIMESTAMP, 'America/Los_Angeles')", "2023-12-31T16:00:00-08:00"),
  text("tz('2024-01-01T00:00:00+1:00', 'America/Los_Angeles')", "2023-12-31T15:00:00-08:00"),
  text("'2024-01-01 00:00:00' AT TIME ZONE 'America/Los_Angeles'", "2024-01-01T00:00:00-08:00"),
  text("'2024-04-01T00:00:20Z'::timestamp AT TIME ZONE 'Europe/Brussels'", "2024-04-01T00:00:20+02:00"),
  text("tz('2024-04-01T00:00:20', 'Europe/Brussels')", "2024-04-01T02:00:20+02:00"),
  text("tz(1728979200::timestamp, 'Australia/Sydney')", "2024-10-15T19:00:00+11:00"),
  text("tz('2024-01-01T00:00:00Z')", "2024-01-01T00:00:00Z"),
  text("tz('2024-01-01T00:00:00Z', 'UTC')", "2024-01-01T00:00:00Z"),
  text("tz('2024-01-01T00:00:00Z', '+05:30')", "2024-01-01T05:30:00+05:30"),
  text("tz('2024-01-01T00:00:00Z', '-0800')", "2023-12-31T16:00:00-08:00"),
  text("tz('2024-01-01T00:00:00Z', '+02')", "2024-01-01T02:00:00+02:00"),
  text("tz(tz('2024-01-01T00:00:00Z', 'America/Denver'), '+05:00')", "2024-01-01T05:00:00+05:00"),
  text("tz('2024-01-01T00:00:00Z', 'America/Denver') AT TIME ZONE 'Asia/Kathmandu'", "2024-01-01T05:45:00+05:45"),
  text("to_local_time(tz('2024-01-01 00:00:00', 'America/Los_Angeles'))", "2023-12-31T16:00:00"),
  text("to_local_time('2024-01-01 00:00:00'::TIMESTAMP)", "2024-01-01T00:00:00"),
  text("tz(NULL::timestamp, 'Europe/Berlin')", null),
  // a time of a zone, read in that zone unless it says one itself
  ["SELECT tz('2024-07-01T00:00:00Z', 'Europe/Berlin') = '2024-07-01T02:00:00'", [[true]]],
  ["SELECT tz('2024-07-01T00:00:00Z', 'Europe/Berlin') = '2024-07-01T00:00:00Z'", [[true]]],
  ["SELECT tz('2024-07-01T00:00:00Z', 'Europe/Berlin') = tz('2024-07-01T00:00:00Z', 'Asia/Tokyo')", [[true]]],
  text("'2024-07-01 12:00:00 Europe/Berlin'::timestamp", "2024-07-01T10:00:00"),
  // clocks put forth and back
  text("tz('2020-03-29T00:59:59.999999999Z', 'Europe/Paris')", "2020-03-29T01:59:59.999999999+01:00"),
  text("tz('2020-03-29T01:00:00Z', 'Europe/Paris')", "2020-03-29T03:00:00+02:00"),
  text("tz('2020-10-25T00:59:59.999999999Z', 'Europe/Paris')", "2020-10-25T02:59:59.999999999+02:00"),
  text("tz('2020-10-25T01:00:00Z', 'Europe/Paris')", "2020-10-25T02:00:00+01:00"),
  // a skipped hour counts on, of a repeated hour the first is meant
  text("'2020-03-29T02:30:00' AT TIME ZONE 'Europe/Paris'", "2020-03-29T03:30:00+02:00"),
  text("'2020-10-25T02:30:00' AT TIME ZONE 'Europe/Paris'", "2020-10-25T02:30:00+02:00"),
  text("'2020-10-25T03:00:00' AT TIME ZONE 'Europe/Paris'", "2020-10-25T03:00:00+01:00"),
  // days and months by the clock, hours by UTC
  text("tz('2020-10-24T12:00:00Z', 'Europe/Paris') + INTERVAL '1 day'", "2020-10-25T14:00:00+01:00"),
  text("tz('2020-10-24T12:00:00Z', 'Europe/Paris') + INTERVAL '24 hours'", "2020-10-25T13:00:00+01:00"),
  text("tz('2020-03-28T12:00:00Z', 'Europe/Paris') + INTERVAL '1 month'", "2020-04-28T13:00:00+02:00"),
  text("tz('2020-03-29T12:00:00Z', 'Europe/Paris') - INTERVAL '1 day 1 hour'", "2020-03-28T13:00:00+01:00"),
  ["SELECT tz('2020-03-29T12:00:00Z', 'Europe/Paris') - tz('2020-03-29T11:00:00Z', 'Asia/Tokyo')", [["PT3600S"]]],
  ["SELECT tz(time, 'NewYork') FROM home", new Error('Error during planning: TZ requires a valid timezone string, got "NewYork"')],
  ["SELECT tz(time, room) FROM home", new Error("tz requires its second argument to be a timezone string")],
  ["SELECT tz(time, 'UTC', 'UTC') FROM home", new Error("tz expects 1 or 2 arguments, got 3")],
  ["SELECT tz(temp, 'UTC') FROM home", new Error("TZ expects nanosecond timestamp data")],
  ["SELECT time AT TIME ZONE 'Mars/Olympus' FROM home", new Error("TZ requires a valid timezone string")],
  // as Arrow says it, whatever the value is and wherever the type stands
  ...["time", "1", "'2024-01-01T00:00:00Z'", "NULL"].map((value): [string, Error] => [
    `SELECT arrow_cast(${value}, 'Timestamp(s, "Nowhere/X")') AS x FROM home`,
    new Error('Parser error: Invalid timezone "Nowhere/X": failed to parse timezone'),
  ]),
  ["SELECT arrow_cast([1], 'List(Timestamp(ns, \"+25:00\"))') AS x", new Error('Parser error: Invalid timezone "+25:00"')],
]);

const UTC = `arrow_cast('2024-01-01 00:00:00', 'Timestamp(Nanosecond, Some("UTC"))')`;

sqlSuite("arrow_cast, as documented", [
  text(`${UTC} AT TIME ZONE 'America/Los_Angeles'`, "2023-12-31T16:00:00-08:00"),
  [`SELECT to_local_time((${UTC}) AT TIME ZONE 'America/Los_Angeles') AS "local time"`, [[utc("2023-12-31T16:00:00")]]],
  [`SELECT to_local_time('2024-01-01 00:00:00'::TIMESTAMP) AS "local time"`, [[utc("2024-01-01T00:00:00")]]],
  [
    `SELECT (date_bin(interval '1 day', time, to_local_time(0::TIMESTAMP)) AT TIME ZONE 'America/Los_Angeles')::varchar AS time, avg(f1), avg(f2) FROM
     (VALUES (${UTC} + INTERVAL '12 hours', 1.23, 4.56), (${UTC} + INTERVAL '13 hours', 2.46, 8.1), (${UTC} + INTERVAL '14 hours', 4.81, 16.2))
     AS data(time, f1, f2) GROUP BY 1`,
    [["2023-12-31T16:00:00-08:00", 2.8333333333333335, 9.62]],
  ],
  ["SELECT '2024-01-01 00:00:00' AT TIME ZONE 'America/Los_Angeles' AS 'Local time with TZ offset'", [[utc("2024-01-01T08:00:00")]]],
  ["SELECT time AT TIME ZONE 'America/Los_Angeles' FROM home ORDER BY time LIMIT 1", [[utc("2022-01-01T16:00:00")]]],
  [
    `SELECT tz('2020-10-25T02:29:00+01:00', 'Europe/Paris') AS original_time,
       date_bin_wallclock(INTERVAL '1 hour', tz('2020-10-25T02:29:00+01:00', 'Europe/Paris'), '1970-01-01T00:30:00') AT TIME ZONE 'UTC' AS utc_bin_time
     UNION
     SELECT tz('2020-10-25T02:30:00+01:00', 'Europe/Paris') AS original_time,
       date_bin_wallclock(INTERVAL '1 hour', tz('2020-10-25T02:30:00+01:00', 'Europe/Paris'), '1970-01-01T00:30:00') AT TIME ZONE 'UTC' AS utc_bin_time
     ORDER BY original_time`,
    [
      [utc("2020-10-25T01:29:00"), utc("2020-10-24T23:30:00")],
      [utc("2020-10-25T01:30:00"), utc("2020-10-25T01:30:00")],
    ],
  ],
]);

sqlSuite("columns with a zone", [
  [
    "SELECT tz(time, 'Australia/Sydney')::varchar, time FROM home WHERE room = 'Kitchen' ORDER BY time LIMIT 2",
    [
      ["2022-01-01T19:00:00+11:00", utc("2022-01-01T08:00:00")],
      ["2022-01-01T20:00:00+11:00", utc("2022-01-01T09:00:00")],
    ],
  ],
  ["SELECT count(*) FROM home WHERE tz(time, 'America/Los_Angeles') < '2022-01-01T02:00:00'", [[4n]]],
  ["SELECT count(*) FROM home WHERE tz(time, 'America/Los_Angeles') <= '2022-01-01T10:00:00Z'", [[6n]]],
  ["SELECT max(tz(time, 'Asia/Tokyo'))::varchar FROM home", [["2022-01-02T05:00:00+09:00"]]],
  ["SELECT (SELECT min(tz(time, 'Asia/Tokyo')) FROM home)::varchar", [["2022-01-01T17:00:00+09:00"]]],
  ["SELECT t::varchar FROM (SELECT tz(time, '-03:00') AS t FROM home) ORDER BY t LIMIT 1", [["2022-01-01T05:00:00-03:00"]]],
  ["WITH z AS (SELECT time AT TIME ZONE 'Asia/Tokyo' AS t FROM home) SELECT min(t)::varchar FROM z", [["2022-01-01T08:00:00+09:00"]]],
  ["SELECT to_local_time(tz(max(time), 'America/New_York')) FROM home", [[utc("2022-01-01T15:00:00")]]],
  [
    "SELECT to_local_time(tz(time, 'Asia/Tokyo'))::date AS day, count(*) FROM home GROUP BY 1 ORDER BY 1",
    [
      [18993, 14n],
      [18994, 12n],
    ],
  ],
  [
    "SELECT tz(time, 'Asia/Tokyo')::date AS day, count(*) FROM home GROUP BY day ORDER BY day",
    [
      [18993, 14n],
      [18994, 12n],
    ],
  ],
  ["SELECT extract(hour FROM to_local_time(tz(time, 'Asia/Tokyo'))) FROM home ORDER BY time LIMIT 1", [[17]]],
  ["SELECT coalesce(NULL, tz(time, 'Asia/Tokyo'))::varchar FROM home ORDER BY time LIMIT 1", [["2022-01-01T17:00:00+09:00"]]],
  [
    "SELECT lag(tz(time, 'Asia/Tokyo')) OVER (ORDER BY time)::varchar FROM home ORDER BY time LIMIT 1 OFFSET 2",
    [["2022-01-01T17:00:00+09:00"]],
  ],
]);

/** The bin of an instant, as its own text and in UTC. */
const bin = (call: string, value: string): [string, string[][]] => [`SELECT date_bin_wallclock(${call})::varchar`, [[value]]];

sqlSuite("date_bin_wallclock", [
  ...["'2022-01-01'", "time"].flatMap((time): SqlCase[] =>
    ["0 hours", "-1 hour"].map((stride) => [
      `SELECT date_bin_wallclock(INTERVAL '${stride}', tz(${time}, 'Europe/Paris')) FROM home`,
      new Error("DATE_BIN stride must be non-zero and positive"),
    ]),
  ),
  [
    `SELECT date_bin_wallclock(INTERVAL '12 hours', tz(time, 'America/Los_Angeles'))::varchar AS time, room, avg(temp) AS avg_temp FROM home
     WHERE time >= '2022-01-01T08:00:00Z' AND time <= '2022-01-01T20:00:00Z' GROUP BY 1, room ORDER BY room, time`,
    [
      ["2022-01-01T00:00:00-08:00", "Kitchen", 22.61666666666667],
      ["2022-01-01T12:00:00-08:00", "Kitchen", 22.7],
      ["2022-01-01T00:00:00-08:00", "Living Room", 22.166666666666668],
      ["2022-01-01T12:00:00-08:00", "Living Room", 22.2],
    ],
  ],
  bin("INTERVAL '1 day', tz('2021-05-01T01:00:00Z', 'America/New_York')", "2021-04-30T00:00:00-04:00"),
  bin("INTERVAL '1 day', tz('2021-04-30T22:00:00Z', 'Europe/Paris')", "2021-05-01T00:00:00+02:00"),
  bin("INTERVAL '1 day', tz('2021-05-01T00:00:00Z', 'Europe/London'), '2021-04-30T00:00:00'", "2021-05-01T00:00:00+01:00"),
  bin("INTERVAL '1 day', tz('2021-05-01T01:00:00Z', 'Europe/London'), '2021-05-02'", "2021-05-01T00:00:00+01:00"),
  bin("INTERVAL '1 day', '2021-05-01T01:00:00Z'::timestamp", "2021-05-01T00:00:00"),
  bin("INTERVAL '1 day', tz('2021-05-01T01:00:00Z')", "2021-05-01T00:00:00Z"),
  bin("INTERVAL '1 day', tz('2021-05-01T01:00:00Z', '+05:30')", "2021-05-01T00:00:00+05:30"),
  bin("INTERVAL '1 week', tz('2024-01-04T03:00:00Z', 'America/New_York')", "2023-12-28T00:00:00-05:00"),
  // the documented warning: bins that begin at half past
  bin("INTERVAL '1 hour', tz('2020-10-25T02:29:00+01:00', 'Europe/Paris'), '1970-01-01T00:30:00'", "2020-10-25T01:30:00+02:00"),
  bin("INTERVAL '1 hour', tz('2020-10-25T02:30:00+01:00', 'Europe/Paris'), '1970-01-01T00:30:00'", "2020-10-25T02:30:00+01:00"),
  // hours that come twice: short bins stay in their own, long ones begin in the first
  bin("INTERVAL '1 hour', tz('2020-10-25T00:59:00Z', 'Europe/Paris')", "2020-10-25T02:00:00+02:00"),
  bin("INTERVAL '1 hour', tz('2020-10-25T01:59:00Z', 'Europe/Paris')", "2020-10-25T02:00:00+01:00"),
  bin("INTERVAL '30 minutes', tz('2020-10-25T01:59:00Z', 'Europe/Paris')", "2020-10-25T02:30:00+01:00"),
  bin("INTERVAL '2 hours', tz('2020-10-25T01:59:00Z', 'Europe/Paris')", "2020-10-25T02:00:00+02:00"),
  bin("INTERVAL '2 hours', tz('2020-10-25T02:59:00Z', 'Europe/Paris')", "2020-10-25T02:00:00+02:00"),
  bin("INTERVAL '2 hours', tz('2020-10-25T03:00:00Z', 'Europe/Paris')", "2020-10-25T04:00:00+01:00"),
  bin("INTERVAL '1 day', tz('2020-10-25T22:59:59.999999999Z', 'Europe/Paris')", "2020-10-25T00:00:00+02:00"),
  bin("INTERVAL '1 day', tz('2020-10-25T23:00:00Z', 'Europe/Paris')", "2020-10-26T00:00:00+01:00"),
  // a bin that begins in an hour that is skipped: as far from midnight as on other days
  bin("INTERVAL '1 day', tz('2022-10-02T12:00:00Z', 'Australia/Sydney'), '1970-01-01T02:30:00'", "2022-10-02T03:30:00+11:00"),
  bin("INTERVAL '1 day', tz('2022-10-02T15:29:00Z', 'Australia/Sydney'), '1970-01-01T02:30:00'", "2022-10-02T03:30:00+11:00"),
  bin("INTERVAL '1 day', tz('2022-10-02T15:30:00Z', 'Australia/Sydney'), '1970-01-01T02:30:00'", "2022-10-03T02:30:00+11:00"),
  // half an hour of difference between summer and winter
  bin("INTERVAL '1 hour', tz('2024-04-06T15:10:00Z', 'Australia/Lord_Howe')", "2024-04-07T01:00:00+11:00"),
  bin("INTERVAL '1 hour', tz('2024-04-06T16:10:00Z', 'Australia/Lord_Howe')", "2024-04-07T02:00:00+10:30"),
  // days over a column, across both changes of a year
  [
    `SELECT date_bin_wallclock(INTERVAL '1 day', tz(t, 'Europe/Berlin'))::varchar AS day, count(*) FROM
     (SELECT '2020-01-01'::timestamp + n * INTERVAL '1 hour' AS t FROM (SELECT unnest(range(8784)) AS n)) GROUP BY 1
     HAVING count(*) <> 24 ORDER BY 1`,
    [
      ["2020-01-01T00:00:00+01:00", 23n],
      ["2020-03-29T00:00:00+01:00", 23n],
      ["2020-10-25T00:00:00+02:00", 25n],
      ["2021-01-01T00:00:00+01:00", 1n],
    ],
  ],
  // months, as the vendor's server answers: of local time, also from an origin in an hour that comes twice or is skipped
  bin("INTERVAL '1 month', tz('2024-03-31T23:17:00', 'Europe/Berlin')", "2024-04-01T00:00:00+02:00"),
  bin("INTERVAL '3 months', tz('2024-12-31T22:17:00', 'Europe/Berlin')", "2024-10-01T00:00:00+02:00"),
  bin("INTERVAL '1 year', tz('2024-12-31T23:17:00', 'Europe/Berlin')", "2025-01-01T00:00:00+01:00"),
  bin("INTERVAL '1 century', tz('2024-03-05T10:17:00', 'America/New_York')", "1970-01-01T00:00:00-05:00"),
  bin("INTERVAL '1 month', tz('2024-03-05T10:17:00', 'Europe/Berlin'), '2024-01-15T06:00:00'", "2024-02-15T06:00:00+01:00"),
  bin("INTERVAL '1 month', tz('2024-11-03T06:30:00', 'America/New_York'), '2024-01-03T01:30:00'", "2024-11-03T01:30:00-04:00"),
  bin("INTERVAL '1 month', tz('2024-11-03T05:20:00', 'America/New_York'), '2024-01-03T01:30:00'", "2024-10-03T01:30:00-04:00"),
  bin("INTERVAL '1 month', tz('2024-03-10T07:40:00', 'America/New_York'), '2024-01-10T02:30:00'", "2024-03-10T03:30:00-04:00"),
  bin("INTERVAL '1 month', tz('2024-03-10T06:40:00', 'America/New_York'), '2024-01-10T02:30:00'", "2024-02-10T02:30:00-05:00"),
  // months over a column: the hours of each
  [
    `SELECT date_bin_wallclock(INTERVAL '1 month', tz(t, 'Europe/Berlin'))::varchar AS month, count(*) FROM
     (SELECT '2020-01-01'::timestamp + n * INTERVAL '1 hour' AS t FROM (SELECT unnest(range(8784)) AS n)) GROUP BY 1
     HAVING count(*) % 24 <> 0 ORDER BY 1`,
    [
      ["2020-01-01T00:00:00+01:00", 743n],
      ["2020-03-01T00:00:00+01:00", 743n],
      ["2020-10-01T00:00:00+02:00", 745n],
      ["2021-01-01T00:00:00+01:00", 1n],
    ],
  ],
  [
    "SELECT date_bin_wallclock(INTERVAL '0 months', tz(time, 'Europe/Berlin')) FROM home",
    new Error("stride must be non-zero and positive"),
  ],
  ["SELECT date_bin_wallclock(INTERVAL '1 month 1 day', time) FROM home", new Error("does not support combination of month")],
  ["SELECT date_bin_wallclock(INTERVAL '0 s', time) FROM home", new Error("stride must be non-zero and positive")],
  ["SELECT date_bin_wallclock(INTERVAL '1 day', time, time) FROM home", new Error("origin to be a constant")],
  ["SELECT date_bin_wallclock(INTERVAL '1 day', time, tz('2024-01-01')) FROM home", new Error("origin without a time zone")],
  ["SELECT date_bin_wallclock(time) FROM home", new Error("expects 2 or 3 arguments")],
]);

sqlSuite("UTC's functions on times with a zone", [
  // bins of UTC, as documented
  [
    `SELECT (date_bin(interval '1 day', time, to_local_time(0::TIMESTAMP)) AT TIME ZONE 'America/Los_Angeles')::varchar AS time, avg(f1), avg(f2)
     FROM (VALUES (tz('2024-01-01 12:00:00'), 1.23, 4.56), (tz('2024-01-01 13:00:00'), 2.46, 8.1), (tz('2024-01-01 14:00:00'), 4.81, 16.2))
     AS data(time, f1, f2) GROUP BY 1`,
    [["2023-12-31T16:00:00-08:00", 2.8333333333333335, 9.62]],
  ],
  text("date_bin(INTERVAL '1 day', tz('2024-01-01T03:00:00Z', 'America/New_York'))", "2023-12-31T19:00:00-05:00"),
  // truncation by the clock
  text("date_trunc('day', tz('2024-01-01T03:00:00Z', 'America/New_York'))", "2023-12-31T00:00:00-05:00"),
  text("date_trunc('hour', tz('2024-01-01T03:40:00Z', 'Asia/Kathmandu'))", "2024-01-01T09:00:00+05:45"),
  text("date_trunc('month', tz('2024-04-01T03:00:00Z', 'America/New_York'))", "2024-03-01T00:00:00-05:00"),
  text("date_trunc('year', tz('2024-01-01T03:00:00Z', 'America/New_York'))", "2023-01-01T00:00:00-05:00"),
  text("date_trunc('hour', tz('2020-10-25T01:59:00Z', 'Europe/Paris'))", "2020-10-25T02:00:00+01:00"),
  text("date_trunc('week', tz('2020-10-25T22:59:00Z', 'Europe/Paris'))", "2020-10-19T00:00:00+02:00"),
]);
