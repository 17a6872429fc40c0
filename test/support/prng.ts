// Seeded randomness for tests and data generators: a seed reproduces a failure.

/** An integer in 0 .. n-1. */
export type Below = (n: number) => number;

export const pick = <T>(below: Below, items: readonly T[]): T => items[below(items.length)]!;

/** mulberry32: `prng(seed)(n)` is an integer in 0 .. n-1, for n up to 2^32. The same seed gives the same sequence on every machine. */
export function prng(seed: number): Below {
  let state = seed | 0;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    const random = ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    return Math.floor(random * n);
  };
}
