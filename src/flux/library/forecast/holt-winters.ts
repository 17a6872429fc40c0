// `holtWinters`: forecasts by the damped method of Holt and Winters with multiplicative seasons, fitted by least squares. Source: Hyndman
// and Athanasopoulos, "Forecasting: principles and practice". First values and the grid of first guesses are those of the reference: they
// decide which fit is found.
import type { FluxColumn } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import type { Tables } from "../../tables/stream.ts";
import { FluxTable } from "../../tables/table.ts";
import { durationNs } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { Time } from "../../values/value.ts";
import { constantColumns } from "../array/array.ts";
import { checkNew } from "../merge-tables.ts";
import { operator } from "../operator.ts";
import { numbersOf } from "../universe/averages.ts";
import { type Minimum, minimum } from "./simplex-search.ts";

const FIRST_GUESSES = [0.3, 0.3 + 0.4];
const FIRST_WEIGHT = 0.5;
const END = { gain: 1e-4, iterations: 99 };
/** Parameters before the seasonal components: alpha, beta, gamma, phi, level, trend. */
const [BETA, GAMMA, PHI, LEVEL, TREND, SEASON] = [1, 2, 3, 4, 5, 6];
/** Intervals of one table, and forecasts: a search goes over all of them some thousand times. */
const POINTS_MAX = 100_000;
const SEASON_MAX = 1000;
/** Values that are computed between two pauses. */
const PAUSE_POINTS = 1_000_000;

interface Observations {
  /** At equal distances; NaN where there is none. */
  readonly values: Float64Array;
  readonly startNs: bigint;
  readonly stopNs: bigint;
}

export const holtWinters = operator((call) => {
  const ahead = call.int("n");
  const intervalNs = durationNs(call.duration("interval"));
  const withFit = call.bool("withFit", false);
  const [column, timeColumn] = [call.string("column", "_value"), call.string("timeColumn", "_time")];
  const season = Math.max(0, call.int("seasonality", 0));
  const withError = call.bool("withMinSSE", false);
  if (ahead > POINTS_MAX) throw new FluxError(`holtWinters: n must be at most ${POINTS_MAX}`);
  if (season > SEASON_MAX) throw new FluxError(`holtWinters: seasonality must be at most ${SEASON_MAX}`);
  return function* (input, run): Tables {
    for (const table of input) {
      if (table === null) {
        yield null;
        continue;
      }
      const { values, startNs, stopNs } = observations(table, column, timeColumn, intervalNs);
      for (const label of ["_time", "_value"]) checkNew(label, table.key.columns);
      const hasPoints = values.length >= 2 && !(season >= 2 && values.length < season) && ahead > 0;
      const fitted = hasPoints ? yield* fit(values, season >= 2 ? season : 0, () => run.pause()) : null;
      const all = fitted === null ? new Float64Array(0) : forecast(values[0]!, fitted.at, new Float64Array(values.length + ahead));
      const shown = withFit ? all : all.subarray(values.length);
      yield resultTable(table, shown, withFit ? startNs : stopNs + intervalNs, {
        intervalNs,
        error: withError ? (fitted?.value ?? 0) : null,
      });
    }
  };
});

function columnOf(table: FluxTable, label: string, what: string): FluxColumn {
  const column = table.column(label);
  if (column === undefined) throw new FluxError(`cannot find ${what}column ${label}`);
  return column;
}

/** The first value of each interval; times are rounded to the nearest one. */
function observations(table: FluxTable, label: string, timeLabel: string, intervalNs: bigint): Observations {
  const times = columnOf(table, timeLabel, "time ");
  const column = columnOf(table, label, "");
  if (!["int", "uint", "float"].includes(column.type)) {
    throw new FluxError(`holtWinters can work only on numerical types, got ${column.type}`);
  }
  if (intervalNs <= 0n) throw new FluxError("the interval must be positive");
  const values = numbersOf(column, "holtWinters");
  const observed: number[] = [];
  let [startNs, stopNs, last] = [0n, 0n, 0n];
  for (let row = 0; row < table.rowCount; row++) {
    const time = times.get(row);
    const value = values[row]!;
    if (!(time instanceof Time) || (observed.length === 0 && value === null)) continue;
    if (value !== null && !Number.isFinite(value)) throw new FluxError("NaN/Inf in input");
    const step = stepOf(time.ns, intervalNs);
    if (observed.length === 0) startNs = time.ns;
    else if (step <= last) continue;
    const gap = observed.length === 0 ? 0n : step - last - 1n;
    if (gap + BigInt(observed.length) > POINTS_MAX) throw new FluxError(`holtWinters: a table has more than ${POINTS_MAX} intervals`);
    for (let i = 0n; i < gap; i++) observed.push(Number.NaN);
    observed.push(value ?? Number.NaN);
    last = step;
    if (observed.length > 1) stopNs = time.ns;
  }
  return { values: Float64Array.from(observed), startNs, stopNs };
}

function stepOf(ns: bigint, intervalNs: bigint): bigint {
  const remainder = ns % intervalNs;
  return ns / intervalNs + (remainder * 2n >= intervalNs ? 1n : 0n);
}

/** The best of the searches from 16 first guesses. */
function* fit(observed: Float64Array, season: number, onPause: () => void): Generator<null, Minimum, void> {
  const start = firstParameters(observed, season);
  const fitted = new Float64Array(observed.length);
  const error = (parameters: Float64Array) => squaredError(observed, forecast(observed[0]!, parameters, fitted));
  let best: Minimum | null = null;
  let points = 0;
  for (const alpha of FIRST_GUESSES)
    for (const beta of FIRST_GUESSES)
      for (const gamma of FIRST_GUESSES)
        for (const phi of FIRST_GUESSES) {
          start.set([alpha, beta, gamma, phi]);
          const search = minimum(error, start.slice(), END);
          for (;;) {
            const step = search.next();
            if (step.done === true) {
              if (best === null || step.value.value < best.value) best = step.value;
              break;
            }
            points += observed.length;
            if (points < PAUSE_POINTS) continue;
            points = 0;
            onPause();
            yield null;
          }
        }
  return best!;
}

function firstParameters(observed: Float64Array, season: number): Float64Array {
  const parameters = new Float64Array(SEASON + season);
  const isThere = (i: number) => i < observed.length && !Number.isNaN(observed[i]!);
  let [level, trend] = [0, 0];
  if (season > 0) {
    for (let i = 0; i < season; i++) if (isThere(i)) level += (1 / season) * observed[i]!;
    for (let i = 0; i < season && season + i < observed.length; i++)
      if (isThere(i) && isThere(season + i)) trend += (1 / (season * season)) * (observed[season + i]! - observed[i]!);
    for (let i = 0; i < season; i++) parameters[SEASON + i] = isThere(i) ? observed[i]! / level : 1;
  } else {
    level = FIRST_WEIGHT * observed[0]!;
    if (isThere(1)) trend = FIRST_WEIGHT * (observed[1]! - observed[0]!);
  }
  parameters[LEVEL] = level;
  parameters[TREND] = trend;
  return parameters;
}

function squaredError(observed: Float64Array, fitted: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < observed.length; i++) {
    if (Number.isNaN(observed[i]!)) continue;
    const difference = fitted[i]! - observed[i]!;
    sum += difference * difference;
  }
  // nothing is less than NaN, nor is it less than anything
  return Number.isNaN(sum) ? Number.POSITIVE_INFINITY : sum;
}

const clamped = (value: number): number => (value > 1 ? 1 : value < 0 ? 0 : value);

/** By squaring, as the reference computes powers: a search that ends among many close minima shows the last digit. */
function power(base: number, exponent: number): number {
  let made = 1;
  for (let [rest, square] = [exponent, base]; rest > 0; rest >>= 1) {
    if ((rest & 1) === 1) made *= square;
    square *= square;
  }
  return made;
}

/** Fills `made` from the first value on. */
function forecast(first: number, parameters: Float64Array, made: Float64Array): Float64Array {
  const alpha = clamped(parameters[0]!);
  const beta = clamped(parameters[BETA]!);
  const gamma = clamped(parameters[GAMMA]!);
  const phi = clamped(parameters[PHI]!);
  const seasons = parameters.slice(SEASON);
  const season = seasons.length;
  made[0] = first;
  let value = first;
  let level = parameters[LEVEL]!;
  let trend = parameters[TREND]!;
  let damping = phi;
  // once a power changes nothing, later ones are even smaller
  let isDamped = true;
  // the component of the season that is renewed next
  let offset = season - 1;
  for (let t = 1; t < made.length; t++) {
    const place = season === 0 ? 0 : (t - season + offset) % season;
    const past = season === 0 ? 1 : seasons[place]!;
    const next = season === 0 ? 1 : seasons[(t - season + (t % season) + offset) % season]!;
    const expected = level + phi * trend;
    const newLevel = alpha * (value / past) + (1 - alpha) * expected;
    const newTrend = beta * (newLevel - level) + (1 - beta) * phi * trend;
    const renewed = gamma * (value / expected) + (1 - gamma) * past;
    value = (newLevel + damping * newTrend) * next;
    level = newLevel;
    trend = newTrend;
    if (isDamped) {
      const more = damping + power(phi, t);
      isDamped = more !== damping;
      damping = more;
    }
    if (season > 0) {
      seasons[(t + offset) % season] = renewed;
      offset++;
    }
    made[t] = value;
  }
  return made;
}

function resultTable(
  { key }: FluxTable,
  values: Float64Array,
  startNs: bigint,
  { intervalNs, error }: { readonly intervalNs: bigint; readonly error: number | null },
): FluxTable {
  const times = new ColumnBuilder("_time", "time", values.length);
  const made = new ColumnBuilder("_value", "float", values.length);
  const errors = new ColumnBuilder("minSSE", "float", values.length);
  values.forEach((value, i) => {
    times.append(new Time(BigInt.asIntN(64, startNs + intervalNs * BigInt(i))));
    made.append(value);
    if (error !== null) errors.append(error);
  });
  const columns = [...constantColumns(key, values.length), times.build(), made.build(), ...(error === null ? [] : [errors.build()])];
  return new FluxTable(key, columns, values.length);
}
