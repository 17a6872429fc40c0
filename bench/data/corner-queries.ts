// Statements in which another database was once faster, on TSBS data, with the time that they may take.

import type { PeerStatements } from "../peers/query-peer.ts";

export interface CornerQuery {
  readonly name: string;
  readonly sql: string;
  /** A statement that must have the same answer, computed in another way. */
  readonly same: string;
  /** The same question in the peers' dialects. */
  readonly peers: PeerStatements;
  /** Where no peer is installed: the best peer's time on 10 M rows of 4,000 hosts and two cores of an AMD EPYC (of statements over fields:
   *  an Intel Xeon), 1.5 times that of a library or below 2 ms. */
  readonly atMostMs: number;
}

/** A tag in a form that depends on the row. */
const byRow = (tag: string) => `CASE WHEN time IS NULL THEN '' ELSE ${tag} END`;

/** A statement that all peers understand. */
const common = (statement: string): PeerStatements => ({ QuestDB: statement, DuckDB: statement, ClickHouse: statement });

/** A condition on one tag. @param others the condition in the peers' dialects where it differs */
function ofTag(
  tag: string,
  condition: string,
  atMostMs: number,
  others: (subject: string) => Partial<PeerStatements> = () => ({}),
): CornerQuery {
  const select = (where: string) => `SELECT count(*) AS n, max(usage_user) AS most FROM cpu WHERE ${where}`;
  const where: PeerStatements = { ...common(`${tag} ${condition}`), ...others(tag) };
  return {
    ...{ name: `${tag} ${condition}`, sql: select(`${tag} ${condition}`), same: select(`${byRow(tag)} ${condition}`), atMostMs },
    peers: { QuestDB: select(where.QuestDB), DuckDB: select(where.DuckDB), ClickHouse: select(where.ClickHouse) },
  };
}

/** 1.44 million rows of each hour. */
function hoursJoined(time: string, later: string, table: string): string {
  const hour = (at: string, from: string, to: string) =>
    `(SELECT hostname, ${at} AS moment, usage_user FROM ${table} WHERE ${time} >= '2016-01-01 0${from}:00:00' AND ${time} < '2016-01-01 0${to}:00:00')`;
  return (
    `SELECT count(*) AS n, coalesce(sum(a.usage_user * b.usage_user), 0) AS product FROM ${hour(time, "3", "4")} a ` +
    `JOIN ${hour(later, "2", "3")} b ON a.hostname = b.hostname AND a.moment = b.moment`
  );
}

/** Of the number of rows. */
function levels(region: string): string {
  const level = "CASE WHEN usage_user < 30 THEN 'low' WHEN usage_user < 70 THEN 'middle' ELSE 'high' END";
  return `SELECT ${region} AS place, ${level} AS level, count(*) AS n FROM cpu GROUP BY place, level`;
}

export const CORNER_QUERIES: readonly CornerQuery[] = [
  ofTag("hostname", "LIKE '%99%'", 14),
  ofTag("datacenter", "LIKE '%-1a'", 25),
  ofTag("hostname", "~ '_[0-9]{2}$'", 52, (tag) => ({
    DuckDB: `regexp_matches(${tag}, '_[0-9]{2}$')`,
    ClickHouse: `match(${tag}, '_[0-9]{2}$')`,
  })),
  {
    name: "mean by the start of the host's name",
    sql: "SELECT left(hostname, 6) AS start, avg(usage_user) AS mean, count(*) AS n FROM cpu GROUP BY start",
    same: `SELECT left(${byRow("hostname")}, 6) AS start, avg(usage_user) AS mean, count(*) AS n FROM cpu GROUP BY start`,
    peers: common("SELECT left(hostname, 6) AS start, avg(usage_user) AS mean, count(*) AS n FROM cpu GROUP BY start"),
    atMostMs: 60,
  },
  {
    name: "rows and hosts by region",
    sql: "SELECT region, count(*) AS n, count(DISTINCT hostname) AS hosts FROM cpu GROUP BY region",
    same: `SELECT region, count(*) AS n, count(DISTINCT ${byRow("hostname")}) AS hosts FROM cpu GROUP BY region`,
    peers: common("SELECT region, count(*) AS n, count(DISTINCT hostname) AS hosts FROM cpu GROUP BY region"),
    atMostMs: 30,
  },
  {
    name: "95th percentile by region",
    sql: "SELECT region, approx_percentile_cont(usage_user, 0.95) BETWEEN 50 AND 100 AS high FROM cpu GROUP BY region",
    same: "SELECT DISTINCT region, true AS high FROM cpu",
    peers: {
      QuestDB: `SELECT region, p >= 50 AND p <= 100 AS high FROM (SELECT region, approx_percentile(usage_user, 0.95) AS p FROM cpu)`,
      DuckDB: "SELECT region, approx_quantile(usage_user, 0.95) BETWEEN 50 AND 100 AS high FROM cpu GROUP BY region",
      ClickHouse: "SELECT region, (quantileTDigest(0.95)(usage_user) BETWEEN 50 AND 100)::Bool AS high FROM cpu GROUP BY region",
    },
    atMostMs: 130,
  },
  {
    name: "number of rows",
    sql: "SELECT count(*) AS n FROM cpu",
    same: `SELECT sum(CASE WHEN ${byRow("hostname")} = '' THEN 0 ELSE 1 END) AS n FROM cpu`,
    peers: common("SELECT count(*) AS n FROM cpu"),
    atMostMs: 0.47,
  },
  {
    name: "number of hosts",
    sql: "SELECT count(DISTINCT hostname) AS n FROM cpu",
    same: `SELECT count(DISTINCT ${byRow("hostname")}) AS n FROM cpu`,
    peers: common("SELECT count(DISTINCT hostname) AS n FROM cpu"),
    atMostMs: 2.6,
  },
  {
    name: "join of an hour with the hour before",
    sql: hoursJoined("time", "time + INTERVAL '1 hour'", "cpu"),
    same: hoursJoined(
      "time",
      "time + INTERVAL '1 hour'",
      "(SELECT time, hostname, usage_user + 0 AS usage_user FROM cpu ORDER BY usage_user)",
    ),
    peers: {
      QuestDB: hoursJoined("timestamp", "dateadd('h', 1, timestamp)", "cpu"),
      DuckDB: hoursJoined("time", "time + INTERVAL '1 hour'", "cpu"),
      ClickHouse: hoursJoined("time", "time + INTERVAL 1 HOUR", "cpu"),
    },
    atMostMs: 224,
  },
  {
    name: "last point of all",
    sql: "SELECT DISTINCT ON (hostname) * FROM cpu ORDER BY hostname, time DESC",
    same: "SELECT * FROM cpu QUALIFY row_number() OVER (PARTITION BY hostname ORDER BY time DESC) = 1",
    peers: {
      QuestDB: "SELECT * FROM cpu LATEST ON timestamp PARTITION BY hostname",
      DuckDB: "SELECT DISTINCT ON (hostname) * FROM cpu ORDER BY hostname, time DESC",
      ClickHouse: "SELECT * FROM cpu ORDER BY hostname, time DESC LIMIT 1 BY hostname",
    },
    atMostMs: 4,
  },
  {
    name: "sum of products of two fields",
    sql: "SELECT sum(usage_user * usage_system) AS n FROM cpu",
    same: "SELECT sum(n) AS n FROM (SELECT region, sum(usage_user * usage_system) AS n FROM cpu GROUP BY region)",
    peers: common("SELECT sum(usage_user * usage_system) AS n FROM cpu"),
    atMostMs: 25,
  },
  {
    name: "rows in which a field exceeds another",
    sql: "SELECT count(*) AS n FROM cpu WHERE usage_user > usage_system",
    same: "SELECT sum(CASE WHEN usage_user > usage_system THEN 1 ELSE 0 END) AS n FROM cpu",
    peers: common("SELECT count(*) AS n FROM cpu WHERE usage_user > usage_system"),
    atMostMs: 20,
  },
  {
    name: "rows by the value of a field",
    sql: "SELECT usage_user, count(*) AS n FROM cpu GROUP BY usage_user",
    same: "SELECT usage_user + 0 AS usage_user, count(*) AS n FROM cpu GROUP BY 1",
    peers: common("SELECT usage_user, count(*) AS n FROM cpu GROUP BY usage_user"),
    atMostMs: 47,
  },
  {
    name: "rows by region and level of a field",
    sql: levels("region"),
    same: levels(byRow("region")),
    peers: common(levels("region")),
    atMostMs: 200,
  },
  {
    name: "five greatest values, the earliest first",
    sql: "SELECT time, hostname, usage_user FROM cpu ORDER BY usage_user DESC, time, hostname LIMIT 5",
    same: "SELECT time, hostname, usage_user FROM cpu ORDER BY usage_user + 0 DESC, time, hostname LIMIT 5",
    peers: {
      QuestDB: "SELECT timestamp, hostname, usage_user FROM cpu ORDER BY usage_user DESC, timestamp, hostname LIMIT 5",
      DuckDB: "SELECT time, hostname, usage_user FROM cpu ORDER BY usage_user DESC, time, hostname LIMIT 5",
      ClickHouse: "SELECT time, hostname, usage_user FROM cpu ORDER BY usage_user DESC, time, hostname LIMIT 5",
    },
    atMostMs: 156,
  },
];
