// Flux for the benchmark of growing statements: each production of its grammar in growing sizes, and operators over more rows or tables.
import type { TestServer } from "../../test/support/servers/server.ts";
import type { Size } from "../support/bench.ts";
import { type Grammar, list, nested, type Production } from "../support/growth-grammar.ts";

/** Rows of measurement m: 4 hosts per second, of 100. */
const ROWS: Record<Size, number> = { real: 200_000, smoke: 4000 };
const ROWS_PER_SECOND = 4;
const BODY_LINES = 10_000;
const HEADERS = { authorization: "Token tok", "content-type": "application/json" };

const ONE = `import "array"\narray.from(rows: [{_value: 1}])`;
const HOSTS = `from(bucket: "b") |> range(start: 0, stop: 100) |> filter(fn: (r) => r._measurement == "m")`;

/** Productions that grow with the text. */
function texts(name: string, n: number, text: Production["text"]): Production {
  return { name, n: { real: n, smoke: Math.max(1, Math.min(n, 10)) }, text };
}

/** Operators over n rows of m. */
function rows(name: string, pipe: string): Production {
  return {
    name: `${name} of n rows`,
    n: { real: ROWS.real / 8, smoke: ROWS.smoke / 8 },
    text: (n) =>
      `from(bucket: "b") |> range(start: 0, stop: ${Math.ceil(n / ROWS_PER_SECOND)}) |> filter(fn: (r) => r._field == "v") |> ${pipe}`,
  };
}

const TEXTS: readonly Production[] = [
  texts("n assignments", 1000, (n) => `${ONE}\n${list(n, "\n", (i) => `x${i} = ${i}`)}`),
  texts(
    "n assignments of the one before",
    1000,
    (n) => `import "array"\nx0 = 1\n${list(n, "\n", (i) => `x${i + 1} = x${i} + 1`)}\narray.from(rows: [{v: x${n}}])`,
  ),
  texts(
    "n functions, each of the one before",
    500,
    (n) => `import "array"\nf0 = (x) => x\n${list(n, "\n", (i) => `f${i + 1} = (x) => f${i}(x: x)`)}\narray.from(rows: [{v: f${n}(x: 1)}])`,
  ),
  texts(
    "n pairs of the one before",
    10,
    (n) =>
      `import "array"\np0 = (x) => [x, x]\n${list(n, "\n", (i) => `p${i + 1} = (x) => [p${i}(x: x), p${i}(x: x)]`)}\narray.from(rows: [{v: 1}])`,
  ),
  texts("n pipes", 25, (n) => `${ONE}${list(n, "", () => " |> limit(n: 1)")}`),
  texts(
    "n assignments of a pipe",
    100,
    (n) => `import "array"\na0 = array.from(rows: [{_value: 1}])\n${list(n, "\n", (i) => `a${i + 1} = a${i} |> limit(n: 1)`)}\na${n}`,
  ),
  texts("n results", 100, (n) => `import "array"\n${list(n, "\n", (i) => `array.from(rows: [{_value: 1}]) |> yield(name: "r${i}")`)}`),
  texts(
    "n results of the same rows",
    100,
    (n) => `import "array"\na = array.from(rows: [{_value: 1}])\n${list(n, "\n", (i) => `a |> yield(name: "r${i}")`)}`,
  ),
  texts("union of n tables", 250, (n) => `import "array"\nunion(tables: [${list(n, ", ", (i) => `array.from(rows: [{_value: ${i}}])`)}])`),
  texts(
    "rows from an array of n",
    2500,
    (n) => `import "array"\narray.from(rows: [${list(n, ", ", (i) => `{_value: ${i}, host: "h${i}"}`)}])`,
  ),
  texts("record of n properties", 1000, (n) => `import "array"\narray.from(rows: [{${list(n, ", ", (i) => `c${i}: ${i}`)}}])`),
  texts(
    "n records with one more property each",
    100,
    (n) => `import "array"\nr0 = {c: 0}\n${list(n, "\n", (i) => `r${i + 1} = {r${i} with c${i}: ${i}}`)}\narray.from(rows: [r${n}])`,
  ),
  texts("map with n properties", 250, (n) => `${ONE} |> map(fn: (r) => ({r with ${list(n, ", ", (i) => `c${i}: r._value + ${i}`)}}))`),
  texts("filter by n alternatives", 250, (n) => `${ONE} |> filter(fn: (r) => ${list(n, " or ", (i) => `r._value == ${i}`)})`),
  texts("stored rows by n alternatives", 250, (n) => `${HOSTS} |> filter(fn: (r) => ${list(n, " or ", (i) => `r.host == "h${i}"`)})`),
  texts("sum of n numbers", 250, (n) => `import "array"\narray.from(rows: [{v: ${list(n, " + ", String)}}])`),
  texts("text of n parts", 500, (n) => `import "array"\narray.from(rows: [{v: "${list(n, "", (i) => `\${string(v: ${i})}`)}"}])`),
  texts("text of n characters", 250_000, (n) => `import "array"\narray.from(rows: [{v: "${"a".repeat(n)}"}])`),
  texts("open text of n interpolations", 500, (n) => `import "array"\narray.from(rows: [{v: "${"${".repeat(n)}`),
  texts("n parentheses", 25, (n) => `import "array"\narray.from(rows: [{v: ${nested(n, "(", "1", ")")}}])`),
  texts("n nested arrays", 25, (n) => `import "array"\nx = ${nested(n, "[", "1", "]")}\narray.from(rows: [{v: 1}])`),
  texts("n nested records", 25, (n) => `import "array"\nx = ${nested(n, "{a: ", "1", "}")}\narray.from(rows: [{v: 1}])`),
  texts("n nested functions", 25, (n) => `import "array"\nx = ${list(n, "", (i) => `(a${i}) => `)}1\narray.from(rows: [{v: 1}])`),
  texts("n nested conditions", 25, (n) => `import "array"\narray.from(rows: [{v: ${nested(n, "if true then ", "1", " else 2")}}])`),
  texts("n signs", 25, (n) => `import "array"\narray.from(rows: [{v: ${"-".repeat(n)}1}])`),
  texts("n negations", 25, (n) => `import "array"\narray.from(rows: [{v: ${"not ".repeat(n)}true}])`),
  texts("duration of n parts", 1000, (n) => `import "array"\narray.from(rows: [{v: string(v: ${"1h".repeat(n)})}])`),
  texts("comment of n characters", 250_000, (n) => `//${"x".repeat(n)}\n${ONE}`),
  texts("n comments", 5000, (n) => `${"//x\n".repeat(n)}${ONE}`),
  texts("n faults", 250, (n) => `${ONE}\n${list(n, "\n", () => "x = @")}`),
  texts("n unknown names", 250, (n) => `${ONE}\n${list(n, "\n", (i) => `x${i} = unknown${i}`)}`),
  texts("n wrong types", 250, (n) => `${ONE}\n${list(n, "\n", (i) => `x${i} = 1 + "a"`)}`),
  texts(
    "regular expression of n alternatives",
    1000,
    (n) => `${ONE} |> filter(fn: (r) => string(v: r._value) =~ /${list(n, "|", (i) => `a${i}`)}/)`,
  ),
  texts(
    "regular expression of n stars",
    100,
    (n) => `import "array"\narray.from(rows: [{v: "${"a".repeat(1000)}"}]) |> filter(fn: (r) => r.v =~ /${"a*".repeat(n)}b/)`,
  ),
  texts("keep n columns", 2500, (n) => `${ONE} |> keep(columns: [${list(n, ", ", (i) => `"c${i}"`)}])`),
  texts(
    "group by n columns",
    250,
    (n) =>
      `import "array"\narray.from(rows: [{${list(n, ", ", (i) => `c${i}: "x"`)}}]) |> group(columns: [${list(n, ", ", (i) => `"c${i}"`)}])`,
  ),
  texts(
    "dictionary of n keys",
    1000,
    (n) =>
      `import "array"\nimport "dict"\nd = [${list(n, ", ", (i) => `"k${i}": ${i}`)}]\narray.from(rows: [{v: dict.get(dict: d, key: "k1", default: 0)}])`,
  ),
  texts(
    "csv of n lines",
    2500,
    (n) =>
      `import "csv"\ncsv.from(csv: "#datatype,string,long,string,double\n#group,false,false,true,false\n#default,_result,,,\n,result,table,host,_value\n${list(n, "", (i) => `,,${i},h${i},1\n`)}")`,
  ),
  texts(
    "csv of n values on a line",
    1000,
    (n) => `import "csv"\ncsv.from(mode: "raw", csv: "${list(n, ",", (i) => `c${i}`)}\n${list(n, ",", String)}")`,
  ),
];

const OPERATORS: readonly Production[] = [
  rows("rows", "yield()"),
  rows("group", `group(columns: ["host"])`),
  rows("one table", "group()"),
  rows("sort", `group() |> sort(columns: ["_value"])`),
  rows("map", "map(fn: (r) => ({r with x: r._value * 2.0}))"),
  rows("map to texts", `map(fn: (r) => ({r with x: "\${r.host}-\${r._value}"}))`),
  rows("filter", "filter(fn: (r) => r._value > 50.0)"),
  rows("windows", "window(every: 10s) |> mean()"),
  rows("means in windows", "aggregateWindow(every: 10s, fn: mean)"),
  rows("medians in windows", "aggregateWindow(every: 10s, fn: median)"),
  rows("pivot by host", `group() |> pivot(rowKey: ["_time"], columnKey: ["host"], valueColumn: "_value")`),
  rows("pivot by time", `group() |> pivot(rowKey: ["host"], columnKey: ["_time"], valueColumn: "_value")`),
  rows("reduce", "group() |> reduce(identity: {s: 0.0}, fn: (r, accumulator) => ({s: accumulator.s + r._value}))"),
  rows("distinct", `group() |> distinct(column: "_time")`),
  rows("unique", `group() |> unique(column: "_time")`),
  rows("difference", "difference()"),
  rows("derivative", "derivative(unit: 1s)"),
  rows("moving average", "movingAverage(n: 100)"),
  rows("moving average in time", "timedMovingAverage(every: 10s, period: 100s)"),
  rows("exponential average", "exponentialMovingAverage(n: 100)"),
  rows("states", "stateDuration(fn: (r) => r._value > 50.0)"),
  rows("histogram", "group() |> histogram(bins: linearBins(start: 0.0, width: 1.0, count: 100))"),
  rows("quantile", "group() |> quantile(q: 0.9)"),
  rows("top", "group() |> top(n: 100)"),
  rows("fill", "group() |> fill(usePrevious: true)"),
  rows("integral", "integral(unit: 1s)"),
  rows("forecast", "holtWinters(n: 10, interval: 10s)"),
  rows("groups of one row", `group(columns: ["_time", "host"])`),
];

export const GROWING_FLUX: Grammar = {
  name: "Flux",
  productions: [...TEXTS, ...OPERATORS],
  async prepare(server, _database, size) {
    const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
    await send(server, "/api/v2/setup", JSON.stringify(setup));
    for (let from = 0; from < ROWS[size]; from += BODY_LINES) {
      const count = Math.min(BODY_LINES, ROWS[size] - from);
      await send(
        server,
        "/api/v2/write?org=o&bucket=b&precision=s",
        list(count, "\n", (i) => line(from + i)),
      );
    }
  },
  request(server, _database, text) {
    return new Request(`${server.bucketsUrl}/api/v2/query?org=o`, {
      ...{ method: "POST", headers: { ...HEADERS, "content-type": "application/vnd.flux" }, body: text },
    });
  },
};

const line = (i: number) => `m,host=h${i % 100} v=${(i * 7) % 100}.5 ${Math.floor(i / ROWS_PER_SECOND)}`;

async function send(server: TestServer, path: string, body: string): Promise<void> {
  const response = await fetch(server.bucketsUrl + path, { method: "POST", headers: HEADERS, body });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}
