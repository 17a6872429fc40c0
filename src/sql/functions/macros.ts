// The macros that rewrite/ calls. DuckDB expands them before planning: nothing is called at run time, but every use of a parameter is
// planned again, so parameters are used as few times as possible. Times are TIMESTAMP_NS, arithmetic is on BIGINT nanoseconds. DuckDB
// treats the maximum of i64 and its negative as infinite; the minimum is a value.

export const MACROS: readonly string[] = [
  "CREATE MACRO __floor_mod(a, b) AS ((a % b) + b) % b",
  "CREATE MACRO __floor_div(a, b) AS a // b - CASE WHEN a % b < 0 THEN 1 ELSE 0 END",
  "CREATE MACRO __ns(t) AS epoch_ns(t)",
  // Rounds down to microseconds, for calendar functions: DuckDB's cast truncates towards 1970. floor(x / n) is (x + 1) / n - 1 below 0.
  "CREATE MACRO __us(t) AS make_timestamp(CASE WHEN epoch_ns(t) < 0 THEN (epoch_ns(t) + 1) // 1000 - 1 ELSE epoch_ns(t) // 1000 END)",
  `CREATE MACRO __fraction(f) AS
     CASE WHEN f = 0 THEN '' WHEN f % 1000000 = 0 THEN printf('.%03d', f // 1000000)
          WHEN f % 1000 = 0 THEN printf('.%06d', f // 1000) ELSE printf('.%09d', f) END`,
  // in the format of answers: 0, 3, 6 or 9 digits
  `CREATE MACRO __time_text(t) AS
     strftime(__us(t), '%Y-%m-%dT%H:%M:%S') || __fraction(__floor_mod(__ns(t), 1000000000))`,
  // leaves[k] for the k bounds that are at most ns, by binary search: `steps` are descending powers of two
  `CREATE MACRO __place(ns, bounds, steps) AS
     1 + list_reduce(CAST(steps AS BIGINT[]), lambda p, s: p + CASE WHEN ns >= list_extract(CAST(bounds AS BIGINT[]), p + s) THEN s ELSE 0 END, 0)`,
  "CREATE MACRO __choose_number(ns, bounds, steps, leaves) AS list_extract(CAST(leaves AS BIGINT[]), __place(ns, bounds, steps))",
  "CREATE MACRO __choose_text(ns, bounds, steps, leaves) AS list_extract(CAST(leaves AS VARCHAR[]), __place(ns, bounds, steps))",
  // a time from the parts named in a format (time-parse.ts); NULL for missing parts
  "CREATE MACRO __nine_digits(digits) AS CAST(rpad(left(digits, 9), 9, '0') AS BIGINT)",
  "CREATE MACRO __century_year(c, y) AS CASE WHEN c IS NULL THEN y + CASE WHEN y < 70 THEN 2000 ELSE 1900 END ELSE c * 100 + y END",
  // NULL for an invalid day; DuckDB cannot plan TRY(…) beside a subquery
  "CREATE MACRO __date_of(y, m, d) AS TRY_CAST(printf('%04d-%02d-%02d', y, m, d) AS DATE)",
  "CREATE MACRO __day_of_year(y, j) AS CASE WHEN j >= 1 AND year(__date_of(y, 1, 1) + CAST(j - 1 AS INTEGER)) = y THEN __date_of(y, 1, 1) + CAST(j - 1 AS INTEGER) END",
  "CREATE MACRO __epoch_text_ns(s) AS CASE WHEN TRY_CAST(s AS BIGINT) BETWEEN -9223372036 AND 9223372035 THEN CAST(s AS BIGINT) * 1000000000 END",
  "CREATE MACRO __hour_of_half(h, half) AS CASE WHEN h BETWEEN 1 AND 12 THEN h % 12 + CASE half WHEN 'p' THEN 12 WHEN 'a' THEN 0 END END",
  `CREATE MACRO __offset_seconds(z) AS
     CASE WHEN upper(z) = 'Z' THEN 0
          ELSE CASE WHEN z[1] = '-' THEN -1 ELSE 1 END *
               (CAST(right(z, 2) AS BIGINT) * 60 + CAST(replace(substring(z, 2, length(z) - 3), ':', '') AS BIGINT) * 3600) END`,
  `CREATE MACRO __ns_of_parts(d, h, m, s, fraction, off) AS
     CASE WHEN h <= 23 AND m <= 59 AND s <= 60 AND d - DATE '1970-01-01' BETWEEN -106751 AND 106750
          THEN (d - DATE '1970-01-01') * 86400000000000 + (h * 3600 + m * 60 + s - off) * 1000000000 + fraction END`,
  // a text as a time: DuckDB's formats, or with an hour or a minute as the last part
  `CREATE MACRO __read_time(s) AS
     coalesce(TRY_CAST(s AS TIMESTAMP_NS),
              TRY_CAST(regexp_replace(upper(s), '^\\s*(\\d{4}-\\d{1,2}-\\d{1,2})[T ](\\d{1,2}:\\d{2})\\s*(Z|[+-].*)?$', '\\1 \\2:00\\3') AS TIMESTAMP_NS),
              TRY_CAST(regexp_replace(upper(s), '^\\s*(\\d{4}-\\d{1,2}-\\d{1,2})[T ](\\d{1,2})\\s*(Z|[+-].*)?$', '\\1 \\2:00:00\\3') AS TIMESTAMP_NS))`,
  // a text as a date: of a longer one, the day of the time that it is
  `CREATE MACRO __date_or_time(s, date_text, time_text) AS
     CASE WHEN strlen(s) > 10 THEN coalesce(CAST(CAST(__us(__read_time(time_text)) AS DATE) AS VARCHAR), date_text) ELSE date_text END`,
  `CREATE MACRO __text_time(s) AS
     CASE WHEN s IS NULL THEN NULL
          ELSE coalesce(CASE WHEN regexp_matches(s, '^\\s*[+-]?\\d') THEN __read_time(s) END,
                        CAST(error('Error parsing timestamp from ''' || left(s, 40) || ''': error parsing date') AS TIMESTAMP_NS)) END`,
  // bins by number (gapfill/bins.ts), and numbers in chunks of `size`
  "CREATE MACRO __bin_index(t, base, step) AS (__ns(t) - base) // step",
  "CREATE MACRO __bin_at(i, base, step) AS base + i * step",
  "CREATE MACRO __chunks(lower, upper, size) AS range(lower // size, (upper - 1) // size + 1)",
  "CREATE MACRO __chunk_from(lower, chunk, size) AS greatest(lower, chunk * size)",
  "CREATE MACRO __chunk_to(upper, chunk, size) AS least(upper, (chunk + 1) * size)",
  "CREATE MACRO __line(t, t0, v0, t1, v1) AS (v1 - v0) / CAST(t1 - t0 AS DOUBLE) * CAST(t - t0 AS DOUBLE) + v0",
  "CREATE MACRO __second_fraction(t) AS __floor_mod(__ns(t), 1000000000)",
  // durations in the format of to_char
  `CREATE MACRO __duration_iso(ns) AS
     CASE WHEN ns = 0 THEN 'P0D'
          ELSE CASE WHEN ns < 0 THEN '-' ELSE '' END || 'PT' || CAST(abs(ns // 1000000000) AS VARCHAR) ||
               rtrim(rtrim(printf('.%09d', abs(ns % 1000000000)), '0'), '.') || 'S' END`,
  `CREATE MACRO __duration_pretty(ns) AS
     printf('%d days %d hours %d mins ', ns // 86400000000000, (ns // 3600000000000) % 24, (ns // 60000000000) % 60) ||
     CASE WHEN ns < 0 AND ns % 60000000000 <> 0 THEN '-' ELSE '' END ||
     printf('%d.%09d secs', abs((ns // 1000000000) % 60), abs(ns % 1000000000))`,
  `CREATE MACRO __us_text(t) AS
     strftime(t, '%Y-%m-%dT%H:%M:%S') || __fraction(__floor_mod(epoch_us(t), 1000000) * 1000)`,
  "CREATE MACRO __epoch(t) AS CAST(__ns(t) AS DOUBLE) / 1e9",
  // within the minute, as date_part('nanosecond') counts
  "CREATE MACRO __second_ns(t) AS ((__ns(t) % 60000000000) + 60000000000) % 60000000000",
  // `shift` makes the remainder positive and includes the origin; below `first` the bin's start is out of range, so it is NULL. `first` is
  // a number: DuckDB cannot show times of the first day that nanoseconds reach, and shows what it sorts by
  `CREATE MACRO __bin(t, step, shift, first, last) AS
     CASE WHEN epoch_ns(t) >= first AND t < TIMESTAMP_NS 'infinity'
          THEN make_timestamp_ns(epoch_ns(t) - ((epoch_ns(t) % step) + shift) % step)
          WHEN t = TIMESTAMP_NS 'infinity' THEN last END`,
  // bins of n months from the first of a month
  `CREATE MACRO __bin_months(t, n, origin, first) AS
     CASE WHEN t >= first THEN make_timestamp_ns(epoch_us(time_bucket(to_months(n), __us(t), origin)) * 1000) END`,
  "CREATE MACRO __at_month(origin, rest, k) AS make_timestamp_ns(epoch_us(origin + to_months(CAST(k AS INTEGER))) * 1000 + rest)",
  // bins of n months from any origin: the k-th month after the origin, or n months earlier if it is in the future
  `CREATE MACRO __bin_months_from(t, n, origin, rest, origin_month) AS
     list_transform(
       [year(__us(t)) * 12 + month(__us(t)) - origin_month],
       lambda d: CASE WHEN __at_month(origin, rest, d - ((d % n) + n) % n) > t
                      THEN __at_month(origin, rest, d - ((d % n) + n) % n - n)
                      ELSE __at_month(origin, rest, d - ((d % n) + n) % n) END)[1]`,
  "CREATE MACRO __month_moved(t, n) AS epoch_us(__us(t) + to_months(CAST(n AS INTEGER))) * 1000 + __floor_mod(__ns(t), 1000)",
  "CREATE MACRO __add_months(t, n) AS make_timestamp_ns(__month_moved(t, n))",
  "CREATE MACRO __interval_months(i) AS CAST(datepart('year', i) AS BIGINT) * 12 + datepart('month', i)",
  // months come before days, and days before nanoseconds, whatever their number
  `CREATE MACRO __interval_order(i) AS CASE WHEN i IS NOT NULL THEN row(__interval_months(i), datepart('day', i),
     datepart('hour', i) * 3600000000 + datepart('minute', i) * 60000000 + datepart('microsecond', i)) END`,
  `CREATE MACRO __interval_ns(i) AS
     CASE WHEN __interval_months(i) = 0 THEN epoch_us(i) * 1000 ELSE CAST(error('an interval with months has no fixed length') AS BIGINT) END`,
  `CREATE MACRO __add_interval(t, i) AS
     make_timestamp_ns(__month_moved(t, __interval_months(i)) + epoch_us(i - to_months(CAST(__interval_months(i) AS INTEGER))) * 1000)`,
  "CREATE MACRO __bounded(n, most) AS CASE WHEN n <= most THEN n ELSE CAST(error('a value of more than ' || most || ' bytes or elements') AS BIGINT) END",
];
