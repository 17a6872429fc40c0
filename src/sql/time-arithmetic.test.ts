// Times to the nanosecond: comparisons, arithmetic, bins and parts, with expected values from calendar arithmetic.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FakeTable } from "../../test/support/rows/fake-table.ts";
import { askRows, type SqlValue } from "../../test/support/sql/sql-rows.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import type { QueryParams } from "../model/query/query.ts";
import { ALL_TIME } from "../model/query/scan.ts";
import { ColumnType } from "../model/rows/column.ts";
import { SqlEngine } from "./execute/engine.ts";

const SECOND = 1_000_000_000n;
const HOUR = 3600n * SECOND;
const DAY = 24n * HOUR;
const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;

/** Nanoseconds of a time in UTC, with nanoseconds of the second. */
function at(text: string, ns = 0n): bigint {
  return BigInt(Date.parse(`${text}Z`)) * 1_000_000n + ns;
}

const NOW = at("2024-06-15T12:34:56", 123_456_789n);
const A = at("2024-01-31T23:59:59", 999_999_999n);
const B = at("2024-02-01T00:00:00");
const BEFORE_1970 = -1n;

let engine: SqlEngine;
let t: FakeTable;
let extremes: FakeTable;
beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  const { time, tag, integer } = ColumnType;
  t = new FakeTable(
    kernel,
    "t",
    { time, k: tag, n: integer },
    [BEFORE_1970, 0n, A, B, NOW].map((time, i) => ({ time, k: `k${i}`, n: BigInt(i) })),
  );
  extremes = new FakeTable(
    kernel,
    "extremes",
    { time, n: integer },
    [I64_MIN, I64_MIN + 1n, I64_MIN + 2n, 0n, I64_MAX - 1n, I64_MAX].map((time, i) => ({ time, n: BigInt(i) })),
  );
});
afterAll(() => engine.close());

async function rowsOf(sql: string, params: QueryParams = {}): Promise<SqlValue[][]> {
  return askRows(engine, sql, { tables: [t, extremes], params, nowNs: NOW });
}

/** The n of the rows of t that pass. */
const CONDITIONS: [where: string, n: bigint[]][] = [
  // the same instant in many forms: A is one nanosecond before B
  ["time = '2024-01-31T23:59:59.999999999Z'", [2n]],
  ["time = '2024-01-31 23:59:59.999999999'", [2n]],
  ["time = '2024-02-01T01:59:59.999999999+02:00'", [2n]],
  ["time = '2024-02-01T01:59:59.999999999+0200'", [2n]],
  ["time = '2024-01-31T18:59:59.999999999-05'", [2n]],
  ["time = '2024-02-01'", [3n]],
  ["time = '2024-02-01T00:00Z'", [3n]],
  ["time = '2024-02-01t00:00:00z'", [3n]],
  ["time = '2024-02-01 00:00:00 UTC'", [3n]],
  ["time = timestamp '2024-02-01'", [3n]],
  ["time = '2024-02-01'::timestamp", [3n]],
  ["time = CAST('2024-02-01T00:00:00Z' AS TIMESTAMP WITH TIME ZONE)", [3n]],
  ["time = to_timestamp('2024-02-01T00:00:00Z')", [3n]],
  ["time = to_timestamp_seconds(1706745600)", [3n]],
  ["time = to_timestamp_nanos(1706745600000000000)", [3n]],
  ["time = to_timestamp_millis(1706745600000)", [3n]],
  ["time = to_timestamp_micros(1706745600000000)", [3n]],
  ["time = from_unixtime(1706745600)", [3n]],
  ["time = 1706745600::timestamp", [3n]],
  ["time = date '2024-02-01'", [3n]],
  ["time::date = '2024-02-01'", [3n]],
  ["time::bigint = 1706745600000000000", [3n]],
  // one nanosecond decides
  ["time > '2024-01-31T23:59:59.999999998Z' AND time < '2024-02-01T00:00:00Z'", [2n]],
  ["time >= '2024-02-01T00:00:00.000000000Z' AND time < now()", [3n]],
  ["'2024-01-31T23:59:59.999999999Z' < time AND time <= now()", [3n, 4n]],
  ["time < '1970-01-01T00:00:00Z'", [0n]],
  ["time <= '1969-12-31T23:59:59.999999999Z'", [0n]],
  ["time BETWEEN '2024-01-31T23:59:59.999999999Z' AND '2024-02-01T00:00:00Z'", [2n, 3n]],
  ["time NOT BETWEEN '1970-01-01' AND '2025-01-01'", [0n]],
  ["time IN ('2024-02-01', '1970-01-01T00:00:00Z')", [1n, 3n]],
  ["time NOT IN ('2024-02-01', '1970-01-01')", [0n, 2n, 4n]],
  ["time <> '2024-02-01'", [0n, 1n, 2n, 4n]],
  ["time IS DISTINCT FROM '2024-02-01'", [0n, 1n, 2n, 4n]],
  // now() is one instant per statement
  ["time = now()", [4n]],
  ["time = current_timestamp", [4n]],
  ["time > now() - INTERVAL '1 nanosecond'", [4n]],
  ["time > now() - interval '1 hour'", [4n]],
  ["time >= now() - INTERVAL '136 days'", [2n, 3n, 4n]],
  ["time >= now() - INTERVAL '1' YEAR", [2n, 3n, 4n]],
  ["time < now() - INTERVAL 5 MONTH", [0n, 1n]],
  ["time >= current_date", [4n]],
  ["time + INTERVAL '1 ns' = '2024-02-01'", [2n]],
  ["time - INTERVAL '1 nanosecond' = '2024-01-31T23:59:59.999999999Z'", [3n]],
  // differences
  ["now() - time < INTERVAL '1 second'", [4n]],
  ["now() - time >= INTERVAL '1 day' AND now() - time < INTERVAL '1000 days'", [2n, 3n]],
  ["time - '2024-01-31T23:59:59.999999998Z' = INTERVAL '1 nanosecond'", [2n]],
  ["time - timestamp '1970-01-01' = INTERVAL '0 seconds'", [1n]],
];

describe("conditions", () => {
  test.each(CONDITIONS)("%s", async (where, n) => {
    expect(await rowsOf(`SELECT n FROM t WHERE ${where} ORDER BY n`)).toEqual(n.map((value) => [value]));
  });

  test("the same constants as parameters", async () => {
    expect(await rowsOf("SELECT n FROM t WHERE time = $at", { at: "2024-02-01T01:00:00+01:00" })).toEqual([[3n]]);
    expect(await rowsOf("SELECT n FROM t WHERE time::bigint = $ns", { ns: B })).toEqual([[3n]]);
  });
});

/** Value of an expression over the row of t with time A, or constants. */
const VALUES: [expression: string, value: SqlValue][] = [
  ["time + INTERVAL '1 hour'", A + HOUR],
  ["time - INTERVAL '1' DAY", A - DAY],
  ["INTERVAL '90 minutes' + time", A + (3n * HOUR) / 2n],
  ["time + INTERVAL '1 month'", at("2024-02-29T23:59:59", 999_999_999n)],
  ["time - INTERVAL '2 months'", at("2023-11-30T23:59:59", 999_999_999n)],
  ["time + INTERVAL '1 year 1 day 1 ns'", at("2025-02-02T00:00:00")],
  ["time + (INTERVAL '1 hour' + INTERVAL '1 ns')", A + HOUR + 1n],
  ["time + n * INTERVAL '1 minute'", A + 120n * SECOND],
  ["time - to_hours(n)", A - 2n * HOUR],
  ["time + to_months(n)", at("2024-03-31T23:59:59", 999_999_999n)],
  ["time - (time - INTERVAL '5 ns')", "PT0.000000005S"],
  ["time - '2024-02-01T00:00:00Z'", "-PT0.000000001S"],
  ["time - time", "P0D"],
  ["(time - '2024-01-01') / 2", "PT1339199.999999999S"],
  ["2 * (time - INTERVAL '1 ns' - time)", "-PT0.000000002S"],
  ["(time - '2024-01-01') / INTERVAL '1 day'", 30n],
  ["(time - '2024-01-01')::bigint", 31n * DAY - 1n],
  ["extract(epoch FROM time - '2024-01-31T23:59:59Z')", 0.999999999],
  ["time + (time - '2024-01-31T23:59:59.999999998Z')", B],
  ["'2024-01-01'::timestamp + INTERVAL '1 ns'", at("2024-01-01T00:00:00", 1n)],
  ["date '2024-01-31' + INTERVAL '1 month'", 19_782],
  // bins
  ["date_bin(INTERVAL '1 hour', time)", at("2024-01-31T23:00:00")],
  ["date_bin(INTERVAL '1' HOUR, time)", at("2024-01-31T23:00:00")],
  ["date_bin('15 minutes', time)", at("2024-01-31T23:45:00")],
  ["date_bin(INTERVAL '1 ns', time)", A],
  ["date_bin(INTERVAL '2 ns', time)", A - 1n],
  ["date_bin(INTERVAL '7 ns', time)", A - (A % 7n)],
  ["date_bin(INTERVAL '1 day', time)", at("2024-01-31T00:00:00")],
  // weeks from Thursday, 1970-01-01: 2024-01-25 is one
  ["date_bin(INTERVAL '1 week', time)", at("2024-01-25T00:00:00")],
  ["date_bin(INTERVAL '1 month', time)", at("2024-01-01T00:00:00")],
  // months from January 1970: 648 to January 2024 is a multiple of 12 and of 9
  ["date_bin(INTERVAL '3 months', time)", at("2024-01-01T00:00:00")],
  ["date_bin(INTERVAL '5 months', time)", at("2023-10-01T00:00:00")],
  ["date_bin(INTERVAL '1 year', time)", at("2024-01-01T00:00:00")],
  ["date_bin(INTERVAL '10 years', time)", at("2020-01-01T00:00:00")],
  ["date_bin(INTERVAL '1 hour', time, '2024-01-01T00:30:00Z')", at("2024-01-31T23:30:00")],
  ["date_bin(INTERVAL '1 hour', time, '2030-01-01T00:00:00.000000001Z')", at("2024-01-31T23:00:00", 1n)],
  ["date_bin(INTERVAL '1 month', time, '2024-01-15T10:00:00.5Z')", at("2024-01-15T10:00:00", SECOND / 2n)],
  ["date_bin(INTERVAL '1 month', time, '2020-01-31T23:59:59.999999999Z')", A],
  ["date_bin(INTERVAL '2 months', time, '2024-05-31')", at("2024-01-31T00:00:00")],
  ["date_bin(INTERVAL '1 hour', timestamp '1969-12-31T23:59:59.999999999Z')", -HOUR],
  // truncation
  ["date_trunc('second', time)", at("2024-01-31T23:59:59")],
  ["date_trunc('millisecond', time)", at("2024-01-31T23:59:59", 999_000_000n)],
  ["date_trunc('microsecond', time)", A - 999n],
  ["date_trunc('minute', time)", at("2024-01-31T23:59:00")],
  ["date_trunc('hour', time)", at("2024-01-31T23:00:00")],
  ["date_trunc('day', time)", at("2024-01-31T00:00:00")],
  ["date_trunc('week', time)", at("2024-01-29T00:00:00")],
  ["date_trunc('month', time)", at("2024-01-01T00:00:00")],
  ["date_trunc('quarter', time)", at("2024-01-01T00:00:00")],
  ["date_trunc('YEAR', time)", at("2024-01-01T00:00:00")],
  ["datetrunc('day', time)", at("2024-01-31T00:00:00")],
  // parts
  ["date_part('year', time)", 2024],
  ["datepart('month', time)", 1],
  ["extract(day FROM time)", 31],
  ["extract(hour FROM time)", 23],
  ["extract(minute FROM time)", 59],
  ["extract(second FROM time)", 59],
  ["date_part('millisecond', time)", 59_999],
  ["date_part('microsecond', time)", 59_999_999],
  ["date_part('nanosecond', time)", 59_999_999_999n],
  ["extract(dow FROM time)", 3],
  ["extract(doy FROM time)", 31],
  ["extract(week FROM time)", 5],
  ["extract(quarter FROM time)", 1],
  // the nearest double
  ["extract(epoch FROM time)", 1_706_745_600],
  ["year(time)", 2024n],
  ["to_unixtime(time)", 1706745599n],
  ["time::timestamp(0)", 1_706_745_599n],
  ["time::timestamp(3)", 1_706_745_599_999n],
  ["time::varchar", "2024-01-31T23:59:59.999999999"],
  ["time::bigint", A],
  ["epoch_ns(time)", A],
  ["time::date = date '2024-01-31'", true],
  ["now() > time", true],
  ["now() - now()", "P0D"],
];

describe("values", () => {
  test.each(VALUES)("%s", async (expression, value) => {
    expect(await rowsOf(`SELECT ${expression} FROM t WHERE n = 2`)).toEqual([[value]]);
  });

  test("before 1970 everything rounds down but to_unixtime", async () => {
    const sql = `SELECT date_bin(INTERVAL '1 second', time), date_trunc('day', time), date_trunc('month', time), year(time), time::date,
      extract(hour FROM time), date_part('nanosecond', time), to_unixtime(time), time - INTERVAL '1 month',
      date_bin(INTERVAL '1 day', time, '1970-01-01T06:00:00Z') FROM t WHERE n = 0`;
    const december = -31n * DAY;
    expect(await rowsOf(sql)).toEqual([[-SECOND, -DAY, december, 1969n, -1, 23, 59_999_999_999n, 0n, -1n - 30n * DAY - DAY, -18n * HOUR]]);
  });
});

describe("across subqueries, unions and windows", () => {
  const CASES: [sql: string, rows: SqlValue[][]][] = [
    ["SELECT max(time) - min(time) FROM t WHERE n BETWEEN 2 AND 3", [["PT0.000000001S"]]],
    ["SELECT max(time) - INTERVAL '1 ns' FROM t", [[NOW - 1n]]],
    ["SELECT d FROM (SELECT time - lag(time) OVER (ORDER BY time) AS d, n FROM t) WHERE n = 3", [["PT0.000000001S"]]],
    ["SELECT count(*) FROM (SELECT time - lag(time) OVER (ORDER BY time) AS d FROM t) WHERE d < INTERVAL '1 second'", [[2n]]],
    ["WITH c(x) AS (SELECT time FROM t) SELECT max(x) - INTERVAL '1 day' FROM c", [[NOW - DAY]]],
    ["SELECT (SELECT max(time) FROM t) - INTERVAL '1 ns'", [[NOW - 1n]]],
    [
      "SELECT x + INTERVAL '1 ns' FROM (SELECT time AS x FROM t WHERE n = 1 UNION ALL SELECT time FROM t WHERE n = 2) ORDER BY 1",
      [[1n], [B]],
    ],
    ["SELECT coalesce(time, now()) - INTERVAL '1 ns' FROM t WHERE n = 1", [[-1n]]],
    ["SELECT CASE WHEN n > 2 THEN time ELSE now() END - INTERVAL '1 ns' FROM t WHERE n = 3", [[B - 1n]]],
    [
      "SELECT date_bin(INTERVAL '1 day', time) AS day, count(*) FROM t WHERE time >= '2024-01-01' GROUP BY 1 ORDER BY day",
      [
        [at("2024-01-31T00:00:00"), 1n],
        [B, 1n],
        [at("2024-06-15T00:00:00"), 1n],
      ],
    ],
    ["SELECT date_bin(INTERVAL '1 day', time), count(*) FROM t WHERE n = 3 GROUP BY date_bin(INTERVAL '1 day', time)", [[B, 1n]]],
    [
      "SELECT count(*) OVER (ORDER BY time RANGE BETWEEN INTERVAL '1 ns' PRECEDING AND CURRENT ROW) FROM t ORDER BY time",
      [[1n], [2n], [1n], [2n], [1n]],
    ],
    ["SELECT avg(time - '2024-02-01'), sum(time - '2024-02-01') FROM t WHERE n IN (2, 3)", [["P0D", "-PT0.000000001S"]]],
    ["SELECT a.n FROM t AS a JOIN t AS b ON a.time = b.time - INTERVAL '1 ns' ORDER BY 1", [[0n], [2n]]],
    ["SELECT * FROM (VALUES ('2024-01-01'::timestamp)) AS v(x)", [[at("2024-01-01T00:00:00")]]],
  ];
  test.each(CASES)("%s", async (sql, rows) => expect(await rowsOf(sql)).toEqual(rows));
});

describe("the ends of i64", () => {
  test("times come out, compare and sort as they are", async () => {
    const all = [I64_MIN, I64_MIN + 1n, I64_MIN + 2n, 0n, I64_MAX - 1n, I64_MAX];
    expect(await rowsOf("SELECT time FROM extremes ORDER BY time")).toEqual(all.map((time) => [time]));
    expect(await rowsOf("SELECT time::bigint FROM extremes ORDER BY n")).toEqual(all.map((time) => [time]));
    expect(await rowsOf("SELECT min(time), max(time) FROM extremes")).toEqual([[I64_MIN, I64_MAX]]);
    expect(await rowsOf("SELECT n FROM extremes WHERE time > '2262-04-11T23:47:16.854775806Z'")).toEqual([[5n]]);
    expect(await rowsOf("SELECT n FROM extremes WHERE time = '2262-04-11T23:47:16.854775807Z'")).toEqual([[5n]]);
    expect(await rowsOf("SELECT n FROM extremes WHERE time <= '1677-09-21T00:12:43.145224193Z' ORDER BY n")).toEqual([[0n], [1n]]);
    expect(await rowsOf("SELECT n FROM extremes WHERE time = '1677-09-21T00:12:43.145224192Z'")).toEqual([[0n]]);
  });

  test("a bin that begins before the first time is NULL", async () => {
    const bins = await rowsOf("SELECT date_bin(INTERVAL '1 hour', time), date_bin(INTERVAL '1 month', time) FROM extremes ORDER BY n");
    const last = [I64_MAX - (I64_MAX % HOUR), at("2262-04-01T00:00:00")];
    expect(bins).toEqual([[null, null], [null, null], [null, null], [0n, 0n], last, last]);
  });
});

test("conditions on time and tags narrow the scan, and only where they hold for every row", async () => {
  const HINTS: [sql: string, min: bigint, max: bigint, tags: (string | null)[][]][] = [
    ["SELECT n FROM t WHERE time >= '2024-01-01' AND time < '2024-02-01'", at("2024-01-01T00:00:00"), B - 1n, []],
    ["SELECT n FROM t WHERE time > now() - INTERVAL '1 hour' AND k = 'k1'", NOW - HOUR + 1n, ALL_TIME.maxNs, [["k1"]]],
    ["SELECT n FROM t WHERE k IN ('a', 'b') AND n > 1", ALL_TIME.minNs, ALL_TIME.maxNs, [["a", "b"]]],
    ["SELECT n FROM t WHERE k = 'a' OR 'b' = k OR k IS NULL", ALL_TIME.minNs, ALL_TIME.maxNs, [["a", "b", null]]],
    ["SELECT n FROM t WHERE k = 'a' OR n = 1", ALL_TIME.minNs, ALL_TIME.maxNs, []],
    ["SELECT n FROM t WHERE time = '1970-01-01' OR (time > '1970-01-02' AND time < '1970-01-03')", 0n, ALL_TIME.maxNs, []],
    ["SELECT n FROM t WHERE k IS NULL", ALL_TIME.minNs, ALL_TIME.maxNs, [[null]]],
    ["SELECT n FROM t WHERE time BETWEEN '1970-01-01' AND '1970-01-02'", 0n, DAY, []],
    ["SELECT n FROM t AS x WHERE x.time = '1970-01-01'", 0n, 0n, []],
    ["SELECT n FROM t WHERE time >= '2024-01-01' OR k = 'a'", ALL_TIME.minNs, ALL_TIME.maxNs, []],
    ["SELECT n FROM t WHERE NOT (time >= '2024-01-01')", ALL_TIME.minNs, at("2024-01-01T00:00:00") - 1n, []],
    ["SELECT n FROM t WHERE (time >= '2024-01-01') = false", ALL_TIME.minNs, ALL_TIME.maxNs, []],
    ["SELECT n FROM t WHERE time >= $from", 5n, ALL_TIME.maxNs, []],
    ["SELECT n FROM (SELECT n, time + INTERVAL '1 day' AS time FROM t) WHERE time >= '2024-01-01'", ALL_TIME.minNs, ALL_TIME.maxNs, []],
    ["SELECT n FROM t WHERE EXISTS (SELECT 1 WHERE t.time >= '2024-01-01')", ALL_TIME.minNs, ALL_TIME.maxNs, []],
    ["SELECT count(*) FILTER (WHERE time >= '2024-01-01') FROM t", ALL_TIME.minNs, ALL_TIME.maxNs, []],
    [
      "SELECT t.n FROM (VALUES (0::timestamp)) AS v(x) ASOF JOIN t ON v.x >= t.time WHERE t.time < '1969-01-01'",
      ALL_TIME.minNs,
      ALL_TIME.maxNs,
      [],
    ],
  ];
  for (const [sql, minNs, maxNs, tags] of HINTS) {
    t.requests.length = 0;
    await rowsOf(sql, { from: "1970-01-01T00:00:00.000000005Z" });
    expect({ sql, hints: t.requests.map(({ range, tags: given }) => ({ range, tags: given.map(({ values }) => values) })) }).toEqual({
      sql,
      hints: [{ range: { minNs, maxNs }, tags }],
    });
  }
});

const BAD: [sql: string, message: string][] = [
  ["SELECT n FROM t WHERE time > 'yesterday'", "Error parsing timestamp from 'yesterday'"],
  ["SELECT n FROM t WHERE time > '2024-02-30'", "Error parsing timestamp from '2024-02-30'"],
  ["SELECT n FROM t WHERE time > '3000-01-01'", "outside of the range of nanoseconds"],
  ["SELECT date_bin(INTERVAL '0 s', time) FROM t", "stride must be non-zero and positive"],
  ["SELECT date_bin(INTERVAL '-1 hour', time) FROM t", "stride must be non-zero and positive"],
  ["SELECT date_bin(INTERVAL '1 month 1 day', time) FROM t", "does not support combination"],
  ["SELECT date_bin(INTERVAL '1 hour', time, time) FROM t", "origin to be a constant"],
  ["SELECT date_bin(time) FROM t", "expects 2 or 3 arguments"],
  ["SELECT date_trunc('fortnight', time) FROM t", "Unsupported date_trunc granularity: fortnight"],
  ["SELECT time + INTERVAL '1 fortnight' FROM t", "Invalid input syntax for type interval"],
];
test.each(BAD)("refused: %s: %s", async (sql, message) => expect(rowsOf(sql)).rejects.toThrow(message));
