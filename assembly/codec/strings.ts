// Strings: 16-byte views in, views out. Few distinct ones become a dictionary and codes, otherwise each is written out. A section:
//   | encoding u8 (48 plain, 49 dictionary) | 0 u8 | 0 u16 | entryCount u32 | textBytes u32 | longBytes u32
//   | lengths: ints section of entryCount | text, textBytes | codes: ints section, dictionary only |
// plain has an entry per value; a dictionary's entries stand in order of first appearance. longBytes is the text of entries of more than 12
// bytes: what the views of decoded values need beside themselves.
import { STRINGS_DICTIONARY, STRINGS_PLAIN, VIEW_BYTES } from "../abi";
import { bitAt } from "../memory/bits";
import { copyShort } from "../memory/bytes";
import { INLINE_MAX, equalViews, hashView, viewText, writeView } from "../memory/views";
import { decodeInts, encodeInts, intsBytesMax } from "./ints";
import { bitsOf } from "./work";

export const STRINGS_HEAD_BYTES: u32 = 16;
// Below this many values a dictionary cannot pay.
const DICTIONARY_VALUES_MIN: u32 = 4;

/** Bytes a section of `count` values with `textBytes` of text takes at most. */
// @ts-ignore: decorator
@inline
export function stringsBytesMax(count: u32, textBytes: u32): u32 {
  return STRINGS_HEAD_BYTES + 2 * intsBytesMax(count) + textBytes;
}

/** Text of the present ones of `count` values in all. */
export function stringsTextBytes(views: u32, validity: u32, count: u32): u64 {
  let bytes: u64 = 0;
  for (let i: u32 = 0; i < count; i++, views += VIEW_BYTES) {
    if (validity == 0 || bitAt(validity, i)) bytes += load<u32>(views);
  }
  return bytes;
}

/** Encodes views[count], count >= 1. `work` is scratch of 36 bytes per value:
 *  | codes u64 | lengths u64 | scaled u64 | entries u32 | hash slots u32 x 2 |. Returns the end of the section. */
export function encodeStrings(views: u32, count: u32, work: u32, target: u32): u32 {
  const codes = work;
  const entries = work + count * 24;
  const distinct = count < DICTIONARY_VALUES_MIN ? 0 : findDistinct(views, count, codes, entries, entries + (count << 2));
  if (distinct != 0 && isDictionarySmaller(views, count, entries, distinct)) {
    store<u32>(target, STRINGS_DICTIONARY);
    const end = encodeEntries(entries, distinct, work + (count << 3), target);
    return encodeInts(codes, count, false, work + (count << 4), end);
  }
  for (let i: u32 = 0; i < count; i++) store<u32>(entries + (i << 2), views + i * VIEW_BYTES);
  store<u32>(target, STRINGS_PLAIN);
  return encodeEntries(entries, count, work + (count << 3), target);
}

/** Numbers the values by first appearance: u64 codes, u32 view of each entry. Returns the entries, or 0 when more than half of the values
 *  are. */
function findDistinct(views: u32, count: u32, codes: u32, entries: u32, slots: u32): u32 {
  // at most half of the values are entries, so at most half of the slots are taken; fewer than 2 x count slots
  const slotCount: u32 = 1 << bitsOf(count - 1);
  const mask = slotCount - 1;
  const most = count >> 1;
  memory.fill(slots, 0, slotCount << 2);
  let distinct: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = views + i * VIEW_BYTES;
    let slot = hashView(view) & mask;
    let code: u32 = 0;
    while (true) {
      code = load<u32>(slots + (slot << 2));
      if (code == 0 || equalViews(view, load<u32>(entries + ((code - 1) << 2)))) break;
      slot = (slot + 1) & mask;
    }
    if (code == 0) {
      if (distinct == most) return 0;
      store<u32>(entries + (distinct << 2), view);
      code = ++distinct;
      store<u32>(slots + (slot << 2), code);
    }
    store<u64>(codes + (i << 3), code - 1);
  }
  return distinct;
}

function isDictionarySmaller(views: u32, count: u32, entries: u32, distinct: u32): bool {
  let text: u64 = 0;
  for (let i: u32 = 0; i < distinct; i++) text += load<u32>(load<u32>(entries + (i << 2)));
  const codeBytes = (<u64>bitsOf(distinct - 1) * count) >> 3;
  return text + distinct + codeBytes < stringsTextBytes(views, 0, count) + count;
}

/** Everything of a section but the encoding and the codes. `work`: | lengths u64 | scaled u64 |, per value. */
function encodeEntries(entries: u32, count: u32, work: u32, target: u32): u32 {
  let textBytes: u32 = 0;
  let longBytes: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const bytes = load<u32>(load<u32>(entries + (i << 2)));
    store<u64>(work + (i << 3), bytes);
    textBytes += bytes;
    if (bytes > INLINE_MAX) longBytes += bytes;
  }
  store<u32>(target, count, 4);
  store<u32>(target, textBytes, 8);
  store<u32>(target, longBytes, 12);
  let out = encodeInts(work, count, true, work + (count << 3), target + STRINGS_HEAD_BYTES);
  for (let i: u32 = 0; i < count; i++) {
    const view = load<u32>(entries + (i << 2));
    const bytes = load<u32>(view);
    copyShort(out, viewText(view), bytes);
    out += bytes;
  }
  return out;
}

/** longBytes of a section, or -1 when it has no head. */
export function stringsLongBytes(source: u32, end: u32): i64 {
  return end - source < STRINGS_HEAD_BYTES ? -1 : <i64>load<u32>(source, 12);
}

/** Decodes a section of `count` >= 1 values into views[count], whose long text goes to `text`. `work` is scratch of 24 bytes per value.
 *  Returns the end of the section, or 0 when the bytes are no such section or want more than `textBytes`. */
export function decodeStrings(source: u32, end: u32, count: u32, work: u32, text: u32, textBytes: u32, views: u32): u32 {
  if (end - source < STRINGS_HEAD_BYTES) return 0;
  const encoding = <u32>load<u8>(source);
  const entryCount = load<u32>(source, 4);
  const isDictionary = encoding == STRINGS_DICTIONARY;
  if (!isDictionary && encoding != STRINGS_PLAIN) return 0;
  if (entryCount == 0 || (isDictionary ? entryCount > count : entryCount != count)) return 0;
  const entries = isDictionary ? work + (count << 3) : views;
  source = decodeEntries(source, end, entryCount, work, text, textBytes, entries);
  if (source == 0 || !isDictionary) return source;
  source = decodeInts(source, end, count, work);
  if (source == 0) return 0;
  for (let i: u32 = 0; i < count; i++) {
    const code = load<u64>(work + (i << 3));
    if (code >= <u64>entryCount) return 0;
    v128.store(views + i * VIEW_BYTES, v128.load(entries + <u32>code * VIEW_BYTES));
  }
  return source;
}

/** Decodes the entries of a section, whose head is at `source`, to views. Returns where the codes begin, or 0. */
export function decodeEntries(source: u32, end: u32, count: u32, lengths: u32, text: u32, textBytes: u32, views: u32): u32 {
  const storedBytes = load<u32>(source, 8);
  if (load<u32>(source, 12) > textBytes) return 0;
  source = decodeInts(source + STRINGS_HEAD_BYTES, end, count, lengths);
  if (source == 0 || end - source < storedBytes) return 0;
  const textEnd = text + textBytes;
  const sourceEnd = source + storedBytes;
  for (let i: u32 = 0; i < count; i++, views += VIEW_BYTES) {
    const length = load<u64>(lengths + (i << 3));
    if (length > <u64>(sourceEnd - source)) return 0;
    const bytes = <u32>length;
    if (bytes <= INLINE_MAX) {
      writeView(views, source, bytes);
    } else {
      if (bytes > textEnd - text) return 0;
      copyShort(text, source, bytes);
      writeView(views, text, bytes);
      text += bytes;
    }
    source += bytes;
  }
  return source == sourceEnd ? source : 0;
}
