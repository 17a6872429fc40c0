// A hash map from byte strings to dense u32 ids: tag values of a column, keys of a table's series. Linear probing over
//   slot: | hash u32 | id + 1 u32, 0 = empty |
// and a string view per id. Text lies in chunks that never move; the array of views moves when it doubles and is then retired, because
// other threads read it.
import { VIEW_BYTES } from "../abi";
import { copyShort, equalBytes } from "./bytes";
import { hostAlloc, hostFree } from "./host";
import { Retired, reserveRetired, retire } from "./retired";
import { INLINE_MAX, viewBytes, viewText, writeView } from "./views";

export const NO_ID: u32 = 0xffffffff;

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

/** The id of a key, or NO_ID. */
export function findKey(keys: KeyDictionary, ptr: u32, bytes: u32, hash: u32): u32 {
  if (keys.slots == 0) return NO_ID;
  const mask = keys.slotMask;
  let at = hash & mask;
  while (true) {
    const slot = keys.slots + at * SLOT_BYTES;
    const tagged = load<u32>(slot, 4);
    if (tagged == 0) return NO_ID;
    if (load<u32>(slot) == hash) {
      const view = keyView(keys, tagged - 1);
      if (viewBytes(view) == bytes && equalBytes(viewText(view), ptr, bytes)) return tagged - 1;
    }
    at = (at + 1) & mask;
  }
}

/** Gives the next id to a key that is not in the dictionary. Throws (no memory) before anything has changed. */
export function addKey(keys: KeyDictionary, ptr: u32, bytes: u32, hash: u32): u32 {
  reserveViews(keys);
  reserveSlots(keys);
  const id = keys.count;
  let text = ptr;
  if (bytes > INLINE_MAX) {
    reserveText(keys, bytes);
    text = keys.chunkNext;
    copyShort(text, ptr, bytes);
    keys.chunkNext += bytes;
  }
  writeView(keyView(keys, id), text, bytes);
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
