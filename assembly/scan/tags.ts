// Tags during a scan: values of a column by row, and which series a predicate wants. Code 0 is "absent" and its view is never read.
import { VIEW_BYTES } from "../abi";
import { hashBytes } from "../memory/bytes";
import { addKey, createKeys, findKey, freeKeys, NO_ID } from "../memory/key-dictionary";
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

// Up to so many wanted values are compared one after the other; more go through a hash map.
const COMPARED_MAX: u32 = 4;

/** target[code] = 1 when the value of that code is one of the wanted views, else 0, for codes 1 .. valueCount - 1. */
export function matchCodes(values: u32, valueCount: u32, wanted: u32, wantedCount: u32, target: u32): void {
  if (wantedCount > COMPARED_MAX) return matchByHash(values, valueCount, wanted, wantedCount, target);
  for (let code: u32 = 1; code < valueCount; code++) {
    let match: u32 = 0;
    for (let i: u32 = 0; i < wantedCount; i++) match |= <u32>equalViews(values + code * VIEW_BYTES, wanted + i * VIEW_BYTES);
    store<u8>(target + code, match);
  }
}

function matchByHash(values: u32, valueCount: u32, wanted: u32, wantedCount: u32, target: u32): void {
  const keys = createKeys(0, 0);
  for (let i: u32 = 0; i < wantedCount; i++) {
    const view = wanted + i * VIEW_BYTES;
    const hash = hashBytes(viewText(view), viewBytes(view));
    if (findKey(keys, viewText(view), viewBytes(view), hash) == NO_ID) addKey(keys, viewText(view), viewBytes(view), hash);
  }
  for (let code: u32 = 1; code < valueCount; code++) {
    const view = values + code * VIEW_BYTES;
    const hash = hashBytes(viewText(view), viewBytes(view));
    store<u8>(target + code, <u32>(findKey(keys, viewText(view), viewBytes(view), hash) != NO_ID));
  }
  freeKeys(keys);
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
