// Times with a zone beside times without one. The answers are those of Core 3.9.6.
import { type SqlCase, sqlSuite } from "../support/sql/sql-suite.ts";

const BERLIN = "tz(time, 'Europe/Berlin')";
const count = (condition: string, rows: number): SqlCase => [`SELECT count(*) FROM home WHERE ${condition}`, [[BigInt(rows)]]];
const first = (expressions: string, ...values: string[]): SqlCase => [
  `SELECT ${expressions} FROM home ORDER BY time, room LIMIT 1`,
  [values],
];
const both = (arms: string, kitchen: string, living: string): SqlCase => [
  `SELECT (CASE WHEN room = 'Kitchen' ${arms} END)::varchar FROM home WHERE time = '2022-01-01T08:00:00Z' ORDER BY room`,
  [[kitchen], [living]],
];

sqlSuite("a time without a zone is a local time beside one with a zone", [
  count(`${BERLIN} >= TIMESTAMP '2022-01-01T20:00:00'`, 4),
  count(`TIMESTAMP '2022-01-01T20:00:00' < ${BERLIN}`, 2),
  count(`${BERLIN} BETWEEN TIMESTAMP '2022-01-01T10:00:00' AND TIMESTAMP '2022-01-01T11:00:00'`, 4),
  count(`${BERLIN} IN (TIMESTAMP '2022-01-01T10:00:00', '2022-01-01T12:00:00')`, 4),
  count(`${BERLIN} < time OR tz(time, 'America/New_York') > time`, 0),
  count("tz(time, 'America/New_York') < time", 26),
  count(`${BERLIN} > now() - INTERVAL '2 hours'`, 0),
  // a constant beside a column loses its zone instead
  count("time >= tz('2022-01-01T20:00:00Z', 'Europe/Berlin')", 2),
  ["SELECT count(*) FROM home a JOIN home b ON a.room = b.room AND tz(a.time, 'Europe/Berlin') = b.time - INTERVAL '2 hours'", [[20n]]],
  both(`THEN ${BERLIN} ELSE time`, "2022-01-01T09:00:00+01:00", "2022-01-01T08:00:00+01:00"),
  both(`THEN time ELSE ${BERLIN}`, "2022-01-01T08:00:00+01:00", "2022-01-01T09:00:00+01:00"),
  both(`THEN tz(time, 'Asia/Tokyo') ELSE ${BERLIN}`, "2022-01-01T09:00:00+01:00", "2022-01-01T09:00:00+01:00"),
  first(`greatest(time, ${BERLIN})::varchar`, "2022-01-01T09:00:00+01:00"),
  first(`least(time, ${BERLIN})::varchar`, "2022-01-01T08:00:00+01:00"),
  first("coalesce(time, tz(time, 'Asia/Tokyo'))::varchar", "2022-01-01T08:00:00+09:00"),
  [
    `SELECT x::varchar FROM (SELECT time AS x FROM home UNION ALL SELECT ${BERLIN} FROM home) ORDER BY x LIMIT 5`,
    [...Array(2).fill(["2022-01-01T08:00:00+01:00"]), ...Array(3).fill(["2022-01-01T09:00:00+01:00"])],
  ],
  first("arrow_cast(time, 'Timestamp(Nanosecond, Some(\"Europe/Berlin\"))')::varchar", "2022-01-01T08:00:00+01:00"),
  first("arrow_cast(time, 'Timestamp(Second, Some(\"+02:00\"))')::varchar", "2022-01-01T08:00:00+02:00"),
  first(`${BERLIN}::timestamptz::varchar`, "2022-01-01T08:00:00"),
  first("tz(time, 'Asia/Tokyo')::time::varchar", "17:00:00"),
]);
