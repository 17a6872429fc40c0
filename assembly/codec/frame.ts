// Frame of reference: values less their smallest, packed in blocks. For values without an order, such as a batch of many hosts.
import { packBlock, unpackBlock } from "./blocks";
import { BLOCK_VALUES, blockWork } from "./work";

/** Packs the differences to `base`. Returns the end of what it wrote. */
export function encodeFrame(values: u32, count: u32, base: u64, target: u32): u32 {
  const block = blockWork();
  for (let from: u32 = 0; from < count; from += BLOCK_VALUES) {
    const size = min(count - from, BLOCK_VALUES);
    addAll(values + (from << 3), size, 0 - base, block);
    target = packBlock(block, size, target);
  }
  return target;
}

/** Returns the end, or 0. */
export function decodeFrame(source: u32, end: u32, count: u32, base: u64, values: u32): u32 {
  for (let from: u32 = 0; from < count; from += BLOCK_VALUES) {
    const size = min(count - from, BLOCK_VALUES);
    const out = values + (from << 3);
    source = unpackBlock(source, end, size, out);
    if (source == 0) return 0;
    if (base != 0) addAll(out, size, base, out);
  }
  return source;
}

/** target[i] = values[i] + addend. */
export function addAll(values: u32, count: u32, addend: u64, target: u32): void {
  const pair = i64x2.splat(addend);
  const end = values + (count << 3);
  for (; values + 16 <= end; values += 16, target += 16) v128.store(target, i64x2.add(v128.load(values), pair));
  if (values < end) store<u64>(target, load<u64>(values) + addend);
}
