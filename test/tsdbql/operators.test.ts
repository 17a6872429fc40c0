// The functions of the v1-style language over points against InfluxDB 1.6.7's answers.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { finish } from "../../src/model/steps.ts";
import { TimeZone } from "../../src/model/time/time-zone.ts";
import { pointsOf, valueAt } from "../../src/tsdbql/functions/columns.ts";
import { fillWindows } from "../../src/tsdbql/functions/fill.ts";
import type { Points, WindowPoints } from "../../src/tsdbql/functions/points.ts";
import { REDUCERS } from "../../src/tsdbql/functions/reducers.ts";
import { Texts } from "../../src/tsdbql/functions/texts.ts";
import { TRANSFORMS } from "../../src/tsdbql/functions/transforms.ts";
import { cutWindows, oneWindow, TIME_MAX, TIME_MIN, type WindowGrid, windowStarts } from "../../src/tsdbql/functions/windows.ts";
import type { Fill, Literal } from "../../src/tsdbql/parse/ast.ts";
import { CASES, type Case, DATA, GOLDENS, type Goldens, type Measured, statementOf } from "./operator-cases.ts";

const goldens = JSON.parse(readFileSync(GOLDENS, "utf8")) as Goldens;
const SECOND = 1_000_000_000n;

test("every golden has its case", () => expect(Object.keys(goldens)).toEqual([...new Set(CASES.map(statementOf))]));

const byFunction = Map.groupBy(CASES, ({ calls }) => calls.map(([name]) => name).join(" of "));
for (const [name, cases] of byFunction) {
  test(`${name}: ${cases.length} statements answer as 1.6.7`, () => {
    for (const each of cases) {
      const statement = statementOf(each);
      const rows = inOrder(readRows(goldens[statement]!, each), each);
      expect({ statement, rows: rowsOf(run(each), each) }).toEqual({ statement, rows });
    }
  });
}

// What a planner does with a statement, in small ------------------------------------------------------------------------------------

function run(each: Case): WindowPoints {
  const { calls, range, everySeconds, descending = false } = each;
  const grid = gridOf(each);
  const [outer, inner] = calls;
  const transform = TRANSFORMS.get(outer![0]);
  const before = transform === undefined || grid === null ? 0n : BigInt(transform.windowsBefore(argsOf(outer!)));
  const bounds = boundsOf(range, before * (grid?.intervalNs ?? 0n), descending);
  const points = select(DATA[each.from]!, bounds, descending);
  const context = { descending, intervalNs: grid?.intervalNs ?? null };
  if (transform !== undefined && inner === undefined)
    return { points: finish(transform.apply(points.points, argsOf(outer!), context)), validity: null };
  const [name, ...args] = (inner ?? outer)!;
  const reducer = REDUCERS.get(name)!;
  const windows =
    grid === null
      ? oneWindow(points.points.times.length, { startNs: 0n, endNs: TIME_MAX })
      : finish(cutWindows(points.points.times, grid, descending));
  const keys = each.byKey ? points.keys : null;
  const reduced = finish(reducer.reduce(points.points, windows, args, { ...context, keys, ownTimes: everySeconds === undefined, seed: 1 }));
  const filled = fillOf(each, reduced.points, bounds, grid, reducer.isList);
  if (transform === undefined) return filled;
  const there = withoutNulls(filled);
  return { points: finish(transform.apply(there, argsOf(outer!), context)), validity: null };
}

const argsOf = ([, ...args]: readonly [string, ...Literal[]]) => args;

function gridOf({ everySeconds, offsetSeconds = 0, zone }: Case): WindowGrid | null {
  if (everySeconds === undefined) return null;
  return {
    intervalNs: BigInt(everySeconds) * SECOND,
    offsetNs: BigInt(offsetSeconds) * SECOND,
    zone: zone === undefined ? null : TimeZone.of(zone),
  };
}

interface Bounds {
  readonly minNs: bigint;
  readonly maxNs: bigint;
}

function boundsOf(range: Case["range"], beforeNs: bigint, descending: boolean): Bounds {
  if (range === undefined) return { minNs: TIME_MIN, maxNs: TIME_MAX };
  const [minNs, maxNs] = [BigInt(range[0]) * SECOND, BigInt(range[1]) * SECOND - 1n];
  return descending ? { minNs, maxNs: maxNs + beforeNs } : { minNs: minNs - beforeNs, maxNs };
}

function select({ type, points }: Measured, { minNs, maxNs }: Bounds, descending: boolean): { points: Points; keys: Uint32Array } {
  const within = points.filter(([time]) => time >= minNs && time <= maxNs);
  // equal times keep the order of their series
  const rows = descending ? within.toSorted(([a], [b]) => (a < b ? 1 : a > b ? -1 : 0)) : within;
  const times = BigInt64Array.from(rows, ([time]) => time);
  const values = rows.map(([, value]) => value);
  return { points: typedPoints(type, times, values), keys: Uint32Array.from(rows, ([, , key]) => (key === "a" ? 0 : 1)) };
}

function typedPoints(type: Measured["type"], times: BigInt64Array, values: readonly unknown[]): Points {
  if (type === "float") return pointsOf("float", times, Float64Array.from(values as number[]));
  if (type === "integer") return pointsOf("integer", times, BigInt64Array.from(values as bigint[]));
  if (type === "boolean") return pointsOf("boolean", times, Uint8Array.from(values as boolean[], Number));
  return pointsOf("string", times, Texts.of(values as string[]));
}

function fillOf(
  { calls, fill = "null", descending = false }: Case,
  points: Points,
  bounds: Bounds,
  grid: WindowGrid | null,
  isList: boolean,
): WindowPoints {
  if (grid === null || isList) return { points, validity: null };
  const isCount = calls.at(-1)![0] === "count";
  const how: Fill =
    typeof fill === "number" ? { kind: "value", value: fill } : isCount && fill === "null" ? { kind: "value", value: 0n } : { kind: fill };
  return finish(fillWindows(points, finish(windowStarts(grid, bounds.minNs, bounds.maxNs, descending)), how, grid.intervalNs));
}

function withoutNulls({ points, validity }: WindowPoints): Points {
  const rows = [...points.times.keys()].filter((row) => validity === null || validity[row >>> 3]! & (1 << (row & 7)));
  const values = rows.map((row) => valueAt(points.values, row));
  return typedPoints(
    points.type as Measured["type"],
    BigInt64Array.from(rows, (row) => points.times[row]!),
    values,
  );
}

// Answers ----------------------------------------------------------------------------------------------------------------------------

type Row = readonly [timeNs: string, value: unknown];

function rowsOf({ points, validity }: WindowPoints, { calls }: Case): Row[] {
  return [...points.times.keys()].map((row) => {
    const value = valueAt(points.values, row);
    const isNull = (validity !== null && !(validity[row >>> 3]! & (1 << (row & 7)))) || Number.isNaN(value);
    if (isNull) return [`${points.times[row]}`, null];
    if (typeof value === "bigint") return [`${points.times[row]}`, `${value}`];
    return [`${points.times[row]}`, typeof value === "number" ? (points.type === "boolean" ? value === 1 : near(value, calls)) : value];
  });
}

/** Rows as 1.6.7 printed them; integers as text. */
function readRows(text: string, each: Case): Row[] {
  const type = resultType(each);
  return [...text.matchAll(/\[(-?\d+),("(?:[^"\\]|\\.)*"|[^\],]*)/g)].map(([, time, value]) => {
    if (value === "null") return [time!, null];
    if (type === "integer") return [time!, value!];
    return [time!, type === "float" ? near(Number(value), each.calls) : JSON.parse(value!)];
  });
}

/** 1.6.7 lists several rows of a window in ascending order even under ORDER BY time DESC. Version 2.8 lists the last one first; of
 *  `distinct`, whose rows have one time, that is the value that occurs last. */
function inOrder(rows: Row[], { calls, descending }: Case): Row[] {
  const name = calls[0]![0];
  if (!descending || REDUCERS.get(name)?.isList !== true) return rows;
  const windows = [...Map.groupBy(rows, ([time]) => time).values()];
  if (name === "distinct") return windows.flatMap((values) => values.reverse());
  return rows.toSorted(([a], [b]) => Number(BigInt(b) - BigInt(a)));
}

function resultType({ from, calls }: Case): string {
  return calls.reduceRight<string>(
    (type, [name]) => (REDUCERS.get(name) ?? TRANSFORMS.get(name))!.resultType(type as Points["type"]),
    DATA[from]!.type,
  );
}

/** Powers in forecasts differ in their last digits from one mathematical library to the next. */
function near(value: number, calls: Case["calls"]): number {
  return calls[0]![0].startsWith("holt_winters") ? Number(value.toPrecision(6)) : value;
}
