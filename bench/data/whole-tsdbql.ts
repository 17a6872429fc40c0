// Statements of v1 over whole series: functions that look at every value, and choices among all rows.
import type { TsbsQuery } from "./tsbs-queries.ts";

const STATEMENTS: Readonly<Record<string, string>> = {
  "greatest values": "SELECT top(usage_user, 5) FROM cpu",
  "greatest values by host": "SELECT top(usage_user, hostname, 5) FROM cpu",
  "the greatest of each 12 hours with its host": "SELECT max(usage_user), hostname FROM cpu WHERE $range GROUP BY time(12h)",
  // of equal values another one may be chosen: in windows their times do not matter
  "95th percentile of days": "SELECT percentile(usage_user, 95) FROM cpu WHERE $range GROUP BY time(1d)",
  "median of each host": "SELECT median(usage_user) FROM cpu GROUP BY hostname",
  "deviation of each host": "SELECT stddev(usage_user) FROM cpu GROUP BY hostname",
  "number of distinct values": "SELECT count(distinct(usage_user)) FROM cpu",
  "change of means": "SELECT derivative(mean(usage_user), 1m) FROM cpu WHERE $range GROUP BY time(10m)",
  "mean of the hosts' maxima": "SELECT mean(m) FROM (SELECT max(usage_user) AS m FROM cpu WHERE $range GROUP BY time(10m), hostname)",
  "rows above a value": "SELECT usage_user FROM cpu WHERE usage_user > 99 GROUP BY hostname",
  "the first rows of some hosts": "SELECT usage_user FROM cpu GROUP BY hostname LIMIT 10 SLIMIT 3",
};

/** In the form of TSBS's queries. */
export const WHOLE_STATEMENTS: readonly TsbsQuery[] = Object.entries(STATEMENTS).map(([name, influxql]) => ({
  ...{ name, timesFaster: 1 },
  statement: ({ startNs, endNs }) => ({
    ...{ sql: "", timeColumn: "time", valueColumns: undefined },
    influxql: influxql.replace("$range", `time >= ${startNs} AND time < ${endNs}`),
  }),
}));
