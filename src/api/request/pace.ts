// Minimum rate of a body: a stalled one would occupy its memory forever.
import { TsdbError } from "../../model/errors.ts";

/** Granted in addition to the time for its bytes. */
const PATIENCE_MS = 30_000;
const BYTES_PER_MS_MIN = 16;

/** The time that a client has for `bytes` bytes. */
export function patienceMs(bytes: number): number {
  return PATIENCE_MS + bytes / BYTES_PER_MS_MIN;
}

/** The error for a body below the minimum rate. */
export function tooSlow(elapsedMs: number): TsdbError {
  return new TsdbError("too_slow", `the body comes too slowly: it is not complete after ${Math.round(elapsedMs / 1000)} seconds`);
}
