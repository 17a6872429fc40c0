// Types: their names, casts, and what becomes of values of two types that meet. Expected values: the vendor's names of types, and its
// engine's rules of coercion.
import { type SqlCase, sqlSuite, utc } from "../support/sql/sql-suite.ts";

const HOME = "FROM home WHERE co = 26";

const NAMES: readonly SqlCase[] = [
  [
    "SELECT arrow_typeof(1), arrow_typeof(1.5), arrow_typeof('a'), arrow_typeof(true), arrow_typeof(NULL)",
    [["Int64", "Float64", "Utf8", "Boolean", "Null"]],
  ],
  [
    "SELECT arrow_typeof(now()), arrow_typeof(interval '1 day'), arrow_typeof(date '2020-01-01'), arrow_typeof(timestamp '2020-01-01')",
    [["Timestamp(ns)", "Interval(MonthDayNano)", "Date32", "Timestamp(ns)"]],
  ],
  [
    `SELECT arrow_typeof(room), arrow_typeof(time), arrow_typeof(temp), arrow_typeof(co) ${HOME}`,
    [["Dictionary(Int32, Utf8)", "Timestamp(ns)", "Float64", "Int64"]],
  ],
  [
    `SELECT arrow_typeof(time - time), arrow_typeof(time + interval '1 day'), arrow_typeof(date_bin(interval '1 hour', time)) ${HOME}`,
    [["Duration(ns)", "Timestamp(ns)", "Timestamp(ns)"]],
  ],
  [
    "SELECT arrow_typeof([1]), arrow_typeof([[1.5]]), arrow_typeof(make_array('a')), arrow_typeof(make_array())",
    [["List(Int64)", "List(List(Float64))", "List(Utf8)", "List(Null)"]],
  ],
  [
    "SELECT arrow_typeof(struct(1, 'a')), arrow_typeof(named_struct('a', 1, 'B c', [1]))",
    [['Struct("c0": Int64, "c1": Utf8)', 'Struct("a": Int64, "B c": List(Int64))']],
  ],
  ["SELECT arrow_typeof(map(['a'], [[1]]))", [['Map("entries": non-null Struct("key": non-null Utf8, "value": List(Int64)), unsorted)']]],
  [
    "SELECT arrow_typeof(1 + 1), arrow_typeof(7 / 2), arrow_typeof(1 + 1.5), arrow_typeof(5 & 3), arrow_typeof(1 = 1), arrow_typeof('a' || 'b')",
    [["Int64", "Int64", "Float64", "Int64", "Boolean", "Utf8"]],
  ],
  [
    `SELECT arrow_typeof(co / 2), arrow_typeof(co * 1.5), arrow_typeof(-co), arrow_typeof(co > 1), arrow_typeof(coalesce(co, 1)) ${HOME}`,
    [["Int64", "Float64", "Int64", "Boolean", "Int64"]],
  ],
  [
    "SELECT arrow_typeof(abs(-5)), arrow_typeof(ceil(3)), arrow_typeof(round(7)), arrow_typeof(signum(3)), arrow_typeof(factorial(3)), arrow_typeof(power(2, 3))",
    [["Int64", "Float64", "Float64", "Float64", "Int64", "Int64"]],
  ],
  // floats of 32 bits stay such
  [
    "SELECT arrow_typeof(log(1.5::real)), arrow_typeof(log(2, 8::real)), arrow_typeof(trunc(1.5::real)), arrow_typeof(sqrt(2::real)), arrow_typeof(power(2::real, 2))",
    [["Float32", "Float32", "Float32", "Float32", "Float64"]],
  ],
  [
    "SELECT arrow_typeof(sum(co::decimal(10,2))), arrow_typeof(sum(co::decimal(35,2))), sum(co::decimal(10,2)) FROM home WHERE co < 5",
    [["Decimal128(20, 2)", "Decimal128(38, 2)", "10.00"]],
  ],
  [
    "SELECT arrow_typeof(nvl2('x', 1, 2)), arrow_typeof(nvl2(1.5, 1, 2)), arrow_typeof(nvl2(1, 1, 2)), arrow_typeof(nvl2(NULL, 1, 2))",
    [["Utf8", "Float64", "Int64", "Int64"]],
  ],
  [
    "SELECT arrow_typeof(ascii('a')), arrow_typeof(length('a')), arrow_typeof(strpos('a', 'a')), arrow_typeof(levenshtein('a', 'b')), arrow_typeof(find_in_set('a', 'a')), arrow_typeof(octet_length('a'))",
    [["Int32", "Int32", "Int32", "Int32", "Int32", "Int32"]],
  ],
  [
    "SELECT arrow_typeof(regexp_count('a', 'a')), arrow_typeof(regexp_match('a', 'a')), arrow_typeof(md5('a')), arrow_typeof(sha256('a')), arrow_typeof(uuid())",
    [["Int64", "List(Utf8)", "Utf8View", "Binary", "Utf8"]],
  ],
  [
    "SELECT arrow_typeof(array_length([1])), arrow_typeof(array_position([1], 1)), arrow_typeof(cardinality([1])), arrow_typeof(array_dims([1])), arrow_typeof(array_distance([1], [1]))",
    [["UInt64", "UInt64", "UInt64", "List(UInt64)", "Float64"]],
  ],
  [
    "SELECT arrow_typeof(count(*)), arrow_typeof(sum(co)), arrow_typeof(avg(co)), arrow_typeof(median(co)), arrow_typeof(approx_distinct(co)), arrow_typeof(regr_count(temp, co)), arrow_typeof(array_agg(co)) FROM home",
    [["Int64", "Int64", "Float64", "Int64", "UInt64", "UInt64", "List(Int64)"]],
  ],
  [
    `SELECT arrow_typeof(row_number() OVER ()), arrow_typeof(rank() OVER ()), arrow_typeof(percent_rank() OVER ()), arrow_typeof(lag(co) OVER ()) ${HOME}`,
    [["UInt64", "UInt64", "Float64", "Int64"]],
  ],
  ["SELECT arrow_typeof(x), arrow_typeof(y), arrow_typeof(z) FROM (VALUES (3, 1.5, 'a')) AS v(x, y, z)", [["Int64", "Float64", "Utf8"]]],
  // the type goes with the value through a subquery
  ["SELECT arrow_typeof(n), n - 2 FROM (SELECT length(room) AS n FROM home WHERE co = 26)", [["Int32", 5n]]],
  ["SELECT version() LIKE 'tsdb %', arrow_typeof(version())", [[true, "Utf8"]]],
];

const ARROW_CASTS: readonly SqlCase[] = [
  [
    "SELECT arrow_cast(1, 'Int8'), arrow_cast('5', 'UInt64'), arrow_cast(1.7, 'Int32'), arrow_cast(-1.9, 'Int64'), arrow_cast(1, 'Float32')",
    [[1, 5n, 1, -1n, 1]],
  ],
  [
    "SELECT arrow_cast(1, 'Utf8'), arrow_cast(1, 'Boolean'), arrow_cast('1.5', 'Float64'), arrow_cast([1], 'List(Utf8)'), arrow_cast('abc', 'Binary')",
    [["1", true, 1.5, ["1"], "616263"]],
  ],
  [
    "SELECT arrow_cast('2020-01-01T00:00:00', 'Timestamp(Nanosecond, None)'), arrow_cast('2020-01-01', 'Date32')",
    [[utc("2020-01-01T00:00:00"), 18262]],
  ],
  ...[
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "Float32",
    "Float64",
    "Utf8",
    "LargeUtf8",
    "Utf8View",
    "Binary",
    "Boolean",
    "Timestamp(ns)",
    "Timestamp(µs)",
    "Date32",
    "Decimal128(10, 2)",
    "Duration(s)",
    "Dictionary(Int32, Utf8)",
  ].map((name): SqlCase => [`SELECT arrow_typeof(arrow_cast(1, '${name}'))`, [[name]]]),
  [
    "SELECT arrow_typeof(arrow_cast(1, 'Timestamp(Second, None)')), arrow_typeof(arrow_cast(1, 'Timestamp(Millisecond, Some(\"+00:00\"))'))",
    [["Timestamp(s)", 'Timestamp(ms, "+00:00")']],
  ],
  [
    "SELECT arrow_typeof(arrow_cast([1], 'List(Float64)')), arrow_typeof(arrow_cast([1], 'LargeList(Int64)')), arrow_typeof(arrow_cast([1, 2], 'FixedSizeList(2, Int64)'))",
    [["List(Float64)", "LargeList(Int64)", "FixedSizeList(2 x Int64)"]],
  ],
  // integers are counted in the type's unit
  [
    "SELECT arrow_cast(5, 'Timestamp(Second, None)')::bigint, arrow_cast(5, 'Timestamp(ms)')::bigint, arrow_cast(5, 'Timestamp(ns)')::bigint",
    [[5n, 5n, 5n]],
  ],
  [
    `SELECT arrow_cast(time, 'Int64'), arrow_cast(time, 'Utf8'), arrow_cast(room, 'Utf8') ${HOME}`,
    [[utc("2022-01-01T20:00:00"), "2022-01-01T20:00:00", "Kitchen"]],
  ],
  [
    "SELECT arrow_cast(1, 'Foo')",
    new Error("Unsupported type 'Foo'. Must be a supported arrow type name such as 'Int32' or 'Timestamp(ns)'"),
  ],
  ["SELECT arrow_cast('abc', 'Int32')", new Error("Arrow error: Cast error: Cannot cast string 'abc' to value of Int32 type")],
  ["SELECT arrow_cast(300, 'Int8')", new Error("Arrow error: Cast error: Can't cast value 300 to type Int8")],
];

const CASTS: readonly SqlCase[] = [
  // floats are cut, not rounded
  [
    "SELECT CAST(1.7 AS INT), CAST(-1.7 AS BIGINT), CAST(2.5 AS INT), CAST(-0.5 AS INT), CAST(temp AS BIGINT) FROM home WHERE co = 18",
    [[1, -1n, 2, 0, 23n]],
  ],
  [
    "SELECT CAST('12' AS INT), CAST('-5' AS BIGINT), CAST('1.5' AS DOUBLE), CAST('1e3' AS DOUBLE), CAST(1 AS BOOLEAN), CAST(false AS INT)",
    [[12, -5n, 1.5, 1000, true, 0]],
  ],
  [
    "SELECT CAST('NaN' AS DOUBLE), CAST('Infinity' AS DOUBLE), CAST('-inf' AS DOUBLE)",
    [[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]],
  ],
  [
    "SELECT CAST('true' AS BOOLEAN), CAST('t' AS BOOLEAN), CAST('yes' AS BOOLEAN), CAST('on' AS BOOLEAN), CAST('0' AS BOOLEAN), CAST('off' AS BOOLEAN)",
    [[true, true, true, true, false, false]],
  ],
  ["SELECT 1.5::int, '5'::bigint, 5::text, 5::string, 'a'::char(3), 1::double", [[1, 5n, "5", "5", "a", 1]]],
  [
    "SELECT CAST(5 AS BIGINT UNSIGNED), 7::int unsigned, arrow_typeof(1::bigint unsigned), arrow_typeof(1::tinyint unsigned)",
    [[5n, 7, "UInt64", "UInt8"]],
  ],
  [
    "SELECT arrow_typeof(1::int), arrow_typeof(1::smallint), arrow_typeof(1::bigint), arrow_typeof(1::real), arrow_typeof(1::double), arrow_typeof('a'::bytea)",
    [["Int32", "Int16", "Int64", "Float32", "Float64", "Binary"]],
  ],
  [
    "SELECT X'616263', arrow_typeof(X'00ff'), X'616263'::varchar, 'ü'::bytea, X'616263' = 'abc'",
    [["616263", "Binary", "abc", "c3bc", true]],
  ],
  ["SELECT CAST(-1 AS BIGINT UNSIGNED)", new Error("Can't cast value -1 to type UInt64")],
  ["SELECT CAST('abc' AS INT)", new Error("Arrow error: Cast error: Cannot cast string 'abc' to value of Int32 type")],
  ["SELECT CAST('1.5' AS BIGINT)", new Error("Cannot cast string '1.5' to value of Int64 type")],
  ["SELECT CAST(x AS BIGINT) FROM (VALUES ('1'), ('1.5')) AS v(x)", new Error("Cannot cast string '1.5' to value of Int64 type")],
  ["SELECT CAST(room AS DOUBLE) FROM home", new Error("Cannot cast string 'Kitchen' to value of Float64 type")],
  ["SELECT CAST(1e20 AS BIGINT)", new Error("Can't cast value 1e+20 to type Int64")],
  ["SELECT CAST('9223372036854775808' AS BIGINT)", new Error("Cannot cast string '9223372036854775808' to value of Int64 type")],
  [
    "SELECT TRY_CAST('abc' AS INT), TRY_CAST('5' AS INT), TRY_CAST('1.5' AS BIGINT), TRY_CAST(1e20 AS BIGINT), TRY_CAST(300 AS TINYINT), TRY_CAST('x' AS DOUBLE)",
    [[null, 5, null, null, null, null]],
  ],
];

const MEETING: readonly SqlCase[] = [
  ["SELECT count(*) FROM home WHERE co = 7.0", [[1n]]],
  ["SELECT count(*) FROM home WHERE co > 8.5 AND temp > 22", [[7n]]],
  ["SELECT count(*) FROM home WHERE temp = '22.7'", [[4n]]],
  ["SELECT count(*) FROM home WHERE co IN (7, 9.0) OR co IN ('3')", [[4n]]],
  // as texts: '9' comes after all that begin with another digit, '3' before them
  ["SELECT co FROM home WHERE co > '9' ORDER BY co", []],
  ["SELECT co FROM home WHERE co < '2' AND co > 1 ORDER BY co", [[14n], [17n], [18n]]],
  ["SELECT count(*) FROM home WHERE co = 'x' OR co = '07' OR co = '7.0'", [[0n]]],
  ["SELECT count(*) FROM home WHERE co < 'x' AND co <> 'x'", [[26n]]],
  ["SELECT count(*) FROM home WHERE co IN ('7', '9')", [[3n]]],
  [
    "SELECT co IN ('a', 7), co IN ('7.0'), co NOT IN ('a'), co BETWEEN '5' AND '70', co BETWEEN 1 AND '2' FROM home WHERE co = 7",
    [[true, false, true, true, false]],
  ],
  ["SELECT CASE co WHEN 'a' THEN 1 WHEN '7' THEN 2 END, co IS DISTINCT FROM 'a', 'a' > co FROM home WHERE co = 7", [[2n, true, true]]],
  // a float has a point
  [
    "SELECT temp = '22.4', temp = '22.40', 2.0 = '2', 2.0 = '2.0', 1.5 IN ('1.50', '1.5') FROM home WHERE co = 7",
    [[true, false, false, true, true]],
  ],
  // not every text is a number
  ["SELECT count(*) FROM home WHERE room = 5", [[0n]]],
  ["SELECT count(*) FROM home WHERE room <> 5 AND room NOT IN (5, 6)", [[26n]]],
  ["SELECT x FROM (VALUES ('5'), ('a'), ('05')) AS v(x) WHERE x = 5", [["5"]]],
  ["SELECT count(*) FROM home WHERE '2022-01-01T10:00:00Z' < time", [[20n]]],
  ["SELECT date '2022-01-01' = '2022-01-01', timestamp '2022-01-01' = date '2022-01-01'", [[true, true]]],
  ["SELECT CASE WHEN co > 20 THEN 'high' ELSE co END FROM home WHERE co > 17 ORDER BY co", [["18"], ["high"], ["high"]]],
  ["SELECT coalesce(NULL, 1, '2'), nvl(NULL, 1.5), ifnull(1, 'a'), nvl2(NULL, 1, 'b'), greatest(1, 2.5)", [[1n, 1.5, "1", "b", 2.5]]],
  ["SELECT NULL = NULL, NULL <> 1, 'a' IN ('a', 'b')", [[null, null, true]]],
  // NULLs come last, in descending order first
  ["SELECT x FROM (VALUES (1.0), ('NaN'::double), (NULL), (-1.0)) AS v(x) ORDER BY x", [[-1], [1], [Number.NaN], [null]]],
  ["SELECT x FROM (VALUES (1), (NULL), (2)) AS v(x) ORDER BY x DESC", [[null], [2n], [1n]]],
  ["SELECT x FROM (VALUES (1), (NULL), (2)) AS v(x) ORDER BY x DESC NULLS LAST", [[2n], [1n], [null]]],
  ["SELECT x FROM (VALUES (1), (NULL)) AS v(x) ORDER BY x NULLS FIRST", [[null], [1n]]],
  ["SELECT 1 AS x UNION ALL SELECT 2.5 ORDER BY x", [[1], [2.5]]],
  ["SELECT 1 AS x UNION SELECT 1 UNION SELECT NULL ORDER BY x", [[1n], [null]]],
  ["SELECT 2 EXCEPT SELECT 1", [[2n]]],
];

const planning = (text: string) => new Error(`Error during planning: ${text}`);
const COMPARED = "Cannot infer common argument type for comparison operation";
const LOGICAL = "Cannot infer common argument type for logical boolean operation";

/** Where DuckDB would convert. */
const UNLIKE: readonly SqlCase[] = [
  ["SELECT true = 1", planning(`${COMPARED} Boolean = Int64`)],
  ["SELECT count(*) FROM home WHERE (co > 5) = 'true'", planning(`${COMPARED} Boolean = Utf8`)],
  ["SELECT (co > 5) IS DISTINCT FROM 1 FROM home", planning(`${COMPARED} Boolean IS DISTINCT FROM Int64`)],
  ["SELECT true IN (1)", planning("Can not find compatible types to compare Boolean with [Int64]")],
  ["SELECT (co > 5) IN ('t') FROM home", planning("Can not find compatible types to compare Boolean with [Utf8]")],
  ["SELECT true IN (false, NULL), true = NULL, NULL = false, true > false", [[null, null, null, true]]],
  ["SELECT co > 5 AND co FROM home", planning(`${LOGICAL} Boolean AND Int64`)],
  ["SELECT room OR true FROM home", planning(`${LOGICAL} Dictionary(Int32, Utf8) OR Boolean`)],
  ["SELECT true AND false AND temp FROM home", planning(`${LOGICAL} Boolean AND Float64`)],
  ["SELECT NOT co FROM home", planning(`${COMPARED} Int64 IS DISTINCT FROM Boolean`)],
  ["SELECT true AND NULL, NULL OR NULL, NOT NULL", [[null, null, null]]],
  ["SELECT room FROM home WHERE co", planning("Cannot create filter with non-boolean predicate")],
  ["SELECT room FROM home WHERE co > 5 AND room", planning("Cannot create filter with non-boolean predicate")],
  ["SELECT room FROM home GROUP BY room HAVING count(*)", planning("Cannot create filter with non-boolean predicate")],
  ["SELECT room FROM home QUALIFY row_number() OVER ()", planning("Cannot create filter with non-boolean predicate")],
  ["SELECT room FROM home WHERE NULL", []],
  ["SELECT co LIKE '1%' FROM home", planning("There isn't a common type to coerce Int64 and Utf8 in LIKE expression")],
  // beside a tag a number is a text
  ["SELECT count(*) FROM home WHERE room NOT ILIKE 5 AND NOT room ~ 5 AND NOT room LIKE co", [[26n]]],
  ["SELECT time ~ '2' FROM home", planning("Cannot infer common argument type for regex operation Timestamp(ns) ~ Utf8")],
  ["SELECT NULL !~* 1.5", planning("Cannot infer common argument type for regex operation Null !~* Float64")],
  ["SELECT 'a' LIKE NULL, NULL ~ 'a', NULL NOT LIKE NULL", [[null, null, null]]],
];

/** Casts that there are not, and values that are written otherwise than DuckDB writes them. */
const WRITTEN: readonly SqlCase[] = [
  [
    `SELECT CAST(time - TIMESTAMP '2021-12-31T22:58:58.5' AS varchar), CAST(TIMESTAMP '2021-12-31' - time AS text), (time - time) || 'x',
       concat(DATE '2022-02-01' - DATE '2022-01-03') FROM home WHERE time = '2022-01-01T08:00:00Z' AND room = 'Kitchen'`,
    [
      [
        "0 days 9 hours 1 mins 1.500000000 secs",
        "-1 days -8 hours 0 mins 0.000000000 secs",
        "0 days 0 hours 0 mins 0.000000000 secsx",
        "29 days 0 hours 0 mins 0 secs",
      ],
    ],
  ],
  ["SELECT CAST(42 AS timestamp)::varchar, TRY_CAST(42 AS timestamp)::varchar", [["1970-01-01T00:00:42", "1970-01-01T00:00:00.000000042"]]],
  ...[
    ["co > 5", "date", "Boolean to Date32"],
    ["true", "timestamp", "Boolean to Timestamp(µs)"],
    ["true", "decimal(3, 1)", "Boolean to Decimal128(3, 1)"],
    ["INTERVAL '1 hour'", "bigint", "Interval(MonthDayNano) to Int64"],
    ["time - time", "boolean", "Duration(ns) to Boolean"],
    ["decode('41', 'hex')", "int", "Binary to Int32"],
    ["[1]", "int", "list to Int32"],
    ["named_struct('a', 1)", "varchar", "struct to Utf8"],
  ].flatMap(([value, type, words]) =>
    ["CAST", "TRY_CAST"].map(
      (cast): SqlCase => [`SELECT ${cast}(${value} AS ${type}) FROM home`, new Error(`Unsupported ${cast} from ${words}`)],
    ),
  ),
  ["SELECT true::int, CAST(false AS double), true::text, TRY_CAST('x' AS int)", [[1, 0, "true", null]]],
  ["SELECT arrow_typeof(CASE WHEN NULL THEN NULL ELSE NULL END)", [["Null"]]],
  ["SELECT * EXCEPT (time, room) FROM home WHERE co = 7", [[7n, 36, 22.4]]],
  ["SELECT h.* EXCEPT (time, hum), 1 AS one FROM home AS h WHERE co = 7 EXCEPT (SELECT 1, 'x', 2.5, 3)", [[7n, "Kitchen", 22.4, 1n]]],
  ["SELECT co > 5 FROM home UNION SELECT room FROM home", new Error("Incompatible inputs for Union")],
  ["SELECT co FROM home UNION ALL SELECT co > 5 FROM home", new Error("Incompatible inputs for Union")],
  ["SELECT true AS v UNION SELECT NULL UNION SELECT true ORDER BY v", [[true], [null]]],
  ["SELECT INTERVAL '2024-10-25'", new Error("Invalid input syntax for type interval: '2024-10-25'")],
  ["SELECT INTERVAL '1 2'", new Error("Invalid input syntax for type interval: '1 2'")],
  ["SELECT TRY_CAST('x' AS interval), TRY_CAST('1 day 2' AS interval)::varchar", [[null, "1 days 2.000000000 secs"]]],
];

/** Words that every JavaScript object knows are as unknown as others. */
const OF_OBJECTS: readonly SqlCase[] = [
  ["SELECT arrow_cast(1, 'constructor')", new Error("Unsupported type 'constructor'")],
  ["SELECT arrow_cast(now(), 'Timestamp(constructor, None)')", new Error("Unsupported type 'Timestamp(constructor, None)'")],
  ["SELECT arrow_cast(1, 'Duration(__proto__)')", new Error("Unsupported type 'Duration(__proto__)'")],
  ["SELECT CAST('1' AS constructor)", new Error("type constructor")],
  ["SELECT CAST('constructor' AS BOOLEAN)", new Error("Cannot cast string 'constructor' to value of Boolean type")],
  ["SELECT date_trunc('constructor', now())", new Error("Unsupported date_trunc granularity: constructor")],
  ["SELECT date_part('constructor', now())", new Error("Date part 'constructor' not supported")],
  ["SELECT date_part('constructor', now() - now())", new Error("Date part 'constructor' of a duration is not supported")],
  ["SELECT INTERVAL '1 constructor'", new Error("Invalid input syntax for type interval: '1 constructor'")],
  ["SELECT 'a' ~ '[[:constructor:]&&[a]]'", new Error("no class [:constructor:]")],
];

sqlSuite("names of types", NAMES);
sqlSuite("arrow_cast", ARROW_CASTS);
sqlSuite("casts", CASTS);
sqlSuite("values of unlike types", UNLIKE);
sqlSuite("values of two types", MEETING);
sqlSuite("missing casts and written values", WRITTEN);
sqlSuite("words that objects know", OF_OBJECTS);
