// Packed columns: the values of the present rows alone, in order; a bitmap says which rows they are. What segments hold of columns that few
// rows have, so that a row takes memory for its own fields only.
import { VIEW_BYTES } from "../abi";
import { copyShort } from "./bytes";
import { memoryBase } from "./host";
import { INLINE_MAX, viewBytes, viewText } from "./views";

/** Bits of word `index` of a bitmap that lie in [from, end). */
// @ts-ignore: decorator
@inline
function wordWithin(bitmap: u32, index: u32, from: u32, end: u32): u64 {
  const first = index << 6;
  let word = load<u64>(bitmap + (index << 3));
  if (first < from) word &= ~(<u64>0) << (from - first);
  if (end - first < 64) word &= ((<u64>1) << (end - first)) - 1;
  return word;
}

/** Copies a view, and longer text to `text`. Returns the end of the text. */
// @ts-ignore: decorator
@inline
function copyView(view: u32, target: u32, text: u32): u32 {
  const bytes = viewBytes(view);
  store<u64>(target, load<u64>(view));
  if (bytes <= INLINE_MAX) {
    store<u64>(target, load<u64>(view, 8), 8);
    return text;
  }
  copyShort(text, viewText(view), bytes);
  store<u64>(target, memoryBase + <u64>text, 8);
  return text + bytes;
}

/** Copies the values of `size` bytes (1 or 8) of the present rows [from, from + count), count > 0, to `target`, one after the other. */
export function packValues(size: u32, values: u32, validity: u32, from: u32, count: u32, target: u32): void {
  const end = from + count;
  for (let i = from >> 6; i <= (end - 1) >> 6; i++) {
    for (let word = wordWithin(validity, i, from, end); word != 0; word &= word - 1) {
      const row = (i << 6) + <u32>ctz(word);
      if (size == 8) store<u64>(target, load<u64>(values + (row << 3)));
      else store<u8>(target, load<u8>(values + row));
      target += size;
    }
  }
}

/** The same for views of strings, whose longer text goes to `text`. Returns the end of the text. */
export function packViews(views: u32, validity: u32, from: u32, count: u32, target: u32, text: u32): u32 {
  const end = from + count;
  for (let i = from >> 6; i <= (end - 1) >> 6; i++) {
    for (let word = wordWithin(validity, i, from, end); word != 0; word &= word - 1) {
      text = copyView(views + ((i << 6) + <u32>ctz(word)) * VIEW_BYTES, target, text);
      target += VIEW_BYTES;
    }
  }
  return text;
}

/** Copies packed values of `size` bytes (1 or 8), the first of which is that of the first present row from `from` on, to the rows [from,
 *  from + count), count > 0, of a dense column: `target` is the place of row `from`. Absent rows become 0. */
export function spreadValues(size: u32, packed: u32, validity: u32, from: u32, count: u32, target: u32): void {
  const end = from + count;
  memory.fill(target, 0, count * size);
  for (let i = from >> 6; i <= (end - 1) >> 6; i++) {
    for (let word = wordWithin(validity, i, from, end); word != 0; word &= word - 1) {
      const at = target + ((i << 6) + <u32>ctz(word) - from) * size;
      if (size == 8) store<u64>(at, load<u64>(packed));
      else store<u8>(at, load<u8>(packed));
      packed += size;
    }
  }
}

/** The same for views of strings; absent rows become empty views. Returns the end of the text. */
export function spreadViews(packed: u32, validity: u32, from: u32, count: u32, target: u32, text: u32): u32 {
  const end = from + count;
  memory.fill(target, 0, count * VIEW_BYTES);
  for (let i = from >> 6; i <= (end - 1) >> 6; i++) {
    for (let word = wordWithin(validity, i, from, end); word != 0; word &= word - 1) {
      text = copyView(packed, target + ((i << 6) + <u32>ctz(word) - from) * VIEW_BYTES, text);
      packed += VIEW_BYTES;
    }
  }
  return text;
}

/** Keeps the packed values of those of `rowCount` rows whose bit in `keep` is 1 (0 behind the last row), in place, and writes the bitmap of
 *  the rows that are left to `target`, in whole words. Returns how many values are left. Costs little where few rows go. */
export function keepPacked(size: u32, packed: u32, validity: u32, keep: u32, rowCount: u32, target: u32): u32 {
  const first = packed;
  let left = packed;
  let word: u64 = 0;
  let wordBits: u32 = 0;
  for (let i: u32 = 0; i << 6 < rowCount; i++) {
    const mask = load<u64>(keep + (i << 3));
    const present = wordWithin(validity, i, 0, rowCount);
    const count = <u32>popcnt(present);
    if (present == (present & mask)) {
      if (left != packed) memory.copy(left, packed, count * size);
      left += count * size;
    } else {
      let at = packed;
      for (let bits = present; bits != 0; bits &= bits - 1, at += size) {
        if (((mask >> ctz(bits)) & 1) == 0) continue;
        if (size == 8) store<u64>(left, load<u64>(at));
        else if (size == 1) store<u8>(left, load<u8>(at));
        else v128.store(left, v128.load(at));
        left += size;
      }
    }
    packed += count * size;
    const kept = mask == ~(<u64>0) || present == 0 ? present : squeezed(present, mask);
    const keptBits = <u32>popcnt(mask);
    word |= kept << wordBits;
    if (wordBits + keptBits < 64) {
      wordBits += keptBits;
      continue;
    }
    store<u64>(target, word);
    target += 8;
    word = wordBits == 0 ? 0 : kept >> (64 - wordBits);
    wordBits += keptBits - 64;
  }
  if (wordBits != 0) store<u64>(target, word);
  return (left - first) / size;
}

/** The bits of `word` where `mask` has ones, side by side. */
function squeezed(word: u64, mask: u64): u64 {
  let result: u64 = 0;
  for (let to: u64 = 0; mask != 0; mask &= mask - 1, to++) result |= ((word >> ctz(mask)) & 1) << to;
  return result;
}

/** Makes the values of `size` bytes (1, 8 or 16) of absent rows 0: of rows [from, from + count), count > 0, of a bitmap, whose values lie
 *  at `values`. What nobody wrote may be anybody's, and what reads values does not always look at bitmaps first. */
export function clearAbsent(size: u32, values: u32, validity: u32, from: u32, count: u32): void {
  const end = from + count;
  for (let i = from >> 6; i <= (end - 1) >> 6; i++) {
    const first = max(i << 6, from);
    const rows = min((i + 1) << 6, end) - first;
    // bits of rows within [from, end) that are 0
    let word = ~load<u64>(validity + (i << 3)) & (~(<u64>0) << (first & 63));
    if (rows + (first & 63) < 64) word &= ((<u64>1) << (rows + (first & 63))) - 1;
    if (<u32>popcnt(word) == rows) {
      memory.fill(values + (first - from) * size, 0, rows * size);
      continue;
    }
    for (; word != 0; word &= word - 1) {
      const at = values + ((i << 6) + <u32>ctz(word) - from) * size;
      if (size == 8) store<u64>(at, 0);
      else if (size == 1) store<u8>(at, 0);
      else v128.store(at, i64x2.splat(0));
    }
  }
}

/** Spreads packed values of `size` bytes (1, 8 or 16) over `rowCount` rows at `target`; absent rows become 0. */
export function unpackValues(size: u32, packed: u32, validity: u32, rowCount: u32, target: u32): void {
  memory.fill(target, 0, rowCount * size);
  for (let i: u32 = 0; i << 6 < rowCount; i++) {
    for (let word = wordWithin(validity, i, 0, rowCount); word != 0; word &= word - 1) {
      const at = target + ((i << 6) + <u32>ctz(word)) * size;
      if (size == 8) store<u64>(at, load<u64>(packed));
      else if (size == 1) store<u8>(at, load<u8>(packed));
      else v128.store(at, v128.load(packed));
      packed += size;
    }
  }
}
