// Several series have rows of one time: they come by time, then by series, wherever the rows lie, and so do the values of every function
// that looks at rows in order. Random measurements, written in any order, are asked in several layouts of memory and files.
import { afterAll, describe, expect, test } from "bun:test";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { type Below, prng } from "../support/prng.ts";
import type { TestRow } from "../support/rows/rows.ts";
import { type Layout, TsdbqlData } from "../support/sql/tsdbql-data.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const ROUNDS = Number(process.env["ROUNDS"] ?? 1);

/** Every nth row, from each of 0 .. n - 1 on. */
const dealt = (rows: readonly TestRow[], n: number) => Array.from({ length: n }, (_, at) => rows.filter((_, i) => i % n === at));
const asWritten = (rows: readonly TestRow[]) => [rows];

const LAYOUTS: Readonly<Record<string, Layout>> = {
  "in memory": (rows) => [{ kind: "memory", batches: asWritten(rows) }],
  "in memory, in many segments": (rows) => [{ kind: "memory", batches: dealt(rows, 7) }],
  "in one file": (rows) => [{ kind: "file", batches: asWritten(rows) }],
  "in several files": (rows) => dealt(rows, 3).map((part) => ({ kind: "file", batches: [part] })),
  "half in a file, half in memory": (rows) => [
    { kind: "file", batches: [rows.slice(0, rows.length >> 1)] },
    { kind: "memory", batches: [rows.slice(rows.length >> 1)] },
  ],
  "in a file, and again in memory": (rows) => [
    { kind: "file", batches: [rows] },
    { kind: "memory", batches: [rows.toReversed()] },
  ],
};

const kernel = Kernel.create();
const made: TsdbqlData[] = [];
afterAll(() => {
  for (const data of made) data.free();
});

function inEveryLayout(lines: readonly string[]): [name: string, data: TsdbqlData][] {
  return Object.entries(LAYOUTS).map(([name, layout]) => {
    const data = new TsdbqlData(kernel, { t: lines.join("\n") }, layout);
    made.push(data);
    return [name, data];
  });
}

const SECOND = 1_000_000_000n;

describe("host b is written before host a, twice", () => {
  const FOUR = ["m,host=b v=1 0", "m,host=a v=10 0", `m,host=b v=3 ${SECOND}`, `m,host=a v=30 ${SECOND}`];
  // rows of 10 and 1, then 30 and 3; of one time differences, derivatives and areas take the first or the last
  const WANTED: [statement: string, values: (number | bigint | string | null)[][]][] = [
    ["SELECT v FROM m", [[0n, 10], [0n, 1], [SECOND, 30], [SECOND, 3]]],
    ["SELECT v FROM m ORDER BY time DESC", [[SECOND, 3], [SECOND, 30], [0n, 1], [0n, 10]]],
    ["SELECT v FROM m LIMIT 3", [[0n, 10], [0n, 1], [SECOND, 30]]],
    ["SELECT v * 2 FROM m WHERE v > 1 OR v < 0", [[0n, 20], [SECOND, 60], [SECOND, 6]]],
    ["SELECT difference(v) FROM m", [[SECOND, 20]]],
    ["SELECT non_negative_difference(v) FROM m", [[SECOND, 20]]],
    ["SELECT derivative(v) FROM m", [[SECOND, 20]]],
    ["SELECT non_negative_derivative(v, 500ms) FROM m", [[SECOND, 10]]],
    ["SELECT cumulative_sum(v) FROM m", [[0n, 10], [0n, 11], [SECOND, 41], [SECOND, 44]]],
    ["SELECT moving_average(v, 2) FROM m", [[0n, 5.5], [SECOND, 15.5], [SECOND, 16.5]]],
    ["SELECT elapsed(v) FROM m", [[0n, 0], [SECOND, Number(SECOND)], [SECOND, 0]]],
    // the line goes from 1 to 30
    ["SELECT integral(v) FROM m", [[0n, 15.5]]],
    ["SELECT distinct(v) FROM m", [[0n, 10], [0n, 1], [0n, 30], [0n, 3]]],
    ["SELECT distinct(v) FROM m ORDER BY time DESC", [[0n, 3], [0n, 30], [0n, 1], [0n, 10]]],
    ["SELECT top(v, 3) FROM m ORDER BY time DESC", [[SECOND, 30], [SECOND, 3], [0n, 10]]],
    ["SELECT bottom(v, 2) FROM m ORDER BY time DESC", [[SECOND, 3], [0n, 1]]],
    ["SELECT sample(v, 9) FROM m ORDER BY time DESC", [[SECOND, 3], [SECOND, 30], [0n, 1], [0n, 10]]],
    // the inner rows are those of host a, then of host b
    ["SELECT x FROM (SELECT min(v) AS x FROM m WHERE v != 10 GROUP BY host)", [[0n, 1], [SECOND, 30]]],
    ["SELECT x FROM (SELECT min(v) AS x FROM m WHERE v != 10 GROUP BY host) ORDER BY time DESC", [[SECOND, 30], [0n, 1]]],
    ["SELECT x, host FROM (SELECT min(v) AS x FROM m WHERE v != 10 GROUP BY host) LIMIT 1", [[0n, 1, "b"]]],
    ["SELECT x FROM (SELECT v AS x FROM m)", [[0n, 10], [0n, 1], [SECOND, 30], [SECOND, 3]]],
    ["SELECT difference(x) FROM (SELECT v AS x FROM m)", [[SECOND, 20]]],
    ["SELECT cumulative_sum(x) FROM (SELECT v AS x FROM m)", [[0n, 10], [0n, 11], [SECOND, 41], [SECOND, 44]]],
    ["SELECT percentile(one, 50), host FROM (SELECT v - v + 1 AS one FROM m GROUP BY host)", [[0n, 1, "b"]]],
    // roots of -4, 5, -2 and 25: two are numbers, and the others come last
    ["SELECT percentile(root, 50), host FROM (SELECT sqrt(v - 5) AS root FROM m GROUP BY host)", [[SECOND, 5, "a"]]],
    ["SELECT percentile(root, 75), host FROM (SELECT sqrt(v - 5) AS root FROM m GROUP BY host)", [[0n, null, "b"]]],
    ["SELECT percentile(root, 100), host FROM (SELECT sqrt(v - 5) AS root FROM m GROUP BY host)", [[SECOND, null, "b"]]],
  ]; // biome-ignore format: a row of values a line
  const layouts = inEveryLayout(FOUR);
  test.each(WANTED)("%s", async (statement, values) => {
    for (const [name, data] of layouts) {
      const [series, ...others] = await data.ask(statement);
      expect({ name, values: series!.values, others }).toEqual({ name, values, others: [] });
    }
  });
});

// as InfluxDB 1.6.7 answers, which compares the tags that are shown; without one its order is that of a heap
describe("tags that are shown come before the others", () => {
  const ROWS: [host: string, region: string][] = [["a", "y"], ["b", "z"], ["c", "x"]]; // biome-ignore format: rows
  const lines = ROWS.flatMap(([host, region], i) => [0n, SECOND].map((time) => `m,host=${host},region=${region} v=${i} ${time}`));
  const BY_HOST = ["a", "b", "c"];
  const BY_REGION = ["c", "a", "b"];
  const WANTED: [statement: string, hosts: string[]][] = [
    ["SELECT v FROM m", BY_HOST],
    ["SELECT v, host FROM m", BY_HOST],
    ["SELECT v, region FROM m", BY_REGION],
    ["SELECT region, v + 0 FROM m", BY_REGION],
    ["SELECT v, region, host FROM m", BY_HOST],
  ];
  const layouts = inEveryLayout(lines);
  const valuesOf = async (data: TsdbqlData, statement: string) => {
    const [series] = await data.ask(statement);
    return series!.values.map((row) => row.find((value) => typeof value === "number"));
  };
  test.each(WANTED)("%s", async (statement, hosts) => {
    const values = hosts.map((host) => ROWS.findIndex(([own]) => own === host));
    const backwards = values.toReversed();
    for (const [, data] of layouts) {
      expect(await valuesOf(data, statement)).toEqual([...values, ...values]);
      expect(await valuesOf(data, `${statement} LIMIT 4`)).toEqual([...values, values[0]]);
      expect(await valuesOf(data, `${statement} ORDER BY time DESC`)).toEqual([...backwards, ...backwards]);
      expect(await valuesOf(data, `${statement} ORDER BY time DESC LIMIT 1`)).toEqual([backwards[0]]);
    }
  });
});

/** All rows of up to four times of up to 4 × 3 series, some of whose tags are absent, in a random order of writing. */
function randomLines(below: Below): string[] {
  const hosts = ["a", "b", "c", ""].slice(0, 1 + below(4));
  const regions = ["x", "", "é"].slice(0, 1 + below(3));
  const times = 1 + below(6);
  const lines: { line: string; place: number }[] = [];
  for (const host of hosts) {
    for (const region of regions) {
      const tags = `${region === "" ? "" : `,region=${region}`}${host === "" ? "" : `,host=${host}`}`;
      for (let time = 0; time < times; time++) {
        if (below(6) === 0) continue;
        const fields = [`i=${below(4)}i`, ...(below(4) === 0 ? [] : [`v=${below(8) / 4}`]), ...(below(2) === 0 ? [] : [`s="${below(3)}"`])];
        lines.push({ line: `m${tags} ${fields.join(",")} ${BigInt(time) * SECOND}`, place: below(1_000_000) });
      }
    }
  }
  return lines.sort((a, b) => a.place - b.place).map(({ line }) => line);
}

const FIELDS = ["v", "i"];
const TRANSFORMED = ["difference", "non_negative_difference", "derivative", "non_negative_derivative", "elapsed", "cumulative_sum"];
const CALLS = [
  ...TRANSFORMED.map((name) => `${name}(F)`),
  ...["moving_average(F, 2)", "integral(F)", "mode(F)", "distinct(F)", "sum(F)", "mean(F)", "stddev(F)", "sample(F, 3)"],
  ...["exponential_moving_average(F, 2)", "top(F, 2)", "bottom(F, host, 2)", "top(F, region, 3)", "chande_momentum_oscillator(F, 2)"],
];
const CHOSEN = ["percentile(F, 50)", "first(F)", "last(F)", "min(F)", "max(F)", "top(F, 3)", "bottom(F, 1)", "sample(F, 2)"];
const RESTS = [
  "",
  "WHERE i != 1 OR v > 0.5",
  "WHERE host =~ /a|b/",
  "GROUP BY host",
  "GROUP BY region",
  "ORDER BY time DESC",
  "LIMIT 3 OFFSET 1",
];

function statementsOf(below: Below): string[] {
  const rest = () => RESTS[below(RESTS.length)]!;
  const withField = (text: string) => text.replaceAll("F", FIELDS[below(2)]!);
  return [
    ...["SELECT v, i, s FROM m", "SELECT s FROM m", "SELECT i + v, host FROM m"].map((text) => `${text} ${rest()}`),
    ...CALLS.map((call) => `SELECT ${withField(call)} FROM m ${rest()}`),
    ...CHOSEN.map((call) => `SELECT ${withField(call)}, host, s FROM m ${rest()}`),
    ...CALLS.map((call) => {
      const inner = rest();
      // both go the same way
      const outer = inner.startsWith("ORDER") ? inner : "";
      return `SELECT ${call.replaceAll("F", "x")} FROM (SELECT i AS x, host, region FROM m ${inner}) ${outer}`;
    }),
    ...["sum(F)", "distinct(F)", "mode(F)", "integral(F)"].map(
      (call) => `SELECT ${withField(call)} FROM m WHERE time >= 0 AND time < 10s GROUP BY time(2s) fill(none)`,
    ),
    "SELECT first(s), last(s), count(s) FROM m GROUP BY host",
  ];
}

test.each(Array.from({ length: ROUNDS }, (_, round) => [SEED + round]))("random rows (seed %i)", async (seed) => {
  const below = prng(seed);
  const lines = randomLines(below);
  const statements = statementsOf(below);
  const [first, ...others] = inEveryLayout(lines.length === 0 ? ["m i=1i 0"] : lines);
  for (const statement of statements) {
    const wanted = await first![1].ask(statement);
    for (const [name, data] of others)
      expect({ statement, name, found: await data.ask(statement) }).toEqual({ statement, name, found: wanted });
  }
});
