// Operators where columns exist already, sides have no rows, integers overflow or times lie before 1970. Expected: the answers of
// InfluxDB 2.8.
import { expect, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { MemorySource } from "./memory-source.ts";

const NOW = parseTime("2024-03-05T10:30:00Z")!;
const SOURCE = new MemorySource();
SOURCE.addBucket(
  "cpu",
  ["40,1709632920", "43,1709632930", "35,1709632980", "32,1709632990"]
    .map((row) => row.split(","))
    .map(([value, seconds]) => `cpu,host=a usage=${value} ${seconds}000000000`)
    .join("\n"),
);
SOURCE.addBucket(
  "wide",
  'wide,dev=d1 a=0.5,b=0i 1709632800000000000\nwide,dev=d1 a=9.5,b=9i,c="c9",d=true 1709632890000000000\nwide,dev=d2 a=1.5 1709632810000000000',
);

const PACKAGES: Readonly<Record<string, string>> = {
  array: "array",
  debug: "internal/debug",
  events: "contrib/tomhollingworth/events",
  experimental: "experimental",
  join: "join",
  polyline: "experimental/polyline",
  promql: "internal/promql",
  table: "experimental/table",
};

/** Header and rows of the answer without the names of result and table; what went wrong is its last line, without its place. */
function answer(script: string): string[] {
  const imports = Object.entries(PACKAGES).filter(([name]) => script.includes(`${name}.`));
  const text = `${imports.map(([, path]) => `import "${path}"\n`).join("")}${script}`;
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  let body = "";
  try {
    for (const piece of answerQuery({ text, now: NOW, dialect }, fluxLibrary(), SOURCE)) {
      if (piece !== null && !(piece instanceof Promise)) body += typeof piece === "string" ? piece : Buffer.from(piece).toString();
    }
  } catch (error) {
    body += (error as Error).message.replace(/@[\d:]+-[\d]+:\d+/, "@");
  }
  return body
    .split("\r\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.replace(/^,(result,table|\w*,\d+),/, ""));
}

const CPU = 'from(bucket: "cpu") |> range(start: 2024-03-05T10:02:00Z, stop: 2024-03-05T10:03:20Z)';
const BOUNDS = "2024-03-05T10:02:00Z,2024-03-05T10:03:20Z";

test.each<[string, string[]]>([
  [
    'aggregateWindow(every: 1m, fn: first, timeDst: "t")',
    [
      "_start,_stop,_value,_field,_measurement,host,t",
      `${BOUNDS},40,usage,cpu,a,2024-03-05T10:03:00Z`,
      `${BOUNDS},35,usage,cpu,a,2024-03-05T10:03:20Z`,
    ],
  ],
  [
    'aggregateWindow(every: 1m, fn: max, timeSrc: "_time")',
    ['runtime error @: aggregateWindow: duplicate error: column "_time" doesn\'t exist'],
  ],
  [
    "window(every: 40s, createEmpty: true) |> min() |> table.fill()",
    [
      "_start,_stop,_value,_field,_measurement,host",
      "2024-03-05T10:02:00Z,2024-03-05T10:02:40Z,40,usage,cpu,a",
      "2024-03-05T10:02:40Z,2024-03-05T10:03:20Z,32,usage,cpu,a",
    ],
  ],
  // not what the storage selects
  [
    'aggregateWindow(every: 1m, fn: max, timeDst: "t", createEmpty: false)',
    [
      "_start,_stop,_time,_value,_field,_measurement,host,t",
      `${BOUNDS},2024-03-05T10:02:10Z,43,usage,cpu,a,2024-03-05T10:03:00Z`,
      `${BOUNDS},2024-03-05T10:03:00Z,35,usage,cpu,a,2024-03-05T10:03:20Z`,
    ],
  ],
  [
    'aggregateWindow(every: 1m, fn: max, column: "_time", timeDst: "t") |> drop(columns: ["_start", "_stop"])',
    [
      "_time,_value,_field,_measurement,host,t",
      "2024-03-05T10:02:10Z,43,usage,cpu,a,2024-03-05T10:03:00Z",
      "2024-03-05T10:03:10Z,32,usage,cpu,a,2024-03-05T10:03:20Z",
    ],
  ],
])("times of windows that are filled: %s", (steps, lines) => {
  expect(answer(`${CPU} |> ${steps}`)).toEqual(lines);
});

const WIDE = 'from(bucket: "wide") |> range(start: 2024-03-01T00:00:00Z, stop: 2024-03-10T00:00:00Z) |> filter(fn: (r) => r.dev == "d1")';

test.each(["max()", "experimental.max()"])("%s of fields of several types gives those before the texts", (step) => {
  expect(answer(`${WIDE} |> ${step} |> drop(columns: ["_start", "_stop"])`).at(-1)).toBe(
    "unsupported input type for max aggregate: string",
  );
  expect(answer(`${WIDE} |> ${step}`).filter((line) => line.includes("wide"))).toEqual([
    "2024-03-01T00:00:00Z,2024-03-10T00:00:00Z,2024-03-05T10:01:30Z,9.5,a,wide,d1",
    "2024-03-01T00:00:00Z,2024-03-10T00:00:00Z,2024-03-05T10:01:30Z,9,b,wide,d1",
  ]);
});

/** Two tables, those of `kept` with a row, joined with two tables of a row each. */
const joined = (kept: string, keys = '{k: "a", v: 1}, {k: "b", v: 2}') => `
l = array.from(rows: [${keys}]) |> group(columns: ["k"]) |> filter(fn: (r) => r.k == "${kept}", onEmpty: "keep")
r = array.from(rows: [{k: "a", v: 1}, {k: "b", v: 2}]) |> group(columns: ["k"])
`;
const ON = "on: (l, r) => l.v == r.v, as: (l, r) => ({l with z: r.v}))";

test.each<[string, string[]]>([
  [`${joined("a")}join.inner(left: l, right: r, ${ON}`, ["k,v,z", "a,1,1"]],
  [
    `${joined("b")}join.inner(left: l, right: r, ${ON}`,
    ["runtime error @: inner: error preparing left side of join: cannot join on an empty table"],
  ],
  [
    `${joined("b")}join.inner(left: r, right: l, ${ON}`,
    ["runtime error @: inner: error preparing right side of join: cannot join on an empty table"],
  ],
  // a table with rows that comes earlier has the columns
  [`${joined("0", '{k: "0", v: 1}, {k: "a", v: 1}')}join.left(left: l, right: r, ${ON}`, ["k,v,z", "0,1,"]],
  [
    `${joined("c", '{k: "c", v: 1}, {k: "a", v: 1}')}join.left(left: l, right: r, ${ON}`,
    ["runtime error @: left: error preparing left side of join: cannot join on an empty table"],
  ],
  [
    `${joined("x", '{k: "z", v: 1}')}join.left(left: l, right: r, ${ON}`,
    ["error preparing left side of join: cannot join on an empty table"],
  ],
  [
    `${joined("x")}join.left(left: l, right: r |> drop(columns: ["v", "k"]), ${ON}`,
    ["error preparing left side of join: cannot join on an empty table"],
  ],
])("join%s", (script, lines) => {
  expect(answer(script)).toEqual(lines);
});

/** Rows of one column; `null` is a null of the type. */
function rowsOf(type: "int" | "uint" | "float", values: readonly string[]): string {
  const cell = (value: string) => (value === "null" ? `debug.null(type: "${type}")` : type === "uint" ? `uint(v: "${value}")` : value);
  return `array.from(rows: [${values.map((value) => `{_value: ${cell(value)}}`).join(", ")}])`;
}
const [MIN, MAX, UMAX] = ["-9223372036854775807", "9223372036854775807", "18446744073709551615"];

test.each<[type: "int" | "uint" | "float", values: string[], step: string, made: string[]]>([
  ["int", ["null", "1", "null", "5", "3"], "difference(keepFirst: true, initialZero: true)", ["", "0", "", "4", "-2"]],
  ["int", ["null", "1", "null", "5", "3"], "difference(initialZero: true)", ["", "", "4", "-2"]],
  ["int", ["null", "1", "null", "5", "3"], "difference(keepFirst: true, initialZero: true, nonNegative: true)", ["", "0", "", "4", "3"]],
  ["uint", ["1", UMAX, "3", "18446744073709551613"], "difference(nonNegative: true, initialZero: true)", ["", "4", ""]],
  ["uint", ["3", "1", "7", "2"], "increase()", ["0", "1", "7", "9"]],
  ["uint", ["3", "1", "7", "2"], "chandeMomentumOscillator(n: 1)", ["100", "100", "100"]],
  ["uint", ["3", "null", "1"], "chandeMomentumOscillator(n: 1)", ["100", "100"]],
  ["uint", ["3", "1", "7", "2"], "kaufmansER(n: 2)", ["1", "1"]],
  ["int", [MIN, MAX, "-5", MAX], "chandeMomentumOscillator(n: 1)", ["-100", "100", "-100"]],
  ["int", [MIN, MAX, "-5", MAX], "chandeMomentumOscillator(n: 2)", ["100", "0"]],
  ["float", ["3.0", "1.0", "7.0"], "chandeMomentumOscillator(n: 1)", ["-100", "100"]],
  ["int", ["3", "null", "-1", MAX, "5", "5"], "mean()", ["1844674407370955300"]],
  ["int", ["3", "-1", MAX, "5", "5"], "mean()", ["-1844674407370955300"]],
])("%s %j |> %s", (type, values, step, made) => {
  const lines = answer(`${rowsOf(type, values)} |> ${step}`);
  expect(lines[0]).toBe("_value");
  // a row of nulls alone is a comma less
  expect(lines.slice(1).map((line) => line.replace(/^,.*,$/, ""))).toEqual(made);
});

const STATES = `array.from(rows: [
  {_time: 2024-01-01T00:00:00Z, _value: 1, s: 7},
  {_time: 2024-01-01T00:00:01Z, _value: 2, s: 8},
  {_time: 2024-01-01T00:00:02Z, _value: 0, s: 9},
])`;
const NO_ROWS = "array.from(rows: [{_value: 1}]) |> limit(n: 0)";
const OLD = "array.from(rows: [{_time: 1969-12-31T00:00:00Z, _value: 1}])";

test.each<[string, string[]]>([
  [
    `${STATES} |> stateCount(fn: (r) => r._value > 0) |> stateCount(fn: (r) => r._value > 1)`,
    [
      "_time,_value,s,stateCount,stateCount",
      ...["2024-01-01T00:00:00Z,1,7,1,1", "2024-01-01T00:00:01Z,2,8,2,2", "2024-01-01T00:00:02Z,0,9,-1,-1"],
    ],
  ],
  [
    `${STATES} |> stateTracking(fn: (r) => r._value > 0, countColumn: "x", durationColumn: "x")`,
    ["_time,_value,s,x,x", "2024-01-01T00:00:00Z,1,7,1,1", "2024-01-01T00:00:01Z,2,8,2,2", "2024-01-01T00:00:02Z,0,9,-1,-1"],
  ],
  [
    `${STATES} |> limit(n: 1) |> stateDuration(fn: (r) => r._value > 0, column: "_time")`,
    ["_time,_value,s,_time", "2024-01-01T00:00:00Z,1,7,1704067200000000000"],
  ],
  [`${NO_ROWS} |> stateTracking(fn: (r) => r._value > 0)`, ['runtime error @: stateTracking: column "_time" does not exist']],
  [`${NO_ROWS} |> stateDuration(fn: (r) => r._value > 0, timeColumn: "_value")`, ["_value,stateDuration"]],
  [`${OLD} |> stateDuration(fn: (r) => r._value > 0)`, ["runtime error @: stateDuration: got an out-of-order timestamp"]],
  [`${OLD} |> stateCount(fn: (r) => r._value > 0)`, ["_time,_value,stateCount", "1969-12-31T00:00:00Z,1,1"]],
  [
    `${OLD} |> range(start: 1960-01-01T00:00:00Z) |> integral(unit: 1s)`,
    ["runtime error @: integral: integral found out-of-order times in time column"],
  ],
  [
    `array.from(rows: [{_time: 1970-01-01T00:00:00Z, _value: 1}, {_time: 1970-01-01T00:00:01Z, _value: 1}])
       |> range(start: 1960-01-01T00:00:00Z) |> integral(unit: 1s) |> keep(columns: ["_value"])`,
    ["_value", "1"],
  ],
])("states and times: %s", (script, lines) => {
  expect(answer(script)).toEqual(lines);
});

const TWICE = (
  label: string,
  rows = `{_time: 2024-01-01T00:00:00Z, _stop: 2024-01-01T00:00:00Z, g: 1.0, h: 2.0, le: 1.0, ${label}: 1.0}`,
) => `array.from(rows: [${rows}]) |> group(columns: ["${label}"]) |> sort()`;

test.each<[key: string, step: string, label?: string]>([
  ["_value", "distinct()"],
  ["_value", 'distinct(column: "g")'],
  ["_value", "mode()"],
  ["_value", "columns()"],
  ["k", 'columns(column: "k")', "k"],
  ["_value", "keys()"],
  ["_key", 'keyValues(keyColumns: ["g"])', "_key"],
  ["_value", 'holtWinters(n: 1, interval: 1m, column: "g")'],
  ["_value", 'covariance(columns: ["g", "h"])'],
  ["_value", 'histogram(column: "g", bins: [2.0])'],
  ["_value", 'histogram(column: "g", bins: [2.0], upperBoundColumn: "a", countColumn: "a")', "a"],
  ["_value", 'histogramQuantile(quantile: 0.5, countColumn: "g")'],
  ["_value", 'polyline.rdp(valColumn: "g", epsilon: 1.0)'],
  ["_value", "promql.promHistogramQuantile(quantile: 0.5)"],
  ["_value", "promql.changes()"],
  ["k", 'elapsed(columnName: "h")', "h"],
  ["k", 'events.duration(columnName: "h")', "h"],
  ["_value", "experimental.distinct()"],
])("of the key %s, %s: a column cannot be there twice", (key, step, label = "_value") => {
  const name = step.slice(step.indexOf(".") < step.indexOf("(") ? step.indexOf(".") + 1 : 0, step.indexOf("("));
  const context = name === "changes" ? "changes: error appending value column" : name;
  expect(answer(`${TWICE(key)} |> ${step}`)).toEqual([`runtime error @: ${context}: table builder already has column with label ${label}`]);
});

const WRONG = 'array.from(rows: [{_time: 2024-01-01T00:00:00Z, b: "x", a: true, c: 1}])';

test.each<[step: string, problem: string]>([
  // columns in the order of the table
  ['difference(columns: ["a", "b"])', 'difference: difference does not support column "b" of type "string"'],
  ['increase(columns: ["a", "b"])', 'increase: difference does not support column "b" of type "string"'],
  ['derivative(columns: ["a", "b"])', "derivative: unsupported derivative column type b:string"],
  [
    'relativeStrengthIndex(columns: ["a", "b"], n: 1)',
    "relativeStrengthIndex: cannot take relative strength index of column b (type string)",
  ],
  [
    'chandeMomentumOscillator(columns: ["a", "b"], n: 1)',
    "chandeMomentumOscillator: cannot take chande momentum oscillator of column b (type string)",
  ],
  // by name
  ['experimental.group(columns: ["a", "z", "q"], mode: "extend")', 'group: unknown column "q"'],
  // what is read before what is made
  ['histogram(column: "z", bins: [2.0], upperBoundColumn: "a", countColumn: "a")', 'histogram: column "z" is missing'],
  ['histogram(column: "c", bins: [2.0], upperBoundColumn: "a", countColumn: "a")', 'histogram: column "c" must be a float got int'],
  ['events.duration(timeColumn: "c")', 'duration: column "_stop" does not exist'],
])("several problems, %s: %s", (step, problem) => {
  expect(answer(`${WRONG} |> ${step}`)).toEqual([`runtime error @: ${problem}`]);
});

test("pivot complains in the order of its column key", () => {
  expect(answer(`${WRONG} |> pivot(rowKey: ["a", "b"], columnKey: ["b", "a"], valueColumn: "c")`)).toEqual([
    'error calling function "pivot" @: column name found in both rowKey and colKey: b',
  ]);
});

test("a histogram without bins has its columns", () => {
  const empty = 'array.from(rows: [{g: "x", _value: 1.0}]) |> group(columns: ["g"]) |> limit(n: 0)';
  expect(answer(`${empty} |> histogram(bins: [])`)).toEqual(["g,le,_value"]);
});
