// Results of several calls, joined by time into rows.
import type { Cells } from "../tsdbql/operators/operator.ts";
import type { Points } from "../tsdbql/points.ts";
import { pointsOf } from "./tsdbql-kernel.ts";

export interface Joined {
  readonly times: BigInt64Array;
  /** One a call; null: it has no value at all. */
  readonly cells: readonly (Cells | null)[];
}

export function joinByTime(points: readonly (Points | null)[], descending: boolean): Joined {
  const present = points.filter((each) => each !== null);
  const [only] = present;
  if (only === undefined) return { times: new BigInt64Array(0), cells: points.map(() => null) };
  if (points.length === 1 || (present.length === points.length && present.every(({ times }) => sameTimes(times, only.times)))) {
    return { times: only.times, cells: points.map((each) => ({ ...each!, validity: null })) };
  }
  const all = [...new Set(present.flatMap(({ times }) => [...times]))].sort((a, b) => (a < b === descending ? 1 : -1));
  const places = new Map(all.map((time, row) => [time, row]));
  return {
    times: BigInt64Array.from(all),
    cells: points.map((each) => {
      if (each === null) return null;
      const validity = new Uint8Array((all.length + 7) >> 3);
      const values: (number | bigint | string)[] = new Array(all.length).fill(each.values[0]!);
      each.times.forEach((time, i) => {
        const row = places.get(time)!;
        values[row] = each.values[i]!;
        validity[row >> 3] = validity[row >> 3]! | (1 << (row & 7));
      });
      return { ...pointsOf(each.type, BigInt64Array.from(all), values), validity } as Cells;
    }),
  };
}

function sameTimes(a: BigInt64Array, b: BigInt64Array): boolean {
  return a.length === b.length && a.every((time, i) => time === b[i]);
}
