// When statements are stopped for memory: beyond the limit beside the kernel's, not for garbage, and not again while they let go of it.
import { expect, test } from "bun:test";
import { MemoryWatch } from "./memory-watch.ts";

const STEPS: [nowMs: number, residentBytes: number, kernelBytes: number, garbageBytes: number, isOver: boolean, collections: number][] = [
  [0, 100, 0, 50, false, 0],
  // a collection takes 250 ms, and the next one is 500 ms later
  [100, 101, 0, 0, true, 1],
  [400, 107, 0, 0, false, 1],
  // it grows on while statements end
  [500, 108, 0, 0, true, 1],
  [900, 108, 0, 0, true, 2],
  [1700, 200, 0, 150, false, 3],
  [3149, 107, 0, 0, false, 3],
  [3150, 107, 0, 0, true, 4],
  [9000, 500, 400, 0, false, 4],
  [9100, 501, 400, 1, false, 5],
  // filled again at once
  [9800, 501, 400, 1, true, 5],
  [11_800, 700, 400, 200, false, 6],
  [12_500, 700, 400, 199, true, 6],
  [20_000, 800, 800, 0, false, 6],
  [21_000, 801, 800, 1, false, 7],
  [22_000, 801, 800, 0, true, 8],
];

test("over the limit, and then at rest for two seconds", () => {
  let at = 0;
  let [collected, collections, collectingMs] = [0, 0, 0];
  const watch = new MemoryWatch({
    bytesMax: 100,
    residentBytesMax: 800,
    nowMs: () => STEPS[at]![0] + collectingMs,
    residentBytes: () => STEPS[at]![1] - collected,
    kernelBytes: () => STEPS[at]![2],
    collect: () => {
      collections++;
      collectingMs = 250;
      collected = STEPS[at]![3];
    },
  });
  for (; at < STEPS.length; at++) {
    [collected, collectingMs] = [0, 0];
    expect([at, watch.isOver(), collections]).toEqual([at, STEPS[at]![4], STEPS[at]![5]]);
  }
});
