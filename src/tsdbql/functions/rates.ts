// Functions of consecutive points: derivative, difference, elapsed, and the running sum. In 1.x the first of several points at one time
// counts, except for `elapsed`, which is 0 for the others, and the sum; in v3 all of them do, and a change within no time is infinite.
import { inSteps, isPause, type Steps } from "../../model/steps.ts";
import { SECOND_NS } from "../../model/time/time-units.ts";
import type { FieldType, Literal } from "../parse/ast.ts";
import { durationOf } from "./arguments.ts";
import { pointsOf } from "./columns.ts";
import { areEqual, difference, takeIntegers, WrappingSum, wordsOf } from "./int64.ts";
import { ALL_TYPES, checkType, NUMBERS, type OperatorContext, type Transform } from "./operator.ts";
import type { Points } from "./points.ts";

const WORD = 2 ** 32;
/** A wrapped difference is off by a multiple of twice as much. */
const HALF = 2 ** 63;

/** The change per unit: by default the window length of GROUP BY time, otherwise a second. In 1.x times pass forwards, even where they
 *  descend. */
function derivative(name: string, dropsNegative: boolean): Transform {
  const transform: Transform = {
    ...{ name, arity: [1, 2], takes: NUMBERS, label: "derivative" },
    resultType: () => "float",
    windowsBefore: () => 1,
    *apply(points, args, { descending, intervalNs, isTable = false }: OperatorContext) {
      checkType(transform, points.type);
      const isBackwards = descending && !isTable;
      const unitNs = Number(args.length > 0 ? durationOf(args[0]!) : (intervalNs ?? SECOND_NS));
      const rows = yield* countedRows(points.times, isTable);
      const changes = yield* changesOf(points, rows, !isTable);
      const times = wordsOf(points.times);
      const kept = new Int32Array(changes.length);
      const values = new Float64Array(changes.length);
      let count = 0;
      for (let i = 0; i < changes.length; i++) {
        if (isPause(i)) yield;
        const elapsedNs = difference(times, rows[i + 1]!, rows[i]!);
        const rate = changes[i]! / ((isBackwards ? -elapsedNs : elapsedNs) / unitNs);
        if (dropsNegative && isNegative(rate, isTable)) continue;
        values[count] = rate;
        kept[count++] = rows[i + 1]!;
      }
      return pointsOf("float", yield* takeIntegers(points.times, kept.subarray(0, count)), values.slice(0, count));
    },
  };
  return transform;
}

function differences(name: string, dropsNegative: boolean): Transform {
  const transform: Transform = {
    ...{ name, arity: [1, 1], takes: NUMBERS, label: "difference" },
    resultType: (type) => type,
    windowsBefore: () => 1,
    *apply(points, _args, { isTable = false }: OperatorContext) {
      checkType(transform, points.type);
      const rows = yield* countedRows(points.times, isTable);
      return points.type === "float"
        ? yield* floatDifferences(points.times, points.values, rows, dropsNegative ? (value) => isNegative(value, isTable) : null)
        : yield* integerDifferences(points, rows, dropsNegative && (points.type === "integer" || !isTable));
    },
  };
  return transform;
}

/** In v3 the zero with a sign is negative, too. */
function isNegative(value: number, isTable: boolean): boolean {
  return value < 0 || (isTable && Object.is(value, -0));
}

function* floatDifferences(
  times: BigInt64Array,
  from: Float64Array,
  rows: Int32Array,
  drops: ((value: number) => boolean) | null,
): Steps<Points> {
  const kept = new Int32Array(Math.max(0, rows.length - 1));
  const values = new Float64Array(kept.length);
  let count = 0;
  for (let i = 1; i < rows.length; i++) {
    if (isPause(i)) yield;
    const value = from[rows[i]!]! - from[rows[i - 1]!]!;
    if (drops?.(value) === true) continue;
    values[count] = value;
    kept[count++] = rows[i]!;
  }
  return pointsOf("float", yield* takeIntegers(times, kept.subarray(0, count)), values.slice(0, count));
}

/** Differences wrap around in 64 bits. An unsigned one is negative if the value decreased; in v3 none is. */
function* integerDifferences(points: Points, rows: Int32Array, dropsNegative: boolean): Steps<Points> {
  const { type, times } = points as Extract<Points, { type: "integer" | "unsigned" }>;
  const from = wordsOf(points.values as BigInt64Array | BigUint64Array);
  const kept = new Int32Array(Math.max(0, rows.length - 1));
  const words = new Int32Array(kept.length * 2);
  const sum = new WrappingSum();
  let count = 0;
  for (let i = 1; i < rows.length; i++) {
    if (isPause(i)) yield;
    sum.clear();
    sum.add(from, rows[i]!);
    sum.subtract(from, rows[i - 1]!);
    if (dropsNegative && (type === "integer" ? sum.high < 0 : difference64(from, rows[i]!, rows[i - 1]!) < 0)) continue;
    sum.writeTo(words, count);
    kept[count++] = rows[i]!;
  }
  const keptTimes = yield* takeIntegers(times, kept.subarray(0, count));
  const bytes = words.buffer.slice(0, count * 8);
  return type === "integer"
    ? pointsOf("integer", keptTimes, new BigInt64Array(bytes))
    : pointsOf("unsigned", keptTimes, new BigUint64Array(bytes));
}

/** Unsigned value a minus b as a float. */
function difference64(words: Int32Array, a: number, b: number): number {
  return ((words[2 * a + 1]! >>> 0) - (words[2 * b + 1]! >>> 0)) * WORD + ((words[2 * a]! >>> 0) - (words[2 * b]! >>> 0));
}

/** Changes between rows as floats: for integers computed from the exact difference. @param wraps of 64 bits, as in 1.x */
function* changesOf(points: Points, rows: Int32Array, wraps: boolean): Steps<Float64Array> {
  const changes = new Float64Array(Math.max(0, rows.length - 1));
  if (points.type === "float") {
    const { values } = points;
    yield* inSteps(changes.length, (from, to) => {
      for (let i = from; i < to; i++) changes[i] = values[rows[i + 1]!]! - values[rows[i]!]!;
    });
    return changes;
  }
  const words = wordsOf(points.values as BigInt64Array | BigUint64Array);
  const sum = new WrappingSum();
  for (let i = 0; i < changes.length; i++) {
    if (isPause(i)) yield;
    if (points.type === "unsigned") {
      changes[i] = difference64(words, rows[i + 1]!, rows[i]!);
      continue;
    }
    sum.clear();
    sum.add(words, rows[i + 1]!);
    sum.subtract(words, rows[i]!);
    const exact = sum.toFloat(false);
    const near = difference(words, rows[i + 1]!, rows[i]!);
    changes[i] = wraps || Math.abs(exact - near) < HALF ? exact : near;
  }
  return changes;
}

/** The rows whose time differs from that of the previous row; in v3 all. */
function* countedRows(times: BigInt64Array, isTable: boolean): Steps<Int32Array> {
  const words = wordsOf(times);
  const rows = new Int32Array(times.length);
  let count = 0;
  for (let row = 0; row < times.length; row++) {
    if (isPause(row)) yield;
    if (isTable || row === 0 || !areEqual(words, row, row - 1)) rows[count++] = row;
  }
  return rows.subarray(0, count);
}

/** Whole units between consecutive points, truncated; negative for descending times. */
const ELAPSED: Transform = {
  ...{ name: "elapsed", arity: [1, 2], takes: ALL_TYPES, label: "elapsed" },
  resultType: () => "integer",
  windowsBefore: () => 1,
  *apply(points: Points, args: readonly Literal[]): Steps<Points> {
    const unitNs = args.length > 0 ? durationOf(args[0]!) : 1n;
    const unit = Number(unitNs);
    const times = wordsOf(points.times);
    const count = Math.max(0, points.times.length - 1);
    const words = new Int32Array(count * 2);
    const values = new BigInt64Array(words.buffer);
    for (let i = 0; i < count; i++) {
      if (isPause(i)) yield;
      const elapsedNs = difference(times, i + 1, i);
      if (Math.abs(elapsedNs) < 2 ** 53 && unit < 2 ** 53) {
        // exact: a float quotient of integers below 2^53 is integral only if the exact quotient is
        const units = Math.trunc(elapsedNs / unit);
        words[2 * i] = (units % WORD) | 0;
        words[2 * i + 1] = Math.floor(units / WORD);
      } else values[i] = (points.times[i + 1]! - points.times[i]!) / unitNs;
    }
    return pointsOf("integer", points.times.slice(Math.min(1, points.times.length)), values);
  },
};

const CUMULATIVE_SUM: Transform = {
  ...{ name: "cumulative_sum", arity: [1, 1], takes: NUMBERS, label: "cumulative sum" },
  resultType: (type: FieldType) => type,
  windowsBefore: () => 0,
  *apply(points: Points): Steps<Points> {
    checkType(CUMULATIVE_SUM, points.type);
    const count = points.times.length;
    if (points.type === "float") {
      const values = new Float64Array(count);
      let total = 0;
      for (let i = 0; i < count; i++) {
        if (isPause(i)) yield;
        total += points.values[i]!;
        values[i] = total;
      }
      return pointsOf("float", points.times, values);
    }
    const from = wordsOf(points.values as BigInt64Array | BigUint64Array);
    const words = new Int32Array(count * 2);
    const sum = new WrappingSum();
    for (let i = 0; i < count; i++) {
      if (isPause(i)) yield;
      sum.add(from, i);
      sum.writeTo(words, i);
    }
    if (points.type === "integer") return pointsOf("integer", points.times, new BigInt64Array(words.buffer));
    return pointsOf("unsigned", points.times, new BigUint64Array(words.buffer));
  },
};

export const RATES: readonly Transform[] = [
  derivative("derivative", false),
  derivative("non_negative_derivative", true),
  differences("difference", false),
  differences("non_negative_difference", true),
  ELAPSED,
  CUMULATIVE_SUM,
];
