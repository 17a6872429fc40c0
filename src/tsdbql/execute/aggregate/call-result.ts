// What one call gave for one group: its points, and the rows of the set that they are; cut to a limit, spread over filled windows.
import { isPause, type Steps } from "../../../model/steps.ts";
import type { Cells } from "../../functions/operator.ts";
import type { Points, WindowPoints } from "../../functions/points.ts";
import { sliceRows } from "../../functions/rows.ts";
import { presentPoints } from "../rows/cells.ts";

export interface CallResult {
  readonly points: WindowPoints;
  /** Rows of the set that the points are; -1 where a window was filled. */
  readonly rows: Int32Array | null;
}

/** Points that are among the first `wanted` windows at most, and so within `starts`. */
export function* upTo(points: Points, starts: BigInt64Array, wanted: number): Steps<Points> {
  if (points.times.length <= wanted && starts.length <= wanted) return points;
  const last = starts[starts.length - 1]!;
  const isDescending = starts.length > 1 && starts[1]! < starts[0]!;
  let count = 0;
  while (count < points.times.length && (isDescending ? points.times[count]! >= last : points.times[count]! <= last)) {
    if (isPause(count)) yield;
    count++;
  }
  // and one behind them: a line goes on to it, and it says that the group has any
  count++;
  if (count >= points.times.length) return points;
  const cells = { type: points.type, values: points.values, validity: null } as Cells;
  return (yield* presentPoints(cells, points.times, 0, count)).points;
}

export function* withoutNulls({ points, validity }: WindowPoints): Steps<Points> {
  if (validity === null) return points;
  const cells = { type: points.type, values: points.values, validity } as Cells;
  return (yield* presentPoints(cells, points.times, 0, points.times.length)).points;
}

/** Rows of points, for the same points with more between them. */
export function* spread(rows: Int32Array, times: BigInt64Array, filledTimes: BigInt64Array): Steps<Int32Array> {
  const spreadRows = new Int32Array(filledTimes.length).fill(-1);
  let at = 0;
  for (let i = 0; i < filledTimes.length && at < times.length; i++) {
    if (isPause(i)) yield;
    if (filledTimes[i] === times[at]) spreadRows[i] = rows[at++]!;
  }
  return spreadRows;
}

/** LIMIT and OFFSET are for each call. */
export function* limit(
  { points: { points, validity }, rows }: CallResult,
  { limit: most, offset }: { readonly limit: number; readonly offset: number },
): Steps<CallResult> {
  if (most === 0 && offset === 0) return { points: { points, validity }, rows };
  const cells = { type: points.type, values: points.values, validity } as Cells;
  const { times, columns } = yield* sliceRows({ times: points.times, columns: [cells] }, offset, most);
  const [kept] = columns;
  return {
    points: { points: { type: kept!.type, times, values: kept!.values } as Points, validity: kept!.validity },
    rows: rows === null ? null : rows.slice(offset, offset + times.length),
  };
}
