// Keys of a cache: what rows have in its key columns, numbered from 0. Of tags alone a key is a series of a dictionary with those tags, and
// the host has a map from a table's series to them. With fields it is a record:
//   | key of the tags u32 | per field: integers | value u64 |, booleans | value u32 |, strings | bytes + 1 u32, 0 = absent | text | |
import { VIEW_BYTES } from "../abi";
import { bitAt, putBit } from "../memory/bits";
import { copyShort } from "../memory/bytes";
import { hostAlloc, hostFree } from "../memory/host";
import { clearKeys, initKeys, KEYS_BYTES, keyId, KeyDictionary, keysBytes, keyView } from "../memory/key-dictionary";
import { viewBytes, viewText, writeView } from "../memory/views";
import { isLessView } from "../store/order";

/** What a series or row has in the place of a key: not looked up yet, */
export const KEY_UNKNOWN: u32 = 0xfffffffe;
/** or none at all: it is skipped. */
export const KEY_NONE: u32 = 0xffffffff;

// A field as the host lists it: | bytes of a value u32: 1, 8, 16 = a string | data u32, 0 = every row is NULL
//   | validity u32, 0 = all present |
const FIELD_DATA: u32 = 4;
const FIELD_VALIDITY: u32 = 8;
const FIELD_BYTES: u32 = 12;
const SCRATCH_MIN: u32 = 4096;

@unmanaged
class RowKeys {
  keys: KeyDictionary;
  scratch: u32;
  scratchBytes: u32;
}

const KEYS_AT: u32 = offsetof<RowKeys>();

/** An empty set of keys. */
export function rowKeysCreate(): u32 {
  const ptr = hostAlloc(KEYS_AT + KEYS_BYTES);
  const rowKeys = changetype<RowKeys>(ptr);
  rowKeys.scratch = 0;
  rowKeys.scratchBytes = 0;
  rowKeys.keys = initKeys(ptr + KEYS_AT, 0, 0);
  return ptr;
}

/** Frees a set of keys. */
export function rowKeysFree(rowKeys: RowKeys): void {
  clearKeys(rowKeys.keys);
  if (rowKeys.scratch != 0) hostFree(rowKeys.scratch, rowKeys.scratchBytes);
  hostFree(<u32>changetype<usize>(rowKeys), KEYS_AT + KEYS_BYTES);
}

/** The number of keys. */
export function rowKeysCount(rowKeys: RowKeys): u32 {
  return rowKeys.keys.count;
}

/** The memory that the keys take, in bytes. */
export function rowKeysBytes(rowKeys: RowKeys): u32 {
  return KEYS_AT + rowKeys.scratchBytes + keysBytes(rowKeys.keys);
}

/** Keys of rows first .. end - 1 (u32 each, that of row r at `target` + 4 r). `map`: key of the tags by series. `skipsNulls`: a row without
 *  a value in a field has no key. Returns `end`, or the row whose series is not known. Throws (no memory) with nothing lost. */
export function rowKeysOf(
  rowKeys: RowKeys,
  series: u32,
  map: u32,
  fields: u32,
  fieldCount: u32,
  skipsNulls: bool,
  first: u32,
  end: u32,
  target: u32,
): u32 {
  for (let row = first; row < end; row++) {
    const tags = load<u32>(map + (load<u32>(series + (row << 2)) << 2));
    if (tags == KEY_UNKNOWN) return row;
    let key = tags;
    if (tags != KEY_NONE) {
      const bytes = writeRecord(rowKeys, tags, fields, fieldCount, row, skipsNulls);
      key = bytes == 0 ? KEY_NONE : keyId(rowKeys.keys, rowKeys.scratch, bytes);
    }
    store<u32>(target + (row << 2), key);
  }
  return end;
}

/** The record of a row in `scratch`; 0: it has no key. */
function writeRecord(rowKeys: RowKeys, tags: u32, fields: u32, fieldCount: u32, row: u32, skipsNulls: bool): u32 {
  let needed: u32 = 4 + fieldCount * 8;
  const fieldsEnd = fields + fieldCount * FIELD_BYTES;
  for (let field = fields; field < fieldsEnd; field += FIELD_BYTES) {
    if (!isPresent(field, row)) {
      if (skipsNulls) return 0;
      continue;
    }
    if (load<u32>(field) == VIEW_BYTES) needed += viewBytes(load<u32>(field, FIELD_DATA) + row * VIEW_BYTES);
  }
  reserveScratch(rowKeys, needed);
  let at = rowKeys.scratch;
  store<u32>(at, tags);
  at += 4;
  for (let field = fields; field < fieldsEnd; field += FIELD_BYTES) {
    const data = load<u32>(field, FIELD_DATA);
    if (load<u32>(field) == VIEW_BYTES) {
      if (!isPresent(field, row)) {
        store<u32>(at, 0);
        at += 4;
        continue;
      }
      const view = data + row * VIEW_BYTES;
      const bytes = viewBytes(view);
      store<u32>(at, bytes + 1);
      copyShort(at + 4, viewText(view), bytes);
      at += 4 + bytes;
    } else if (load<u32>(field) == 8) {
      store<u64>(at, load<u64>(data + (row << 3)));
      at += 8;
    } else {
      store<u32>(at, load<u8>(data + row));
      at += 4;
    }
  }
  return at - rowKeys.scratch;
}

// @ts-ignore: decorator
@inline
function isPresent(field: u32, row: u32): bool {
  if (load<u32>(field, FIELD_DATA) == 0) return false;
  const validity = load<u32>(field, FIELD_VALIDITY);
  return validity == 0 || bitAt(validity, row);
}

function reserveScratch(rowKeys: RowKeys, bytes: u32): void {
  if (bytes <= rowKeys.scratchBytes) return;
  const wanted = max(SCRATCH_MIN, max(bytes, rowKeys.scratchBytes << 1));
  const scratch = hostAlloc(wanted);
  if (rowKeys.scratch != 0) hostFree(rowKeys.scratch, rowKeys.scratchBytes);
  rowKeys.scratch = scratch;
  rowKeys.scratchBytes = wanted;
}

/** The keys of the tags of `count` keys listed, to `target`: u32 each. */
export function rowKeysTags(rowKeys: RowKeys, list: u32, count: u32, target: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    store<u32>(target + (i << 2), load<u32>(viewText(keyView(rowKeys.keys, load<u32>(list + (i << 2))))));
  }
}

/** Of `count` keys listed the values of field `index` as views, and a bit for each that is present (`validity` is zeroed). `widths`: bytes
 *  of a value of each field, u32. Numbers become texts in the order of the numbers: `sign` is what their bits are flipped by. Texts lie in
 *  the keys. */
export function rowKeysViews(
  rowKeys: RowKeys,
  list: u32,
  count: u32,
  widths: u32,
  index: u32,
  sign: u64,
  target: u32,
  validity: u32,
): void {
  const width = load<u32>(widths + (index << 2));
  for (let i: u32 = 0; i < count; i++, target += VIEW_BYTES) {
    const key = load<u32>(list + (i << 2));
    let at = viewText(keyView(rowKeys.keys, key)) + 4;
    for (let before: u32 = 0; before < index; before++) {
      const beforeWidth = load<u32>(widths + (before << 2));
      if (beforeWidth == VIEW_BYTES) at += 4 + max(load<u32>(at), 1) - 1;
      else at += beforeWidth == 8 ? 8 : 4;
    }
    if (width == VIEW_BYTES) {
      const tagged = load<u32>(at);
      writeView(target, at + 4, max(tagged, 1) - 1);
      if (tagged != 0) putBit(validity, i);
      continue;
    }
    store<u64>(target, 8);
    store<u64>(target, 0, 8);
    store<u64>(target, bswap(width == 8 ? load<u64>(at) ^ sign : <u64>load<u32>(at)), 4);
    putBit(validity, i);
  }
}

/** ranks[i] of views that `sorted` (u32 each) lists in order: 0 when absent, else from 1 on; equal ones have equal ranks. Returns the
 *  number of ranks, 0 included. */
export function rankViews(views: u32, validity: u32, sorted: u32, count: u32, ranks: u32): u32 {
  let rank: u32 = 0;
  let last: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const number = load<u32>(sorted + (i << 2));
    if (!bitAt(validity, number)) {
      store<u32>(ranks + (number << 2), 0);
      continue;
    }
    const view = views + number * VIEW_BYTES;
    if (last == 0 || isLessView(last, view)) rank++;
    last = view;
    store<u32>(ranks + (number << 2), rank);
  }
  return rank + 1;
}

/** Puts the keys of tags of one dictionary in those of another, for keys listed: `map` has them. `target` gets the new numbers of the keys.
 *  Throws (no memory) with nothing lost. */
export function rowKeysMove(rowKeys: RowKeys, list: u32, count: u32, map: u32, other: RowKeys, target: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const view = keyView(rowKeys.keys, load<u32>(list + (i << 2)));
    const bytes = viewBytes(view);
    reserveScratch(other, bytes);
    copyShort(other.scratch, viewText(view), bytes);
    store<u32>(other.scratch, load<u32>(map + (load<u32>(other.scratch) << 2)));
    store<u32>(target + (i << 2), keyId(other.keys, other.scratch, bytes));
  }
}

/** map[s] = KEY_NONE for series used that lack a tag (`codes` 0: all do), which are not used any more then. */
export function skipWithoutTag(codes: u32, seriesCount: u32, used: u32, map: u32): void {
  for (let series: u32 = 0; series < seriesCount; series++) {
    if (load<u8>(used + series) == 0 || (codes != 0 && load<u32>(codes + (series << 2)) != 0)) continue;
    store<u8>(used + series, 0);
    store<u32>(map + (series << 2), KEY_NONE);
  }
}

/** Marks the series of rows first .. end - 1 (of those listed in `rows` if that is not 0) that have `KEY_UNKNOWN` in `map`. Returns whether
 *  there are any. */
export function markUnknown(series: u32, rows: u32, first: u32, end: u32, map: u32, used: u32): bool {
  let found = false;
  for (let i = first; i < end; i++) {
    const id = load<u32>(series + ((rows == 0 ? i : load<u32>(rows + (i << 2))) << 2));
    if (load<u32>(map + (id << 2)) != KEY_UNKNOWN) continue;
    store<u8>(used + id, 1);
    found = true;
  }
  return found;
}
