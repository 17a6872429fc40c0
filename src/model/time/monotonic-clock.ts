// Receive times: nanoseconds, so that two bodies without timestamps never overwrite each other's rows.

const MS_NS = 1_000_000n;
/** Further back, the wall clock was ahead before: times near those would lie in the future. */
const STEP_BACK_NS_MAX = 10_000_000_000n;
/** More than there are times of one millisecond. */
const SHIFT_NS = 1000n;

/** Nanoseconds since 1970, unique within the process: strictly increasing unless the wall clock is set back. */
export class MonotonicClock {
  private last = 0n;
  /** Within a millisecond: another one each time when milliseconds come again. */
  private shift = 0n;

  /** @param nowMs the wall clock */
  constructor(private readonly nowMs: () => number) {}

  /** The wall clock in nanoseconds, but at least one more than the previous time; after a step back of more than some seconds the wall
   *  clock all the same. */
  nextNs(): bigint {
    const nowMs = BigInt(this.nowMs());
    if (this.last - nowMs * MS_NS > STEP_BACK_NS_MAX) {
      this.shift = (this.shift + SHIFT_NS) % MS_NS;
      this.last = 0n;
    }
    const now = nowMs * MS_NS + this.shift;
    this.last = now > this.last ? now : this.last + 1n;
    return this.last;
  }
}
