// `histogram`, `histogramQuantile`, `covariance`, `integral`.
import { FluxColumn, halvesOf } from "../../tables/column.ts";
import { eachTable } from "../../tables/stream.ts";
import { type FluxTable, TableBuilder } from "../../tables/table.ts";
import type { FluxColumnType } from "../../values/column-type.ts";
import { durationNs, SECOND_NS } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { fixedText } from "../../values/text.ts";
import { Duration, kindOf, Null, Time } from "../../values/value.ts";
import { checkNew } from "../merge-tables.ts";
import type { NativeCall } from "../native-call.ts";
import { operator } from "../operator.ts";
import { RowsOperation } from "../plan/operations.ts";
import { isOfWindow, type WindowRows } from "../windows/window-rows.ts";
import { floatsOf, rowsOfKey } from "./aggregates.ts";
import { numbersOf } from "./averages.ts";

const NUMBERS: readonly FluxColumnType[] = ["int", "uint", "float"];

function floatColumnOf(table: FluxTable, label: string, what: string): FluxColumn {
  const column = table.column(label);
  if (column === undefined) throw new FluxError(`table is missing ${what} column ${JSON.stringify(label)}`);
  if (column.type !== "float") throw new FluxError(`${what} column ${JSON.stringify(label)} must be of type float`);
  return column;
}

function valuesOf(table: FluxTable, label: string): Float64Array {
  const column = table.column(label);
  if (column === undefined) throw new FluxError(`column ${JSON.stringify(label)} is missing`);
  if (column.type !== "float") throw new FluxError(`column ${JSON.stringify(label)} must be a float got ${column.type}`);
  return floatsOf(column);
}

/** How many values each bin takes. A value goes to the first bin that is not below it, as bisection finds it: bins that are in no order
 *  have an answer too. @throws FluxError: a value is above the last bin */
function binCounts(values: Float64Array, bins: readonly number[]): Float64Array {
  const counts = new Float64Array(bins.length);
  for (const value of values) {
    let from = 0;
    let to = bins.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (value <= bins[middle]!) to = middle;
      else from = middle + 1;
    }
    if (from < bins.length) counts[from]!++;
    else
      throw new FluxError(`found value greater than any bin, ${from} ${from} ${fixedText(value)} ${fixedText(bins.at(-1) ?? Number.NaN)}`);
  }
  return counts;
}

export const histogram = operator((call) => {
  const column = call.string("column", "_value");
  const upperBound = call.string("upperBoundColumn", "le");
  const countColumn = call.string("countColumn", "_value");
  const isNormalized = call.bool("normalize", false);
  const bins = call.array("bins").items.map((bin) => {
    if (typeof bin !== "number") throw new FluxError(`expected array of float for "bins", got ${kindOf(bin)}`);
    return bin;
  });
  bins.sort((a, b) => a - b);
  return (input, { use }) =>
    eachTable(input, (table) => {
      const values = valuesOf(table, column);
      const builder = new TableBuilder(table.key);
      for (const { label, type } of table.key.columns) builder.column(label, type);
      for (const label of [upperBound, countColumn]) {
        checkNew(label, builder.columns);
        builder.column(label, "float");
      }
      use.checkCells(bins.length * (table.key.columns.length + 2));
      use.work(values.length);
      const total = isNormalized ? values.length : 1;
      let count = 0;
      binCounts(values, bins).forEach((added, i) => {
        use.step();
        count += added;
        for (const { label, type, value } of table.key.columns) builder.column(label, type).append(value);
        builder.column(upperBound, "float").append(bins[i]!);
        builder.column(countColumn, "float").append(count / total);
        builder.endRow();
      });
      return builder.build();
    });
});

export const histogramQuantile = operator((call) => {
  const quantile = call.float("quantile");
  const countColumn = call.string("countColumn", "_value");
  const upperBound = call.string("upperBoundColumn", "le");
  const valueColumn = call.string("valueColumn", "_value");
  const minValue = call.float("minValue", 0);
  const onNonmonotonic = call.string("onNonmonotonic", "error");
  if (!["error", "force", "drop"].includes(onNonmonotonic))
    throw new FluxError(
      `value provided to histogramQuantile parameter onNonmonotonic is invalid; must be one of "error", "force" or "drop"`,
    );
  return (input) =>
    eachTable(input, (table) => {
      checkNew(valueColumn, table.key.columns);
      const counts = floatColumnOf(table, countColumn, "count");
      const bounds = floatColumnOf(table, upperBound, "upper bound");
      const buckets = Array.from({ length: table.rowCount }, (_, row) => {
        if (counts.isNull(row)) throw new FluxError("unexpected null in the countColumn");
        if (bounds.isNull(row)) throw new FluxError("unexpected null in the upperBoundColumn");
        return { bound: bounds.get(row) as number, count: counts.get(row) as number };
      });
      if (buckets.length === 0) throw new FluxError("histogram is empty");
      buckets.sort((a, b) => a.bound - b.bound);
      for (let i = 1; i < buckets.length; i++) {
        if (buckets[i]!.count >= buckets[i - 1]!.count) continue;
        if (onNonmonotonic === "error") throw new FluxError("histogram records counts are not monotonic");
        if (onNonmonotonic === "drop") return rowsOfKey(table, FluxColumn.constant(valueColumn, "float", 0, 1)).slice(0, 0);
        buckets[i]!.count = buckets[i - 1]!.count;
      }
      const value = buckets.at(-1)!.count === 0 ? Null.of("float") : quantileOf(buckets, quantile, minValue);
      return rowsOfKey(table, FluxColumn.constant(valueColumn, "float", value, 1));
    });
});

/** Linear within the bucket that holds the rank. */
function quantileOf(buckets: readonly { readonly bound: number; readonly count: number }[], quantile: number, minValue: number): number {
  const total = buckets.at(-1)!.count;
  if (total === 0) return Number.NaN;
  const rank = quantile * total;
  const index = buckets.findLastIndex(({ count }) => count <= rank);
  const above = buckets[index + 1];
  // a rank above all counts is the last bound
  if (above === undefined) return buckets.at(-1)!.bound;
  const below = buckets[index] ?? { bound: minValue, count: 0 };
  if (rank === below.count || above.bound === Number.POSITIVE_INFINITY) return below.bound;
  if (below.bound === Number.NEGATIVE_INFINITY) return above.bound;
  return below.bound + (above.bound - below.bound) * ((rank - below.count) / (above.count - below.count));
}

export const covariance = operator((call) => {
  const labels = call.strings("columns");
  const isPearson = call.bool("pearsonr", false);
  const target = call.string("valueDst", "_value");
  if (labels.length !== 2) throw new FluxError("must provide exactly two columns");
  return (input) =>
    eachTable(input, (table) => {
      checkNew(target, table.key.columns);
      const [x, y] = labels.map((label) => {
        const column = table.column(label);
        if (column === undefined) throw new FluxError(`specified column does not exist in table: ${label}`);
        return column;
      });
      if (x!.type === y!.type && x!.type !== "float" && !table.isEmpty) throw new FluxError(`covariance does not support ${x!.type}`);
      if (x!.type !== y!.type) throw new FluxError("cannot compute the covariance between different types");
      const pairs = zipped(numbersOf(x!, "covariance"), numbersOf(y!, "covariance"));
      const value = pairs.length === 0 ? Number.NaN : covarianceOf(pairs, isPearson);
      return rowsOfKey(table, FluxColumn.constant(target, "float", value, 1));
    });
});

function zipped(x: readonly (number | null)[], y: readonly (number | null)[]): [number, number][] {
  return x.flatMap((value, i) => (value === null || y[i] == null ? [] : [[value, y[i]] as [number, number]]));
}

function covarianceOf(pairs: readonly (readonly [number, number])[], isPearson: boolean): number {
  const n = pairs.length;
  const [xMean, yMean] = [0, 1].map((side) => pairs.reduce((sum, pair) => sum + pair[side]!, 0) / n);
  let [xy, xx, yy] = [0, 0, 0];
  for (const [x, y] of pairs) {
    xy += (x - xMean!) * (y - yMean!);
    xx += (x - xMean!) ** 2;
    yy += (y - yMean!) ** 2;
  }
  return isPearson ? xy / Math.sqrt(xx * yy) : xy / (n - 1);
}

export const integral = operator(
  (call) => {
    const { unit, label, timeColumn, mode } = integralOf(call);
    return (input) =>
      eachTable(input, (table) => {
        for (const bound of ["_start", "_stop"]) {
          if (!table.key.has(bound)) throw new FluxError(`integral function needs ${bound} column to be part of group key`);
        }
        const column = table.column(label);
        if (column === undefined) throw new FluxError(`column ${JSON.stringify(label)} does not exist`);
        if (table.key.has(label)) throw new FluxError("cannot aggregate columns that are part of the group key");
        if (!NUMBERS.includes(column.type)) throw new FluxError(`cannot perform integral over ${column.type}`);
        const times = table.column(timeColumn);
        if (times === undefined) throw new FluxError(`no column ${JSON.stringify(timeColumn)} exists`);
        const origin = originOf(times);
        const points = pointsOf(times, column, table.pieceEnds);
        const bounds = mode === "linear" ? boundsOf(table, origin) : null;
        return rowsOfKey(table, FluxColumn.constant(label, "float", area(points, bounds) / unit, 1));
      });
  },
  "tables",
  (call) => {
    const { unit, label, timeColumn, mode } = integralOf(call);
    return { operation: new RowsOperation((rows) => integralRows(rows, { unit, label, timeColumn, isLinear: mode === "linear" })) };
  },
);

function integralOf(call: NativeCall) {
  return {
    unit: Number(durationNs(call.duration("unit", new Duration(0n, SECOND_NS)))),
    label: call.string("column", "_value"),
    timeColumn: call.string("timeColumn", "_time"),
    mode: call.string("interpolate", ""),
  };
}

function originOf(times: FluxColumn): bigint {
  return times.length > 0 && !times.isNull(0) ? (times.cells as BigInt64Array)[0]! : 0n;
}

interface IntegralOptions {
  readonly unit: number;
  readonly label: string;
  readonly timeColumn: string;
  readonly isLinear: boolean;
}

function* integralRows(rows: WindowRows, { unit, label, timeColumn, isLinear }: IntegralOptions): Generator<null, WindowRows | null, void> {
  const column = rows.table.key.has(label) ? undefined : rows.column(label);
  const times = rows.column(timeColumn);
  if (column === undefined || times?.type !== "time" || isOfWindow(timeColumn) || !NUMBERS.includes(column.type)) return null;
  const made = new Float64Array(rows.windowCount);
  const { startsNs, stopsNs } = rows.times;
  try {
    yield* rows.each((from, to, window) => {
      const own = times.slice(from, to);
      const origin = originOf(own);
      const points = pointsOf(own, column.slice(from, to));
      const at = (bounds: BigInt64Array) => Number(bounds[window]! - origin);
      made[window] = area(points, isLinear ? [at(startsNs), at(stopsNs)] : null) / unit;
    });
  } catch (error) {
    // the window of the error says so
    if (error instanceof FluxError) return null;
    throw error;
  }
  return rows.oneEach(new FluxColumn(label, "float", made, null, made.length));
}

/** Values that are not null, and their times since the first row's. */
interface Points {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly count: number;
}

const TWO_32 = 2 ** 32;

/** Of rows of one time the first. @throws FluxError: times are missing, go back, or are no integers */
function pointsOf(times: FluxColumn, column: FluxColumn, pieceEnds: readonly number[] = []): Points {
  const { length } = column;
  for (let row = 0; times.valid !== null && row < length; row++) {
    if (times.isNull(row)) throw new FluxError("integral found null time in time column");
  }
  if (length > 0 && times.type !== "time" && times.type !== "int") {
    throw new FluxError(`integral: column "${times.label}" of type ${times.type} holds no times`);
  }
  const { cells, mask, valid, type } = column;
  const floats = type === "float" ? (cells as Float64Array) : null;
  const timesMask = times.mask;
  const halves = length === 0 ? new Int32Array(2) : halvesOf(times);
  const baseHigh = halves[1]!;
  const baseLow = halves[0]! >>> 0;
  const distances = new Float64Array(length);
  const values = new Float64Array(length);
  let count = 0;
  // as recorded: times begin in 1970; the first row is behind nothing
  let high = 0;
  let low = -1;
  let piece = 0;
  for (let row = 0; row < length; row++) {
    // and so is that of each piece
    if (row === pieceEnds[piece]) {
      [high, low] = [0, -1];
      piece++;
    }
    const at = 2 * (row & timesMask);
    const ownHigh = halves[at + 1]!;
    const ownLow = halves[at]! >>> 0;
    if (ownHigh < high || (ownHigh === high && ownLow < low)) throw new FluxError("integral found out-of-order times in time column");
    if (ownHigh === high && ownLow === low) continue;
    high = ownHigh;
    low = ownLow;
    if (valid !== null && valid[row & mask] === 0) continue;
    distances[count] = (high - baseHigh) * TWO_32 + (low - baseLow);
    values[count++] = floats === null ? Number(cells[row & mask]) : floats[row & mask]!;
  }
  return { times: distances, values, count };
}

function boundsOf(table: FluxTable, origin: bigint): readonly [number, number] {
  const [start, stop] = [table.key.get("_start")?.value, table.key.get("_stop")?.value];
  if (!(start instanceof Time) || !(stop instanceof Time)) throw new FluxError("integral: _start and _stop have to be in the group key");
  return [Number(start.ns - origin), Number(stop.ns - origin)];
}

/** Trapezoids; up to the bounds along the lines of the outermost pairs of points. */
function area({ times, values, count }: Points, bounds: readonly [number, number] | null): number {
  let sum = 0;
  for (let i = 1; i < count; i++) sum += ((values[i - 1]! + values[i]!) / 2) * (times[i]! - times[i - 1]!);
  if (bounds === null || count === 0) return sum;
  const at = (t: number, i: number, j: number) => {
    const [t0, t1, v0, v1] = [times[i]!, times[j]!, values[i]!, values[j]!];
    return t1 === t0 ? v0 : v0 + ((v1 - v0) * (t - t0)) / (t1 - t0);
  };
  const last = count - 1;
  const startValue = at(bounds[0], 0, Math.min(1, last));
  const stopValue = at(bounds[1], Math.max(0, last - 1), last);
  return sum + ((startValue + values[0]!) / 2) * (times[0]! - bounds[0]) + ((values[last]! + stopValue) / 2) * (bounds[1] - times[last]!);
}
