// BLAKE3, which neither DuckDB nor the runtime has. Source: O'Connor, Aumasson, Neves, Wilcox-O'Hearn, "BLAKE3", 2020, §2.

const IV = new Uint32Array([0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]);
const BLOCK_BYTES = 64;
const CHUNK_BYTES = 1024;
const CHUNK_START = 1;
const CHUNK_END = 2;
const PARENT = 4;
const ROOT = 8;
const ROUNDS = 7;

/** Which word of the message each step takes, for all rounds: the permutation applied again and again. */
const SCHEDULE = (() => {
  const permutation = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
  let order = Array.from({ length: 16 }, (_, i) => i);
  const schedule: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    schedule.push(...order);
    order = permutation.map((i) => order[i]!);
  }
  return Uint8Array.from(schedule);
})();

/** The 32 bytes of the hash. */
export function blake3(input: Uint8Array): Uint8Array {
  const chunkCount = Math.max(1, Math.ceil(input.length / CHUNK_BYTES));
  return new Uint8Array(subtree(input, 0, chunkCount, ROOT).buffer);
}

/** The chaining value of `count` chunks from `first` on. `root`: ROOT for the whole input, else 0. */
function subtree(input: Uint8Array, first: number, count: number, root: number): Uint32Array<ArrayBuffer> {
  if (count === 1) return chunk(input.subarray(first * CHUNK_BYTES, (first + 1) * CHUNK_BYTES), first, root);
  // the left side is the largest power of two that leaves something for the right
  let left = 1;
  while (left * 2 < count) left *= 2;
  const block = new Uint32Array(16);
  block.set(subtree(input, first, left, 0));
  block.set(subtree(input, first + left, count - left, 0), 8);
  return compress(IV, block, { counter: 0, bytes: BLOCK_BYTES, flags: PARENT | root });
}

function chunk(bytes: Uint8Array, index: number, root: number): Uint32Array<ArrayBuffer> {
  const blockCount = Math.max(1, Math.ceil(bytes.length / BLOCK_BYTES));
  let value: Uint32Array<ArrayBuffer> = IV;
  for (let i = 0; i < blockCount; i++) {
    const part = bytes.subarray(i * BLOCK_BYTES, (i + 1) * BLOCK_BYTES);
    const isLast = i === blockCount - 1;
    const flags = (i === 0 ? CHUNK_START : 0) | (isLast ? CHUNK_END | root : 0);
    value = compress(value, littleEndian(part), { counter: index, bytes: part.length, flags });
  }
  return value;
}

/** A block's 16 words, zeros behind its end. */
function littleEndian(part: Uint8Array): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(16);
  for (let i = 0; i < part.length; i++) words[i >>> 2]! |= part[i]! << ((i & 3) * 8);
  return words;
}

interface BlockPosition {
  readonly counter: number;
  readonly bytes: number;
  readonly flags: number;
}

/** One at a time: nothing here waits for anything. */
const state = new Uint32Array(16);

/** The chaining value of a block: eight words. */
function compress(value: Uint32Array, block: Uint32Array, { counter, bytes, flags }: BlockPosition): Uint32Array<ArrayBuffer> {
  state.set(value);
  state.set(IV.subarray(0, 4), 8);
  state[12] = counter;
  state[13] = Math.floor(counter / 4294967296);
  state[14] = bytes;
  state[15] = flags;
  for (let at = 0; at < SCHEDULE.length; at += 16) {
    mix(0, 4, 8, 12, block[SCHEDULE[at]!]!, block[SCHEDULE[at + 1]!]!);
    mix(1, 5, 9, 13, block[SCHEDULE[at + 2]!]!, block[SCHEDULE[at + 3]!]!);
    mix(2, 6, 10, 14, block[SCHEDULE[at + 4]!]!, block[SCHEDULE[at + 5]!]!);
    mix(3, 7, 11, 15, block[SCHEDULE[at + 6]!]!, block[SCHEDULE[at + 7]!]!);
    mix(0, 5, 10, 15, block[SCHEDULE[at + 8]!]!, block[SCHEDULE[at + 9]!]!);
    mix(1, 6, 11, 12, block[SCHEDULE[at + 10]!]!, block[SCHEDULE[at + 11]!]!);
    mix(2, 7, 8, 13, block[SCHEDULE[at + 12]!]!, block[SCHEDULE[at + 13]!]!);
    mix(3, 4, 9, 14, block[SCHEDULE[at + 14]!]!, block[SCHEDULE[at + 15]!]!);
  }
  const out = new Uint32Array(8);
  for (let i = 0; i < 8; i++) out[i] = state[i]! ^ state[i + 8]!;
  return out;
}

/** A column or a diagonal of the state, by the places of its words, with two words of the message. */
function mix(a: number, b: number, c: number, d: number, x: number, y: number): void {
  const a1 = (state[a]! + state[b]! + x) | 0;
  const d1 = rotate(state[d]! ^ a1, 16);
  const c1 = (state[c]! + d1) | 0;
  const b1 = rotate(state[b]! ^ c1, 12);
  const a2 = (a1 + b1 + y) | 0;
  const d2 = rotate(d1 ^ a2, 8);
  const c2 = (c1 + d2) | 0;
  state[a] = a2;
  state[b] = rotate(b1 ^ c2, 7);
  state[c] = c2;
  state[d] = d2;
}

/** To the right. */
function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
