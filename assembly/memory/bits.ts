// Validity bitmaps: LSB first, 1 = present. Ranges start at any bit; nothing outside a range is read beyond its bytes or changed.

/** True if the bit is set. */
// @ts-ignore: decorator
@inline
export function bitAt(bitmap: u32, index: u32): bool {
  return ((load<u8>(bitmap + (index >> 3)) >> (index & 7)) & 1) != 0;
}

/** Bits [from, from + 16). */
// @ts-ignore: decorator
@inline
export function sixteenBits(bitmap: u32, from: u32): u32 {
  const at = bitmap + (from >> 3);
  const shift = from & 7;
  const bits = <u32>load<u16>(at) >> shift;
  return (shift == 0 ? bits : bits | (<u32>load<u8>(at, 2) << (16 - shift))) & 0xffff;
}

/** Sets the bit. */
// @ts-ignore: decorator
@inline
export function putBit(bitmap: u32, index: u32): void {
  const at = bitmap + (index >> 3);
  store<u8>(at, load<u8>(at) | (<u8>1 << <u8>(index & 7)));
}

/** Sets bits [from, from + count). */
export function setBits(bitmap: u32, from: u32, count: u32): void {
  while (count > 0 && (from & 7) != 0) {
    putBit(bitmap, from);
    from++;
    count--;
  }
  memory.fill(bitmap + (from >> 3), 0xff, count >> 3);
  from += count & ~7;
  for (count &= 7; count > 0; count--) putBit(bitmap, from++);
}

/** Number of set bits in [from, from + count). */
export function countBits(bitmap: u32, from: u32, count: u32): u32 {
  let total: u32 = 0;
  while (count > 0 && (from & 7) != 0) {
    total += <u32>bitAt(bitmap, from);
    from++;
    count--;
  }
  let at = bitmap + (from >> 3);
  while (count >= 64) {
    total += <u32>popcnt(load<u64>(at));
    at += 8;
    from += 64;
    count -= 64;
  }
  for (; count > 0; count--) total += <u32>bitAt(bitmap, from++);
  return total;
}

/** Ors `count` bits of `source` from `sourceFrom` into `target` from `targetFrom`, whose bits there are 0. */
export function copyBits(source: u32, sourceFrom: u32, target: u32, targetFrom: u32, count: u32): void {
  while (count > 0 && (targetFrom & 7) != 0) {
    if (bitAt(source, sourceFrom)) putBit(target, targetFrom);
    sourceFrom++;
    targetFrom++;
    count--;
  }
  const shift = sourceFrom & 7;
  let from = source + (sourceFrom >> 3);
  let to = target + (targetFrom >> 3);
  const whole = count >> 3;
  if (shift == 0) {
    memory.copy(to, from, whole);
  } else {
    let left = whole;
    for (; left >= 8; left -= 8, from += 8, to += 8) {
      store<u64>(to, (load<u64>(from) >> shift) | (<u64>load<u8>(from, 8) << (64 - shift)));
    }
    for (; left > 0; left--, from++, to++) {
      store<u8>(to, (<u32>load<u8>(from) >> shift) | (<u32>load<u8>(from, 1) << (8 - shift)));
    }
  }
  sourceFrom += whole << 3;
  targetFrom += whole << 3;
  for (count &= 7; count > 0; count--, sourceFrom++, targetFrom++) {
    if (bitAt(source, sourceFrom)) putBit(target, targetFrom);
  }
}

/** target[i] = source[rows[i]]; writes whole bytes, the bits after `count` as 0. */
export function gatherBits(source: u32, rows: u32, count: u32, target: u32): void {
  for (let i: u32 = 0; i < count; i += 8) {
    const end = min(count - i, 8);
    let byte: u32 = 0;
    for (let k: u32 = 0; k < end; k++) byte |= <u32>bitAt(source, load<u32>(rows + ((i + k) << 2))) << k;
    store<u8>(target + (i >> 3), byte);
  }
}

/** Sets the bits of the rows listed (u32 each) in a bitmap of `rowCount` bits, in whole words of 64, and clears all others. */
export function rowBits(rows: u32, count: u32, rowCount: u32, target: u32): void {
  memory.fill(target, 0, ((rowCount + 63) >> 6) << 3);
  for (const end = rows + (count << 2); rows < end; rows += 4) putBit(target, load<u32>(rows));
}

/** Row numbers of the set bits among the first `rowCount`, ascending, to `target`. Returns how many. */
export function presentRows(bitmap: u32, rowCount: u32, target: u32): u32 {
  let out = target;
  for (let row: u32 = 0; row < rowCount; row += 8) {
    let byte = <u32>load<u8>(bitmap + (row >> 3));
    if (rowCount - row < 8) byte &= (1 << (rowCount - row)) - 1;
    for (; byte != 0; byte &= byte - 1, out += 4) store<u32>(out, row + ctz(byte));
  }
  return (out - target) >> 2;
}
