// Window functions. Expected values: counted by hand over the data set.
import { type SqlCase, sqlSuite } from "../support/sql/sql-suite.ts";

/** co in the kitchen, by hour. */
const CO = [0, 0, 0, 0, 0, 1, 1, 3, 7, 9, 18, 22, 26];
const KITCHEN = "FROM home WHERE room = 'Kitchen' ORDER BY time";
const GAPS = "FROM (VALUES (NULL, 1), (5, 2), (NULL, 3), (7, 4), (6, 5)) AS v(x, t) ORDER BY t";
/** Counter values by second; one is missing, one falls. */
const COUNTER = `FROM (VALUES (10, '2022-01-01T00:00:00Z'::timestamp), (NULL, '2022-01-01T00:00:10Z'::timestamp),
  (40, '2022-01-01T00:00:20Z'::timestamp), (30, '2022-01-01T00:00:30Z'::timestamp), (30, '2022-01-01T00:00:35Z'::timestamp)) AS v(x, t) ORDER BY t`;

/** One column, from what a row's window holds. */
function over(
  window: (index: number) => readonly number[],
  value: (values: readonly number[]) => number | bigint | null,
): (number | bigint | null)[][] {
  return CO.map((_, i) => [value(window(i))]);
}
const between = (first: number, last: number): readonly number[] => CO.slice(Math.max(0, first), Math.max(0, last + 1));
const sum = (values: readonly number[]): bigint => BigInt(values.reduce((total, value) => total + value, 0));
const sumOrNull = (values: readonly number[]): bigint | null => (values.length === 0 ? null : sum(values));

const RANKS: readonly SqlCase[] = [
  [
    `SELECT row_number() OVER (ORDER BY time), row_number() OVER (ORDER BY time DESC) ${KITCHEN}`,
    CO.map((_, i) => [BigInt(i + 1), BigInt(13 - i)]),
  ],
  [
    `SELECT rank() OVER (ORDER BY co), dense_rank() OVER (ORDER BY co) ${KITCHEN}`,
    CO.map((co) => [BigInt(CO.filter((other) => other < co).length + 1), BigInt(new Set(CO.filter((other) => other < co)).size + 1)]),
  ],
  [
    `SELECT percent_rank() OVER (ORDER BY co), cume_dist() OVER (ORDER BY co) ${KITCHEN}`,
    CO.map((co) => [CO.filter((other) => other < co).length / 12, CO.filter((other) => other <= co).length / 13]),
  ],
  // thirteen rows in four parts: the first has one more
  [`SELECT ntile(4) OVER (ORDER BY time) ${KITCHEN}`, [1n, 1n, 1n, 1n, 2n, 2n, 2n, 3n, 3n, 3n, 4n, 4n, 4n].map((part) => [part])],
  ["SELECT ntile(0) OVER (ORDER BY time) FROM home", new Error("NTILE requires a positive integer")],
  ["SELECT row_number() OVER (ORDER BY time) - 14 FROM home WHERE room = 'Kitchen' AND co = 0 ORDER BY time LIMIT 2", [["-13"], ["-12"]]],
  [
    "SELECT room, temp FROM home QUALIFY row_number() OVER (PARTITION BY room ORDER BY time DESC) = 1 ORDER BY room",
    [
      ["Kitchen", 22.7],
      ["Living Room", 22.2],
    ],
  ],
  [
    "SELECT room, r FROM (SELECT room, rank() OVER (ORDER BY max(temp) DESC) AS r FROM home GROUP BY room) ORDER BY r",
    [
      ["Kitchen", 1n],
      ["Living Room", 2n],
    ],
  ],
];

const NEIGHBOURS: readonly SqlCase[] = [
  [
    `SELECT lag(co) OVER (ORDER BY time), lag(co, 2) OVER (ORDER BY time), lag(co, 2, -1) OVER (ORDER BY time) ${KITCHEN}`,
    CO.map((_, i) => [i < 1 ? null : BigInt(CO[i - 1]!), i < 2 ? null : BigInt(CO[i - 2]!), i < 2 ? -1n : BigInt(CO[i - 2]!)]),
  ],
  [
    `SELECT lead(co) OVER (ORDER BY time), lead(co, 1, 99) OVER (ORDER BY time) ${KITCHEN}`,
    CO.map((_, i) => [i > 11 ? null : BigInt(CO[i + 1]!), i > 11 ? 99n : BigInt(CO[i + 1]!)]),
  ],
  // from the end of the frame
  [`SELECT nth_value(co, -1) OVER (ORDER BY time) ${KITCHEN}`, CO.map((co) => [BigInt(co)])],
  ["SELECT nth_value(x, -1) OVER () FROM (VALUES (1), (2), (3)) AS v(x)", [[3n], [3n], [3n]]],
  [
    "SELECT x, nth_value(x, -1) IGNORE NULLS OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM (VALUES (1), (NULL), (3)) AS v(x)",
    [
      [1n, 1n],
      [null, 1n],
      [3n, 3n],
    ],
  ],
  ["SELECT nth_value(co, -2) OVER () FROM home", new Error("Error during planning: nth_value with -2 requires an ORDER BY clause")],
  [`SELECT nth_value(co, -3) OVER (ORDER BY time) ${KITCHEN}`, CO.map((_, i) => [i < 2 ? null : BigInt(CO[i - 2]!)])],
  [
    // the frame: an hour later to two hours earlier
    `SELECT nth_value(co, -2) OVER (ORDER BY time DESC ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) ${KITCHEN}`,
    CO.map((_, i) => [BigInt(CO[i < 2 ? 1 : i - 1]!)]),
  ],
  [
    `SELECT nth_value(x, -2) OVER (ORDER BY x NULLS FIRST, t ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
       nth_value(x, -2) IGNORE NULLS OVER (ORDER BY x, t ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) ${GAPS}`,
    Array.from({ length: 5 }, () => [6n, 6n]),
  ],
  ["SELECT sum(co) OVER (GROUPS 1 PRECEDING) FROM home", new Error("Error during planning: GROUPS requires an ORDER BY clause")],
  [
    `SELECT first_value(co) OVER (ORDER BY time DESC), last_value(co) OVER (ORDER BY time), nth_value(co, 7) OVER (ORDER BY time) ${KITCHEN}`,
    CO.map((co, i) => [26n, BigInt(co), i < 6 ? null : 1n]),
  ],
  [
    "SELECT DISTINCT last_value(co) OVER (ORDER BY time ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM home WHERE room = 'Kitchen'",
    [[26n]],
  ],
  [
    `SELECT first_value(x) IGNORE NULLS OVER (ORDER BY t), last_value(x) IGNORE NULLS OVER (ORDER BY t), first_value(x IGNORE NULLS) OVER (ORDER BY t) ${GAPS}`,
    [
      [null, null, null],
      [5n, 5n, 5n],
      [5n, 5n, 5n],
      [5n, 7n, 5n],
      [5n, 6n, 5n],
    ],
  ],
  [
    `SELECT lag(x) IGNORE NULLS OVER (ORDER BY t), lag(x) RESPECT NULLS OVER (ORDER BY t), lag(x) OVER (ORDER BY t) ${GAPS}`,
    [
      [null, null, null],
      [null, null, null],
      [5n, 5n, 5n],
      [5n, null, null],
      [7n, 7n, 7n],
    ],
  ],
  [
    `SELECT lead(x) IGNORE NULLS OVER (ORDER BY t), nth_value(x, 2) OVER (ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) ${GAPS}`,
    [
      [5n, 5n],
      [7n, 5n],
      [7n, 5n],
      [6n, 5n],
      [null, 5n],
    ],
  ],
];

const FRAMES: readonly SqlCase[] = [
  [`SELECT sum(co) OVER (ORDER BY time) ${KITCHEN}`, over((i) => between(0, i), sum)],
  [`SELECT sum(co) OVER (ORDER BY time ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) ${KITCHEN}`, over((i) => between(i - 2, i), sum)],
  [`SELECT sum(co) OVER (ORDER BY time ROWS 3 PRECEDING) ${KITCHEN}`, over((i) => between(i - 3, i), sum)],
  [
    `SELECT max(co) OVER (ORDER BY time ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) ${KITCHEN}`,
    over(
      (i) => between(i + 1, i + 2),
      (values) => (values.length === 0 ? null : BigInt(Math.max(...values))),
    ),
  ],
  // peers of a row are the rows with its co
  [`SELECT count(*) OVER (ORDER BY co) ${KITCHEN}`, CO.map((co) => [BigInt(CO.filter((other) => other <= co).length)])],
  [
    `SELECT sum(co) OVER (ORDER BY co RANGE BETWEEN 2 PRECEDING AND 2 FOLLOWING) ${KITCHEN}`,
    CO.map((co) => [sum(CO.filter((other) => Math.abs(other - co) <= 2))]),
  ],
  [
    `SELECT sum(co) OVER (ORDER BY co GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) ${KITCHEN}`,
    CO.map((co) => {
      const groups = [...new Set(CO)];
      const before = groups[groups.indexOf(co) - 1] ?? co;
      return [sum(CO.filter((other) => other === co || other === before))];
    }),
  ],
  // times
  [
    `SELECT sum(co) OVER (ORDER BY time RANGE BETWEEN INTERVAL '2 hours' PRECEDING AND CURRENT ROW) ${KITCHEN}`,
    over((i) => between(i - 2, i), sum),
  ],
  [
    `SELECT sum(co) OVER (ORDER BY time DESC RANGE BETWEEN INTERVAL '2 hours' PRECEDING AND CURRENT ROW) ${KITCHEN}`,
    over((i) => between(i, i + 2), sum),
  ],
  [
    `SELECT sum(co) OVER (ORDER BY time RANGE BETWEEN INTERVAL '90 minutes' PRECEDING AND INTERVAL '1 nanosecond' PRECEDING) ${KITCHEN}`,
    over((i) => (i === 0 ? [] : between(i - 1, i - 1)), sumOrNull),
  ],
  [
    `SELECT sum(co) OVER (ORDER BY time RANGE BETWEEN INTERVAL '1 hour' PRECEDING AND INTERVAL '1 hour' FOLLOWING) ${KITCHEN}`,
    over((i) => between(i - 1, i + 1), sum),
  ],
  [
    "SELECT count(*) OVER (ORDER BY time RANGE BETWEEN INTERVAL '1 hour' PRECEDING AND CURRENT ROW) FROM home ORDER BY time, room LIMIT 3",
    [[2n], [2n], [4n]],
  ],
  [`SELECT sum(co) FILTER (WHERE co > 5) OVER (ORDER BY time) ${KITCHEN}`, over((i) => between(0, i).filter((co) => co > 5), sumOrNull)],
  [
    `SELECT sum(co) OVER w, count(*) OVER w FROM home WHERE room = 'Kitchen' WINDOW w AS (ORDER BY time ROWS 3 PRECEDING) ORDER BY time LIMIT 2`,
    [
      [0n, 1n],
      [0n, 2n],
    ],
  ],
  [
    "SELECT room, sum(co) OVER (w ORDER BY time) FROM home WINDOW w AS (PARTITION BY room) ORDER BY time DESC, room LIMIT 2",
    [
      ["Kitchen", 87n],
      ["Living Room", 50n],
    ],
  ],
  [
    `SELECT sum(co) OVER (ORDER BY time ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) ${KITCHEN}`,
    CO.map((_, i) => [sum([...between(i - 1, i - 1), ...between(i + 1, i + 1)])]),
  ],
];

const AGGREGATES: readonly SqlCase[] = [
  [
    "SELECT DISTINCT room, median(temp) OVER w, approx_median(temp) OVER w, approx_distinct(room) OVER w FROM home WINDOW w AS (PARTITION BY room) ORDER BY room",
    [
      ["Kitchen", 22.7, 22.7, 1n],
      ["Living Room", 22.3, 22.3, 1n],
    ],
  ],
  [
    "SELECT DISTINCT round(stddev(temp) OVER (), 9), round(corr(temp, hum) OVER (), 9), regr_count(temp, hum) OVER () FROM home",
    [[0.555323883, 0.651220241, 26n]],
  ],
  [
    "SELECT array_agg(co) OVER (ORDER BY time ROWS 1 PRECEDING) FROM home WHERE room = 'Kitchen' AND co > 9 ORDER BY time",
    [[[18n]], [[18n, 22n]], [[22n, 26n]]],
  ],
  [
    "SELECT bool_and(co < 5) OVER (ORDER BY time), bit_or(co) OVER (ORDER BY time) FROM home WHERE room = 'Kitchen' AND co > 2 ORDER BY time LIMIT 2",
    [
      [true, 3n],
      [false, 7n],
    ],
  ],
  ["SELECT string_agg(room, ',') OVER (ORDER BY time, room) FROM home ORDER BY time, room LIMIT 2", [["Kitchen"], ["Kitchen,Living Room"]]],
  ["SELECT sum(sum(co)) OVER (ORDER BY room) FROM home GROUP BY room ORDER BY room", [[87n], [137n]]],
  ["SELECT DISTINCT count(DISTINCT room) OVER (), selector_max(temp, time)['value'] OVER () FROM home", new Error("SQL error")],
  [
    "SELECT approx_percentile_cont(co, 0.5) OVER (ORDER BY time) FROM home WHERE room = 'Kitchen' AND co > 9 ORDER BY time LIMIT 1",
    [[18n]],
  ],
  ["SELECT co - avg(co) OVER (PARTITION BY room) < 0 FROM home WHERE co = 7", [[false]]],
];

const CHANGES: readonly SqlCase[] = [
  // unsigned integers wrap
  [
    `SELECT difference(u) OVER (ORDER BY t), non_negative_difference(u) OVER (ORDER BY t) FROM (SELECT x::bigint unsigned AS u, t ${COUNTER})`,
    [
      [null, null],
      [null, null],
      [30n, 30n],
      [18446744073709551606n, 18446744073709551606n],
      [0n, 0n],
    ],
  ],
  [`SELECT difference(co) OVER (ORDER BY time) ${KITCHEN}`, CO.map((co, i) => [i === 0 ? null : BigInt(co - CO[i - 1]!)])],
  [
    `SELECT difference(x) OVER (ORDER BY t), non_negative_difference(x) OVER (ORDER BY t) ${COUNTER}`,
    [
      [null, null],
      [null, null],
      [30n, 30n],
      [-10n, null],
      [0n, 0n],
    ],
  ],
  [
    `SELECT derivative(x, INTERVAL '1 second', t) OVER (ORDER BY t), non_negative_derivative(x, INTERVAL '1 second', t) OVER (ORDER BY t) ${COUNTER}`,
    [
      [null, null],
      [null, null],
      [1.5, 1.5],
      [-1, null],
      [0, 0],
    ],
  ],
  [`SELECT derivative(x, INTERVAL '1 minute', t) OVER (ORDER BY t) ${COUNTER}`, [[null], [null], [90], [-60], [0]]],
  [
    "SELECT room, difference(co) OVER (PARTITION BY room ORDER BY time) FROM home WHERE time >= '2022-01-01T19:00:00Z' ORDER BY room, time",
    [
      ["Kitchen", null],
      ["Kitchen", 4n],
      ["Living Room", null],
      ["Living Room", 3n],
    ],
  ],
  [
    "SELECT max(d) FROM (SELECT non_negative_derivative(co, INTERVAL '1 hour', time) OVER (PARTITION BY room ORDER BY time) AS d FROM home)",
    [[9]],
  ],
  ["SELECT derivative(co, INTERVAL '1 month', time) OVER (ORDER BY time) FROM home", new Error("months")],
  ["SELECT derivative(co) OVER (ORDER BY time) FROM home", new Error("Function 'derivative' expects 3 arguments but received 1")],
  ["SELECT difference(co) FROM home", new Error("difference")],
];

sqlSuite("ranks", RANKS);
sqlSuite("values of other rows", NEIGHBOURS);
sqlSuite("frames", FRAMES);
sqlSuite("aggregates over windows", AGGREGATES);
sqlSuite("changes", CHANGES);
