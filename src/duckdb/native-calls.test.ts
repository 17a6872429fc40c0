// Calls that hold a thread: so many at a time, in order, and a cancelled one leaves the queue.
import { expect, test } from "bun:test";
import { NativeCalls } from "./native-calls.ts";

test("no more calls run than may, the rest in the order they came", async () => {
  const calls = new NativeCalls();
  calls.limit(2);
  const started: number[] = [];
  const holds = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const done = holds.map((hold, i) =>
    calls.run({}, () => {
      started.push(i);
      return hold.promise;
    }),
  );
  expect(started).toEqual([0, 1]);
  holds[1]!.resolve();
  await done[1];
  expect(started).toEqual([0, 1, 2]);
  holds[0]!.reject(new Error("failed"));
  await done[0]!.catch(() => {});
  expect(started).toEqual([0, 1, 2, 3]);
  for (const hold of holds) hold.resolve();
  await Promise.allSettled(done);
  expect(started).toEqual([0, 1, 2, 3, 4]);
});

test("a call that is cancelled while it waits is never made; a running call is left alone", async () => {
  const calls = new NativeCalls();
  calls.limit(1);
  const [running, waiting] = [{}, {}];
  const hold = Promise.withResolvers<string>();
  const first = calls.run(running, () => hold.promise);
  let made = false;
  const second = calls.run(waiting, async () => {
    made = true;
  });
  const third = calls.run({}, async () => "third");
  calls.cancel(waiting);
  calls.cancel(running);
  await expect(second).rejects.toMatchObject({ kind: "cancelled" });
  hold.resolve("first");
  expect(await Promise.all([first, third])).toEqual(["first", "third"]);
  expect(made).toBe(false);
});
