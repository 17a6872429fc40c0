// Deadlines of small bodies, on a clock that the test moves.
import { expect, test } from "bun:test";
import type { TsdbError } from "../../model/errors.ts";
import { Arrivals } from "./arrivals.ts";

const CHECK_MS = 1;
const bytes = new Uint8Array(10);
const kindOf = (promise: Promise<void>) =>
  promise.then(
    () => "taken",
    (error: TsdbError) => error.kind,
  );

test("a body that is late is given up, also when it comes afterwards; others are waited for", async () => {
  let nowMs = 0;
  const arrivals = new Arrivals(() => nowMs, CHECK_MS);
  const taken: string[] = [];
  const [late, timely] = [Promise.withResolvers<Uint8Array>(), Promise.withResolvers<Uint8Array>()];
  const first = kindOf(arrivals.take(late.promise, 16_000, () => taken.push("late")));
  nowMs = 31_000; // 30 s and 1 ms for every 16 bytes
  const second = kindOf(arrivals.take(timely.promise, 10, () => taken.push("timely")));
  await new Promise((resolve) => setTimeout(resolve, 10 * CHECK_MS));
  expect(arrivals.count).toBe(2);
  nowMs = 31_001;
  expect(await first).toBe("too_slow");
  expect(arrivals.count).toBe(1);
  late.resolve(bytes);
  timely.resolve(bytes);
  expect(await second).toBe("taken");
  expect(taken).toEqual(["timely"]);
  expect(arrivals.count).toBe(0);
});

test("a body that breaks off, and an error of its reader, are passed on", async () => {
  const arrivals = new Arrivals(() => 0, CHECK_MS);
  const broken = arrivals.take(Promise.reject(new Error("gone")), 10, () => {});
  await expect(broken).rejects.toThrow("gone");
  const refused = arrivals.take(Promise.resolve(bytes), 10, () => {
    throw new Error("full");
  });
  await expect(refused).rejects.toThrow("full");
  expect(arrivals.count).toBe(0);
});
