// The series of one table: its present tags -> dense id. Per tag column there is a dictionary of values and a code per series; a series is
// found by a hash of its codes, so nothing is stored of it but them. One thread writes; others read codes and views of the ids that a view
// captured, so arrays they read are retired, not freed, when they move.
// series-records.ts has the ways in and out.
import { hostAlloc, hostFree } from "./host";
import { clearKeys, initKeys, KEYS_BYTES, KeyDictionary, keyId } from "./key-dictionary";
import { Retired, reserveRetired, retire } from "./retired";

const NO_ID: u32 = 0xffffffff;
const SERIES_MIN: u32 = 8;
const SCRATCH_MIN: u32 = 256;
/** Of one series: series-times.ts. */
export const GAPS_BYTES: u32 = 64;
/** Up to so many series gaps are kept from the first row on (4 MiB), of more when rows have come out of order, up to so many (64 MiB). */
const SERIES_FEW: u32 = 65536;
const SERIES_MANY: u32 = 1048576;
// slot: | hash u32 | id + 1 u32, 0 = empty |
const SLOT_BYTES: u32 = 8;

/** One per tag column, in one array ascending by columnId. */
@unmanaged
export class TagColumn {
  columnId: u32;
  /** u32 per series, 0 = absent. */
  codes: u32;
  codesCapacity: u32;
  values: KeyDictionary;
  /** The code of the series in hand, 0 = absent. */
  code: u32;
}

@unmanaged
export class SeriesDictionary {
  count: u32;
  /** Open addressing with linear probing, at most 3/4 full. */
  slots: u32;
  slotMask: u32;
  tags: u32;
  tagCount: u32;
  tagCapacity: u32;
  /** i64 per series: the newest time seen, or the floor. */
  lastTimes: u32;
  lastTimesCapacity: u32;
  /** By series, where it has no rows: series-times.ts. Zero when nobody keeps them. */
  gaps: u32;
  gapsCapacity: u32;
  /** 1 when a row has come that was not newer than its series' last one. */
  isDisordered: u32;
  /** u32 per series: the stamp of the last markUnseen that met it. */
  stamps: u32;
  stampsCapacity: u32;
  /** Order of a record's tags: reused. */
  scratch: u32;
  scratchBytes: u32;
  retired: Retired;
  /** A KeyDictionary for the next tag column, kept when the allocation after it failed; or 0. */
  spareValues: u32;
  /** Everything but the values, which count themselves. */
  bytes: u32;
  lastTimeFloor: i64;
}

// @ts-ignore: decorator
@inline
export function tagAt(dictionary: SeriesDictionary, index: u32): TagColumn {
  return changetype<TagColumn>(dictionary.tags + index * offsetof<TagColumn>());
}

const HEAD_BYTES: u32 = offsetof<SeriesDictionary>() + offsetof<Retired>();

export function seriesCreate(lastTimeFloor: i64): u32 {
  // one block, so that a dictionary is made whole or not at all
  const ptr = hostAlloc(HEAD_BYTES);
  memory.fill(ptr, 0, HEAD_BYTES);
  const dictionary = changetype<SeriesDictionary>(ptr);
  dictionary.retired = changetype<Retired>(ptr + offsetof<SeriesDictionary>());
  dictionary.bytes = HEAD_BYTES;
  dictionary.lastTimeFloor = lastTimeFloor;
  return ptr;
}

/** Frees everything but the retired blocks, which the host has taken over. */
export function seriesFree(dictionary: SeriesDictionary): void {
  for (let i: u32 = 0; i < dictionary.tagCount; i++) {
    const tag = tagAt(dictionary, i);
    hostFree(tag.codes, tag.codesCapacity << 2);
    clearKeys(tag.values);
    hostFree(<u32>changetype<usize>(tag.values), KEYS_BYTES);
  }
  if (dictionary.spareValues != 0) hostFree(dictionary.spareValues, KEYS_BYTES);
  if (dictionary.tags != 0) hostFree(dictionary.tags, dictionary.tagCapacity * offsetof<TagColumn>());
  if (dictionary.lastTimes != 0) hostFree(dictionary.lastTimes, dictionary.lastTimesCapacity << 3);
  if (dictionary.gaps != 0) hostFree(dictionary.gaps, dictionary.gapsCapacity * GAPS_BYTES);
  if (dictionary.stamps != 0) hostFree(dictionary.stamps, dictionary.stampsCapacity << 2);
  if (dictionary.scratch != 0) hostFree(dictionary.scratch, dictionary.scratchBytes);
  if (dictionary.slots != 0) hostFree(dictionary.slots, (dictionary.slotMask + 1) * SLOT_BYTES);
  const retired = dictionary.retired;
  if (retired.blocks != 0) hostFree(retired.blocks, retired.capacity << 3);
  hostFree(<u32>changetype<usize>(dictionary), HEAD_BYTES);
}

export function seriesCount(dictionary: SeriesDictionary): u32 {
  return dictionary.count;
}

export function seriesBytes(dictionary: SeriesDictionary): u32 {
  let bytes = dictionary.bytes;
  for (let i: u32 = 0; i < dictionary.tagCount; i++) bytes += tagAt(dictionary, i).values.bytes;
  return bytes;
}

/** Bytes by which `count` more series of at most `tagCount` tags each can make a dictionary grow, but for long texts; of an empty one when
 *  it is 0. */
export function seriesGrowthMax(dictionary: SeriesDictionary, count: u32, tagCount: u32): f64 {
  let old: u32 = 0;
  let known: u32 = 0;
  let capacity = SERIES_MIN;
  let wanted = count;
  let gaps: u32 = 0;
  let isDisordered: u32 = 0;
  if (changetype<usize>(dictionary) != 0) {
    gaps = dictionary.gapsCapacity;
    isDisordered = dictionary.isDisordered;
    old = capacity = max(SERIES_MIN, dictionary.lastTimesCapacity);
    known = dictionary.tagCount;
    wanted += dictionary.count;
  }
  while (capacity < wanted) capacity <<= 1;
  // per series a code of each column, a time, a stamp and up to four slots; a column that is new is there for the old series, too
  const arrays = <f64>(capacity - old) * <f64>((known + tagCount) * 4 + 12 + 4 * SLOT_BYTES) + <f64>old * <f64>tagCount * 4;
  const gapsBytes = keepsGaps(capacity, isDisordered) ? <f64>(capacity - gaps) * GAPS_BYTES : 0;
  // per value a view and up to four slots
  return arrays + gapsBytes + <f64>count * <f64>tagCount * (16 + 4 * SLOT_BYTES);
}

export function keepsGaps(capacity: u32, isDisordered: u32): bool {
  return capacity <= SERIES_FEW || (isDisordered != 0 && capacity <= SERIES_MANY);
}

export function seriesTagCount(dictionary: SeriesDictionary): u32 {
  return dictionary.tagCount;
}

/** Writes | columnId u32 | codes u32 | views u32 | valueCount u32 | per tag column. */
export function seriesTags(dictionary: SeriesDictionary, target: u32): void {
  for (let i: u32 = 0; i < dictionary.tagCount; i++, target += 16) {
    const tag = tagAt(dictionary, i);
    store<u32>(target, tag.columnId);
    store<u32>(target, tag.codes, 4);
    store<u32>(target, tag.values.views, 8);
    store<u32>(target, tag.values.count, 12);
  }
}

export function seriesRetiredCount(dictionary: SeriesDictionary): u32 {
  return dictionary.retired.count;
}

/** Where the retired blocks are listed, | ptr u32 | bytes u32 | each; the list is empty afterwards. */
export function seriesTakeRetired(dictionary: SeriesDictionary): u32 {
  dictionary.retired.count = 0;
  return dictionary.retired.blocks;
}

/** Index of a tag column, made when it is new; `from` is where to begin, at most its index. */
export function tagIndex(dictionary: SeriesDictionary, columnId: u32, from: u32): u32 {
  let index = from;
  while (index < dictionary.tagCount && tagAt(dictionary, index).columnId < columnId) index++;
  if (index < dictionary.tagCount && tagAt(dictionary, index).columnId == columnId) return index;
  if (dictionary.tagCount == dictionary.tagCapacity) growTags(dictionary);
  const capacity = max(SERIES_MIN, dictionary.lastTimesCapacity);
  if (dictionary.spareValues == 0) dictionary.spareValues = hostAlloc(KEYS_BYTES);
  const codes = hostAlloc(capacity << 2);
  memory.fill(codes, 0, capacity << 2);
  const at = dictionary.tags + index * offsetof<TagColumn>();
  memory.copy(at + offsetof<TagColumn>(), at, (dictionary.tagCount - index) * offsetof<TagColumn>());
  const tag = tagAt(dictionary, index);
  tag.columnId = columnId;
  tag.codes = codes;
  tag.codesCapacity = capacity;
  tag.code = 0;
  tag.values = initKeys(dictionary.spareValues, 1, <u32>changetype<usize>(dictionary.retired));
  dictionary.spareValues = 0;
  dictionary.tagCount++;
  dictionary.bytes += capacity << 2;
  return index;
}

function growTags(dictionary: SeriesDictionary): void {
  const capacity = max<u32>(4, dictionary.tagCapacity << 1);
  const tags = hostAlloc(capacity * offsetof<TagColumn>());
  memory.copy(tags, dictionary.tags, dictionary.tagCount * offsetof<TagColumn>());
  if (dictionary.tagCapacity != 0) hostFree(dictionary.tags, dictionary.tagCapacity * offsetof<TagColumn>());
  dictionary.bytes += (capacity - dictionary.tagCapacity) * offsetof<TagColumn>();
  dictionary.tags = tags;
  dictionary.tagCapacity = capacity;
}

export function seriesAddTag(dictionary: SeriesDictionary, columnId: u32): void {
  tagIndex(dictionary, columnId, 0);
}

/** Room for one more series in every array. Each array keeps its own capacity, so a failure half way leaves a valid dictionary. */
function reserveSeries(dictionary: SeriesDictionary): void {
  const count = dictionary.count;
  reserveSlots(dictionary);
  if (count < dictionary.lastTimesCapacity) return;
  const wanted = max(SERIES_MIN, dictionary.lastTimesCapacity << 1);
  for (let i: u32 = 0; i < dictionary.tagCount; i++) {
    const tag = tagAt(dictionary, i);
    if (tag.codesCapacity >= wanted) continue;
    reserveRetired(dictionary.retired);
    const codes = hostAlloc(wanted << 2);
    memory.copy(codes, tag.codes, count << 2);
    memory.fill(codes + (count << 2), 0, (wanted - count) << 2);
    retire(dictionary.retired, tag.codes, tag.codesCapacity << 2);
    dictionary.bytes += (wanted - tag.codesCapacity) << 2;
    tag.codes = codes;
    tag.codesCapacity = wanted;
  }
  if (dictionary.stampsCapacity < wanted) {
    dictionary.stamps = growPrivate(dictionary.stamps, dictionary.stampsCapacity << 2, wanted << 2);
    dictionary.bytes += (wanted - dictionary.stampsCapacity) << 2;
    dictionary.stampsCapacity = wanted;
  }
  dictionary.lastTimes = growPrivate(dictionary.lastTimes, dictionary.lastTimesCapacity << 3, wanted << 3);
  dictionary.bytes += (wanted - dictionary.lastTimesCapacity) << 3;
  dictionary.lastTimesCapacity = wanted;
}

/** A larger copy, zero at its end, of an array that no other thread reads. */
export function growPrivate(old: u32, oldBytes: u32, newBytes: u32): u32 {
  const ptr = hostAlloc(newBytes);
  if (oldBytes != 0) {
    memory.copy(ptr, old, oldBytes);
    hostFree(old, oldBytes);
  }
  memory.fill(ptr + oldBytes, 0, newBytes - oldBytes);
  return ptr;
}

export function reserveScratch(dictionary: SeriesDictionary, bytes: u32): void {
  if (bytes <= dictionary.scratchBytes) return;
  const wanted = max(max(bytes, SCRATCH_MIN), dictionary.scratchBytes << 1);
  const scratch = hostAlloc(wanted);
  if (dictionary.scratch != 0) hostFree(dictionary.scratch, dictionary.scratchBytes);
  dictionary.bytes += wanted - dictionary.scratchBytes;
  dictionary.scratch = scratch;
  dictionary.scratchBytes = wanted;
}

/** Room for one more slot. */
function reserveSlots(dictionary: SeriesDictionary): void {
  const old = dictionary.slots != 0 ? dictionary.slotMask + 1 : 0;
  if ((dictionary.count + 1) << 2 <= old * 3) return;
  const wanted = max(SERIES_MIN * 2, old << 1);
  const slots = hostAlloc(wanted * SLOT_BYTES);
  memory.fill(slots, 0, wanted * SLOT_BYTES);
  for (let i: u32 = 0; i < old; i++) {
    const slot = dictionary.slots + i * SLOT_BYTES;
    const tagged = load<u32>(slot, 4);
    if (tagged != 0) putSlot(slots, wanted - 1, load<u32>(slot), tagged);
  }
  if (old != 0) hostFree(dictionary.slots, old * SLOT_BYTES);
  dictionary.slots = slots;
  dictionary.slotMask = wanted - 1;
  dictionary.bytes += (wanted - old) * SLOT_BYTES;
}

// @ts-ignore: decorator
@inline
function putSlot(slots: u32, mask: u32, hash: u32, tagged: u32): void {
  let at = hash & mask;
  while (load<u32>(slots + at * SLOT_BYTES, 4) != 0) at = (at + 1) & mask;
  store<u32>(slots + at * SLOT_BYTES, hash);
  store<u32>(slots + at * SLOT_BYTES, tagged, 4);
}

/** Begins a series without tags. */
export function beginSeries(dictionary: SeriesDictionary): void {
  for (let i: u32 = 0; i < dictionary.tagCount; i++) tagAt(dictionary, i).code = 0;
}

/** Gives the series in hand a tag; `from` is at most the index of its column. Returns that index. What it adds does no harm when the series
 *  is never made. */
export function setTag(dictionary: SeriesDictionary, columnId: u32, value: u32, valueBytes: u32, from: u32): u32 {
  const index = tagIndex(dictionary, columnId, from);
  const code = keyId(tagAt(dictionary, index).values, value, valueBytes);
  tagAt(dictionary, index).code = code;
  return index;
}

// The hash of a series goes over its present tags, ascending by column id: a column added later changes none.
export const HASH_START: u64 = 0x9e3779b97f4a7c15;
// @ts-ignore: decorator
@inline
export function mixTag(mixed: u64, columnId: u32, code: u32): u64 {
  const product = (mixed ^ ((<u64>columnId << 32) | code)) * 0xd6e8feb86659fd93;
  return product ^ (product >> 32);
}
// @ts-ignore: decorator
@inline
export function hashOf(mixed: u64): u32 {
  return <u32>((mixed * 0xa0761d6478bd642f) >> 32);
}

/** The id of the series in hand, made when it is new. */
export function seriesInHand(dictionary: SeriesDictionary): u32 {
  let mixed = HASH_START;
  const end = dictionary.tags + dictionary.tagCount * offsetof<TagColumn>();
  for (let at = dictionary.tags; at < end; at += offsetof<TagColumn>()) {
    const tag = changetype<TagColumn>(at);
    if (tag.code != 0) mixed = mixTag(mixed, tag.columnId, tag.code);
  }
  return seriesOfHash(dictionary, hashOf(mixed));
}

/** `seriesInHand` when its hash is known. */
export function seriesOfHash(dictionary: SeriesDictionary, hash: u32): u32 {
  const found = findSeries(dictionary, hash);
  if (found != NO_ID) return found;
  reserveSeries(dictionary);
  const tags = dictionary.tags;
  const end = tags + dictionary.tagCount * offsetof<TagColumn>();
  const id = dictionary.count;
  for (let at = tags; at < end; at += offsetof<TagColumn>()) {
    const tag = changetype<TagColumn>(at);
    store<u32>(tag.codes + (id << 2), tag.code);
  }
  store<i64>(dictionary.lastTimes + (id << 3), dictionary.lastTimeFloor);
  putSlot(dictionary.slots, dictionary.slotMask, hash, id + 1);
  dictionary.count = id + 1;
  return id;
}

function findSeries(dictionary: SeriesDictionary, hash: u32): u32 {
  if (dictionary.slots == 0) return NO_ID;
  const mask = dictionary.slotMask;
  let at = hash & mask;
  while (true) {
    const slot = dictionary.slots + at * SLOT_BYTES;
    const tagged = load<u32>(slot, 4);
    if (tagged == 0) return NO_ID;
    if (load<u32>(slot) == hash && isInHand(dictionary, tagged - 1)) return tagged - 1;
    at = (at + 1) & mask;
  }
}

function isInHand(dictionary: SeriesDictionary, id: u32): bool {
  const end = dictionary.tags + dictionary.tagCount * offsetof<TagColumn>();
  for (let at = dictionary.tags; at < end; at += offsetof<TagColumn>()) {
    const tag = changetype<TagColumn>(at);
    if (load<u32>(tag.codes + (id << 2)) != tag.code) return false;
  }
  return true;
}
