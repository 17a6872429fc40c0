// Forecasts by the damped Holt-Winters method: level, trend and, for a season of at least two points, seasonal components, fitted to the
// points by least squares. Source: the 1.x documentation of HOLT_WINTERS(); Hyndman and Athanasopoulos, "Forecasting: principles and
// practice", damped multiplicative Holt-Winters, with the initial values and the grid of first guesses of 1.x: they decide which fit is
// found.
import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import { inSteps, isPause, STEP_ROWS, type Steps } from "../../model/steps.ts";
import type { Literal } from "../parse/ast.ts";
import { integerOf } from "./arguments.ts";
import { numbersOf, pointsOf } from "./columns.ts";
import { type Minimum, minimize } from "./nelder-mead.ts";
import { checkType, NUMBERS, type OperatorContext, type Transform } from "./operator.ts";
import type { Points } from "./points.ts";

const FIRST_GUESSES = [0.3, 0.3 + 0.4];
const FIRST_WEIGHT = 0.5;
const SPREAD = 1e-4;
/** Parameters before the seasonal components: alpha, beta, gamma, phi, level, trend. */
const [ALPHA, BETA, GAMMA, PHI, LEVEL, TREND, SEASON] = [0, 1, 2, 3, 4, 5, 6];
/** Limit per call: a search iterates over the points up to twice, and over the square of the parameters, a thousand times. Some seconds. */
const STEPS_MAX = 2e9;
const SEARCH_STEPS = 16 * 1000;

function holtWinters(name: string, withFit: boolean): Transform {
  const transform: Transform = {
    ...{ name, arity: [3, 3], takes: NUMBERS, label: "holt_winters" },
    resultType: () => "float",
    windowsBefore: () => 0,
    /** Arguments: number of points to forecast, length of a season (less than 2: none). */
    *apply(points: Points, args: readonly Literal[], { intervalNs }: OperatorContext) {
      checkType(transform, points.type);
      assert(intervalNs !== null, "holt_winters without GROUP BY time was refused when it was planned");
      const [ahead, season] = [integerOf(args[0]!), integerOf(args[1]!)];
      const none = pointsOf("float", new BigInt64Array(0), new Float64Array(0));
      const { times } = points;
      if (times.length < 2 || (season >= 2 && times.length < season) || ahead <= 0) return none;
      const observed = yield* observations(times, yield* numbersOf(points), intervalNs);
      if (observed.length < 2) return none;
      checkSize(name, observed.length + ahead, season);
      const fitted = yield* fit(observed, season);
      const forecasts = new Float64Array(observed.length + ahead);
      yield* forecastInto(forecasts, observed[0]!, fitted);
      const first = withFit ? 0 : observed.length;
      const startNs = withFit ? times[0]! : times.at(-1)! + intervalNs;
      return yield* finitePoints(forecasts.subarray(first), startNs, intervalNs);
    },
  };
  return transform;
}

function checkSize(name: string, points: number, season: number): void {
  const steps = SEARCH_STEPS * (2 * points + (SEASON + season) ** 2);
  if (steps <= STEPS_MAX) return;
  const what = `${points} points and a season of ${season}`;
  throw new TsdbError("query_limit", `${name}() over ${what} takes too long: ${steps.toExponential(1)} steps, at most ${STEPS_MAX}`);
}

/** Values at equal intervals, NaN where there is none. Of several in one interval the first counts. */
function* observations(times: BigInt64Array, values: Float64Array, intervalNs: bigint): Steps<Float64Array> {
  const steps = (timeNs: bigint) => {
    const remainder = timeNs % intervalNs;
    return timeNs / intervalNs + (remainder > intervalNs / 2n ? 1n : 0n);
  };
  const first = steps(times[0]!);
  const count = Number(steps(times.at(-1)!) - first);
  checkSize("holt_winters", count, 0);
  if (count <= 0) return new Float64Array(0);
  const observed = new Float64Array(count + 1).fill(Number.NaN);
  let last = -1;
  for (let i = 0; i < times.length; i++) {
    if (isPause(i)) yield;
    const at = Number(steps(times[i]!) - first);
    if (at <= last) continue;
    observed[at] = values[i]!;
    last = at;
  }
  return observed;
}

/** The best-fitting parameters, searched from 16 first guesses. */
function* fit(observed: Float64Array, season: number): Steps<Float64Array> {
  const start = firstParameters(observed, season);
  const forecasts = new Float64Array(observed.length);
  let best: Minimum | null = null;
  for (const alpha of FIRST_GUESSES)
    for (const beta of FIRST_GUESSES)
      for (const gamma of FIRST_GUESSES)
        for (const phi of FIRST_GUESSES) {
          start.set([alpha, beta, gamma, phi]);
          const found: Minimum = yield* minimize((parameters) => squaredError(observed, parameters, forecasts), start, SPREAD);
          yield;
          if (best === null || found.value < best.value) best = found;
        }
  return best!.at;
}

function firstParameters(observed: Float64Array, season: number): Float64Array {
  const isSeasonal = season >= 2;
  const parameters = new Float64Array(isSeasonal ? SEASON + season : SEASON);
  let [level, trend] = [0, 0];
  if (isSeasonal) {
    for (let i = 0; i < season; i++) if (isThere(observed, i)) level += (1 / season) * observed[i]!;
    for (let i = 0; i < season && season + i < observed.length; i++)
      if (isThere(observed, i) && isThere(observed, season + i)) trend += (1 / (season * season)) * (observed[season + i]! - observed[i]!);
    for (let i = 0; i < season; i++) parameters[SEASON + i] = isThere(observed, i) ? observed[i]! / level : 0;
  } else {
    level = FIRST_WEIGHT * observed[0]!;
    if (isThere(observed, 1)) trend = FIRST_WEIGHT * (observed[1]! - observed[0]!);
  }
  parameters[LEVEL] = level;
  parameters[TREND] = trend;
  return parameters;
}

const isThere = (observed: Float64Array, index: number) => index < observed.length && !Number.isNaN(observed[index]!);

/** Changes the parameters: clamps the first four to 0 .. 1, and advances the seasonal components. */
function* squaredError(observed: Float64Array, parameters: Float64Array, forecasts: Float64Array): Steps<number> {
  yield* forecastInto(forecasts, observed[0]!, parameters);
  const sum = { value: 0 };
  yield* inSteps(observed.length, (from, to) => addSquaredErrors(sum, observed, forecasts, from, to));
  return sum.value;
}

/** Infinite if there is an observation and the forecast is NaN. */
function addSquaredErrors(sum: { value: number }, observed: Float64Array, forecasts: Float64Array, from: number, to: number): void {
  let { value } = sum;
  for (let i = from; i < to; i++) {
    if (Number.isNaN(observed[i]!)) continue;
    value += Number.isNaN(forecasts[i]!) ? Number.POSITIVE_INFINITY : (forecasts[i]! - observed[i]!) ** 2;
  }
  sum.value = value;
}

/** State carried from one point to the next. */
interface Course {
  value: number;
  level: number;
  trend: number;
  /** phi + phi + phi² + … */
  damping: number;
  /** True while powers of phi still change `damping`. */
  isDamped: boolean;
}

/** The fitted values from the first observation on. Changes the parameters like `squaredError`. */
function* forecastInto(forecasts: Float64Array, first: number, parameters: Float64Array): Steps<void> {
  for (const index of [ALPHA, BETA, GAMMA, PHI]) parameters[index] = Math.min(1, Math.max(0, parameters[index]!));
  const course: Course = {
    ...{ value: first, level: parameters[LEVEL]!, trend: parameters[TREND]! },
    ...{ damping: parameters[PHI]!, isDamped: true },
  };
  forecasts[0] = first;
  const goOn = parameters.length > SEASON ? goOnInSeasons : goOnWithoutSeason;
  for (let from = 1; from < forecasts.length; from += STEP_ROWS) {
    yield;
    goOn(forecasts, from, Math.min(forecasts.length, from + STEP_ROWS), parameters, course);
  }
}

function goOnWithoutSeason(forecasts: Float64Array, from: number, to: number, parameters: Float64Array, course: Course): void {
  const alpha = parameters[ALPHA]!;
  const beta = parameters[BETA]!;
  const phi = parameters[PHI]!;
  let { value, level, trend } = course;
  for (let t = from; t < to; t++) {
    const expected = level + phi * trend;
    const newLevel = alpha * value + (1 - alpha) * expected;
    trend = beta * (newLevel - level) + (1 - beta) * phi * trend;
    level = newLevel;
    value = level + course.damping * trend;
    if (course.isDamped) damp(course, phi, t);
    forecasts[t] = value;
  }
  course.value = value;
  course.level = level;
  course.trend = trend;
}

/** Changes the seasonal components, too. */
function goOnInSeasons(forecasts: Float64Array, from: number, to: number, parameters: Float64Array, course: Course): void {
  const alpha = parameters[ALPHA]!;
  const beta = parameters[BETA]!;
  const gamma = parameters[GAMMA]!;
  const phi = parameters[PHI]!;
  const season = parameters.length - SEASON;
  let { value, level, trend } = course;
  // positions within the season: that of t, and that of 2t - 2
  let inSeason = from % season;
  let place = (2 * from - 2) % season;
  for (let t = from; t < to; t++) {
    const past = parameters[SEASON + place]!;
    const next = parameters[SEASON + place + inSeason - (place + inSeason >= season ? season : 0)]!;
    const expected = level + phi * trend;
    const newLevel = alpha * (value / past) + (1 - alpha) * expected;
    trend = beta * (newLevel - level) + (1 - beta) * phi * trend;
    parameters[SEASON + place] = gamma * (value / expected) + (1 - gamma) * past;
    level = newLevel;
    value = (level + course.damping * trend) * next;
    if (course.isDamped) damp(course, phi, t);
    forecasts[t] = value;
    if (++inSeason === season) inSeason = 0;
    place += 2;
    if (place >= season) place -= season;
  }
  course.value = value;
  course.level = level;
  course.trend = trend;
}

function damp(course: Course, phi: number, t: number): void {
  const damping = course.damping + phi ** t;
  // once a power changes nothing, later ones are even smaller
  course.isDamped = damping !== course.damping;
  course.damping = damping;
}

function* finitePoints(forecasts: Float64Array, startNs: bigint, intervalNs: bigint): Steps<Points> {
  const times = new BigInt64Array(forecasts.length);
  const values = new Float64Array(forecasts.length);
  let count = 0;
  for (let i = 0; i < forecasts.length; i++) {
    if (isPause(i)) yield;
    if (Number.isNaN(forecasts[i]!)) continue;
    times[count] = startNs + intervalNs * BigInt(i);
    values[count++] = forecasts[i]!;
  }
  return pointsOf("float", times.slice(0, count), values.slice(0, count));
}

export const FORECASTS: readonly Transform[] = [holtWinters("holt_winters", false), holtWinters("holt_winters_with_fit", true)];
