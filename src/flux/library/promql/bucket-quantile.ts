// A quantile of a cumulative histogram, linear within its bucket.

interface Bucket {
  readonly bound: number;
  readonly count: number;
}

/** NaN for fewer than two buckets, or without one up to infinity. Buckets of one bound count together, and counts never decrease. */
export function bucketQuantile(quantile: number, given: readonly Bucket[]): number {
  if (quantile < 0) return Number.NEGATIVE_INFINITY;
  if (quantile > 1) return Number.POSITIVE_INFINITY;
  const buckets = merged([...given].sort((a, b) => a.bound - b.bound));
  const last = buckets.at(-1);
  if (last === undefined || last.bound !== Number.POSITIVE_INFINITY || buckets.length < 2) return Number.NaN;
  const rank = quantile * last.count;
  const found = buckets.slice(0, -1).findIndex(({ count }) => count >= rank);
  if (found < 0) return buckets.at(-2)!.bound;
  const { bound, count } = buckets[found]!;
  if (found === 0 && bound <= 0) return bound;
  const before = buckets[found - 1] ?? { bound: 0, count: 0 };
  return before.bound + (bound - before.bound) * ((rank - before.count) / (count - before.count));
}

function merged(sorted: readonly Bucket[]): Bucket[] {
  const counts = new Map<number, number>();
  for (const { bound, count } of sorted) counts.set(bound, (counts.get(bound) ?? 0) + count);
  let most = Number.NEGATIVE_INFINITY;
  return [...counts].map(([bound, count]) => {
    most = Math.max(most, count);
    return { bound, count: most };
  });
}
