// Pins free what was replaced with the last reader that could see it: cases, and a comparison with lists of readers.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { Pins } from "./pins.ts";

describe("Pins", () => {
  test("frees at once when nobody reads", () => {
    const freed: string[] = [];
    new Pins().defer(() => freed.push("a"));
    expect(freed).toEqual(["a"]);
  });

  test("frees with the last pin taken before, however long later pins stay", () => {
    const pins = new Pins();
    const freed: string[] = [];
    const first = pins.take();
    const second = pins.take();
    pins.defer(() => freed.push("a"));
    const later = pins.take();
    first.release();
    expect(freed).toEqual([]);
    second.release();
    expect(freed).toEqual(["a"]);
    pins.defer(() => freed.push("b"));
    second.release(); // a second release is nothing
    expect(freed).toEqual(["a"]);
    later.release();
    expect(freed).toEqual(["a", "b"]);
    expect([pins.openCount, pins.waitingCount]).toEqual([0, 0]);
  });

  test("knows how many are open and how old the oldest is", () => {
    let nowMs = 100;
    const pins = new Pins(() => nowMs);
    expect([pins.openCount, pins.oldestAgeMs]).toEqual([0, 0]);
    const first = pins.take();
    nowMs = 130;
    const second = pins.take();
    nowMs = 150;
    expect([pins.openCount, pins.oldestAgeMs]).toEqual([2, 50]);
    first.release();
    expect([pins.openCount, pins.oldestAgeMs]).toEqual([1, 20]);
    second.release();
    expect(pins.oldestAgeMs).toBe(0);
  });

  test.each([1, 2, 3])("agrees with a list of readers, seed %i", (seed) => {
    const below = prng(seed);
    const pins = new Pins();
    const open: { number: number; release: () => void }[] = [];
    const waiting: { readers: Set<number>; freed: boolean }[] = [];
    for (let step = 0; step < 500; step++) {
      const what = below(3);
      if (what === 0) open.push({ number: step, release: pins.take().release });
      if (what === 1 && open.length > 0) {
        const [{ number, release }] = open.splice(below(open.length), 1) as [(typeof open)[0]];
        for (const { readers } of waiting) readers.delete(number);
        release();
      }
      if (what === 2) {
        const entry = { readers: new Set(open.map(({ number }) => number)), freed: false };
        waiting.push(entry);
        pins.defer(() => {
          entry.freed = true;
        });
      }
      for (const { readers, freed } of waiting) expect(freed).toBe(readers.size === 0);
    }
  });
});
