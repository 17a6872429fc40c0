// The kernel's hash of texts against the sum that it is said to be, and keys that were chosen to collide: they do for who knows the random
// keys, and for no other process.
import { expect, test } from "bun:test";
import { HASH_KEYS_BYTES } from "../../../assembly/abi.ts";
import { prng } from "../../../test/support/prng.ts";
import { Arena } from "../../../test/support/rows/rows.ts";
import { RECLAIM_AT_ONCE } from "../../model/reclaimer.ts";
import { Precision } from "../../model/time/precision.ts";
import { LineParser } from "../parse/line-parser.ts";
import { SeriesDictionary } from "../series/series-dictionary.ts";
import { Kernel } from "./kernel.ts";

const U64 = (1n << 64n) - 1n;
const PAIRS = HASH_KEYS_BYTES / 16;

function randomBytes(seed: number, count: number): Uint8Array<ArrayBuffer> {
  const below = prng(seed);
  return Uint8Array.from({ length: count }, () => below(256));
}

/** What assembly/memory/hash.ts says, of pairs of words as u64: the lower word meets the second key. */
function product(keys: Uint8Array<ArrayBuffer>, index: number, pair: bigint): bigint {
  const view = new DataView(keys.buffer);
  const [key0, key1] = [view.getBigUint64(index * 16, true), view.getBigUint64(index * 16 + 8, true)];
  return ((key0 + (pair >> 32n)) * (key1 + (pair & 0xffffffffn))) & U64;
}

function hashOf(sum: bigint): number {
  const low = sum & U64;
  return Number((((low ^ (low >> 32n)) * 0xd6e8feb86659fd93n) & U64) >> 32n);
}

function hashModel(keys: Uint8Array<ArrayBuffer>, text: Uint8Array, owner: number): number {
  const view = new DataView(text.buffer, text.byteOffset, text.byteLength);
  const end = text.length;
  let sum = product(keys, 0, BigInt(owner) | (BigInt(end) << 32n));
  let pair = 1;
  if (end < 8) {
    const u8 = (at: number) => BigInt(text[at]!);
    let word = end === 0 ? 0n : u8(0) | (u8(end >> 1) << 8n) | (u8(end - 1) << 16n);
    if (end >= 4) word = BigInt(view.getUint32(0, true)) | (BigInt(view.getUint32(end - 4, true)) << 32n);
    return hashOf(sum + product(keys, pair, word));
  }
  let at = 0;
  // a block is as long as pairs that are left, less one for its length, one for the last 8 bytes, and one never taken
  for (const blockBytes = (PAIRS - 4) * 8; end - 8 - at > blockBytes; at += blockBytes) {
    for (let i = at; i <= at + blockBytes; i += 8) sum += product(keys, pair++, view.getBigUint64(i, true));
    sum = product(keys, 0, BigInt(owner) | (BigInt(hashOf(sum)) << 32n));
    pair = 1;
  }
  for (; at < end - 8; at += 8) sum += product(keys, pair++, view.getBigUint64(at, true));
  return hashOf(sum + product(keys, pair, view.getBigUint64(end - 8, true)));
}

test("texts of all lengths have the hash that the keys make of them", () => {
  const keys = randomBytes(1, HASH_KEYS_BYTES);
  const kernel = Kernel.create(keys);
  const lengths = [...Array(100).keys(), 4063, 4064, 4065, 4071, 4072, 4073, 4079, 4080, 4081, 8136, 8143, 8144, 8145, 65_536, 100_001];
  for (const length of lengths) {
    const text = randomBytes(length, length);
    const ptr = kernel.heap.alloc(Math.max(1, length));
    kernel.u8.set(text, ptr);
    for (const owner of [0, 1, 77]) expect(kernel.call.hashText(ptr, length, owner) >>> 0).toBe(hashModel(keys, text, owner));
  }
});

test("keys are random in each memory, and threads share them", () => {
  const [a, b] = [Kernel.create(), Kernel.create()];
  const there = Kernel.attach(a.shared);
  const hash = (kernel: Kernel) => {
    const ptr = a.heap.alloc(64);
    b.heap.alloc(64);
    kernel.u8.set(Buffer.from("cpu,host=a "), ptr);
    return kernel.call.hashText(ptr, 11, 0);
  };
  expect(hash(there)).toBe(hash(a));
  expect(hash(b)).not.toBe(hash(a));
});

/** Keys for which "aaaa" and "bbbb" make the lower halves of two factors 0, as an attacker would choose text for keys that he knows. */
function keysOf(seed: number, firstPair: number): Uint8Array<ArrayBuffer> {
  const keys = randomBytes(seed, HASH_KEYS_BYTES);
  const view = new DataView(keys.buffer);
  [0x61616161, 0x62626262].forEach((word, i) => {
    const at = (firstPair + i) * 16 + 8;
    view.setUint32(at, -word >>> 0, true);
    // even, so that with the carry it is odd and has an inverse
    view.setUint32(at + 4, view.getUint32(at + 4, true) & ~1, true);
  });
  return keys;
}

/** Texts "aaaa" X "bbbb" Y of letters and digits that all have one hash, whatever stands around them, when they are the pairs firstPair and
 *  the next: the products are (key + X) x A x 2^32 and (key + Y) x B x 2^32, so each X has its Y mod 2^32. */
function collidingTexts(keys: Uint8Array<ArrayBuffer>, firstPair: number, count: number): string[] {
  const view = new DataView(keys.buffer);
  const [keyX, keyY] = [view.getUint32(firstPair * 16, true), view.getUint32(firstPair * 16 + 16, true)];
  // the factor is key + word, whose lower half has become 0: a carry into the upper half
  const [a, b] = [view.getUint32(firstPair * 16 + 12, true) + 1, view.getUint32(firstPair * 16 + 28, true) + 1];
  return collisions({ keyX, keyY, a, b }, count);
}

function collisions({ keyX, keyY, a, b }: { keyX: number; keyY: number; a: number; b: number }, count: number): string[] {
  let inverse = 1;
  for (let i = 0; i < 5; i++) inverse = Math.imul(inverse, 2 - Math.imul(b, inverse));
  const letters = Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
  const texts: string[] = [];
  const text = Buffer.from("aaaaXXXXbbbbYYYY");
  for (let i = 0; texts.length < count; i++) {
    for (let at = 0, rest = i; at < 4; at++, rest = Math.floor(rest / 62)) text[4 + at] = letters[rest % 62]!;
    // a (keyX + X) + b (keyY + Y) = 0 mod 2^32
    const y = (Math.imul(inverse, -Math.imul(a, keyX + text.readUInt32LE(4))) - keyY) >>> 0;
    text.writeUInt32LE(y, 12);
    if (text.subarray(12).every((byte) => letters.includes(byte))) texts.push(text.toString());
  }
  return texts;
}

/** More than a segment of a hash table takes. */
const COUNT = 6000;
/** Each key passes all that came before it. */
const ALL_COLLIDE = (COUNT * (COUNT - 1)) / 2;

/** Values of 16 bytes: they are the pairs 1 and 2. */
function longValues() {
  const keys = keysOf(2, 1);
  const texts = collidingTexts(keys, 1, COUNT);
  expect(new Set(texts.map((text) => hashModel(keys, Buffer.from(text), 0))).size).toBe(1);
  return { keys, texts };
}

/** Values that lie in their views, | 12 u32 | text |: the pairs 0 and 1, of which the second is (key + last 4 bytes) x (key + 4 before). */
function shortValues() {
  const keys = randomBytes(8, HASH_KEYS_BYTES);
  new DataView(keys.buffer).setBigInt64(16, -BigInt(Buffer.from("text").readUInt32LE()), true);
  return { keys, texts: Array.from({ length: COUNT }, (_, i) => `host${String(i).padStart(4, "0")}text`) };
}

test.each([
  ["12", shortValues],
  ["16", longValues],
])("values of tags of %s bytes that collide for known keys are as good as others for other keys, and take no more memory", (_, make) => {
  const { keys, texts } = make();
  expect(new Set(texts).size).toBe(COUNT);
  const insertWith = (hashKeys?: Uint8Array) => {
    const kernel = Kernel.create(hashKeys);
    const arena = new Arena(kernel);
    const bytes = texts[0]!.length;
    const records = Buffer.concat(
      texts.flatMap((text, i) => [new Uint8Array(new Uint32Array([i, 8 + bytes, 3, bytes]).buffer), Buffer.from(text)]),
    );
    const dictionary = new SeriesDictionary(kernel, { lastTimeFloorNs: 0n, reclaimer: RECLAIM_AT_ONCE });
    const out = arena.alloc(COUNT * 8);
    expect(dictionary.insertRecords(arena.bytes(records), records.length, out)).toBe(COUNT);
    expect(texts.every((_, i) => kernel.u32[out / 4 + 2 * i + 1] === i)).toBe(true);
    const { probeSteps: steps, memoryBytes } = dictionary;
    return { steps, memoryBytes };
  };
  const known = insertWith(keys);
  expect(known.steps).toBeGreaterThan(ALL_COLLIDE);
  for (const other of [randomBytes(3, HASH_KEYS_BYTES), undefined]) {
    const { steps, memoryBytes } = insertWith(other);
    expect(steps).toBeLessThan(3 * COUNT);
    // a segment that no split would part grows instead
    expect(known.memoryBytes).toBeLessThan(memoryBytes * 1.5);
  }
});

test("series of lines that collide for known keys are as good as others for other keys", () => {
  // 8 bytes before the text and, so that its pairs are whole, 8 behind it: it is the pairs 2 and 3
  const keys = keysOf(4, 2);
  const texts = collidingTexts(keys, 2, COUNT);
  const body = Buffer.from(texts.map((text) => `table,k=${text},l=1234 f=1 1\n`).join(""));
  expect(new Set(texts.map((text) => hashModel(keys, Buffer.from(`table,k=${text},l=1234 `), 0))).size).toBe(1);
  const stepsWith = (hashKeys?: Uint8Array) => {
    const kernel = Kernel.create(hashKeys);
    const parser = new LineParser(kernel);
    const parsed = parser.parse(body, { precision: Precision.nanosecond, receiveTimeNs: 0n });
    expect(parsed.rowCount).toBe(COUNT);
    return parser.probeSteps;
  };
  expect(stepsWith(keys)).toBeGreaterThan(ALL_COLLIDE);
  for (const other of [randomBytes(5, HASH_KEYS_BYTES), undefined]) expect(stepsWith(other)).toBeLessThan(3 * COUNT);
});

test("series whose codes collide for known keys are as good as others for other keys", () => {
  const keys = randomBytes(6, HASH_KEYS_BYTES);
  const view = new DataView(keys.buffer);
  // pairs | column 3 | code | and | column 7 | code |: with these keys the factors of both codes are 2^62, so codes of equal sums collide
  view.setBigUint64(8, (1n << 62n) - 3n, true);
  view.setBigUint64(24, (1n << 62n) - 7n, true);
  const side = 64;
  const stepsWith = (hashKeys?: Uint8Array) => {
    const kernel = Kernel.create(hashKeys);
    const arena = new Arena(kernel);
    const parts: Buffer[] = [];
    for (let i = 0; i < side * side; i++) {
      const [x, y] = [String(i % side).padStart(4), String(Math.floor(i / side)).padStart(4)].map((text) => Buffer.from(text));
      parts.push(Buffer.from(new Uint32Array([i, 24, 3, 4]).buffer), x!, Buffer.from(new Uint32Array([7, 4]).buffer), y!);
    }
    const records = Buffer.concat(parts);
    const dictionary = new SeriesDictionary(kernel, { lastTimeFloorNs: 0n, reclaimer: RECLAIM_AT_ONCE });
    expect(dictionary.insertRecords(arena.bytes(records), records.length, arena.alloc(side * side * 8))).toBe(side * side);
    return dictionary.probeSteps;
  };
  // four hashes, a quarter of the series each: n^2 / 2 steps for n that have one
  expect(stepsWith(keys)).toBeGreaterThan((4 * ((side * side) / 4) ** 2) / 2.1);
  for (const other of [randomBytes(7, HASH_KEYS_BYTES), undefined]) expect(stepsWith(other)).toBeLessThan(3 * side * side);
});
