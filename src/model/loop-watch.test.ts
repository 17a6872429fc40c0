// Work that keeps a thread from its event loop is cut short, wherever it is; what it leaves to the shared memory is sound.
import { expect, test } from "bun:test";
import { EXTENT_BYTES, Extents } from "../kernel/memory/extents.ts";
import { LoopWatch } from "./loop-watch.ts";

/** One watch a thread: the tests share it. */
const watch = new LoopWatch();
let cuts = 0;
watch.start({ limitMs: 20, onCut: () => cuts++ });

function forEver(): never {
  for (;;);
}

test.each<[what: string, work: () => void]>([
  ["a loop", forEver],
  ["a loop that catches everything", () => catchAll()],
  [
    "a loop behind awaits",
    () =>
      void Promise.resolve()
        .then(() => {})
        .then(forEver),
  ],
  ["a promise that settles for ever", () => void followForEver()],
  ["a wait for memory that nobody changes", () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)],
])("%s is ended", (_, work) => {
  const before = cuts;
  expect(watch.run("message", work)).toBe(false);
  expect(cuts).toBe(before + 1);
  // the thread goes on
  const done: string[] = [];
  expect(watch.run("message", () => void done.push("next"))).toBe(true);
  expect(done).toEqual(["next"]);
});

function catchAll(): void {
  for (;;) {
    try {
      forEver();
    } catch {
      // goes on
    }
  }
}

async function followForEver(): Promise<void> {
  for (;;) await null;
}

test("work within the limit is done as a whole: code that awaits it, errors, work within work", async () => {
  const done: string[] = [];
  expect(
    watch.run("message", () => {
      void Promise.resolve().then(() => done.push("awaited"));
      watch.run("timer", () => void done.push("inner"));
    }),
  ).toBe(true);
  expect(done).toEqual(["inner", "awaited"]);
  const error = new Error("its own");
  expect(() =>
    watch.run("message", () => {
      throw error;
    }),
  ).toThrow(error);
  expect(await watch.resume(Bun.sleep(1).then(() => 7))).toBe(7);
  expect(watch.resume(Promise.reject(error))).rejects.toBe(error);
});

test("code behind a promise from outside is watched", async () => {
  const before = cuts;
  let goesOn = false;
  void watch.resume(Bun.sleep(1)).then(() => {
    goesOn = true;
    forEver();
  });
  while (cuts === before) await Bun.sleep(1);
  expect(goesOn).toBe(true);
});

test("a thread cut short in the midst of taking and giving back memory leaves no lock, and memory as it was", () => {
  const extents = Extents.create();
  const usedBytes = extents.usedBytes;
  for (let round = 0; round < 30; round++) {
    const owner = extents.takeOwner();
    const thread = Extents.attach(extents.shared, owner);
    watch.run("message", () => {
      const held: number[] = [];
      for (let i = 0; ; i++) {
        if (held.length < 50) held.push(thread.allocate(((i % 7) + 1) * EXTENT_BYTES));
        else for (let n = 0; n < 50; n++) thread.release(held.shift()!, (((i - 50 + n) % 7) + 1) * EXTENT_BYTES);
      }
    });
    thread.seal();
    extents.releaseOwner(owner);
    expect(extents.usedBytes).toBe(usedBytes);
  }
  // extent by extent: all that is not static data, or the last one, is there in one piece
  const FREE = 65536 - 16 - 1;
  const all = extents.allocate(FREE * EXTENT_BYTES);
  extents.release(all, FREE * EXTENT_BYTES);
  expect(cuts).toBeGreaterThanOrEqual(30);
});

// the last one: there is no watch behind it
test("work after the end of the watch is done as a whole, however long it takes", () => {
  const before = cuts;
  expect(() => watch.run("message", () => watch.stop())).toThrow("its own watch");
  watch.stop();
  const done: string[] = [];
  const untilMs = performance.now() + 100;
  const isWhole = watch.run("message", () => {
    while (performance.now() < untilMs);
    done.push("long");
  });
  expect([isWhole, done, cuts]).toEqual([true, ["long"], before]);
});
