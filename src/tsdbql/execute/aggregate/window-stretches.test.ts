// Stretches of whole windows: together they are the range, and no window lies in two of them.
import { expect, test } from "bun:test";
import { prng } from "../../../../test/support/prng.ts";
import { finish } from "../../../model/steps.ts";
import { TimeZone } from "../../../model/time/time-zone.ts";
import { Texts } from "../../functions/texts.ts";
import { windowAt } from "../../functions/windows.ts";
import { joinStretches, windowStretches } from "./window-stretches.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const HOUR_NS = 3_600_000_000_000n;

test(`stretches follow each other and end with a window (seed ${SEED})`, () => {
  const below = prng(SEED);
  for (let round = 0; round < 300; round++) {
    const zone = below(3) === 0 ? TimeZone.of("Europe/Berlin") : null;
    const grid = { intervalNs: BigInt(1 + below(30)) * HOUR_NS, offsetNs: BigInt(below(5)) * HOUR_NS, zone };
    const minNs = BigInt(below(20_000)) * HOUR_NS + BigInt(below(1000));
    const range = { minNs, maxNs: minNs + BigInt(below(3000)) * HOUR_NS + BigInt(below(1000)) };
    const times = { minNs: minNs - BigInt(below(100)) * HOUR_NS, maxNs: range.maxNs + BigInt(below(100) - 50) * HOUR_NS };
    const descending = below(2) === 0;
    const stretches = [...windowStretches(range, { times, rowCountMax: below(100_000_000) }, grid, descending)];
    if (descending) stretches.reverse();
    const end = times.maxNs < range.maxNs ? times.maxNs : range.maxNs;
    if (end < minNs) {
      expect(stretches).toEqual([]);
      continue;
    }
    expect([stretches[0]!.minNs, stretches.at(-1)!.maxNs]).toEqual([minNs, end]);
    stretches.forEach((stretch, i) => {
      expect(stretch.minNs <= stretch.maxNs).toBeTrue();
      const next = stretches[i + 1];
      if (next === undefined) return;
      expect(next.minNs).toBe(stretch.maxNs + 1n);
      expect(windowAt(grid, next.minNs).startNs).not.toBe(windowAt(grid, stretch.maxNs).startNs);
    });
  }
});

test("points of stretches become one column", () => {
  const part = (times: bigint[], values: number[]) => ({
    points: { type: "float" as const, times: BigInt64Array.from(times), values: Float64Array.from(values) },
    rows: null,
  });
  expect(finish(joinStretches([null, part([1n, 2n], [5, 6]), null, part([3n], [7])]))).toEqual(part([1n, 2n, 3n], [5, 6, 7]));
  expect(finish(joinStretches([null]))).toBeNull();
  const texts = { points: { type: "string" as const, times: BigInt64Array.of(1n), values: Texts.of(["a"]) }, rows: null };
  const joined = finish(joinStretches([texts, texts]))!.points.values as Texts;
  expect(finish(joined.toArray())).toEqual(["a", "a"]);
});
