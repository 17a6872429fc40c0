// Pages of the kernel's memory that go back to the system: rows in use keep their bytes, and memory that went back can be used again.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { prng } from "../../../test/support/prng.ts";
import { EXTENT_BYTES } from "./extents.ts";
import { Kernel } from "./kernel.ts";
import { canReturnPages, returnPages } from "./system-pages.ts";

const residentBytes = () => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))![1]) * 1024;

test.if(process.platform === "linux")("the system gets the pages of a free block", () => {
  const kernel = Kernel.create();
  const bytes = 256 << 20;
  const block = kernel.heap.alloc(bytes);
  kernel.u8.fill(7, block, block + bytes);
  const before = residentBytes();
  kernel.heap.free(block, bytes);
  expect(canReturnPages()).toBe(true);
  returnPages(kernel, block, bytes);
  // others of the process may have grown meanwhile
  expect(before - residentBytes()).toBeGreaterThan(bytes / 2);
});

test("while blocks come and go, those in use keep their bytes", () => {
  const kernel = Kernel.create();
  const below = prng(3);
  const blocks: { ptr: number; bytes: number; value: number }[] = [];
  for (let round = 0; round < 200; round++) {
    if (below(3) > 0) {
      const bytes = [100, 5000, EXTENT_BYTES, 3 * EXTENT_BYTES, 8 * EXTENT_BYTES][below(5)]!;
      const [ptr, value] = [kernel.heap.alloc(bytes), below(256)];
      kernel.u8.fill(value, ptr, ptr + bytes);
      blocks.push({ ptr, bytes, value });
    } else if (blocks.length > 0) {
      const [{ ptr, bytes }] = blocks.splice(below(blocks.length), 1) as [(typeof blocks)[number]];
      kernel.heap.free(ptr, bytes);
    }
    if (below(4) > 0) continue;
    kernel.heap.trim();
    for (const _ of kernel.extents.age((ptr, bytes) => returnPages(kernel, ptr, bytes)));
  }
  for (const { ptr, bytes, value } of blocks) {
    expect(Buffer.alloc(bytes, value).equals(Buffer.from(kernel.u8.slice(ptr, ptr + bytes).buffer))).toBe(true);
  }
});
