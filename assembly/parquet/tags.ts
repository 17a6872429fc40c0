// Tag columns: a row's code of the merge's dictionary becomes the number of the value in its row group's.

/** Codes of the rows' series, u32[count] each; `series` less the first of `codes`. Marks those that occur in map[code], u32. */
export function parquetTagCodes(series: u32, count: u32, codes: u32, target: u32, map: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const code = load<u32>(codes + (load<u32>(series + (i << 2)) << 2));
    store<u32>(target + (i << 2), code);
    store<u32>(map + (code << 2), 1);
  }
}

/** Numbers the marked codes from 1 on, in order: map[code] becomes one more than a value's number, `used` gets the codes. Returns how
 *  many. */
export function parquetNumberTags(map: u32, valueCount: u32, used: u32): u32 {
  let next: u32 = 0;
  for (let code: u32 = 1; code < valueCount; code++) {
    if (load<u32>(map + (code << 2)) == 0) continue;
    store<u32>(used + (next << 2), code);
    next++;
    store<u32>(map + (code << 2), next);
  }
  return next;
}

/** The numbers of present values, u32 each to `target`, and which rows have one to `bitmap`, whole bytes. Returns how many. */
export function parquetTagNumbers(codes: u32, count: u32, map: u32, target: u32, bitmap: u32): u32 {
  let present: u32 = 0;
  for (let i: u32 = 0; i < count; i += 8) {
    const end = min(count - i, 8);
    let byte: u32 = 0;
    for (let k: u32 = 0; k < end; k++) {
      const code = load<u32>(codes + ((i + k) << 2));
      if (code == 0) continue;
      byte |= 1 << k;
      store<u32>(target + (present << 2), load<u32>(map + (code << 2)) - 1);
      present++;
    }
    store<u8>(bitmap + (i >> 3), byte);
  }
  return present;
}
