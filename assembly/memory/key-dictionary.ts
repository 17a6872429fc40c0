// A hash map from byte strings to dense u32 ids: the tag values of a column. Linear probing over
//   slot: | hash u32 | id + 1 u32, 0 = empty |
// and a string view per id. Text lies in chunks that never move; the array of views moves when it doubles and is then retired, because
// other threads read it.
import { VIEW_BYTES } from "../abi";
import { copyShort, equalBytes, hashBytes } from "./bytes";
import { hostAlloc, hostFree } from "./host";
import { Retired, reserveRetired, retire } from "./retired";
import { INLINE_MAX, viewBytes, viewText, writeView } from "./views";

const SLOT_BYTES: u32 = 8;
const SLOTS_MIN: u32 = 8;
const VIEWS_MIN: u32 = 4;
// chunk: | previous chunk u32 | bytes of this chunk u32 | text ... |
const CHUNK_HEAD: u32 = 8;
const CHUNK_MIN: u32 = 256;
const CHUNK_MAX: u32 = 1 << 20;

@unmanaged
export class KeyDictionary {
  count: u32;
  slots: u32;
  slotMask: u32;
  views: u32;
  viewCapacity: u32;
  chunk: u32;
  chunkNext: u32;
  chunkEnd: u32;
  /** Bytes allocated, this head included. */
  bytes: u32;
  /** A Retired list, or 0 when nobody else reads the views. */
  retired: u32;
}

export const KEYS_BYTES: u32 = offsetof<KeyDictionary>();

/** An empty dictionary in KEYS_BYTES at `ptr`; its ids start at `firstId` (the views of ids below it are empty). The rest is allocated
 *  by the first key, so that nothing is lost when memory is full. */
export function initKeys(ptr: u32, firstId: u32, retired: u32): KeyDictionary {
  memory.fill(ptr, 0, KEYS_BYTES);
  const keys = changetype<KeyDictionary>(ptr);
  keys.bytes = KEYS_BYTES;
  keys.retired = retired;
  keys.count = firstId;
  return keys;
}

/** Frees all but the KEYS_BYTES that initKeys was given. */
export function clearKeys(keys: KeyDictionary): void {
  if (keys.slots != 0) hostFree(keys.slots, (keys.slotMask + 1) * SLOT_BYTES);
  if (keys.views != 0) hostFree(keys.views, keys.viewCapacity * VIEW_BYTES);
  let chunk = keys.chunk;
  while (chunk != 0) {
    const previous = load<u32>(chunk);
    hostFree(chunk, load<u32>(chunk, 4));
    chunk = previous;
  }
}

// @ts-ignore: decorator
@inline
export function keyView(keys: KeyDictionary, id: u32): u32 {
  return keys.views + id * VIEW_BYTES;
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
  if (bytes > INLINE_MAX) return hashBytes(ptr, bytes);
  packShort(ptr, bytes);
  const mixed = (short0 * 0x9e3779b97f4a7c15) ^ (short1 * 0xd6e8feb86659fd93);
  return <u32>(((mixed ^ (mixed >> 32)) * 0xa0761d6478bd642f) >> 32);
}

/** The id of a key; the next one when it is new. Throws (no memory) before anything has changed. */
export function keyId(keys: KeyDictionary, ptr: u32, bytes: u32): u32 {
  return hashedKeyId(keys, ptr, bytes, keyHash(ptr, bytes));
}

/** `keyId` with the key's hash. */
export function hashedKeyId(keys: KeyDictionary, ptr: u32, bytes: u32, hash: u32): u32 {
  return bytes <= INLINE_MAX ? shortKeyId(keys, ptr, bytes, hash) : longKeyId(keys, ptr, bytes, hash);
}

/** Reads the slots of `count` hashes into the cache: these reads do not wait for each other, as those of lookups would. */
export function touchSlots(slots: u32, mask: u32, hashes: u32, count: u32): void {
  let sum: u32 = 0;
  for (const end = hashes + (count << 2); hashes < end; hashes += 4) sum += load<u32>(slots + (load<u32>(hashes) & mask) * SLOT_BYTES, 4);
  touched = sum;
}

/** Only so that the reads are not optimized away. */
export let touched: u32 = 0;

function shortKeyId(keys: KeyDictionary, ptr: u32, bytes: u32, hash: u32): u32 {
  packShort(ptr, bytes);
  const word0 = short0;
  const word1 = short1;
  if (keys.slots != 0) {
    const mask = keys.slotMask;
    let at = hash & mask;
    while (true) {
      const slot = keys.slots + at * SLOT_BYTES;
      const tagged = load<u32>(slot, 4);
      if (tagged == 0) break;
      if (load<u32>(slot) == hash) {
        const view = keyView(keys, tagged - 1);
        if (load<u64>(view) == word0 && load<u64>(view, 8) == word1) return tagged - 1;
      }
      at = (at + 1) & mask;
    }
  }
  reserveViews(keys);
  reserveSlots(keys);
  const view = keyView(keys, keys.count);
  store<u64>(view, word0);
  store<u64>(view, word1, 8);
  return addId(keys, hash);
}

function longKeyId(keys: KeyDictionary, ptr: u32, bytes: u32, hash: u32): u32 {
  if (keys.slots != 0) {
    const mask = keys.slotMask;
    let at = hash & mask;
    while (true) {
      const slot = keys.slots + at * SLOT_BYTES;
      const tagged = load<u32>(slot, 4);
      if (tagged == 0) break;
      if (load<u32>(slot) == hash) {
        const view = keyView(keys, tagged - 1);
        if (viewBytes(view) == bytes && equalBytes(viewText(view), ptr, bytes)) return tagged - 1;
      }
      at = (at + 1) & mask;
    }
  }
  reserveViews(keys);
  reserveSlots(keys);
  reserveText(keys, bytes);
  copyShort(keys.chunkNext, ptr, bytes);
  writeView(keyView(keys, keys.count), keys.chunkNext, bytes);
  keys.chunkNext += bytes;
  return addId(keys, hash);
}

/** Counts the key whose view has just been written. */
// @ts-ignore: decorator
@inline
function addId(keys: KeyDictionary, hash: u32): u32 {
  const id = keys.count;
  putSlot(keys.slots, keys.slotMask, hash, id + 1);
  keys.count = id + 1;
  return id;
}

// @ts-ignore: decorator
@inline
function putSlot(slots: u32, mask: u32, hash: u32, tagged: u32): void {
  let at = hash & mask;
  while (load<u32>(slots + at * SLOT_BYTES, 4) != 0) at = (at + 1) & mask;
  store<u32>(slots + at * SLOT_BYTES, hash);
  store<u32>(slots + at * SLOT_BYTES, tagged, 4);
}

/** Room for one more slot at a load of at most 3/4. */
function reserveSlots(keys: KeyDictionary): void {
  const old = keys.slots != 0 ? keys.slotMask + 1 : 0;
  if ((keys.count + 1) << 2 <= old * 3) return;
  const wanted = max(SLOTS_MIN, old << 1);
  const slots = hostAlloc(wanted * SLOT_BYTES);
  memory.fill(slots, 0, wanted * SLOT_BYTES);
  for (let i: u32 = 0; i < old; i++) {
    const slot = keys.slots + i * SLOT_BYTES;
    const tagged = load<u32>(slot, 4);
    if (tagged != 0) putSlot(slots, wanted - 1, load<u32>(slot), tagged);
  }
  if (old != 0) hostFree(keys.slots, old * SLOT_BYTES);
  keys.slots = slots;
  keys.slotMask = wanted - 1;
  keys.bytes += (wanted - old) * SLOT_BYTES;
}

function reserveViews(keys: KeyDictionary): void {
  const old = keys.viewCapacity;
  if (keys.count < old) return;
  if (keys.retired != 0) reserveRetired(changetype<Retired>(keys.retired));
  const wanted = max(VIEWS_MIN, old << 1);
  const views = hostAlloc(wanted * VIEW_BYTES);
  if (old != 0) {
    memory.copy(views, keys.views, keys.count * VIEW_BYTES);
    if (keys.retired != 0) retire(changetype<Retired>(keys.retired), keys.views, old * VIEW_BYTES);
    else hostFree(keys.views, old * VIEW_BYTES);
  } else {
    memory.fill(views, 0, keys.count * VIEW_BYTES);
  }
  keys.views = views;
  keys.viewCapacity = wanted;
  keys.bytes += (wanted - old) * VIEW_BYTES;
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
  keys.bytes += wanted;
}
