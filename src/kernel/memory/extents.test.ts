// Where runs of extents go, and owners of extents: all that one holds is given back at once, and nothing of others.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { EXTENT_BYTES, Extents } from "./extents.ts";
import { Heap } from "./heap.ts";
import { Kernel } from "./kernel.ts";
import { Scratch } from "./scratch.ts";

test("releaseOwner frees all blocks of an owner and none of others", () => {
  const extents = Extents.create();
  const [a, b] = [extents.takeOwner(), extents.takeOwner()];
  const heapOf = (owner: number) => new Heap(Extents.attach(extents.shared, owner));
  const heaps = { a: heapOf(a), b: heapOf(b), nobody: new Heap(extents) };
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

/** Gives back what is due, in the smallest steps. Returns the extents given. */
function age(extents: Extents): number[] {
  const given: number[] = [];
  const steps = extents.age((ptr, bytes) => {
    for (let at = ptr; at < ptr + bytes; at += EXTENT_BYTES) given.push(at / EXTENT_BYTES);
  });
  let found = steps.next();
  while (found.done !== true) found = steps.next();
  expect(found.value).toBe(given.length * EXTENT_BYTES);
  return given;
}

test("free extents go back once, at the second call after they became free, and never one in use", () => {
  const extents = Extents.create();
  const before = extents.touchedBytes;
  const [kept, freed] = [extents.allocate(3 * EXTENT_BYTES), extents.allocate(40 * EXTENT_BYTES)];
  const list = (ptr: number, count: number) => Array.from({ length: count }, (_, i) => ptr / EXTENT_BYTES + i);
  expect(extents.touchedBytes - before).toBe(43 * EXTENT_BYTES);
  expect([age(extents), age(extents)]).toEqual([[], []]);
  extents.release(freed, 40 * EXTENT_BYTES);
  expect(age(extents)).toEqual([]);
  expect(extents.touchedBytes - before).toBe(43 * EXTENT_BYTES);
  // used again meanwhile: its time begins anew
  const again = extents.allocate(5 * EXTENT_BYTES);
  expect(again).toBe(freed);
  expect(age(extents)).toEqual(list(freed, 40).slice(5));
  extents.release(again, 5 * EXTENT_BYTES);
  expect([age(extents), age(extents), age(extents)]).toEqual([[], list(freed, 5), []]);
  expect(extents.touchedBytes - before).toBe(3 * EXTENT_BYTES);
  extents.release(kept, 3 * EXTENT_BYTES);
  extents.seal();
  expect([age(extents), age(extents)]).toEqual([[], []]);
});

test("a heap returns extents of which all blocks are free", () => {
  const extents = Extents.create();
  const heap = new Heap(extents);
  const before = extents.usedBytes;
  const perExtent = EXTENT_BYTES / 4096;
  const blocks = Array.from({ length: 3 * perExtent }, () => heap.alloc(4096));
  for (const block of blocks.slice(1)) heap.free(block, 4096);
  heap.trim();
  expect(extents.usedBytes - before).toBe(EXTENT_BYTES);
  // the rest of the extent is still there to be used
  for (let i = 1; i < perExtent; i++) heap.alloc(4096);
  expect(extents.usedBytes - before).toBe(EXTENT_BYTES);
  heap.alloc(4096);
  expect(extents.usedBytes - before).toBe(2 * EXTENT_BYTES);
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
  const there = Extents.attach(extents.shared, owner);
  there.allocate(5 * EXTENT_BYTES);
  expect(extents.releaseOwner(owner)).toBe(5 * EXTENT_BYTES);
  expect([extents.usedBytes, there.usedBytes]).toEqual([before, before]);
});

/** 4 GiB; the first MiB is static data, the last extent is never handed out. */
const EXTENTS = 65536;
const FIRST = 16;
const LONG_RUNS = EXTENTS / 4;
const TOGETHER = EXTENTS / 16;

/** Where a run of `count` goes: near the bottom, else to the lowest place from the begin of its part on, else the lowest of all. */
function placeOf(used: Uint8Array, count: number): number {
  const lowest = (from: number) => {
    for (let first = from; first + count < EXTENTS; first++) {
      let free = 0;
      while (free < count && used[first + free] === 0) free++;
      if (free === count) return first;
      first += free;
    }
    return -1;
  };
  const near = lowest(FIRST);
  if (near >= 0 && near + count <= TOGETHER) return near;
  const place = lowest(count <= 2 ? FIRST : LONG_RUNS);
  return place >= 0 || count <= 2 ? place : lowest(FIRST);
}

// large: most of the memory is in use, so that runs go on in the other part, or find no room
test.each([
  { seed: 1, large: false },
  { seed: 2, large: true },
  { seed: 3, large: true },
])("runs go to the lowest place of their part, $seed", ({ seed, large }) => {
  const below = prng(seed);
  const extents = Extents.create();
  const other = Extents.attach(extents.shared);
  const owner = extents.takeOwner();
  const owning = Extents.attach(extents.shared, owner);
  const used = new Uint8Array(EXTENTS);
  const runs: { first: number; count: number; owned: boolean }[] = [];
  const mark = (first: number, count: number, value: 0 | 1) => used.fill(value, first, first + count);
  let refused = 0;
  if (large) {
    // of the upper part all but 200 extents in one piece, of the lower one all but 40
    for (const count of [EXTENTS - LONG_RUNS - 201, LONG_RUNS - FIRST - 40]) {
      const first = placeOf(used, count);
      expect(extents.allocate(count * EXTENT_BYTES)).toBe(first * EXTENT_BYTES);
      mark(first, count, 1);
    }
  }
  for (let step = 0; step < 1500; step++) {
    if (below(5) < 3) {
      const count = below(3) === 0 ? 3 + below(60) : 1 + below(2);
      const owned = below(10) === 0;
      const first = placeOf(used, count);
      const allocate = () => [extents, other, owning][owned ? 2 : below(2)]!.allocate(count * EXTENT_BYTES - below(EXTENT_BYTES));
      if (first < 0) {
        refused++;
        expect(allocate).toThrow("kernel memory is full");
      } else {
        expect(allocate() / EXTENT_BYTES).toBe(first);
        mark(first, count, 1);
        runs.push({ first, count, owned });
      }
    } else if (below(200) === 0) {
      extents.releaseOwner(owner);
      for (const { first, count } of runs.filter((run) => run.owned)) mark(first, count, 0);
      runs.splice(0, runs.length, ...runs.filter((run) => !run.owned));
    } else if (runs.length > 0) {
      const [{ first, count, owned }] = runs.splice(below(runs.length), 1) as [(typeof runs)[number]];
      [extents, other, owning][owned ? 2 : below(2)]!.release(first * EXTENT_BYTES, count * EXTENT_BYTES);
      mark(first, count, 0);
    }
  }
  expect(refused > 0).toBe(large);
});

test.each([1, 2, 3])("arrays that grow and move find room between all that comes and stays, seed %i", (seed) => {
  const below = prng(seed);
  const extents = Extents.create();
  const MIB = 1 << 20;
  const held: [ptr: number, bytes: number][] = [];
  const take = (bytes: number): [ptr: number, bytes: number] => [extents.allocate(bytes), bytes];
  const giveBack = ([ptr, bytes]: [number, number]) => extents.release(ptr, bytes);
  for (let table = 0; table < 6; table++) {
    // eight arrays up to 90 MiB, each of which is there twice while it moves, among short-lived blocks, and small long-lived ones
    const arrays = Array.from({ length: 8 }, () => take(MIB));
    while (arrays.some(([, bytes]) => bytes < 60 * MIB)) {
      for (let i = 0; i < 300; i++) held.push(take(EXTENT_BYTES * [1, 1, 1, 2, 8, 8, 16, 40][below(8)]!));
      for (let i = 0; i < 8; i++) extents.allocate(EXTENT_BYTES);
      while (held.length > 600) giveBack(held.splice(below(held.length), 1)[0]!);
      const at = below(arrays.length);
      const old = arrays[at]!;
      if (old[1] >= 60 * MIB) continue;
      arrays[at] = take(old[1] * 1.5);
      giveBack(old);
      expect(extents.usedBytes).toBeLessThan(1536 * MIB);
    }
    // queries' own, as large
    for (const run of Array.from({ length: 3 }, () => take(190 * MIB))) giveBack(run);
    arrays.forEach(giveBack);
  }
});

test("scratch memory of 4 GiB and more is refused", () => {
  const scratch = new Scratch(Kernel.create());
  for (const bytes of [2 ** 32, 2 ** 32 + 10, 2 ** 33]) expect(() => scratch.alloc(bytes)).toThrow("kernel memory is full");
});
