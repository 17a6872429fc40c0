// Averages over periods that clients choose: they take memory for the points that there are.
import { expect, test } from "bun:test";
import { finish } from "../../src/model/steps.ts";
import { pointsOf, valueAt } from "../../src/tsdbql/functions/columns.ts";
import type { Points } from "../../src/tsdbql/functions/points.ts";
import { TRANSFORMS } from "../../src/tsdbql/functions/transforms.ts";
import type { Literal } from "../../src/tsdbql/parse/ast.ts";

const VALUES = [1, 4, 2, 8, 5, 7];
const POINTS = pointsOf(
  "float",
  BigInt64Array.from(VALUES, (_, i) => BigInt(i)),
  Float64Array.from(VALUES),
) as Points;

function results(name: string, period: bigint, held?: bigint): number[] {
  const args = [period, ...(held === undefined ? [] : [held])].map((value): Literal => ({ kind: "integer", value }) as Literal);
  const points = finish(TRANSFORMS.get(name)!.apply(POINTS, args, {} as never)) as Points;
  return Array.from({ length: points.times.length }, (_, i) => valueAt(points.values, i) as number);
}

const NAMES = ["kaufmans_efficiency_ratio", "kaufmans_adaptive_moving_average", "chande_momentum_oscillator", "relative_strength_index"];

test.each(NAMES)("%s over more points than there are", (name) => {
  expect(results(name, 2_000_000_000n)).toEqual([]);
  // held back nothing: what comes before the first is as absent as with a period just longer than the points
  expect(results(name, 2_000_000_000n, 0n).slice(0, 2)).toEqual(results(name, 50n, 0n).slice(0, 2));
});
