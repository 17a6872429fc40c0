// The newest rows of each key of a last-value cache. Key k has the slots k x perKey .. (k + 1) x perKey - 1; a slot is a row that is kept:
// its time, its series, when it entered the cache, and its order among writes. Rows of a run claim slots; their values are copied by the
// host, which is told which rows and slots that are. Nothing here looks at values.
import { KEY_NONE, KEY_UNKNOWN } from "./keys";

/** Written by the host: src/kernel/cache/newest-slots.ts. */
@unmanaged
export class Slots {
  /** What of the rows' times can be when they entered: both bounds inclusive. */
  minEntered: i64;
  maxEntered: i64;
  /** Order of row r of the run in hand: this + r + 1. */
  order: u64;
  perKey: u32;
  /** Per slot: i64, u64, u32, and i64, of which the minimum of i64 is a slot without a row. */
  times: u32;
  orders: u32;
  series: u32;
  entered: u32;
  /** Per slot u32: row + 1 of the run in hand that has claimed it; 0 between runs. */
  claims: u32;
  /** Per key i64: no earlier row is kept. The minimum of i64 while there is a slot left. */
  floors: u32;
  /** Rows and slots for the host: u32 each. */
  rows: u32;
  places: u32;
  count: u32;
}

const EMPTY: i64 = i64.MIN_VALUE;

/** Claims slots for rows from - 1 down to `first`, all of other points than those kept. `map`: key of each series, 0 = `series` has
 *  keys. Returns `first`, or r + 1 when row r has a key that is not known; the host goes on from there. Lists each slot that was claimed
 *  in `places`. */
export function slotsClaim(slots: Slots, series: u32, times: u32, map: u32, first: u32, from: u32): u32 {
  const floors = slots.floors;
  for (let row = from; row > first; ) {
    row--;
    let key = load<u32>(series + (row << 2));
    if (map != 0) key = load<u32>(map + (key << 2));
    if (key >= KEY_UNKNOWN) {
      if (key == KEY_NONE) continue;
      return row + 1;
    }
    const time = load<i64>(times + (row << 3));
    if (time < load<i64>(floors + (key << 3))) continue;
    const slot = claim(slots, key, time, row);
    if (slot == KEY_NONE) continue;
    const claimed = slots.claims + (slot << 2);
    if (load<u32>(claimed) == 0) {
      store<u32>(slots.places + (slots.count << 2), slot);
      slots.count++;
    }
    store<u32>(claimed, row + 1);
  }
  return first;
}

/** Whether a row up to `maxTime` can claim a slot that is of one of `seriesCount` series, whose keys `map` has. */
export function slotsCanClaim(slots: Slots, map: u32, seriesCount: u32, maxTime: i64): bool {
  for (let series: u32 = 0; series < seriesCount; series++) {
    const key = load<u32>(map + (series << 2));
    if (key < KEY_UNKNOWN && load<i64>(slots.floors + (key << 3)) <= maxTime) return true;
  }
  return false;
}

/** After slotsClaim: the row of each slot in `places`, to `rows`. No slot is claimed any more. */
export function slotsClaimed(slots: Slots): void {
  for (let i: u32 = 0; i < slots.count; i++) {
    const claimed = slots.claims + (load<u32>(slots.places + (i << 2)) << 2);
    store<u32>(slots.rows + (i << 2), load<u32>(claimed) - 1);
    store<u32>(claimed, 0);
  }
}

/** The series of the claimed slots: `map` of that of the rows listed. Returns i < count when that of row i is not known, else count. */
export function slotsSetSeries(slots: Slots, series: u32, map: u32, from: u32): u32 {
  for (let i = from; i < slots.count; i++) {
    const id = load<u32>(map + (load<u32>(series + (load<u32>(slots.rows + (i << 2)) << 2)) << 2));
    if (id == KEY_UNKNOWN) return i;
    store<u32>(slots.series + (load<u32>(slots.places + (i << 2)) << 2), id);
  }
  return slots.count;
}

/** The same as slotsClaim for rows first .. end - 1, of which some may be of points that are kept, or of one point: their series are all
 *  known (`seriesMap`, of `ids`). Lists rows and slots as the values are to be copied, one after the other: a slot may have several. */
export function slotsMerge(slots: Slots, keys: u32, ids: u32, times: u32, map: u32, seriesMap: u32, first: u32, end: u32): u32 {
  const floors = slots.floors;
  for (let row = first; row < end; row++) {
    let key = load<u32>(keys + (row << 2));
    if (map != 0) key = load<u32>(map + (key << 2));
    if (key >= KEY_UNKNOWN) {
      if (key == KEY_NONE) continue;
      return row;
    }
    const time = load<i64>(times + (row << 3));
    if (time < load<i64>(floors + (key << 3))) continue;
    const id = load<u32>(seriesMap + (load<u32>(ids + (row << 2)) << 2));
    let slot = pointOf(slots, key, time, id);
    if (slot != KEY_NONE) {
      const entered = slots.entered + (slot << 3);
      store<i64>(entered, max(load<i64>(entered), enteredAt(slots, time)));
      store<u64>(slots.orders + (slot << 3), slots.order + row + 1);
    } else {
      slot = claim(slots, key, time, row);
      if (slot == KEY_NONE) continue;
      store<u32>(slots.series + (slot << 2), id);
      store<u32>(slots.claims + (slot << 2), row + 1);
    }
    store<u32>(slots.rows + (slots.count << 2), row);
    store<u32>(slots.places + (slots.count << 2), slot);
    slots.count++;
  }
  return end;
}

/** After slotsMerge: leaves out rows of points that lost their slot, and lists the slots that were claimed at `target` (u32 each). Returns
 *  how many. No slot is claimed any more. */
export function slotsMerged(slots: Slots, target: u32): u32 {
  const rows = slots.rows;
  const places = slots.places;
  const claims = slots.claims;
  let kept: u32 = 0;
  let claimed: u32 = 0;
  for (let i: u32 = 0; i < slots.count; i++) {
    const row = load<u32>(rows + (i << 2));
    const slot = load<u32>(places + (i << 2));
    const by = load<u32>(claims + (slot << 2));
    if (row + 1 < by) continue;
    if (row + 1 == by) {
      store<u32>(target + (claimed << 2), slot);
      claimed++;
    }
    store<u32>(rows + (kept << 2), row);
    store<u32>(places + (kept << 2), slot);
    kept++;
  }
  slots.count = kept;
  for (let i: u32 = 0; i < claimed; i++) store<u32>(claims + (load<u32>(target + (i << 2)) << 2), 0);
  return claimed;
}

/** The slot of a point, or KEY_NONE. */
// @ts-ignore: decorator
@inline
function pointOf(slots: Slots, key: u32, time: i64, id: u32): u32 {
  const end = (key + 1) * slots.perKey;
  for (let slot = key * slots.perKey; slot < end; slot++) {
    if (load<i64>(slots.times + (slot << 3)) != time || load<u32>(slots.series + (slot << 2)) != id) continue;
    if (load<i64>(slots.entered + (slot << 3)) != EMPTY) return slot;
  }
  return KEY_NONE;
}

// @ts-ignore: decorator
@inline
function enteredAt(slots: Slots, time: i64): i64 {
  return max(slots.minEntered, min(slots.maxEntered, time));
}

/** A slot of the key for a row: an empty one, or that of the oldest row if it is older. KEY_NONE: the row is too old. */
// @ts-ignore: decorator
@inline
function claim(slots: Slots, key: u32, time: i64, row: u32): u32 {
  const order = slots.order + row + 1;
  const slot = slots.perKey == 1 ? oldestOfOne(slots, key, time, order) : oldestOf(slots, key, time, order);
  if (slot == KEY_NONE) return slot;
  store<i64>(slots.times + (slot << 3), time);
  store<u64>(slots.orders + (slot << 3), order);
  store<i64>(slots.entered + (slot << 3), enteredAt(slots, time));
  if (slots.perKey == 1) store<i64>(slots.floors + (key << 3), time);
  else slotsSetFloor(slots, key);
  return slot;
}

// @ts-ignore: decorator
@inline
function oldestOfOne(slots: Slots, key: u32, time: i64, order: u64): u32 {
  // it is not earlier than the floor
  const isLater = time > load<i64>(slots.times + (key << 3)) || order > load<u64>(slots.orders + (key << 3));
  return isLater || load<i64>(slots.entered + (key << 3)) == EMPTY ? key : KEY_NONE;
}

function oldestOf(slots: Slots, key: u32, time: i64, order: u64): u32 {
  const first = key * slots.perKey;
  let oldest = first;
  for (let slot = first; slot < first + slots.perKey; slot++) {
    if (load<i64>(slots.entered + (slot << 3)) == EMPTY) return slot;
    if (isOlder(slots, slot, oldest)) oldest = slot;
  }
  const oldestTime = load<i64>(slots.times + (oldest << 3));
  return time > oldestTime || (time == oldestTime && order > load<u64>(slots.orders + (oldest << 3))) ? oldest : KEY_NONE;
}

// @ts-ignore: decorator
@inline
function isOlder(slots: Slots, a: u32, b: u32): bool {
  const timeA = load<i64>(slots.times + (a << 3));
  const timeB = load<i64>(slots.times + (b << 3));
  return timeA < timeB || (timeA == timeB && load<u64>(slots.orders + (a << 3)) < load<u64>(slots.orders + (b << 3)));
}

/** Sets the floor of a key from its slots. */
function slotsSetFloor(slots: Slots, key: u32): void {
  let floor = i64.MAX_VALUE;
  for (let slot = key * slots.perKey; slot < (key + 1) * slots.perKey; slot++) {
    floor = load<i64>(slots.entered + (slot << 3)) == EMPTY ? EMPTY : min(floor, load<i64>(slots.times + (slot << 3)));
    if (floor == EMPTY) break;
  }
  store<i64>(slots.floors + (key << 3), floor);
}

// of the last call of slotsExpire
let leastEntered: i64 = i64.MAX_VALUE;
let liveKeys: u32 = 0;

/** When the row entered that did so first; the maximum of i64 when there is none. */
export function slotsLeastEntered(): i64 {
  return leastEntered;
}

/** Keys with a row. */
export function slotsLiveKeys(): u32 {
  return liveKeys;
}

/** Empties the slots of what entered before `minEntered`. Returns how many rows are left. */
export function slotsExpire(slots: Slots, keyCount: u32, minEntered: i64): u32 {
  let left: u32 = 0;
  leastEntered = i64.MAX_VALUE;
  liveKeys = 0;
  for (let key: u32 = 0; key < keyCount; key++) {
    const before = left;
    let isChanged = false;
    for (let slot = key * slots.perKey; slot < (key + 1) * slots.perKey; slot++) {
      const at = slots.entered + (slot << 3);
      const entered = load<i64>(at);
      if (entered == EMPTY) continue;
      if (entered < minEntered) {
        store<i64>(at, EMPTY);
        isChanged = true;
        continue;
      }
      leastEntered = min(leastEntered, entered);
      left++;
    }
    if (isChanged) slotsSetFloor(slots, key);
    if (left > before) liveKeys++;
  }
  return left;
}

// of the last call of slotsOrdered
let orderedEntered: i64 = i64.MAX_VALUE;
let orderedTime: i64 = i64.MAX_VALUE;

/** When that of the listed rows entered that did so first. */
export function slotsOrderedEntered(): i64 {
  return orderedEntered;
}

/** The earliest time of the listed rows. */
export function slotsOrderedTime(): i64 {
  return orderedTime;
}

/** Slots of rows that entered at or after `minEntered` and have times from `minTime` on: of the keys listed in `keys`, in their order,
 *  newest first within a key, to `target` (u32 each). Returns how many. */
export function slotsOrdered(slots: Slots, keys: u32, keyCount: u32, minEntered: i64, minTime: i64, target: u32): u32 {
  let out = target;
  orderedEntered = i64.MAX_VALUE;
  orderedTime = i64.MAX_VALUE;
  for (let i: u32 = 0; i < keyCount; i++) {
    const key = load<u32>(keys + (i << 2));
    const begin = out;
    for (let slot = key * slots.perKey; slot < (key + 1) * slots.perKey; slot++) {
      const entered = load<i64>(slots.entered + (slot << 3));
      const time = load<i64>(slots.times + (slot << 3));
      if (entered == EMPTY || entered < minEntered || time < minTime) continue;
      orderedEntered = min(orderedEntered, entered);
      orderedTime = min(orderedTime, time);
      let at = out;
      for (; at > begin && isOlder(slots, load<u32>(at - 4), slot); at -= 4) store<u32>(at, load<u32>(at - 4));
      store<u32>(at, slot);
      out += 4;
    }
  }
  return (out - target) >> 2;
}

/** Slots that have a row, as bytes: 1 = it has; for keys that have one, a byte of 1 too. */
export function slotsUsed(slots: Slots, keyCount: u32, keys: u32): void {
  for (let key: u32 = 0; key < keyCount; key++) {
    let isUsed: u32 = 0;
    for (let slot = key * slots.perKey; slot < (key + 1) * slots.perKey; slot++) {
      isUsed |= <u32>(load<i64>(slots.entered + (slot << 3)) != EMPTY);
    }
    store<u8>(keys + key, isUsed);
  }
}

/** Clears the bits listed. */
export function clearBits(bitmap: u32, list: u32, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const bit = load<u32>(list + (i << 2));
    const at = bitmap + (bit >> 3);
    store<u8>(at, load<u8>(at) & ~(<u8>1 << <u8>(bit & 7)));
  }
}
