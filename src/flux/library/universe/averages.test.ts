// Sums over the last rows, by blocks and one by one.
import { expect, test } from "bun:test";
import { prng } from "../../../../test/support/prng.ts";
import { windowSums } from "./averages.ts";

test("sums of all windows, short and long ones", () => {
  const below = prng(3);
  // multiples of a quarter: sums do not depend on their order
  const values = Float64Array.from({ length: 500 }, () => (below(400) - 200) / 4);
  for (const n of [1, 2, 64, 65, 100, 249, 250, 499, 500, 501]) {
    const expected = Array.from({ length: Math.max(0, values.length - n + 1) }, (_, i) =>
      values.subarray(i, i + n).reduce((sum, value) => sum + value, 0),
    );
    expect(Array.from(windowSums(values, n))).toEqual(expected);
  }
});

test("a value that is infinite or huge is in the sums of its windows only", () => {
  for (const odd of [Number.POSITIVE_INFINITY, 1e300]) {
    const values = new Float64Array(400).fill(1);
    values[150] = odd;
    const sums = windowSums(values, 100);
    expect([sums[50], sums[51], sums[150], sums[151]]).toEqual([100, odd, odd, 100]);
  }
});
