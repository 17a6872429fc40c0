// The one hash of what clients choose: texts, codes, times. A sum of products with random keys, in which any two different inputs agree
// as rarely as by chance, whatever they are: who does not know the keys cannot choose inputs that collide. The keys are the process's
// own, put at HASH_KEYS once when the memory is made (src/kernel/memory/extents.ts), so a hash must never leave its memory.
//   sum = of (key 2i + word 2i + 1) x (key 2i + 1 + word 2i), mod 2^64;   words of 32 bits, keys of 64
// Source: pair-multiply-shift; Thorup, "High Speed Hashing for Integers and Strings" (arXiv 1504.06804).
import { HASH_KEYS, HASH_KEYS_BYTES } from "../abi";

/** Two keys: what a pair of words takes. */
const PAIR_LOG2: u32 = 4;
const KEYS: u32 = HASH_KEYS;
const KEYS_END: u32 = HASH_KEYS + HASH_KEYS_BYTES;
/** Of text that is hashed at once: as far as the keys go. */
const BLOCK_BYTES: u32 = (HASH_KEYS_BYTES >> 1) - 32;
const PAIRS_MASK: u32 = (HASH_KEYS_BYTES >> PAIR_LOG2) - 1;
if ((HASH_KEYS_BYTES & (HASH_KEYS_BYTES - 1)) != 0) ERROR("HASH_KEYS_BYTES: a power of two");

/** The product of pair `index`; 512 pairs have keys of their own. */
// @ts-ignore: decorator
@inline
export function hashPair(index: u32, word0: u32, word1: u32): u64 {
  const keys = KEYS + ((index & PAIRS_MASK) << PAIR_LOG2);
  return (load<u64>(keys) + word1) * (load<u64>(keys, 8) + word0);
}

/** The product of a pair that lies in one word, whose keys are at `keys`. */
// @ts-ignore: decorator
@inline
function product(keys: u32, pair: u64): u64 {
  return (load<u64>(keys) + (pair >> 32)) * (load<u64>(keys, 8) + <u64>(<u32>pair));
}

/** The hash of a sum of products. The sum's upper half would do but for inputs in arithmetic progression (host_1, host_2 ...): those make
 *  another, and with some keys they crowd together where probing is linear. */
// @ts-ignore: decorator
@inline
export function hashOf(sum: u64): u32 {
  return <u32>(((sum ^ (sum >> 32)) * 0xd6e8feb86659fd93) >> 32);
}

/** Of 8 bytes. */
// @ts-ignore: decorator
@inline
export function hashWord(word: u64): u32 {
  return hashOf(product(KEYS, word));
}

/** Of 16 bytes: a view with its text in it. */
// @ts-ignore: decorator
@inline
export function hashWords(word0: u64, word1: u64): u32 {
  return hashOf(product(KEYS, word0) + product(KEYS + 16, word1));
}

/** Of a text; different for each `owner`. Reads nothing beyond the text: the memory may end there. */
export function hashText(ptr: u32, bytes: u32, owner: u32): u32 {
  let sum = hashPair(0, owner, bytes);
  if (bytes < 8) return hashOf(sum + product(KEYS + 16, shortText(ptr, bytes)));
  const last = ptr + bytes - 8;
  // what is longer than the keys goes on with the hash that it has come to, in place of its length
  for (; last - ptr > BLOCK_BYTES; ptr += BLOCK_BYTES) sum = hashPair(0, owner, hashOf(sumOf(sum, ptr, ptr + BLOCK_BYTES)));
  return hashOf(sumOf(sum, ptr, last));
}

/** `sum` and the products of the text from `ptr` to 8 bytes behind `last`. */
// @ts-ignore: decorator
@inline
function sumOf(sum: u64, ptr: u32, last: u32): u64 {
  let keys = KEYS + 16;
  for (; ptr + 8 < last; ptr += 16, keys += 32) sum += product(keys, load<u64>(ptr)) + product(keys + 16, load<u64>(ptr, 8));
  if (ptr < last) {
    sum += product(keys, load<u64>(ptr));
    keys += 16;
  }
  // 8 bytes up to the end, some of which have been there before: as good as the rest alone, and no branches
  return sum + product(keys, load<u64>(last));
}

/** A text of up to 7 bytes as one word; texts of one length that differ have different words. */
// @ts-ignore: decorator
@inline
function shortText(ptr: u32, bytes: u32): u64 {
  if (bytes >= 4) return (<u64>load<u32>(ptr)) | ((<u64>load<u32>(ptr + bytes - 4)) << 32);
  if (bytes == 0) return 0;
  // 1: aaa, 2: abb, 3: abc
  return (<u64>load<u8>(ptr)) | ((<u64>load<u8>(ptr + (bytes >> 1))) << 8) | ((<u64>load<u8>(ptr + bytes - 1)) << 16);
}
