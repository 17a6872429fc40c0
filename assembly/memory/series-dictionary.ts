// The series of one table: canonical key -> dense id, and per tag column a dictionary of values and a code per series. One thread writes;
// others read codes and views of the ids that a view captured, so arrays they read are retired, not freed, when they move.
// Canonical key: | columnId u32 | valueBytes u32 | value | per present tag, ascending by column id.
import { copyShort, hashBytes } from "./bytes";
import { hostAlloc, hostFree } from "./host";
import { addKey, clearKeys, findKey, initKeys, KEYS_BYTES, KeyDictionary, keyView, NO_ID } from "./key-dictionary";
import { Retired, reserveRetired, retire } from "./retired";
import { viewBytes, viewText } from "./views";

const SERIES_MIN: u32 = 8;
const SCRATCH_MIN: u32 = 256;

/** One per tag column, in one array ascending by columnId. */
@unmanaged
class TagColumn {
  columnId: u32;
  /** u32 per series, 0 = absent. */
  codes: u32;
  codesCapacity: u32;
  values: KeyDictionary;
}

@unmanaged
class SeriesDictionary {
  keys: KeyDictionary;
  tags: u32;
  tagCount: u32;
  tagCapacity: u32;
  /** i64 per series: the newest time seen, or the floor. */
  lastTimes: u32;
  lastTimesCapacity: u32;
  /** u32 per series: the stamp of the last markUnseen that met it. */
  stamps: u32;
  stampsCapacity: u32;
  /** Key of the record at hand, then its codes: reused. */
  scratch: u32;
  scratchBytes: u32;
  retired: Retired;
  /** A KeyDictionary for the next tag column, kept when the allocation after it failed; or 0. */
  spareValues: u32;
  /** Codes and head; values and keys count themselves. */
  bytes: u32;
  lastTimeFloor: i64;
}

// @ts-ignore: decorator
@inline
function tagAt(dictionary: SeriesDictionary, index: u32): TagColumn {
  return changetype<TagColumn>(dictionary.tags + index * offsetof<TagColumn>());
}

const HEAD_BYTES: u32 = offsetof<SeriesDictionary>() + offsetof<Retired>() + KEYS_BYTES;

export function seriesCreate(lastTimeFloor: i64): u32 {
  // one block, so that a dictionary is made whole or not at all
  const ptr = hostAlloc(HEAD_BYTES);
  memory.fill(ptr, 0, HEAD_BYTES);
  const dictionary = changetype<SeriesDictionary>(ptr);
  dictionary.retired = changetype<Retired>(ptr + offsetof<SeriesDictionary>());
  dictionary.keys = initKeys(ptr + offsetof<SeriesDictionary>() + offsetof<Retired>(), 0, 0);
  dictionary.bytes = HEAD_BYTES - KEYS_BYTES;
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
  if (dictionary.stamps != 0) hostFree(dictionary.stamps, dictionary.stampsCapacity << 2);
  if (dictionary.scratch != 0) hostFree(dictionary.scratch, dictionary.scratchBytes);
  clearKeys(dictionary.keys);
  const retired = dictionary.retired;
  if (retired.blocks != 0) hostFree(retired.blocks, retired.capacity << 3);
  hostFree(<u32>changetype<usize>(dictionary), HEAD_BYTES);
}

export function seriesCount(dictionary: SeriesDictionary): u32 {
  return dictionary.keys.count;
}

export function seriesBytes(dictionary: SeriesDictionary): u32 {
  let bytes = dictionary.bytes + dictionary.keys.bytes;
  for (let i: u32 = 0; i < dictionary.tagCount; i++) bytes += tagAt(dictionary, i).values.bytes;
  return bytes;
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
function tagIndex(dictionary: SeriesDictionary, columnId: u32, from: u32): u32 {
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
  const count = dictionary.keys.count;
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
function growPrivate(old: u32, oldBytes: u32, newBytes: u32): u32 {
  const ptr = hostAlloc(newBytes);
  if (oldBytes != 0) {
    memory.copy(ptr, old, oldBytes);
    hostFree(old, oldBytes);
  }
  memory.fill(ptr + oldBytes, 0, newBytes - oldBytes);
  return ptr;
}

function reserveScratch(dictionary: SeriesDictionary, bytes: u32): void {
  if (bytes <= dictionary.scratchBytes) return;
  const wanted = max(max(bytes, SCRATCH_MIN), dictionary.scratchBytes << 1);
  const scratch = hostAlloc(wanted);
  if (dictionary.scratch != 0) hostFree(dictionary.scratch, dictionary.scratchBytes);
  dictionary.bytes += wanted - dictionary.scratchBytes;
  dictionary.scratch = scratch;
  dictionary.scratchBytes = wanted;
}

/** The id of a canonical key; a new series when it has none. The key may lie in the scratch: codes are written from `codes` on. */
function seriesOf(dictionary: SeriesDictionary, key: u32, keyBytes: u32, codes: u32): u32 {
  const hash = hashBytes(key, keyBytes);
  const found = findKey(dictionary.keys, key, keyBytes, hash);
  if (found != NO_ID) return found;
  reserveSeries(dictionary);
  const end = key + keyBytes;
  // Pass 1 may allocate and fail: it only adds values, which do no harm unused.
  let index: u32 = 0;
  let code = codes;
  for (let at = key; at < end; code += 4) {
    const bytes = load<u32>(at, 4);
    index = tagIndex(dictionary, load<u32>(at), index);
    store<u32>(code, valueCode(tagAt(dictionary, index).values, at + 8, bytes));
    at += 8 + bytes;
  }
  const id = addKey(dictionary.keys, key, keyBytes, hash);
  // Pass 2 makes the series.
  index = 0;
  code = codes;
  for (let at = key; at < end; code += 4) {
    const columnId = load<u32>(at);
    while (tagAt(dictionary, index).columnId != columnId) index++;
    store<u32>(tagAt(dictionary, index).codes + (id << 2), load<u32>(code));
    at += 8 + load<u32>(at, 4);
  }
  store<i64>(dictionary.lastTimes + (id << 3), dictionary.lastTimeFloor);
  return id;
}

function valueCode(values: KeyDictionary, ptr: u32, bytes: u32): u32 {
  const hash = hashBytes(ptr, bytes);
  const found = findKey(values, ptr, bytes, hash);
  return found != NO_ID ? found : addKey(values, ptr, bytes, hash);
}

/** Series ids (u32 each, to `target`) of the line parser's new-series records: | tagCount u32 | [ tagColumn | valuePtr | valueBytes ] |.
 *  `columnIds` gives the catalog's column id of a parser tag column. */
export function seriesResolve(dictionary: SeriesDictionary, records: u32, count: u32, columnIds: u32, target: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const tagCount = load<u32>(records);
    records += 4;
    let keyBytes: u32 = 0;
    for (let tag: u32 = 0; tag < tagCount; tag++) keyBytes += 8 + load<u32>(records + tag * 12, 8);
    // scratch: | record pointers by column id | key | codes |
    reserveScratch(dictionary, (tagCount << 2) + align4(keyBytes) + (tagCount << 2));
    const order = dictionary.scratch;
    sortTags(records, tagCount, columnIds, order);
    const key = order + (tagCount << 2);
    let at = key;
    for (let tag: u32 = 0; tag < tagCount; tag++) {
      const record = load<u32>(order + (tag << 2));
      const bytes = load<u32>(record, 8);
      store<u32>(at, load<u32>(columnIds + (load<u32>(record) << 2)));
      store<u32>(at, bytes, 4);
      copyShort(at + 8, load<u32>(record, 4), bytes);
      at += 8 + bytes;
    }
    store<u32>(target + (i << 2), seriesOf(dictionary, key, keyBytes, key + align4(keyBytes)));
    records += tagCount * 12;
  }
}

// @ts-ignore: decorator
@inline
function align4(bytes: u32): u32 {
  return (bytes + 3) & ~3;
}

/** Pointers to the tags of a record, ascending by column id. Writers mostly keep one order, so insertion is nearly a copy. */
function sortTags(tags: u32, tagCount: u32, columnIds: u32, order: u32): void {
  for (let i: u32 = 0; i < tagCount; i++) {
    const tag = tags + i * 12;
    const columnId = load<u32>(columnIds + (load<u32>(tag) << 2));
    let at = order + (i << 2);
    while (at > order && load<u32>(columnIds + (load<u32>(load<u32>(at - 4)) << 2)) > columnId) {
      store<u32>(at, load<u32>(at - 4));
      at -= 4;
    }
    store<u32>(at, tag);
  }
}

/** The id of a canonical key that lies outside the scratch. */
export function seriesInsert(dictionary: SeriesDictionary, key: u32, keyBytes: u32): u32 {
  // at least 8 bytes of key per code
  reserveScratch(dictionary, (keyBytes >> 3) << 2);
  return seriesOf(dictionary, key, keyBytes, dictionary.scratch);
}

/** Ids of the key records | recordId u32 | keyBytes u32 | key | in `bytes` bytes, as pairs | recordId u32 | id u32 | to `target`.
 *  Returns how many. */
export function seriesInsertRecords(dictionary: SeriesDictionary, records: u32, bytes: u32, target: u32): u32 {
  const end = records + bytes;
  let count: u32 = 0;
  while (records < end) {
    const keyBytes = load<u32>(records, 4);
    const id = seriesInsert(dictionary, records + 8, keyBytes);
    store<u32>(target + (count << 3), load<u32>(records));
    store<u32>(target + (count << 3), id, 4);
    records += 8 + keyBytes;
    count++;
  }
  return count;
}

/** Stamps the series of the rows; lists those that had another stamp in `unseen` (u32 each). Returns how many. */
export function seriesMarkUnseen(dictionary: SeriesDictionary, series: u32, rowCount: u32, stamp: u32, unseen: u32): u32 {
  const stamps = dictionary.stamps;
  let count: u32 = 0;
  for (let row: u32 = 0; row < rowCount; row++) {
    const id = load<u32>(series + (row << 2));
    const at = stamps + (id << 2);
    if (load<u32>(at) == stamp) continue;
    store<u32>(at, stamp);
    store<u32>(unseen + (count << 2), id);
    count++;
  }
  return count;
}

/** Makes series unseen again, whatever stamp comes next. */
export function seriesUnmark(dictionary: SeriesDictionary, ids: u32, count: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u32>(dictionary.stamps + (load<u32>(ids + (i << 2)) << 2), 0);
}

/** Bytes of the key records of `count` series. */
export function seriesKeyBytes(dictionary: SeriesDictionary, ids: u32, count: u32): u32 {
  let bytes: u32 = 0;
  for (let i: u32 = 0; i < count; i++) bytes += 8 + viewBytes(keyView(dictionary.keys, load<u32>(ids + (i << 2))));
  return bytes;
}

/** Writes | id u32 | keyBytes u32 | key | per series. */
export function seriesWriteKeys(dictionary: SeriesDictionary, ids: u32, count: u32, target: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const id = load<u32>(ids + (i << 2));
    const view = keyView(dictionary.keys, id);
    const bytes = viewBytes(view);
    store<u32>(target, id);
    store<u32>(target, bytes, 4);
    copyShort(target + 8, viewText(view), bytes);
    target += 8 + bytes;
  }
}

/** Raises the last times to those of the rows. 1 when every row was newer than its series' last time, so that no two rows can be equal. */
export function seriesNoteTimes(dictionary: SeriesDictionary, series: u32, times: u32, rowCount: u32): bool {
  const lastTimes = dictionary.lastTimes;
  let unique: u32 = 1;
  const end = series + (rowCount << 2);
  for (; series < end; series += 4, times += 8) {
    const at = lastTimes + (load<u32>(series) << 3);
    const last = load<i64>(at);
    const time = load<i64>(times);
    unique &= <u32>(time > last);
    store<i64>(at, max(time, last));
  }
  return unique != 0;
}

// A tag column of another dictionary, as seriesTags writes it.
const TAG_COLUMN_ID: u32 = 0;
const TAG_CODES: u32 = 4;
const TAG_VALUES: u32 = 8;
const TAG_BYTES: u32 = 16;

/** Adds those series 0 .. count - 1 of another dictionary whose byte in `used` is not 0 and writes their ids here to `target` (u32 per
 *  series). `tags` lists the other's tag columns as seriesTags does, ascending by column id. */
export function seriesImport(dictionary: SeriesDictionary, tags: u32, tagCount: u32, count: u32, used: u32, target: u32): void {
  for (let series: u32 = 0; series < count; series++) {
    if (load<u8>(used + series) == 0) continue;
    let keyBytes: u32 = 0;
    for (let i: u32 = 0; i < tagCount; i++) {
      const tag = tags + i * TAG_BYTES;
      const code = load<u32>(load<u32>(tag + TAG_CODES) + (series << 2));
      if (code != 0) keyBytes += 8 + viewBytes(load<u32>(tag + TAG_VALUES) + (code << 4));
    }
    reserveScratch(dictionary, align4(keyBytes) + (tagCount << 2));
    let at = dictionary.scratch;
    for (let i: u32 = 0; i < tagCount; i++) {
      const tag = tags + i * TAG_BYTES;
      const code = load<u32>(load<u32>(tag + TAG_CODES) + (series << 2));
      if (code == 0) continue;
      const view = load<u32>(tag + TAG_VALUES) + (code << 4);
      const bytes = viewBytes(view);
      store<u32>(at, load<u32>(tag + TAG_COLUMN_ID));
      store<u32>(at, bytes, 4);
      copyShort(at + 8, viewText(view), bytes);
      at += 8 + bytes;
    }
    const key = dictionary.scratch;
    store<u32>(target + (series << 2), seriesOf(dictionary, key, keyBytes, key + align4(keyBytes)));
  }
}
