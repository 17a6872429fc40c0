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
  const words = subtree(input, 0, chunkCount, ROOT);
  return new Uint8Array(words.slice(0, 8).buffer);
}

/** The chaining value of `count` chunks from `first` on. `root`: ROOT for the whole input, else 0. */
function subtree(input: Uint8Array, first: number, count: number, root: number): Uint32Array {
  if (count === 1) return chunk(input.subarray(first * CHUNK_BYTES, (first + 1) * CHUNK_BYTES), first, root);
  // the left side is the largest power of two that leaves something for the right
  let left = 1;
  while (left * 2 < count) left *= 2;
  const block = new Uint32Array(16);
  block.set(subtree(input, first, left, 0).subarray(0, 8));
  block.set(subtree(input, first + left, count - left, 0).subarray(0, 8), 8);
  return compress(IV, block, { counter: 0, bytes: BLOCK_BYTES, flags: PARENT | root });
}

function chunk(bytes: Uint8Array, index: number, root: number): Uint32Array {
  const blockCount = Math.max(1, Math.ceil(bytes.length / BLOCK_BYTES));
  let value: Uint32Array = IV;
  for (let i = 0; i < blockCount; i++) {
    const part = bytes.subarray(i * BLOCK_BYTES, (i + 1) * BLOCK_BYTES);
    const isLast = i === blockCount - 1;
    const flags = (i === 0 ? CHUNK_START : 0) | (isLast ? CHUNK_END | root : 0);
    value = compress(value, littleEndian(part), { counter: index, bytes: part.length, flags });
  }
  return value;
}

/** A block's 16 words, zeros behind its end. */
function littleEndian(part: Uint8Array): Uint32Array {
  const words = new Uint32Array(16);
  for (let i = 0; i < part.length; i++) words[i >>> 2]! |= part[i]! << ((i & 3) * 8);
  return words;
}

interface BlockPosition {
  readonly counter: number;
  readonly bytes: number;
  readonly flags: number;
}

/** Of 16 words the first eight are the chaining value. */
function compress(value: Uint32Array, block: Uint32Array, { counter, bytes, flags }: BlockPosition): Uint32Array {
  const state = new Uint32Array(16);
  state.set(value.subarray(0, 8));
  state.set(IV.subarray(0, 4), 8);
  state.set([counter, Math.floor(counter / 4294967296), bytes, flags], 12);
  for (let round = 0; round < ROUNDS; round++) {
    const at = round * 16;
    for (let i = 0; i < 4; i++) {
      mix(state, [i, 4 + i, 8 + i, 12 + i], block[SCHEDULE[at + i * 2]!]!, block[SCHEDULE[at + i * 2 + 1]!]!);
    }
    for (let i = 0; i < 4; i++) {
      const diagonal = [i, 4 + ((i + 1) & 3), 8 + ((i + 2) & 3), 12 + ((i + 3) & 3)] as const;
      mix(state, diagonal, block[SCHEDULE[at + 8 + i * 2]!]!, block[SCHEDULE[at + 9 + i * 2]!]!);
    }
  }
  for (let i = 0; i < 8; i++) state[i]! ^= state[i + 8]!;
  return state;
}

function mix(state: Uint32Array, [a, b, c, d]: readonly [number, number, number, number], x: number, y: number): void {
  state[a] = state[a]! + state[b]! + x;
  state[d] = rotate(state[d]! ^ state[a]!, 16);
  state[c] = state[c]! + state[d]!;
  state[b] = rotate(state[b]! ^ state[c]!, 12);
  state[a] = state[a]! + state[b]! + y;
  state[d] = rotate(state[d]! ^ state[a]!, 8);
  state[c] = state[c]! + state[d]!;
  state[b] = rotate(state[b]! ^ state[c]!, 7);
}

/** To the right. */
function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
