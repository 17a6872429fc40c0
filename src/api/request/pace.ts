// How fast a body has to come: one that begins and does not go on would keep its memory from others for ever.
import { TsdbError } from "../../model/errors.ts";

/** Beside what its bytes may take. */
const PATIENCE_MS = 30_000;
const BYTES_PER_MS_MIN = 16;

/** The time that a client has for `bytes` bytes. */
export function patienceMs(bytes: number): number {
  return PATIENCE_MS + bytes / BYTES_PER_MS_MIN;
}

export function tooSlow(elapsedMs: number): TsdbError {
  return new TsdbError("too_slow", `the body comes too slowly: it is not complete after ${Math.round(elapsedMs / 1000)} seconds`);
}
