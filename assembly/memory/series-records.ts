// How series come into a table's dictionary and leave it: as the line parser's records, as the log's key records, as the series of another
// dictionary.
// Canonical key, for the log: | columnId u32 | valueBytes u32 | value | per present tag, ascending by column id.
import { VIEW_BYTES } from "../abi";
import { copyShort } from "./bytes";
import { hashOf, hashPair } from "./hash";
import { touchSlots } from "./hash-slots";
import { KeyDictionary, hashedKeyId, keyHash, keyView } from "./key-dictionary";
import { elementAt } from "./paged-array";
import {
  STAMP_LOG2,
  SeriesDictionary,
  TagColumn,
  beginSeries,
  reserveScratch,
  seriesBytes,
  seriesInHand,
  seriesOfHash,
  setTag,
  tagAt,
  tagIndex,
} from "./series-dictionary";
import { viewBytes, viewText } from "./views";

/** Series ids (u32 each, to `target`) of the line parser's new-series records: | tagCount u32 | [ tagColumn | valuePtr | valueBytes ] |.
 *  `columnIds` gives the catalog's column id of a parser tag column. Ends early when the dictionary takes more than `bytesMax` bytes.
 *  Returns how many it has done. */
export function seriesResolve(
  dictionary: SeriesDictionary,
  records: u32,
  count: u32,
  columnIds: u32,
  target: u32,
  bytesMax: f64,
): u32 {
  for (let left = count; left > 0; ) {
    if (<f64>seriesBytes(dictionary) > bytesMax) return count - left;
    const alike = countAlike(records, min(left, ALIKE_MAX));
    const recordBytes = 4 + load<u32>(records) * 12;
    if (alike >= ALIKE_MIN) {
      resolveAlike(dictionary, records, alike, columnIds, target);
    } else {
      for (let i: u32 = 0; i < alike; i++) {
        store<u32>(target + (i << 2), resolveOne(dictionary, records + i * recordBytes, columnIds));
      }
    }
    records += alike * recordBytes;
    target += alike << 2;
    left -= alike;
  }
  return count;
}

// Records with the same tags are resolved a column at a time: a column's dictionary stays in the cache, and lookups need not wait for each
// other. As many as keep their lines of the body in the cache, too.
const ALIKE_MAX: u32 = 256;
const ALIKE_MIN: u32 = 4;

/** How many of the first `count` records have the tags of the first one, in its order. */
function countAlike(records: u32, count: u32): u32 {
  const tagCount = load<u32>(records);
  const recordBytes: u32 = 4 + tagCount * 12;
  for (let i: u32 = 1; i < count; i++) {
    const record = records + i * recordBytes;
    if (load<u32>(record) != tagCount) return i;
    for (let at: u32 = 4; at < recordBytes; at += 12) {
      if (load<u32>(record + at) != load<u32>(records + at)) return i;
    }
  }
  return count;
}

function resolveAlike(dictionary: SeriesDictionary, records: u32, count: u32, columnIds: u32, target: u32): void {
  const tagCount = load<u32>(records);
  const recordBytes: u32 = 4 + tagCount * 12;
  // scratch: | order u32 x tagCount, a pad to 8 | sums of hashes u64 x count | hashes u32 x count | codes u32 x count, per tag |
  const orderBytes = ((tagCount << 2) + 7) & ~7;
  reserveScratch(dictionary, orderBytes + count * 12 + tagCount * (count << 2));
  const order = dictionary.scratch;
  const sums = order + orderBytes;
  const hashes = sums + (count << 3);
  const codes = hashes + (count << 2);
  sortTags(records + 4, tagCount, columnIds, order);
  memory.fill(sums, 0, count << 3);
  let index: u32 = 0;
  for (let tag: u32 = 0; tag < tagCount; tag++) {
    const first = load<u32>(order + (tag << 2));
    const columnId = load<u32>(columnIds + (load<u32>(first) << 2));
    index = tagIndex(dictionary, columnId, index);
    const column = codes + tag * (count << 2);
    valueCodes(tagAt(dictionary, index).values, first, recordBytes, count, hashes, column);
    for (let i: u32 = 0; i < count; i++) {
      const at = sums + (i << 3);
      store<u64>(at, load<u64>(at) + hashPair(tag, columnId, load<u32>(column + (i << 2))));
    }
  }
  for (let i: u32 = 0; i < count; i++) store<u32>(hashes + (i << 2), hashOf(load<u64>(sums + (i << 3))));
  touchSlots(dictionary, hashes, count);
  beginSeries(dictionary);
  for (let i: u32 = 0; i < count; i++) {
    index = 0;
    for (let tag: u32 = 0; tag < tagCount; tag++) {
      const columnId = load<u32>(columnIds + (load<u32>(load<u32>(order + (tag << 2))) << 2));
      while (tagAt(dictionary, index).columnId != columnId) index++;
      tagAt(dictionary, index).code = load<u32>(codes + tag * (count << 2) + (i << 2));
    }
    store<u32>(target + (i << 2), seriesOfHash(dictionary, load<u32>(hashes + (i << 2))));
  }
}

/** Codes of one tag of alike records, of which `first` is the tag in the first one. */
function valueCodes(values: KeyDictionary, first: u32, recordBytes: u32, count: u32, hashes: u32, codes: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const at = first + i * recordBytes;
    store<u32>(hashes + (i << 2), keyHash(load<u32>(at, 4), load<u32>(at, 8)));
  }
  touchSlots(values, hashes, count);
  for (let i: u32 = 0; i < count; i++) {
    const at = first + i * recordBytes;
    store<u32>(codes + (i << 2), hashedKeyId(values, load<u32>(at, 4), load<u32>(at, 8), load<u32>(hashes + (i << 2))));
  }
}

function resolveOne(dictionary: SeriesDictionary, record: u32, columnIds: u32): u32 {
  const tagCount = load<u32>(record);
  reserveScratch(dictionary, tagCount << 2);
  const order = dictionary.scratch;
  sortTags(record + 4, tagCount, columnIds, order);
  beginSeries(dictionary);
  let index: u32 = 0;
  for (let tag: u32 = 0; tag < tagCount; tag++) {
    const at = load<u32>(order + (tag << 2));
    index = setTag(dictionary, load<u32>(columnIds + (load<u32>(at) << 2)), load<u32>(at, 4), load<u32>(at, 8), index);
  }
  return seriesInHand(dictionary);
}

/** Pointers to the tags of a record, ascending by column id. Writers mostly keep one order, so insertion is nearly a copy; who does not has
 *  each place looked for by halves. */
function sortTags(tags: u32, tagCount: u32, columnIds: u32, order: u32): void {
  let last: u32 = 0;
  for (let i: u32 = 0; i < tagCount; i++) {
    const tag = tags + i * 12;
    const columnId = columnIdOf(tag, columnIds);
    const end = order + (i << 2);
    if (columnId >= last) {
      store<u32>(end, tag);
      last = columnId;
      continue;
    }
    let low: u32 = 0;
    let high = i;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (columnIdOf(load<u32>(order + (middle << 2)), columnIds) > columnId) high = middle;
      else low = middle + 1;
    }
    const at = order + (low << 2);
    memory.copy(at + 4, at, end - at);
    store<u32>(at, tag);
  }
}

/** The catalog's id of the column of a record's tag. */
// @ts-ignore: decorator
@inline
function columnIdOf(tag: u32, columnIds: u32): u32 {
  return load<u32>(columnIds + (load<u32>(tag) << 2));
}

/** The id of a canonical key; a new series when it has none. */
export function seriesInsert(dictionary: SeriesDictionary, key: u32, keyBytes: u32): u32 {
  beginSeries(dictionary);
  let index: u32 = 0;
  for (const end = key + keyBytes; key < end; ) {
    const bytes = load<u32>(key, 4);
    index = setTag(dictionary, load<u32>(key), key + 8, bytes, index);
    key += 8 + bytes;
  }
  return seriesInHand(dictionary);
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
  const stamps = dictionary.stamps.pages;
  let count: u32 = 0;
  for (let row: u32 = 0; row < rowCount; row++) {
    const id = load<u32>(series + (row << 2));
    const at = elementAt(stamps, id, STAMP_LOG2);
    if (load<u32>(at) == stamp) continue;
    store<u32>(at, stamp);
    store<u32>(unseen + (count << 2), id);
    count++;
  }
  return count;
}

/** Makes series unseen again, whatever stamp comes next. */
export function seriesUnmark(dictionary: SeriesDictionary, ids: u32, count: u32): void {
  const stamps = dictionary.stamps.pages;
  for (let i: u32 = 0; i < count; i++) store<u32>(elementAt(stamps, load<u32>(ids + (i << 2)), STAMP_LOG2), 0);
}

/** Bytes of the key records of `count` series. */
export function seriesKeyBytes(dictionary: SeriesDictionary, ids: u32, count: u32): u32 {
  let bytes = count << 3;
  const lastId = ids + (count << 2);
  for (let tag: u32 = 0; tag < dictionary.tagCount; tag++) {
    const codes = tagAt(dictionary, tag).codes;
    const views = tagAt(dictionary, tag).values.views.ptr;
    for (let at = ids; at < lastId; at += 4) {
      const code = load<u32>(codes + (load<u32>(at) << 2));
      if (code != 0) bytes += 8 + viewBytes(views + code * VIEW_BYTES);
    }
  }
  return bytes;
}

/** Writes | id u32 | keyBytes u32 | key | per series. */
export function seriesWriteKeys(dictionary: SeriesDictionary, ids: u32, count: u32, target: u32): void {
  const end = dictionary.tags + dictionary.tagCount * offsetof<TagColumn>();
  for (let i: u32 = 0; i < count; i++) {
    const id = load<u32>(ids + (i << 2));
    const head = target;
    target += 8;
    for (let at = dictionary.tags; at < end; at += offsetof<TagColumn>()) {
      const tag = changetype<TagColumn>(at);
      const code = load<u32>(tag.codes + (id << 2));
      if (code == 0) continue;
      const view = keyView(tag.values, code);
      const bytes = viewBytes(view);
      store<u32>(target, tag.columnId);
      store<u32>(target, bytes, 4);
      copyShort(target + 8, viewText(view), bytes);
      target += 8 + bytes;
    }
    store<u32>(head, id);
    store<u32>(head, target - head - 8, 4);
  }
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
    beginSeries(dictionary);
    let index: u32 = 0;
    for (let tag = tags; tag < tags + tagCount * TAG_BYTES; tag += TAG_BYTES) {
      const code = load<u32>(load<u32>(tag + TAG_CODES) + (series << 2));
      if (code == 0) continue;
      const view = load<u32>(tag + TAG_VALUES) + code * VIEW_BYTES;
      index = setTag(dictionary, load<u32>(tag + TAG_COLUMN_ID), viewText(view), viewBytes(view), index);
    }
    store<u32>(target + (series << 2), seriesInHand(dictionary));
  }
}
