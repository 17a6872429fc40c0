// Groups told apart by values of fields, level by level: a group of the level before and a value of this level's field are a group here,
// numbered as it appears. Small values are looked up in a table of their own,
//   small, by group before × SMALL_VALUES + value: group + 1 u32, 0 = none
// all others by linear probing over
//   slot: | hash u32 | group + 1 u32, 0 = empty |     key of a group: | value u64 | group before u32 | 1: absent u32 |
import { VALUES_COUNTS_BYTES, VALUES_FLOAT, VALUES_TEXT, VIEW_BYTES } from "../abi";
import { bitAt } from "../memory/bits";
import { hashOf, hashPair } from "../memory/hash";
import { hostAlloc, hostFree } from "../memory/host";
import { clearKeys, initKeys, KEYS_BYTES, KeyDictionary, keyId, keysBytes, keyView } from "../memory/key-dictionary";
import { moveTagged, putTagged } from "../memory/tagged-slots";
import { viewBytes, viewText } from "../memory/views";
import { SPAN_BYTES } from "./cells";

const KEY_BYTES: u32 = 16;
const GROUPS_MIN: u32 = 64;
const SMALL_LOG2: u32 = 10;
/** Values 0 to SMALL_ABSENT - 1, and the absent one. */
const SMALL_ABSENT: u64 = (1 << SMALL_LOG2) - 1;
/** Groups before that have small values: what they take stays in the processor's second cache, or nearly. */
const SMALL_GROUPS_MAX: u32 = 256;
/** Values of two bytes that are counted; a power of two. */
const COUNTED_MAX: u32 = 1 << 10;
/** Bytes of the counts of all values, in whole vectors. */
const COUNTS_APART: u32 = VALUES_COUNTS_BYTES / 4;
const NAN: u64 = 0x7ff8000000000000;

@unmanaged
class ValueGroups {
  count: u32;
  /** Groups that there is room for; half as many as slots. */
  capacity: u32;
  /** The keys, and behind them the slots: one block, so that it grows whole or not at all. */
  keys: u32;
  small: u32;
  /** Groups before that `small` has room for. */
  smallGroups: u32;
  /** Of texts, whose numbers are the values. */
  texts: KeyDictionary;
  /** Calls with texts so far. */
  calls: u32;
  /** Texts that take more are given up: the groups then take more than they may. */
  bytesMax: u32;
}

// | ValueGroups | its texts' KeyDictionary | views met, by a mix of their bits: | view | its text's number u32 | in this call u32 | |
const TEXTS_AT: u32 = offsetof<ValueGroups>();
const MET_AT: u32 = (TEXTS_AT + KEYS_BYTES + 7) & ~7;
const MET_BYTES: u32 = VIEW_BYTES + 8;
const MET_LOG2: u32 = 7;
const OWN_BYTES: u32 = MET_AT + (MET_BYTES << MET_LOG2);

/** No groups; no more texts are added to some that take more than `bytesMax`. */
export function valueGroupsCreate(bytesMax: u32): u32 {
  const ptr = hostAlloc(OWN_BYTES);
  memory.fill(ptr, 0, OWN_BYTES);
  changetype<ValueGroups>(ptr).bytesMax = bytesMax;
  changetype<ValueGroups>(ptr).texts = initKeys(ptr + TEXTS_AT, 0, 0);
  return ptr;
}

/** Frees the groups. */
export function valueGroupsFree(groups: ValueGroups): void {
  clearKeys(groups.texts);
  if (groups.capacity != 0) hostFree(groups.keys, tableBytes(groups.capacity));
  if (groups.smallGroups != 0) hostFree(groups.small, smallBytes(groups.smallGroups));
  hostFree(<u32>changetype<usize>(groups), OWN_BYTES);
}

/** The number of groups. */
export function valueGroupsCount(groups: ValueGroups): u32 {
  return groups.count;
}

/** The memory that the groups take, in bytes. */
export function valueGroupsBytes(groups: ValueGroups): u32 {
  return OWN_BYTES + keysBytes(groups.texts) + tableBytes(groups.capacity) + smallBytes(groups.smallGroups);
}

// @ts-ignore: decorator
@inline
function tableBytes(capacity: u32): u32 {
  return capacity * (KEY_BYTES + 16);
}

// @ts-ignore: decorator
@inline
function smallBytes(groupsBefore: u32): u32 {
  return groupsBefore << (SMALL_LOG2 + 2);
}

/** numbers[i] (u32) is the group before of row rows[i], or of row first + i when `rows` is 0; afterwards it is the group. `layout` of the
 *  field's values: 1, 2, 4, 8: bytes of integers that are differences to `base`; VALUES_FLOAT: both zeros are one value, and so are all
 *  NaN; VALUES_TEXT: views. `validity` 0: all are present. Throws (no memory), or gives up texts, with some numbers changed. */
export function valueGroupsOfRows(
  groups: ValueGroups,
  layout: u32,
  data: u32,
  base: i64,
  validity: u32,
  rows: u32,
  first: u32,
  count: u32,
  numbers: u32,
): void {
  if (layout == VALUES_FLOAT) ofNumbers<f64>(groups, data, base, validity, rows, first, count, numbers);
  else if (layout == VALUES_TEXT) ofTexts(groups, data, validity, rows, first, count, numbers);
  else if (layout == 1) ofNumbers<u8>(groups, data, base, validity, rows, first, count, numbers);
  else if (layout == 2) ofNumbers<u16>(groups, data, base, validity, rows, first, count, numbers);
  else if (layout == 4) ofNumbers<u32>(groups, data, base, validity, rows, first, count, numbers);
  else ofNumbers<u64>(groups, data, base, validity, rows, first, count, numbers);
}

function ofTexts(groups: ValueGroups, data: u32, validity: u32, rows: u32, first: u32, count: u32, numbers: u32): void {
  groups.calls++;
  for (let i: u32 = 0; i < count; i++) {
    const row = rows != 0 ? load<u32>(rows + (i << 2)) : first + i;
    const at = numbers + (i << 2);
    const isAbsent = validity != 0 && !bitAt(validity, row);
    const textCount = groups.texts.count;
    store<u32>(at, groupOf(groups, load<u32>(at), isAbsent ? 0 : textNumber(groups, data + row * VIEW_BYTES), isAbsent));
    // a block of rows may have more text than all groups may take
    if (groups.texts.count != textCount && keysBytes(groups.texts) > groups.bytesMax) return;
  }
}

/** The number of a view's text. Equal views have one text as long as the memory of long ones is not used again: in one call. */
// @ts-ignore: decorator
@inline
function textNumber(groups: ValueGroups, view: u32): u32 {
  const word0 = load<u64>(view);
  const word1 = load<u64>(view, 8);
  const mixed = (word0 ^ (word1 << 1) ^ (word1 >> 31)) * 0x9e3779b97f4a7c15;
  const met = <u32>changetype<usize>(groups) + MET_AT + <u32>(mixed >> (64 - MET_LOG2)) * MET_BYTES;
  if (load<u64>(met) == word0 && load<u64>(met, 8) == word1 && load<u32>(met, 20) == groups.calls) return load<u32>(met, 16);
  const number = keyId(groups.texts, viewText(view), viewBytes(view));
  store<u64>(met, word0);
  store<u64>(met, word1, 8);
  store<u32>(met, number, 16);
  store<u32>(met, groups.calls, 20);
  return number;
}

/** Counts rows [first, first + count) by values of one or two bytes (`width`), whose groups are looked up once for each stretch of rows of
 *  one group before: writes | group u32 | 0 u32 | how many rows u32 |, at most `max`. `numbers` as above; 0: all are of group 0. Returns
 *  how many; 0: there are too many stretches or values, and nothing was counted. `counts` is memory of VALUES_COUNTS_BYTES. Throws (no
 *  memory). */
export function valueGroupsCountRows(
  groups: ValueGroups,
  width: u32,
  data: u32,
  base: i64,
  validity: u32,
  first: u32,
  count: u32,
  numbers: u32,
  counts: u32,
  target: u32,
  max: u32,
): u32 {
  const counted: u32 = width == 1 ? 1 << 8 : COUNTED_MAX;
  if (numbers != 0 && !hasStretches(numbers, count, min(count / (counted << 2) + 2, max / (counted + 1)))) return 0;
  let found: u32 = 0;
  for (let i: u32 = 0; i < count; ) {
    const before = numbers == 0 ? 0 : load<u32>(numbers + (i << 2));
    const end = numbers == 0 ? count : stretchEnd(numbers, i, count);
    if (width == 1) countValues<u8>(data, validity, first + i, first + end, counts);
    else if (!countValues<u16>(data, validity, first + i, first + end, counts)) return 0;
    for (let value: u32 = 0; value <= counted; value++) {
      // that of absent values is behind all others
      const isAbsent = value == counted;
      const rows = load<u32>(counts + ((isAbsent ? COUNTED_MAX : value) << 2));
      if (rows == 0) continue;
      const at = target + found * SPAN_BYTES;
      store<u32>(at, groupOf(groups, before, isAbsent ? 0 : <u64>value + <u64>base, isAbsent));
      store<u32>(at, 0, 4);
      store<u32>(at, rows, 8);
      found++;
    }
    i = end;
  }
  return found;
}

/** True if there are at most so many stretches of one number. */
function hasStretches(numbers: u32, count: u32, most: u32): bool {
  for (let i: u32 = 0; i < count; i = stretchEnd(numbers, i, count)) {
    if (most-- == 0) return false;
  }
  return true;
}

function stretchEnd(numbers: u32, from: u32, count: u32): u32 {
  const number = load<u32>(numbers + (from << 2));
  const four = i32x4.splat(number);
  while (from + 4 <= count && i32x4.all_true(i32x4.eq(v128.load(numbers + (from << 2)), four))) from += 4;
  while (from < count && load<u32>(numbers + (from << 2)) == number) from++;
  return from;
}

/** How often each value occurs in rows [row, end), and behind them how many are absent, at `counts`. Returns false if one of them is
 *  COUNTED_MAX or more. Four counts of each value take turns: a count waits for the one before it. */
function countValues<T>(data: u32, validity: u32, row: u32, end: u32, counts: u32): bool {
  let seen: u32 = 0;
  memory.fill(counts, 0, VALUES_COUNTS_BYTES);
  if (validity == 0) {
    for (; row + 4 <= end; row += 4) {
      const from = data + row * sizeof<T>();
      const a = <u32>load<T>(from);
      const b = <u32>load<T>(from, sizeof<T>());
      const c = <u32>load<T>(from, 2 * sizeof<T>());
      const d = <u32>load<T>(from, 3 * sizeof<T>());
      seen |= a | b | c | d;
      increment<T>(counts, a);
      increment<T>(counts + COUNTS_APART, b);
      increment<T>(counts + 2 * COUNTS_APART, c);
      increment<T>(counts + 3 * COUNTS_APART, d);
    }
  }
  for (; row < end; row++) {
    const isPresent = validity == 0 || bitAt(validity, row);
    const value = isPresent ? <u32>load<T>(data + row * sizeof<T>()) : COUNTED_MAX;
    if (isPresent) seen |= value;
    increment<T>(counts, value);
  }
  if (seen >= COUNTED_MAX) return false;
  for (let at = counts; at < counts + COUNTS_APART; at += 16) {
    const odd = i32x4.add(v128.load(at, COUNTS_APART), v128.load(at, 3 * COUNTS_APART));
    v128.store(at, i32x4.add(i32x4.add(v128.load(at), v128.load(at, 2 * COUNTS_APART)), odd));
  }
  return true;
}

/** Values that are too large are counted with the absent ones: they have been seen. */
// @ts-ignore: decorator
@inline
function increment<T>(counts: u32, value: u32): void {
  const at = counts + ((sizeof<T>() == 1 ? value : min(value, COUNTED_MAX)) << 2);
  store<u32>(at, load<u32>(at) + 1);
}

/** As valueGroupsOfRows for a field that no row has. */
export function valueGroupsOfNothing(groups: ValueGroups, count: u32, numbers: u32): void {
  for (const end = numbers + (count << 2); numbers < end; numbers += 4) {
    store<u32>(numbers, groupOf(groups, load<u32>(numbers), 0, true));
  }
}

/** Replaces groups by the groups before them, and writes their values: 8 bytes each, 1 (`width`) or as views; those that are absent
 *  are 0. Writes a bit for each that is present. Returns how many these are. */
export function valueGroupsDescribe(groups: ValueGroups, list: u32, count: u32, width: u32, data: u32, validity: u32): u32 {
  let present: u32 = 0;
  memory.fill(validity, 0, (count + 7) >> 3);
  for (let i: u32 = 0; i < count; i++) {
    const key = groups.keys + load<u32>(list + (i << 2)) * KEY_BYTES;
    store<u32>(list + (i << 2), load<u32>(key, 8));
    const isPresent = load<u32>(key, 12) == 0;
    present += <u32>isPresent;
    const bit: u8 = <u8>isPresent << <u8>(i & 7);
    store<u8>(validity + (i >> 3), load<u8>(validity + (i >> 3)) | bit);
    const value = load<u64>(key);
    if (width == 8) store<u64>(data + (i << 3), value);
    else if (width == 1) store<u8>(data + i, <u8>value);
    else if (isPresent) v128.store(data + i * VIEW_BYTES, v128.load(keyView(groups.texts, <u32>value)));
    else v128.store(data + i * VIEW_BYTES, i64x2.splat(0));
  }
  return present;
}

// @ts-ignore: decorator
@inline
function ofNumbers<T>(
  groups: ValueGroups,
  data: u32,
  base: i64,
  validity: u32,
  rows: u32,
  first: u32,
  count: u32,
  numbers: u32,
): void {
  // an empty one, which the first row replaces
  let small: u32 = 0;
  let smallGroups: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = rows != 0 ? load<u32>(rows + (i << 2)) : first + i;
    const at = numbers + (i << 2);
    const before = load<u32>(at);
    const isAbsent = validity != 0 && !bitAt(validity, row);
    const value = isAbsent ? 0 : valueAt<T>(data, row, base);
    if (before < smallGroups && value < SMALL_ABSENT) {
      const known = load<u32>(small + smallPlace(before, value, isAbsent));
      if (known != 0) {
        store<u32>(at, known - 1);
        continue;
      }
    }
    store<u32>(at, groupOf(groups, before, value, isAbsent));
    small = groups.small;
    smallGroups = groups.smallGroups;
  }
}

// @ts-ignore: decorator
@inline
function smallPlace(before: u32, value: u64, isAbsent: bool): u32 {
  return ((before << SMALL_LOG2) + (isAbsent ? <u32>SMALL_ABSENT : <u32>value)) << 2;
}

// @ts-ignore: decorator
@inline
function valueAt<T>(data: u32, row: u32, base: i64): u64 {
  if (isFloat<T>()) {
    const value = load<f64>(data + (row << 3));
    // the sum makes one zero of both
    return value == value ? reinterpret<u64>(value + 0.0) : NAN;
  }
  return <u64>load<T>(data + row * sizeof<T>()) + <u64>base;
}

function groupOf(groups: ValueGroups, before: u32, value: u64, isAbsent: bool): u32 {
  if (value < SMALL_ABSENT && before < SMALL_GROUPS_MAX) {
    if (before >= groups.smallGroups) growSmall(groups, before);
    const known = load<u32>(groups.small + smallPlace(before, value, isAbsent));
    if (known != 0) return known - 1;
    const group = addGroup(groups, before, value, isAbsent);
    store<u32>(groups.small + smallPlace(before, value, isAbsent), group + 1);
    return group;
  }
  const hash = hashOf(hashPair(0, <u32>value, <u32>(value >> 32)) + hashPair(1, before, <u32>isAbsent));
  if (groups.capacity != 0) {
    const slots = slotsOf(groups);
    const mask = (groups.capacity << 1) - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const slot = slots + (at << 3);
      const tagged = load<u32>(slot, 4);
      if (tagged == 0) break;
      const key = groups.keys + (tagged - 1) * KEY_BYTES;
      if (load<u32>(slot) == hash && load<u64>(key) == value && load<u32>(key, 8) == before && load<u32>(key, 12) == <u32>isAbsent) {
        return tagged - 1;
      }
    }
  }
  const group = addGroup(groups, before, value, isAbsent);
  putTagged(slotsOf(groups), (groups.capacity << 1) - 1, hash, group + 1);
  return group;
}

// @ts-ignore: decorator
@inline
function slotsOf(groups: ValueGroups): u32 {
  return groups.keys + groups.capacity * KEY_BYTES;
}

/** A group that the slots do not tell yet. */
function addGroup(groups: ValueGroups, before: u32, value: u64, isAbsent: bool): u32 {
  const group = groups.count;
  if (group == groups.capacity) growGroups(groups);
  const key = groups.keys + group * KEY_BYTES;
  store<u64>(key, value);
  store<u32>(key, before, 8);
  store<u32>(key, <u32>isAbsent, 12);
  groups.count = group + 1;
  return group;
}

function growGroups(groups: ValueGroups): void {
  const old = groups.capacity;
  const capacity = max(GROUPS_MIN, old << 1);
  const keys = hostAlloc(tableBytes(capacity));
  const slots = keys + capacity * KEY_BYTES;
  moveTagged(slotsOf(groups), old << 1, slots, (capacity << 1) - 1);
  if (old != 0) {
    memory.copy(keys, groups.keys, old * KEY_BYTES);
    hostFree(groups.keys, tableBytes(old));
  }
  groups.keys = keys;
  groups.capacity = capacity;
}

/** Makes room for the small values of a group before. */
function growSmall(groups: ValueGroups, before: u32): void {
  const old = groups.smallGroups;
  let wanted = max<u32>(1, old << 1);
  while (wanted <= before) wanted <<= 1;
  const small = hostAlloc(smallBytes(wanted));
  memory.fill(small, 0, smallBytes(wanted));
  if (old != 0) {
    memory.copy(small, groups.small, smallBytes(old));
    hostFree(groups.small, smallBytes(old));
  }
  groups.small = small;
  groups.smallGroups = wanted;
}
