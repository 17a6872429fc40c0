// Receive times: strictly increasing nanoseconds, so that two bodies without timestamps never overwrite each other's rows.

/** Nanoseconds since 1970, strictly increasing within the process. */
export class MonotonicClock {
  private last = 0n;

  /** @param nowMs the wall clock */
  constructor(private readonly nowMs: () => number) {}

  /** The wall clock in nanoseconds, but at least one more than the previous time. */
  nextNs(): bigint {
    const now = BigInt(this.nowMs()) * 1_000_000n;
    this.last = now > this.last ? now : this.last + 1n;
    return this.last;
  }
}
