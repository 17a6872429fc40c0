// Minimization by the Nelder-Mead simplex search. Source: Nelder and Mead, "A simplex method for function minimization", 1965, in the form
// published by M. F. Hutt (mikehutt.com/neldermead), which 1.x refers to and whose comparisons decide which of several close minima is
// found.

import { StepCounter, type Steps } from "../../model/steps.ts";

const ITERATIONS_MAX = 1000;
const REFLECTION = 1;
const CONTRACTION = 0.5;
const EXPANSION = 2;

type Objective = (parameters: Float64Array) => Steps<number>;

export interface Minimum {
  readonly value: number;
  readonly at: Float64Array;
}

/** @param objective may change its parameters, to enforce bounds @param spread the search ends when the standard deviation of the values
 *  at the vertices is less */
export function* minimize(objective: Objective, start: Float64Array, spread: number): Steps<Minimum> {
  const count = start.length;
  const corners = yield* firstSimplex(start);
  const values = new Float64Array(corners.length);
  for (const [i, corner] of corners.entries()) values[i] = yield* objective(corner);
  const [reflected, tried, center] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  for (let iteration = 1; iteration <= ITERATIONS_MAX; iteration++) {
    const { worst, second, best } = extremes(values);
    yield* setCenter(center, corners, worst);
    step(reflected, center, center, corners[worst]!, REFLECTION);
    const atReflected = yield* objective(reflected);
    const replaceWorst = (by: Float64Array, value: number) => {
      corners[worst]!.set(by);
      values[worst] = value;
    };
    if (atReflected < values[second]! && atReflected >= values[best]!) replaceWorst(reflected, atReflected);
    if (atReflected < values[best]!) {
      step(tried, center, reflected, center, EXPANSION);
      const atExpanded = yield* objective(tried);
      if (atExpanded < atReflected) replaceWorst(tried, atExpanded);
      else replaceWorst(reflected, atReflected);
    }
    if (atReflected >= values[second]!) {
      // contract outside if the reflection was better than the worst vertex, otherwise inside
      if (atReflected < values[worst]!) step(tried, center, reflected, center, CONTRACTION);
      else step(tried, center, corners[worst]!, center, CONTRACTION);
      const atContracted = yield* objective(tried);
      if (atContracted < values[worst]!) replaceWorst(tried, atContracted);
      else {
        yield* shrink(corners, best);
        values[worst] = yield* objective(corners[worst]!);
        values[second] = yield* objective(corners[second]!);
      }
    }
    if (deviation(values) < spread) break;
  }
  const { best } = extremes(values);
  const at = corners[best]!.slice();
  return { value: yield* objective(corners[best]!), at };
}

/** A regular simplex with edges of length 1 at `start`. */
function* firstSimplex(start: Float64Array): Steps<Float64Array[]> {
  const count = start.length;
  const far = (Math.sqrt(count + 1) - 1 + count) / (count * Math.SQRT2);
  const near = (Math.sqrt(count + 1) - 1) / (count * Math.SQRT2);
  const corner = (i: number) => start.map((value, j) => (i === 0 ? value : (i - 1 === j ? far : near) + value));
  const corners: Float64Array[] = [];
  const counter = new StepCounter();
  for (let i = 0; i <= count; i++) {
    if (counter.isDue(count)) yield;
    corners.push(corner(i));
  }
  return corners;
}

/** Indices of the highest, the second highest and the lowest value. */
function extremes(values: Float64Array): { worst: number; second: number; best: number } {
  let [worst, best] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    if (values[i]! > values[worst]!) worst = i;
    if (values[i]! < values[best]!) best = i;
  }
  let second = best;
  for (let i = 0; i < values.length; i++) if (values[i]! > values[second]! && values[i]! < values[worst]!) second = i;
  return { worst, second, best };
}

function* setCenter(center: Float64Array, corners: readonly Float64Array[], without: number): Steps<void> {
  const counter = new StepCounter();
  for (let i = 0; i < center.length; i++) {
    if (counter.isDue(corners.length)) yield;
    let sum = 0;
    for (let corner = 0; corner < corners.length; corner++) if (corner !== without) sum += corners[corner]![i]!;
    center[i] = sum / center.length;
  }
}

/** target = base + part × (to - from) */
function step(target: Float64Array, base: Float64Array, to: Float64Array, from: Float64Array, part: number): void {
  for (let i = 0; i < target.length; i++) target[i] = base[i]! + part * (to[i]! - from[i]!);
}

/** Moves all vertices halfway to the best. */
function* shrink(corners: readonly Float64Array[], best: number): Steps<void> {
  const towards = corners[best]!;
  const counter = new StepCounter();
  for (const corner of corners) {
    if (counter.isDue(corner.length)) yield;
    if (corner !== towards) for (let i = 0; i < corner.length; i++) corner[i] = towards[i]! + (corner[i]! - towards[i]!) / 2;
  }
}

function deviation(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  const mean = sum / values.length;
  let variance = 0;
  for (const value of values) variance += (value - mean) ** 2 / (values.length - 1);
  return Math.sqrt(variance);
}
