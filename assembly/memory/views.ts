// String views (drawn in abi.ts): reading, writing, and moving the text that views point at.
import { VIEW_BYTES, VIEW_INLINE_MAX } from "../abi";
import { bitAt } from "./bits";
import { copyShort, equalBytes } from "./bytes";
import { hashText, hashWords } from "./hash";
import { memoryBase } from "./host";

// abi.ts says it in a type that both compilers know; lengths are u32 here.
export const INLINE_MAX: u32 = VIEW_INLINE_MAX;

/** The length of a string view's text in bytes. */
// @ts-ignore: decorator
@inline
export function viewBytes(view: u32): u32 {
  return load<u32>(view);
}

/** Where the text of a view lies in this memory; inside the view itself when it is short. */
// @ts-ignore: decorator
@inline
export function viewText(view: u32): u32 {
  return load<u32>(view) <= INLINE_MAX ? view + 4 : <u32>(load<u64>(view, 8) - memoryBase);
}

/** Writes a view of text that stays where it is; short text is copied in. */
export function writeView(view: u32, text: u32, bytes: u32): void {
  store<u32>(view, bytes);
  if (bytes <= INLINE_MAX) {
    store<u64>(view, 0, 4);
    store<u32>(view, 0, 12);
    copyShort(view + 4, text, bytes);
  } else {
    store<u32>(view, load<u32>(text), 4);
    store<u64>(view, memoryBase + <u64>text, 8);
  }
}

/** True when both views hold the same text. Length and prefix are compared at once, text only when they agree. */
export function equalViews(a: u32, b: u32): bool {
  if (load<u64>(a) != load<u64>(b)) return false;
  if (load<u64>(a, 8) == load<u64>(b, 8)) return true;
  const bytes = load<u32>(a);
  return bytes > INLINE_MAX && equalBytes(viewText(a), viewText(b), bytes);
}

/** The hash of a view's text; only to be compared with others of this function. */
// @ts-ignore: decorator
@inline
export function hashView(view: u32): u32 {
  const bytes = load<u32>(view);
  return bytes > INLINE_MAX ? hashText(viewText(view), bytes, 0) : hashWords(load<u64>(view), load<u64>(view, 8));
}

/** Bytes of text outside the views of the present rows [from, from + count): of rows that share a text, as often as they have it. That may
 *  be more than all memory. */
export function textBytes(views: u32, validity: u32, from: u32, count: u32): f64 {
  let total: u64 = 0;
  for (let row = from; row < from + count; row++) {
    if (validity != 0 && !bitAt(validity, row)) continue;
    const bytes = viewBytes(views + row * VIEW_BYTES);
    if (bytes > INLINE_MAX) total += bytes;
  }
  return <f64>total;
}

/** Copies the views of rows [from, from + count) to `target`, their text to `text`, and points the copies there. Neighbours that share
 *  their text share its copy. Absent rows become empty views. Returns the end of the text. */
export function copyViews(views: u32, validity: u32, from: u32, count: u32, target: u32, text: u32): u32 {
  let last: u64 = 0;
  let lastBytes: u32 = 0;
  let lastCopy: u64 = 0;
  for (let row = from; row < from + count; row++, target += VIEW_BYTES) {
    const view = views + row * VIEW_BYTES;
    if (validity != 0 && !bitAt(validity, row)) {
      store<u64>(target, 0);
      store<u64>(target, 0, 8);
      continue;
    }
    const bytes = viewBytes(view);
    store<u64>(target, load<u64>(view));
    if (bytes <= INLINE_MAX) {
      store<u64>(target, load<u64>(view, 8), 8);
    } else {
      const address = load<u64>(view, 8);
      if (address != last || bytes != lastBytes) {
        copyShort(text, viewText(view), bytes);
        last = address;
        lastBytes = bytes;
        lastCopy = memoryBase + <u64>text;
        text += bytes;
      }
      store<u64>(target, lastCopy, 8);
    }
  }
  return text;
}
