// A hash map from byte strings to dense u32 ids: the tag values of a column. Slots hold id + 1, and there is a string view per id. Text
// lies in chunks that never move; the array of views moves as it grows, and its old place is retired, because other threads read it.
import { VIEW_BYTES } from "../abi";
import { copyShort, equalBytes } from "./bytes";
import { hashText, hashWords } from "./hash";
import { HashSlots, SLOT_BYTES, freeSlots, putSlot, reserveSlot, segmentMask, segmentOf, segmentSlots } from "./hash-slots";
import { hostAlloc, hostFree } from "./host";
import { MovingArray, arrayBytes, freeArray, initZeros, reserveElement } from "./moving-array";
import { INLINE_MAX, viewBytes, viewText, writeView } from "./views";

const VIEW_LOG2: u32 = 4;
if (1 << VIEW_LOG2 != VIEW_BYTES) ERROR("VIEW_LOG2: a view has VIEW_BYTES");
/** Less than what is full for series (series-dictionary.ts) and for the line parser. */
const SLOTS_FULL_AT: u32 = 10;
// chunk: | previous chunk u32 | bytes of this chunk u32 | text ... |
const CHUNK_HEAD: u32 = 8;
const CHUNK_MIN: u32 = 256;
const CHUNK_MAX: u32 = 1 << 20;

/** Distinct byte strings, numbered in order of appearance. */
@unmanaged
export class KeyDictionary extends HashSlots {
  count: u32;
  views: MovingArray;
  chunk: u32;
  chunkNext: u32;
  chunkEnd: u32;
  /** Of all chunks. */
  chunkBytes: u32;
  /** A Retired list, or 0 when nobody else reads the views. */
  retired: u32;
}

// | KeyDictionary | its views' MovingArray |
const VIEWS_AT: u32 = offsetof<KeyDictionary>();
export const KEYS_BYTES: u32 = VIEWS_AT + offsetof<MovingArray>();

/** An empty dictionary in KEYS_BYTES at `ptr`; its ids start at `firstId` (the views of ids below it are empty). The rest is allocated
 *  by the first key, so that nothing is lost when memory is full. */
export function initKeys(ptr: u32, firstId: u32, retired: u32): KeyDictionary {
  memory.fill(ptr, 0, KEYS_BYTES);
  const keys = changetype<KeyDictionary>(ptr);
  keys.views = changetype<MovingArray>(ptr + VIEWS_AT);
  keys.fullAt = SLOTS_FULL_AT;
  keys.retired = retired;
  keys.count = firstId;
  return keys;
}

/** Frees all but the KEYS_BYTES that initKeys was given. */
export function clearKeys(keys: KeyDictionary): void {
  freeSlots(keys);
  freeArray(keys.views, VIEW_LOG2);
  let chunk = keys.chunk;
  while (chunk != 0) {
    const previous = load<u32>(chunk);
    hostFree(chunk, load<u32>(chunk, 4));
    chunk = previous;
  }
}

/** Bytes allocated, KEYS_BYTES included. */
export function keysBytes(keys: KeyDictionary): u32 {
  return KEYS_BYTES + keys.slotBytes + arrayBytes(keys.views, VIEW_LOG2) + keys.chunkBytes;
}

/** The address of a key's string view. */
// @ts-ignore: decorator
@inline
export function keyView(keys: KeyDictionary, id: u32): u32 {
  return keys.views.ptr + id * VIEW_BYTES;
}

// Text of up to 12 bytes as its view holds it: | bytes u32 | text, zero-padded |. Hashed and compared as two words.
let short0: u64 = 0;
let short1: u64 = 0;

/** Sets short0 and short1; reads nothing beyond the text. */
// @ts-ignore: decorator
@inline
function packShort(ptr: u32, bytes: u32): void {
  let low: u64 = 0;
  let high: u64 = 0;
  if (bytes >= 8) {
    low = load<u64>(ptr);
    if (bytes > 8) high = load<u64>(ptr + bytes - 8) >> (128 - (bytes << 3));
  } else if (bytes >= 4) {
    low = <u64>load<u32>(ptr) | (((<u64>load<u32>(ptr + bytes - 4)) >> (64 - (bytes << 3))) << 32);
  } else if (bytes != 0) {
    const middle = bytes >> 1;
    low = <u64>load<u8>(ptr) | (<u64>load<u8>(ptr + middle) << (middle << 3)) | (<u64>load<u8>(ptr + bytes - 1) << ((bytes - 1) << 3));
  }
  short0 = <u64>bytes | (low << 32);
  short1 = (low >> 32) | (high << 32);
}

/** The hash of a key, which `keyId` wants; for a short one it also sets short0 and short1. */
export function keyHash(ptr: u32, bytes: u32): u32 {
  if (bytes > INLINE_MAX) return hashText(ptr, bytes, 0);
  packShort(ptr, bytes);
  return hashWords(short0, short1);
}

/** The id of a key; the next one when it is new. Throws (no memory) before anything has changed. */
export function keyId(keys: KeyDictionary, ptr: u32, bytes: u32): u32 {
  return hashedKeyId(keys, ptr, bytes, keyHash(ptr, bytes));
}

/** `keyId` with the key's hash. */
export function hashedKeyId(keys: KeyDictionary, ptr: u32, bytes: u32, hash: u32): u32 {
  return bytes <= INLINE_MAX ? shortKeyId(keys, ptr, bytes, hash) : longKeyId(keys, ptr, bytes, hash);
}

function shortKeyId(keys: KeyDictionary, ptr: u32, bytes: u32, hash: u32): u32 {
  packShort(ptr, bytes);
  const word0 = short0;
  const word1 = short1;
  const segment = segmentOf(keys, hash);
  if (segment != 0) {
    const first = segmentSlots(segment);
    const mask = segmentMask(segment);
    let at = hash & mask;
    while (true) {
      const slot = first + at * SLOT_BYTES;
      const tagged = load<u32>(slot, 4);
      if (tagged == 0) break;
      if (load<u32>(slot) == hash) {
        const view = keyView(keys, tagged - 1);
        if (load<u64>(view) == word0 && load<u64>(view, 8) == word1) return tagged - 1;
      }
      at = (at + 1) & mask;
    }
  }
  const reserved = reserveKey(keys, hash);
  const view = keyView(keys, keys.count);
  store<u64>(view, word0);
  store<u64>(view, word1, 8);
  return addId(keys, reserved, hash);
}

function longKeyId(keys: KeyDictionary, ptr: u32, bytes: u32, hash: u32): u32 {
  const segment = segmentOf(keys, hash);
  if (segment != 0) {
    const first = segmentSlots(segment);
    const mask = segmentMask(segment);
    let at = hash & mask;
    while (true) {
      const slot = first + at * SLOT_BYTES;
      const tagged = load<u32>(slot, 4);
      if (tagged == 0) break;
      if (load<u32>(slot) == hash) {
        const view = keyView(keys, tagged - 1);
        if (viewBytes(view) == bytes && equalBytes(viewText(view), ptr, bytes)) return tagged - 1;
      }
      at = (at + 1) & mask;
    }
  }
  const reserved = reserveKey(keys, hash);
  reserveText(keys, bytes);
  copyShort(keys.chunkNext, ptr, bytes);
  writeView(keyView(keys, keys.count), keys.chunkNext, bytes);
  keys.chunkNext += bytes;
  return addId(keys, reserved, hash);
}

/** Room for one more key; returns what putSlot wants. */
function reserveKey(keys: KeyDictionary, hash: u32): u32 {
  if (keys.views.capacity == 0) initZeros(keys.views, keys.count, VIEW_LOG2);
  else reserveElement(keys.views, keys.count, VIEW_LOG2, keys.retired);
  return reserveSlot(keys, hash);
}

/** Counts the key whose view has just been written. */
// @ts-ignore: decorator
@inline
function addId(keys: KeyDictionary, reserved: u32, hash: u32): u32 {
  const id = keys.count;
  putSlot(keys, reserved, hash, id + 1);
  keys.count = id + 1;
  return id;
}

function reserveText(keys: KeyDictionary, bytes: u32): void {
  if (keys.chunkEnd - keys.chunkNext >= bytes) return;
  const before = keys.chunk != 0 ? load<u32>(keys.chunk, 4) : 0;
  const wanted = max(bytes + CHUNK_HEAD, max(CHUNK_MIN, min(CHUNK_MAX, before << 1)));
  const chunk = hostAlloc(wanted);
  store<u32>(chunk, keys.chunk);
  store<u32>(chunk, wanted, 4);
  keys.chunk = chunk;
  keys.chunkNext = chunk + CHUNK_HEAD;
  keys.chunkEnd = chunk + wanted;
  keys.chunkBytes += wanted;
}
