// Slots of a hash table that grows piece by piece, so that no insertion ever moves more than one piece. The owner compares keys:
//   slot: | hash u32 | value u32, 0 = empty |
// A directory of 2^depth entries is indexed by the top bits of the hash; an entry names a segment, which is searched from the low bits
// on by linear probing:
//   entry: segment's address, a multiple of 64, + log2 of its slots      info: keys of the segment x 32 + its depth
// A segment of depth d is named by 2^(depth - d) entries side by side, and counted at the first of them. A full segment becomes twice
// as long up to 8192 slots; then it is split by the next bit of the hash. As hashes are spread evenly, all segments of a table are full at
// about the same time: tables that grow together differ in what full is, so that their turns do not coincide.
import { hostAlloc, hostFree } from "./host";

export const SLOT_BYTES: u32 = 8;
const SLOTS_MIN_LOG2: u32 = 3;
/** 64 KiB: an extent, which other threads can use when the table has gone. */
const SEGMENT_LOG2: u32 = 13;
const SEGMENT_BYTES: u32 = SLOT_BYTES << SEGMENT_LOG2;
/** The directory may have an entry for so many keys. It never needs more, unless keys were chosen to have equal hashes: then their segment
 *  grows instead. */
const KEYS_PER_ENTRY_MIN: u32 = 512;

/** The slots of a growing hash table. */
@unmanaged
export class HashSlots {
  depth: u32;
  /** Sixteenths of its slots that a segment may have in use. Set by the owner: 10 to 12. */
  fullAt: u32;
  /** The only segment while the depth is 0; 0 before the first key. */
  root: u32;
  rootInfo: u32;
  /** Where `root` is while the depth is 0, else a block: | entry u32 x 2^depth | info u32 x 2^depth |. */
  directory: u32;
  used: u32;
  /** Bytes allocated. */
  slotBytes: u32;
  /** A segment for the next split, or 0. */
  spare: u32;
}

/** Index of the directory's entry for a hash. */
// @ts-ignore: decorator
@inline
function entryIndex(slots: HashSlots, hash: u32): u32 {
  // in two steps, because a shift by 32 is a shift by 0
  return (hash >> 1) >> (31 - slots.depth);
}

/** The segment in which a hash is searched; 0 when there is none. */
// @ts-ignore: decorator
@inline
export function segmentOf(slots: HashSlots, hash: u32): u32 {
  return slots.depth == 0 ? slots.root : load<u32>(slots.directory + (entryIndex(slots, hash) << 2));
}

/** Address of the first slot of a segment. */
// @ts-ignore: decorator
@inline
export function segmentSlots(segment: u32): u32 {
  return segment & ~63;
}

/** The last index of a slot of a segment: all bits that an index can have. */
// @ts-ignore: decorator
@inline
export function segmentMask(segment: u32): u32 {
  return (1 << (segment & 63)) - 1;
}

/** Reads the slots of `count` hashes into the cache: these reads do not wait for each other, as those of lookups would. A single segment is
 *  likely to be there. */
export function touchSlots(slots: HashSlots, hashes: u32, count: u32): void {
  if (slots.depth == 0) return;
  let sum: u32 = 0;
  for (const end = hashes + (count << 2); hashes < end; hashes += 4) {
    const hash = load<u32>(hashes);
    const segment = segmentOf(slots, hash);
    sum += load<u32>(segmentSlots(segment) + (hash & segmentMask(segment)) * SLOT_BYTES, 4);
  }
  touched = sum;
}

/** Only so that the reads are not optimized away. */
export let touched: u32 = 0;

/** Room for one more slot with this hash. Returns what `putSlot` wants. Throws (no memory) with nothing lost. */
export function reserveSlot(slots: HashSlots, hash: u32): u32 {
  if (slots.root == 0) begin(slots);
  while (true) {
    const index = entryIndex(slots, hash);
    const segment = load<u32>(slots.directory + (index << 2));
    const infoPtr = infoAt(slots, firstEntry(slots, index));
    const info = load<u32>(infoPtr);
    const log2 = segment & 63;
    if (((info >> 5) + 1) << 4 <= slots.fullAt << log2) return infoPtr;
    // a longer one has keys of equal hashes, which no split would part
    if (log2 == SEGMENT_LOG2 && maySplit(slots, info & 31)) split(slots, index);
    else lengthen(slots, index);
  }
}

/** Adds a slot. `reserved`: what `reserveSlot` has returned for the hash, nothing having been reserved since. */
// @ts-ignore: decorator
@inline
export function putSlot(slots: HashSlots, reserved: u32, hash: u32, value: u32): void {
  place(segmentOf(slots, hash), hash, value);
  store<u32>(reserved, load<u32>(reserved) + 32);
  slots.used++;
}

/** Frees all segments and the directory. */
export function freeSlots(slots: HashSlots): void {
  if (slots.root == 0) return;
  const entries: u32 = 1 << slots.depth;
  for (let index: u32 = 0; index < entries; ) {
    const segment = load<u32>(slots.directory + (index << 2));
    index += sharers(slots, index);
    hostFree(segmentSlots(segment), SLOT_BYTES << (segment & 63));
  }
  if (slots.spare != 0) hostFree(slots.spare, SEGMENT_BYTES);
  if (slots.depth != 0) hostFree(slots.directory, 8 << slots.depth);
}

/** How far all keys together lie from the slots that their hashes name: less than two a key, unless hashes are alike. */
export function probeSteps(slots: HashSlots): f64 {
  if (slots.root == 0) return 0;
  let steps: f64 = 0;
  for (let index: u32 = 0; index < <u32>1 << slots.depth; index += sharers(slots, index)) {
    const segment = load<u32>(slots.directory + (index << 2));
    const mask = segmentMask(segment);
    for (let at: u32 = 0; at <= mask; at++) {
      const slot = segmentSlots(segment) + at * SLOT_BYTES;
      if (load<u32>(slot, 4) != 0) steps += <f64>((at - load<u32>(slot)) & mask);
    }
  }
  return steps;
}

/** Bytes that `count` more keys make it grow by, about: a segment that has just been split is a third full. */
export function slotGrowth(count: u32): f64 {
  return <f64>count * <f64>(3 * SLOT_BYTES);
}

function begin(slots: HashSlots): void {
  slots.root = newSegment(SLOT_BYTES << SLOTS_MIN_LOG2) | SLOTS_MIN_LOG2;
  slots.slotBytes = SLOT_BYTES << SLOTS_MIN_LOG2;
  slots.directory = <u32>changetype<usize>(slots) + offsetof<HashSlots>("root");
}

// @ts-ignore: decorator
@inline
function infoAt(slots: HashSlots, index: u32): u32 {
  return slots.directory + (4 << slots.depth) + (index << 2);
}

/** How many entries name the same segment. */
// @ts-ignore: decorator
@inline
function sharers(slots: HashSlots, index: u32): u32 {
  return 1 << (slots.depth - (load<u32>(infoAt(slots, index)) & 31));
}

/** The first entry that names the same segment. */
// @ts-ignore: decorator
@inline
function firstEntry(slots: HashSlots, index: u32): u32 {
  return index & ~(sharers(slots, index) - 1);
}

function newSegment(bytes: u32): u32 {
  const ptr = hostAlloc(bytes);
  memory.fill(ptr, 0, bytes);
  return ptr;
}

// @ts-ignore: decorator
@inline
function place(segment: u32, hash: u32, value: u32): void {
  const first = segmentSlots(segment);
  const mask = segmentMask(segment);
  let at = hash & mask;
  while (load<u32>(first + at * SLOT_BYTES, 4) != 0) at = (at + 1) & mask;
  store<u32>(first + at * SLOT_BYTES, hash);
  store<u32>(first + at * SLOT_BYTES, value, 4);
}

/** Makes a segment twice as long. */
function lengthen(slots: HashSlots, index: u32): void {
  const old = load<u32>(slots.directory + (index << 2));
  const oldBytes = SLOT_BYTES << (old & 63);
  const fresh = newSegment(oldBytes << 1) | ((old & 63) + 1);
  for (let at = segmentSlots(old), end = at + oldBytes; at < end; at += SLOT_BYTES) {
    if (load<u32>(at, 4) != 0) place(fresh, load<u32>(at), load<u32>(at, 4));
  }
  const first = firstEntry(slots, index);
  for (let i: u32 = 0, count = sharers(slots, index); i < count; i++) store<u32>(slots.directory + ((first + i) << 2), fresh);
  hostFree(segmentSlots(old), oldBytes);
  slots.slotBytes += oldBytes;
}

// @ts-ignore: decorator
@inline
function maySplit(slots: HashSlots, segmentDepth: u32): bool {
  return segmentDepth < slots.depth || (<u64>KEYS_PER_ENTRY_MIN << (slots.depth + 1)) <= <u64>slots.used;
}

/** Puts two segments of SEGMENT_LOG2 in the place of one. */
function split(slots: HashSlots, index: u32): void {
  const hashDepth = load<u32>(infoAt(slots, index)) & 31;
  if (hashDepth == slots.depth) {
    doubleDirectory(slots);
    index <<= 1;
  }
  if (slots.spare == 0) {
    slots.spare = hostAlloc(SEGMENT_BYTES);
    slots.slotBytes += SEGMENT_BYTES;
  }
  const upper = newSegment(SEGMENT_BYTES) | SEGMENT_LOG2;
  const lower = slots.spare | SEGMENT_LOG2;
  memory.fill(slots.spare, 0, SEGMENT_BYTES);
  slots.slotBytes += SEGMENT_BYTES;
  const old = segmentSlots(load<u32>(slots.directory + (index << 2)));
  let upperCount: u32 = 0;
  let lowerCount: u32 = 0;
  for (let at = old, end = old + SEGMENT_BYTES; at < end; at += SLOT_BYTES) {
    const value = load<u32>(at, 4);
    if (value == 0) continue;
    const hash = load<u32>(at);
    if ((hash & (<u32>0x80000000 >> hashDepth)) != 0) {
      place(upper, hash, value);
      upperCount++;
    } else {
      place(lower, hash, value);
      lowerCount++;
    }
  }
  slots.spare = old;
  const first = firstEntry(slots, index);
  const half = sharers(slots, index) >> 1;
  for (let i: u32 = 0; i < half; i++) {
    store<u32>(slots.directory + ((first + i) << 2), lower);
    store<u32>(infoAt(slots, first + i), hashDepth + 1);
    store<u32>(slots.directory + ((first + half + i) << 2), upper);
    store<u32>(infoAt(slots, first + half + i), hashDepth + 1);
  }
  store<u32>(infoAt(slots, first), (lowerCount << 5) | (hashDepth + 1));
  store<u32>(infoAt(slots, first + half), (upperCount << 5) | (hashDepth + 1));
}

function doubleDirectory(slots: HashSlots): void {
  const entries: u32 = 1 << slots.depth;
  const fresh = hostAlloc(entries << 4);
  const infos = fresh + (entries << 3);
  for (let i: u32 = 0; i < entries; i++) {
    const entry = load<u32>(slots.directory + (i << 2));
    const info = load<u32>(infoAt(slots, i));
    store<u32>(fresh + (i << 3), entry);
    store<u32>(fresh + (i << 3), entry, 4);
    store<u32>(infos + (i << 3), info);
    store<u32>(infos + (i << 3), info & 31, 4);
  }
  if (slots.depth != 0) {
    hostFree(slots.directory, entries << 3);
    slots.slotBytes -= entries << 3;
  }
  slots.directory = fresh;
  slots.depth++;
  slots.slotBytes += entries << 4;
}
