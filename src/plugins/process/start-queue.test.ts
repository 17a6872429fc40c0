// Which starts wait for which.
import { expect, test } from "bun:test";
import { StartQueue } from "./start-queue.ts";

function starts(count: number) {
  const queue = new StartQueue();
  const begun: number[] = [];
  const ends = Array.from({ length: count }, () => Promise.withResolvers<void>());
  const all = ends.map(({ promise }, number) =>
    queue.run(() => {
      begun.push(number);
      return { number, started: promise };
    }),
  );
  return { queue, begun, ends, all };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("two at a time, in order; a start that fails lets the next one go", async () => {
  const { begun, ends, all } = starts(5);
  await settle();
  expect(begun).toEqual([0, 1]);
  ends[1]!.resolve();
  await settle();
  expect(begun).toEqual([0, 1, 2]);
  ends[0]!.reject(new Error("it ended"));
  ends[2]!.resolve();
  await settle();
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect((await Promise.all(all)).map(({ number }) => number)).toEqual([0, 1, 2, 3, 4]);
});

test("what start throws is thrown, and takes no turn", async () => {
  const queue = new StartQueue();
  const begun: number[] = [];
  const bad = [1, 2, 3, 4].map(() =>
    queue.run((): { started: Promise<void> } => {
      throw new Error("no such program");
    }),
  );
  const good = [0, 1].map((number) =>
    queue.run(() => {
      begun.push(number);
      return { started: new Promise<void>(() => {}) };
    }),
  );
  for (const each of bad) await expect(each).rejects.toThrow("no such program");
  await Promise.all(good);
  expect(begun).toEqual([0, 1]);
});

test("a start that does not end gives way to others", async () => {
  const { begun, all } = starts(4);
  await Promise.all(all);
  expect(begun).toEqual([0, 1, 2, 3]);
});
