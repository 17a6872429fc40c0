// The v1 language for the benchmark of growing statements: each production of its grammar in growing sizes, and each kind of function over
// more rows, windows or series.
import { type Grammar, list, nested, type Production, writeLines } from "../support/growth-grammar.ts";

/** Rows of table m: 4 hosts per second, of 100. */
const ROWS = { real: 400_000, smoke: 4000 };
const ROWS_PER_SECOND = 4;
/** Series of table wide, one row each. */
const SERIES = { real: 100_000, smoke: 1000 };
const TABLES = { real: 2000, smoke: 50 };

const SECONDS = ROWS.real / ROWS_PER_SECOND;

/** Productions that grow with the text. */
function texts(name: string, n: number, text: Production["text"]): Production {
  return { name, n: { real: n, smoke: Math.max(1, Math.min(n, 10)) }, text };
}

/** Productions that grow with n, the number of rows of m that they read. */
function rows(name: string, select: string, rest = ""): Production {
  return {
    name: `${name} of n rows`,
    n: { real: ROWS.real / 8, smoke: ROWS.smoke / 8 },
    text: (n) => `SELECT ${select} FROM m WHERE time >= 0 AND time < ${Math.ceil(n / ROWS_PER_SECOND)}s ${rest}`,
  };
}

/** Productions that grow with the number of time windows. */
function windows(name: string, n: number, select: string, rest = "", tag = ""): Production {
  const spanNs = BigInt(SECONDS) * 1_000_000_000n;
  return {
    name: `${name} in n windows`,
    n: { real: n, smoke: Math.max(8, n / 1000) },
    text: (count) =>
      `SELECT ${select} FROM m WHERE time >= 0 AND time < ${spanNs} GROUP BY time(${spanNs / BigInt(Math.trunc(count))}ns)${tag} ${rest}`,
  };
}

const FROM = "FROM m WHERE time >= 0 AND time < 100s";

const CONDITIONS: readonly Production[] = [
  texts("OR of n equalities of an integer", 650, (n) => `SELECT count(f) FROM m WHERE ${list(n, " OR ", (i) => `cnt = ${i}`)}`),
  texts("OR of n equalities of a float", 650, (n) => `SELECT count(f) FROM m WHERE ${list(n, " OR ", (i) => `f = ${i}.5`)}`),
  texts("OR of n equalities of a text", 650, (n) => `SELECT count(f) FROM m WHERE ${list(n, " OR ", (i) => `s = 't${i}'`)}`),
  texts("OR of n equalities of a tag", 650, (n) => `SELECT count(f) FROM m WHERE ${list(n, " OR ", (i) => `host = 'h${i}'`)}`),
  texts(
    "OR of n equalities of a tag and an integer",
    100,
    (n) => `SELECT count(f) FROM m WHERE ${list(n, " OR ", (i) => `host = 'h${i}' OR cnt = ${i}`)}`,
  ),
  texts("AND of n inequalities", 100, (n) => `SELECT count(f) FROM m WHERE ${list(n, " AND ", (i) => `cnt + 0 != ${i}`)}`),
  texts("OR of n comparisons", 100, (n) => `SELECT count(f) FROM m WHERE ${list(n, " OR ", (i) => `cnt * 2 > ${i + 10_000}`)}`),
  texts("OR of n patterns of a text", 50, (n) => `SELECT count(f) FROM m WHERE ${list(n, " OR ", (i) => `s =~ /^x.*${i}$/`)}`),
  texts("OR of n patterns of a tag", 650, (n) => `SELECT count(f) FROM m WHERE ${list(n, " OR ", (i) => `host =~ /x${i}$/`)}`),
  texts("a condition in n parentheses", 20, (n) => `SELECT f ${FROM} AND ${nested(n, "(", "cnt = 1", ")")}`),
  texts("a pattern of n characters", 10_000, (n) => `SELECT count(f) FROM m WHERE s =~ /${"a".repeat(n)}/`),
  texts("a pattern of n alternatives", 2000, (n) => `SELECT count(f) FROM m WHERE host =~ /${list(n, "|", (i) => `x${i}`)}/`),
  texts("a pattern repeated n times", 100, (n) => `SELECT count(f) FROM m WHERE s =~ /(a|b|t){${n}}x/`),
];

const SELECTS: readonly Production[] = [
  texts("n fields", 500, (n) => `SELECT ${list(n, ", ", (i) => `f AS f${i}`)} ${FROM}`),
  texts("n calls", 250, (n) => `SELECT ${list(n, ", ", (i) => `percentile(f, ${(i % 99) + 1})`)} ${FROM}`),
  texts("a sum of n terms", 1000, (n) => `SELECT ${list(n, " + ", () => "f")} ${FROM}`),
  texts("a sum of n constants", 50_000, (n) => `SELECT f + ${list(n, " + ", () => "1")} ${FROM}`),
  texts("n nested functions", 20, (n) => `SELECT ${nested(n, "abs(", "f", ")")} ${FROM}`),
  texts("n nested subqueries", 15, (n) => nested(n, "SELECT f FROM (", `SELECT f ${FROM}`, ")")),
  texts("n sources", 100, (n) => `SELECT count(f) FROM ${list(n, ", ", () => "m")} WHERE time < 10s`),
  texts("n subqueries as sources", 100, (n) => `SELECT count(f) FROM ${list(n, ", ", () => "(SELECT f FROM m WHERE time < 10s)")}`),
  texts("n statements", 500, (n) => list(n, "; ", () => "SELECT f FROM m LIMIT 1")),
  texts("GROUP BY n tags", 500, (n) => `SELECT count(f) ${FROM} GROUP BY ${list(n, ", ", (i) => `t${i}`)}`),
  texts("a text of n characters", 500_000, (n) => `SELECT f ${FROM} AND s = '${"x".repeat(n)}'`),
  texts("a name of n characters", 500_000, (n) => `SELECT "${"x".repeat(n)}" ${FROM}`),
  texts("a comment of n characters", 500_000, (n) => `SELECT f ${FROM} /*${"x".repeat(n)}*/`),
  texts("n characters of nonsense", 500_000, (n) => "(".repeat(n)),
  rows("raw rows", "f, cnt, s, host"),
  rows("raw rows backwards", "f", "ORDER BY time DESC"),
  rows("raw rows by series", "f", "GROUP BY *"),
  rows("arithmetic", "f * 2 + cnt / 3 - pow(f, 2)"),
  rows("fill(previous)", "f, nothing", "fill(previous)"),
  over("mean(x)", "SELECT f AS x FROM m"),
  over("x + 1", "SELECT f AS x FROM m"),
];

const REDUCERS = [
  ...["count", "sum", "mean", "median", "mode", "spread", "stddev", "integral", "distinct", "min", "max", "first", "last"].map(
    (name) => `${name}(f)`,
  ),
  ...["percentile(f, 90)", "top(f, 100)", "bottom(f, host, 10)", "sample(f, 100)", "count(distinct(s))", "mode(s)", "distinct(s)"],
];
const TRANSFORMS = [
  ...["derivative", "non_negative_derivative", "difference", "non_negative_difference", "cumulative_sum", "elapsed"].map(
    (name) => `${name}(f)`,
  ),
  ...["moving_average", "exponential_moving_average", "double_exponential_moving_average", "triple_exponential_moving_average"],
  ...["triple_exponential_derivative", "relative_strength_index", "kaufmans_efficiency_ratio", "kaufmans_adaptive_moving_average"],
  "chande_momentum_oscillator",
].map((name) => (name.endsWith(")") ? name : `${name}(f, 10)`));
const FILLS = ["none", "null", "0", "previous", "linear"];

const FUNCTIONS: readonly Production[] = [
  ...REDUCERS.map((call) => rows(call, call)),
  ...REDUCERS.filter((call) => call !== "sample(f, 100)").map((call) => windows(call, 12_500, call, "fill(none)")),
  ...TRANSFORMS.map((call) => rows(call, call)),
  ...TRANSFORMS.map((call) => windows(call.replace("(f", "(mean(f)"), 12_500, call.replace("(f", "(mean(f)"))),
  ...FILLS.map((fill) => windows(`fill(${fill})`, 250_000, "mean(f), max(cnt)", `fill(${fill})`)),
  windows("fill(0) and LIMIT", 1e9, "mean(f)", "fill(0) LIMIT 10"),
  windows("mean(f) of each of 100 series", 2500, "mean(f)", "fill(none)", ", host"),
  windows("holt_winters", 500, "holt_winters(mean(f), 10, 4)"),
  windows("holt_winters_with_fit of 1,000 points ahead", 5000, "holt_winters_with_fit(mean(f), 1000, 4)"),
  texts(
    "holt_winters with a season of n",
    15,
    (n) => `SELECT holt_winters(mean(f), 10, ${n}) FROM m WHERE time >= 0 AND time < 100s GROUP BY time(1s)`,
  ),
  texts("top of n", 12_500, (n) => `SELECT top(f, ${n}) FROM m`),
  texts("moving_average of n", 12_500, (n) => `SELECT moving_average(f, ${n}) FROM m`),
];

/** All of a table with many series, or of many tables: the length of the statement is constant. */
const SHOWS: readonly Production[] = [
  ...[
    "SHOW SERIES",
    "SHOW SERIES CARDINALITY",
    "SHOW SERIES EXACT CARDINALITY",
    "SHOW TAG VALUES WITH KEY = id",
    "SHOW TAG KEYS",
    "SHOW FIELD KEYS",
  ].map((show) =>
    texts(
      `${show} … WHERE id of n alternatives`,
      100,
      (n) =>
        `${show.replace(/( WITH.*)?$/, " FROM wide$1")} ${show.includes("FIELD") ? "" : `WHERE id =~ /${list(n, "|", (i) => `^${i}$`)}/`}`,
    ),
  ),
  texts(
    "SHOW TAG VALUES of n keys",
    100,
    (n) => `SHOW TAG VALUES FROM wide WITH KEY IN (${list(n, ", ", (i) => (i === 0 ? "id" : `k${i}`))})`,
  ),
  texts("SHOW SERIES where n values", 500, (n) => `SHOW SERIES FROM wide WHERE ${list(n, " OR ", (i) => `id = '${i}'`)}`),
  texts("SHOW SERIES from n tables", 250, (n) => `SHOW SERIES FROM ${list(n, ", ", (i) => `table${i}`)}`),
  texts("SHOW MEASUREMENTS by n alternatives", 1000, (n) => `SHOW MEASUREMENTS WITH MEASUREMENT =~ /${list(n, "|", (i) => `table${i}x`)}/`),
  texts("SHOW TAG VALUES LIMIT n", 12_500, (n) => `SHOW TAG VALUES FROM wide WITH KEY = id LIMIT ${n}`),
  texts("count of each of n series", 12_500, (n) => `SELECT count(v) FROM wide WHERE time < ${n}ns GROUP BY id`),
  texts("rows of each of n series", 12_500, (n) => `SELECT v FROM wide WHERE time < ${n}ns GROUP BY *`),
  texts("FROM a pattern of n alternatives", 250, (n) => `SELECT count(v) FROM /^(${list(n, "|", (i) => `table${i}`)})$/`),
];

const CHANGES: readonly Production[] = [
  texts(
    "INTO with n rows",
    12_500,
    (n) => `SELECT f, s INTO copied FROM m WHERE time >= 0 AND time < ${Math.ceil(n / ROWS_PER_SECOND)}s GROUP BY *`,
  ),
  texts("DELETE of n values", 10, (n) => `DELETE FROM deleted WHERE ${list(n, " OR ", (i) => `host = 'h${i}'`)}`),
  texts("n CREATE DATABASE", 10, (n) => list(n, "; ", (i) => `CREATE DATABASE "made${i % 50}"`)),
  texts("n EXPLAIN", 50, (n) => list(n, "; ", () => "EXPLAIN SELECT mean(f) FROM m")),
];

export const GROWING_TSDBQL: Grammar = {
  name: "v1",
  productions: [...CONDITIONS, ...SELECTS, ...FUNCTIONS, ...SHOWS, ...CHANGES],
  async prepare(server, database, size) {
    await writeLines(server, database, ROWS[size], rowOf);
    await writeLines(server, database, 100, (i) => `deleted,host=h${i} v=1 ${i}`);
    await writeLines(server, database, SERIES[size], (i) => `wide,id=${i},k1=${i % 7} v=${i} ${i}`);
    await writeLines(server, database, TABLES[size], (i) => `table${i},host=a v=1 1`);
  },
  request(server, database, text) {
    return new Request(`${server.url}/query`, { method: "POST", body: new URLSearchParams({ db: database, q: text, epoch: "ns" }) });
  },
};

function rowOf(i: number): string {
  const time = BigInt(Math.floor(i / ROWS_PER_SECOND)) * 1_000_000_000n;
  return `m,host=h${i % 100} cnt=${i % 1000}i,f=${((i * 7919) % 100_003) / 4},s="t${(i * 31) % 5003}",b=${i % 2 === 0} ${time}`;
}

/** A statement over the first n rows of a subquery. */
function over(select: string, inner: string): Production {
  return {
    name: `${select} over n rows of a subquery`,
    n: { real: ROWS.real / 8, smoke: ROWS.smoke / 8 },
    text: (n) => `SELECT ${select} FROM (${inner} LIMIT ${n})`,
  };
}
