// Reducers that compute a value of each window's points.
import type { FieldType, Literal } from "../ast.ts";
import type { Points, PointValues } from "../points.ts";
import { durationOf } from "./arguments.ts";
import { newValues, numbersOf, pointsOf, type Values } from "./columns.ts";
import { integrals } from "./integral.ts";
import { ALL_TYPES, checkType, NUMBERS, type ReduceContext, type Reduced, type Reducer, type Windows } from "./operator.ts";
import { areExact, floatsOf, type Integers, takeIntegers, WrappingSum, wordsOf } from "./words.ts";

type Compute = (points: Points, windows: Windows) => Values;

/** One value a window. */
function aggregate(name: string, takes: readonly FieldType[], resultType: Reducer["resultType"], compute: Compute): Reducer {
  const reducer: Reducer = {
    ...{ name, arity: [1, 1], takes, label: name, resultType, selects: false, times: "window", isList: false },
    reduce(points, windows) {
      checkType(reducer, points.type);
      const type = resultType(points.type);
      return ofWindows(pointsOf(type, windows.startsNs, compute(points, windows) as PointValues[typeof type]));
    },
  };
  return reducer;
}

function ofWindows(points: Points): Reduced {
  return { points, windows: Int32Array.from(points.times.keys()), rows: null };
}

function counts(_points: Points, { offsets }: Windows): BigInt64Array {
  const values = new BigInt64Array(offsets.length - 1);
  for (let i = 0; i < values.length; i++) values[i] = BigInt(offsets[i + 1]! - offsets[i]!);
  return values;
}

/** Integers wrap as 64-bit ones do. */
function sums(points: Points, { offsets }: Windows): Values {
  const values = newValues(points.type, offsets.length - 1);
  if (points.type === "float") {
    const from = points.values;
    for (let i = 0; i < values.length; i++) {
      let sum = 0;
      for (let row = offsets[i]!; row < offsets[i + 1]!; row++) sum += from[row]!;
      (values as Float64Array)[i] = sum;
    }
    return values;
  }
  const [from, words] = [wordsOf(points.values as Integers), wordsOf(values as Integers)];
  const sum = new WrappingSum();
  for (let i = 0; i < values.length; i++) {
    sum.clear();
    sum.addAll(from, offsets[i]!, offsets[i + 1]!);
    sum.writeTo(words, i);
  }
  return values;
}

function means(points: Points, windows: Windows): Float64Array {
  const { offsets } = windows;
  const total = sums(points, windows);
  const values = total instanceof Float64Array ? total : floatsOf(total as Integers);
  for (let i = 0; i < values.length; i++) values[i] = values[i]! / (offsets[i + 1]! - offsets[i]!);
  return values;
}

function spreads(points: Points, { offsets }: Windows): Values {
  const values = newValues(points.type, offsets.length - 1);
  const from = points.values as Float64Array | Integers;
  const keys = points.type === "float" || !areExact(points.values as Integers) ? from : floatsOf(points.values as Integers);
  for (let i = 0; i < values.length; i++) {
    let least = offsets[i]!;
    let most = least;
    for (let row = least + 1; row < offsets[i + 1]!; row++) {
      if (keys[row]! < keys[least]!) least = row;
      if (keys[row]! > keys[most]!) most = row;
    }
    if (from instanceof Float64Array) (values as Float64Array)[i] = from[most]! - from[least]!;
    else (values as Integers)[i] = from[most]! - from[least]!;
  }
  return values;
}

/** The middle value, or what lies between the two middle ones. */
function medians(points: Points, { offsets }: Windows): Float64Array {
  const values = new Float64Array(offsets.length - 1);
  const keys = sortKeys(points);
  for (let i = 0; i < values.length; i++) {
    const sorted = keys.slice(offsets[i]!, offsets[i + 1]!).sort();
    const upper = sorted[sorted.length >>> 1]!;
    const lower = sorted[(sorted.length - 1) >>> 1]!;
    values[i] =
      typeof upper === "bigint"
        ? Number(lower) + Number(upper - (lower as bigint)) / 2
        : (lower as number) + (upper - (lower as number)) / 2;
  }
  return values;
}

/** What sorts as the numbers do: floats where they are exact. */
export function sortKeys(points: Points): Float64Array | Integers {
  if (points.type === "float") return points.values;
  const integers = points.values as Integers;
  return areExact(integers) ? floatsOf(integers) : integers;
}

/** Of a sample; of a single point it is not a number. */
function deviations(points: Points, { offsets }: Windows): Float64Array {
  const values = new Float64Array(offsets.length - 1);
  const from = numbersOf(points);
  for (let i = 0; i < values.length; i++) {
    const count = offsets[i + 1]! - offsets[i]!;
    let [mean, seen, variance] = [0, 0, 0];
    for (let row = offsets[i]!; row < offsets[i + 1]!; row++) mean += (from[row]! - mean) / ++seen;
    for (let row = offsets[i]!; row < offsets[i + 1]!; row++) variance += (from[row]! - mean) ** 2;
    values[i] = count < 2 ? Number.NaN : Math.sqrt(variance / (count - 1));
  }
  return values;
}

/** The most frequent value; of equally frequent ones the one that came first, of values that are all different the least. Of booleans true,
 *  if they are as many. (1.6.7 documents it so; of many points it takes one or another of them.) */
function modes(points: Points, { offsets }: Windows): Values {
  const values = newValues(points.type, offsets.length - 1);
  const keys: ArrayLike<number | bigint | string> =
    points.type === "string" || points.type === "boolean" ? points.values : sortKeys(points);
  for (let i = 0; i < values.length; i++) {
    const row =
      points.type === "boolean"
        ? booleanMode(points.values, offsets[i]!, offsets[i + 1]!)
        : modeRow(keys, points.times, offsets[i]!, offsets[i + 1]!);
    // integers of every type are written as they are read
    (values as (typeof values)[number][])[i] = points.values[row]!;
  }
  return values;
}

function modeRow(keys: ArrayLike<number | bigint | string>, times: BigInt64Array, from: number, end: number): number {
  const found = new Map<number | bigint | string, { count: number; readonly first: number; last: number }>();
  for (let row = from; row < end; row++) {
    const same = found.get(keys[row]!);
    if (same === undefined) found.set(keys[row]!, { count: 1, first: row, last: row });
    else {
      same.count++;
      same.last = row;
    }
  }
  // of falling times the last row is the earliest
  const earliest = (of: { readonly first: number; readonly last: number }) => (times[of.last]! < times[of.first]! ? of.last : of.first);
  let [bestKey, best] = found.entries().next().value!;
  for (const [key, of] of found) {
    if (of.count < best.count) continue;
    const [timeNs, bestNs] = [times[earliest(of)]!, times[earliest(best)]!];
    // of those that came at once it is the greatest, so that it does not matter in which order they lie
    const isFirst = of.count === 1 ? key < bestKey : timeNs < bestNs || (timeNs === bestNs && key > bestKey);
    if (of.count > best.count || isFirst) [bestKey, best] = [key, of];
  }
  return best.first;
}

/** Of booleans, a row with the more frequent one. */
function booleanMode(values: Uint8Array, from: number, end: number): number {
  let trues = 0;
  for (let row = from; row < end; row++) trues += values[row]!;
  return values.indexOf(trues * 2 >= end - from ? 1 : 0, from);
}

/** The area below the points, by default times seconds. */
const INTEGRAL: Reducer = {
  ...{ name: "integral", arity: [1, 2], takes: NUMBERS, label: "integral", selects: false, times: "window", isList: true },
  resultType: () => "float",
  reduce(points: Points, windows: Windows, args: readonly Literal[], context: ReduceContext) {
    checkType(INTEGRAL, points.type);
    const unitNs = args.length > 0 ? Number(durationOf(args[0]!)) : 1e9;
    const { areas, windows: of } = integrals(points.times, numbersOf(points), windows, { unitNs, ...context });
    return { points: pointsOf("float", takeIntegers(windows.startsNs, of), areas), windows: of, rows: null };
  },
};

export const AGGREGATES: readonly Reducer[] = [
  aggregate("count", ALL_TYPES, () => "integer", counts),
  aggregate("sum", NUMBERS, (type) => type, sums),
  aggregate("mean", NUMBERS, () => "float", means),
  aggregate("spread", NUMBERS, (type) => type, spreads),
  aggregate("median", NUMBERS, () => "float", medians),
  aggregate("stddev", NUMBERS, () => "float", deviations),
  aggregate("mode", ALL_TYPES, (type) => type, modes),
  INTEGRAL,
];
