// When to close a group of frames: as long as the event loop brings more of them, waiting costs less than another write and sync does.

/** So many turns in a row that bring nothing end the wait. The answers to the group before leave in the first of them. */
const QUIET_TURNS = 2;
/** A sync takes about as long; a stream of frames that never pauses must not hold up the first one. */
const WAIT_MS_MAX = 1;

/** Resolves when the event loop has turned without a change of what `count` gives, or has brought changes for a millisecond of a monotonic
 *  clock: at once, as far as an idle server is concerned. */
export function untilQuiet(count: () => number, nowMs: () => number = () => performance.now()): Promise<void> {
  return new Promise((resolve) => {
    const endMs = nowMs() + WAIT_MS_MAX;
    let seen = count();
    let quiet = 0;
    const turned = () => {
      const now = count();
      quiet = now === seen ? quiet + 1 : 0;
      seen = now;
      if (quiet >= QUIET_TURNS || nowMs() >= endMs) resolve();
      else setImmediate(turned);
    };
    setImmediate(turned);
  });
}
