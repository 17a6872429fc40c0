// What of a process counts as its memory.
import { expect, test } from "bun:test";
import { residentBytes, takenBytesOf } from "./resident-memory.ts";

test("pages of files do not count", () => {
  const status = "Name:\ttsdb\nVmRSS:\t  419080 kB\nRssAnon:\t  316720 kB\nRssFile:\t  102360 kB\nRssShmem:\t      10 kB\nThreads:\t12\n";
  expect(takenBytesOf(status)).toBe(316_730 * 1024);
  expect(() => takenBytesOf("VmRSS:\t  419080 kB\n")).toThrow("does not tell kinds of memory apart");
});

test("of this process: what is allocated and written counts", () => {
  const before = residentBytes();
  const bytes = new Uint8Array(64 << 20).fill(1);
  expect(residentBytes() - before).toBeGreaterThan(48 << 20);
  expect(bytes[5]).toBe(1);
});
