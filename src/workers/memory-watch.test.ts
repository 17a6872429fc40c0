// When statements are stopped for memory: beyond the limit beside the kernel's, not for garbage, and not again while they let go of it.
import { expect, test } from "bun:test";
import { MemoryWatch } from "./memory-watch.ts";

const STEPS: [nowMs: number, residentBytes: number, kernelBytes: number, garbageBytes: number, isOver: boolean, collections: number][] = [
  [0, 100, 0, 50, false, 0],
  [100, 101, 0, 0, true, 1],
  [200, 500, 0, 500, false, 1],
  [2099, 500, 0, 500, false, 1],
  [2100, 500, 0, 0, true, 2],
  [9000, 500, 400, 0, false, 2],
  [9100, 501, 400, 1, false, 3],
  // filled again at once
  [9599, 501, 400, 1, true, 3],
  [11_599, 700, 400, 200, false, 4],
  [12_099, 700, 400, 199, true, 5],
];

test("over the limit, and then at rest for two seconds", () => {
  let at = 0;
  let [collected, collections] = [0, 0];
  const watch = new MemoryWatch({
    bytesMax: 100,
    nowMs: () => STEPS[at]![0],
    residentBytes: () => STEPS[at]![1] - collected,
    kernelBytes: () => STEPS[at]![2],
    collect: () => {
      collections++;
      collected = STEPS[at]![3];
    },
  });
  for (; at < STEPS.length; at++) {
    collected = 0;
    expect([at, watch.isOver(), collections]).toEqual([at, STEPS[at]![4], STEPS[at]![5]]);
  }
});
