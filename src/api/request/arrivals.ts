// Small bodies on their way in. Each is read as a whole, so nobody sees how its bytes come: a deadline ends the wait for one that trickles.
import { patienceMs, tooSlow } from "./pace.ts";

interface Arrival {
  readonly startedMs: number;
  readonly bytes: number;
  readonly reject: (error: Error) => void;
}

/** How often somebody looks for bodies that are late. */
const CHECK_MS = 1000;

/** Bodies that are read as a whole, with a deadline for each. Durations are in milliseconds. */
export class Arrivals {
  private readonly expected = new Set<Arrival>();
  private timer: ReturnType<typeof setInterval> | undefined;

  /** `nowMs` is a monotonic clock. */
  constructor(
    private readonly nowMs: () => number,
    private readonly checkMs: number = CHECK_MS,
  ) {}

  /** Bodies that have begun and not ended. */
  get count(): number {
    return this.expected.size;
  }

  /** Hands the `bytes` bytes that are coming to `take`, and resolves then; `take` is not called after a rejection.
   *  @throws TsdbError too_slow; what `coming` or `take` throws */
  take(coming: Promise<Uint8Array>, bytes: number, take: (bytes: Uint8Array) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const arrival = { startedMs: this.nowMs(), bytes, reject };
      this.expected.add(arrival);
      this.timer ??= setInterval(() => this.check(), this.checkMs).unref();
      coming.then(
        (value) => {
          if (!this.expected.delete(arrival)) return; // it was late
          try {
            take(value);
            resolve();
          } catch (error) {
            reject(error);
          }
        },
        (error) => {
          this.expected.delete(arrival);
          reject(error);
        },
      );
    });
  }

  private check(): void {
    const now = this.nowMs();
    for (const arrival of this.expected) {
      const elapsedMs = now - arrival.startedMs;
      if (elapsedMs <= patienceMs(arrival.bytes)) continue;
      this.expected.delete(arrival);
      arrival.reject(tooSlow(elapsedMs));
    }
    if (this.expected.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
