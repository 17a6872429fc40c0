// What a range of an index covers: all shards that it touches.
import type { TimeBounds } from "../../tables/stream.ts";

const HOUR_NS = 3_600_000_000_000n;
const DAY_NS = 24n * HOUR_NS;
const WEEK_NS = 7n * DAY_NS;
/** 1970-01-05: weeks begin on Mondays. */
const FIRST_MONDAY_NS = 4n * DAY_NS;

/** From the first to the last time. */
export const ALL_TIMES: TimeBounds = { startNs: -(1n << 63n), stopNs: (1n << 63n) - 1n };

/** From the begin of the shard that `startNs` is in to the end of that of `stopNs`. @param retentionNs 0 is for ever */
export function indexBounds({ startNs, stopNs }: TimeBounds, retentionNs: bigint): TimeBounds {
  const shardNs = shardLength(retentionNs);
  const [from, to] = [shardBegin(startNs, shardNs), shardBegin(stopNs, shardNs) + shardNs];
  return { startNs: from < ALL_TIMES.startNs ? ALL_TIMES.startNs : from, stopNs: to > ALL_TIMES.stopNs ? ALL_TIMES.stopNs : to };
}

/** Of a bucket that nobody has given another one. */
function shardLength(retentionNs: bigint): bigint {
  if (retentionNs === 0n || retentionNs >= 180n * DAY_NS) return WEEK_NS;
  return retentionNs < 2n * DAY_NS ? HOUR_NS : DAY_NS;
}

function shardBegin(ns: bigint, shardNs: bigint): bigint {
  const since = ns - FIRST_MONDAY_NS;
  const past = since % shardNs;
  return ns - (past < 0n ? past + shardNs : past);
}
