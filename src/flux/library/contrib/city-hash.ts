// CityHash of 64 bits in its version 1.0.2, which ClickHouse has; later versions give other numbers. Source: G. Pike and J. Alakuijala,
// CityHash 1.0.2, 2011.

const K0 = 0xc3a5c85c97cb3127n;
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;
const K3 = 0xc949d7c7509e6557n;
const MIX = 0x9ddfea08eb382d69n;
const BLOCK_BYTES = 64;

const u64 = (value: bigint): bigint => BigInt.asUintN(64, value);
/** To the right. */
const rotated = (value: bigint, bits: bigint): bigint => (bits === 0n ? value : u64((value >> bits) | (value << (64n - bits))));
const shifted = (value: bigint): bigint => value ^ (value >> 47n);

function ofPair(low: bigint, high: bigint): bigint {
  const a = shifted(u64((low ^ high) * MIX));
  return u64(shifted(u64((high ^ a) * MIX)) * MIX);
}

interface Pair {
  readonly low: bigint;
  readonly high: bigint;
}

/** The hash, 0 .. 2^64 - 1. */
export function cityHash64(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length <= 16) return ofShort(bytes, view);
  if (bytes.length <= 32) return ofMiddle(view);
  return bytes.length <= BLOCK_BYTES ? ofBlock(view) : ofBlocks(view);
}

const wordAt = (view: DataView, at: number): bigint => view.getBigUint64(at, true);

function ofShort(bytes: Uint8Array, view: DataView): bigint {
  const { length } = bytes;
  const size = BigInt(length);
  if (length > 8) {
    const [first, last] = [wordAt(view, 0), wordAt(view, length - 8)];
    return ofPair(first, rotated(u64(last + size), size)) ^ last;
  }
  if (length >= 4) return ofPair(size + (BigInt(view.getUint32(0, true)) << 3n), BigInt(view.getUint32(length - 4, true)));
  if (length === 0) return K2;
  const y = BigInt(bytes[0]! + (bytes[length >> 1]! << 8));
  const z = BigInt(length + (bytes[length - 1]! << 2));
  return u64(shifted(u64(y * K2) ^ u64(z * K3)) * K2);
}

function ofMiddle(view: DataView): bigint {
  const length = view.byteLength;
  const a = u64(wordAt(view, 0) * K1);
  const b = wordAt(view, 8);
  const c = u64(wordAt(view, length - 8) * K2);
  const d = u64(wordAt(view, length - 16) * K0);
  return ofPair(u64(rotated(u64(a - b), 43n) + rotated(c, 30n) + d), u64(a + rotated(b ^ K3, 20n) - c + BigInt(length)));
}

function ofBlock(view: DataView): bigint {
  const length = view.byteLength;
  const start = wordAt(view, 0) + (BigInt(length) + wordAt(view, length - 16)) * K0;
  const v = halfOf(u64(start), wordAt(view, 24), wordAt(view, 8), wordAt(view, 16));
  const w = halfOf(
    u64(wordAt(view, 16) + wordAt(view, length - 32)),
    wordAt(view, length - 8),
    wordAt(view, length - 24),
    wordAt(view, length - 16),
  );
  const r = shifted(u64((v.low + w.high) * K2 + (w.low + v.high) * K0));
  return u64(shifted(u64(r * K0 + v.high)) * K2);
}

function halfOf(start: bigint, z: bigint, second: bigint, third: bigint): Pair {
  const b = rotated(u64(start + z), 52n);
  const afterSecond = u64(start + second);
  const c = rotated(start, 37n) + rotated(afterSecond, 7n);
  const a = u64(afterSecond + third);
  return { low: u64(a + z), high: u64(b + rotated(a, 31n) + c) };
}

function ofBlocks(view: DataView): bigint {
  const length = view.byteLength;
  let x = wordAt(view, 0);
  let y = wordAt(view, length - 16) ^ K1;
  let z = wordAt(view, length - 56) ^ K0;
  let v = seeded(view, length - 64, BigInt(length), y);
  let w = seeded(view, length - 32, u64(BigInt(length) * K1), K0);
  z = u64(z + shifted(v.high) * K1);
  x = u64(rotated(u64(z + x), 39n) * K1);
  y = u64(rotated(y, 33n) * K1);
  // the last block is in the seeds
  const end = (length - 1) & ~(BLOCK_BYTES - 1);
  for (let at = 0; at < end; at += BLOCK_BYTES) {
    x = u64(rotated(u64(x + y + v.low + wordAt(view, at + 16)), 37n) * K1) ^ w.high;
    y = u64(rotated(u64(y + v.high + wordAt(view, at + 48)), 42n) * K1) ^ v.low;
    z = rotated(z ^ w.low, 33n);
    v = seeded(view, at, u64(v.high * K1), u64(x + w.low));
    w = seeded(view, at + 32, u64(z + w.high), y);
    const before = z;
    z = x;
    x = before;
  }
  return ofPair(u64(ofPair(v.low, w.low) + shifted(y) * K1 + z), u64(ofPair(v.high, w.high) + x));
}

/** 32 bytes with two seeds. */
function seeded(view: DataView, at: number, first: bigint, second: bigint): Pair {
  const z = wordAt(view, at + 24);
  const start = u64(first + wordAt(view, at));
  const b = rotated(u64(second + start + z), 21n);
  const a = u64(start + wordAt(view, at + 8) + wordAt(view, at + 16));
  return { low: u64(a + z), high: u64(b + rotated(a, 44n) + start) };
}
