// Text of kept rows: copied out of the memory of the runs that they came with.
import { VIEW_BYTES } from "../abi";
import { bitAt } from "../memory/bits";
import { copyShort } from "../memory/bytes";
import { memoryBase } from "../memory/host";
import { INLINE_MAX, viewBytes, viewText } from "../memory/views";

/** Bytes of text outside the present views listed. */
export function textBytesOf(views: u32, validity: u32, list: u32, count: u32): f64 {
  let total: u64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const index = load<u32>(list + (i << 2));
    if (!bitAt(validity, index)) continue;
    const bytes = viewBytes(views + index * VIEW_BYTES);
    if (bytes > INLINE_MAX) total += bytes;
  }
  return <f64>total;
}

/** Copies the text of the present views listed, of which some may be there twice, to `text`, and points the views there. */
export function ownText(views: u32, validity: u32, list: u32, count: u32, text: u32): void {
  let end = text;
  for (let i: u32 = 0; i < count; i++) {
    const index = load<u32>(list + (i << 2));
    if (!bitAt(validity, index)) continue;
    const view = views + index * VIEW_BYTES;
    const bytes = viewBytes(view);
    if (bytes <= INLINE_MAX) continue;
    const from = viewText(view);
    if (from >= text && from < end) continue;
    copyShort(end, from, bytes);
    store<u64>(view, memoryBase + <u64>end, 8);
    end += bytes;
  }
}
