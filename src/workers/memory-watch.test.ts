// When statements are stopped for memory: beyond the limit beside the kernel's, and not again while they let go of it.
import { expect, test } from "bun:test";
import { MemoryWatch } from "./memory-watch.ts";

const STEPS: [nowMs: number, residentBytes: number, kernelBytes: number, isOver: boolean][] = [
  [0, 100, 0, false],
  [100, 101, 0, true],
  [200, 500, 0, false],
  [2099, 500, 0, false],
  [2100, 500, 0, true],
  [9000, 500, 400, false],
  [9100, 501, 400, true],
];

test("over the limit, and then at rest for two seconds", () => {
  let at = 0;
  const watch = new MemoryWatch({
    bytesMax: 100,
    nowMs: () => STEPS[at]![0],
    residentBytes: () => STEPS[at]![1],
    kernelBytes: () => STEPS[at]![2],
  });
  for (; at < STEPS.length; at++) expect([at, watch.isOver()]).toEqual([at, STEPS[at]![3]]);
});
