// Owners of extents: all that one holds is given back at once, and nothing of others.
import { expect, test } from "bun:test";
import { EXTENT_BYTES, Extents } from "./extents.ts";
import { Heap } from "./heap.ts";

test("what an owner holds is given back at once, blocks of all sizes, and nothing of others", () => {
  const extents = Extents.create();
  const [a, b] = [extents.takeOwner(), extents.takeOwner()];
  const heaps = { a: new Heap(extents, a), b: new Heap(extents, b), nobody: new Heap(extents) };
  const before = extents.usedBytes;
  for (const heap of [heaps.a, heaps.b, heaps.nobody, heaps.a, heaps.b]) {
    heap.alloc(64);
    heap.alloc(EXTENT_BYTES / 2);
    heap.alloc(3 * EXTENT_BYTES + 1);
  }
  // each heap has an extent for each of the two small sizes, and takes four for a large block
  expect(extents.usedBytes - before).toBe((3 * 2 + 5 * 4) * EXTENT_BYTES);
  const freed = heaps.a.alloc(EXTENT_BYTES * 2);
  heaps.a.free(freed, EXTENT_BYTES * 2);
  const others = heaps.nobody.alloc(EXTENT_BYTES * 2); // where the owner's block was: it is its own no more
  expect(others).toBe(freed);
  expect(extents.releaseOwner(a)).toBe((2 + 2 * 4) * EXTENT_BYTES);
  expect(extents.releaseOwner(a)).toBe(0);
  expect(extents.releaseOwner(b)).toBe((2 + 2 * 4) * EXTENT_BYTES);
  expect(extents.usedBytes - before).toBe((2 + 4 + 2) * EXTENT_BYTES);
});

test("an owner's number is taken by one at a time", () => {
  const extents = Extents.create();
  const owners = Array.from({ length: 255 }, () => extents.takeOwner());
  expect(new Set(owners).size).toBe(255);
  expect(() => extents.takeOwner()).toThrow("255 threads have memory of their own");
  extents.releaseOwner(owners[17]!);
  expect(extents.takeOwner()).toBe(owners[17]!);
});

test("another thread's view of the memory knows the owners, too", () => {
  const extents = Extents.create();
  const owner = extents.takeOwner();
  const before = extents.usedBytes;
  const there = Extents.attach(extents.shared);
  there.allocate(5 * EXTENT_BYTES, owner);
  expect(extents.releaseOwner(owner)).toBe(5 * EXTENT_BYTES);
  expect([extents.usedBytes, there.usedBytes]).toEqual([before, before]);
});
