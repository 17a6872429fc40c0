// Statements of the differential suite about functions: aggregates, selectors, windows, functions over points and over windows.

const SPAN = "time >= '2024-01-01T00:00:00Z' AND time < '2024-01-01T00:03:00Z'";
const WEATHER_SPAN = "time >= '2024-01-01' AND time < '2024-01-01T00:10:00Z'";

const cross = (left: readonly string[], right: readonly string[]) => left.flatMap((one) => right.map((other) => `${one} ${other}`.trim()));

const AGGREGATES: readonly string[] = [
  ...[
    "count(t)",
    "count(n)",
    "count(rain)",
    "count(*)",
    "count(/t|n/)",
    "count(distinct(n))",
    "count(DISTINCT n)",
    "distinct(n)",
    "mean(t)",
    "mean(n)",
  ],
  ...["median(t)", "median(n)", "mode(n)", "mode(t)", "mode(rain)", "spread(t)", "spread(n)", "stddev(t)", "stddev(n)", "sum(t)", "sum(n)"],
  ...[
    "integral(t)",
    "integral(n, 1m)",
    "first(t)",
    "first(n)",
    "first(rain)",
    "last(t)",
    "last(rain)",
    "max(t)",
    "max(n)",
    "min(t)",
    "min(n)",
  ],
  ...[
    "percentile(t, 50)",
    "percentile(n, 90)",
    "percentile(t, 0)",
    "percentile(t, 100)",
    "percentile(t, 33.3)",
    "top(t, 2)",
    "bottom(n, 2)",
  ],
  ...["mean(*)", "max(*)", "first(*)", "sum(/n/)", "mean(t), max(t), min(n)", "first(t), last(t)", "count(t), sum(n) AS s"],
];

const CLAUSES: readonly string[] = [
  "",
  "GROUP BY station",
  `WHERE ${WEATHER_SPAN} GROUP BY time(2m)`,
  `WHERE ${WEATHER_SPAN} GROUP BY time(90s), station fill(none)`,
  "WHERE station = 's' AND t > 8",
];

const FUNCTIONS: readonly string[] = cross(
  AGGREGATES.map((call) => `SELECT ${call} FROM weather`),
  CLAUSES,
);

const SELECTORS: readonly string[] = [
  "SELECT max(usage), host FROM cpu",
  "SELECT max(usage), host, idle FROM cpu",
  "SELECT max(usage), idle, note FROM cpu GROUP BY host",
  "SELECT first(usage), idle FROM cpu",
  "SELECT last(usage), *  FROM cpu",
  "SELECT min(usage), idle FROM cpu WHERE time >= '2024-01-01' AND time < '2024-01-01T00:03:00Z' GROUP BY time(1m)",
  "SELECT percentile(usage, 50), host FROM cpu",
  "SELECT max(usage), min(usage) FROM cpu",
  "SELECT max(usage), min(usage), host FROM cpu",
  "SELECT first(idle), usage, busy FROM cpu GROUP BY region",
  "SELECT first(note), last(note) FROM cpu",
  "SELECT max(big), min(big) FROM cpu",
  "SELECT sum(big) FROM cpu WHERE host = 'a'",
  "SELECT mean(big) FROM cpu",
  "SELECT top(usage, 3) FROM cpu",
  "SELECT top(usage, 3), host FROM cpu",
  "SELECT top(usage, host, 2) FROM cpu",
  "SELECT top(usage, host, region, 2), idle FROM cpu",
  "SELECT top(usage, 2), idle FROM cpu GROUP BY host",
  "SELECT bottom(usage, 3) FROM cpu",
  "SELECT bottom(idle, 2), note FROM cpu",
  "SELECT bottom(idle, host, 2) FROM cpu",
  "SELECT top(used, 3) FROM mem",
  "SELECT top(used, host, 3) FROM mem",
  "SELECT bottom(used, 4) FROM mem",
  "SELECT top(t, 2) FROM weather WHERE time >= '2024-01-01' AND time < '2024-01-01T00:04:00Z' GROUP BY time(1m)",
  "SELECT top(t, station, 1) FROM weather WHERE time >= '2024-01-01' AND time < '2024-01-01T00:04:00Z' GROUP BY time(1m)",
  // fewer tag values than are asked for, a tag that some rows lack, ties, a tag with a single value, no tags
  ...["usage", "idle", "big"].flatMap((field) => [
    `SELECT top(${field}, host, 10) FROM cpu`,
    `SELECT bottom(${field}, region, 2), host FROM cpu`,
    `SELECT top(${field}, host, 1) FROM cpu GROUP BY region`,
    `SELECT bottom(${field}, region, 3) FROM cpu GROUP BY host`,
    `SELECT top(${field}, 2), host FROM cpu WHERE time < '2024-01-01T00:03:00Z' GROUP BY time(1m)`,
    `SELECT bottom(${field}, host, 2) FROM cpu WHERE time < '2024-01-01T00:03:00Z' GROUP BY time(1m), region`,
    `SELECT top(${field}, host, 2) FROM cpu ORDER BY time DESC`,
    `SELECT top(${field}, host, 2) FROM cpu WHERE host != 'a'`,
    `SELECT bottom(${field}, host, 2) FROM cpu WHERE idle > 1`,
    `SELECT max(${field}), host FROM cpu WHERE time < '2024-01-01T00:03:00Z' GROUP BY time(1m)`,
    `SELECT min(${field}), note FROM cpu WHERE time < '2024-01-01T00:03:00Z' GROUP BY time(30s), region`,
  ]),
  ...["host, 1", "host, 2", "host, 9"].flatMap((rest) => [`SELECT top(used, ${rest}) FROM mem`, `SELECT bottom(total, ${rest}) FROM mem`]),
  "SELECT top(usage, missing, 2) FROM cpu",
  "SELECT top(usage, host, missing, 2) FROM cpu",
  "SELECT top(usage, note, 2) FROM cpu",
  "SELECT top(level, 2) FROM events",
  "SELECT bottom(n, 40), station FROM weather",
  "SELECT top(n, station, 1), t FROM weather GROUP BY *",
  "SELECT sample(usage, 100) FROM cpu",
  "SELECT sample(usage, 100), host FROM cpu",
  "SELECT distinct(usage) FROM cpu",
  "SELECT distinct(note) FROM cpu",
  "SELECT distinct(busy) FROM cpu",
  "SELECT distinct(idle) FROM cpu GROUP BY host",
  "SELECT DISTINCT usage FROM cpu",
  "SELECT distinct(host) FROM cpu",
  "SELECT count(host) FROM cpu",
  "SELECT max(host) FROM cpu",
  "SELECT first(used), last(used) FROM mem",
  "SELECT first(used) FROM mem GROUP BY host",
  "SELECT last(used), total FROM mem",
  "SELECT max(used), total FROM mem",
  "SELECT mode(used) FROM mem",
  "SELECT median(used) FROM mem",
];

const WINDOWS: readonly string[] = [
  ...cross(
    [
      `SELECT mean(usage) FROM cpu WHERE ${SPAN} GROUP BY time(20s)`,
      `SELECT count(usage), max(idle) FROM cpu WHERE ${SPAN} GROUP BY time(20s)`,
      `SELECT sum(idle) FROM cpu WHERE ${SPAN} GROUP BY time(30s), host`,
      `SELECT last(busy) FROM cpu WHERE ${SPAN} GROUP BY time(30s)`,
      `SELECT first(note) FROM cpu WHERE ${SPAN} GROUP BY time(30s)`,
    ],
    [
      "",
      "fill(null)",
      "fill(none)",
      "fill(previous)",
      "fill(linear)",
      "fill(0)",
      "fill(-1.5)",
      "fill(100) ORDER BY time DESC",
      "LIMIT 2",
      "fill(previous) LIMIT 3 OFFSET 2",
    ],
  ),
  ...["1m, 10s", "1m, -10s", "1m, 70s", "7s", "1h", "1d", "1w", "2w", "1m, '2024-01-01T00:00:07Z'", "45s, 1m"].map(
    (time) => `SELECT count(usage) FROM cpu WHERE ${SPAN} GROUP BY time(${time}) fill(none)`,
  ),
  ...["0s", "-1m", "5", "'1m'", "1m, 2m, 3m", "", "x", "1m, x", "1.5"].map(
    (time) => `SELECT count(usage) FROM cpu WHERE ${SPAN} GROUP BY time(${time})`,
  ),
  "SELECT count(usage) FROM cpu WHERE time < '2024-01-01T00:01:30Z' AND time > '2024-01-01T00:00:10Z' GROUP BY time(1m)",
  "SELECT count(usage) FROM cpu WHERE time >= '2024-01-01T00:00:00Z' AND time <= '2024-01-01T00:01:00Z' GROUP BY time(1m)",
  "SELECT count(level) FROM events WHERE time >= -2s AND time < 2s GROUP BY time(1s)",
  "SELECT count(level) FROM events GROUP BY time(1d) fill(none)",
  "SELECT count(nothing) FROM cpu WHERE time >= '2024-01-01' AND time < '2024-01-01T00:03:00Z' GROUP BY time(1m)",
  "SELECT mean(usage) FROM cpu WHERE host = 'x' AND time >= '2024-01-01' AND time < '2024-01-01T00:03:00Z' GROUP BY time(1m) fill(0)",
  "SELECT mean(usage) FROM cpu GROUP BY time(1m), time(2m)",
  "SELECT mean(usage) FROM cpu GROUP BY host, time(1m) fill(none)",
  "SELECT mean(used) FROM mem GROUP BY time(1m) fill(none) ORDER BY time DESC",
  "SELECT mean(used) FROM mem WHERE time >= '2024-01-01' AND time < '2024-01-01T00:06:00Z' GROUP BY time(1m), host fill(linear)",
  "SELECT mean(used) FROM mem WHERE time >= '2024-01-01' AND time < '2024-01-01T00:06:00Z' GROUP BY time(1m), host fill(previous) SLIMIT 1",
  "SELECT count(t) FROM weather WHERE time >= '2024-01-01' AND time < '2024-01-03' GROUP BY time(1d) tz('Europe/Berlin')",
  "SELECT count(t) FROM weather WHERE time >= '2024-01-01' AND time < '2024-01-03' GROUP BY time(12h) tz('America/New_York')",
  "SELECT count(t) FROM weather WHERE time >= '2024-01-01' AND time < '2024-01-01T02:00:00Z' GROUP BY time(1h) tz('Asia/Kolkata')",
  "SELECT usage FROM cpu tz('Asia/Tokyo')",
  "SELECT usage FROM cpu WHERE time > '2024-01-01 01:00:30' tz('Europe/Berlin')",
  "SELECT mean(t) FROM weather WHERE time >= '2024-01-01' AND time < '2024-01-01T00:15:00Z' GROUP BY time(20s), station fill(linear) LIMIT 18",
  "SELECT mean(t) FROM weather WHERE time >= '2024-01-01' AND time < '2024-01-01T00:15:00Z' GROUP BY time(20s) fill(previous) LIMIT 5 OFFSET 17",
  "SELECT mean(n) FROM weather WHERE time >= '2024-01-01' AND time < '2024-01-01T00:15:00Z' GROUP BY time(20s) fill(linear) ORDER BY time DESC LIMIT 20",
  "SELECT first(t), last(n) FROM weather WHERE time >= '2024-01-01' AND time < '2024-01-01T01:00:00Z' GROUP BY time(1m), station ORDER BY time DESC LIMIT 3",
  "SELECT mean(usage), usage FROM cpu",
  "SELECT first(t), mean(n) FROM weather WHERE time >= '2024-01-01' AND time < '2024-01-01T00:04:00Z' GROUP BY time(1m)",
  "SELECT top(t, 1), mean(n) FROM weather",
];

const TRANSFORMS: readonly string[] = cross(
  [
    ...["derivative(t)", "derivative(t, 1m)", "derivative(n, 10s)", "non_negative_derivative(t, 1m)", "difference(t)", "difference(n)"],
    ...["non_negative_difference(n)", "elapsed(t)", "elapsed(t, 1s)", "elapsed(t, 1m)", "moving_average(t, 3)", "moving_average(n, 2)"],
    ...["cumulative_sum(t)", "cumulative_sum(n)", "difference(*)", "difference(t), cumulative_sum(n)"],
  ].map((call) => `SELECT ${call} FROM weather`),
  [
    "WHERE station = 'n' AND time < '2024-01-01T00:03:00Z'",
    "WHERE time < '2024-01-01T00:02:00Z' GROUP BY station",
    "WHERE station = 's' ORDER BY time DESC LIMIT 4",
  ],
);

const TRANSFORMS_OF_AGGREGATES: readonly string[] = cross(
  [
    ...[
      "derivative(mean(t))",
      "derivative(mean(t), 1m)",
      "non_negative_derivative(max(n), 1m)",
      "difference(sum(n))",
      "difference(count(t))",
    ],
    ...["non_negative_difference(last(n))", "moving_average(mean(t), 2)", "cumulative_sum(count(t))", "cumulative_sum(mean(t))"],
    ...["elapsed(first(t), 1s)", "difference(first(t)), mean(t)"],
  ].map((call) => `SELECT ${call} FROM weather`),
  [
    `WHERE ${WEATHER_SPAN} GROUP BY time(1m)`,
    `WHERE ${WEATHER_SPAN} GROUP BY time(2m), station fill(0)`,
    `WHERE ${WEATHER_SPAN} GROUP BY time(1m) fill(previous)`,
    "",
  ],
);

export const FUNCTION_STATEMENTS: readonly string[] = [
  ...[...FUNCTIONS, ...SELECTORS, ...WINDOWS, ...TRANSFORMS, ...TRANSFORMS_OF_AGGREGATES],
];
