// date_bin_wallclock_gapfill: rows as documented, days of 23 and 25 hours, and bins that fall into the hours of a change. Paris puts its
// clocks forth on 2020-03-29 and back on 2020-10-25, both at 01:00 UTC.
import { type SqlCase, sqlSuite } from "../support/sql/sql-suite.ts";

const EIGHT_TO_TEN = "time >= '2022-01-01T08:00:00Z' AND time <= '2022-01-01T10:00:00Z'";
const LOS_ANGELES = ["00:00", "00:30", "01:00", "01:30", "02:00"].map((clock) => `2022-01-01T${clock}:00-08:00`);

function documented(value: string, kitchen: readonly (number | null)[], living: readonly (number | null)[]): SqlCase {
  const sql = `SELECT t::varchar, room, v FROM (SELECT date_bin_wallclock_gapfill(INTERVAL '30 minutes', tz(time, 'America/Los_Angeles')) as t, room,
    ${value} AS v FROM home WHERE ${EIGHT_TO_TEN} GROUP BY 1, room) ORDER BY room, t`;
  const rows = (room: string, values: readonly (number | null)[]) =>
    values.map((v, i): [string, string, number | null] => [LOS_ANGELES[i]!, room, v]);
  return [sql, [...rows("Kitchen", kitchen), ...rows("Living Room", living)]];
}

sqlSuite("as documented", [
  documented("avg(temp)", [21, null, 23, null, 22.7], [21.1, null, 21.4, null, 21.8]),
  documented("interpolate(avg(temp))", [21, 22, 23, 22.85, 22.7], [21.1, 21.25, 21.4, 21.6, 21.8]),
  documented("locf(avg(temp))", [21, 21, 23, 23, 22.7], [21.1, 21.1, 21.4, 21.4, 21.8]),
]);

/** Texts of the bins between two times, of one row in the middle. */
function bins(zone: string, interval: string, from: string, to: string, texts: readonly string[], origin = ""): SqlCase {
  const sql = `SELECT date_bin_wallclock_gapfill(INTERVAL '${interval}', tz(time, '${zone}')${origin === "" ? "" : `, '${origin}'`})::varchar AS t
    FROM (VALUES ('${from}'::timestamp)) AS d(time) WHERE time >= '${from}' AND time <= '${to}'`;
  return [`SELECT t::varchar FROM (${sql.replace("::varchar AS t", " AS t")} GROUP BY 1)`, texts.map((text) => [text])];
}

sqlSuite("clocks put forth and back", [
  bins("Europe/Paris", "1 day", "2020-03-27T23:00:00Z", "2020-03-30T12:00:00Z", [
    "2020-03-28T00:00:00+01:00",
    "2020-03-29T00:00:00+01:00",
    "2020-03-30T00:00:00+02:00",
  ]),
  bins("Europe/Paris", "1 day", "2020-10-24T00:00:00Z", "2020-10-26T00:00:00Z", [
    "2020-10-24T00:00:00+02:00",
    "2020-10-25T00:00:00+02:00",
    "2020-10-26T00:00:00+01:00",
  ]),
  bins("Europe/Paris", "1 hour", "2020-03-29T00:00:00Z", "2020-03-29T02:00:00Z", [
    "2020-03-29T01:00:00+01:00",
    "2020-03-29T03:00:00+02:00",
    "2020-03-29T04:00:00+02:00",
  ]),
  bins("Europe/Paris", "30 minutes", "2022-10-29T23:30:00Z", "2022-10-30T02:00:00Z", [
    "2022-10-30T01:30:00+02:00",
    "2022-10-30T02:00:00+02:00",
    "2022-10-30T02:30:00+02:00",
    "2022-10-30T02:00:00+01:00",
    "2022-10-30T02:30:00+01:00",
    "2022-10-30T03:00:00+01:00",
  ]),
  bins("Australia/Sydney", "30 minutes", "2022-10-01T15:00:00Z", "2022-10-01T16:30:00Z", [
    "2022-10-02T01:00:00+10:00",
    "2022-10-02T01:30:00+10:00",
    "2022-10-02T03:00:00+11:00",
    "2022-10-02T03:30:00+11:00",
  ]),
  bins("Europe/Paris", "1 month", "2020-02-29T23:30:00Z", "2020-04-30T22:00:00Z", [
    "2020-03-01T00:00:00+01:00",
    "2020-04-01T00:00:00+02:00",
    "2020-05-01T00:00:00+02:00",
  ]),
  bins("Europe/Paris", "1 year", "2019-12-31T22:59:59Z", "2020-12-31T23:00:00Z", [
    "2019-01-01T00:00:00+01:00",
    "2020-01-01T00:00:00+01:00",
    "2021-01-01T00:00:00+01:00",
  ]),
  // from the hour that is skipped in March: by the offset before
  bins(
    "Europe/Paris",
    "1 month",
    "2020-02-29T02:00:00Z",
    "2020-04-29T00:30:00Z",
    ["2020-02-29T02:30:00+01:00", "2020-03-29T03:30:00+02:00", "2020-04-29T02:30:00+02:00"],
    "2020-01-29T02:30:00",
  ),
  // two hours: the first of those that come twice
  bins("Europe/Paris", "2 hours", "2020-10-24T22:00:00Z", "2020-10-25T03:00:00Z", [
    "2020-10-25T00:00:00+02:00",
    "2020-10-25T02:00:00+02:00",
    "2020-10-25T04:00:00+01:00",
  ]),
  // at half past two, which one day has not
  bins(
    "Australia/Sydney",
    "1 day",
    "2022-10-01T00:00:00Z",
    "2022-10-03T18:00:00Z",
    ["2022-10-01T02:30:00+10:00", "2022-10-02T03:30:00+11:00", "2022-10-03T02:30:00+11:00", "2022-10-04T02:30:00+11:00"],
    "1970-01-01T02:30:00",
  ),
  bins("Europe/Paris", "1 week", "2020-10-15T00:00:00Z", "2020-10-31T00:00:00Z", [
    "2020-10-15T00:00:00+02:00",
    "2020-10-22T00:00:00+02:00",
    "2020-10-29T00:00:00+01:00",
  ]),
  bins("+05:30", "1 day", "2024-01-01T00:00:00Z", "2024-01-02T18:30:00Z", [
    "2024-01-01T00:00:00+05:30",
    "2024-01-02T00:00:00+05:30",
    "2024-01-03T00:00:00+05:30",
  ]),
]);

const BOUNDS = "time >= '2020-01-01' AND time < '2021-01-01'";
sqlSuite("around it", [
  // 366 days, however long
  [
    `SELECT count(*), min(d), max(d) FROM (SELECT lead(t) OVER (ORDER BY t) - t AS d FROM
     (SELECT date_bin_wallclock_gapfill(INTERVAL '1 day', tz(time, 'Europe/Paris')) AS t FROM (VALUES ('2020-05-05'::timestamp)) AS v(time)
      WHERE time >= '2019-12-31T23:00:00Z' AND time < '2020-12-31T23:00:00Z' GROUP BY 1))`,
    [[366n, "PT82800S", "PT90000S"]],
  ],
  // bounds by the clock of the column's own zone, and of one without
  [
    `SELECT count(*) FROM (SELECT date_bin_wallclock_gapfill(INTERVAL '1 hour', t) FROM (SELECT tz(time, 'Asia/Tokyo') AS t FROM home) AS z
     WHERE t >= '2022-01-01T17:00:00' AND t < '2022-01-02T00:00:00' GROUP BY 1)`,
    [[7n]],
  ],
  [
    `SELECT count(*) FROM (SELECT date_bin_wallclock_gapfill(INTERVAL '1 hour', time AT TIME ZONE 'Asia/Tokyo') FROM home
     WHERE time >= '2022-01-01T08:00:00' AND time < '2022-01-01T12:00:00' GROUP BY 1)`,
    [[4n]],
  ],
  // without a zone it is date_bin_gapfill
  [
    "SELECT count(*) FROM (SELECT date_bin_wallclock_gapfill(INTERVAL '1 hour', time) FROM home WHERE time >= '2022-01-01' AND time < '2022-01-02' GROUP BY 1)",
    [[24n]],
  ],
  // a date_bin_gapfill of a time with a zone has bins of UTC
  [
    `SELECT t::varchar FROM (SELECT date_bin_gapfill(INTERVAL '1 day', tz(time, 'America/New_York')) AS t FROM home
     WHERE time >= '2022-01-01' AND time < '2022-01-02' GROUP BY 1)`,
    [["2021-12-31T19:00:00-05:00"]],
  ],
  [
    `SELECT date_bin_wallclock_gapfill(INTERVAL '1 hour', tz(time, 'Tokyo')) FROM home WHERE ${BOUNDS} GROUP BY 1`,
    new Error('TZ requires a valid timezone string, got "Tokyo"'),
  ],
  [
    "SELECT date_bin_wallclock_gapfill(INTERVAL '1 hour', tz(time, 'Asia/Tokyo')) FROM home GROUP BY 1",
    new Error("gap-filling query is missing both upper and lower time bounds"),
  ],
]);
