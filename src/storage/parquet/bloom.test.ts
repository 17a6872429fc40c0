// The kernel's bloom filter against one made of the runtime's xxHash64, for texts of every length.
import { expect, test } from "bun:test";
import { Arena } from "../../../test/support/rows.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { encodeBloomFilter } from "./bloom.ts";

const SALTS = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31];

function expected(texts: readonly string[], bytes: number): Uint8Array {
  const words = new Uint32Array(bytes / 4);
  for (const text of texts) {
    const hash = Bun.hash.xxHash64(text, 0n);
    const block = Number(((hash >> 32n) * BigInt(bytes / 32)) >> 32n);
    const key = Number(hash & 0xffffffffn);
    SALTS.forEach((salt, i) => {
      words[block * 8 + i]! |= 1 << (Math.imul(key, salt) >>> 27);
    });
  }
  return new Uint8Array(words.buffer);
}

test.each([0, 1, 2, 40, 500])("filter of %d texts", (count) => {
  const kernel = Kernel.create();
  const arena = new Arena(kernel);
  const texts = Array.from({ length: count }, (_, i) => `${i}é`.repeat(40).slice(0, i % 120));
  const encoded = encodeBloomFilter(kernel, arena.views(texts), count);
  const bytes = 2 ** Math.ceil(Math.log2(Math.max(32, (count * 10) / 8)));
  expect(encoded.subarray(encoded.length - bytes)).toEqual(expected(texts, bytes));
  arena.free();
});
