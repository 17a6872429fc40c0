// Tags during a scan: values of a column by row. Code 0 is "absent" and its view is never read.
import { VIEW_BYTES } from "../abi";

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
