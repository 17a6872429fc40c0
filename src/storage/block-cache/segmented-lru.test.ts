// The order in which things leave a full memory, against plain lists.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { LruEntry, SegmentedLru } from "./segmented-lru.ts";

class Thing extends LruEntry {
  isGone = false;
  constructor(
    readonly name: string,
    bytes: number,
    private readonly gone: string[],
  ) {
    super();
    this.bytes = bytes;
  }
  override drop(): void {
    expect(this.isGone).toBe(false);
    expect(this.pins).toBe(0);
    this.isGone = true;
    this.gone.push(this.name);
  }
}

function setUp(bytesMax: number) {
  const gone: string[] = [];
  const lru = new SegmentedLru(bytesMax);
  const add = (name: string, bytes = 10) => {
    const thing = new Thing(name, bytes, gone);
    lru.add(thing);
    return thing;
  };
  const use = (thing: Thing) => {
    lru.pin(thing);
    lru.unpin(thing);
  };
  /** Comes in, is used and let go of. */
  const pass = (name: string, bytes = 10) => {
    const thing = add(name, bytes);
    lru.unpin(thing);
    return thing;
  };
  return { gone, lru, add, use, pass };
}

describe("segmented LRU", () => {
  test("the least recently used entry goes first", () => {
    const { gone, pass } = setUp(30);
    for (const name of ["a", "b", "c", "d", "e"]) pass(name);
    expect(gone).toEqual(["a", "b"]);
  });

  test("one long pass leaves alone what is used again", () => {
    const { gone, pass, use } = setUp(50);
    const kept = [pass("x"), pass("y")];
    for (const thing of kept) use(thing);
    for (let i = 0; i < 20; i++) pass(`${i}`);
    expect(kept.map(({ isGone }) => isGone)).toEqual([false, false]);
    // three fit beside the two
    expect(gone.length).toBe(17);
  });

  test("protected things make room for new ones", () => {
    const { pass, use, lru } = setUp(100);
    const used = Array.from({ length: 10 }, (_, i) => pass(`${i}`));
    for (const thing of used) use(thing);
    // 80 of 100 are protected at most: the two used least recently are on probation again
    pass("new");
    expect(used.map(({ isGone }) => isGone)).toEqual([true, ...Array.from({ length: 9 }, () => false)]);
    expect(lru.bytes).toBe(100);
  });

  test("pinned entries stay beyond the limit", () => {
    const { gone, lru, add, pass } = setUp(30);
    const held = ["a", "b", "c", "d"].map((name) => add(name));
    pass("e");
    expect(gone).toEqual(["e"]);
    expect(lru.bytes).toBe(40);
    lru.unpin(held[2]!);
    expect(gone).toEqual(["e", "c"]);
    lru.pin(held[0]!);
    lru.unpin(held[0]!);
    expect(lru.bytes).toBe(30);
    expect(lru.evict(1000)).toBe(0);
  });

  test("without memory nothing stays", () => {
    const { gone, lru, add } = setUp(0);
    const thing = add("a");
    expect(gone).toEqual([]);
    lru.unpin(thing);
    expect(gone).toEqual(["a"]);
    expect(lru.bytes).toBe(0);
  });

  test("forgotten: at once, or when it is let go of", () => {
    const { gone, lru, add, pass } = setUp(100);
    const [free, held] = [pass("free"), add("held")];
    for (const thing of [free, held, held]) lru.forget(thing);
    expect(gone).toEqual(["free"]);
    lru.unpin(held);
    expect(gone).toEqual(["free", "held"]);
    expect(lru.bytes).toBe(0);
  });

  test("an entry that grows counts with its new size", () => {
    const { gone, lru, add, pass } = setUp(30);
    pass("a");
    const thing = add("b");
    lru.grow(thing, 15);
    expect(gone).toEqual(["a"]);
    expect(lru.bytes).toBe(25);
  });

  test("what was not in use for some periods goes, and nothing else", () => {
    const { gone, lru, add, pass, use } = setUp(100);
    const [used, pinned] = [pass("used"), add("pinned")];
    pass("unused");
    use(used);
    expect([lru.beginPeriod(2), lru.beginPeriod(2)]).toEqual([0, 0]);
    use(used);
    // two whole periods without use are over
    expect(lru.beginPeriod(2)).toBe(10);
    expect(gone).toEqual(["unused"]);
    expect([lru.beginPeriod(2), lru.beginPeriod(2)]).toEqual([0, 10]);
    expect(gone).toEqual(["unused", "used"]);
    // its time counts from its last use
    lru.unpin(pinned);
    expect([lru.beginPeriod(2), lru.beginPeriod(2), lru.beginPeriod(2)]).toEqual([0, 0, 10]);
    expect(lru.bytes).toBe(0);
  });

  const SEED = Number(process.env["SEED"] ?? 1);
  test(`seed ${SEED}: sums are right, and nothing in use goes`, () => {
    const below = prng(SEED);
    for (let round = 0; round < 30; round++) {
      const { lru, add } = setUp(below(300));
      const things: { thing: Thing; pins: number }[] = [];
      for (let step = 0; step < 300; step++) {
        const alive = things.filter(({ thing }) => !thing.isGone);
        const some = alive[below(Math.max(1, alive.length))];
        const action = below(6);
        if (action <= 1 || some === undefined) things.push({ thing: add(`${step}`, 1 + below(40)), pins: 1 });
        else if (action === 2) {
          lru.pin(some.thing);
          some.pins++;
        } else if (action <= 4 && some.pins > 0) {
          some.pins--;
          lru.unpin(some.thing);
        } else if (below(8) === 0) lru.forget(some.thing);
        for (const { thing, pins } of things) {
          if (thing.isGone) expect(pins).toBe(0);
          else expect(thing.pins).toBe(pins);
        }
        expect(lru.bytes).toBe(things.reduce((sum, { thing }) => sum + (thing.isGone ? 0 : thing.bytes), 0));
      }
      for (const { thing } of things) while (thing.pins > 0) lru.unpin(thing);
      lru.evict(Number.POSITIVE_INFINITY);
      expect(lru.bytes).toBe(0);
    }
  });
});
