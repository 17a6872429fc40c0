// Reducers that compute one value from each window's points.
import { nthValues } from "../../model/rows/nth-values.ts";
import { inRange, inSteps, STEP_ROWS, StepCounter, type Steps } from "../../model/steps.ts";
import type { FieldType, Literal } from "../parse/ast.ts";
import { durationOf } from "./arguments.ts";
import { newValues, numbersOf, pointsOf, takeValues, type Values } from "./columns.ts";
import { areExact, floatsOf, type Integers, takeIntegers, WrappingSum, wordsOf } from "./int64.ts";
import { integrals } from "./integral.ts";
import { ALL_TYPES, checkType, NUMBERS, type ReduceContext, type Reduced, type Reducer, WHOLE_MEDIAN, type Windows } from "./operator.ts";
import type { Points, PointValues } from "./points.ts";

type Compute = (points: Points, windows: Windows) => Steps<Values>;

/** A reducer with one result per window. */
function aggregate(name: string, takes: readonly FieldType[], resultType: Reducer["resultType"], compute: Compute): Reducer {
  const reducer: Reducer = {
    ...{ name, arity: [1, 1], takes, label: name, resultType, selects: false, times: "window", isList: false },
    *reduce(points, windows) {
      checkType(reducer, points.type);
      const type = resultType(points.type);
      return ofWindows(pointsOf(type, windows.startsNs, (yield* compute(points, windows)) as PointValues[typeof type]));
    },
  };
  return reducer;
}

function ofWindows(points: Points): Reduced {
  return { points, windows: Int32Array.from({ length: points.times.length }, (_, window) => window), rows: null };
}

/** Calls `ofRows` with [from, to) for the rows of each window, in pieces, and `endWindow` after its last row. */
function* overWindows(
  { offsets }: Windows,
  ofRows: (from: number, to: number, window: number) => void,
  endWindow: (window: number) => void = () => {},
): Steps<void> {
  const counter = new StepCounter();
  for (let window = 0; window + 1 < offsets.length; window++) {
    const end = offsets[window + 1]!;
    for (let from = offsets[window]!; from < end; ) {
      const to = Math.min(end, from + STEP_ROWS);
      ofRows(from, to, window);
      if (counter.isDue(1 + to - from)) yield;
      from = to;
    }
    endWindow(window);
  }
}

function* counts(_points: Points, { offsets }: Windows): Steps<BigInt64Array> {
  const values = new BigInt64Array(offsets.length - 1);
  yield* inSteps(values.length, (from, to) => {
    for (let i = from; i < to; i++) values[i] = BigInt(offsets[i + 1]! - offsets[i]!);
  });
  return values;
}

/** Integers wrap around in 64 bits. */
function* sums(points: Points, windows: Windows): Steps<Values> {
  const values = newValues(points.type, windows.offsets.length - 1);
  if (points.type === "float") {
    const source = points.values;
    const floats = values as Float64Array;
    yield* overWindows(windows, (from, to, window) => {
      let sum = floats[window]!;
      for (let row = from; row < to; row++) sum += source[row]!;
      floats[window] = sum;
    });
    return values;
  }
  const [source, words] = [wordsOf(points.values as Integers), wordsOf(values as Integers)];
  const sum = new WrappingSum();
  yield* overWindows(
    windows,
    (from, to) => sum.addAll(source, from, to),
    (window) => {
      sum.writeTo(words, window);
      sum.clear();
    },
  );
  return values;
}

/** Exact if the integer sum fits 64 bits; otherwise computed in floats. */
function* means(points: Points, windows: Windows): Steps<Float64Array> {
  const { offsets } = windows;
  const total = yield* sums(points, windows);
  const values = total instanceof Float64Array ? total : yield* floatsOf(total as Integers);
  const rounded = total instanceof Float64Array ? total : yield* floatSums(points, windows);
  yield* inSteps(values.length, (from, to) => {
    for (let i = from; i < to; i++) {
      // a wrapped sum is off by a multiple of 2^64
      const hasWrapped = Math.abs(values[i]! - rounded[i]!) > 2 ** 63;
      values[i] = (hasWrapped ? rounded[i]! : values[i]!) / (offsets[i + 1]! - offsets[i]!);
    }
  });
  return values;
}

function* floatSums(points: Points, windows: Windows): Steps<Float64Array> {
  const floats = pointsOf("float", points.times, yield* numbersOf(points));
  return (yield* sums(floats, windows)) as Float64Array;
}

function* spreads(points: Points, windows: Windows): Steps<Values> {
  const { offsets } = windows;
  const values = newValues(points.type, offsets.length - 1);
  const source = points.values as Float64Array | Integers;
  const keys = yield* sortKeys(points);
  let [least, most] = [0, 0];
  yield* overWindows(
    windows,
    (from, to, window) => {
      if (from === offsets[window]) {
        least = from;
        most = from;
      }
      for (let row = from; row < to; row++) {
        if (keys[row]! < keys[least]!) least = row;
        if (keys[row]! > keys[most]!) most = row;
      }
    },
    (window) => {
      if (source instanceof Float64Array) (values as Float64Array)[window] = source[most]! - source[least]!;
      else (values as Integers)[window] = source[most]! - source[least]!;
    },
  );
  return values;
}

/** The middle value, or the mean of the two middle ones. */
function* medians(points: Points, { offsets }: Windows): Steps<Float64Array> {
  const values = new Float64Array(offsets.length - 1);
  const keys = yield* sortKeys(points);
  const counter = new StepCounter();
  for (let i = 0; i < values.length; i++) {
    const [lower, upper] = (yield* middlesOf(keys, offsets[i]!, offsets[i + 1]!)) as [number | bigint, number | bigint];
    values[i] =
      typeof upper === "bigint"
        ? Number(lower) + Number(upper - (lower as bigint)) / 2
        : (lower as number) + (upper - (lower as number)) / 2;
    if (counter.isDue(1 + (offsets[i + 1]! - offsets[i]!) * SORT_COST)) yield;
  }
  return values;
}

/** The two values in the middle, which are one for an odd number. */
function middlesOf(keys: Float64Array | Integers, from: number, end: number): Steps<(number | bigint)[]> {
  return nthValues<Float64Array | Integers>(keys, from, end, [(end - from - 1) >>> 1, (end - from) >>> 1]);
}

/** The same as integers: half a unit is cut off. */
function* wholeMedians(points: Points, { offsets }: Windows): Steps<Values> {
  const values = newValues(points.type, offsets.length - 1) as Integers;
  const counter = new StepCounter();
  for (let i = 0; i < values.length; i++) {
    const [lower, upper] = (yield* middlesOf(points.values as Integers, offsets[i]!, offsets[i + 1]!)) as [bigint, bigint];
    values[i] = (lower + upper) / 2n;
    if (counter.isDue(1 + (offsets[i + 1]! - offsets[i]!) * SORT_COST)) yield;
  }
  return values;
}

/** Cost of sorting a row, in units of rows that are only read. */
export const SORT_COST = 8;

/** Keys that sort like the numbers: floats where they are exact. */
export function* sortKeys(points: Points): Steps<Float64Array | Integers> {
  if (points.type === "float") return points.values;
  const integers = points.values as Integers;
  return (yield* areExact(integers)) ? yield* floatsOf(integers) : integers;
}

/** Sample standard deviation; NaN for a single point. */
function* deviations(points: Points, windows: Windows): Steps<Float64Array> {
  const { offsets } = windows;
  const values = new Float64Array(offsets.length - 1);
  const means = new Float64Array(values.length);
  const source = yield* numbersOf(points);
  yield* overWindows(windows, (from, to, window) => {
    let mean = means[window]!;
    let seen = from - offsets[window]!;
    for (let row = from; row < to; row++) mean += (source[row]! - mean) / ++seen;
    means[window] = mean;
  });
  yield* overWindows(
    windows,
    (from, to, window) => {
      const mean = means[window]!;
      let variance = values[window]!;
      for (let row = from; row < to; row++) variance += (source[row]! - mean) ** 2;
      values[window] = variance;
    },
    (window) => {
      const count = offsets[window + 1]! - offsets[window]!;
      values[window] = count < 2 ? Number.NaN : Math.sqrt(values[window]! / (count - 1));
    },
  );
  return values;
}

/** The most frequent value; among equally frequent ones the first to occur, if all values are distinct the least. For booleans, true in
 *  a tie. (Documented like this by 1.6.7, which for many points selects an arbitrary one.) */
function* modes(points: Points, windows: Windows): Steps<Values> {
  const { offsets } = windows;
  const rows = new Int32Array(offsets.length - 1);
  const keys: ArrayLike<number | bigint | string> =
    points.type === "string" ? yield* points.values.toArray() : points.type === "boolean" ? points.values : yield* sortKeys(points);
  const counter = new StepCounter();
  for (let i = 0; i < rows.length; i++) {
    const from = offsets[i]!;
    const end = offsets[i + 1]!;
    rows[i] = points.type === "boolean" ? yield* booleanMode(points.values, from, end) : yield* modeRow(keys, points.times, from, end);
    if (counter.isDue(1 + (end - from) * SORT_COST)) yield;
  }
  return yield* takeValues(points.values, rows);
}

interface Found {
  count: number;
  readonly first: number;
  last: number;
}

function* modeRow(keys: ArrayLike<number | bigint | string>, times: BigInt64Array, start: number, end: number): Steps<number> {
  const found = new Map<number | bigint | string, Found>();
  yield* inRange(start, end, (from, to) => {
    for (let row = from; row < to; row++) {
      const same = found.get(keys[row]!);
      if (same === undefined) found.set(keys[row]!, { count: 1, first: row, last: row });
      else {
        same.count++;
        same.last = row;
      }
    }
  });
  // for descending times the last row is the earliest
  const earliest = (of: Found) => (times[of.last]! < times[of.first]! ? of.last : of.first);
  const counter = new StepCounter();
  let [bestKey, best] = found.entries().next().value!;
  for (const [key, of] of found) {
    if (counter.isDue(1)) yield;
    if (of.count < best.count) continue;
    const timeNs = times[earliest(of)]!;
    const bestNs = times[earliest(best)]!;
    // if every value occurs once, the least wins; otherwise the earliest, and at equal times the greatest, so that the order of rows does
    // not matter
    const isFirst = of.count === 1 ? key < bestKey : timeNs < bestNs || (timeNs === bestNs && key > bestKey);
    if (of.count > best.count || isFirst) {
      bestKey = key;
      best = of;
    }
  }
  return best.first;
}

/** For booleans: a row with the more frequent value. */
function* booleanMode(values: Uint8Array, start: number, end: number): Steps<number> {
  let trues = 0;
  yield* inRange(start, end, (from, to) => {
    for (let row = from; row < to; row++) trues += values[row]!;
  });
  return values.indexOf(trues * 2 >= end - start ? 1 : 0, start);
}

/** The area under the points, by default in units of seconds. */
const INTEGRAL: Reducer = {
  ...{ name: "integral", arity: [1, 2], takes: NUMBERS, label: "integral", selects: false, times: "window", isList: true },
  resultType: () => "float",
  *reduce(points: Points, windows: Windows, args: readonly Literal[], context: ReduceContext) {
    checkType(INTEGRAL, points.type);
    const unitNs = args.length > 0 ? Number(durationOf(args[0]!)) : 1e9;
    const { areas, windows: of } = yield* integrals(points.times, yield* numbersOf(points), windows, { unitNs, ...context });
    return { points: pointsOf("float", yield* takeIntegers(windows.startsNs, of), areas), windows: of, rows: null };
  },
};

export const AGGREGATES: readonly Reducer[] = [
  aggregate("count", ALL_TYPES, () => "integer", counts),
  aggregate("sum", NUMBERS, (type) => type, sums),
  aggregate("mean", NUMBERS, () => "float", means),
  aggregate("spread", NUMBERS, (type) => type, spreads),
  aggregate("median", NUMBERS, () => "float", medians),
  aggregate(WHOLE_MEDIAN, ["integer", "unsigned"], (type) => type, wholeMedians),
  aggregate("stddev", NUMBERS, () => "float", deviations),
  aggregate("mode", ALL_TYPES, (type) => type, modes),
  INTEGRAL,
];
