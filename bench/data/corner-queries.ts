// Statements in which another database was once faster, on TSBS data, with the time that they may take.

export interface CornerQuery {
  readonly name: string;
  readonly sql: string;
  /** A statement that must have the same answer, computed in another way. */
  readonly same: string;
  /** On 10 M rows of 4,000 hosts and two cores of an AMD EPYC: the best peer's time, 1.5 times that of a library or below 2 ms. */
  readonly atMostMs: number;
}

/** A tag in a form that depends on the row. */
const byRow = (tag: string) => `CASE WHEN time IS NULL THEN '' ELSE ${tag} END`;

/** A condition on one tag. */
function ofTag(tag: string, condition: string, atMostMs: number): CornerQuery {
  const select = (subject: string) => `SELECT count(*) AS n, max(usage_user) AS most FROM cpu WHERE ${subject} ${condition}`;
  return { name: `${tag} ${condition}`, sql: select(tag), same: select(byRow(tag)), atMostMs };
}

export const CORNER_QUERIES: readonly CornerQuery[] = [
  ofTag("hostname", "LIKE '%99%'", 14),
  ofTag("datacenter", "LIKE '%-1a'", 25),
  ofTag("hostname", "~ '_[0-9]{2}$'", 52),
  {
    name: "mean by the start of the host's name",
    sql: "SELECT left(hostname, 6) AS start, avg(usage_user) AS mean, count(*) AS n FROM cpu GROUP BY start",
    same: `SELECT left(${byRow("hostname")}, 6) AS start, avg(usage_user) AS mean, count(*) AS n FROM cpu GROUP BY start`,
    atMostMs: 60,
  },
  {
    name: "rows and hosts by region",
    sql: "SELECT region, count(*) AS n, count(DISTINCT hostname) AS hosts FROM cpu GROUP BY region",
    same: `SELECT region, count(*) AS n, count(DISTINCT ${byRow("hostname")}) AS hosts FROM cpu GROUP BY region`,
    atMostMs: 30,
  },
  {
    name: "95th percentile by region",
    sql: "SELECT region, approx_percentile_cont(usage_user, 0.95) BETWEEN 50 AND 100 AS high FROM cpu GROUP BY region",
    same: "SELECT DISTINCT region, true AS high FROM cpu",
    atMostMs: 130,
  },
  {
    name: "last point of all",
    sql: "SELECT DISTINCT ON (hostname) * FROM cpu ORDER BY hostname, time DESC",
    same: "SELECT * FROM cpu QUALIFY row_number() OVER (PARTITION BY hostname ORDER BY time DESC) = 1",
    atMostMs: 4,
  },
];
