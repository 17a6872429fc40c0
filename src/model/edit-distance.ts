// Levenshtein distance of two texts, by characters: Myers' bit-vector algorithm in Hyyrö's block form. A column of the distance matrix is
// stored as the signs of its vertical differences, 32 rows in two 32-bit words, and the next column is computed for all rows at once. The
// SQL function `levenshtein` computes it for 2,048 rows at a time on a worker's thread.

const WORD_BITS = 32;
const NO_MATCHES = new Int32Array(0);

/** Number of insertions, deletions and substitutions of code points that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  const [rows, columns] = [Array.from(a), Array.from(b)];
  if (rows.length === 0 || columns.length === 0) return rows.length + columns.length;
  const words = Math.ceil(rows.length / WORD_BITS);
  const matches = matchesOf(rows, words);
  /** Bit i: the vertical difference at row i is +1 (`up`), or -1. */
  const up = new Int32Array(words).fill(-1);
  const down = new Int32Array(words);
  const lastBit = 1 << ((rows.length - 1) % WORD_BITS);
  let distance = rows.length;
  for (const character of columns) {
    const equal = matches.get(character) ?? NO_MATCHES;
    // the horizontal difference above the first row
    let carry = 1;
    for (let word = 0; word < words; word++) {
      const high = word === words - 1 ? lastBit : 1 << (WORD_BITS - 1);
      const upward = up[word]!;
      const downward = down[word]!;
      const same = (equal[word] ?? 0) | (carry < 0 ? 1 : 0);
      const vertical = (equal[word] ?? 0) | downward;
      const horizontal = (((same & upward) + upward) ^ upward) | same;
      let plus = downward | ~(horizontal | upward);
      let minus = upward & horizontal;
      const next = (plus & high) !== 0 ? 1 : (minus & high) !== 0 ? -1 : 0;
      plus = (plus << 1) | (carry > 0 ? 1 : 0);
      minus = (minus << 1) | (carry < 0 ? 1 : 0);
      up[word] = minus | ~(vertical | plus);
      down[word] = plus & vertical;
      carry = next;
    }
    distance += carry;
  }
  return distance;
}

/** For each character, the rows that contain it, one bit per row. */
function matchesOf(rows: readonly string[], words: number): ReadonlyMap<string, Int32Array> {
  const matches = new Map<string, Int32Array>();
  for (let i = 0; i < rows.length; i++) {
    let bits = matches.get(rows[i]!);
    if (bits === undefined) {
      bits = new Int32Array(words);
      matches.set(rows[i]!, bits);
    }
    bits[Math.floor(i / WORD_BITS)]! |= 1 << (i % WORD_BITS);
  }
  return matches;
}
