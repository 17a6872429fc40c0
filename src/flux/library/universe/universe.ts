// The package whose names every script sees.

import { valuesEqual } from "../../interpret/operators.ts";
import { ITEM_BYTES } from "../../interpret/run-limits.ts";
import { DAY_NS, LONGEST } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { Duration, FluxArray, FluxRecord, isNull, kindOf, type Value } from "../../values/value.ts";
import { locationOfCall, truncate, truncated } from "../date/date.ts";
import { holtWinters } from "../forecast/holt-winters.ts";
import { limit, tail } from "../limit.ts";
import { MATH } from "../math/math.ts";
import type { LibraryPackage, NativeBody, NativeCall } from "../native-call.ts";
import { drop, keep } from "../plan/kept-columns.ts";
import { sort } from "../sort.ts";
import { window } from "./aggregate-window.ts";
import { aggregateFunction, COUNT, MEAN, mode, SKEW, SPREAD, SUM, stddevOf } from "./aggregates.ts";
import {
  chandeMomentumOscillator,
  exponentialMovingAverage,
  kaufmansAMA,
  movingAverage,
  relativeStrengthIndex,
  tripleExponentialDerivative,
} from "./averages.ts";
import { CONVERSIONS } from "./conversions.ts";
import { distinct } from "./distinct.ts";
import { fill, fillEmpty } from "./fill.ts";
import { findColumn, findRecord, getColumn, getRecord, tableFind } from "./find.ts";
import { join } from "./join.ts";
import { pivot } from "./pivot.ts";
import { quantile } from "./quantile.ts";
import { filter, map, reduce } from "./rows.ts";
import { first, last, max, min, sample, unique } from "./selectors.ts";
import { cumulativeSum, derivative, difference, elapsed, timeShift } from "./sequence.ts";
import { columns, duplicate, group, keys, keyValues, rename, set } from "./shape.ts";
import { range, union, yieldResult } from "./sources.ts";
import { hourSelection, stateTracking } from "./state.ts";
import { covariance, histogram, histogramQuantile, integral } from "./statistics.ts";
import { UNIVERSE_SOURCE } from "./universe-source.ts";

const SCALARS: Readonly<Record<string, NativeBody>> = {
  now: (call) => call.run.now,
  die: (call) => {
    throw new FluxError(call.string("msg") || "<invalid>");
  },
  length: (call) => BigInt(call.array("arr").items.length),
  contains: (call) => {
    const value = call.value("value");
    const { items } = call.array("set");
    const [wanted, got] = [kindOf(value), items.length === 0 ? null : kindOf(items[0]!)];
    // the checker knows no type of a null
    if (isNull(value) && wanted !== "invalid" && got !== null && got !== wanted) {
      throw new FluxError(`keyword argument "set" should be of an array of type ${wanted}, but got an array of type [${got}]`);
    }
    if (typeof value === "string" && items.length > LISTED_MAX) return textsOf(items).has(value);
    call.run.use.work(items.length);
    return items.some((item) => !isNull(item) && valuesEqual(item, value));
  },
  linearBins: (call) => {
    checkBins(call, { start: "a float", width: "a float", count: "an int", infinity: "a bool" });
    const [start, width, count] = [call.float("start"), call.float("width"), call.int("count")];
    // what is infinite is so from the second one on
    return bins(call, count, (i) => (i === 0 ? start : start + i * width));
  },
  logarithmicBins: (call) => {
    checkBins(call, { start: "a float", factor: "a float", count: "an int", infinity: "a bool" });
    const [start, factor, count] = [call.float("start"), call.float("factor"), call.int("count")];
    return bins(call, count, (i) => start * factor ** i);
  },
};

/** Longer sets of texts are looked up: rows are mostly asked for the same one. */
const LISTED_MAX = 16;
const textSets = new WeakMap<readonly Value[], ReadonlySet<Value>>();

function textsOf(items: readonly Value[]): ReadonlySet<Value> {
  let texts = textSets.get(items);
  if (texts === undefined) {
    texts = new Set(items);
    textSets.set(items, texts);
  }
  return texts;
}

/** @throws FluxError: a null of any type */
function checkBins(call: NativeCall, types: Readonly<Record<string, string>>): void {
  for (const [name, type] of Object.entries(types)) {
    const given = call.optional(name);
    if (given !== undefined && isNull(given)) throw new FluxError(`${name} must be ${type}`);
  }
}

/** @throws FluxError: there would be too many */
function bins(call: NativeCall, count: number, bound: (i: number) => number): FluxArray {
  const bounded = Math.max(0, count);
  call.run.use.charge(bounded * ITEM_BYTES);
  const made = Array.from({ length: bounded }, (_, i) => bound(i));
  return new FluxArray(call.bool("infinity", true) ? [...made, Number.POSITIVE_INFINITY] : made);
}

function stddevMode(text: string): "sample" | "population" {
  if (text === "sample" || text === "population") return text;
  throw new FluxError(`${JSON.stringify(text)} is not a valid standard deviation mode`);
}

export const UNIVERSE: LibraryPackage = {
  path: "universe",
  name: "universe",
  source: UNIVERSE_SOURCE,
  natives: {
    ...SCALARS,
    ...CONVERSIONS,
    inf: { value: LONGEST },
    location: { value: FluxRecord.of({ zone: "UTC", offset: new Duration(0n, 0n) }) },
    ...{ columns, distinct, drop, duplicate, filter, first, group, keep, keys, keyValues, last, limit, map, max, min, mode, range, reduce },
    ...{ rename, sample, set, sort, tail, union, unique, window, yield: yieldResult },
    ...{ fill, findColumn, findRecord, getColumn, getRecord, tableFind, pivot, quantile },
    ...{ cumulativeSum, derivative, difference, elapsed, timeShift, chandeMomentumOscillator, exponentialMovingAverage, kaufmansAMA },
    ...{ movingAverage, relativeStrengthIndex, tripleExponentialDerivative, _fillEmpty: fillEmpty },
    _truncated: truncate,
    today: (call) => truncated(call.run.nowTime, new Duration(0n, DAY_NS), locationOfCall(call)),
    _abs: MATH.natives.abs!,
    ...{ holtWinters, join, hourSelection, stateTracking, covariance, histogram, histogramQuantile, integral },
    count: aggregateFunction(() => COUNT),
    sum: aggregateFunction(() => SUM),
    mean: aggregateFunction(() => MEAN),
    skew: aggregateFunction(() => SKEW),
    spread: aggregateFunction(() => SPREAD),
    stddev: aggregateFunction((call) => stddevOf(stddevMode(call.string("mode", "sample")))),
  },
};
