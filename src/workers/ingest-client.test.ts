// Ingest workers as threads: bodies go through them, and one that dies, of a trap or of its own code, takes nothing with it.
import { expect, test } from "bun:test";
import { FaultyDisk } from "../../test/support/faulty-disk.ts";
import { WritePath } from "../../test/support/write-path.ts";
import type { LaneThread } from "../ingest/lane.ts";
import type { LaneRequest } from "../ingest/lane-work.ts";
import { Kernel } from "../kernel/kernel.ts";
import { Precision } from "../model/precision.ts";
import { startIngestWorker } from "./ingest-client.ts";

/** A write path with real threads, whose messages the test may change. */
async function open(count: number) {
  const state = { failures: [] as string[], change: (request: LaneRequest) => request, readyCount: 0 };
  const path = await WritePath.open(new FaultyDisk(), {
    lanes: {
      parts: (kernel) => ({
        ...{ count, bodyBytesMin: 100 },
        start: (owner, events): LaneThread => {
          const onReady = () => {
            events.onReady();
            state.readyCount++;
          };
          const thread = startIngestWorker(kernel.shared, owner, { ...events, onReady });
          return { ...thread, post: (request) => thread.post(state.change(request)) };
        },
        onFailure: ({ message }) => state.failures.push(message),
      }),
    },
  });
  const ready = async (wanted: number) => {
    while (state.readyCount < wanted) await Bun.sleep(1);
  };
  await ready(count);
  return { path, state, ready };
}

const body = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => `t,h=h${i % 7} v=${first + i}i ${first + i}`).join("\n");

async function sum(path: WritePath): Promise<[count: number, sum: number]> {
  const rows = await path.rows("t");
  return [rows.length, rows.reduce((total, { fields }) => total + Number(fields["v"]), 0)];
}

test("large and small bodies of several clients at once", async () => {
  const { path } = await open(2);
  const clients = Array.from({ length: 6 }, async (_, client) => {
    for (let i = 0; i < 15; i++) {
      const count = i % 3 === 0 ? 1 : 200 * (1 + client);
      await path.write(body(client * 100_000 + i * 2000, count));
    }
  });
  await Promise.all(clients);
  const expected = Array.from({ length: 6 }, (_, client) => 5 + 10 * 200 * (1 + client)).reduce((a, b) => a + b);
  expect((await sum(path))[0]).toBe(expected);
  expect(path.ingest.laneBodies).toBe(60);
  await path.close();
});

const DEATHS: [why: string, change: (request: LaneRequest) => unknown, message: RegExp][] = [
  ["a trap in the kernel", (request) => ({ ...request, bodyPtr: 0xf000_0000, byteCount: 1 << 20 }), /out of bounds/i],
  ["an error nobody catches", () => undefined, /undefined is not an object/],
];
test.each(DEATHS)("a thread that dies of %s", async (_, change, message) => {
  const { path, state, ready } = await open(1);
  await path.write(body(0, 100));
  state.change = change as typeof state.change;
  await expect(path.write(body(1000, 100))).rejects.toThrow(/^an ingest worker failed: /);
  state.change = (request) => request;
  expect(state.failures.length).toBe(1);
  expect(state.failures[0]).toMatch(message);
  await path.write(body(2000, 100)); // on the main thread, or by the next one
  await ready(2);
  const before = path.ingest.laneBodies;
  await path.write(body(3000, 100));
  expect(path.ingest.laneBodies).toBe(before + 1);
  expect(await sum(path)).toEqual([300, 3 * 4950 + 5000 * 100]);
  await path.close();
  expect(state.failures.length).toBe(1);
});

test("when its thread has ended, nothing that it held is in use", async () => {
  const kernel = Kernel.create();
  const text = new TextEncoder().encode(body(0, 50_000));
  const ptr = kernel.heap.alloc(text.byteLength + 64);
  kernel.u8.set(text, ptr);
  const before = kernel.extents.usedBytes;
  const owner = kernel.extents.takeOwner();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const thread = startIngestWorker(kernel.shared, owner, {
    onReady: () => {
      const options = { precision: Precision.nanosecond, receiveTimeNs: 0n, isReset: false };
      thread.post({ type: "parse", id: 1, parserId: 1, bodyPtr: ptr, byteCount: text.byteLength, ...options });
    },
    onReply: () => resolve(kernel.extents.usedBytes - before),
    onFailure: reject,
  });
  // 50,000 rows of a value, a time, a series and a line each
  expect(await promise).toBeGreaterThan(50_000 * 24);
  await thread.end();
  promise.catch(() => {});
  expect(kernel.extents.releaseOwner(owner)).toBeGreaterThan(50_000 * 24);
  expect(kernel.extents.usedBytes).toBe(before);
});
