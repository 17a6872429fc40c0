// `fill`: the values of a group's empty windows.
import { inSteps, isPause, StepCounter, type Steps } from "../../model/steps.ts";
import type { FieldType, Fill } from "../parse/ast.ts";
import { cellsOf, newValues, pointsOf, takeValues, type Values } from "./columns.ts";
import type { Cells } from "./operator.ts";
import type { Points, PointValues, WindowPoints } from "./points.ts";
import { EMPTY_TEXT, type Texts } from "./texts.ts";
import { isValid, ValidityBuilder } from "./validity.ts";

/** Adds a point for each empty window. `linear` interpolates between original points only. @param points those of one group, at most one
 *  per window, with window starts as times, in order @param startsNs starts of all windows, in the same order (`windowStarts`)
 *  @param isBackward the previous value is that of the next point: times descend */
export function* fillWindows(
  points: Points,
  startsNs: BigInt64Array,
  fill: Fill,
  intervalNs: bigint,
  isBackward = false,
): Steps<WindowPoints> {
  if (fill.kind === "none" || points.times.length === 0) return { points, validity: null };
  const { times } = points;
  const carriesBack = isBackward && fill.kind === "previous";
  const sources = yield* sourceRows(times, startsNs);
  const taken = new Int32Array(sources.length);
  const filledTimes = new BigInt64Array(sources.length);
  let [last, window] = [-1, 0];
  for (let i = 0; i < sources.length; i++) {
    if (isPause(i)) yield;
    const row = sources[i]!;
    filledTimes[i] = row >= 0 ? times[row]! : startsNs[window]!;
    if (window < startsNs.length && startsNs[window] === filledTimes[i]) window++;
    if (row >= 0) last = row;
    taken[i] = row < 0 && carriesBack ? Math.min(last + 1, times.length - 1) : Math.max(0, last);
  }
  const values = yield* takeValues(points.values, taken);
  const validity = new ValidityBuilder(sources.length);
  let found = 0;
  for (let i = 0; i < sources.length; i++) {
    if (isPause(i)) yield;
    const hasBefore = carriesBack ? found < times.length : found > 0;
    if (sources[i]! >= 0) found++;
    else if (fill.kind === "value") setConstant(values, i, points.type, fill.value);
    else if (fill.kind === "linear" && hasBefore && taken[i]! + 1 < times.length && hasValuesBetween(points))
      setBetween(points, values, i, taken[i]!, lineAt(filledTimes[i]!, times[taken[i]!]!, times[taken[i]! + 1]!, intervalNs));
    else if (fill.kind !== "previous" || !hasBefore) validity.setNull(i);
  }
  return { points: pointsOf(points.type, filledTimes, values as PointValues[typeof points.type]), validity: validity.finish() };
}

/** Numbers of windows that are no number, such as the deviation of one point, filled like empty windows: by a number or the one before. */
export function* fillNaN({ points, validity }: WindowPoints, fill: Fill, isBackward: boolean): Steps<WindowPoints> {
  if (points.type !== "float" || (fill.kind !== "value" && fill.kind !== "previous")) return { points, validity };
  const values = points.values.slice();
  let last = fill.kind === "value" ? Number(fill.value) : Number.NaN;
  yield* inSteps(values.length, (from, to) => {
    for (let at = from; at < to; at++) {
      const i = isBackward ? values.length - 1 - at : at;
      if (Number.isNaN(values[i])) values[i] = last;
      else if (fill.kind === "previous" && isValid(validity, i)) last = values[i]!;
    }
  });
  return { points: pointsOf("float", points.times, values), validity };
}

/** A column of one number. A text is empty then, a boolean false. */
export function constantCells(type: FieldType, constant: number | bigint, rowCount: number): Cells {
  const values = newValues(type, rowCount);
  for (let i = 0; i < rowCount; i++) setConstant(values, i, type, constant);
  return cellsOf(type, values as PointValues[typeof type], null);
}

/** The type of a number as it is written. */
export function typeOfNumber(value: number | bigint): "float" | "integer" {
  return typeof value === "bigint" ? "integer" : "float";
}

/** For each point and each empty window, in order: the point's row, or -1. */
function* sourceRows(times: BigInt64Array, startsNs: BigInt64Array): Steps<Int32Array> {
  const isDescending = startsNs.length > 1 && startsNs[1]! < startsNs[0]!;
  const sources = new Int32Array(times.length + startsNs.length);
  let [count, row] = [0, 0];
  const counter = new StepCounter();
  for (let window = 0; window < startsNs.length; window++) {
    if (counter.isDue(1)) yield;
    const startNs = startsNs[window]!;
    while (row < times.length && (isDescending ? times[row]! > startNs : times[row]! < startNs)) {
      sources[count++] = row++;
      if (counter.isDue(1)) yield;
    }
    if (row < times.length && times[row] === startNs) sources[count++] = row++;
    else sources[count++] = -1;
  }
  while (row < times.length) {
    sources[count++] = row++;
    if (counter.isDue(1)) yield;
  }
  return sources.subarray(0, count);
}

/** Position of a window between two points, in whole windows. */
interface Line {
  readonly steps: number;
  readonly of: number;
}

function lineAt(timeNs: bigint, fromNs: bigint, toNs: bigint, intervalNs: bigint): Line {
  const from = fromNs / intervalNs;
  return { steps: Number(timeNs / intervalNs - from), of: Number(toNs / intervalNs - from) };
}

/** A number in a text column becomes the empty text, in a boolean column false. */
function setConstant(values: Values, index: number, type: FieldType, constant: number | bigint): void {
  if (type === "float") (values as Float64Array)[index] = Number(constant);
  else if (type === "string") (values as Texts).codes[index] = EMPTY_TEXT;
  else if (type === "boolean") (values as Uint8Array)[index] = 0;
  else {
    const whole = typeof constant === "bigint" ? constant : BigInt(Math.trunc(constant));
    // assignment wraps around
    (values as BigInt64Array | BigUint64Array)[index] = type === "unsigned" && whole < 0n ? 0n : whole;
  }
}

function hasValuesBetween({ type }: Points): boolean {
  return type === "float" || type === "integer" || type === "unsigned";
}

/** Interpolates between a row's value and that of the next row. */
function setBetween(points: Points, values: Values, index: number, row: number, { steps, of }: Line): void {
  if (points.type === "float") {
    const from = points.values;
    (values as Float64Array)[index] = ((from[row + 1]! - from[row]!) / of) * steps + from[row]!;
  } else {
    const from = points.values as BigInt64Array | BigUint64Array;
    const slope = Number(from[row + 1]! - from[row]!) / of;
    (values as BigInt64Array | BigUint64Array)[index] = BigInt(Math.trunc(slope * steps + Number(from[row]!)));
  }
}
