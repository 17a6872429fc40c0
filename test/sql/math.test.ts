// Mathematics, operators on numbers, conditions that choose. Expected values: arithmetic, and IEEE 754 for what has no finite value.
import type { Kernel } from "../../src/kernel/memory/kernel.ts";
import { ColumnType } from "../../src/model/rows/column.ts";
import { FakeTable } from "../support/rows/fake-table.ts";
import { type SqlCase, sqlSuite } from "../support/sql/sql-suite.ts";

const DIVIDE_BY_ZERO = new Error("Arrow error: Divide by zero error");
const OVERFLOW = new Error("Arithmetic overflow");
const I64_MAX = 9_223_372_036_854_775_807n;
const { E, LN10, LOG10E, PI, SQRT2 } = Math;

const OPERATORS: readonly SqlCase[] = [
  ["SELECT 2 + 3 * 4, (2 + 3) * 4, 2 - 3 - 4, 100 / 10 / 2, -2 - -3", [[14n, 20n, -5n, 5n, 1n]]],
  // whole numbers divide to whole numbers, cut towards zero; the remainder has the sign of the dividend
  ["SELECT 7 / 2, -7 / 2, 7 / -2, 1 / 3 * 3", [[3n, -3n, -3n, 0n]]],
  ["SELECT 7 % 3, -7 % 3, 7 % -3, -7 % -3", [[1n, -1n, 1n, -1n]]],
  ["SELECT 7 / 2.0, 7.0 / 2, 1 / 2.0, 7.5 / 2.5", [[3.5, 3.5, 0.5, 3]]],
  ["SELECT 7.5 % 2, -7.5 % 2, 7 % 2.5", [[1.5, -1.5, 2]]],
  ["SELECT 5 / 2 * 2.0, 5 / 2.0 * 2", [[4, 5]]],
  ["SELECT 1 / 0", DIVIDE_BY_ZERO],
  ["SELECT 1 % 0", DIVIDE_BY_ZERO],
  ["SELECT co / 0 FROM home", DIVIDE_BY_ZERO],
  ["SELECT co % 0 FROM home", DIVIDE_BY_ZERO],
  ["SELECT 10 / co FROM home", DIVIDE_BY_ZERO],
  ["SELECT count(*) / (sum(co) - sum(co)) FROM home", DIVIDE_BY_ZERO],
  // nothing is divided
  ["SELECT co / 0 FROM home WHERE co > 1000", []],
  ["SELECT 10 / co FROM home WHERE co > 9 AND room = 'Living Room' ORDER BY time", [[0n], [0n]]],
  ["SELECT 1.0 / 0, -1.0 / 0, 1 / 0.0", [[Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]]],
  ["SELECT 0.0 / 0, 1.0 % 0", [[Number.NaN, Number.NaN]]],
  ["SELECT temp / co FROM home WHERE room = 'Kitchen' AND time = '2022-01-01T08:00:00Z'", [[Number.POSITIVE_INFINITY]]],
  ["SELECT co / 2, co % 4, co / 2.0, temp / 2 FROM home WHERE co = 7", [[3n, 3n, 3.5, 11.2]]],
  ["SELECT 9223372036854775807 + 1", OVERFLOW],
  ["SELECT -9223372036854775807 - 2", OVERFLOW],
  ["SELECT 4611686018427387904 * 2", OVERFLOW],
  ["SELECT -9223372036854775808 / -1", OVERFLOW],
  ["SELECT sum(co) * 9223372036854775807 FROM home", OVERFLOW],
  ["SELECT 2147483647 + 1, 46341 * 46341, 2147483647 * 2147483647", [[2_147_483_648n, 2_147_488_281n, 4_611_686_014_132_420_609n]]],
  ["SELECT 9223372036854775807, -9223372036854775808", [[I64_MAX, -I64_MAX - 1n]]],
  ["SELECT 18446744073709551615", [[2n ** 64n - 1n]]],
  // beyond 64 bits a literal is a float
  [
    "SELECT 18446744073709551616, -9223372036854775809, 18446744073709551616 / 2, arrow_typeof(18446744073709551616)",
    [[2 ** 64, -(2 ** 63), 2 ** 63, "Float64"]],
  ],
  ["SELECT 18446744073709551615 < 18446744073709551616, 18446744073709551615 / 2", [[false, "9223372036854775807.5000"]]],
  // IEEE 754 has two zeros
  ["SELECT -0.0, -(0.0), -.00, - -0.0, 0.0, 0.0 / -1, 1 - 0.0, -0.0 = 0.0", [[-0, -0, -0, 0, 0, -0, 1, true]]],
  ["SELECT CAST(-0.0 AS VARCHAR), -0.5, -0", [["-0.0", -0.5, 0n]]],
  ["SELECT 1e3, 1.5e-3, .5, 5.", [[1000, 0.0015, 0.5, 5]]],
  ["SELECT 5 & 3, 5 | 3, 5 ^ 3, 1 << 3, 16 >> 2", [[1n, 7n, 6n, 8n, 4n]]],
  ["SELECT co & 5, co ^ 2 FROM home WHERE co = 7", [[5n, 5n]]],
  // sums before &, & before ^, << and >>, these before |, all of them before comparisons
  [
    "SELECT 7 * 3 ^ 2, 7 ^ 3 + 2, 7 ^ 3 * 2, 10 - 5 ^ 2, 7 ^ 3 & 2, 7 | 3 & 2, 7 | 3 << 2, 7 << 3 ^ 2, 7 << 3 & 2, 7 >> 3 ^ 2",
    [[23n, 2n, 1n, 7n, 5n, 7n, 15n, 58n, 28n, 2n]],
  ],
  ["SELECT (7 | 3) & 2, 1 + 2 & 3 | 4 x, -7 & 3 ^ 2 * 2, CASE WHEN 1 | 2 & 3 = 3 THEN 5 ^ 2 * 3 END | 1 & 3", [[2n, 7n, 5n, 3n]]],
  // the word comes before all of them, but after sums
  [
    "SELECT 5 & 3 XOR 1, 7 XOR 3 + 2, 1 XOR 2 & 3, 1 | 2 XOR 3, 6 XOR 3 ^ 5 & 1, 6 ^ 3 XOR 5 & 4, 9 XOR 2 << 1, 9 << 2 XOR 1",
    [[0n, 2n, 3n, 1n, 4n, 2n, 22n, 72n]],
  ],
  ["SELECT 7 XOR 3 * 2 + 1", [[0n]]],
  ["SELECT co FROM home WHERE co & 2 | 1 = 3 ORDER BY co DESC LIMIT 2", [[26n], [22n]]],
  ["SELECT -(-5), +5, -temp FROM home WHERE co = 7", [[5n, 5n, -22.4]]],
  ["SELECT 1 + 1.5, 1 + NULL, 2 * 1.5", [[2.5, null, 3]]],
  ["SELECT '5' + 1", new Error("Error during planning: Cannot coerce arithmetic expression Utf8 + Int64 to valid types")],
  ["SELECT room / temp FROM home", new Error("Error during planning: Cannot coerce arithmetic expression Utf8 / Float64 to valid types")],
  ["SELECT x * 1000000000 FROM (VALUES (3)) AS v(x)", [[3_000_000_000n]]],
  ["SELECT 1 = 1.0, 1 < 1.5, 2 > 1.5, 1 <> 1, 1 != 2, 2 >= 2, 1 <= 0", [[true, true, true, false, true, true, false]]],
  ["SELECT 'NaN'::double = 'NaN'::double, 'NaN'::double > 1e300, 0.0 = -0.0", [[true, true, true]]],
  // a column of texts is compared with numbers as texts
  ["SELECT room = 1.5, room > 5, room < 5, room IN (1, 2.5), 7 || room FROM home WHERE co = 7", [[false, true, false, false, "7Kitchen"]]],
  ["SELECT temp < room, co >= room, room BETWEEN 1 AND 9 FROM home WHERE co = 7", [[true, false, false]]],
  ["SELECT '7' || 3 < 2, 1.0 || 'x', 'x' || 1e16", [[false, "1.0x", "x1e16"]]],
  ["SELECT '5' = 5, 5 = '5', '10' > 9, co = '7' FROM home WHERE co = 7", [[true, true, false, true]]],
  ["SELECT count(*) FROM home WHERE temp = '22.7' AND co IN ('3', '9', '26')", [[3n]]],
  ["SELECT 1 IS DISTINCT FROM NULL, NULL IS NOT DISTINCT FROM NULL, 1 <=> 1, 1 <=> NULL", [[true, true, true, false]]],
  ["SELECT 5 BETWEEN 1 AND 10, 5 NOT BETWEEN 1 AND 4, 5 IN (1, 5), 5 NOT IN (1, 2), NULL IN (1)", [[true, true, true, true, null]]],
  ["SELECT true AND NULL, false AND NULL, true OR NULL, NOT NULL", [[null, false, true, null]]],
  ["SELECT true IS TRUE, NULL IS UNKNOWN, false IS NOT TRUE, NULL IS NOT NULL", [[true, true, true, false]]],
];

const FUNCTIONS: readonly SqlCase[] = [
  ["SELECT abs(-5), abs(-2.5), abs(NULL)", [[5n, 2.5, null]]],
  ["SELECT abs(-9223372036854775808)", OVERFLOW],
  ["SELECT abs(co - 10) FROM home WHERE co = 7", [[3n]]],
  ["SELECT acos(1), asin(1), atan(1), acos(0.5), asin(0.5)", [[0, PI / 2, PI / 4, Math.acos(0.5), Math.asin(0.5)]]],
  ["SELECT acos(2), asin(-2), acosh(0.5), atanh(2)", [[Number.NaN, Number.NaN, Number.NaN, Number.NaN]]],
  ["SELECT acosh(1), asinh(0), atanh(0), atanh(1), atanh(-1)", [[0, 0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]]],
  ["SELECT acosh(2), asinh(0.5), atanh(0.5)", [[Math.acosh(2), Math.asinh(0.5), Math.atanh(0.5)]]],
  // the first argument is the ordinate
  ["SELECT atan2(1, 1), atan2(1, 0), atan2(0, -1)", [[PI / 4, PI / 2, PI]]],
  ["SELECT cbrt(27), cbrt(-8.0), cbrt(NULL)", [[3, -2, null]]],
  ["SELECT ceil(1.2), ceil(-1.2), ceil(3), floor(1.7), floor(-1.2), floor(3)", [[2, -1, 3, 1, -2, 3]]],
  ["SELECT cos(0), cosh(0), sin(0), sinh(0), tan(0), tanh(0)", [[1, 1, 0, 0, 0, 0]]],
  ["SELECT sin(1), cos(1), tan(1)", [[Math.sin(1), Math.cos(1), Math.tan(1)]]],
  ["SELECT sin('inf'::double), cos('-inf'::double), tan('inf'::double)", [[Number.NaN, Number.NaN, Number.NaN]]],
  ["SELECT sinh(1), cosh(1), tanh(1)", [[1.1752011936438014, 1.5430806348152437, 0.7615941559557649]]],
  ["SELECT cot(0), round(cot(1), 12)", [[Number.POSITIVE_INFINITY, 0.642092615934]]],
  ["SELECT degrees(pi()), radians(180), degrees(0), pi()", [[180, PI, 0, PI]]],
  ["SELECT exp(0), exp(1), exp(1000)", [[1, E, Number.POSITIVE_INFINITY]]],
  ["SELECT factorial(0), factorial(5), factorial(20)", [[1n, 120n, 2_432_902_008_176_640_000n]]],
  ["SELECT factorial(21)", new Error("overflow")],
  ["SELECT factorial(-1)", new Error("factorial of a negative number is undefined")],
  ["SELECT gcd(12, 18), gcd(0, 5), gcd(-12, 18), gcd(0, 0)", [[6n, 5n, 6n, 0n]]],
  ["SELECT lcm(4, 6), lcm(0, 6), lcm(-4, 6)", [[12n, 0n, 12n]]],
  ["SELECT isnan(1.0), isnan('NaN'::double), isnan(1), isnan(NULL)", [[false, true, false, null]]],
  ["SELECT iszero(0), iszero(0.0), iszero(-0.0), iszero(2), iszero(NULL)", [[true, true, true, false, null]]],
  ["SELECT ln(1), ln(0), ln(-1), ln(10)", [[0, Number.NEGATIVE_INFINITY, Number.NaN, LN10]]],
  // the base comes first
  ["SELECT log(100), log(2, 8), log(2, 64), log(10, 1000), log(4, 2)", [[2, 3, 6, 3, 0.5]]],
  [
    "SELECT log(0), log(-1), log(2, 0), log(1, 5)",
    [[Number.NEGATIVE_INFINITY, Number.NaN, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]],
  ],
  ["SELECT log10(1000), log2(8), log10(0), log2(0), log10(exp(1))", [[3, 3, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, LOG10E]]],
  ["SELECT nanvl(1.0, 2.0), nanvl('NaN'::double, 2.0), nanvl(NULL, 1.0)", [[1, 2, null]]],
  ["SELECT nanvl(1.5, NULL), nanvl('NaN'::double, NULL)", [[null, null]]],
  ["SELECT power(2, 3), pow(2, 10), power(2.0, -1), power(2, 0.5), power(0, 0)", [[8n, 1024n, 0.5, SQRT2, 1n]]],
  ["SELECT power(3, 39), power(-2, 63), power(-1, 9223372036854775807)", [[4052555153018976267n, -(2n ** 63n), -1n]]],
  ["SELECT power(2, 63)", new Error("Arithmetic overflow")],
  ["SELECT power(2, -1)", new Error("out of bounds")],
  ["SELECT power(-8, 0.5)", [[Number.NaN]]],
  ["SELECT random() >= 0 AND random() < 1", [[true]]],
  ["SELECT round(2.5), round(-2.5), round(3.5), round(0.5), round(7)", [[3, -3, 4, 1, 7]]],
  ["SELECT round(1234.567, 2), round(1234.567, -2), round(125, -1), round(2.675, 2)", [[1234.57, 1200, 130, 2.68]]],
  ["SELECT round(temp), round(temp, 1), round(hum, -1) FROM home WHERE co = 7", [[22, 22.4, 40]]],
  ["SELECT signum(-3), signum(0), signum(2.5), signum('NaN'::double), signum(NULL)", [[-1, 0, 1, Number.NaN, null]]],
  ["SELECT sqrt(9), sqrt(2), sqrt(0), sqrt(-1), sqrt(NULL)", [[3, SQRT2, 0, Number.NaN, null]]],
  ["SELECT sqrt(co), power(co, 2), ln(co - 3) FROM home WHERE co = 4", [[2, 16n, 0]]],
  [
    "SELECT trunc(3.7), trunc(-3.7), trunc(5), trunc(1234.5678, 2), trunc(1234.5678, -2), trunc(-1.999, 2)",
    [[3, -3, 5, 1234.56, 1200, -1.99]],
  ],
  ["SELECT cosh()", new Error("Function 'cosh' expects 1 arguments but received 0")],
  ["SELECT log(1, 2, 3)", new Error("Function 'log' expects 1 to 2 arguments but received 3")],
];

const CONDITIONAL: readonly SqlCase[] = [
  ["SELECT coalesce(NULL, 2), coalesce(NULL, NULL), coalesce(NULL, 'x'), coalesce(1, 2.5)", [[2n, null, "x", 1]]],
  ["SELECT greatest(1, 2, NULL), least(1, 2, NULL), greatest(1.5, 2), greatest('a', 'b')", [[2n, 1n, 2, "b"]]],
  ["SELECT greatest('NaN'::double, 1.0), least('NaN'::double, 1.0)", [[Number.NaN, 1]]],
  ["SELECT ifnull(NULL, 3), ifnull(1, 3), nvl(NULL, 3), nvl('a', 'b')", [[3n, 1n, 3n, "a"]]],
  ["SELECT nvl2(1, 2, 3), nvl2(NULL, 2, 3), nvl2('a', 'b', 'c')", [[2n, 3n, "b"]]],
  ["SELECT nullif(1, 1), nullif(1, 2), nullif('a', 'b'), nullif(NULL, 1)", [[null, 1n, "a", null]]],
  ["SELECT CASE WHEN 1 > 0 THEN 'a' ELSE 'b' END, CASE 5 WHEN 5 THEN 1 END, CASE WHEN false THEN 1 END", [["a", 1n, null]]],
  [
    "SELECT nullif(co, 0), coalesce(nullif(co, 0), -1) FROM home WHERE time = '2022-01-01T15:00:00Z' ORDER BY room",
    [
      [3n, 3n],
      [1n, 1n],
    ],
  ],
  ["SELECT greatest(co, 20), least(temp, 22.0) FROM home WHERE co = 26", [[26n, 22]]],
  ["SELECT nvl2(1)", new Error("Function 'nvl2' expects 3 arguments but received 1")],
];

sqlSuite("operators on numbers", OPERATORS);
sqlSuite("mathematical functions", FUNCTIONS);
sqlSuite("conditional functions", CONDITIONAL);

/** One row of unsigned integers, two of them beyond what has a sign. */
const UNSIGNED = (kernel: Kernel): FakeTable[] => [
  new FakeTable(kernel, "sizes", { time: ColumnType.time, n: ColumnType.unsigned, big: ColumnType.unsigned, i: ColumnType.integer }, [
    { time: 1n, n: 7n, big: 2n ** 64n - 1n, i: -2n },
  ]),
];

sqlSuite(
  "integers without a sign",
  [
    [
      "SELECT -n, -(n + 1), -(n * n), -max(n), -sum(n), -coalesce(n, 0), -(n / 2) FROM sizes GROUP BY n",
      [[-7n, "-8", -49n, -7n, -7n, "-7", "-3.5000"]],
    ],
    [
      "SELECT 7.25::decimal(10,2) / 3::decimal(5,1), -7.25::decimal(10,2) % 2::decimal(5,1), 1.5::decimal(5,2) + 2.5, 1::decimal / 3",
      [["2.416666", "-1.25", 4, "0.33333333333333"]],
    ],
    [
      "SELECT -(CASE WHEN i < 0 THEN n END), -(SELECT n FROM sizes), -first_value(n ORDER BY time) FROM sizes GROUP BY n, i",
      [[-7n, -7n, -7n]],
    ],
    ["SELECT n - 8, n - n, n + i, n * i, n / i, n % i, i / n FROM sizes", [["-1", 0n, "5", "-14", "-3.5000", "1", "-0.2857"]]],
    [
      "SELECT big / 2, big % 10, big - n, big / i, big = 18446744073709551615 FROM sizes",
      [["9223372036854775807.5000", "5", 2n ** 64n - 8n, "-9223372036854775807.5000", true]],
    ],
    ["SELECT substr('abcdef', n - 4), substr('abcdef', -n + 9) FROM sizes", [["cdef", "bcdef"]]],
    [
      "SELECT n | 8, n & 3, n << 1, n >> 1, n ^ 1, 8 | n, arrow_typeof(n | 8), arrow_typeof(i & n), arrow_typeof(n ^ n) FROM sizes",
      [[15n, 3n, 14n, 3n, 6n, 15n, "UInt64", "UInt64", "UInt64"]],
    ],
    ["SELECT -big FROM sizes", OVERFLOW],
    ["SELECT big + 1 FROM sizes", [["18446744073709551616"]]],
    ["SELECT n - big FROM sizes", OVERFLOW],
  ],
  UNSIGNED,
);
