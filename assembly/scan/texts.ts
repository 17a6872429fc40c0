// Sets of texts that rows are looked up in: views, and slots, a power of two of them and at least twice as many as views, in which 0 is
// free and other numbers are those of views, from 1 on.
import { VIEW_BYTES } from "../abi";
import { equalViews, hashView } from "../memory/views";

/** Enters views[count], which are distinct; `slots` are u32, all 0. */
export function textsFill(views: u32, count: u32, slots: u32, mask: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    let slot = hashView(views + i * VIEW_BYTES) & mask;
    while (load<u32>(slots + (slot << 2)) != 0) slot = (slot + 1) & mask;
    store<u32>(slots + (slot << 2), i + 1);
  }
}

/** True if the text is in the hash table. */
export function isInTexts(view: u32, views: u32, slots: u32, mask: u32): bool {
  let slot = hashView(view) & mask;
  while (true) {
    const number = load<u32>(slots + (slot << 2));
    if (number == 0) return false;
    if (equalViews(view, views + (number - 1) * VIEW_BYTES)) return true;
    slot = (slot + 1) & mask;
  }
}
