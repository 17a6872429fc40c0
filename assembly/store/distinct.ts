// The distinct texts of a column.
import { VIEW_BYTES } from "../abi";
import { equalViews, hashView } from "../memory/views";

/** Copies a view of each distinct text to `entries`, in order of first appearance; returns how many. `slots`: u32, a power of two of them
 *  that is at least twice `count`, all 0. */
export function distinctTexts(views: u32, count: u32, slots: u32, slotCount: u32, entries: u32): u32 {
  const mask = slotCount - 1;
  let distinct: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = views + i * VIEW_BYTES;
    let slot = hashView(view) & mask;
    let number: u32 = 0;
    while (true) {
      number = load<u32>(slots + (slot << 2));
      if (number == 0 || equalViews(view, entries + (number - 1) * VIEW_BYTES)) break;
      slot = (slot + 1) & mask;
    }
    if (number != 0) continue;
    v128.store(entries + distinct * VIEW_BYTES, v128.load(view));
    store<u32>(slots + (slot << 2), ++distinct);
  }
  return distinct;
}
