// Slots of a hash table that grows as one block with what its owner numbers, for tables of one aggregation:
//   slot: | hash u32 | number + 1 u32, 0 = empty |
// There are at least twice as many slots as numbers, a power of two, searched by linear probing. The owner compares keys.

/** Adds a slot. `mask`: number of slots - 1. */
export function putTagged(slots: u32, mask: u32, hash: u32, tagged: u32): void {
  let at = hash & mask;
  while (load<u32>(slots + (at << 3), 4) != 0) at = (at + 1) & mask;
  store<u32>(slots + (at << 3), hash);
  store<u32>(slots + (at << 3), tagged, 4);
}

/** Empties the slots and adds those of `count` others that are in use. */
export function moveTagged(from: u32, count: u32, slots: u32, mask: u32): void {
  memory.fill(slots, 0, (mask + 1) << 3);
  for (const end = from + (count << 3); from < end; from += 8) {
    const tagged = load<u32>(from, 4);
    if (tagged != 0) putTagged(slots, mask, load<u32>(from), tagged);
  }
}
