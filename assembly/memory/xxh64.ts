// The XXH64 hash with seed 0, for what stays on disk. Source: Cyan4973/xxHash, doc/xxhash_spec.md.
const PRIME_1: u64 = 0x9e3779b185ebca87;
const PRIME_2: u64 = 0xc2b2ae3d27d4eb4f;
const PRIME_3: u64 = 0x165667b19e3779f9;
const PRIME_4: u64 = 0x85ebca77c2b2ae63;
const PRIME_5: u64 = 0x27d4eb2f165667c5;

/** The hash of a text, with seed 0. */
export function xxh64(text: u32, bytes: u32): u64 {
  const end = text + bytes;
  let hash: u64;
  if (bytes >= 32) {
    let a: u64 = PRIME_1 + PRIME_2;
    let b: u64 = PRIME_2;
    let c: u64 = 0;
    let d: u64 = 0 - PRIME_1;
    for (; end - text >= 32; text += 32) {
      a = round(a, load<u64>(text));
      b = round(b, load<u64>(text, 8));
      c = round(c, load<u64>(text, 16));
      d = round(d, load<u64>(text, 24));
    }
    hash = rotl<u64>(a, 1) + rotl<u64>(b, 7) + rotl<u64>(c, 12) + rotl<u64>(d, 18);
    hash = merge(merge(merge(merge(hash, a), b), c), d);
  } else {
    hash = PRIME_5;
  }
  hash += bytes;
  for (; end - text >= 8; text += 8) {
    hash ^= round(0, load<u64>(text));
    hash = rotl<u64>(hash, 27) * PRIME_1 + PRIME_4;
  }
  if (end - text >= 4) {
    hash ^= <u64>load<u32>(text) * PRIME_1;
    hash = rotl<u64>(hash, 23) * PRIME_2 + PRIME_3;
    text += 4;
  }
  for (; text < end; text++) {
    hash ^= <u64>load<u8>(text) * PRIME_5;
    hash = rotl<u64>(hash, 11) * PRIME_1;
  }
  hash ^= hash >> 33;
  hash *= PRIME_2;
  hash ^= hash >> 29;
  hash *= PRIME_3;
  return hash ^ (hash >> 32);
}

// @ts-ignore: decorator
@inline
function round(sum: u64, lane: u64): u64 {
  return rotl<u64>(sum + lane * PRIME_2, 31) * PRIME_1;
}

// @ts-ignore: decorator
@inline
function merge(hash: u64, sum: u64): u64 {
  return (hash ^ round(0, sum)) * PRIME_1 + PRIME_4;
}
