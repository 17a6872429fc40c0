// Windows that come together again, computed at once and by a table for each window: the same text, values or errors, over random rows with
// nulls, NaN, infinities, equal times and tables of one row.
import { expect, spyOn, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import type { ScriptRun } from "../../src/flux/interpret/script-run.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { RowPlacer } from "../../src/flux/library/windows/placed-rows.ts";
import { StreamNode } from "../../src/flux/tables/stream.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { FluxError } from "../../src/flux/values/flux-error.ts";
import { type Below, pick, prng } from "../support/prng.ts";
import { MemorySource } from "./memory-source.ts";

const NOW = parseTime("2024-04-05T10:30:00Z")!;
const SOURCE = new MemorySource();
const START = "2024-03-30T22:10:05Z";
const STOP = "2024-04-01T05:00:00Z";
const startMs = Date.parse(START);
const spanMs = Date.parse(STOP) - startMs;

const VALUES: Readonly<Record<string, (below: Below) => string>> = {
  double: (below) =>
    pick(below, ["NaN", "+Inf", "-Inf", "-0", "0", "1e300", ...Array.from({ length: 14 }, () => `${(below(40) - 20) / 4}`)]),
  long: (below) => pick(below, ["9223372036854775807", "-9223372036854775808", `${below(9) - 4}`, `${below(9)}`, `${below(9)}`]),
  unsignedLong: (below) => pick(below, ["18446744073709551615", "0", `${below(9)}`, `${below(9)}`]),
  string: (below) => pick(below, ["a", "b", "ä", "zz"]),
  boolean: (below) => pick(below, ["true", "false"]),
};

/** Some of the times are where windows begin. */
function onBound(below: Below, ms: number): number {
  return below(4) === 0 ? ms - ((startMs + ms) % 1_800_000) + 1_800_000 : ms;
}

/** A table for each tag: rows in the order of time, or not, some of them at one time. */
function csvOf(seed: number, type: string, isOrdered: boolean): string {
  const below = prng(seed);
  const sizes = [1, 12, 1 + below(30), 3];
  const cell = (make: () => string, nulls: number) => (below(nulls) === 0 ? "" : make());
  const lines = [
    `#datatype,string,long,dateTime:RFC3339,string,${type},double,string,string`,
    "#group,false,false,false,true,false,false,true,false",
    "#default,_result,,,,,,,",
    ",result,table,_time,_field,_value,other,host,note",
  ];
  for (const [table, size] of sizes.entries()) {
    // rows close to each other, in few places of the range
    const places = Array.from({ length: 3 }, () => below(spanMs - 4_000_000));
    const times = Array.from({ length: size }, () => onBound(below, pick(below, places) + below(4_000) * 1000));
    if (isOrdered) times.sort((a, b) => a - b);
    for (const ms of times) {
      const value = cell(() => VALUES[type]!(below), 6);
      const cells = [new Date(startMs + ms).toISOString(), "f", value, cell(() => VALUES["double"]!(below), 5), `h${table}`];
      lines.push(`,,${table},${cells.join(",")},${cell(() => pick(below, ["x", "y"]), 3)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

const FUNCTIONS = [
  ...["mean", "count", "sum", "first", "last", "min", "max", "median", "stddev", "spread", "skew", "mode", "distinct", "unique"],
  ...["estimate_tdigest", "exact_mean", "exact_selector"].flatMap((method) =>
    ["0.95", "0.0", "1.0"].map((q) => `(column, tables=<-) => tables |> quantile(q: ${q}, column: column, method: "${method}")`),
  ),
  "(column, tables=<-) => tables |> quantile(q: 0.3, column: column, compression: 2.0)",
  '(column, tables=<-) => tables |> stddev(column: column, mode: "population")',
  "(column, tables=<-) => tables |> top(n: 2, columns: [column])",
  '(column, tables=<-) => tables |> bottom(n: 3, columns: [column, "other"])',
  '(column, tables=<-) => tables |> sort(columns: ["note", column], desc: true) |> limit(n: 2, offset: 1)',
  "(column, tables=<-) => tables |> limit(n: 2, offset: 1)",
  "(column, tables=<-) => tables |> limit(n: 0)",
  "(column, tables=<-) => tables |> tail(n: 2)",
  "(column, tables=<-) => tables |> sample(n: 3, pos: 1, column: column)",
  "(column, tables=<-) => tables |> derivative(unit: 7s, columns: [column], nonNegative: true)",
  "(column, tables=<-) => tables |> difference(columns: [column])",
  '(column, tables=<-) => tables |> difference(columns: [column, "other"], keepFirst: true)',
  "(column, tables=<-) => tables |> increase(columns: [column])",
  '(column, tables=<-) => tables |> cumulativeSum(columns: [column, "other"])',
  "(column, tables=<-) => tables |> elapsed()",
  "(column, tables=<-) => tables |> integral(unit: 1m, column: column)",
  '(column, tables=<-) => tables |> integral(unit: 1m, column: column, interpolate: "linear")',
  "(column, tables=<-) => tables |> timeWeightedAvg(unit: 1s)",
  "(column, tables=<-) => tables |> unique(column: column) |> count(column: column)",
  "(column, tables=<-) => tables |> first(column: column) |> last(column: column)",
];

const WINDOWS = [
  ...["every: 1h", "every: 27m, offset: -90s", "every: 1d, offset: 90m", "every: 30m, period: 95m", "every: 35m, period: 4m, offset: 1s"],
  ...["every: 1mo", 'every: 1d, location: {zone: "Europe/Berlin", offset: 0h}', 'every: 6h, location: {zone: "", offset: 40m}'],
  ...["every: 1d, period: 3d", "every: 4d, period: 9d", "every: 1h, period: -20m", "every: 2w"],
];

/** Between the rows and their windows. */
const BEFORE = [
  "",
  '|> group(columns: ["host"])',
  "|> group()",
  "|> timeShift(duration: 50h)",
  '|> timeShift(duration: -30h, columns: ["_time"])',
  '|> drop(columns: ["_start", "_stop"])',
  '|> keep(columns: ["_time", "_value", "host", "other"])',
  '|> duplicate(column: "_value", as: "twin") |> group(columns: ["twin", "host"])',
  '|> group(columns: ["_time", "host"])',
  '|> map(fn: (r) => ({r with none: if r.host == "h1" then "" else r.note, _value: r._value}))',
  "|> filter(fn: (r) => exists r._value)",
  '|> window(every: 1d) |> group(columns: ["host", "_start"])',
  '|> rename(columns: {_value: "v"})',
];

/** Lines of several series and types, of which the storage computes nothing. */
function linesOf(seed: number): string {
  const below = prng(seed);
  const lines = Array.from({ length: 120 }, () => {
    const fields = [`f=${(below(40) - 20) / 4}`, `i=${below(9)}i`, `u=${below(9)}u`, `s="${pick(below, ["a", "b"])}"`];
    const ns = `${startMs + onBound(below, below(spanMs / 8) + pick(below, [0, spanMs / 2]))}000000`;
    return `m,host=h${below(3)}${below(2) === 0 ? ",site=x" : ""} ${fields.filter(() => below(3) > 0).join() || "f=1"} ${ns}`;
  });
  return lines.join("\n");
}
SOURCE.addBucket("b", linesOf(3));

function answer(text: string, windows: ScriptRun["windows"]): string {
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  let body = "";
  try {
    for (const piece of answerQuery({ text, now: NOW, dialect, windows }, fluxLibrary(), SOURCE)) {
      if (typeof piece === "string") body += piece;
      else if (piece !== null && !(piece instanceof Promise)) body += Buffer.from(piece as Uint8Array).toString();
    }
  } catch (error) {
    if (!(error instanceof FluxError)) throw error;
    return `error: ${error.message}`;
  }
  return body;
}

const dataOf = (csv: string) => `import "csv"\ndata = csv.from(csv: ${JSON.stringify(csv)}) |> range(start: ${START}, stop: ${STOP})\n`;

/** Both answers are equal. @returns what it is */
function compared(data: string, script: string): string {
  const [atOnce, byTables] = [answer(data + script, "at once"), answer(data + script, "by tables")];
  expect({ script, answer: atOnce }).toEqual({ script, answer: byTables });
  return atOnce;
}

test("each function over each kind of values", () => {
  const answers = new Set<string>();
  let count = 0;
  for (const [seed, type] of Object.keys(VALUES).entries()) {
    const below = prng(seed);
    const data = dataOf(csvOf(seed, type, true));
    for (const fn of FUNCTIONS) {
      for (const createEmpty of [true, false]) {
        const column = pick(below, ["_value", "_value", "_value", "other", "note", "host", "none"]);
        const timeSrc = pick(below, ["_stop", "_start"]);
        const script = `data |> aggregateWindow(${pick(below, WINDOWS)}, fn: ${fn}, column: "${column}", createEmpty: ${createEmpty}, timeSrc: "${timeSrc}")`;
        answers.add(compared(data, script));
        count++;
      }
    }
  }
  expect(answers.size).toBeGreaterThan(0.6 * count);
});

test("all windows of tables of any kind", () => {
  const below = prng(77);
  for (const [i, window] of WINDOWS.entries()) {
    for (const [k, before] of BEFORE.entries()) {
      const isOrdered = below(2) === 0;
      const data = dataOf(csvOf(i * 100 + k, pick(below, ["double", "double", "long"]), isOrdered));
      const rest = `createEmpty: ${below(2) === 0}, timeSrc: "${pick(below, ["_start", "_stop"])}"`;
      compared(data, `data ${before} |> aggregateWindow(${window}, fn: ${pick(below, FUNCTIONS)}, ${rest})`);
    }
  }
});

test("windows of rows of a bucket", () => {
  const below = prng(4);
  const rows = `from(bucket: "b") |> range(start: ${START}, stop: ${STOP})`;
  const answers = new Set<string>();
  for (const fn of FUNCTIONS) {
    for (const field of ["f", pick(below, ["i", "u", "s"])]) {
      const group = pick(below, [
        "",
        "",
        ' |> group(columns: ["host"])',
        ' |> group(columns: ["site", "_field"])',
        ' |> drop(columns: ["site"])',
      ]);
      const window = `${pick(below, WINDOWS)}, fn: ${fn}, createEmpty: ${below(2) === 0}`;
      answers.add(compared("", `${rows} |> filter(fn: (r) => r._field == "${field}")${group} |> aggregateWindow(${window})`));
    }
  }
  expect(answers.size).toBeGreaterThan(FUNCTIONS.length);
});

test("windows that the script puts together itself, and averages of overlapping ones", () => {
  const data = dataOf(csvOf(5, "double", true));
  const others = dataOf(csvOf(6, "long", true))
    .replace("data =", "others =")
    .replace('import "csv"\n', "");
  const inf = 'duplicate(column: "_stop", as: "_time") |> window(every: inf)';
  const scripts = [
    `data |> window(every: 1h) |> stddev() |> ${inf}`,
    `data |> window(every: 1h, createEmpty: true) |> top(n: 1) |> ${inf}`,
    `data |> window(every: 3h, period: 5h) |> first() |> ${inf} |> group()`,
    "data |> timedMovingAverage(every: 10m, period: 3h)",
    'data |> timedMovingAverage(every: 3h, period: 10m, column: "other")',
    'data |> aggregateWindow(every: 1h, fn: median, timeSrc: "_time")',
    'data |> aggregateWindow(every: 1h, fn: max, timeSrc: "_time", timeDst: "at")',
    'data |> aggregateWindow(every: 1h, fn: max, timeSrc: "_start", timeDst: "at")',
    // tables of one key, and of two types
    "union(tables: [data, others]) |> aggregateWindow(every: 1h, fn: median)",
    'union(tables: [data |> filter(fn: (r) => r.host == "h1"), others |> filter(fn: (r) => r.host != "h1")]) |> aggregateWindow(every: 1h, fn: median)',
    "union(tables: [data, data |> range(start: 2024-03-31T12:00:00Z)]) |> aggregateWindow(every: 1h, fn: last)",
    'union(tables: [data, data |> range(start: 2024-03-31T12:00:00Z)]) |> group(columns: ["host", "_start", "_stop"]) |> aggregateWindow(every: 5h, fn: median)',
    'union(tables: [data, data |> range(start: 2024-03-31T12:00:00Z)]) |> group(columns: ["host", "_start"]) |> aggregateWindow(every: 5h, fn: mean)',
    // a source that fails
    'data |> map(fn: (r) => ({r with _value: if r.host == "h2" then die(msg: "enough") else r._value})) |> aggregateWindow(every: 1h, fn: median)',
    "data |> aggregateWindow(every: 1ns, fn: median, createEmpty: false)",
    "data |> aggregateWindow(every: 30m, period: 1d, fn: mean, createEmpty: false)",
    "data |> aggregateWindow(every: 1h, fn: mean) |> aggregateWindow(every: 3h, fn: median)",
    "data |> limit(n: 0) |> aggregateWindow(every: 1h, fn: median)",
    'data |> filter(fn: (r) => r.host == "h9", onEmpty: "keep") |> aggregateWindow(every: 1d, fn: median)',
    'data |> filter(fn: (r) => r.host == "h9", onEmpty: "keep") |> aggregateWindow(every: 1d, fn: mean, createEmpty: false)',
    `w = data |> window(every: 1h)\nw |> median() |> ${inf} |> yield(name: "a")\nw |> yield(name: "b")`,
    'import "array"\narray.from(rows: [{_time: 2024-03-31T12:00:00Z, _value: 1.0}, {_time: 2024-03-31T12:00:01Z, _value: 2.0}]) |> aggregateWindow(every: 1s, fn: median, createEmpty: false)',
    'import "array"\narray.from(rows: [{_time: 2024-03-31T12:00:00Z, _value: 1.0}]) |> aggregateWindow(every: 1s, fn: median)',
  ];
  for (const script of scripts) compared(`${data}${others}`, script);
});

test("what is computed at once", () => {
  // the order of rows that do not compare is that of each window alone
  const data = dataOf(csvOf(9, "double", true).replaceAll("NaN", "1.5"));
  const [placed, over] = [spyOn(RowPlacer.prototype, "placed"), spyOn(StreamNode.prototype, "over")];
  try {
    const own = ["timeWeightedAvg", "limit(n: 0)"];
    for (const fn of FUNCTIONS.filter((text) => !own.some((each) => text.includes(each)))) {
      const [before, overBefore] = [placed.mock.calls.length, over.mock.calls.length];
      expect(answer(`${data}data |> aggregateWindow(every: 1h, fn: ${fn}, createEmpty: false)`, "at once")).not.toStartWith("error:");
      expect({ fn, tables: placed.mock.calls.length - before, left: over.mock.calls.length - overBefore }).toEqual({
        fn,
        tables: 4,
        left: 0,
      });
    }
  } finally {
    placed.mockRestore();
    over.mockRestore();
  }
});
