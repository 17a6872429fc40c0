// Random scripts over random points: what is left to the scan, what is nearly so, and what is not.
import { timeText } from "../../src/flux/values/duration.ts";
import { type Below, pick } from "../support/prng.ts";
import type { RandomPoints } from "./flux-points.ts";

const FUNCTIONS = [
  "count",
  "sum",
  "mean",
  "min",
  "max",
  "first",
  "last",
  "spread",
  "median",
  "stddev",
  "mode",
  "distinct",
  "unique",
  "integral",
];
const USUAL = ["count", "sum", "mean", "min", "max", "first", "last"];
const DURATIONS = ["1s", "40s", "7m", "1h", "90s", "1d", "1w", "1mo", "3mo", "1y", "13h", "1000000h"];
const LONG = ["7h", "1d", "1w", "1mo", "3mo", "1y"];
const OFFSETS = ["0s", "30s", "-30s", "1h", "-13m", "2h", "1d", "5d", "1ns"];

/** A random script. */
export function randomScript(below: Below, points: RandomPoints): string {
  return new Script(below, points).text();
}

class Script {
  private head = "";
  /** All times: no empty windows then, there would be too many. */
  private isWide = false;

  constructor(
    private readonly below: Below,
    private readonly points: RandomPoints,
  ) {}

  text(): string {
    const body = this.below(6) === 0 ? this.list() : this.pipeline();
    return `${this.head}${body}`;
  }

  private pipeline(): string {
    const { below } = this;
    let text = `from(bucket: "b") |> range(${this.range()})`;
    for (let i = below(3); i > 0; i--) text += ` |> filter(fn: (r) => ${this.condition(2)}${below(12) === 0 ? ', onEmpty: "keep"' : ""})`;
    if (below(3) > 0) text += this.group();
    for (let i = below(3); i >= 0; i--) text += this.operation();
    if (below(6) === 0) text = `data = ${text}\ndata${this.operation()} |> yield(name: "_result")\ndata |> count() |> yield(name: "2")`;
    return text;
  }

  private list(): string {
    const { below, points } = this;
    this.head += 'import "influxdata/influxdb/schema"\nimport "influxdata/influxdb"\n';
    const predicate = below(3) === 0 ? "" : `, predicate: (r) => ${this.condition(2)}`;
    const range = this.range();
    const tag = quoted(pick(below, [...points.tags, "_field", "_measurement", "host", "none"]));
    return pick(below, [
      `schema.tagValues(bucket: "b", tag: ${tag}${predicate}, ${range})`,
      `schema.tagKeys(bucket: "b"${predicate}, ${range})`,
      `schema.fieldKeys(bucket: "b"${predicate}, ${range})`,
      `schema.measurements(bucket: "b", ${range})`,
      `schema.measurementTagValues(bucket: "b", measurement: ${quoted(pick(below, points.measurements))}, tag: ${tag}, ${range})`,
      `schema.measurementFieldKeys(bucket: "b", measurement: ${quoted(pick(below, points.measurements))}, ${range})`,
      `influxdb.cardinality(bucket: "b"${predicate}, ${range})`,
    ]);
  }

  private range(): string {
    const { below } = this;
    const { fromNs, toNs } = this.points;
    const width = toNs - fromNs + 1n;
    switch (below(6)) {
      case 0:
        return `start: ${time(fromNs + (width * BigInt(below(4))) / 8n)}, stop: ${time(toNs - (width * BigInt(below(4))) / 8n + 1n)}`;
      case 1:
        return `start: ${time(fromNs)}, stop: ${time(toNs)}`;
      case 2:
        this.isWide = true;
        return `start: 1677-09-21T00:12:43.145224194Z, stop: 2262-04-11T23:47:16.854775806Z`;
      case 3:
        return `start: ${time(toNs + 1n)}, stop: ${time(toNs + 2n + width)}`;
      default:
        return `start: ${time(fromNs - BigInt(below(100)))}, stop: ${time(toNs + 1n + BigInt(below(100)))}`;
    }
  }

  private condition(depth: number): string {
    const { below, points } = this;
    if (depth > 0 && below(2) === 0) {
      const [left, right] = [this.condition(depth - 1), this.condition(depth - 1)];
      return pick(below, [
        `${left} and ${right}`,
        `${left} and ${right}`,
        `${left} or ${right}`,
        `(${left}) and (${right})`,
        `not (${left})`,
      ]);
    }
    const tag = member(pick(below, [...points.tags, "host", "none"]));
    const value = quoted(pick(below, [...points.tagValues, "", "zz"]));
    const compare = pick(below, ["==", "==", "!=", "<", ">=", ">"]);
    return pick(below, [
      `r._measurement == ${quoted(pick(below, points.measurements))}`,
      `r._measurement == ${quoted(pick(below, points.measurements))}`,
      `r["_field"] == ${quoted(pick(below, points.fields))}`,
      `r._field == ${quoted(pick(below, points.fields))}`,
      `r._field == ${quoted(pick(below, points.fields))} and r._value ${compare} ${pick(below, ["1.5", "0", "-2", "3.0", '"a"', "true", "9007199254740993", "uint(v: 3)"])}`,
      `r._field != ${quoted(pick(below, points.fields))}`,
      `${tag} == ${value}`,
      `${tag} ${compare} ${value}`,
      `${tag} =~ /${pick(below, ["a", "^b?$", "ż", "."])}/`,
      `exists ${tag}`,
      `not exists ${tag}`,
      `r._value ${compare} ${pick(below, ["1.5", "0", "-2.25", "10"])}`,
      `${value} == ${tag}`,
      "true",
    ]);
  }

  private group(): string {
    const { below, points } = this;
    const columns = ["_field", "_measurement", ...points.tags, "none", "_value", "_start"].filter(() => below(3) === 0);
    if (below(3) === 0) return " |> group()";
    return ` |> group(columns: [${columns.map(quoted).join(", ")}]${below(5) === 0 ? ', mode: "except"' : ""})`;
  }

  private operation(): string {
    const { below } = this;
    const fn = below(4) === 0 ? pick(below, FUNCTIONS) : pick(below, USUAL);
    const n = below(5);
    return pick(below, [
      () => this.aggregateWindow(fn),
      () => this.aggregateWindow(fn),
      () => this.aggregateWindow(fn),
      () => ` |> ${fn}()`,
      () => ` |> ${fn}()`,
      () => ` |> limit(n: ${n}${below(3) === 0 ? ", offset: 1" : ""})`,
      () => ` |> tail(n: ${n})`,
      () => ` |> sort(columns: ["_time"], desc: ${below(2) === 0}) |> limit(n: ${n})`,
      () => ` |> sort(columns: ["_value", "_time"])`,
      () => ` |> window(every: ${this.every()}) |> ${fn}()`,
      () =>
        ` |> window(every: ${this.every()}, createEmpty: ${!this.isWide}) |> ${fn}() |> duplicate(column: "_stop", as: "_time") |> window(every: inf)`,
      () => ` |> keep(columns: ["_time", "_value", "_field", "host"])`,
      () => ` |> drop(columns: ["host", "_start", "_stop"])`,
      () => ` |> distinct(column: ${quoted(pick(below, ["host", "_field", "_value", ...this.points.tags]))})`,
      () => ` |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")`,
      () =>
        ` |> map(fn: (r) => ({r with _value: ${pick(below, ["r._value", "1", "string(v: r._value)", "r._time", "r._value * r._value"])}}))`,
      () => ` |> difference()`,
      () => ` |> derivative(unit: 1s, nonNegative: ${below(2) === 0})`,
      () => ` |> fill(usePrevious: true)`,
      () => ` |> filter(fn: (r) => ${this.condition(1)})`,
      () => ` |> top(n: ${1 + n})`,
      () => ` |> quantile(q: 0.5, method: "exact_selector")`,
      () => ` |> elapsed()`,
      () => ` |> cumulativeSum()`,
      () => ` |> movingAverage(n: ${1 + n})`,
      () => ` |> increase()`,
      () => ` |> timeShift(duration: ${pick(below, DURATIONS)})`,
      () => ` |> reduce(fn: (r, accumulator) => ({n: accumulator.n + 1}), identity: {n: 0})`,
      () => ` |> rename(columns: {_value: "v"})`,
      () => this.group(),
    ])();
  }

  private every(): string {
    const { below, points } = this;
    if (this.isWide || below(3) > 0) {
      const width = points.toNs - points.fromNs + 1n;
      const ns = width / BigInt(1 + below(30)) + 1n;
      return ns > 1_000_000_000n && below(2) === 0 ? `${ns / 1_000_000_000n + 1n}s` : `${ns}ns`;
    }
    return pick(below, points.toNs - points.fromNs > 10n ** 14n ? LONG : DURATIONS);
  }

  private aggregateWindow(fn: string): string {
    const { below } = this;
    const options = [
      this.isWide ? "createEmpty: false" : below(2) === 0 ? `createEmpty: ${below(2) === 0}` : "",
      below(4) === 0 ? `offset: ${pick(below, OFFSETS)}` : "",
      below(8) === 0 ? `period: ${pick(below, DURATIONS)}` : "",
      below(5) === 0 ? `timeSrc: "${pick(below, ["_start", "_stop", "_time"])}"` : "",
      below(20) === 0 ? 'column: "_time"' : "",
      below(20) === 0 ? 'timeDst: "t"' : "",
    ].filter((option) => option !== "");
    if (below(10) === 0) {
      if (!this.head.includes("timezone")) this.head += 'import "timezone"\n';
      options.push(
        `location: ${pick(below, ['timezone.location(name: "Europe/Warsaw")', "timezone.fixed(offset: -3h)", 'timezone.location(name: "America/New_York")'])}`,
      );
    }
    return ` |> aggregateWindow(every: ${this.every()}, fn: ${fn}${options.map((option) => `, ${option}`).join("")})`;
  }
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(/\\u00(..)/g, "\\x$1");
}

function member(label: string): string {
  return /^\w+$/.test(label) ? `r.${label}` : `r[${quoted(label)}]`;
}

function time(ns: bigint): string {
  return timeText(ns);
}
