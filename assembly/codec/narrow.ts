// Integers of 64 bits as differences to the smallest of them, in as few whole bytes as they all fit: how a decoded column waits in memory
// until a scan needs it again. Widening reads an eighth to a half of the memory that the values take, and takes about as long as reading
// them would. Times are divided by what their differences have in common (codec/divided.ts).

let base: i64 = 0;

/** Bytes per value, 1, 2 or 4, that the differences of i64[count], count >= 1, to their smallest value fit; narrowBase is left as that
 *  value. 0: they fit no such number, or not all are within 2^31 of the first. */
export function narrowWidth(values: u32, count: u32): u32 {
  const first = load<i64>(values);
  const firsts = i64x2.splat(first);
  let least = i32x4.splat(0);
  let most = least;
  // bits in which the high half of a difference is not the sign of its low half
  let beyond = least;
  const end = values + (count << 3);
  for (; values + 32 <= end; values += 32) {
    const left = i64x2.sub(v128.load(values), firsts);
    const right = i64x2.sub(v128.load(values, 16), firsts);
    const low = v128.shuffle<u32>(left, right, 0, 2, 4, 6);
    least = i32x4.min_s(least, low);
    most = i32x4.max_s(most, low);
    beyond = v128.or(beyond, v128.xor(v128.shuffle<u32>(left, right, 1, 3, 5, 7), i32x4.shr_s(low, 31)));
  }
  if (v128.any_true(beyond)) return 0;
  let lowest: i64 = min(
    min(i32x4.extract_lane(least, 0), i32x4.extract_lane(least, 1)),
    min(i32x4.extract_lane(least, 2), i32x4.extract_lane(least, 3)),
  );
  let highest: i64 = max(
    max(i32x4.extract_lane(most, 0), i32x4.extract_lane(most, 1)),
    max(i32x4.extract_lane(most, 2), i32x4.extract_lane(most, 3)),
  );
  for (; values < end; values += 8) {
    const difference = load<i64>(values) - first;
    if (difference != <i64>(<i32>difference)) return 0;
    lowest = min(lowest, difference);
    highest = max(highest, difference);
  }
  base = first + lowest;
  const range = highest - lowest;
  if (range <= 0xff) return 1;
  return range <= 0xffff ? 2 : 4;
}

/** The smallest of the values that narrowWidth was called with. */
export function narrowBase(): i64 {
  return base;
}

/** Writes values - base, each in `width` bytes. */
export function narrowValues(values: u32, count: u32, least: i64, width: u32, target: u32): void {
  const end = values + (count << 3);
  const bases = i64x2.splat(least);
  if (width == 1) {
    for (; values + 128 <= end; values += 128, target += 16) {
      const low = i16x8.narrow_i32x4_u(fourBelow(values, bases), fourBelow(values + 32, bases));
      const high = i16x8.narrow_i32x4_u(fourBelow(values + 64, bases), fourBelow(values + 96, bases));
      v128.store(target, i8x16.narrow_i16x8_u(low, high));
    }
    for (; values < end; values += 8, target++) store<u8>(target, <u8>(load<i64>(values) - least));
  } else if (width == 2) {
    for (; values + 64 <= end; values += 64, target += 16) {
      v128.store(target, i16x8.narrow_i32x4_u(fourBelow(values, bases), fourBelow(values + 32, bases)));
    }
    for (; values < end; values += 8, target += 2) store<u16>(target, <u16>(load<i64>(values) - least));
  } else {
    for (; values + 32 <= end; values += 32, target += 16) v128.store(target, fourBelow(values, bases));
    for (; values < end; values += 8, target += 4) store<u32>(target, <u32>(load<i64>(values) - least));
  }
}

/** Low halves of four differences. */
// @ts-ignore: decorator
@inline
function fourBelow(values: u32, bases: v128): v128 {
  return v128.shuffle<u32>(i64x2.sub(v128.load(values), bases), i64x2.sub(v128.load(values, 16), bases), 0, 2, 4, 6);
}

/** Writes u64[count]: the values that narrowValues wrote `width` bytes of. */
export function widenValues(source: u32, count: u32, least: i64, width: u32, target: u32): void {
  const end = target + (count << 3);
  const bases = i64x2.splat(least);
  if (width == 1) {
    for (; target + 128 <= end; target += 128, source += 16) {
      const bytes = v128.load(source);
      const low = i16x8.extend_low_i8x16_u(bytes);
      const high = i16x8.extend_high_i8x16_u(bytes);
      storeFour(target, i32x4.extend_low_i16x8_u(low), bases);
      storeFour(target + 32, i32x4.extend_high_i16x8_u(low), bases);
      storeFour(target + 64, i32x4.extend_low_i16x8_u(high), bases);
      storeFour(target + 96, i32x4.extend_high_i16x8_u(high), bases);
    }
    for (; target < end; target += 8, source++) store<i64>(target, <i64>load<u8>(source) + least);
  } else if (width == 2) {
    for (; target + 64 <= end; target += 64, source += 16) {
      const words = v128.load(source);
      storeFour(target, i32x4.extend_low_i16x8_u(words), bases);
      storeFour(target + 32, i32x4.extend_high_i16x8_u(words), bases);
    }
    for (; target < end; target += 8, source += 2) store<i64>(target, <i64>load<u16>(source) + least);
  } else {
    for (; target + 32 <= end; target += 32, source += 16) storeFour(target, v128.load(source), bases);
    for (; target < end; target += 8, source += 4) store<i64>(target, <i64>load<u32>(source) + least);
  }
}

// @ts-ignore: decorator
@inline
function storeFour(target: u32, differences: v128, bases: v128): void {
  v128.store(target, i64x2.add(i64x2.extend_low_i32x4_u(differences), bases));
  v128.store(target, i64x2.add(i64x2.extend_high_i32x4_u(differences), bases), 16);
}

/** The same of the rows of `count` joined parts (scan/page-parts.ts), one behind the other. */
export function widenParts(source: u32, joined: u32, count: u32, least: i64, width: u32, target: u32): void {
  for (const end = joined + (count << 3); joined < end; joined += 8) {
    const first = load<u32>(joined);
    const rows = load<u32>(joined, 4) - first;
    widenValues(source + first * width, rows, least, width, target);
    target += rows << 3;
  }
}

/** The same of listed rows. */
export function gatherNarrow(source: u32, rows: u32, count: u32, least: i64, width: u32, target: u32): void {
  if (width == 1) gatherOf<u8>(source, rows, count, least, target);
  else if (width == 2) gatherOf<u16>(source, rows, count, least, target);
  else gatherOf<u32>(source, rows, count, least, target);
}

function gatherOf<T>(source: u32, rows: u32, count: u32, least: i64, target: u32): void {
  for (const end = target + (count << 3); target < end; target += 8, rows += 4) {
    store<i64>(target, <i64>load<T>(source + load<u32>(rows) * sizeof<T>()) + least);
  }
}
