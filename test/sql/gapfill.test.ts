// date_bin_gapfill with interpolate and locf: rows as the vendor's documentation shows them, and by hand from the data set `home`.
import type { Kernel } from "../../src/kernel/memory/kernel.ts";
import { ColumnType } from "../../src/model/rows/column.ts";
import { FakeTable } from "../support/rows/fake-table.ts";
import { type SqlCase, sqlSuite, utc } from "../support/sql/sql-suite.ts";

const EIGHT_TO_TEN = "time >= '2022-01-01T08:00:00Z' AND time <= '2022-01-01T10:00:00Z'";
const at = (clock: string): bigint => utc(`2022-01-01T${clock}`);
const HALF_HOURS = ["08:00:00", "08:30:00", "09:00:00", "09:30:00", "10:00:00"].map(at);

/** One row for each half hour and room. */
function byRoom(kitchen: readonly (number | null)[], living: readonly (number | null)[]): [bigint, string, number | null][] {
  return [
    ...kitchen.map((value, i): [bigint, string, number | null] => [HALF_HOURS[i]!, "Kitchen", value]),
    ...living.map((value, i): [bigint, string, number | null] => [HALF_HOURS[i]!, "Living Room", value]),
  ];
}

sqlSuite("as documented", [
  [
    `SELECT date_bin_gapfill(INTERVAL '30 minutes', time) as _time, room, avg(temp) as temp FROM home WHERE ${EIGHT_TO_TEN} GROUP BY _time, room`,
    byRoom([21, null, 23, null, 22.7], [21.1, null, 21.4, null, 21.8]),
  ],
  [
    `SELECT date_bin_gapfill(INTERVAL '30 minutes', time) as _time, room, interpolate(avg(temp)) FROM home WHERE ${EIGHT_TO_TEN} GROUP BY _time, room`,
    byRoom([21, 22, 23, 22.85, 22.7], [21.1, 21.25, 21.4, 21.6, 21.8]),
  ],
  [
    `SELECT date_bin_gapfill(INTERVAL '30 minutes', time) as _time, room, locf(avg(temp)) FROM home WHERE ${EIGHT_TO_TEN} GROUP BY _time, room`,
    byRoom([21, 21, 23, 23, 22.7], [21.1, 21.1, 21.4, 21.4, 21.8]),
  ],
  [
    `SELECT date_bin_gapfill(INTERVAL '30 minutes', time) as time, room, interpolate(avg(temp)) FROM home WHERE ${EIGHT_TO_TEN} GROUP BY 1, room`,
    byRoom([21, 22, 23, 22.85, 22.7], [21.1, 21.25, 21.4, 21.6, 21.8]),
  ],
]);

const KITCHEN = "FROM home WHERE room = 'Kitchen'";
type Value = number | bigint | string | null;
/** A value an hour. */
const hours = (from: number, ...values: readonly Value[]): [bigint, Value][] =>
  every(3_600_000_000_000n, at("00:00:00") + BigInt(from) * 3_600_000_000_000n, values);
function every(stepNs: bigint, fromNs: bigint, values: readonly Value[]): [bigint, Value][] {
  return values.map((value, i) => [fromNs + BigInt(i) * stepNs, value]);
}

sqlSuite("bounds", [
  // a bin for each time that the bounds leave, whether they are part of it or not
  [
    `SELECT date_bin_gapfill(INTERVAL '30 minutes', time) AS t, avg(temp) ${KITCHEN} AND time > '2022-01-01T08:00:00Z' AND time < '2022-01-01T10:00:00Z' GROUP BY t`,
    every(1_800_000_000_000n, at("08:00:00"), [null, null, 23, null]),
  ],
  [
    `SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS t, avg(temp) ${KITCHEN} AND time BETWEEN '2022-01-01T06:30:00Z' AND '2022-01-01T09:59:59Z' GROUP BY 1`,
    hours(6, null, null, 21, 23),
  ],
  [
    `SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS t, avg(temp) ${KITCHEN} AND '2022-01-01T19:00:00Z' <= time AND '2022-01-01T22:00:00Z' > time GROUP BY 1`,
    hours(19, 23.1, 22.7, null),
  ],
  [
    `SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS t, avg(temp) ${KITCHEN} AND time >= now() - INTERVAL '895 days 17 hours' AND time < '2022-01-01T22:00:00Z'
     GROUP BY 1 ORDER BY 1 DESC LIMIT 2`,
    [
      [at("21:00:00"), null],
      [at("20:00:00"), 22.7],
    ],
  ],
  [
    `SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS t, avg(temp) ${KITCHEN} AND time >= $from AND time <= $to GROUP BY 1`,
    hours(19, 23.1, 22.7, null),
    { from: "2022-01-01T19:00:00Z", to: "2022-01-01T21:00:00Z" },
  ],
  // the closest bounds count
  [
    `SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS t, avg(temp) ${KITCHEN} AND time >= '2021-01-01' AND time >= '2022-01-01T19:00:00Z'
     AND time <= '2022-01-01T21:00:00Z' AND time < '2023-01-01' GROUP BY 1`,
    hours(19, 23.1, 22.7, null),
  ],
  // an origin: bins begin at a quarter past
  [
    `SELECT date_bin_gapfill(INTERVAL '1 hour', time, '1970-01-01T00:15:00Z') AS t, avg(temp) ${KITCHEN} AND time >= '2022-01-01T18:15:00Z' AND time <= '2022-01-01T21:00:00Z' GROUP BY 1`,
    [
      [at("18:15:00"), 23.1],
      [at("19:15:00"), 22.7],
      [at("20:15:00"), null],
    ],
  ],
  // no rows, no groups
  [
    `SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS t, avg(temp) FROM home WHERE time >= '2021-01-01' AND time < '2021-01-02' GROUP BY 1`,
    [],
  ],
  [
    `SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS t, avg(temp) FROM home WHERE time >= '2022-01-02' AND time < '2022-01-01' GROUP BY 1`,
    [],
  ],
  // in a query inside, in a WITH, through its own name for the column
  [
    `SELECT date_bin_gapfill(INTERVAL '1 hour', t) AS hour, max(temp) FROM (SELECT time AS t, temp FROM home WHERE time >= '2022-01-01T19:00:00Z') AS x
     WHERE x.t < '2022-01-01T21:30:00Z' GROUP BY 1`,
    hours(19, 23.1, 22.7, null),
  ],
  [
    `WITH late AS (SELECT * FROM home WHERE time >= '2022-01-01T19:00:00Z' AND time <= '2022-01-01T21:00:00Z')
     SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS hour, max(temp) FROM late GROUP BY 1`,
    hours(19, 23.1, 22.7, null),
  ],
  [
    `SELECT date_bin_gapfill(INTERVAL '1 day', time) AS day, sum(v) FROM (VALUES ('2024-02-28'::timestamp, 1), ('2024-03-01'::timestamp, 2)) AS d(time, v)
     WHERE time >= '2024-02-28' AND time <= '2024-03-02' GROUP BY 1`,
    [1n, null, 2n, null].map((value, i) => [utc("2024-02-28T00:00:00") + BigInt(i) * 86_400_000_000_000n, value]),
  ],
  [
    `SELECT date_bin_gapfill(INTERVAL '1 hour', h.time) AS hour, max(h.temp) FROM home AS h JOIN (VALUES ('Kitchen')) AS r(room) ON h.room = r.room
     WHERE h.time >= '2022-01-01T19:00:00Z' AND h.time <= '2022-01-01T21:00:00Z' GROUP BY 1`,
    hours(19, 23.1, 22.7, null),
  ],
  // weeks begin on Thursdays, months with their first day
  [
    `SELECT date_bin_gapfill(INTERVAL '1 week', time) AS week, count(temp) FROM home WHERE time >= '2021-12-30' AND time < '2022-01-14' GROUP BY 1`,
    [26n, 0n, 0n].map((value, i) => [utc("2021-12-30T00:00:00") + BigInt(i) * 604_800_000_000_000n, value]),
  ],
  [
    `SELECT date_bin_gapfill(INTERVAL '1 month', time) AS month, max(co) FROM home WHERE time >= '2021-12-10' AND time < '2022-03-01' GROUP BY 1`,
    [
      [utc("2021-12-01T00:00:00"), null],
      [utc("2022-01-01T00:00:00"), 26n],
      [utc("2022-02-01T00:00:00"), null],
    ],
  ],
  // before 1970, to the nanosecond
  [
    `SELECT date_bin_gapfill(INTERVAL '2 ns', time) AS t, locf(max(v)) FROM (VALUES ('1969-12-31T23:59:59.999999997Z'::timestamp, 7)) AS d(time, v)
     WHERE time >= '1969-12-31T23:59:59.999999996' AND time <= '1970-01-01T00:00:00.000000001Z' GROUP BY 1`,
    [
      [-4n, 7n],
      [-2n, 7n],
      [0n, 7n],
    ],
  ],
]);

const LATE = `${KITCHEN} AND time >= '2022-01-01T15:00:00Z' AND time < '2022-01-01T18:00:00Z'`;
const half = (...values: readonly Value[]): [bigint, Value][] => every(1_800_000_000_000n, at("15:00:00"), values);
const binned = (value: string, where = LATE): string =>
  `SELECT date_bin_gapfill(INTERVAL '30 minutes', time) AS t, ${value} ${where} GROUP BY t`;

sqlSuite("what is filled", [
  // co at 15, 16 and 17 hours: 3, 7, 9; integers stay integers
  [binned("max(co)"), half(3n, null, 7n, null, 9n, null)],
  // the vendor's engine fills with an aggregate's value of no rows, which is none but of count
  [binned("count(co)"), half(1n, 0n, 1n, 0n, 1n, 0n)],
  [binned("count(*) + 1"), half(2n, 1n, 2n, 1n, 2n, 1n)],
  [binned("count(DISTINCT room)"), half(1n, 0n, 1n, 0n, 1n, 0n)],
  [binned("count(co) FILTER (WHERE co > 3)"), half(0n, 0n, 1n, 0n, 1n, 0n)],
  [binned("approx_distinct(room)"), half(1n, null, 1n, null, 1n, null)],
  [binned("regr_count(co, temp)"), half(1n, null, 1n, null, 1n, null)],
  [binned("locf(count(co))"), half(1n, 1n, 1n, 1n, 1n, 1n)],
  [binned("interpolate(count(*))"), half(1n, 1n, 1n, 1n, 1n, null)],
  [binned("interpolate(max(co))"), half(3n, 5n, 7n, 8n, 9n, null)],
  [binned("locf(max(co))"), half(3n, 3n, 7n, 7n, 9n, 9n)],
  [binned("interpolate(avg(co))"), half(3, 5, 7, 8, 9, null)],
  [binned("locf(sum(temp))"), half(22.7, 22.7, 22.4, 22.4, 22.7, 22.7)],
  [binned("locf(min(room))"), half("Kitchen", "Kitchen", "Kitchen", "Kitchen", "Kitchen", "Kitchen")],
  // half a degree between integers is cut towards zero
  [
    `SELECT date_bin_gapfill(INTERVAL '1 s', time) AS t, interpolate(max(v)) FROM (VALUES (0::timestamp, -1), (2::timestamp, -4)) AS d(time, v)
     WHERE time >= '1970-01-01' AND time <= '1970-01-01T00:00:02Z' GROUP BY 1`,
    [
      [0n, -1n],
      [1_000_000_000n, -2n],
      [2_000_000_000n, -4n],
    ],
  ],
  // several of them, and what is made of them
  [
    `SELECT date_bin_gapfill(INTERVAL '30 minutes', time) AS t, max(co), locf(max(co)) AS l, interpolate(max(co)) + 100 AS i, coalesce(max(co), -1) AS c,
     locf(max(co)) - interpolate(max(co)) AS d ${LATE} GROUP BY t LIMIT 3`,
    [
      [at("15:00:00"), 3n, 3n, 103n, 3n, 0n],
      [at("15:30:00"), null, 3n, 105n, -1n, -2n],
      [at("16:00:00"), 7n, 7n, 107n, 7n, 0n],
    ],
  ],
  // bins without a value, though they have rows, are gaps too
  [binned("locf(max(co) FILTER (WHERE co <> 7))"), half(3n, 3n, 3n, 3n, 9n, 9n)],
  [binned("interpolate(avg(co) FILTER (WHERE co <> 7))"), half(3, 4.5, 6, 7.5, 9, null)],
  // nothing before the first value, nothing to interpolate after the last
  [
    binned("locf(max(co))", `${KITCHEN} AND time >= '2022-01-01T07:00:00Z' AND time < '2022-01-01T08:30:00Z'`),
    every(1_800_000_000_000n, at("07:00:00"), [null, null, 0n]),
  ],
  [
    binned("interpolate(max(co))", `${KITCHEN} AND time >= '2022-01-01T07:00:00Z' AND time < '2022-01-01T08:30:00Z'`),
    every(1_800_000_000_000n, at("07:00:00"), [null, null, 0n]),
  ],
  // selectors: the pair and its parts
  [binned("selector_last(co, time)['value']"), half(3n, null, 7n, null, 9n, null)],
  [binned("locf(selector_last(co, time)['value'])"), half(3n, 3n, 7n, 7n, 9n, 9n)],
  [binned("locf(selector_last(co, time))['value']"), half(3n, 3n, 7n, 7n, 9n, 9n)],
  [
    binned("locf(selector_last(co, time))['time']"),
    half(at("15:00:00"), at("15:00:00"), at("16:00:00"), at("16:00:00"), at("17:00:00"), at("17:00:00")),
  ],
  [binned("interpolate(selector_first(temp, time))['value']"), half(22.7, 22.549999999999997, 22.4, 22.549999999999997, 22.7, null)],
  [binned("interpolate(selector_first(temp, time))['time']"), half(at("15:00:00"), null, at("16:00:00"), null, at("17:00:00"), null)],
  [binned("interpolate(selector_max(co, time)['value'])"), half(3n, 5n, 7n, 8n, 9n, null)],
  // other aggregates
  [binned("locf(median(temp))"), half(22.7, 22.7, 22.4, 22.4, 22.7, 22.7)],
  [binned("locf(approx_median(co))"), half(3n, 3n, 7n, 7n, 9n, 9n)],
  [
    binned("interpolate(approx_percentile_cont(0.5) WITHIN GROUP (ORDER BY temp))"),
    half(22.7, 22.549999999999997, 22.4, 22.549999999999997, 22.7, null),
  ],
]);

/** Two tags, one of them sometimes absent. */
function grid(kernel: Kernel): FakeTable {
  const { time, tag, integer } = ColumnType;
  const row = (minute: number, a: string, b: string | null, v: bigint) => ({ time: BigInt(minute) * 60_000_000_000n, a, b, v });
  return new FakeTable(kernel, "grid", { time, a: tag, b: tag, v: integer }, [
    row(0, "x", "p", 1n),
    row(2, "x", "p", 3n),
    row(1, "x", "q", 10n),
    row(1, "y", null, 5n),
    row(2, "y", null, 7n),
  ]);
}
const MINUTES = "time >= '1970-01-01T00:00:00Z' AND time < '1970-01-01T00:03:00Z'";
const minute = (i: number): bigint => BigInt(i) * 60_000_000_000n;

sqlSuite(
  "groups",
  [
    [
      `SELECT a, b, date_bin_gapfill(INTERVAL '1 minute', time) AS t, interpolate(max(v)) AS v FROM grid WHERE ${MINUTES} GROUP BY a, b, t ORDER BY a, b, t`,
      [
        ["x", "p", minute(0), 1n],
        ["x", "p", minute(1), 2n],
        ["x", "p", minute(2), 3n],
        ["x", "q", minute(0), null],
        ["x", "q", minute(1), 10n],
        ["x", "q", minute(2), null],
        ["y", null, minute(0), null],
        ["y", null, minute(1), 5n],
        ["y", null, minute(2), 7n],
      ],
    ],
    // without ORDER BY: by the keys, then by time
    [
      `SELECT date_bin_gapfill(INTERVAL '1 minute', time), a, sum(v) FROM grid WHERE ${MINUTES} GROUP BY 1, 2`,
      [
        [minute(0), "x", 1n],
        [minute(1), "x", 10n],
        [minute(2), "x", 3n],
        [minute(0), "y", null],
        [minute(1), "y", 5n],
        [minute(2), "y", 7n],
      ],
    ],
    // keys that are expressions; GROUP BY ALL; a key that is not shown
    [
      `SELECT upper(a) AS a, date_bin_gapfill(INTERVAL '1 minute', time) AS t, locf(sum(v)) FROM grid WHERE ${MINUTES} AND v < 10 GROUP BY upper(a), t ORDER BY upper(a) DESC, t LIMIT 4`,
      [
        ["Y", minute(0), null],
        ["Y", minute(1), 5n],
        ["Y", minute(2), 7n],
        ["X", minute(0), 1n],
      ],
    ],
    [
      `SELECT a, date_bin_gapfill(INTERVAL '1 minute', time) AS t, locf(sum(v)) AS v FROM grid WHERE ${MINUTES} AND b = 'p' GROUP BY ALL`,
      [
        ["x", minute(0), 1n],
        ["x", minute(1), 1n],
        ["x", minute(2), 3n],
      ],
    ],
    [
      `SELECT count(*) FROM (SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, max(v) FROM grid WHERE ${MINUTES} GROUP BY t, a, b)`,
      [[9n]],
    ],
    [
      `SELECT g.a, locf(max(g.v)) FROM grid AS g WHERE g.time >= 0::timestamp AND time <= '1970-01-01T00:01:00.000000001Z' GROUP BY date_bin_gapfill(INTERVAL '1 minute', g.time), a`,
      [
        ["x", 1n],
        ["x", 10n],
        ["y", null],
        ["y", 5n],
      ],
    ],
    // HAVING and the rest come after the filling
    [
      `SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, a, max(v) FROM grid WHERE ${MINUTES} GROUP BY t, a HAVING max(v) IS NULL OR max(v) > 5 ORDER BY a DESC, t`,
      [
        [minute(0), "y", null],
        [minute(2), "y", 7n],
        [minute(1), "x", 10n],
      ],
    ],
    [
      `SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, max(v) AS m FROM grid WHERE ${MINUTES} AND a = 'y' GROUP BY t HAVING date_bin_gapfill(INTERVAL '1 minute', time) > 0::timestamp`,
      [
        [minute(1), 5n],
        [minute(2), 7n],
      ],
    ],
    [
      `SELECT DISTINCT a FROM (SELECT a, date_bin_gapfill(INTERVAL '1 minute', time) AS t FROM grid WHERE ${MINUTES} GROUP BY a, t) ORDER BY 1`,
      [["x"], ["y"]],
    ],
    [
      `SELECT DISTINCT locf(max(v)) AS v FROM grid WHERE ${MINUTES} AND b = 'p' GROUP BY date_bin_gapfill(INTERVAL '30 seconds', time) ORDER BY v`,
      [[1n], [3n]],
    ],
    // windows over filled rows
    [
      `SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, max(v) - lag(locf(max(v))) OVER (ORDER BY date_bin_gapfill(INTERVAL '1 minute', time)) AS d,
     row_number() OVER (ORDER BY max(v) NULLS FIRST) AS n FROM grid WHERE ${MINUTES} AND b = 'p' GROUP BY 1 ORDER BY 1`,
      [
        [minute(0), null, 2n],
        [minute(1), null, 1n],
        [minute(2), 2n, 3n],
      ],
    ],
    // twice in one statement
    [
      `SELECT t, v FROM (SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, locf(max(v)) AS v FROM grid WHERE ${MINUTES} AND b = 'p' GROUP BY 1)
     UNION ALL SELECT date_bin_gapfill(INTERVAL '2 minutes', time), max(v) FROM grid WHERE ${MINUTES} AND b = 'q' GROUP BY 1 ORDER BY t, v NULLS LAST`,
      [
        [minute(0), 1n],
        [minute(0), 10n],
        [minute(1), 1n],
        [minute(2), 3n],
        [minute(2), null],
      ],
    ],
    [
      `WITH f AS (SELECT a, date_bin_gapfill(INTERVAL '1 minute', time) AS t, interpolate(avg(v)) AS v FROM grid WHERE ${MINUTES} GROUP BY 1, 2)
     SELECT a, avg(v) FROM f GROUP BY a ORDER BY a`,
      [
        ["x", 14 / 3],
        ["y", 6],
      ],
    ],
  ],
  (kernel) => [grid(kernel)],
);

const BOUND = "time >= '2022-01-01' AND time < '2022-01-02'";
const gap = (interval: string): string => `date_bin_gapfill(INTERVAL '${interval}', time)`;
const PLANNING = "Error during planning: ";

const ERRORS: readonly (readonly [sql: string, message: string])[] = [
  [`SELECT ${gap("1 hour")} FROM home GROUP BY 1`, `${PLANNING}gap-filling query is missing both upper and lower time bounds`],
  [`SELECT ${gap("1 hour")} FROM home WHERE time < '2022-01-02' GROUP BY 1`, `${PLANNING}gap-filling query is missing lower time bound`],
  [`SELECT ${gap("1 hour")} FROM home WHERE time >= '2022-01-01' GROUP BY 1`, `${PLANNING}gap-filling query is missing upper time bound`],
  [
    `SELECT ${gap("1 hour")} FROM home WHERE time >= '2022-01-01' OR time < '2022-01-02' GROUP BY 1`,
    "missing both upper and lower time bounds",
  ],
  [`SELECT ${gap("1 hour")} FROM home WHERE NOT (${BOUND}) GROUP BY 1`, "missing both upper and lower time bounds"],
  [`SELECT ${gap("1 hour")} FROM home WHERE ${BOUND}`, `${PLANNING}date_bin_gapfill may only be used as a GROUP BY expression`],
  [
    `SELECT ${gap("1 hour")}, avg(temp) FROM home WHERE ${BOUND} GROUP BY room`,
    "date_bin_gapfill may only be used as a GROUP BY expression",
  ],
  [
    `SELECT ${gap("1 hour")}, ${gap("2 hours")} FROM home WHERE ${BOUND} GROUP BY 1`,
    "date_bin_gapfill may only be used as a GROUP BY expression",
  ],
  [
    `SELECT avg(temp) FROM home WHERE ${gap("1 hour")} > '2022-01-01' GROUP BY room`,
    "date_bin_gapfill may only be used as a GROUP BY expression",
  ],
  [
    `SELECT date_bin_wallclock_gapfill(INTERVAL '1 hour', time) FROM home`,
    `${PLANNING}date_bin_wallclock_gapfill may only be used as a GROUP BY expression`,
  ],
  ["SELECT locf(temp) FROM home", `${PLANNING}locf may only be used in the SELECT list of a gap-filling query`],
  ["SELECT room, locf(avg(temp)) FROM home GROUP BY room", "locf may only be used in the SELECT list of a gap-filling query"],
  ["SELECT interpolate(avg(temp)) FROM home", `${PLANNING}interpolate may only be used in the SELECT list of a gap-filling query`],
  [`SELECT ${gap("1 hour")}, avg(temp) FROM home WHERE ${BOUND} AND locf(temp) > 1 GROUP BY 1`, "locf may only be used in the SELECT list"],
  [
    `SELECT ${gap("1 hour")}, avg(temp) FROM home WHERE ${BOUND} GROUP BY 1 HAVING locf(avg(temp)) > 1`,
    "locf may only be used in the SELECT list",
  ],
  [
    `SELECT ${gap("1 hour")}, room, locf(room) FROM home WHERE ${BOUND} GROUP BY 1, 2`,
    `${PLANNING}locf must be called on an aggregate column in a gap-filling query`,
  ],
  [
    `SELECT ${gap("1 hour")}, interpolate(avg(temp) + 1) FROM home WHERE ${BOUND} GROUP BY 1`,
    `${PLANNING}interpolate must be called on an aggregate column in a gap-filling query`,
  ],
  [`SELECT ${gap("1 hour")}, interpolate(max(room)) FROM home WHERE ${BOUND} GROUP BY 1`, "unsupported data type for interpolation"],
  [
    `SELECT ${gap("1 hour")} AS a, ${gap("2 hours")} AS b FROM home WHERE ${BOUND} GROUP BY 1, 2`,
    "DATE_BIN_GAPFILL specified more than once",
  ],
  [
    `SELECT ${gap("1 hour")} + INTERVAL '1 s' FROM home WHERE ${BOUND} GROUP BY 1`,
    "DATE_BIN_GAPFILL must be a top-level expression in the GROUP BY clause when gap filling. It cannot be part of another expression or cast",
  ],
  [`SELECT date_bin_gapfill(INTERVAL '1 hour') FROM home WHERE ${BOUND} GROUP BY 1`, "DATE_BIN_GAPFILL expects 2 or 3 arguments, got 1"],
  [
    `SELECT date_bin_gapfill(INTERVAL '1 hour', time + INTERVAL '1 s') FROM home WHERE ${BOUND} GROUP BY 1`,
    "DATE_BIN_GAPFILL requires a column as the source argument",
  ],
  [
    `SELECT date_bin_gapfill(INTERVAL '1 hour' * co, time) FROM home WHERE ${BOUND} GROUP BY 1`,
    "stride argument to DATE_BIN_GAPFILL for gap fill query must evaluate to a scalar",
  ],
  [
    `SELECT date_bin_gapfill(INTERVAL '1 hour', time, time) FROM home WHERE ${BOUND} GROUP BY 1`,
    "origin argument to DATE_BIN_GAPFILL for gap fill query must evaluate to a scalar",
  ],
  [
    `SELECT ${gap("1 hour")} FROM home WHERE time >= '2022-01-01' AND time < (SELECT max(time) FROM home) GROUP BY 1`,
    "upper time bound for gap fill query must evaluate to a scalar",
  ],
  // bounds of what a column is made of are not the column's own
  [
    `WITH b AS (SELECT date_bin(INTERVAL '1 hour', time) AS time, temp FROM home WHERE ${BOUND}) SELECT ${gap("1 hour")} FROM b GROUP BY 1`,
    "gap-filling query is missing both upper and lower time bounds",
  ],
  [`SELECT ${gap("0 s")} FROM home WHERE ${BOUND} GROUP BY 1`, "stride must be non-zero and positive"],
  [`SELECT ${gap("1 month 1 day")} FROM home WHERE ${BOUND} GROUP BY 1`, "stride does not support combination"],
  [
    `SELECT ${gap("1 hour")}, hum FROM home WHERE ${BOUND} GROUP BY 1`,
    'column "hum" must appear in the GROUP BY clause or must be part of an aggregate function',
  ],
  [`SELECT ${gap("1 hour")}, * FROM home WHERE ${BOUND} GROUP BY 1`, "shows group columns and aggregates, not *"],
  [`SELECT ${gap("1 hour")}, room FROM home WHERE ${BOUND} GROUP BY ROLLUP (1, 2)`, "do not support GROUPING SETS"],
  // a small bin over a long time
  [
    `SELECT ${gap("1 ns")} FROM home WHERE ${BOUND} GROUP BY 1`,
    "date_bin_gapfill would make 86400000000000 rows of each group, at most 10000000 are possible",
  ],
  [`SELECT ${gap("1 s")} FROM home WHERE time > '1700-01-01' AND time < '2262-01-01' GROUP BY 1`, "at most 10000000 are possible"],
  [
    `SELECT ${gap("1 ms")} FROM home WHERE time > now() - INTERVAL '2000 years' AND time < '2262-01-01' GROUP BY 1`,
    "at most 10000000 are possible",
  ],
];
sqlSuite(
  "errors, word by word",
  ERRORS.map(([sql, message]): SqlCase => [sql, new Error(message)]),
);
