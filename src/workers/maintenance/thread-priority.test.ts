// A thread that lowers its priority does so for itself alone.
import { expect, test } from "bun:test";

test.skipIf(process.platform !== "linux")("one thread gets less, the others what they had", async () => {
  const worker = new Worker(new URL("../../../test/support/low-worker.ts", import.meta.url).href);
  const { promise, resolve, reject } = Promise.withResolvers<{ before: number; after: number; ofProcess: number }>();
  worker.onmessage = (event: MessageEvent<{ before: number; after: number; ofProcess: number }>) => resolve(event.data);
  worker.onerror = (event) => reject(new Error(event.message));
  const { before, after, ofProcess } = await promise;
  worker.terminate();
  expect(after).toBe(Math.min(19, before + 5));
  expect(ofProcess).toBe(before);
});
