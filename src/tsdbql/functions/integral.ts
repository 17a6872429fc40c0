// The area under the line through the points. Windows of GROUP BY time cut it at their ends, by interpolation; empty windows have no area,
// and the line's area within them belongs to the window of the next point. A window whose only point is at its start has no area.
import { StepCounter, type Steps } from "../../model/steps.ts";
import { difference, wordsOf } from "./int64.ts";
import type { OperatorContext, Windows } from "./operator.ts";

export interface Integrals {
  readonly areas: Float64Array;
  /** The window of each area. */
  readonly windows: Int32Array;
}

interface IntegralContext extends OperatorContext {
  readonly unitNs: number;
}

/** Descending times have the same areas as ascending ones, in v3 with the opposite sign. */
export function* integrals(times: BigInt64Array, values: Float64Array, windows: Windows, context: IntegralContext): Steps<Integrals> {
  if (!context.descending) return yield* ascending(times, values, windows, context);
  const count = windows.startsNs.length;
  const turned: Windows = {
    startsNs: windows.startsNs.toReversed(),
    endsNs: windows.endsNs.toReversed(),
    offsets: windows.offsets.map((_, i) => times.length - windows.offsets[count - i]!),
  };
  const found = yield* ascending(times.toReversed(), values.toReversed(), turned, context);
  const areas = context.isTable === true ? found.areas.map((area) => 0 - area) : found.areas;
  return { areas: areas.reverse(), windows: found.windows.map((window) => count - 1 - window).reverse() };
}

function* ascending(
  times: BigInt64Array,
  values: Float64Array,
  windows: Windows,
  { unitNs, intervalNs }: IntegralContext,
): Steps<Integrals> {
  const counter = new StepCounter();
  const { startsNs, endsNs, offsets } = windows;
  const areas: number[] = [];
  const of: number[] = [];
  const words = wordsOf(times);
  // last position of the line: nanoseconds since the first point of the window, and value
  let [lastValue, lastNs] = [values[0]!, 0];
  for (let window = 0; window < startsNs.length; window++) {
    const from = offsets[window]!;
    const end = offsets[window + 1]!;
    let area = 0;
    // in the first window the line starts here; in others it comes from the end of the previous one
    for (let row = window === 0 ? from + 1 : from; row < end; row++) {
      if (counter.isDue(1)) yield;
      const timeNs = difference(words, row, from);
      // of points at one time the last one counts
      if (timeNs !== lastNs) area += 0.5 * (values[row]! + lastValue) * ((timeNs - lastNs) / unitNs);
      lastValue = values[row]!;
      lastNs = timeNs;
    }
    const isLast = window === startsNs.length - 1;
    if (!isLast) {
      const next = offsets[window + 1]!;
      const endNs = Number(endsNs[window]! - times[from]!);
      const nextNs = difference(words, next, from);
      if (lastNs !== endNs) {
        const there = ((values[next]! - lastValue) / (nextNs - lastNs)) * (endNs - lastNs) + lastValue;
        area += 0.5 * (there + lastValue) * ((endNs - lastNs) / unitNs);
        lastValue = there;
      }
      lastNs = endNs - nextNs;
    }
    if (isLast && intervalNs !== null && times[end - 1] === startsNs[window]) continue;
    areas.push(area);
    of.push(window);
  }
  return { areas: Float64Array.from(areas), windows: Int32Array.from(of) };
}
