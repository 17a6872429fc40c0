// The keywords of the dialect, as GetSqlInfo lists them.

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

export const KEYWORDS = words(`
  ALL ANALYZE AND ANY AS ASC BETWEEN BOTH BY CASE CAST COLLATE CROSS CUBE CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DESC DESCRIBE
  DISTINCT ELSE END ESCAPE EXCEPT EXCLUDE EXISTS EXPLAIN EXTRACT FALSE FILTER FIRST FOLLOWING FOR FROM FULL GROUP GROUPING GROUPS HAVING
  ILIKE IN INNER INTERSECT INTERVAL IS JOIN LAST LATERAL LEADING LEFT LIKE LIMIT NATURAL NOT NULL NULLS OFFSET ON OR ORDER OUTER OVER
  OVERLAY PARTITION PLACING POSITION PRECEDING RANGE RECURSIVE RIGHT ROLLUP ROW ROWS SELECT SETS SHOW SIMILAR SOME SUBSTRING TABLE TABLES
  THEN TIMESTAMP TO TRAILING TRIM TRUE UNBOUNDED UNION UNNEST USING VALUES VERBOSE WHEN WHERE WINDOW WITH WITHIN`);

export const NUMERIC_FUNCTIONS = words(`
  abs acos acosh asin asinh atan atan2 atanh cbrt ceil cos cosh cot degrees exp factorial floor gcd isnan iszero lcm ln log log10 log2
  nanvl pi pow power radians random round signum sin sinh sqrt tan tanh trunc`);

export const STRING_FUNCTIONS = words(`
  ascii bit_length btrim char_length character_length chr concat concat_ws contains decode digest encode ends_with find_in_set initcap
  instr left length levenshtein lower lpad ltrim md5 octet_length overlay position regexp_count regexp_like regexp_match regexp_replace
  repeat replace reverse right rpad rtrim sha224 sha256 sha384 sha512 split_part starts_with strpos substr substr_index substring
  substring_index to_hex translate trim upper uuid`);

export const DATETIME_FUNCTIONS = words(`
  current_date current_time current_timestamp date_bin date_bin_gapfill date_bin_wallclock date_bin_wallclock_gapfill date_format date_part
  date_trunc datepart datetrunc extract from_unixtime make_date now to_char to_date to_local_time to_timestamp to_timestamp_micros
  to_timestamp_millis to_timestamp_nanos to_timestamp_seconds to_unixtime today tz`);

export const SYSTEM_FUNCTIONS = words("arrow_cast arrow_typeof array_agg version");
