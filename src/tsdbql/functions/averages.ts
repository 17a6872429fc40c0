// Moving averages and the technical analysis indicators based on them. Each has a period; most return nothing until they have seen enough
// points, which a second argument overrides; "exponential" or "simple" selects the weights of the first points. Sources: the 1.x
// documentation of each function; the algorithms as published by TA-Lib and StockCharts, which it refers to.
import { isPause } from "../../model/steps.ts";
import type { Literal } from "../parse/ast.ts";
import { integerOf, textOf } from "./arguments.ts";
import { numbersOf, pointsOf } from "./columns.ts";
import { takeIntegers, WrappingSum, wordsOf } from "./int64.ts";
import { checkType, NUMBERS, type OperatorContext, type Transform } from "./operator.ts";
import type { Points } from "./points.ts";

/** Weights of the first points of an exponential average: decreasing to the final weight, or equal. */
type Warmup = "exponential" | "simple";

/** Returns a value per input; `warmCount`: number of inputs until it is meaningful. */
interface Indicator {
  readonly warmCount: number;
  add(value: number): number;
}

/** Gives each new value a fixed weight once it has seen as many as its period. */
class ExponentialAverage implements Indicator {
  readonly warmCount: number;
  last = 0;
  private count = 0;

  constructor(
    private readonly period: number,
    readonly warmup: Warmup,
    private readonly weight = 2 / (period + 1),
  ) {
    this.warmCount = period - 1;
  }

  get isWarm(): boolean {
    return this.count === this.period;
  }

  /** True if its result may be the input of another average: with an exponential start immediately. */
  get feeds(): boolean {
    return this.warmup === "exponential" || this.isWarm;
  }

  add(value: number): number {
    const { last, count } = this;
    if (count === 0) this.last = value;
    else if (this.isWarm) this.last = (value - last) * this.weight + last;
    else if (this.warmup === "simple") this.last = (last * count + value) / (count + 1);
    else this.last = (value - last) * (2 / (count + 2)) + last;
    if (!this.isWarm) this.count++;
    return this.last;
  }
}

/** Averages of averages, two or three levels. */
function averageChain(period: number, warmup: Warmup, depth: number): { readonly values: Float64Array; add(value: number): void } {
  const averages = Array.from({ length: depth }, () => new ExponentialAverage(period, warmup));
  const values = new Float64Array(depth);
  return {
    values,
    add(value) {
      values[0] = averages[0]!.add(value);
      for (let i = 1; i < depth; i++) values[i] = averages[i - 1]!.feeds ? averages[i]!.add(values[i - 1]!) : values[i - 1]!;
    },
  };
}

const warmCountOf = (period: number, warmup: Warmup, depth: number) => (period - 1) * (warmup === "exponential" ? 1 : depth);

function doubleAverage(period: number, warmup: Warmup): Indicator {
  const { values, add } = averageChain(period, warmup, 2);
  return {
    warmCount: warmCountOf(period, warmup, 2),
    add(value) {
      add(value);
      return 2 * values[0]! - values[1]!;
    },
  };
}

function tripleAverage(period: number, warmup: Warmup): Indicator {
  const { values, add } = averageChain(period, warmup, 3);
  return {
    warmCount: warmCountOf(period, warmup, 3),
    add(value) {
      add(value);
      return 3 * values[0]! - 3 * values[1]! + values[2]!;
    },
  };
}

/** TRIX: percentage change of a triple exponential average. */
function tripleDerivative(period: number, warmup: Warmup): Indicator {
  const { values, add } = averageChain(period, warmup, 3);
  let last = 0;
  return {
    warmCount: warmCountOf(period, warmup, 3) + 1,
    add(value) {
      add(value);
      const rate = (values[2]! / last - 1) * 100;
      last = values[2]!;
      return rate;
    },
  };
}

/** Averages of increases and decreases, starting from 0. */
function smoothedMoves(period: number, warmup: Warmup): { readonly warmCount: number; add(value: number): [up: number, down: number] } {
  const ups = new ExponentialAverage(period + 1, warmup, 1 / period);
  const downs = new ExponentialAverage(period + 1, warmup, 1 / period);
  let last = 0;
  return {
    warmCount: ups.warmCount,
    add(value) {
      const up = ups.add(value > last ? value - last : 0);
      const down = downs.add(value < last ? last - value : 0);
      last = value;
      return [up, down];
    },
  };
}

function relativeStrength(period: number, warmup: Warmup): Indicator {
  const moves = smoothedMoves(period, warmup);
  return {
    warmCount: moves.warmCount,
    add(value) {
      const [up, down] = moves.add(value);
      return 100 - 100 / (1 + up / down);
    },
  };
}

function smoothedMomentum(period: number, warmup: Warmup): Indicator {
  const moves = smoothedMoves(period, warmup);
  return {
    warmCount: moves.warmCount,
    add(value) {
      const [up, down] = moves.add(value);
      return 100 * ((up - down) / (up + down));
    },
  };
}

/** Chande momentum oscillator: from the sums of increases and decreases over the last `period` changes. */
function momentum(period: number, valueCount: number): Indicator {
  // all changes but the newest; a ring buffer, which fewer values do not fill
  const size = Math.min(period - 1, valueCount);
  const changes = new Float64Array(size);
  let [up, down, last, at, hasLast] = [0, 0, 0, 0, false];
  return {
    warmCount: period - 1,
    add(value) {
      const change = hasLast ? value - last : 0;
      if (change > 0) up += change;
      else down -= change;
      const result = up !== 0 || down !== 0 ? 100 * ((up - down) / (up + down)) : 0;
      const oldest = period > 1 ? changes[at]! : change;
      if (oldest > 0) up -= oldest;
      else down += oldest;
      if (period > 1) changes[at] = change;
      at = (at + 1) % Math.max(1, size);
      last = value;
      hasLast = true;
      return result;
    },
  };
}

/** Kaufman's efficiency ratio: net change divided by the sum of absolute changes. Values before the first are 0, as are their changes. */
function efficiencyRatio(period: number, valueCount: number): Indicator & { lastValue(): number; readonly isWarm: () => boolean } {
  // ring buffers, which fewer values do not fill
  const size = Math.min(period, valueCount + 1);
  const values = new Float64Array(size);
  const changes = new Float64Array(size);
  let [noise, at, count] = [0, 0, 0];
  return {
    warmCount: period,
    lastValue: () => values[at]!,
    isWarm: () => count === period + 1,
    add(value) {
      const oldest = (at + 1) % size;
      const signal = Math.abs(value - values[oldest]!);
      const change = Math.abs(value - values[at]!);
      noise -= changes[oldest]!;
      noise += change;
      at = oldest;
      values[at] = value;
      changes[at] = change;
      if (count <= period) count++;
      return signal === 0 || noise === 0 ? 0 : signal / noise;
    },
  };
}

/** Weights of averages over 30 and 2 values, and their difference 2 / 3 - 2 / 31, rounded once. */
const SLOWEST = 2 / 31;
const SLOWEST_TO_FASTEST = 56 / 93;

function adaptiveAverage(period: number, valueCount: number): Indicator {
  const ratio = efficiencyRatio(period, valueCount);
  let last = 0;
  return {
    warmCount: period,
    add(value) {
      // until there are enough values, it restarts at the previous one
      if (!ratio.isWarm()) last = ratio.lastValue();
      const smoothing = (ratio.add(value) * SLOWEST_TO_FASTEST + SLOWEST) ** 2;
      last += smoothing * (value - last);
      return last;
    },
  };
}

interface IndicatorKind {
  readonly name: string;
  readonly label: string;
  /** Accepts "exponential" or "simple" as its last argument. */
  readonly hasWarmup: boolean;
  /** Non-finite values produce no point. */
  readonly dropsInfinite: boolean;
  /** @param valueCount how many values are added: the period may be any number */
  make(period: number, valueCount: number, warmup: Warmup | null): Indicator;
}

const EXPONENTIAL = "exponential";

const KINDS: readonly IndicatorKind[] = [
  kind("exponential_moving_average", (period, _, warmup) => new ExponentialAverage(period, warmup ?? EXPONENTIAL)),
  kind("double_exponential_moving_average", (period, _, warmup) => doubleAverage(period, warmup ?? EXPONENTIAL)),
  kind("triple_exponential_moving_average", (period, _, warmup) => tripleAverage(period, warmup ?? EXPONENTIAL)),
  { ...kind("triple_exponential_derivative", (period, _, warmup) => tripleDerivative(period, warmup ?? EXPONENTIAL)), dropsInfinite: true },
  kind("relative_strength_index", (period, _, warmup) => relativeStrength(period, warmup ?? EXPONENTIAL)),
  // without this argument it uses plain sums
  kind("chande_momentum_oscillator", (period, count, warmup) =>
    warmup === null ? momentum(period, count) : smoothedMomentum(period, warmup),
  ),
  { ...kind("kaufmans_efficiency_ratio", efficiencyRatio), hasWarmup: false, dropsInfinite: true },
  { ...kind("kaufmans_adaptive_moving_average", adaptiveAverage), hasWarmup: false, dropsInfinite: true },
];

function kind(name: string, make: IndicatorKind["make"]): IndicatorKind {
  return { name, label: name.replaceAll("_", " "), hasWarmup: true, dropsInfinite: false, make };
}

/** Arguments: period, number of points to hold back (default and -1: until the result is meaningful), kind of start. */
function indicatorTransform({ name, label, hasWarmup, dropsInfinite, make }: IndicatorKind): Transform {
  const transform: Transform = {
    ...{ name, arity: [2, hasWarmup ? 4 : 3], takes: NUMBERS, label },
    resultType: () => "float",
    windowsBefore: () => 1,
    *apply(points: Points, args: readonly Literal[]) {
      checkType(transform, points.type);
      const from = yield* numbersOf(points);
      const indicator = make(integerOf(args[0]!), from.length, args.length > 2 ? (textOf(args[2]!) as Warmup) : null);
      const held = args.length > 1 ? integerOf(args[1]!) : -1;
      const first = held === -1 ? indicator.warmCount : held;
      const rows = new Int32Array(from.length);
      const values = new Float64Array(from.length);
      let count = 0;
      for (let i = 0; i < from.length; i++) {
        if (isPause(i)) yield;
        const value = indicator.add(from[i]!);
        if (i < first || (dropsInfinite && Math.abs(value) === Number.POSITIVE_INFINITY)) continue;
        values[count] = value;
        rows[count++] = i;
      }
      return pointsOf("float", yield* takeIntegers(points.times, rows.subarray(0, count)), values.slice(0, count));
    },
  };
  return transform;
}

/** The mean of each point and those before it, once there are enough. Sums are updated incrementally, for integers exactly. */
const MOVING_AVERAGE: Transform = {
  ...{ name: "moving_average", arity: [2, 2], takes: NUMBERS, label: "moving average" },
  resultType: () => "float",
  windowsBefore: () => 1,
  *apply(points: Points, args: readonly Literal[], { isTable = false }: OperatorContext) {
    checkType(MOVING_AVERAGE, points.type);
    const period = integerOf(args[0]!);
    const count = Math.max(0, points.times.length - period + 1);
    const values = new Float64Array(count);
    if (points.type === "float") {
      let sum = 0;
      for (let i = 0; i < points.values.length; i++) {
        if (isPause(i)) yield;
        if (i >= period) sum -= points.values[i - period]!;
        sum += points.values[i]!;
        if (i >= period - 1) values[i - period + 1] = sum / period;
      }
    } else {
      const words = wordsOf(points.values as BigInt64Array | BigUint64Array);
      const numbers = yield* numbersOf(points);
      const sum = new WrappingSum();
      let near = 0;
      for (let i = 0; i < points.times.length; i++) {
        if (isPause(i)) yield;
        if (i >= period) {
          sum.subtract(words, i - period);
          near -= numbers[i - period]!;
        }
        sum.add(words, i);
        near += numbers[i]!;
        if (i < period - 1) continue;
        const exact = sum.toFloat(points.type === "unsigned");
        // 1.x shows sums that have wrapped, which are off by a multiple of 2^64
        values[i - period + 1] = (isTable && Math.abs(exact - near) > 2 ** 63 ? near : exact) / period;
      }
    }
    return pointsOf("float", points.times.slice(points.times.length - count), values);
  },
};

export const AVERAGES: readonly Transform[] = [MOVING_AVERAGE, ...KINDS.map(indicatorTransform)];
