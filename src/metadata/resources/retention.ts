// How long a bucket keeps its rows, as clients write it.
import { TsdbError } from "../../model/errors.ts";

export interface Retention {
  /** 0 = for ever. */
  readonly everySeconds: number;
  /** Null = as follows from `everySeconds`. Only shown. */
  readonly shardSeconds: number | null;
}

const HOUR_SECONDS = 3600;
/** As many nanoseconds as 64 bits have. */
const SECONDS_MAX = 9_223_372_036;

/** Of a new bucket. @throws TsdbError unprocessable, bad_request */
export function checkRetention({ everySeconds, shardSeconds }: { everySeconds: number; shardSeconds?: number | null }): Retention {
  checkSeconds(everySeconds, shardSeconds ?? undefined);
  requireHour(everySeconds);
  const isUsual = shardSeconds === undefined || shardSeconds === null || shardSeconds === 0;
  const shard = isUsual ? null : Math.max(shardSeconds, HOUR_SECONDS);
  if (shard !== null && everySeconds !== 0 && everySeconds < shard) {
    throw new TsdbError("bad_request", "retention policy duration must be greater than the shard duration");
  }
  return { everySeconds, shardSeconds: shard };
}

/** Of a bucket that is there. `shardSeconds` undefined: as before. @throws TsdbError unprocessable, bad_request */
export function checkUpdatedRetention(everySeconds: number, shardSeconds: number | undefined, shardBefore: number): void {
  checkSeconds(everySeconds, shardSeconds);
  requireHour(everySeconds);
  if (everySeconds === 0 || everySeconds >= (shardSeconds ?? shardBefore)) return;
  throw new TsdbError("unprocessable", "shard-group duration must also be updated to be smaller than new retention duration");
}

function requireHour(everySeconds: number): void {
  if (everySeconds === 0 || everySeconds >= HOUR_SECONDS) return;
  throw new TsdbError("bad_request", "retention policy duration must be at least 1h0m0s");
}

/** @throws TsdbError unprocessable for a negative one */
export function requirePositive(everySeconds: number, shardSeconds: number | undefined): void {
  if (everySeconds < 0) throw new TsdbError("unprocessable", "expiration seconds cannot be negative");
  if (shardSeconds !== undefined && shardSeconds < 0) {
    throw new TsdbError("unprocessable", "shard-group duration seconds cannot be negative");
  }
}

/** @throws TsdbError unprocessable, bad_request */
function checkSeconds(everySeconds: number, shardSeconds: number | undefined): void {
  requirePositive(everySeconds, shardSeconds);
  if (everySeconds > SECONDS_MAX || (shardSeconds ?? 0) > SECONDS_MAX) {
    throw new TsdbError("bad_request", `durations of retention rules are at most ${SECONDS_MAX} seconds`);
  }
}

/** Seconds in nanoseconds. */
export function secondsNs(seconds: number): bigint {
  return BigInt(seconds) * 1_000_000_000n;
}
