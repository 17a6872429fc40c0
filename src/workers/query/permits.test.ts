// Statements have their turn in order, and those that give up take no turn.
import { expect, test } from "bun:test";
import { Permits } from "./permits.ts";

test("first come, first served; who gives up is passed over", async () => {
  const permits = new Permits(2);
  expect([permits.take().ready, permits.take().ready]).toEqual([undefined, undefined]);
  const order: string[] = [];
  const waiting = ["a", "b", "c"].map((name) => {
    const permit = permits.take();
    permit.ready!.then(
      () => order.push(name),
      (error: Error) => order.push(`${name}: ${error.message}`),
    );
    return permit;
  });
  expect(permits.waitingCount).toBe(3);
  waiting[1]!.giveUp(new Error("gone"));
  permits.release();
  permits.release();
  await Bun.sleep(0);
  expect(order).toEqual(["b: gone", "a", "c"]);
  expect(permits.waitingCount).toBe(0);
  // three were given out and none is left over
  waiting[0]!.giveUp(new Error("too late"));
  permits.release();
  expect(permits.take().ready).toBeUndefined();
  expect(permits.take().ready).toBeDefined();
  expect(permits.counts).toEqual({ limit: 2, held: 2, heldMax: 2, waiting: 1, waitingMax: 3, givenUp: 1 });
});

test("a permit that is lent goes to who waits, and comes back at once", async () => {
  const permits = new Permits(1);
  permits.take();
  const order: string[] = [];
  for (const name of ["a", "b"]) void permits.take().ready!.then(() => order.push(name));
  expect(permits.lend()).toBe(true);
  await Bun.sleep(0);
  expect([order, permits.counts.held]).toEqual([["a"], 1]);
  // no more are lent than there are
  expect(permits.lend()).toBe(false);
  permits.takeBack();
  expect(permits.counts.held).toBe(2);
  permits.release();
  await Bun.sleep(0);
  expect(order).toEqual(["a"]);
  permits.release();
  await Bun.sleep(0);
  expect([order, permits.counts.held]).toEqual([["a", "b"], 1]);
});

test("refuseAll rejects all waiting permits", async () => {
  const permits = new Permits(1);
  permits.take();
  const waiting = [permits.take(), permits.take()];
  permits.refuseAll(new Error("stopping"));
  for (const { ready } of waiting) await expect(ready!).rejects.toThrow("stopping");
  permits.release();
  expect(permits.take().ready).toBeUndefined();
});

test("more permits go to those that wait, fewer take none back", async () => {
  const permits = new Permits(1);
  permits.take();
  const order: string[] = [];
  for (const name of ["a", "b", "c"]) void permits.take().ready!.then(() => order.push(name));
  permits.resize(3);
  await Bun.sleep(0);
  expect([order, permits.limit, permits.waitingCount]).toEqual([["a", "b"], 3, 1]);
  permits.resize(1);
  permits.release();
  permits.release();
  await Bun.sleep(0);
  expect([order, permits.waitingCount]).toEqual([["a", "b"], 1]);
  permits.release();
  await Bun.sleep(0);
  expect([order, permits.waitingCount]).toEqual([["a", "b", "c"], 0]);
  permits.release();
  expect(permits.take().ready).toBeUndefined();
  expect(permits.take().ready).toBeDefined();
});
