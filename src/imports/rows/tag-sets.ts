// Finds the different sets of tags in a piece of rows, so that a series is looked up once in a piece.

const NONE = 0xffff_ffff;
/** Odd, and another one in every process. */
const SEED = (Math.floor(Math.random() * 2 ** 31) * 2 + 1) >>> 0;

export interface TagSets {
  /** For each row the number of its set, from 0. */
  readonly setOf: Uint32Array;
  /** The first row of each set. */
  readonly rows: readonly number[];
}

/** @param tags for each tag its code in each row */
export function tagSetsOf(tags: readonly Uint32Array[], rowCount: number): TagSets {
  const setOf = new Uint32Array(rowCount);
  const rows: number[] = [];
  const hashes = hashesOf(tags, rowCount);
  let size = 16;
  while (size < rowCount * 2) size *= 2;
  const slots = new Uint32Array(size).fill(NONE);
  const areEqual = (a: number, b: number) => {
    for (const codes of tags) if (codes[a] !== codes[b]) return false;
    return true;
  };
  for (let row = 0; row < rowCount; row++) {
    // rows of a file that is sorted by series follow each other
    if (row > 0 && hashes[row] === hashes[row - 1] && areEqual(row, row - 1)) {
      setOf[row] = setOf[row - 1]!;
      continue;
    }
    for (let slot = hashes[row]! & (size - 1); ; slot = (slot + 1) & (size - 1)) {
      const found = slots[slot]!;
      if (found === NONE) {
        slots[slot] = rows.length;
        setOf[row] = rows.push(row) - 1;
        break;
      }
      if (hashes[rows[found]!] === hashes[row] && areEqual(rows[found]!, row)) {
        setOf[row] = found;
        break;
      }
    }
  }
  return { setOf, rows };
}

/** Column by column, which is faster than row by row. */
function hashesOf(tags: readonly Uint32Array[], rowCount: number): Uint32Array {
  const hashes = new Uint32Array(rowCount);
  for (const codes of tags) {
    for (let row = 0; row < rowCount; row++) {
      const mixed = Math.imul(hashes[row]! ^ codes[row]!, SEED);
      hashes[row] = mixed ^ (mixed >>> 15);
    }
  }
  return hashes;
}
