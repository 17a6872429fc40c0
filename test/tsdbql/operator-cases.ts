// Calls of the language's functions over a few measurements: as statements for InfluxDB 1.x, whose answers are kept as goldens, and as what
// the operators are asked to do.
import { join } from "node:path";
import type { Literal } from "../../src/tsdbql/parse/ast.ts";
import { prng } from "../support/prng.ts";
import type { Peer } from "./peer.ts";

export const GOLDENS = join(import.meta.dir, "../golden/tsdbql/operators.json");

const SECOND = 1_000_000_000n;

export type Value = number | bigint | string | boolean;

/** The column `v` of a measurement, by ascending times; in tag `k` each point's series. */
export interface Measured {
  readonly type: "float" | "integer" | "string" | "boolean";
  readonly points: readonly (readonly [timeNs: bigint, value: Value, key: string])[];
}

export interface Case {
  readonly from: string;
  /** Functions outermost first, with what stands behind their column. */
  readonly calls: readonly (readonly [name: string, ...args: Literal[]])[];
  /** Seconds, the second exclusive. */
  readonly range?: readonly [number, number];
  readonly everySeconds?: number;
  readonly offsetSeconds?: number;
  readonly zone?: string;
  readonly fill?: "null" | "none" | "previous" | "linear" | number;
  readonly descending?: boolean;
  /** `top(v, k, n)`. */
  readonly byKey?: boolean;
}

const integer = (value: number): Literal => ({ kind: "integer", value: BigInt(value), unsigned: false });
const number = (value: number): Literal => ({ kind: "number", value });
const seconds = (count: number): Literal => ({ kind: "duration", ns: BigInt(count) * SECOND });
const text = (value: string): Literal => ({ kind: "string", value });

// Data -------------------------------------------------------------------------------------------------------------------------------

function walk(seed: number, count: number, make: (below: (n: number) => number, i: number) => Value, start = 0): Measured["points"] {
  const below = prng(seed);
  let time = BigInt(start) * SECOND;
  return Array.from({ length: count }, (_, i) => {
    time += BigInt(1 + below(9)) * SECOND + BigInt(below(4)) * 250_000_000n;
    return [time, make(below, i), "a"] as const;
  });
}

/** 2021-10-30 00:00 UTC, a day before Berlin's clocks go back. */
const AUTUMN = 1_635_552_000;
/** 2021-03-27 00:00 UTC, a day before they go forward. */
const SPRING = 1_616_803_200;

function hours(start: number): Measured["points"] {
  return Array.from({ length: 140 }, (_, i) => [BigInt(start + i * 1500) * SECOND, i, "a"] as const);
}

const HUGE = 9_007_199_254_740_993n;

export const DATA: Readonly<Record<string, Measured>> = {
  floats: { type: "float", points: walk(1, 60, (below) => below(4000) / 128 - 10) },
  integers: { type: "integer", points: walk(2, 60, (below) => BigInt(below(50)) - 20n) },
  huge: { type: "integer", points: walk(3, 40, (below, i) => (i % 3 === 0 ? -1n : 1n) * (HUGE + BigInt(below(1000)))) },
  strings: { type: "string", points: walk(4, 40, (below) => ["x", "y", "zz", ""][below(4)]!) },
  booleans: { type: "boolean", points: walk(5, 40, (below) => below(2) === 1) },
  // two series with points at the same times
  pairs: {
    type: "float",
    points: walk(6, 30, (below) => below(8)).flatMap(([time, value], i) => [
      [time, value, "a"] as const,
      ...(i % 4 === 0 ? [] : [[time, ((i * 7) % 5) + 0.5, "b"] as const]),
    ]),
  },
  before: { type: "integer", points: walk(7, 30, (below) => BigInt(below(9)), -80) },
  autumn: { type: "float", points: hours(AUTUMN) },
  spring: { type: "float", points: hours(SPRING) },
};

// Cases ------------------------------------------------------------------------------------------------------------------------------

const NUMERIC = ["floats", "integers", "huge"];
const ALL = [...NUMERIC, "strings", "booleans"];
const RANGE = [20, 200] as const;
/** Whole range without windows, ascending and descending; windows that leave some empty. */
const SHAPES: readonly Partial<Case>[] = [
  {},
  { descending: true },
  { range: RANGE, everySeconds: 7, fill: "none" },
  { range: RANGE, everySeconds: 30, offsetSeconds: 11, fill: "none" },
  { range: RANGE, everySeconds: 12, fill: "none", descending: true },
];

/** What a plain bug of 1.6.7 answers is no golden: `integral` of integers in windows, and of falling times; `percentile`, which ends with
 *  the first window that has no point of that rank. Nor is what it leaves to an unstable sort: which of equal values a `percentile` of many
 *  points is, and which of equally frequent ones their `mode`; nor the order of several points at one time. */
function isBug({ from, calls, everySeconds, descending }: Case): boolean {
  const [name, argument] = calls[0]!;
  if (name === "integral") return descending === true || (everySeconds !== undefined && from !== "floats");
  if (name === "percentile") return everySeconds === undefined ? from === "integers" : Number((argument as { value: number }).value) < 50;
  if (name === "mode") return (from === "integers" && everySeconds === undefined) || (from === "strings" && everySeconds === 30);
  return (name === "distinct" || name === "sample") && from === "pairs";
}

const reductions: Case[] = [
  ...["count", "first", "last", "mode", "distinct"].flatMap((name) =>
    ALL.flatMap((from) => SHAPES.map((shape) => ({ from, calls: [[name] as const], ...shape }))),
  ),
  ...["sum", "mean", "spread", "median", "stddev", "min", "max", "integral"].flatMap((name) =>
    NUMERIC.flatMap((from) => SHAPES.map((shape) => ({ from, calls: [[name] as const], ...shape }))),
  ),
  ...["min", "max"].flatMap((name) => SHAPES.map((shape) => ({ from: "booleans", calls: [[name] as const], ...shape }))),
  ...[0, 1, 5, 33.3, 50, 99, 100].flatMap((percent) =>
    NUMERIC.flatMap((from) => SHAPES.map((shape) => ({ from, calls: [["percentile", number(percent)] as const], ...shape }))),
  ),
  ...["top", "bottom"].flatMap((name) =>
    [1, 3, 100].flatMap((count) =>
      NUMERIC.flatMap((from) => SHAPES.map((shape) => ({ from, calls: [[name, integer(count)] as const], ...shape }))),
    ),
  ),
  ...["top", "bottom"].flatMap((name) =>
    [1, 2, 7].flatMap((count) =>
      [true, false].flatMap((byKey) =>
        SHAPES.map((shape) => ({ from: "pairs", byKey, calls: [[name, integer(count)] as const], ...shape })),
      ),
    ),
  ),
  ...["first", "last", "min", "max", "distinct", "sum"].flatMap((name) =>
    SHAPES.map((shape) => ({ from: "pairs", calls: [[name] as const], ...shape })),
  ),
  ...ALL.flatMap((from) => SHAPES.map((shape) => ({ from, calls: [["sample", integer(1000)] as const], ...shape }))),
  { from: "floats", calls: [["integral", seconds(60)]] },
];

const fills: Case[] = ALL.flatMap((from) =>
  (["null", "none", "previous", "linear", 0, -3, 7.6] as const).flatMap((fill) => [
    { from, calls: [["last"]], range: RANGE, everySeconds: 5, fill },
    { from, calls: [["first"]], range: [10, 190] as const, everySeconds: 6, offsetSeconds: 2, fill, descending: true },
    { from, calls: [["count"]], range: RANGE, everySeconds: 4, fill },
  ]),
);

const zones: Case[] = ["autumn", "spring"].flatMap((from) =>
  [1800, 3600, 7200, 21_600, 86_400].flatMap((everySeconds) =>
    ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"].flatMap((zone) => {
      const start = from === "autumn" ? AUTUMN : SPRING;
      return [
        { from, calls: [["count"] as const], everySeconds, zone, range: [start, start + 200_000] as const, fill: "none" as const },
        {
          from,
          calls: [["sum"] as const],
          everySeconds,
          zone,
          range: [start, start + 200_000] as const,
          fill: "none" as const,
          descending: true,
        },
        { from, calls: [["count"] as const], everySeconds, zone, range: [start - 9000, start + 220_000] as const, fill: "null" as const },
        { from, calls: [["sum"] as const], everySeconds, zone, range: [start - 9000, start + 220_000] as const, fill: "linear" as const },
        {
          from,
          calls: [["sum"] as const],
          everySeconds,
          offsetSeconds: 600,
          zone,
          range: [start - 9000, start + 220_000] as const,
          fill: "none" as const,
        },
      ];
    }),
  ),
);

const TRANSFORMS: Case["calls"] = [
  ["derivative"],
  ["derivative", seconds(10)],
  ["non_negative_derivative", seconds(3)],
  ["difference"],
  ["non_negative_difference"],
  ["cumulative_sum"],
  ["elapsed"],
  ["elapsed", seconds(2)],
  ["moving_average", integer(2)],
  ["moving_average", integer(7)],
  ["exponential_moving_average", integer(4)],
  ["exponential_moving_average", integer(4), integer(2), text("simple")],
  ["double_exponential_moving_average", integer(4)],
  ["double_exponential_moving_average", integer(4), integer(-1), text("simple")],
  ["triple_exponential_moving_average", integer(3)],
  ["triple_exponential_moving_average", integer(3), integer(0), text("simple")],
  ["triple_exponential_derivative", integer(3)],
  ["triple_exponential_derivative", integer(3), integer(1), text("simple")],
  ["relative_strength_index", integer(5)],
  ["relative_strength_index", integer(5), integer(8), text("simple")],
  ["chande_momentum_oscillator", integer(2)],
  ["chande_momentum_oscillator", integer(5)],
  ["chande_momentum_oscillator", integer(5), integer(0)],
  ["chande_momentum_oscillator", integer(5), integer(-1), text("exponential")],
  ["kaufmans_efficiency_ratio", integer(3)],
  ["kaufmans_efficiency_ratio", integer(4), integer(1)],
  ["kaufmans_adaptive_moving_average", integer(3)],
  ["kaufmans_adaptive_moving_average", integer(3), integer(2)],
];

const transforms: Case[] = TRANSFORMS.flatMap((call) => [
  ...[...NUMERIC, "before"].flatMap((from) => [
    { from, calls: [call] },
    { from, calls: [call], descending: true },
  ]),
  ...NUMERIC.flatMap((from) => [
    { from, calls: [call, ["mean"]] as const, range: RANGE, everySeconds: 10, fill: "null" as const },
    { from, calls: [call, ["max"]] as const, range: RANGE, everySeconds: 9, fill: "linear" as const, descending: true },
    { from, calls: [call, ["count"]] as const, range: RANGE, everySeconds: 6, fill: "previous" as const },
  ]),
]);

const elapsed: Case[] = ["strings", "booleans"].flatMap((from) => [
  { from, calls: [["elapsed"]] },
  { from, calls: [["elapsed", seconds(3)]], descending: true },
]);

const forecasts: Case[] = ["holt_winters", "holt_winters_with_fit"].flatMap((name) =>
  ["floats", "integers"].flatMap((from) =>
    [0, 4].flatMap((season) =>
      (["none", "linear"] as const).map((fill) => ({
        ...{ from, calls: [[name, integer(5), integer(season)], ["mean"]] as const, range: [0, 240] as const, everySeconds: 15, fill },
      })),
    ),
  ),
);

export const CASES: readonly Case[] = [...reductions, ...fills, ...zones, ...transforms, ...elapsed, ...forecasts].filter(
  (each) => !isBug(each),
);

// Statements -------------------------------------------------------------------------------------------------------------------------

/** The statement of a case. */
export function statementOf({ from, calls, range, everySeconds, offsetSeconds, zone, fill, descending, byKey }: Case): string {
  const call = calls.reduceRight(
    (inner, [name, ...args]) => `${name}(${[inner, ...(byKey ? ["k"] : []), ...args.map(literalText)].join(", ")})`,
    "v",
  );
  const where = range === undefined ? "" : ` WHERE time >= ${range[0]}s AND time < ${range[1]}s`;
  const offset = offsetSeconds === undefined ? "" : `, ${offsetSeconds}s`;
  const group = everySeconds === undefined ? "" : ` GROUP BY time(${everySeconds}s${offset})${fill === undefined ? "" : ` fill(${fill})`}`;
  return `SELECT ${call} FROM ${from}${where}${group}${descending ? " ORDER BY time DESC" : ""}${zone === undefined ? "" : ` TZ('${zone}')`}`;
}

function literalText(literal: Literal): string {
  if (literal.kind === "duration") return `${literal.ns / SECOND}s`;
  if (literal.kind === "string") return `'${literal.value}'`;
  if (literal.kind === "regex") return `/${literal.source}/`;
  return String(literal.kind === "time" ? literal.ns : literal.value);
}

/** The points of a measurement as line protocol. */
function linesOf(name: string, { type, points }: Measured): string {
  const spell = (value: Value) => (type === "integer" ? `${value}i` : type === "string" ? JSON.stringify(value) : String(value));
  return points.map(([time, value, key]) => `${name},k=${key} v=${spell(value)} ${time}`).join("\n");
}

/** An answer's rows by statement, as the JSON text that they came in: no number is read, so none is rounded. */
export type Goldens = Readonly<Record<string, string>>;

/** The answers of a server to all cases. */
export async function askOperators(peer: Peer): Promise<Goldens> {
  await peer.query({ q: "CREATE DATABASE operators" });
  for (const [name, measured] of Object.entries(DATA)) await peer.write("operators", null, linesOf(name, measured));
  const goldens: Record<string, string> = {};
  for (const statement of new Set(CASES.map(statementOf))) {
    const { text } = await peer.query({ db: "operators", epoch: "ns", q: statement });
    if (text.includes('"error"')) throw new Error(`${statement}: ${text}`);
    goldens[statement] = /"values":\[(\[.*\])\]\}\]\}\]\}/.exec(text)?.[1] ?? "";
  }
  return goldens;
}
