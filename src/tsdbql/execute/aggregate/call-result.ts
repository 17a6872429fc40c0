// The result of one call for one group: its points and the source rows of selectors; limited, or expanded by filled windows.
import { isPause, type Steps } from "../../../model/steps.ts";
import type { Cells } from "../../functions/operator.ts";
import type { Points, WindowPoints } from "../../functions/points.ts";
import { sliceRows } from "../../functions/rows.ts";
import { presentPoints } from "../rows/cells.ts";

export interface CallResult {
  readonly points: WindowPoints;
  /** Source row of each point; -1 for a filled window. */
  readonly rows: Int32Array | null;
}

/** The points within the first `wanted` windows, and thus within `starts`. */
export function* upTo(points: Points, starts: BigInt64Array, wanted: number): Steps<Points> {
  if (points.times.length <= wanted && starts.length <= wanted) return points;
  const last = starts[starts.length - 1]!;
  const isDescending = starts.length > 1 && starts[1]! < starts[0]!;
  let count = 0;
  while (count < points.times.length && (isDescending ? points.times[count]! >= last : points.times[count]! <= last)) {
    if (isPause(count)) yield;
    count++;
  }
  // and one after them: linear fill needs it, and it shows that the group has points
  count++;
  if (count >= points.times.length) return points;
  const cells = { type: points.type, values: points.values, validity: null } as Cells;
  return (yield* presentPoints(cells, points.times, 0, count)).points;
}

/** Only the points that have a value. */
export function* withoutNulls({ points, validity }: WindowPoints): Steps<Points> {
  if (validity === null) return points;
  const cells = { type: points.type, values: points.values, validity } as Cells;
  return (yield* presentPoints(cells, points.times, 0, points.times.length)).points;
}

/** Source rows of points after filling inserted more points between them. */
export function* spread(rows: Int32Array, times: BigInt64Array, filledTimes: BigInt64Array): Steps<Int32Array> {
  const spreadRows = new Int32Array(filledTimes.length).fill(-1);
  let at = 0;
  for (let i = 0; i < filledTimes.length && at < times.length; i++) {
    if (isPause(i)) yield;
    if (filledTimes[i] === times[at]) spreadRows[i] = rows[at++]!;
  }
  return spreadRows;
}

/** LIMIT and OFFSET apply to each call. */
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
