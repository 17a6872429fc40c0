// Which series of a dictionary a predicate on a tag wants: the codes of its values, then the series that have them. Code 0 is "absent" and
// its view is never read.
import { VIEW_BYTES } from "../abi";
import { INLINE_MAX, equalViews, hashView, viewText } from "../memory/views";
import { isLessView } from "../store/order";
import { NO_GROUP } from "./group-keys";

/** Codes of those of the wanted views that are among values 1 .. valueCount - 1, which ascend: u32 each to `target`. Returns how many. */
export function findCodes(values: u32, valueCount: u32, wanted: u32, wantedCount: u32, target: u32): u32 {
  let found: u32 = 0;
  for (let i: u32 = 0; i < wantedCount; i++) {
    const view = wanted + i * VIEW_BYTES;
    let low: u32 = 1;
    let high = valueCount;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isLessView(values + middle * VIEW_BYTES, view)) low = middle + 1;
      else high = middle;
    }
    if (low == valueCount || !equalViews(values + low * VIEW_BYTES, view)) continue;
    store<u32>(target + (found << 2), low);
    found++;
  }
  return found;
}

/** The same of values in any order, by looking at all of them until all wanted ones are found; values are distinct. `slots` is zeroed: a
 *  map of slotCount (a power of two above wantedCount) slots | hash u32 | view u32 |, and behind it slotCount bytes, a set of sketches. */
export function scanCodes(
  values: u32,
  valueCount: u32,
  wanted: u32,
  wantedCount: u32,
  target: u32,
  slots: u32,
  slotCount: u32,
): u32 {
  const mask = slotCount - 1;
  const sketches = slots + (slotCount << 3);
  const shift = 61 - <u64>ctz(slotCount);
  let left: u32 = 0;
  for (let i: u32 = 0; i < wantedCount; i++) {
    const view = wanted + i * VIEW_BYTES;
    const at = sketch(view, shift);
    store<u8>(sketches + (at >> 3), <u8>(<u32>load<u8>(sketches + (at >> 3)) | (1 << (at & 7))));
    left += <u32>addView(slots, mask, view);
  }
  let found: u32 = 0;
  for (let code: u32 = 1; code < valueCount && found < left; code++) {
    const view = values + code * VIEW_BYTES;
    const at = sketch(view, shift);
    if (((<u32>load<u8>(sketches + (at >> 3)) >> (at & 7)) & 1) == 0) continue;
    const hash = hashView(view);
    let slot = slots + ((hash & mask) << 3);
    while (load<u32>(slot, 4) != 0) {
      if (load<u32>(slot) == hash && equalViews(load<u32>(slot, 4), view)) {
        store<u32>(target + (found << 2), code);
        found++;
        break;
      }
      slot = slots + (((((slot - slots) >> 3) + 1) & mask) << 3);
    }
  }
  return found;
}

/** Of length, prefix and the last eight bytes: what hosts and their kin differ in. Most values are not wanted, and are told so without
 *  reading longer texts whole; texts that were chosen to be alike in them only cost their hash. */
// @ts-ignore: decorator
@inline
function sketch(view: u32, shift: u64): u32 {
  const bytes = load<u32>(view);
  const tail = bytes <= INLINE_MAX ? load<u64>(view, 8) : load<u64>(viewText(view) + bytes - 8);
  return <u32>(((load<u64>(view) ^ (tail * 0xd6e8feb86659fd93)) * 0xa0761d6478bd642f) >> shift);
}

/** False when the text is there already. */
function addView(slots: u32, mask: u32, view: u32): bool {
  const hash = hashView(view);
  let slot = slots + ((hash & mask) << 3);
  while (load<u32>(slot, 4) != 0) {
    if (load<u32>(slot) == hash && equalViews(load<u32>(slot, 4), view)) return false;
    slot = slots + (((((slot - slots) >> 3) + 1) & mask) << 3);
  }
  store<u32>(slot, hash);
  store<u32>(slot, view, 4);
  return true;
}

/** Of `codeCount` codes, at least one: wanted[series] = 1 when the series has one of them, else 0; or, when not all series were wanted
 *  before, when it was wanted, too. Room for four series more. Returns how many are wanted. */
export function chooseSeries(codes: u32, seriesCount: u32, list: u32, codeCount: u32, wanted: u32, narrows: bool): u32 {
  let left: u32 = 0;
  const end = codes + ((seriesCount & ~3) << 2);
  let at = codes;
  let out = wanted;
  for (; at < end; at += 16, out += 4) {
    const four = v128.load(at);
    let match = i32x4.eq(four, i32x4.splat(load<u32>(list)));
    for (let i: u32 = 1; i < codeCount; i++) match = v128.or(match, i32x4.eq(four, i32x4.splat(load<u32>(list + (i << 2)))));
    // a byte of 1 for each set bit
    let bytes = (<u32>i32x4.bitmask(match) * 0x00204081) & 0x01010101;
    if (narrows) bytes &= load<u32>(out);
    store<u32>(out, bytes);
    left += <u32>popcnt(bytes);
  }
  for (let series = seriesCount & ~3; series < seriesCount; series++) {
    const code = load<u32>(codes + (series << 2));
    let match: u32 = narrows ? load<u8>(wanted + series) : 1;
    let isListed: u32 = 0;
    for (let i: u32 = 0; i < codeCount; i++) isListed |= <u32>(code == load<u32>(list + (i << 2)));
    match &= isListed;
    store<u8>(wanted + series, match);
    left += match;
  }
  return left;
}

/** match[code] = 1 for every code listed; the rest stays. */
export function markCodes(list: u32, codeCount: u32, match: u32): void {
  for (let i: u32 = 0; i < codeCount; i++) store<u8>(match + load<u32>(list + (i << 2)), 1);
}

/** wanted[series] = match[code of the series], and, when not all series were wanted before, what it was, too. Returns how many are
 *  wanted. */
export function matchSeries(codes: u32, seriesCount: u32, match: u32, wanted: u32, narrows: bool): u32 {
  let left: u32 = 0;
  for (let series: u32 = 0; series < seriesCount; series++) {
    let both = <u32>load<u8>(match + load<u32>(codes + (series << 2)));
    if (narrows) both &= load<u8>(wanted + series);
    store<u8>(wanted + series, both);
    left += both;
  }
  return left;
}

/** found[code] = 1 for the code of each wanted series; `wanted` 0: of all. Returns how many were 0. */
export function noteCodes(codes: u32, seriesCount: u32, wanted: u32, found: u32): u32 {
  let added: u32 = 0;
  for (let series: u32 = 0; series < seriesCount; series++) {
    if (wanted != 0 && load<u8>(wanted + series) == 0) continue;
    const at = found + load<u32>(codes + (series << 2));
    added += load<u8>(at) ^ 1;
    store<u8>(at, 1);
  }
  return added;
}

/** combined[series] = combined[series] * valueCount + code of the series: a number of each combination of tags, if there are at most 2^32
 *  of them. */
export function combineCodes(codes: u32, seriesCount: u32, valueCount: u32, combined: u32): void {
  for (let at: u32 = 0; at < seriesCount << 2; at += 4) {
    store<u32>(combined + at, load<u32>(combined + at) * valueCount + load<u32>(codes + at));
  }
}

/** As matchSeries by groups (group-keys.ts): wanted[series] = match[group of the series], 0 for a series without a group. */
export function matchGroups(groups: u32, seriesCount: u32, match: u32, wanted: u32, narrows: bool): u32 {
  let left: u32 = 0;
  for (let series: u32 = 0; series < seriesCount; series++) {
    const group = load<u32>(groups + (series << 2));
    let both: u32 = group != NO_GROUP ? load<u8>(match + group) : 0;
    if (narrows) both &= load<u8>(wanted + series);
    store<u8>(wanted + series, both);
    left += both;
  }
  return left;
}

/** target[series] = numbers[group of the series], NO_GROUP for a series without a group. */
export function renumberGroups(groups: u32, seriesCount: u32, numbers: u32, target: u32): void {
  for (let series: u32 = 0; series < seriesCount; series++) {
    const group = load<u32>(groups + (series << 2));
    store<u32>(target + (series << 2), group != NO_GROUP ? load<u32>(numbers + (group << 2)) : NO_GROUP);
  }
}

/** 1 when values ascend strictly. */
export function areAscending(views: u32, count: u32): bool {
  for (let i: u32 = 1; i < count; i++) if (!isLessView(views + (i - 1) * VIEW_BYTES, views + i * VIEW_BYTES)) return false;
  return true;
}
