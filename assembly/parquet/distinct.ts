// Dictionaries: the distinct values of a column, numbered by first appearance. `slots` are u32, a power of two of them that is at least
// twice `max`, all 0. Both return how many there are, or TOO_MANY as soon as there are more than `max`.
import { VIEW_BYTES } from "../abi";
import { hashWord } from "../memory/hash";
import { equalViews, hashView, viewBytes } from "../memory/views";

const TOO_MANY: u32 = 0xffffffff;

/** Values of 8 bytes: distinct ones to `entries`, u64[max], the number of each value's to `numbers`, u32[count]. */
export function parquetDistinct8(values: u32, count: u32, slots: u32, slotCount: u32, entries: u32, max: u32, numbers: u32): u32 {
  const mask = slotCount - 1;
  let distinct: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const value = load<u64>(values + (i << 3));
    let slot = hashWord(value) & mask;
    let number: u32 = 0;
    while (true) {
      number = load<u32>(slots + (slot << 2));
      if (number == 0 || load<u64>(entries + ((number - 1) << 3)) == value) break;
      slot = (slot + 1) & mask;
    }
    if (number == 0) {
      if (distinct == max) return TOO_MANY;
      store<u64>(entries + (distinct << 3), value);
      number = ++distinct;
      store<u32>(slots + (slot << 2), number);
    }
    store<u32>(numbers + (i << 2), number - 1);
  }
  return distinct;
}

/** Views: those of distinct texts to `entries`, copied; at most `bytesMax` of text in all. */
export function parquetDistinctText(
  views: u32,
  count: u32,
  slots: u32,
  slotCount: u32,
  entries: u32,
  max: u32,
  numbers: u32,
  bytesMax: u32,
): u32 {
  const mask = slotCount - 1;
  let distinct: u32 = 0;
  let left = bytesMax;
  for (let i: u32 = 0; i < count; i++) {
    const view = views + i * VIEW_BYTES;
    const bytes = viewBytes(view);
    let slot = hashView(view) & mask;
    let number: u32 = 0;
    while (true) {
      number = load<u32>(slots + (slot << 2));
      if (number == 0 || equalViews(view, entries + (number - 1) * VIEW_BYTES)) break;
      slot = (slot + 1) & mask;
    }
    if (number == 0) {
      if (distinct == max || bytes > left) return TOO_MANY;
      left -= bytes;
      v128.store(entries + distinct * VIEW_BYTES, v128.load(view));
      number = ++distinct;
      store<u32>(slots + (slot << 2), number);
    }
    store<u32>(numbers + (i << 2), number - 1);
  }
  return distinct;
}
