// Macros for functions whose meaning differs between the dialect and DuckDB; see macros.ts for how macros work. DuckDB evaluates a branch
// of CASE only for rows that take it, so a branch may contain what would be an error for others.

/** Errors have the vendor's prefix (engine-error.ts). */
const MATH: readonly string[] = [
  "CREATE MACRO __divisor(n) AS CASE WHEN n = 0 THEN error('Arrow error: Divide by zero error') ELSE n END",
  "CREATE MACRO __divisor_of(n, dividend) AS CASE WHEN n = 0 AND dividend IS NOT NULL THEN error('Arrow error: Divide by zero error') ELSE n END",
  // IEEE 754: DuckDB rejects non-finite results
  "CREATE MACRO __sqrt(x) AS CASE WHEN x >= 0 THEN sqrt(x) WHEN x < 0 THEN 'nan'::DOUBLE END",
  "CREATE MACRO __ln(x) AS CASE WHEN x > 0 THEN ln(x) WHEN x = 0 THEN '-inf'::DOUBLE WHEN x < 0 THEN 'nan'::DOUBLE END",
  "CREATE MACRO __log2(x) AS CASE WHEN x > 0 THEN log2(x) WHEN x = 0 THEN '-inf'::DOUBLE WHEN x < 0 THEN 'nan'::DOUBLE END",
  "CREATE MACRO __log10(x) AS CASE WHEN x > 0 THEN log10(x) WHEN x = 0 THEN '-inf'::DOUBLE WHEN x < 0 THEN 'nan'::DOUBLE END",
  `CREATE MACRO __log(base, x) AS "/"(__ln(x), __ln(base))`,
  "CREATE MACRO __acos(x) AS CASE WHEN abs(CAST(x AS DOUBLE)) > 1 THEN 'nan'::DOUBLE ELSE acos(x) END",
  "CREATE MACRO __asin(x) AS CASE WHEN abs(CAST(x AS DOUBLE)) > 1 THEN 'nan'::DOUBLE ELSE asin(x) END",
  "CREATE MACRO __atanh(x) AS CASE WHEN abs(CAST(x AS DOUBLE)) > 1 THEN 'nan'::DOUBLE WHEN x = -1 THEN '-inf'::DOUBLE ELSE atanh(x) END",
  "CREATE MACRO __sin(x) AS CASE WHEN abs(CAST(x AS DOUBLE)) = 'inf'::DOUBLE THEN 'nan'::DOUBLE ELSE sin(x) END",
  "CREATE MACRO __cos(x) AS CASE WHEN abs(CAST(x AS DOUBLE)) = 'inf'::DOUBLE THEN 'nan'::DOUBLE ELSE cos(x) END",
  "CREATE MACRO __tan(x) AS CASE WHEN abs(CAST(x AS DOUBLE)) = 'inf'::DOUBLE THEN 'nan'::DOUBLE ELSE tan(x) END",
  `CREATE MACRO __cot(x) AS CASE WHEN x = 0 THEN "/"(1e0, x) WHEN abs(CAST(x AS DOUBLE)) = 'inf'::DOUBLE THEN 'nan'::DOUBLE ELSE cot(x) END`,
  // the exact root of a cube
  "CREATE MACRO __cbrt(x) AS CASE WHEN pow(round(cbrt(x)), 3) = x THEN round(cbrt(x)) ELSE cbrt(x) END",
  "CREATE MACRO __signum(x) AS CASE WHEN isnan(x) THEN 'nan'::DOUBLE ELSE CAST(sign(x) AS DOUBLE) END",
  "CREATE MACRO __nanvl(x, y) AS CASE WHEN isnan(x) THEN y WHEN y IS NOT NULL THEN x END",
  // places count modulo the 64 bits, and what is moved out of them is lost
  "CREATE MACRO __shift_right(x, n) AS x >> (n & 63)",
  "CREATE MACRO __shifted(x, n) AS CAST(x AS HUGEINT) * (CAST(1 AS HUGEINT) << CAST(n & 63 AS HUGEINT))",
  "CREATE MACRO __shift_left(x, n) AS CAST(((__shifted(x, n) + 9223372036854775808) & 18446744073709551615) - 9223372036854775808 AS BIGINT)",
  "CREATE MACRO __shift_left_unsigned(x, n) AS CAST(__shifted(x, n) & 18446744073709551615 AS UBIGINT)",
  // exact where a float is not
  `CREATE MACRO __integer_power(x, n) AS
     CASE WHEN n BETWEEN 0 AND 63 AND abs(pow(x, n)) <= 9007199254740992 THEN CAST(pow(x, n) AS BIGINT)
          ELSE CAST(__power(CAST(x AS VARCHAR), CAST(n AS VARCHAR)) AS BIGINT) END`,
  "CREATE MACRO __near_text(s, exponent, plain) AS regexp_replace(s, '^(-?)([0-9])[.]?([0-9]*)' || exponent, plain)",
  // DuckDB writes 1e-05 and 1e+20
  `CREATE MACRO __exponent_text(s) AS CASE WHEN contains(s, 'e') THEN __near_text(regexp_replace(s, 'e([+]|(-))0?', 'e\\2'), 'e-5$', '\\10.0000\\2\\3') ELSE s END`,
  // as text: 1e20, 1e-7, 0.00001, NaN
  "CREATE MACRO __float_text(x) AS CASE WHEN isnan(x) THEN 'NaN' ELSE __exponent_text(CAST(x AS VARCHAR)) END",
  // 32 bits: 1e13, 0.000001; DuckDB writes 12000000000000.0 for 1.2e13
  `CREATE MACRO __single_text(x) AS
     CASE WHEN isnan(x) THEN 'NaN'
          WHEN abs(x) >= 1e13::FLOAT AND abs(x) < 1e16::FLOAT
          THEN regexp_replace(regexp_replace(CAST(x AS VARCHAR), '^(-?[0-9])([0-9]*?)0*[.]0$', '\\1.\\2e'), '[.]e', 'e')
               || CAST(strlen(CAST(abs(x) AS VARCHAR)) - 3 AS VARCHAR)
          ELSE __near_text(__exponent_text(CAST(x AS VARCHAR)), 'e-6$', '\\10.00000\\2\\3') END`,
  // a text that is a number; of others DuckDB would round some, and take blanks, underscores and two signs
  `CREATE MACRO __number_text(s, pattern, type) AS
     CASE WHEN regexp_matches(s, pattern) THEN s
          ELSE error('Arrow error: Cast error: Cannot cast string ''' || left(s, 100) || ''' to value of ' || type || ' type') END`,
  // a text as decimals are read: blanks around it do not count, no digits are 0, and there is no exponent
  `CREATE MACRO __decimal_digits(s) AS
     CASE WHEN regexp_full_match(s, '\\s*[+-]?[.]?\\s*') THEN '0' ELSE regexp_extract(s, '^[^eE_]*$') END`,
  // a value whose type is only known to DuckDB, as what a cast to an integer takes
  `CREATE MACRO __whole_element(x, type) AS
     CASE WHEN typeof(x) IN ('DOUBLE', 'FLOAT') THEN CAST(trunc(CAST(x AS DOUBLE)) AS HUGEINT)
          WHEN typeof(x) = 'TIMESTAMP_NS' THEN CAST(epoch_ns(CAST(x AS TIMESTAMP_NS)) AS HUGEINT)
          WHEN typeof(x) = 'VARCHAR' THEN CAST(__number_text(CAST(x AS VARCHAR), '^[+-]?[0-9]+$', type) AS HUGEINT) ELSE CAST(x AS HUGEINT) END`,
  `CREATE MACRO __try_whole_element(x) AS
     CASE WHEN typeof(x) IN ('DOUBLE', 'FLOAT') THEN TRY_CAST(trunc(CAST(x AS DOUBLE)) AS HUGEINT)
          WHEN typeof(x) = 'TIMESTAMP_NS' THEN CAST(epoch_ns(CAST(x AS TIMESTAMP_NS)) AS HUGEINT)
          WHEN typeof(x) = 'VARCHAR' THEN TRY_CAST(regexp_extract(CAST(x AS VARCHAR), '^[+-]?[0-9]+$') AS HUGEINT)
          ELSE TRY_CAST(x AS HUGEINT) END`,
];

/** Maximum size of one created value: DuckDB's memory limit does not count it (cost-limits.ts). */
const SIZE_MAX = "1048576";

const TEXT: readonly string[] = [
  `CREATE MACRO __interval_part(n, name) AS CASE WHEN n <> 0 THEN n || name END`,
  `CREATE MACRO __interval_text(i) AS
     CASE WHEN i IS NOT NULL THEN concat_ws(' ',
       __interval_part(date_part('year', i) * 12 + date_part('month', i), ' mons'), __interval_part(date_part('day', i), ' days'),
       __interval_part(date_part('hour', i), ' hours'), __interval_part(date_part('minute', i), ' mins'),
       CASE WHEN date_part('microsecond', i) <> 0 THEN printf('%.6f000 secs', date_part('microsecond', i) / 1e6) END) END`,
  // DuckDB's text positions have 32 bits
  "CREATE MACRO __text_place(n) AS CASE WHEN n IS NOT NULL THEN least(greatest(n, 0), 4294967295) END",
  // positions before the first character are empty, but count
  `CREATE MACRO __substr(s, first, n) AS
     CASE WHEN n < 0 THEN error('Execution error: negative substring length not allowed: ' || n)
          WHEN first >= 1 THEN substring(s, __text_place(first), __text_place(n))
          WHEN first IS NOT NULL AND n IS NOT NULL THEN substring(s, 1, greatest(__text_place(n) + greatest(first, -4294967295) - 1, 0)) END`,
  `CREATE MACRO __from(s, first) AS
     CASE WHEN first < 1 THEN error('Execution error: the start is counted from 1') ELSE substring(s, __text_place(first)) END`,
  // more characters than 32 bits count are all of them
  "CREATE MACRO __end_places(n) AS CASE WHEN n IS NOT NULL THEN least(greatest(n, -4294967295), 4294967295) END",
  "CREATE MACRO __left(s, n) AS left(s, __end_places(n))",
  "CREATE MACRO __right(s, n) AS right(s, __end_places(n))",
  "CREATE MACRO __after(s, first) AS CASE WHEN first IS NOT NULL THEN substring(s, greatest(__text_place(first), 1)) END",
  // outside of the text nothing stands before the replacement
  `CREATE MACRO __overlay(s, other, first, n) AS
     CASE WHEN __end_places(first) + __end_places(n) < 1
          THEN error('Execution error: overlay must end at or after the start of the text: ' || first)
          ELSE CASE WHEN first > 1 AND first <= length(s) THEN left(s, __text_place(first) - 1) ELSE '' END || other
               || substring(s, __text_place(__end_places(first) + __end_places(n))) END`,
  `CREATE MACRO __split_part(s, delimiter, n) AS
     CASE WHEN n = 0 THEN error('Execution error: field position must not be zero')
          WHEN delimiter = '' THEN substring(s, CASE WHEN n > 0 AND n <= length(s) + 1 THEN n - 1
            WHEN n < 0 AND -n <= length(s) + 1 THEN length(s) + n + 2 ELSE 0 END, CASE WHEN abs(n) > 1 AND abs(n) <= length(s) + 1 THEN 1 ELSE 0 END)
          ELSE split_part(s, delimiter, n) END`,
  `CREATE MACRO __substr_index(s, delimiter, n) AS
     CASE WHEN n = 0 OR delimiter = '' THEN CASE WHEN s IS NOT NULL THEN '' END
          WHEN n > 0 THEN array_to_string(string_split(s, delimiter)[:n], delimiter)
          ELSE array_to_string(string_split(s, delimiter)[n:], delimiter) END`,
  // with a delimiter of the row's own
  `CREATE MACRO __joined_by(list, delimiter) AS
     CASE WHEN delimiter IS NOT NULL
          THEN array_to_string(flatten(list_transform(list_filter(list, lambda x: x IS NOT NULL),
                 lambda x, i: CASE WHEN i = 1 THEN [x] ELSE [delimiter, x] END)), '') END`,
  `CREATE MACRO __substr_index_by(s, delimiter, n) AS
     CASE WHEN delimiter IS NULL OR n IS NULL THEN NULL
          WHEN n = 0 OR delimiter = '' THEN CASE WHEN s IS NOT NULL THEN '' END
          WHEN n > 0 THEN __joined_by(string_split(s, delimiter)[:n], delimiter)
          ELSE __joined_by(string_split(s, delimiter)[n:], delimiter) END`,
  // an empty text is found before and after each character
  `CREATE MACRO __replace(s, sought, other) AS
     CASE WHEN sought = '' THEN other || __joined_by(string_split(s, ''), other) || CASE WHEN s = '' THEN '' ELSE other END
          ELSE replace(s, sought, other) END`,
  // DuckDB makes a list of the characters for each row
  `CREATE MACRO __backwards(s) AS
     array_to_string(list_reverse(string_split(CASE WHEN length(s) > 1024 THEN error('translate takes at most 1024 characters of a row') ELSE s END, '')), '')`,
  // of equal characters the last one counts, to DuckDB the first; those without a counterpart are last of all
  `CREATE MACRO __translate(s, chars, others) AS
     translate(translate(s, substring(chars, length(others) + 1), ''),
               __backwards(substring(chars, 1, length(others))), __backwards(substring(others, 1, length(chars))))`,
  `CREATE MACRO __find_in_set(s, texts) AS
     CASE WHEN s || texts IS NOT NULL THEN coalesce(list_position(string_split(texts, ','), s), 0) END`,
  `CREATE MACRO __string_to_array(s, delimiter) AS
     CASE WHEN delimiter IS NULL THEN string_split(s, '')
          WHEN delimiter = '' THEN [s]
          ELSE string_split(s, delimiter) END`,
  "CREATE MACRO __without_text(texts, absent) AS list_transform(texts, lambda x: nullif(x, absent))",
  "CREATE MACRO __present(texts) AS list_filter(texts, lambda x: x IS NOT NULL)",
  // characters without a single-character capital: DuckDB leaves them, or uses rare ones
  `CREATE MACRO __upper(s) AS
     CASE WHEN regexp_matches(s, '[ßŉǰﬀ-ﬆ]')
          THEN upper(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(s, 'ß', 'SS'), 'ŉ', 'ʼN'), 'ǰ', 'J̌'),
            'ﬀ', 'FF'), 'ﬁ', 'FI'), 'ﬂ', 'FL'), 'ﬃ', 'FFI'), 'ﬄ', 'FFL'), 'ﬅ', 'ST'), 'ﬆ', 'ST'))
          ELSE upper(s) END`,
  `CREATE MACRO __place_pattern(re, n) AS
     '^(' || CASE WHEN n > 1 THEN '(?:(?s:.*?)(?:' || re || ')){' || (n - 1) || '}' ELSE '' END || '(?s:.*?))(?:' || re || ')'`,
  `CREATE MACRO __regexp_place(s, re, first) AS
     CASE WHEN regexp_matches(s, re) THEN length(regexp_extract(s, re, 1)) + first WHEN s IS NOT NULL AND re IS NOT NULL THEN 0 END`,
  // words consist of letters and digits
  `CREATE MACRO __initcap(s) AS
     array_to_string(
       list_transform(
         regexp_extract_all(s, '[\\p{L}\\p{N}]+|[^\\p{L}\\p{N}]+'),
         lambda word: upper(left(word, 1)) || lower(substring(word, 2))), '')`,
  // DuckDB compares bytes, and allocates a matrix of both texts outside of its memory limit
  `CREATE MACRO __levenshtein_of(a, b) AS
     CASE WHEN strlen(a) * strlen(b) > 16777216 THEN error('Execution error: the texts are too long for levenshtein')
          WHEN strlen(a) = length(a) AND strlen(b) = length(b) THEN CAST(levenshtein(a, b) AS INTEGER)
          ELSE __levenshtein(a, b) END`,
  `CREATE MACRO __damerau(a, b) AS
     CASE WHEN strlen(a) * strlen(b) > 16777216 THEN error('Execution error: the texts are too long for damerau_levenshtein')
          ELSE damerau_levenshtein(a, b) END`,
  `CREATE MACRO __bounded_length(n) AS
     CASE WHEN n > ${SIZE_MAX} THEN error('a value of more than ${SIZE_MAX} bytes or elements') ELSE CAST(n AS INTEGER) END`,
  "CREATE MACRO __lpad(s, n, fill) AS CASE WHEN fill = '' THEN left(s, greatest(n, 0)) ELSE lpad(s, __bounded_length(n), fill) END",
  "CREATE MACRO __rpad(s, n, fill) AS CASE WHEN fill = '' THEN left(s, greatest(n, 0)) ELSE rpad(s, __bounded_length(n), fill) END",
  `CREATE MACRO __repeat(s, n) AS
     CASE WHEN n * strlen(s) > ${SIZE_MAX} THEN error('a value of more than ${SIZE_MAX} bytes or elements')
          ELSE repeat(s, n) END`,
  "CREATE MACRO __to_hex(bytes) AS lower(hex(bytes))",
  "CREATE MACRO __to_base64(bytes) AS rtrim(to_base64(bytes), '=')",
  `CREATE MACRO __hex_bytes(h) AS unhex(substring(h, 15, 2) || substring(h, 13, 2) || substring(h, 11, 2) || substring(h, 9, 2)
     || substring(h, 7, 2) || substring(h, 5, 2) || substring(h, 3, 2) || substring(h, 1, 2))`,
  "CREATE MACRO __integer_bytes(n) AS __hex_bytes(lpad(to_hex(n), 16, '0'))",
  `CREATE MACRO __of_hex(s) AS
     CASE WHEN regexp_full_match(s, '([0-9a-fA-F]{2})*') THEN unhex(s)
          WHEN s IS NOT NULL THEN CAST(error('Execution error: Failed to decode value using hex') AS BLOB) END`,
  // with or without padding
  `CREATE MACRO __of_base64(s) AS
     CASE WHEN regexp_full_match(s, '[0-9a-zA-Z+/]*=*') AND strlen(rtrim(s, '=')) % 4 <> 1
          THEN from_base64(rtrim(s, '=') || repeat('=', (4 - strlen(rtrim(s, '=')) % 4) % 4))
          WHEN s IS NOT NULL THEN CAST(error('Execution error: Failed to decode value using base64') AS BLOB) END`,
];

const TOO_LARGE = `error('a value of more than ${SIZE_MAX} bytes or elements')`;

const LISTS: readonly string[] = [
  "CREATE MACRO __if_present(value, result) AS CASE WHEN value IS NOT NULL THEN result END",
  "CREATE MACRO __not_empty(list, result) AS CASE WHEN len(list) > 0 THEN result END",
  // 324 digits of one number would be more than the limits expect of a list's text: from 1e41 on, and below 1e-40, the exponent stays
  `CREATE MACRO __unfolded(sign, first, others, exponent) AS
     CASE WHEN abs(exponent) > 40 THEN sign || first || CASE WHEN others = '' THEN '' ELSE '.' || others END || 'e' || exponent
          WHEN exponent < 0 THEN sign || '0.' || repeat('0', -exponent - 1) || first || others
          ELSE sign || first || rpad(others, CAST(exponent AS INTEGER), '0') END`,
  `CREATE MACRO __plain_text(s) AS
     CASE WHEN contains(s, 'e')
          THEN __unfolded(CASE WHEN starts_with(s, '-') THEN '-' ELSE '' END, regexp_extract(s, '[0-9]'),
            regexp_extract(s, '[.]([0-9]+)e', 1), CAST(split_part(s, 'e', 2) AS BIGINT)) ELSE s END`,
  // floats without an exponent and integral ones without a point, as the vendor's engine joins them: [1.0, 2.5, 1e-7] is 1,2.5,0.0000001
  `CREATE MACRO __item_text(x) AS
     CASE WHEN typeof(x) IN ('DOUBLE', 'FLOAT') THEN __plain_text(replace(regexp_replace(CAST(x AS VARCHAR), '[.]0$', ''), 'nan', 'NaN'))
          ELSE CAST(x AS VARCHAR) END`,
  `CREATE MACRO __member_text(x) AS
     CASE WHEN typeof(x) IN ('DOUBLE', 'FLOAT') THEN replace(__exponent_text(CAST(x AS VARCHAR)), 'nan', 'NaN')
          WHEN typeof(x) = 'TIMESTAMP_NS' THEN replace(CAST(x AS VARCHAR), ' ', 'T') ELSE CAST(x AS VARCHAR) END`,
  `CREATE MACRO __joined(list, delimiter) AS
     CASE WHEN delimiter IS NOT NULL AND list IS NOT NULL
          THEN coalesce(array_to_string(list_transform(list, lambda x: __item_text(x)), delimiter), '') END`,
  // what is greater than all 32-bit floats is infinite
  `CREATE MACRO __single(x) AS
     CASE WHEN isnan(CAST(x AS DOUBLE)) OR abs(CAST(x AS DOUBLE)) < 3.4028235677973366e38::DOUBLE THEN CAST(x AS FLOAT)
          WHEN x > 0 THEN CAST('inf' AS FLOAT) WHEN x < 0 THEN CAST('-inf' AS FLOAT) END`,
  // unknown for a list of NULLs only
  `CREATE MACRO __has(list, x) AS
     CASE WHEN len(list) = 0 THEN x IS NULL AND NULL WHEN list_any_value(list) IS NOT NULL THEN list_contains(list, x) END`,
  // NULL is a value
  "CREATE MACRO __has_any(a, b) AS list_has_any(a, b) OR (list_count(a) < len(a) AND list_count(b) < len(b))",
  "CREATE MACRO __has_all(a, b) AS list_has_all(a, b) AND (list_count(b) = len(b) OR list_count(a) < len(a))",
  // as the dialect casts a list to text: without quotes, NULLs are empty
  `CREATE MACRO __list_text(list) AS
     CASE WHEN list IS NOT NULL THEN '[' || array_to_string(list_transform(list, lambda x: coalesce(__member_text(x), '')), ', ') || ']' END`,
  `CREATE MACRO __list_joined_by(list, delimiter) AS __joined_by(list_transform(list, lambda x: __item_text(x)), delimiter)`,
  "CREATE MACRO __list_empty(list) AS len(list) = 0",
  "CREATE MACRO __pop_back(list) AS list[:len(list) - 1]",
  "CREATE MACRO __pop_front(list) AS list[2:]",
  "CREATE MACRO __texts(list, absent) AS list_transform(list, lambda x: coalesce(__item_text(x), absent))",
  // each value once, in order of first occurrence: sort with positions, keep the first of equals, sort by position
  `CREATE MACRO __distinct(list) AS
     list_transform(
       [list_sort(list_transform(list, lambda x, i: {'x': x, 'i': i}), 'ASC', 'NULLS FIRST')],
       lambda pairs: list_transform(
         list_sort(list_transform(
           list_filter(pairs, lambda pair, i: i = 1 OR pair['x'] IS DISTINCT FROM pairs[i - 1]['x']),
           lambda pair: {'i': pair['i'], 'x': pair['x']})),
         lambda pair: pair['x']))[1]`,
  "CREATE MACRO __sorted_distinct(list) AS list_sort(__distinct(list), 'ASC', 'NULLS FIRST')",
  // the vendor's engine puts each side in order
  "CREATE MACRO __union(a, b) AS __distinct(list_concat(list_sort(a, 'ASC', 'NULLS FIRST'), list_sort(b, 'ASC', 'NULLS FIRST')))",
  "CREATE MACRO __except(a, b) AS list_filter(__distinct(a), lambda x: list_position(b, x) IS NULL)",
  "CREATE MACRO __intersect(a, b) AS list_filter(__sorted_distinct(a), lambda x: list_position(b, x) IS NOT NULL)",
  "CREATE MACRO __positions(list, x) AS list_filter(range(1, len(list) + 1), lambda i: list[i] IS NOT DISTINCT FROM x)",
  `CREATE MACRO __nth_position(list, x, n) AS
     CASE WHEN n = 0 THEN 0 WHEN n < 0 THEN len(list)
          WHEN n IS NOT NULL THEN coalesce(__positions(list, x)[n], len(list)) END`,
  `CREATE MACRO __position_from(list, x, first) AS
     CASE WHEN first < 1 OR first > len(list) THEN error('Execution error: start_from out of bounds: ' || first)
          ELSE list_position(list[first:], x) + first - 1 END`,
  // up to a position, which must not be computed per element
  `CREATE MACRO __removed(list, x, place) AS
     list_transform([coalesce(place, 0)], lambda most: list_filter(list, lambda e, i: i > most OR e IS DISTINCT FROM x))[1]`,
  `CREATE MACRO __replaced(list, x, y, place) AS
     list_transform(
       [coalesce(place, 0)],
       lambda most: list_transform(list, lambda e, i: CASE WHEN i <= most AND e IS NOT DISTINCT FROM x THEN y ELSE e END))[1]`,
  `CREATE MACRO __bounded_size(n) AS
     CASE WHEN n > ${SIZE_MAX} THEN ${TOO_LARGE} WHEN n < 0 THEN error('Execution error: a list of negative length') ELSE n END`,
  "CREATE MACRO __list_repeat(x, n) AS list_resize([x], __bounded_size(greatest(coalesce(n, 0), 0)), x)",
  `CREATE MACRO __if_bounded(n, result) AS CASE WHEN n > ${SIZE_MAX} THEN ${TOO_LARGE} ELSE result END`,
  `CREATE MACRO __step(a, b, step) AS
     CASE WHEN step = 0 THEN error('Execution error: step can''t be 0') ELSE __if_bounded((CAST(b AS HUGEINT) - a) // step, step) END`,
  "CREATE MACRO __range(a, b, step) AS range(a, b, __step(a, b, step))",
  "CREATE MACRO __generate_series(a, b, step) AS generate_series(a, b, __step(a, b, step))",
  "CREATE MACRO __times(list) AS list_transform(list, lambda t: make_timestamp_ns(t))",
  "CREATE MACRO __map_extract(map, key) AS CASE WHEN map IS NOT NULL THEN [map[key]] END",
];

const AGGREGATES: readonly string[] = [
  "CREATE MACRO __defined(x) AS CASE WHEN NOT isnan(x) THEN x END",
  "CREATE MACRO __finite(x) AS x % 'inf'::DOUBLE",
  // of larger values the squares, and sums of them, are infinite
  `CREATE MACRO __finite_pair(y, x) AS
     CASE WHEN y IS NOT NULL AND x IS NOT NULL THEN abs(CAST(y AS DOUBLE)) < 1e150 AND abs(CAST(x AS DOUBLE)) < 1e150 END`,
  "CREATE MACRO __middle(pair) AS (CAST(pair[1] AS HUGEINT) + pair[2]) // 2",
  `CREATE MACRO __whole_signed(x) AS
     CASE WHEN x >= 9223372036854775807e0 THEN 9223372036854775807
          WHEN x <= -9223372036854775808e0 THEN -9223372036854775807 - 1 ELSE CAST(trunc(x) AS BIGINT) END`,
  `CREATE MACRO __whole_unsigned(x) AS
     CASE WHEN x >= 18446744073709551615e0 THEN 18446744073709551615 ELSE CAST(trunc(greatest(x, 0)) AS UBIGINT) END`,
  `CREATE MACRO __tile(n, place, count) AS
     CASE WHEN n > 0 THEN ((place - 1) * least(n, count)) // count + 1 ELSE CAST(error('Execution error: NTILE requires a positive integer') AS BIGINT) END`,
  "CREATE MACRO __non_negative(x) AS CASE WHEN x >= 0 THEN x END",
  // the mean's digits beyond those of the values are four
  `CREATE MACRO __decimal_mean(total, n, unit, digits) AS
     list_transform([CAST(replace(CAST(total AS VARCHAR), '.', '') AS HUGEINT) * 10000 // n], lambda h:
       CASE WHEN h < 0 THEN '-' ELSE '' END || (abs(h) // unit) || '.' || lpad(CAST(abs(h) % unit AS VARCHAR), digits, '0'))[1]`,
  "CREATE MACRO __between(ends, share) AS ends[1] + (ends[2] - ends[1]) * share",
  "CREATE MACRO __weighted_pair(x, w) AS {'x': CAST(x AS DOUBLE), 'w': CAST(w AS DOUBLE), 'found': 0e0}",
  // members by subscript: in HAVING, DuckDB takes `pair.w` for a column the least x for which the weights up to it reach their share; pairs
  // are {x, w, found}
  `CREATE MACRO __weighted_percentile(pairs, share) AS
     list_transform(
       [list_filter(pairs, lambda pair: pair['w'] > 0)],
       lambda counted: list_reduce(
         list_transform(list_sort(counted), lambda pair: {'x': pair['x'], 'w': pair['w'], 'found': CAST(NULL AS DOUBLE)}),
         lambda sum, pair: CASE
           WHEN sum['found'] IS NOT NULL THEN sum
           ELSE {'x': pair['x'], 'w': sum['w'] + pair['w'],
                 'found': CASE WHEN sum['w'] + pair['w'] >= share * list_sum(list_transform(counted, lambda c: c['w'])) THEN pair['x'] END} END,
         {'x': 0e0, 'w': 0e0, 'found': CAST(NULL AS DOUBLE)})['found'])[1]`,
];

export const VALUE_MACROS: readonly string[] = [...MATH, ...TEXT, ...LISTS, ...AGGREGATES];
