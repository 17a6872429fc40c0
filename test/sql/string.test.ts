// Functions of texts. Expected values: the documentation's examples and counting characters; the vendor's engine for corner cases.
import { type SqlCase, sqlSuite } from "../support/sql/sql-suite.ts";

const LENGTHS: readonly SqlCase[] = [
  ["SELECT ascii('abc'), ascii(''), ascii('é'), ascii('🙂')", [[97, 0, 233, 128578]]],
  ["SELECT bit_length('abc'), octet_length('é'), octet_length('abc'), bit_length('日')", [[24, 2, 3, 24]]],
  ["SELECT length('é'), char_length('abc'), character_length('日本'), length(''), length(NULL)", [[1, 3, 2, 0, null]]],
  [
    "SELECT length(room), octet_length(room) FROM home GROUP BY room ORDER BY room",
    [
      [7, 7],
      [11, 11],
    ],
  ],
  ["SELECT instr('hello', 'l'), strpos('hello', 'x'), position('lo' IN 'hello'), strpos('日本語', '語')", [[3, 0, 4, 3]]],
  [
    "SELECT levenshtein('kitten', 'sitting'), levenshtein('', 'abc'), levenshtein('same', 'same'), levenshtein(NULL, 'a')",
    [[3, 3, 0, null]],
  ],
  // by characters, not by bytes
  ["SELECT levenshtein('é', 'e'), levenshtein('日本語', '日本'), levenshtein('äöü', 'aou')", [[1, 1, 3]]],
  ["SELECT levenshtein(x, y) FROM (VALUES ('é', 'e'), (NULL, 'a'), ('flaw', 'lawn')) AS v(x, y)", [[1], [null], [2]]],
  ["SELECT levenshtein(repeat('a', 100000), repeat('b', 100000))", new Error("too long for levenshtein")],
  ["SELECT damerau_levenshtein(repeat('a', 100000), repeat('b', 100000))", new Error("too long")],
  ["SELECT find_in_set('b', 'a,b,c'), find_in_set('x', 'a,b,c'), find_in_set('a,b', 'a,b')", [[2, 0, 0]]],
  ["SELECT find_in_set('', 'a,,b'), find_in_set('a', ''), find_in_set('', ''), find_in_set(NULL, 'a')", [[2, 0, 1, null]]],
];

// NUL, which ends a text for DuckDB's parser
const NUL: readonly SqlCase[] = [
  ["SELECT 'a\0b', length('a\0b'), 'it''s\0', $$a\0'b$$ /* \0 */ -- \0", [["a\0b", 3, "it's\0", "a\0'b"]]],
  ["SELECT 'x' IN ('a\0b', 'x'), 'a\0b' LIKE 'a\0%', 'a\0b' = 'a\0c'", [[true, true, false]]],
  ["SELECT count(*) FROM home WHERE room <> 'Kitchen\0'", [[26n]]],
];

// the dialect casts them: expected values of its engine
const IMPLICIT: readonly SqlCase[] = [
  [
    "SELECT length(time), left(time, 10), right(time, 8), split_part(time, 'T', 2), reverse(time) FROM home ORDER BY time LIMIT 1",
    [[19, "2022-01-01", "08:00:00", "08:00:00", "00:00:80T10-10-2202"]],
  ],
  [
    "SELECT lpad(time, 21, '*'), rpad(to_date(time), 12, '*'), translate(time, '-', '/') FROM home ORDER BY time LIMIT 1",
    [["**2022-01-01T08:00:00", "2022-01-01**", "2022/01/01T08:00:00"]],
  ],
  ["SELECT 'at ' || time, time || '!' FROM home ORDER BY time LIMIT 1", [["at 2022-01-01T08:00:00", "2022-01-01T08:00:00!"]]],
  ["SELECT INTERVAL '1 day' || '!', 'in ' || INTERVAL '1 month 2 days 3 hours'", [["1 days!", "in 1 mons 2 days 3 hours"]]],
  [
    "SELECT string_agg(time, ';' ORDER BY time), string_agg(temp, ';' ORDER BY time) FROM home WHERE room = 'Kitchen' AND time < '2022-01-01T10:00:00Z'",
    [["2022-01-01T08:00:00;2022-01-01T09:00:00", "21.0;23.0"]],
  ],
  ["SELECT left(time, 10) AS d, count(*) FROM home GROUP BY 1", [["2022-01-01", 26n]]],
  ["SELECT regexp_replace(2024, '2', 'x', 'g'), regexp_count(1212, '12'), regexp_instr(123, '3')", [["x0x4", 2n, 3n]]],
  ["SELECT regexp_match(co, '[0-9]'), regexp_replace(time, 'T.*', '') FROM home WHERE co = 26", [[["2"], "2022-01-01"]]],
  [
    "SELECT array_agg(1), array_agg(upper('a')), string_agg('b', '+') FROM home WHERE room = 'Kitchen' AND time < '2022-01-01T10:00:00Z'",
    [[[1n, 1n], ["A", "A"], "b+b"]],
  ],
];

const PARTS: readonly SqlCase[] = [
  ["SELECT btrim('  abc '), btrim('xxabcx', 'x'), trim(BOTH 'x' FROM 'xaxbx'), trim('  a ')", [["abc", "abc", "axb", "a"]]],
  ["SELECT ltrim('xxa', 'x'), rtrim('axx', 'x'), ltrim('  a'), rtrim('a  ')", [["a", "a", "a", "a"]]],
  ["SELECT trim(LEADING 'x' FROM 'xax'), trim(TRAILING 'x' FROM 'xax'), btrim('xyabcyx', 'xy')", [["ax", "xa", "abc"]]],
  ["SELECT left('hello', 2), left('hello', -2), left('hello', 0), left('hello', 99), left('hello', -99)", [["he", "hel", "", "hello", ""]]],
  [
    "SELECT right('hello', 2), right('hello', -2), right('hello', 0), right('hello', -99), left('日本語', 1)",
    [["lo", "llo", "", "", "日"]],
  ],
  [
    "SELECT substr('alphabet', 3), substr('alphabet', 3, 2), substring('alphabet' FROM 2 FOR 3), substring('alphabet', 30)",
    [["phabet", "ph", "lph", ""]],
  ],
  // places before the first character count, and are nothing
  [
    "SELECT substr('alphabet', 0), substr('alphabet', -3), substr('alphabet', 0, 3), substr('alphabet', -3, 5)",
    [["alphabet", "alphabet", "al", "a"]],
  ],
  ["SELECT substr('alphabet', 1, 0), substr('日本語', 2, 1), substring('abc' FROM 2), substr(NULL, 1)", [["", "本", "bc", null]]],
  ...["upper(co)", "lower(1.5)", "replace(room, 'a', 5)", "strpos(time, '2')", "substr(co, 1)", "trim(co > 5)", "starts_with('12', 1)"].map(
    (call): SqlCase => [`SELECT ${call} FROM home`, new Error("expects a text but received a value of type")],
  ),
  [
    "SELECT upper(NULL), replace('a1', NULL, 'x'), upper(CAST(5 AS text)), reverse(12), lpad(7, 2, '0'), concat(1, 'a')",
    [[null, null, "5", "21", "07", "1a"]],
  ],
  [
    "SELECT overlay('abcdef', 'XX', 2), overlay('abcdef', 'XX', 2, 0), overlay('abcdef', 'XX', 2, -1), overlay('abc', 'X', NULL)",
    [["aXXdef", "aXXbcdef", "aXXabcdef", null]],
  ],
  // nothing stands before a replacement outside of the text
  [
    "SELECT overlay('abcdef' PLACING 'XX' FROM 6), overlay('abcdef' PLACING 'XX' FROM 7), overlay('abcdef', 'XX', 9, -5), overlay('ab', '', 3)",
    [["abcdeXX", "XX", "XXdef", ""]],
  ],
  [
    "SELECT overlay('abcdef', 'XX', 0), overlay('abcdef', 'XX', -1), overlay('abcdef', 'XX', -3, 6), overlay('abcdef', 'XX', 3, 100)",
    [["XXbcdef", "XXabcdef", "XXcdef", "abXX"]],
  ],
  ["SELECT overlay('abc' PLACING 'X' FROM 0 FOR 0)", new Error("overlay must end at or after the start of the text")],
  [
    "SELECT position('bca', 'a'), position('ca' IN substr('bcca', position('bc', 'c'))), position('', NULL), position(room, 'K') FROM home LIMIT 1",
    [[3, 2, null, 1]],
  ],
  ["SELECT substring('abc' FOR 2), substr('abc' FOR 1), substr('abc' FROM 2), substr('abc' FROM 2 FOR 1)", [["ab", "a", "bc", "b"]]],
  ["SELECT substr('alphabet', 1, -1)", new Error("negative substring length not allowed")],
  ["SELECT substr('alphabet', co - 9, 3) FROM home WHERE co IN (7, 9, 14) ORDER BY co", [[""], ["al"], ["al"], ["abe"]]],
  ["SELECT split_part('abc', '', 2), split_part('abc', '', 4), split_part('abc', '', -2), split_part('abc', '', 6)", [["a", "c", "c", ""]]],
  ["SELECT upper('Straße'), upper('ﬁx'), upper('é')", [["STRASSE", "FIX", "É"]]],
  [
    "SELECT split_part('a,b,c', ',', 2), split_part('a,b,c', ',', -1), split_part('a,b,c', ',', 9), split_part('abc', '', 1)",
    [["b", "c", "", ""]],
  ],
  ["SELECT split_part('a,b', ',', 0)", new Error("field position must not be zero")],
  ["SELECT substr_index('www.apache.org', '.', 1), substr_index('www.apache.org', '.', 2)", [["www", "www.apache"]]],
  ["SELECT substr_index('www.apache.org', '.', -1), substring_index('www.apache.org', '.', -2)", [["org", "apache.org"]]],
  [
    "SELECT substr_index('a.b', '.', 0), substr_index('a.b', '.', 9), substr_index('abc', 'x', 1), substr_index('', '.', 1)",
    [["", "a.b", "abc", ""]],
  ],
  [
    "SELECT substr_index('aXXbXXc', 'XX', 2), substr_index('aXXbXXc', 'XX', -1), substr_index('aXXbXXc', 'XX', -9)",
    [["aXXb", "c", "aXXbXXc"]],
  ],
  [
    "SELECT string_to_array('a,b,c', ','), string_to_array('a,NULL,c', ',', 'NULL'), string_to_list('a b', ' ')",
    [
      [
        ["a", "b", "c"],
        ["a", null, "c"],
        ["a", "b"],
      ],
    ],
  ],
  [
    "SELECT string_to_array('abc', ''), string_to_array('', ','), string_to_array('abc', NULL), string_to_array(NULL, ',')",
    [[["abc"], [""], ["a", "b", "c"], null]],
  ],
  [
    "SELECT string_to_array('xx~^~yy~^~zz', '~^~'), string_to_array('xx~^~yy~^~zz', '~^~', 'yy')",
    [
      [
        ["xx", "yy", "zz"],
        ["xx", null, "zz"],
      ],
    ],
  ],
  // places and lengths as large as they come
  [
    "SELECT substr('abc', 2, 9223372036854775807), substr('abc', 9223372036854775807), substr('abc', -9223372036854775808, 3)",
    [["bc", "", ""]],
  ],
  ["SELECT left('abc', -9223372036854775808), split_part('a', 'b', -9223372036854775808)", [["", ""]]],
  ["SELECT overlay('abc' PLACING 'x' FROM 9223372036854775807 FOR 9223372036854775807)", [["x"]]],
];

const MADE: readonly SqlCase[] = [
  ["SELECT chr(65), chr(8364), chr(128512)", [["A", "€", "😀"]]],
  ["SELECT concat('a', NULL, 'b'), concat('a', 1, true, 2.5), concat(NULL, NULL)", [["ab", "a1true2.5", ""]]],
  ["SELECT 'a' || NULL, 'a' || 1, 1 || 'a', 'a' || 'b' || 'c'", [[null, "a1", "1a", "abc"]]],
  ["SELECT concat_ws('-', 'a', NULL, 'b'), concat_ws(NULL, 'a', 'b'), concat_ws('|', 'a', 'b', 'c')", [["a-b", null, "a|b|c"]]],
  // times are written as a cast writes them
  [
    "SELECT concat(time, 'x'), concat_ws('/', room, time, co) FROM home WHERE co = 26",
    [["2022-01-01T20:00:00x", "Kitchen/2022-01-01T20:00:00/26"]],
  ],
  ["SELECT concat(room, ': ', temp) FROM home WHERE co = 26", [["Kitchen: 22.7"]]],
  ["SELECT contains('abcdef', 'cd'), contains('abc', ''), contains('abc', 'x'), contains(NULL, 'a')", [[true, true, false, null]]],
  ["SELECT starts_with('abc', 'ab'), starts_with('abc', 'b'), ends_with('abc', 'bc'), ends_with('abc', 'x')", [[true, false, true, false]]],
  [
    "SELECT initcap('hello world'), initcap('HELLO wORLD'), initcap('a-b_c d1e'), initcap('élan ünter'), initcap('it''s')",
    [["Hello World", "Hello World", "A-B_C D1e", "Élan Ünter", "It'S"]],
  ],
  ["SELECT initcap(lower(room)) FROM home GROUP BY room ORDER BY room", [["Kitchen"], ["Living Room"]]],
  ["SELECT lower('ABC É'), upper('abc é'), reverse('abc'), reverse('日本'), reverse('')", [["abc é", "ABC É", "cba", "本日", ""]]],
  [
    "SELECT lpad('hi', 5), lpad('hi', 5, 'xy'), lpad('hello', 2), lpad('hi', 5, ''), lpad('hi', 0), lpad('hi', -1)",
    [["   hi", "xyxhi", "he", "hi", "", ""]],
  ],
  [
    "SELECT rpad('hi', 5), rpad('hi', 5, 'xy'), rpad('hello', 2), rpad(room, 8, '.') FROM home GROUP BY room ORDER BY room",
    [
      ["hi   ", "hixyx", "he", "Kitchen."],
      ["hi   ", "hixyx", "he", "Living R"],
    ],
  ],
  ["SELECT lpad('a', 2000000)", new Error("a value of more than 1048576 bytes")],
  ["SELECT repeat('ab', 3), repeat('ab', 0), repeat('ab', -1), repeat('', 5)", [["ababab", "", "", ""]]],
  ["SELECT repeat('ab', 1000000)", new Error("a value of more than 1048576 bytes")],
  [
    "SELECT overlay('Txxxxas' PLACING 'hom' FROM 2 FOR 4), overlay('Txxxxas' PLACING 'hom' FROM 2), overlay('abc' PLACING 'X' FROM 1 FOR 0)",
    [["Thomas", "Thomxas", "Xabc"]],
  ],
  [
    "SELECT replace('abcabc', 'b', 'XY'), replace('abc', 'x', 'y'), translate('twice', 'wic', 'her'), translate('abc', 'abc', 'x')",
    [["aXYcaXYc", "abc", "there", "x"]],
  ],
  ["SELECT to_hex(255), to_hex(0), to_hex(-1), to_hex(co) FROM home WHERE co = 26", [["ff", "0", "ffffffffffffffff", "1a"]]],
  [
    "SELECT length(uuid()), uuid() <> uuid(), uuid() ~ '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'",
    [[36, true, true]],
  ],
  [
    "SELECT CAST(1e20 AS VARCHAR), CAST(0.1 AS VARCHAR), CAST(1e-7 AS VARCHAR), CAST(1e16 AS VARCHAR), CAST(100.0 AS VARCHAR)",
    [["1e20", "0.1", "1e-7", "1e16", "100.0"]],
  ],
  // the exponents where Arrow's text of a float changes, of 64 and of 32 bits
  [
    "SELECT 1e-5 || '', (-1.5e-5)::varchar, concat(1e-6, ' ', 0.0001), 9.99e-6::varchar, 1e15::varchar, 1.25e16::varchar",
    [["0.00001", "-0.000015", "1e-6 0.0001", "9.99e-6", "1000000000000000.0", "1.25e16"]],
  ],
  [
    "SELECT 1e-6::float::varchar, (-1.5e-6)::float::varchar, 1e-7::float::varchar, 1e12::float::varchar, 1e13::float::varchar, 1.25e13::float::varchar",
    [["0.000001", "-0.0000015", "1e-7", "1000000000000.0", "1e13", "1.25e13"]],
  ],
  [
    "SELECT left('hello', 123456789012345678), right('hello', 123456789012345678), left('hello', -123456789012345678), right('hi', NULL)",
    [["hello", "hello", "", null]],
  ],
  [
    "SELECT CAST('nan'::double AS VARCHAR), CAST('-inf'::double AS VARCHAR), CAST(true AS VARCHAR), CAST(-5 AS VARCHAR)",
    [["NaN", "-inf", "true", "-5"]],
  ],
  ["SELECT E'a\\nb', 'it''s', ''", [["a\nb", "it's", ""]]],
  // by bytes of UTF-8
  ["SELECT 'a' < 'B', 'a' < 'b', 'Z' < 'a', 'é' > 'z', '' < 'a'", [[false, true, true, true, true]]],
  ["SELECT lower('a', 'b')", new Error("Function 'lower' expects 1 arguments but received 2")],
];

const PATTERNS: readonly SqlCase[] = [
  [
    "SELECT 'abc' LIKE 'a%', 'abc' LIKE 'A%', 'abc' ILIKE 'A%', 'abc' NOT LIKE '_b_', 'abc' NOT ILIKE 'X%'",
    [[true, false, true, false, true]],
  ],
  // a backslash takes the meaning of what follows
  [
    "SELECT 'a%c' LIKE 'a\\%c', 'axc' LIKE 'a\\%c', 'a_c' LIKE 'a\\_c', 'abc' LIKE 'a\\_c', 'A%' ILIKE 'a\\%'",
    [[true, false, true, false, true]],
  ],
  ["SELECT 'a%c' LIKE 'a!%c' ESCAPE '!', 'abc' LIKE NULL, NULL LIKE 'a'", [[true, null, null]]],
  // a backslash that ends a pattern stands for itself, as in Core 3.9.6
  [
    "SELECT 'a\\' LIKE 'a\\', 'a' LIKE '\\', 'A\\' ILIKE 'a\\', 'a\\' NOT LIKE '%\\', 'a\\' LIKE 'a\\\\', 'a\\' LIKE 'a\\\\\\'",
    [[true, false, true, false, true, false]],
  ],
  ["SELECT 'ab' ~~ 'a%', 'ab' !~~ 'a%', 'ab' ~~* 'A%', 'ab' !~~* 'x'", [[true, false, true, true]]],
  ["SELECT count(*) FROM home WHERE room LIKE 'Liv%' AND room NOT LIKE '%\\%%'", [[13n]]],
  ["SELECT count(*) FROM home WHERE room LIKE substr(room, 1, 2) || '%'", [[26n]]],
];

sqlSuite("lengths and places", LENGTHS);
sqlSuite("NUL", NUL);
sqlSuite("parts of texts", PARTS);
sqlSuite("texts made of others", MADE);
sqlSuite("values that become text by themselves", IMPLICIT);
sqlSuite("LIKE", PATTERNS);
