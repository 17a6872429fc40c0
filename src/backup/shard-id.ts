// Shards of a backup: the rows of a bucket within one span of its shard group duration. A shard's number is made of its database and the
// hour in which it begins, so it means the same after a restart and needs to be kept nowhere.
import { TsdbError } from "../model/errors.ts";
import type { TimeRange } from "../model/query/scan.ts";
import { I64_MAX, I64_MIN } from "../model/rows/int64.ts";
import { HOUR_NS } from "../model/time/time-units.ts";

/** `start` belongs to the shard, `end` to the next one. */
export interface ShardWindow {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** Hours of 64 bits of nanoseconds lie within ±2^22 of 1970. */
const HOUR_BITS = 23n;
const HOUR_BIAS = 1n << 22n;
/** Spans are counted from the first of January of the year 1, as the vendor does: weeks begin on Mondays. */
const ORIGIN_NS = -62_135_596_800n * 1_000_000_000n;

/** The number of the shard of this database that begins at `startNs`: no two begin in the same hour. */
export function shardIdOf(databaseId: number, startNs: bigint): bigint {
  return (BigInt(databaseId) << HOUR_BITS) + hourOf(startNs) + HOUR_BIAS;
}

/** What a shard's number says. `databaseId` may be that of no database. */
export function shardOf(id: bigint): { readonly databaseId: number; readonly hour: bigint } {
  return { databaseId: Number(id >> HOUR_BITS), hour: (id & ((1n << HOUR_BITS) - 1n)) - HOUR_BIAS };
}

/** @throws TsdbError bad_request for a text that is no number of 63 bits */
export function readShardId(text: string): bigint {
  const id = /^\d{1,19}$/.test(text) ? BigInt(text) : I64_MAX + 1n;
  if (id > I64_MAX)
    throw new TsdbError("bad_request", `the number of a shard is a whole number of 63 bits, got ${JSON.stringify(text.slice(0, 40))}`);
  return id;
}

/** The number of whole hours since 1970, rounded down. */
export function hourOf(timeNs: bigint): bigint {
  return floorDivided(timeNs, HOUR_NS);
}

/** The span of `durationNs` (an hour or more) that contains the time. */
export function windowOf(timeNs: bigint, durationNs: bigint): ShardWindow {
  const startNs = ORIGIN_NS + floorDivided(timeNs - ORIGIN_NS, durationNs) * durationNs;
  return { startNs, endNs: startNs + durationNs };
}

/** The span of `durationNs` that begins in this hour; null: none does. */
export function windowStartingIn(hour: bigint, durationNs: bigint): ShardWindow | null {
  const window = windowOf((hour + 1n) * HOUR_NS - 1n, durationNs);
  return hourOf(window.startNs) === hour ? window : null;
}

/** Both ends inclusive, within 64 bits. */
export function rangeOf({ startNs, endNs }: ShardWindow): TimeRange {
  return { minNs: startNs < I64_MIN ? I64_MIN : startNs, maxNs: endNs - 1n > I64_MAX ? I64_MAX : endNs - 1n };
}

function floorDivided(value: bigint, by: bigint): bigint {
  return (value - (((value % by) + by) % by)) / by;
}
