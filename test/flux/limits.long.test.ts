// Scripts that would take all memory, the whole stack or for ever: each ends in an error that says why.
import { expect, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS, type FluxQuery } from "../../src/flux/interpret/query.ts";
import { RUN_LIMITS, type RunLimits } from "../../src/flux/interpret/run-limits.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { FluxError } from "../../src/flux/values/flux-error.ts";
import { MemorySource } from "./memory-source.ts";

const NOW = parseTime("2024-03-05T10:30:00Z")!;
const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };

interface Outcome {
  readonly text: string;
  /** Times that others could run. */
  readonly pauses: number;
}

async function outcome(text: string, query: Partial<FluxQuery> = {}): Promise<Outcome> {
  let [answer, pauses] = ["", 0];
  try {
    for (const piece of answerQuery({ text, now: NOW, dialect, ...query }, fluxLibrary(), new MemorySource())) {
      if (typeof piece === "string") answer = (answer + piece.slice(0, 1000)).slice(0, 100_000);
      else if (!(piece instanceof Uint8Array)) pauses++;
      if (piece instanceof Promise) await piece;
    }
  } catch (error) {
    if (!(error instanceof FluxError)) throw error;
    return { text: `error: ${error.message}`, pauses };
  }
  return { text: answer, pauses };
}

const lines = (count: number, line: (i: number) => string) => Array.from({ length: count }, (_, i) => line(i)).join("\n");
const list = (count: number, item: (i: number) => string) => Array.from({ length: count }, (_, i) => item(i)).join();
const shown = (value: string) => `array.from(rows: [{v: ${value}}])`;
const small = (limits: Partial<RunLimits>): RunLimits => ({ ...RUN_LIMITS, busyMsMax: 60_000, ...limits });
const rows = (count: number) =>
  `import "generate"\ndata = generate.from(count: ${count}, fn: (n) => n, start: 2021-01-01T00:00:00Z, stop: 2021-01-02T00:00:00Z)`;
const twice = (first: string, next: (i: number) => string, count: number) =>
  `x0 = ${first}\n${lines(count, (i) => `x${i + 1} = ${next(i)}`)}`;
const calls = (count: number, body: (i: number) => string) => `f0 = (x) => x + 1\n${lines(count, (i) => `f${i + 1} = (x) => ${body(i)}`)}`;
const EPOCH = `${shown("1.0")} |> map(fn: (r) => ({_time: 1970-01-01T00:00:00Z, _value: r.v}))`;

type Hostile = readonly [what: string, script: string, error: RegExp, limits?: Partial<RunLimits>];

const IN_A_RUN: readonly Hostile[] = [
  ["a function that is given itself", `f = (g) => g(g: g)\n${shown("f(g: f)")}`, /recursive types not supported/],
  ["a function that names itself", `f = (n) => f(n: n)\n${shown("f(n: 1)")}`, /undefined identifier f/],
  ["2^40 calls", `${calls(40, (i) => `f${i}(x: f${i}(x: x))`)}\n${shown("f40(x: 1)")}`, /too many steps/, { stepsMax: 100_000 }],
  [
    "2^40 calls, by time",
    `${calls(40, (i) => `f${i}(x: f${i}(x: x))`)}\n${shown("f40(x: 1)")}`,
    /computes for more than 50 ms/,
    { busyMsMax: 50 },
  ],
  [
    "2^40 calls for a row",
    `${calls(40, (i) => `f${i}(x: f${i}(x: x))`)}\n${shown("1")} |> map(fn: (r) => ({v: f40(x: r.v)}))`,
    /too many steps/,
    { stepsMax: 100_000 },
  ],
  ["calls in each other", `${calls(600, (i) => `f${i}(x: x) + 1`)}\n${shown("f600(x: 1)")}`, /calls are nested too deep/],
  [
    "defaults in each other",
    `f0 = (x=1) => x\n${lines(600, (i) => `f${i + 1} = (x=f${i}()) => x`)}\n${shown("f600()")}`,
    /calls are nested too deep/,
  ],
  [
    "items in each other",
    `f0 = (x) => [x]\n${lines(600, (i) => `f${i + 1} = (x) => [x] |> array.map(fn: (x) => f${i}(x: x)[0])`)}\n${shown("f600(x: 1)[0]")}`,
    /calls are nested too deep/,
  ],
  [
    "a text of 2^44 characters",
    `${twice('"aaaaaaaaaaaaaaaa"', (i) => `x${i} + x${i}`, 40)}\n${shown("x40")}`,
    /longer than 16777216 characters/,
  ],
  [
    "the same by interpolation",
    `${twice('"aaaaaaaaaaaaaaaa"', (i) => `"\${x${i}}\${x${i}}"`, 40)}\n${shown("x40")}`,
    /longer than 16777216/,
  ],
  ["a repeated text", `import "strings"\n${shown('strings.repeat(v: "abc", i: 1000000000)')}`, /longer than 16777216/],
  [
    "a replaced text",
    `import "strings"\n${twice('"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"', (i) => `strings.replaceAll(v: x${i}, t: "a", u: x0)`, 8)}\n${shown("x8")}`,
    /longer than 16777216/,
  ],
  [
    "joined texts",
    `import "strings"\n${twice('"aaaaaaaa"', (i) => `strings.joinStr(arr: [x${i}, x${i}, x${i}, x${i}], v: "")`, 20)}\n${shown("x20")}`,
    /longer than/,
  ],
  [
    "a text that grows by rows",
    `${rows(100)}\ndata |> reduce(fn: (r, accumulator) => ({s: accumulator.s + accumulator.s}), identity: {s: "a"})`,
    /longer than/,
  ],
  [
    "an array of 2^43 items",
    `${twice("[1, 2, 3, 4, 5, 6, 7, 8]", (i) => `array.concat(arr: x${i}, v: x${i})`, 40)}\n${shown("x40[0]")}`,
    /more than 1000000 bytes/,
    { bytesMax: 1_000_000 },
  ],
  ["an array of bins", "linearBins(start: 0.0, width: 1.0, count: 2000000000)", /values would take more than/],
  ["another", "logarithmicBins(start: 1.0, factor: 2.0, count: 9223372036854775807)", /values would take more than/],
  [
    "parts of a text",
    `import "strings"\n${shown('length(arr: strings.split(v: strings.repeat(v: "a,", i: 100000), t: ","))')}`,
    /more than 1000000 bytes/,
    { bytesMax: 1_000_000 },
  ],
  [
    "an array in arrays, shown",
    `${twice("[1]", (i) => `[x${i}, x${i}]`, 60)}\n${shown("display(v: x60)")}`,
    /longer than 16777216 characters/,
  ],
  [
    "a dictionary in dictionaries, shown",
    `${twice("[1: 1]", (i) => `[1: x${i}, 2: x${i}]`, 60)}\n${shown("display(v: x60)")}`,
    /longer than/,
  ],
  ["as JSON", `import "json"\n${twice("[1]", (i) => `[x${i}, x${i}]`, 60)}\n${shown("string(v: json.encode(v: x60))")}`, /longer than/],
  [
    "as dynamic values",
    `import "experimental/dynamic"\n${twice("[1]", (i) => `[x${i}, x${i}]`, 60)}\ny = dynamic.dynamic(v: x60)\n${shown("1")}`,
    /too many members/,
  ],
  [
    "compared",
    `${twice("[1]", (i) => `[x${i}, x${i}]`, 40)}\ny0 = [1]\n${lines(40, (i) => `y${i + 1} = [y${i}, y${i}]`)}\n${shown("x40 == y40")}`,
    /too large to be compared/,
  ],
  [
    "a list that is searched for each of its items",
    `bins = linearBins(start: 0.0, width: 1.0, count: 500)
${shown("length(arr: array.filter(arr: bins, fn: (x) => contains(value: x + 0.5, set: bins)))")}`,
    /too many steps/,
    { stepsMax: 100_000 },
  ],
  [
    "a large text that is searched again and again",
    `import "strings"\nbig = strings.repeat(v: "a", i: 10000000)
${shown('length(arr: array.filter(arr: linearBins(start: 0.0, width: 1.0, count: 50), fn: (x) => strings.containsStr(v: big, substr: "b")))')}`,
    /too many steps/,
    { stepsMax: 100_000 },
  ],
  [
    "a regular expression with many states",
    `import "regexp"\nimport "strings"\n${shown('regexp.findString(r: /(a?){500}(a?){500}b/, v: strings.repeat(v: "a", i: 1000000))')}`,
    /too many steps/,
  ],
  [
    "searches that all go to the end",
    `import "regexp"\nimport "strings"\n${shown('regexp.replaceAllString(r: /x.*y|x/, v: strings.repeat(v: "x", i: 100000), t: "z")')}`,
    /computes for more than 50 ms/,
    { busyMsMax: 50 },
  ],
  [
    "a regular expression in itself",
    `import "regexp"\n${shown('"a" =~ regexp.compile(v: "((((a{100}){100}){100}){100}){100}")')}`,
    /expression is too large|regex parse error/,
  ],
  [
    "rows of one table",
    'import "generate"\ngenerate.from(count: 2000000000, fn: (n) => n, start: 2021-01-01T00:00:00Z, stop: 2021-01-02T00:00:00Z)',
    /at most/,
  ],
  [
    "columns of a pivot",
    `${rows(3000)}\ndata |> map(fn: (r) => ({r with k: string(v: r._value)})) |> pivot(rowKey: ["_time"], columnKey: ["k"], valueColumn: "_value")`,
    /tables of more than 1000000 cells/,
    { cellsMax: 1_000_000 },
  ],
  [
    "pairs of a join",
    `import "join"\n${rows(2000)}\na = data |> map(fn: (r) => ({k: 1}))\nb = data |> map(fn: (r) => ({k: 1}))\njoin.inner(left: a, right: b, on: (l, r) => l.k == r.k, as: (l, r) => ({x: l.k, y: r.k}))`,
    /tables of more than 1000000 cells/,
    { cellsMax: 1_000_000 },
  ],
  [
    "tables",
    `${rows(20_000)}\nother = data |> group(columns: ["_value"])\nunion(tables: [other, other |> limit(n: 1)])`,
    /tables of more than 1000000 cells/,
    { cellsMax: 1_000_000 },
  ],
  [
    "tables of one row, each of which takes more memory than its row",
    `${rows(5000)}\ndata |> range(start: 2021-01-01T00:00:00Z, stop: 2021-01-02T00:00:00Z) |> group(columns: ["_value"]) |> window(every: inf)`,
    /tables of more than 1000000 cells/,
    { cellsMax: 1_000_000 },
  ],
  [
    "empty windows",
    `${EPOCH} |> range(start: 1970-01-01T00:00:00Z, stop: 2100-01-01T00:00:00Z) |> window(every: 1ns, createEmpty: true)`,
    /too many windows/,
  ],
  [
    "windows over each other",
    `${EPOCH} |> range(start: 1970-01-01T00:00:00Z, stop: 2100-01-01T00:00:00Z) |> window(every: 1ns, period: 1y)`,
    /too many windows overlap/,
  ],
  [
    "rows in windows over each other",
    `${rows(100)}\ndata |> range(start: 1970-01-01T00:00:00Z, stop: 2100-01-01T00:00:00Z) |> window(every: 1ms, period: 90s)`,
    /too many windows/,
  ],
  [
    "rows between rows",
    `import "interpolate"\nunion(tables: [${EPOCH}, array.from(rows: [{_time: 2100-01-01T00:00:00Z, _value: 2.0}])]) |> interpolate.linear(every: 1ns)`,
    /tables of more than 1000000 cells/,
    { cellsMax: 1_000_000 },
  ],
];

test.each(IN_A_RUN)("%s", async (_, script, error, limits = {}) => {
  const { text } = await outcome(`import "array"\n${script}`, {
    limits: small(limits),
  });
  expect(text).toMatch(/^error: /);
  expect(text).toMatch(error);
});

const BEFORE_A_RUN: readonly Hostile[] = [
  ["parentheses", `x = ${"(".repeat(20_000)}1${")".repeat(20_000)}`, /nested too deep/],
  ["arrays", `x = ${"[".repeat(20_000)}1${"]".repeat(20_000)}`, /nested too deep/],
  ["records", `x = ${"{a: ".repeat(20_000)}1${"}".repeat(20_000)}`, /nested too deep|expected comma/],
  ["functions", `x = ${"() => ".repeat(20_000)}1`, /nested too deep/],
  ["conditions", `x = ${"if true then 1 else ".repeat(20_000)}1`, /nested too deep/],
  ["signs", `x = ${"-".repeat(20_000)}1`, /nested too deep/],
  ["calls", `x = f${"()".repeat(20_000)}`, /nested too deep/],
  ["members", `x = f${".a".repeat(20_000)}`, /nested too deep/],
  ["sums", `x = 1${" + 1".repeat(20_000)}`, /nested too deep/],
  ["texts in texts", `x = ${'"${'.repeat(20_000)}1${'}"'.repeat(20_000)}`, /nested too deep|expected/],
  ["types", `builtin a : ${"[".repeat(20_000)}int${"]".repeat(20_000)}`, /nested too deep|expected/],
  ["blocks", `x = ${"() => {".repeat(20_000)}return 1${"}".repeat(20_000)}`, /nested too deep|expected|invalid/],
  ["imports", lines(5000, (i) => `import "p${i}"`), /invalid import path p0/],
  ["unknown names", lines(20_000, (i) => `x${i} = y${i}`), /undefined identifier y0[\s\S]*and \d+ more errors$/],
  ["a long name", `x = ${"a".repeat(1_000_000)}`, /undefined identifier a+…$/],
  ["wrong characters", "@ ".repeat(20_000), /invalid statement: @[\s\S]*and \d+ more errors$/],
  ["a number of a million digits", `x = ${"9".repeat(1_000_000)}`, /invalid integer literal/],
  ["options", `${lines(5000, (i) => `option o${i} = ${i}`)}\nx = 1`, /no streaming data/],
  ["a type of 2^60 fields", `${twice("{a: 1, b: 1}", (i) => `{a: x${i}, b: x${i}}`, 60)}\ny = 1`, /types of the script are too large/],
  [
    "a type of 2^256 parts",
    `x0 = (x) => ({a: x, b: x})\n${lines(8, (i) => `x${i + 1} = (x) => x${i}(x: x${i}(x: x))`)}`,
    /types of the script are too large/,
  ],
  [
    "functions of them",
    `f0 = (x, y) => x\n${lines(40, (i) => `f${i + 1} = (x, y) => f${i}(x: {a: x, b: y}, y: {a: x, b: y})`)}`,
    /types of the script are too large/,
  ],
  ["comments alone", "// x\n".repeat(300_000), /no streaming data/],
  ["options of an unknown package", lines(100_000, (i) => `option a.b${i} = 1`), /types of the script are too large/],
  ["a record of 100,000 fields", `x = {${list(100_000, (i) => `a${i}: ${i}`)}}`, /nested too deep|no streaming data/],
];

test.each(BEFORE_A_RUN)("before it runs: %s", async (_, script, error) => {
  const { text } = await outcome(script);
  expect(text).toMatch(/^error: /);
  expect(text.slice(0, 40_000)).toMatch(error);
  expect(text.length).toBeLessThan(60_000);
});

test.each(["movingAverage", "chandeMomentumOscillator", "kaufmansAMA"])("%s over many rows takes as long as over few", async (name) => {
  const { text } = await outcome(`${rows(300_000)}\ndata |> ${name}(n: 100000) |> count()`, { limits: small({}) });
  expect(text).toContain(name === "movingAverage" ? "Z,200001\r\n" : "Z,200000\r\n");
});

test("the script after a stack overflow", async () => {
  // packages are loaded in the midst of it
  await outcome(`import "experimental/geo"\nx = {${list(100_000, (i) => `a${i}: ${i}`)}}\ny = geo.filterRows`);
  const { text } = await outcome(
    `import "array"\nimport "experimental/geo"\n${shown("geo.toRows != geo.toRows or true")}`.replace(
      "geo.toRows != geo.toRows or true",
      "true",
    ),
  );
  expect(text).toContain(",,0,true");
});

const FIND = `import "array"\n${rows(300_000)}\nslow = data |> map(fn: (r) => ({r with z: r._value * 2}))
a = (slow |> findRecord(fn: (key) => true, idx: 7)).z
b = (slow |> findColumn(fn: (key) => true, column: "z"))[9]
c = (slow |> tableFind(fn: (key) => true) |> getRecord(idx: 11)).z
${shown('string(v: a) + " " + string(v: b) + " " + string(v: c)')}`;

test("others run while a script reads a stream in the midst of its evaluation", async () => {
  const { text, pauses } = await outcome(FIND, { rowFunctions: "interpreted" });
  expect(text).toContain(",,0,14 18 22\r\n");
  expect(pauses).toBeGreaterThan(0);
});

test("limits hold in such streams", async () => {
  const { text } = await outcome(FIND, { rowFunctions: "interpreted", limits: small({ cellsMax: 100_000 }) });
  expect(text).toMatch(/^error: error calling function "findRecord"[\s\S]*more than 100000 cells/);
});

test("a cancelled script stops in the midst of a computation", async () => {
  let looks = 0;
  const watch = () => {
    if (++looks > 3) throw new FluxError("cancelled");
  };
  const { text } = await outcome(`import "array"\n${calls(40, (i) => `f${i}(x: f${i}(x: x))`)}\n${shown("f40(x: 1)")}`, { watch });
  expect([text.endsWith("cancelled"), looks]).toEqual([true, 4]);
});

test("a long result is sent before its end, and an error then is a table behind it", async () => {
  const { text } = await outcome(`${rows(60_000)}
data
  |> range(start: 2021-01-01T00:00:00Z, stop: 2021-01-02T00:00:00Z)
  |> window(every: 12h)
  |> filter(fn: (r) => if r._value > 50000 then die(msg: "broken") else true)`);
  expect(text).toContain(",,0,2021-01-01T00:00:00Z,2021-01-01T12:00:00Z,");
  expect(text).toContain(",error,reference\r\n");
  expect(text).toContain("broken");
});

const TIMES = ["2023-10-29T00:30:00Z", "2023-10-29T01:30:00Z", "2023-03-26T01:30:00Z", "2024-03-31T00:30:00Z"];
const counted = (options: string) => `import "array"\noption location = {zone: "Europe/Warsaw", offset: 0h}
array.from(rows: [${TIMES.map((time) => `{_time: ${time}, _value: 1}`).join()}])
  |> range(start: 2023-01-01T00:00:00Z, stop: 2025-01-01T00:00:00Z) |> window(${options}) |> group() |> count()`;

const NARROW: readonly [what: string, options: string, answer: RegExp][] = [
  // its second showing is in no window, as in release 2.8.0
  ["in the hour that a clock repeats", "every: 1ns", /\r\n,,0,3\r\n/],
  ["moved by a month and a day", "period: 3ns, offset: 1mo1d", /\r\n,,0,\d+\r\n/],
  ["that overlap, moved by a month", "every: 3ns, period: 200us, offset: 1mo1h", /\r\n,,0,\d+\r\n|too many windows overlap/],
  ["that overlap around a change of clocks", "every: 1ns, period: 50us", /\r\n,,0,\d+\r\n/],
];

test.each(NARROW)("narrow windows %s are found without walking through all between", async (_, options, answer) => {
  expect((await outcome(counted(options))).text.slice(-300)).toMatch(answer);
});
