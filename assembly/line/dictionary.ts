// The parser's one dictionary: open addressing over | hash u32 | entry u32 | slots, at most half full, entries in the arena.
import { hashBytes, sameBytes } from "./bytes";
import { Entry, Parser, allocate, arenaAlloc, release } from "./structures";

const SLOTS_MIN: u32 = 64;

/** The entry of `owner` with this key, or 0. */
export function findEntry(parser: Parser, owner: u32, keyPtr: usize, keyBytes: u32): u32 {
  return findHashed(parser, owner, keyPtr, keyBytes, hashBytes(keyPtr, keyBytes, owner));
}

/** `findEntry` with the key's hash, which is hashBytes of it with its owner. */
export function findHashed(parser: Parser, owner: u32, keyPtr: usize, keyBytes: u32, hash: u32): u32 {
  const mask = parser.slotCount - 1;
  let slot = hash & mask;
  while (true) {
    const at = parser.slotsPtr + (slot << 3);
    const found = load<u32>(at, 4);
    if (found == 0) return 0;
    if (load<u32>(at) == hash) {
      const entry = changetype<Entry>(found);
      if (entry.owner == owner && entry.keyBytes == keyBytes && sameBytes(entry.keyPtr, keyPtr, keyBytes)) return found;
    }
    slot = (slot + 1) & mask;
  }
}

/** A new entry of `entryBytes` zeroed bytes with a copy of the key, which must not be in the dictionary. `suffix` is a byte that is stored
 *  behind the key without counting as part of it. */
export function addEntry(parser: Parser, owner: u32, keyPtr: usize, keyBytes: u32, entryBytes: u32, suffix: u32): u32 {
  return addHashed(parser, owner, keyPtr, keyBytes, hashBytes(keyPtr, keyBytes, owner), entryBytes, suffix);
}

/** `addEntry` with the key's hash. */
export function addHashed(parser: Parser, owner: u32, keyPtr: usize, keyBytes: u32, hash: u32, entryBytes: u32, suffix: u32): u32 {
  if (parser.entryCount * 2 >= parser.slotCount) growSlots(parser);
  const ptr = arenaAlloc(parser, entryBytes + keyBytes + 1);
  memory.fill(ptr, 0, entryBytes);
  const entry = changetype<Entry>(ptr);
  entry.owner = owner;
  entry.keyBytes = keyBytes;
  entry.keyPtr = ptr + entryBytes;
  entry.hash = hash;
  memory.copy(entry.keyPtr, keyPtr, keyBytes);
  store<u8>(entry.keyPtr + keyBytes, suffix);
  insert(parser.slotsPtr, parser.slotCount - 1, entry.hash, ptr);
  parser.entryCount++;
  return ptr;
}

export function createSlots(parser: Parser): void {
  parser.slotsPtr = allocate(parser, SLOTS_MIN << 3);
  memory.fill(parser.slotsPtr, 0, SLOTS_MIN << 3);
  parser.slotCount = SLOTS_MIN;
}

export function releaseSlots(parser: Parser): void {
  release(parser, parser.slotsPtr, parser.slotCount << 3);
}

function growSlots(parser: Parser): void {
  const count = parser.slotCount * 2;
  const fresh = allocate(parser, count << 3);
  memory.fill(fresh, 0, count << 3);
  for (let i: u32 = 0; i < parser.slotCount; i++) {
    const at = parser.slotsPtr + (i << 3);
    const entry = load<u32>(at, 4);
    if (entry != 0) insert(fresh, count - 1, load<u32>(at), entry);
  }
  release(parser, parser.slotsPtr, parser.slotCount << 3);
  parser.slotsPtr = fresh;
  parser.slotCount = count;
}

function insert(slotsPtr: u32, mask: u32, hash: u32, entry: u32): void {
  let slot = hash & mask;
  while (load<u32>(slotsPtr + (slot << 3), 4) != 0) slot = (slot + 1) & mask;
  store<u32>(slotsPtr + (slot << 3), hash);
  store<u32>(slotsPtr + (slot << 3), entry, 4);
}
