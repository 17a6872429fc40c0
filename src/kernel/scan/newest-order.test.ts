// Newest rows in order that are not wanted any more, or for which there is no memory: nothing of them is left.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { ALL_TYPES, randomRows } from "../../../test/support/rows/random-rows.ts";
import { Arena, writeRun } from "../../../test/support/rows/rows.ts";
import { TsdbError } from "../../model/errors.ts";
import { Kernel } from "../memory/kernel.ts";
import { NewestInOrder } from "./newest-order.ts";
import { mergeRuns } from "./run-merge.ts";

const kernel = Kernel.create();
const arena = new Arena(kernel);
const below = prng(1);
const dense = [1, 2].map((seqMin) => {
  // one row for each series
  const rows = randomRows(below, { count: 200, times: 1, hosts: 40 });
  return mergeRuns(kernel, [writeRun(arena, ALL_TYPES, rows, { seqMin })], ALL_TYPES);
});
const keys = ALL_TYPES.filter(({ name }) => name === "host" || name === "region").map(({ id }) => ({
  ...{ columnId: id, isDescending: true, nullsFirst: false },
}));

test("abandoned after any step", () => {
  const before = kernel.heap.usedBytes;
  for (let steps = 0, isDone = false; !isDone; steps++) {
    const found = NewestInOrder.of(kernel, dense, keys);
    for (let i = 0; i < steps && !isDone; i++) {
      const { done, value } = found.next();
      if (done) value.release();
      isDone = done === true;
    }
    found.return(undefined as never);
    expect([steps, kernel.heap.usedBytes]).toEqual([steps, before]);
  }
});

test("memory that is full at any allocation", () => {
  const { heap } = kernel;
  const alloc = heap.alloc.bind(heap);
  const before = heap.usedBytes;
  const attempt = (allocations: number): boolean => {
    let left = allocations;
    let rows: NewestInOrder | undefined;
    heap.alloc = (bytes) => {
      if (left-- === 0) throw new TsdbError("overloaded", "full");
      return alloc(bytes);
    };
    try {
      const steps = NewestInOrder.of(kernel, dense, keys);
      for (;;) {
        const { done, value } = steps.next();
        if (!done) continue;
        rows = value;
        break;
      }
      rows.open(ALL_TYPES).close();
      return true;
    } catch (error) {
      expect((error as Error).message).toBe("full");
      return false;
    } finally {
      heap.alloc = alloc;
      rows?.release();
    }
  };
  let allocations = 0;
  for (; !attempt(allocations); allocations++) expect([allocations, heap.usedBytes]).toEqual([allocations, before]);
  expect(heap.usedBytes).toBe(before);
  expect(allocations).toBeGreaterThan(20);
});
