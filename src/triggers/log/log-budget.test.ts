// Token buckets of triggers: expected values by arithmetic.
import { describe, expect, test } from "bun:test";
import { LIMITS } from "../../model/limits.ts";
import { LOG_BUDGET, LogBudget } from "./log-budget.ts";

const LIMIT = { burstBytes: 1000, triggerRate: 100, totalRate: 200, reserveBytes: 50 };

function budget() {
  const clock = { ms: 0 };
  const of = new LogBudget(() => clock.ms, LIMIT);
  const take = (key: string, bytes: number, isReserved = false) => of.take(key, bytes, { isReserved });
  return { clock, of, take };
}

/** Bytes that a trigger which always wants more gets within `seconds`, asking for 10 bytes each 10 ms. */
function taken(keys: readonly string[], seconds: number): Record<string, number> {
  const { clock, take } = budget();
  const sums = Object.fromEntries(keys.map((key) => [key, 0]));
  for (; clock.ms < seconds * 1000; clock.ms += 10) for (const key of keys) while (take(key, 10)) sums[key]! += 10;
  return sums;
}

describe("buckets", () => {
  test("a burst, then nothing, then what the rate refills", () => {
    const { clock, of, take } = budget();
    expect([take("a", 600), take("a", 400), take("a", 1)]).toEqual([true, true, false]);
    clock.ms = 500;
    expect([of.left("a"), take("a", 51), take("a", 50)]).toEqual([50, false, true]);
    clock.ms = 60_000;
    expect(of.left("a")).toBe(1000);
  });

  test("lines of the engine may take it below zero, down to the reserve", () => {
    const { take } = budget();
    expect([take("a", 1000), take("a", 30, true), take("a", 20, true), take("a", 1, true)]).toEqual([true, true, true, false]);
  });

  test("a flood takes nothing from other triggers", () => {
    const { take, of } = budget();
    while (take("flood", 10));
    expect([of.left("other"), take("other", 1000)]).toEqual([1000, true]);
  });

  test("setting the clock back refills nothing, and the bucket recovers", () => {
    const { clock, of, take } = budget();
    clock.ms = 1e9;
    take("a", 1000);
    clock.ms = 0;
    expect(of.left("a")).toBe(0);
    clock.ms = 5000;
    expect(of.left("a")).toBeGreaterThanOrEqual(400);
  });

  test("the trigger rate applies to few triggers, the shared total rate to many", () => {
    // 1000 of the bucket and 100 a second
    expect(taken(["a"], 100)["a"]! / 11_000).toBeCloseTo(1, 1);
    // four share 200 a second
    for (const bytes of Object.values(taken(["a", "b", "c", "d"], 100))) expect(bytes / 6000).toBeCloseTo(1, 1);
  });

  test("the size of the log within its retention is bounded", () => {
    const { burstBytes, totalRate } = LOG_BUDGET;
    const weekSeconds = 7 * 86_400;
    expect((totalRate * weekSeconds + burstBytes * LIMITS.triggersMax) / 2 ** 30).toBeLessThan(8);
  });
});
