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
 *  from + count), count > 0, of a dense column: `target` is the place of row `from`. Absent rows are left as they are. */
export function spreadValues(size: u32, packed: u32, validity: u32, from: u32, count: u32, target: u32): void {
  const end = from + count;
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

/** Keeps the packed values of the rows listed (u32 each, ascending), in place. Returns how many are kept. */
export function keepPacked(size: u32, packed: u32, validity: u32, rows: u32, count: u32): u32 {
  let target = packed;
  let before: u32 = 0; // values of the rows before the word at hand
  let word: u32 = 0;
  for (const end = rows + (count << 2); rows < end; rows += 4) {
    const row = load<u32>(rows);
    for (; word < row >> 6; word++) before += <u32>popcnt(load<u64>(validity + (word << 3)));
    const bits = load<u64>(validity + (word << 3));
    if (((bits >> (row & 63)) & 1) == 0) continue;
    const source = packed + (before + <u32>popcnt(bits & (((<u64>1) << (row & 63)) - 1))) * size;
    if (size == 8) store<u64>(target, load<u64>(source));
    else if (size == 1) store<u8>(target, load<u8>(source));
    else v128.store(target, v128.load(source));
    target += size;
  }
  return (target - packed) / size;
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
