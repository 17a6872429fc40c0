// Names of columns without an alias: the rules of the vendor's engine, one row a rule. Expected names are recorded ones (test/vectors/v3)
// or put together from such.
import { describe, expect, test } from "bun:test";
import { tokenize } from "../parse/tokens.ts";
import { nameText } from "./name-text.ts";
import { aliasNumber, nameItems } from "./select-items.ts";

const TABLE = new Set(["a", "b", "s", "time"]);
const CONTEXT = {
  column: (names: readonly string[]) => (names.length === 1 && TABLE.has(names[0]!) ? `t.${names[0]}` : names.join(".")),
  firstOf: () => "inner",
  sortsByKeys: false,
};

/** Of the outermost select list, over a table t; what is not named is left out. */
function namesOf(items: string, charsMax = 10_000): string[] {
  const { tokens, names } = nameItems(tokenize(`SELECT ${items} FROM t`));
  expect(tokens.filter(({ text }) => text.startsWith('AS "')).length).toBe(names.nodes.length);
  return names.nodes.map((node) => nameText(node, CONTEXT, charsMax));
}

const ROWS = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING";
const RANGE = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW";
const DAY = 'IntervalMonthDayNano("IntervalMonthDayNano { months: 0, days: 1, nanoseconds: 0 }")';

const NAMES: readonly (readonly [group: string, rows: readonly (readonly [item: string, name: string])[]])[] = [
  [
    "literals",
    [
      ["1", "Int64(1)"],
      ["-1", "Int64(-1)"],
      ["+1", "Int64(1)"],
      ["- -1", "(- Int64(-1))"],
      ["-(1)", "(- Int64(1))"],
      ["9223372036854775808", "UInt64(9223372036854775808)"],
      ["18446744073709551616", "Float64(18446744073709552000)"],
      ["5.", "Float64(5)"],
      ["1.50", "Float64(1.5)"],
      ["1.5e-7", "Float64(0.00000015)"],
      ["12e20", "Float64(1200000000000000000000)"],
      ["-0.0", "Float64(-0)"],
      ["''", 'Utf8("")'],
      ["'it''s \"'", 'Utf8("it\'s "")'],
      ["E'a\\n\\x41\\\\'", 'Utf8("a\nA\\")'],
      ["$tag$it's$tag$", 'Utf8("it\'s")'],
      ["X'00fF'", 'Binary("0,255")'],
      ["NULL", "NULL"],
      ["INTERVAL '1 day'", DAY],
      ["INTERVAL 1 DAY", DAY],
      ["- INTERVAL '1' DAY", DAY.replace("days: 1", "days: -1")],
      ["DATE '2024-01-01'", 'Utf8("2024-01-01")'],
      ["VARCHAR 'b'", 'Utf8("b")'],
      ["TEXT '1'::int", 'Utf8("1")'],
      ["INT '5' + 1", 'Utf8("5") + Int64(1)'],
      ["TIMESTAMP WITH TIME ZONE '2024-01-01'", 'Utf8("2024-01-01")'],
      ["[1, [2]]", "make_array(Int64(1),make_array(Int64(2)))"],
      ["struct(1 AS 'a', 2 AS b)", 'named_struct(Utf8("a"),Int64(1),Utf8("b"),Int64(2))'],
      ["{'x': 1, y: 2}", 'named_struct(Utf8("x"),Int64(1),Utf8("y"),Int64(2))'],
      ["MAP {'x': 1}", 'map(make_array(Utf8("x")),make_array(Int64(1)))'],
      ["(1, 2)", "struct(Int64(1),Int64(2))"],
      ["$1 + 1", "$1 + Int64(1)"],
    ],
  ],
  [
    "operators",
    [
      ["(a + 1) * 2", "t.a + Int64(1) * Int64(2)"],
      ["a <> b", "t.a != t.b"],
      ["a == -1", "t.a = Int64(-1)"],
      ["a <=> b", "t.a IS NOT DISTINCT FROM t.b"],
      ["a IS DISTINCT FROM b", "t.a IS DISTINCT FROM t.b"],
      ["a ^ b", "t.a BIT_XOR t.b"],
      ["a<<1", "t.a << Int64(1)"],
      ["s !~* 'x'", 't.s !~* Utf8("x")'],
      ["NOT (a AND b)", "NOT t.a AND t.b"],
      ["-a::int", "(- t.a)"],
      ["-1.5::int", "(- Float64(1.5))"],
      ["a NOT BETWEEN 1 AND 2 AND b", "t.a NOT BETWEEN Int64(1) AND Int64(2) AND t.b"],
      ["a NOT IN (1, b)", "t.a NOT IN Int64(1), t.b"],
      ["b AND a IN (SELECT a FROM u)", "t.b AND IN"],
      ["NOT EXISTS (SELECT a FROM u)", "NOT EXISTS"],
      ["(SELECT a FROM u) + 1", "inner + Int64(1)"],
      ["s NOT ILIKE 'x' ESCAPE '!'", "t.s NOT ILIKE Utf8(\"x\") CHAR '!'"],
      ["s SIMILAR TO 'x'", 't.s SIMILAR TO Utf8("x")'],
      ["a IS NOT NULL", "t.a IS NOT NULL"],
      ["a IS NOT UNKNOWN", "t.a IS NOT UNKNOWN"],
      ["CASE a WHEN 1 THEN 2 END", "CASE t.a WHEN Int64(1) THEN Int64(2) END"],
      ["CASE WHEN a THEN b ELSE 1 END", "CASE WHEN t.a THEN t.b ELSE Int64(1) END"],
      ["CAST(a AS DECIMAL(5, 2)) + b::timestamp(3)", "t.a + t.b"],
      ["time AT TIME ZONE 'UTC'", "t.time"],
      ["s || 'x'", 't.s || Utf8("x")'],
      ["[1] || [2]", "array_concat(make_array(Int64(1)),make_array(Int64(2)))"],
      ["[1] || a", "array_append(make_array(Int64(1)),t.a)"],
      ["[[1]] || [2]", "array_append(make_array(make_array(Int64(1))),make_array(Int64(2)))"],
      ["a || [1]", "array_prepend(t.a,make_array(Int64(1)))"],
      ["[1] <@ [2]", "array_has_all(make_array(Int64(2)),make_array(Int64(1)))"],
      ["a = ANY([1])", "array_has(make_array(Int64(1)),t.a)"],
      ["a[1]", "t.a[Int64(1)]"],
      ["a['x']['y']", "t.a[x][y]"],
      ["a[1:2]", "t.a[Int64(1):Int64(2):Int64(1)]"],
      ["(a).x", "t.a[x]"],
    ],
  ],
  [
    "calls",
    [
      ["UPPER(s)", "upper(t.s)"],
      ["count(*)", "count(*)"],
      ["count(DISTINCT a)", "count(DISTINCT t.a)"],
      ["sum(a) FILTER (WHERE b > 1)", "sum(t.a) FILTER (WHERE t.b > Int64(1))"],
      ["first_value(a ORDER BY time DESC, b)", "first_value(t.a) ORDER BY [t.time DESC NULLS FIRST, t.b ASC NULLS LAST]"],
      ["percentile_cont(0.5) WITHIN GROUP (ORDER BY a)", "percentile_cont(Float64(0.5)) WITHIN GROUP [t.a ASC NULLS LAST]"],
      ["trim(s)", "btrim(t.s)"],
      ["trim(LEADING 'x' FROM s)", 'ltrim(t.s,Utf8("x"))'],
      ["substring(s FROM 2 FOR 3)", "substr(t.s,Int64(2),Int64(3))"],
      ["substring(s FOR 3)", "substr(t.s,Int64(1),Int64(3))"],
      ["position('x' IN s)", 'strpos(t.s,Utf8("x"))'],
      ["position('x', s)", 'position(Utf8("x"),t.s)'],
      ["overlay(s PLACING 'x' FROM 2)", 'overlay(t.s,Utf8("x"),Int64(2))'],
      ["extract(year FROM time)", 'date_part(Utf8("YEAR"),t.time)'],
      ["current_date", "current_date()"],
      ["array_element(a, 1)", "t.a[Int64(1)]"],
      ["array_slice(a, 1, 2)", "t.a[Int64(1):Int64(2)]"],
      ["get_field(a, 'x')", "t.a[x]"],
      ["array_agg(a)[1]", "nth_value(t.a,Int64(1))"],
      ["make_map('x', 1)", 'map(make_array(Utf8("x")),make_array(Int64(1)))'],
      ["struct(a AS x, b)", 'named_struct(Utf8("x"),t.a,Utf8("c1"),t.b)'],
      ["unnest(a)", "UNNEST(t.a)"],
    ],
  ],
  [
    "calls by a second name show their arguments in the long form, and nothing else",
    [
      ["mean(DISTINCT a)", "mean(t.a)"],
      ["pow(a::int, b)", "pow(CAST(t.a AS Int32),t.b)"],
      ["list_has([1, 2], 1)", "list_has(make_array(Int64(1), Int64(2)),Int64(1))"],
      ["pow(a * (b + 1), 2)", "pow(t.a * (t.b + Int64(1)),Int64(2))"],
      ["pow(pow(a, 2), 3)", "pow(power(t.a, Int64(2)) AS pow(t.a,Int64(2)),Int64(3))"],
      ["quantile_cont(0.5) WITHIN GROUP (ORDER BY a)", "quantile_cont(t.a,Float64(0.5))"],
      ["pow(count(*), 2)", "pow(count(Int64(1)) AS count(*),Int64(2))"],
      ["pow(count() OVER (), 2)", `pow(count(Int64(1)) ${ROWS} AS count() ${ROWS},Int64(2))`],
      ["pow([a][1], 2)", "pow(array_element(make_array(t.a), Int64(1)),Int64(2))"],
      ["pow([a][1:b][1], 2)", "pow(array_element(array_slice(make_array(t.a), Int64(1), t.b, Int64(1)), Int64(1)),Int64(2))"],
      ["pow(array_slice(a, 1, 2)['x'], 2)", 'pow(get_field(array_slice(t.a, Int64(1), Int64(2)), Utf8("x")),Int64(2))'],
      [
        "pow(percentile_cont(0.5) WITHIN GROUP (ORDER BY a::double), 2)",
        "pow(percentile_cont(CAST(t.a AS Float64), Float64(0.5)) ORDER BY [CAST(t.a AS Float64) ASC NULLS LAST],Int64(2))",
      ],
      ["nvl(ifnull(a, b), 1)", "nvl(ifnull(t.a,t.b),Int64(1))"],
      ["date_format(DATE '2024-01-01', '%Y')", 'date_format(CAST(Utf8("2024-01-01") AS Date32),Utf8("%Y"))'],
    ],
  ],
  [
    "windows",
    [
      ["row_number() OVER ()", `row_number() ${ROWS}`],
      ["lag(a, 1) OVER (ORDER BY time)", `lag(t.a,Int64(1)) ORDER BY [t.time ASC NULLS LAST] ${RANGE}`],
      ["nth_value(a, 2) IGNORE NULLS OVER ()", `nth_value(t.a,Int64(2)) IGNORE NULLS ${ROWS}`],
      ["string_agg(s, ',') OVER (PARTITION BY a, b)", `string_agg(t.s, Utf8(",")) PARTITION BY [t.a, t.b] ${ROWS}`],
      ["sum(a) OVER (PARTITION BY 1)", `sum(t.a) ${ROWS}`],
      ["sum(a) OVER (RANGE CURRENT ROW)", "sum(t.a) ORDER BY [UInt64(1) ASC NULLS LAST] RANGE BETWEEN CURRENT ROW AND CURRENT ROW"],
      [
        "sum(a) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING)",
        "sum(t.a) ORDER BY [t.b ASC NULLS LAST] ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING",
      ],
      [
        "sum(a) OVER (ORDER BY time RANGE INTERVAL '1' HOUR PRECEDING)",
        "sum(t.a) ORDER BY [t.time ASC NULLS LAST] RANGE BETWEEN 1 HOUR PRECEDING AND CURRENT ROW",
      ],
    ],
  ],
];

const SORTED: readonly (readonly [sort: string, name: string])[] = [
  ["round(a, 1)", "round(t.a, Int64(1))"],
  ["a::double DESC", "CAST(t.a AS Float64)"],
  ["(a + 1) * 2", "(t.a + Int64(1)) * Int64(2)"],
  ["a IN (1, 2)", "t.a IN ([Int64(1), Int64(2)])"],
  ["char_length(s)", "character_length(t.s) AS char_length(t.s)"],
  ["s[1]", "array_element(t.s, Int64(1))"],
  // aggregates are columns of the grouping
  ["max(a::double) + 1", "max(t.a) + Int64(1)"],
  ["mean(a::double)", "avg(t.a) AS mean(CAST(t.a AS Float64))"],
  ["count(*)", "count(Int64(1)) AS count(*)"],
  ["selector_last(a, time)['value']", 'get_field(selector_last(t.a,t.time), Utf8("value"))'],
];

test.each(SORTED)("windows sort by %s in the long form", (sort, name) => {
  const isDescending = sort.endsWith(" DESC");
  const order = isDescending ? "DESC NULLS FIRST" : "ASC NULLS LAST";
  expect(namesOf(`rank() OVER (PARTITION BY round(a, 1) ORDER BY ${sort})`)).toEqual([
    `rank() PARTITION BY [round(t.a,Int64(1))] ORDER BY [${name} ${order}] ${RANGE}`,
  ]);
});

test("aggregates sort by values in the long form", () => {
  expect(namesOf("array_agg(a ORDER BY (a + 1) * 2, b::double)")).toEqual([
    "array_agg(t.a) ORDER BY [(t.a + Int64(1)) * Int64(2) ASC NULLS LAST, CAST(t.b AS Float64) ASC NULLS LAST]",
  ]);
});

for (const [group, rows] of NAMES)
  describe(group, () => test.each(rows)("%s is %s", (item, name) => expect(namesOf(item)).toEqual([name])));

/** Columns, stars, what has a name, and what is no expression of the dialect. */
const UNNAMED = [
  "a",
  '"A"',
  "*",
  "t.*",
  "* EXCLUDE (a)",
  "a + 1 AS x",
  "a + 1 x",
  'a + 1 "X"',
  "x -> x + 1",
  "a +",
  "COLUMNS(*)",
  "a b c",
  "",
  ")",
  "'x' 'y'",
];
test.each(UNNAMED)("%j stays as it is", (item) => expect(namesOf(item)).toEqual([]));

test("words of clauses may be columns", () => {
  expect(namesOf("group, order, a + 1, group + 1")).toEqual(["t.a + Int64(1)", "group + Int64(1)"]);
});

test("one item among others", () => {
  expect(namesOf("*, a b c, a + 1, (SELECT b + 1 FROM u) AS x, count(*), b")).toEqual(["t.a + Int64(1)", "count(*)", "t.b + Int64(1)"]);
});

test("a window of the WINDOW clause", () => {
  const { names } = nameItems(tokenize("SELECT sum(a) OVER w, (SELECT 1), rank() OVER v FROM t WINDOW w AS (ORDER BY b ROWS 3 PRECEDING)"));
  const texts = names.nodes.map((node) => nameText(node, CONTEXT, 1000));
  expect(texts).toEqual(["sum(t.a) ORDER BY [t.b ASC NULLS LAST] ROWS BETWEEN 3 PRECEDING AND CURRENT ROW", "inner", "Int64(1)"]);
});

test("aliases that stand for names differ from any that a user may write", () => {
  const { tokens } = nameItems(tokenize("SELECT 1"));
  const alias = /"(.*)"/.exec(tokens.at(-1)!.text)![1]!;
  expect(aliasNumber(alias)).toBe(0);
  for (const other of ["name", "name1.0", "name\u{E000}", `${alias}x`, `x${alias}`]) expect(aliasNumber(other)).toBeNull();
});

describe("hostile lists", () => {
  const deep = (open: string, close: string, n: number) => `${open.repeat(n)}1${close.repeat(n)}`;
  const n = 20_000;
  const CHARS_MAX = 1 << 16;
  const LISTS: readonly (readonly [what: string, items: string])[] = [
    ["parentheses", deep("(", ")", n)],
    ["calls", deep("pow(", ", 2)", n)],
    ["calls of their own grammar", deep("position(", ", 2)", 300)],
    ["NOT", deep("NOT ", "", n)],
    ["minus", deep("- ", "", n)],
    ["CASE", deep("CASE WHEN a THEN ", " END", n)],
    ["casts", deep("", "::int", n)],
    ["subscripts", deep("", "[1]", n)],
    ["tests", deep("", " IS NULL", n)],
    ["queries", deep("(SELECT ", ")", n)],
    ["open brackets", "([{".repeat(n)],
    ["sums", deep("1 + ", "", n)],
    ["sums and products", deep("1 + 2 * 3 AND ", "", n)],
    ["items", deep("a + 1, ", "", n)],
  ];
  test.each(LISTS)("%s", (_, items) => {
    for (const name of namesOf(items, CHARS_MAX)) expect(name.length).toBeLessThanOrEqual(CHARS_MAX + 1);
  });

  test("a name that doubles with each level is cut", () => {
    const [name] = namesOf(deep("pow(", ", 2)", 40), 1000);
    expect(name).toHaveLength(1001);
    expect(name).toEndWith("…");
  });
});
