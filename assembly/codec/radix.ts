// Small numbers of a range that is no power of two: 0 .. 200 takes 8 bits, three of them as digits of base 201 take 23. The 384 values of a
// block make 128 groups of three, v[i] + r (v[i + 128] + r v[i + 256]), which are packed like any 128 values.
import { packFull, unpackFull } from "./bitpack";
import { PACK_VALUES, bitsOf, groupWork } from "./work";

/** 1625^3 < 2^32 */
export const RADIX_MAX: u32 = 1625;

/** Bits of a group; radix 2 .. RADIX_MAX. */
// @ts-ignore: decorator
@inline
export function groupBitsOf(radix: u32): u32 {
  return bitsOf(<u64>radix * radix * radix - 1);
}

/** The greatest of u64[count], count even, that is below 2^width, width <= 32. */
export function greatestWithin(values: u32, count: u32, width: u32): u32 {
  const zero = i64x2.splat(0);
  let most = zero;
  for (const end = values + (count << 3); values < end; values += 16) {
    const pair = v128.load(values);
    const fits = i64x2.eq(i64x2.shr_u(pair, width), zero);
    most = i32x4.max_u(most, v128.and(pair, fits));
  }
  return max(<u32>i32x4.extract_lane(most, 0), <u32>i32x4.extract_lane(most, 2));
}

/** Packs u64[384], each below `radix`, into 16 x groupBits bytes. */
export function packGroups(values: u32, radix: u32, groupBits: u32, target: u32): void {
  const groups = groupWork();
  const radixes = i32x4.splat(radix);
  for (let at: u32 = 0; at < PACK_VALUES << 3; at += 32) {
    const low = narrow(values + at);
    const middle = narrow(values + at + (PACK_VALUES << 3));
    const high = narrow(values + at + (PACK_VALUES << 4));
    const group = i32x4.add(low, i32x4.mul(radixes, i32x4.add(middle, i32x4.mul(radixes, high))));
    v128.store(groups + at, i64x2.extend_low_i32x4_u(group));
    v128.store(groups + at, i64x2.extend_high_i32x4_u(group), 16);
  }
  packFull(groups, groupBits, target);
}

/** Four u64 below 2^32 as four lanes. */
// @ts-ignore: decorator
@inline
function narrow(at: u32): v128 {
  return v128.shuffle<u32>(v128.load(at), v128.load(at, 16), 0, 2, 4, 6);
}

// 2^52: or-ed to an integer below it, the bits are that of a float 2^52 greater
const MAGIC: f64 = 4503599627370496;

/** Unpacks u64[384]. Divides in floats: the half that is added keeps quotients 0.5 / radix off whole numbers, and a group below 2^32 is
 *  rounded by at most 2^-19 / radix. */
export function unpackGroups(source: u32, radix: u32, groupBits: u32, values: u32): void {
  const groups = groupWork();
  unpackFull(source, groupBits, groups);
  const magic = f64x2.splat(MAGIC);
  const radixes = f64x2.splat(<f64>radix);
  const inverses = f64x2.splat(1 / <f64>radix);
  const half = f64x2.splat(0.5);
  for (let at: u32 = 0; at < PACK_VALUES << 3; at += 16) {
    const group = f64x2.sub(v128.or(v128.load(groups + at), magic), magic);
    const first = f64x2.floor(f64x2.mul(f64x2.add(group, half), inverses));
    const second = f64x2.floor(f64x2.mul(f64x2.add(first, half), inverses));
    const low = f64x2.sub(group, f64x2.mul(first, radixes));
    const middle = f64x2.sub(first, f64x2.mul(second, radixes));
    v128.store(values + at, v128.xor(f64x2.add(low, magic), magic));
    v128.store(values + at + (PACK_VALUES << 3), v128.xor(f64x2.add(middle, magic), magic));
    v128.store(values + at + (PACK_VALUES << 4), v128.xor(f64x2.add(second, magic), magic));
  }
}
