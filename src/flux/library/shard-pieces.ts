// Pieces of a series as the reference's storage gives them: rows of one shard, so many at once.

const HOUR_NS = 3_600_000_000_000n;
const DAY_NS = 24n * HOUR_NS;
const WEEK_NS = 7n * DAY_NS;
/** Weeks begin on Mondays, 1970 on a Thursday. */
const SINCE_MONDAY_NS = 3n * DAY_NS;

const ROWS_MAX = 1000;

/** How long a shard of a bucket is by default. @param retentionNs 0: its points stay */
export function shardSpan(retentionNs: bigint): bigint {
  if (retentionNs === 0n || retentionNs >= 180n * DAY_NS) return WEEK_NS;
  return retentionNs >= 2n * DAY_NS ? DAY_NS : HOUR_NS;
}

/** Where the pieces of ascending times end; none for one piece. */
export function shardEnds(timesNs: BigInt64Array, spanNs: bigint): readonly number[] {
  const { length } = timesNs;
  if (length === 0) return [];
  const shardOf = (row: number): bigint => {
    const ns = timesNs[row]! + SINCE_MONDAY_NS;
    return ns >= 0n ? ns / spanNs : (ns + 1n) / spanNs - 1n;
  };
  if (length <= ROWS_MAX && shardOf(0) === shardOf(length - 1)) return [];
  const ends: number[] = [];
  for (let from = 0; from < length; from = ends.at(-1)!) {
    const shard = shardOf(from);
    // the first row of a later shard, or one too many
    let [low, high] = [from + 1, Math.min(length, from + ROWS_MAX)];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (shardOf(middle) === shard) low = middle + 1;
      else high = middle;
    }
    ends.push(low);
  }
  return ends.length > 1 ? ends : [];
}
