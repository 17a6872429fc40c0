// Readers of an archive that read, leave, and do neither.
import { expect, test } from "bun:test";
import { archiveStream, type StreamTimers } from "./archive-stream.ts";

const STALL_MS = 300_000;

/** Time passes when a test says so. */
class Clock implements StreamTimers {
  private nowMs = 0;
  private readonly waiting = new Map<object, { readonly atMs: number; readonly run: () => void }>();

  after(ms: number, run: () => void): () => void {
    const key = {};
    this.waiting.set(key, { atMs: this.nowMs + ms, run });
    return () => this.waiting.delete(key);
  }

  get count(): number {
    return this.waiting.size;
  }

  pass(ms: number): void {
    this.nowMs += ms;
    for (const [key, { atMs, run }] of this.waiting) {
      if (atMs > this.nowMs) continue;
      this.waiting.delete(key);
      run();
    }
  }
}

/** Chunks of one byte, 0 to 3; `before` is awaited before each. */
async function* numbered(log: string[], before: (i: number) => Promise<void> | void = () => {}): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    for (let i = 0; i < 4; i++) {
      await before(i);
      log.push(`made ${i}`);
      yield Uint8Array.of(i);
    }
  } finally {
    log.push("over");
  }
}

test("who reads gets all of it, however long it takes to be made, and nothing is made ahead", async () => {
  const clock = new Clock();
  const log: string[] = [];
  const stream = await archiveStream(
    numbered(log, () => clock.pass(10 * STALL_MS)),
    STALL_MS,
    clock,
  );
  expect(log).toEqual(["made 0"]);
  const reader = stream.getReader();
  for (let i = 0; i < 4; i++) {
    clock.pass(STALL_MS - 1);
    expect([...(await reader.read()).value!]).toEqual([i]);
    expect(log.length).toBe(i + 1);
  }
  expect((await reader.read()).done).toBe(true);
  expect([log.at(-1), clock.count]).toEqual(["over", 0]);
});

test.each([0, 1, 3])("who takes nothing for too long after %d chunks loses it", async (count) => {
  const clock = new Clock();
  const log: string[] = [];
  const reader = (await archiveStream(numbered(log), STALL_MS, clock)).getReader();
  for (let i = 0; i < count; i++) await reader.read();
  clock.pass(STALL_MS - 1);
  expect(log).not.toContain("over");
  clock.pass(1);
  expect(reader.read()).rejects.toThrow("the reader of the archive took nothing for 300 s");
  await reader.closed.catch(() => {});
  await Bun.sleep(0);
  expect([log.at(-1), clock.count]).toEqual(["over", 0]);
});

test("who leaves ends it, and a failure is the reader's", async () => {
  const clock = new Clock();
  const log: string[] = [];
  const stream = await archiveStream(numbered(log), STALL_MS, clock);
  await stream.cancel();
  expect([log, clock.count]).toEqual([["made 0", "over"], 0]);
  const failing = numbered(log, (i) => {
    if (i === 1) throw new Error("no space");
  });
  const reader = (await archiveStream(failing, STALL_MS, clock)).getReader();
  await reader.read();
  expect(reader.read()).rejects.toThrow("no space");
  await reader.closed.catch(() => {});
  expect(clock.count).toBe(0);
  const refused = numbered(log, () => {
    throw new Error("no such file");
  });
  expect(archiveStream(refused, STALL_MS, clock)).rejects.toThrow("no such file");
});
