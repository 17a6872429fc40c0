// Times of bodies without timestamps, while the wall clock goes on and is set back.
import { expect, test } from "bun:test";
import { MonotonicClock } from "./monotonic-clock.ts";

const MS = 1_000_000n;

test("times increase while the wall clock stands still, or goes back some seconds", () => {
  let nowMs = 1_000_000;
  const clock = new MonotonicClock(() => nowMs);
  expect([clock.nextNs(), clock.nextNs()]).toEqual([1_000_000n * MS, 1_000_000n * MS + 1n]);
  nowMs -= 9999;
  expect(clock.nextNs()).toBe(1_000_000n * MS + 2n);
  nowMs += 10_000;
  expect(clock.nextNs()).toBe(1_000_001n * MS);
});

test("after the wall clock was ahead, times are those of the wall clock again, and no time comes twice", () => {
  let nowMs = 1_000_000;
  const clock = new MonotonicClock(() => nowMs);
  const seen = new Set<bigint>();
  const next = () => {
    const time = clock.nextNs();
    expect(seen.has(time)).toBe(false);
    seen.add(time);
    return time;
  };
  for (let times = 0; times < 3; times++) {
    nowMs = 1_000_000;
    for (; nowMs < 1_000_010; nowMs++) {
      for (let i = 0; i < 500; i++) expect(next() / MS).toBe(BigInt(nowMs));
    }
    nowMs = 1_000_000 + 86_400_000;
    expect(next() / MS).toBe(BigInt(nowMs));
  }
});
