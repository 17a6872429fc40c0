// The example queries of the demo.

export interface Question {
  readonly title: string;
  readonly sql: string;
}

export const QUESTIONS: readonly Question[] = [
  {
    title: "Rain, heat and wind by city and year",
    sql: `SELECT location, date_trunc('year', time) AS year, round(sum(precipitation), 1) AS rain_mm,
       max(temp_max) AS hottest, min(temp_min) AS coldest, round(avg(wind), 2) AS wind
FROM weather
GROUP BY location, year
ORDER BY location, year`,
  },
  {
    title: "The best twelve months of each stock since 2000",
    sql: `WITH growth AS (
  SELECT symbol, time, price, 100 * (price / lag(price, 12) OVER (PARTITION BY symbol ORDER BY time) - 1) AS percent
  FROM stocks
), ranked AS (
  SELECT symbol, time, price, percent, row_number() OVER (PARTITION BY symbol ORDER BY percent DESC) AS place
  FROM growth
  WHERE percent IS NOT NULL
)
SELECT symbol, time AS until, price, round(percent, 1) AS percent
FROM ranked
WHERE place = 1
ORDER BY percent DESC`,
  },
];

/** Used if this machine has counters. */
export const MACHINE_QUESTION: Question = {
  title: "This machine just now",
  sql: `SELECT cpu, count(*) AS samples, round(avg(usage_user + usage_system), 1) AS busy_percent,
       round(max(usage_user + usage_system), 1) AS busiest, round(avg(usage_iowait), 1) AS waiting
FROM cpu
WHERE time >= now() - INTERVAL '1 minute'
GROUP BY cpu
ORDER BY cpu`,
};

/** Used otherwise. */
export const FLIGHTS_QUESTION: Question = {
  title: "Where flights were late",
  sql: `SELECT origin, count(*) AS flights, round(avg(delay), 1) AS mean_delay, max(delay) AS worst
FROM flights
GROUP BY origin
HAVING count(*) > 200
ORDER BY mean_delay DESC
LIMIT 5`,
};
