// The macros that rewrite/ calls. DuckDB puts their text in place of the call before it plans, so they cost nothing at run time.
// Times are TIMESTAMP_NS, all arithmetic is on BIGINT nanoseconds.

/** i64 maximum and its negative are DuckDB's infinities, which epoch_ns refuses; the minimum itself is an ordinary value. */
const NS = `
  CASE WHEN t < TIMESTAMP_NS 'infinity' AND t <> TIMESTAMP_NS '-infinity' THEN epoch_ns(t)
       WHEN t > TIMESTAMP_NS '1970-01-01' THEN 9223372036854775807
       WHEN t IS NOT NULL THEN -9223372036854775807 END`;

export const MACROS: readonly string[] = [
  `CREATE MACRO __ns(t) AS ${NS}`,
  // floor(x / n): DuckDB's // cuts towards zero
  "CREATE MACRO __floor_div(x, n) AS (x // n) - CASE WHEN x % n < 0 THEN 1 ELSE 0 END",
  // floor to microseconds, for the calendar functions
  "CREATE MACRO __us(t) AS make_timestamp(__floor_div(__ns(t), 1000))",
  "CREATE MACRO __epoch(t) AS CAST(__ns(t) AS DOUBLE) / 1e9",
  "CREATE MACRO __unixtime(t) AS __floor_div(__ns(t), 1000000000)",
  "CREATE MACRO __second_ns(t) AS __ns(t) - __floor_div(__ns(t), 60000000000) * 60000000000",
  "CREATE MACRO __bin(step, t) AS make_timestamp_ns(__ns(t) - __ns(t) % step - CASE WHEN __ns(t) % step < 0 THEN step ELSE 0 END)",
  // the difference to the origin may leave i64, so its remainder is taken from the remainders
  `CREATE MACRO __bin_from(step, t, origin) AS
     make_timestamp_ns(__ns(t) - (((__ns(t) % step) - (origin % step)) % step + step) % step)`,
  // months since year 0
  "CREATE MACRO __month_index(t) AS CAST(year(__us(t)) AS BIGINT) * 12 + month(__us(t)) - 1",
  `CREATE MACRO __add_months(t, n) AS
     make_timestamp_ns(epoch_us(__us(t) + to_months(CAST(n AS INTEGER))) * 1000 + (__ns(t) - __floor_div(__ns(t), 1000) * 1000))`,
  `CREATE MACRO __bin_months(n, t, origin) AS
     CASE WHEN __add_months(origin, __floor_div(__month_index(t) - __month_index(origin), n) * n) > t
          THEN __add_months(origin, (__floor_div(__month_index(t) - __month_index(origin), n) - 1) * n)
          ELSE __add_months(origin, __floor_div(__month_index(t) - __month_index(origin), n) * n) END`,
  "CREATE MACRO __interval_months(i) AS CAST(datepart('year', i) AS BIGINT) * 12 + datepart('month', i)",
  `CREATE MACRO __interval_ns(i) AS
     CASE WHEN __interval_months(i) = 0 THEN epoch_us(i) * 1000 ELSE error('an interval with months has no fixed length') END`,
  `CREATE MACRO __add_interval(t, i) AS
     make_timestamp_ns(__ns(__add_months(t, __interval_months(i))) + epoch_us(i - to_months(CAST(__interval_months(i) AS INTEGER))) * 1000)`,
  "CREATE MACRO __bounded(n, most) AS CASE WHEN n <= most THEN n ELSE error('a value of more than ' || most || ' bytes or elements') END",
];
