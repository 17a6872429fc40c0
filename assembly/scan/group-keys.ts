// The groups of an aggregation: distinct combinations of tag values, numbered as they appear, whichever dictionaries their series come
// from. Values are found once per code of a dictionary; combinations by linear probing over
//   slot: | hash u32 | group + 1 u32, 0 = empty |
import { hashOf, hashPair } from "../memory/hash";
import { hostAlloc, hostFree } from "../memory/host";
import { clearKeys, initKeys, KEYS_BYTES, KeyDictionary, keyId, keysBytes } from "../memory/key-dictionary";
import { moveTagged, putTagged } from "../memory/tagged-slots";
import { viewBytes, viewText } from "../memory/views";
import { RANGE_BYTES } from "./select";

/** What a map holds for a series, or a code, that has not been met. */
export const NO_GROUP: u32 = 0xffffffff;
const GROUPS_MIN: u32 = 64;
// A tag column of a dictionary: | codes u32 (0: every series lacks the tag) | views of its values u32 | number here of each code, u32 |
const SOURCE_BYTES: u32 = 12;
const SOURCE_VALUES: u32 = 4;
const SOURCE_MAP: u32 = 8;

@unmanaged
class GroupTag {
  values: KeyDictionary;
  /** u32 per group: number of the value, 0 = absent. */
  codes: u32;
  /** Of the combination at hand. */
  code: u32;
}

@unmanaged
class GroupKeys {
  tags: u32;
  tagCount: u32;
  count: u32;
  /** Groups that there is room for; half as many as slots. */
  capacity: u32;
  /** The slots, and behind them the codes of every tag: one block, so that it grows whole or not at all. */
  slots: u32;
}

// @ts-ignore: decorator
@inline
function blockBytes(keys: GroupKeys, capacity: u32): u32 {
  return capacity * (16 + (keys.tagCount << 2));
}

// @ts-ignore: decorator
@inline
function tagAt(keys: GroupKeys, index: u32): GroupTag {
  return changetype<GroupTag>(keys.tags + index * (offsetof<GroupTag>() + KEYS_BYTES));
}

/** An empty set of group keys. */
export function groupKeysCreate(tagCount: u32): u32 {
  const tagBytes = tagCount * (offsetof<GroupTag>() + KEYS_BYTES);
  const ptr = hostAlloc(offsetof<GroupKeys>() + tagBytes);
  memory.fill(ptr, 0, offsetof<GroupKeys>() + tagBytes);
  const keys = changetype<GroupKeys>(ptr);
  keys.tags = ptr + offsetof<GroupKeys>();
  keys.tagCount = tagCount;
  for (let i: u32 = 0; i < tagCount; i++) {
    const tag = tagAt(keys, i);
    tag.values = initKeys(<u32>changetype<usize>(tag) + offsetof<GroupTag>(), 1, 0);
  }
  return ptr;
}

/** Frees a set of group keys. */
export function groupKeysFree(keys: GroupKeys): void {
  for (let i: u32 = 0; i < keys.tagCount; i++) {
    const tag = tagAt(keys, i);
    clearKeys(tag.values);
  }
  if (keys.capacity != 0) hostFree(keys.slots, blockBytes(keys, keys.capacity));
  const ptr = <u32>changetype<usize>(keys);
  hostFree(ptr, offsetof<GroupKeys>() + keys.tagCount * (offsetof<GroupTag>() + KEYS_BYTES));
}

/** The number of group keys. */
export function groupKeysCount(keys: GroupKeys): u32 {
  return keys.count;
}

/** The memory that the group keys take, in bytes. */
export function groupKeysBytes(keys: GroupKeys): u32 {
  let bytes = blockBytes(keys, keys.capacity);
  for (let i: u32 = 0; i < keys.tagCount; i++) bytes += keysBytes(tagAt(keys, i).values);
  return bytes;
}

/** u32 per group: number of its value, 0 = absent. Moves when groups are added. */
export function groupKeysCodes(keys: GroupKeys, tag: u32): u32 {
  return tagAt(keys, tag).codes;
}

/** A view per value number; the one of 0 is unused. */
export function groupKeysValues(keys: GroupKeys, tag: u32): u32 {
  return tagAt(keys, tag).values.views.ptr;
}

/** Gives the series of the ranges (select.ts) their groups in `map` (u32 per series), as far as they have none. `sources`: the tags of the
 *  series' dictionary, as drawn above, in the order of these keys. Throws (no memory) with some series still without a group. */
export function groupKeysLearnRanges(keys: GroupKeys, sources: u32, ranges: u32, count: u32, map: u32): void {
  for (let i: u32 = 0; i < count; i++) learn(keys, sources, load<u32>(ranges + i * RANGE_BYTES), map);
}

/** The same for the rows listed, or rows [first, first + count) when `rows` is 0. */
export function groupKeysLearnRows(keys: GroupKeys, sources: u32, series: u32, rows: u32, first: u32, count: u32, map: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = rows != 0 ? load<u32>(rows + (i << 2)) : first + i;
    learn(keys, sources, load<u32>(series + (row << 2)), map);
  }
}

/** The same for all series, or, with `wanted` (a byte per series), those that are wanted. */
export function groupKeysLearnSeries(keys: GroupKeys, sources: u32, seriesCount: u32, wanted: u32, map: u32): void {
  for (let series: u32 = 0; series < seriesCount; series++) {
    if (wanted == 0 || load<u8>(wanted + series) != 0) learn(keys, sources, series, map);
  }
}

// @ts-ignore: decorator
@inline
function learn(keys: GroupKeys, sources: u32, series: u32, map: u32): void {
  const at = map + (series << 2);
  if (load<u32>(at) == NO_GROUP) store<u32>(at, groupOf(keys, sources, series));
}

function groupOf(keys: GroupKeys, sources: u32, series: u32): u32 {
  let sum: u64 = 0;
  for (let i: u32 = 0; i < keys.tagCount; i++) {
    const source = sources + i * SOURCE_BYTES;
    const codes = load<u32>(source);
    const code = codes != 0 ? load<u32>(codes + (series << 2)) : 0;
    const tag = tagAt(keys, i);
    tag.code = code != 0 ? valueOf(tag.values, source, code) : 0;
    sum += hashPair(i, tag.code, 0);
  }
  const hash = hashOf(sum);
  if (keys.capacity != 0) {
    const mask = (keys.capacity << 1) - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const slot = keys.slots + (at << 3);
      const tagged = load<u32>(slot, 4);
      if (tagged == 0) break;
      if (load<u32>(slot) == hash && isGroup(keys, tagged - 1)) return tagged - 1;
    }
  }
  return addGroup(keys, hash);
}

function isGroup(keys: GroupKeys, group: u32): bool {
  for (let i: u32 = 0; i < keys.tagCount; i++) {
    const tag = tagAt(keys, i);
    if (load<u32>(tag.codes + (group << 2)) != tag.code) return false;
  }
  return true;
}

/** The number here of a code of a dictionary. */
function valueOf(values: KeyDictionary, source: u32, code: u32): u32 {
  const at = load<u32>(source, SOURCE_MAP) + (code << 2);
  const known = load<u32>(at);
  if (known != NO_GROUP) return known;
  const view = load<u32>(source, SOURCE_VALUES) + (code << 4);
  const number = keyId(values, viewText(view), viewBytes(view));
  store<u32>(at, number);
  return number;
}

function addGroup(keys: GroupKeys, hash: u32): u32 {
  const group = keys.count;
  if (group == keys.capacity) growGroups(keys);
  for (let i: u32 = 0; i < keys.tagCount; i++) {
    const tag = tagAt(keys, i);
    store<u32>(tag.codes + (group << 2), tag.code);
  }
  putTagged(keys.slots, (keys.capacity << 1) - 1, hash, group + 1);
  keys.count = group + 1;
  return group;
}

function growGroups(keys: GroupKeys): void {
  const old = keys.capacity;
  const capacity = max(GROUPS_MIN, old << 1);
  const slots = hostAlloc(blockBytes(keys, capacity));
  moveTagged(keys.slots, old << 1, slots, (capacity << 1) - 1);
  let codes = slots + (capacity << 4);
  for (let i: u32 = 0; i < keys.tagCount; i++, codes += capacity << 2) {
    const tag = tagAt(keys, i);
    memory.copy(codes, tag.codes, old << 2);
    tag.codes = codes;
  }
  if (old != 0) hostFree(keys.slots, blockBytes(keys, old));
  keys.slots = slots;
  keys.capacity = capacity;
}
