// When a group is written, on a clock that the test moves: who is waited for, how long, and who is not.
import { describe, expect, test } from "bun:test";
import { Company } from "./company.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A company whose waits end when the test says so. `msPerLook`: what passes between two looks at the clock. */
function company(msPerLook = 0) {
  let nowMs = 0;
  const timers: { ms: number; run: () => void }[] = [];
  const made = new Company({
    nowMs: () => (nowMs += msPerLook),
    after: (ms, run) => {
      const timer = { ms, run };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer), 1);
    },
  });
  return { made, timers };
}

/** A group of `frameCount` frames, and whether it may be written. */
function gathering(made: Company, frameCount: number, usedBytes = 100) {
  const group = { frameCount, usedBytes };
  const state = { isReady: false };
  void made.gather(group).then(() => {
    state.isReady = true;
  });
  const join = () => {
    group.frameCount += 1;
    made.joined(group);
  };
  return { group, state, join };
}

async function turns(count = 10): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

describe("while turns of the event loop bring frames", () => {
  test("a group waits until two have brought none", async () => {
    const { made } = company();
    const { state, join } = gathering(made, 1);
    for (let i = 0; i < 5; i++) {
      await turn();
      join();
      expect(state.isReady).toBe(false);
    }
    await turns(3);
    expect(state.isReady).toBe(true);
  });

  test("but not for ever", async () => {
    const { made } = company(0.125);
    const { state, join } = gathering(made, 1);
    for (let i = 0; i < 10; i++) {
      await turn();
      join();
    }
    expect(state.isReady).toBe(true);
  });

  test("a large group does not wait", async () => {
    const { made } = company();
    const { state } = gathering(made, 1, 1 << 20);
    await Promise.resolve();
    expect(state.isReady).toBe(true);
  });
});

describe("after a slow sync", () => {
  test("those who were answered are waited for, as long as the sync took", async () => {
    const { made, timers } = company();
    made.answered({ frameCount: 2, usedBytes: 100 }, 7, 1);
    const { state, join } = gathering(made, 1);
    await turns();
    expect(timers.map(({ ms }) => ms)).toEqual([7]);
    join();
    await turns();
    expect(state.isReady).toBe(false);
    join(); // all three are here
    await turns();
    expect([state.isReady, timers]).toEqual([true, []]);
  });

  test("20 ms at most, and nobody after a fast one, or when everybody is here", async () => {
    const { made, timers } = company();
    made.answered({ frameCount: 2, usedBytes: 100 }, 500, 0);
    gathering(made, 1);
    await turns();
    expect(timers.map(({ ms }) => ms)).toEqual([20]);
    made.hurry();
    for (const [syncMs, frameCount] of [
      [1.9, 1],
      [500, 2],
    ] as const) {
      made.answered({ frameCount: 2, usedBytes: 100 }, syncMs, 0);
      const { state } = gathering(made, frameCount);
      await turns();
      expect([state.isReady, timers]).toEqual([true, []]);
    }
  });

  test("who does not come back is not waited for again soon", async () => {
    const { made, timers } = company();
    const waits: boolean[] = [];
    for (let round = 0; round < 20; round++) {
      made.answered({ frameCount: 9, usedBytes: 100 }, 5, 1);
      const { state } = gathering(made, 1);
      await turns();
      waits.push(timers.length > 0);
      timers[0]?.run();
      await turns();
      expect(state.isReady).toBe(true);
    }
    const eight = Array.from({ length: 8 }, () => false);
    expect(waits).toEqual([true, ...eight, true, ...eight, true, false]);
  });

  test("hurry ends the wait", async () => {
    const { made, timers } = company();
    made.answered({ frameCount: 9, usedBytes: 100 }, 5, 1);
    const { state } = gathering(made, 1);
    await turns();
    expect(state.isReady).toBe(false);
    made.hurry();
    await turns();
    expect([state.isReady, timers]).toEqual([true, []]);
  });
});
