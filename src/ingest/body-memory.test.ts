// Memory of bodies on their way in: what they hold, who waits, and that every byte arrives.
import { describe, expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { TsdbError } from "../model/errors.ts";
import { type BodyBytes, BodyMemory } from "./body-memory.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

const kernel = Kernel.create();
const memoryOf = (bytesMax: number, bodyBytesMax = bytesMax, waitMs = 10) => new BodyMemory(kernel, { bytesMax, bodyBytesMax, waitMs });

function now(place: BodyBytes | Promise<BodyBytes>): BodyBytes {
  if (place instanceof Promise) throw new Error("the body has to wait");
  return place;
}

/** Kernel memory taken since `before`. */
const taken = (before: number) => kernel.heap.usedBytes - before;

test("every byte arrives, whatever was announced and however it is cut (seed 7)", () => {
  const below = prng(7);
  const memory = memoryOf(64 * MIB);
  for (let round = 0; round < 60; round++) {
    const want = Uint8Array.from({ length: below(round % 6 === 0 ? 600_000 : 20_000) }, () => below(256));
    const announced = [undefined, want.length, below(want.length + 1), want.length + below(50_000)][round % 4];
    const body = now(memory.receive(announced));
    for (let at = 0; at < want.length; ) {
      const bytes = 1 + below(round % 2 === 0 ? 300_000 : 1000);
      body.append(want.subarray(at, at + bytes));
      at += bytes;
    }
    expect(body.byteCount).toBe(want.length);
    expect(Bun.hash(body.bytes.slice())).toBe(Bun.hash(want));
    // what is behind it may be overwritten
    if (want.length > 0) kernel.u8.fill(0, body.ptr + want.length, body.ptr + want.length + 64);
    body.release();
    body.release();
    expect(memory.claimedBytes).toBe(0);
  }
  expect(memory.idleBytes).toBeLessThanOrEqual(32 * MIB);
});

describe("a body holds little more than has come of it", () => {
  const HELD: [what: string, announced: number | undefined, sent: number, atMost: number][] = [
    ["no byte sent", 10 * MIB, 0, 0],
    ["a byte of much", 10 * MIB, 1, 64 * KIB],
    ["a byte of unknown", undefined, 1, 64 * KIB],
    ["a small one", 3000, 3000, 4 * KIB],
    ["half of the announced body", 10 * MIB, 5 * MIB, 10 * MIB + 64 * KIB],
    ["a tenth of the announced body", 10 * MIB, MIB, 4 * MIB + 64 * KIB],
    ["the whole announced body", 10 * MIB, 10 * MIB, 10 * MIB + 64 * KIB],
    ["more than announced", 1000, 2 * MIB, 8 * MIB + 64 * KIB],
  ];
  test.each(HELD)("%s", (_, announced, sent, atMost) => {
    const memory = memoryOf(64 * MIB);
    const before = kernel.heap.usedBytes;
    const body = now(memory.receive(announced));
    for (let at = 0; at < sent; at += 100_000) body.append(new Uint8Array(Math.min(100_000, sent - at)));
    expect(taken(before) - memory.idleBytes).toBeLessThanOrEqual(atMost);
    expect(memory.claimedBytes).toBe(body.memoryBytes);
    body.release();
    expect(taken(before)).toBe(memory.idleBytes);
  });
});

test("a block is used again", () => {
  const memory = memoryOf(64 * MIB);
  const first = now(memory.receive(3 * MIB));
  first.append(new Uint8Array(3 * MIB));
  const { ptr } = first;
  first.release();
  const before = kernel.heap.usedBytes;
  const second = now(memory.receive(2 * MIB));
  second.append(new Uint8Array(1));
  expect([second.ptr, taken(before)]).toEqual([ptr, 0]);
  second.release();
});

test("the largest body that may come fits beside what it grew out of, and takes no more", () => {
  const memory = memoryOf(24 * MIB, 16 * MIB);
  const before = kernel.heap.usedBytes;
  const body = now(memory.receive(undefined));
  for (let at = 0; at < 16; at++) body.append(new Uint8Array(MIB));
  expect(body.byteCount).toBe(16 * MIB);
  expect(taken(before) - memory.idleBytes).toBeLessThanOrEqual(16 * MIB + 64 * KIB);
  body.release();
});

describe("when bodies hold all that they may", () => {
  test("the next ones wait in line, and are refused after a while", async () => {
    const memory = memoryOf(MIB, MIB, 60_000);
    const first = now(memory.receive(900 * KIB));
    const order: string[] = [];
    const large = memory.receive(800 * KIB) as Promise<BodyBytes>;
    const small = memory.receive(100) as Promise<BodyBytes>;
    void large.then(() => order.push("large"));
    void small.then(() => order.push("small"));
    await Promise.resolve();
    expect(order).toEqual([]);
    first.release();
    const bodies = await Promise.all([large, small]);
    expect(order).toEqual(["large", "small"]);
    for (const body of bodies) body.release();
    expect(memory.claimedBytes).toBe(0);
  });

  test("a body that waits in vain is refused, and the next ones go on", async () => {
    const memory = memoryOf(MIB, MIB, 1);
    const first = now(memory.receive(600 * KIB));
    const large = memory.receive(800 * KIB) as Promise<BodyBytes>;
    const small = memory.receive(100) as Promise<BodyBytes>;
    const refused = await large.then(
      () => "taken",
      (error: TsdbError) => error.kind,
    );
    const settled = await small.then(
      (body) => body.release(),
      (error: TsdbError) => error.kind, // its own wait may end in the same moment
    );
    expect([refused, [undefined, "overloaded"].includes(settled as undefined | string)]).toEqual(["overloaded", true]);
    first.release();
    expect(memory.claimedBytes).toBe(0);
  });

  test("a body that outgrows its announcement is refused, and its bytes stay whole until it is released", () => {
    const memory = memoryOf(MIB);
    const other = now(memory.receive(500 * KIB));
    const body = now(memory.receive(1000));
    body.append(Uint8Array.of(1, 2, 3));
    expect(() => body.append(new Uint8Array(900 * KIB))).toThrow(TsdbError);
    expect([...body.bytes]).toEqual([1, 2, 3]);
    body.release();
    other.release();
    expect(memory.claimedBytes).toBe(0);
  });
});
