// The series of one table: its present tags -> dense id. Per tag column there is a dictionary of values and a code per series; a series is
// found by a hash of its codes, so nothing is stored of it but them. Slots hold series id + 1. One thread writes; others read codes and
// views of the ids that a view captured, so arrays they read are retired, not freed, when they have moved (moving-array.ts).
// series-records.ts has the ways in and out.
import { hashOf, hashPair } from "./hash";
import { HashSlots, SLOT_BYTES, freeSlots, probeSteps, putSlot, reserveSlot, slotGrowth } from "./hash-slots";
import { segmentMask, segmentOf, segmentSlots } from "./hash-slots";
import { hostAlloc, hostFree } from "./host";
import { clearKeys, initKeys, KEYS_BYTES, KeyDictionary, keyId, keysBytes } from "./key-dictionary";
import { MovingArray, arrayBytes, arrayGrowthMax, freeArray, initZeros, nextReserve, reserveElement } from "./moving-array";
import { PagedArray, elementAt, freePages, pagedBytes, reserveIndex, roomTo } from "./paged-array";
import { Retired } from "./retired";

const NO_ID: u32 = 0xffffffff;
const SCRATCH_MIN: u32 = 64;
/** Of the gaps of one series: series-times.ts. */
export const GAPS_LOG2: u32 = 6;
/** Up to so many series gaps are kept from the first row on (4 MiB), of more when rows have come out of order, up to so many (64 MiB). */
const SERIES_FEW: u32 = 65536;
const SERIES_MANY: u32 = 1048576;
const SLOTS_FULL_AT: u32 = 11;
const CODE_LOG2: u32 = 2;
export const TIME_LOG2: u32 = 3;
export const STAMP_LOG2: u32 = 2;

/** One per tag column, in one array ascending by columnId. */
@unmanaged
export class TagColumn {
  columnId: u32;
  /** The code of the series in hand, 0 = absent. */
  code: u32;
  /** u32 per series, 0 = absent: where `moving` is now. */
  codes: u32;
  moving: MovingArray;
  values: KeyDictionary;
}

// Of a tag column, what must not move: | its values' KeyDictionary | its codes' MovingArray |
const TAG_BLOCK_BYTES: u32 = KEYS_BYTES + offsetof<MovingArray>();

/** The distinct tag combinations of a segment, numbered. */
@unmanaged
export class SeriesDictionary extends HashSlots {
  count: u32;
  tags: u32;
  tagCount: u32;
  tagCapacity: u32;
  /** i64 per series: the newest time seen, or the floor. */
  lastTimes: PagedArray;
  /** Where a series has no rows: series-times.ts. Of the first series only, or of none. */
  gaps: PagedArray;
  /** 1 when a row has come that was not newer than its series' last one. */
  isDisordered: u32;
  /** Series from this one on have had no row yet. */
  notedCount: u32;
  /** u32 per series: the stamp of the last markUnseen that met it. */
  stamps: PagedArray;
  /** Order of a record's tags: reused. */
  scratch: u32;
  scratchBytes: u32;
  retired: Retired;
  /** A block for the next tag column, kept when the allocation after it failed; or 0. */
  spareBlock: u32;
  /** Up to this many series the arrays have room and need no care. */
  calmTo: u32;
  lastTimeFloor: i64;
}

/** The tag column with this index. */
// @ts-ignore: decorator
@inline
export function tagAt(dictionary: SeriesDictionary, index: u32): TagColumn {
  return changetype<TagColumn>(dictionary.tags + index * offsetof<TagColumn>());
}

// | SeriesDictionary | PagedArrays of times, stamps and gaps | Retired | gaps of a series without rows |
const TIMES_AT: u32 = offsetof<SeriesDictionary>();
const STAMPS_AT: u32 = TIMES_AT + offsetof<PagedArray>();
const GAPS_AT: u32 = STAMPS_AT + offsetof<PagedArray>();
const RETIRED_AT: u32 = GAPS_AT + offsetof<PagedArray>();
const FIRST_GAPS_AT: u32 = RETIRED_AT + offsetof<Retired>();
const HEAD_BYTES: u32 = FIRST_GAPS_AT + (1 << GAPS_LOG2);

/** The gaps that every series has before its first row. */
export function firstGaps(dictionary: SeriesDictionary): u32 {
  return <u32>changetype<usize>(dictionary) + FIRST_GAPS_AT;
}

/** An empty dictionary. `lastTimeFloor`: last time of series that have no row yet. */
export function seriesCreate(lastTimeFloor: i64): u32 {
  // one block, so that a dictionary is made whole or not at all
  const ptr = hostAlloc(HEAD_BYTES);
  memory.fill(ptr, 0, HEAD_BYTES);
  const dictionary = changetype<SeriesDictionary>(ptr);
  dictionary.lastTimes = changetype<PagedArray>(ptr + TIMES_AT);
  dictionary.stamps = changetype<PagedArray>(ptr + STAMPS_AT);
  dictionary.gaps = changetype<PagedArray>(ptr + GAPS_AT);
  dictionary.retired = changetype<Retired>(ptr + RETIRED_AT);
  dictionary.fullAt = SLOTS_FULL_AT;
  dictionary.lastTimeFloor = lastTimeFloor;
  return ptr;
}

/** Frees everything but the retired blocks, which the host has taken over. */
export function seriesFree(dictionary: SeriesDictionary): void {
  for (let i: u32 = 0; i < dictionary.tagCount; i++) {
    const tag = tagAt(dictionary, i);
    freeArray(tag.moving, CODE_LOG2);
    clearKeys(tag.values);
    hostFree(<u32>changetype<usize>(tag.values), TAG_BLOCK_BYTES);
  }
  if (dictionary.spareBlock != 0) hostFree(dictionary.spareBlock, TAG_BLOCK_BYTES);
  if (dictionary.tags != 0) hostFree(dictionary.tags, dictionary.tagCapacity * offsetof<TagColumn>());
  if (dictionary.scratch != 0) hostFree(dictionary.scratch, dictionary.scratchBytes);
  freePages(dictionary.lastTimes);
  freePages(dictionary.stamps);
  freePages(dictionary.gaps);
  freeSlots(dictionary);
  const retired = dictionary.retired;
  if (retired.blocks != 0) hostFree(retired.blocks, retired.capacity << 3);
  hostFree(<u32>changetype<usize>(dictionary), HEAD_BYTES);
}

/** The number of series. */
export function seriesCount(dictionary: SeriesDictionary): u32 {
  return dictionary.count;
}

/** probeSteps of the series and of all their tags' values. */
export function seriesProbeSteps(dictionary: SeriesDictionary): f64 {
  let steps = probeSteps(dictionary);
  for (let i: u32 = 0; i < dictionary.tagCount; i++) steps += probeSteps(tagAt(dictionary, i).values);
  return steps;
}

/** The memory that the dictionary takes, in bytes. */
export function seriesBytes(dictionary: SeriesDictionary): u32 {
  let bytes = HEAD_BYTES + dictionary.tagCapacity * offsetof<TagColumn>() + dictionary.scratchBytes + dictionary.slotBytes;
  bytes += pagedBytes(dictionary.lastTimes) + pagedBytes(dictionary.stamps) + pagedBytes(dictionary.gaps);
  for (let i: u32 = 0; i < dictionary.tagCount; i++) {
    const tag = tagAt(dictionary, i);
    bytes += offsetof<MovingArray>() + arrayBytes(tag.moving, CODE_LOG2) + keysBytes(tag.values);
  }
  return bytes;
}

/** Bytes by which `count` more series with tags of these columns can make a dictionary grow, of an empty one when it is 0; new values of
 *  tags not counted. */
export function seriesGrowthMax(dictionary: SeriesDictionary, count: u32, columnIds: u32, columnCount: u32): f64 {
  let bytes = slotGrowth(count) + <f64>count * <f64>((1 << TIME_LOG2) + (1 << STAMP_LOG2));
  let newColumns = columnCount;
  let wanted = count;
  let isDisordered: u32 = 0;
  if (changetype<usize>(dictionary) != 0) {
    wanted += dictionary.count;
    isDisordered = dictionary.isDisordered;
    for (let i: u32 = 0; i < dictionary.tagCount; i++) bytes += arrayGrowthMax(tagAt(dictionary, i).moving, wanted, CODE_LOG2);
    for (let i: u32 = 0; i < columnCount; i++) if (hasTag(dictionary, load<u32>(columnIds + (i << 2)))) newColumns--;
  }
  if (keepsGaps(wanted, isDisordered)) bytes += <f64>count * <f64>(1 << GAPS_LOG2);
  return bytes + <f64>newColumns * <f64>wanted * <f64>(3 << (CODE_LOG2 - 1));
}

/** Of so many series. */
export function keepsGaps(count: u32, isDisordered: u32): bool {
  return count <= SERIES_FEW || (isDisordered != 0 && count <= SERIES_MANY);
}

function hasTag(dictionary: SeriesDictionary, columnId: u32): bool {
  let low: u32 = 0;
  let high = dictionary.tagCount;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tagAt(dictionary, middle).columnId < columnId) low = middle + 1;
    else high = middle;
  }
  return low < dictionary.tagCount && tagAt(dictionary, low).columnId == columnId;
}

/** The number of tag columns. */
export function seriesTagCount(dictionary: SeriesDictionary): u32 {
  return dictionary.tagCount;
}

/** Writes | columnId u32 | codes u32 | views u32 | valueCount u32 | per tag column. */
export function seriesTags(dictionary: SeriesDictionary, target: u32): void {
  for (let i: u32 = 0; i < dictionary.tagCount; i++, target += 16) {
    const tag = tagAt(dictionary, i);
    store<u32>(target, tag.columnId);
    store<u32>(target, tag.codes, 4);
    store<u32>(target, tag.values.views.ptr, 8);
    store<u32>(target, tag.values.count, 12);
  }
}

/** The number of blocks that readers may still use. */
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
  if (dictionary.spareBlock == 0) {
    dictionary.spareBlock = hostAlloc(TAG_BLOCK_BYTES);
    memory.fill(dictionary.spareBlock, 0, TAG_BLOCK_BYTES);
  }
  const block = dictionary.spareBlock;
  const moving = changetype<MovingArray>(block + KEYS_BYTES);
  moving.phase = dictionary.tagCount & 7;
  initZeros(moving, dictionary.count, CODE_LOG2);
  dictionary.spareBlock = 0;
  const at = dictionary.tags + index * offsetof<TagColumn>();
  memory.copy(at + offsetof<TagColumn>(), at, (dictionary.tagCount - index) * offsetof<TagColumn>());
  const tag = tagAt(dictionary, index);
  tag.columnId = columnId;
  tag.code = 0;
  tag.codes = moving.ptr;
  tag.moving = moving;
  tag.values = initKeys(block, 1, <u32>changetype<usize>(dictionary.retired));
  dictionary.tagCount++;
  dictionary.calmTo = 0;
  return index;
}

function growTags(dictionary: SeriesDictionary): void {
  const capacity = max<u32>(4, dictionary.tagCapacity << 1);
  const tags = hostAlloc(capacity * offsetof<TagColumn>());
  memory.copy(tags, dictionary.tags, dictionary.tagCount * offsetof<TagColumn>());
  if (dictionary.tagCapacity != 0) hostFree(dictionary.tags, dictionary.tagCapacity * offsetof<TagColumn>());
  dictionary.tags = tags;
  dictionary.tagCapacity = capacity;
}

/** Adds a tag column, null in all series. */
export function seriesAddTag(dictionary: SeriesDictionary, columnId: u32): void {
  tagIndex(dictionary, columnId, 0);
}

/** Room for one more series in every array. Each array keeps its own capacity, so a failure half way leaves a valid dictionary. */
function reserveSeries(dictionary: SeriesDictionary): void {
  const count = dictionary.count;
  const retired = <u32>changetype<usize>(dictionary.retired);
  reserveIndex(dictionary.lastTimes, count, TIME_LOG2);
  reserveIndex(dictionary.stamps, count, STAMP_LOG2);
  let calmTo = min(roomTo(dictionary.lastTimes, TIME_LOG2), roomTo(dictionary.stamps, STAMP_LOG2));
  const end = dictionary.tags + dictionary.tagCount * offsetof<TagColumn>();
  for (let at = dictionary.tags; at < end; at += offsetof<TagColumn>()) {
    const tag = changetype<TagColumn>(at);
    reserveElement(tag.moving, count, CODE_LOG2, retired);
    tag.codes = tag.moving.ptr;
    calmTo = min(calmTo, nextReserve(tag.moving, count));
  }
  dictionary.calmTo = calmTo;
}

/** Makes the scratch memory at least `bytes` long; its contents are lost when it grows. */
export function reserveScratch(dictionary: SeriesDictionary, bytes: u32): void {
  if (bytes <= dictionary.scratchBytes) return;
  const wanted = max(max(bytes, SCRATCH_MIN), dictionary.scratchBytes << 1);
  const scratch = hostAlloc(wanted);
  if (dictionary.scratch != 0) hostFree(dictionary.scratch, dictionary.scratchBytes);
  dictionary.scratch = scratch;
  dictionary.scratchBytes = wanted;
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

/** The id of the series in hand, made when it is new. Its hash is of pairs | columnId | code |, one per present tag, ascending by column
 *  id: a column added later changes none. */
export function seriesInHand(dictionary: SeriesDictionary): u32 {
  let sum: u64 = 0;
  let present: u32 = 0;
  const end = dictionary.tags + dictionary.tagCount * offsetof<TagColumn>();
  for (let at = dictionary.tags; at < end; at += offsetof<TagColumn>()) {
    const tag = changetype<TagColumn>(at);
    if (tag.code != 0) sum += hashPair(present++, tag.columnId, tag.code);
  }
  return seriesOfHash(dictionary, hashOf(sum));
}

/** `seriesInHand` when its hash is known. */
export function seriesOfHash(dictionary: SeriesDictionary, hash: u32): u32 {
  const found = findSeries(dictionary, hash);
  if (found != NO_ID) return found;
  if (dictionary.count >= dictionary.calmTo) reserveSeries(dictionary);
  const reserved = reserveSlot(dictionary, hash);
  const tags = dictionary.tags;
  const end = tags + dictionary.tagCount * offsetof<TagColumn>();
  const id = dictionary.count;
  for (let at = tags; at < end; at += offsetof<TagColumn>()) {
    const tag = changetype<TagColumn>(at);
    store<u32>(tag.codes + (id << 2), tag.code);
  }
  store<i64>(elementAt(dictionary.lastTimes.pages, id, TIME_LOG2), dictionary.lastTimeFloor);
  putSlot(dictionary, reserved, hash, id + 1);
  dictionary.count = id + 1;
  return id;
}

function findSeries(dictionary: SeriesDictionary, hash: u32): u32 {
  const segment = segmentOf(dictionary, hash);
  if (segment == 0) return NO_ID;
  const first = segmentSlots(segment);
  const mask = segmentMask(segment);
  let at = hash & mask;
  while (true) {
    const slot = first + at * SLOT_BYTES;
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
