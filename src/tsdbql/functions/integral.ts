// The area below a line from point to point. Windows of GROUP BY time cut it where they end, on the line; windows without points have no
// area, and what the line has there belongs to the window of the next point. A window that has but its own beginning has none.
import { StepCounter, type Steps } from "../../model/steps.ts";
import { difference, wordsOf } from "./int64.ts";
import type { OperatorContext, Windows } from "./operator.ts";

export interface Integrals {
  readonly areas: Float64Array;
  /** For each area the window it is of. */
  readonly windows: Int32Array;
}

interface IntegralContext extends OperatorContext {
  readonly unitNs: number;
}

/** Falling times have the areas of rising ones. */
export function* integrals(times: BigInt64Array, values: Float64Array, windows: Windows, context: IntegralContext): Steps<Integrals> {
  if (!context.descending) return yield* ascending(times, values, windows, context);
  const count = windows.startsNs.length;
  const turned: Windows = {
    startsNs: windows.startsNs.toReversed(),
    endsNs: windows.endsNs.toReversed(),
    offsets: windows.offsets.map((_, i) => times.length - windows.offsets[count - i]!),
  };
  const found = yield* ascending(times.toReversed(), values.toReversed(), turned, context);
  return { areas: found.areas.reverse(), windows: found.windows.map((window) => count - 1 - window).reverse() };
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
  // where the line was last: nanoseconds past the first point of the window, and there
  let [lastValue, lastNs] = [values[0]!, 0];
  for (let window = 0; window < startsNs.length; window++) {
    const [from, end] = [offsets[window]!, offsets[window + 1]!];
    let area = 0;
    // of the first window the line begins here; of others it comes from the end of the one before
    for (let row = window === 0 ? from + 1 : from; row < end; row++) {
      if (counter.isDue(1)) yield;
      const timeNs = difference(words, row, from);
      // of points at one time the last counts
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
