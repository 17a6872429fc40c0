// Measures scripts of the v2 line's language without a server: the front end on 100 lines, and operators that no scan takes over, on
// rows in memory.
import type { FluxSource, SourceSeries } from "../src/flux/interpret/flux-source.ts";
import { ProgramCache, programsOf } from "../src/flux/interpret/program-cache.ts";
import { ScriptRun } from "../src/flux/interpret/script-run.ts";
import { fluxLibrary } from "../src/flux/library/packages.ts";
import type { FluxTable } from "../src/flux/tables/table.ts";
import { Time } from "../src/flux/values/value.ts";
import { assert } from "../src/model/assert.ts";
import { type Answer, type Bench, median, type Size, short } from "./support/bench.ts";

const NOW = new Time(1_800_000_000_000_000_000n);
const START_NS = 1_700_000_000_000_000_000n;
const STEP_NS = 10_000_000_000n;
const BUCKET = { id: "0000000000000001", name: "b", organizationId: "0000000000000002", retentionPeriodNs: 0n };

/** 12 streams of 8 lines each: no two scripts have one text. */
function dashboard(k: number): string {
  const streams = Array.from({ length: 12 }, (_, i) =>
    [
      `// panel ${i}`,
      `from(bucket: "b")`,
      "    |> range(start: -1h, stop: now())",
      `    |> filter(fn: (r) => r._measurement == "cpu" and r._field == "usage_user" and r.host == "host_${k + i}")`,
      "    |> aggregateWindow(every: 1m, fn: mean, createEmpty: false)",
      `    |> map(fn: (r) => ({r with _value: r._value * 100.0 + ${k}.0, level: if r._value > 90.0 then "crit" else "ok"}))`,
      `    |> group(columns: ["host", "level"])`,
      `    |> yield(name: "panel ${i}")`,
    ].join("\n"),
  );
  const head = ['import "strings"', 'import "math"', 'import "array"', "option now = () => 2024-03-05T10:30:00Z"];
  return [...head, ...streams].join("\n");
}

class MemorySeries implements FluxSource {
  constructor(private readonly series: readonly SourceSeries[]) {}

  organization() {
    return { id: BUCKET.organizationId, name: "o" };
  }

  buckets() {
    return [BUCKET];
  }

  bucket() {
    return BUCKET;
  }

  *read() {
    yield* this.series;
  }
}

function seriesOf(field: string, host: string, rowCount: number): SourceSeries {
  const timesNs = BigInt64Array.from({ length: rowCount }, (_, i) => START_NS + BigInt(i) * STEP_NS);
  const values = Float64Array.from({ length: rowCount }, (_, i) => (i * 7 + field.length) % 101);
  return { measurement: "cpu", field, tags: [["host", host]], type: "float", timesNs, values };
}

/** From here on nothing is left to a storage. */
const ROWS = 'from(bucket: "b") |> range(start: 0) |> limit(n: 1000000000)';
const field = (name: string) => `${ROWS} |> filter(fn: (r) => r._field == "${name}") |> group()`;

interface Question {
  readonly what: string;
  readonly script: string;
  readonly series: (rowCount: number) => readonly SourceSeries[];
  readonly rowCount: number;
  readonly rowFunctions: ScriptRun["rowFunctions"];
  /** Of the answer: `rowCount` rows in, so many out. */
  readonly rowsOut: (rowCount: number) => number;
  readonly goal: { readonly rowsPerSecond: number } | { readonly ms: number };
}

const MAP_REDUCE = `${ROWS}
  |> map(fn: (r) => ({r with _value: r._value * 2.0 + 1.0, level: if r._value > 90.0 then "crit" else "ok"}))
  |> reduce(fn: (r, accumulator) => ({sum: accumulator.sum + r._value, count: accumulator.count + 1}), identity: {sum: 0.0, count: 0})`;
const tenHosts = (rowCount: number) => Array.from({ length: 10 }, (_, i) => seriesOf("f", `h${i}`, rowCount / 10));
const hundredHosts = (rowCount: number) => Array.from({ length: 100 }, (_, i) => seriesOf("f", `h${i}`, rowCount / 100));
const oneHost = (rowCount: number) => [seriesOf("f", "a", rowCount)];
const twoFields = (rowCount: number) => [seriesOf("x", "a", rowCount), seriesOf("y", "b", rowCount)];
const JOINED = "{l with other: r._value, sum: l._value + r._value}";
/** Behind this no storage computes windows; most of them are empty, and every second one of those that have rows has several. */
const SPARSE = `${ROWS} |> range(start: 2023-11-14T00:00:00Z, stop: 2023-12-25T16:00:00Z)`;
const sparse = (rowCount: number): readonly SourceSeries[] => {
  const { timesNs, ...series } = seriesOf("f", "a", rowCount);
  return [{ ...series, timesNs: timesNs.map((ns, i) => ns + BigInt(Math.floor(i / 2)) * 250_000_000_000n) }];
};
const WINDOW_COUNT = 60_000;
const sides = `left: ${field("x")}, right: ${field("y")}`;

const QUESTIONS: readonly Question[] = [
  {
    ...{ what: "map + reduce, compiled", script: MAP_REDUCE, series: tenHosts, rowCount: 1_000_000, rowFunctions: "compiled" },
    ...{ rowsOut: () => 10, goal: { rowsPerSecond: 10_000_000 } },
  },
  {
    ...{ what: "map + reduce, interpreted", script: MAP_REDUCE, series: tenHosts, rowCount: 1_000_000, rowFunctions: "interpreted" },
    ...{ rowsOut: () => 10, goal: { rowsPerSecond: 500_000 } },
  },
  {
    ...{ what: "pivot of 1 M rows × 10 fields", rowCount: 1_000_000, rowFunctions: "compiled" },
    script: `${ROWS} |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")`,
    series: (rowCount) => Array.from({ length: 10 }, (_, i) => seriesOf(`f${i}`, "a", rowCount)),
    ...{ rowsOut: (rowCount) => rowCount, goal: { ms: 1500 } },
  },
  {
    ...{ what: "join.inner of 100 k with 100 k rows", rowCount: 100_000, rowFunctions: "compiled", series: twoFields },
    script: `import "join"\njoin.inner(${sides}, on: (l, r) => l._time == r._time, as: (l, r) => (${JOINED}))`,
    ...{ rowsOut: (rowCount) => rowCount, goal: { ms: 500 } },
  },
  {
    ...{ what: "join of 100 k with 100 k rows", rowCount: 100_000, rowFunctions: "compiled", series: twoFields },
    script: `join(tables: {a: ${field("x")}, b: ${field("y")}}, on: ["_time"])`,
    ...{ rowsOut: (rowCount) => rowCount, goal: { ms: 500 } },
  },
  ...["median", "first", "stddev"].map((fn) => ({
    ...{ what: `${fn} of 60,000 windows, 25,000 rows`, rowCount: 25_000, rowFunctions: "compiled" as const, series: sparse },
    script: `${SPARSE} |> aggregateWindow(every: 1m, fn: ${fn})`,
    ...{ rowsOut: () => WINDOW_COUNT, goal: { ms: 250 } },
  })),
  {
    ...{ what: "timedMovingAverage of 200 k rows, ten windows each", rowCount: 200_000, rowFunctions: "compiled", series: oneHost },
    script: `${ROWS} |> range(start: 2023-11-14T00:00:00Z, stop: 2023-12-25T16:00:00Z) |> timedMovingAverage(every: 1m, period: 10m)`,
    ...{ rowsOut: (rowCount) => Math.floor((rowCount + 1) / 6) + 10, goal: { ms: 1000 } },
  },
  {
    ...{ what: "group of 1 M rows of 100 series by time", rowCount: 1_000_000, rowFunctions: "compiled", series: hundredHosts },
    script: `${ROWS} |> group(columns: ["_time"])`,
    ...{ rowsOut: (rowCount) => rowCount, goal: { ms: 1500 } },
  },
];

function tablesOf(script: string, source: FluxSource, rowFunctions: ScriptRun["rowFunctions"]): FluxTable[] {
  const run = new ScriptRun(NOW, source, fluxLibrary());
  run.rowFunctions = rowFunctions;
  const tables: FluxTable[] = [];
  for (const { stream } of programsOf(fluxLibrary()).program(script).run(run)) {
    for (const table of stream.open(run)) {
      run.pause();
      if (table !== null) tables.push(table);
    }
  }
  return tables;
}

function ask({ what, script, series, rowCount, rowFunctions, rowsOut, goal }: Question, size: Size): Answer {
  const rows = size === "smoke" ? rowCount / 1000 : rowCount;
  const source = new MemorySeries(series(rows));
  const times: number[] = [];
  const threadTimes: number[] = [];
  for (let round = 0; round < (size === "smoke" ? 1 : 7); round++) {
    const [startMs, startThreadMs] = [performance.now(), threadMs()];
    const tables = tablesOf(script, source, rowFunctions);
    times.push(performance.now() - startMs);
    threadTimes.push(threadMs() - startThreadMs);
    const found = tables.reduce((sum, table) => sum + table.rowCount, 0);
    assert(found === rowsOut(rows), `${what}: ${found} rows instead of ${rowsOut(rows)}`);
  }
  const ms = median(times);
  const processor = median(threadTimes);
  if ("ms" in goal) {
    const detail = `${short((rows * 1000) / ms)} rows/s; ${short(processor)} ms of processor time`;
    return { what: `flux: ${what}`, value: ms, unit: "ms", goal: { atMost: goal.ms }, detail };
  }
  return {
    what: `flux: ${what}`,
    value: (rows * 1000) / ms,
    unit: "rows/s",
    goal: { atLeast: goal.rowsPerSecond },
    detail: `${short(ms)} ms; ${short(processor)} ms of processor time, ${short((rows * 1000) / processor)} rows/s`,
  };
}

/** Processor time of this thread: others may use the machine too. The clock ticks in milliseconds. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function withThreadTime<T>(body: () => T): readonly [result: T, ms: number] {
  const startMs = threadMs();
  const result = body();
  return [result, threadMs() - startMs];
}

/** Parse, infer and plan: with a new text each time, and with a known text. */
function frontEnd(size: Size): Answer[] {
  const rounds = size === "smoke" ? 2 : 60;
  const source = new MemorySeries([]);
  const library = fluxLibrary();
  const cache = new ProgramCache(library);
  const plan = (text: string): number => {
    const startMs = performance.now();
    cache.program(text).run(new ScriptRun(NOW, source, library));
    return performance.now() - startMs;
  };
  const cold = plan(dashboard(-1));
  // code is compiled at run time
  for (let k = 0; k < rounds; k++) plan(dashboard(k));
  const texts = Array.from({ length: rounds }, (_, k) => dashboard(rounds + k));
  const [first, firstThreadMs] = withThreadTime(() => texts.map(plan));
  const again = texts[0]!;
  const [seen, seenThreadMs] = withThreadTime(() => Array.from({ length: rounds * 8 }, () => plan(again)));
  const what = "flux: parse, infer and plan 100 lines";
  return [
    {
      what: `${what}, new`,
      value: median(first),
      unit: "ms",
      goal: { atMost: 5 },
      detail: `${short(firstThreadMs / rounds)} ms of processor time each; the first script of a process ${short(cold)} ms`,
    },
    {
      what: `${what}, seen`,
      value: median(seen),
      unit: "ms",
      goal: { atMost: 0.5 },
      detail: `${short(seenThreadMs / seen.length)} ms of processor time each; maximum ${short(Math.max(...seen))} ms`,
    },
  ];
}

export const fluxScript: Bench = {
  name: "flux-script",
  async run(size, say, { only } = {}) {
    const answers = only === undefined ? frontEnd(size) : [];
    for (const question of QUESTIONS) {
      if (only !== undefined && !question.what.includes(only)) continue;
      answers.push(ask(question, size));
      say(`${answers.at(-1)!.what}: ${short(answers.at(-1)!.value)} ${answers.at(-1)!.unit}`);
    }
    return answers;
  },
};
