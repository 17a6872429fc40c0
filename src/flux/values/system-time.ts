// The time of the clock, for what asks for it.
import { Time } from "./value.ts";

/** What the clock shows while the script runs; `now()` is one time for the whole script, and a task's is the time it was due. */
export function systemTime(): Time {
  return new Time(BigInt(Date.now()) * 1_000_000n);
}
