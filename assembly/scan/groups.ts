// The answer's columns from the cells that are listed.
import { TYPE_INTEGER, TYPE_UNSIGNED } from "../abi";

/** A bit per cell listed whose count (u64) is not 0; the bits behind the last are 0. Returns how many are set. */
export function groupsPresent(counts: u32, list: u32, count: u32, bitmap: u32): u32 {
  let present: u32 = 0;
  for (let i: u32 = 0; i < count; i += 8) {
    const end = min(count - i, 8);
    let byte: u32 = 0;
    for (let k: u32 = 0; k < end; k++) {
      byte |= <u32>(load<u64>(counts + (load<u32>(list + ((i + k) << 2)) << 3)) != 0) << k;
    }
    store<u8>(bitmap + (i >> 3), byte);
    present += <u32>popcnt(byte);
  }
  return present;
}

/** target[i] (f64) = sum / count of the cell listed; sums of the column type given. */
export function groupsMean(sums: u32, type: u32, counts: u32, list: u32, count: u32, target: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const at = load<u32>(list + (i << 2)) << 3;
    const sum = load<u64>(sums + at);
    const value = type == TYPE_INTEGER ? <f64>(<i64>sum) : type == TYPE_UNSIGNED ? <f64>sum : reinterpret<f64>(sum);
    store<f64>(target + (i << 3), value / <f64>load<u64>(counts + at));
  }
}

/** target[i] (u64) = values[cell listed] with `flip` exclusive-ored. */
export function groupsFlipped(values: u32, list: u32, count: u32, flip: u64, target: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    store<u64>(target + (i << 3), load<u64>(values + (load<u32>(list + (i << 2)) << 3)) ^ flip);
  }
}

/** target[i] (u8) = whether any (most), or every present boolean of the cell listed is true. */
export function groupsBoolean(trues: u32, counts: u32, list: u32, count: u32, most: u32, target: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const at = load<u32>(list + (i << 2)) << 3;
    const found = load<u64>(trues + at);
    store<u8>(target + i, <u32>(most != 0 ? found != 0 : found == load<u64>(counts + at)));
  }
}

/** Writes `value` to `count` words of 8 bytes. */
export function fillWords(target: u32, value: u64, count: u32): void {
  for (const end = target + (count << 3); target < end; target += 8) store<u64>(target, value);
}
