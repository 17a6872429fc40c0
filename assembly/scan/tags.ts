// Tags during a scan: values of a column by row, and which series a predicate wants. Code 0 is "absent" and its view is never read.
import { VIEW_BYTES } from "../abi";
import { hashBytes } from "../memory/bytes";
import { equalViews, viewBytes, viewText } from "../memory/views";

/** Views and validity of a tag column for rows `rows[i]`, or first + i when `rows` is 0. Returns how many are present. */
export function gatherTags(
  series: u32,
  first: u32,
  rows: u32,
  count: u32,
  codes: u32,
  values: u32,
  targetViews: u32,
  targetValidity: u32,
): u32 {
  let present: u32 = 0;
  for (let i: u32 = 0; i < count; i += 8) {
    const end = min(count - i, 8);
    let byte: u32 = 0;
    for (let k: u32 = 0; k < end; k++, targetViews += VIEW_BYTES) {
      const row = rows != 0 ? load<u32>(rows + ((i + k) << 2)) : first + i + k;
      const code = load<u32>(codes + (load<u32>(series + (row << 2)) << 2));
      if (code != 0) {
        v128.store(targetViews, v128.load(values + code * VIEW_BYTES));
        byte |= 1 << k;
      } else {
        v128.store(targetViews, i64x2.splat(0));
      }
    }
    store<u8>(targetValidity + (i >> 3), byte);
    present += <u32>popcnt(byte);
  }
  return present;
}

/** target[code] = 1 when the value of that code is one of the wanted views, else 0, for codes 1 .. valueCount - 1. A few wanted values are
 *  compared one after the other (slotCount 0); more go through a hash map of slotCount (a power of two above wantedCount) zeroed slots
 *  | hash u32 | view u32 | at `slots`. */
export function matchCodes(
  values: u32,
  valueCount: u32,
  wanted: u32,
  wantedCount: u32,
  target: u32,
  slots: u32,
  slotCount: u32,
): void {
  if (slotCount != 0) {
    for (let i: u32 = 0; i < wantedCount; i++) hashedView(slots, slotCount - 1, wanted + i * VIEW_BYTES, true);
    for (let code: u32 = 1; code < valueCount; code++) {
      store<u8>(target + code, <u32>hashedView(slots, slotCount - 1, values + code * VIEW_BYTES, false));
    }
    return;
  }
  for (let code: u32 = 1; code < valueCount; code++) {
    let match: u32 = 0;
    for (let i: u32 = 0; i < wantedCount; i++) match |= <u32>equalViews(values + code * VIEW_BYTES, wanted + i * VIEW_BYTES);
    store<u8>(target + code, match);
  }
}

/** True when the text of `view` is in the map; when it is not and `add` is set, it is put there. */
function hashedView(slots: u32, mask: u32, view: u32, add: bool): bool {
  const hash = hashBytes(viewText(view), viewBytes(view));
  let slot = slots + ((hash & mask) << 3);
  while (load<u32>(slot, 4) != 0) {
    if (load<u32>(slot) == hash && equalViews(load<u32>(slot, 4), view)) return true;
    slot = slots + (((((slot - slots) >> 3) + 1) & mask) << 3);
  }
  if (add) {
    store<u32>(slot, hash);
    store<u32>(slot, view, 4);
  }
  return false;
}

/** wanted[series] &= match[code of the series]. Returns how many series are still wanted. */
export function narrowSeries(codes: u32, seriesCount: u32, match: u32, wanted: u32): u32 {
  let left: u32 = 0;
  for (let series: u32 = 0; series < seriesCount; series++) {
    const both = load<u8>(wanted + series) & load<u8>(match + load<u32>(codes + (series << 2)));
    store<u8>(wanted + series, both);
    left += both;
  }
  return left;
}
