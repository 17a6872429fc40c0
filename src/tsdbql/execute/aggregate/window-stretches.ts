// Cuts a time range into stretches of whole windows, each with about as many rows as fit memory well: calls by windows then need no more
// memory, however long the range is.
import type { TimeRange } from "../../../model/query/scan.ts";
import type { Steps } from "../../../model/steps.ts";
import type { Points } from "../../functions/points.ts";
import { type Texts, TextsBuilder } from "../../functions/texts.ts";
import { type WindowGrid, windowAt } from "../../functions/windows.ts";
import type { BasePoints } from "./points.ts";

const ROWS_WANTED = 1 << 20;

/** True if this many rows should be read in stretches. */
export function isLong(rowCountMax: number): boolean {
  return rowCountMax > ROWS_WANTED;
}

export interface RowsOfTime {
  /** Contains the times of all rows. */
  readonly times: TimeRange;
  readonly rowCountMax: number;
}

/** In ascending or descending order of time. */
export function* windowStretches(range: TimeRange, rows: RowsOfTime, grid: WindowGrid, descending: boolean): Generator<TimeRange> {
  const { times, rowCountMax } = rows;
  const minNs = times.minNs > range.minNs ? times.minNs : range.minNs;
  const maxNs = times.maxNs < range.maxNs ? times.maxNs : range.maxNs;
  const spanNs = times.maxNs - times.minNs + 1n;
  const reachNs = (spanNs * BigInt(ROWS_WANTED)) / BigInt(Math.max(1, rowCountMax));
  for (let at = descending ? maxNs : minNs; at >= minNs && at <= maxNs; ) {
    if (descending) {
      const { startNs } = windowAt(grid, at - reachNs < minNs ? minNs : at - reachNs);
      yield { minNs: startNs < minNs ? minNs : startNs, maxNs: at };
      at = startNs - 1n;
    } else {
      const { endNs } = windowAt(grid, at + reachNs > maxNs ? maxNs : at + reachNs);
      yield { minNs: at, maxNs: endNs > maxNs ? maxNs : endNs - 1n };
      at = endNs > at ? endNs : at + 1n;
    }
  }
}

/** Concatenates the points of consecutive stretches; null if there are none. */
export function* joinStretches(parts: readonly (BasePoints | null)[]): Steps<BasePoints | null> {
  const present = parts.filter((part) => part !== null).map(({ points }) => points);
  const [first, ...others] = present;
  if (first === undefined) return null;
  if (others.length === 0) return { points: first, rows: null };
  const count = present.reduce((sum, { times }) => sum + times.length, 0);
  const times = new BigInt64Array(count);
  const { type } = first;
  if (type === "string") return { points: { type, times: concat(times, present), values: yield* concatTexts(present, count) }, rows: null };
  const values = new (first.values.constructor as new (length: number) => Float64Array)(count);
  let at = 0;
  for (const points of present) {
    values.set(points.values as Float64Array, at);
    at += points.times.length;
  }
  return { points: { type, times: concat(times, present), values } as unknown as Points, rows: null };
}

function concat(target: BigInt64Array, parts: readonly Points[]): BigInt64Array {
  let at = 0;
  for (const { times } of parts) {
    target.set(times, at);
    at += times.length;
  }
  return target;
}

function* concatTexts(parts: readonly Points[], count: number): Steps<Texts> {
  const texts = new TextsBuilder(count);
  let at = 0;
  for (const { values } of parts) {
    yield* texts.set(values as Texts, at);
    at += values.length;
  }
  return texts.finish();
}
