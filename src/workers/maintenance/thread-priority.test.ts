// A thread that lowers its priority does so for itself alone; where a thread has none of its own, nothing changes.
import { expect, test } from "bun:test";

test("one thread gets less where it can, the others what they had", async () => {
  const worker = new Worker(new URL("../../../test/support/rows/low-worker.ts", import.meta.url).href);
  const { promise, resolve, reject } = Promise.withResolvers<{ before: number; after: number; ofProcess: number }>();
  worker.onmessage = (event: MessageEvent<{ before: number; after: number; ofProcess: number }>) => resolve(event.data);
  worker.onerror = (event) => reject(new Error(event.message));
  const { before, after, ofProcess } = await promise;
  worker.terminate();
  expect(after).toBe(process.platform === "linux" ? Math.min(19, before + 5) : before);
  expect(ofProcess).toBe(before);
});
