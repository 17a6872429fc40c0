// Aggregates. Expected values: sums by hand over the data set, Python's statistics module, the vendor's engine for regressions.
import { type SqlCase, sqlSuite, utc } from "../support/sql/sql-suite.ts";

const at = (hour: number): bigint => utc("2022-01-01T00:00:00") + BigInt(hour) * 3_600_000_000_000n;
const FEW = "FROM (VALUES (NULL, 1), (5, 2), (NULL, 3), (7, 4)) AS v(x, t)";

const GENERAL: readonly SqlCase[] = [
  [
    "SELECT count(*), count(1), count(NULL), count(temp), count(DISTINCT room), count(DISTINCT co) FROM home",
    [[26n, 26n, 0n, 26n, 2n, 12n]],
  ],
  // rows in which none is NULL
  ["SELECT count(room, temp) FROM home", [[26n]]],
  [`SELECT count(x, t), count(t, x), count(DISTINCT x, t) ${FEW}`, [[2n, 2n, 2n]]],
  ["SELECT sum(co), sum(DISTINCT co), avg(DISTINCT co), mean(co) * 26 FROM home", [[137n, 126n, 10.5, 137]]],
  [
    "SELECT round(avg(temp), 9), round(mean(temp), 9), round(sum(temp), 6), min(temp), max(temp), min(room), max(room) FROM home",
    [[22.396153846, 22.396153846, 582.3, 21, 23.3, "Kitchen", "Living Room"]],
  ],
  ["SELECT min(time), max(time) FROM home", [[at(8), at(20)]]],
  [
    "SELECT percentile_cont(x, 0.25), percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM (VALUES (1), (2), (4), (NULL)) AS v(x)",
    [[1.5, 2]],
  ],
  ["SELECT percentile_cont(co, 2) FROM home", new Error("Percentile value must be between 0.0 and 1.0")],
  ["SELECT median(temp), median(co), median(DISTINCT co) FROM home", [[22.45, 1n, 8n]]],
  [
    "SELECT bit_and(co), bit_or(co), bit_xor(co), bool_and(co >= 0), bool_or(co > 25), bool_and(co > 5) FROM home",
    [[0n, 31n, 5n, true, true, false]],
  ],
  ["SELECT bit_and(x), bit_or(x), bit_xor(x), bit_xor(DISTINCT x) FROM (VALUES (12), (10), (12)) AS v(x)", [[8n, 14n, 10n, 6n]]],
  [
    "SELECT array_agg(co ORDER BY co DESC) FILTER (WHERE co > 16), array_agg(DISTINCT room ORDER BY room DESC) FROM home",
    [
      [
        [26n, 22n, 18n, 17n],
        ["Living Room", "Kitchen"],
      ],
    ],
  ],
  [`SELECT array_agg(x ORDER BY t), count(x), avg(x), sum(x) ${FEW}`, [[[null, 5n, null, 7n], 2n, 6, 12n]]],
  ["SELECT string_agg(room, ', ' ORDER BY room DESC) FROM (SELECT DISTINCT room FROM home)", [["Living Room, Kitchen"]]],
  ["SELECT string_agg(DISTINCT room, '|') FROM home WHERE room = 'Kitchen'", [["Kitchen"]]],
  // of no rows
  [
    "SELECT sum(co), avg(co), min(co), max(co), count(co), median(co), stddev(co), array_agg(co), bit_or(co) FROM home WHERE co > 1000",
    [[null, null, null, null, 0n, null, null, null, null]],
  ],
  ["SELECT max(x), min(x), sum(x), count(x) FROM (VALUES (1.0), ('NaN'::double), (2.0)) AS v(x)", [[Number.NaN, 1, Number.NaN, 3n]]],
  ["SELECT max(temp) - min(temp) > 2.2, sum(co) / count(*), sum(co) * 1.0 / 2 FROM home", [[true, 5n, 68.5]]],
  ["SELECT sum(9223372036854775807) FROM home", new Error("Arrow error: Arithmetic overflow")],
  ["SELECT avg(time) FROM home", new Error("Function 'avg' expects a number")],
  ["SELECT avg(room) FROM home", new Error("Function 'avg' expects a number")],
  ["SELECT avg(NULL) FROM home", new Error("Avg does not support inputs of type Null")],
  ["SELECT sum(co > 5) FROM home", new Error("Sum not supported for Boolean")],
  ["SELECT sum(DISTINCT NULL) FROM home", new Error("Sum not supported for Null")],
  ["SELECT median(room) FROM home", new Error("Function 'median' expects a number")],
  ["SELECT median(co > 5) FROM home", new Error("Function 'median' expects a number")],
  [
    "SELECT room, count(*) FILTER (WHERE temp > 22.5), avg(temp) FILTER (WHERE co > 100), sum(co) FILTER (WHERE co > 5) FROM home GROUP BY room ORDER BY room",
    [
      ["Kitchen", 9n, null, 82n],
      ["Living Room", 2n, null, 40n],
    ],
  ],
  ["SELECT room, sum(co) FROM home GROUP BY room HAVING sum(co) > 60", [["Kitchen", 87n]]],
  [
    "SELECT room, max(temp) FROM home GROUP BY 1 ORDER BY 2 DESC",
    [
      ["Kitchen", 23.3],
      ["Living Room", 22.8],
    ],
  ],
  ["SELECT count(*) FROM home WHERE temp = (SELECT max(temp) FROM home)", [[1n]]],
];

const ORDERED: readonly SqlCase[] = [
  [
    "SELECT first_value(temp ORDER BY time), last_value(temp ORDER BY time), first_value(temp ORDER BY time DESC) FROM home WHERE room = 'Kitchen'",
    [[21, 22.7, 22.7]],
  ],
  ["SELECT first_value(co), last_value(co) FROM home WHERE co = 26", [[26n, 26n]]],
  [
    "SELECT room, nth_value(co, 3 ORDER BY time DESC), nth_value(co, 9 ORDER BY time), nth_value(co, -1 ORDER BY time), nth_value(co, 99 ORDER BY time) FROM home GROUP BY room ORDER BY room",
    [
      ["Kitchen", 18n, 7n, 26n, null],
      ["Living Room", 9n, 4n, 17n, null],
    ],
  ],
  [`SELECT first_value(x ORDER BY t), last_value(x ORDER BY t DESC), nth_value(x, 2 ORDER BY t) ${FEW}`, [[null, null, 5n]]],
  // NULLs passed over, however it is written
  [
    `SELECT first_value(x IGNORE NULLS ORDER BY t), first_value(x ORDER BY t) IGNORE NULLS, first_value(x ORDER BY t) RESPECT NULLS ${FEW}`,
    [[5n, 5n, null]],
  ],
  [`SELECT last_value(x ORDER BY t DESC) IGNORE NULLS, first_value(x ORDER BY t) FILTER (WHERE t > 2) IGNORE NULLS ${FEW}`, [[5n, 7n]]],
  [
    "SELECT DISTINCT ON (room) room, time, temp FROM home ORDER BY room, time DESC",
    [
      ["Kitchen", at(20), 22.7],
      ["Living Room", at(20), 22.2],
    ],
  ],
];

const STATISTICS: readonly SqlCase[] = [
  // a value that differs with each call is taken once: the square root of 1/12
  ["SELECT stddev(random()) BETWEEN 0.27 AND 0.31, var_pop(random()) BETWEEN 0.07 AND 0.09 FROM generate_series(1, 20000)", [[true, true]]],
  [
    "SELECT round(stddev(temp), 9), round(stddev_samp(temp), 9), round(stddev_pop(temp), 9) FROM home",
    [[0.555323883, 0.555323883, 0.544539869]],
  ],
  [
    "SELECT round(var(temp), 9), round(var_samp(temp), 9), round(var_sample(temp), 9), round(var_pop(temp), 9), round(var_population(temp), 9) FROM home",
    [[0.308384615, 0.308384615, 0.308384615, 0.296523669, 0.296523669]],
  ],
  [
    "SELECT round(corr(temp, hum), 9), round(covar(temp, hum), 9), round(covar_samp(temp, hum), 9), round(covar_pop(temp, hum), 9) FROM home",
    [[0.651220241, 0.0922, 0.0922, 0.088653846]],
  ],
  ["SELECT round(regr_avgx(temp, hum), 9), round(regr_avgy(temp, hum), 9), regr_count(temp, hum) FROM home", [[36.15, 22.396153846, 26n]]],
  [
    "SELECT round(regr_slope(temp, hum), 9), round(regr_intercept(temp, hum), 6), round(regr_r2(temp, hum), 9) FROM home",
    [[1.418461538, -28.881231, 0.424087802]],
  ],
  [
    "SELECT round(regr_sxx(temp, hum), 9), round(regr_syy(temp, hum), 9), round(regr_sxy(temp, hum), 9) FROM home",
    [[1.625, 7.709615385, 2.305]],
  ],
  // y = 2x + 1
  [
    "SELECT regr_slope(y, x), regr_intercept(y, x), regr_r2(y, x), corr(y, x) FROM (VALUES (1.0, 3.0), (2.0, 5.0), (3.0, 7.0)) AS v(x, y)",
    [[2, 1, 1, 1]],
  ],
  // where x or y does not vary there is no line, and no correlation
  [
    "SELECT regr_slope(y, x), regr_intercept(y, x), regr_r2(y, x), regr_count(y, x), corr(y, x) FROM (VALUES (1.0, 2.0), (1.0, 3.0)) AS v(x, y)",
    [[null, null, null, 2n, null]],
  ],
  ["SELECT corr(y, x), covar_pop(y, x), regr_r2(y, x) FROM (VALUES (1.0, 5.0), (2.0, 5.0)) AS v(x, y)", [[null, 0, null]]],
  // a value that is not finite, or whose square is not
  [
    "SELECT corr(y, x), regr_slope(y, x), regr_intercept(y, x), regr_r2(y, x), regr_sxx(y, x), regr_sxy(x, y), regr_count(y, x) FROM (VALUES (1.0, 2.0, 1), (1.0 / 0.0, 3.0, 2), (2.0, 4.0, 3)) AS v(x, y, n)",
    [[Number.NaN, Number.NaN, Number.NaN, Number.NaN, Number.NaN, Number.NaN, 3n]],
  ],
  [
    "SELECT corr(y, x) FILTER (WHERE n <> 2), regr_slope(n, y), corr(x * 1e200, y) FILTER (WHERE n <> 2), corr(n, 0.0 / 0.0) FROM (VALUES (1.0, 2.0, 1), (1.0 / 0.0, 3.0, 2), (2.0, 4.0, 3)) AS v(x, y, n)",
    [[1, 1, Number.NaN, Number.NaN]],
  ],
  // of one row
  [
    "SELECT stddev(temp), stddev_pop(temp), var(temp), var_pop(temp), corr(temp, hum), covar_samp(temp, hum) FROM home WHERE co = 26",
    [[null, 0, null, 0, null, null]],
  ],
  ["SELECT regr_count(y, x) FROM (VALUES (1, NULL), (NULL, 2), (3, 4)) AS v(x, y)", [[1n]]],
];

const APPROXIMATE: readonly SqlCase[] = [
  ["SELECT approx_distinct(co), approx_distinct(room) FROM home", [[12n, 2n]]],
  [
    "SELECT approx_distinct(x % 1000), approx_distinct(x % 200) FILTER (WHERE x > 5000) FROM generate_series(1, 10000) AS t(x)",
    [[1000n, 200n]],
  ],
  [
    // between 22.4 and 22.5, which are in the middle
    `SELECT m > 22.4 AND m < 22.5, m = p, m = q FROM (
       SELECT approx_median(temp) AS m, approx_percentile_cont(temp, 0.5) AS p, approx_percentile_cont(temp, 0.5, 200) AS q FROM home)`,
    [[true, true, true]],
  ],
  ["SELECT approx_percentile_cont(temp, 0), approx_percentile_cont(temp, 1), approx_median(co) FROM home", [[21, 23.3, 1n]]],
  [
    `SELECT t > 22.4 AND t < 22.5, co FROM (
       SELECT approx_percentile_cont(0.5) WITHIN GROUP (ORDER BY temp) AS t, approx_percentile_cont(0.5, 200) WITHIN GROUP (ORDER BY co) AS co
       FROM home)`,
    [[true, 1n]],
  ],
  [
    "SELECT approx_percentile_cont(0) WITHIN GROUP (ORDER BY temp DESC), approx_percentile_cont(1) WITHIN GROUP (ORDER BY temp DESC) FROM home",
    [[23.3, 21]],
  ],
  // between the ninth and the tenth of eleven values a tenth apart
  ["SELECT abs(approx_percentile_cont(x / 10.0, 0.9) - 0.9) < 0.06 FROM generate_series(0, 10) AS t(x)", [[true]]],
  [
    "SELECT abs(approx_percentile_cont(x, 0.99) - 99000) < 200, abs(approx_percentile_cont(x, 0.1) - 10000) < 200 FROM generate_series(0, 100000) AS t(x)",
    [[true, true]],
  ],
  [
    "SELECT room, approx_percentile_cont(temp, 0.5) FILTER (WHERE co = 0) FROM home GROUP BY room ORDER BY room",
    [
      ["Kitchen", 22.5],
      ["Living Room", 22.2],
    ],
  ],
  [
    "SELECT approx_percentile_cont_with_weight(x, w, 0.5), approx_percentile_cont_with_weight(w, 0.5) WITHIN GROUP (ORDER BY x) FROM (VALUES (1, 1), (2, 1), (3, 9), (NULL, 5), (4, NULL)) AS v(x, w)",
    [[3n, 3]],
  ],
  [
    "SELECT approx_percentile_cont_with_weight(temp, co, 0.5), approx_percentile_cont_with_weight(temp, co, 0.5, 100) FROM home",
    [[22.7, 22.7]],
  ],
  [
    "SELECT approx_percentile_cont(temp, 1.5) FROM home",
    new Error("Percentile value must be between 0.0 and 1.0 inclusive, 1.5 is invalid"),
  ],
  ["SELECT approx_percentile_cont(temp) FROM home", new Error("Function 'approx_percentile_cont' expects 2 or 3 arguments but received 1")],
];

const SELECTORS: readonly SqlCase[] = [
  ["SELECT selector_first(temp, time)['value'], selector_first(temp, time)['time'] FROM home WHERE room = 'Kitchen'", [[21, at(8)]]],
  ["SELECT selector_last(temp, time)['value'], selector_last(temp, time)['time'] FROM home WHERE room = 'Kitchen'", [[22.7, at(20)]]],
  [
    "SELECT selector_min(temp, time)['value'], selector_max(temp, time)['value'], selector_max(temp, time)['time'] FROM home",
    [[21, 23.3, at(18)]],
  ],
  // of equal values the earliest row's
  [
    "SELECT selector_min(hum, time)['time'], selector_max(co, time)['time'], selector_min(co, time)['time'] FROM home WHERE room = 'Living Room'",
    [[at(8), at(20), at(8)]],
  ],
  [
    "SELECT selector_max(x, t)['time'], selector_min(x, t)['time'] FROM (VALUES (1, '2022-01-01'::timestamp), (1, '2022-01-02'::timestamp)) AS v(x, t)",
    [[utc("2022-01-01T00:00:00"), utc("2022-01-01T00:00:00")]],
  ],
  [
    "SELECT room, selector_first(co, time), selector_last(co, time) FROM home GROUP BY room ORDER BY room",
    [
      ["Kitchen", { value: 0n, time: at(8) }, { value: 26n, time: at(20) }],
      ["Living Room", { value: 0n, time: at(8) }, { value: 17n, time: at(20) }],
    ],
  ],
  ["SELECT get_field(selector_max(temp, time), 'value') FROM home", [[23.3]]],
  ["SELECT selector_first(room, time)['value'] FROM home WHERE co > 20", [["Kitchen"]]],
  // rows without a value do not count
  [
    "SELECT selector_first(x, t)['value'], selector_last(x, t)['value'] FROM (VALUES (NULL, '2022-01-01'::timestamp), (5, '2022-01-02'::timestamp), (NULL, '2022-01-03'::timestamp)) AS v(x, t)",
    [[5n, 5n]],
  ],
  ...[
    ["room", "Dictionary(Int32, Utf8)"],
    ["co", "Int64"],
    ["'2022-01-01'", "Utf8"],
    ["time::date", "Date32"],
    ["NULL", "Null"],
  ].map(([at, type]): SqlCase => {
    const wanted = `selector_max second argument must be a timestamp, but got ${type}`;
    return [`SELECT selector_max(temp, ${at})['value'] FROM home`, new Error(`Error during planning: ${wanted}`)];
  }),
  ["SELECT selector_first(temp)", new Error("Function 'selector_first' expects 2 arguments but received 1")],
];

const GROUPINGS: readonly SqlCase[] = [
  // no rows are no group of any set
  ...["ROLLUP(room)", "CUBE(room, co)", "GROUPING SETS ((room), ())"].flatMap((sets): SqlCase[] => [
    [`SELECT max(room), grouping(room), count(*) FROM home WHERE co > 1000 GROUP BY ${sets}`, []],
    [`SELECT count(*) AS n FROM home WHERE 1 = 0 GROUP BY ${sets} HAVING count(*) = 0 ORDER BY n`, []],
    [`SELECT count(*) FROM (SELECT room FROM home WHERE temp > 1000 GROUP BY ${sets})`, [[0n]]],
  ]),
  ["SELECT count(*) FROM home WHERE co > 1000", [[0n]]],
  [
    "SELECT room, grouping(room), count(*) FROM home GROUP BY ROLLUP(room) ORDER BY room",
    [
      ["Kitchen", 0, 13n],
      ["Living Room", 0, 13n],
      [null, 1, 26n],
    ],
  ],
  [
    "SELECT room, co, grouping(room), grouping(co), count(*) FROM home WHERE co > 20 GROUP BY CUBE(room, co) ORDER BY 1, 2",
    [
      ["Kitchen", 22n, 0, 0, 1n],
      ["Kitchen", 26n, 0, 0, 1n],
      ["Kitchen", null, 0, 1, 2n],
      [null, 22n, 1, 0, 1n],
      [null, 26n, 1, 0, 1n],
      [null, null, 1, 1, 2n],
    ],
  ],
  [
    "SELECT room, co, grouping(room, co), round(sum(temp), 6) FROM home WHERE co > 16 GROUP BY GROUPING SETS ((room), (co), ()) ORDER BY room, co",
    [
      ["Kitchen", null, 1, 69.1],
      ["Living Room", null, 1, 22.2],
      [null, 17n, 2, 22.2],
      [null, 18n, 2, 23.3],
      [null, 22n, 2, 23.1],
      [null, 26n, 2, 22.7],
      [null, null, 3, 91.3],
    ],
  ],
  [
    "SELECT room, count(*) FROM home GROUP BY ALL ORDER BY room",
    [
      ["Kitchen", 13n],
      ["Living Room", 13n],
    ],
  ],
];

sqlSuite("aggregates", GENERAL);
sqlSuite("aggregates of ordered rows", ORDERED);
sqlSuite("statistics", STATISTICS);
sqlSuite("approximate aggregates", APPROXIMATE);
sqlSuite("selectors", SELECTORS);
sqlSuite("grouping sets", GROUPINGS);
