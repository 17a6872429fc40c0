// When each key of a distinct-value cache was seen last: an i64 per key, the minimum of i64 = never.
import { KEY_NONE, KEY_UNKNOWN } from "./keys";

const NEVER: i64 = i64.MIN_VALUE;

/** Rows first .. end - 1 with times from `earliest` on have been seen at these, but not before `least` nor after `most`. `map`: key of
 *  each series, 0 = `series` has keys. Returns `end`, or the row whose key is not known. */
export function seenRows(
  seen: u32,
  series: u32,
  times: u32,
  map: u32,
  earliest: i64,
  least: i64,
  most: i64,
  first: u32,
  end: u32,
): u32 {
  for (let row = first; row < end; row++) {
    let key = load<u32>(series + (row << 2));
    if (map != 0) key = load<u32>(map + (key << 2));
    if (key >= KEY_UNKNOWN) {
      if (key == KEY_NONE) continue;
      return row;
    }
    const at = seen + (key << 3);
    const time = load<i64>(times + (row << 3));
    const seenAt = time < earliest ? NEVER : max(least, min(most, time));
    if (seenAt > load<i64>(at)) store<i64>(at, seenAt);
  }
  return end;
}

// of the last call of seenKeys
let leastSeen: i64 = i64.MAX_VALUE;

/** When that of the listed keys was seen that was first so. */
export function seenLeast(): i64 {
  return leastSeen;
}

/** Those of `count` keys (`keys` lists them, 0 = 0 .. count - 1) that were seen at or after `minSeen`, in order, to `target`: u32 each.
 *  Returns how many. */
export function seenKeys(seen: u32, keys: u32, count: u32, minSeen: i64, target: u32): u32 {
  let out = target;
  leastSeen = i64.MAX_VALUE;
  for (let i: u32 = 0; i < count; i++) {
    const key = keys == 0 ? i : load<u32>(keys + (i << 2));
    const time = load<i64>(seen + (key << 3));
    if (time == NEVER || time < minSeen) continue;
    leastSeen = min(leastSeen, time);
    store<u32>(out, key);
    out += 4;
  }
  return (out - target) >> 2;
}
