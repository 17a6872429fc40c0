// Texts as Parquet stores them: each with its length before it (PLAIN), or all lengths and then all texts (DELTA_LENGTH_BYTE_ARRAY).
import { VIEW_BYTES } from "../abi";
import { copyShort } from "../memory/bytes";
import { viewBytes, viewText, writeView } from "../memory/views";
import { isLessView } from "../store/order";

/** Bytes of all texts. */
export function parquetTextBytes(views: u32, count: u32): f64 {
  let bytes: u64 = 0;
  for (let i: u32 = 0; i < count; i++) bytes += load<u32>(views + i * VIEW_BYTES);
  return <f64>bytes;
}

/** Length u32 and text of each view; returns the end. */
export function parquetPlainText(views: u32, count: u32, target: u32): u32 {
  for (let i: u32 = 0; i < count; i++, views += VIEW_BYTES) {
    const bytes = viewBytes(views);
    store<u32>(target, bytes);
    memory.copy(target + 4, viewText(views), bytes);
    target += 4 + bytes;
  }
  return target;
}

/** u64 length of each view. */
export function parquetTextLengths(views: u32, count: u32, target: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u64>(target + (i << 3), load<u32>(views + i * VIEW_BYTES));
}

/** The texts one behind the other; returns the end. */
export function parquetTexts(views: u32, count: u32, target: u32): u32 {
  for (let i: u32 = 0; i < count; i++, views += VIEW_BYTES) {
    const bytes = viewBytes(views);
    if (bytes <= 32) copyShort(target, viewText(views), bytes);
    else memory.copy(target, viewText(views), bytes);
    target += bytes;
  }
  return target;
}

/** Views of PLAIN texts that stay at [text, end). Returns 0 for damage. */
export function parquetPlainViews(text: u32, end: u32, count: u32, views: u32): bool {
  for (let i: u32 = 0; i < count; i++, views += VIEW_BYTES) {
    if (end - text < 4) return false;
    const bytes = load<u32>(text);
    text += 4;
    if (bytes > end - text) return false;
    writeView(views, text, bytes);
    text += bytes;
  }
  return true;
}

/** Views of texts of these u64 lengths that stay at [text, end). Returns 0 for damage. */
export function parquetLengthViews(lengths: u32, text: u32, end: u32, count: u32, views: u32): bool {
  for (let i: u32 = 0; i < count; i++, views += VIEW_BYTES) {
    const bytes = load<u64>(lengths + (i << 3));
    if (bytes > <u64>(end - text)) return false;
    writeView(views, text, <u32>bytes);
    text += <u32>bytes;
  }
  return true;
}

/** Numbers of the least and the greatest text, u32[2]; count > 0. */
export function parquetRangeText(views: u32, count: u32, target: u32): void {
  let least: u32 = 0;
  let most: u32 = 0;
  for (let i: u32 = 1; i < count; i++) {
    const view = views + i * VIEW_BYTES;
    if (isLessView(view, views + least * VIEW_BYTES)) least = i;
    else if (isLessView(views + most * VIEW_BYTES, view)) most = i;
  }
  store<u32>(target, least);
  store<u32>(target, most, 4);
}
