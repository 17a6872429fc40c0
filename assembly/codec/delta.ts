// Differences of neighbours, for values in order: a series' counter, sorted ids, times. Differences are stored as zigzag numbers, that is
// 0, -1, 1, -2 ... as 0, 1, 2, 3 ..., so that small ones of either sign are small.
//   delta   | first u64 | reference u64 | blocks of zigzag(s[i] - s[i-1] - reference), i >= 1 |
//   delta2  | first u64 | firstDelta u64 | blocks of zigzag(s[i] - 2 s[i-1] + s[i-2]), i >= 2 |
// The reference is the usual difference: a constant interval costs no bits. Delta of delta is for intervals that differ between series.
// Source: Pelkonen et al., "Gorilla", VLDB 2015, section 4.1.1.
import { packBlock, unpackBlock } from "./blocks";
import { BLOCK_VALUES, blockWork } from "./work";

/** 0, -1, 1, -2 … to 0, 1, 2, 3 … */
// @ts-ignore: decorator
@inline
export function zigzag(value: i64): u64 {
  return <u64>((value << 1) ^ (value >> 63));
}

/** 0, 1, 2, 3 … to 0, -1, 1, -2 … */
// @ts-ignore: decorator
@inline
export function unzigzag(value: u64): i64 {
  return <i64>(value >> 1) ^ -(<i64>(value & 1));
}

// @ts-ignore: decorator
@inline
function zigzagPair(pair: v128): v128 {
  return v128.xor(i64x2.shl(pair, 1), i64x2.lt_s(pair, i64x2.splat(0)));
}

/** count >= 2; `reference` is subtracted from every difference. */
export function encodeDelta(values: u32, count: u32, reference: i64, target: u32): u32 {
  store<u64>(target, load<u64>(values));
  store<i64>(target, reference, 8);
  target += 16;
  const block = blockWork();
  const references = i64x2.splat(reference);
  for (let from: u32 = 1; from < count; from += BLOCK_VALUES) {
    const size = min(count - from, BLOCK_VALUES);
    let at = values + (from << 3);
    let out = block;
    const end = at + (size << 3);
    for (; at + 16 <= end; at += 16, out += 16) {
      const difference = i64x2.sub(v128.load(at), v128.load(at - 8));
      v128.store(out, zigzagPair(i64x2.sub(difference, references)));
    }
    if (at < end) store<u64>(out, zigzag(load<i64>(at) - load<i64>(at - 8) - reference));
    target = packBlock(block, size, target);
  }
  return target;
}

/** Returns the end, or 0. */
export function decodeDelta(source: u32, end: u32, count: u32, values: u32): u32 {
  if (end - source < 16) return 0;
  let value = load<i64>(source);
  const reference = load<i64>(source, 8);
  source += 16;
  store<i64>(values, value);
  for (let from: u32 = 1; from < count; from += BLOCK_VALUES) {
    const size = min(count - from, BLOCK_VALUES);
    let at = values + (from << 3);
    source = unpackBlock(source, end, size, at);
    if (source == 0) return 0;
    for (const last = at + (size << 3); at < last; at += 8) {
      value += unzigzag(load<u64>(at)) + reference;
      store<i64>(at, value);
    }
  }
  return source;
}

/** count >= 2 */
export function encodeDelta2(values: u32, count: u32, target: u32): u32 {
  store<u64>(target, load<u64>(values));
  store<u64>(target, load<u64>(values, 8) - load<u64>(values), 8);
  target += 16;
  const block = blockWork();
  for (let from: u32 = 2; from < count; from += BLOCK_VALUES) {
    const size = min(count - from, BLOCK_VALUES);
    let at = values + (from << 3);
    let out = block;
    const end = at + (size << 3);
    for (; at + 16 <= end; at += 16, out += 16) {
      const middle = v128.load(at - 8);
      const difference = i64x2.sub(i64x2.add(v128.load(at), v128.load(at - 16)), i64x2.add(middle, middle));
      v128.store(out, zigzagPair(difference));
    }
    if (at < end) store<u64>(out, zigzag(load<i64>(at) - 2 * load<i64>(at - 8) + load<i64>(at - 16)));
    target = packBlock(block, size, target);
  }
  return target;
}

/** Returns the end, or 0. */
export function decodeDelta2(source: u32, end: u32, count: u32, values: u32): u32 {
  if (end - source < 16 || count < 2) return 0;
  let value = load<i64>(source);
  let delta = load<i64>(source, 8);
  source += 16;
  store<i64>(values, value);
  value += delta;
  store<i64>(values, value, 8);
  for (let from: u32 = 2; from < count; from += BLOCK_VALUES) {
    const size = min(count - from, BLOCK_VALUES);
    let at = values + (from << 3);
    source = unpackBlock(source, end, size, at);
    if (source == 0) return 0;
    for (const last = at + (size << 3); at < last; at += 8) {
      delta += unzigzag(load<u64>(at));
      value += delta;
      store<i64>(at, value);
    }
  }
  return source;
}
