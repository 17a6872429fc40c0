// The parser's one dictionary: every name and series it knows, by owner and bytes. Slots hold addresses of entries, which are in the arena.
import { hashText } from "../memory/hash";
import { SLOT_BYTES, putSlot, reserveSlot, segmentMask, segmentOf, segmentSlots } from "../memory/hash-slots";
import { sameBytes } from "./bytes";
import { Entry, Parser, arenaAlloc } from "./structures";

/** The entry of `owner` with this key, or 0. */
export function findEntry(parser: Parser, owner: u32, keyPtr: usize, keyBytes: u32): u32 {
  return findHashed(parser, owner, keyPtr, keyBytes, hashText(keyPtr, keyBytes, owner));
}

/** `findEntry` with the key's hash, which is hashText of it with its owner. */
export function findHashed(parser: Parser, owner: u32, keyPtr: usize, keyBytes: u32, hash: u32): u32 {
  const segment = segmentOf(parser.slots, hash);
  if (segment == 0) return 0;
  const first = segmentSlots(segment);
  const mask = segmentMask(segment);
  let slot = hash & mask;
  while (true) {
    const at = first + slot * SLOT_BYTES;
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
  return addHashed(parser, owner, keyPtr, keyBytes, hashText(keyPtr, keyBytes, owner), entryBytes, suffix);
}

/** `addEntry` with the key's hash. */
export function addHashed(parser: Parser, owner: u32, keyPtr: usize, keyBytes: u32, hash: u32, entryBytes: u32, suffix: u32): u32 {
  const reserved = reserveSlot(parser.slots, hash);
  const ptr = arenaAlloc(parser, entryBytes + keyBytes + 1);
  memory.fill(ptr, 0, entryBytes);
  const entry = changetype<Entry>(ptr);
  entry.owner = owner;
  entry.keyBytes = keyBytes;
  entry.keyPtr = ptr + entryBytes;
  entry.hash = hash;
  memory.copy(entry.keyPtr, keyPtr, keyBytes);
  store<u8>(entry.keyPtr + keyBytes, suffix);
  putSlot(parser.slots, reserved, hash, ptr);
  return ptr;
}
